"""Games in progress at a table, for the tests of the page."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from incunabula.envs.compiled.functions import interpreted
from incunabula.training.play.session import Session
from incunabula.training.play.table import Table, set_table

SEED = {"seed": "7"}


@pytest.fixture(autouse=True)
def uncompiled() -> Iterator[None]:
    """A few moves aren't worth compiling for."""
    with interpreted():
        yield


@cache
def table(game: str, edition: str, **options: Any) -> Table:
    """A table, set once."""
    return set_table(game, edition, **options)


def seated(game: str, deal: dict[str, Any] | None = None, **options: Any) -> Session:
    """A game of the tiny edition, or of the one that is named; the others play at random."""
    edition = options.pop("edition", f"{game}-tiny")
    if game == "scriptorium" and options.get("seat") != "all":
        options = {"against": "random"} | options
    return Session(table(game, edition, **options), deal or SEED)


def legal(session: Session) -> list[int]:
    """What can be done now."""
    return [each["action"] for each in session.moment.frames[-1]["legal"]]


def play_on(session: Session, actions: int = 1 << 30, seed: int = 0) -> None:
    """Do what is drawn at random, so often or to the end."""
    draws = np.random.default_rng(seed)
    while actions and not session.over:
        session.act(int(draws.choice(legal(session))))
        actions -= 1
