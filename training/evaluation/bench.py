"""How fast the environments are: random legal play, as a learner would have it.

Every row plays its own games, out of step with the others, with observations, masks and autoreset,
and every array that comes back is fresh. Bibliogamo is measured through its Gymnasium vector
environment. Scriptorium is measured twice: the engine with all seats stepped, and the view of a
single learner, through the vector environment, with agents in the other seats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gymnasium.vector import AutoresetMode, SyncVectorEnv

from incunabula.agents.agent import Agent
from incunabula.agents.registry import make_agent
from incunabula.envs.adapters.gymnasium import BibliogamoEnv, BibliogamoVectorEnv
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.editions import BaseEdition, load_any_edition
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.bench_play import (
    EnginePlay,
    EnvPlay,
    LearnerPlay,
    Play,
    Timing,
    parts,
)
from incunabula.training.evaluation.machine import machine, versions
from incunabula.training.evaluation.progress import SlowProgress
from incunabula.training.evaluation.result import BACKEND
from incunabula.training.evaluation.seeds import check_count

SCHEMA_VERSION = 1
SYNC_ENVS = 64  # games at which the native environment is compared with SyncVectorEnv
MAX_ENVS = 1 << 18
MAX_SECONDS = 3600.0
REPEATS = 10
# About the length of a random game, in decisions: of Bibliogamo, of all seats of Scriptorium, and
# of one learner there.
STAGGER, TABLE_STAGGER, LEARNER_STAGGER = 128, 256, 64
# With agents in the other seats nearly all time is theirs: more games at once would tell no more.
LEARNER_ENVS = 64
DEFAULT_ENVS = {"bibliogamo": (1, 64, 1024, 8192), "scriptorium": (1, 64, 1024)}
DEFAULT_OPPONENTS = ("random", "greedy")


class _Case(NamedTuple):
    """What one row of the result measures."""

    fields: dict[str, Any]  # what it is called
    play: Play
    engine: Engine | None = None  # whose parts are timed too
    stagger: int = STAGGER
    sync: Play | None = None  # what it is compared with


def bench(
    num_envs: Sequence[int] | None = None,
    *,
    edition: str | Path | BaseEdition | Mapping[str, Any] = "bibliogamo",
    players: int | None = None,
    opponents: Sequence[str | Path | Agent] | None = None,
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
        seconds: time given to each row, divided into runs of which the best counts: what else runs
            on a machine only ever makes a run slower.
        seed: of the deals and the random play.

    Returns:
        JSON values; see docs/evaluation.md.

    Raises:
        IncunabulaError: an argument can't be used.
    """
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
    before = machine()
    if loaded.game == "bibliogamo":
        if players is not None or opponents is not None:
            option = "players" if players is not None else "opponents"
            raise IncunabulaError(f"{option}: bibliogamo is for one; leave it out")
        total = len(sizes)
        cases = _solitaire(loaded, sizes, seed)
    else:
        seats = max(loaded.rules.players) if players is None else players  # type: ignore[attr-defined]
        others = [
            given if isinstance(given, Agent) else make_agent(given, loaded)
            for given in (DEFAULT_OPPONENTS if opponents is None else opponents)
        ]
        total = len(sizes) + len(others) * sum(n <= LEARNER_ENVS for n in sizes)
        cases = _table(loaded, seats, sizes, others, seed)
    with SlowProgress(total * REPEATS) as progress:
        rows = [_measure(case, seconds / REPEATS, seed, progress) for case in cases]
    return {
        "schema_version": SCHEMA_VERSION,
        "edition": {"name": loaded.name, "sha256": loaded.sha256},
        "seconds": seconds,
        "repeats": REPEATS,
        "rows": rows,
        "machine": before,
        "versions": versions("gymnasium"),
    }


def _solitaire(edition: BaseEdition, sizes: Sequence[int], seed: int) -> Iterator[_Case]:
    """Bibliogamo's vector environment, and SyncVectorEnv at one number of games."""
    for n in sizes:
        native = EnvPlay(BibliogamoVectorEnv(n, edition), seed, STAGGER)
        sync = None
        if n == SYNC_ENVS:
            # The mode is given, since SyncVectorEnv's default has changed between releases.
            make = [lambda: BibliogamoEnv(edition)] * n
            mode = AutoresetMode.NEXT_STEP
            sync = EnvPlay(SyncVectorEnv(make, autoreset_mode=mode), seed, STAGGER, like=native)
        fields = {"game": edition.game, "view": "vector_env", "num_envs": n}
        yield _Case(fields, native, BibliogamoEngine(edition, n), sync=sync)


def _table(
    edition: BaseEdition, players: int, sizes: Sequence[int], opponents: Sequence[Agent], seed: int
) -> Iterator[_Case]:
    """Scriptorium: the engine, all seats stepped; then a learner among each of the opponents."""
    from incunabula.agents.seat.gymnasium import ScriptoriumVectorEnv
    from incunabula.envs.scriptorium.engine import ScriptoriumEngine

    called: dict[str, Any] = {"game": edition.game, "players": players}
    for n in sizes:
        play = EnginePlay(ScriptoriumEngine(edition, n, players), seed, TABLE_STAGGER)
        engine = ScriptoriumEngine(edition, n, players)
        yield _Case(called | {"view": "engine", "num_envs": n}, play, engine, TABLE_STAGGER)
    for agent in opponents:
        for n in (n for n in sizes if n <= LEARNER_ENVS):
            env = ScriptoriumVectorEnv(n, edition, num_players=players, opponents=agent)
            fields = called | {"view": "learner", "opponents": agent.name, "num_envs": n}
            yield _Case(fields, LearnerPlay(env, seed, LEARNER_STAGGER))


def _measure(case: _Case, seconds: float, seed: int, progress: SlowProgress) -> dict[str, Any]:
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
    speeds = [run.steps for run in runs]
    best = max(speeds)
    row: dict[str, Any] = {
        **case.fields,
        "backend": BACKEND,
        "steps_per_second": round(best),
        "steps_per_second_with_sampling": round(max(run.with_sampling for run in runs)),
        "spread": round(1 - min(speeds) / best, 3),
        "runs": [round(speed) for speed in speeds],
    }
    if case.fields["view"] == "learner":
        row["decisions_per_second"] = round(max(runs).decisions)
    if times:
        row["parts_us"] = {
            key: float(f"{value * 1e6:.4g}")
            for key, value in min(times, key=lambda part: sum(part.values())).items()
        }
    if sync_runs:
        slow = max(run.steps for run in sync_runs)
        row |= {"sync_steps_per_second": round(slow), "sync_ratio": round(best / slow, 2)}
    return row
