"""The ladder: every agent on the same deals, ranked, with what each costs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from incunabula.agents.agent import Agent
from incunabula.agents.registry import AGENTS, SEARCHERS, searches
from incunabula.agents.search.budget import Budget
from incunabula.envs.backend import chosen_backend
from incunabula.envs.chance import check_seed
from incunabula.envs.editions import edition_model, load_as
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.curve import METRICS
from incunabula.training.evaluation.luck import adjusted_pair
from incunabula.training.evaluation.machine import versions
from incunabula.training.evaluation.result import (
    MAX_BATCH,
    edition_entry,
    entrant,
    entrant_names,
)
from incunabula.training.evaluation.rows import DEFAULT_BATCH
from incunabula.training.evaluation.seeds import MAX_GAMES, check_count, list_hash, seed_list
from incunabula.training.evaluation.statistics import DealBootstrap, paired
from incunabula.training.ladder.measure import (
    OPPONENT,
    ROTATIONS,
    Terms,
    agent_key,
    by_deal,
    league_key,
    measure_agent,
    measure_league,
)
from incunabula.training.ladder.runs import TrainedRun, common_name, read_runs, training_spread
from incunabula.training.league.evaluate import paired_deals
from incunabula.training.league.rating import check_rating_possible
from incunabula.training.league.seating import MAX_AGENTS, MAX_DEALS, check_players

SCHEMA_VERSION = 1
ALL = (*AGENTS, *SEARCHERS)
Json = dict[str, Any]
GAMES_PLAYED = 2000
# A game of Scriptorium is played from every seat and with every number of players.
SEARCH_GAMES = {"bibliogamo": 50, "scriptorium": 10}
LEAGUE_DEALS = 5


@dataclass(frozen=True)
class Sizes:
    """How many deals are played.

    Attributes:
        games: by each agent that doesn't search.
        search_games: by each that does: the first of the same list.
        league_deals: at each table of a league (games of several players).
    """

    games: int
    search_games: int
    league_deals: int = LEAGUE_DEALS


@dataclass(frozen=True)
class Ladder:
    """What is to be measured, and how.

    Attributes:
        terms: edition, list of deals, seed, batch, engine.
        players: numbers of players, (1,) in a solitaire.
        specs: spec -> agent, in the order given.
        runs: training runs whose spread is shown; may be empty.
    """

    terms: Terms
    sizes: Sizes
    players: tuple[int, ...]
    agents: dict[str, Agent]
    runs: list[TrainedRun]
    budget: Budget | None

    def deals(self, spec: str) -> int:
        """How many deals an agent plays."""
        return self.sizes.search_games if searches(spec) else self.sizes.games

    def play(
        self,
        known: Iterable[Json] = (),
        on_measured: Callable[[list[Json]], None] | None = None,
    ) -> Json:
        """Measure what isn't known, and put the result together.

        Args:
            known: measurements made before, of the same ``terms.basis``.
            on_measured: called after each measurement with all that there are.

        Returns:
            The result, JSON values (see docs/evaluation.md).
        """
        kept = {_name(measurement["key"]): measurement for measurement in known}
        wanted: list[Json] = []
        for key, measure in self._work():
            found = kept.get(_name(key))
            wanted.append(measure() if found is None else found)
            kept[_name(key)] = wanted[-1]
            if found is None and on_measured is not None:
                on_measured(list(kept.values()))
        return self._result(wanted)

    def _work(self) -> Iterable[tuple[Json, Callable[[], Json]]]:
        """(key, what measures it), quick agents first, so that most is there early."""
        every = list(self.agents.values())
        order = sorted(self.agents, key=searches)  # False first, otherwise as given
        for players in self.players:
            for run in self.runs:
                key = agent_key("run", run.agent, players, self.sizes.games)
                yield key, partial(measure_agent, run.agent, key, self.terms)
        for spec in order:
            for players in self.players:
                agent = self.agents[spec]
                key = agent_key("agent", agent, players, self.deals(spec))
                yield key, partial(measure_agent, agent, key, self.terms)
        for players in self.players:
            if players > 1 and len(every) > 1:
                key = league_key(every, players, self.sizes.league_deals)
                yield key, partial(measure_league, every, key, self.terms)

    def _result(self, measured: list[Json]) -> Json:
        terms, sizes = self.terms, self.sizes
        size = {"games": sizes.games, "search_games": sizes.search_games}
        if self.players != (1,):
            size |= {"league_deals": sizes.league_deals}
        return {
            "schema_version": SCHEMA_VERSION,
            "kind": "ladder",
            "game": terms.edition.game,
            "edition": edition_entry(terms.edition),
            "seeds": {
                "list": terms.seeds,
                **{
                    name: {"deals": n, "sha256": list_hash(seed_list(terms.seeds, n))}
                    for name, n in size.items()
                },
            },
            "agent_seed": terms.seed,
            "budget": None if self.budget is None else str(self.budget),
            "versions": versions("numba", "choix", "scipy"),
            "basis": terms.basis,
            "tables": [self._table(players, measured) for players in self.players],
            "measurements": measured,
        }

    def _table(self, players: int, measured: Sequence[Json]) -> Json:
        """One ranking: of a solitaire, or of a number of players."""
        mine = [entry for entry in measured if entry["key"]["players"] == players]
        agents = [entry for entry in mine if entry["key"]["measured"] == "agent"]
        leagues = [entry for entry in mine if entry["key"]["measured"] == "league"]
        runs = [entry for entry in mine if entry["key"]["measured"] == "run"]
        what = "score" if players == 1 else "win_share"
        figure = "mean" if players == 1 else "win_share"
        by = what
        if agents and all("luck_adjusted" in entry for entry in agents):
            by = "luck_adjusted"
        agents = ranked(agents, by)
        specs = {agent.name: spec for spec, agent in self.agents.items()}
        rows = []
        for rank, entry in enumerate(agents, 1):
            name = entry["key"]["name"]
            row = {"rank": rank, "name": name, "searches": searches(specs[name])}
            row |= {field: value for field, value in entry.items() if field not in _RAW}
            rated = next(
                (a for league in leagues for a in league["agents"] if a["name"] == name), None
            )
            if rated is not None:
                row |= {"rating": rated["rating"], "rating_ci95": rated["rating_ci95"]}
            row["training"] = training_cost(self.agents[specs[name]])
            row["next"] = None if rank == len(agents) else compare(entry, agents[rank])
            rows.append(row | {"timing": entry["timing"]})
        spread = None
        if runs:
            spread = {
                "name": f"{common_name([run.folder for run in self.runs])} × {len(runs)}",
                "deals": self.sizes.games,
                **training_spread(np.array([by_deal(entry, what) for entry in runs])),
                "each": [
                    {"name": run.folder, "seed": run.seed, figure: entry[figure]}
                    | {"ci95": entry["ci95"], "policy_sha256": entry["key"]["policy_sha256"]}
                    | {"training": training_cost(run.agent)}
                    for run, entry in zip(self.runs, runs, strict=True)
                ],
            }
        table: Json = {"players": players}
        if players > 1:
            separated = any(league["rating"]["separated"] for league in leagues)
            table |= {"against": OPPONENT, "rotations": ROTATIONS, "separated": separated}
        return table | {"rows": rows, "training_runs": spread}


_RAW = ("key", "by_deal", "timing")


def _name(key: Json) -> str:
    return json.dumps(key, sort_keys=True)


def default_sizes(
    game: str, games: int | None = None, search_games: int | None = None, league: int | None = None
) -> Sizes:
    """The numbers given, and for those that aren't, what a ladder of this game has by default."""
    games = GAMES_PLAYED if games is None else games
    searched = min(SEARCH_GAMES[game], games) if search_games is None else search_games
    return Sizes(games, searched, LEAGUE_DEALS if league is None else league)


