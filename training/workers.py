"""Work that several processes share."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from incunabula.envs.errors import IncunabulaError

MAX_WORKERS = 256
Item = TypeVar("Item")
Made = TypeVar("Made")


def made_by_processes(
    make: Callable[[Item], Made],
    items: Sequence[Item],
    workers: int,
    begin: Callable[..., None] | None = None,
    *arguments: Any,
) -> Iterator[Made]:
    """What is made of each item, in their order, each as soon as it is there.

    Args:
        make: can be pickled, as all that it takes and gives.
        items: one at least.
        workers: how many processes at most.
        begin: called in each process first, with the arguments.

    Raises:
        IncunabulaError: a process was ended before its work was done.
    """
    context = multiprocessing.get_context("spawn")
    most = min(workers, len(items))
    pool = ProcessPoolExecutor(most, context, _begin, (begin, arguments))
    try:
        yield from pool.map(make, items)
    except BrokenProcessPool:
        raise IncunabulaError(
            "workers: a process ended before its work was done; is there memory for so many?"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(begin: Callable[..., None] | None, arguments: tuple[Any, ...]) -> None:
    # A process ends at ctrl-C without a word; the one that asked says what there is to say.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if begin is not None:
        begin(*arguments)
