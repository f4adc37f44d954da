"""The action space: one Discrete index per decision, and its JSON form.

Cards in hand are named by *slot*, the hand being sorted by card id: five outputs then serve every
card, where naming cards by id would take as many as there are cards.

    0              stay
    1 .. S         walk to space index - 1
    S+1 .. S+4     keep, sell, accept, wait
    then H·T       hire slot, tower (slot-major)
    then H         lift with slot
    then H         pay with slot
    last           end the turn
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.bibliogamo.tables import Tables
from incunabula.envs.documents import show
from incunabula.envs.errors import IncunabulaError

Json = dict[str, Any]


class Kind(IntEnum):
    """What an action does; those that discard a card of the hand (HIRE to PAY) are neighbours."""

    TRAVEL = 0  # stay or walk
    KEEP = 1
    SELL = 2
    ACCEPT = 3
    WAIT = 4
    HIRE = 5
    LIFT = 6
    PAY = 7
    END = 8


class Actions:
    """Offsets of the action space of one edition; ``n`` is its size."""

    def __init__(self, tables: Tables) -> None:
        self.spaces, self.towers, self.hand_size = tables.spaces, tables.towers, tables.hand_size
        self.stay = 0
        self.walk = 1
        self.keep = self.walk + self.spaces
        self.sell = self.keep + 1
        self.accept = self.keep + 2
        self.wait = self.keep + 3
        self.hire = self.keep + 4
        self.lift = self.hire + self.hand_size * self.towers
        self.pay = self.lift + self.hand_size
        self.end = self.pay + self.hand_size
        self.n = self.end + 1
        kind = np.full(self.n, Kind.TRAVEL, np.int8)
        kind[self.keep : self.hire] = (Kind.KEEP, Kind.SELL, Kind.ACCEPT, Kind.WAIT)
        kind[self.hire : self.lift] = Kind.HIRE
        kind[self.lift : self.pay] = Kind.LIFT
        kind[self.pay : self.end] = Kind.PAY
        kind[self.end] = Kind.END
        self.kind: npt.NDArray[np.int8] = kind  # (A,) a Kind for each action
        slot = np.full(self.n, -1, np.int16)
        slot[self.hire : self.lift] = np.repeat(np.arange(self.hand_size), self.towers)
        slot[self.lift : self.pay] = np.arange(self.hand_size)
        slot[self.pay : self.end] = np.arange(self.hand_size)
        self.slot: npt.NDArray[np.int16] = slot  # (A,) hand slot an action discards, -1 if none
        tower = np.full(self.n, -1, np.int16)
        tower[self.hire : self.lift] = np.tile(np.arange(self.towers), self.hand_size)
        self.tower: npt.NDArray[np.int16] = tower  # (A,) tower a hire goes to, -1 if none

    def describe(self, action: int) -> Json:
        """The action by hand slot: {"type": "hire", "slot": 2, "tower": 4}, whatever the state.

        Raises IncunabulaError if the number is not in 0..n-1.
        """
        self.check(action)
        if action == self.stay:
            return {"type": "stay"}
        if action < self.keep:
            return {"type": "walk", "space": action - self.walk}
        if action < self.hire:
            return {"type": ("keep", "sell", "accept", "wait")[action - self.keep]}
        if action < self.lift:
            slot, tower = divmod(action - self.hire, self.towers)
            return {"type": "hire", "slot": slot, "tower": tower}
        if action < self.pay:
            return {"type": "lift", "slot": action - self.lift}
        if action < self.end:
            return {"type": "pay", "slot": action - self.pay}
        return {"type": "end"}

    def check(self, action: object) -> None:
        """Raise IncunabulaError unless ``action`` is an integer in 0..n-1."""
        whole = isinstance(action, (int, np.integer)) and not isinstance(action, (bool, np.bool_))
        if not whole or not 0 <= action < self.n:  # type: ignore[operator]
            raise IncunabulaError(
                f"action: {show(action)} is not an action; expected an integer in 0..{self.n - 1}"
            )

    def to_json(self, action: int, hand: npt.NDArray[np.int16], cards: int) -> Json:
        """The action's JSON form (naming the card) for this hand, int16 (H,)."""
        form = self.describe(action)
        if "slot" in form:
            slot = form["slot"]
            card = int(hand[slot])
            if card >= cards:
                raise IncunabulaError(
                    f"action: {action} names hand slot {slot}, which is empty; the hand holds "
                    f"{int((hand < cards).sum())} cards"
                )
            form = {"type": form["type"], "card": card} | (
                {"tower": form["tower"]} if "tower" in form else {}
            )
        return form

    def from_json(self, form: Json, hand: npt.NDArray[np.int16]) -> int:
        """The index of a JSON form for this hand, int16 (H,).

        Raises IncunabulaError naming the field that is wrong. Whether the action is legal is not
        asked here.
        """
        kind = form.get("type") if isinstance(form, dict) else None
        fields = {
            "walk": ("space",),
            "hire": ("card", "tower"),
            "pay": ("card",),
            "lift": ("card",),
        }
        plain = {
            "stay": self.stay,
            "keep": self.keep,
            "sell": self.sell,
            "accept": self.accept,
            "wait": self.wait,
            "end": self.end,
        }
        if not isinstance(kind, str) or (kind not in plain and kind not in fields):
            raise IncunabulaError(
                f"action: unknown type in {form!r}; expected one of {', '.join([*plain, *fields])}"
            )
        wanted = fields.get(kind, ())
        if set(form) != {"type", *wanted}:
            raise IncunabulaError(
                f"action: {form!r} must have exactly the fields {', '.join(('type', *wanted))}"
            )
        if kind in plain:
            return plain[kind]
        if kind == "walk":
            return self.walk + _index(form, "space", self.spaces)
        # A list would be compared with the hand item by item.
        card = form["card"] if _is_int(form["card"]) else -1
        slots = np.flatnonzero(hand == card)
        if len(slots) != 1:
            raise IncunabulaError(f"action.card: card {form['card']!r} is not in the hand")
        slot = int(slots[0])
        if kind == "hire":
            return self.hire + slot * self.towers + _index(form, "tower", self.towers)
        return (self.lift if kind == "lift" else self.pay) + slot


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _index(form: Json, field: str, size: int) -> int:
    value = form[field]
    if not _is_int(value) or not 0 <= value < size:
        raise IncunabulaError(
            f"action.{field}: expected an integer in 0..{size - 1}, got {value!r}"
        )
    return int(value)
