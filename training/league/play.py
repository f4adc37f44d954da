"""Play deals at tables of several agents, many games at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent, View, ask
from incunabula.envs.editions import BaseEdition
from incunabula.envs.scriptorium.edition import load_edition
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.training.evaluation.result import MAX_BATCH, check_agents
from incunabula.training.evaluation.rows import DEFAULT_BATCH, Part, Watch, play_list
from incunabula.training.evaluation.seeds import check_count, check_start, game_seeds

IntpArray = npt.NDArray[np.intp]
Int64Array = npt.NDArray[np.int64]

# Numbers of the games of one deal, for the agents' own draws.
EPISODES_PER_DEAL = 32


@dataclass
class Work:
    """What an agent did: decisions, and the time they took."""

    decisions: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class TableGames:
    """What came of D deals, each played in S seatings of P players.

    Attributes:
        seats: intp (S, P), the number of the agent in each seat.
        scores: int64 (D, S, P), the final score of each seat.
        decisions: int64 (D, S), decisions of all seats together.
        work: one entry for each agent; those that are one Agent have their work in the first's.
    """

    seats: IntpArray
    scores: Int64Array
    decisions: Int64Array
    work: list[Work]


def play_tables(
    agents: Sequence[Agent],
    seats: npt.NDArray[np.integer[Any]],
    edition: BaseEdition,
    seeds: npt.NDArray[np.uint64],
    *,
    turns: Sequence[int] | None = None,
    batch_size: int = DEFAULT_BATCH,
    backend: str = "auto",
    start: int = 0,
    watch: Watch | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> TableGames:
    """Play every deal once in every seating.

    The result is that of playing the games one after the other (see ``play_list``). An agent that
    stands in ``agents`` more than once acts on all its games at once.

    Args:
        agents: n agents.
        seats: (S, P) who sits where, as numbers of agents.
        seeds: game seeds, uint64 (D,).
        turns: a number in 0..31 for each seating, for the agents' own draws, which are the same in
            games of the same deal and number; by default 0 to S - 1.
        batch_size: games played at once.
        backend: the engine's; numba where it is installed, by default.
        start: number of the first deal, for the agents' own draws.
        watch: is shown every step; game s + S·d is deal d in seating s.
        on_progress: called now and then with how many games' worth has been played since the last
            call; games under way count in part.

    Raises:
        IncunabulaError: an agent's action is not legal (names the deal, the seat and the rule), or
            an argument can't be used.
    """
    check_agents(agents)
    seeds = game_seeds(seeds)
    check_count("batch size", batch_size, MAX_BATCH)
    check_start(start)
    sitting: IntpArray = np.asarray(seats, np.intp)
    settings, players = sitting.shape
    numbers = np.asarray(range(settings) if turns is None else turns, np.int64)
    n = len(seeds) * settings
    scores, decisions = np.zeros((n, players), np.int64), np.zeros(n, np.int64)
    work = [Work() for _ in agents]
    actor = np.array(first_of(agents))[sitting]
    engine = ScriptoriumEngine(load_edition(edition), min(batch_size, n), players, backend)

    def act(part: Part) -> IntpArray:
        deal, setting = np.divmod(part.games, settings)
        episode = ((deal + start) * EPISODES_PER_DEAL + numbers[setting]).astype(np.uint64)
        to_act = actor[setting, engine.state.player[part.rows]]
        actions = np.empty(len(to_act), np.intp)
        for number in np.unique(to_act):
            mine = np.flatnonzero(to_act == number)
            view = View(engine, part.rows[mine], episode[mine], part.decisions[mine])
            began = time.perf_counter()
            actions[mine] = ask(agents[number], view)
            work[number].seconds += time.perf_counter() - began
            work[number].decisions += len(mine)
        return actions

    def finish(part: Part) -> None:
        scores[part.games] = engine.state.score[part.rows]
        decisions[part.games] = part.decisions

    def who(row: int, game: int) -> str:
        deal, setting = divmod(game, settings)
        seat = int(engine.state.player[row])
        return f"agent {agents[actor[setting, seat]].name!r}, deal {deal + start}, seat {seat}"

    play_list(
        engine,
        n,
        deal=lambda rows, games: engine.deal(rows, seeds[games // settings]),
        act=act,
        finish=finish,
        who=who,
        watch=watch,
        on_progress=on_progress,
    )
    shape = (len(seeds), settings)
    return TableGames(sitting, scores.reshape(*shape, players), decisions.reshape(shape), work)


def first_of(agents: Sequence[Agent]) -> list[int]:
    """For each agent the number under which it stands first: itself, not one that equals it."""
    return [next(i for i, other in enumerate(agents) if other is agent) for agent in agents]


def first_decisions(
    agents: Sequence[Agent], edition: BaseEdition, num_players: int, backend: str
) -> None:
    """Let agents and engine decide something before the clock starts: what they compile or load
    isn't play."""
    engine = ScriptoriumEngine(load_edition(edition), 1, num_players, backend)
    engine.deal(np.arange(1), [0])
    for agent in {id(agent): agent for agent in agents}.values():
        ask(agent, View(engine, np.arange(1), np.zeros(1, np.uint64), np.zeros(1, np.int64)))
    engine.apply(engine.mask.argmax(axis=1))
