"""The rules of Bibliogamo for one game: functions over row ``i`` of the state arrays.

The compiled twin of ``rules``, which holds the same rules for many rows at once and leaves the
same bits. Clause ids (R4, step 4b, …) are those of the rules. Actions are taken to be legal. ``t``,
``a`` and ``s``: see ``envs/compiled/loops.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incunabula.envs.bibliogamo.actions import Kind
from incunabula.envs.bibliogamo.state import Phase, Place
from incunabula.envs.chance import PRESTIGE_STREAM, key_of, sort_items
from incunabula.envs.compiled.functions import compiled, compiled_apart
from incunabula.envs.compiled.loops import GOES_ON, TAPE_SHORT, TURN_DUE

TRAVEL, KEEP, SELL, ACCEPT, WAIT, HIRE, LIFT, PAY, END = (int(kind) for kind in Kind)
PHASE_TRAVEL, PHASE_SELL, PHASE_PRICE, PHASE_HIRE, PHASE_PAY, PHASE_OVER = (int(p) for p in Phase)
IN_DISCARD, IN_HAND, IN_DISPLAY, IN_DECK = (int(place) for place in Place)
NO_TAPE_LEFT = -1  # instead of a card
_PRESTIGE = np.uint64(PRESTIGE_STREAM)


# Set-up -------------------------------------------------------------------------------------------


@compiled_apart
def set_up(t: Any, s: Any, i: int, how: int) -> int:
    """A new game up to its first draw; ``how``: the prestige collection, -1 = drawn (R15)."""
    s.time[i], s.turn[i], s.hires_left[i] = t.start_time, 0, 0  # R3
    s.florins[i], s.books[i], s.supply[i] = t.start_florins, 0, t.cubes
    s.librarian[i], s.banned[i] = t.start_librarian, -1
    s.pending_card[i], s.pending_tower[i] = -1, -1
    s.score[i] = t.start_florins // t.florins_per_vp
    for tower in range(t.towers):
        s.lacks[i, tower] = t.all_bits[tower]
        for k in range(t.types):
            s.filled[i, tower, k] = 0
    for j in range(t.hand_size):
        s.hand[i, j] = t.cards
    for card in range(t.cards):
        s.place[i, card] = IN_DISCARD
    close_display(t, s, i)
    s.deck_left[i], s.shuffles[i] = 0, 0
    s.prestige[i] = how if how >= 0 else draw_prestige(t, s.seed[i])
    for j in range(t.slots):
        s.slots_filled[i, j] = False
    for tower in range(t.towers):
        s.next_slot[i, tower] = t.first_slots[s.prestige[i], tower]
    return shuffle(t, s, i)  # shuffle 0 is of all cards


@compiled
def draw_prestige(t: Any, seed: np.uint64) -> int:
    """R15: the collection with the smallest key."""
    chosen, least = 0, key_of(seed, _PRESTIGE, np.uint64(0))
    for item in range(1, t.collections):
        drawn = key_of(seed, _PRESTIGE, np.uint64(item))
        if drawn < least:
            chosen, least = item, drawn
    return chosen


# Cards --------------------------------------------------------------------------------------------


@compiled_apart
def shuffle(t: Any, s: Any, i: int) -> int:
    """Lay the discard pile, if there is one, as the new draw deck ("Empty deck"); TAPE_SHORT where
    a tape has no such shuffle."""
    pile, keys = np.empty(t.cards, np.int64), np.empty(t.cards, np.uint64)
    stream, taped = np.uint64(s.shuffles[i]), s.tape_length[i] >= 0
    if taped and s.shuffles[i] >= s.tape_length[i]:
        for card in range(t.cards):
            if s.place[i, card] == IN_DISCARD:
                return TAPE_SHORT
        return GOES_ON  # R10, as below; there is no order to read
    n = 0
    for k in range(t.cards):
        card = int(s.tape[i, s.shuffles[i], k]) if taped else k
        if s.place[i, card] == IN_DISCARD:
            s.place[i, card] = IN_DECK
            pile[n] = card
            if not taped:
                keys[n] = key_of(s.seed[i], stream, np.uint64(card))
            n += 1
    if n == 0:  # R10: nothing to shuffle, no shuffle number is used
        return GOES_ON
    if not taped:
        sort_items(keys, pile, n)
    top = t.hand_size + n - 1
    for k in range(n):
        s.deck[i, top - k] = pile[k]
    s.deck_left[i] = n
    s.shuffles[i] += 1
    return GOES_ON


@compiled_apart
def flip(t: Any, s: Any, i: int, to: int) -> int:
    """Take the top card to the discard pile, the display or the hand: its id, the number of cards
    if there is none, or NO_TAPE_LEFT."""
    if s.deck_left[i] == 0:
        if shuffle(t, s, i) == TAPE_SHORT:
            return NO_TAPE_LEFT
        if s.deck_left[i] == 0:
            return t.cards
    s.deck_left[i] -= 1
    card = int(s.deck[i, t.hand_size + s.deck_left[i]])
    s.place[i, card] = to
    return card


@compiled
def held(t: Any, s: Any, i: int) -> int:
    """Cards in the hand."""
    n = 0
    while n < t.hand_size and s.hand[i, n] < t.cards:
        n += 1
    return n


@compiled
def refill(t: Any, s: Any, i: int) -> int:
    """Step 5: draw until the hand is full, or until no card is left (R10)."""
    for n in range(held(t, s, i), t.hand_size):
        card = flip(t, s, i, IN_HAND)
        if card == NO_TAPE_LEFT:
            return TAPE_SHORT
        if card == t.cards:
            break
        at = n
        while at > 0 and s.hand[i, at - 1] > card:
            s.hand[i, at] = s.hand[i, at - 1]
            at -= 1
        s.hand[i, at] = card
    return GOES_ON


@compiled
def discard(t: Any, s: Any, i: int, slot: int) -> int:
    """Discard the card in a hand slot; its id."""
    card = int(s.hand[i, slot])
    for j in range(slot, t.hand_size - 1):
        s.hand[i, j] = s.hand[i, j + 1]
    s.hand[i, t.hand_size - 1] = t.cards
    s.place[i, card] = IN_DISCARD
    return card


@compiled
def close_display(t: Any, s: Any, i: int) -> None:
    """No price display."""
    for j in range(len(s.display[i])):
        s.display[i, j] = t.cards
    s.display_len[i], s.display_coin[i], s.offer[i] = 0, -1, 0
    s.display_first[i], s.display_last[i] = -1, -1


# Turns --------------------------------------------------------------------------------------------


@compiled_apart
def begin(t: Any, s: Any, i: int) -> int:
    """Draw up to a full hand, then steps 1 to 3, up to the turn's first decision."""
    if refill(t, s, i) == TAPE_SHORT:
        return TAPE_SHORT
    card = flip(t, s, i, IN_DISCARD)  # step 2; R10: "no card" moves nobody and bans nothing
    if card == NO_TAPE_LEFT:
        return TAPE_SHORT
    s.time[i] += 1  # step 1
    s.turn[i] += 1
    s.hires_left[i] = t.hires_per_turn
    s.librarian[i] = (s.librarian[i] + t.move[card] + t.librarian_step) % t.spaces
    s.banned[i] = t.icon[card]  # step 3
    # Step 4a is skipped without florins.
    s.phase[i] = PHASE_TRAVEL if s.florins[i] > 0 else after_travel(t, s, i)
    return GOES_ON


