"""A progress bar for work that turns out to be slow."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from rich.status import Status

DELAY = 2.0  # seconds; quicker work shows nothing


class Slow:
    """Work that somebody waits for; a context manager.

    Should it be interrupted, what ``interrupted`` says is told on stderr.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        told = self.interrupted() if kind is KeyboardInterrupt else None
        if told is not None and sys.stderr is not None:
            print(f"incunabula: {told}", file=sys.stderr)

    def stop(self) -> None:
        """Take away what is shown."""

    def interrupted(self) -> str | None:
        """How far it came, and what is kept; None: there is nothing to say."""
        return None


class SlowProgress(Slow):
    """Counts finished pieces of work; draws a bar on stderr once it has taken two seconds.

    Nothing is drawn where stderr isn't a terminal, so that logs stay clean.
    """

    def __init__(self, total: float, what: str = "") -> None:
        super().__init__(what)
        self.total, self.done = total, 0.0
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, amount: float, what: str | None = None) -> None:
        """``amount`` more of the work is done; ``what`` is being worked on now."""
        self.done += amount
        self.what = self.what if what is None else what
        if self._bar is None:
            if time.monotonic() - self._began < DELAY or not is_terminal():
                return
            self._start()
        assert self._bar is not None
        assert self._task is not None
        self._bar.update(self._task, completed=self.done, description=self.what)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(self.what, total=self.total)
        self._bar.start()


class SlowStatus(Slow):
    """Says what is being done, on stderr if it is a terminal, once it has taken two seconds.

    For work whose end isn't known.
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self._status: Status | None = None

    def stop(self) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, doing: str) -> None:
        """What is being done now."""
        seconds = time.monotonic() - self._began
        if seconds < DELAY or not is_terminal():
            return
        from rich.console import Console
        from rich.text import Text

        text = Text(f"{self.what}: {doing}, {seconds:.0f} s")
        if self._status is None:
            self._status = Console(stderr=True).status(text)
            self._status.start()
        self._status.update(text)


def is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
