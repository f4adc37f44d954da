"""Play a list of deals with one agent, many at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent, View, ask
from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.training.evaluation.result import MAX_BATCH, check_agents
from incunabula.training.evaluation.rows import DEFAULT_BATCH, Part, Watch, play_list
from incunabula.training.evaluation.seeds import check_count, check_start, game_seeds

Int64Array = npt.NDArray[np.int64]


class Games(NamedTuple):
    """What came of n games, in the order of the list of deals; each int64 (n,).

    score = books_vp + florins_vp + prestige_vp + bonus_vp in every game.
    """

    score: Int64Array
    books_vp: Int64Array
    florins_vp: Int64Array
    prestige_vp: Int64Array  # filled prestige slots
    bonus_vp: Int64Array  # 0 unless every slot is filled
    books: Int64Array  # books sold
    decisions: Int64Array


def play_games(
    agent: Agent,
    edition: Edition,
    seeds: npt.NDArray[np.uint64],
    *,
    prestige: int | None = None,
    batch_size: int = DEFAULT_BATCH,
    backend: str = "auto",
    start: int = 0,
    watch: Watch | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Games:
    """Play each deal exactly once.

    The result is that of playing the deals one after the other (see ``play_list``).

    Args:
        seeds: game seeds, uint64 (n,).
        prestige: the collection to play; None = drawn from each game's seed.
        batch_size: games played at once.
        backend: the engine's; numba where it is installed, by default.
        start: number of the first game, for the agent's own draws.
        watch: is shown every step, such as a ``LuckMeter``.
        on_progress: called now and then with how many games' worth has been played since the last
            call; games under way count in part.

    Raises:
        IncunabulaError: the agent's action is not legal (names the game and the rule), or an
            argument can't be used.
    """
    check_agents([agent])
    seeds = game_seeds(seeds)
    check_count("batch size", batch_size, MAX_BATCH)
    check_start(start)
    n = len(seeds)
    games = Games(*(np.zeros(n, np.int64) for _ in Games._fields))
    engine = BibliogamoEngine(edition, min(batch_size, n), backend)

    def act(part: Part) -> npt.NDArray[np.intp]:
        episode = (part.games + start).astype(np.uint64)
        return ask(agent, View(engine, part.rows, episode, part.decisions))

    play_list(
        engine,
        n,
        deal=lambda rows, numbers: engine.deal(rows, seeds[numbers], prestige),
        act=act,
        finish=lambda part: _record(engine, part.rows, part.games, part.decisions, games),
        who=lambda _, game: f"agent {agent.name!r}, game {game + start}",
        watch=watch,
        on_progress=on_progress,
    )
    return games


def _record(
    engine: BibliogamoEngine,
    rows: npt.NDArray[np.intp],
    at: npt.NDArray[np.intp],
    decisions: Int64Array,
    games: Games,
) -> None:
    """Write the finished games in ``rows`` to the places ``at``; recomputes the score from its
    parts ("End and score") and checks it against the engine's."""
    t, s = engine.tables, engine.state
    prestige, slots = s.prestige[rows], s.slots_filled[rows]
    games.books[at] = s.books[rows]
    games.books_vp[at] = games.books[at] * t.vp_per_book
    games.florins_vp[at] = s.florins[rows] // t.florins_per_vp
    games.prestige_vp[at] = (slots * t.slot_vp[prestige]).sum(axis=1)
    full = slots.sum(axis=1) == t.slot_count[prestige]
    games.bonus_vp[at] = np.where(full, t.bonus[prestige], 0)
    games.decisions[at] = decisions
    games.score[at] = s.score[rows]
    parts = games.books_vp + games.florins_vp + games.prestige_vp + games.bonus_vp
    if not np.array_equal(parts[at], games.score[at]):
        raise AssertionError("a finished game's score is not the sum of its parts")
