"""The sale side of the bound: what a sale is credited with, and what that may fall short by.

All in florins. See docs/optimal_bound.md, steps 4 to 8, whose names are used: a *level* is how many
cards are in the deck before a sale, a *block* is a run of levels of which a deck sees one sale at
most, with its c and a; M is the mean offer, J what a wait is worth; e cards are held at a shuffle.
N cards, Q coins, hands of H.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.bounds.books import SHOWN
from incunabula.agents.bounds.waits import (
    choices,
    column_means,
    forced_waits,
    mean_waits,
    offer_means,
)
from incunabula.envs.bibliogamo.tables import Tables
from incunabula.envs.chance import key

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Table = tuple[Floats, Ints, Floats]  # J of every set, where each size begins, flips' charges

SPACING = 3  # cards from one sale's level to the next at least: two flips, and step 2
ALONE = 14  # the sales at each level below this are judged apart
KNOWN = 12  # most cards that a judge of waits knows exactly
CELLS = 700_000  # of a table of J
PRICES = 12  # different prices told apart; if there are more, some are rounded up
INNER = 20  # sets of KNOWN cards over which a set's J is averaged
FULL, LATER = 3, 0.5  # waits of a sale that are charged in full, and the share of the others
LATE = 0.5  # days that are charged for a late shuffle
EXACT = 4  # cards on display up to which a shuffle is judged as any other
VECTORS = 280  # ways of removing cards by coin that are looked at one by one
STEPS = (1, 3, 6, 10, 16, 24)  # more of them that are told apart
ROUGH = 8  # how much smaller samples for what matters little are
# What a wait is charged with, in days, by how many cards are on display; none is charged that is
# beyond what a judge of waits knows exactly.
DAYS = np.select(
    [np.arange(SHOWN + 1) < FULL + 2, np.arange(SHOWN + 1) < KNOWN + 2], [1.0, LATER], 0.0
)
DRAWS = 10_000  # that a task may make
DOUBT = 1e-7  # chance that one estimate's upper limit is too low
PILOT = 2000
# Of decks that see a sale in a block, by the highest lowest level: what c and a are chosen for.
SHARES = ((10, 0.45), (13, 0.3), (25, 0.2), (1 << 30, 0.05))
TRIED = (0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9)  # shares of J's distribution below the c tried
KNOWN_COIN = -1.0


class Block(NamedTuple):
    """Levels low..high."""

    low: int
    high: int
    c: float  # an offer counts as this at least; KNOWN_COIN: waits are part of M
    a: float  # what a sale is credited with


class Sides(NamedTuple):
    """What the books programme needs to know of sales; florins."""

    blocks: list[Block]
    sale: Floats  # (N+1,) credit of a sale at each level
    offers: Floats  # (N+1,) by e: what M can exceed the credits by, while one deck lasts
    waits: Floats  # (N+1,) by e: what J can exceed c by
    late: Floats  # (SHOWN+1,) by cards on display: charged for a wait that needs a shuffle
    estimates: int  # how many upper limits all that rests on


class Task(NamedTuple):
    """An estimate to be made: what M, or else J, can exceed its credit by in a block."""

    number: int  # of the task; names its draws
    block: Block
    held: int
    size: int
    offers: bool


class Estimate(NamedTuple):
    """What a task comes to, florins, and how many upper limits that rests on."""

    value: float
    limits: int


class Sample(NamedTuple):
    """How much is drawn for an estimate, and from which seed."""

    size: int
    seed: int
    certain: bool = True  # False: means instead of their upper limits, to choose by


def upper_limit(values: Floats, most: float) -> float:
    """What the mean of independent values in [0, most] exceeds with a chance of DOUBT at most.

    Were the mean m, a gambler who stakes a fixed share on each value being less than m would see
    his capital, the product of 1 + stake * (m - value), grow by 1 / DOUBT with that chance at most
    (Ville; Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting",
    JRSS B 86, 2024). The first tenth of the values sets the stake, the others are bet on.
    """
    n = len(values)
    if n < 20 or most <= 0:
        return max(most, 0.0)
    told, bet = values[: n // 10], values[n // 10 :]
    log = math.log(1 / DOUBT)
    spread = float(told.var()) + most**2 / n
    stake = min(math.sqrt(2 * log / (len(bet) * spread)), 0.9 / most)
    low, high = float(bet.mean()), most
    if float(np.log1p(stake * (most - bet)).sum()) < log:
        return most
    for _ in range(40):
        middle = (low + high) / 2
        if float(np.log1p(stake * (middle - bet)).sum()) < log:
            low = middle
        else:
            high = middle
    return high


class Prices:
    """The prices of an edition in the form the estimates need."""

    def __init__(self, tables: Tables) -> None:
        self.worth = tables.price[:-1].astype(np.float64)
        self.coin = tables.coin[:-1].astype(np.int64)
        self.cards, self.coins = self.worth.shape
        self.hand = min(tables.hand_size, self.cards)
        self.of_coin = np.bincount(self.coin, minlength=self.coins)
        self.top = float(self.worth.max())
        values = np.unique(self.worth)
        if len(values) > PRICES:
            values = values[np.linspace(0, len(values) - 1, PRICES + 1).round().astype(int)[1:]]
        self.values = np.unique(values)
        number = np.searchsorted(self.values, self.worth)  # rounds up
        self.columns = np.sort(number.T, axis=1).astype(np.int64)
        self.known = min(KNOWN, self.cards)
        while self.known > 1 and math.comb(len(self.values) + self.known, self.known) > CELLS:
            self.known -= 1
        self.choose = choices(len(self.values), self.known)

    def dearest(self, removed: int) -> Ints:
        """The prices' numbers in each coin but the ``removed`` cheapest, (Q, N - removed)."""
        return self.columns[:, removed:]

    def vectors(self, removed: int) -> list[Ints]:
        """Every way of removing so many cards by coin; none if there are too many ways."""
        if math.prod(min(removed, int(n)) + 1 for n in self.of_coin[:-1]) > 50 * VECTORS:
            return []
        ways = product(*(range(min(removed, int(n)) + 1) for n in self.of_coin[:-1]))
        every = [np.array([*way, removed - sum(way)], np.int64) for way in ways]
        found = [way for way in every if 0 <= way[-1] <= self.of_coin[-1]]
        return found if len(found) <= VECTORS else []


