"""What waiting in a sale can be worth, in florins; everything here can be compiled.

A *forced wait* is worth, to a player who knows the set S of cards left in the deck, and who pays
for each flip:

    J(S) = mean over y in S of max(y, J(S less y)) - wait(n),    J(nothing left) = beyond,

n being how many cards S has.

Prices are numbered 0..G-1 upwards; a set of n cards is the ascending list of their prices' numbers,
and its rank among all such lists is sum of C(list[i] + i, i + 1) (the combinatorial number system).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.chance import GAMMA, scramble
from incunabula.envs.compiled.functions import compiled, compiled_apart

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_GAMMA = np.uint64(GAMMA)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def choices(prices: int, most: int) -> Ints:
    """Binomial coefficients C(n, k), int64 (prices + most, most + 1)."""
    table = np.zeros((prices + most, most + 1), np.int64)
    table[:, 0] = 1
    for n in range(1, len(table)):
        table[n, 1:] = table[n - 1, 1:] + table[n - 1, :-1]
    return table


@compiled
def draw_below(base: np.uint64, number: np.int64, n: np.int64) -> int:
    """A number below ``n``, the ``number``-th of those that ``base`` names."""
    bits = scramble(base + _GAMMA * np.uint64(number)) >> _HALF
    return int((bits & _LOW) * np.uint64(n) >> _HALF)


@compiled
def rank_without(items: Any, n: int, left_out: int, choose: Any) -> int:
    """The rank of an ascending list of ``n`` but for its item ``left_out`` (-1: of all of it)."""
    rank, at = 0, 0
    for i in range(n):
        if i != left_out:
            rank += choose[items[i] + at, at + 1]
            at += 1
    return rank


@compiled_apart
def forced_waits(values: Floats, most: int, choose: Ints, wait: Floats, beyond: float) -> Any:
    """J of every set of up to ``most`` cards: float64 (cells,), and where each size begins.

    ``wait``: what a flip from n cards costs, (most+1,) by n.
    """
    prices = len(values)
    begins = np.zeros(most + 2, np.int64)
    for n in range(most + 1):
        begins[n + 1] = begins[n] + choose[prices + n - 1, n]
    table = np.zeros(begins[most + 1])
    table[0] = beyond
    items = np.zeros(most + 1, np.int64)
    for n in range(1, most + 1):
        items[:] = 0
        for cell in range(begins[n], begins[n + 1]):
            total = 0.0
            for i in range(n):
                after = table[begins[n - 1] + rank_without(items, n, i, choose)]
                total += max(values[items[i]], after)
            table[cell] = total / n - wait[n]
            i = 0  # the next list, in the order of ranks
            while i < n - 1 and items[i] == items[i + 1]:
                items[i] = 0
                i += 1
            items[i] += 1
    return table, begins


@compiled_apart
def mean_waits(
    column: Ints, left: int, known: int, inner: int, g: Any, out: Floats, base: np.uint64
) -> None:
    """Samples of a bound on J of ``left`` random cards of a column of prices' numbers.

    Each is the mean J of ``inner`` random sets of ``known`` of those cards, written to ``out``.
    ``g``: table, begins and choose as above, and counts (G,), overwritten.
    """
    cards, number = column.copy(), 0
    counts = g[3]
    for sample in range(len(out)):
        for i in range(left):
            j = i + draw_below(base, number, len(cards) - i)
            number += 1
            cards[i], cards[j] = cards[j], cards[i]
        total = 0.0
        for _ in range(inner):
            counts[:] = 0
            for i in range(known):
                j = i + draw_below(base, number, left - i)
                number += 1
                cards[i], cards[j] = cards[j], cards[i]
                counts[cards[i]] += 1
            rank, at = 0, 0
            for price in range(len(counts)):
                for _ in range(counts[price]):
                    rank += g[2][price + at, at + 1]
                    at += 1
            total += g[0][g[1][known] + rank]
        out[sample] = total / inner


@compiled_apart
def offer_means(
    worth: Floats, coin: Ints, left: int, removed: Ints, out: Floats, base: np.uint64
) -> None:
    """Samples of the mean offer of a sale before its first card is flipped.

    Of the cards of each coin so many are ``removed`` (Q,), ``left`` of the others are in the deck:
    at random as to their coins, and then at random among those cards of the coin that are dearest
    for so many cards of each coin (docs/optimal_bound.md, step 6). ``worth``: float64 (C, Q), what
    a card offers in each coin.
    """
    cards, coins = worth.shape
    there, of_coin = np.zeros(coins, np.int64), np.zeros((coins, cards), np.int64)
    for card in range(cards):
        of_coin[coin[card], there[coin[card]]] = card
        there[coin[card]] += 1
    kept, number = there - removed, 0
    have, rest = np.zeros(coins, np.int64), np.zeros(coins, np.int64)
    score, order = np.zeros(cards), np.zeros(cards, np.int64)
    for sample in range(len(out)):
        have[:] = 0
        rest[:] = kept
        pool = kept.sum()
        for _ in range(left):
            at, q = draw_below(base, number, pool), 0
            number += 1
            while at >= rest[q]:
                at -= rest[q]
                q += 1
            rest[q] -= 1
            have[q] += 1
            pool -= 1
        total = 0.0
        for own in range(coins):
            if have[own] == 0:
                continue
            for k in range(there[own]):
                card, sum_of = of_coin[own, k], 0.0
                for q in range(coins):
                    sum_of += worth[card, q] * (have[q] - (1 if q == own else 0))
                score[k], order[k] = sum_of, k
            for k in range(removed[own]):  # the cheapest to the front, one after the other
                low = k
                for j in range(k + 1, there[own]):
                    if score[order[j]] < score[order[low]]:
                        low = j
                order[k], order[low] = order[low], order[k]
            for k in range(removed[own], removed[own] + have[own]):
                j = k + draw_below(base, number, there[own] - k)
                number += 1
                order[k], order[j] = order[j], order[k]
                total += score[order[k]]
        out[sample] = total / (left * (left - 1))


@compiled_apart
def column_means(column: Floats, left: int, out: Floats, base: np.uint64) -> None:
    """Samples of the mean of ``left`` random cards of a column of prices."""
    cards, number = column.copy(), 0
    for sample in range(len(out)):
        total = 0.0
        for i in range(left):
            j = i + draw_below(base, number, len(cards) - i)
            number += 1
            cards[i], cards[j] = cards[j], cards[i]
            total += cards[i]
        out[sample] = total / left
