"""A league: agents meet at tables, each deal is played in many seatings, and all are compared."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent
from incunabula.agents.registry import searches
from incunabula.agents.search.budget import Budget
from incunabula.envs.backend import chosen_backend
from incunabula.envs.chance import check_seed
from incunabula.envs.editions import BaseEdition
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.edition import Edition, load_edition
from incunabula.training.evaluation.machine import versions
from incunabula.training.evaluation.progress import SlowProgress
from incunabula.training.evaluation.result import (
    MAX_BATCH,
    Entrant,
    edition_entry,
    entrant,
    entrant_names,
    policy_entry,
    timing_entry,
)
from incunabula.training.evaluation.rows import DEFAULT_BATCH
from incunabula.training.evaluation.seeds import MAX_GAMES, check_count, list_hash, seed_list
from incunabula.training.evaluation.statistics import DIGITS, DealBootstrap, percentile_interval
from incunabula.training.league.play import (
    TableGames,
    Work,
    first_decisions,
    first_of,
    play_tables,
)
from incunabula.training.league.rating import (
    EXTRA,
    Choices,
    check_rating_possible,
    choices,
    fit,
    separated,
)
from incunabula.training.league.seating import (
    MAX_AGENTS,
    MAX_DEALS,
    Program,
    check_players,
    check_rotations,
    labels,
    program,
)
from incunabula.training.league.standings import Outcomes, agent_summary, cross_table, seat_table
from incunabula.training.replay.record import record_folder, recorded

SCHEMA_VERSION = 1
Json = dict[str, Any]


@dataclass(frozen=True)
class League:
    """The games of a league and what follows from them.

    Attributes:
        result: everything that is reported, as JSON values (see docs/league.md).
        seeds: the deals, uint64 (D,).
        games: every deal in every seating of every table; agents are numbered as in the result.
    """

    result: Json
    seeds: npt.NDArray[np.uint64]
    games: TableGames


def league(
    agents: Sequence[Entrant],
    *,
    num_players: int = 2,
    edition: str | Path | BaseEdition | Mapping[str, Any] = "scriptorium",
    deals: int = 500,
    rotations: str | None = None,
    seeds: str = "final",
    batch_size: int = DEFAULT_BATCH,
    backend: str = "auto",
    seed: int = 0,
    budget: Budget | None = None,
    record: str | Path | None = None,
) -> League:
    """Let agents meet in all combinations, every deal in all seat rotations.

    Args:
        agents: at least two names, paths of policy or run folders (see ``make_agent``), or Agents.
            With fewer agents than seats, every one meets copies of every other, both ways. An agent
            may stand twice; its entries are then called greedy#1, greedy#2, ...
        num_players: seats at a table.
        edition: shipped name, path, parsed mapping or Edition.
        deals: how many deals every table plays.
        rotations: ``cyclic`` or ``all``; by default all for up to three players, else cyclic.
        seeds: the published list the deals are taken from, ``dev`` or ``final``.
        batch_size: games played at once; changes the time taken and nothing else.
        backend: the engine's, ``numpy``, ``numba`` or ``auto``; changes as little.
        seed: of the agents' own draws.
        budget: for each move of the agents that search and are given by name; see ``Budget``.
        record: a folder for replays of the games, in the file ``league.jsonl``; None: none are
            kept.

    Raises:
        IncunabulaError: an argument can't be used, an agent acts illegally, choix is missing, or
            the file of replays can't be written.
    """
    edition = load_edition(edition)
    num_players = check_players(num_players, edition)
    rotations = check_rotations(rotations, num_players)
    check_count("batch size", batch_size, MAX_BATCH)
    check_count("deals", deals, MAX_DEALS)
    backend = chosen_backend(backend)
    list_of_deals = seed_list(seeds, deals)
    seed = check_seed(seed)
    specs = entrant_names(agents)
    plan = _program(len(specs), num_players, rotations, deals)
    check_rating_possible()
    players = _players(agents, specs, edition, seed, budget)
    names = labels(
        [
            player.name if searches(spec) else spec
            for player, spec in zip(players, specs, strict=True)
        ]
    )

    began = time.perf_counter()
    total = deals * len(plan.seats)
    settings = len(plan.seats)

    def seated(game: int) -> list[str]:
        return [names[number] for number in plan.seats[game % settings]]

    def deal(game: int) -> Json:
        return {"seed": str(list_of_deals[game // settings])}

    with (
        record_folder(record, ["league"]) as folder,
        recorded(folder, "league", edition, seated, deal) as recorder,
        SlowProgress(total, f"{total:,} games") as progress,
    ):
        first_decisions(players, edition, num_players, backend)
        games = play_tables(
            players,
            np.array(plan.seats),
            edition,
            list_of_deals,
            turns=plan.turn,
            batch_size=batch_size,
            backend=backend,
            watch=recorder,
            on_progress=progress.advance,
        )
    outcomes = Outcomes(games.seats, games.scores)
    bootstrap = DealBootstrap(deals)
    found = choices(games.seats, games.scores, len(names))
    result = {
        "schema_version": SCHEMA_VERSION,
        "game": edition.game,
        "edition": edition_entry(edition),
        "players": num_players,
        "rotations": rotations,
        "seeds": {"list": seeds, "deals": int(deals), "sha256": list_hash(list_of_deals)},
        "games": int(games.decisions.size),
        "decisions_per_game": round(float(games.decisions.mean()), DIGITS),
        "agent_seed": seed,
        "bootstrap": bootstrap.description,
        "backend": backend,
        "versions": versions("choix", "scipy", "numba"),
        "tables": [
            {"agents": [names[i] for i in table], "seatings": plan.table.count(number)}
            for number, table in enumerate(plan.tables)
        ],
        "agents": [
            {
                "name": name,
                **agent_summary(outcomes, i, bootstrap),
                **rated,
                **policy_entry(players[i]),
                "timing": _work_entry(games.work[first_of(players)[i]]),
            }
            for i, (name, rated) in enumerate(zip(names, _ratings(found, bootstrap), strict=True))
        ],
        "rating": {
            "model": "Plackett-Luce",
            "scale": "natural logarithm of strength, mean 0",
            "extra_draws": EXTRA,
            "separated": separated(found),
        },
        "seats": seat_table(outcomes, names, bootstrap),
        "cross": cross_table(outcomes, names, bootstrap),
        "timing": timing_entry(began, batch_size),
    }
    return League(result, list_of_deals, games)


def _program(num_agents: int, num_players: int, rotations: str, deals: int) -> Program:
    """The seatings, if the league can be played."""
    if not 2 <= num_agents <= MAX_AGENTS:
        hint = "; to see an agent against itself, name it twice" if num_agents == 1 else ""
        raise IncunabulaError(f"agents: expected 2 to {MAX_AGENTS}, got {num_agents}{hint}")
    plan = program(num_agents, num_players, rotations)
    total = len(plan.seats) * deals
    if total > MAX_GAMES:
        raise IncunabulaError(
            f"deals: {deals:,} in {len(plan.seats):,} seatings of {len(plan.tables):,} tables make "
            f"{total:,} games, more than {MAX_GAMES:,}; play fewer deals or name fewer agents"
        )
    return plan


def _players(
    agents: Sequence[Entrant],
    specs: Sequence[str],
    edition: Edition,
    seed: int,
    budget: Budget | None,
) -> list[Agent]:
    """The agents themselves; a name or path that stands twice is made once."""
    made: dict[str, Agent] = {}
    players = []
    for given, spec in zip(agents, specs, strict=True):
        if not isinstance(given, Agent) and spec not in made:
            made[spec] = entrant(given, spec, edition, seed, budget)
        players.append(given if isinstance(given, Agent) else made[spec])
    return players


def _ratings(found: Choices, bootstrap: DealBootstrap) -> list[Json]:
    """``rating`` and ``rating_ci95`` of each agent."""
    ratings = fit(found, found.counts.sum(axis=0))
    intervals: list[list[float] | None] = [None] * len(ratings)
    if bootstrap.deals > 1:
        counts = bootstrap.means(found.counts) * bootstrap.deals
        again = np.array([fit(found, row, start=ratings) for row in counts])
        intervals = [percentile_interval(column) for column in again.T]
    return [
        {"rating": round(float(rating), DIGITS), "rating_ci95": interval}
        for rating, interval in zip(ratings, intervals, strict=True)
    ]


def _work_entry(work: Work) -> Json:
    """Decisions of an agent (of all its copies together), and how fast they were taken."""
    return {
        "decisions": work.decisions,
        "seconds": round(work.seconds, 3),
        "decisions_per_second": round(work.decisions / work.seconds) if work.seconds else None,
    }
