"""Checks between an edition's fields that are the same for every game.

They read plain values as they stand in the file and pass over whatever has the wrong form (the
edition's models report that), so that one look finds everything.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from incunabula.envs.documents import Problem, field_path, no_such

MAX_TOTAL = 2**31 - 1

Place = tuple[str | int, ...]
"""Where a value stands in an edition's data: ("cards", 17, "artisans")."""


def value_at(value: Any, *path: str) -> Any:
    """A value by field names; None where there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def list_at(value: Any, *path: str) -> Sequence[Any]:
    """A list by field names; empty where there is none."""
    found = value_at(value, *path)
    return found if isinstance(found, list | tuple) else ()


def int_at(value: Any, *path: str) -> int | None:
    """A whole number by field names; None where there is none, or one out of all proportion.

    The latter are reported by their fields, and would only confuse a check between fields.
    """
    found = value_at(value, *path)
    return found if type(found) is int and -MAX_TOTAL <= found <= MAX_TOTAL else None


def pairs_at(value: Any, *path: str) -> Iterable[tuple[Any, Any]]:
    """The keys and values of a mapping by field names; none where there is no mapping."""
    found = value_at(value, *path)
    return found.items() if isinstance(found, Mapping) else ()


def texts_at(value: Any, *path: str) -> list[str]:
    """The texts in a list by field names."""
    return [text for text in list_at(value, *path) if isinstance(text, str)]


def wrong_size(path: Place, value: Any, low: int, high: int) -> Iterator[Problem]:
    """A problem if `value` is a list and has too few or too many entries."""
    if isinstance(value, list | tuple) and not low <= len(value) <= high:
        message = f"has {len(value):,} entries, but must have {low} to {high:,}"
        yield Problem(field_path(path), message)


def repeated(field: str, entries: Iterable[tuple[tuple[str, ...], Any]]) -> Iterator[Problem]:
    """A problem for every entry of a list that is called as an earlier one.

    Args:
        field: the list.
        entries: for each entry the fields that lead to its name, and the name.
    """
    first: dict[str, int] = {}
    for i, (below, name) in enumerate(entries):
        if isinstance(name, str) and first.setdefault(name, i) != i:
            message = f"is {name!r}, as {field}[{first[name]}] is; each needs its own name"
            yield Problem(field_path((field, i, *below)), message)


def unknown_name(path: Place, kind: str, name: Any, names: Sequence[str]) -> Iterator[Problem]:
    """A problem if `name` is text but not one of `names`."""
    # Without a single right name the list itself is what's wrong.
    if isinstance(name, str) and names and name not in names:
        yield Problem(field_path(path), no_such(kind, name, names))


def wrong_ids(data: Mapping[str, Any], field: str) -> Iterator[Problem]:
    """A problem for every entry of a list whose `id` isn't one of 0 to n - 1, or stands twice."""
    entries = list_at(data, field)
    first: dict[int, int] = {}
    for i, entry in enumerate(entries):
        number = int_at(entry, "id")
        if number is None:
            continue
        rule = f"the ids of {len(entries)} {field} are 0 to {len(entries) - 1}, each once"
        if first.setdefault(number, i) != i:
            message = f"is {number}, as that of {field}[{first[number]}] is; {rule}"
            yield Problem(field_path((field, i, "id")), message)
        elif number >= len(entries):
            yield Problem(field_path((field, i, "id")), f"is {number}; {rule}")
