"""The beam: positions of the same day and the same point of a turn, the best of them played on.

Everything here can be compiled. A *pool* holds positions at one point of a day: point 0 is the
start of a turn, point k + 1 the hires once k of them have been made. Every play leads to a later
point or a later day (a sale that waits, a turn that ends), so that pools are closed one after the
other: all but the best positions are dropped, and each of these is played on in every way there is
up to the next point. Of positions with the same digest, which differ in florins at most, the one
with more florins is kept: it can do all that the other can.

Lowerre, "The HARPY Speech Recognition System" (1976), for the beam search.

Members of ``g``, beside t, a, s (see ``envs/compiled/loops.py``) and v (of ``value``):

    days, points, ring     pools: point p of day d is pool (d % ring) · points + p
    room                   rows of a pool
    widths                 (points,) positions kept as a pool is pruned
    waits                  days that a sale waits at most
    spare                  the first of SPARE_ROWS rows of ``s`` to work in
    count, floor           (pools,) positions; worth that another must exceed
    places                 int32 (pools, power of 2) by digest: place in the pool + 1, 0 if free
    value, digest          (rows,) of each position
    origin, steps, path    (rows,), (rows,), (rows, M) the node it comes from, the actions since
    node_origin, ..        (nodes,), (nodes,), (nodes, M) the same of closed positions
    mask                   bool (SPARE_ROWS, A)
    now, best_path         (M,) the last actions of the play that is tried, and of the best end
    tally                  NODES closed, BEST score, FROM which node, LENGTH of its last actions,
                           TRIED: positions looked at
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incunabula.agents.exact.walk import copy_row
from incunabula.agents.hindsight.value import worth
from incunabula.envs.bibliogamo.kernels import (
    PHASE_OVER,
    PHASE_SELL,
    PHASE_TRAVEL,
    act,
    begin,
)
from incunabula.envs.bibliogamo.kernels_look import legal
from incunabula.envs.chance import scramble
from incunabula.envs.compiled.functions import compiled, compiled_apart, compiled_once
from incunabula.envs.compiled.loops import TURN_DUE

NODES, BEST, FROM, LENGTH, TRIED, TALLIES = 0, 1, 2, 3, 4, 5
LOWEST = -1e18
NO_SCORE = -(1 << 40)
NOWHERE = -1  # the origin of the first position
SPARE_ROWS = 3
ROOM = 3  # positions that a pool holds before it is pruned, for each that is kept


@compiled_once
def copy_game(t: Any, s: Any, i: int, j: int) -> None:
    """Make row ``j`` as row ``i``, hidden order included; all rows have the same seed."""
    copy_row(t, s, i, s, j)
    s.shuffles[j] = s.shuffles[i]
    for k in range(t.hand_size, t.hand_size + s.deck_left[i]):
        s.deck[j, k] = s.deck[i, k]


@compiled_apart
def digest_of(t: Any, s: Any, i: int) -> np.uint64:
    """A hash of all that matters of row ``i`` in its pool but for the florins.

    The order of the deck follows from its cards and the number of the shuffle.
    """
    mixed = scramble(np.uint64(s.shuffles[i] + 1))
    word = np.uint64(0)
    for card in range(t.cards):
        word = word * np.uint64(4) + np.uint64(s.place[i, card])
        if card % 32 == 31:
            mixed = scramble(mixed ^ word)
            word = np.uint64(0)
    mixed = scramble(mixed ^ word)
    word = np.uint64(s.phase[i]) * np.uint64(1 << 32) + np.uint64(s.librarian[i])
    mixed = scramble(mixed ^ word)
    word = np.uint64(s.banned[i] + 1) * np.uint64(1 << 32) + np.uint64(s.books[i])
    mixed = scramble(mixed ^ word)
    for tower in range(t.towers):
        word = np.uint64(0)
        for k in range(t.types):
            word = word * np.uint64(65599) + np.uint64(s.filled[i, tower, k])
        mixed = scramble(mixed ^ word)
    word = np.uint64(0)
    for j in range(t.slots):
        word = word * np.uint64(2) + np.uint64(s.slots_filled[i, j])
        if j % 64 == 63:
            mixed = scramble(mixed ^ word)
            word = np.uint64(0)
    return scramble(mixed ^ word)


@compiled
def place_of(places: Any, digest: Any, first: int, sought: np.uint64) -> int:
    """Where ``places`` (power of 2,) has a digest, or the free place it would take."""
    last = len(places) - 1
    at = np.int64(sought & np.uint64(last))
    while places[at] != 0 and digest[first + places[at] - 1] != sought:
        at = (at + 1) & last
    return int(at)


@compiled_apart
def offer(g: Any, i: int, point: int, origin: int, steps: int) -> None:
    """Put row ``i`` into the pool of its day and ``point``, if it is good enough."""
    t, s = g.t, g.s
    g.tally[TRIED] += 1
    day = int(s.time[i])
    pool = day % g.ring * g.points + point
    value = worth(t, g.v, s, i, t.days - day + (1 if point == 0 else 0), point == 0)
    if value <= g.floor[pool]:
        return
    first, digest = pool * g.room, digest_of(t, s, i)
    at = place_of(g.places[pool], g.digest, first, digest)
    if g.places[pool, at] != 0:
        row = first + g.places[pool, at] - 1
        if value <= g.value[row]:
            return
    else:
        row = first + g.count[pool]
        g.count[pool] += 1
        g.places[pool, at] = g.count[pool]
    copy_game(t, s, i, row)
    g.value[row], g.digest[row], g.origin[row], g.steps[row] = value, digest, origin, steps
    for k in range(steps):
        g.path[row, k] = g.now[k]
    if g.count[pool] == ROOM * g.widths[point]:
        prune(g, pool)


@compiled_apart
def prune(g: Any, pool: int) -> None:
    """Drop all but the best positions of a pool; of equals the first stay."""
    t, s, first = g.t, g.s, pool * g.room
    count, width = int(g.count[pool]), int(g.widths[pool % g.points])
    if count <= width:
        return
    order = np.argsort(-g.value[first : first + count], kind="mergesort")
    kept = np.zeros(count, np.bool_)
    for k in range(width):
        kept[order[k]] = True
    g.floor[pool] = g.value[first + order[width - 1]]
    free = 0
    for k in range(width, count):
        if not kept[k]:
            continue
        while kept[free]:
            free += 1
        kept[free] = True
        copy_game(t, s, first + k, first + free)
        g.value[first + free], g.digest[first + free] = g.value[first + k], g.digest[first + k]
        g.origin[first + free], g.steps[first + free] = g.origin[first + k], g.steps[first + k]
        for j in range(g.steps[first + k]):
            g.path[first + free, j] = g.path[first + k, j]
    g.count[pool] = width
    for at in range(g.places.shape[1]):
        g.places[pool, at] = 0
    for k in range(width):
        at = place_of(g.places[pool], g.digest, first, g.digest[first + k])
        g.places[pool, at] = k + 1


@compiled_apart
def close_pool(g: Any, day: int, point: int) -> None:
    """Play on the best positions of a pool, and empty it."""
    pool = day % g.ring * g.points + point
    prune(g, pool)
    first, count = pool * g.room, int(g.count[pool])
    for k in range(count):
        row, node = first + k, int(g.tally[NODES])
        g.tally[NODES] += 1
        g.node_origin[node], g.node_steps[node] = g.origin[row], g.steps[row]
        for j in range(g.steps[row]):
            g.node_path[node, j] = g.path[row, j]
        if point == 0:
            travel_and_sell(g, row, node)
        else:
            lift_and_hire(g, row, node, point)
    g.count[pool], g.floor[pool] = 0, LOWEST
    for at in range(g.places.shape[1]):
        g.places[pool, at] = 0


@compiled_apart
def travel_and_sell(g: Any, i: int, node: int) -> None:
    """From the start of a turn: every walk, with and without a sale, after every wait."""
    t, a, s = g.t, g.a, g.s
    moved, sold = g.spare, g.spare + 1
    if s.phase[i] != PHASE_TRAVEL:
        copy_game(t, s, i, moved)
        sell(g, moved, sold, node, 0)
        return
    legal(t, a, s, i, g.mask[0])
    for action in range(g.mask.shape[1]):
        if g.mask[0, action]:
            copy_game(t, s, i, moved)
            act(t, a, s, moved, action)
            g.now[0] = action
            sell(g, moved, sold, node, 1)


@compiled_apart
def sell(g: Any, i: int, sold: int, node: int, steps: int) -> None:
    """Keep, and sell after every wait; row ``i`` and those from ``sold`` on are overwritten."""
    t, a, s = g.t, g.a, g.s
    if s.phase[i] != PHASE_SELL:
        offer(g, i, 1, node, steps)
        return
    copy_game(t, s, i, sold)
    act(t, a, s, sold, a.keep)
    g.now[steps] = a.keep
    offer(g, sold, 1, node, steps + 1)
    act(t, a, s, i, a.sell)
    g.now[steps] = a.sell
    steps += 1
    for waited in range(g.waits + 1):
        copy_game(t, s, i, sold)
        act(t, a, s, sold, a.accept)
        g.now[steps] = a.accept
        offer(g, sold, 1, node, steps + 1)
        legal(t, a, s, i, g.mask[1])
        if waited == g.waits or not g.mask[1, a.wait]:
            break
        act(t, a, s, i, a.wait)
        g.now[steps] = a.wait
        steps += 1


@compiled_apart
def lift_and_hire(g: Any, i: int, node: int, point: int) -> None:
    """From the hires of a turn: every lift or none, then every hire with every payment, or none."""
    t, a, s = g.t, g.a, g.s
    lifted = g.spare
    legal(t, a, s, i, g.mask[0])
    copy_game(t, s, i, lifted)
    hire(g, lifted, node, 0, point)
    for action in range(a.lift, a.pay):
        if g.mask[0, action]:
            copy_game(t, s, i, lifted)
            act(t, a, s, lifted, action)
            g.now[0] = action
            hire(g, lifted, node, 1, point)


@compiled_apart
def hire(g: Any, i: int, node: int, steps: int, point: int) -> None:
    """End the turn, or hire and pay."""
    t, a, s = g.t, g.a, g.s
    hired, paid = g.spare + 1, g.spare + 2
    copy_game(t, s, i, paid)
    g.now[steps] = a.end
    go_on(g, paid, act(t, a, s, paid, a.end), node, steps + 1, point)
    legal(t, a, s, i, g.mask[1])
    for action in range(a.hire, a.lift):
        if not g.mask[1, action]:
            continue
        copy_game(t, s, i, hired)
        act(t, a, s, hired, action)
        g.now[steps] = action
        legal(t, a, s, hired, g.mask[2])
        for pay in range(a.pay, a.end):
            if g.mask[2, pay]:
                copy_game(t, s, hired, paid)
                g.now[steps + 1] = pay
                go_on(g, paid, act(t, a, s, paid, pay), node, steps + 2, point)


@compiled_apart
def go_on(g: Any, i: int, happened: int, node: int, steps: int, point: int) -> None:
    """Start the turn that is due, and put the position where it belongs."""
    t, s = g.t, g.s
    if happened == TURN_DUE:
        begin(t, s, i)
        offer(g, i, 0, node, steps)
    elif s.phase[i] == PHASE_OVER:
        g.tally[TRIED] += 1
        if s.score[i] > g.tally[BEST]:
            g.tally[BEST], g.tally[FROM], g.tally[LENGTH] = s.score[i], node, steps
            for k in range(steps):
                g.best_path[k] = g.now[k]
    else:
        offer(g, i, point + 1, node, steps)
