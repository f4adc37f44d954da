"""What no line of a deal can score, whatever the order of its cards and whoever plays.

The bound holds for every game of an edition with a given prestige collection, pathwise, and so for
play that knows the deal. The proof is in ``docs/optimal_hindsight.md``, by the names used here.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.envs.bibliogamo.deals import checked_prestige
from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.bibliogamo.tables import Tables, build_tables


class PathwiseBound(NamedTuple):
    """An upper bound on every score, and what it is made of.

    Attributes:
        value: VP; no game scores more.
        turns: the number of turns that allows the most.
        books: books sold at most in so many turns.
        florins: florins held at the end at most.
        prestige: VP of slots and completion bonus at most.
    """

    value: int
    turns: int
    books: int
    florins: int
    prestige: int


def pathwise_bound(edition: Edition, prestige: int) -> PathwiseBound:
    """The largest score of any game with this prestige collection.

    Raises:
        IncunabulaError: there is no such collection.
    """
    t = build_tables(edition)
    prestige = checked_prestige(t, prestige)
    days = t.days - t.start_time
    return max(_with_turns(t, prestige, turns) for turns in range(1, days + 1))


def _with_turns(t: Tables, prestige: int, turns: int) -> PathwiseBound:
    """The bound for games of so many turns; the days left over are waited."""
    decks = decks_drawn_from(t, turns)
    books = _most_books(t, turns, decks)
    offers = np.repeat(np.sort(_best_offers(t))[::-1], min(decks, turns))
    florins = t.start_florins + int(offers[:books].sum())
    if t.florin_cap >= 0:  # R2
        florins = min(florins, max(t.start_florins, t.florin_cap))
    points = most_prestige(t, prestige, books)
    value = books * t.vp_per_book + florins // t.florins_per_vp + points
    return PathwiseBound(value, turns, books, florins, points)


def decks_drawn_from(t: Tables, turns: int) -> int:
    """Decks that cards can come from in so many turns, the first one included."""
    waits = t.days - t.start_time - turns
    refill = min(t.hand_size, 2 * t.hires_per_turn + t.lifts_per_turn)
    drawn = t.hand_size + turns + (turns - 1) * (refill + 2) + waits
    # A shuffle leaves out the hand, and the display: a card, and one more for each day waited.
    smallest = max(t.cards - t.hand_size - 1 - waits, 1)
    if drawn <= t.cards:
        return 1
    return 1 + -(-(drawn - t.cards) // smallest)


def _most_books(t: Tables, turns: int, decks: int) -> int:
    """Books that the hires before the last turn fill; one sale a turn from the second on (R6)."""
    hires = (turns - 1) * min(t.hires_per_turn, t.hand_size // 2)
    shares = sorted(_best_shares(t), reverse=True)
    filled, most = Fraction(0), min(decks, turns - 1)
    for share in shares:
        plays = min(most, hires)
        filled += plays * share
        hires -= plays
    return min(turns - 1, int(filled))


def _best_shares(t: Tables) -> list[Fraction]:
    """For each card the largest share of a tower's cubes that it can place."""
    required = [int(need) for need in t.requires.sum(axis=1)]
    placed = np.minimum(t.artisans[:-1, None, :], t.requires[None]).sum(axis=2)  # (C, T)
    on_board = sorted(set(t.board.tolist()))
    return [
        max(Fraction(min(int(row[tower]), t.cubes), required[tower]) for tower in on_board)
        for row in placed
    ]


def _best_offers(t: Tables) -> npt.NDArray[np.int64]:
    """For each card the most it can offer in a coin that another card calls for; int64 (C,)."""
    calls = np.zeros((t.cards, t.coins), np.bool_)
    own = t.coin[:-1]
    calls[:, own] = True
    alone = np.bincount(own, minlength=t.coins) == 1
    calls[np.arange(t.cards), own] &= ~alone[own]
    return np.where(calls, t.price[:-1], 0).max(axis=1).astype(np.int64)


def most_prestige(t: Tables, prestige: int, books: int) -> int:
    """VP that so many books can bring by slots and bonus of a collection."""
    slots = int(t.slot_count[prestige])
    points = sorted(t.slot_vp[prestige, :slots].tolist(), reverse=True)
    return sum(points[:books]) + (int(t.bonus[prestige]) if books >= slots else 0)
