"""From states and a policy's actions to all the states that can follow; can be compiled.

Members of ``g``, beside t, a, s (a batch of games, and two rows more) and c, choose, work:

    p, rows             the State of the pool, games that wait to be asked about; its number of rows
    codes, values, room the table: codes of states and the policy's action in each
    counts              WAITING: rows of the pool in use; TAKEN: entries of the table
"""

from __future__ import annotations

from typing import Any

from incunabula.agents.exact.codes import ENDED, GOES_ON, encode, settled
from incunabula.agents.exact.outcomes import NEXT_TURN, ONLY, count_outcomes
from incunabula.agents.exact.table import find
from incunabula.agents.exact.walk import copy_row, draws, kind_of_draw, take
from incunabula.envs.compiled.functions import compiled, compiled_apart

WAITING, TAKEN, COUNTS = 0, 1, 2  # of ``counts``
UNASKED = -1.0  # instead of an action


@compiled_apart
def spread(g: Any, first: int, actions: Any) -> int:
    """Note the actions of rows ``first`` and following, int (n,), and put the decisions they lead
    to into the pool, each once; the row at which the pool or the table is too full, or n.

    An action of NEXT_TURN starts the row's next turn and isn't noted.
    """
    spare = len(actions)
    for i in range(first, len(actions)):
        action = int(actions[i])
        if action != NEXT_TURN:  # the state was noted when it was put into the pool
            g.values[find(g.codes, encode(g.t, g.c, g.s, i, GOES_ON))] = action
        if not follow(g, i, spare, action):
            return i
    return len(actions)


@compiled_apart
def note(g: Any, code: int) -> bool:
    """Whether a state is new; then it is in the table now."""
    place = find(g.codes, code)
    if g.codes[place] == code:
        return False
    g.codes[place], g.values[place] = code, UNASKED
    g.counts[TAKEN] += 1
    return True


@compiled_apart
def follow(g: Any, i: int, spare: int, action: int) -> bool:
    """Put what an action of row ``i`` leads to into the pool; False where there is no room."""
    t, a, s = g.t, g.a, g.s
    if action != NEXT_TURN and not draws(a, action):
        copy_row(t, s, i, s, spare)
        if not take(t, a, s, spare, action, ONLY, g.choose, g.work):
            return add(g, spare)
        # The turn has ended; it is started once, from wherever it was ended first.
        code = encode(t, g.c, s, spare, ENDED)
        if g.codes[find(g.codes, code)] == code:
            return True
        outcomes = count_outcomes(t, g.choose, s, spare, NEXT_TURN)
        if not has_room(g, outcomes + 1):
            return False
        note(g, code)
        branch(g, spare, spare + 1, NEXT_TURN, outcomes)
        return True
    outcomes = count_outcomes(t, g.choose, s, i, kind_of_draw(a, action))
    if not has_room(g, outcomes):
        return False
    branch(g, i, spare, action, outcomes)
    return True


@compiled_apart
def branch(g: Any, i: int, spare: int, action: int, outcomes: int) -> None:
    """Put every outcome into the pool, which has room for them; row ``spare`` is overwritten."""
    for k in range(outcomes):
        copy_row(g.t, g.s, i, g.s, spare)
        take(g.t, g.a, g.s, spare, action, k, g.choose, g.work)
        add(g, spare)


@compiled
def has_room(g: Any, states: int) -> bool:
    """Whether so many states more fit into pool and table."""
    fits = g.counts[WAITING] + states <= g.rows
    return fits and g.counts[TAKEN] + states < g.room


@compiled_apart
def add(g: Any, i: int) -> bool:
    """Put row ``i`` into the pool if it is a decision that counts and is new; False where there is
    no room."""
    if settled(g.t, g.s, i, GOES_ON):
        return True
    if not has_room(g, 1):
        return False
    if note(g, encode(g.t, g.c, g.s, i, GOES_ON)):
        copy_row(g.t, g.s, i, g.p, int(g.counts[WAITING]))
        g.counts[WAITING] += 1
    return True
