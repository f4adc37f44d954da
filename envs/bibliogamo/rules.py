"""The rules of Bibliogamo on arrays: each function moves a whole group of rows on.

``rows`` are always distinct row numbers (intp). Functions work in place on the state. Clause ids
(R4, step 4b, …) are those of the rules. Actions are taken to be legal: the engine checks.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from incunabula.envs.bibliogamo.actions import Actions, Kind
from incunabula.envs.bibliogamo.state import (
    BoolArray,
    Int16Array,
    Int32Array,
    Phase,
    Place,
    Rows,
    State,
)
from incunabula.envs.bibliogamo.tables import Tables
from incunabula.envs.chance import PRESTIGE_STREAM, first_of, shuffle_orders

Choices = npt.NDArray[np.intp]

# Enumerations as plain integers: looking a member up costs as much as a small array operation.
TRAVEL, KEEP, SELL, ACCEPT, WAIT, HIRE, LIFT, PAY, END = (int(kind) for kind in Kind)
PHASE_TRAVEL, PHASE_SELL, PHASE_PRICE, PHASE_HIRE, PHASE_PAY, PHASE_OVER = (int(p) for p in Phase)
IN_DISCARD, IN_HAND, IN_DISPLAY, IN_DECK = (int(place) for place in Place)
KINDS, PHASES = len(Kind), len(Phase)

# Set-up -----------------------------------------------------------------------------------------


def set_up(t: Tables, s: State, rows: Rows, prestige: Int16Array) -> None:
    """Choose the collection and shuffle; what follows (hand, turn 1) is ``start_turn``.

    The rows must be as ``empty_state`` makes them (R3), but for their seed or tape. ``prestige``
    int16 (n,): the collection asked for, -1 = drawn from the seed (R15).
    """
    if np.count_nonzero(prestige < 0):
        drawn = first_of(s.seed[rows], PRESTIGE_STREAM, t.collections)
        prestige = np.where(prestige < 0, drawn, prestige)
    s.prestige[rows] = prestige
    s.next_slot[rows] = t.first_slots[prestige]
    shuffle(t, s, rows)  # shuffle 0 is of all cards


def score(t: Tables, s: State, rows: Rows) -> Int32Array:
    """Score if the game ended now ("End and score"); int32 (n,)."""
    slots = s.slots_filled[rows]
    prestige = s.prestige[rows]
    vp: Int32Array = (slots * t.slot_vp[prestige]).sum(axis=1, dtype=np.int32)
    vp += np.where(slots.sum(axis=1) == t.slot_count[prestige], t.bonus[prestige], 0)
    vp += s.books[rows] * t.vp_per_book
    vp += s.florins[rows] // t.florins_per_vp
    return vp


def next_slots(t: Tables, prestige: Int16Array, filled: BoolArray) -> Int16Array:
    """VP of the slot that the next book of each tower would fill (R14), 0 if none; int16 (n, T)."""
    tower = t.slot_tower[prestige]
    open_vp = np.where(filled, 0, t.slot_vp[prestige])
    mine = tower[:, :, None] == np.arange(t.towers)
    best: Int16Array = np.where(mine, open_vp[:, :, None], np.int16(0)).max(axis=1)
    return best


# Cards ------------------------------------------------------------------------------------------


def shuffle(t: Tables, s: State, rows: Rows) -> None:
    """Lay the discard pile as the new draw deck, where there is a discard pile ("Empty deck")."""
    pile = s.place[rows] == IN_DISCARD
    some = pile.any(axis=1)
    if np.count_nonzero(some) < len(rows):  # R10: nothing to shuffle, no shuffle number is used
        rows, pile = rows[some], pile[some]
        if not rows.size:
            return
    orders = shuffle_orders(
        s.seed[rows], s.shuffles[rows], s.tape[rows], s.tape_length[rows], t.cards
    )
    s.shuffles[rows] += 1
    lay(t, s, rows, pile, orders)
    place = s.place[rows]
    place[pile] = IN_DECK
    s.place[rows] = place


def lay(t: Tables, s: State, rows: Rows, cards: BoolArray, orders: Int16Array) -> None:
    """Make the draw deck of these cards, bool (n, C), in their order; the first lies on top."""
    drawn = cards[np.arange(len(rows))[:, None], orders]
    rank = drawn.cumsum(axis=1, dtype=np.int32)
    count = rank[:, -1]
    # Cards that aren't drawn go where "no card" lies anyway.
    depth = np.where(drawn, (count + t.hand_size)[:, None] - rank, 0)
    s.deck_flat[s.deck_row[rows][:, None] + depth] = np.where(drawn, orders, np.int16(t.cards))
    s.deck_left[rows] = count


def flip(t: Tables, s: State, rows: Rows, to: int) -> Int16Array:
    """Flip the top card onto the discard pile or the display; its id, or C if there is none."""
    left = s.deck_left[rows]
    if np.count_nonzero(left) < len(rows):
        shuffle(t, s, rows[left == 0])
        left = s.deck_left[rows]
    cards: Int16Array = s.deck_flat[s.deck_row[rows] + left + (t.hand_size - 1)]
    s.place_flat[s.place_row[rows] + cards] = to
    s.deck_left[rows] = left - (left > 0)
    return cards


def refill(t: Tables, s: State, rows: Rows) -> None:
    """Step 5: draw until the hand is full, or until no card is left (R10)."""
    short = _draw(t, s, rows)
    if np.count_nonzero(short):
        late = rows[short]
        shuffle(t, s, late)
        _draw(t, s, late)


def _draw(t: Tables, s: State, rows: Rows) -> BoolArray:
    """Fill hands from the draw deck as it lies; returns (n,) whether a hand is still short."""
    hand = s.hand[rows]
    need = (hand == t.cards).sum(axis=1, dtype=np.int32)
    left = s.deck_left[rows]
    # The empty slots are the last ones: the n-th from the end takes the n-th card drawn.
    top = (s.deck_row[rows] + left)[:, None]
    cards = s.deck_flat[top + np.arange(t.hand_size)]
    cards[hand < t.cards] = t.cards
    s.place_flat[s.place_row[rows][:, None] + cards] = IN_HAND
    hand = np.minimum(hand, cards)
    hand.sort(axis=1)
    s.hand[rows] = hand
    s.deck_left[rows] = np.maximum(left - need, 0)
    short: BoolArray = left < need
    return short


# Turns ------------------------------------------------------------------------------------------


def start_turn(t: Tables, s: State, rows: Rows) -> None:
    """Draw up to a full hand, then steps 1 to 3, up to the turn's first decision."""
    refill(t, s, rows)
    cards = flip(t, s, rows, IN_DISCARD)  # step 2; R10: "no card" moves nobody and bans nothing
    counts = s.counts[rows]
    counts[:, :2] += 1  # step 1: time, and the turn's number
    counts[:, 2] = t.hires_per_turn
    s.counts[rows] = counts
    marks = s.marks[rows]
    librarian = marks[:, 1] + t.move[cards]
    librarian += t.librarian_step
    librarian %= t.spaces
    marks[:, 1] = librarian
    marks[:, 2] = t.icon[cards]  # step 3: banned
    marks[:, 0] = _after_travel(t, s, rows, librarian)
    marks[:, 0][counts[:, 3] > 0] = PHASE_TRAVEL  # step 4a is skipped without florins
    s.marks[rows] = marks


