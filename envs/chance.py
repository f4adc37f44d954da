"""Chance: every random outcome of a game comes from one 64-bit seed, or from a tape.

The functions are those of the rules ("Chance"): ``mix`` is the finaliser of SplitMix64 (Steele,
Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014) and ``key`` names a
draw by (seed, stream, item). Nothing else in ``incunabula.envs`` draws random numbers.

All arithmetic is modulo 2^64 on ``uint64`` arrays.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from incunabula.envs.compiled.functions import compiled, compiled_apart
from incunabula.envs.errors import IncunabulaError

UInt64Array = npt.NDArray[np.uint64]
IntArray = npt.NDArray[np.integer]

MASK64 = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15
PRESTIGE_STREAM = 1 << 32  # Bibliogamo's
LECTERN_STREAM = 1 << 32  # Scriptorium's, of round 0
DETERMINISE_STREAM = 1 << 36  # where planners' seeds become game seeds; not a stream of the rules

_GAMMA = np.uint64(GAMMA)
_ONE = np.uint64(1)
_SHIFT_27, _SHIFT_30, _SHIFT_31 = np.uint64(27), np.uint64(30), np.uint64(31)
_FACTOR_1, _FACTOR_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class TapeError(IncunabulaError):
    """A tape that is malformed or has run out."""


@compiled
def scramble(z: np.uint64) -> np.uint64:
    """SplitMix64's finaliser, on a uint64 (or, uncompiled, an array of them)."""
    z = (z ^ (z >> _SHIFT_30)) * _FACTOR_1
    z = (z ^ (z >> _SHIFT_27)) * _FACTOR_2
    return z ^ (z >> _SHIFT_31)


@compiled
def key_of(seed: np.uint64, stream: np.uint64, item: np.uint64) -> np.uint64:
    """``key`` of three uint64."""
    return scramble(scramble(seed + _GAMMA * (stream + _ONE)) + _GAMMA * (item + _ONE))


@compiled
def episode_seed(base: np.uint64, episode: np.uint64) -> np.uint64:
    """As ``episode_seeds``, of one environment."""
    return base if episode == 0 else scramble(base + _GAMMA * episode)


@compiled_apart
def sort_items(keys: npt.NDArray[np.uint64], items: npt.NDArray[np.int64], n: int) -> None:
    """Sort the first n ``items``, in place, by (key, item); ``keys``, theirs, move with them.

    A heap sort: quick for decks and bags of any size, and no other memory is needed.
    """
    end, start = n, n // 2
    while end > 1:
        if start > 0:  # build the heap
            start -= 1
        else:  # take its largest
            end -= 1
            keys[0], keys[end] = keys[end], keys[0]
            items[0], items[end] = items[end], items[0]
        key, item, at = keys[start], items[start], start
        child = 2 * at + 1
        while child < end:
            right = child + 1
            if right < end and (
                keys[right] > keys[child]
                or (keys[right] == keys[child] and items[right] > items[child])
            ):
                child = right
            if keys[child] < key or (keys[child] == key and items[child] <= item):
                break
            keys[at], items[at] = keys[child], items[child]
            at, child = child, 2 * child + 1
        keys[at], items[at] = key, item


@compiled_apart
def order_items(
    seed: np.uint64, stream: np.uint64, keys: npt.NDArray[np.uint64], items: npt.NDArray[np.int64]
) -> None:
    """Fill ``items`` with 0..n-1 sorted by (key(seed, stream, item), item), as ``orders_of``;
    ``keys`` (n,) is overwritten."""
    for item in range(len(items)):
        items[item] = item
        keys[item] = key_of(seed, stream, np.uint64(item))
    sort_items(keys, items, len(items))


def mix(x: int | UInt64Array) -> UInt64Array:
    """Scramble 64-bit values (SplitMix64's finaliser); same shape as ``x``, never in place."""
    z = np.array(x, dtype=np.uint64)
    # Arrays of one dimension or more wrap silently, scalars would warn.
    mixed: UInt64Array = scramble.python(z.reshape(z.shape or 1)).reshape(z.shape)
    return mixed


def key(seed: int | UInt64Array, stream: int | UInt64Array, item: int | UInt64Array) -> UInt64Array:
    """key(seed, stream, item) = mix(mix(seed + G·(stream+1)) + G·(item+1)); arguments broadcast."""
    with np.errstate(over="ignore"):  # scalars would warn, arrays wrap silently
        seed_ = np.asarray(seed, dtype=np.uint64) + _weyl(stream)
        return mix(mix(seed_) + _weyl(item))


