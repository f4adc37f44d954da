"""Games of Bibliogamo's oracle, put together by hand."""

from __future__ import annotations

import copy
import json
from typing import Any

from tests.oracle.bibliogamo import Action, Game

IN_ORDER = [0, 1, 2, 3, 4, 5, 6, 7]  # the cards of the tiny edition


def as_set(actions: list[Action]) -> set[str]:
    return {json.dumps(action, sort_keys=True) for action in actions}


def assert_legal(game: Game, *expected: Action) -> None:
    assert as_set(game.legal()) == as_set(list(expected))
    assert len(game.legal()) == len(expected)


def position(
    edition: dict[str, Any], shuffles: list[list[int]] | None = None, **attributes: Any
) -> Game:
    """Return a game with the attributes given; `shuffles` are the next ones, none by default."""
    first = list(range(len(edition["cards"])))
    game = Game(edition, tape={"shuffles": [first, *(shuffles or [])], "prestige": 0})
    usual: dict[str, Any] = {
        "phase": "hire",
        "time": 1,
        "librarian": 0,
        "hand": [],
        "deck": [],
        "discard": [],
        "display": [],
        "banned": None,
    }
    for name, value in (usual | attributes).items():
        assert hasattr(game, name)
        setattr(game, name, copy.deepcopy(value))
    game.supply = edition["rules"]["cubes"] - sum(map(sum, game.towers))
    return game
