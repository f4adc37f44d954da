"""The learner's side of the environment: scaled and shaped rewards, forced decisions skipped.

`TrainingVecEnv` is the native Stable-Baselines3 VecEnv with the trainer's own rewards. It deals the
same games; true scores are reported by `statistics` and in `infos[i]["episode"]`.
"""

from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent, View, ask
from incunabula.envs.adapters.games import EditionLike
from incunabula.envs.adapters.sb3 import BibliogamoSB3VecEnv
from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.bibliogamo.state import State
from incunabula.training.ppo.config import Shaping
from incunabula.training.ppo.shaping import Potential

Float32Array = npt.NDArray[np.float32]
BoolArray = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]

STATISTICS_WINDOW = 1024
"""Finished games that the reported mean score and length look back on."""


class TrainingVecEnv(BibliogamoSB3VecEnv):
    """N games that restart by themselves, with the rewards PPO learns from.

    Args:
        num_envs: N.
        edition: a name, a file or an edition.
        seed: sub-environment i plays the games of a single environment seeded seed + i.
        gamma: the learner's discount, for the shaping.
        reward_scale: factor of the score gained.
        shaping: the potential, or None.
        skip_forced: play decisions with one legal action without asking; the reward of a step is
            then the sum over the decisions it took, and the discount counts the steps.
        illegal_reward: the (scaled) reward of an illegal action, which changes nothing else.
            None: illegal actions raise.
        backend: the engine's.
    """

    def __init__(
        self,
        num_envs: int,
        edition: EditionLike = "bibliogamo",
        *,
        seed: int = 0,
        gamma: float = 1.0,
        reward_scale: float = 1.0,
        shaping: Shaping | None = None,
        skip_forced: bool = False,
        illegal_reward: float | None = None,
        backend: str = "numpy",
    ) -> None:
        super().__init__(
            num_envs,
            edition,
            seed=seed,
            illegal_action="raise" if illegal_reward is None else "penalize",
            illegal_reward=0.0 if illegal_reward is None else illegal_reward,
            backend=backend,
        )
        self._first_seed = seed
        self._gamma = np.float32(gamma)
        self._reward_scale = np.float32(reward_scale)
        self._potential = None
        if shaping is not None:
            self._potential = Potential(self.engine.tables, shaping, reward_scale)
        self._skip_forced = skip_forced
        self._phi = np.zeros(num_envs, np.float32)
        self._illegal = np.zeros(num_envs, np.int64)
        # The last finished games, oldest first: score, decisions, illegal actions.
        self._finished = np.zeros((0, 3), np.int64)
        self.games_finished = 0
        self.decisions = 0

    # The learner's fast path -------------------------------------------------------------------

    @property
    def edition(self) -> Edition:
        return self.engine.edition

    def observe(self) -> Float32Array:
        """Observations float32 (N, F)."""
        return self.engine.observe()

    @property
    def masks(self) -> BoolArray:
        """Legal actions, bool (N, A); the engine's own array."""
        return self.engine.mask

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Decisions taken so far in each game, int64 (N,)."""
        return self._lengths

    def reset(self) -> Float32Array:
        """Deal the next game in every row; observations float32 (N, F)."""
        games = self.games
        games.reset(games.rows, self._seeds)
        self._reset_seeds()
        self._begin(games.rows)
        return self.engine.observe()

    def ask(self, agent: Agent) -> npt.NDArray[np.intp]:
        """What an agent would do in each game, intp (N,)."""
        rows = self.games.rows
        return ask(agent, View(self.engine, rows, rows.astype(np.uint64), self._lengths))

    def step_arrays(self, actions: npt.NDArray[np.integer]) -> tuple[Float32Array, BoolArray]:
        """Take an action in each game. Returns rewards float32 (N,) and dones bool (N,).

        Games that are done have been dealt again; `engine.observe` and `masks` show the new ones.
        """
        games = self.games
        gained, dones, illegal = games.step(games.rows, actions)
        self._lengths += 1
        self.decisions += self.num_envs
        wrong = np.fromiter(illegal, np.intp, len(illegal))
        gained[wrong] = 0
        if self._skip_forced:
            self._play_forced(gained, dones)
        rewards = gained.astype(np.float32)
        rewards *= self._reward_scale
        if self._potential is not None:
            phi = self._potential(self.engine.public())
            phi[dones] = 0
            rewards += self._gamma * phi
            rewards -= self._phi
            self._phi = phi
        if wrong.size:
            self._illegal[wrong] += 1
            rewards[wrong] += np.float32(games.illegal_reward)
        if dones.any():
            self._restart(np.flatnonzero(dones))
        return rewards, dones

    def _play_forced(self, gained: npt.NDArray[np.float64], dones: BoolArray) -> None:
        mask = self.engine.mask
        rows = np.flatnonzero((mask.sum(axis=1) == 1) & ~dones)
        while rows.size:
            more, over = self.engine.apply(mask[rows].argmax(axis=1), rows)
            gained[rows] += more
            dones[rows] = over
            self._lengths[rows] += 1
            self.decisions += rows.size
            rows = rows[(mask[rows].sum(axis=1) == 1) & ~over]

    def _restart(self, rows: Rows) -> None:
        t = self.engine.tables
        scores = self.engine.state.score[rows] - t.start_florins // t.florins_per_vp
        finished = np.stack([scores, self._lengths[rows], self._illegal[rows]], axis=1)
        self._finished = np.concatenate([self._finished, finished])[-STATISTICS_WINDOW:]
        self.games_finished += len(rows)
        self.games.next_episode(rows)
        self._begin(rows)

    def _begin(self, rows: Rows) -> None:
        self._lengths[rows] = 0
        self._illegal[rows] = 0
        if self._potential is not None:
            self._phi[rows] = self._potential(self.engine.public().take(rows))

    def statistics(self) -> dict[str, float]:
        """Means over the last finished games: `score`, `length` (decisions), `illegal` actions."""
        if not len(self._finished):
            return {}
        score, length, illegal = self._finished.mean(axis=0)
        return {"score": float(score), "length": float(length), "illegal": float(illegal)}

    def step_wait(self) -> tuple[Float32Array, Float32Array, BoolArray, list[dict[str, Any]]]:
        rewards, dones = self.step_arrays(np.asarray(self._actions))
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = np.flatnonzero(dones)
        if ended.size:
            last = self._finished[-len(ended) :]
            for row, (score, length, _) in zip(ended[-len(last) :], last, strict=True):
                infos[row]["episode"] = {"r": float(score), "l": int(length), "t": 0.0}
        return self.engine.observe(), rewards, dones, infos

    # Checkpoints ----------------------------------------------------------------------------------

    def get_state(self) -> dict[str, np.ndarray]:
        """Everything that decides what comes next, as arrays."""
        state = self.engine.state
        arrays = {f"state.{f.name}": getattr(state, f.name) for f in fields(State)}
        return arrays | {
            "base": self.games.base,
            "episode": self.games.episode,
            "seeded": self.games.seeded,
            "phi": self._phi,
            "length": self._lengths,
            "illegal": self._illegal,
            "finished": self._finished,
            "counts": np.array([self.games_finished, self.decisions], np.int64),
        }

    def set_state(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on from what `get_state` gave; KeyError or ValueError if it doesn't fit."""
        for name, array in self.get_state().items():
            given = arrays[name]
            wanted = (-1, 3) if name == "finished" else array.shape
            fits = all(w in (-1, g) for w, g in zip(wanted, given.shape, strict=True))
            if given.dtype != array.dtype or not fits:
                raise ValueError(f"{name}: expected {array.dtype} {wanted}")
        state = State(*(arrays[f"state.{f.name}"].copy() for f in fields(State)))
        self.engine.put(self.games.rows, state)
        self.games.base = arrays["base"].copy()
        self.games.episode = arrays["episode"].copy()
        self.games.seeded = arrays["seeded"].copy()
        self._phi = arrays["phi"].copy()
        self._lengths = arrays["length"].copy()
        self._illegal = arrays["illegal"].copy()
        self._finished = arrays["finished"].copy()
        self.games_finished, self.decisions = (int(n) for n in arrays["counts"])
