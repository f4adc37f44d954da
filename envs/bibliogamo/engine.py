"""The Bibliogamo engine: N games at once, dealt, moved on and shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.backend import BLOCK, Float32Array
from incunabula.envs.bibliogamo.actions import Actions
from incunabula.envs.bibliogamo.backends import make_backend
from incunabula.envs.bibliogamo.edition import GAME, Edition, load_edition
from incunabula.envs.bibliogamo.json_form import lay_deck, restore, snapshot
from incunabula.envs.bibliogamo.observation import Layout
from incunabula.envs.bibliogamo.state import OVER, PublicState, Rows, State, empty_state
from incunabula.envs.bibliogamo.tables import Tables, build_tables
from incunabula.envs.bibliogamo.tape import Tape, read_tape
from incunabula.envs.bibliogamo.twin import table_arrays
from incunabula.envs.bibliogamo.why import why_illegal
from incunabula.envs.compiled.arrays import Arrays
from incunabula.envs.editions import BaseEdition
from incunabula.envs.engine import Engine, Json
from incunabula.envs.errors import IncunabulaError


class BibliogamoEngine(Engine):
    """N independent games of Bibliogamo over one edition.

    Example:
        >>> engine = BibliogamoEngine("bibliogamo", 2)
        >>> engine.deal(np.arange(2), [0, 1])
        >>> rewards, terminated = engine.apply(engine.mask.argmax(axis=1))
    """

    game = GAME
    over = OVER

    def __init__(
        self,
        edition: str | Path | BaseEdition | Mapping[str, Any] = GAME,
        num_envs: int = 1,
        backend: str = "numpy",
    ) -> None:
        super().__init__(num_envs)
        self.edition: Edition = load_edition(edition)
        self.tables: Tables = build_tables(self.edition)
        self.actions: Actions = Actions(self.tables)
        self.layout: Layout = Layout(self.tables)
        self.state: State = empty_state(self.tables, self.num_envs)
        self.mask = np.zeros((self.num_envs, self.actions.n), np.bool_)
        self.backend = make_backend(backend, self.tables, self.actions, self.layout, self.state)

    def empty_like(self, num_envs: int, backend: str | None = None) -> BibliogamoEngine:
        chosen = self.backend.name if backend is None else backend
        return BibliogamoEngine(self.edition, num_envs, chosen)

    # Playing ------------------------------------------------------------------------------------

    def deal(
        self,
        rows: Rows,
        seeds: Sequence[int] | npt.NDArray[np.integer[Any]],
        prestige: int | npt.NDArray[np.int16] | None = None,
    ) -> None:
        """Deal a new game in each row.

        Args:
            rows: distinct row numbers (n,).
            seeds: game seeds (n,), 0..2^64-1.
            prestige: the collection to play, for all or each (-1 = drawn); None = drawn (R15).
        """
        super().deal(rows, seeds, prestige)

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
            self._set_up(rows, chosen)
            self.backend.go_on(rows, rows, self.mask)

    def _set_up(self, rows: Rows, prestige: int | npt.NDArray[np.int16] | None = None, /) -> None:
        wanted = np.broadcast_to(
            np.asarray(-1 if prestige is None else prestige, np.int16), rows.shape
        )
        wrong = (wanted < -1) | (wanted >= self.tables.collections)
        if np.count_nonzero(wrong):
            raise IncunabulaError(
                f"prestige: expected 0..{self.tables.collections - 1}, "
                f"got {int(wanted[wrong.argmax()])}"
            )
        self.backend.set_up(rows, wanted)

    # Looking ------------------------------------------------------------------------------------

    def _why_illegal(self, row: int, action: int) -> tuple[str, str]:
        public = self.state.public()
        return why_illegal(self.edition, self.tables, self.actions, public, row, action)

    def observe(self, out: Float32Array | None = None) -> Float32Array:
        """Observations of all rows, float32 (N, F).

        Args:
            out: written into and returned if given; float32 (N, F), C-contiguous.
        """
        out = self._checked_out(out)
        for start in range(0, self.num_envs, BLOCK):
            block = slice(start, min(start + BLOCK, self.num_envs))
            self.backend.observe(block, None, out[block])
        return out

    def observe_rows(self, rows: Rows) -> Float32Array:
        """Observations of these rows, float32 (n, F)."""
        out = np.empty((len(rows), self.layout.size), np.float32)
        self.backend.observe(rows, None, out)
        return out

    @cached_property
    def table_arrays(self) -> Arrays:
        return Arrays(table_arrays(self.tables))

    def public(self) -> PublicState:
        """The public arrays of all rows (shared, not copied)."""
        return self.state.public()

    @property
    def turn(self) -> npt.NDArray[np.signedinteger[Any]]:
        """The number of the turn of every row (shared, not copied); from 1."""
        return self.state.turn

    def share_played(self, rows: Rows) -> npt.NDArray[np.float64]:
        """Days that have passed, as a share of all."""
        start, days = self.tables.start_time, self.tables.days
        return np.clip((self.state.time[rows] - start) / (days - start), 0.0, 1.0)

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

    def restore(self, row: int, form: Mapping[str, Any], seed: int) -> None:
        """Set a row to a JSON state, its hidden order drawn from ``seed``."""
        self.put(np.array([row]), restore(self.tables, form, seed))

    def _lay_hidden(self, rows: Rows) -> None:
        lay_deck(self.tables, self.state, rows)
