"""The Bibliogamo engine: N games at once, dealt, moved on and shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.bibliogamo import rules
from incunabula.envs.bibliogamo.actions import Actions
from incunabula.envs.bibliogamo.edition import Edition, load_edition
from incunabula.envs.bibliogamo.json_form import lay_deck, restore, snapshot
from incunabula.envs.bibliogamo.observation import Layout
from incunabula.envs.bibliogamo.state import OVER, PublicState, Rows, State, empty_state
from incunabula.envs.bibliogamo.tables import build_tables
from incunabula.envs.bibliogamo.tape import Tape, read_tape
from incunabula.envs.bibliogamo.why import why_illegal
from incunabula.envs.chance import DETERMINISE_STREAM, TapeError, key
from incunabula.envs.errors import IllegalActionError, IncunabulaError

Json = dict[str, Any]

# Rows worked on at a time: what a block touches stays in the processor's cache.
BLOCK = 1024

MAX_GAMES = 2**22


class BibliogamoEngine:
    """N independent games of Bibliogamo over one edition.

    Nothing is dealt at first: ``deal`` rows before they are played. A finished row stays as it
    ended until it is dealt again.

    Attributes:
        edition, tables, actions, layout: the edition and what follows from it.
        num_envs: N.
        state: the arrays (``state.public()`` is what a player may see).
        mask: bool (N, A), the legal actions of every row; kept up to date.

    Example:
        >>> engine = BibliogamoEngine("bibliogamo", 2)
        >>> engine.deal(np.arange(2), [0, 1])
        >>> rewards, terminated = engine.apply(engine.mask.argmax(axis=1))
    """

    def __init__(
        self, edition: str | Path | Edition | Mapping[str, Any] = "bibliogamo", num_envs: int = 1
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, (int, np.integer)):
            raise IncunabulaError(f"num_envs: expected an integer, got {num_envs!r}")
        if num_envs < 1:
            raise IncunabulaError(f"num_envs: expected at least 1, got {num_envs}")
        if num_envs > MAX_GAMES:
            raise IncunabulaError(f"num_envs: expected at most {MAX_GAMES:,}, got {num_envs}")
        self.edition = load_edition(edition)
        self.tables = build_tables(self.edition)
        self.actions = Actions(self.tables)
        self.layout = Layout(self.tables)
        self.num_envs = int(num_envs)
        self.state: State = empty_state(self.tables, self.num_envs)
        self._blank = empty_state(self.tables, 1)
        self.mask = np.zeros((self.num_envs, self.actions.n), np.bool_)
        self._all = np.arange(self.num_envs)
        self._nobody = self._all[:0]

    # Playing ------------------------------------------------------------------------------------

    def deal(
        self,
        rows: Rows,
        seeds: Sequence[int] | npt.NDArray[np.integer],
        prestige: int | npt.NDArray[np.int16] | None = None,
    ) -> None:
        """Deal a new game in each row.

        Args:
            rows: distinct row numbers (n,).
            seeds: game seeds (n,), 0..2^64-1.
            prestige: the collection to play, for all or each (-1 = drawn); None = drawn (R15).
        """
        rows = np.asarray(rows, np.intp)
        wanted = np.broadcast_to(
            np.asarray(-1 if prestige is None else prestige, np.int16), rows.shape
        )
        with self._whole(rows):
            self.state.seed[rows] = np.asarray(seeds, np.uint64)
            self.state.tape_length[rows] = -1
            self._deal(rows, wanted)

    def deal_tape(
        self, row: int, tape: Tape | Mapping[str, Any], prestige: int | None = None
    ) -> None:
        """Deal a recorded game in one row; ``prestige`` beats the tape's (R15)."""
        read = tape if isinstance(tape, Tape) else read_tape(self.tables, tape)
        chosen = read.prestige if prestige is None else prestige
        if chosen is None:
            raise IncunabulaError("tape.prestige: missing; give it there or as prestige=")
        self.state.fit_tapes(len(read.shuffles))
        rows = np.array([row])
        with self._whole(rows):
            self.state.seed[row] = 0
            self.state.tape_length[row] = len(read.shuffles)
            self.state.tape[row, : len(read.shuffles)] = read.shuffles
            self._deal(rows, np.array([chosen], np.int16))

    def _deal(self, rows: Rows, prestige: npt.NDArray[np.int16]) -> None:
        self._set_up(rows, prestige)
        self._go_on(rows, rows)

    def _set_up(self, rows: Rows, prestige: npt.NDArray[np.int16]) -> None:
        wrong = (prestige < -1) | (prestige >= self.tables.collections)
        if np.count_nonzero(wrong):
            raise IncunabulaError(
                f"prestige: expected 0..{self.tables.collections - 1}, "
                f"got {int(prestige[wrong.argmax()])}"
            )
        self.state.reset(rows, self._blank)
        rules.set_up(self.tables, self.state, rows, prestige)

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

    def _go_on(self, starting: Rows, rows: Rows) -> None:
        """Start the turns that are due, then renew the masks of ``rows``."""
        if starting.size:
            rules.start_turn(self.tables, self.state, starting)
        rules.legal(self.tables, self.actions, self.state, rows, self.mask)

    def apply(
        self,
        actions: npt.NDArray[np.integer],
        rows: Rows | None = None,
        fresh: tuple[Rows, npt.NDArray[np.uint64], int | None] | None = None,
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
        """Take one action in each of these rows (all by default).

        Args:
            actions: integers (n,), one for each row, each legal.
            rows: distinct row numbers (n,).
            fresh: (rows, seeds, prestige) to deal in the same call, which is cheaper than calling
                ``deal`` too; these are rows that don't act.

        Returns:
            reward int32 (n,), the score gained; terminated bool (n,).

        Raises:
            IllegalActionError: an action is illegal or its game is over.
            TapeError: a row's tape has run out. Nothing is changed in either case.
        """
        rows = self._all if rows is None else np.asarray(rows, np.intp)
        chosen = self._checked(actions, rows)
        before = self.state.score[rows]
        if fresh is None:
            with self._whole(rows):
                self._step(rows, chosen, self._nobody)
        else:
            dealt, seeds, prestige = fresh
            with self._whole(np.concatenate([rows, dealt])):
                self._set_up_fresh(dealt, seeds, prestige)
                self._step(rows, chosen, dealt)
        return self.state.score[rows] - before, self.state.phase[rows] == OVER

    def _set_up_fresh(
        self, rows: Rows, seeds: npt.NDArray[np.uint64], prestige: int | None
    ) -> None:
        self.state.seed[rows] = seeds
        self.state.tape_length[rows] = -1
        self._set_up(rows, np.full(len(rows), -1 if prestige is None else prestige, np.int16))

    def _step(self, rows: Rows, chosen: npt.NDArray[np.intp], dealt: Rows) -> None:
        """Act in ``rows``, in blocks; rows that were set up start with the first block."""
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK]
            starting = rules.apply(
                self.tables, self.actions, self.state, block, chosen[start : start + BLOCK]
            )
            if dealt.size:
                starting, block = np.concatenate([starting, dealt]), np.concatenate([block, dealt])
                dealt = self._nobody
            self._go_on(starting, block)
        if dealt.size:
            self._go_on(dealt, dealt)

    def _checked(self, actions: npt.NDArray[np.integer], rows: Rows) -> npt.NDArray[np.intp]:
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
            why = self.why_illegal(int(rows[i]), int(chosen[i]))
            assert why is not None
            raise IllegalActionError(int(rows[i]), int(chosen[i]), *why)
        return chosen

    # Looking ------------------------------------------------------------------------------------

    def legal(self) -> npt.NDArray[np.bool_]:
        """Legal actions recomputed from the state, bool (N, A); ``mask`` holds the same."""
        out = np.zeros_like(self.mask)
        rules.legal(self.tables, self.actions, self.state, self._all, out)
        return out

    def why_illegal(self, row: int, action: int) -> tuple[str, str] | None:
        """(rule clause, reason) why the action is illegal in this row, or None if it is legal."""
        self.actions.check(action)
        if self.mask[row, action]:
            return None
        return why_illegal(self.tables, self.actions, self.state.public(), row, action)

    def observe(self, out: npt.NDArray[np.float32] | None = None) -> npt.NDArray[np.float32]:
        """Observations of all rows, float32 (N, F).

        Args:
            out: written into and returned if given; float32 (N, F), C-contiguous.
        """
        shape = (self.num_envs, self.layout.size)
        if out is None:
            out = np.empty(shape, np.float32)
        elif out.shape != shape or out.dtype != np.float32 or not out.flags.c_contiguous:
            raise IncunabulaError(
                f"out: expected a C-contiguous float32 array of shape {shape}, "
                f"got {out.dtype} of shape {out.shape}"
            )
        for start in range(0, self.num_envs, BLOCK):
            block = slice(start, min(start + BLOCK, self.num_envs))
            self.layout.observe(self.state, block, out[block])
        return out

    def observe_rows(self, rows: Rows) -> npt.NDArray[np.float32]:
        """Observations of these rows, float32 (n, F)."""
        out = np.empty((len(rows), self.layout.size), np.float32)
        self.layout.observe(self.state, rows, out)
        return out

    def public(self) -> PublicState:
        """The public arrays of all rows (shared, not copied)."""
        return self.state.public()

    def snapshot(self, row: int) -> Json:
        """The row in the rules' JSON form."""
        return snapshot(self.tables, self.state, row)

    def action_to_json(self, row: int, action: int) -> Json:
        """The action's JSON form, naming the card it uses in this row."""
        return self.actions.to_json(action, self.state.hand[row], self.tables.cards)

    def action_from_json(self, row: int, form: Json) -> int:
        """The index of a JSON action in this row."""
        return self.actions.from_json(form, self.state.hand[row])

    # Copies -------------------------------------------------------------------------------------

    def put(self, rows: Rows, state: State) -> None:
        """Overwrite these rows with the rows of ``state``."""
        self.state.put(rows, state)
        rules.legal(self.tables, self.actions, self.state, rows, self.mask)

    def restore(self, row: int, form: Mapping[str, Any], seed: int) -> None:
        """Set a row to a JSON state, its hidden order drawn from ``seed``."""
        self.put(np.array([row]), restore(self.tables, form, seed))

    def determinise(self, rows: Rows, seeds: npt.NDArray[np.uint64]) -> None:
        """Keep the public state of these rows and replace what is hidden.

        The deck is laid in a fresh order and later shuffles come from the new seed, so that a
        planner that plays on learns nothing about the real future. The game's own seed given here
        does not bring its order back: seeds are taken through a stream of their own.
        """
        rows = np.asarray(rows, np.intp)
        self.state.seed[rows] = key(np.asarray(seeds, np.uint64), DETERMINISE_STREAM, 0)
        self.state.tape_length[rows] = -1
        lay_deck(self.tables, self.state, rows)