@compiled
def after_travel(t: Any, s: Any, i: int) -> int:
    """Phase after step 4a: SELL if the librarian's tower is complete and two cards can be flipped
    (R10), else HIRE."""
    complete = s.lacks[i, t.board[s.librarian[i]]] == 0
    return PHASE_SELL if complete and t.cards - held(t, s, i) >= 2 else PHASE_HIRE


@compiled_apart
def act(t: Any, a: Any, s: Any, i: int, action: int) -> int:
    """Take a legal action."""
    kind = a.kind[action]
    if kind == HIRE:
        hire(t, s, i, discard(t, s, i, a.slot[action]), a.tower[action])
    elif kind == PAY:
        discard(t, s, i, a.slot[action])
        s.pending_card[i], s.pending_tower[i] = -1, -1
        s.phase[i] = PHASE_HIRE
        if s.hires_left[i] == 0:
            return end_turn(t, s, i)
    elif kind == END:
        return end_turn(t, s, i)
    elif kind == TRAVEL:
        if action != a.stay:
            walk(t, s, i, action - a.walk)
        s.phase[i] = after_travel(t, s, i)
    elif kind == LIFT:
        discard(t, s, i, a.slot[action])
        s.banned[i] = -1  # R11: frees the rest of the turn
    elif kind == KEEP:
        s.phase[i] = PHASE_HIRE
    elif kind == ACCEPT:
        accept(t, s, i)
    else:
        return flip_price(t, s, i, kind == SELL)
    return GOES_ON


