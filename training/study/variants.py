"""Editions that differ from a shipped one in a number or two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from incunabula.envs.bibliogamo.edition import Edition, load_edition
from incunabula.envs.errors import IncunabulaError

EVERY = "*"  # stands for each entry of a list


def variant(changes: Mapping[str, Any], base: str | Edition = "bibliogamo") -> Edition:
    """An edition with some of its numbers changed.

    Args:
        changes: field -> new value, such as ``{"rules.days": 41}``; a ``*`` stands for every entry
            of a list: ``prestige.*.bonus``. If all are what they were, it is the edition itself.
        base: shipped name or edition.

    Raises:
        IncunabulaError: there is no such field.
        EditionError: the game can't be played with these values.
    """
    edition = load_edition(base)
    data = edition.model_dump(mode="json")
    for field, value in changes.items():
        _change(data, field.split("."), value, field)
    if data == edition.model_dump(mode="json"):
        return edition
    words = ", ".join(f"{field} {value}" for field, value in changes.items())
    data |= {"edition": f"{edition.edition}, {words}", "provenance": "variant"}
    return load_edition(data, name=f"{edition.name}, {words}")


def _change(data: Any, path: Sequence[str], value: Any, field: str) -> None:
    """Set what a path leads to, in place."""
    name, *rest = path
    if isinstance(data, list) and name == EVERY:
        places: list[Any] = list(range(len(data)))
    elif isinstance(data, dict) and name in data:
        places = [name]
    else:
        have = f"a list; write {EVERY}" if isinstance(data, list) else "not there"
        if isinstance(data, dict):
            have = f"not one of {', '.join(data)}"
        raise IncunabulaError(f"changes: {field!r} is no field of an edition: {name!r} is {have}")
    for place in places:
        if rest:
            _change(data[place], rest, value, field)
        else:
            data[place] = value
