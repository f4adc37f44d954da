"""Deals of Scriptorium: from seeds, or from a tape of bag and lecterns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incunabula.envs.deals import Deals, Fixed
from incunabula.envs.engine import Json
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.envs.scriptorium.tape import read_tape


class ScriptoriumDeals(Deals):
    """The deals of an engine.

    Args:
        tape: the recorded bag and lecterns of every deal.
    """

    engine: ScriptoriumEngine

    def __init__(self, engine: ScriptoriumEngine, tape: Mapping[str, Any] | None) -> None:
        super().__init__(engine, Fixed(None))
        self.usual = self.read({"tape": tape})

    def read(self, options: Mapping[str, Any]) -> Fixed:
        tape = options.get("tape")
        return self.usual if tape is None else Fixed(read_tape(self.engine.tables, tape))

    def form(self, row: int, tape: Any) -> Json:
        """{"seed"}, or {"tape": {"bag", "lecterns"}}."""
        s = self.engine.state
        if tape is None or s.tape_length[row] < 0:
            return {"seed": int(s.seed[row])}
        return {"tape": {"bag": tape.bag.tolist(), "lecterns": tape.lecterns.tolist()}}
