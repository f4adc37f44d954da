"""How fast the environments are: random legal play, as a learner would have it.

Every row of the vector environment plays its own games, out of step with the others, with
observations, masks and autoreset, and every array that comes back is fresh.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from incunabula.agents.agent import nth_legal
from incunabula.envs.adapters.games import Snapshot
from incunabula.envs.adapters.gymnasium import BibliogamoEnv, BibliogamoVectorEnv
from incunabula.envs.bibliogamo.edition import Edition, load_edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.chance import mix
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.machine import machine, versions
from incunabula.training.evaluation.progress import SlowProgress
from incunabula.training.evaluation.result import BACKEND
from incunabula.training.evaluation.seeds import check_count

SCHEMA_VERSION = 1
SYNC_ENVS = 64  # games at which the native environment is compared with SyncVectorEnv
MAX_ENVS = 1 << 18
MAX_SECONDS = 3600.0
REPEATS = 10
# Rows are dealt anew at a random one of these first steps: about the length of a random game.
STAGGER = 128
LEGAL_EVERY = 8  # the mask is recomputed for its time alone in one step of this many

Timing = tuple[float, float]  # steps per second: of the environment alone, and with sampling


def bench(
    num_envs: Sequence[int] = (1, 64, 1024, 8192),
    *,
    edition: str | Path | Edition | Mapping[str, Any] = "bibliogamo",
    seconds: float = 5.0,
    seed: int = 0,
) -> dict[str, Any]:
    """Measure steps per second at each number of games, and where the time goes.

    Args:
        num_envs: numbers of games to measure.
        edition: what is played.
        seconds: time given to each number of games, divided into runs of which the best counts:
            what else runs on a machine only ever makes a run slower.
        seed: of the deals and the random play.

    Returns:
        JSON values; see docs/evaluation.md.

    Raises:
        IncunabulaError: an argument can't be used.
    """
    if not num_envs:
        raise IncunabulaError("num-envs: expected at least one number")
    for n in num_envs:
        check_count("num-envs", n, MAX_ENVS)
    if len(set(num_envs)) < len(num_envs):
        raise IncunabulaError("num-envs: expected each number once")
    if not (math.isfinite(seconds) and 0 < seconds <= MAX_SECONDS):
        raise IncunabulaError(
            f"seconds: expected a number above 0, up to {MAX_SECONDS:g}, got {seconds}"
        )
    loaded = load_edition(edition)
    before = machine()
    with SlowProgress(len(num_envs) * REPEATS) as progress:
        rows = [_measure(loaded, n, seconds / REPEATS, seed, progress) for n in num_envs]
    return {
        "schema_version": SCHEMA_VERSION,
        "edition": {"name": loaded.name, "sha256": loaded.sha256},
        "seconds": seconds,
        "repeats": REPEATS,
        "rows": rows,
        "machine": before,
        "versions": versions("gymnasium"),
    }


def _measure(
    edition: Edition, n: int, seconds: float, seed: int, progress: SlowProgress
) -> dict[str, Any]:
    """One row of the result; ``seconds`` for each repeat."""
    progress.advance(0, f"{n:,} games")
    native = _Play(BibliogamoVectorEnv(n, edition), seed)
    sync = None
    if n == SYNC_ENVS:
        # The mode is given, since SyncVectorEnv's default has changed between releases.
        make = [lambda: BibliogamoEnv(edition)] * n
        mode = AutoresetMode.NEXT_STEP
        sync = _Play(SyncVectorEnv(make, autoreset_mode=mode), seed, like=native)
    runs: list[Timing] = []
    sync_runs: list[Timing] = []
    parts: list[dict[str, float]] = []
    engine = BibliogamoEngine(edition, n)
    share = seconds / (2 if sync is None else 3)
    for _ in range(REPEATS):
        runs.append(native.run(share))
        parts.append(_parts(engine, share, seed))
        if sync is not None:
            sync_runs.append(sync.run(share))
        progress.advance(1)
    speeds = [run[0] for run in runs]
    best = max(speeds)
    row: dict[str, Any] = {
        "game": edition.game,
        "backend": BACKEND,
        "num_envs": n,
        "steps_per_second": round(best),
        "steps_per_second_with_sampling": round(max(run[1] for run in runs)),
        "spread": round(1 - min(speeds) / best, 3),
        "runs": [round(speed) for speed in speeds],
        "parts_us": {
            key: float(f"{value * 1e6:.4g}")
            for key, value in min(parts, key=lambda part: sum(part.values())).items()
        },
    }
    if sync_runs:
        slow = max(run[0] for run in sync_runs)
        row |= {"sync_steps_per_second": round(slow), "sync_ratio": round(best / slow, 2)}
    return row


class _Draws:
    """Random legal actions, drawn uniformly for a whole batch."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def __call__(self, action_mask: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        draws = self._rng.integers(0, 1 << 64, len(action_mask), np.uint64)
        return nth_legal(action_mask.view(np.bool_), draws)


