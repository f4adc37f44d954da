"""Games as native stable-baselines3 VecEnvs, for MaskablePPO and others."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Discrete

from incunabula.envs.adapters.games import Arrays, EditionLike, Games
from incunabula.envs.adapters.gymnasium import bibliogamo_games
from incunabula.envs.adapters.single import observation_space, plain
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.chance import random_seed
from incunabula.envs.drawing.modes import (
    ANSI,
    BATCH_MODES,
    FPS,
    HUMAN,
    PIXELS,
    Pixels,
    Size,
    checked_render_mode,
    checked_render_size,
)
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IllegalActionError, IncunabulaError, needing

with needing("an SB3 environment", "train"):
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv


class GamesSB3VecEnv(VecEnv):
    """N games in one engine, in stable-baselines3's conventions.

    A finished game is dealt anew in the same step; its last observation is in
    ``infos[i]["terminal_observation"]``, its score and length in ``infos[i]["episode"]``. Games
    are never truncated. ``env_method("action_masks")`` without indices answers with one block,
    [bool (N, A)], so that nothing is stacked row by row.

    Args:
        games: the games; they should raise on illegal actions unless the user wants otherwise, so
            that an evaluation that forgets the masks is an error, not a wrong number.
        seed: row i is seeded seed + i; None = from the operating system.
        render_mode: None, ``ansi`` or ``rgb_array`` (``get_images()`` gives a picture of each game,
            which SB3's ``render()`` puts together).
        render_size: width and height of each picture; None = the game's own.
    """

    engine: Engine

    def __init__(
        self,
        games: Games[Any],
        seed: int | None,
        render_mode: str | None = None,
        render_size: Size | None = None,
    ) -> None:
        self.render_mode = checked_render_mode(render_mode, BATCH_MODES)
        games.render_size = checked_render_size(render_size)
        self.games = games
        self.engine = games.engine
        self.metadata: dict[str, Any] = {"render_modes": BATCH_MODES, "render_fps": FPS}
        super().__init__(
            self.games.num_envs,
            observation_space(self.engine),
            Discrete(self.engine.actions.n),
        )
        self.seed(seed)
        self._actions: npt.NDArray[Any] = np.zeros(0, np.int64)
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, np.int64)
        self._start = time.monotonic()

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed row i with seed + i, modulo 2^64, at the next reset; None = from the system."""
        seeds = self.games.seeds(random_seed() if seed is None else seed)
        self._seeds = list(seeds)
        return seeds

    def reset(self) -> npt.NDArray[np.float32]:
        """Deal the next game in every row; observations float32 (N, F)."""
        games, rows = self.games, self.games.rows
        if not isinstance(self._options, list) or len(self._options) != self.num_envs:
            raise IncunabulaError(
                f"options: expected a mapping, or {self.num_envs} in a list, one for each game, "
                f"got {self._options!r}"
            )
        if any(self._options):
            for i in rows:
                games.reset(rows[i : i + 1], [self._seeds[i]], self._options[i])
        else:
            games.reset(rows, self._seeds)
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = 0
        self._lengths[:] = 0
        return games.observe()

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        self._actions = actions

    def step_wait(
        self,
    ) -> tuple[
        npt.NDArray[np.float32],
        npt.NDArray[np.float32],
        npt.NDArray[np.bool_],
        list[dict[str, Any]],
    ]:
        games = self.games
        self._check_dealt()
        try:
            rewards, done, illegal = games.step(games.rows, np.asarray(self._actions))
        except IllegalActionError as error:
            error.add_note(
                "Choose among action_masks(): train with sb3-contrib's MaskablePPO and evaluate "
                "with its MaskableEvalCallback or evaluate_policy, not with plain ones."
            )
            raise
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row, clause in illegal.items():
            infos[row]["illegal"] = clause
        ended = np.flatnonzero(done)
        if ended.size:
            last = games.observe_rows(ended)
            facts = self._facts()
            for k, i in enumerate(ended):
                infos[i] |= {name: plain(values[i]) for name, values in facts.items()}
                infos[i] |= {
                    "terminal_observation": last[k].copy(),
                    "TimeLimit.truncated": False,
                    "episode": {
                        "r": float(self._returns[i]),
                        "l": int(self._lengths[i]),
                        "t": time.monotonic() - self._start,
                    },
                }
            self._returns[ended] = 0
            self._lengths[ended] = 0
            games.next_episode(ended)
        return games.observe(), rewards.astype(np.float32), done, infos

    def _facts(self) -> Arrays:
        """What the info of a finished game tells of it, by name; (N, …)."""
        return self.games.facts()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions, bool (N, A); every row has one, since finished games are dealt anew."""
        self._check_dealt()  # a row without a legal action would be sampled from as if all were
        return self.engine.mask.copy()

    def _check_dealt(self) -> None:
        if not self.games.ready:
            raise IncunabulaError("no game has been dealt: call reset() first")

    def close(self) -> None:
        """Nothing to release."""

    def has_attr(self, attr_name: str) -> bool:
        return hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        value = getattr(self, attr_name)
        return [value for _ in self._indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the whole batch; rows have none of their own."""
        if len(list(self._indices(indices))) != self.num_envs:
            raise NotImplementedError("attributes belong to the whole batch: leave out indices")
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        if method_name == "action_masks":
            masks = self.action_masks()
            return [masks] if indices is None else [masks[i] for i in self._indices(indices)]
        if method_name == "render":
            mode = self.render_mode or ANSI
            return [self.games.rendered(i, mode) for i in self._indices(indices)]
        raise AttributeError(
            f"{method_name}: not a method of a game in this batch; there are action_masks, render"
        )

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: Any = None
    ) -> list[bool]:
        # Monitor stands for infos[i]["episode"], which come from the engine itself.
        return [wrapper_class is Monitor for _ in self._indices(indices)]

    def render(self, mode: str | None = None) -> Any:
        """The boards: under ``ansi`` one text, game after game; else as stable-baselines3 does.

        Raises:
            IncunabulaError: ``human``, which is for a single game, or no game has been dealt.
        """
        if mode == HUMAN:  # which stable-baselines3 would open by itself, of all games' pictures
            checked_render_mode(mode, BATCH_MODES)
        if (mode or self.render_mode) != ANSI:
            return super().render(mode)
        self._check_dealt()
        return "\n\n".join(self.games.draw(i) for i in range(self.num_envs))

    def get_images(self) -> Sequence[Pixels | None]:
        if self.render_mode != PIXELS:
            return [None] * self.num_envs
        self._check_dealt()
        return [self.games.pixels(i) for i in range(self.num_envs)]

    def _indices(self, indices: int | Iterable[int] | None) -> Iterable[int]:
        return self._get_indices(indices)


