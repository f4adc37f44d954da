"""Backward induction over information states, depth first; everything here can be compiled.

Bellman, "Dynamic Programming" (1957): the value of a state is the best over its actions of what the
action scores and the mean value of the states it can lead to. Days only go forward, so a state
never leads back to itself; each is worked out once and kept in a table.

The state at each depth lies in a row of its own, and the next deeper row is a copy on which the
rules' kernels act. A node is a decision, or a chance: a turn that is due, or the flips of a sale or
a wait. Where a walk is interrupted, all of it lies in the arrays of ``g``, and it can go on.

Members of ``g``, beside t, a, s (see ``envs/compiled/loops.py``), D being the deepest row:

    c, choose, work         of ``codes`` and ``outcomes``
    codes, values, room     the table
    told, told_action       in mode FOLLOW: codes and actions of a policy, a table too
    mode                    BEST, MEAN or FOLLOW
    mask        bool (D, A) actions of a decision
    action      (D,) what a chance node is the outcome of; DECISION at a decision
    code        (D,) of the node, 0 where it isn't kept
    at, most    (D,) the action or outcome that is next; how many outcomes there are
    count       (D,) actions or outcomes weighed
    gain        (D,) what was scored on the way to the node
    total       (D,) float64, the best of them or their sum
    counts      DEPTH, and what has been counted
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incunabula.agents.exact.codes import encode, settled
from incunabula.agents.exact.outcomes import NEXT_TURN, ONLY, count_outcomes, lay_outcome
from incunabula.agents.exact.table import find
from incunabula.envs.bibliogamo.kernels import SELL, WAIT, act, begin
from incunabula.envs.bibliogamo.kernels_look import legal
from incunabula.envs.compiled.functions import compiled, compiled_apart, compiled_once
from incunabula.envs.compiled.loops import TURN_DUE

DECISION = -2  # instead of the action of a chance node
BEST, MEAN, FOLLOW = 0, 1, 2  # of a state's actions: the best, their mean, a policy's
DONE, MORE, FULL, UNTOLD = 0, 1, 2, 3  # how a walk ends; UNTOLD: the policy has no action
DEPTH, DECISIONS, CHANCES, COUNTS = 0, 1, 2, 3  # of ``counts``
NONE = np.int64(0)  # no code, nothing scored
LOWEST = -1e18


@compiled_once
def copy_row(t: Any, a: Any, i: int, b: Any, j: int) -> None:
    """Make row ``j`` of state ``b`` as row ``i`` of ``a`` in all that the rules change."""
    for k in range(a.marks.shape[1]):
        b.marks[j, k] = a.marks[i, k]
    for k in range(a.counts.shape[1]):
        b.counts[j, k] = a.counts[i, k]
    b.score[j] = a.score[i]
    b.display_len[j] = a.display_len[i]
    for tower in range(t.towers):
        b.lacks[j, tower] = a.lacks[i, tower]
        b.next_slot[j, tower] = a.next_slot[i, tower]
        for k in range(t.types):
            b.filled[j, tower, k] = a.filled[i, tower, k]
    for k in range(t.slots):
        b.slots_filled[j, k] = a.slots_filled[i, k]
    for k in range(t.hand_size):
        b.hand[j, k] = a.hand[i, k]
    for k in range(a.display.shape[1]):
        b.display[j, k] = a.display[i, k]
    for k in range(t.cards):
        b.place[j, k] = a.place[i, k]


@compiled
def draws(a: Any, action: int) -> bool:
    """Whether the action flips cards, SELL or WAIT."""
    return a.kind[action] in (SELL, WAIT)


@compiled
def kind_of_draw(a: Any, action: int) -> int:
    """What ``outcomes`` calls it."""
    return int(a.kind[action]) if action >= 0 else int(NEXT_TURN)


@compiled_once
def take(t: Any, a: Any, s: Any, i: int, action: int, k: int, choose: Any, work: Any) -> bool:
    """Take a legal action in row ``i``, or start its NEXT_TURN, with outcome ``k`` of what is drawn
    (0 where nothing is); whether a turn is due then."""
    if action == NEXT_TURN or draws(a, action):
        lay_outcome(t, choose, s, i, kind_of_draw(a, action), k, work)
    if action == NEXT_TURN:
        begin(t, s, i)
        return False
    return act(t, a, s, i, action) == TURN_DUE


@compiled_apart
def run(g: Any, steps: int) -> int:
    """Go on for a number of steps; DONE, MORE, FULL where the table must grow, or UNTOLD.

    Once DONE the value of the first node is ``g.total[0]``.
    """
    t, a, s = g.t, g.a, g.s
    d = int(g.counts[DEPTH])
    for _ in range(steps):
        if g.counts[DECISIONS] + g.counts[CHANCES] >= g.room:
            g.counts[DEPTH] = d
            return FULL
        at = next_branch(g, d)
        if at < 0:
            value = finish(g, d)
            if d == 0:
                g.total[0] = value
                return DONE
            d -= 1
            weigh(g, d, g.gain[d + 1] + value)
            continue
        below, action = d + 1, int(g.action[d])
        copy_row(t, s, d, s, below)
        if action == DECISION:
            if draws(a, at):
                d = below
                open_chance(g, d, at, NONE, NONE)
                continue
            action, at = at, int(ONLY)
        due = take(t, a, s, below, action, at, g.choose, g.work)
        gain = int(s.score[below]) - int(s.score[d])
        if settled(t, s, below, due):
            weigh(g, d, float(gain))
            continue
        code = encode(t, g.c, s, below, due)
        place = find(g.codes, code)
        if g.codes[place] == code:
            weigh(g, d, gain + g.values[place])
            continue
        d = below
        if due:
            open_chance(g, d, NEXT_TURN, code, gain)
        elif not open_decision(g, d, code, gain):
            g.counts[DEPTH] = d
            return UNTOLD
    g.counts[DEPTH] = d
    return MORE


@compiled
def next_branch(g: Any, d: int) -> int:
    """The action or outcome to look at next, -1 if there is none left."""
    at = int(g.at[d])
    if g.action[d] == DECISION:
        while at < g.mask.shape[1] and not g.mask[d, at]:
            at += 1
        g.most[d] = g.mask.shape[1]
    g.at[d] = at + 1
    return at if at < g.most[d] else -1


@compiled
def weigh(g: Any, d: int, value: float) -> None:
    """Count one branch of the node in."""
    g.count[d] += 1
    if g.action[d] == DECISION and g.mode != MEAN:
        g.total[d] = max(g.total[d], value)
    else:
        g.total[d] += value


@compiled
def finish(g: Any, d: int) -> float:
    """The value of a node whose branches have all been weighed; kept if it has a code."""
    value = g.total[d]
    if g.action[d] != DECISION or g.mode == MEAN:
        value /= g.count[d]
    if g.code[d] != 0:
        place = find(g.codes, g.code[d])
        g.codes[place] = g.code[d]
        g.values[place] = value
        g.counts[DECISIONS if g.action[d] == DECISION else CHANCES] += 1
    return value


@compiled_apart
def open_chance(g: Any, d: int, action: int, code: int, gain: int) -> None:
    """Begin a chance node in row ``d``."""
    g.action[d], g.code[d], g.gain[d] = action, code, gain
    g.at[d], g.count[d], g.total[d] = 0, 0, 0.0
    g.most[d] = count_outcomes(g.t, g.choose, g.s, d, kind_of_draw(g.a, action))


@compiled_apart
def open_decision(g: Any, d: int, code: int, gain: int) -> bool:
    """Begin a decision node in row ``d``; False if a policy that is followed doesn't know it."""
    g.action[d], g.code[d], g.gain[d] = DECISION, code, gain
    g.at[d], g.count[d], g.total[d] = 0, 0, 0.0 if g.mode == MEAN else LOWEST
    if g.mode != FOLLOW:
        legal(g.t, g.a, g.s, d, g.mask[d])
        return True
    place = find(g.told, code)
    for action in range(g.mask.shape[1]):
        g.mask[d, action] = False
    if g.told[place] == code:
        g.mask[d, int(g.told_action[place])] = True
    return g.told[place] == code


