"""Information states as whole numbers.

An information state is what the player knows that still matters: the public state with the *set*
of cards in the draw deck. It is written as one number in mixed radix, the same for two states
exactly if they agree in all that is kept:

* ``full=False``: what the rest of the game can depend on. Left out are books, score, turn, the
  hire that waits for its payment (its cubes are placed, its card is on the discard pile), and of
  the price display all but its coin, its cards as a set and the price on offer. A ban is left out
  once nothing can be hired or lifted that still counts.
* ``full=True``: everything that an agent may see, for policies that look at more.

A turn that has ended, before its next cards are drawn, is a state of its own kind (DUE).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from incunabula.envs.bibliogamo.kernels import PHASE_HIRE, PHASE_OVER, PHASE_PAY
from incunabula.envs.bibliogamo.tables import Tables
from incunabula.envs.compiled.arrays import Arrays
from incunabula.envs.compiled.functions import compiled, compiled_once
from incunabula.envs.errors import IncunabulaError

DUE = PHASE_OVER  # the kind of a turn that has ended; others are phases, and none is OVER
KINDS = PHASE_OVER + 1
PLACES = 4  # of a card: see Place
ENDED, GOES_ON = np.bool_(True), np.bool_(False)  # of a turn, to ``encode``
MOST_BITS = 62  # of a code: an int64 that is not negative, and 0 means none


class Coding:
    """How the states of an edition are written.

    Args:
        tables: the edition.
        full: whether everything an agent may see is kept.

    Attributes:
        arrays: what ``encode`` takes.
        bits: bits that the largest code takes; it must be at most 62 (see ``check``).
    """

    def __init__(self, tables: Tables, full: bool = False) -> None:
        t = tables
        self.full = full
        most = t.start_florins + t.days * int(t.price.max(initial=0))  # one sale a day, R6
        if t.florin_cap >= 0:
            most = min(most, max(t.florin_cap, t.start_florins))  # R2
        c, coins = t.cards, t.coins
        # same_price[card, coin]: the first card of this price, which stands for it.
        same_price = np.array(
            [
                [int(np.argmax(t.price[:, q] == t.price[k, q])) for q in range(coins)]
                for k in range(c)
            ],
            np.int64,
        )
        sizes = {"times": t.days + 1, "florin_sizes": most + 1, "full": int(full)}
        radices = [KINDS, sizes["times"], t.spaces, sizes["florin_sizes"], t.collections]
        radices += [2] * t.slots + [PLACES] * c + (t.requires.reshape(-1) + 1).tolist()
        radices += [t.types + 1, t.hires_per_turn + 1, coins + 1, c + 1]
        if full:
            radices += [t.days + 1, t.days + 1, c + 1, t.towers + 1, c + 1]
        self.bits = sum(math.log2(radix) for radix in radices)
        self.arrays = Arrays(sizes | {"same_price": same_price})

    def check(self) -> None:
        """Raise IncunabulaError unless every code fits."""
        if self.bits > MOST_BITS:
            raise IncunabulaError(
                f"edition: too large to be solved: a state takes {self.bits:.0f} bits, and at most "
                f"{MOST_BITS} can be used; exact values are for editions of about 8 cards"
            )


@compiled
def settled(t: Any, s: Any, i: int, due: bool) -> bool:
    """Whether nothing can be scored any more: only sales score, and no turn is to come."""
    phase = s.phase[i]
    late = s.time[i] >= t.days and phase in (PHASE_HIRE, PHASE_PAY)
    return phase == PHASE_OVER or (late and not due)


@compiled_once
def encode(t: Any, c: Any, s: Any, i: int, due: bool) -> int:
    """The code of row ``i``, above 0; ``due``: its turn has ended."""
    phase, code = int(s.phase[i]), DUE
    if not due:
        code = phase
    code = code * c.times + int(s.time[i])
    code = code * t.spaces + int(s.librarian[i])
    code = code * c.florin_sizes + int(s.florins[i])
    code = code * t.collections + int(s.prestige[i])
    for j in range(t.slots):
        code = code * 2 + int(s.slots_filled[i, j])
    for card in range(t.cards):
        code = code * PLACES + int(s.place[i, card])
    for tower in range(t.towers):
        for k in range(t.types):
            code = code * (int(t.requires[tower, k]) + 1) + int(s.filled[i, tower, k])
    return beside(t, c, s, i, due, code)


@compiled
def beside(t: Any, c: Any, s: Any, i: int, due: bool, code: int) -> int:
    """``code`` with what matters for this turn alone, and with the rest of a full code."""
    banned, hires = int(s.banned[i]) + 1, int(s.hires_left[i])
    coin, last = int(s.display_coin[i]), int(s.display_last[i])
    if due:
        banned = hires = 0
    if c.full == 0:
        if s.time[i] >= t.days or (s.phase[i] == PHASE_PAY and hires == 0):
            banned = 0
        if last >= 0:
            last = int(c.same_price[last, coin])
    code = code * (t.types + 1) + banned
    code = code * (t.hires_per_turn + 1) + hires
    code = code * (t.coins + 1) + coin + 1
    code = code * (t.cards + 1) + last + 1
    if c.full != 0:
        code = code * c.times + int(s.turn[i])
        code = code * c.times + int(s.books[i])
        code = code * (t.cards + 1) + int(s.pending_card[i]) + 1
        code = code * (t.towers + 1) + int(s.pending_tower[i]) + 1
        code = code * (t.cards + 1) + int(s.display_first[i]) + 1
    return code + 1
