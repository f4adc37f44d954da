"""Positions of Scriptorium, actions and varied editions, put together by hand."""

from __future__ import annotations

import copy
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from tests.oracle.scriptorium import Scriptorium

Json = dict[str, Any]
FILE = Path(__file__).parent.parent / "configs" / "editions" / "scriptorium.yaml"

BLACK, RED, BLUE, GREEN, GOLD, QUILL = range(6)  # the lecterns
IN_ORDER = [BLACK, RED, BLUE, GREEN, GOLD, QUILL]
ACHIEVEMENTS = ("left_frame", "left_page", "full_frame", "right_page", "right_frame")

# The designs the cases use (black, red, blue, green, gold are b, r, u, g, $):
#    0 edge br, 1 point           13 corner br$, 4 points     24 initial br$$, 7 points
#    1 edge bu, 1 point           16 A brru, 5 points         27 text bbr, 3 points
#    6 edge brr, 2 points         18 B buug, 5 points         30 text bb$, 4 points
#    9 edge b$, 2 points          20 C brrg, 5 points
#   10 corner bru, 3 points       22 D brug, 5 points
EVERY_INK = {"black": 9, "red": 9, "blue": 9, "green": 9, "gold": 9}
LEFT_FRAME = {"corner_left": 2, "edge_left": 6}
RIGHT_FRAME = {"corner_right": 2, "edge_right": 6}
LEFT_PAGE = {"A": 1, "B": 1, "C": 1, "D": 1}
RIGHT_PAGE = {"initial": 1, "text": 3}
FULL = LEFT_FRAME | RIGHT_FRAME | LEFT_PAGE | RIGHT_PAGE

END, GRIMOIRE, TAKE_QUILL, TAKE_POINTS = (
    {"type": name} for name in ("end", "grimoire", "quill", "points")
)


def ink(*names: str) -> Json:
    return {"type": "ink", "inks": list(names)}


def lectern(index: int, to: int) -> Json:
    return {"type": "lectern", "lectern": index, "to": to}


def place(tile: int, side: str | None = None, *, paid: bool = True, storage: bool = True) -> Json:
    source = "storage" if storage else "lectern"
    return {"type": "place", "tile": tile, "from": source, "side": side, "ink": paid}


def buy(tile: int, source: str | int = "scriptorium") -> Json:
    return {"type": "buy", "tile": tile, "from": source}


def discard(thing: int | str) -> Json:
    """Discard a tile (a number), an achievement or an ink (a name)."""
    if isinstance(thing, int):
        return {"type": "discard_tile", "tile": thing}
    if thing in ACHIEVEMENTS:
        return {"type": "discard_achievement", "achievement": thing}
    return {"type": "discard_ink", "ink": thing}


def as_set(actions: list[Json]) -> set[str]:
    return {json.dumps(action, sort_keys=True) for action in actions}


def assert_legal(game: Scriptorium, *expected: Json) -> None:
    assert as_set(game.legal()) == as_set(list(expected))
    assert len(game.legal()) == len(expected)


def legal_of(game: Scriptorium, kind: str) -> list[Json]:
    return [action for action in game.legal() if action["type"] == kind]


@lru_cache
def _shipped() -> Json:
    data: Json = yaml.safe_load(FILE.read_text("utf-8"))
    return data


def edition(**changes: Any) -> Json:
    """The shipped edition with entries changed, each in `rules` or at the top."""
    data = copy.deepcopy(_shipped())
    for name, value in changes.items():
        where = data["rules"] if name in data["rules"] else data
        assert name in where
        where[name] = copy.deepcopy(value)
    return data


