"""Paired evaluation: every agent plays the same deals."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent, View, ask
from incunabula.agents.hindsight.search import check_width
from incunabula.agents.search.budget import Budget
from incunabula.envs.backend import chosen_backend
from incunabula.envs.bibliogamo.edition import Edition, load_edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.chance import check_seed
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.games import Games, play_games
from incunabula.training.evaluation.luck import LuckMeter, add_luck, load_judge
from incunabula.training.evaluation.machine import versions
from incunabula.training.evaluation.par import par_entry, par_of
from incunabula.training.evaluation.progress import SlowProgress
from incunabula.training.evaluation.result import (
    MAX_BATCH,
    edition_entry,
    named_agents,
    policy_entry,
    timing_entry,
)
from incunabula.training.evaluation.rows import DEFAULT_BATCH, Watches
from incunabula.training.evaluation.seeds import check_count, list_hash, seed_list
from incunabula.training.evaluation.statistics import DIGITS, paired, summary
from incunabula.training.replay.record import file_names, record_folder, recorded

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Evaluation:
    """The games each agent played and what follows from them.

    Attributes:
        result: everything that is reported, as JSON values (see docs/evaluation.md).
        seeds: the deals, uint64 (n,).
        games: name -> the agent's games, in the order of ``seeds``.
        luck: name -> the luck of each of these, points, float64 (n,); empty unless asked for.
        par: the score of the best line found in hindsight on each deal, int64 (n,); None unless
            it was asked for.
    """

    result: dict[str, Any]
    seeds: npt.NDArray[np.uint64]
    games: dict[str, Games]
    luck: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    par: npt.NDArray[np.int64] | None = None


def evaluate(
    agents: Sequence[str | Path | Agent],
    *,
    edition: str | Path | Edition | Mapping[str, Any] = "bibliogamo",
    games: int = 2000,
    seeds: str = "final",
    prestige: int | None = None,
    batch_size: int = DEFAULT_BATCH,
    backend: str = "auto",
    seed: int = 0,
    budget: Budget | None = None,
    luck: bool = False,
    par_width: int | None = None,
    record: str | Path | None = None,
) -> Evaluation:
    """Play the same deals with each agent, and compare each pair game by game.

    Args:
        agents: names, paths of policy or run folders (see ``make_agent``), or Agents.
        edition: shipped name, path, parsed mapping or Edition.
        games: how many deals.
        seeds: the published list they are taken from, ``dev`` or ``final``.
        prestige: the collection of every game; None = drawn from each game's seed.
        batch_size: games played at once; changes the time taken and nothing else.
        backend: the engine's, ``numpy``, ``numba`` or ``auto``; changes as little.
        seed: of the agents' own draws.
        budget: for each move of the agents that search and are given by name; see ``Budget``.
        luck: whether the luck of each game is worked out (``LuckMeter``), for figures less it.
        par_width: also find the best line in hindsight on each deal, by a beam of this width, and
            hold the agents against it; None: don't.
        record: a folder for replays of the games, a file for each agent; None: none are kept.

    Raises:
        IncunabulaError: an argument can't be used, an agent acts illegally, or a file of replays
            can't be written.
    """
    edition = load_edition(edition)
    check_count("batch size", batch_size, MAX_BATCH)
    if par_width is not None:
        check_width(par_width, "par width")
    backend = chosen_backend(backend)
    deals = seed_list(seeds, games)
    _check_prestige(prestige, edition)
    games = int(games)
    prestige = None if prestige is None else int(prestige)
    seed = check_seed(seed)
    players = named_agents(agents, edition, seed, budget)
    meters: dict[str, LuckMeter] = {}
    if luck:
        judge = load_judge(edition)
        meters = {name: LuckMeter(edition, games, judge=judge) for name in players}
    began = time.perf_counter()
    played: dict[str, Games] = {}
    rows = []
    par = None
    files = file_names(list(players))

    def deal(game: int) -> dict[str, Any]:
        chosen = {} if prestige is None else {"prestige": prestige}
        return {"seed": str(deals[game])} | chosen

    with (
        record_folder(record, files.values()) as folder,
        SlowProgress((len(players) + (par_width is not None)) * games) as progress,
    ):
        for name, agent in players.items():
            _first_decision(agent, edition, backend)
            started = time.perf_counter()
            progress.advance(0, name)

            def alone(_: int, name: str = name) -> list[str]:
                return [name]

            with recorded(folder, files[name], edition, alone, deal) as recorder:
                watches = [watch for watch in (meters.get(name), recorder) if watch is not None]
                played[name] = play_games(
                    agent,
                    edition,
                    deals,
                    prestige=prestige,
                    batch_size=batch_size,
                    backend=backend,
                    watch=Watches(watches) if watches else None,
                    on_progress=progress.advance,
                )
            seconds = time.perf_counter() - started - (meters[name].seconds if luck else 0.0)
            rows.append(_agent_row(name, agent, played[name], backend, seconds))
        if par_width is not None:
            progress.advance(0, "par")
            searching = time.perf_counter()
            par = par_of(edition, deals, par_width, prestige, progress.advance)
            against = par_entry(par, par_width, played, searching)
    result = {
        "schema_version": SCHEMA_VERSION,
        "game": edition.game,
        "edition": edition_entry(edition),
        "prestige": prestige,
        "seeds": {"list": seeds, "games": games, "sha256": list_hash(deals)},
        "agent_seed": seed,
        "backend": backend,
        "versions": versions("numba"),
        "agents": rows,
        "paired": [
            {"a": a, "b": b} | paired(played[a].score, played[b].score)
            for b, a in combinations(played, 2)
        ],
        **({} if par is None else {"par": against}),
        "timing": timing_entry(began, batch_size),
    }
    if luck:
        add_luck(result, {name: games.score for name, games in played.items()}, meters)
    return Evaluation(result, deals, played, {name: meters[name].luck for name in meters}, par)


def _check_prestige(prestige: int | None, edition: Edition) -> None:
    most = len(edition.prestige) - 1
    whole = isinstance(prestige, int | np.integer) and not isinstance(prestige, bool)
    if prestige is not None and not (whole and 0 <= prestige <= most):
        raise IncunabulaError(
            f"prestige: expected a collection of the edition, 0..{most}, got {prestige}"
        )


def _first_decision(agent: Agent, edition: Edition, backend: str) -> None:
    """Let agent and engine decide something before the clock starts: what they compile or load
    isn't play."""
    engine = BibliogamoEngine(edition, 1, backend)
    engine.deal(np.arange(1), [0])
    ask(agent, View(engine, np.arange(1), np.zeros(1, np.uint64), np.zeros(1, np.int64)))
    engine.apply(engine.mask.argmax(axis=1))


def _agent_row(
    name: str, agent: Agent, games: Games, backend: str, seconds: float
) -> dict[str, Any]:
    """One agent's entry of the result."""

    def mean(values: npt.NDArray[Any]) -> float:
        return round(float(np.mean(values)), DIGITS)

    n = len(games.score)
    return {
        "name": name,
        "games": n,
        **summary(games.score),
        "split": {
            "books": mean(games.books_vp),
            "florins": mean(games.florins_vp),
            "prestige": mean(games.prestige_vp),
            "bonus": mean(games.bonus_vp),
        },
        "books_sold": mean(games.books),
        "decisions_per_game": mean(games.decisions),
        "backend": backend,
        **policy_entry(agent),
        "timing": {
            "seconds": round(seconds, 3),
            "games_per_second": round(n / seconds, 1),
            "decisions_per_second": round(int(games.decisions.sum()) / seconds),
        },
    }
