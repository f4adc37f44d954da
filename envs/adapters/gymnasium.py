"""Gymnasium environments of Bibliogamo: one game, and a native batch of games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from incunabula.envs.adapters.games import EditionLike, Games, Snapshot
from incunabula.envs.bibliogamo.drawing import draw_text
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.bibliogamo.state import Phase
from incunabula.envs.chance import as_seed
from incunabula.envs.errors import IncunabulaError

Observation = npt.NDArray[np.float32]
Info = dict[str, Any]
RENDER_MODES = ["ansi"]


def observation_space(engine: BibliogamoEngine) -> gymnasium.Space[Observation]:
    """Bounds of the observation, float32 (F,)."""
    box: Any = Box(0.0, engine.layout.high, dtype=np.float32)
    return cast("gymnasium.Space[Observation]", box)


class RenderModeError(IncunabulaError, TypeError):
    """A render mode that isn't offered.

    A TypeError too: stable-baselines3 asks for ``rgb_array`` whenever it makes an environment from
    an id, and makes it without a render mode after a TypeError.
    """


def _checked_render_mode(render_mode: str | None) -> str | None:
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise RenderModeError(
            f"render_mode: expected None or one of {', '.join(RENDER_MODES)}, got {render_mode!r}"
        )
    return render_mode


class BibliogamoEnv(gymnasium.Env[Observation, np.int64]):
    """Bibliogamo, a solitaire of book production, as a Gymnasium environment.

    Observation: float32 (F,), everything the player knows; ``unwrapped.layout`` is its table and
    ``unwrapped.layout.decode`` gives the public state back.

    Action: Discrete(A); ``unwrapped.describe(action)`` says what a number means now. Legal ones
    are in ``info["action_mask"]``, int8 (A,), and from ``action_masks()``.

    Reward: change of the score, so that returns of legal play are final scores less the score at
    the start. An illegal action leaves the state as it is and costs ``illegal_reward``
    (``illegal_action="penalize"``, with the rule clause in ``info["illegal"]``) or raises
    ``IllegalActionError`` (``"raise"``).

    End: ``terminated`` at the end of the turn in which the days run out; never truncated. The mask
    of a finished game is action 0 alone; stepping one raises.

    Info: ``action_mask``, ``score``, and ``illegal`` after a penalised action. Never the deal,
    which is at ``unwrapped.deal``.

    Args:
        edition: shipped name, path of a YAML file, parsed mapping or Edition.
        prestige: fix the prestige collection; None = drawn.
        tape: recorded shuffles instead of seeds.
        illegal_action: ``penalize`` or ``raise``.
        illegal_reward: reward of a penalised action.
        render_mode: None or ``ansi``.

    Reset options: ``prestige`` and ``tape``, for one episode.

    Example:
        >>> env = gymnasium.make("incunabula:incunabula/Bibliogamo-v0")
        >>> observation, info = env.reset(seed=0)
        >>> action = env.action_space.sample(info["action_mask"])
        >>> observation, reward, terminated, truncated, info = env.step(action)
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": RENDER_MODES, "render_fps": 4}  # type: ignore[misc]

    def __init__(
        self,
        edition: EditionLike = "bibliogamo",
        *,
        prestige: int | None = None,
        tape: Mapping[str, Any] | None = None,
        illegal_action: str = "penalize",
        illegal_reward: float = -1.0,
        render_mode: str | None = None,
    ) -> None:
        self.render_mode = _checked_render_mode(render_mode)
        self.games = Games(edition, 1, prestige, tape, illegal_action, illegal_reward)
        self.engine = self.games.engine
        self.layout = self.engine.layout
        self.observation_space = observation_space(self.engine)
        self.action_space = Discrete(self.engine.actions.n)

    @property
    def deal(self) -> dict[str, Any]:
        """What fixes the present game: its seed or tape, and the prestige collection."""
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

    def render(self) -> str | None:
        """The board as text under render mode ``ansi``."""
        if self.render_mode is None:
            return None
        self._check_dealt()
        return draw_text(self.engine.edition, self.engine.snapshot(0))

    def clone_state(self) -> Snapshot:
        """The whole state, hidden order included; give it to ``restore_state``."""
        return self.games.snapshot()

    def restore_state(self, state: Snapshot) -> None:
        """Go back to a cloned state (of this edition, from any single environment)."""
        self.games.restore(state)

    def determinise(self, seed: int) -> None:
        """Replace what is hidden (deck order, later shuffles) by what ``seed`` gives.

        For planners: the public state, observation and mask stay; what follows tells nothing
        about the real game.
        """
        self._check_dealt()
        self.engine.determinise(self.games.rows, np.array([as_seed(seed)], np.uint64))

    def _check_dealt(self) -> None:
        if not self.games.ready:
            raise IncunabulaError("no game has been dealt: call reset() first")

    def _observation(self) -> Observation:
        return self.engine.observe().reshape(-1)

    def _info(self) -> Info:
        return {"action_mask": self.action_masks(), "score": int(self.engine.state.score[0])}


