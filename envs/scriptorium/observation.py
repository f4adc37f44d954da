"""What a player sees: one flat float32 vector, and the table that says what lies where in it.

Everything public is in the vector exactly (``decode`` gives it back), nothing hidden is. Seats are
relative to the observer (0 = himself, 1 = the next clockwise, …) and sized for the edition's
largest number of players; where fewer play, the regions of the others are 0. Values are scaled to
about [0, 1].

The vector follows the state's arrays (``marks`` one-hot, ``table`` and ``seats`` scaled, tiles as
they are), so that observing is a few operations on whole arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.errors import IncunabulaError
from incunabula.envs.observation import FieldTable, Float32Array
from incunabula.envs.scriptorium.json_form import PHASES, snapshot
from incunabula.envs.scriptorium.state import (
    MARKS,
    Int16Array,
    Rows,
    State,
    empty_state,
    seat_columns,
    table_columns,
)
from incunabula.envs.scriptorium.tables import ACHIEVEMENTS, INKS, SPACES, Tables
from incunabula.envs.scriptorium.tape import MAX_BAG

Json = dict[str, Any]
# Marks that name a seat.
_SEATS = MARKS[1:]


class Layout(FieldTable):
    """The observation's table for one edition, ``observe`` and ``decode``.

    Attributes:
        table_scale, seat_scale: float32, by what the columns of ``State.table`` and of each seat
            in ``State.seats`` are multiplied.
    """

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        t = self.tables = tables
        self._table, self._seats = table_columns(t), seat_columns(t)
        table, seats = _scales(t)
        most = t.max_players
        self._add("phase", (len(PHASES),), 1, f"one-hot: {', '.join(PHASES)}")
        for name, meaning in _MARK_MEANINGS.items():
            self._add(name, (most + 1,), 1, f"one-hot: none, or the relative seat of {meaning}")
        self._add("seat", (most,), 1, "one-hot: the observer's own seat")
        self._add("players", (most,), 1, "one-hot: how many play, from 1")
        for name, column in self._table.items():
            divisor, high, meaning = table[name]
            self._add(name, column.shape, high / divisor, f"{meaning}, / {divisor}")
        for j in range(most):
            for name, column in self._seats.items():
                divisor, high, meaning = seats[name]
                text = f"seat +{j}: {meaning}, / {divisor}"
                self._add(f"{name}+{j}", column.shape, high / divisor, text)
        # Tiles are plain counts: most are 0 or 1, and to copy is quicker than to scale.
        each = f"tiles of each design ({t.designs})"
        at_most = t.tiles_per_lectern
        most_tiles = _most_tiles(t)
        self._add("tiles", (t.lecterns, t.designs), at_most, f"{each} on each free lectern")
        for j in range(most):
            text = f"seat +{j}: {each} of his lectern, unplayed"
            self._add(f"lectern_tiles+{j}", (t.designs,), at_most, text)
            text = f"seat +{j}: {each} in storage"
            self._add(f"storage+{j}", (t.designs,), most_tiles, text)
        self.divisors = {"table": table, "seats": seats}
        self._table_at = slice(self.fields["round"].start, self.fields["inks+0"].start)
        self._seats_at = slice(self._table_at.stop, self.fields["tiles"].start)
        self._tiles_at = self.fields["tiles"].slice
        self._stock_at = slice(self._tiles_at.stop, self.size)
        self.table_scale = _per_column(self._table, table)
        self.seat_scale = _per_column(self._seats, seats)
        self._scale = [np.tile(self.seat_scale, players) for players in range(most + 1)]
        # By number of players: the order in which each seat sees the others.
        self._turned = [
            (np.arange(p)[:, None] + np.arange(p)) % p if p else np.zeros((0, 0), np.intp)
            for p in range(most + 1)
        ]
        # By number of players: one-hot regions of an observer's own seat and of the number, and the
        # column of the 1 of each mark, [observer, mark's value + 1, mark].
        counts = range(most + 1)
        self._who = [np.zeros((p, self._table_at.start), np.float32) for p in counts]
        self._mark_at = [np.zeros((p, len(PHASES) + 1, len(MARKS)), np.intp) for p in counts]
        for p in t.players:
            seat = np.arange(p)
            self._who[p][seat, self.fields["seat"].start + seat] = 1
            self._who[p][seat, self.fields["players"].start + p - 1] = 1
            self._mark_at[p][:, 1:, 0] = self.fields["phase"].start + np.arange(len(PHASES))
            for m, name in enumerate(_SEATS, 1):
                start = self.fields[name].start
                self._mark_at[p][:, 0, m] = start
                self._mark_at[p][:, 1 : p + 1, m] = start + 1 + (seat - seat[:, None]) % p
        self._mark_number = np.arange(len(MARKS))
        self._stock_width = 2 * t.designs
        # Kept from call to call, and made longer when they must be.
        self._base = np.zeros((0, 1), np.intp)
        self._place = np.empty(0, np.int16)

    def _scales(self) -> list[list[Any]]:
        return [
            [name, divisor]
            for part in self.divisors.values()
            for name, (divisor, _, _) in part.items()
        ]

    def observe(
        self, s: State, rows: slice | Rows, seats: npt.NDArray[np.integer[Any]], out: Float32Array
    ) -> None:
        """Write what ``seats`` (n,) see of these rows to ``out``, float32 (n, F), C-contiguous."""
        n, players = len(out), s.num_players
        if not n:
            return
        if n > len(self._base):
            self._base = np.arange(0, n * self.size, self.size)[:, None]
        # Once this holds the observer's own seat and the number of players, only marks are left.
        out[:, : self._table_at.start] = self._who[players][seats]
        ones = self._mark_at[players][seats[:, None], s.marks[rows] + 1, self._mark_number]
        ones += self._base[:n]
        out.reshape(-1)[ones] = 1
        np.multiply(s.table[rows], self.table_scale, out=out[:, self._table_at])
        out[:, self._tiles_at] = s.tiles[rows].reshape(n, -1)
        at = s.seat_row[rows][:, None] + self._turned[players][seats]
        scale = self._scale[players]
        seen, stock = out[:, self._seats_at], out[:, self._stock_at]
        if players < self.tables.max_players:
            seen[:, len(scale) :] = 0
            stock[:, players * self._stock_width :] = 0
        np.multiply(self._gathered(s.seat_flat, at), scale, out=seen[:, : len(scale)])
        stock[:, : players * self._stock_width] = self._gathered(s.stock_flat, at)

    def _gathered(self, seats: Int16Array, at: Rows) -> Int16Array:
        """Rows ``at`` (n, P) of ``seats``, side by side; int16 (n, …), until the next call.

        The place is kept: memory that is asked for anew at each step costs more than the copy.
        """
        shape = (*at.shape, seats.shape[1])
        size = int(np.prod(shape))
        if len(self._place) < size:
            self._place = np.empty(size, np.int16)
        place = self._place[:size].reshape(shape)
        seats.take(at, axis=0, out=place, mode="clip")  # "raise" would copy once more
        return place.reshape(len(at), -1)

    # Back again ---------------------------------------------------------------------------------

    def decode(self, observation: Float32Array) -> Json:
        """The public state behind one observation, float32 (F,), in the rules' JSON form.

        Seats are absolute again; ``bag`` says how many of each design are in the bag. Raises
        IncunabulaError if the shape is wrong or a one-hot region holds no 1.
        """
        vector = self._checked(observation)
        one_hot = {}
        for name in ("phase", "seat", "players", *_SEATS):
            region = vector[self.fields[name].slice]
            if np.count_nonzero(region == 1) != 1:
                raise IncunabulaError(f"observation: {name} is not one-hot: {region}")
            one_hot[name] = int(region.argmax())
        seat, players = one_hot["seat"], one_hot["players"] + 1
        if seat >= players:
            raise IncunabulaError(f"observation: seat {seat} of {players} players")
        state = empty_state(self.tables, 1, players)
        state.phase[0] = one_hot["phase"]
        for j, name in enumerate(_SEATS, 1):
            relative = one_hot[name] - 1
            state.marks[0, j] = relative if relative < 0 else (relative + seat) % players
        state.table[0] = np.rint(vector[self._table_at] / self.table_scale)
        state.tiles[0] = vector[self._tiles_at].reshape(state.tiles[0].shape)
        turned = self._turned[players][seat]
        own = vector[self._seats_at].reshape(-1, len(self.seat_scale))[:players]
        state.seats[0, turned] = np.rint(own / self.seat_scale)
        stock = vector[self._stock_at].reshape(-1, *state.stock.shape[2:])[:players]
        state.stock[0, turned] = stock
        return snapshot(self.tables, state, 0)


_MARK_MEANINGS = {
    "player": "the player to act",
    "quill": "the quill's holder",
    "quill_next": "who gets the quill when this day ends",
    "grimoire": "who took the grimoire",
}
Scales = dict[str, tuple[int, float, str]]


def _scales(t: Tables) -> tuple[Scales, Scales]:
    """Divisor, largest value and meaning of the columns of ``State.table`` and ``State.seats``."""
    copies = max(1, int(t.copies.max()))
    fewest = t.tiles_per_lectern * (min(t.players) + 1)
    bag = max(1, int(t.copies.sum(axis=1).max()))
    most_tiles = _most_tiles(t)
    rounds = -(-most_tiles // fewest)
    pot = max(1, int(t.pots.max()))
    each = f"of each design ({t.designs})"
    table: Scales = {
        "round": (max(1, -(-bag // fewest)), rounds, "round"),
        "bag_left": (bag, most_tiles, "tiles in the bag"),
        "pot": (pot, pot, f"inks in the pot: {', '.join(INKS)}"),
        "in_play": (1, 1, "1 for each lectern of this round"),
        "open": (1, 1, f"1 for each achievement nobody has earned: {', '.join(ACHIEVEMENTS)}"),
        "market": (copies, most_tiles, f"tiles in the scriptorium, {each}"),
        "bag": (copies, most_tiles, f"tiles in the bag, {each}"),
    }
    page = max(1, _page_points(t))
    quill = rounds * t.quill_points
    extra = len(ACHIEVEMENTS) * t.achievement_points + t.help_tokens * t.token_points
    everybody = max(1, t.max_players * t.help_tokens)
    best = page + quill + extra + everybody * t.token_points
    inks = t.ink_limit + int(t.pots.max())
    seats: Scales = {
        "inks": (max(1, t.ink_limit), inks, "inks"),
        "tokens": (max(1, t.help_tokens), everybody, "help tokens"),
        "points": (page, page + quill, "illumination points"),
        "score": (page + extra, best, "score if the game ended now"),
        "filled": (max(1, int(t.capacity.max())), int(t.capacity.max()), _filled_meaning()),
        "achievements": (1, 1, f"1 for each achievement kept: {', '.join(ACHIEVEMENTS)}"),
        "lectern": (1, 1, "1 for the lectern owned"),
    }
    return table, {name: (d, max(high, d), meaning) for name, (d, high, meaning) in seats.items()}


def _most_tiles(t: Tables) -> int:
    """Tiles of the largest bag: a tape's may hold more than the edition's."""
    return max(MAX_BAG, int(t.copies.sum(axis=1).max()))


def _filled_meaning() -> str:
    return f"spaces filled: {', '.join(SPACES)}"


def _page_points(t: Tables) -> int:
    """Illumination points of a manuscript that is full of the best designs."""
    total = 0
    for space, capacity in enumerate(t.capacity):
        fits = (t.space == space).any(axis=1)
        total += int(capacity) * int(t.points[fits].max(initial=0))
    return total


def _per_column(columns: Any, scales: Scales) -> Float32Array:
    """1 / divisor of every column, rounded down.

    With the nearest float32 a count could be seen above its bound: 11 times that of 1/7 is more
    than the float32 of 11/7.
    """
    parts = [np.full(int(np.prod(c.shape)), 1 / scales[k][0]) for k, c in columns.items()]
    exact = np.concatenate(parts)
    nearest = exact.astype(np.float32)
    return np.where(nearest > exact, np.nextafter(nearest, np.float32(0)), nearest)
