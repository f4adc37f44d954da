"""Paired evaluation of agents in a game of several players: each against the same opponent."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
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
from incunabula.envs.scriptorium.edition import load_edition
from incunabula.training.evaluation.machine import versions
from incunabula.training.evaluation.progress import SlowProgress
from incunabula.training.evaluation.result import (
    MAX_BATCH,
    Entrant,
    edition_entry,
    entrant,
    entrant_names,
    named_agents,
    policy_entry,
    timing_entry,
)
from incunabula.training.evaluation.rows import DEFAULT_BATCH
from incunabula.training.evaluation.seeds import check_count, list_hash, seed_list
from incunabula.training.evaluation.statistics import DIGITS, DealBootstrap
from incunabula.training.league.against import AGENT, Against, evaluate_against
from incunabula.training.league.play import first_decisions
from incunabula.training.league.seating import MAX_DEALS, check_players
from incunabula.training.replay.record import file_names, record_folder, recorded

SCHEMA_VERSION = 1
Json = dict[str, Any]


@dataclass(frozen=True)
class SeatsEvaluation:
    """The games each agent played and what follows from them.

    Attributes:
        result: everything that is reported, as JSON values (see docs/evaluation.md).
        seeds: the deals, uint64 (D,).
        games: name -> the agent's games.
    """

    result: Json
    seeds: npt.NDArray[np.uint64]
    games: dict[str, Against]


def evaluate_versus(
    agents: Sequence[Entrant],
    *,
    against: Entrant = "greedy",
    num_players: int = 2,
    edition: str | Path | BaseEdition | Mapping[str, Any] = "scriptorium",
    deals: int = 2000,
    seeds: str = "final",
    batch_size: int = DEFAULT_BATCH,
    backend: str = "auto",
    seed: int = 0,
    budget: Budget | None = None,
    record: str | Path | None = None,
) -> SeatsEvaluation:
    """Play the same deals with each agent from every seat, against copies of one opponent.

    Args:
        agents: names, paths of policy or run folders (see ``make_agent``), or Agents.
        against: who has the other seats.
        num_players: seats at the table.
        edition: shipped name, path, parsed mapping or Edition.
        deals: how many; each is played once from every seat.
        seeds: the published list they are taken from, ``dev`` or ``final``.
        batch_size: games played at once; changes the time taken and nothing else.
        backend: the engine's, ``numpy``, ``numba`` or ``auto``; changes as little.
        seed: of the agents' own draws.
        budget: for each move of the agents that search and are given by name; see ``Budget``.
        record: a folder for replays of the games, a file for each agent; None: none are kept.

    Raises:
        IncunabulaError: an argument can't be used, an agent acts illegally, or a file of replays
            can't be written.
    """
    edition = load_edition(edition)
    num_players = check_players(num_players, edition)
    check_count("batch size", batch_size, MAX_BATCH)
    check_count("games", deals, MAX_DEALS)
    backend = chosen_backend(backend)
    list_of_deals = seed_list(seeds, deals)
    seed = check_seed(seed)
    players = named_agents(agents, edition, seed, budget)
    opponent_name = entrant_names([against])[0]
    opponent = entrant(against, opponent_name, edition, seed, budget)
    if searches(opponent_name):
        opponent_name = opponent.name

    began = time.perf_counter()
    bootstrap = DealBootstrap(deals)
    played: dict[str, Against] = {}
    rows = []
    files = file_names(list(players))

    def deal(game: int) -> Json:
        return {"seed": str(list_of_deals[game // num_players])}

    with (
        record_folder(record, files.values()) as folder,
        SlowProgress(len(players) * deals * num_players) as progress,
    ):
        for name, agent in players.items():
            first_decisions([agent, opponent], edition, num_players, backend)
            started = time.perf_counter()
            progress.advance(0, name)

            def seated(game: int, name: str = name) -> list[str]:
                seats = [opponent_name] * num_players
                seats[game % num_players] = name
                return seats

            with recorded(folder, files[name], edition, seated, deal) as recorder:
                played[name] = evaluate_against(
                    agent,
                    opponent,
                    edition,
                    num_players,
                    list_of_deals,
                    batch_size=batch_size,
                    backend=backend,
                    watch=recorder,
                    on_progress=progress.advance,
                )
            seconds = time.perf_counter() - started
            rows.append(_agent_entry(name, agent, played[name], bootstrap, backend, seconds))
    result = {
        "schema_version": SCHEMA_VERSION,
        "game": edition.game,
        "edition": edition_entry(edition),
        "players": num_players,
        "against": {"name": opponent_name, **policy_entry(opponent)},
        "seeds": {"list": seeds, "deals": int(deals), "sha256": list_hash(list_of_deals)},
        "agent_seed": seed,
        "bootstrap": bootstrap.description,
        "backend": backend,
        "versions": versions("numba"),
        "agents": rows,
        "paired": [
            {"a": a, "b": b} | _paired(played[a], played[b], bootstrap)
            for b, a in combinations(played, 2)
        ],
        "timing": timing_entry(began, batch_size),
    }
    return SeatsEvaluation(result, list_of_deals, played)


def _agent_entry(
    name: str,
    agent: Agent,
    played: Against,
    bootstrap: DealBootstrap,
    backend: str,
    seconds: float,
) -> Json:
    """One agent's entry of the result."""
    games = played.games
    return {
        "name": name,
        **played.summary(bootstrap),
        "backend": backend,
        **policy_entry(agent),
        "timing": {
            "seconds": round(seconds, 3),
            "games_per_second": round(games.decisions.size / seconds, 1),
            "decisions_per_second": round(int(games.decisions.sum()) / seconds),
        },
    }


def _paired(a: Against, b: Against, bootstrap: DealBootstrap) -> Json:
    """a - b deal by deal, over all seats: of the win share, and of the score."""
    shares, scores = (deal_means(a, what) - deal_means(b, what) for what in ("shares", "scores"))
    return paired_deals(shares, scores, bootstrap)


def paired_deals(
    share: npt.NDArray[np.float64], score: npt.NDArray[np.float64], bootstrap: DealBootstrap
) -> Json:
    """Differences by deal, (D,), of win shares and of scores, as JSON values."""
    return {
        "deals": len(share),
        "mean_difference": round(float(share.mean()), DIGITS),
        "ci95": bootstrap.interval(share),
        "a_better": int((share > 0).sum()),
        "equal": int((share == 0).sum()),
        "b_better": int((share < 0).sum()),
        "score_difference": round(float(score.mean()), DIGITS),
        "score_ci95": bootstrap.interval(score),
    }


def deal_means(played: Against, what: str) -> npt.NDArray[np.float64]:
    """The agent's ``shares`` or ``scores``, mean over its seats, float64 (D,)."""
    outcomes = played.outcomes
    seating, seat = outcomes.places(AGENT)
    values: npt.NDArray[np.float64] = getattr(outcomes, what)[:, seating, seat].mean(axis=1)
    return values
