"""The best placements of a turn of Scriptorium, for the greedy agent.

``gather_tiles`` lists the tiles a player could place with what each would gain, ``find_plan``
searches for the set that gains most with the inks there are (include first, best first, with a
bound), ``fill_edges`` adds the edges worth placing without ink. In phase 1 a plan may also count on
inks still to be taken from the pot. Functions in numba's subset: see ``compiled``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.compiled import compiled, compiled_apart
from incunabula.agents.scriptorium_worth import (
    ACHIEVEMENTS,
    BLACK,
    EDGE_LEFT,
    EDGE_RIGHT,
    GOLD,
    INKS,
    PRICED,
    SPACES,
)

TILES = 40  # tiles that a plan looks at
DEPTH = 16  # tiles that it places with ink
AFTER = DEPTH + 1  # the level after the best plan
LEVELS = DEPTH + 2
# Columns of a level's counts: inks held, inks still to be had from the pot and how many of them in
# all, help tokens, free spaces, spaces lacking of each achievement.
HELD, POT, SHARE, TOKENS, ROOM, LACK, COUNTS = 0, 5, 10, 11, 12, 22, 27
# Columns of its worths: gained so far; hope and behind of each achievement as in Outlook.
GAINED, HOPE, BEHIND, WORTHS = 0, 1, 6, 11
HAND = -1  # source of a tile that the player has; 0 is the scriptorium, else a relative seat
NEVER = -1e9


class Work(NamedTuple):
    """Room for one plan at a time. A level of the search is a number of tiles placed."""

    design: npt.NDArray[np.int64]  # (TILES,) the tiles, best first
    source: npt.NDArray[np.int64]  # (TILES,)
    keep: npt.NDArray[np.float64]  # (TILES,) worth of keeping it for another day
    gain: npt.NDArray[np.float64]  # (TILES,) of placing it, without inks and achievements
    bound: npt.NDArray[np.float64]  # (TILES + 1,) most that it gains; then the sum from it on
    count: npt.NDArray[np.int64]  # (LEVELS, COUNTS) by level; the columns are named above
    worth: npt.NDArray[np.float64]  # (LEVELS, WORTHS) likewise
    at: npt.NDArray[np.int64]  # (DEPTH + 1,) place in the list of the tile placed
    space: npt.NDArray[np.int64]  # (DEPTH + 1,) where
    best_at: npt.NDArray[np.int64]  # (DEPTH,) the best plan
    best_space: npt.NDArray[np.int64]  # (DEPTH,)
    spare: npt.NDArray[np.int64]  # (TILES,) the edges not placed with ink
    spare_keep: npt.NDArray[np.float64]  # (TILES,) worth of keeping each


@compiled
def new_work() -> Work:
    """Room for a plan."""
    return Work(
        np.empty(TILES, np.int64),
        np.empty(TILES, np.int64),
        np.empty(TILES),
        np.empty(TILES),
        np.empty(TILES + 1),
        np.empty((LEVELS, COUNTS), np.int64),
        np.empty((LEVELS, WORTHS)),
        np.empty(LEVELS, np.int64),
        np.empty(LEVELS, np.int64),
        np.empty(DEPTH, np.int64),
        np.empty(DEPTH, np.int64),
        np.empty(TILES, np.int64),
        np.empty(TILES),
    )


@compiled
def copy_level(work: Any, source: int, target: int) -> None:
    """Copy a level of the search."""
    for k in range(COUNTS):
        work.count[target, k] = work.count[source, k]
    for k in range(WORTHS):
        work.worth[target, k] = work.worth[source, k]


@compiled
def put_tile(work: Any, n: int, design: int, source: int, keep: float, gain: float) -> int:
    """Insert a tile so that those most worth keeping come first; returns how many there are."""
    if n == TILES:
        return n
    at = n
    while at > 0 and work.keep[at - 1] < keep:
        work.design[at], work.source[at] = work.design[at - 1], work.source[at - 1]
        work.keep[at], work.gain[at] = work.keep[at - 1], work.gain[at - 1]
        at -= 1
    work.design[at], work.source[at], work.keep[at], work.gain[at] = design, source, keep, gain
    return n + 1


@compiled
def filling(tables: Any, outlook: Any, work: Any, level: int, space: int) -> float:
    """By how much filling a space at this level brings the achievements nearer."""
    worth = 0.0
    for k in range(ACHIEVEMENTS):
        if tables.group[k, space] and outlook.prize[k] > 0.0:
            lack = work.count[level, LACK + k]
            hope, behind = work.worth[level, HOPE + k], work.worth[level, BEHIND + k]
            nearer, odds = hope * outlook.rise[space], behind * outlook.fall[space]
            worth += outlook.prize[k] if lack == 1 else nearer / (1.0 + odds)
            worth -= hope / (1.0 + behind)
    return worth


@compiled
def best_filling(tables: Any, outlook: Any, work: Any, level: int, design: int) -> Any:
    """The free space where a tile brings the achievements nearest, -1 if there is none, and by
    how much."""
    chosen, best = -1, NEVER
    for side in range(2 if tables.sided[design] else 1):
        space = np.int64(tables.space[design, side])
        if work.count[level, ROOM + space] > 0:
            worth = filling(tables, outlook, work, level, space)
            if worth > best:
                chosen, best = space, worth
    return chosen, best


@compiled_apart
def list_tiles(
    params: Any, tables: Any, outlook: Any, work: Any, counts: Any, held: int
) -> tuple[int, float]:
    """List the tiles of a hand, int (D,), that have a free space: how many, and what keeping all
    is worth. ``held``: achievements in the storage."""
    n = 0
    for design in range(len(counts)):
        if counts[design] > 0:
            space, nearer = best_filling(tables, outlook, work, 0, design)
            if space < 0:
                continue
            gain = tables.points[design] - outlook.space_cost[space]
            later = gain + nearer
            for ink in range(INKS):
                later -= tables.cost[design, ink] * outlook.price[ink, 0]
            keep = params.keep * outlook.keep_later * max(later, 0.0)
            room = work.count[0, ROOM + space]
            if tables.sided[design]:
                room = work.count[0, ROOM + tables.space[design, 0]]
                room += work.count[0, ROOM + tables.space[design, 1]]
            for _ in range(min(np.int64(counts[design]), room)):
                n = put_tile(work, n, design, HAND, keep, gain)
    # Only so many can be kept: of a kind, as there are spaces; in all, as the storage holds.
    total, kept = 0.0, held
    used = np.zeros(SPACES, np.int64)
    for i in range(n):
        first, second = tables.space[work.design[i], 0], tables.space[work.design[i], 1]
        room = work.count[0, ROOM + first] + (
            work.count[0, ROOM + second] if first != second else 0
        )
        if used[first] < room and kept < tables.storage_limit:
            used[first] += 1
            kept += 1
            total += work.keep[i]
        else:
            work.keep[i] = 0.0
    return n, total


@compiled
def cost_of(tables: Any, lectern: int, design: int, ink: int) -> int:
    """What a tile costs of an ink with this lectern, -1 for none."""
    return np.int64(
        tables.costs[lectern, design, ink] if lectern >= 0 else tables.cost[design, ink]
    )


@compiled
def pay(tables: Any, outlook: Any, work: Any, level: int, lectern: int, design: int) -> float:
    """Pay for a tile at this level (S7); returns the worth of the inks, NEVER if there are too few.

    Inks to be taken from the pot come after those held, but before gold for another colour.
    """
    worth, gilt = 0.0, 0
    for ink in range(INKS):
        need = cost_of(tables, lectern, design, ink)
        if ink == GOLD:
            need += gilt
        while need > 0:
            held = work.count[level, HELD + ink]
            if held > 0:
                worth += outlook.price[ink, min(held, PRICED) - 1]
                work.count[level, HELD + ink] = held - 1
            elif work.count[level, POT + ink] > 0 and work.count[level, SHARE] > 0:
                worth += outlook.price[ink, 0]
                work.count[level, POT + ink] -= 1
                work.count[level, SHARE] -= 1
            elif ink == BLACK or ink == GOLD:
                return NEVER
            else:
                gilt += need
                break
            need -= 1
    return worth


@compiled
def sort_bounds(work: Any, n: int) -> None:
    """Put the tiles with the highest bound first, then turn bounds into sums from there on.

    So the sum of k bounds from place i on is ``bound[i] - bound[i + k]``.
    """
    for i in range(1, n):
        bound, design, source = work.bound[i], work.design[i], work.source[i]
        keep, gain, at = work.keep[i], work.gain[i], i
        while at > 0 and work.bound[at - 1] < bound:
            work.bound[at] = work.bound[at - 1]
            work.design[at], work.source[at] = work.design[at - 1], work.source[at - 1]
            work.keep[at], work.gain[at] = work.keep[at - 1], work.gain[at - 1]
            at -= 1
        work.bound[at], work.design[at], work.source[at] = bound, design, source
        work.keep[at], work.gain[at] = keep, gain
    work.bound[n] = 0.0
    for i in range(n - 1, -1, -1):
        work.bound[i] = work.bound[i + 1] + max(work.bound[i], 0.0)


@compiled
def fill_space(tables: Any, outlook: Any, work: Any, level: int, space: int) -> None:
    """Fill a space at this level."""
    work.count[level, ROOM + space] -= 1
    for k in range(ACHIEVEMENTS):
        if tables.group[k, space]:
            work.count[level, LACK + k] -= 1
            work.worth[level, HOPE + k] *= outlook.rise[space]
            work.worth[level, BEHIND + k] *= outlook.fall[space]


@compiled
def most_tiles(work: Any, level: int, least_black: int, least_inks: int) -> int:
    """How many more tiles can be placed with ink at most, if each needs so many."""
    black = work.count[level, HELD + BLACK]
    black += min(work.count[level, POT + BLACK], work.count[level, SHARE])
    inks = work.count[level, SHARE]
    for ink in range(INKS):
        inks += work.count[level, HELD + ink]
    most = TILES
    if least_black > 0:
        most = min(most, black // least_black)
    return min(most, inks // least_inks) if least_inks > 0 else most


@compiled
def find_plan(
    tables: Any, outlook: Any, work: Any, n: int, lectern: int, nodes: int
) -> tuple[int, float]:
    """The best set of tiles to place with ink: how many, and the gain.

    Into ``work.best_at`` and ``work.best_space``, and the level after it into AFTER. It tries so
    many sets at most.
    """
    least_black, least_inks = TILES, TILES
    for i in range(n):
        needs = 0
        for ink in range(INKS):
            cost = cost_of(tables, lectern, work.design[i], ink)
            needs += cost
            if ink == BLACK:
                least_black = min(least_black, cost)
        least_inks = min(least_inks, needs)
    copy_level(work, 0, AFTER)
    best, count, level, i = 0.0, 0, 0, 0
    more = most_tiles(work, 0, least_black, least_inks)
    while True:
        if i < n and level < DEPTH and nodes > 0:
            bound = work.bound[i] - work.bound[min(i + more, n)]
            if work.worth[level, GAINED] + bound > best + 1e-9:
                nodes -= 1
                copy_level(work, level, level + 1)
                if place_at(tables, outlook, work, level + 1, i, lectern):
                    level += 1
                    work.at[level] = i
                    more = most_tiles(work, level, least_black, least_inks)
                    if work.worth[level, GAINED] > best + 1e-9:
                        best, count = work.worth[level, GAINED], level
                        copy_level(work, level, AFTER)
                        for k in range(level):
                            work.best_at[k] = work.at[k + 1]
                            work.best_space[k] = work.space[k + 1]
                i += 1
                continue
        if level == 0:
            break
        i = work.at[level] + 1
        level -= 1
        more = most_tiles(work, level, least_black, least_inks)
        while i < n and work.design[i] == work.design[i - 1] and work.gain[i] == work.gain[i - 1]:
            i += 1  # the same tile again
    return count, best


@compiled
def place_at(tables: Any, outlook: Any, work: Any, level: int, i: int, lectern: int) -> bool:
    """Place the i-th tile with ink at this level; False if it can't be done."""
    design = work.design[i]
    if work.source[i] != HAND:
        if work.count[level, TOKENS] == 0:
            return False
        work.count[level, TOKENS] -= 1
    space, nearer = best_filling(tables, outlook, work, level, design)
    if space < 0:
        return False
    inks = pay(tables, outlook, work, level, lectern, design)
    if inks == NEVER:
        return False
    work.worth[level, GAINED] += work.gain[i] - work.keep[i] + nearer - inks
    work.space[level] = space
    fill_space(tables, outlook, work, level, space)
    return True


