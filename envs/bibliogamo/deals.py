"""Deals of Bibliogamo: besides a tape, the prestige collection can be fixed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.bibliogamo.tables import Tables
from incunabula.envs.bibliogamo.tape import read_tape
from incunabula.envs.deals import Deals, Fixed
from incunabula.envs.engine import Json
from incunabula.envs.errors import IncunabulaError


class BibliogamoDeals(Deals):
    """The deals of an engine.

    Args:
        prestige: the collection of every deal; None = drawn (or the tape's).
        tape: recorded shuffles for every deal.
    """

    engine: BibliogamoEngine
    options = ("prestige", "tape")

    def __init__(
        self, engine: BibliogamoEngine, prestige: int | None, tape: Mapping[str, Any] | None
    ) -> None:
        super().__init__(engine, Fixed(None, (None,)))
        self.usual = self.read({"prestige": prestige, "tape": tape})

    def read(self, options: Mapping[str, Any]) -> Fixed:
        (prestige,), tape = self.usual.how, self.usual.tape
        if options.get("prestige") is not None:
            prestige = checked_prestige(self.engine.tables, options["prestige"])
        if options.get("tape") is not None:
            tape = read_tape(self.engine.tables, options["tape"])
        if tape is not None and tape.prestige is None and prestige is None:
            raise IncunabulaError("tape.prestige: missing; give it there or as prestige=")
        return Fixed(tape, (prestige,))

    def form(self, row: int, tape: Any) -> Json:
        """{"seed" | "tape", "prestige"}, the collection in play."""
        s = self.engine.state
        prestige, length = int(s.prestige[row]), int(s.tape_length[row])
        if length >= 0:
            shuffles = s.tape[row, :length].tolist()
            return {"tape": {"shuffles": shuffles, "prestige": prestige}, "prestige": prestige}
        return {"seed": int(s.seed[row]), "prestige": prestige}


def checked_prestige(t: Tables, prestige: Any) -> int:
    """The index of a prestige collection.

    Raises:
        IncunabulaError: there is no such collection.
    """
    most = t.collections - 1
    if (
        isinstance(prestige, bool)
        or not isinstance(prestige, (int, np.integer))
        or not 0 <= prestige <= most
    ):
        raise IncunabulaError(f"prestige: expected an integer in 0..{most}, got {prestige!r}")
    return int(prestige)
