"""The rules of Bibliogamo on arrays: each function moves a whole group of rows on.

``rows`` are always distinct row numbers (intp). Functions work in place on the state. Clause ids
(R4, step 4b, …) are those of the rules. Actions are taken to be legal: the engine checks.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from incunabula.envs.bibliogamo.actions import Actions
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

# Set-up -----------------------------------------------------------------------------------------


def deal(t: Tables, s: State, rows: Rows, prestige: Int16Array) -> None:
    """Set up a game in each row, up to its first decision.

    The row's ``seed`` and tape must be in place. ``prestige`` int16 (n,): the collection asked
    for, -1 = drawn from the seed (R15).
    """
    drawn = first_of(s.seed[rows], PRESTIGE_STREAM, t.collections)
    s.prestige[rows] = np.where(prestige < 0, drawn, prestige)
    s.time[rows] = t.start_time  # R3
    s.florins[rows] = t.start_florins
    s.librarian[rows] = t.start_librarian
    s.turn[rows] = 0
    s.books[rows] = 0
    s.supply[rows] = t.cubes
    s.filled[rows] = 0
    s.banned[rows] = -1
    s.pending_card[rows] = -1
    s.pending_tower[rows] = -1
    s.slots_filled[rows] = False
    s.display[rows] = t.cards
    s.display_len[rows] = 0
    s.shuffles[rows] = 0
    s.place[rows] = Place.DISCARD  # shuffle 0 is of all cards
    s.hand[rows] = t.cards
    s.deck_left[rows] = 0
    shuffle(t, s, rows)
    s.score[rows] = score(t, s, rows)
    refill(t, s, rows)
    begin_turn(t, s, rows)


def score(t: Tables, s: State, rows: Rows) -> Int32Array:
    """Score if the game ended now ("End and score"); int32 (n,)."""
    slots = s.slots_filled[rows]
    prestige = s.prestige[rows]
    vp: Int32Array = (slots * t.slot_vp[prestige]).sum(axis=1, dtype=np.int32)
    vp += np.where(slots.sum(axis=1) == t.slot_count[prestige], t.bonus[prestige], 0)
    vp += s.books[rows].astype(np.int32) * t.vp_per_book
    vp += s.florins[rows] // t.florins_per_vp
    return vp


# Cards ------------------------------------------------------------------------------------------


def hand_count(t: Tables, s: State, rows: Rows) -> npt.NDArray[np.intp]:
    """Cards in hand; (n,)."""
    return np.asarray((s.hand[rows] < t.cards).sum(axis=1))


def shuffle(t: Tables, s: State, rows: Rows) -> None:
    """Lay the discard pile as the new draw deck, where there is a discard pile ("Empty deck")."""
    pile = s.place[rows] == Place.DISCARD
    some = pile.any(axis=1)
    if not some.all():  # R10: nothing to shuffle, and no shuffle number is used
        rows, pile = rows[some], pile[some]
    if not rows.size:
        return
    orders = shuffle_orders(
        s.seed[rows], s.shuffles[rows], s.tape[rows], s.tape_length[rows], t.cards
    )
    s.shuffles[rows] += 1
    drawn = np.take_along_axis(pile, orders, axis=1)
    count = drawn.sum(axis=1)
    # The first to be drawn lies on top, at deck_left - 1.
    which, where = np.nonzero(drawn)
    depth = count[:, None] - np.cumsum(drawn, axis=1)
    s.deck[rows[which], depth[which, where]] = orders[which, where]
    s.deck_left[rows] = count
    s.place[rows] = np.where(pile, Place.DECK, s.place[rows])


def flip(t: Tables, s: State, rows: Rows, to: Place) -> Int16Array:
    """Flip the top card onto the discard pile or the display; its id, or C if there is none."""
    empty = s.deck_left[rows] == 0
    if empty.any():
        shuffle(t, s, rows[empty])
    left = s.deck_left[rows]
    cards = s.deck[rows, left - 1]
    some = left > 0
    if some.all():
        s.deck_left[rows] = left - 1
        s.place[rows, cards] = to
        return cards
    s.deck_left[rows] = left - some
    s.place[rows[some], cards[some]] = to
    return np.where(some, cards, np.int16(t.cards))


def refill(t: Tables, s: State, rows: Rows) -> None:
    """Step 5: draw until the hand is full, or until no card is left (R10)."""
    short = _draw(t, s, rows)
    if short.any():
        late = rows[short]
        shuffle(t, s, late)
        _draw(t, s, late)


def _draw(t: Tables, s: State, rows: Rows) -> BoolArray:
    """Fill hands from the draw deck as it lies; returns (n,) whether a hand is still short."""
    hand = s.hand[rows]
    need = t.hand_size - (hand < t.cards).sum(axis=1)
    left = s.deck_left[rows]
    count = np.minimum(need, left)
    k = int(count.max())
    if k:
        nth = np.arange(k)
        drawn = nth < count[:, None]
        cards = s.deck[rows[:, None], left[:, None] - 1 - nth]
        cards[~drawn] = t.cards
        both = np.concatenate([hand, cards], axis=1)
        both.sort(axis=1)
        s.hand[rows] = both[:, : t.hand_size]
        which, where = np.nonzero(drawn)
        s.place[rows[which], cards[which, where]] = Place.HAND
        s.deck_left[rows] = left - count
    return np.asarray(count < need)


# Turns ------------------------------------------------------------------------------------------


def begin_turn(t: Tables, s: State, rows: Rows) -> None:
    """Steps 1 to 3, up to the turn's first decision."""
    s.time[rows] += 1  # step 1
    s.turn[rows] += 1
    s.hires_left[rows] = t.hires_per_turn
    cards = flip(t, s, rows, Place.DISCARD)  # step 2; R10: "no card" moves nobody and bans nothing
    librarian = (s.librarian[rows] + t.librarian_step + t.move[cards]) % t.spaces
    s.librarian[rows] = librarian
    s.banned[rows] = t.icon[cards]  # step 3
    sale = _after_travel(t, s, rows, librarian)
    s.phase[rows] = np.where(s.florins[rows] > 0, np.int8(Phase.TRAVEL), sale)