class BibliogamoVectorEnv(VectorEnv[Observation, npt.NDArray[np.int64], npt.NDArray[Any]]):
    """N games of Bibliogamo in one engine; row i plays the games of BibliogamoEnv seeded s + i.

    Spaces, rewards and options are those of BibliogamoEnv. Every array returned is fresh.

    Args:
        num_envs: N.
        autoreset_mode: ``NEXT_STEP`` (the step after an end ignores the action and returns the
            reset observation, reward 0), ``SAME_STEP`` (reset at once; the finished game is in
            ``infos["final_obs"]`` and ``infos["final_info"]``) or ``DISABLED`` (reset finished
            games with ``options={"reset_mask": bool[N]}``).
        edition, prestige, tape, illegal_action, illegal_reward, render_mode: as for one game.
    """

    metadata: dict[str, Any]

    def __init__(
        self,
        num_envs: int = 1,
        edition: EditionLike = "bibliogamo",
        *,
        prestige: int | None = None,
        tape: Mapping[str, Any] | None = None,
        illegal_action: str = "penalize",
        illegal_reward: float = -1.0,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        self.render_mode = _checked_render_mode(render_mode)
        try:
            named = AutoresetMode.__members__.get(str(autoreset_mode), autoreset_mode)
            self.autoreset_mode = AutoresetMode(named)
        except ValueError:
            modes = ", ".join(mode.value for mode in AutoresetMode)
            raise IncunabulaError(
                f"autoreset_mode: expected one of {modes}, got {autoreset_mode!r}"
            ) from None
        self.metadata = BibliogamoEnv.metadata | {"autoreset_mode": self.autoreset_mode}
        self.games = Games(edition, num_envs, prestige, tape, illegal_action, illegal_reward)
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
        """What fixes each row's present game: its seed or tape, and the prestige collection."""
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
            options: ``reset_mask``, ``prestige``, ``tape``; not changed.
        """
        seeds = self.games.seeds(seed)
        rows = self.games.rows
        chosen = (options or {}).get("reset_mask")
        if chosen is not None:
            rows = np.flatnonzero(self._checked_reset_mask(chosen))
        elif isinstance(seed, (int, np.integer)):
            super().reset(seed=as_seed(seed))
        self.games.reset(rows, [seeds[int(i)] for i in rows], options)
        self._ended[rows] = False
        return self.engine.observe(), self._infos(None if chosen is None else rows)

    def step(
        self, actions: npt.NDArray[np.int64]
    ) -> tuple[
        Observation, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], Info
    ]:
        """Take one action in each game; see the class for what happens at an end."""
        games, n = self.games, self.num_envs
        if not games.ready:
            raise IncunabulaError("no game has been dealt: call reset() first")
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
        return self.engine.observe(), rewards, terminated, truncated, final | infos

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
        return self.games.action_masks()

    def render(self) -> tuple[str, ...] | None:
        """Each board as text under render mode ``ansi``."""
        if self.render_mode is None:
            return None
        edition = self.engine.edition
        return tuple(draw_text(edition, self.engine.snapshot(i)) for i in range(self.num_envs))

    def clone_state(self) -> Snapshot:
        """The whole state of all games, hidden orders included."""
        return self.games.snapshot()

    def restore_state(self, state: Snapshot) -> None:
        """Go back to a cloned state."""
        self.games.restore(state)
        over = self.engine.state.phase == Phase.OVER
        self._ended = over & self.games.seeded

    def determinise(self, seeds: Sequence[int]) -> None:
        """Replace what is hidden in every game; see BibliogamoEnv.determinise."""
        given = np.array([as_seed(seed) for seed in seeds], np.uint64)
        if len(given) != self.num_envs:
            raise IncunabulaError(f"seeds: expected {self.num_envs}, got {len(given)}")
        self.engine.determinise(self.games.rows, given)

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
        masks = self.games.action_masks()
        scores = self.engine.state.score.astype(np.int64)
        present = np.ones(self.num_envs, np.bool_)
        if rows is not None:
            present[:] = False
            present[rows] = True
            masks[~present] = 0
            scores[~present] = 0
        return {
            "action_mask": masks,
            "_action_mask": present,
            "score": scores,
            "_score": present.copy(),
        }

    def _final(self, done: npt.NDArray[np.intp]) -> Info:
        """final_obs and final_info of games that have just ended."""
        observations = np.full(self.num_envs, None, object)
        for i, observation in zip(done, self.engine.observe_rows(done), strict=True):
            observations[i] = observation.copy()
        ended = np.zeros(self.num_envs, np.bool_)
        ended[done] = True
        return {
            "final_obs": observations,
            "_final_obs": ended,
            "final_info": self._infos(done),
            "_final_info": ended.copy(),
        }
