"""What all adapters share: N games with their seeds, episodes and options."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from incunabula.envs.backend import Rows
from incunabula.envs.chance import as_seed, episode_seeds, random_seed
from incunabula.envs.deals import Deals, Fixed
from incunabula.envs.documents import did_you_mean
from incunabula.envs.drawing.modes import ANSI, Pixels, Size, colour_wanted
from incunabula.envs.drawing.scene import Scene
from incunabula.envs.editions import BaseEdition
from incunabula.envs.engine import Engine, Fresh
from incunabula.envs.errors import IllegalActionError, IncunabulaError, OptionWarning

EngineType = TypeVar("EngineType", bound=Engine)
EditionLike = str | Path | BaseEdition | Mapping[str, Any]
ILLEGAL_ACTIONS = ("penalize", "raise")
Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Whole state of the games of an environment, hidden order included (``clone_state``)."""

    state: Any  # the game's State
    base: npt.NDArray[np.uint64]
    episode: npt.NDArray[np.uint64]
    seeded: npt.NDArray[np.bool_]
    tapes: npt.NDArray[np.object_]
    more: Arrays  # what else an adapter keeps of each game
    edition_sha256: str
    num_players: int

    def take(self, rows: Rows) -> Snapshot:
        """The same of these rows alone."""
        more = {name: array[rows] for name, array in self.more.items()}
        return replace(
            self,
            state=self.state.take(rows),
            base=self.base[rows],
            episode=self.episode[rows],
            seeded=self.seeded[rows],
            tapes=self.tapes[rows],
            more=more,
        )


