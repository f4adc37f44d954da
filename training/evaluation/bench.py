"""How fast the games are played: random legal play, each game out of step with the others.

Rows are called by their view:

    stepper     one engine call a step, all seats stepped, with observations, masks and autoreset,
                into arrays that are kept
    vector_env  Bibliogamo's Gymnasium vector environment: the same, every array fresh, and infos
    learner     the view of a single learner of Scriptorium, agents in the other seats
    rollout     many steps in one call, by a policy, without observations
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from incunabula.agents.agent import Agent
from incunabula.agents.registry import make_agent
from incunabula.agents.rollout import POLICIES
from incunabula.envs.adapters.gymnasium import BibliogamoEnv, BibliogamoVectorEnv
from incunabula.envs.backend import chosen_backend
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.chance import MASK64, check_seed
from incunabula.envs.editions import BaseEdition, load_any_edition
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.training.evaluation.against import load_suites
from incunabula.training.evaluation.against.measure import measure_against
from incunabula.training.evaluation.bench_play import (
    LEARNER_STAGGER,
    STAGGER,
    SYNC_ENVS,
    TABLE_STAGGER,
    EnvPlay,
    LearnerPlay,
    Timing,
    parts,
    speeds,
    sync_env,
)
from incunabula.training.evaluation.bench_stepper import RolloutPlay, StepperPlay, Threads
from incunabula.training.evaluation.machine import machine, versions
from incunabula.training.evaluation.progress import SlowProgress
from incunabula.training.evaluation.seeds import check_count

SCHEMA_VERSION = 2
MAX_ENVS = 1 << 18
MAX_SECONDS = 3600.0
REPEATS = 10
# With agents in the other seats nearly all time is theirs: more games at once would tell no more.
LEARNER_ENVS = 64
DEFAULT_ENVS = {"bibliogamo": (1, 64, 1024, 8192), "scriptorium": (1, 64, 1024)}
DEFAULT_OPPONENTS = ("random", "greedy")
TOGETHER = 1024  # games of rollouts, and of each of several threads
THREADS = 2


class Timed(Protocol):
    """What can be measured."""

    def run(self, seconds: float) -> Timing: ...


class _Case(NamedTuple):
    """What one row of the result measures."""

    fields: dict[str, Any]  # what it is called
    play: Timed
    engine: Engine | None = None  # whose parts are timed too
    stagger: int = STAGGER
    sync: Timed | None = None  # what it is compared with


Make = Callable[[], _Case]


def bench(
    num_envs: Sequence[int] | None = None,
    *,
    edition: str | Path | BaseEdition | Mapping[str, Any] = "bibliogamo",
    players: int | None = None,
    opponents: Sequence[str | Path | Agent] | None = None,
    against: Sequence[str] = (),
    backend: str = "auto",
    seconds: float = 5.0,
    seed: int = 0,
) -> dict[str, Any]:
    """Measure steps per second at each number of games, and where the time goes.

    Args:
        num_envs: numbers of games to measure; by default 1, 64, 1024, and in Bibliogamo 8192.
        edition: what is played.
        players: seats of a game of Scriptorium; by default as many as the edition allows.
        opponents: agents that hold the other seats in a learner's view of Scriptorium, one after
            the other; by default random and greedy.
        against: other implementations to measure too, see docs/evaluation.md.
        backend: of our engines.
        seconds: time given to each row, divided into runs of which the best counts: what else runs
            on a machine only ever makes a run slower.
        seed: of the deals and the random play.

    Returns:
        JSON values; see docs/evaluation.md.

    Raises:
        IncunabulaError: an argument can't be used.
    """
    seed = check_seed(seed)
    loaded = load_any_edition(edition)
    sizes = DEFAULT_ENVS[loaded.game] if num_envs is None else num_envs
    if not sizes:
        raise IncunabulaError("num-envs: expected at least one number")
    for n in sizes:
        check_count("num-envs", n, MAX_ENVS)
    if len(set(sizes)) < len(sizes):
        raise IncunabulaError("num-envs: expected each number once")
    if not (math.isfinite(seconds) and 0 < seconds <= MAX_SECONDS):
        raise IncunabulaError(
            f"seconds: expected a number above 0, up to {MAX_SECONDS:g}, got {seconds}"
        )
    suites = load_suites(against)
    used = chosen_backend(backend)
    before = machine()
    if loaded.game == "bibliogamo":
        if players is not None or opponents is not None:
            option = "players" if players is not None else "opponents"
            raise IncunabulaError(f"{option}: bibliogamo is for one; leave it out")
        cases = _solitaire(loaded, sizes, used, seed)
    else:
        seats = max(loaded.rules.players) if players is None else players  # type: ignore[attr-defined]
        others = [
            given if isinstance(given, Agent) else make_agent(given, loaded)
            for given in (DEFAULT_OPPONENTS if opponents is None else opponents)
        ]
        cases = _table(loaded, seats, sizes, others, used, seed)
    with SlowProgress(len(cases) * REPEATS) as progress:
        rows = [_measure(make(), used, seconds / REPEATS, seed, progress) for make in cases]
    result = {
        "schema_version": SCHEMA_VERSION,
        "edition": {"name": loaded.name, "sha256": loaded.sha256},
        "seconds": seconds,
        "repeats": REPEATS,
        "rows": rows,
        "machine": before,
        "versions": versions("gymnasium", *(name for suite in suites for name in suite.packages)),
    }
    if suites:
        result["against"] = measure_against(
            suites,
            loaded,
            players,
            num_envs,
            rows,
            seconds=seconds / REPEATS,
            repeats=REPEATS,
            seed=seed,
        )
    return result


def _solitaire(edition: BaseEdition, sizes: Sequence[int], backend: str, seed: int) -> list[Make]:
    """Bibliogamo: its engine, and its vector environment, with SyncVectorEnv beside it at one
    number of games."""
    called = {"game": edition.game}

    def engine(n: int) -> Engine:
        return BibliogamoEngine(edition, n, backend=backend)

    def vector(n: int) -> _Case:
        native = EnvPlay(BibliogamoVectorEnv(n, edition, backend=backend), seed, STAGGER)
        sync = None
        if n == SYNC_ENVS:
            env = sync_env(lambda: BibliogamoEnv(edition, backend=backend), n)
            sync = EnvPlay(env, seed, STAGGER, like=native)
        return _Case(called | {"view": "vector_env", "num_envs": n}, native, sync=sync)

    vectors = [partial(vector, n) for n in sizes]
    return [*_engine_cases(called, engine, sizes, seed, STAGGER), *vectors]


def _table(
    edition: BaseEdition,
    players: int,
    sizes: Sequence[int],
    opponents: Sequence[Agent],
    backend: str,
    seed: int,
) -> list[Make]:
    """Scriptorium: its engine, all seats stepped; then a learner among each of the opponents."""
    from incunabula.agents.seat.gymnasium import ScriptoriumVectorEnv

    called: dict[str, Any] = {"game": edition.game, "players": players}

    def engine(n: int) -> Engine:
        return ScriptoriumEngine(edition, n, players, backend=backend)

    engine(1)  # so that a wrong number of players is refused before anything is measured

    def learner(agent: Agent, n: int) -> _Case:
        options: dict[str, Any] = {"num_players": players, "opponents": agent, "backend": backend}
        env = ScriptoriumVectorEnv(n, edition, **options)
        fields = called | {"view": "learner", "opponents": agent.name, "num_envs": n}
        return _Case(fields, LearnerPlay(env, seed, LEARNER_STAGGER))

    few = [n for n in sizes if n <= LEARNER_ENVS]
    learners = [partial(learner, agent, n) for agent in opponents for n in few]
    return [*_engine_cases(called, engine, sizes, seed, TABLE_STAGGER), *learners]


def _engine_cases(
    called: Mapping[str, Any],
    engine: Callable[[int], Engine],
    sizes: Sequence[int],
    seed: int,
    stagger: int,
) -> list[Make]:
    """Steppers, rollouts at the largest number of games up to TOGETHER, and both in threads."""
    most = max((n for n in sizes if n <= TOGETHER), default=min(sizes))

    def stepper(n: int) -> _Case:
        fields = {**called, "view": "stepper", "num_envs": n}
        return _Case(fields, StepperPlay(engine(n), seed, stagger), engine(n), stagger)

    def rollouts(policy: str) -> _Case:
        fields = {**called, "view": "rollout", "policy": policy, "num_envs": most}
        return _Case(fields, RolloutPlay(engine(most), policy, seed, stagger))

    def threads(view: str) -> _Case:
        seeds = [(seed + k) & MASK64 for k in range(THREADS)]
        plays = [
            StepperPlay(engine(most), own, stagger)
            if view == "stepper"
            else RolloutPlay(engine(most), "random", own, stagger)
            for own in seeds
        ]
        fields = {**called, "view": view, "num_envs": most, "threads": THREADS}
        return _Case(fields | ({"policy": "random"} if view == "rollout" else {}), Threads(plays))

    return [
        *(partial(stepper, n) for n in sizes),
        *(partial(rollouts, policy) for policy in POLICIES),
        *(partial(threads, view) for view in ("stepper", "rollout")),
    ]


def _measure(
    case: _Case, backend: str, seconds: float, seed: int, progress: SlowProgress
) -> dict[str, Any]:
    """One row of the result; ``seconds`` for each repeat."""
    name = case.fields.get("opponents", case.fields["view"])
    progress.advance(0, f"{case.fields['num_envs']:,} games, {name}")
    runs: list[Timing] = []
    sync_runs: list[Timing] = []
    times: list[dict[str, float]] = []
    share = seconds / (1 + (case.engine is not None) + (case.sync is not None))
    for _ in range(REPEATS):
        runs.append(case.play.run(share))
        if case.engine is not None:
            times.append(parts(case.engine, share, seed, case.stagger))
        if case.sync is not None:
            sync_runs.append(case.sync.run(share))
        progress.advance(1)
    row: dict[str, Any] = {**case.fields, "backend": backend, **speeds(runs)}
    if case.fields["view"] == "learner":
        row["decisions_per_second"] = round(max(runs).decisions)
    if times:
        row["parts_us"] = {
            key: float(f"{value * 1e6:.4g}")
            for key, value in min(times, key=lambda part: sum(part.values())).items()
        }
    if sync_runs:
        slow, best = max(run.steps for run in sync_runs), max(run.steps for run in runs)
        row |= {"sync_steps_per_second": round(slow), "sync_ratio": round(best / slow, 2)}
    return row
