"""The books programme: how much cubes, sales, waits and shuffles can come to, at given credits.

A relaxed game, solved exactly by backward induction (docs/optimal_bound.md, "The books programme").
Its state is the day, the draw deck and the hand, where cards of one *size* (the most cubes a hire
with the card can place) are alike. The next card is uniform on the deck. Everything is worth VP:

    a book                      book, for every ``cubes`` cubes that hires have placed
    a sale at r cards in deck   sale[r]
    a day waited in a sale      wait[cards on display]; wait[2] once a wait has shuffled the deck
    a shuffle                   shuffle[cards held, in hand or on display]; where a wait makes it
                                necessary, late[cards in hand, cards on display]

Left out are types, bans, towers, the librarian, and whether there is a book to be sold. Arrays are
(G, H, D): cubes placed since the last book, H hands and D decks, either being how many cards of
each of the K sizes it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
SHOWN = 20  # cards on display that are told apart; a wait beyond is worth nothing by itself
NEVER = -1e15  # VP of what the rules forbid


class Credits(NamedTuple):
    """What the programme pays, in VP; N cards in all, hands of at most H."""

    book: float
    sale: Floats  # (N+1,) at each number of cards in the deck
    wait: Floats  # (SHOWN+1,) at cards on display
    shuffle: Floats  # (N+1,) at each number of cards held
    late: Floats  # (H+1, SHOWN+1) at cards in hand, on display; the last column: or more


class Books:
    """The programme of an edition's numbers.

    Args:
        sizes: cubes that a card of each size places at most, (K,).
        cards: how many cards there are of each, (K,).
        cubes: what a book takes.
        hand_size, hires, lifts: of the rules, the latter two a turn.
        days: days to be played.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        cards: Sequence[int],
        *,
        cubes: int,
        hand_size: int,
        hires: int,
        lifts: int,
        days: int,
    ) -> None:
        self.sizes, self.cards = tuple(sizes), np.array(cards, np.int64)
        self.cubes, self.hires, self.lifts, self.days = cubes, hires, lifts, days
        self.hand_size = min(hand_size, int(self.cards.sum()))
        self.strides = np.cumprod([1, *(self.cards[:0:-1] + 1)])[::-1]
        self.deck = _all_up_to(self.cards)
        self.deck_total = self.deck.sum(axis=1)
        hands = _all_up_to(np.minimum(self.cards, self.hand_size))
        self.hand = hands[hands.sum(axis=1) <= self.hand_size]
        self.hand_total = self.hand.sum(axis=1)
        index = {tuple(hand): at for at, hand in enumerate(self.hand.tolist())}
        step = np.eye(len(self.sizes), dtype=np.int64)
        # (H, K) the hand with a card more of the size, with a card less; -1: there is none.
        self.plus, self.less = (
            np.array(
                [[index.get(tuple(hand + one), -1) for one in sign * step] for hand in self.hand]
            )
            for sign in (1, -1)
        )
        # What a shuffle gives with this hand: all the rest, (H,).
        rest = self.cards - self.hand
        self.rest, self.loose = rest @ self.strides, rest.sum(axis=1)
        self.valid = (self.deck[None] <= rest[:, None]).all(axis=2)
        self.rows = np.arange(len(self.hand))
        # Displays of each size that may lie beside a hand with cards left to be shuffled.
        fits = [self.deck_total == shown for shown in range(SHOWN)] + [self.deck_total >= SHOWN]
        self.displays = [self._displays(fit) for fit in fits]
        # The chance that the next card of a deck is of each size, (K, D).
        self.chance = self.deck.T / np.maximum(self.deck_total, 1)

    def _displays(self, fit: Bools) -> tuple[Ints, Ints, Ints]:
        """Hands beside which a display that fits may lie, cards being left to be shuffled; what a
        shuffle then makes of each pair, as places in an array (H, D); where each hand's begin."""
        hands: list[int] = []
        begins: list[int] = []
        at: list[int] = []
        for hand in self.rows:
            shown = np.flatnonzero(fit & self.valid[hand] & (self.deck_total < self.loose[hand]))
            if len(shown):
                hands.append(int(hand))
                begins.append(len(at))
                at += (hand * len(self.deck) + self.rest[hand] - shown).tolist()
        return np.array(hands, np.int64), np.array(at, np.int64), np.array(begins, np.int64)

    @property
    def states(self) -> int:
        """States of each day."""
        return int(self.valid.sum()) * self.cubes

    def value(self, credits: Credits) -> float:
        """The most that can be had from the first draw on, on average."""
        display: list[Floats] | None = None
        crossed: Floats | None = None
        shape = (self.cubes, *self.valid.shape)
        turn = np.zeros(shape)
        for left in range(self.days):  # days after this one
            ended = self._drawn(turn, credits) if left else np.zeros(shape)
            # Whom the last day hires comes too late for its sale.
            sold = self._hired(ended, credits.book) if left else ended
            display, crossed = self._waited(sold, display, crossed, credits)
            turn = self._flipped(np.maximum(sold, self._sold(display[2], credits)), credits)
        return float(self._drawn(turn, credits)[0, 0, -1])

    def _mean(self, after: Floats) -> Floats:
        """The mean of ``after`` over the next card of a deck; 0 for an empty one."""
        found = np.zeros(after.shape)
        for chance, stride in zip(self.chance, self.strides, strict=True):
            found[..., stride:] += chance[stride:] * after[..., :-stride]
        return found

    def _mean_at(self, after: Floats, at: Ints) -> Floats:
        """The same for one deck beside each hand, ``at`` (H,)."""
        found = np.zeros(after.shape[:2])
        for size, stride in enumerate(self.strides):
            n = self.deck[at, size]
            found += n * after[:, self.rows, np.maximum(at - stride, 0)]
        return found / np.maximum(self.deck_total[at], 1)

    def _flipped(self, after: Floats, credits: Credits) -> Floats:
        """Before a card is flipped (step 2); nothing is flipped if there is none (R10)."""
        found = self._mean(after)
        fresh = self._mean_at(after, self.rest) + credits.shuffle[self.hand_total]
        found[..., 0] = np.where(self.loose > 0, fresh, after[..., 0])
        return found

    def _drawn(self, turn: Floats, credits: Credits) -> Floats:
        """Before the hand is filled (step 5)."""
        found = np.where((self.hand_total == self.hand_size)[:, None], turn, 0.0)
        for hand in sorted(self.rows, key=lambda hand: -self.hand_total[hand]):
            if (held := self.hand_total[hand]) == self.hand_size:
                continue
            row = np.zeros((self.cubes, found.shape[2]))
            for size, stride in enumerate(self.strides):
                if self.plus[hand, size] >= 0:
                    after = found[:, self.plus[hand, size]]
                    row[:, stride:] += self.deck[stride:, size] * after[:, :-stride]
            row /= np.maximum(self.deck_total, 1)
            if self.loose[hand] > 0:
                row[:, 0] = row[:, self.rest[hand]] + credits.shuffle[held]
            else:
                row[:, 0] = turn[:, hand, 0]  # R10: a draw stops
            found[:, hand] = row
        return found

    def _hired(self, ended: Floats, book: float) -> Floats:
        """Before the lift and the hires (step 4c), each card lost to a lift or a payment."""
        best, sizes = ended, range(len(self.sizes))
        for _ in range(self.hires):
            more = best.copy()
            for hired in sizes:
                placed = self._placed(best, self.sizes[hired], book)
                for paid in sizes:
                    self._spend(more, placed, (hired, paid))
            best = more
        if self.lifts:
            more = best.copy()
            for lifted in sizes:
                self._spend(more, best, (lifted,))
            best = more
        return best

    def _placed(self, after: Floats, size: int, book: float) -> Floats:
        """Before ``size`` cubes are placed."""
        total = np.arange(self.cubes) + size
        gain = np.multiply(total // self.cubes, book, dtype=np.float64)
        return after[total % self.cubes] + gain[:, None, None]

    def _spend(self, more: Floats, after: Floats, cards: tuple[int, ...]) -> None:
        """Give every hand that holds cards of these sizes the choice of losing them."""
        for hand in self.rows:
            left = int(hand)
            for size in cards:
                left = int(self.less[left, size]) if left >= 0 else -1
            if left >= 0:
                np.maximum(more[:, hand], after[:, left], out=more[:, hand])

    def _sold(self, offered: Floats, credits: Credits) -> Floats:
        """Before the two flips of a sale (step 4b); ``offered``: with two cards on display."""
        once = self._mean(offered)
        twice = self._mean(once)
        can = self.loose >= 2
        # R10: a shuffle may fall before the two flips, or between them.
        fresh = self._mean_at(once, self.rest) + credits.shuffle[self.hand_total]
        twice[..., 0] = np.where(can, fresh, NEVER)
        bonus = credits.shuffle[np.minimum(self.hand_total + 1, len(credits.shuffle) - 1)]
        for stride in self.strides:
            ok = can & self.valid[:, stride]
            fresh = self._mean_at(offered, np.where(ok, self.rest - stride, 0)) + bonus
            twice[..., stride] = np.where(ok, fresh, NEVER)
        return twice + credits.sale[self.deck_total]

    def _waited(
        self,
        sold: Floats,
        tomorrow: list[Floats] | None,
        crossed: Floats | None,
        credits: Credits,
    ) -> tuple[list[Floats], Floats]:
        """With an offer on the table: accept, or wait a day. A list by cards on display, and what
        it comes to in a sale for which the deck has been shuffled already: all other cards being in
        hand or on display, there is no second time."""
        if tomorrow is None or crossed is None:  # the last day: no wait
            return [sold] * (SHOWN + 1), sold
        display = [sold, sold]
        later = self._mean(crossed)
        for shown in range(2, SHOWN + 1):
            waited = self._mean(tomorrow[min(shown + 1, SHOWN)]) + credits.wait[shown]
            waited[..., 0] = self._crossed(later, shown, credits)
            display.append(np.maximum(sold, waited))
        later[..., 0] = NEVER
        return display, np.maximum(sold, later + credits.wait[2])

    def _crossed(self, mean: Floats, shown: int, credits: Credits) -> Floats:
        """A wait for which the deck must be shuffled first, (G, H): whatever cards are on display,
        the best for the player; NEVER where none are left to flip (R10). ``mean``: what follows the
        flip from each deck."""
        found = np.full(mean.shape[:2], NEVER)
        hands, at, begins = self.displays[shown]
        if len(hands):
            after = mean.reshape(len(mean), -1)[:, at]
            found[:, hands] = np.maximum.reduceat(after, begins, axis=1)
        return found + credits.late[self.hand_total, shown] + credits.wait[2]


def _all_up_to(limits: Ints) -> Ints:
    """Every way of holding at most so many cards of each size, (n, K), the last size first."""
    return np.array(list(product(*(range(n + 1) for n in limits))), np.int64)
