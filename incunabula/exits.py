"""How commands end: exit statuses, and errors in one line."""

import contextlib
import errno
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import typer

from incunabula.streams import print_anything

# Typer brings a click of its own, or uses the one that is installed; this is the class of either.
_UsageError: Any = typer.BadParameter.__base__


def run(command: Callable[[], object]) -> None:
    """Run a command of the program, which reads ``sys.argv``, and exit.

    Exit status: 0 done, 1 a check found something wrong, the output was closed or the program has a
    fault, 2 something the user can put right (printed on stderr in a line), 130 interrupted.
    """
    from incunabula.envs.errors import CheckFailedError, IncunabulaError

    print_anything()
    usual = warnings.formatwarning
    warnings.formatwarning = _warning_line
    try:
        try:
            status = command()
        finally:
            warnings.formatwarning = usual
            # Write what is still buffered: here a closed pipe or a full disk can be dealt with.
            if sys.stdout is not None:
                sys.stdout.flush()
    except IncunabulaError as error:
        print(f"incunabula: {error}", file=sys.stderr)
        sys.exit(1 if isinstance(error, CheckFailedError) else 2)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
        else:
            print(f"incunabula: {_usage(error)}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # whoever read the output, such as `| head`, has seen enough
        _discard_stdout()
        sys.exit(1)
    except OSError as error:
        output = _output_fails() or (error.errno == errno.ENOSPC and error.filename is None)
        what = f"the output can't be written: {error.strerror}" if output else error
        print(f"incunabula: {what}", file=sys.stderr)
        _discard_stdout()
        sys.exit(2)
    if isinstance(status, int) and status:  # of a command that raised typer.Exit
        sys.exit(status)


def _usage(error: Any) -> str:
    """What is wrong with a command line, in a line."""
    said = " ".join(error.format_message().split()).rstrip(".")
    where = "" if error.ctx is None else f"; see {error.ctx.command_path} --help"
    return f"{said[:1].lower()}{said[1:]}{where}"


def _warning_line(message: Warning | str, *_: object, **__: object) -> str:
    """A warning as users read it: what it says, not where in the code."""
    return f"incunabula: warning: {message}\n"


def _output_fails() -> bool:
    """Whether what is still to be printed can't be."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        return True
    return False


def _discard_stdout() -> None:
    """Keep the interpreter from failing once more when it flushes stdout at exit."""
    with contextlib.suppress(OSError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
