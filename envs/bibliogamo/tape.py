"""A tape: recorded shuffles instead of a seed, to replay a game played at a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.envs.bibliogamo.tables import Tables
from incunabula.envs.chance import TapeError


class Tape(NamedTuple):
    """Checked tape: orders of shuffle 0, 1, 2, … and the collection in play, if it is recorded."""

    shuffles: npt.NDArray[np.int16]  # (R, C), first to be drawn first
    prestige: int | None


def read_tape(t: Tables, tape: Mapping[str, Any]) -> Tape:
    """Check {"shuffles": [[all card ids], …], "prestige": index}.

    Raises:
        TapeError: naming the entry that is wrong.
    """
    if not isinstance(tape, Mapping) or not set(tape) <= {"shuffles", "prestige"}:
        raise TapeError("tape: expected a mapping with shuffles and, if known, prestige")
    shuffles = tape.get("shuffles")
    if isinstance(shuffles, np.ndarray):
        shuffles = shuffles.tolist()
    if not isinstance(shuffles, (list, tuple)) or not shuffles:
        raise TapeError("tape.shuffles: expected a list of at least one order of the cards")
    every = list(range(t.cards))
    for k, order in enumerate(shuffles):
        ids = list(order) if isinstance(order, (list, tuple, np.ndarray)) else []
        whole = all(isinstance(c, (int, np.integer)) and not isinstance(c, bool) for c in ids)
        if not whole or sorted(ids) != every:
            raise TapeError(
                f"tape.shuffles[{k}]: must list each card id 0..{t.cards - 1} exactly once"
            )
    prestige = tape.get("prestige")
    if prestige is not None and (
        isinstance(prestige, bool)
        or not isinstance(prestige, int)
        or not 0 <= prestige < t.collections
    ):
        raise TapeError(f"tape.prestige: expected 0..{t.collections - 1}, got {prestige!r}")
    return Tape(np.array(shuffles, np.int16), prestige)