@compiled
def list_bought(tables: Any, outlook: Any, work: Any, n: int, goods: Any) -> int:
    """Add the tiles worth buying to the list; goods float (P, D): the price of each, 0 for none
    (row 0 the scriptorium's, else a relative seat's). Returns how many there are in all."""
    for source in range(len(goods)):
        for design in range(goods.shape[1]):
            if goods[source, design] > 0.0 and n < TILES:
                space, nearer = best_filling(tables, outlook, work, 0, design)
                gain = tables.points[design] - goods[source, design]
                if space >= 0 and gain + nearer > outlook.space_cost[space]:
                    work.design[n], work.source[n], work.keep[n] = design, source, 0.0
                    work.gain[n] = gain - outlook.space_cost[space]
                    n += 1
    return n


@compiled
def bound_tiles(tables: Any, outlook: Any, work: Any, n: int, lectern: int) -> int:
    """Set the bounds, leave out the tiles that can't be placed with ink; how many are left."""
    m = 0
    for i in range(n):
        copy_level(work, 0, AFTER)
        if place_at(tables, outlook, work, AFTER, i, lectern):
            work.design[m], work.source[m] = work.design[i], work.source[i]
            work.keep[m], work.gain[m] = work.keep[i], work.gain[i]
            work.bound[m] = work.worth[AFTER, GAINED]
            m += 1
    return m