class _Play:
    """A vector environment (NEXT_STEP) in mid-play, its games out of step with each other.

    Args:
        env: a native environment, or SyncVectorEnv of single ones.
        like: another one whose positions it starts from; by default each game is dealt anew at a
            random one of the first STAGGER steps.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], seed: int, like: _Play | None = None) -> None:
        self.env = env
        self._draw = _Draws(seed)
        _, infos = env.reset(seed=seed)
        self._mask = infos["action_mask"]
        self._ended = np.zeros(env.num_envs, np.bool_)
        if like is not None:
            self._copy_positions(like)
            return
        for k in range(STAGGER):
            self._step(self._draw(self._mask))
            again = _late(env.num_envs) == k
            if again.any():
                _, infos = env.reset(options={"reset_mask": again})
                self._mask[again] = infos["action_mask"][again]
                self._ended[again] = False

    def _copy_positions(self, like: _Play) -> None:
        """Put the single environments into the positions of a native one; ended games aside."""
        native: Any = like.env
        synchronous: Any = self.env
        whole = native.clone_state()
        for i in np.flatnonzero(~like._ended):
            row = slice(i, i + 1)
            single = synchronous.envs[i].unwrapped
            single.restore_state(
                Snapshot(
                    whole.state.take(np.array([i])),
                    whole.base[row],
                    whole.episode[row],
                    whole.seeded[row],
                    whole.edition_sha256,
                )
            )
            self._mask[i] = single.action_masks()

    def _step(self, actions: npt.NDArray[np.intp]) -> int:
        """Take a step; how many games it moved on (the others were dealt anew)."""
        moved = len(actions) - int(self._ended.sum())
        _, _, terminated, truncated, infos = self.env.step(actions)
        self._mask = infos["action_mask"]
        self._ended = terminated | truncated
        return moved

    def run(self, seconds: float) -> Timing:
        """Play for so long (two calls at least)."""
        steps, stepping, calls = 0, 0.0, 0
        clock = time.perf_counter
        began = now = clock()
        while calls < 2 or now - began < seconds:
            actions = self._draw(self._mask)
            before = clock()
            steps += self._step(actions)
            now = clock()
            stepping += now - before
            calls += 1
        return steps / stepping, steps / (now - began)


def _parts(engine: BibliogamoEngine, seconds: float, seed: int) -> dict[str, float]:
    """Seconds a step of one game spends in each part of the bare engine, for so long.

    ``apply`` includes keeping the mask; ``legal`` is what recomputing the mask takes by itself.
    ``deal`` is spread over all steps. The adapter's copies and bookkeeping are in none of them.
    """
    clock = time.perf_counter
    draw = _Draws(seed)
    n = engine.num_envs
    if not engine.mask.any():
        engine.deal(np.arange(n), np.arange(n, dtype=np.uint64))
        for k in range(STAGGER):
            _, terminated = engine.apply(draw(engine.mask))
            _deal_next(engine, np.flatnonzero(terminated | (_late(n) == k)))
    spent = dict.fromkeys(("apply", "legal", "deal", "observe", "sampling"), 0.0)
    calls = legal_calls = 0
    began = clock()
    while calls < LEGAL_EVERY or clock() - began < seconds:
        start = clock()
        actions = draw(engine.mask)
        sampled = clock()
        _, terminated = engine.apply(actions)
        applied = clock()
        _deal_next(engine, np.flatnonzero(terminated))
        dealt = clock()
        engine.observe()
        observed = clock()
        spent["sampling"] += sampled - start
        spent["apply"] += applied - sampled
        spent["deal"] += dealt - applied
        spent["observe"] += observed - dealt
        calls += 1
        if calls % LEGAL_EVERY == 0:
            engine.legal()
            spent["legal"] += clock() - observed
            legal_calls += 1
    return {
        part: total / ((legal_calls if part == "legal" else calls) * n)
        for part, total in spent.items()
    }


def _deal_next(engine: BibliogamoEngine, rows: npt.NDArray[np.intp]) -> None:
    if rows.size:
        engine.deal(rows, mix(engine.state.seed[rows] + np.uint64(1)))


def _late(n: int) -> npt.NDArray[np.uint64]:
    """The step, one of the first STAGGER, at which each row is dealt anew; uint64 (n,)."""
    return mix(np.arange(n, dtype=np.uint64)) % np.uint64(STAGGER)
