"""The rules of Scriptorium for one game at a time, in numba's subset; ``rules`` has them on arrays.

Both work on the same state and leave the same in every cell. A kernel moves one row ``i`` on; what
kernels take and return is said in ``compiled.loops``, what is in ``t``, ``a`` and ``s`` in
``twin``. Clause ids (S4, "phase 2", …) are those of the rules.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incunabula.envs import chance
from incunabula.envs.chance import order_items
from incunabula.envs.compiled.functions import compiled, compiled_apart
from incunabula.envs.compiled.loops import GOES_ON, TAPE_SHORT, TURN_DUE
from incunabula.envs.scriptorium.rules import (
    ACHIEVEMENT,
    BUY,
    DISCARD_INK,
    END,
    GRIMOIRE,
    LECTERN,
    PHASE_DISCARD,
    PHASE_ILLUMINATE,
    PHASE_INK,
    PHASE_LECTERN,
    PHASE_OVER,
    PHASE_QUILL,
    PLACE,
    POINTS,
    QUILL,
    TILE,
)
from incunabula.envs.scriptorium.tables import ACHIEVEMENTS, GOLD, INKS, SPACES

INK_COUNT, SPACE_COUNT, ACHIEVEMENT_COUNT = len(INKS), len(SPACES), len(ACHIEVEMENTS)
BAG_STREAM, LECTERN_STREAM = np.uint64(0), np.uint64(chance.LECTERN_STREAM)


# Set-up and rounds ------------------------------------------------------------------------------


@compiled_apart
def set_up(t: Any, s: Any, i: int, how: int) -> int:
    """Make row ``i`` a new game and shuffle the bag; its seed is set."""
    clear(s.marks[i], -1)
    s.phase[i] = PHASE_OVER
    s.quill[i] = 0  # S3
    clear(s.table[i], 0)
    clear(s.seats_wide[i], 0)
    clear(s.tiles_wide[i], 0)
    clear(s.stock_wide[i], 0)
    for k in range(ACHIEVEMENT_COUNT):
        s.open[i, k] = 1
    for seat in range(t.players):
        s.tokens[i, seat] = t.help_tokens
        s.score[i, seat] = t.help_tokens * t.token_points
    count = len(t.bag)
    drawn, keys = np.empty(count, np.int64), np.empty(count, np.uint64)
    order_items(s.seed[i], BAG_STREAM, keys, drawn)
    for k in range(count):
        s.order[i, count - 1 - k] = t.bag[drawn[k]]  # the first drawn lies last
    for design in range(t.designs):
        s.bag[i, design] = t.copies[t.players, design]
    s.bag_left[i] = count
    return GOES_ON


@compiled
def clear(row: Any, value: int) -> None:
    """Set every cell of a row."""
    for k in range(len(row)):
        row[k] = value


@compiled_apart
def begin(t: Any, s: Any, i: int) -> int:
    """Start a day: fill the pot, put the grimoire back, set out lecterns with tiles."""
    s.round[i] += 1
    lecterns = np.empty(t.lecterns, np.int64)
    if not draw_lecterns(t, s, i, lecterns):
        return TAPE_SHORT
    for ink in range(INK_COUNT):
        s.pot[i, ink] = t.pots[t.players, ink]
    s.grimoire[i] = -1
    for lectern in range(t.lecterns):
        s.in_play[i, lectern] = 0
        for seat in range(t.players):
            s.lectern[i, seat, lectern] = 0
    clear(s.tiles_wide[i], 0)
    # The next tiles of the bag, lectern by lectern in drawn order; the last may get fewer.
    left = s.bag_left[i]
    for k in range(t.players + 1):
        lectern = lecterns[k]
        s.in_play[i, lectern] = 1
        for _ in range(min(left, t.tiles_per_lectern)):
            left -= 1
            design = s.order[i, left]
            s.tiles[i, lectern, design] += 1
            s.bag[i, design] -= 1
    s.bag_left[i] = left
    s.phase[i] = PHASE_INK
    s.player[i] = s.quill[i]
    return GOES_ON


@compiled
def draw_lecterns(t: Any, s: Any, i: int, lecterns: Any) -> bool:
    """S9: the order in which the lecterns are drawn this round; false if the tape has run out."""
    day = s.round[i]
    if s.tape_length[i] < 0:
        keys = np.empty(t.lecterns, np.uint64)
        order_items(s.seed[i], LECTERN_STREAM + np.uint64(day), keys, lecterns)
        return True
    if day > s.tape_length[i]:
        return False
    for k in range(t.lecterns):
        lecterns[k] = s.tape[i, day - 1, k]
    return True


# Actions ----------------------------------------------------------------------------------------


@compiled_apart
def act(t: Any, a: Any, s: Any, i: int, action: int) -> int:
    """Take a legal action; TURN_DUE once the day has ended and the game goes on."""
    kind, player = a.kind[action], int(s.player[i])
    settling = False
    if kind <= GRIMOIRE:
        take_ink(t, a, s, i, player, action)
    elif kind == PLACE:
        place(t, a, s, i, player, action)
    elif kind == LECTERN:
        give_lectern(t, a, s, i, player, action)
    elif kind == BUY:
        buy(t, a, s, i, player, action)
    elif kind in (QUILL, POINTS):
        answer_quill(t, s, i, player, kind)
    elif kind == END:
        settling = end_turn(t, s, i, player)
    else:
        discard(t, s, i, player, kind, a.design[action])
        settling = True
    after: int = settle(t, s, i, int(s.player[i])) if settling else GOES_ON
    return after


@compiled
def seat_from(seat: int, clockwise: int, players: int) -> int:
    """The seat that is so many seats clockwise from another."""
    found = seat + clockwise
    return found - players if found >= players else found


@compiled
def take_ink(t: Any, a: Any, s: Any, i: int, player: int, action: int) -> None:
    """Phase 1: take one ink, two, or the grimoire; the next seat in clockwise order follows."""
    left = 0
    for ink in range(INK_COUNT):
        taken = a.take[action, ink]  # nothing for the grimoire
        s.inks[i, player, ink] += taken
        s.pot[i, ink] -= taken
        left += s.pot[i, ink]
    if a.kind[action] == GRIMOIRE:
        s.grimoire[i] = player
    grimoire = s.grimoire[i]
    if left == 0:
        # Phase 2: whoever has the grimoire chooses for himself, else the quill's holder gives.
        s.phase[i] = PHASE_LECTERN
        s.player[i] = grimoire if grimoire >= 0 else s.quill[i]
        return
    following = seat_from(player, 1, t.players)
    if following == grimoire:  # he takes no more turns in this phase
        following = seat_from(following, 1, t.players)
    s.player[i] = following


@compiled
def give_lectern(t: Any, a: Any, s: Any, i: int, player: int, action: int) -> None:
    """Phase 2: a seat gets a lectern, his own choice with the grimoire or another's."""
    lectern, receiver = a.lectern[action], seat_from(player, a.to[action], t.players)
    s.lectern[i, receiver, lectern] = 1
    move(s.tiles[i, lectern], s.stock[i, receiver, 0])
    if t.lectern_ink[lectern] < 0:  # S2: the quill lectern
        s.phase[i] = PHASE_QUILL
        s.player[i] = receiver
    else:
        next_giver(t, s, i, receiver)