def _after_travel(t: Tables, s: State, rows: Rows, librarian: Int16Array) -> npt.NDArray[np.int8]:
    """Phase after step 4a: SELL if the librarian's tower is complete and two cards can be flipped
    (R10), else HIRE; int8 (n,)."""
    tower = t.board[librarian]
    complete = (s.filled[rows, tower] == t.requires[tower]).all(axis=1)
    sale = np.where(complete, np.int8(Phase.SELL), np.int8(Phase.HIRE))
    if t.cards < t.hand_size + 2:  # else deck and discard pile always hold two cards
        sale[t.cards - hand_count(t, s, rows) < 2] = Phase.HIRE
    return sale


def _end_turn(t: Tables, s: State, rows: Rows) -> None:
    """Step 5 and the next turn's steps 1 to 3, or the end of the game (R9)."""
    over = s.time[rows] >= t.days
    if over.any():
        s.phase[rows[over]] = Phase.OVER
        rows = rows[~over]
    if rows.size:
        refill(t, s, rows)
        begin_turn(t, s, rows)


def apply(t: Tables, a: Actions, s: State, rows: Rows, actions: npt.NDArray[np.intp]) -> None:
    """Take one legal action in each row; ``actions`` (n,)."""
    phase = s.phase[rows]
    ending: list[Rows] = []

    at = np.flatnonzero(phase == Phase.TRAVEL)
    if at.size:
        _travel(t, a, s, rows[at], actions[at])
    at = np.flatnonzero(phase == Phase.SELL)
    if at.size:
        _sell(t, a, s, rows[at], actions[at])
    at = np.flatnonzero(phase == Phase.PRICE)
    if at.size:
        _price(t, a, s, rows[at], actions[at])
    at = np.flatnonzero(phase == Phase.HIRE)
    if at.size:
        ending.append(_hire(t, a, s, rows[at], actions[at]))
    at = np.flatnonzero(phase == Phase.PAY)
    if at.size:
        ending.append(_pay(t, a, s, rows[at], actions[at]))
    if ending:
        last = np.concatenate(ending)
        if last.size:
            _end_turn(t, s, last)


