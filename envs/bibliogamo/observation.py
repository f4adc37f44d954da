"""What a learner sees: one flat float32 vector, and the table that says what lies where in it.

Everything public is in the vector exactly (``decode`` gives it back), nothing hidden is. Values
are scaled to about [0, 1]; a card id is given as (id + 1) / (C + 1), 0 meaning no card.

The vector follows the state's arrays (``marks`` one-hot, ``counts`` scaled, and so on), so that
observing is a few operations on whole arrays. Of features that follow from others only the VP of
each tower's next slot and the price on offer are given.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incunabula.envs.bibliogamo.state import COUNTS, MARKS, Phase, Place, Rows, State
from incunabula.envs.bibliogamo.tables import Tables
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.observation import FieldTable, Float32Array

_HAND = np.int8(Place.HAND)
PHASES = [phase.name.lower() for phase in Phase]


class Layout(FieldTable):
    """The observation's table for one edition, ``observe`` and ``decode``."""

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        t = self.tables = tables
        price = max(1, int(t.price.max()))
        vp = max(1, int(t.slot_vp.max()))
        c, k = t.cards, t.types
        # One-hot regions of ``marks``: their sizes, and whether the first column means "none".
        one_hot = {
            "phase": (6, False, "travel, sell, price, hire, pay, over"),
            "librarian": (t.spaces, False, "the librarian's space"),
            "banned": (k + 1, True, "none, or the banned type"),
            "pending_tower": (t.towers + 1, True, "none, or the tower of the hire to be paid for"),
            "prestige": (t.collections, False, "the prestige collection"),
            "display_coin": (t.coins + 1, True, "none, or the coin the price is read in"),
        }
        # Columns of ``counts``: (value + shift) / divisor.
        card = "as a card id; 0 if there is none"
        self.scaled = {
            "time": (0, t.days, "days on the time track"),
            "turn": (0, t.days, "turns begun"),
            "hires_left": (0, max(1, t.hires_per_turn), "hires left this turn"),
            "florins": (0, 5 * price, "florins"),
            "books": (0, t.days, "books sold"),
            "supply": (0, max(1, t.cubes), "cubes in the supply"),
            "deck_left": (0, c, "cards in the draw deck"),
            "pending_card": (1, c + 1, f"card of the hire to be paid for, {card}"),
            "display_first": (1, c + 1, f"first card of the price display, {card}"),
            "display_last": (1, c + 1, f"last card of the price display, {card}"),
            "offer": (0, price, "florins on offer; 0 if none"),
        }
        most_florins = t.start_florins + t.days * price if t.florin_cap < 0 else t.florin_cap
        for name in MARKS:
            size, _, meaning = one_hot[name]
            self._add(name, (size,), 1, f"one-hot: {meaning}")
        for name in COUNTS:
            _, divisor, meaning = self.scaled[name]
            high = max(1.0, most_florins / divisor) if name == "florins" else 1.0
            self._add(name, (), high, f"{meaning}, / {divisor}")
        artisans = max(1, int(t.artisans.max()))
        self._add("filled", (t.towers, k), 1, "artisans in each tower / required (0 if none is)")
        self._add("slots_filled", (t.slots,), 1, "1 for each filled slot of the collection")
        self._add("next_slot", (t.towers,), 1, f"VP of each tower's next slot, / {vp}")
        self._add("cards", (c,), 1, "each card: 1 in the deck, ½ in the display, 0 elsewhere")
        self._add(
            "hand",
            (t.hand_size, 1 + 2 * k),
            artisans,
            "each slot: card id, artisans by type, icon one-hot; all 0 if the slot is empty",
        )
        starts = [self.fields[name].start + one_hot[name][1] for name in MARKS]
        self._slice = {name: field.slice for name, field in self.fields.items()}
        first, last = self.fields[MARKS[0]], self.fields[COUNTS[0]]
        self._slice["marks"] = slice(first.start, last.start)
        self._slice["counts"] = slice(last.start, self.fields["filled"].start)
        self._next_slot_scale = np.float32(1 / vp)
        self._one_hot = np.array(starts, np.int16)  # column of value 0 of each mark
        self._none = np.array([one_hot[name][1] for name in MARKS], np.int16)
        self._shift = np.array([self.scaled[name][0] for name in COUNTS], np.float32)
        self._scale = np.array([1 / self.scaled[name][1] for name in COUNTS], np.float32)
        self._required = (1 / np.maximum(t.requires, 1)).astype(np.float32)
        self._card = np.zeros((c + 1, 1 + 2 * k), np.float32)
        self._card[:c, 0] = np.arange(1, c + 1) / (c + 1)
        self._card[:, 1 : 1 + k] = t.artisans
        self._card[np.arange(c), 1 + k + t.icon[:c]] = 1

    def _scales(self) -> list[list[Any]]:
        return [[name, *self.scaled[name][:2]] for name in COUNTS]

    def observe(self, s: State, rows: slice | Rows, out: Float32Array) -> None:
        """Write the observations of these rows into ``out``, float32 (n, F), C-contiguous."""
        n = len(out)
        if not n:
            return
        at = self._slice
        out[:, at["marks"]] = 0
        base = np.arange(0, n * self.size, self.size)[:, None]
        out.reshape(-1)[s.marks[rows] + self._one_hot + base] = 1
        scaled = s.counts[rows] + self._shift
        np.multiply(scaled, self._scale, out=out[:, at["counts"]])
        filled = s.filled[rows] * self._required
        out[:, at["filled"]] = filled.reshape(n, -1)
        out[:, at["slots_filled"]] = s.slots_filled[rows]
        np.multiply(s.next_slot[rows], self._next_slot_scale, out=out[:, at["next_slot"]])
        seen = np.maximum(s.places[rows], _HAND)  # deck 3, display 2, elsewhere 1
        seen -= np.int8(1)
        np.multiply(seen[:, :-1], np.float32(0.5), out=out[:, at["cards"]])
        out[:, at["hand"]] = self._card.take(s.hand[rows], axis=0).reshape(n, -1)

    def numbers(self) -> dict[str, Any]:
        """What the compiled twin observes by: first columns of regions, and the scales."""
        regions = ("counts", "filled", "slots_filled", "next_slot", "cards", "hand")
        return {name: self._slice[name].start for name in regions} | {
            "one_hot": self._one_hot,
            "shift": self._shift,
            "scale": self._scale,
            "required": self._required,
            "next_slot_scale": np.array([self._next_slot_scale]),
            "card": self._card,
        }

    # Back again ---------------------------------------------------------------------------------

    def decode(self, observation: Float32Array) -> dict[str, Any]:
        """The public state behind one observation, float32 (F,), in the rules' JSON form.

        Of the price display the player knows the first card, the last and the set of the others:
        these come in ascending order. Raises IncunabulaError if the shape is wrong or a one-hot
        region holds no 1.
        """
        t = self.tables
        vector = self._checked(observation)
        value = {name: vector[f.slice].reshape(f.shape) for name, f in self.fields.items()}
        for name in MARKS:
            if np.count_nonzero(value[name] == 1) != 1:
                raise IncunabulaError(f"observation: {name} is not one-hot: {value[name]}")
        mark = {
            name: int(value[name].argmax()) - int(none)
            for name, none in zip(MARKS, self._none, strict=True)
        }
        count = {
            name: round(float(value[name]) * self.scaled[name][1]) - self.scaled[name][0]
            for name in COUNTS
        }
        seen = np.rint(value["cards"] * 2).astype(int)
        first, last = count["display_first"], count["display_last"]
        between = {int(c) for c in np.flatnonzero(seen == 1)} - {first, last}
        display = [first, *sorted(between), last] if first >= 0 else []
        hand = [round(float(x) * (t.cards + 1)) - 1 for x in value["hand"][:, 0] if x > 0]
        deck = [int(c) for c in np.flatnonzero(seen == 2)]
        prestige = mark["prestige"]
        slots = [bool(x) for x in value["slots_filled"][: t.slot_count[prestige]]]
        vp = sum(int(v) for v, filled in zip(t.slot_vp[prestige], slots, strict=False) if filled)
        vp += int(t.bonus[prestige]) if all(slots) else 0
        vp += count["books"] * t.vp_per_book + count["florins"] // t.florins_per_vp
        pending = {"card": count["pending_card"], "tower": mark["pending_tower"]}
        return {
            "phase": PHASES[mark["phase"]],
            "time": count["time"],
            "librarian": mark["librarian"],
            "florins": count["florins"],
            "books": count["books"],
            "score": vp,
            "supply": count["supply"],
            "towers": np.rint(value["filled"] * t.requires).astype(int).tolist(),
            "hand": hand,
            "deck": deck,
            "discard": sorted({*range(t.cards)} - {*deck} - {*hand} - {*display}),
            "display": display,
            "banned": mark["banned"] if mark["banned"] >= 0 else None,
            "hires_left": count["hires_left"],
            "pending_hire": pending if pending["card"] >= 0 else None,
            "prestige": prestige,
            "slots_filled": slots,
            "turn": count["turn"],
        }