def _weyl(index: int | UInt64Array) -> UInt64Array:
    """G·(index + 1)."""
    return _GAMMA * (np.asarray(index, dtype=np.uint64) + _ONE)


def as_seed(value: object) -> int:
    """A seed of deals as an int in 0..2^64-1, taken modulo 2^64: so the rules have it of a reset.

    Raises IncunabulaError if ``value`` is not an integer.
    """
    return _integer("seed", value) & MASK64


def check_seed(value: object, name: str = "seed") -> int:
    """A seed that a person names, for a command or of an agent: none but one in 0..2^64-1, so that
    what was asked for is what results tell. ``name`` is how errors call it.

    Raises IncunabulaError if it is another one, or not an integer.
    """
    seed = _integer(name, value)
    if not 0 <= seed <= MASK64:
        raise IncunabulaError(f"{name}: expected a number in 0..{MASK64} (2^64 - 1), got {seed}")
    return seed


def _integer(name: str, value: object) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise IncunabulaError(f"{name}: expected an integer, got {value!r}")
    return int(value)


def checked_seeds(values: Iterable[object]) -> UInt64Array:
    """Seeds as uint64 (n,), each as ``as_seed`` reads it; IncunabulaError if they aren't a list."""
    if isinstance(values, (str, bytes, Mapping)) or not np.iterable(values):
        raise IncunabulaError(f"seeds: expected a list of integers, got {values!r}")
    return np.array([as_seed(value) for value in values], np.uint64)


def random_seed() -> int:
    """A seed from the operating system, for an environment that was never seeded."""
    return secrets.randbits(64)


def episode_seeds(base: UInt64Array, episode: UInt64Array) -> UInt64Array:
    """Game seed of episode k of an environment seeded s: s itself for k = 0, else mix(s + G·k)."""
    with np.errstate(over="ignore"):
        later = mix(base + _GAMMA * episode)
    return np.where(episode == 0, base, later)


def shuffle_orders(
    seed: UInt64Array,
    shuffle: npt.NDArray[np.int32],
    tape: npt.NDArray[np.int16],
    tape_length: npt.NDArray[np.int32],
    items: int,
) -> npt.NDArray[np.int16]:
    """Priority order of all items in shuffle number ``shuffle``, first to be drawn first.

    Args:
        seed: uint64 (n,), the game seeds; not used in rows that have a tape.
        shuffle: int32 (n,), 0 for the set-up, then 1, 2, …
        tape: int16 (n, k, items), recorded orders.
        tape_length: int32 (n,), recorded orders of each row; -1 = drawn from the seed.
        items: how many ids there are.

    Returns:
        int16 (n, items).

    Raises:
        TapeError: a row's tape has no such shuffle.
    """
    orders = orders_of(seed, shuffle.astype(np.uint64), items)
    if tape.shape[1]:
        taped = np.flatnonzero(tape_length >= 0)
        short = taped[shuffle[taped] >= tape_length[taped]]
        if short.size:
            i = int(short[0])
            raise TapeError(tape_ran_out(int(shuffle[i]), int(tape_length[i])))
        orders[taped] = tape[taped, shuffle[taped]]
    return orders


def tape_ran_out(shuffle: int, length: int) -> str:
    """What to tell of a tape of so many shuffles that this one is needed."""
    return (
        f"tape: ran out of shuffles: shuffle {shuffle} is needed, the tape has {length} "
        f"(shuffles[0..{length - 1}]); add the order of the next shuffle"
    )


def first_of(seed: UInt64Array, stream: int, items: int) -> npt.NDArray[np.int16]:
    """The item with the smallest (key(seed, stream, item), item), a draw of one; int16 (n,)."""
    keys = key(seed[:, None], stream, np.arange(items, dtype=np.uint64))
    first: npt.NDArray[np.int16] = keys.argmin(axis=1).astype(np.int16)
    return first


def orders_of(seed: UInt64Array, stream: int | UInt64Array, items: int) -> npt.NDArray[np.int16]:
    """Items 0..items-1 sorted by (key(seed, stream, item), item); int16 (n, items).

    Args:
        seed: uint64 (n,).
        stream: one for all, or uint64 (n,).
        items: how many there are.
    """
    streams = np.asarray(stream, np.uint64)[..., None]
    keys = key(seed[:, None], streams, np.arange(items, dtype=np.uint64))
    # A stable sort settles equal keys by item, as the rules ask.
    return np.argsort(keys, axis=1, kind="stable").astype(np.int16)
