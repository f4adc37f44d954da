"""`python -m incunabula.training.league GAME ...` is the same as `incunabula league`."""

import sys

from incunabula.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "league")
    main()
