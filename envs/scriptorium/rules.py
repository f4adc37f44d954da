"""The rules of Scriptorium on arrays: each function moves a whole group of rows on.

``rows`` are always distinct row numbers (intp). Functions work in place on the state. Clause ids
(S4, "phase 2", …) are those of the rules. Actions are taken to be legal: the engine checks.
"""

from __future__ import annotations

import numpy as np

from incunabula.envs.chance import LECTERN_STREAM, TapeError, orders_of
from incunabula.envs.scriptorium.actions import Kind
from incunabula.envs.scriptorium.game import BoolArray, Choices, Game, grouped, held
from incunabula.envs.scriptorium.state import MARKS, Int16Array, Phase, Rows, State
from incunabula.envs.scriptorium.tables import GOLD, INKS
from incunabula.envs.scriptorium.tape import lecterns_ran_out

# Enumerations as plain integers: looking a member up costs as much as a small array operation.
INK, GRIMOIRE, LECTERN, QUILL, POINTS, PLACE, BUY, END, TILE, ACHIEVEMENT, DISCARD_INK = (
    int(kind) for kind in Kind
)
PHASE_INK, PHASE_LECTERN, PHASE_QUILL, PHASE_ILLUMINATE, PHASE_DISCARD, PHASE_OVER = (
    int(phase) for phase in Phase
)
KINDS = len(Kind)
PLAYER, HAS_QUILL, HAS_GRIMOIRE = (MARKS.index(k) for k in ("player", "quill", "grimoire"))
ONES = np.ones(len(INKS), np.int16)  # multiplying by it is a sum over short rows
NOBODY: Rows = np.zeros(0, np.intp)


# Set-up and rounds ------------------------------------------------------------------------------


def set_up(g: Game, s: State, rows: Rows, blank: State) -> None:
    """Make these rows new games, as ``blank`` is, and shuffle the bag; their seeds are set.

    What follows (the first round) is ``start_round``.
    """
    for name in ("marks", "table", "seats", "tiles", "stock"):
        getattr(s, name)[rows] = getattr(blank, name)
    count = len(g.bag)
    orders = orders_of(s.seed[rows], 0, count)
    s.order[rows, :count] = g.bag[orders[:, ::-1]]  # the first drawn lies last
    s.bag[rows] = g.tables.copies[g.players]
    s.bag_left[rows] = count


def start_round(g: Game, s: State, rows: Rows) -> None:
    """Start a day: fill the pot, put the grimoire back, set out lecterns with tiles."""
    t, n = g.tables, len(rows)
    s.round[rows] += 1
    orders = lectern_orders(g, s, rows)
    s.pot[rows] = t.pots[g.players]
    s.grimoire[rows] = -1
    s.lectern[rows] = 0
    playing = orders[:, : g.players + 1]
    in_play = np.zeros((n, t.lecterns), np.int16)
    np.put_along_axis(in_play, playing, np.int16(1), axis=1)
    s.in_play[rows] = in_play
    # The next tiles of the bag, lectern by lectern in drawn order; the last may get fewer.
    left = s.bag_left[rows].astype(np.intp)
    drawn = t.tiles_per_lectern * (g.players + 1)
    at = left[:, None] - 1 - np.arange(drawn)
    there = at >= 0
    designs = s.order[rows[:, None], np.where(there, at, 0)] if s.order.shape[1] else at
    lecterns = np.repeat(playing, t.tiles_per_lectern, axis=1)
    cell = (np.arange(n)[:, None] * t.lecterns + lecterns) * t.designs + designs
    cells = n * t.lecterns * t.designs
    tiles = np.bincount(cell[there], minlength=cells).reshape(n, t.lecterns, t.designs)
    s.tiles[rows] = tiles
    s.bag[rows] -= tiles.sum(axis=1).astype(np.int16)
    s.bag_left[rows] = np.maximum(left - drawn, 0)
    s.phase[rows] = PHASE_INK
    s.player[rows] = s.quill[rows]