class Judge:
    """Estimates at one cost of a day, ``wait``; every one is an upper limit."""

    def __init__(self, prices: Prices, wait: float, sample: Sample) -> None:
        # The first wait costs most, and no table of J is looked at beyond what it was made for.
        assert FULL >= 1
        assert KNOWN + 2 <= ALONE <= SHOWN + 1
        self.p, self.wait, self.sample = prices, wait, sample
        self.charged = wait * DAYS
        shown = np.arange(SHOWN + 1)
        self.late = np.where(shown > EXACT, wait * LATE, 0.0)
        self._estimates = self.limits = 0
        # What no price exceeds, with what was charged for a late shuffle.
        most = prices.top + float(self.late.max())
        # J of a set of cards whose first flip is a sale's first wait, or its first offer.
        known = prices.known
        self.deep = [self._table(known, self._flips(known, shown), most) for shown in (2, 1)]
        self.small: dict[int, Table] = {}
        for level in range(2, min(ALONE, prices.cards + 1, known + 2)):
            # Once a level's cards are used up, a new deck is begun.
            beyond = self.fresh(min(prices.hand + level, prices.cards)) + float(self.late[level])
            self.small[level] = self._table(level - 1, self._flips(level - 1, 1), beyond)

    def _table(self, known: int, charges: Floats, beyond: float) -> Table:
        return (*forced_waits(self.p.values, known, self.p.choose, charges, beyond), charges)

    def _flips(self, known: int, shown: int) -> Floats:
        """What a flip is charged with by how many cards are left, the first of ``known`` being made
        with so many on display; that of the first offer is charged as a wait."""
        on_display = np.clip(known - np.arange(known + 1) + shown, 2, SHOWN)
        return self.charged[on_display]

    def table(self, level: int, *, coin: bool) -> Table:
        """What is used for J at a level, from the first wait, or from the first offer."""
        return self.small[level] if level in self.small else self.deep[coin]

    def _base(self) -> np.uint64:
        self._estimates += 1
        return np.uint64(key(self.sample.seed, self._estimates, 0))

    def offers(self, level: int, c: float, removed: Ints, size: int) -> Floats:
        """Samples of M where cards have been removed, by coin."""
        out = np.zeros(size)
        worth = np.maximum(self.p.worth, c)
        offer_means(worth, self.p.coin, level, removed, out, self._base())
        return out

    def waits(self, left: int, removed: int, table: Table, size: int, inner: int) -> Floats:
        """Samples of a bound on J, (Q, size), of ``left`` cards after a sale's first two."""
        known = min(left, len(table[1]) - 2)
        out = np.zeros((self.p.coins, size))
        g = (*table[:2], self.p.choose, np.zeros(len(self.p.values), np.int64))
        for q, column in enumerate(self.p.dearest(removed)):
            mean_waits(column, left, known, inner if left > known else 1, g, out[q], self._base())
        return out

    def offers_over(self, block: Block, held: int, size: int) -> float:
        """E (M - a)+ at the block's lowest level, after a shuffle with so many cards held."""
        dearest = np.maximum(self.p.values[self.p.dearest(held)], block.c)
        # M is a mean over coins of means of low - 1 cards' prices in one coin.
        highest = float(dearest[:, -(block.low - 1) :].mean(axis=1).max())
        most = max(highest - block.a, 0.0)
        vectors = self.p.vectors(held)
        found = [self.offers(block.low, block.c, vector, size) for vector in vectors]
        for column in dearest[:, 1:] if not found else ():
            out = np.zeros(size)
            column_means(column, block.low - 1, out, self._base())
            found.append(out)
        return max(self.limit(np.clip(each - block.a, 0.0, most), most) for each in found)

    def highest(self, known: int, table: Table) -> float:
        """What J can't exceed: it ends at a price after a wait, or when the cards are used up."""
        beyond, charges = float(table[0][0]), table[2]
        return max(self.p.top - float(charges[known]), beyond - float(charges[1 : known + 1].sum()))

    def limit(self, rows: Floats, most: float) -> float:
        """The upper limit on the largest of the rows' means, of values in [0, most]."""
        if not self.sample.certain:
            return float(rows.mean(axis=-1).max())
        rows = np.atleast_2d(rows)
        self.limits += len(rows)
        return max(upper_limit(row, most) for row in rows)

    def judged_at(self, block: Block, held: int) -> list[tuple[int, int]]:
        """The levels whose J stand for those of all the sales that a block can see, with how many
        cards may be held there."""
        last = block.high if block.low < ALONE else block.low
        return [(k, min(held, self.p.cards - k)) for k in range(block.low, last + 1)]

    def waits_over(self, block: Block, held: int, size: int) -> float:
        """The sum of E (J - max(X, c))+ over the levels that stand for the block, X being the first
        offer; if the coin is known, of E (J + wait - a)+."""
        total, coin = 0.0, block.c == KNOWN_COIN
        above = block.a - self.wait if coin else block.c
        for level, less in self.judged_at(block, held):
            table = self.table(level, coin=coin)
            inner = INNER if held <= self.p.hand + EXACT else INNER // 4
            # What is left to a wait lacks the sale's first card too, and the first offer's.
            left, gone = (level - 1, 1) if coin else (level - 2, 2)
            values = self.waits(left, less + gone, table, size, inner)
            known = min(left, len(table[1]) - 2)
            most = max(self.highest(known, table) - above, 0.0)
            if coin:
                over = np.clip(values - above, 0.0, most)
            else:
                over = self.beyond_offer(values, block.c, less)
            total += self.limit(over, most)
        return total

    def name(self, task: Task) -> str:
        """Of all that decides what a task comes to; what has the same name comes to the same."""
        return hashlib.sha256(f"{self._basis} {task!r}".encode()).hexdigest()

    @cached_property
    def _basis(self) -> str:
        """Of all that decides estimates beside the task."""
        constants = (SPACING, ALONE, INNER, EXACT, VECTORS, DOUBT, DRAWS)
        total = hashlib.sha256(repr((constants, self.sample, self.wait)).encode())
        arrays = [self.p.values, self.p.worth, self.p.coin, self.p.columns, self.late]
        for table in (*self.deep, *self.small.values()):
            arrays += table
        for array in arrays:
            total.update(np.ascontiguousarray(array).tobytes())
        return total.hexdigest()

    def estimate(self, task: Task) -> Estimate:
        """Do a task; it comes to the same in whatever order tasks are done."""
        self._estimates, before = (task.number + 1) * DRAWS, self.limits
        if not task.offers:
            value = self.waits_over(task.block, task.held, task.size)
        elif task.block.c == KNOWN_COIN:
            value = 0.0
        else:
            value = self.offers_over(task.block, task.held, task.size)
        return Estimate(float(value), self.limits - before)

    def beyond_offer(self, values: Floats, c: float, held: int) -> Floats:
        """What values of J, (Q, n), exceed the first offer and c by, averaged over that offer: any
        card's, but for the dearest of those that ``held`` cards and the sale's first may leave."""
        cheapest = np.sort(self.p.worth.T, axis=1)[:, : self.p.cards - held - 1]
        over = np.zeros(values.shape)
        for q, offers in enumerate(cheapest):
            for offer, count in zip(
                *np.unique(np.maximum(offers, c), return_counts=True), strict=True
            ):
                over[q] += np.maximum(values[q] - offer, 0.0) * (count / len(offers))
        return over

    def choose(self, low: int, held: int) -> Block:
        """The c and a of a block that are best where a share of the decks see a sale in it."""
        n = self.p.cards
        share = next(share for most, share in SHARES if low <= most)
        block = Block(low, min(low + SPACING - 1, n), 0.0, 0.0)
        size = PILOT // 4
        waits, coins = [], []
        for level, less in self.judged_at(block, held):
            first, offer = self.table(level, coin=False), self.table(level, coin=True)
            waits.append(self.waits(level - 2, less + 2, first, size, INNER))
            coins.append(self.waits(level - 1, less + 1, offer, size, INNER) + self.wait)
        a = float(np.quantile(np.concatenate(coins, axis=1), 1 - share / len(coins)))
        tried = [(share * a + _over(coins, a), KNOWN_COIN, a)]
        removed = (self.p.of_coin * held) // n
        for part in TRIED:
            c = max(float(np.quantile(np.concatenate(waits, axis=1), part)), 0.0)
            m = self.offers(low, c, removed, PILOT)
            a = float(np.quantile(m, 1 - share))
            over = sum(float(self.beyond_offer(w, c, held).mean(axis=1).max()) for w in waits)
            cost = share * a + float(np.maximum(m - a, 0.0).mean()) + over
            tried.append((cost, c, a))
        _, c, a = min(tried)
        return block._replace(c=c, a=a)

    def fresh(self, removed: int, *, late: bool = True) -> float:
        """J of a new deck of all cards but ``removed`` or fewer, in a sale that can't need another
        shuffle; ``late``: it was waits that used the old deck up."""
        left = self.p.cards - removed
        known = min(left, self.p.known)
        if known <= 0:
            return self.p.top
        charges = np.full(known + 1, self.wait) if late else self._flips(known, 2)
        table = self._table(known, charges, self.p.top)
        values = self.waits(left, removed, table, self.sample.size if left > known else 2, 1)
        if left == known:  # one set, known exactly
            return float(values.max())
        most = self.highest(known, table) + self.wait
        return self.limit(values + self.wait, most) - self.wait


