"""`python -m incunabula.training.ladder GAME ...` is the same as `incunabula ladder`."""

import sys

from incunabula.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "ladder")
    main()
