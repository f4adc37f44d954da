"""The state of a batch of games: arrays with a leading batch axis, each with its meaning beside it.

Sizes: N games of P players each; D designs, L lecterns, 5 inks, 10 kinds of spaces, 5 achievements
(the orders are those of ``tables``).

What lies on the table is kept side by side in ``table``, what a player has in ``seats``, tiles in
``tiles`` and ``stock``, so that an observation is made of a few large operations; ``pot``,
``storage`` and so on are columns of these (views).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.envs.scriptorium.tables import ACHIEVEMENTS, INKS, SPACES, Tables

Rows = npt.NDArray[np.intp]
Int16Array = npt.NDArray[np.int16]
Int32Array = npt.NDArray[np.int32]
UInt64Array = npt.NDArray[np.uint64]


class Phase(IntEnum):
    """The decision to be taken."""

    INK = 0
    LECTERN = 1
    QUILL = 2
    ILLUMINATE = 3
    DISCARD = 4
    OVER = 5


OVER = int(Phase.OVER)  # a plain integer: looking a member up is slow

MARKS = ("phase", "player", "quill", "quill_next", "grimoire")


class Column(NamedTuple):
    """Columns of ``table`` or ``seats``."""

    start: int
    shape: tuple[int, ...]

    @property
    def slice(self) -> slice:
        return slice(self.start, self.start + int(np.prod(self.shape)))


def table_columns(t: Tables) -> dict[str, Column]:
    """What the columns of ``table`` are."""
    d = t.designs
    return _columns(
        round=(),
        bag_left=(),
        pot=(len(INKS),),
        in_play=(t.lecterns,),
        open=(len(ACHIEVEMENTS),),
        market=(d,),
        bag=(d,),
    )


def seat_columns(t: Tables) -> dict[str, Column]:
    """What the columns of ``seats`` are."""
    return _columns(
        inks=(len(INKS),),
        tokens=(),
        points=(),
        score=(),
        filled=(len(SPACES),),
        achievements=(len(ACHIEVEMENTS),),
        lectern=(t.lecterns,),
    )


def _columns(**shapes: tuple[int, ...]) -> dict[str, Column]:
    columns, start = {}, 0
    for name, shape in shapes.items():
        columns[name] = Column(start, shape)
        start += int(np.prod(shape))
    return columns


class PublicState(NamedTuple):
    """What every player knows: everything but the order of the bag and the lecterns to come."""

    phase: Int16Array  # (N,) a Phase
    player: Int16Array  # (N,) seat to act, -1 when over
    quill: Int16Array  # (N,) seat of the first player
    quill_next: Int16Array  # (N,) seat that gets the quill when this day ends, -1 if nobody does
    grimoire: Int16Array  # (N,) seat that took the grimoire this round, -1 if nobody has
    round: Int16Array  # (N,) 1-based
    bag_left: Int16Array  # (N,) tiles in the bag
    pot: Int16Array  # (N, 5) inks in the pot
    in_play: Int16Array  # (N, L) 1 for the lecterns of this round
    open: Int16Array  # (N, 5) 1 for the achievements nobody has earned yet
    market: Int16Array  # (N, D) tiles in the scriptorium
    bag: Int16Array  # (N, D) tiles in the bag
    tiles: Int16Array  # (N, L, D) tiles on the lecterns nobody owns
    inks: Int16Array  # (N, P, 5)
    tokens: Int16Array  # (N, P) help tokens
    points: Int16Array  # (N, P) illumination points
    score: Int16Array  # (N, P) score if the game ended now
    filled: Int16Array  # (N, P, 10) spaces filled, by kind
    achievements: Int16Array  # (N, P, 5) 1 for each one kept
    lectern: Int16Array  # (N, P, L) 1 for the lectern owned
    lectern_tiles: Int16Array  # (N, P, D) unplayed tiles of the lectern owned
    storage: Int16Array  # (N, P, D)

    def take(self, rows: Rows) -> PublicState:
        """A copy of these rows."""
        return PublicState._make(array[rows] for array in self)


@dataclass
class State:
    """Whole state of N games. Besides these arrays, every field of ``PublicState`` is an attribute
    (a view of the columns that hold it).
    """

    tables: Tables  # what the columns mean
    marks: Int16Array  # (N, 5) the columns MARKS; -1 = none
    table: Int16Array  # (N, …) the columns of ``table_columns``
    seats: Int16Array  # (N, P, …) the columns of ``seat_columns``
    tiles: Int16Array  # (N, L, D)
    stock: Int16Array  # (N, P, 2, D) tiles of the lectern owned, and in storage
    # Hidden
    order: Int16Array  # (N, B) designs in the bag; the next to be drawn is order[bag_left - 1]
    seed: UInt64Array  # (N,) game seed
    tape: Int16Array  # (N, R, L) recorded lectern orders; R = 0 while no row has a tape
    tape_length: Int32Array  # (N,) recorded orders of the row, -1 = drawn from the seed

    def __post_init__(self) -> None:
        """Name the columns."""
        self.grown = 0  # how often an array has been replaced by a larger one
        self.phase, self.player, self.quill = (self.marks[:, j] for j in range(3))
        self.quill_next, self.grimoire = self.marks[:, 3], self.marks[:, 4]
        table, seats = table_columns(self.tables), seat_columns(self.tables)

        def view(array: Int16Array, column: Column) -> Int16Array:
            if not column.shape:
                return array[..., column.start]
            return array[..., column.slice].reshape(*array.shape[:-1], *column.shape)

        self.round, self.bag_left = (view(self.table, table[k]) for k in ("round", "bag_left"))
        self.pot, self.in_play = (view(self.table, table[k]) for k in ("pot", "in_play"))
        self.open, self.market = (view(self.table, table[k]) for k in ("open", "market"))
        self.bag = view(self.table, table["bag"])
        self.inks, self.tokens = (view(self.seats, seats[k]) for k in ("inks", "tokens"))
        self.points, self.score = (view(self.seats, seats[k]) for k in ("points", "score"))
        self.filled = view(self.seats, seats["filled"])
        self.achievements = view(self.seats, seats["achievements"])
        self.lectern = view(self.seats, seats["lectern"])
        self.lectern_tiles, self.storage = self.stock[:, :, 0], self.stock[:, :, 1]
        # A seat is one row here: indexing with one array is several times faster than with two.
        n, players, width = self.seats.shape
        self.seat_flat = self.seats.reshape(n * players, width)
        self.stock_flat = self.stock.reshape(n * players, 2 * self.tables.designs)
        self.seat_row = np.arange(n) * players
        # And here a game is.
        self.seats_wide = self.seats.reshape(n, players * width)
        self.tiles_wide = self.tiles.reshape(n, self.tables.lecterns * self.tables.designs)
        self.stock_wide = self.stock.reshape(n, players * 2 * self.tables.designs)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __setstate__(self, arrays: dict[str, Any]) -> None:
        self.__dict__.update(arrays)
        self.__post_init__()

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        return self.copy()

    @property
    def rows(self) -> int:
        return len(self.marks)

    @property
    def num_players(self) -> int:
        return int(self.seats.shape[1])

    def public(self) -> PublicState:
        """The public arrays (shared, not copied)."""
        return PublicState._make(getattr(self, name) for name in PublicState._fields)

    def take(self, rows: Rows) -> State:
        """A copy of these rows."""
        return State(self.tables, *(getattr(self, name)[rows] for name in _ARRAYS))

    def copy(self) -> State:
        return State(self.tables, *(getattr(self, name).copy() for name in _ARRAYS))

    def put(self, rows: Rows, other: State) -> None:
        """Overwrite these rows with ``other``, row for row (or with its only row)."""
        self.fit(other.order.shape[1], other.tape.shape[1])
        for name in _ARRAYS:
            target, source = getattr(self, name), getattr(other, name)
            if name in ("order", "tape"):
                target[rows, : source.shape[1]] = source
            else:
                target[rows] = source

    def fit(self, tiles: int, rounds: int) -> None:
        """Make room for bags of this many tiles and tapes of this many rounds."""
        if tiles > self.order.shape[1]:
            self.order = _wider(self.order, tiles)
            self.grown += 1
        if rounds > self.tape.shape[1]:
            self.tape = _wider(self.tape, rounds)
            self.grown += 1

    def equal(self, other: State) -> bool:
        """Whether two states agree in all that matters (unused cells don't)."""
        names = ("marks", "table", "seats", "tiles", "stock", "seed", "tape_length")
        if not all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names):
            return False
        drawn = max(self.order.shape[1], other.order.shape[1])
        left = np.arange(drawn) < self.bag_left[:, None]
        mine, others = _wider(self.order, drawn)[left], _wider(other.order, drawn)[left]
        rounds = max(self.tape.shape[1], other.tape.shape[1])
        taped = np.arange(rounds) < self.tape_length[:, None]
        tapes = _wider(self.tape, rounds)[taped], _wider(other.tape, rounds)[taped]
        return np.array_equal(mine, others) and np.array_equal(*tapes)