def make_ladder(
    game: str,
    specs: Sequence[str] = ALL,
    *,
    edition: str | None = None,
    sizes: Sizes | None = None,
    players: Sequence[int] | None = None,
    runs: Sequence[str] = (),
    seeds: str = "final",
    batch_size: int = DEFAULT_BATCH,
    backend: str = "auto",
    seed: int = 0,
    budget: Budget | None = None,
) -> Ladder:
    """A ladder that is ready to be played; nothing has been played yet.

    Args:
        game: bibliogamo or scriptorium.
        specs: names, or paths of policy or run folders (see ``make_agent``).
        edition: shipped name or path; by default the game's own.
        sizes: how many deals; by default ``default_sizes``.
        players: in a game of several, the numbers of players; all that the edition allows by
            default.
        runs: finished run folders that differ in the training seed alone.
        seeds: the published list of deals, ``dev`` or ``final``.
        batch_size: games played at once; changes the time taken and nothing else.
        backend: the engine's, ``numpy``, ``numba`` or ``auto``; changes as little.
        seed: of the agents' own draws.
        budget: for each move of the agents that search; see ``Budget``.

    Raises:
        IncunabulaError: an argument can't be used.
    """
    sizes = sizes or default_sizes(game)
    solitaire = game == "bibliogamo"
    loaded = load_as(edition_model(game), game if edition is None else edition)
    if solitaire and players is not None:
        raise IncunabulaError("players: bibliogamo is for one; leave --players out")
    tables = (1,) if solitaire else _players(loaded, players)
    most = MAX_GAMES if solitaire else MAX_DEALS
    check_count("batch size", batch_size, MAX_BATCH)
    check_count("games", sizes.games, most)
    check_count("search games", sizes.search_games, most)
    check_count("league deals", sizes.league_deals, most)
    if sizes.search_games > sizes.games:
        raise IncunabulaError(
            f"search games: expected at most as many as games, {sizes.games:,}, got "
            f"{sizes.search_games:,}"
        )
    seed_list(seeds, 1)
    terms = Terms(loaded, seeds, check_seed(seed), batch_size, chosen_backend(backend))
    agents = _agents(specs, terms, budget)
    if not solitaire and len(agents) > 1:
        check_rating_possible()
        if len(agents) > MAX_AGENTS:
            raise IncunabulaError(f"agents: expected at most {MAX_AGENTS}, got {len(agents)}")
    if runs and sizes.games < 2:
        raise IncunabulaError("games: the spread of training runs needs at least 2, got 1")
    return Ladder(terms, sizes, tables, agents, read_runs(runs, loaded) if runs else [], budget)


