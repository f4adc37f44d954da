"""The best lines found on many deals, in several processes if wanted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from incunabula.agents.hindsight.certificate import certificate
from incunabula.agents.hindsight.search import best_line, check_width
from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.compiled.functions import can_compile, interpreted
from incunabula.envs.json_state import Json
from incunabula.training.evaluation.seeds import check_count
from incunabula.training.hindsight.lines import LinesFile
from incunabula.training.workers import MAX_WORKERS, made_by_processes


class Found(NamedTuple):
    """A deal's line as a certificate, and the processor seconds it took; None: it was known."""

    form: Json
    seconds: float | None


def find_lines(
    edition: Edition,
    seeds: Sequence[int],
    *,
    width: int,
    prestige: int | None = None,
    workers: int = 1,
    save: str | Path | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> list[Found]:
    """The best line found on each of these deals, in their order.

    Args:
        seeds: of the games, each in 0..2^64-1.
        width: of the beam.
        prestige: the collection of every deal; None = drawn from each seed.
        workers: processes that share the work; changes the time taken and nothing else.
        save: file that keeps every line as soon as it is found; lines that it holds already are
            checked and not looked for again.
        on_progress: called with how many more deals are done.

    Raises:
        IncunabulaError: an argument can't be used, or the file is damaged, of other deals' kind, or
            can't be written.
    """
    check_width(width)
    check_count("workers", workers, MAX_WORKERS)
    kept = None if save is None else LinesFile(save, edition, width, prestige)
    found: dict[int, Found] = {}
    for seed in dict.fromkeys(seeds):
        known = None if kept is None else kept.get(seed)
        if known is not None:
            found[seed] = Found(known, None)
    missing = [seed for seed in dict.fromkeys(seeds) if seed not in found]
    if on_progress is not None:
        on_progress(len(found))
    with contextlib.closing(_searched(edition, missing, width, prestige, workers)) as searched:
        for seed, line in zip(missing, searched, strict=True):
            found[seed] = line
            if kept is not None:
                kept.append(line.form)
            if on_progress is not None:
                on_progress(1)
    return [found[seed] for seed in seeds]


def _searched(
    edition: Edition, seeds: Sequence[int], width: int, prestige: int | None, workers: int
) -> Generator[Found]:
    """The lines of these deals, in their order, each as soon as it is there."""
    search = partial(_search, edition, width, prestige, can_compile())
    if workers == 1 or len(seeds) < 3:
        yield from map(search, seeds)
        return
    # The first is played here: it compiles what the processes then load.
    yield search(seeds[0])
    yield from made_by_processes(search, seeds[1:], workers)


def _search(
    edition: Edition, width: int, prestige: int | None, compiling: bool, seed: int
) -> Found:
    """One deal, compiled or not as in the process that asks."""
    with contextlib.nullcontext() if compiling else interpreted():
        line = best_line(edition, seed, width=width, prestige=prestige)
    return Found(certificate(line, edition), line.seconds)
