"""A row of the state as the rules' JSON form, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from incunabula.envs.bibliogamo.rules import lay, next_slots, score
from incunabula.envs.bibliogamo.state import Phase, Place, Rows, State, empty_state
from incunabula.envs.bibliogamo.tables import Tables
from incunabula.envs.chance import shuffle_orders
from incunabula.envs.json_state import (
    Json,
    StateError,
    read_choice,
    read_fields,
    read_integer,
    read_list,
)

PHASES = [phase.name.lower() for phase in Phase]
KEYS = {
    *("phase", "time", "librarian", "florins", "books", "score", "supply", "towers", "hand"),
    *("deck", "discard", "display", "banned", "hires_left", "pending_hire", "prestige"),
    *("slots_filled", "turn"),
}

_OWN = object()  # stands for the field of the form


def snapshot(t: Tables, s: State, i: int) -> Json:
    """Row ``i`` in the JSON form of the rules (the display in flip order)."""

    def cards(place: Place) -> list[int]:
        return [int(c) for c in np.flatnonzero(s.place[i] == place)]

    prestige, pending, banned = int(s.prestige[i]), int(s.pending_card[i]), int(s.banned[i])
    return {
        "phase": PHASES[s.phase[i]],
        "time": int(s.time[i]),
        "librarian": int(s.librarian[i]),
        "florins": int(s.florins[i]),
        "books": int(s.books[i]),
        "score": int(s.score[i]),
        "supply": int(s.supply[i]),
        "towers": s.filled[i].tolist(),
        "hand": cards(Place.HAND),
        "deck": cards(Place.DECK),
        "discard": cards(Place.DISCARD),
        "display": s.display[i, : s.display_len[i]].tolist(),
        "banned": None if banned < 0 else banned,
        "hires_left": int(s.hires_left[i]),
        "pending_hire": None
        if pending < 0
        else {"card": pending, "tower": int(s.pending_tower[i])},
        "prestige": prestige,
        "slots_filled": s.slots_filled[i, : t.slot_count[prestige]].tolist(),
        "turn": int(s.turn[i]),
    }


def restore(t: Tables, form: Mapping[str, Any], seed: int) -> State:
    """One row rebuilt from its JSON form; the hidden order is drawn from ``seed``.

    The present deck is laid in the order of shuffle 0, later shuffles are 1, 2, …

    Raises:
        StateError: naming the field that is malformed or contradicts another.
    """
    s = empty_state(t, 1)
    read = _Reader(t, read_fields("state", form, KEYS))
    s.phase[0] = read.choice("phase", PHASES)
    s.time[0] = read.integer("time", 0, t.days)
    s.turn[0] = read.integer("turn", 1, t.days)
    s.librarian[0] = read.integer("librarian", 0, t.spaces - 1)
    s.florins[0] = read.integer("florins", 0, 2**31 - 1 if t.florin_cap < 0 else t.florin_cap)
    s.books[0] = read.integer("books", 0, t.days)
    s.hires_left[0] = read.integer("hires_left", 0, t.hires_per_turn)
    s.banned[0] = -1 if form["banned"] is None else read.integer("banned", 0, t.types - 1)
    prestige = s.prestige[0] = read.integer("prestige", 0, t.collections - 1)
    read.fill(s, int(prestige))
    s.seed[0] = seed
    lay_deck(t, s, np.arange(1))
    s.shuffles[0] = 1
    s.score[0] = score(t, s, np.arange(1))[0]
    if form["score"] != s.score[0]:
        raise StateError(
            f"state.score: {form['score']!r} is not what books, florins and slots make: "
            f"{int(s.score[0])}"
        )
    return s


def lay_deck(t: Tables, s: State, rows: Rows) -> None:
    """Order the cards in the deck afresh, as the last shuffle would under the row's seed."""
    last = np.maximum(s.shuffles[rows] - 1, 0)
    orders = shuffle_orders(s.seed[rows], last, s.tape[rows], s.tape_length[rows], t.cards)
    lay(t, s, rows, s.place[rows] == Place.DECK, orders)


