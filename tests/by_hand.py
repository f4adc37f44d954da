"""Positions of the tiny edition, and actions, put together by hand."""

from __future__ import annotations

from typing import Any

from tests.play import Json, edition

END, KEEP, SELL, STAY = ({"type": name} for name in ("end", "keep", "sell", "stay"))
WAIT, ACCEPT = {"type": "wait"}, {"type": "accept"}
SCRIBE, BINDER = 0, 1
PSALTER = [[1, 1], [0, 0]]  # towers of the tiny edition with its psalter complete


def hire(card: int, tower: int) -> Json:
    return {"type": "hire", "card": card, "tower": tower}


def pay(card: int) -> Json:
    return {"type": "pay", "card": card}


def lift(card: int) -> Json:
    return {"type": "lift", "card": card}


def walk(space: int) -> Json:
    return {"type": "walk", "space": space}


def tiny(cards: int = 8, **changes: Any) -> Json:
    """The tiny edition, with rules changed, or `spaces` of the ring, or `slots` of collection 0.

    days 4, hand 3, librarian step 1, hires 1, lifts 1, 2 florins a VP, 1 VP a book, 3 cubes
    psalter (tower 0) needs [1 scribe, 1 binder], herbal (tower 1) [0, 2]; ring: psalter, herbal
    collection 0 = psalter 1 VP, herbal 1 VP, bonus 2
      id  move  icon    coin   crown lily  artisans
       0    0   binder  crown    2    0    1 scribe
       1    1   scribe  lily     0    4    1 scribe
       2    0   binder  lily     0    2    2 scribes
       3    1   scribe  crown    4    0    1 scribe
       4    1   binder  crown    0    2    1 binder
       5    0   scribe  lily     2    0    2 binders
       6    1   scribe  lily     0    0    1 binder
       7    0   binder  crown    4    4    1 scribe, 1 binder
    """
    spaces, slots = changes.pop("spaces", None), changes.pop("slots", None)
    data = edition("bibliogamo-tiny", **changes)
    data["cards"] = data["cards"][:cards]
    if spaces is not None:
        data["board"]["spaces"] = spaces
    if slots is not None:
        data["prestige"][0]["slots"] = [{"tower": name, "vp": vp} for name, vp in slots]
    return data


def stand(data: Json, **fields: Any) -> Json:
    """A JSON state of the tiny edition; cards not placed lie on the discard pile."""
    rules, collection = data["rules"], data["prestige"][0]
    form = {
        "phase": "hire",
        "time": 1,
        "turn": 1,
        "librarian": 0,
        "florins": 0,
        "books": 0,
        "towers": [[0, 0], [0, 0]],
        "hand": [],
        "deck": [],
        "display": [],
        "banned": None,
        "hires_left": rules["hires_per_turn"],
        "pending_hire": None,
        "prestige": 0,
        "slots_filled": [False for _ in collection["slots"]],
    } | fields
    placed = form["hand"] + form["deck"] + form["display"]
    form["discard"] = [c for c in range(len(data["cards"])) if c not in placed]
    form["supply"] = rules["cubes"] - sum(map(sum, form["towers"]))
    form["score"] = (
        form["books"] * rules["vp_per_book"] + form["florins"] // rules["florins_per_vp"]
    )
    for slot, filled in zip(collection["slots"], form["slots_filled"], strict=True):
        form["score"] += slot["vp"] if filled else 0
    form["score"] += collection["bonus"] if all(form["slots_filled"]) else 0
    return form