def lectern_orders(g: Game, s: State, rows: Rows) -> Int16Array:
    """S9: the order in which the lecterns are drawn this round; int16 (n, L)."""
    rounds = s.round[rows]
    orders = orders_of(s.seed[rows], LECTERN_STREAM + rounds.astype(np.uint64), g.tables.lecterns)
    if s.tape.shape[1]:
        length = s.tape_length[rows]
        taped = np.flatnonzero(length >= 0)
        short = taped[rounds[taped] > length[taped]]
        if short.size:
            i = int(short[0])
            raise TapeError(lecterns_ran_out(int(rounds[i]), int(length[i])))
        orders[taped] = s.tape[rows[taped], rounds[taped] - 1]
    return orders


# Actions ----------------------------------------------------------------------------------------


def apply(g: Game, s: State, rows: Rows, actions: Choices) -> Rows:
    """Take one legal action in each row; ``actions`` (n,).

    Returns the rows whose day has ended and whose game goes on: ``start_round`` is due in them.
    """
    rows, actions, bound = grouped(g.actions.kind[actions], KINDS, rows, actions)

    def group(first: int, last: int) -> tuple[Rows, Choices]:
        at = slice(bound[first], bound[last + 1])
        return rows[at], actions[at]

    settling = NOBODY
    if bound[LECTERN]:
        _take_ink(g, s, *group(INK, GRIMOIRE))
    if bound[LECTERN] < bound[QUILL]:
        _give_lectern(g, s, *group(LECTERN, LECTERN))
    if bound[QUILL] < bound[PLACE]:
        _answer_quill(g, s, *group(QUILL, POINTS))
    if bound[PLACE] < bound[BUY]:
        _place(g, s, *group(PLACE, PLACE))
    if bound[BUY] < bound[END]:
        _buy(g, s, *group(BUY, BUY))
    if bound[END] < bound[TILE]:
        settling = _end_turn(g, s, group(END, END)[0])
    if bound[TILE] < bound[KINDS]:
        discarding, discards = group(TILE, DISCARD_INK)
        _discard(g, s, discarding, discards)
        settling = np.concatenate([settling, discarding]) if settling.size else discarding
    return _settle(g, s, settling) if settling.size else NOBODY


def _take_ink(g: Game, s: State, rows: Rows, actions: Choices) -> None:
    """Phase 1: take one ink, two, or the grimoire; the next seat in clockwise order follows."""
    marks = s.marks[rows]
    player = marks[:, PLAYER]
    take = g.actions.take[actions]  # nothing for the grimoire
    s.seat_flat[s.seat_row[rows] + player, : len(INKS)] += take
    pot = s.pot[rows]
    pot -= take
    s.pot[rows] = pot
    grimoire = marks[:, HAS_GRIMOIRE]
    taken = actions == g.actions.bound[GRIMOIRE]
    if np.count_nonzero(taken):
        grimoire[taken] = player[taken]
    following = g.turned[1][player]
    # Who took the grimoire takes no more turns in this phase.
    skipped = following == grimoire
    if np.count_nonzero(skipped):
        following[skipped] = g.turned[1][following[skipped]]
    empty = pot @ ONES == 0
    if np.count_nonzero(empty):
        # Phase 2: whoever has the grimoire chooses for himself, else the quill's holder gives.
        marks[empty, 0] = PHASE_LECTERN
        chooser = np.where(grimoire >= 0, grimoire, marks[:, HAS_QUILL])
        following = np.where(empty, chooser, following)
    marks[:, PLAYER] = following
    s.marks[rows] = marks


def _give_lectern(g: Game, s: State, rows: Rows, actions: Choices) -> None:
    """Phase 2: a seat gets a lectern, his own choice with the grimoire or another's."""
    lectern = g.actions.lectern[actions]
    receiver = (s.player[rows] + g.actions.to[actions]) % g.players
    seat = s.seat_row[rows] + receiver
    s.seat_flat[seat, g.columns.lectern.start + lectern] = 1
    s.stock_flat[seat, : g.tables.designs] = s.tiles[rows, lectern]
    s.tiles[rows, lectern] = 0
    quill = g.tables.lectern_ink[lectern] < 0
    if np.count_nonzero(quill):
        asked = rows[quill]
        s.phase[asked] = PHASE_QUILL
        s.player[asked] = receiver[quill]
        rows, receiver = rows[~quill], receiver[~quill]
    if rows.size:
        _next_giver(g, s, rows, receiver)


