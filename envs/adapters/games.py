"""What all adapters share: N games with their seeds, episodes and options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.bibliogamo.state import OVER, Rows, State
from incunabula.envs.bibliogamo.tape import Tape, read_tape
from incunabula.envs.chance import as_seed, episode_seeds, random_seed
from incunabula.envs.errors import IllegalActionError, IncunabulaError

EditionLike = str | Path | Edition | Mapping[str, Any]
ILLEGAL_ACTIONS = ("penalize", "raise")


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Whole state of the games of an environment, hidden order included (``clone_state``)."""

    state: State
    base: npt.NDArray[np.uint64]
    episode: npt.NDArray[np.uint64]
    seeded: npt.NDArray[np.bool_]
    edition_sha256: str


class Games:
    """N games of one engine: which deal comes next, and what an illegal action does.

    Episode k of a game seeded s has game seed s for k = 0, mix(s + G·k) after; see the rules,
    "Chance".

    Args:
        edition: shipped name, path, parsed mapping or Edition.
        num_envs: N.
        prestige: the collection of every deal; None = drawn (or the tape's).
        tape: recorded shuffles for every deal.
        illegal_action: ``penalize`` (state unchanged, reward ``illegal_reward``) or ``raise``.
        illegal_reward: reward of a penalised action.
    """

    def __init__(
        self,
        edition: EditionLike,
        num_envs: int,
        prestige: int | None,
        tape: Mapping[str, Any] | None,
        illegal_action: str,
        illegal_reward: float,
    ) -> None:
        if illegal_action not in ILLEGAL_ACTIONS:
            raise IncunabulaError(
                f"illegal_action: expected one of {', '.join(ILLEGAL_ACTIONS)}, "
                f"got {illegal_action!r}"
            )
        self.engine = BibliogamoEngine(edition, num_envs)
        self.penalize = illegal_action == "penalize"
        self.illegal_reward = _checked_reward(illegal_reward)
        self.prestige = self._checked_prestige(prestige)
        self.tape = None if tape is None else read_tape(self.engine.tables, tape)
        self._check_collection(self.prestige, self.tape)
        self.num_envs = self.engine.num_envs
        self.rows = np.arange(self.num_envs)
        self.base = np.zeros(self.num_envs, np.uint64)
        self.episode = np.zeros(self.num_envs, np.uint64)
        self.seeded = np.zeros(self.num_envs, np.bool_)
        self.ready = False  # whether every game has been dealt

    # Resets -------------------------------------------------------------------------------------

    def seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        """One seed for each game: s + i for a single s, as given for a sequence."""
        n = self.num_envs
        if seed is None:
            return [None] * n
        if isinstance(seed, np.ndarray):
            seed = seed.tolist()
        if isinstance(seed, Sequence) and not isinstance(seed, str):
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

        ``options`` may hold ``prestige`` and ``tape`` for these episodes alone; other keys are
        left to wrappers.
        """
        if not isinstance(options or {}, Mapping):
            raise IncunabulaError(f"options: expected a mapping or None, got {options!r}")
        options = options or {}
        prestige, tape = self.prestige, self.tape
        if options.get("prestige") is not None:
            prestige = self._checked_prestige(options["prestige"])
        if options.get("tape") is not None:
            tape = read_tape(self.engine.tables, options["tape"])
        self._check_collection(prestige, tape)
        for row, seed in zip(rows, seeds, strict=True):
            if seed is not None or not self.seeded[row]:
                self.base[row] = random_seed() if seed is None else seed
                self.episode[row] = 0
                self.seeded[row] = True
            else:
                self.episode[row] += np.uint64(1)
        self._deal(rows, prestige, tape)
        self.ready = bool(self.seeded.all())

    def next_episode(self, rows: Rows) -> None:
        """Deal the next game in rows that were dealt before."""
        self.episode[rows] += np.uint64(1)
        self._deal(rows, self.prestige, self.tape)

    def step_and_deal(
        self, rows: Rows, actions: npt.NDArray[np.integer], late: Rows
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], dict[int, str]]:
        """``step`` in some rows and ``next_episode`` in others, in one pass where that can be."""
        if self.tape is not None or not rows.size:
            stepped = self.step(rows, actions)
            self.next_episode(late)
            return stepped
        seeds = episode_seeds(self.base[late], self.episode[late] + np.uint64(1))
        stepped = self.step(rows, actions, (late, seeds, self.prestige))
        self.episode[late] += np.uint64(1)
        return stepped

    def _deal(self, rows: Rows, prestige: int | None, tape: Any) -> None:
        if tape is None:
            seeds = episode_seeds(self.base[rows], self.episode[rows])
            self.engine.deal(rows, seeds, prestige)
        else:
            for row in rows:
                self.engine.deal_tape(int(row), tape, prestige)

    def _check_collection(self, prestige: int | None, tape: Tape | None) -> None:
        """Before anything is changed: a refused reset must not use up an episode."""
        if tape is not None and tape.prestige is None and prestige is None:
            raise IncunabulaError("tape.prestige: missing; give it there or as prestige=")

    def _checked_prestige(self, prestige: Any) -> int | None:
        if prestige is None:
            return None
        most = self.engine.tables.collections - 1
        if (
            isinstance(prestige, bool)
            or not isinstance(prestige, (int, np.integer))
            or not 0 <= prestige <= most
        ):
            raise IncunabulaError(f"prestige: expected an integer in 0..{most}, got {prestige!r}")
        return int(prestige)

    def deal(self, row: int) -> dict[str, Any]:
        """What fixes the row's present game: {"seed" | "tape", "prestige"} (the index in play)."""
        s = self.engine.state
        prestige = int(s.prestige[row])
        length = int(s.tape_length[row])
        if length >= 0:
            shuffles = s.tape[row, :length].tolist()
            return {"tape": {"shuffles": shuffles, "prestige": prestige}, "prestige": prestige}
        return {"seed": int(s.seed[row]), "prestige": prestige}

    # Steps --------------------------------------------------------------------------------------

    def step(
        self,
        rows: Rows,
        actions: npt.NDArray[np.integer],
        fresh: tuple[Rows, npt.NDArray[np.uint64], int | None] | None = None,
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], dict[int, str]]:
        """Take one action in each of these unfinished rows; ``fresh`` as for the engine's apply.

        Returns:
            reward float64 (n,), terminated bool (n,), and {row: rule clause} of penalised actions.

        Raises:
            IllegalActionError: a game is over, or an action is illegal under ``raise``.
            IncunabulaError: actions of the wrong number, type or range.
        """
        engine = self.engine
        actions = np.asarray(actions)
        try:
            reward, terminated = engine.apply(actions, rows, fresh)  # changes nothing if it raises
            return reward.astype(np.float64), terminated, {}
        except IllegalActionError:
            if not self.penalize:
                raise
        legal = engine.mask[rows, actions]
        illegal: dict[int, str] = {}
        for i in np.flatnonzero(~legal):
            row, action = int(rows[i]), int(actions[i])
            why = engine.why_illegal(row, action)
            assert why is not None
            if engine.state.phase[row] == OVER:
                raise IllegalActionError(row, action, *why)
            illegal[row] = why[0]
        rewards = np.full(len(rows), self.illegal_reward)
        ended = np.zeros(len(rows), np.bool_)
        if legal.any() or fresh is not None:
            gained, ended[legal] = engine.apply(actions[legal], rows[legal], fresh)
            rewards[legal] = gained
        return rewards, ended, illegal

    def action_masks(self, rows: Rows | None = None) -> npt.NDArray[np.int8]:
        """Fresh masks for learners, int8 (n, A).

        A finished game offers nothing in the rules; here it offers action 0 alone, so that samplers
        have something to choose. What they choose is not used.
        """
        mask, phase = self.engine.mask, self.engine.state.phase
        masks = (mask.copy() if rows is None else mask[rows]).view(np.int8)
        masks[:, 0] |= (phase if rows is None else phase[rows]) == OVER
        return masks

    # Copies -------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """A copy of everything that changes."""
        return Snapshot(
            self.engine.state.copy(),
            self.base.copy(),
            self.episode.copy(),
            self.seeded.copy(),
            self.engine.edition.sha256,
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of the same edition and number of games."""
        if not isinstance(snapshot, Snapshot):
            raise IncunabulaError(
                f"state: expected what clone_state returned, got {type(snapshot).__name__}"
            )
        mine = self.engine.edition.sha256
        if snapshot.edition_sha256 != mine or snapshot.state.rows != self.num_envs:
            raise IncunabulaError(
                "state: it is of another edition or number of games "
                f"({snapshot.state.rows} of edition {snapshot.edition_sha256[:12]}, "
                f"expected {self.num_envs} of {mine[:12]})"
            )
        self.engine.put(self.rows, snapshot.state)
        self.base = snapshot.base.copy()
        self.episode = snapshot.episode.copy()
        self.seeded = snapshot.seeded.copy()
        self.ready = bool(self.seeded.all())


def _checked_reward(reward: object) -> float:
    number = isinstance(reward, (int, float, np.integer, np.floating))
    if isinstance(reward, bool) or not number or not np.isfinite(reward):  # type: ignore[call-overload]
        raise IncunabulaError(f"illegal_reward: expected a finite number, got {reward!r}")
    return float(reward)  # type: ignore[arg-type]
