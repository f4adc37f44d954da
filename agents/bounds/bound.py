"""An upper bound on the expected score of every policy of an edition of Bibliogamo.

The proof is docs/optimal_bound.md; the names used here are explained there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from incunabula.agents.bounds.books import SHOWN, Books, Credits
from incunabula.agents.bounds.sales import (
    DAYS,
    DOUBT,
    Each,
    Prices,
    Sample,
    Sides,
    judge_sales,
    one_by_one,
)
from incunabula.agents.hindsight.bound import most_prestige
from incunabula.envs.bibliogamo.edition import Edition, load_edition
from incunabula.envs.bibliogamo.tables import Tables, build_tables
from incunabula.envs.compiled.functions import why_no_numba
from incunabula.envs.errors import IncunabulaError

SAMPLES = 10_000
MAX_SAMPLES = 10_000_000
PILOT = 300  # samples by which parameters are chosen
MAX_STATES = 2_000_000  # of a day
STEPS = 4  # of the search for the charge for a book
DAY_SHARES = (0.85, 1.25)  # of a day's worth: what a day of waiting is charged with lies between
DAY_STEPS = 2  # of the search for it
Progress = Callable[[str], None]


class Part(NamedTuple):
    """What a part of the bound comes to; VP and counts are those of the programme's best play."""

    name: str
    vp: float


class Chosen(NamedTuple):
    """Parameters of the bound; any are right."""

    day: float  # VP that a day waited is charged with
    charge: float  # VP for a book


Choice = Callable[[Callable[[], Chosen]], Chosen]


def at_once(choose: Callable[[], Chosen]) -> Chosen:
    """Choose parameters now."""
    return choose()


class Bound(NamedTuple):
    """An upper bound on the expected score of every policy.

    Attributes:
        value: the bound, VP.
        confidence: with which it holds, over the samples drawn; 1 if none were needed.
        parts: what it is made of; they add up to ``value``.
        charge: VP charged for a book where it is sold, and paid where it is made.
        day: VP that a day waited in a sale is charged with.
        counts: how many books, sales, waits, ... the books programme plays at its best.
    """

    edition: Edition
    value: float
    confidence: float
    parts: tuple[Part, ...]
    charge: float
    day: float
    counts: dict[str, float]
    samples: int
    states: int
    seconds: float


def upper_bound(
    edition: str | Path | Edition,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    each: Each = one_by_one,
    choice: Choice = at_once,
    on_progress: Progress | None = None,
) -> Bound:
    """Work the bound out.

    Args:
        edition: shipped name, path or Edition.
        samples: how much is drawn for each estimate; more make the bound smaller.
        seed: of the draws.
        each: does the tasks of the sale side, which can be shared and kept.
        choice: asked for the parameters with the function that chooses them, which takes a while.
        on_progress: told now and then what is being done.

    Raises:
        IncunabulaError: the edition is too large, or nothing can be compiled here.
    """
    began = time.perf_counter()
    edition = load_edition(edition)
    why_not = why_no_numba()
    if why_not is not None:
        raise IncunabulaError(f"bounds need compiled code: {why_not}")
    tables = build_tables(edition)
    tell = on_progress or (lambda _: None)
    most = most_books(tables)
    prestige = prestige_part(tables, most)
    trivial = trivial_parts(tables, most, prestige)
    small = _Problem(tables, edition.name, whole_books=False)
    if most == 0 or small.prices.cards < 2:
        return _made(edition, trivial, 1.0, 0.0, 0.0, {}, 0, 0, began)
    tell("choosing charges")
    day, charge = choice(lambda: small.chosen(Sample(PILOT, seed, certain=False)))
    tell("sales")
    whole = _Problem(tables, edition.name, whole_books=True)
    sides = whole.judged(day, Sample(samples, seed + 1), each)
    tell("books")
    value, charge = min(
        (whole.value(sides, x, day), x) for x in (charge, 0.985 * charge, 1.015 * charge)
    )
    start = tables.start_florins / tables.florins_per_vp
    first = float(sides.offers[0] + sides.waits[0]) / tables.florins_per_vp
    if value + first + start + prestige >= sum(part.vp for part in trivial):
        return _made(edition, trivial, 1.0, 0.0, 0.0, {}, 0, 0, began)
    tell("parts")
    counts = whole.counts(sides, charge, day, value)
    parts = _split(tables, prestige, start, first, value, counts, charge, day)
    confidence = 1 - DOUBT * sides.estimates
    return _made(
        edition, parts, confidence, charge, day, counts, samples, whole.books.states, began
    )


