"""Reading what commands are given as text."""

from __future__ import annotations

from collections.abc import Sequence

from incunabula.envs.documents import no_such
from incunabula.envs.editions import GAMES
from incunabula.envs.errors import IncunabulaError


def check_game(game: str, games: Sequence[str] = GAMES) -> None:
    """Raise IncunabulaError unless it is one of these games."""
    if game not in games:
        raise IncunabulaError(no_such("game", game, games))


def listed(name: str, text: str) -> list[str]:
    """Entries separated by commas."""
    entries = [entry.strip() for entry in text.split(",")]
    if not all(entries):
        raise IncunabulaError(
            f"{name}: expected entries separated by commas, with none empty, got {text!r}"
        )
    return entries


def whole(name: str, text: str) -> int:
    """A whole number."""
    if not (text.isascii() and text.isdigit() and len(text) < 100):
        raise IncunabulaError(f"{name}: expected whole numbers above 0, got {text!r}")
    return int(text)
