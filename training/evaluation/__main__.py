"""`python -m incunabula.training.evaluation GAME ...` is the same as `incunabula evaluate`."""

import sys

from incunabula.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "evaluate")
    main()
