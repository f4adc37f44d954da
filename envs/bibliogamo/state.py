"""The state of a batch of games: arrays with a leading batch axis, each with its meaning beside it.

Sizes are the edition's: C cards, T towers, K artisan types, H cards in hand, L prestige slots,
D cards in a price display; N is the batch.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.envs.bibliogamo.tables import Tables

Rows = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
Int8Array = npt.NDArray[np.int8]
Int16Array = npt.NDArray[np.int16]
Int32Array = npt.NDArray[np.int32]
UInt64Array = npt.NDArray[np.uint64]


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


class PublicState(NamedTuple):
    """What the player knows: everything but the order of the draw deck (and what shuffles it)."""

    phase: Int8Array  # (N,) a Phase
    time: Int16Array  # (N,) days on the time track
    turn: Int16Array  # (N,) 1-based
    librarian: Int16Array  # (N,) space
    florins: Int32Array  # (N,)
    books: Int16Array  # (N,) books sold
    score: Int32Array  # (N,) score if the game ended now
    supply: Int16Array  # (N,) cubes not in a tower
    filled: Int16Array  # (N, T, K) artisans in each tower
    banned: Int8Array  # (N,) banned type, -1 if none (or lifted)
    hires_left: Int16Array  # (N,)
    pending_card: Int16Array  # (N,) card hired and not yet paid for, -1 if none
    pending_tower: Int8Array  # (N,) its tower, -1 if none
    prestige: Int16Array  # (N,) the collection in play
    slots_filled: BoolArray  # (N, L)
    hand: Int16Array  # (N, H) card ids ascending, C in the empty slots at the end
    place: Int8Array  # (N, C) a Place for each card
    deck_left: Int16Array  # (N,) cards in the draw deck
    display: Int16Array  # (N, D) price display in flip order, C beyond its end
    display_len: Int16Array  # (N,)

    def take(self, rows: Rows) -> PublicState:
        """A copy of these rows."""
        return PublicState._make(array[rows] for array in self)


@dataclass
class State:
    """Whole state of N games: the fields of PublicState, and what the player doesn't know."""

    phase: Int8Array
    time: Int16Array
    turn: Int16Array
    librarian: Int16Array
    florins: Int32Array
    books: Int16Array
    score: Int32Array
    supply: Int16Array
    filled: Int16Array
    banned: Int8Array
    hires_left: Int16Array
    pending_card: Int16Array
    pending_tower: Int8Array
    prestige: Int16Array
    slots_filled: BoolArray
    hand: Int16Array
    place: Int8Array
    deck_left: Int16Array
    display: Int16Array
    display_len: Int16Array
    # Hidden
    deck: Int16Array  # (N, C) draw deck; its top card is deck[i, deck_left[i] - 1]
    shuffles: Int32Array  # (N,) number of the next shuffle
    seed: UInt64Array  # (N,) game seed
    tape: Int16Array  # (N, R, C) recorded shuffle orders; R = 0 while no row has a tape
    tape_length: Int32Array  # (N,) recorded orders of the row, -1 = drawn from the seed

    @property
    def rows(self) -> int:
        return len(self.phase)

    def public(self) -> PublicState:
        """The public arrays (shared, not copied)."""
        return PublicState._make(getattr(self, name) for name in PublicState._fields)

    def take(self, rows: Rows) -> State:
        """A copy of these rows."""
        return State(*(getattr(self, f.name)[rows] for f in fields(self)))

    def copy(self) -> State:
        return State(*(getattr(self, f.name).copy() for f in fields(self)))

    def put(self, rows: Rows, other: State) -> None:
        """Overwrite these rows with ``other``, row for row."""
        self.fit_tapes(other.tape.shape[1])
        for f in fields(self):
            target, source = getattr(self, f.name), getattr(other, f.name)
            if f.name == "tape":
                target[rows, : source.shape[1]] = source
            else:
                target[rows] = source

    def fit_tapes(self, orders: int) -> None:
        """Make room for tapes of this many orders."""
        n, have, c = self.tape.shape
        if orders > have:
            grown = np.zeros((n, orders, c), np.int16)
            grown[:, :have] = self.tape
            self.tape = grown

    def equal(self, other: State) -> bool:
        """Whether two states agree in every game-relevant field (unused cells don't count)."""
        used = np.arange(self.deck.shape[1]) < self.deck_left[:, None]
        return all(
            np.array_equal(getattr(self, f.name), getattr(other, f.name))
            for f in fields(self)
            if f.name not in ("deck", "tape")
        ) and np.array_equal(self.deck[used], other.deck[used])


def empty_state(tables: Tables, n: int) -> State:
    """N rows in which no game has been dealt: phase OVER, every array allocated."""
    c = tables.cards
    return State(
        phase=np.full(n, Phase.OVER, np.int8),
        time=np.zeros(n, np.int16),
        turn=np.zeros(n, np.int16),
        librarian=np.zeros(n, np.int16),
        florins=np.zeros(n, np.int32),
        books=np.zeros(n, np.int16),
        score=np.zeros(n, np.int32),
        supply=np.full(n, tables.cubes, np.int16),
        filled=np.zeros((n, tables.towers, tables.types), np.int16),
        banned=np.full(n, -1, np.int8),
        hires_left=np.zeros(n, np.int16),
        pending_card=np.full(n, -1, np.int16),
        pending_tower=np.full(n, -1, np.int8),
        prestige=np.zeros(n, np.int16),
        slots_filled=np.zeros((n, tables.slots), np.bool_),
        hand=np.full((n, tables.hand_size), c, np.int16),
        place=np.full((n, c), Place.DECK, np.int8),
        deck_left=np.zeros(n, np.int16),
        display=np.full((n, tables.display_size), c, np.int16),
        display_len=np.zeros(n, np.int16),
        deck=np.zeros((n, c), np.int16),
        shuffles=np.zeros(n, np.int32),
        seed=np.zeros(n, np.uint64),
        tape=np.zeros((n, 0, c), np.int16),
        tape_length=np.full(n, -1, np.int32),
    )
