"""The legal actions of Scriptorium on arrays, phase by phase."""

from __future__ import annotations

import numpy as np

from incunabula.envs.scriptorium.actions import Kind
from incunabula.envs.scriptorium.game import BoolArray, Game, grouped, held
from incunabula.envs.scriptorium.state import Int16Array, Phase, Rows, State
from incunabula.envs.scriptorium.tables import BLACK, GOLD

# Enumerations as plain integers: looking a member up costs as much as a small array operation.
GRIMOIRE, LECTERN, QUILL, PLACE, BUY, END = (
    *(int(Kind.GRIMOIRE), int(Kind.LECTERN), int(Kind.QUILL)),
    *(int(Kind.PLACE), int(Kind.BUY), int(Kind.END)),
)
TILE, ACHIEVEMENT, DISCARD_INK = (
    *(int(Kind.DISCARD_TILE), int(Kind.DISCARD_ACHIEVEMENT), int(Kind.DISCARD_INK)),
)
PHASES = len(Phase)


def legal(g: Game, s: State, rows: Rows, out: BoolArray) -> None:
    """Write the legal actions of these rows into ``out``, bool (N, A); none once it is over."""
    rows, _, bound = grouped(s.phase[rows], PHASES, rows, rows)
    out[rows] = False
    for phase, legal_in_phase in enumerate(_LEGAL):
        first, last = bound[phase], bound[phase + 1]
        if first < last:
            legal_in_phase(g, s, rows[first:last], out)


def _legal_ink(g: Game, s: State, rows: Rows, out: BoolArray) -> None:
    """Phase 1: inks that are in the pot, or the grimoire if nobody has it."""
    choices = g.actions.bound[GRIMOIRE]
    pot = s.pot[rows]
    there = np.concatenate([pot > 0, pot > 1], axis=1)
    out[rows, :choices] = there[:, g.take_first] & there[:, g.take_second]
    out[rows, choices] = s.grimoire[rows] < 0


def _legal_lectern(g: Game, s: State, rows: Rows, out: BoolArray) -> None:
    """Phase 2: a lectern in play that nobody owns, to oneself with the grimoire or to another."""
    t = g.tables
    n, player = len(rows), s.player[rows]
    owned = s.lectern[rows]  # (n, P, L)
    free = s.in_play[rows] > owned.any(axis=1)
    has = owned.any(axis=2)  # (n, P)
    to = ~np.take_along_axis(has, g.turned[player], axis=1)  # by relative seat
    # To himself if he took the grimoire and has none yet, and then to nobody else; S4: he that
    # gives without the grimoire gives to another.
    own = to[:, 0] & (player == s.grimoire[rows])
    to[:, 0] = own
    to[:, 1:] &= ~own[:, None]
    masks = np.zeros((n, t.lecterns, t.max_players), np.bool_)
    masks[:, :, : g.players] = free[:, :, None] & to[:, None, :]
    out[rows, g.actions.bound[LECTERN] : g.actions.bound[QUILL]] = masks.reshape(n, -1)


def _legal_quill(g: Game, s: State, rows: Rows, out: BoolArray) -> None:
    """Phase 2: quill or points."""
    out[rows, g.actions.bound[QUILL] : g.actions.bound[PLACE]] = True


def _legal_illuminate(g: Game, s: State, rows: Rows, out: BoolArray) -> None:
    """Phase 3: placements, purchases, or the end of the turn."""
    t, c, bound = g.tables, g.columns, g.actions.bound
    player, base = s.player[rows], s.seat_row[rows]
    me = base + player
    own = s.seat_flat[me]
    have = s.stock_flat[me] > 0
    free = own[:, c.filled] < t.capacity
    place = have[:, g.place_tile]
    place &= free[:, g.place_space]
    place &= _payable(g, own)[:, g.place_price]
    out[rows, bound[PLACE] : bound[BUY]] = place
    out[rows, bound[END]] = True
    rich = own[:, c.tokens] > 0
    count = np.count_nonzero(rich)
    if count:
        if count < len(rows):
            rows, base, player = rows[rich], base[rich], player[rich]
        sale = np.zeros((count, t.designs, t.max_players), np.bool_)
        sale[:, :, 0] = s.market[rows] > 0
        for j in range(1, g.players):
            other = base + g.turned[j][player]
            sale[:, :, j] = s.stock_flat[other, t.designs :] > 0
        out[rows, bound[BUY] : bound[END]] = sale.reshape(count, -1)


def _payable(g: Game, own: Int16Array) -> BoolArray:
    """S7: whether each design's cost can be met with these inks and lectern, and a last column for
    "no cost"; bool (n, D + 1)."""
    # An ink that is free is there without limit, but the gold lectern gives no gold to pay for
    # other colours with. One row a colour: short rows would be slow.
    inks = g.waived[own[:, g.columns.lectern].argmax(axis=1)]
    inks[:, :GOLD] += own[:, :GOLD]
    lacking = g.costs - inks.T[:, None, :]  # (5, D, n)
    payable = np.ones((g.tables.designs + 1, len(own)), np.bool_)
    np.less_equal(lacking[BLACK], 0, out=payable[:-1])  # black is only ever paid with black
    lacking = np.maximum(lacking[BLACK + 1 :], 0)
    payable[:-1] &= lacking.sum(axis=0, dtype=np.int16) <= own[:, GOLD]
    return payable.T


def _legal_discard(g: Game, s: State, rows: Rows, out: BoolArray) -> None:
    """Phase 4: from storage while it holds too much, then inks."""
    c, bound = g.columns, g.actions.bound
    me = s.seat_row[rows] + s.player[rows]
    own, storage = s.seat_flat[me], s.stock_flat[me, g.tables.designs :]
    stored, _ = held(g, own, storage)
    too_much = (stored > g.tables.storage_limit)[:, None]
    out[rows, bound[TILE] : bound[ACHIEVEMENT]] = (storage > 0) & too_much
    out[rows, bound[ACHIEVEMENT] : bound[DISCARD_INK]] = (own[:, c.achievements] > 0) & too_much
    out[rows, bound[DISCARD_INK] :] = (own[:, c.inks] > 0) & ~too_much


# In the order of the phases; nothing is legal once the game is over.
_LEGAL = (_legal_ink, _legal_lectern, _legal_quill, _legal_illuminate, _legal_discard)
