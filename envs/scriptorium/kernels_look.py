"""Legal actions and observations of Scriptorium for one game at a time, in numba's subset.

``legal`` and ``observation`` have them on arrays; both write the same. See ``kernels``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incunabula.envs.compiled.functions import compiled, compiled_apart
from incunabula.envs.scriptorium.kernels import (
    INK_COUNT,
    SPACE_COUNT,
    clear,
    lectern_of,
    seat_from,
    stored_by,
)
from incunabula.envs.scriptorium.rules import (
    ACHIEVEMENT,
    BUY,
    DISCARD_INK,
    END,
    LECTERN,
    PHASE_DISCARD,
    PHASE_ILLUMINATE,
    PHASE_INK,
    PHASE_LECTERN,
    PHASE_QUILL,
    POINTS,
    QUILL,
    TILE,
)
from incunabula.envs.scriptorium.state import MARKS
from incunabula.envs.scriptorium.tables import BLACK, GOLD

MARK_COUNT = len(MARKS)
ZERO, ONE = np.float32(0), np.float32(1)


# Legal actions ----------------------------------------------------------------------------------

# What an ink choice, the grimoire and a placement need, as bits of ``a.needs``.
# Phase 1: one, or two, of each ink in the pot; the grimoire.
ONE_INK, TWO_INKS, GRIMOIRE_THERE = 0, INK_COUNT, 2 * INK_COUNT
# Phase 3: a free space of each kind, the tile on the lectern or in storage, its cost.
SPACE_FREE, ON_LECTERN, IN_STORAGE, PAYABLE = 0, SPACE_COUNT, SPACE_COUNT + 1, SPACE_COUNT + 2


@compiled_apart
def legal(t: Any, a: Any, s: Any, i: int, mask: Any) -> None:
    """Write the legal actions of row ``i`` into ``mask``, bool (A,); none once the game is over."""
    clear(mask, False)
    phase, player, bound = s.phase[i], int(s.player[i]), a.bound
    if phase == PHASE_INK:
        legal_ink(a, s, i, mask)
    elif phase == PHASE_ILLUMINATE:
        mask[bound[END]] = True
        legal_places(t, a, s, i, player, mask)
        if s.tokens[i, player] > 0:
            legal_purchases(t, s, i, player, mask[bound[BUY] : bound[END]])
    elif phase == PHASE_DISCARD:
        legal_discards(t, a, s, i, player, mask)
    elif phase == PHASE_LECTERN:
        legal_lecterns(t, s, i, player, mask[bound[LECTERN] : bound[QUILL]])
    elif phase == PHASE_QUILL:
        mask[bound[QUILL]] = mask[bound[POINTS]] = True


@compiled
def allow(a: Any, there: int, first: int, last: int, mask: Any) -> None:
    """Of these actions, allow those of which every need is ``there``."""
    for action in range(first, last):
        mask[action] = (a.needs[action] & ~there) == 0


@compiled
def legal_ink(a: Any, s: Any, i: int, mask: Any) -> None:
    """Phase 1: inks that are in the pot, or the grimoire if nobody has it."""
    there = int(s.grimoire[i] < 0) << GRIMOIRE_THERE
    for ink in range(INK_COUNT):
        there |= int(s.pot[i, ink] > 0) << (ONE_INK + ink)
        there |= int(s.pot[i, ink] > 1) << (TWO_INKS + ink)
    allow(a, there, 0, a.bound[LECTERN], mask)


@compiled
def legal_lecterns(t: Any, s: Any, i: int, player: int, mask: Any) -> None:
    """Phase 2: a lectern in play that nobody owns, to oneself with the grimoire or to another.

    ``mask``: by lectern and receiver.
    """
    # To himself if he took the grimoire and has none yet, and then to nobody else; S4: he that
    # gives without the grimoire gives to another.
    own = player == s.grimoire[i] and lectern_of(s, i, player) < 0
    first, last = (0, 1) if own else (1, t.players)
    for clockwise in range(first, last):
        if lectern_of(s, i, seat_from(player, clockwise, t.players)) < 0:
            for lectern in range(t.lecterns):
                mask[lectern * t.max_players + clockwise] = s.in_play[i, lectern] > 0
    for seat in range(t.players):
        lectern = lectern_of(s, i, seat)
        if lectern >= 0:
            clear(mask[lectern * t.max_players : (lectern + 1) * t.max_players], False)


@compiled
def legal_places(t: Any, a: Any, s: Any, i: int, player: int, mask: Any) -> None:
    """Phase 3: a tile in hand on a free space that fits, with ink that he can pay or without."""
    free = 0
    for space in range(SPACE_COUNT):
        free |= int(s.filled[i, player, space] < t.capacity[space]) << (SPACE_FREE + space)
    costs, inks = t.costs[lectern_of(s, i, player)], s.inks[i, player]
    on_lectern, in_storage = s.stock[i, player, 0], s.stock[i, player, 1]
    for design in range(t.designs):
        if on_lectern[design] + in_storage[design] > 0:
            there = free | int(on_lectern[design] > 0) << ON_LECTERN
            there |= int(in_storage[design] > 0) << IN_STORAGE
            there |= int(can_pay(costs[design], inks)) << PAYABLE
            allow(a, there, a.places[design], a.places[design + 1], mask)


@compiled
def can_pay(cost: Any, inks: Any) -> bool:
    """S7: whether inks meet a cost, of which the lectern's own colour has been waived."""
    # The gold lectern waives gold in costs, but gives none to pay for other colours with.
    short = cost[GOLD]
    for ink in range(BLACK + 1, GOLD):
        short += max(0, cost[ink] - inks[ink])
    payable: bool = (cost[BLACK] <= inks[BLACK]) & (short <= inks[GOLD])  # black by black alone
    return payable