class _Reader:
    """Reads fields of a JSON state, naming the field in every complaint."""

    def __init__(self, t: Tables, form: Mapping[str, Any]) -> None:
        self.t, self.form = t, form

    def integer(self, name: str, low: int, high: int, value: Any = _OWN) -> int:
        return read_integer(f"state.{name}", self.form[name] if value is _OWN else value, low, high)

    def choice(self, name: str, options: list[str]) -> int:
        return read_choice(f"state.{name}", self.form[name], options)

    def items(self, name: str, size: int | None = None) -> list[Any]:
        return read_list(f"state.{name}", self.form[name], size)

    def fill(self, s: State, prestige: int) -> None:
        """Cards, cubes, slots, the pending hire; and that they fit together."""
        t = self.t
        places = (("hand", Place.HAND), ("deck", Place.DECK), ("discard", Place.DISCARD))
        count = np.zeros(t.cards, int)
        for name, place in (*places, ("display", Place.DISPLAY)):
            for j, card in enumerate(self.items(name)):
                self.integer(f"{name}[{j}]", 0, t.cards - 1, card)
                s.place[0, card] = place
                count[card] += 1
        wrong = np.flatnonzero(count != 1)
        if wrong.size:
            raise StateError(
                f"state: card {int(wrong[0])} must be in exactly one of hand, deck, discard and "
                f"display; it is in {int(count[wrong[0]])}"
            )
        hand, display = sorted(self.form["hand"]), self.form["display"]
        if len(hand) > t.hand_size:
            raise StateError(f"state.hand: at most {t.hand_size} cards, got {len(hand)}")
        s.hand[0, : len(hand)] = hand
        phase = int(s.phase[0])
        fits = len(display) >= 2 if phase == Phase.PRICE else not display
        if not fits or len(display) > t.display_size:
            raise StateError(
                f"state.display: holds 2 to {t.display_size} cards in phase price and none in "
                f"others; got {len(display)} in phase {PHASES[phase]}"
            )
        waited = int(s.time[0]) - t.start_time - int(s.turn[0])
        if waited < 0 or len(display) - 2 > waited:
            raise StateError(
                f"state.{'time' if waited < 0 else 'display'}: in turn {int(s.turn[0])} at time "
                f"{int(s.time[0])}, {waited} days were waited; the display holds one card for each "
                f"beside two, got {len(display)}"
            )
        s.display[0, : len(display)] = display
        s.display_len[0] = len(display)
        if display:
            s.display_first[0], s.display_last[0] = display[0], display[-1]
            s.display_coin[0] = t.coin[display[0]]
            s.offer[0] = t.price[display[-1], s.display_coin[0]]

        for tower, row in enumerate(self.items("towers", t.towers)):
            for k, cubes in enumerate(read_list(f"state.towers[{tower}]", row, t.types)):
                most = int(t.requires[tower, k])
                s.filled[0, tower, k] = self.integer(f"towers[{tower}][{k}]", 0, most, cubes)
        s.lacks[0] = ((s.filled[0] < t.requires) * t.bits).sum(axis=1)
        tower = int(t.board[s.librarian[0]])
        if phase in (Phase.SELL, Phase.PRICE) and s.lacks[0, tower]:
            raise StateError(
                f"state.phase: {PHASES[phase]} needs a complete tower where the librarian is; "
                f"tower {tower} isn't"
            )
        if phase == Phase.SELL and t.cards - len(hand) < 2:  # R10
            raise StateError("state.phase: sell needs two cards in deck and discard pile to flip")
        if phase == Phase.TRAVEL and not s.florins[0]:
            raise StateError("state.phase: travel is skipped without florins")
        if phase == Phase.OVER and s.time[0] < t.days:
            raise StateError(f"state.phase: over before time {t.days}, at {int(s.time[0])}")
        s.supply[0] = self.integer("supply", 0, t.cubes)
        if int(s.filled[0].sum()) + int(s.supply[0]) != t.cubes:
            raise StateError(
                f"state.supply: cubes in towers ({int(s.filled[0].sum())}) and supply "
                f"({int(s.supply[0])}) must add up to {t.cubes}"
            )
        for j, filled in enumerate(self.items("slots_filled", int(t.slot_count[prestige]))):
            if not isinstance(filled, bool):
                raise StateError(f"state.slots_filled[{j}]: expected true or false, got {filled!r}")
            s.slots_filled[0, j] = filled
        s.next_slot[0] = next_slots(t, s.prestige, s.slots_filled)[0]
        pending = self.form["pending_hire"]
        if (pending is not None) != (phase == Phase.PAY):
            raise StateError("state.pending_hire: present in phase pay and null in others")
        if phase == Phase.PAY:
            if not isinstance(pending, dict) or set(pending) != {"card", "tower"}:
                raise StateError("state.pending_hire: expected the fields card and tower")
            card = self.integer("pending_hire.card", 0, t.cards - 1, pending["card"])
            if s.place[0, card] != Place.DISCARD:
                raise StateError(f"state.pending_hire.card: card {card} is not on the discard pile")
            if not hand:
                raise StateError("state.hand: a card to pay with is needed in phase pay")
            s.pending_card[0] = card
            s.pending_tower[0] = self.integer(
                "pending_hire.tower", 0, t.towers - 1, pending["tower"]
            )