@compiled
def move(tiles: Any, place: Any) -> None:
    """Move tiles, counts by design, to another place."""
    for design in range(len(tiles)):
        place[design] += tiles[design]
        tiles[design] = 0


@compiled
def answer_quill(t: Any, s: Any, i: int, player: int, kind: int) -> None:
    """Phase 2: the quill lectern's bonus, the quill (S5) or points."""
    if kind == QUILL:
        s.quill_next[i] = player
    else:
        s.points[i, player] += t.quill_points
        s.score[i, player] += t.quill_points
    s.phase[i] = PHASE_LECTERN
    next_giver(t, s, i, player)


@compiled_apart
def next_giver(t: Any, s: Any, i: int, receiver: int) -> None:
    """Who gives next, after ``receiver`` has got his lectern and answered; else phase 3."""
    waiting = 0
    for seat in range(t.players):
        waiting += lectern_of(s, i, seat) < 0
    quill, grimoire = s.quill[i], s.grimoire[i]
    if waiting == 0:
        # S6: the lecterns left over are put away, their tiles go to the scriptorium.
        for lectern in range(t.lecterns):
            move(s.tiles[i, lectern], s.market[i])
        s.phase[i] = PHASE_ILLUMINATE
        s.player[i] = quill
        return
    # The grimoire's holder gets his by his own choice alone; after it the quill's holder gives.
    giver = quill if receiver == grimoire else receiver
    # S4: nobody chooses for himself without the grimoire.
    alone = waiting == 1 and lectern_of(s, i, giver) < 0
    s.player[i] = grimoire if alone else giver


@compiled
def lectern_of(s: Any, i: int, seat: int) -> int:
    """The lectern a seat owns, -1 if none."""
    row, owned = s.lectern[i, seat], -1
    for lectern in range(len(row)):
        if row[lectern] > 0:
            owned = lectern
    return owned