class Games(Generic[EngineType]):
    """N games of one engine: which deal comes next, and what an illegal action does.

    Episode k of a game seeded s has game seed s for k = 0, mix(s + G·k) after; see the rules,
    "Chance".

    Args:
        engine: the games.
        deals: how they are dealt.
        illegal_action: ``penalize`` (state unchanged, reward ``illegal_reward``) or ``raise``.
        illegal_reward: reward of a penalised action.

    Attributes:
        options: names of what a reset takes besides what can be fixed of a deal.
        base, episode: uint64 (N,), s and k of each row's present game.
        tapes: object (N,), the tape of each row's present game, None where it has a seed.
        render_size: width and height of pictures; None = those of the game's scene.
    """

    options: tuple[str, ...] = ("reset_mask",)

    def __init__(
        self, engine: EngineType, deals: Deals, illegal_action: str, illegal_reward: float
    ) -> None:
        if illegal_action not in ILLEGAL_ACTIONS:
            raise IncunabulaError(
                f"illegal_action: expected one of {', '.join(ILLEGAL_ACTIONS)}, "
                f"got {illegal_action!r}"
            )
        self.engine = engine
        self.deals = deals
        self.penalize = illegal_action == "penalize"
        self.illegal_reward = checked_reward(illegal_reward)
        self.num_envs = engine.num_envs
        self.rows = np.arange(self.num_envs)
        self.base = np.zeros(self.num_envs, np.uint64)
        self.episode = np.zeros(self.num_envs, np.uint64)
        self.seeded = np.zeros(self.num_envs, np.bool_)
        self.tapes = np.full(self.num_envs, None, object)
        self.ready = False  # whether every game has been dealt
        self.render_size: Size | None = None

    # Resets -------------------------------------------------------------------------------------

    def seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        """One seed for each game: s + i for a single s, as given for a sequence."""
        n = self.num_envs
        if seed is None:
            return [None] * n
        if isinstance(seed, np.ndarray):
            seed = seed.tolist()
        if isinstance(seed, Sequence) and not isinstance(seed, (str, bytes)):
            if len(seed) != n:
                raise IncunabulaError(f"seed: expected {n} seeds, one a game, got {len(seed)}")
            return [None if s is None else as_seed(s) for s in seed]
        first = as_seed(seed)
        return [as_seed(first + i) for i in range(n)]

    def reset(
        self,
        rows: Rows,
        seeds: Sequence[int | None],
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Deal the next game in each row; a seed (not None) starts again at that row's episode 0.

        ``options`` may hold what can be fixed for these episodes alone; other keys are left to
        wrappers, but for a warning where one looks misspelt. A reset refused for its options uses
        up no episode.
        """
        options = checked_options(options)
        fixed = self.deals.read(options)
        self._warn_of_misspelt(options)
        for row, seed in zip(rows, seeds, strict=True):
            if seed is not None or not self.seeded[row]:
                self.base[row] = random_seed() if seed is None else seed
                self.episode[row] = 0
                self.seeded[row] = True
            else:
                self.episode[row] += np.uint64(1)
        self._deal(rows, fixed, options)
        self.ready = self._all_dealt()

    def _warn_of_misspelt(self, options: Mapping[str, Any]) -> None:
        known = (*self.options, *self.deals.options)
        for name in options:
            hint = "" if name in known else did_you_mean(name, known, cutoff=0.8)
            if hint:
                warnings.warn(f"options: {name!r} is ignored{hint}", OptionWarning, stacklevel=2)

    def _all_dealt(self) -> bool:
        """Whether every game can be played."""
        return bool(self.seeded.all())

    def next_episode(self, rows: Rows) -> None:
        """Deal the next game in rows that were dealt before."""
        self.episode[rows] += np.uint64(1)
        self._deal(rows, self.deals.usual, {})

    def step_and_deal(
        self, rows: Rows, actions: npt.NDArray[np.integer], late: Rows
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], dict[int, str]]:
        """``step`` in some rows and ``next_episode`` in others, in one pass where that can be."""
        seeds = episode_seeds(self.base[late], self.episode[late] + np.uint64(1))
        fresh = self.deals.fresh(late, seeds) if rows.size else None
        if fresh is None:
            stepped = self.step(rows, actions)
            self.next_episode(late)
            return stepped
        before = self.episode[late]
        self.episode[late] += np.uint64(1)
        try:
            stepped = self.step(rows, actions, fresh)
        except IncunabulaError:
            self.episode[late] = before
            raise
        self._remember(late, None)
        return stepped

    def _deal(self, rows: Rows, fixed: Fixed, options: Mapping[str, Any]) -> None:
        self.deals.deal(rows, episode_seeds(self.base[rows], self.episode[rows]), fixed)
        self._remember(rows, fixed.tape)

    def _remember(self, rows: Rows, tape: Any) -> None:
        one = np.empty(1, object)
        one[0] = tape  # a tape is a tuple, which NumPy would take apart
        self.tapes[rows] = one

    def deal(self, row: int) -> dict[str, Any]:
        """What fixes the row's present game: {"seed" | "tape", …}."""
        return self.deals.form(row, self.tapes[row])

    # Steps --------------------------------------------------------------------------------------

    def step(
        self,
        rows: Rows,
        actions: npt.NDArray[np.integer],
        fresh: Fresh | None = None,
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], dict[int, str]]:
        """Take one action in each of these unfinished rows; ``fresh`` as for the engine's apply.

        Returns:
            reward float64 (n,), terminated bool (n,), and {row: rule clause} of penalised actions.

        Raises:
            IllegalActionError: a game is over, or an action is illegal under ``raise``.
            IncunabulaError: actions of the wrong number, type or range.
        """
        actions = np.asarray(actions)
        try:
            return *self._play(actions, rows, fresh), {}  # changes nothing if it raises
        except IllegalActionError:
            if not self.penalize:
                raise
        engine = self.engine
        legal = engine.mask[rows, actions]
        illegal: dict[int, str] = {}
        for i in np.flatnonzero(~legal):
            row, action = int(rows[i]), int(actions[i])
            why = engine.why_illegal(row, action)
            assert why is not None
            if engine.state.phase[row] == engine.over:
                raise IllegalActionError(row, action, *why)
            illegal[row] = why[0]
        rewards = np.full(len(rows), self.illegal_reward)
        ended = np.zeros(len(rows), np.bool_)
        if legal.any() or fresh is not None:
            rewards[legal], ended[legal] = self._play(actions[legal], rows[legal], fresh)
        return rewards, ended, illegal

    def _play(
        self, actions: npt.NDArray[np.integer], rows: Rows, fresh: Fresh | None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """Take legal actions; reward float64 (n,) and terminated bool (n,)."""
        change, terminated = self.engine.apply(actions, rows, fresh)
        return change.astype(np.float64), terminated

    # Looking ------------------------------------------------------------------------------------

    def observe(self) -> npt.NDArray[np.float32]:
        """Observations of all games, float32 (N, F), fresh."""
        return self.engine.observe()

    def observe_rows(self, rows: Rows) -> npt.NDArray[np.float32]:
        """Observations of these games, float32 (n, F), fresh."""
        return self.engine.observe_rows(rows)

    def action_masks(self, rows: Rows | None = None) -> npt.NDArray[np.int8]:
        """Fresh masks for learners, int8 (n, A).

        A finished game offers nothing in the rules; here it offers action 0 alone, so that samplers
        have something to choose. What they choose is not used.
        """
        mask, phase, over = self.engine.mask, self.engine.state.phase, self.engine.over
        masks = (mask.copy() if rows is None else mask[rows]).view(np.int8)
        masks[:, 0] |= (phase if rows is None else phase[rows]) == over
        return masks

    def facts(self) -> Arrays:
        """What infos say of each game besides the mask, by name; (N, …), fresh. Never the deal."""
        return {"score": self.engine.state.score.astype(np.int64)}

    def draw(self, row: int) -> str:
        """The row's board as text, coloured unless ``NO_COLOR`` is set."""
        drawing = import_module(f"incunabula.envs.{self.engine.game}.drawing")
        text: str = drawing.draw_text(
            self.engine.edition, self.engine.snapshot(row), colour_wanted()
        )
        return text

    def scene(self, row: int) -> Scene:
        """The row's board as a scene, from its public state alone."""
        drawing = import_module(f"incunabula.envs.{self.engine.game}.scene")
        scene: Scene = drawing.draw_scene(self.engine.edition, self.engine.snapshot(row))
        return scene

    def pixels(self, row: int) -> Pixels:
        """The row's board as a picture, uint8 (H, W, 3); needs Pillow."""
        from incunabula.envs.drawing.pixels import fitted_pixels

        return fitted_pixels(self.scene(row), self.render_size)

    def rendered(self, row: int, render_mode: str) -> str | Pixels:
        """The row's board as text under ``ansi``, as a picture under other modes."""
        return self.draw(row) if render_mode == ANSI else self.pixels(row)

    # Copies -------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """A copy of everything that changes."""
        return Snapshot(
            self.engine.state.copy(),
            self.base.copy(),
            self.episode.copy(),
            self.seeded.copy(),
            self.tapes.copy(),
            self._more(),
            self.engine.edition.sha256,
            self.engine.num_players,
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of the same edition and numbers of games and players."""
        if not isinstance(snapshot, Snapshot):
            raise IncunabulaError(
                f"state: expected what clone_state returned, got {type(snapshot).__name__}"
            )
        mine, rows = self.engine.edition.sha256, snapshot.state.rows
        if snapshot.edition_sha256 != mine or rows != self.num_envs:
            raise IncunabulaError(
                "state: it is of another edition or number of games "
                f"({rows} of edition {snapshot.edition_sha256[:12]}, "
                f"expected {self.num_envs} of {mine[:12]})"
            )
        if snapshot.num_players != self.engine.num_players:
            raise IncunabulaError(
                f"state: it is of games of {snapshot.num_players} players, "
                f"expected {self.engine.num_players}"
            )
        self.engine.put(self.rows, snapshot.state)
        self.base = snapshot.base.copy()
        self.episode = snapshot.episode.copy()
        self.seeded = snapshot.seeded.copy()
        self.tapes = snapshot.tapes.copy()
        self._set_more(snapshot.more)
        self.ready = self._all_dealt()

    def determinise(self, rows: Rows, seeds: npt.NDArray[np.uint64]) -> None:
        """Keep what is public in these games and replace what is hidden; for planners."""
        self.engine.determinise(rows, seeds)

    def _more(self) -> Arrays:
        """A copy of what else changes from game to game, by name; (N, …)."""
        return {}

    def _set_more(self, more: Arrays) -> None:
        """Go back to what ``_more`` gave."""


def checked_options(options: Any) -> Mapping[str, Any]:
    """The options of a reset; IncunabulaError unless they are a mapping or there are none."""
    if not isinstance(options or {}, Mapping):
        raise IncunabulaError(f"options: expected a mapping or None, got {options!r}")
    return options or {}


def checked_reward(reward: object) -> float:
    """A finite number as the reward of an illegal action; IncunabulaError if it isn't one."""
    number = isinstance(reward, (int, float, np.integer, np.floating))
    largest = sys.float_info.max
    if isinstance(reward, bool) or not number or not -largest <= reward <= largest:  # type: ignore[operator]
        raise IncunabulaError(f"illegal_reward: expected a finite number, got {reward!r}")
    return float(reward)  # type: ignore[arg-type]
