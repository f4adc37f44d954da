"""The most that can be scored on a deal by whoever knows it, by brute force over the oracle."""

from __future__ import annotations

import copy
import json
from typing import Any

from tests.oracle.bibliogamo import Action, Game


def after(game: Game, action: Action) -> Game:
    """The game after an action."""
    made = copy.copy(game)
    for name in ("hand", "deck", "discard", "display", "slots_filled"):
        setattr(made, name, list(getattr(game, name)))
    made.towers = [list(row) for row in game.towers]
    made.step(action)
    return made


def best_score(edition: dict[str, Any], seed: int, prestige: int | None = None) -> int:
    """The largest final score of any way to play a deal."""
    known: dict[str, int] = {}

    def to_come(game: Game) -> int:
        if game.over:
            return game.score()
        name = json.dumps([game.state(), game.deck, game.shuffles_made])
        if name not in known:
            known[name] = max(to_come(after(game, action)) for action in game.legal())
        return known[name]

    return to_come(Game(edition, seed=seed, prestige=prestige))
