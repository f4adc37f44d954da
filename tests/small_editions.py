"""Editions that are solved in a moment, each with something that the others lack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.by_hand import tiny
from tests.play import Json


def cut_down(
    cards: Sequence[int],
    requires: Sequence[dict[str, int]] = (),
    start: dict[str, int] | None = None,
    **rules: Any,
) -> Json:
    """The tiny edition with these of its cards only, other towers, start and rules."""
    data = tiny(**rules)
    data["cards"] = [data["cards"][card] | {"id": k} for k, card in enumerate(cards)]
    data["start"] |= start or {}
    for tower, needed in zip(data["towers"], requires, strict=False):
        tower["requires"] = needed
    return data


SCRIBES = ({"scribe": 1}, {"scribe": 1})
BOTH = ({"scribe": 1}, {"binder": 1})

SMALL: dict[str, Json] = {
    "bans and lifts": cut_down((1, 4, 5, 6, 7), BOTH, days=2, hand_size=3),
    "two hires": cut_down(
        (0, 1, 4, 5, 6, 7), BOTH, days=3, hand_size=4, hires_per_turn=2, lifts_per_turn=0, cubes=2
    ),
    "florin cap": cut_down(
        (0, 1, 3, 7), SCRIBES, {"florins": 2}, days=3, hand_size=2, florin_cap=3, florins_per_vp=1
    ),
    "reshuffles": cut_down((1, 3, 4, 7), BOTH, days=3, hand_size=2),
    "waiting": cut_down(
        (1, 2, 3, 6, 7), SCRIBES, days=3, hand_size=2, florins_per_vp=1, vp_per_book=0, cubes=1
    ),
    "late start": cut_down((0, 3, 5, 7), BOTH, {"time": 2, "librarian": 1}, days=5, hand_size=2),
    "empty hires": cut_down((0, 4, 5, 7), BOTH, days=3, hand_size=2, allow_empty_hire=True),
}
