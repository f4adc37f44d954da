"""The state of a batch of games: arrays with a leading batch axis, each with its meaning beside it.

Sizes are the edition's: C cards, T towers, K artisan types, H cards in hand, L prestige slots,
D cards in a price display; N is the batch.

Choices and counts are kept side by side in two arrays, ``marks`` and ``counts``, so that an
observation is made of a few large operations; ``time``, ``librarian`` and so on are columns of
these (views).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.envs.bibliogamo.tables import Tables

Rows = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
Int8Array = npt.NDArray[np.int8]
Int16Array = npt.NDArray[np.int16]
Int32Array = npt.NDArray[np.int32]
UInt64Array = npt.NDArray[np.uint64]
BitArray = npt.NDArray[np.unsignedinteger]


class Phase(IntEnum):
    """The decision to be taken ("Order of decisions")."""

    TRAVEL = 0
    SELL = 1
    PRICE = 2
    HIRE = 3
    PAY = 4
    OVER = 5


class Place(IntEnum):
    """Where a card lies."""

    DISCARD = 0
    HAND = 1
    DISPLAY = 2
    DECK = 3


OVER = int(Phase.OVER)  # a plain integer: looking a member up is slow

# Columns of ``marks`` and ``counts``.
MARKS = ("phase", "librarian", "banned", "pending_tower", "prestige", "display_coin")
COUNTS = (
    *("time", "turn", "hires_left", "florins", "books", "supply"),
    *("deck_left", "pending_card", "display_first", "display_last", "offer"),
)


class PublicState(NamedTuple):
    """What the player knows: everything but the order of the draw deck (and what shuffles it)."""

    phase: Int16Array  # (N,) a Phase
    time: Int32Array  # (N,) days on the time track
    turn: Int32Array  # (N,) 1-based
    librarian: Int16Array  # (N,) space
    florins: Int32Array  # (N,)
    books: Int32Array  # (N,) books sold
    score: Int32Array  # (N,) score if the game ended now
    supply: Int32Array  # (N,) cubes not in a tower
    filled: Int16Array  # (N, T, K) artisans in each tower
    banned: Int16Array  # (N,) banned type, -1 if none (or lifted)
    hires_left: Int32Array  # (N,)
    pending_card: Int32Array  # (N,) card hired and not yet paid for, -1 if none
    pending_tower: Int16Array  # (N,) its tower, -1 if none
    prestige: Int16Array  # (N,) the collection in play
    slots_filled: BoolArray  # (N, L)
    hand: Int16Array  # (N, H) card ids ascending, C in the empty slots at the end
    place: Int8Array  # (N, C) a Place for each card
    deck_left: Int32Array  # (N,) cards in the draw deck
    display: Int16Array  # (N, D) price display in flip order, C beyond its end
    display_len: Int16Array  # (N,)

    def take(self, rows: Rows) -> PublicState:
        """A copy of these rows."""
        return PublicState._make(array[rows] for array in self)


@dataclass
class State:
    """Whole state of N games. Besides these arrays, every column of ``marks`` and ``counts`` is
    an attribute (``state.time``), and so is ``place``.
    """

    marks: Int16Array  # (N, 6) the columns MARKS; -1 = none
    counts: Int32Array  # (N, 11) the columns COUNTS; cards are -1 if there is none
    score: Int32Array  # (N,)
    filled: Int16Array  # (N, T, K)
    lacks: BitArray  # (N, T) types each tower lacks, as bits: kept in step with ``filled``
    slots_filled: BoolArray  # (N, L)
    next_slot: Int16Array  # (N, T) VP of the slot each tower's next book fills, 0 if none
    hand: Int16Array  # (N, H)
    places: Int8Array  # (N, C+1) ``place``, and a last column where "no card" is put
    display: Int16Array  # (N, D)
    display_len: Int16Array  # (N,)
    # Hidden
    deck: Int16Array  # (N, H+C) H times "no card", then the draw deck from its bottom up
    shuffles: Int32Array  # (N,) number of the next shuffle
    seed: UInt64Array  # (N,) game seed
    tape: Int16Array  # (N, R, C) recorded shuffle orders; R = 0 while no row has a tape
    tape_length: Int32Array  # (N,) recorded orders of the row, -1 = drawn from the seed

    def __post_init__(self) -> None:
        """Name the columns."""
        self.grown = 0  # how often an array has been replaced by a larger one
        self.phase, self.librarian, self.banned = (self.marks[:, j] for j in range(3))
        self.pending_tower, self.prestige, self.display_coin = (
            self.marks[:, j] for j in range(3, 6)
        )
        self.time, self.turn, self.hires_left = (self.counts[:, j] for j in range(3))
        self.florins, self.books, self.supply = (self.counts[:, j] for j in range(3, 6))
        self.deck_left, self.pending_card = self.counts[:, 6], self.counts[:, 7]
        self.display_first, self.display_last = self.counts[:, 8], self.counts[:, 9]
        self.offer = self.counts[:, 10]
        self.place = self.places[:, :-1]
        # One-dimensional views, and where each row begins in them: indexing with one array is
        # several times faster than with two.
        n, width = self.deck.shape
        each = np.arange(n)
        self.deck_flat, self.deck_row = self.deck.reshape(-1), each * width
        self.place_flat = self.places.reshape(-1)
        self.place_row = each * self.places.shape[1]
        towers = self.lacks.shape[1]
        self.tower_row = each * towers
        self.lacks_flat = self.lacks.reshape(-1)
        self.filled_flat = self.filled.reshape(n * towers, self.filled.shape[2])

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

    def public(self) -> PublicState:
        """The public arrays (shared, not copied)."""
        return PublicState._make(getattr(self, name) for name in PublicState._fields)

    def take(self, rows: Rows) -> State:
        """A copy of these rows."""
        return State(*(getattr(self, f.name)[rows] for f in fields(self)))

    def copy(self) -> State:
        return State(*(getattr(self, f.name).copy() for f in fields(self)))

    def put(self, rows: Rows, other: State) -> None:
        """Overwrite these rows with ``other``, row for row (or with its only row)."""
        self.fit_tapes(other.tape.shape[1])
        for f in fields(self):
            target, source = getattr(self, f.name), getattr(other, f.name)
            if f.name == "tape":
                if source.size:
                    target[rows, : source.shape[1]] = source
            else:
                target[rows] = source

    def reset(self, rows: Rows, blank: State) -> None:
        """Make these rows as the one row of ``blank``, but for their seeds and tapes."""
        for name in _DEALT:
            getattr(self, name)[rows] = getattr(blank, name)

    def fit_tapes(self, orders: int) -> None:
        """Make room for tapes of this many orders."""
        n, have, c = self.tape.shape
        if orders > have:
            grown = np.zeros((n, orders, c), np.int16)
            grown[:, :have] = self.tape
            self.tape = grown
            self.grown += 1

    def equal(self, other: State) -> bool:
        """Whether two states agree in all that matters (unused cells don't)."""
        below = self.deck.shape[1] - self.place.shape[1]
        used = np.arange(self.place.shape[1]) < self.deck_left[:, None]
        names = [f.name for f in fields(self) if f.name not in ("deck", "tape", "places")]
        return all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in (*names, "place")
        ) and np.array_equal(self.deck[:, below:][used], other.deck[:, below:][used])


