"""The best placements of a turn of Scriptorium, for the greedy agent.

``list_tiles`` lists the tiles a player could place with what each would gain, ``find_plan``
searches for the set that gains most with the inks there are (best first, with a bound), and
``fill_edges`` adds the edges worth placing without ink. In phase 1 a plan may also count on inks
still to be taken from the pot. Functions in numba's subset: see ``compiled``; what they work on
lies in few arrays, as large tuples are slow to compile and to pass on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incunabula.agents.scriptorium_position import (
    ACHIEVEMENTS,
    BLACK,
    EDGE,
    EDGE_LEFT,
    EDGE_RIGHT,
    FIRST,
    GOLD,
    INKS,
    POINTS,
    SECOND,
    SPACES,
)
from incunabula.agents.scriptorium_worth import (
    AFTER,
    BEST,
    DEPTH,
    FALL,
    FORGONE,
    PRICE,
    PRICED,
    PRIZE,
    RISE,
    START,
    TILES,
)
from incunabula.envs.compiled.functions import compiled, compiled_apart

HAND = -1  # source of a tile that the player has; 0 is the scriptorium, else a relative seat
NEVER = -1e9
# Columns of a tile; a list of the edges in hand that are not placed with ink goes beside it.
DESIGN, SOURCE, ON, OR, COST, SPARE, TILE_COLUMNS = 0, 1, 2, 3, 4, 9, 10
# Columns of its worth: of keeping it for another day; of placing it, without inks and
# achievements; the most that placing it gains; the sum of these from here on; and of keeping the
# spare edge beside it.
KEEP, GAIN, MOST, SUM, SPARE_KEEP, WORTH_COLUMNS = 0, 1, 2, 3, 4, 5
# Columns of a level's stock: inks held, inks still to be had from the pot and how many of them in
# all, help tokens, free spaces, spaces lacking of each achievement, and the placement that led
# there: which tile of the list, on which space.
OWN, POT, SHARE, BUYS, ROOM, LACK, TILE, SPACE, STOCKS = 0, 5, 10, 11, 12, 22, 27, 28, 29
# Columns of a level's worths: gained so far; hope and odds of each achievement as in Outlook.
GAINED, HOPE, ODDS, WORTHS = 0, 1, 6, 11


# Achievements and spaces ------------------------------------------------------------------------


@compiled
def copy_level(work: Any, source: int, target: int) -> None:
    """Copy a level of the search."""
    for k in range(STOCKS):
        work.n[target, k] = work.n[source, k]
    for k in range(WORTHS):
        work.x[target, k] = work.x[source, k]


@compiled
def filling(work: Any, level: int, space: int) -> float:
    """By how much filling a space at this level brings the achievements nearer."""
    worth = 0.0
    for k in range(ACHIEVEMENTS):
        if work.x[PRIZE + k, space] > 0.0:
            lack = work.n[level, LACK + k]
            hope, odds = work.x[level, HOPE + k], work.x[level, ODDS + k]
            nearer = hope * work.x[RISE, space]
            worth -= hope / (1.0 + odds)
            if lack == 1:
                worth += work.x[PRIZE + k, space]
            else:
                worth += nearer / (1.0 + odds * work.x[FALL, space])
    return worth


@compiled
def fill_space(work: Any, level: int, space: int) -> None:
    """Fill a space at this level."""
    work.n[level, ROOM + space] -= 1
    for k in range(ACHIEVEMENTS):
        if work.x[PRIZE + k, space] > 0.0:
            work.n[level, LACK + k] -= 1
            work.x[level, HOPE + k] *= work.x[RISE, space]
            work.x[level, ODDS + k] *= work.x[FALL, space]


@compiled
def best_space(work: Any, level: int, first: int, second: int) -> tuple[int, float]:
    """Which of two spaces (second: or -1) brings the achievements nearest, -1 if none is free, and
    by how much."""
    chosen, best = -1, NEVER
    if work.n[level, ROOM + first] > 0:
        chosen, best = first, filling(work, level, first)
    if second >= 0 and work.n[level, ROOM + second] > 0:
        worth = filling(work, level, second)
        if worth > best:
            chosen, best = second, worth
    return chosen, best


@compiled
def room_for(work: Any, first: int, second: int) -> int:
    """Free spaces for a tile at the start."""
    return work.n[START, ROOM + first] + (work.n[START, ROOM + second] if second >= 0 else 0)


# Lists of tiles ---------------------------------------------------------------------------------


@compiled
def copy_tile(work: Any, source: int, target: int) -> None:
    """Copy a tile of the list, not the spare edge beside it."""
    for k in range(SPARE):
        work.n[target, k] = work.n[source, k]
    for k in range(SUM):
        work.x[target, k] = work.x[source, k]


@compiled
def sort_tiles(work: Any, n: int, column: int) -> None:
    """Put the tiles with the highest worth in this column first."""
    last = TILES - 1  # kept free
    for i in range(1, n):
        if work.x[i, column] > work.x[i - 1, column]:
            copy_tile(work, i, last)
            at = i
            while at > 0 and work.x[at - 1, column] < work.x[last, column]:
                copy_tile(work, at - 1, at)
                at -= 1
            copy_tile(work, last, at)


@compiled
def list_tile(
    book: Any, work: Any, n: int, design: int, source: int, price: float
) -> tuple[bool, float]:
    """Write a tile to the n-th place of the list: whether it has a free space, and by how much that
    brings the achievements nearer. ``price``: of buying it."""
    first, second = book.design[design, FIRST], book.design[design, SECOND]
    space, nearer = best_space(work, START, first, second)
    work.n[n, DESIGN], work.n[n, SOURCE] = design, source
    work.n[n, ON], work.n[n, OR] = first, second
    work.x[n, KEEP] = 0.0
    work.x[n, GAIN] = book.design[design, POINTS] - work.x[FORGONE, first] - price
    return space >= 0, nearer


@compiled_apart
def list_tiles(
    params: Any, book: Any, outlook: Any, work: Any, counts: Any, held: int
) -> tuple[int, float]:
    """List the tiles of a hand, int (D,), that have a free space: how many, and what keeping all
    is worth. ``held``: achievements in the storage."""
    n = 0
    for design in range(len(counts)):
        if counts[design] > 0 and n < TILES - 1:
            fits, nearer = list_tile(book, work, n, design, HAND, 0.0)
            if not fits:
                continue
            later = work.x[n, GAIN] + nearer
            for ink in range(INKS):
                later -= book.cost[-1, design, ink] * work.x[PRICE + ink, 0]
            work.x[n, KEEP] = params.keep * outlook.keep_later * max(later, 0.0)
            room = room_for(work, work.n[n, ON], work.n[n, OR])
            n += 1
            for _ in range(min(counts[design], room) - 1):
                if n < TILES - 1:
                    copy_tile(work, n - 1, n)
                    n += 1
    sort_tiles(work, n, KEEP)
    # Only so many can be kept: of a kind, as there are spaces; in all, as the storage holds.
    total, kept = 0.0, held
    used = np.zeros(SPACES, np.int64)
    for i in range(n):
        first = work.n[i, ON]
        if used[first] < room_for(work, first, work.n[i, OR]) and kept < book.storage_limit:
            used[first] += 1
            kept += 1
            total += work.x[i, KEEP]
        else:
            work.x[i, KEEP] = 0.0
    return n, total


@compiled
def list_bought(book: Any, work: Any, n: int, goods: Any) -> int:
    """Add the tiles worth buying to the list; goods float (P, D): the price of each, 0 for none
    (row 0 the scriptorium's, else a relative seat's). Returns how many there are in all."""
    for source in range(len(goods)):
        for design in range(goods.shape[1]):
            if goods[source, design] > 0.0 and n < TILES - 1:
                price = goods[source, design]
                fits, nearer = list_tile(book, work, n, design, source, price)
                if fits and work.x[n, GAIN] + nearer > 0.0:
                    n += 1
    return n


@compiled
def list_spare(book: Any, work: Any, n: int) -> int:
    """List the edges of the hand, those most worth keeping first; how many."""
    m = 0
    for i in range(n):
        if book.design[work.n[i, DESIGN], EDGE]:
            work.n[m, SPARE] = work.n[i, DESIGN]
            work.x[m, SPARE_KEEP] = work.x[i, KEEP]
            m += 1
    return m


# Placing with ink -------------------------------------------------------------------------------


@compiled
def pay(work: Any, level: int, i: int) -> float:
    """Pay for the i-th tile at this level (S7); the worth of the inks, NEVER if there are too few.

    Inks to be taken from the pot come after those held, but before gold for another colour.
    """
    worth, gilt = 0.0, 0
    for ink in range(INKS):
        need = work.n[i, COST + ink]
        if ink == GOLD:
            need += gilt
        while need > 0:
            held = work.n[level, OWN + ink]
            if held > 0:
                worth += work.x[PRICE + ink, min(held, PRICED) - 1]
                work.n[level, OWN + ink] = held - 1
            elif work.n[level, POT + ink] > 0 and work.n[level, SHARE] > 0:
                worth += work.x[PRICE + ink, 0]
                work.n[level, POT + ink] -= 1
                work.n[level, SHARE] -= 1
            elif ink in (BLACK, GOLD):
                return NEVER
            else:
                gilt += need
                break
            need -= 1
    return worth


@compiled
def place_tile(work: Any, level: int, i: int) -> bool:
    """Place the i-th tile with ink at this level; False if it can't be done."""
    if work.n[i, SOURCE] != HAND:
        if work.n[level, BUYS] == 0:
            return False
        work.n[level, BUYS] -= 1
    space, nearer = best_space(work, level, work.n[i, ON], work.n[i, OR])
    if space < 0:
        return False
    inks = pay(work, level, i)
    if inks == NEVER:
        return False
    work.x[level, GAINED] += work.x[i, GAIN] - work.x[i, KEEP] + nearer - inks
    work.n[level, TILE], work.n[level, SPACE] = i, space
    fill_space(work, level, space)
    return True