def _answer_quill(g: Game, s: State, rows: Rows, actions: Choices) -> None:
    """Phase 2: the quill lectern's bonus, the quill (S5) or points."""
    player = s.player[rows]
    quill = actions == g.actions.bound[QUILL]
    s.quill_next[rows] = np.where(quill, player, s.quill_next[rows])
    points = np.where(quill, 0, g.tables.quill_points).astype(np.int16)
    me = s.seat_row[rows] + player
    s.seat_flat[me, g.columns.points] += points
    s.seat_flat[me, g.columns.score] += points
    s.phase[rows] = PHASE_LECTERN
    _next_giver(g, s, rows, player)


def _next_giver(g: Game, s: State, rows: Rows, receiver: Int16Array | Choices) -> None:
    """Who gives next, after ``receiver`` has got his lectern and answered; else phase 3."""
    owned = s.lectern[rows].max(axis=2) > 0  # (n, P)
    count = owned.sum(axis=1)
    marks = s.marks[rows]
    quill, grimoire = marks[:, HAS_QUILL], marks[:, HAS_GRIMOIRE]
    # The grimoire's holder gets his by his own choice alone; after it the quill's holder gives.
    giver = np.where(receiver == grimoire, quill, receiver)
    # S4: nobody chooses for himself without the grimoire.
    alone = (count == g.players - 1) & ~owned[np.arange(len(rows)), giver]
    s.player[rows] = np.where(alone, grimoire, giver)
    done = count == g.players
    if np.count_nonzero(done):
        # S6: the lecterns left over are put away, their tiles go to the scriptorium.
        rows = rows[done]
        s.market[rows] += s.tiles[rows].sum(axis=1, dtype=np.int16)
        s.tiles[rows] = 0
        s.phase[rows] = PHASE_ILLUMINATE
        s.player[rows] = quill[done]


def _place(g: Game, s: State, rows: Rows, actions: Choices) -> None:
    """Phase 3: place a tile, with ink (S7) or without."""
    t, a, c = g.tables, g.actions, g.columns
    design, space = a.design[actions], a.space[actions]
    me = s.seat_row[rows] + s.player[rows]
    s.stock_flat[me, a.column[actions]] -= 1
    own = s.seat_flat[me]
    own_flat = own.reshape(-1)
    at = np.arange(c.filled.start, own.size, own.shape[1]) + space
    filled = own_flat[at] + np.int16(1)
    own_flat[at] = filled
    paid = a.paid[actions]
    lectern = own[:, c.lectern].argmax(axis=1)
    cost = t.costs[lectern, design]
    cost *= paid[:, None]
    inks = own[:, c.inks]
    inks -= cost
    # S7: each colour with its own ink first, gold for what is short.
    if np.count_nonzero(inks < 0):
        short = np.minimum(inks, 0)
        inks -= short
        inks[:, GOLD] += short @ ONES
    points = t.points[design] * paid
    own[:, c.points] += points
    own[:, c.score] += points
    s.seat_flat[me] = own
    full: BoolArray = np.equal(filled, t.capacity[space])
    if np.count_nonzero(full):
        _achieve(g, s, rows[full], me[full], space[full])


def _achieve(g: Game, s: State, rows: Rows, me: Rows, space: Choices) -> None:
    """Achievements: the first to fill a group of spaces gets its tile at once."""
    c = g.columns
    complete = s.seat_flat[me, c.filled] @ g.group == g.group_size  # (n, 5)
    complete &= s.open[rows] > 0
    complete &= g.tables.group.T[space]  # filled just now
    gained = complete.any(axis=1)
    if np.count_nonzero(gained):
        rows, me, complete = rows[gained], me[gained], complete[gained]
        s.open[rows] -= complete
        s.seat_flat[me, c.achievements] += complete
        points = complete.sum(axis=1, dtype=np.int16) * np.int16(g.tables.achievement_points)
        s.seat_flat[me, c.score] += points


