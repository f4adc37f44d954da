"""The base of every error this project raises on purpose."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class IncunabulaError(ValueError):
    """Something the caller can put right: a bad file, name, action or option.

    The message is one clear sentence: what was wrong, where, and what would be right. The command
    line prints it without a traceback and exits with status 2.
    """


class CheckFailedError(IncunabulaError):
    """A check that was asked for found something wrong: the command line exits with status 1."""


class OptionWarning(UserWarning):
    """An option of a reset that nothing takes, and whose name is close to one that is taken."""


class MissingExtraError(IncunabulaError, ImportError):
    """A package that comes with one of the project's extras is not installed."""


@contextlib.contextmanager
def needing(what: str, extra: str) -> Iterator[None]:
    """Around imports of what comes with one of the project's extras.

    Raises:
        MissingExtraError: a package isn't installed; says which, what needs it and how to get it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        raise MissingExtraError(
            f"{what} needs {package}: install the extra, pip install 'incunabula[{extra}]'"
        ) from None


class IllegalActionError(IncunabulaError):
    """An action that the rules don't allow in this state, or an action in a finished game."""

    def __init__(self, row: int, action: int, clause: str, reason: str) -> None:
        super().__init__(f"row {row}: action {action} is illegal ({clause}): {reason}")
        self.row, self.action, self.clause, self.reason = row, action, clause, reason

    def __reduce__(self) -> tuple[type[IllegalActionError], tuple[int, int, str, str]]:
        return IllegalActionError, (self.row, self.action, self.clause, self.reason)