def _after_travel(t: Tables, s: State, rows: Rows, librarian: Int16Array) -> Int16Array:
    """Phase after step 4a: SELL if the librarian's tower is complete and two cards can be flipped
    (R10), else HIRE; int16 (n,)."""
    complete = s.lacks_flat[s.tower_row[rows] + t.board[librarian]] == 0
    if t.cards < t.hand_size + 2:  # else deck and discard pile always hold two cards
        complete &= t.cards - _hand_count(t, s, rows) >= 2
    return np.where(complete, np.int16(PHASE_SELL), np.int16(PHASE_HIRE))


def _hand_count(t: Tables, s: State, rows: Rows) -> Int32Array:
    count: Int32Array = (s.hand[rows] < t.cards).sum(axis=1, dtype=np.int32)
    return count


def apply(t: Tables, a: Actions, s: State, rows: Rows, actions: Choices) -> Rows:
    """Take one legal action in each row; ``actions`` (n,).

    Returns the rows whose turn has ended and whose game goes on: ``start_turn`` is due in them.
    """
    rows, actions, bound = _grouped(a.kind[actions], KINDS, rows, actions)

    def group(first: int, last: int | None = None) -> tuple[Rows, Choices]:
        at = slice(bound[first], bound[(first if last is None else last) + 1])
        return rows[at], actions[at]

    if bound[TRAVEL + 1]:
        _travel(t, a, s, *group(TRAVEL))
    if bound[KEEP] < bound[HIRE]:
        s.phase[group(KEEP)[0]] = PHASE_HIRE
        if bound[SELL] < bound[SELL + 1]:
            _sell(t, s, group(SELL)[0])
        if bound[ACCEPT] < bound[ACCEPT + 1]:
            _accept(t, s, group(ACCEPT)[0])
        if bound[WAIT] < bound[WAIT + 1]:
            _wait(t, s, group(WAIT)[0])
    ending = group(END)[0]
    if bound[HIRE] < bound[END]:
        cards = _discard(t, a, s, *group(HIRE, PAY))
        if bound[HIRE] < bound[LIFT]:
            hiring, chosen = group(HIRE)
            _hire(t, s, hiring, cards[: len(hiring)], a.tower[chosen])
        if bound[LIFT] < bound[PAY]:
            s.banned[group(LIFT)[0]] = -1  # R11: frees the rest of the turn
        if bound[PAY] < bound[END]:
            paid = _pay(s, group(PAY)[0])
            ending = np.concatenate([ending, paid]) if ending.size else paid
    if ending.size:
        over = s.time[ending] >= t.days
        if np.count_nonzero(over):  # R9: the game ends before the refill
            s.phase[ending[over]] = PHASE_OVER
            ending = ending[~over]
    return ending


