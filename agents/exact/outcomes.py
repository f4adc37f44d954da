"""What chance can bring: the cards that may be drawn next, one outcome after the other.

The next card is uniform on the set of cards in the draw deck and, once that is empty, on the
discard pile ("Empty deck"). Cards drawn to the hand are drawn as a set, since a hand has no order;
cards that are flipped, in their order. All outcomes of one chance are equally likely: whatever was
drawn before, there is the same number of cards to draw from.

The rules' own kernels do the drawing. ``lay_outcome`` only puts the cards of an outcome on top of
the deck; where the deck is too short it lays the discard pile under it beforehand, which is the
deck that a shuffle in the middle of the draws would come to.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.bibliogamo.kernels import IN_DECK, IN_DISCARD, SELL, held
from incunabula.envs.compiled.functions import compiled, compiled_apart, compiled_once

# NumPy's numbers: numba compiles a function once more for every plain number it is called with.
NEXT_TURN = np.int64(-1)  # instead of the action whose outcomes these are
ONLY = np.int64(0)  # the outcome where nothing is drawn


def binomials(cards: int) -> npt.NDArray[np.int64]:
    """Ways to choose k of n cards, int64 (cards + 1, cards + 1); the largest int64 where that is
    not enough."""
    most = np.iinfo(np.int64).max
    table = [[min(comb(n, k), most) for k in range(cards + 1)] for n in range(cards + 1)]
    return np.array(table, np.int64)


@compiled
def to_hand(t: Any, s: Any, i: int, action: int) -> int:
    """Cards that are drawn to the hand first: step 5, before a next turn."""
    return t.hand_size - held(t, s, i) if action == NEXT_TURN else 0


@compiled
def flips(action: int) -> int:
    """Cards flipped then: two by SELL, one by WAIT or in step 2."""
    return 2 if action == SELL else 1


@compiled_once
def count_outcomes(t: Any, choose: Any, s: Any, i: int, action: int) -> int:
    """How many outcomes there are when row ``i`` draws for its NEXT_TURN, or for what an ``action``
    of this kind, SELL or WAIT, flips. ``choose``: ``binomials``."""
    deck, pile = int(s.deck_left[i]), 0
    for card in range(t.cards):
        if s.place[i, card] == IN_DISCARD:
            pile += 1
    hand = min(to_hand(t, s, i, action), deck + pile)
    if hand > deck:
        ways, left, pile = int(choose[pile, hand - deck]), pile - (hand - deck), 0
    else:
        ways, left = int(choose[deck, hand]), deck - hand
    for _ in range(flips(action)):
        if left == 0:
            left, pile = pile, 0
        if left == 0:  # R10: no card anywhere
            break
        ways *= left
        left -= 1
    return ways


@compiled_apart
def lay_outcome(t: Any, choose: Any, s: Any, i: int, action: int, k: int, work: Any) -> None:
    """Lay the deck of row ``i`` so that outcome ``k`` of ``count_outcomes`` is drawn next.

    ``work``: int64 (3, C), overwritten: the deck, the discard pile, and the new deck from its top.
    """
    deck = pile = 0
    for card in range(t.cards):
        if s.place[i, card] == IN_DECK:
            work[0, deck] = card
            deck += 1
        elif s.place[i, card] == IN_DISCARD:
            work[1, pile] = card
            pile += 1
    source, left, laid = 0, deck, 0  # what is being drawn from, and how much is drawn
    hand = min(to_hand(t, s, i, action), deck + pile)
    if hand > deck:
        laid, source, left = deck, 1, pile
        for j in range(deck):
            work[2, j] = work[0, j]
        hand -= deck
    ways = int(choose[left, hand])
    k, rank = k // ways, k % ways
    left = take_set(choose, work, source, left, laid, hand, rank)
    laid += hand
    for _ in range(flips(action)):
        if left == 0 and source == 0:
            source, left = 1, pile
        if left == 0:
            break
        k, j = k // left, k % left
        left -= 1
        work[2, laid] = work[source, j]
        work[source, j] = work[source, left]
        laid += 1
    for j in range(left):
        work[2, laid] = work[source, j]
        laid += 1
    for j in range(laid):
        s.deck[i, t.hand_size + laid - 1 - j] = work[2, j]
        s.place[i, work[2, j]] = IN_DECK
    s.deck_left[i] = laid


@compiled
def take_set(
    choose: Any, work: Any, source: int, cards: int, laid: int, hand: int, rank: int
) -> int:
    """Take the set of ``hand`` cards numbered ``rank`` from the ``cards`` of a source, in the
    lexicographic order of sets; how many are left, closed up."""
    left = 0
    for j in range(cards):
        with_it = 0
        if hand > 0:
            with_it = int(choose[cards - 1 - j, hand - 1])
        if rank < with_it:
            work[2, laid] = work[source, j]
            laid += 1
            hand -= 1
        else:
            rank -= with_it
            work[source, left] = work[source, j]
            left += 1
    return left
