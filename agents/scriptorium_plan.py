"""The best placements of a turn of Scriptorium, for the greedy agent.

``list_tiles`` lists the tiles a player could place with what each would gain, ``find_plan``
searches for the set that gains most with the inks there are (best first, with a bound), and
``fill_edges`` adds the edges worth placing without ink. In phase 1 a plan may also count on inks
still to be taken from the pot. Functions in numba's subset: see ``compiled``; what they work on
lies in few arrays, as large tuples are slow to compile and to pass on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.compiled import compiled, compiled_apart
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
from incunabula.agents.scriptorium_worth import FALL, FORGONE, PRICED, RISE

TILES = 40  # tiles that a plan looks at
DEPTH = 16  # tiles that it places with ink
AFTER = DEPTH + 1  # the level after the best plan
LEVELS = DEPTH + 2
BEST = LEVELS  # the row of the best plan's first placement
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


class Work(NamedTuple):
    """Room for one plan at a time. A level of the search is a number of tiles placed."""

    tile: npt.NDArray[np.int64]  # (TILES, TILE_COLUMNS) the tiles to choose from
    worth: npt.NDArray[np.float64]  # (TILES + 1, WORTH_COLUMNS)
    stock: npt.NDArray[np.int64]  # (LEVELS + DEPTH, STOCKS); from BEST on, the best placements
    level: npt.NDArray[np.float64]  # (LEVELS, WORTHS)


@compiled
def new_work() -> Work:
    """Room for a plan."""
    return Work(
        np.empty((TILES, TILE_COLUMNS), np.int64),
        np.empty((TILES + 1, WORTH_COLUMNS)),
        np.empty((LEVELS + DEPTH, STOCKS), np.int64),
        np.empty((LEVELS, WORTHS)),
    )


# Achievements and spaces ------------------------------------------------------------------------


@compiled
def copy_level(work: Any, source: int, target: int) -> None:
    """Copy a level of the search."""
    for k in range(STOCKS):
        work.stock[target, k] = work.stock[source, k]
    for k in range(WORTHS):
        work.level[target, k] = work.level[source, k]


@compiled
def filling(outlook: Any, work: Any, level: int, space: int) -> float:
    """By how much filling a space at this level brings the achievements nearer."""
    worth = 0.0
    for k in range(ACHIEVEMENTS):
        if outlook.prize[k, space] > 0.0:
            lack = work.stock[level, LACK + k]
            hope, odds = work.level[level, HOPE + k], work.level[level, ODDS + k]
            nearer = hope * outlook.space[RISE, space]
            worth -= hope / (1.0 + odds)
            if lack == 1:
                worth += outlook.prize[k, space]
            else:
                worth += nearer / (1.0 + odds * outlook.space[FALL, space])
    return worth


@compiled
def fill_space(outlook: Any, work: Any, level: int, space: int) -> None:
    """Fill a space at this level."""
    work.stock[level, ROOM + space] -= 1
    for k in range(ACHIEVEMENTS):
        if outlook.prize[k, space] > 0.0:
            work.stock[level, LACK + k] -= 1
            work.level[level, HOPE + k] *= outlook.space[RISE, space]
            work.level[level, ODDS + k] *= outlook.space[FALL, space]


@compiled
def best_space(outlook: Any, work: Any, level: int, first: int, second: int) -> tuple[int, float]:
    """Which of two spaces (second: or -1) brings the achievements nearest, -1 if none is free, and
    by how much."""
    chosen, best = -1, NEVER
    if work.stock[level, ROOM + first] > 0:
        chosen, best = first, filling(outlook, work, level, first)
    if second >= 0 and work.stock[level, ROOM + second] > 0:
        worth = filling(outlook, work, level, second)
        if worth > best:
            chosen, best = second, worth
    return chosen, best


@compiled
def room_for(work: Any, first: int, second: int) -> int:
    """Free spaces for a tile at the start."""
    return work.stock[0, ROOM + first] + (work.stock[0, ROOM + second] if second >= 0 else 0)


# Lists of tiles ---------------------------------------------------------------------------------


@compiled
def copy_tile(work: Any, source: int, target: int) -> None:
    """Copy a tile of the list, not the spare edge beside it."""
    for k in range(SPARE):
        work.tile[target, k] = work.tile[source, k]
    for k in range(SUM):
        work.worth[target, k] = work.worth[source, k]


@compiled
def sort_tiles(work: Any, n: int, column: int) -> None:
    """Put the tiles with the highest worth in this column first."""
    last = TILES - 1  # kept free
    for i in range(1, n):
        if work.worth[i, column] > work.worth[i - 1, column]:
            copy_tile(work, i, last)
            at = i
            while at > 0 and work.worth[at - 1, column] < work.worth[last, column]:
                copy_tile(work, at - 1, at)
                at -= 1
            copy_tile(work, last, at)


@compiled
def list_tile(
    book: Any, outlook: Any, work: Any, n: int, design: int, source: int, price: float
) -> tuple[bool, float]:
    """Write a tile to the n-th place of the list: whether it has a free space, and by how much that
    brings the achievements nearer. ``price``: of buying it."""
    first, second = book.design[design, FIRST], book.design[design, SECOND]
    space, nearer = best_space(outlook, work, 0, first, second)
    work.tile[n, DESIGN], work.tile[n, SOURCE] = design, source
    work.tile[n, ON], work.tile[n, OR] = first, second
    work.worth[n, KEEP] = 0.0
    work.worth[n, GAIN] = book.design[design, POINTS] - outlook.space[FORGONE, first] - price
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
            fits, nearer = list_tile(book, outlook, work, n, design, HAND, 0.0)
            if not fits:
                continue
            later = work.worth[n, GAIN] + nearer
            for ink in range(INKS):
                later -= book.cost[-1, design, ink] * outlook.price[ink, 0]
            work.worth[n, KEEP] = params.keep * outlook.keep_later * max(later, 0.0)
            room = room_for(work, work.tile[n, ON], work.tile[n, OR])
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
        first = work.tile[i, ON]
        if used[first] < room_for(work, first, work.tile[i, OR]) and kept < book.storage_limit:
            used[first] += 1
            kept += 1
            total += work.worth[i, KEEP]
        else:
            work.worth[i, KEEP] = 0.0
    return n, total


@compiled
def list_bought(book: Any, outlook: Any, work: Any, n: int, goods: Any) -> int:
    """Add the tiles worth buying to the list; goods float (P, D): the price of each, 0 for none
    (row 0 the scriptorium's, else a relative seat's). Returns how many there are in all."""
    for source in range(len(goods)):
        for design in range(goods.shape[1]):
            if goods[source, design] > 0.0 and n < TILES - 1:
                price = goods[source, design]
                fits, nearer = list_tile(book, outlook, work, n, design, source, price)
                if fits and work.worth[n, GAIN] + nearer > 0.0:
                    n += 1
    return n


@compiled
def list_spare(book: Any, work: Any, n: int) -> int:
    """List the edges of the hand, those most worth keeping first; how many."""
    m = 0
    for i in range(n):
        if book.design[work.tile[i, DESIGN], EDGE]:
            work.tile[m, SPARE] = work.tile[i, DESIGN]
            work.worth[m, SPARE_KEEP] = work.worth[i, KEEP]
            m += 1
    return m


# Placing with ink -------------------------------------------------------------------------------


@compiled
def pay(outlook: Any, work: Any, level: int, i: int) -> float:
    """Pay for the i-th tile at this level (S7); the worth of the inks, NEVER if there are too few.

    Inks to be taken from the pot come after those held, but before gold for another colour.
    """
    worth, gilt = 0.0, 0
    for ink in range(INKS):
        need = work.tile[i, COST + ink]
        if ink == GOLD:
            need += gilt
        while need > 0:
            held = work.stock[level, OWN + ink]
            if held > 0:
                worth += outlook.price[ink, min(held, PRICED) - 1]
                work.stock[level, OWN + ink] = held - 1
            elif work.stock[level, POT + ink] > 0 and work.stock[level, SHARE] > 0:
                worth += outlook.price[ink, 0]
                work.stock[level, POT + ink] -= 1
                work.stock[level, SHARE] -= 1
            elif ink in (BLACK, GOLD):
                return NEVER
            else:
                gilt += need
                break
            need -= 1
    return worth


@compiled
def place_tile(outlook: Any, work: Any, level: int, i: int) -> bool:
    """Place the i-th tile with ink at this level; False if it can't be done."""
    if work.tile[i, SOURCE] != HAND:
        if work.stock[level, BUYS] == 0:
            return False
        work.stock[level, BUYS] -= 1
    space, nearer = best_space(outlook, work, level, work.tile[i, ON], work.tile[i, OR])
    if space < 0:
        return False
    inks = pay(outlook, work, level, i)
    if inks == NEVER:
        return False
    work.level[level, GAINED] += work.worth[i, GAIN] - work.worth[i, KEEP] + nearer - inks
    work.stock[level, TILE], work.stock[level, SPACE] = i, space
    fill_space(outlook, work, level, space)
    return True


