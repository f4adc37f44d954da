"""Ladders of few games, for the tests."""

from __future__ import annotations

import contextlib
from typing import Any

from incunabula.agents.search.budget import Budget
from incunabula.envs.compiled.functions import interpreted
from incunabula.training.ladder.ladder import Ladder, Sizes, make_ladder

TINY = {"bibliogamo": "bibliogamo-tiny", "scriptorium": "scriptorium-tiny"}
BUDGET = Budget(2)


def made(
    game: str = "bibliogamo", agents: str = "random,greedy,rollouts", **options: Any
) -> Ladder:
    settings: dict[str, Any] = {
        "edition": TINY[game],
        "sizes": Sizes(8, 3, 2),
        "batch_size": 5,
        "budget": BUDGET if "rollouts" in agents else None,
    }
    return make_ladder(game, agents.split(","), **(settings | options))


def played(*arguments: Any, **options: Any) -> dict[str, Any]:
    with quickly("scriptorium" in arguments):
        result = made(*arguments, **options).play()
    return result | {"command": "incunabula ladder"}


def quickly(scriptorium: bool) -> contextlib.AbstractContextManager[None]:
    """A few decisions aren't worth compiling for, but Scriptorium's greedy takes many."""
    return contextlib.nullcontext() if scriptorium else interpreted()