def _travel(t: Tables, a: Actions, s: State, rows: Rows, actions: npt.NDArray[np.intp]) -> None:
    """Step 4a: stay, or walk for 1 florin a space."""
    librarian = s.librarian[rows]
    walks = actions != a.stay
    if walks.any():
        target = np.where(walks, actions - a.walk, librarian).astype(np.int16)
        florins = s.florins[rows]
        after = florins - t.distance[librarian, target]
        s.score[rows] += after // t.florins_per_vp - florins // t.florins_per_vp
        s.florins[rows] = after
        s.librarian[rows] = librarian = target
    s.phase[rows] = _after_travel(t, s, rows, librarian)


def _sell(t: Tables, a: Actions, s: State, rows: Rows, actions: npt.NDArray[np.intp]) -> None:
    """Step 4b: keep, or flip two cards to the price display."""
    sells = actions == a.sell
    s.phase[rows] = np.where(sells, np.int8(Phase.PRICE), np.int8(Phase.HIRE))
    rows = rows[sells]
    if rows.size:
        s.display[rows, 0] = flip(t, s, rows, Place.DISPLAY)
        s.display[rows, 1] = flip(t, s, rows, Place.DISPLAY)
        s.display_len[rows] = 2


def _price(t: Tables, a: Actions, s: State, rows: Rows, actions: npt.NDArray[np.intp]) -> None:
    """Step 4b, go on: wait a day for another price, or accept this one."""
    waits = actions == a.wait
    waiting = rows[waits]
    if waiting.size:
        s.time[waiting] += 1
        s.display[waiting, s.display_len[waiting]] = flip(t, s, waiting, Place.DISPLAY)
        s.display_len[waiting] += 1
    rows = rows[~waits]
    if not rows.size:
        return
    tower = t.board[s.librarian[rows]]
    florins = s.florins[rows] + offers(t, s, rows)
    if t.florin_cap >= 0:  # R2
        np.minimum(florins, t.florin_cap, out=florins)
    s.florins[rows] = florins
    s.supply[rows] += s.filled[rows, tower].sum(axis=1, dtype=np.int16)
    s.filled[rows, tower] = 0
    s.books[rows] += 1
    # R14: the highest-VP unfilled slot for this tower, the first listed among equals
    prestige = s.prestige[rows]
    fits = (t.slot_tower[prestige] == tower[:, None]) & ~s.slots_filled[rows]
    slot = np.where(fits, t.slot_vp[prestige], np.int16(-1)).argmax(axis=1)
    s.slots_filled[rows, slot] |= fits[np.arange(len(rows)), slot]
    place = s.place[rows]
    place[place == Place.DISPLAY] = Place.DISCARD
    s.place[rows] = place
    s.display[rows] = t.cards
    s.display_len[rows] = 0
    s.phase[rows] = Phase.HIRE  # R6: one sale a turn
    s.score[rows] = score(t, s, rows)


def offers(t: Tables, s: State, rows: Rows) -> Int32Array:
    """The price on offer: the last card's florins in the first card's coin (R5); int32 (n,)."""
    coin = t.coin[s.display[rows, 0]]
    florins: Int32Array = t.price[s.display[rows, s.display_len[rows] - 1], coin]
    return florins


def _discard(
    t: Tables, a: Actions, s: State, rows: Rows, actions: npt.NDArray[np.intp]
) -> Int16Array:
    """Discard the card in the action's hand slot; its id, int16 (n,)."""
    slot = a.slot[actions]
    hand = s.hand[rows]
    each = np.arange(len(rows))
    cards = hand[each, slot]
    hand[each, slot] = t.cards
    hand.sort(axis=1)
    s.hand[rows] = hand
    s.place[rows, cards] = Place.DISCARD
    return cards