def _over(values: list[Floats], above: float) -> float:
    """The mean excess above a threshold, each of the dearest row, summed."""
    return sum(float(np.maximum(each - above, 0.0).mean(axis=1).max()) for each in values)


Each = Callable[[Judge, Sequence[Task]], Iterable[Estimate]]


def one_by_one(judge: Judge, tasks: Sequence[Task]) -> Iterable[Estimate]:
    """Do tasks in their order."""
    return map(judge.estimate, tasks)


def judge_sales(prices: Prices, wait: float, sample: Sample, each: Each = one_by_one) -> Sides:
    """Credits of sales, and what may exceed them, if a day costs ``wait`` florins; ``each`` does
    the tasks, in any way."""
    judge = Judge(prices, wait, sample)
    n, hand = prices.cards, prices.hand
    held = min(hand + 1, max(n - 2, 0))
    blocks = [judge.choose(low, min(held, n - low)) for low in range(2, n + 1, SPACING)]
    sale = np.zeros(n + 1)
    for block in blocks:
        sale[block.low : block.high + 1] = block.a
    # A sale at an empty deck, or with one card left, shuffles: what is flipped then is known as a
    # set, so that nothing can exceed what it is credited with.
    c = max(judge.fresh(min(hand + 3, n), late=False), 0.0)
    dearest = np.maximum(prices.values[prices.dearest(min(hand + 1, n - 1))], c)
    sale[:2] = dearest.mean(axis=1).max()
    tasks, sums = _tasks(judge, blocks)
    offers, waits, limits = np.zeros(n + 1), np.zeros(n + 1), judge.limits
    for task, held, estimate in zip(tasks, sums, each(judge, tasks), strict=True):
        (offers if task.offers else waits)[held] += estimate.value
        limits += estimate.limits
    return Sides(blocks, sale, offers, waits, judge.late, limits)


def _tasks(judge: Judge, blocks: list[Block]) -> tuple[list[Task], list[list[int]]]:
    """What M and J can exceed the credits by while one deck lasts is a sum of what tasks come to:
    the tasks, and the numbers of cards held in whose sums each is."""
    n, size, hand = judge.p.cards, judge.sample.size, judge.p.hand
    exact = hand + EXACT  # cards held up to which a shuffle is judged as any other
    told = sorted({0, hand // 2, max(hand - 1, 0), hand + 1, exact, *(exact + k for k in STEPS), n})
    numbers: dict[tuple[bool, int, int], int] = {}
    tasks: list[Task] = []
    sums: list[list[int]] = []
    for e, offers in product(range(n - 1), (True, False)):
        # More cards held make it no less.
        many = next(m for m in told if m >= (e if offers else max(e, hand + 1)))
        for block in blocks:
            if block.low > n - e:
                continue
            held = min(many, n - block.low)
            number = numbers.setdefault((offers, block.low, held), len(tasks))
            if number == len(tasks):
                some = size if many <= exact else max(size // ROUGH, 2)
                tasks.append(Task(number, block, held, some, offers))
                sums.append([])
            sums[number].append(e)
    return tasks, sums