@compiled
def list_spare(tables: Any, work: Any, n: int) -> int:
    """List the edges of the hand, those most worth keeping first; how many."""
    m = 0
    for i in range(n):
        if tables.edge[work.design[i]] and work.source[i] == HAND:
            work.spare[m], work.spare_keep[m] = work.design[i], work.keep[i]
            m += 1
    return m


@compiled
def drop_placed(work: Any, spare: int, count: int) -> int:
    """Take the edges that the plan places with ink off the list of spare ones; how many stay."""
    for k in range(count):
        i = work.best_at[k]
        for j in range(spare):
            if work.spare[j] == work.design[i] and work.source[i] == HAND:
                for at in range(j, spare - 1):
                    work.spare[at] = work.spare[at + 1]
                    work.spare_keep[at] = work.spare_keep[at + 1]
                spare -= 1
                break
    return spare


@compiled
def fill_edges(
    tables: Any, outlook: Any, work: Any, spare: int, more: int, price: float
) -> tuple[float, int, int]:
    """After the plan, the edges worth placing without ink: (gain, how many left, how many right).

    Those least worth keeping go first; ``more`` can be bought at ``price`` each. Levels 0 and 1 are
    overwritten.
    """
    best, left, right = 0.0, 0, 0
    copy_level(work, AFTER, 0)
    work.worth[0, GAINED] = 0.0
    for a in range(spare + more + 1):
        copy_level(work, 0, 1)
        for b in range(a, spare + more + 1):
            if work.worth[1, GAINED] > best + 1e-9:
                best, left, right = work.worth[1, GAINED], a, b - a
            if work.count[1, ROOM + EDGE_RIGHT] == 0 or b == spare + more:
                break
            cost = work.spare_keep[spare - 1 - b] if b < spare else price
            put_edge(tables, outlook, work, 1, EDGE_RIGHT, cost)
        if work.count[0, ROOM + EDGE_LEFT] == 0 or a == spare + more:
            break
        cost = work.spare_keep[spare - 1 - a] if a < spare else price
        put_edge(tables, outlook, work, 0, EDGE_LEFT, cost)
    return best, left, right


@compiled
def put_edge(tables: Any, outlook: Any, work: Any, level: int, space: int, cost: float) -> None:
    """Place an edge without ink at this level."""
    work.worth[level, GAINED] += filling(tables, outlook, work, level, space)
    work.worth[level, GAINED] -= outlook.space_cost[space] + cost
    fill_space(tables, outlook, work, level, space)
