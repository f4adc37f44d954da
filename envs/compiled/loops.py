"""The loops that run a game's kernels over a batch; written once for all games.

A kernel is a function over one row of the state arrays. The kernels that every game brings are
declared here, with what they must do; ``Compiled.with_kernels`` puts a game's own in their place.

Kernels and loops take the same few things:

    t   the edition (and what the rules need beside it)
    a   the action table
    s   the state, arrays with a leading batch axis
    l   the observation's table
    i   a row

each an object whose attributes are arrays and integers (see ``arrays.Arrays``).
"""

# ruff: noqa: E741 (l is a table like t and a)

from __future__ import annotations

from typing import Any

import numpy as np

from incunabula.envs.chance import episode_seed
from incunabula.envs.compiled.functions import compiled_apart

# What a kernel says has happened.
GOES_ON, TURN_DUE, TAPE_SHORT = 0, 1, 2
ALL_DONE = -1  # what a loop returns unless it stopped


# What each game brings ----------------------------------------------------------------------------


@compiled_apart
def set_up(t: Any, s: Any, i: int, how: int) -> int:
    """Make row ``i`` a new game, its seed or tape being set, up to what ``begin`` does.

    ``how``: what else a deal takes, -1 if nothing. Returns GOES_ON, or TAPE_SHORT.
    """
    raise NotImplementedError


@compiled_apart
def begin(t: Any, s: Any, i: int) -> int:
    """Start the turn (round) that is due. Returns GOES_ON, or TAPE_SHORT."""
    raise NotImplementedError


@compiled_apart
def act(t: Any, a: Any, s: Any, i: int, action: int) -> int:
    """Take a legal action. Returns GOES_ON, TURN_DUE where ``begin`` is due, or TAPE_SHORT."""
    raise NotImplementedError


@compiled_apart
def legal(t: Any, a: Any, s: Any, i: int, mask: Any) -> None:
    """Write the legal actions of row ``i`` into ``mask``, bool (A,); none once the game is over."""
    raise NotImplementedError


@compiled_apart
def observe(t: Any, l: Any, s: Any, i: int, seat: int, out: Any) -> None:
    """Write what ``seat`` sees of row ``i`` into ``out``, float32 (F,); -1 is who is to move."""
    raise NotImplementedError


# Over the rows of an engine -----------------------------------------------------------------------

# What to do in a row, in this order; numbers that can be added up.
SET_UP, ACT, BEGIN, LEGAL, OBSERVE = 1, 2, 4, 8, 16


@compiled_apart
def run_rows(g: Any, what: int, rows: Any, number: Any, mask: Any, out: Any) -> int:
    """Do ``what`` in each of these rows; ALL_DONE, or the place of one whose tape has run out.

    One function for all, as each that is compiled takes seconds.

    Args:
        g: t, a, s and l.
        what: a sum of SET_UP, ACT (and start the turn that is due then), BEGIN, LEGAL, OBSERVE.
        rows: distinct row numbers, intp (n,).
        number: intp (n,): ``how`` of SET_UP, the action of ACT, the seat of OBSERVE.
        mask: bool (N, A), renewed by LEGAL.
        out: float32 (n, F), written by OBSERVE.
    """
    t, a, s, l = g.t, g.a, g.s, g.l
    for k in range(len(rows)):
        i = rows[k]
        if what & SET_UP and set_up(t, s, i, number[k]) == TAPE_SHORT:
            return k
        if what & ACT and advance(t, a, s, i, number[k]) == TAPE_SHORT:
            return k
        if what & BEGIN and begin(t, s, i) == TAPE_SHORT:
            return k
        if what & LEGAL:
            legal(t, a, s, i, mask[i])
        if what & OBSERVE:
            observe(t, l, s, i, number[k], out[k])
    return ALL_DONE


@compiled_apart
def advance(t: Any, a: Any, s: Any, i: int, action: int) -> int:
    """Take a legal action and start the turn that is due then. Returns GOES_ON, or TAPE_SHORT."""
    happened = act(t, a, s, i, action)
    return begin(t, s, i) if happened == TURN_DUE else happened


# Games that go on for ever ------------------------------------------------------------------------


@compiled_apart
def deal_next(t: Any, s: Any, g: Any, i: int) -> None:
    """Deal the next game of row ``i``, up to its first decision."""
    g.episode[i] += np.uint64(1)
    s.seed[i] = episode_seed(g.base[i], g.episode[i])
    s.tape_length[i] = -1
    set_up(t, s, i, g.how)
    begin(t, s, i)


@compiled_apart
def step_games(g: Any, actions: Any) -> int:
    """One step of a ``Stepper``: the place of an illegal action, with nothing changed, else
    ALL_DONE.

    ``g``: t, a, s and l, and the stepper's own arrays.
    """
    t, a, s, l = g.t, g.a, g.s, g.l
    mask, score, reward = g.mask, g.score, g.reward
    for i in range(len(actions)):
        action = actions[i]
        if action < 0 or action >= mask.shape[1] or not mask[i, action]:
            return i
    for i in range(len(actions)):
        for seat in range(score.shape[1]):
            reward[i, seat] = -score[i, seat]
        advance(t, a, s, i, actions[i])
        for seat in range(score.shape[1]):
            reward[i, seat] += score[i, seat]
        over = s.phase[i] == g.over
        g.terminated[i] = over
        if over:
            for seat in range(score.shape[1]):
                g.final_score[i, seat] = score[i, seat]
            deal_next(t, s, g, i)
        legal(t, a, s, i, mask[i])
        observe(t, l, s, i, -1, g.observation[i])
    return ALL_DONE