# Fields that a new deal overwrites.
_DEALT = tuple(f.name for f in fields(State) if f.name not in ("seed", "tape", "tape_length"))


def empty_state(t: Tables, n: int) -> State:
    """N rows as they are before the first card is drawn, but in phase OVER: nothing is dealt."""
    c = t.cards
    marks = np.full((n, len(MARKS)), -1, np.int16)
    marks[:, MARKS.index("phase")] = Phase.OVER
    marks[:, MARKS.index("librarian")] = t.start_librarian
    marks[:, MARKS.index("prestige")] = 0
    counts = np.zeros((n, len(COUNTS)), np.int32)
    counts[:, COUNTS.index("time")] = t.start_time  # R3
    counts[:, COUNTS.index("florins")] = t.start_florins
    counts[:, COUNTS.index("supply")] = t.cubes
    for name in ("pending_card", "display_first", "display_last"):
        counts[:, COUNTS.index(name)] = -1
    return State(
        marks=marks,
        counts=counts,
        score=np.full(n, t.start_florins // t.florins_per_vp, np.int32),
        filled=np.zeros((n, t.towers, t.types), np.int16),
        lacks=np.repeat(t.all_bits[None], n, axis=0),
        slots_filled=np.zeros((n, t.slots), np.bool_),
        next_slot=np.zeros((n, t.towers), np.int16),
        hand=np.full((n, t.hand_size), c, np.int16),
        places=np.full((n, c + 1), Place.DISCARD, np.int8),
        display=np.full((n, t.display_size), c, np.int16),
        display_len=np.zeros(n, np.int16),
        deck=np.full((n, t.hand_size + c), c, np.int16),
        shuffles=np.zeros(n, np.int32),
        seed=np.zeros(n, np.uint64),
        tape=np.zeros((n, 0, c), np.int16),
        tape_length=np.full(n, -1, np.int32),
    )