@compiled_apart
def bound_tiles(book: Any, outlook: Any, work: Any, n: int, lectern: int) -> int:
    """Set the costs with this lectern (-1: none), leave out the tiles that can't be placed with
    ink, and put the best first; how many are left.

    So k tiles from place i on gain ``worth[i, SUM] - worth[i + k, SUM]`` at most.
    """
    m = 0
    for i in range(n):
        design = work.tile[i, DESIGN]
        for ink in range(INKS):
            work.tile[i, COST + ink] = book.cost[lectern, design, ink]
        copy_level(work, 0, AFTER)
        if place_tile(outlook, work, AFTER, i):
            work.worth[i, MOST] = work.level[AFTER, GAINED]
            copy_tile(work, i, m)
            m += 1
    sort_tiles(work, m, MOST)
    work.worth[m, SUM] = 0.0
    for i in range(m - 1, -1, -1):
        work.worth[i, SUM] = work.worth[i + 1, SUM] + max(work.worth[i, MOST], 0.0)
    return m


@compiled
def most_tiles(work: Any, level: int, least_black: int, least_inks: int) -> int:
    """How many more tiles can be placed with ink at most, if each needs at least so many."""
    black = work.stock[level, OWN + BLACK]
    black += min(work.stock[level, POT + BLACK], work.stock[level, SHARE])
    inks = work.stock[level, SHARE]
    for ink in range(INKS):
        inks += work.stock[level, OWN + ink]
    most = TILES
    if least_black > 0:
        most = min(most, black // least_black)
    return min(most, inks // least_inks) if least_inks > 0 else most


@compiled_apart
def find_plan(outlook: Any, work: Any, n: int, sets: int) -> tuple[int, float]:
    """The best set of the n tiles to place with ink: how many, and the gain.

    The placements go into ``stock`` from BEST on, the level after them into AFTER. At most so many
    sets are tried.
    """
    least_black, least_inks = TILES, TILES
    for i in range(n):
        needs = 0
        for ink in range(INKS):
            needs += work.tile[i, COST + ink]
        least_black = min(least_black, work.tile[i, COST + BLACK])
        least_inks = min(least_inks, needs)
    copy_level(work, 0, AFTER)
    best, count, level, i = 0.0, 0, 0, 0
    more = most_tiles(work, 0, least_black, least_inks)
    while True:
        if i < n and level < DEPTH and sets > 0:
            bound = work.worth[i, SUM] - work.worth[min(i + more, n), SUM]
            if work.level[level, GAINED] + bound > best + 1e-9:
                sets -= 1
                copy_level(work, level, level + 1)
                if place_tile(outlook, work, level + 1, i):
                    level += 1
                    more = most_tiles(work, level, least_black, least_inks)
                    if work.level[level, GAINED] > best + 1e-9:
                        best, count = work.level[level, GAINED], level
                        copy_level(work, level, AFTER)
                        for k in range(level):
                            work.stock[BEST + k, TILE] = work.stock[k + 1, TILE]
                            work.stock[BEST + k, SPACE] = work.stock[k + 1, SPACE]
                i += 1
                continue
        if level == 0:
            break
        i = work.stock[level, TILE] + 1
        level -= 1
        more = most_tiles(work, level, least_black, least_inks)
        while i < n and same_tile(work, i, i - 1):
            i += 1
    return count, best


@compiled
def same_tile(work: Any, i: int, j: int) -> bool:
    """Whether two tiles of the list are alike."""
    design, source = work.tile[i, DESIGN], work.tile[i, SOURCE]
    alike = design == work.tile[j, DESIGN] and source == work.tile[j, SOURCE]
    return alike and work.worth[i, KEEP] == work.worth[j, KEEP]


# Placing without ink ----------------------------------------------------------------------------


@compiled
def drop_placed(work: Any, spare: int, count: int) -> int:
    """Take the edges that the plan places with ink off the list of spare ones; how many stay."""
    for k in range(count):
        i = work.stock[BEST + k, TILE]
        for j in range(spare):
            if work.tile[j, SPARE] == work.tile[i, DESIGN] and work.tile[i, SOURCE] == HAND:
                for at in range(j, spare - 1):
                    work.tile[at, SPARE] = work.tile[at + 1, SPARE]
                    work.worth[at, SPARE_KEEP] = work.worth[at + 1, SPARE_KEEP]
                spare -= 1
                break
    return spare


@compiled
def put_edge(outlook: Any, work: Any, level: int, space: int, cost: float) -> None:
    """Place an edge without ink at this level."""
    gain = filling(outlook, work, level, space)
    work.level[level, GAINED] += gain - outlook.space[FORGONE, space] - cost
    fill_space(outlook, work, level, space)


@compiled_apart
def fill_edges(
    outlook: Any, work: Any, spare: int, more: int, price: float
) -> tuple[float, int, int]:
    """After the plan, the edges worth placing without ink: (gain, how many left, how many right).

    Those least worth keeping go first; ``more`` can be bought at ``price`` each. Levels 0 and 1 are
    overwritten.
    """
    best, left, right = 0.0, 0, 0
    copy_level(work, AFTER, 0)
    work.level[0, GAINED] = 0.0
    for a in range(spare + more + 1):
        copy_level(work, 0, 1)
        for b in range(a, spare + more + 1):
            if work.level[1, GAINED] > best + 1e-9:
                best, left, right = work.level[1, GAINED], a, b - a
            if work.stock[1, ROOM + EDGE_RIGHT] == 0 or b == spare + more:
                break
            cost = work.worth[spare - 1 - b, SPARE_KEEP] if b < spare else price
            put_edge(outlook, work, 1, EDGE_RIGHT, cost)
        if work.stock[0, ROOM + EDGE_LEFT] == 0 or a == spare + more:
            break
        cost = work.worth[spare - 1 - a, SPARE_KEEP] if a < spare else price
        put_edge(outlook, work, 0, EDGE_LEFT, cost)
    return best, left, right
