"""What the engines of both games share: a batch of games, their masks, and checks of what is given.

An engine holds a state (arrays with a leading batch axis) and the legal actions of every row; the
rules of its game move them on. Each game's engine names its own edition, tables, actions and
observation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from incunabula.envs.backend import Backend, BoolArray, Float32Array, Rows
from incunabula.envs.chance import DETERMINISE_STREAM, TapeError, key
from incunabula.envs.compiled.arrays import Arrays
from incunabula.envs.errors import IllegalActionError, IncunabulaError

Json = dict[str, Any]
Int32Array = npt.NDArray[np.int32]
UInt64Array = npt.NDArray[np.uint64]
# Rows to deal anew and their game seeds; what else a deal takes is the game's.
Fresh = tuple[Rows, UInt64Array] | tuple[Rows, UInt64Array, Any]

MAX_GAMES = 2**22


class Engine(ABC):
    """N independent games over one edition.

    Nothing is dealt at first: ``deal`` rows before they are played. A finished row stays as it
    ended until it is dealt again.

    Attributes:
        game: the game's name.
        edition, tables, actions, layout: the edition and what follows from it.
        num_envs: N.
        num_players: P, 1 in a solitaire.
        backend: who works out the rules (``backend.name`` says which it is).
        state: the arrays (``state.public()`` is what a player may see).
        mask: bool (N, A), the legal actions of every row; kept up to date.
    """

    game: ClassVar[str]
    over: ClassVar[int]  # the phase of a finished game
    # Narrower in each game's engine.
    edition: Any
    tables: Any
    actions: Any
    layout: Any
    state: Any
    backend: Backend
    num_players: int = 1

    def __init__(self, num_envs: int) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, (int, np.integer)):
            raise IncunabulaError(f"num_envs: expected an integer, got {num_envs!r}")
        if num_envs < 1:
            raise IncunabulaError(f"num_envs: expected at least 1, got {num_envs}")
        if num_envs > MAX_GAMES:
            raise IncunabulaError(f"num_envs: expected at most {MAX_GAMES:,}, got {num_envs}")
        self.num_envs = int(num_envs)
        self._all: Rows = np.arange(self.num_envs)
        self._nobody: Rows = self._all[:0]
        self.mask: BoolArray

    def __getstate__(self) -> dict[str, Any]:
        # Copies make their own: these name memory of this engine.
        bound = ("public_arrays", "table_arrays")
        return {name: value for name, value in vars(self).items() if name not in bound}

    # What each game brings ----------------------------------------------------------------------

    @abstractmethod
    def empty_like(self, num_envs: int, backend: str | None = None) -> Self:
        """An engine of the same edition and players with this many games, none dealt.

        ``backend``: another than this engine's.
        """

    @abstractmethod
    def deal_tape(self, row: int, tape: Any, *how: Any) -> None:
        """Deal a recorded game in one row."""

    @abstractmethod
    def _set_up(self, rows: Rows, *how: Any) -> None:
        """Prepare new games, their seeds or tapes being set, up to their first turn."""

    @abstractmethod
    def _why_illegal(self, row: int, action: int) -> tuple[str, str]:
        """(rule clause, reason) of an illegal action."""

    @abstractmethod
    def _lay_hidden(self, rows: Rows) -> None:
        """Lay what is hidden in a new order that follows from the rows' seeds."""

    @abstractmethod
    def snapshot(self, row: int) -> Json:
        """The row in the rules' JSON form."""

    @abstractmethod
    def restore(self, row: int, form: Mapping[str, Any], seed: int) -> None:
        """Set a row to a JSON state, its hidden order drawn from ``seed``."""

    @abstractmethod
    def action_to_json(self, row: int, action: int) -> Json:
        """The action's JSON form in this row."""

    @abstractmethod
    def action_from_json(self, row: int, form: Json) -> int:
        """The number of a JSON action in this row."""

    @abstractmethod
    def observe(self, out: Float32Array | None = None) -> Float32Array:
        """Observations of all rows, float32 (N, F)."""

    @abstractmethod
    def observe_rows(self, rows: Rows) -> Float32Array:
        """Observations of these rows, float32 (n, F)."""

    # Playing ------------------------------------------------------------------------------------

    def deal(
        self, rows: Rows, seeds: Sequence[int] | npt.NDArray[np.integer[Any]], *how: Any
    ) -> None:
        """Deal a new game in each row.

        Args:
            rows: distinct row numbers (n,).
            seeds: game seeds (n,), 0..2^64-1.
        """
        rows = np.asarray(rows, np.intp)
        with self._whole(rows):
            self._set_up_seeded(rows, np.asarray(seeds, np.uint64), *how)
            self.backend.go_on(rows, rows, self.mask)

    def _set_up_seeded(self, rows: Rows, seeds: UInt64Array, *how: Any) -> None:
        self.state.seed[rows] = seeds
        self.state.tape_length[rows] = -1
        self._set_up(rows, *how)

    @contextmanager
    def _whole(self, rows: Rows) -> Iterator[None]:
        """Change these rows or, if a tape runs out half-way, none of them."""
        if not self.state.tape.shape[1]:
            yield
            return
        before = self.state.take(rows)
        try:
            yield
        except TapeError:
            self.put(rows, before)
            raise

    def apply(
        self,
        actions: npt.NDArray[np.integer[Any]],
        rows: Rows | None = None,
        fresh: Fresh | None = None,
    ) -> tuple[Int32Array, BoolArray]:
        """Take one action in each of these rows (all by default).

        Args:
            actions: integers (n,), one for each row, each legal.
            rows: distinct row numbers (n,).
            fresh: (rows, seeds, …) to deal in the same call, which is cheaper than calling
                ``deal`` too; these are rows that don't act.

        Returns:
            change of the score, int32 (n,), or (n, P) in a game of several players; terminated
            bool (n,).

        Raises:
            IllegalActionError: an action is illegal or its game is over.
            TapeError: a row's tape has run out. Nothing is changed in either case.
        """
        rows = self._all if rows is None else np.asarray(rows, np.intp)
        chosen = self.check_actions(actions, rows)
        score = self.state.score
        before = score[rows]
        if fresh is None:
            with self._whole(rows):
                self.backend.step(rows, chosen, self._nobody, self.mask)
        else:
            dealt, seeds, *how = fresh
            with self._whole(np.concatenate([rows, dealt])):
                self._set_up_seeded(dealt, seeds, *how)
                self.backend.step(rows, chosen, dealt, self.mask)
        change = np.subtract(score[rows], before, dtype=np.int32)
        return change, self.state.phase[rows] == self.over

    def check_actions(self, actions: npt.NDArray[np.integer[Any]], rows: Rows) -> Rows:
        """The actions, intp (n,); raises as ``apply`` unless each is legal in its row."""
        chosen = np.asarray(actions)
        if chosen.shape != rows.shape or chosen.dtype.kind not in "iu":
            raise IncunabulaError(
                f"actions: expected {len(rows)} integers, one for each row, "
                f"got shape {chosen.shape} of {chosen.dtype}"
            )
        outside = (chosen < 0) | (chosen >= self.actions.n)
        if np.count_nonzero(outside):
            i = int(outside.argmax())
            raise IncunabulaError(
                f"actions[{i}]: {int(chosen[i])} is not an action; expected 0..{self.actions.n - 1}"
            )
        chosen = chosen.astype(np.intp, copy=False)
        legal = self.mask[rows, chosen]
        if np.count_nonzero(legal) < len(rows):
            i = int(legal.argmin())
            row, action = int(rows[i]), int(chosen[i])
            raise IllegalActionError(row, action, *self._why_illegal(row, action))
        return chosen

    # Looking ------------------------------------------------------------------------------------

    def legal(self) -> BoolArray:
        """Legal actions recomputed from the state, bool (N, A); ``mask`` holds the same."""
        out = np.zeros_like(self.mask)
        self.backend.legal(self._all, out)
        return out

    def why_illegal(self, row: int, action: int) -> tuple[str, str] | None:
        """(rule clause, reason) why the action is illegal in this row, or None if it is legal."""
        self.actions.check(action)
        return None if self.mask[row, action] else self._why_illegal(row, action)

    def _checked_out(self, out: Float32Array | None) -> Float32Array:
        """A place for the observations of all rows: the one given, or a new one."""
        shape = (self.num_envs, self.layout.size)
        if out is None:
            return np.empty(shape, np.float32)
        if out.shape != shape or out.dtype != np.float32 or not out.flags.carray:
            raise IncunabulaError(
                f"out: expected a C-contiguous float32 array of shape {shape} that can be written "
                f"to, got {out.dtype} of shape {out.shape}"
            )
        return out

    @cached_property
    def public_arrays(self) -> Arrays:
        """The public arrays of all rows as compiled functions take them (shared, not copied)."""
        return Arrays(self.state.public()._asdict())

    @cached_property
    @abstractmethod
    def table_arrays(self) -> Arrays:
        """The edition as compiled functions take it: all of ``tables``, and sizes."""

    @property
    @abstractmethod
    def turn(self) -> npt.NDArray[np.signedinteger[Any]]:
        """The number of the turn, of a game for several the round, of every row (shared, not
        copied); from 1."""

    @abstractmethod
    def share_played(self, rows: Rows) -> npt.NDArray[np.float64]:
        """Roughly what part of each of these games has been played, 0..1; float64 (n,)."""

    # Copies -------------------------------------------------------------------------------------

    def put(self, rows: Rows, state: Any) -> None:
        """Overwrite these rows with the rows of ``state``."""
        rows = np.asarray(rows, np.intp)
        self.state.put(rows, state)
        self.backend.legal(rows, self.mask)

    def determinise(self, rows: Rows, seeds: npt.NDArray[np.uint64]) -> None:
        """Keep the public state of these rows and replace what is hidden.

        What is hidden is laid in a fresh order and later draws come from the new seed, so that a
        planner that plays on learns nothing about the real future. The game's own seed given here
        does not bring its order back: seeds are taken through a stream of their own.
        """
        rows = np.asarray(rows, np.intp)
        self.state.seed[rows] = key(np.asarray(seeds, np.uint64), DETERMINISE_STREAM, 0)
        self.state.tape_length[rows] = -1
        self._lay_hidden(rows)