def _hire(t: Tables, a: Actions, s: State, rows: Rows, actions: npt.NDArray[np.intp]) -> Rows:
    """Step 4c: hire, lift the ban, or end; returns the rows whose turn ends."""
    hires = actions < a.lift
    ends = actions == a.end
    lifts = ~(hires | ends)
    if lifts.any():  # R11: frees the rest of the turn
        lifting = rows[lifts]
        _discard(t, a, s, lifting, actions[lifts])
        s.banned[lifting] = -1
    hiring, chosen = rows[hires], actions[hires]
    if hiring.size:
        cards = _discard(t, a, s, hiring, chosen)
        tower = (chosen - a.hire) % a.towers
        # R13: min(card's count, what the tower lacks, supply), types in the edition's order
        filled, supply = s.filled[hiring, tower], s.supply[hiring]
        wanted = np.minimum(t.artisans[cards], t.requires[tower] - filled)
        given = np.minimum(np.cumsum(wanted, axis=1, dtype=np.int32), supply[:, None])
        given[:, 1:] -= given[:, :-1].copy()
        s.filled[hiring, tower] = filled + given
        s.supply[hiring] = supply - given.sum(axis=1)
        s.pending_card[hiring] = cards
        s.pending_tower[hiring] = tower
        s.hires_left[hiring] -= 1
        s.phase[hiring] = Phase.PAY
    ending: Rows = rows[ends]
    return ending


def _pay(t: Tables, a: Actions, s: State, rows: Rows, actions: npt.NDArray[np.intp]) -> Rows:
    """Step 4c: pay for the hire; returns the rows whose turn ends (no hires left)."""
    _discard(t, a, s, rows, actions)
    s.pending_card[rows] = -1
    s.pending_tower[rows] = -1
    s.phase[rows] = Phase.HIRE
    ending: Rows = rows[s.hires_left[rows] == 0]
    return ending


# Legal actions ----------------------------------------------------------------------------------


def legal(t: Tables, a: Actions, s: State, rows: Rows, out: BoolArray) -> None:
    """Write the legal actions of these rows into ``out``, bool (N, A); none once it is over."""
    phase = s.phase[rows]
    out[rows] = False

    at = rows[phase == Phase.TRAVEL]
    if at.size:
        steps = t.distance[s.librarian[at]]
        out[at, a.stay] = True
        out[at, a.walk : a.keep] = (steps > 0) & (steps <= s.florins[at][:, None])
    at = rows[phase == Phase.SELL]
    if at.size:
        out[at, a.keep : a.accept] = True
    at = rows[phase == Phase.PRICE]
    if at.size:
        out[at, a.accept] = True
        more = t.cards - hand_count(t, s, at) - s.display_len[at] > 0  # R10
        out[at, a.wait] = (s.time[at] < t.days) & more
    at = rows[phase == Phase.HIRE]
    if at.size:
        _legal_hires(t, a, s, at, out)
    at = rows[phase == Phase.PAY]
    if at.size:
        out[at, a.pay : a.end] = s.hand[at] < t.cards  # R4: any card can pay


def _legal_hires(t: Tables, a: Actions, s: State, rows: Rows, out: BoolArray) -> None:
    hand, banned = s.hand[rows], s.banned[rows][:, None]
    held = hand < t.cards
    out[rows, a.end] = True
    if t.lifts_per_turn:
        out[rows, a.lift : a.pay] = t.lifts[banned, hand]
    can = (held.sum(axis=1) >= 2) & (s.hires_left[rows] > 0)
    playable = held & ~t.bans[banned, hand] & can[:, None]
    if t.allow_empty_hire:
        hires = np.repeat(playable, t.towers, axis=1)
    else:  # R8: a hire must place at least one cube
        lacking = s.filled[rows] < t.requires
        bits = lacking @ (np.uint64(1) << np.arange(t.types, dtype=np.uint64))
        helps = (t.type_bits[hand][:, :, None] & bits[:, None, :]) != 0
        helps &= (playable & (s.supply[rows] > 0)[:, None])[:, :, None]
        hires = helps.reshape(len(rows), -1)
    out[rows, a.hire : a.lift] = hires