_ARRAYS = tuple(f.name for f in fields(State) if f.name != "tables")


def _wider(array: Int16Array, width: int) -> Int16Array:
    """A copy of which the second axis is this long."""
    grown = np.zeros((len(array), width, *array.shape[2:]), np.int16)
    grown[:, : array.shape[1]] = array
    return grown


def empty_state(t: Tables, n: int, players: int) -> State:
    """N rows as before the first round, but in phase OVER: nothing is dealt.

    Nobody has ink, tiles or points; each has the help tokens ("Setup").
    """
    marks = np.full((n, len(MARKS)), -1, np.int16)
    marks[:, MARKS.index("phase")] = OVER
    marks[:, MARKS.index("quill")] = 0  # S3
    table, seats = table_columns(t), seat_columns(t)
    state = State(
        tables=t,
        marks=marks,
        table=np.zeros((n, table["bag"].slice.stop), np.int16),
        seats=np.zeros((n, players, seats["lectern"].slice.stop), np.int16),
        tiles=np.zeros((n, t.lecterns, t.designs), np.int16),
        stock=np.zeros((n, players, 2, t.designs), np.int16),
        order=np.zeros((n, int(t.copies[players].sum())), np.int16),
        seed=np.zeros(n, np.uint64),
        tape=np.zeros((n, 0, t.lecterns), np.int16),
        tape_length=np.full(n, -1, np.int32),
    )
    state.open[:] = 1
    state.tokens[:] = t.help_tokens
    state.score[:] = t.help_tokens * t.token_points
    return state
