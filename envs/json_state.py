"""What reading a JSON state back has in common in both games: one complaint that names the field.

Fields are named as in ``state.players[1].inks.red``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from incunabula.envs.errors import IncunabulaError

Json = dict[str, Any]


class StateError(IncunabulaError):
    """A JSON state that is malformed or impossible."""


def read_fields(field: str, value: Any, names: Collection[str]) -> Mapping[str, Any]:
    """A mapping with exactly these names."""
    if not isinstance(value, Mapping):
        raise StateError(f"{field}: expected a mapping, got {value!r}")
    if set(value) != set(names):
        missing, unknown = set(names) - set(value), set(value) - set(names)
        wrong = sorted(missing) + sorted(unknown, key=str)
        raise StateError(f"{field}: fields missing or unknown: {', '.join(map(str, wrong))}")
    return value


def read_integer(field: str, value: Any, low: int, high: int) -> int:
    """A whole number in low..high."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise StateError(f"{field}: expected an integer in {low}..{high}, got {value!r}")
    return value


def read_choice(field: str, value: Any, options: Sequence[str]) -> int:
    """Which of the options it is."""
    if value not in options:
        raise StateError(f"{field}: expected one of {', '.join(options)}, got {value!r}")
    return options.index(value)


def read_list(field: str, value: Any, size: int | None = None) -> list[Any]:
    """A list, of this size."""
    if not isinstance(value, list) or (size is not None and len(value) != size):
        of_size = "" if size is None else f" of {size}"
        raise StateError(f"{field}: expected a list{of_size}, got {value!r}")
    return value
