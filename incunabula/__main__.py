"""`python -m incunabula` is the same as the `incunabula` command."""

from incunabula.cli import main

if __name__ == "__main__":
    main()