@compiled_apart
def bound_tiles(book: Any, work: Any, n: int, lectern: int) -> int:
    """Set the costs with this lectern (-1: none), leave out the tiles that can't be placed with
    ink, and put the best first; how many are left.

    So k tiles from place i on gain ``worth[i, SUM] - worth[i + k, SUM]`` at most.
    """
    m = 0
    for i in range(n):
        design = work.n[i, DESIGN]
        for ink in range(INKS):
            work.n[i, COST + ink] = book.cost[lectern, design, ink]
        copy_level(work, START, AFTER)
        if place_tile(work, AFTER, i):
            work.x[i, MOST] = work.x[AFTER, GAINED]
            copy_tile(work, i, m)
            m += 1
    sort_tiles(work, m, MOST)
    work.x[m, SUM] = 0.0
    for i in range(m - 1, -1, -1):
        work.x[i, SUM] = work.x[i + 1, SUM] + max(work.x[i, MOST], 0.0)
    return m


@compiled
def most_tiles(work: Any, level: int, least_black: int, least_inks: int) -> int:
    """How many more tiles can be placed with ink at most, if each needs at least so many."""
    black = work.n[level, OWN + BLACK]
    black += min(work.n[level, POT + BLACK], work.n[level, SHARE])
    inks = work.n[level, SHARE]
    for ink in range(INKS):
        inks += work.n[level, OWN + ink]
    most = TILES
    if least_black > 0:
        most = min(most, black // least_black)
    return min(most, inks // least_inks) if least_inks > 0 else most


@compiled_apart
def find_plan(work: Any, n: int, sets: int) -> tuple[int, float]:
    """The best set of the n tiles to place with ink: how many, and the gain.

    The placements go into ``n`` from BEST on, the level after them into AFTER. At most so many
    sets are tried.
    """
    least_black, least_inks = TILES, TILES
    for i in range(n):
        needs = 0
        for ink in range(INKS):
            needs += work.n[i, COST + ink]
        least_black = min(least_black, work.n[i, COST + BLACK])
        least_inks = min(least_inks, needs)
    copy_level(work, START, AFTER)
    best, count, level, i = 0.0, 0, START, 0
    more = most_tiles(work, START, least_black, least_inks)
    while True:
        if i < n and level < START + DEPTH and sets > 0:
            bound = work.x[i, SUM] - work.x[min(i + more, n), SUM]
            if work.x[level, GAINED] + bound > best + 1e-9:
                sets -= 1
                copy_level(work, level, level + 1)
                if place_tile(work, level + 1, i):
                    level += 1
                    more = most_tiles(work, level, least_black, least_inks)
                    if work.x[level, GAINED] > best + 1e-9:
                        best, count = work.x[level, GAINED], level - START
                        copy_level(work, level, AFTER)
                        for k in range(count):
                            work.n[BEST + k, TILE] = work.n[START + k + 1, TILE]
                            work.n[BEST + k, SPACE] = work.n[START + k + 1, SPACE]
                i += 1
                continue
        if level == START:
            break
        i = work.n[level, TILE] + 1
        level -= 1
        more = most_tiles(work, level, least_black, least_inks)
        while i < n and same_tile(work, i, i - 1):
            i += 1
    return count, best


@compiled
def same_tile(work: Any, i: int, j: int) -> bool:
    """Whether two tiles of the list are alike."""
    design, source = work.n[i, DESIGN], work.n[i, SOURCE]
    alike = design == work.n[j, DESIGN] and source == work.n[j, SOURCE]
    return alike and work.x[i, KEEP] == work.x[j, KEEP]


# Placing without ink ----------------------------------------------------------------------------


@compiled
def drop_placed(work: Any, spare: int, count: int) -> int:
    """Take the edges that the plan places with ink off the list of spare ones; how many stay."""
    for k in range(count):
        i = work.n[BEST + k, TILE]
        for j in range(spare):
            if work.n[j, SPARE] == work.n[i, DESIGN] and work.n[i, SOURCE] == HAND:
                for at in range(j, spare - 1):
                    work.n[at, SPARE] = work.n[at + 1, SPARE]
                    work.x[at, SPARE_KEEP] = work.x[at + 1, SPARE_KEEP]
                spare -= 1
                break
    return spare


@compiled
def put_edge(work: Any, level: int, space: int, cost: float) -> None:
    """Place an edge without ink at this level."""
    gain = filling(work, level, space)
    work.x[level, GAINED] += gain - work.x[FORGONE, space] - cost
    fill_space(work, level, space)


@compiled_apart
def fill_edges(work: Any, spare: int, more: int, price: float) -> tuple[float, int, int]:
    """After the plan, the edges worth placing without ink: (gain, how many left, how many right).

    Those least worth keeping go first; ``more`` can be bought at ``price`` each. The first two
    levels are overwritten.
    """
    best, left, right = 0.0, 0, 0
    first, second = START, START + 1
    copy_level(work, AFTER, first)
    work.x[first, GAINED] = 0.0
    for a in range(spare + more + 1):
        copy_level(work, first, second)
        for b in range(a, spare + more + 1):
            if work.x[second, GAINED] > best + 1e-9:
                best, left, right = work.x[second, GAINED], a, b - a
            if work.n[second, ROOM + EDGE_RIGHT] == 0 or b == spare + more:
                break
            cost = work.x[spare - 1 - b, SPARE_KEEP] if b < spare else price
            put_edge(work, second, EDGE_RIGHT, cost)
        if work.n[first, ROOM + EDGE_LEFT] == 0 or a == spare + more:
            break
        cost = work.x[spare - 1 - a, SPARE_KEEP] if a < spare else price
        put_edge(work, first, EDGE_LEFT, cost)
    return best, left, right
