"""One game as a Gymnasium environment: what the environments of all games share."""

from __future__ import annotations

from typing import Any, ClassVar, cast

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Discrete

from incunabula.envs.adapters.games import Games, Snapshot
from incunabula.envs.chance import as_seed
from incunabula.envs.drawing.modes import (
    FPS,
    HUMAN,
    RENDER_MODES,
    Size,
    checked_render_mode,
    checked_render_size,
)
from incunabula.envs.drawing.window import Window
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError

Observation = npt.NDArray[np.float32]
Info = dict[str, Any]


def observation_space(engine: Engine) -> gymnasium.Space[Observation]:
    """Bounds of the observation, float32 (F,)."""
    box: Any = Box(0.0, engine.layout.high, dtype=np.float32)
    return cast("gymnasium.Space[Observation]", box)


def plain(value: Any) -> Any:
    """A NumPy scalar as a builtin one, an array as it is."""
    return value.item() if np.ndim(value) == 0 else value


class GameEnv(gymnasium.Env[Observation, np.int64]):
    """One of the games as a Gymnasium environment.

    Args:
        games: the game, a batch of one.
        render_mode: None, ``ansi`` (text), ``rgb_array`` (a picture) or ``human`` (a window).
        render_size: width and height of pictures and the window; None = the game's own.

    Attributes:
        engine, layout: the game's engine, and the table of its observation.
    """

    engine: Engine
    metadata: ClassVar[dict[str, Any]] = {"render_modes": RENDER_MODES, "render_fps": FPS}  # type: ignore[misc]

    def __init__(
        self, games: Games[Any], render_mode: str | None, render_size: Size | None = None
    ) -> None:
        self.render_mode = checked_render_mode(render_mode)
        games.render_size = checked_render_size(render_size)
        self.games = games
        self.engine = games.engine
        self.layout = self.engine.layout
        self.observation_space = observation_space(self.engine)
        self.action_space = Discrete(self.engine.actions.n)
        self._window = Window(f"{self.engine.game}: {self.engine.edition.name}", FPS)

    @property
    def deal(self) -> dict[str, Any]:
        """What fixes the present game: its seed or tape, and what else was drawn at its start."""
        self._check_dealt()
        return self.games.deal(0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Deal the next game; a seed starts again at episode 0 of that seed."""
        if seed is not None:
            seed = as_seed(seed)
        super().reset(seed=seed)
        self.games.reset(self.games.rows, [seed], options)
        self._show()
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, Info]:
        """Take one action; see the class for rewards and illegal actions."""
        self._check_dealt()
        chosen = action.item() if isinstance(action, np.ndarray) and action.size == 1 else action
        self.engine.actions.check(chosen)
        reward, terminated, illegal = self.games.step(self.games.rows, np.array([int(chosen)]))
        info = self._info()
        if illegal:
            info["illegal"] = illegal[0]
        self._show()
        return self._observation(), float(reward[0]), bool(terminated[0]), False, info

    def action_masks(self) -> npt.NDArray[np.int8]:
        """Legal actions, int8 (A,); the name MaskablePPO asks for."""
        self._check_dealt()
        masks = self.games.action_masks()
        return masks.reshape(-1)

    def describe(self, action: int) -> dict[str, Any]:
        """The action's JSON form in the present state."""
        self._check_dealt()
        return self.engine.action_to_json(0, action)

    def why_illegal(self, action: int) -> tuple[str, str] | None:
        """(rule clause, reason) why an action is illegal now; None if it is legal."""
        self._check_dealt()
        return self.engine.why_illegal(0, action)

    def snapshot(self) -> dict[str, Any]:
        """The public state in the rules' JSON form."""
        self._check_dealt()
        return self.engine.snapshot(0)

    def render(self) -> Any:
        """The board: text under ``ansi``, uint8 (H, W, 3) under ``rgb_array``; else None.

        Under ``human`` it is shown in a window, as it is after each reset and step anyway.
        """
        if self.render_mode is None:
            return None
        self._check_dealt()
        if self.render_mode == HUMAN:
            self._window.show(self.games.pixels(0))
            return None
        return self.games.rendered(0, self.render_mode)

    def _show(self) -> None:
        if self.render_mode == HUMAN:
            self.render()

    def close(self) -> None:
        """Close the window, if one is open."""
        self._window.close()

    def clone_state(self) -> Snapshot:
        """The whole state, hidden order included; give it to ``restore_state``."""
        return self.games.snapshot()

    def restore_state(self, state: Snapshot) -> None:
        """Go back to a cloned state (of this edition, from any single environment)."""
        self.games.restore(state)

    def determinise(self, seed: int) -> None:
        """Replace what is hidden (orders of cards or tiles to come) by what ``seed`` gives.

        For planners: the public state, observation and mask stay; what follows tells nothing
        about the real game.
        """
        self._check_dealt()
        self.games.determinise(self.games.rows, np.array([as_seed(seed)], np.uint64))

    def _check_dealt(self) -> None:
        if not self.games.ready:
            raise IncunabulaError("no game has been dealt: call reset() first")

    def _observation(self) -> Observation:
        return self.games.observe().reshape(-1)

    def _info(self) -> Info:
        facts = {name: plain(values[0]) for name, values in self.games.facts().items()}
        return {"action_mask": self.action_masks(), **facts}