@compiled
def place(t: Any, a: Any, s: Any, i: int, player: int, action: int) -> None:
    """Phase 3: place a tile, with ink (S7) or without."""
    design, space = a.design[action], a.space[action]
    s.stock[i, player, a.source[action], design] -= 1
    s.filled[i, player, space] += 1
    if a.paid[action]:
        lectern, short = lectern_of(s, i, player), 0
        for ink in range(INK_COUNT):
            left = s.inks[i, player, ink] - t.costs[lectern, design, ink]
            # S7: each colour with its own ink first, gold for what is short.
            short += max(0, -left)
            s.inks[i, player, ink] = max(0, left)
        s.inks[i, player, GOLD] -= short
        s.points[i, player] += t.points[design]
        s.score[i, player] += t.points[design]
    if s.filled[i, player, space] == t.capacity[space]:
        achieve(t, s, i, player, space)


@compiled_apart
def achieve(t: Any, s: Any, i: int, player: int, space: int) -> None:
    """Achievements: the first to fill a group of spaces gets its tile at once."""
    for k in range(ACHIEVEMENT_COUNT):
        if s.open[i, k] == 0 or not t.group[k, space]:  # the space filled just now is none of it
            continue
        filled = 0
        for kind in range(SPACE_COUNT):
            if t.group[k, kind]:
                filled += s.filled[i, player, kind]
        if filled == t.group_size[k]:
            s.open[i, k] = 0
            s.achievements[i, player, k] += 1
            s.score[i, player] += t.achievement_points


@compiled
def buy(t: Any, a: Any, s: Any, i: int, player: int, action: int) -> None:
    """Phase 3: buy a tile with a help token, from the scriptorium or from another's storage."""
    design, source = a.design[action], a.source[action]
    s.storage[i, player, design] += 1
    s.tokens[i, player] -= 1
    s.score[i, player] -= t.token_points
    if source == 0:
        s.market[i, design] -= 1
    else:
        seller = seat_from(player, source, t.players)
        s.storage[i, seller, design] -= 1
        s.tokens[i, seller] += 1
        s.score[i, seller] += t.token_points


@compiled
def end_turn(t: Any, s: Any, i: int, player: int) -> bool:
    """Phase 3: the next seat's turn; whether the day is over instead."""
    following = seat_from(player, 1, t.players)
    s.player[i] = following
    if following != s.quill[i]:
        return False
    # Phase 4: unplayed lectern tiles go to their owners' storage.
    for seat in range(t.players):
        move(s.stock[i, seat, 0], s.stock[i, seat, 1])
    return True


@compiled
def discard(t: Any, s: Any, i: int, player: int, kind: int, item: int) -> None:
    """Phase 4: a tile, an achievement (S8: it can't be earned again) or an ink leaves the game."""
    if kind == TILE:
        s.storage[i, player, item] -= 1
    elif kind == DISCARD_INK:
        s.inks[i, player, item] -= 1
    elif kind == ACHIEVEMENT:
        s.achievements[i, player, item] -= 1
        s.score[i, player] -= t.achievement_points


@compiled_apart
def settle(t: Any, s: Any, i: int, seat: int) -> int:
    """Phase 4: find who must discard next, from ``seat`` on; where nobody must, end the day.

    Returns as ``act``.
    """
    # Seats in order from the quill's holder; those before have settled.
    for _ in range(t.players):
        if stored_by(s, i, seat) > t.storage_limit or total(s.inks[i, seat]) > t.ink_limit:
            s.phase[i] = PHASE_DISCARD
            s.player[i] = seat
            return GOES_ON
        seat = seat_from(seat, 1, t.players)
        if seat == s.quill[i]:
            break
    # The quill moves if its bonus was taken (S5), on the last day too.
    if s.quill_next[i] >= 0:
        s.quill[i] = s.quill_next[i]
    s.quill_next[i] = -1
    over = s.bag_left[i] == 0
    for seat in range(t.players):
        over |= total(s.filled[i, seat]) == t.spaces
    if over:
        s.phase[i] = PHASE_OVER
        s.player[i] = -1
        return GOES_ON
    return TURN_DUE


@compiled
def stored_by(s: Any, i: int, seat: int) -> int:
    """Things a seat has in storage, tiles and achievements."""
    return total(s.stock[i, seat, 1]) + total(s.achievements[i, seat])


@compiled
def total(counts: Any) -> int:
    """Their sum."""
    n = 0
    for k in range(len(counts)):
        n += counts[k]
    return n