def _buy(g: Game, s: State, rows: Rows, actions: Choices) -> None:
    """Phase 3: buy a tile with a help token, from the scriptorium or from another's storage."""
    a, c = g.actions, g.columns
    design, source = a.design[actions], a.source[actions]
    storage = g.tables.designs + design
    player = s.player[rows]
    me = s.seat_row[rows] + player
    worth = np.int16(g.tables.token_points)
    s.stock_flat[me, storage] += 1
    s.seat_flat[me, c.tokens] -= 1
    s.seat_flat[me, c.score] -= worth
    market = source == 0
    count = np.count_nonzero(market)
    if count:
        s.market[rows[market], design[market]] -= 1
    if count < len(rows):
        sold = ~market
        seat = s.seat_row[rows[sold]] + (player[sold] + source[sold]) % g.players
        s.stock_flat[seat, storage[sold]] -= 1
        s.seat_flat[seat, c.tokens] += 1
        s.seat_flat[seat, c.score] += worth


def _end_turn(g: Game, s: State, rows: Rows) -> Rows:
    """Phase 3: the next seat's turn; returns the rows whose day is over."""
    following = (s.player[rows] + 1) % g.players
    s.player[rows] = following
    last = following == s.quill[rows]
    if not np.count_nonzero(last):
        return NOBODY
    rows = rows[last]
    # Phase 4: unplayed lectern tiles go to their owners' storage.
    stock = s.stock[rows]
    stock[:, :, 1] += stock[:, :, 0]
    stock[:, :, 0] = 0
    s.stock[rows] = stock
    return rows


def _discard(g: Game, s: State, rows: Rows, actions: Choices) -> None:
    """Phase 4: a tile, an achievement (S8: it can't be earned again) or an ink leaves the game."""
    a, c = g.actions, g.columns
    me = s.seat_row[rows] + s.player[rows]
    kind, what = a.kind[actions], a.design[actions]
    for each in (TILE, ACHIEVEMENT, DISCARD_INK):
        mine = kind == each
        if not np.count_nonzero(mine):
            continue
        seat, item = me[mine], what[mine]
        if each == TILE:
            s.stock_flat[seat, g.tables.designs + item] -= 1
        elif each == DISCARD_INK:
            s.seat_flat[seat, c.inks.start + item] -= 1
        else:
            s.seat_flat[seat, c.achievements.start + item] -= 1
            s.seat_flat[seat, c.score] -= np.int16(g.tables.achievement_points)


def _settle(g: Game, s: State, rows: Rows) -> Rows:
    """Phase 4: find who must discard next; where nobody must, end the day. As ``apply``."""
    stored, inks = held(g, s.seats[rows], s.storage[rows])
    owes = (stored > g.tables.storage_limit) | (inks > g.tables.ink_limit)  # (n, P)
    some = owes.any(axis=1)
    count = np.count_nonzero(some)
    if count:
        # Seats in order from the quill's holder; those before have settled.
        owing = rows[some]
        quill = s.quill[owing]
        first = np.take_along_axis(owes[some], g.turned[quill], axis=1).argmax(axis=1)
        s.phase[owing] = PHASE_DISCARD
        s.player[owing] = (quill + first) % g.players
        if count == len(rows):
            return NOBODY
        rows = rows[~some]
    # The quill moves if its bonus was taken (S5), on the last day too.
    following = s.quill_next[rows]
    s.quill[rows] = np.where(following >= 0, following, s.quill[rows])
    s.quill_next[rows] = -1
    full = s.filled[rows].sum(axis=2, dtype=np.int16) == g.spaces
    over = (s.bag_left[rows] == 0) | full.any(axis=1)
    if np.count_nonzero(over):
        done = rows[over]
        s.phase[done] = PHASE_OVER
        s.player[done] = -1
        rows = rows[~over]
    return rows