def varied_editions() -> dict[str, Json]:
    """Valid editions that differ from the shipped one in every number the rules take from it."""
    five = edition(
        players=[5],
        inks_per_round={5: {"black": 10, "red": 4, "blue": 6, "green": 5, "gold": 3}},
    )
    for tile in five["tiles"]:
        tile["copies"] = {5: tile["copies"][4] + 1}
    small = edition(
        players=[2, 3],
        tiles_per_lectern=3,
        help_tokens=1,
        storage_limit=2,
        ink_limit=3,
        achievement_points=3,
        token_points=4,
        quill_points=1,
        inks_per_round={n: {"black": 3 * n, "red": 2, "blue": 3, "gold": n} for n in (2, 3)},
        spaces={
            **{"corner_left": 1, "corner_right": 3, "edge_left": 2, "edge_right": 1},
            **{"A": 1, "B": 2, "C": 1, "D": 1, "initial": 2, "text": 1},
        },
    )
    small["tiles"] = small["tiles"][::2]
    for number, tile in enumerate(small["tiles"]):
        tile["id"] = number
        tile["points"] += number % 3
        tile["copies"] = {2: number % 4, 3: 5 - number % 4}
        tile["cost"].pop("green", None)
    lavish = edition(
        players=[2, 4],
        help_tokens=0,
        storage_limit=0,
        ink_limit=0,
        quill_points=0,
        tiles_per_lectern=7,
        inks_per_round={n: dict.fromkeys(EVERY_INK, 5 * n) for n in (2, 4)},
    )
    for tile in lavish["tiles"]:
        del tile["copies"][3]
    return {"five": five, "small": small, "lavish": lavish}


def seat(**fields: Any) -> Json:
    """What lies before a player; `inks` and `filled` name only what isn't zero."""
    data = edition()
    form: Json = {
        "lectern_tiles": [],
        "storage": [],
        "achievements": [],
        "tokens": 0,
        "points": 0,
    } | fields
    form["inks"] = dict.fromkeys(data["inks"], 0) | fields.get("inks", {})
    form["filled"] = dict.fromkeys(data["spaces"], 0) | fields.get("filled", {})
    form["score"] = form["points"] + 5 * len(form["achievements"]) + 2 * form["tokens"]
    return form


def stand(*seats: Json, bag: list[int] | None = None, **fields: Any) -> Json:
    """A JSON state of the shipped edition, by default seat 0's illumination in round 1.

    `lecterns` lists (lectern, owner, tiles); by default seat 0 has the quill lectern, the others
    have black, red and blue, and the next colour was put away.
    """
    data = edition()
    usual: list[tuple[int, int | None, list[int]]] = [
        *((index, index + 1, []) for index in range(len(seats) - 1)),
        (len(seats) - 1, None, []),
        (QUILL, 0, []),
    ]
    form: Json = {
        "phase": "illuminate",
        "round": 1,
        "player": 0,
        "quill": 0,
        "quill_next": None,
        "grimoire": None,
        "scriptorium": [],
        "achievements": dict.fromkeys(ACHIEVEMENTS),
        "players": list(seats),
    } | fields
    form["pot"] = dict.fromkeys(data["inks"], 0) | fields.get("pot", {})
    form["lecterns"] = [
        {"lectern": index, "tiles": tiles, "owner": owner}
        for index, owner, tiles in fields.get("lecterns", usual)
    ]
    for number, each in enumerate(seats):
        form["achievements"] |= dict.fromkeys(each["achievements"], number)
    form["bag_left"] = len(bag or [])
    form["bag"] = [(bag or []).count(tile["id"]) for tile in data["tiles"]]
    return form


# Seat 0 has the quill lectern, seat 1 black (blue was put away in a game of three).
BUSY = stand(
    seat(
        inks={"black": 1, "red": 1, "gold": 1},
        storage=[0, 22, 24, 27],
        lectern_tiles=[16],
        filled={"A": 1, "edge_left": 6},
        tokens=0,
    ),
    seat(storage=[27], tokens=1),
    round=4,
    scriptorium=[30],
)


def position(form: Json, lecterns: list[list[int]] | None = None) -> Scriptorium:
    """The oracle at a JSON state; the bag's designs are drawn in ascending order.

    `lecterns` are the drawn orders of the rounds to come.
    """
    tape = {"bag": [], "lecterns": [IN_ORDER] * form["round"] + (lecterns or [])}
    game = Scriptorium(edition(), len(form["players"]), tape=tape)
    game.stand_at(form, [tile for tile, count in enumerate(form["bag"]) for _ in range(count)])
    assert game.state() == form
    return game


def play(game: Scriptorium, *actions: Json) -> list[list[int]]:
    return [game.step(action) for action in actions]