def _grouped(
    group: npt.NDArray[np.integer], groups: int, rows: Rows, actions: Choices
) -> tuple[Rows, Choices, list[int]]:
    """Rows and actions sorted by group; group g lies at bound[g] .. bound[g + 1]."""
    if len(rows) == 1:
        only = int(group[0])
        return rows, actions, [0] * (only + 1) + [1] * (groups - only)
    order = group.argsort(kind="stable")
    bound = np.bincount(group, minlength=groups).cumsum().tolist()
    return rows[order], actions[order], [0, *bound]


def _travel(t: Tables, a: Actions, s: State, rows: Rows, actions: Choices) -> None:
    """Step 4a: stay, or walk for 1 florin a space."""
    librarian = s.librarian[rows]
    walks = actions != a.stay
    if np.count_nonzero(walks):
        target = np.where(walks, actions - a.walk, librarian).astype(np.int16)
        florins = s.florins[rows]
        after = florins - t.distance[librarian, target]
        s.score[rows] += after // t.florins_per_vp - florins // t.florins_per_vp
        s.florins[rows] = after
        s.librarian[rows] = librarian = target
    s.phase[rows] = _after_travel(t, s, rows, librarian)


def _sell(t: Tables, s: State, rows: Rows) -> None:
    """Step 4b: flip two cards to the price display; no way back (R16)."""
    first = flip(t, s, rows, IN_DISPLAY)
    s.display[rows, 0] = s.display_first[rows] = first
    s.display_coin[rows] = t.coin[first]
    s.display_len[rows] = 1
    s.phase[rows] = PHASE_PRICE
    _flip_price(t, s, rows)


def _wait(t: Tables, s: State, rows: Rows) -> None:
    """Step 4b, go on: pay a day for another price."""
    s.time[rows] += 1
    _flip_price(t, s, rows)


def _flip_price(t: Tables, s: State, rows: Rows) -> None:
    """Flip the card the price is read from, in the first card's coin (R5)."""
    cards = flip(t, s, rows, IN_DISPLAY)
    length = s.display_len[rows]
    s.display[rows, length] = s.display_last[rows] = cards
    s.display_len[rows] = length + 1
    s.offer[rows] = t.price[cards, s.display_coin[rows]]


def _accept(t: Tables, s: State, rows: Rows) -> None:
    """Step 4b, the end: sell at the price on offer."""
    tower = t.board[s.librarian[rows]]
    florins = s.florins[rows] + s.offer[rows]
    if t.florin_cap >= 0:  # R2
        np.minimum(florins, t.florin_cap, out=florins)
    s.florins[rows] = florins
    at = s.tower_row[rows] + tower
    s.supply[rows] += s.filled_flat[at].sum(axis=1, dtype=np.int32)
    s.filled_flat[at] = 0
    s.lacks_flat[at] = t.all_bits[tower]
    s.books[rows] += 1
    # R14: the highest-VP unfilled slot for this tower, the first listed among equals
    prestige, slots = s.prestige[rows], s.slots_filled[rows]
    fits = (t.slot_tower[prestige] == tower[:, None]) & ~slots
    slot = np.where(fits, t.slot_vp[prestige], np.int16(-1)).argmax(axis=1)
    each = np.arange(len(rows))
    slots[each, slot] |= fits[each, slot]
    s.slots_filled[rows] = slots
    s.next_slot[rows] = next_slots(t, prestige, slots)
    place = s.place[rows]
    place[place == IN_DISPLAY] = IN_DISCARD
    s.place[rows] = place
    s.display[rows] = t.cards
    s.display_len[rows] = 0
    s.display_first[rows] = s.display_last[rows] = -1
    s.display_coin[rows] = -1
    s.offer[rows] = 0
    s.phase[rows] = PHASE_HIRE  # R6: one sale a turn
    s.score[rows] = score(t, s, rows)


def _discard(t: Tables, a: Actions, s: State, rows: Rows, actions: Choices) -> Int16Array:
    """Discard the card in the action's hand slot; its id, int16 (n,)."""
    hand = s.hand[rows]
    flat = hand.reshape(-1)
    at = np.arange(0, len(flat), t.hand_size) + a.slot[actions]
    cards: Int16Array = flat[at]
    flat[at] = t.cards
    hand.sort(axis=1)
    s.hand[rows] = hand
    s.place_flat[s.place_row[rows] + cards] = IN_DISCARD
    return cards