@compiled_apart
def worth(g: Any, i: int, spare: int, action: int) -> float:
    """What a legal action of row ``i``, or its NEXT_TURN, scores and then is worth, NaN if the
    table doesn't know; row ``spare`` is overwritten."""
    t, a, s = g.t, g.a, g.s
    outcomes = 1
    if action == NEXT_TURN or draws(a, action):
        outcomes = count_outcomes(t, g.choose, s, i, kind_of_draw(a, action))
    total = 0.0
    for k in range(outcomes):
        copy_row(t, s, i, s, spare)
        due = take(t, a, s, spare, action, k, g.choose, g.work)
        total += int(s.score[spare]) - int(s.score[i])
        if not settled(t, s, spare, due):
            code = encode(t, g.c, s, spare, due)
            place = find(g.codes, code)
            total += g.values[place] if g.codes[place] == code else np.nan
    return total / outcomes


@compiled_apart
def best_actions(g: Any, mask: Any, spare: int, chosen: Any) -> None:
    """The action worth most in each of the first rows, the first among equals, into ``chosen``,
    intp (n,); -1 where the table doesn't know. ``mask``: bool (n, A)."""
    for i in range(len(chosen)):
        best, chosen[i] = LOWEST, -1
        for action in range(mask.shape[1]):
            if mask[i, action]:
                value = worth(g, i, spare, action)
                if np.isnan(value):
                    chosen[i] = -1
                    break
                if value > best:
                    best, chosen[i] = value, action
