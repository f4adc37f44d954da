"""N games as a native Gymnasium vector environment: what those of all games share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from incunabula.envs.adapters.games import Games, Snapshot, checked_options
from incunabula.envs.adapters.single import (
    GameEnv,
    Info,
    Observation,
    observation_space,
)
from incunabula.envs.chance import as_seed, checked_seeds
from incunabula.envs.drawing.modes import (
    BATCH_MODES,
    Size,
    checked_render_mode,
    checked_render_size,
)
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError


class GamesVectorEnv(VectorEnv[Observation, npt.NDArray[np.int64], npt.NDArray[Any]]):
    """N games in one engine; row i plays the games of a single environment seeded s + i.

    Every array returned is fresh.

    Args:
        games: the games.
        render_mode: None, ``ansi`` (text) or ``rgb_array`` (pictures).
        render_size: width and height of each picture; None = the game's own.
        autoreset_mode: ``NEXT_STEP`` (the step after an end ignores the action and returns the
            reset observation, reward 0), ``SAME_STEP`` (reset at once; the finished game is in
            ``infos["final_obs"]`` and ``infos["final_info"]``) or ``DISABLED`` (reset finished
            games with ``options={"reset_mask": bool[N]}``).
    """

    engine: Engine
    metadata: dict[str, Any]

    def __init__(
        self,
        games: Games[Any],
        render_mode: str | None,
        autoreset_mode: AutoresetMode | str,
        render_size: Size | None = None,
    ) -> None:
        self.render_mode = checked_render_mode(render_mode, BATCH_MODES)
        self.autoreset_mode = checked_autoreset_mode(autoreset_mode)
        self.metadata = GameEnv.metadata | {
            "render_modes": BATCH_MODES,
            "autoreset_mode": self.autoreset_mode,
        }
        games.render_size = checked_render_size(render_size)
        self.games = games
        self.engine = self.games.engine
        self.layout = self.engine.layout
        self.num_envs = self.games.num_envs
        self.single_observation_space = observation_space(self.engine)
        self.single_action_space = Discrete(self.engine.actions.n)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._ended = np.zeros(self.num_envs, np.bool_)

    @property
    def deals(self) -> list[dict[str, Any]]:
        """What fixes each row's present game: its seed or tape, and what else was drawn."""
        self._check_dealt()
        return [self.games.deal(i) for i in range(self.num_envs)]

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, Info]:
        """Deal the next game in every row, or in those of ``options["reset_mask"]``, bool (N,).

        Args:
            seed: s (row i is seeded s + i), one seed for each row, or None.
            options: ``reset_mask``, and what the single environment takes; not changed.
        """
        seeds = self.games.seeds(seed)
        rows = self.games.rows
        chosen = checked_options(options).get("reset_mask")
        if chosen is not None:
            rows = np.flatnonzero(self._checked_reset_mask(chosen))
        elif isinstance(seed, (int, np.integer)):
            super().reset(seed=as_seed(seed))
        self.games.reset(rows, [seeds[int(i)] for i in rows], options)
        self._ended[rows] = False
        return self.games.observe(), self._infos(None if chosen is None else rows)

    def step(
        self, actions: npt.NDArray[np.int64]
    ) -> tuple[
        Observation, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], Info
    ]:
        """Take one action in each game; see the class for what happens at an end."""
        games, n = self.games, self.num_envs
        self._check_dealt()
        chosen = np.asarray(actions)
        if chosen.shape != (n,) or chosen.dtype.kind not in "iu":
            raise IncunabulaError(
                f"actions: expected {n} integers, one for each game, "
                f"got shape {chosen.shape} of {chosen.dtype}"
            )
        truncated = np.zeros(n, np.bool_)
        any_late = np.count_nonzero(self._ended)
        if any_late and self.autoreset_mode == AutoresetMode.NEXT_STEP:
            late = np.flatnonzero(self._ended)
            rewards, terminated = np.zeros(n), np.zeros(n, np.bool_)
            live = np.flatnonzero(~self._ended)
            self._check_range(chosen, live)
            rewards[live], terminated[live], illegal = games.step_and_deal(live, chosen[live], late)
        elif any_late:
            raise IncunabulaError(
                f"row {int(self._ended.argmax())}: its game is over; reset it with "
                'options={"reset_mask": …} before the next step'
            )
        else:
            rewards, terminated, illegal = games.step(games.rows, chosen)
        final: Info = {}
        if self.autoreset_mode != AutoresetMode.SAME_STEP:
            self._ended = terminated.copy()
        elif np.count_nonzero(terminated):
            done = np.flatnonzero(terminated)
            final = self._final(done)
            games.next_episode(done)
        infos = self._infos(None)
        if illegal:
            clauses = np.full(n, None, object)
            clauses[list(illegal)] = list(illegal.values())
            infos |= {"illegal": clauses, "_illegal": clauses != None}  # noqa: E711
        return self.games.observe(), rewards, terminated, truncated, final | infos

    def _check_dealt(self) -> None:
        if not self.games.ready:
            raise IncunabulaError("no game has been dealt: call reset() first")

    def _check_range(self, actions: npt.NDArray[np.integer], live: npt.NDArray[np.intp]) -> None:
        """As the engine's own check, which sees only the live rows and would count in them."""
        n = self.engine.actions.n
        outside = (actions[live] < 0) | (actions[live] >= n)
        if np.count_nonzero(outside):
            i = int(live[outside.argmax()])
            raise IncunabulaError(
                f"actions[{i}]: {int(actions[i])} is not an action; expected 0..{n - 1}"
            )

    def action_masks(self) -> npt.NDArray[np.int8]:
        """Legal actions, int8 (N, A)."""
        self._check_dealt()
        return self.games.action_masks()

    def render(self) -> tuple[Any, ...] | None:
        """Each game's board: text under ``ansi``, uint8 (H, W, 3) under ``rgb_array``."""
        if self.render_mode is None:
            return None
        self._check_dealt()
        return tuple(self.games.rendered(i, self.render_mode) for i in range(self.num_envs))

    def clone_state(self) -> Snapshot:
        """The whole state of all games, hidden orders included."""
        return self.games.snapshot()

    def restore_state(self, state: Snapshot) -> None:
        """Go back to a cloned state."""
        self.games.restore(state)
        over = self.engine.state.phase == self.engine.over
        self._ended = over & self.games.seeded

    def determinise(self, seeds: Sequence[int]) -> None:
        """Replace what is hidden in every game; see GameEnv.determinise."""
        self._check_dealt()
        given = checked_seeds(seeds)
        if len(given) != self.num_envs:
            raise IncunabulaError(f"seeds: expected {self.num_envs}, got {len(given)}")
        self.games.determinise(self.games.rows, given)

    def _checked_reset_mask(self, chosen: Any) -> npt.NDArray[np.bool_]:
        mask = np.asarray(chosen)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise IncunabulaError(
                f'options["reset_mask"]: expected a bool array of shape ({self.num_envs},) with '
                f"at least one True, got shape {mask.shape} of {mask.dtype}"
            )
        return mask

    def _infos(self, rows: npt.NDArray[np.intp] | None) -> Info:
        """Infos of these rows (all if None), with their presence masks."""
        facts = {"action_mask": self.games.action_masks(), **self.games.facts()}
        present = np.ones(self.num_envs, np.bool_)
        if rows is not None:
            present[:] = False
            present[rows] = True
        infos: Info = {}
        for name, values in facts.items():
            if rows is not None:
                values[~present] = 0
            infos |= {name: values, f"_{name}": present.copy()}
        return infos

    def _final(self, done: npt.NDArray[np.intp]) -> Info:
        """final_obs and final_info of games that have just ended."""
        observations = np.full(self.num_envs, None, object)
        for i, observation in zip(done, self.games.observe_rows(done), strict=True):
            observations[i] = observation.copy()
        ended = np.zeros(self.num_envs, np.bool_)
        ended[done] = True
        return {
            "final_obs": observations,
            "_final_obs": ended,
            "final_info": self._infos(done),
            "_final_info": ended.copy(),
        }


def checked_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """The mode, given as a member, its name or its value; IncunabulaError if there is none."""
    try:
        return AutoresetMode(AutoresetMode.__members__.get(str(mode), mode))
    except ValueError:
        modes = ", ".join(mode.value for mode in AutoresetMode)
        raise IncunabulaError(f"autoreset_mode: expected one of {modes}, got {mode!r}") from None