def _hire(t: Tables, s: State, rows: Rows, cards: Int16Array, tower: Int16Array) -> None:
    """Step 4c: hire a discarded card's artisans into a tower."""
    # R13: min(card's count, what the tower lacks, supply), types in the edition's order
    requires = t.requires[tower]
    at = s.tower_row[rows] + tower
    filled, supply = s.filled_flat[at], s.supply[rows]
    wanted = np.minimum(t.artisans[cards], requires - filled)
    given = np.minimum(wanted.cumsum(axis=1, dtype=np.int32), supply[:, None])
    s.supply[rows] = supply - given[:, -1]
    given[:, 1:] -= given[:, :-1].copy()
    filled += given.astype(np.int16)
    s.filled_flat[at] = filled
    s.lacks_flat[at] = (filled < requires) @ t.bits
    s.pending_card[rows] = cards
    s.pending_tower[rows] = tower
    s.hires_left[rows] -= 1
    s.phase[rows] = PHASE_PAY


def _pay(s: State, rows: Rows) -> Rows:
    """Step 4c: the hire is paid for; returns the rows whose turn ends (no hires left)."""
    s.pending_card[rows] = -1
    s.pending_tower[rows] = -1
    s.phase[rows] = PHASE_HIRE
    ending: Rows = rows[s.hires_left[rows] == 0]
    return ending


# Legal actions ----------------------------------------------------------------------------------


def legal(t: Tables, a: Actions, s: State, rows: Rows, out: BoolArray) -> None:
    """Write the legal actions of these rows into ``out``, bool (N, A); none once it is over."""
    rows, _, bound = _grouped(s.phase[rows], PHASES, rows, rows)
    masks = np.zeros((len(rows), a.n), np.bool_)
    for phase, legal_in_phase in _LEGAL.items():
        first, last = bound[phase], bound[phase + 1]
        if first < last:
            legal_in_phase(t, a, s, rows[first:last], masks[first:last])
    out[rows] = masks


def _legal_travel(t: Tables, a: Actions, s: State, rows: Rows, out: BoolArray) -> None:
    """Step 4a: stay, or any space that can be paid for."""
    spaces = t.distance[s.librarian[rows]]
    out[:, a.stay] = True
    out[:, a.walk : a.keep] = (spaces > 0) & (spaces <= s.florins[rows][:, None])


def _legal_sell(t: Tables, a: Actions, s: State, rows: Rows, out: BoolArray) -> None:
    """Step 4b: keep or sell."""
    out[:, a.keep : a.accept] = True


def _legal_price(t: Tables, a: Actions, s: State, rows: Rows, out: BoolArray) -> None:
    """Step 4b: accept; wait while there are days and cards (R10)."""
    out[:, a.accept] = True
    more = t.cards - _hand_count(t, s, rows) - s.display_len[rows] > 0
    out[:, a.wait] = (s.time[rows] < t.days) & more


def _legal_hire(t: Tables, a: Actions, s: State, rows: Rows, out: BoolArray) -> None:
    """Step 4c: hire, lift the ban, or end."""
    hand, banned = s.hand[rows], s.banned[rows]
    held = (
        hand + (banned.astype(np.intp) * (t.cards + 1))[:, None]
    )  # where ban and card meet in the tables
    out[:, a.end] = True
    if t.lifts_per_turn:
        out[:, a.lift : a.pay] = t.lifts.take(held, mode="wrap")
    if t.hand_size < 2 or not t.hires_per_turn:
        return
    can = (hand[:, 1] < t.cards) & (s.hires_left[rows] > 0)  # one card to play, one to pay
    if t.allow_empty_hire:
        playable = ~t.bans.take(held, mode="wrap") & (hand < t.cards) & can[:, None]
        out[:, a.hire : a.lift] = np.repeat(playable, t.towers, axis=1)
        return
    can &= s.supply[rows] > 0  # R8: a hire must place at least one cube
    lacks = s.lacks[rows] * can[:, None]
    helps = t.usable.take(held, mode="wrap")[:, :, None] & lacks[:, None, :]
    out[:, a.hire : a.lift] = helps.reshape(len(rows), -1) != 0


def _legal_pay(t: Tables, a: Actions, s: State, rows: Rows, out: BoolArray) -> None:
    """Step 4c: any card can pay (R4)."""
    out[:, a.pay : a.end] = s.hand[rows] < t.cards


_LEGAL = {
    PHASE_TRAVEL: _legal_travel,
    PHASE_SELL: _legal_sell,
    PHASE_PRICE: _legal_price,
    PHASE_HIRE: _legal_hire,
    PHASE_PAY: _legal_pay,
}
