"""What takes its time, beside the server's loop: in threads, which nobody needs to wait for."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from incunabula.envs.errors import IncunabulaError

T = TypeVar("T")


class EndedError(IncunabulaError):
    """The program is ending; nobody waits for what was being done."""


class Workers:
    """Threads that do one thing each. What an agent does can't be interrupted: when the program
    ends they are left alone, and end with it.
    """

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[Any]] = set()
        self._ended = False

    async def do(self, work: Callable[[], T]) -> T:
        """What this returns, from a thread.

        Raises:
            EndedError: the program ends first.
            Exception: what ``work`` raises.
        """
        if self._ended:
            raise EndedError("the program is ending")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        context = contextvars.copy_context()

        def settle(result: T | None, error: Exception | None) -> None:
            if future.done():
                return
            if error is None:
                future.set_result(result)  # type: ignore[arg-type]
            else:
                future.set_exception(error)

        def run() -> None:
            result, error = None, None
            try:
                result = context.run(work)
            except Exception as raised:
                error = raised
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(settle, result, error)

        self._waiting.add(future)
        threading.Thread(target=run, daemon=True).start()
        try:
            return await future
        finally:
            self._waiting.discard(future)

    def end(self) -> None:
        """Tell those who wait that the program is ending."""
        self._ended = True
        for future in self._waiting:
            if not future.done():
                future.set_exception(EndedError("the program is ending"))
