"""What a learner sees: one flat float32 vector, and the table that says what lies where in it.

Everything public is in the vector exactly (``decode`` gives it back), nothing hidden is. Values
are scaled to about [0, 1]; a card id is given as (id + 1) / (C + 1), 0 meaning no card.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.envs.bibliogamo.state import Phase, Place, PublicState, Rows
from incunabula.envs.bibliogamo.tables import Tables

Float32Array = npt.NDArray[np.float32]
PHASES = [phase.name.lower() for phase in Phase]


class Field(NamedTuple):
    """One entry of the observation table."""

    name: str
    start: int
    shape: tuple[int, ...]
    high: float  # largest value that can occur; the smallest is 0
    meaning: str

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def slice(self) -> slice:
        return slice(self.start, self.start + self.size)


class Layout:
    """The observation's table for one edition, ``observe`` and ``decode``.

    ``fields`` lists name, place, shape, largest value and meaning; ``size`` is the vector's length.
    """

    def __init__(self, tables: Tables) -> None:
        t = self.tables = tables
        price = max(1, int(t.price.max()))
        self.florin_scale = float(5 * price)
        self.price_scale = float(price)
        self.vp_scale = float(max(1, int(t.slot_vp.max())))
        florins = t.start_florins + t.days * price
        florins = florins if t.florin_cap < 0 else t.florin_cap
        self.fields: dict[str, Field] = {}
        self.size = 0
        for name, shape, high, meaning in (
            ("phase", (5,), 1, "one-hot: travel, sell, price, hire, pay; all 0 once over"),
            ("time", (), 1, "time / days"),
            ("turn", (), 1, "turn / days"),
            ("librarian", (t.spaces,), 1, "one-hot: the librarian's space"),
            ("florins", (), florins / self.florin_scale, f"florins / {self.florin_scale:g}"),
            ("books", (), 1, "books sold / days"),
            ("supply", (), 1, "cubes in the supply / all cubes"),
            ("hires_left", (), 1, "hires left / hires per turn"),
            ("banned", (t.types,), 1, "one-hot: the banned type; all 0 if none"),
            ("filled", (t.towers, t.types), 1, "artisans in each tower / required (0 if none is)"),
            ("pending_tower", (t.towers,), 1, "one-hot: tower of the hire to be paid for"),
            ("pending_card", (), 1, "card of the hire to be paid for"),
            ("prestige", (t.collections,), 1, "one-hot: the prestige collection"),
            ("slots_filled", (t.slots,), 1, "1 for each filled slot of the collection"),
            (
                "next_slot",
                (t.towers,),
                1,
                f"best open slot's VP for each tower / {self.vp_scale:g}",
            ),
            ("display_coin", (t.coins,), 1, "one-hot: the coin the price is read in"),
            ("offer", (), 1, f"florins on offer / {self.price_scale:g}"),
            ("display_first", (), 1, "first card of the price display"),
            ("display_last", (), 1, "last card of the price display"),
            ("cards", (t.cards,), 1, "each card: 1 in the deck, ½ in the display, 0 elsewhere"),
            (
                "hand",
                (t.hand_size, 1 + 2 * t.types),
                float(max(1, int(t.artisans.max()))),
                "each slot: card, artisans by type, icon one-hot; all 0 if the slot is empty",
            ),
        ):
            field = Field(name, self.size, shape, float(high), meaning)
            self.fields[name] = field
            self.size += field.size
        self._eye = {
            name: np.vstack([np.eye(n, dtype=np.float32), np.zeros((1, n), np.float32)])
            for name, n in (
                ("phase", 5),
                ("librarian", t.spaces),
                ("types", t.types),
                ("towers", t.towers),
                ("prestige", t.collections),
            )
        }
        eye = self._eye["types"]
        self._card = np.zeros((t.cards + 1, 1 + 2 * t.types), np.float32)
        self._card[:, 0] = self._id(np.arange(t.cards + 1))
        self._card[:, 1 : 1 + t.types] = t.artisans
        self._card[:, 1 + t.types :] = eye[t.icon]
        self._coin = np.vstack(
            [np.eye(t.coins, dtype=np.float32)[t.coin[:-1]], np.zeros((1, t.coins), np.float32)]
        )
        self._ids = self._card[:, 0].copy()
        self._required = (1 / np.maximum(t.requires, 1)).astype(np.float32)

    def _id(self, cards: npt.NDArray[Any]) -> Float32Array:
        """Cards 0..C, C meaning none, as numbers in [0, 1)."""
        c = self.tables.cards
        return np.where(cards < c, (cards + 1) / (c + 1), 0).astype(np.float32)

    @property
    def high(self) -> Float32Array:
        """Upper bounds, float32 (F,); the lower ones are 0."""
        return np.concatenate(
            [np.full(f.size, f.high, np.float32) for f in self.fields.values()], dtype=np.float32
        )

    def observe(self, p: PublicState, rows: slice | Rows, out: Float32Array) -> None:
        """Write the observations of these rows into ``out``, float32 (n, F)."""
        t, at = self.tables, self.fields
        eye = self._eye

        def put(name: str, value: npt.NDArray[Any]) -> None:
            field = at[name]
            if field.shape:
                out[:, field.start : field.start + field.size] = value
            else:
                out[:, field.start] = value

        phase, prestige, slots = p.phase[rows], p.prestige[rows], p.slots_filled[rows]
        put("phase", eye["phase"].take(phase, axis=0))
        put("time", p.time[rows] * np.float32(1 / t.days))
        put("turn", p.turn[rows] * np.float32(1 / t.days))
        put("librarian", eye["librarian"].take(p.librarian[rows], axis=0))
        put("florins", p.florins[rows] * np.float32(1 / self.florin_scale))
        put("books", p.books[rows] * np.float32(1 / t.days))
        put("supply", p.supply[rows] * np.float32(1 / max(1, t.cubes)))
        put("hires_left", p.hires_left[rows] * np.float32(1 / max(1, t.hires_per_turn)))
        put("banned", eye["types"][p.banned[rows]])
        n = len(phase)
        put("filled", (p.filled[rows] * self._required).reshape(n, -1))
        put("pending_tower", eye["towers"][p.pending_tower[rows]])
        put("pending_card", (p.pending_card[rows] + 1) * np.float32(1 / (t.cards + 1)))
        put("prestige", eye["prestige"].take(prestige, axis=0))
        put("slots_filled", slots)
        put("next_slot", self._next_slot(prestige, slots))
        first = p.display[rows, 0]
        put("display_coin", self._coin.take(first, axis=0))
        put("display_first", self._ids.take(first))
        put("offer", np.float32(0))  # type: ignore[arg-type]
        put("display_last", np.float32(0))  # type: ignore[arg-type]
        shown = np.flatnonzero(phase == Phase.PRICE)
        if shown.size:
            which = shown + rows.start if isinstance(rows, slice) else rows[shown]
            last = p.display[which, p.display_len[which] - 1]
            offer = t.price[last, t.coin[p.display[which, 0]]]
            out[shown, at["offer"].start] = offer * np.float32(1 / self.price_scale)
            out[shown, at["display_last"].start] = self._ids[last]
        cards = at["cards"]
        seen = np.maximum(p.place[rows], Place.HAND)  # deck 3, display 2, elsewhere 1
        seen -= 1
        np.multiply(seen, np.float32(0.5), out=out[:, cards.start : cards.start + cards.size])
        put("hand", self._card.take(p.hand[rows].reshape(-1), axis=0).reshape(n, -1))

    def _next_slot(self, prestige: npt.NDArray[Any], slots: npt.NDArray[np.bool_]) -> Float32Array:
        """Scaled VP of the slot the next book of each tower would fill; float32 (n, T)."""
        t = self.tables
        open_vp = np.where(slots, 0, t.slot_vp[prestige])
        tower = t.slot_tower[prestige]
        best = np.zeros((len(prestige), t.towers + 1), np.int16)
        each = np.arange(len(prestige))
        for j in range(t.slots):  # slot_tower is -1, the spare last column, beyond the collection
            column = tower[:, j]
            best[each, column] = np.maximum(best[each, column], open_vp[:, j])
        return np.multiply(best[:, : t.towers], np.float32(1 / self.vp_scale), dtype=np.float32)

    # Back again ---------------------------------------------------------------------------------

    def decode(self, observation: Float32Array) -> dict[str, Any]:
        """The public state behind one observation, float32 (F,), in the rules' JSON form.

        Of the price display the player knows the first card, the last and the set of the others:
        these come in ascending order. Raises ValueError if the shape is wrong.
        """
        t = self.tables
        vector = np.asarray(observation, np.float64)
        if vector.shape != (self.size,):
            raise ValueError(f"observation: expected shape ({self.size},), got {vector.shape}")
        value = {name: vector[f.slice].reshape(f.shape) for name, f in self.fields.items()}

        def number(name: str, scale: float) -> int:
            return round(float(value[name]) * scale)

        def one_hot(name: str) -> int | None:
            return int(value[name].argmax()) if value[name].any() else None

        def card(x: float) -> int:
            return round(float(x) * (t.cards + 1)) - 1

        seen = np.rint(value["cards"] * 2).astype(int)
        first, last = card(float(value["display_first"])), card(float(value["display_last"]))
        shown = {int(c) for c in np.flatnonzero(seen == 1)}
        display = [first, *sorted(shown - {first, last}), last] if first >= 0 else []
        hand = [c for c in (card(x) for x in value["hand"][:, 0]) if c >= 0]
        deck = [int(c) for c in np.flatnonzero(seen == 2)]
        phase, prestige = one_hot("phase"), one_hot("prestige")
        pending = card(float(value["pending_card"]))
        assert prestige is not None
        slots = [bool(x > 0.5) for x in value["slots_filled"][: t.slot_count[prestige]]]
        books, florins = number("books", t.days), number("florins", self.florin_scale)
        vp = sum(int(v) for v, filled in zip(t.slot_vp[prestige], slots, strict=False) if filled)
        vp += int(t.bonus[prestige]) if all(slots) else 0
        return {
            "phase": PHASES[Phase.OVER if phase is None else phase],
            "time": number("time", t.days),
            "librarian": one_hot("librarian"),
            "florins": florins,
            "books": books,
            "score": books * t.vp_per_book + florins // t.florins_per_vp + vp,
            "supply": number("supply", t.cubes),
            "towers": np.rint(value["filled"] * t.requires).astype(int).tolist(),
            "hand": hand,
            "deck": deck,
            "discard": sorted({*range(t.cards)} - {*deck} - {*hand} - {*display}),
            "display": display,
            "banned": one_hot("banned"),
            "hires_left": number("hires_left", t.hires_per_turn),
            "pending_hire": None
            if pending < 0
            else {"card": pending, "tower": one_hot("pending_tower")},
            "prestige": prestige,
            "slots_filled": slots,
            "turn": number("turn", t.days),
        }
