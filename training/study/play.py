"""Many lists of games on the same deals, in threads."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent
from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.training.evaluation.games import Games, play_games
from incunabula.training.evaluation.seeds import check_count

BATCH = 1024
THREADS = 2
MOST_THREADS = 64


class Cell(NamedTuple):
    """Who plays what.

    Attributes:
        agent: must keep nothing between calls, as agents do: threads may share it.
        edition: what is played.
        prestige: the collection of every game; None = drawn from each game's seed.
    """

    agent: Agent
    edition: Edition
    prestige: int | None = None


def play_cells(
    cells: Sequence[Cell], seeds: npt.NDArray[np.uint64], threads: int = THREADS
) -> list[Games]:
    """Play the deals in each cell; the games in the order of cells and deals.

    Args:
        cells: one list of games each.
        seeds: game seeds, uint64 (n,).
        threads: cells played at once; changes the time taken and nothing else.

    Raises:
        IncunabulaError: an argument can't be used, or an agent acts illegally.
    """
    check_count("threads", threads, MOST_THREADS)
    if cells:  # whatever is compiled is compiled once, before the threads begin
        play_games(cells[0].agent, cells[0].edition, seeds[:1], prestige=cells[0].prestige)

    def play(cell: Cell) -> Games:
        agent, edition, prestige = cell
        return play_games(agent, edition, seeds, prestige=prestige, batch_size=BATCH)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(play, cells))


def collections_drawn(edition: Edition, seeds: npt.NDArray[np.uint64]) -> npt.NDArray[np.intp]:
    """The prestige collection of each deal, intp (n,)."""
    engine = BibliogamoEngine(edition, len(seeds), "numpy")
    engine.deal(np.arange(len(seeds)), seeds)
    return np.asarray(engine.state.prestige, np.intp)
