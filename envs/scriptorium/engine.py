"""The Scriptorium engine: N games of the same number of players at once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.backend import BLOCK, Float32Array
from incunabula.envs.compiled.arrays import Arrays
from incunabula.envs.editions import BaseEdition
from incunabula.envs.engine import Engine, Json
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.actions import Actions
from incunabula.envs.scriptorium.backends import make_backend
from incunabula.envs.scriptorium.edition import GAME, Edition, load_edition
from incunabula.envs.scriptorium.game import build_game
from incunabula.envs.scriptorium.json_form import lay_bag, restore, snapshot
from incunabula.envs.scriptorium.observation import Layout
from incunabula.envs.scriptorium.state import OVER, PublicState, Rows, State, empty_state
from incunabula.envs.scriptorium.tables import Tables, build_tables
from incunabula.envs.scriptorium.tape import Tape, check_rounds, read_tape
from incunabula.envs.scriptorium.twin import table_arrays
from incunabula.envs.scriptorium.why import why_illegal

Seats = npt.NDArray[np.integer[Any]]


class ScriptoriumEngine(Engine):
    """N independent games of Scriptorium over one edition, all with the same number of players.

    The player to move is ``state.player`` (N,), -1 when over; masks are his.

    Example:
        >>> engine = ScriptoriumEngine("scriptorium", 2, num_players=3)
        >>> engine.deal(np.arange(2), [0, 1])
        >>> changes, terminated = engine.apply(engine.mask.argmax(axis=1))  # changes: (2, 3)
    """

    game = GAME
    over = OVER

    def __init__(
        self,
        edition: str | Path | BaseEdition | Mapping[str, Any] = GAME,
        num_envs: int = 1,
        num_players: int = 2,
        backend: str = "numpy",
    ) -> None:
        super().__init__(num_envs)
        self.edition: Edition = load_edition(edition)
        self.tables: Tables = build_tables(self.edition)
        self.num_players = self._checked_players(num_players)
        self.actions: Actions = Actions(self.tables)
        self.layout: Layout = Layout(self.tables)
        self.state: State = empty_state(self.tables, self.num_envs, self.num_players)
        self.mask = np.zeros((self.num_envs, self.actions.n), np.bool_)
        self._game = build_game(self.tables, self.actions, self.num_players)
        self.backend = make_backend(backend, self._game, self.layout, self.state)

    def _checked_players(self, num_players: int) -> int:
        whole = isinstance(num_players, (int, np.integer)) and not isinstance(num_players, bool)
        if not whole or num_players not in self.tables.players:
            allowed = ", ".join(map(str, self.tables.players))
            raise IncunabulaError(
                f"num_players: this edition is for {allowed} players, got {num_players!r}"
            )
        return int(num_players)

    def empty_like(self, num_envs: int, backend: str | None = None) -> ScriptoriumEngine:
        chosen = self.backend.name if backend is None else backend
        return ScriptoriumEngine(self.edition, num_envs, self.num_players, chosen)

    # Playing ------------------------------------------------------------------------------------

    def deal_tape(self, row: int, tape: Tape | Mapping[str, Any]) -> None:
        """Deal a recorded game in one row."""
        read = tape if isinstance(tape, Tape) else read_tape(self.tables, tape)
        check_rounds(self.tables, read, self.num_players)
        tiles, rounds = len(read.bag), len(read.lecterns)
        s = self.state
        s.fit(tiles, rounds)
        rows = np.array([row])
        with self._whole(rows):
            s.seed[row] = 0
            s.tape_length[row] = rounds
            s.tape[row, :rounds] = read.lecterns
            self._set_up(rows)
            s.order[row, :tiles] = read.bag[::-1]
            s.bag[row] = np.bincount(read.bag, minlength=self.tables.designs)
            s.bag_left[row] = tiles
            self.backend.go_on(rows, rows, self.mask)

    def _set_up(self, rows: Rows, /) -> None:
        self.backend.set_up(rows, None)

    # Looking ------------------------------------------------------------------------------------

    def _why_illegal(self, row: int, action: int) -> tuple[str, str]:
        public = self.state.public()
        return why_illegal(
            self.edition, self.tables, self.actions, public, self.num_players, row, action
        )

    def observe(self, out: Float32Array | None = None, seats: Seats | None = None) -> Float32Array:
        """Observations of all rows, float32 (N, F).

        Args:
            out: written into and returned if given; float32 (N, F), C-contiguous.
            seats: who looks, (N,), 0..P-1; by default the player to move (seat 0 when over).
        """
        out = self._checked_out(out)
        seats = self._observers(seats, slice(None), self.num_envs)
        for start in range(0, self.num_envs, BLOCK):
            block = slice(start, min(start + BLOCK, self.num_envs))
            self.backend.observe(block, seats[block], out[block])
        return out

    def observe_rows(self, rows: Rows, seats: Seats | None = None) -> Float32Array:
        """Observations of these rows, float32 (n, F), seen as ``observe`` does."""
        out = np.empty((len(rows), self.layout.size), np.float32)
        self.backend.observe(rows, self._observers(seats, rows, len(rows)), out)
        return out

    def _observers(self, seats: Seats | None, rows: slice | Rows, n: int) -> Seats:
        if seats is None:
            return np.maximum(self.state.player[rows], 0)
        seats = np.asarray(seats)
        outside = seats.shape != (n,) or seats.dtype.kind not in "iu"
        if outside or np.count_nonzero((seats < 0) | (seats >= self.num_players)):
            raise IncunabulaError(
                f"seats: expected {n} seats in 0..{self.num_players - 1}, got {seats!r}"
            )
        return seats

    @cached_property
    def table_arrays(self) -> Arrays:
        return Arrays(table_arrays(self._game))

    def public(self) -> PublicState:
        """The public arrays of all rows (shared, not copied)."""
        return self.state.public()

    @property
    def turn(self) -> npt.NDArray[np.signedinteger[Any]]:
        """The number of the round of every row (shared, not copied); from 1."""
        return self.state.round

    def share_played(self, rows: Rows) -> npt.NDArray[np.float64]:
        """Tiles that have left the bag, as a share of all there are."""
        s, width = self.state, max(self.state.order.shape[1], 1)
        share = 1.0 - s.bag_left[rows] / width
        return np.where(s.phase[rows] == OVER, 1.0, np.clip(share, 0.0, 1.0))

    def snapshot(self, row: int) -> Json:
        """The row in the rules' JSON form, and ``bag``: how many of each design are in it."""
        return snapshot(self.tables, self.state, row)

    def action_to_json(self, row: int, action: int) -> Json:
        """The action's JSON form, with absolute seats, for the player to move in this row."""
        player = max(0, int(self.state.player[row]))
        return self.actions.to_json(action, player, self.num_players)

    def action_from_json(self, row: int, form: Json) -> int:
        """The number of a JSON action of the player to move in this row."""
        player = max(0, int(self.state.player[row]))
        return self.actions.from_json(form, player, self.num_players)

    # Copies -------------------------------------------------------------------------------------

    def restore(self, row: int, form: Mapping[str, Any], seed: int) -> None:
        """Set a row to a JSON state with ``bag``, its hidden order drawn from ``seed``."""
        self.put(np.array([row]), restore(self.tables, form, seed, self.num_players))

    def _lay_hidden(self, rows: Rows) -> None:
        lay_bag(self.tables, self.state, rows)