def most_books(tables: Tables) -> int:
    """How many books can be sold at most: one a day, and not before its cubes are placed."""
    days, cubes = tables.days - tables.start_time, cubes_of_a_book(tables)
    if cubes > tables.cubes:
        return 0
    placed = (days - 1) * tables.hires_per_turn * int(card_sizes(tables).max())
    return min(days - 1, placed // cubes)


def cubes_of_a_book(tables: Tables) -> int:
    """The fewest cubes that a tower on the board needs."""
    return int(tables.requires.sum(axis=1)[tables.board].min())


def card_sizes(tables: Tables) -> np.ndarray:
    """The most cubes that a hire with each card can place in a tower on the board, (C,)."""
    needed = tables.requires[np.unique(tables.board)]
    fitting = np.minimum(tables.artisans[:-1, None], needed[None]).sum(axis=2).max(axis=1)
    return np.minimum(fitting, tables.cubes).astype(np.int64)


def prestige_part(tables: Tables, most: int) -> float:
    """The mean over the collections (R15) of what ``most`` books can fill at most."""
    found = [most_prestige(tables, each, most) for each in range(len(tables.slot_count))]
    return float(np.mean(found))


def trivial_parts(tables: Tables, most: int, prestige: float) -> tuple[Part, ...]:
    """Every book at the highest price."""
    florins = tables.start_florins + most * int(tables.price[:-1].max(initial=0))
    if tables.florin_cap >= 0:
        florins = min(florins, max(tables.florin_cap, tables.start_florins))  # R2
    return (
        Part("prestige", prestige),
        Part("books", float(most * tables.vp_per_book)),
        Part("florins", float(florins // tables.florins_per_vp)),
    )


def least(function: Callable[[float], float], low: float, high: float, steps: int) -> float:
    """Where a function is least of all places that a golden-section search looks at (Kiefer,
    "Sequential minimax search for a maximum", 1953)."""
    part = (math.sqrt(5) - 1) / 2
    x, y = high - part * (high - low), low + part * (high - low)
    at_x, at_y = function(x), function(y)
    for _ in range(steps):
        if at_x < at_y:
            high, y, at_y = y, x, at_x
            x = high - part * (high - low)
            at_x = function(x)
        else:
            low, x, at_x = x, y, at_y
            y = low + part * (high - low)
            at_y = function(y)
    return x if at_x < at_y else y


class _Problem:
    """An edition's books programme and prices."""

    def __init__(self, tables: Tables, name: str, *, whole_books: bool) -> None:
        self.t, self.prices = tables, Prices(tables)
        self.cubes = cubes_of_a_book(tables)
        sizes, cards = np.unique(card_sizes(tables), return_counts=True)
        states = self.cubes * math.prod(int(n) + 1 for n in cards)
        self.unit = self.cubes if whole_books and states * 100 <= MAX_STATES else 1
        states = states // self.cubes * self.unit
        if states * math.comb(tables.hand_size + len(sizes), len(sizes)) > 10 * MAX_STATES:
            raise IncunabulaError(
                f"edition {name!r}: too large for the bound: {states:.0e} decks that differ in how "
                f"many cards of each number of cubes they hold, times as many hands; the default "
                f"edition has 1150 decks and 36 hands"
            )
        self.books = Books(
            sizes.tolist(),
            cards.tolist(),
            cubes=self.unit,
            hand_size=tables.hand_size,
            hires=tables.hires_per_turn,
            lifts=tables.lifts_per_turn,
            days=tables.days - tables.start_time,
        )

    def judged(self, day: float, sample: Sample, each: Each = one_by_one) -> Sides:
        """The sale side at a charge for a day, VP."""
        return judge_sales(self.prices, day * self.t.florins_per_vp, sample, each)

    def credits(self, sides: Sides, charge: float, day: float) -> Credits:
        """What the programme pays; VP."""
        f, n, hand = self.t.florins_per_vp, self.prices.cards, self.books.hand_size
        excess = (sides.offers + sides.waits) / f
        late = np.zeros((hand + 1, SHOWN + 1))
        for held in range(hand + 1):
            for shown in range(2, SHOWN + 1):
                e = min(held + shown, n)
                worst = excess[e:].max() if shown == SHOWN else excess[e]
                late[held, shown] = worst - sides.late[shown] / f
        sale = self.t.vp_per_book + sides.sale / f - charge
        return Credits(charge * self.unit / self.cubes, sale, day * DAYS, excess, late)

    def value(self, sides: Sides, charge: float, day: float) -> float:
        """The programme's value."""
        return self.books.value(self.credits(sides, charge, day))

    def day_worth(self) -> float:
        """Roughly what a day's hires are worth, VP."""
        n, hand = self.prices.cards, self.books.hand_size
        free = Credits(
            self.unit / self.cubes,
            np.full(n + 1, -1e9),
            np.zeros(SHOWN + 1),
            np.zeros(n + 1),
            np.zeros((hand + 1, SHOWN + 1)),
        )
        whole = self.books.value(free)
        shorter = max(self.books.days - 1, 1)
        self.books.days, days = shorter, self.books.days
        less = self.books.value(free)
        self.books.days = days
        mean = float(self.prices.worth.mean()) / self.t.florins_per_vp
        a_day = whole - less if days > 1 else whole
        return max(a_day * (self.t.vp_per_book + 1.15 * mean), 1e-3)

    def chosen(self, sample: Sample) -> Chosen:
        """The charges for a day of waiting and for a book that make the bound least, by a sample;
        it is convex in the latter, and nearly so in the former."""
        whole = self.day_worth()
        found: list[tuple[float, Chosen]] = []

        def bound(share: float) -> float:
            day = share * whole
            sides = self.judged(day, sample)
            most = self.t.vp_per_book + float(sides.sale.max()) / self.t.florins_per_vp
            low, high = most / 2, most
            if found:  # near the one before
                before = min(found)[1].charge
                low, high = 0.93 * before, 1.07 * before
            charge = least(lambda book: self.value(sides, book, day), low, high, STEPS)
            value = self.value(sides, charge, day)
            first = float(sides.offers[0] + sides.waits[0]) / self.t.florins_per_vp
            found.append((value + first, Chosen(day, charge)))
            return value + first

        least(bound, *DAY_SHARES, DAY_STEPS)
        return min(found)[1]

    def counts(self, sides: Sides, charge: float, day: float, value: float) -> dict[str, float]:
        """How often the programme's best play does what: derivatives by what is paid for it."""
        paid, little = self.credits(sides, charge, day), 1e-4
        changed = {
            "books": paid._replace(book=paid.book + little * self.unit / self.cubes),
            "sales": paid._replace(sale=paid.sale + little),
            "days waited": paid._replace(wait=paid.wait + little * DAYS),
            "shuffles": paid._replace(shuffle=paid.shuffle + little, late=paid.late + little),
        }
        return {name: (self.books.value(c) - value) / little for name, c in changed.items()}


def _split(
    tables: Tables,
    prestige: float,
    start: float,
    first: float,
    value: float,
    counts: dict[str, float],
    charge: float,
    day: float,
) -> tuple[Part, ...]:
    """The parts of the bound."""
    made = charge * counts["books"]
    waited = day * counts["days waited"]
    return (
        Part("prestige", prestige),
        Part("florins at the start", start),
        Part("books made", made),
        Part("days waited", waited),
        Part("first deck", first),
        Part("sales above the charge, and later decks", value - made - waited),
    )


def _made(
    edition: Edition,
    parts: tuple[Part, ...],
    confidence: float,
    charge: float,
    day: float,
    counts: dict[str, float],
    samples: int,
    states: int,
    began: float,
) -> Bound:
    return Bound(
        edition,
        sum(part.vp for part in parts),
        confidence,
        parts,
        charge,
        day,
        counts,
        samples,
        states,
        time.perf_counter() - began,
    )
