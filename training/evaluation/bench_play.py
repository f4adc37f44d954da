"""Games in mid-play that a bench steps on at random, out of step with each other."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from gymnasium import Env
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from incunabula.agents.agent import nth_legal
from incunabula.envs.chance import mix
from incunabula.envs.engine import Engine


class Timing(NamedTuple):
    """Each a second."""

    steps: float  # of the environment alone
    with_sampling: float  # steps, drawing the random actions included
    decisions: float  # of the environment alone, of all seats


LEGAL_EVERY = 8  # the mask is recomputed for its time alone in one step of this many
SYNC_ENVS = 64  # games at which the native environment is compared with SyncVectorEnv
# About the length of a random game, in decisions: of Bibliogamo, of all seats of Scriptorium, and
# of one learner there.
STAGGER, TABLE_STAGGER, LEARNER_STAGGER = 128, 256, 64


def speeds(runs: Sequence[Timing]) -> dict[str, Any]:
    """The fields of a row that say how fast something is; the best run counts."""
    steps = [run.steps for run in runs]
    best = max(steps)
    return {
        "steps_per_second": round(best),
        "steps_per_second_with_sampling": round(max(run.with_sampling for run in runs)),
        "spread": round(1 - min(steps) / best, 3),
        "runs": [round(speed) for speed in steps],
    }


class Draws:
    """Random legal actions, drawn uniformly for a whole batch."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def __call__(self, action_mask: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        draws = self._rng.integers(0, 1 << 64, len(action_mask), np.uint64)
        return nth_legal(action_mask.view(np.bool_), draws)


class Stepped(ABC):
    """Games that are stepped at random, whoever implements them.

    Attributes:
        mask: what is legal now, in the form that ``draw`` takes.
        draw: legal actions drawn from that, in the form that ``step`` takes.
        decisions: how many were taken in all, whoever took them.
    """

    mask: Any
    draw: Callable[[Any], Any]
    decisions = 0

    @abstractmethod
    def step(self, actions: Any) -> int:
        """Take a step; how many games it moved on (the others were dealt anew)."""

    def run(self, seconds: float) -> Timing:
        """Play for so long (two calls at least)."""
        steps, stepping, calls, decided = 0, 0.0, 0, self.decisions
        clock = time.perf_counter
        began = now = clock()
        while calls < 2 or now - began < seconds:
            actions = self.draw(self.mask)
            before = clock()
            steps += self.step(actions)
            now = clock()
            stepping += now - before
            calls += 1
        decided = self.decisions - decided
        return Timing(steps / stepping, steps / (now - began), decided / stepping)


class Play(Stepped):
    """Games of ours in mid-play.

    Each is dealt anew at a random one of the first ``stagger`` steps, about the length of a random
    game, so that ends come at all times.
    """

    def __init__(self, num_envs: int, seed: int) -> None:
        self.draw = Draws(seed)
        self.ended = np.zeros(num_envs, np.bool_)
        self.mask: npt.NDArray[Any]

    @abstractmethod
    def _deal_anew(self, rows: npt.NDArray[np.bool_]) -> None:
        """Deal the next game in these rows, bool (N,)."""

    def _stagger(self, stagger: int) -> None:
        for k in range(stagger):
            self.step(self.draw(self.mask))
            again = late(len(self.ended), stagger) == k
            if again.any():
                self._deal_anew(again)
                self.ended[again] = False


class EnvPlay(Play):
    """A Gymnasium vector environment (NEXT_STEP): a native one, or SyncVectorEnv of single ones.

    Args:
        like: another one whose positions it starts from.
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        seed: int,
        stagger: int,
        like: EnvPlay | None = None,
    ) -> None:
        super().__init__(env.num_envs, seed)
        self.env = env
        _, infos = env.reset(seed=seed)
        self.mask = infos["action_mask"]
        if like is None:
            self._stagger(stagger)
        else:
            self._copy_positions(like)

    def _copy_positions(self, like: EnvPlay) -> None:
        """Put the single environments into the positions of a native one; ended games aside."""
        native: Any = like.env
        synchronous: Any = self.env
        whole = native.clone_state()
        for i in np.flatnonzero(~like.ended):
            single = synchronous.envs[i].unwrapped
            single.restore_state(whole.take(np.array([i])))
            self.mask[i] = single.action_masks()

    def _deal_anew(self, rows: npt.NDArray[np.bool_]) -> None:
        _, infos = self.env.reset(options={"reset_mask": rows})
        self.mask[rows] = infos["action_mask"][rows]

    def step(self, actions: npt.NDArray[np.intp]) -> int:
        moved = len(actions) - int(self.ended.sum())
        _, _, terminated, truncated, infos = self.env.step(actions)
        self.mask = infos["action_mask"]
        self.ended = terminated | truncated
        self.decisions += moved
        return moved


def sync_env(make: Callable[[], Env[Any, Any]], num_envs: int, **options: Any) -> SyncVectorEnv:
    """Single environments one after the other, as Gymnasium steps them."""
    # The mode is given, since SyncVectorEnv's default has changed between releases.
    return SyncVectorEnv([make] * num_envs, autoreset_mode=AutoresetMode.NEXT_STEP, **options)


class LearnerPlay(EnvPlay):
    """A learner's view of a game of several players: one step is his, the others' are inside."""

    def step(self, actions: npt.NDArray[np.intp]) -> int:
        before, late_rows = self._decision().copy(), self.ended
        moved = super().step(actions)
        # A game that was dealt in this step has counted from 0.
        taken = self._decision() - np.where(late_rows, 0, before)
        self.decisions += int(taken.sum()) - moved
        return moved

    def _decision(self) -> npt.NDArray[np.integer[Any]]:
        """The decisions of each game so far, (N,)."""
        env: Any = self.env
        decision: npt.NDArray[np.integer[Any]] = env.games.decision
        return decision


def parts(engine: Engine, seconds: float, seed: int, stagger: int) -> dict[str, float]:
    """Seconds a step of one game spends in each part of the bare engine, for so long.

    ``apply`` includes keeping the mask; ``legal`` is what recomputing the mask takes by itself.
    ``deal`` is spread over all steps. The adapter's copies and bookkeeping are in none of them.
    """
    clock = time.perf_counter
    draw = Draws(seed)
    n = engine.num_envs
    if not engine.mask.any():
        engine.deal(np.arange(n), np.arange(n, dtype=np.uint64))
        for k in range(stagger):
            _, terminated = engine.apply(draw(engine.mask))
            deal_next(engine, np.flatnonzero(terminated | (late(n, stagger) == k)))
    spent = dict.fromkeys(("apply", "legal", "deal", "observe", "sampling"), 0.0)
    calls = legal_calls = 0
    began = clock()
    while calls < LEGAL_EVERY or clock() - began < seconds:
        start = clock()
        actions = draw(engine.mask)
        sampled = clock()
        _, terminated = engine.apply(actions)
        applied = clock()
        deal_next(engine, np.flatnonzero(terminated))
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


def deal_next(engine: Engine, rows: npt.NDArray[np.intp]) -> None:
    """Deal in these rows the games that follow from the seeds of the last."""
    if rows.size:
        engine.deal(rows, mix(engine.state.seed[rows] + np.uint64(1)))


def late(n: int, stagger: int) -> npt.NDArray[np.uint64]:
    """The step, one of the first ``stagger``, at which each row is dealt anew; uint64 (n,)."""
    return mix(np.arange(n, dtype=np.uint64)) % np.uint64(stagger)