@compiled
def legal_purchases(t: Any, s: Any, i: int, player: int, mask: Any) -> None:
    """Phase 3: with a help token, tiles of the scriptorium and of the others' storage.

    ``mask``: by design and source.
    """
    for design in range(t.designs):
        mask[design * t.max_players] = s.market[i, design] > 0
    for clockwise in range(1, t.players):
        storage = s.stock[i, seat_from(player, clockwise, t.players), 1]
        for design in range(t.designs):
            mask[design * t.max_players + clockwise] = storage[design] > 0


@compiled
def legal_discards(t: Any, a: Any, s: Any, i: int, player: int, mask: Any) -> None:
    """Phase 4: from storage while it holds too much, then inks."""
    if stored_by(s, i, player) > t.storage_limit:
        allow_some(s.stock[i, player, 1], mask[a.bound[TILE] :])
        allow_some(s.achievements[i, player], mask[a.bound[ACHIEVEMENT] :])
    else:
        allow_some(s.inks[i, player], mask[a.bound[DISCARD_INK] :])


@compiled
def allow_some(counts: Any, mask: Any) -> None:
    """Allow what there is some of."""
    for k in range(len(counts)):
        mask[k] = counts[k] > 0


# Observations -----------------------------------------------------------------------------------


@compiled_apart
def observe(t: Any, l: Any, s: Any, i: int, seat: int, out: Any) -> None:  # noqa: E741
    """Write what ``seat`` sees of row ``i`` into ``out``, float32 (F,); -1 is who is to move."""
    observer = seat if seat >= 0 else max(0, int(s.player[i]))
    clear(out[: l.table_at], ZERO)
    out[l.phase_at + s.phase[i]] = ONE
    for k in range(1, MARK_COUNT):
        marked = int(s.marks[i, k])
        if marked >= 0:
            marked = seat_from(marked, t.players - observer, t.players)
        out[l.marks_at[k] + 1 + marked] = ONE
    out[l.seat_at + observer] = ONE
    out[l.players_at + t.players - 1] = ONE
    write_scaled(s.table[i], l.table_scale, out[l.table_at : l.seats_at])
    # Seats clockwise from the observer: those from his on, then those before.
    row, place = s.seats_wide[i], out[l.seats_at : l.tiles_at]
    own = observer * l.seat_width
    rest = len(row) - own
    write_scaled(row[own:], l.seat_scale, place[:rest])
    write_scaled(row[:own], l.seat_scale, place[rest : len(row)])
    clear(place[len(row) :], ZERO)  # regions of seats that nobody has
    write(s.tiles_wide[i], out[l.tiles_at : l.stock_at])
    row, place = s.stock_wide[i], out[l.stock_at :]
    own = observer * 2 * t.designs
    rest = len(row) - own
    write(row[own:], place[:rest])
    write(row[:own], place[rest : len(row)])
    clear(place[len(row) :], ZERO)


@compiled
def write(row: Any, place: Any) -> None:
    """Copy counts."""
    for k in range(len(row)):
        place[k] = np.float32(row[k])


@compiled
def write_scaled(row: Any, scale: Any, place: Any) -> None:
    """Copy counts, each times its scale."""
    for k in range(len(row)):
        place[k] = np.float32(row[k]) * scale[k]