@compiled
def end_turn(t: Any, s: Any, i: int) -> int:
    """The next turn is due, or the game is over; R9: it ends before the refill."""
    if s.time[i] < t.days:
        return TURN_DUE
    s.phase[i] = PHASE_OVER
    return GOES_ON


@compiled
def walk(t: Any, s: Any, i: int, space: int) -> None:
    """Step 4a: walk for 1 florin a space."""
    before = s.florins[i]
    after = before - t.distance[s.librarian[i], space]
    s.score[i] += after // t.florins_per_vp - before // t.florins_per_vp
    s.florins[i], s.librarian[i] = after, space


@compiled
def flip_price(t: Any, s: Any, i: int, selling: bool) -> int:
    """Step 4b: flip two cards to sell, no way back (R16), or pay a day and flip one more. The price
    is read from the last card, in the first one's coin (R5)."""
    if selling:
        first = flip(t, s, i, IN_DISPLAY)
        if first == NO_TAPE_LEFT:
            return TAPE_SHORT
        s.display[i, 0] = s.display_first[i] = first
        s.display_coin[i], s.display_len[i] = t.coin[first], 1
        s.phase[i] = PHASE_PRICE
    else:
        s.time[i] += 1
    card = flip(t, s, i, IN_DISPLAY)
    if card == NO_TAPE_LEFT:
        return TAPE_SHORT
    s.display[i, s.display_len[i]] = s.display_last[i] = card
    s.display_len[i] += 1
    s.offer[i] = t.price[card, s.display_coin[i]]
    return GOES_ON


@compiled
def accept(t: Any, s: Any, i: int) -> None:
    """Step 4b, the end: sell at the price on offer."""
    tower, prestige = int(t.board[s.librarian[i]]), s.prestige[i]
    s.florins[i] += s.offer[i]
    if t.florin_cap >= 0:  # R2
        s.florins[i] = min(s.florins[i], t.florin_cap)
    for k in range(t.types):
        s.supply[i] += s.filled[i, tower, k]
        s.filled[i, tower, k] = 0
    s.lacks[i, tower] = t.all_bits[tower]
    s.books[i] += 1
    # R14: the highest-VP unfilled slot for this tower, the first listed among equals
    filled, following = best_slot(t, s, i, tower), 0
    if filled >= 0:
        s.slots_filled[i, filled] = True
        after = best_slot(t, s, i, tower)
        following = t.slot_vp[prestige, after] if after >= 0 else 0
    s.next_slot[i, tower] = following
    for j in range(s.display_len[i]):
        s.place[i, s.display[i, j]] = IN_DISCARD
    close_display(t, s, i)
    s.phase[i] = PHASE_HIRE  # R6: one sale a turn
    s.score[i] = score(t, s, i)


@compiled
def best_slot(t: Any, s: Any, i: int, tower: int) -> int:
    """The slot that the next book of a tower fills (R14), -1 if none."""
    best, prestige = -1, s.prestige[i]
    for j in range(t.slot_count[prestige]):
        fits = t.slot_tower[prestige, j] == tower and not s.slots_filled[i, j]
        if fits and (best < 0 or t.slot_vp[prestige, j] > t.slot_vp[prestige, best]):
            best = j
    return best


@compiled
def score(t: Any, s: Any, i: int) -> int:
    """Score if the game ended now ("End and score")."""
    prestige, filled = s.prestige[i], 0
    vp = s.books[i] * t.vp_per_book + s.florins[i] // t.florins_per_vp
    for j in range(t.slot_count[prestige]):
        if s.slots_filled[i, j]:
            filled += 1
            vp += t.slot_vp[prestige, j]
    return vp + (t.bonus[prestige] if filled == t.slot_count[prestige] else 0)


@compiled
def hire(t: Any, s: Any, i: int, card: int, tower: int) -> None:
    """Step 4c: hire a discarded card's artisans into a tower."""
    # R13: min(card's count, what the tower lacks, supply), types in the edition's order
    for k in range(t.types):
        lack = t.requires[tower, k] - s.filled[i, tower, k]
        given = min(min(t.artisans[card, k], lack), s.supply[i])
        s.filled[i, tower, k] += given
        s.supply[i] -= given
        if given == lack and given > 0:
            s.lacks[i, tower] ^= t.bits[k]
    s.pending_card[i], s.pending_tower[i] = card, tower
    s.hires_left[i] -= 1
    s.phase[i] = PHASE_PAY
