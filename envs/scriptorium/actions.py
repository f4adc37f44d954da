"""Actions: one Discrete space per edition, and the table between numbers and the JSON form.

Seats are relative to the player to act (0 = himself, 1 = the next clockwise, …) and sized for the
edition's largest number of players, so that one policy can play with fewer.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.documents import show
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.tables import ACHIEVEMENTS, INKS, SIDES, Tables

Json = dict[str, Any]
IntArray = npt.NDArray[np.intp]
SOURCES = ("lectern", "storage")


class Kind(IntEnum):
    """What an action does, in the order of the action numbers."""

    INK = 0
    GRIMOIRE = 1
    LECTERN = 2
    QUILL = 3
    POINTS = 4
    PLACE = 5
    BUY = 6
    END = 7
    DISCARD_TILE = 8
    DISCARD_ACHIEVEMENT = 9
    DISCARD_INK = 10


# Phase 1: one ink, or two; not gold with black.
INK_CHOICES = tuple(
    [(ink,) for ink in INKS]
    + [pair for pair in combinations_with_replacement(INKS, 2) if {*pair} != {"black", "gold"}]
)


class Actions:
    """The action table of one edition.

    Attributes:
        n: A, how many actions there are.
        start: {kind: its first action}, in order, for every Kind; ``bound[k]``..``bound[k + 1]``
            are the actions of kind k.
        kind: (A,) a Kind.
        take: int16 (A, 5) inks taken by ink choices.
        lectern: (A,) the lectern given, and ``to`` (A,) the receiver's relative seat.
        design: (A,) design placed, bought or discarded; the achievement or ink discarded.
        column: (A,) column of ``State.stock_flat`` a placed tile is taken from.
        space: (A,) kind of space filled.
        paid: (A,) bool, whether a placement is with ink.
        source: (A,) relative seat a tile is bought from, 0 = the scriptorium.
    """

    def __init__(self, tables: Tables) -> None:
        t = self.tables = tables
        self._seats = t.max_players
        places = [
            (d, source, side, paid)
            for d in range(t.designs)
            for source in range(len(SOURCES))
            for side in range(len(SIDES) if t.sided[d] else 1)
            for paid in ((True, False) if t.edge[d] else (True,))
        ]
        sizes = [
            *(len(INK_CHOICES), 1, t.lecterns * self._seats, 1, 1, len(places)),
            *(t.designs * self._seats, 1, t.designs, len(ACHIEVEMENTS), len(INKS)),
        ]
        self.bound: list[int] = [0, *np.cumsum(sizes).tolist()]
        self.n = self.bound[-1]
        self.kind: IntArray = np.repeat(np.arange(len(Kind)), sizes)

        self.take = np.zeros((self.n, len(INKS)), np.int16)
        for a, inks in enumerate(INK_CHOICES):
            for ink in inks:
                self.take[a, INKS.index(ink)] += 1
        self.lectern, self.to, self.design, self.column, self.space, self.source = (
            np.zeros(self.n, np.intp) for _ in range(6)
        )
        self.paid = np.zeros(self.n, np.bool_)
        self.side = np.full(self.n, -1, np.intp)
        at = self.of(Kind.LECTERN)
        self.lectern[at] = np.repeat(np.arange(t.lecterns), self._seats)
        self.to[at] = np.tile(np.arange(self._seats), t.lecterns)
        at = self.of(Kind.PLACE)
        if places:
            design, source, side, paid = (np.array(x) for x in zip(*places, strict=True))
            self.design[at] = design
            self.column[at] = source * t.designs + design
            self.space[at] = t.space[design, side]
            self.side[at] = np.where(t.sided[design], side, -1)
            self.source[at] = source
            self.paid[at] = paid
        at = self.of(Kind.BUY)
        self.design[at] = np.repeat(np.arange(t.designs), self._seats)
        self.source[at] = np.tile(np.arange(self._seats), t.designs)
        for kind in (Kind.DISCARD_TILE, Kind.DISCARD_ACHIEVEMENT, Kind.DISCARD_INK):
            at = self.of(kind)
            self.design[at] = np.arange(at.stop - at.start)
        self._number = {_frozen(self.describe(a)): a for a in range(self.n)}

    def of(self, kind: Kind) -> slice:
        """The actions of this kind."""
        return slice(self.bound[kind], self.bound[kind + 1])

    def check(self, action: int) -> None:
        """Raise IncunabulaError unless ``action`` is the number of an action."""
        if isinstance(action, bool) or not isinstance(action, (int, np.integer)):
            raise IncunabulaError(f"action: expected an integer, got {show(action)}")
        if not 0 <= action < self.n:
            number = show(int(action))
            raise IncunabulaError(f"action: {number} is not an action; expected 0..{self.n - 1}")

    def describe(self, action: int) -> Json:
        """What an action number means: the JSON form with relative seats (0 = oneself)."""
        self.check(action)
        kind = Kind(int(self.kind[action]))
        form: Json = {"type": kind.name.lower()}
        design = int(self.design[action])
        match kind:
            case Kind.INK:
                form["inks"] = list(INK_CHOICES[action])
            case Kind.LECTERN:
                form |= {"lectern": int(self.lectern[action]), "to": int(self.to[action])}
            case Kind.PLACE:
                side = int(self.side[action])
                form |= {
                    "tile": design,
                    "from": SOURCES[self.source[action]],
                    "side": SIDES[side] if side >= 0 else None,
                    "ink": bool(self.paid[action]),
                }
            case Kind.BUY:
                source = int(self.source[action])
                form |= {"tile": design, "from": source or "scriptorium"}
            case Kind.DISCARD_TILE:
                form["tile"] = design
            case Kind.DISCARD_ACHIEVEMENT:
                form["achievement"] = ACHIEVEMENTS[design]
            case Kind.DISCARD_INK:
                form["ink"] = INKS[design]
        return form

    def to_json(self, action: int, player: int, num_players: int) -> Json:
        """The rules' JSON form of an action of this seat, among so many players."""
        form = self.describe(action)
        field = _SEAT_FIELD.get(form["type"])
        if field is not None and not isinstance(form[field], str):
            form[field] = (form[field] + player) % num_players
        return form

    def from_json(self, form: Mapping[str, Any], player: int, num_players: int) -> int:
        """The number of a JSON action of this seat; raises IncunabulaError if there is none."""
        if not isinstance(form, Mapping):
            raise IncunabulaError(f"action: expected a mapping, got {form!r}")
        relative = dict(form)
        field = _SEAT_FIELD.get(str(form.get("type")))
        seat = relative.get(field) if field else None
        if field and not isinstance(seat, str):
            if isinstance(seat, bool) or not isinstance(seat, int) or not 0 <= seat < num_players:
                raise IncunabulaError(
                    f"action.{field}: expected a seat in 0..{num_players - 1}, got {seat!r}"
                )
            relative[field] = (seat - player) % num_players
        try:
            return self._number[_frozen(relative)]
        except (KeyError, TypeError):
            raise IncunabulaError(f"action: {dict(form)!r} is not an action of this game") from None


# The field of an action that names a seat.
_SEAT_FIELD = {"lectern": "to", "buy": "from"}


def _frozen(form: Mapping[str, Any]) -> tuple[Any, ...]:
    """A form as a key: True and 1 are kept apart."""
    return tuple(
        (name, tuple(value) if isinstance(value, list) else (type(value).__name__, value))
        for name, value in sorted(form.items())
    )