class BibliogamoSB3VecEnv(GamesSB3VecEnv):
    """N games of Bibliogamo in one engine, in stable-baselines3's conventions (GamesSB3VecEnv).

    Unlike the Gymnasium environments this one raises on an illegal action unless told to penalise:
    an evaluation that forgets the masks is then an error, not a wrong number.

    Args:
        num_envs: N.
        seed: row i is seeded seed + i; None = from the operating system.
        edition, prestige, tape, illegal_action, illegal_reward, backend: as for BibliogamoEnv.
        render_mode: None, ``ansi`` or ``rgb_array``.
        render_size: width and height of each picture; None = 1120 by 760.
    """

    games: Games[BibliogamoEngine]
    engine: BibliogamoEngine

    def __init__(
        self,
        num_envs: int = 1,
        edition: EditionLike = "bibliogamo",
        *,
        seed: int | None = None,
        prestige: int | None = None,
        tape: Mapping[str, Any] | None = None,
        illegal_action: str = "raise",
        illegal_reward: float = -1.0,
        render_mode: str | None = None,
        render_size: Size | None = None,
        backend: str = "numpy",
    ) -> None:
        games = bibliogamo_games(
            edition, num_envs, prestige, tape, illegal_action, illegal_reward, backend
        )
        super().__init__(games, seed, render_mode, render_size)
