"""A tape: recorded orders of bag and lecterns instead of a seed, to replay a recorded game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.envs.chance import TapeError
from incunabula.envs.scriptorium.edition_checks import MAX_ROUNDS, MAX_TOTAL
from incunabula.envs.scriptorium.tables import Tables

MAX_BAG = 4096  # tiles

Int16Array = npt.NDArray[np.int16]


class Tape(NamedTuple):
    """Checked tape."""

    bag: Int16Array  # (k,) designs, first to be drawn first
    lecterns: Int16Array  # (R, L) the order of round 1, 2, …; the first players + 1 are in play


def read_tape(t: Tables, tape: Mapping[str, Any]) -> Tape:
    """Check {"bag": [design, …], "lecterns": [[every lectern's index], … by round]}.

    The bag is of any length up to MAX_BAG, whatever the edition's copies.

    Raises:
        TapeError: naming the entry that is wrong.
    """
    if not isinstance(tape, Mapping) or set(tape) != {"bag", "lecterns"}:
        raise TapeError("tape: expected a mapping with bag and lecterns")
    bag = _items("bag", tape["bag"], "a list of designs")
    if len(bag) > MAX_BAG:
        raise TapeError(f"tape.bag: expected at most {MAX_BAG} tiles, got {len(bag)}")
    for j, design in enumerate(bag):
        if not _whole(design) or not 0 <= design < t.designs:
            raise TapeError(f"tape.bag[{j}]: expected a design 0..{t.designs - 1}, got {design!r}")
    rounds = _items("lecterns", tape["lecterns"], "a list of at least one round's order")
    if not rounds:
        raise TapeError("tape.lecterns: expected a list of at least one round's order")
    every = list(range(t.lecterns))
    for k, order in enumerate(rounds):
        indices = list(order) if isinstance(order, (list, tuple, np.ndarray)) else []
        if not all(_whole(index) for index in indices) or sorted(indices) != every:
            raise TapeError(
                f"tape.lecterns[{k}]: must list each lectern 0..{t.lecterns - 1} exactly once"
            )
    return Tape(np.array(bag, np.int16), np.array(rounds, np.int16))


def check_rounds(t: Tables, tape: Tape, players: int) -> None:
    """Refuse a bag that makes more rounds than counts have room for; TapeError."""
    rounds = -(-len(tape.bag) // (t.tiles_per_lectern * (players + 1)))
    inks, points = int(t.pots[players].max()), t.quill_points
    most = min(MAX_ROUNDS, MAX_TOTAL // max(1, inks, 2 * points))
    if rounds > most:
        raise TapeError(
            f"tape.bag: {len(tape.bag)} tiles make {rounds} rounds of {players} players; expected "
            f"at most {most}"
        )


def _items(name: str, value: Any, expected: str) -> list[Any]:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        raise TapeError(f"tape.{name}: expected {expected}, got {value!r}")
    return list(value)


def _whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def lecterns_ran_out(round_number: int, length: int) -> str:
    """What to tell of a tape of so many rounds that this one is needed."""
    return (
        f"tape.lecterns: ran out of rounds: round {round_number} is needed, the tape has {length}; "
        "add that round's order of the lecterns"
    )