def _players(edition: Any, players: Sequence[int] | None) -> tuple[int, ...]:
    if players is None:
        return tuple(sorted(edition.rules.players))
    for number in players:
        check_players(number, edition)
        if list(players).count(number) > 1:
            raise IncunabulaError(f"players: {number} stands twice; give each number once")
    return tuple(sorted(players))


def _agents(specs: Sequence[str], terms: Terms, budget: Budget | None) -> dict[str, Agent]:
    """Spec -> agent; each under a name of its own."""
    agents: dict[str, Agent] = {}
    named: dict[str, str] = {}
    for spec in entrant_names(specs):
        agent = entrant(spec, spec, terms.edition, terms.seed, budget)
        if agent.name in named:
            other = named[agent.name]
            both = f"{spec!r} stands twice" if spec == other else f"{spec!r} is {other!r} again"
            raise IncunabulaError(f"agents: {both}; name each agent once")
        agents[spec], named[agent.name] = agent, spec
    return agents


def ranked(agents: Sequence[Json], what: str) -> list[Json]:
    """Measurements of agents by their mean in ``what`` (see ``by_deal``), the best first.

    Those of fewer deals stand above the first of the others whom they beat in ``what`` on the deals
    that both have played: their own mean is about easier or harder deals.
    """
    most = max(entry["key"]["deals"] for entry in agents)
    order = sorted(agents, key=lambda entry: -by_deal(entry, what).mean())
    whole = [entry for entry in order if entry["key"]["deals"] == most]
    places: list[tuple[int, int]] = []
    for number, entry in enumerate(order):
        if entry["key"]["deals"] == most:
            places.append((whole.index(entry), len(order)))
            continue
        mine = by_deal(entry, what)
        beaten = [mine.mean() > by_deal(other, what)[: len(mine)].mean() for other in whole]
        places.append((beaten.index(True) if any(beaten) else len(whole), number))
    return [entry for _, entry in sorted(zip(places, order, strict=True), key=lambda at: at[0])]


def compare(a: Json, b: Json) -> Json:
    """Measurement a less measurement b on the deals that both have played, as JSON values."""
    solitaire = a["key"]["players"] == 1
    deals = min(a["key"]["deals"], b["key"]["deals"])
    scores = [by_deal(entry, "score")[:deals] for entry in (a, b)]
    name = {"name": b["key"]["name"]}
    if solitaire:
        pair = name | paired(*(score.astype(np.int64) for score in scores))
        if "luck_adjusted" in a and "luck_adjusted" in b:
            left = [by_deal(entry, "luck_adjusted")[:deals] for entry in (a, b)]
            pair["luck_adjusted"] = adjusted_pair(left[0] - left[1])
        return pair
    shares = [by_deal(entry, "win_share")[:deals] for entry in (a, b)]
    return name | paired_deals(shares[0] - shares[1], scores[0] - scores[1], DealBootstrap(deals))


def training_cost(agent: Agent) -> Json | None:
    """What the training of a policy took, by its receipt, and on what, as its run folder has it;
    ``cpu_seconds``, of the processor, also says something of a machine that had other work.

    Of an agent that searches it is its base's or its guide's; None if nothing was learnt.
    """
    policy = getattr(agent, "policy", None)
    if policy is None:
        return None
    receipt = policy.description["training"]
    known = ("algorithm", "steps", "seconds", "cpu_seconds", "precision", "seed", "versions")
    cost = {name: receipt.get(name) for name in known} | {"machine": _machine(policy.folder)}
    if cost["cpu_seconds"] is None:
        cost["cpu_seconds"] = _cpu_seconds(policy.folder, cost["steps"])
    return cost


def _cpu_seconds(folder: Path, steps: Any) -> float | None:
    """What the run whose policy folder this is had taken at so many steps, by its metrics."""
    try:
        lines = (folder.parent / METRICS).read_text(encoding="utf-8").splitlines()
        entries = map(json.loads, lines)
        taken = [e["cpu_seconds"] for e in entries if "cpu_seconds" in e and e["steps"] <= steps]
        return float(taken[-1])
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None


def _machine(folder: Path) -> Json | None:
    """The machine of a run whose policy folder this is; None if that isn't known."""
    try:
        noted = json.loads((folder.parent / "versions.json").read_text(encoding="utf-8"))
        return {name: noted["machine"][name] for name in ("cpu", "cores")}
    except (OSError, ValueError, KeyError, TypeError):
        return None
