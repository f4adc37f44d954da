"""The published lists of deals: every agent is measured on the same games.

``dev`` and ``final`` are given by formula, so they have any length and need no file:

    dev[i]   = key(1, 2^34, i)
    final[i] = key(2, 2^34, i)

Choices (checkpoints, settings) are made on ``dev`` only; reported figures are those on ``final``.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from incunabula.envs.chance import checked_seeds, key
from incunabula.envs.documents import no_such
from incunabula.envs.errors import IncunabulaError

UInt64Array = npt.NDArray[np.uint64]

# A stream of its own: shuffles use 0, 1, ..., the prestige draw 2^32, agents 2^33 and above.
SEED_STREAM = 1 << 34
SEED_LISTS = {"dev": 1, "final": 2}
MAX_GAMES = 10_000_000


def seed_list(name: str, n: int, *, start: int = 0) -> UInt64Array:
    """Game seeds ``start`` to ``start + n - 1`` of a published list, uint64 (n,).

    Raises:
        IncunabulaError: unknown list, n not in 1..MAX_GAMES, or a negative start.
    """
    if name not in tuple(SEED_LISTS):
        raise IncunabulaError(no_such("seed list", name, SEED_LISTS))
    check_count("games", n, MAX_GAMES)
    check_start(start)
    items = np.arange(start, start + n, dtype=np.uint64)
    return key(SEED_LISTS[name], SEED_STREAM, items)


def game_seeds(seeds: npt.ArrayLike) -> UInt64Array:
    """Seeds of games as uint64 (n,), taken modulo 2^64.

    Raises IncunabulaError unless they are one or more integers.
    """
    checked = checked_seeds(seeds)  # type: ignore[arg-type]
    if not checked.size:
        raise IncunabulaError("seeds: expected at least one")
    return checked


def check_start(start: int) -> None:
    """Raise IncunabulaError unless the number of the first deal is one."""
    whole = isinstance(start, (int, np.integer)) and not isinstance(start, bool)
    if not whole or not 0 <= start < 1 << 32:
        raise IncunabulaError(f"start: expected a whole number of at least 0, got {start!r}")


def list_hash(seeds: UInt64Array) -> str:
    """SHA-256 of the seeds as little-endian 64-bit integers: says which games these are."""
    return hashlib.sha256(seeds.astype("<u8").tobytes()).hexdigest()


def check_count(name: str, value: int, most: int) -> None:
    """Raise IncunabulaError unless ``value`` is a whole number in 1..most."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    if not whole or not 1 <= value <= most:
        raise IncunabulaError(f"{name}: expected a whole number from 1 to {most:,}, got {value!r}")
