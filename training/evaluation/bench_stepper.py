"""Games that a bench plays on without adapters: a stepper's, a rollout's, several threads'."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import AGENT_STREAM, Agent
from incunabula.agents.random_kernels import draw_actions
from incunabula.agents.rollout import rollout
from incunabula.envs.compiled.functions import can_compile
from incunabula.envs.engine import Engine
from incunabula.envs.stepper import Stepper
from incunabula.training.evaluation.bench_play import Play, Timing

_STREAM = np.uint64(AGENT_STREAM)
# Steps of each game in one call of a rollout: about a game, and fewer where each step takes
# its time.
ROLLOUT_STEPS, SLOW_STEPS = 256, 16


class CompiledDraws:
    """As ``Draws``, but quick where numba is: NumPy's small operations, between one step of a
    single game and the next, would empty the caches that the step runs from."""

    def __init__(self, num_envs: int, seed: int) -> None:
        self._seed, self._decision = np.uint64(seed), 0
        self._actions = np.zeros(num_envs, np.intp)

    def __call__(self, action_mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
        self._decision += 1
        draw_actions(action_mask, self._seed, _STREAM, self._decision, self._actions)
        return self._actions


class StepperPlay(Play):
    """One engine call a step, all seats stepped, into arrays that are kept; an end and the next
    deal fall into one step."""

    def __init__(self, engine: Engine, seed: int, stagger: int) -> None:
        super().__init__(engine.num_envs, seed)
        if can_compile():
            self.draw = CompiledDraws(engine.num_envs, seed)
        self.stepper = Stepper(engine, seed)
        self.mask = self.stepper.action_mask
        self._stagger(stagger)

    def _deal_anew(self, rows: npt.NDArray[np.bool_]) -> None:
        self.stepper.deal_next(np.flatnonzero(rows))

    def step(self, actions: npt.NDArray[np.intp]) -> int:
        self.stepper.step(actions)
        self.decisions += len(actions)
        return len(actions)


class RolloutPlay:
    """Many steps in one call, without observations; drawing the actions is part of it."""

    def __init__(self, engine: Engine, policy: str | Agent, seed: int, stagger: int) -> None:
        self.stepper = StepperPlay(engine, seed, stagger).stepper
        self._policy, self._seed = policy, seed
        quick = policy == "random" and engine.backend.name == "numba"
        self._steps = ROLLOUT_STEPS if quick else SLOW_STEPS
        self._taken = np.zeros(engine.num_envs, np.int64)
        rollout(self.stepper, policy, 1)  # compiles

    def run(self, seconds: float) -> Timing:
        """Play for so long (one call at least)."""
        began = now = time.perf_counter()
        steps = 0
        while not steps or now - began < seconds:
            done = rollout(
                self.stepper, self._policy, self._steps, seed=self._seed, decision=self._taken
            )
            self._taken += done.steps
            steps += int(done.steps.sum())
            now = time.perf_counter()
        speed = steps / (now - began)
        return Timing(speed, speed, speed)


class Threads:
    """Several plays at once, each in a thread of its own: their speeds together."""

    def __init__(self, plays: Sequence[StepperPlay | RolloutPlay]) -> None:
        self._plays = plays

    def run(self, seconds: float) -> Timing:
        """Play for so long. Of steppers the time that drawing takes is counted too."""
        with ThreadPoolExecutor(len(self._plays)) as pool:
            timings = list(pool.map(lambda play: play.run(seconds), self._plays))
        speed = sum(timing.with_sampling for timing in timings)
        return Timing(speed, speed, speed)
