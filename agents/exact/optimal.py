"""The agent that plays by exact values."""

from __future__ import annotations

import logging
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent, View
from incunabula.agents.exact import walk
from incunabula.agents.exact.codes import Coding
from incunabula.agents.exact.files import load_solution
from incunabula.agents.exact.solver import (
    MEMORY,
    Solution,
    check_solvable,
    look_members,
    work_out,
)
from incunabula.envs.bibliogamo.edition import GAME, Edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.compiled.arrays import Arrays
from incunabula.envs.editions import BaseEdition
from incunabula.envs.errors import IncunabulaError


class OptimalAgent(Agent):
    """Takes the action that is worth most by exact values, the first among equals; draws nothing.

    Args:
        edition: what it is to play.
        solution: its exact values; by default they are worked out when they are first needed.
        max_memory: GB that they may take then.

    Raises:
        IncunabulaError: the edition is too large, or nothing can be compiled here.
    """

    name = "optimal"

    def __init__(
        self, edition: Edition, solution: Solution | None = None, max_memory: float = MEMORY
    ) -> None:
        if solution is None:
            check_solvable(edition, max_memory)
        self.edition, self.max_memory = edition, max_memory
        self._solution = solution
        self._engine: BibliogamoEngine | None = None  # room for looking one action ahead
        self._look: Arrays | None = None

    @property
    def solution(self) -> Solution:
        """The exact values, worked out now if they haven't been."""
        if self._solution is None:
            _announce(f"working out the exact values of {self.edition.name!r}")
            self._solution = work_out(self.edition, walk.BEST, max_memory=self.max_memory)
        return self._solution

    def act(self, view: View) -> npt.NDArray[np.intp]:
        if view.edition.sha256 != self.edition.sha256:
            raise IncunabulaError(
                f"agent {self.name!r}: was made for edition {self.edition.name!r}, not for "
                f"{view.edition.name!r}"
            )
        n = len(view)
        chosen = np.empty(n, np.intp)
        if n:
            look = self._arrays(view)
            walk.best_actions(look, view.action_mask, n, chosen)
            if chosen.min() < 0:
                raise IncunabulaError(
                    f"agent {self.name!r}: no game that is played from its start comes to the "
                    f"state of game {int(chosen.argmin())} of the batch; there is no value for it"
                )
        return chosen

    def _arrays(self, view: View) -> Arrays:
        """``walk``'s g, of a copy of the view's games and one row more; what is hidden in them is
        laid anew."""
        games = np.append(np.arange(len(view)), 0)
        engine = view.imagine(games, np.zeros(len(games), np.uint64), self._engine, "numba")
        assert isinstance(engine, BibliogamoEngine)
        if self._look is None or engine is not self._engine:
            table = self.solution.table
            members: dict[str, Any] = look_members(engine, Coding(engine.tables))
            self._look = Arrays(members | {"codes": table.codes, "values": table.values})
            self._engine = engine
        return self._look

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_engine": None, "_look": None}


def make_optimal(edition: BaseEdition, file: str | None = None) -> OptimalAgent:
    """The agent for an edition, with exact values from a file that ``solve --save`` wrote.

    Raises:
        IncunabulaError: as ``OptimalAgent`` and ``load_solution``, or it is another game.
    """
    if not isinstance(edition, Edition):
        raise IncunabulaError(
            f"agent 'optimal': exact values are for {GAME}, not for {edition.game}"
        )
    if file is None:
        return OptimalAgent(edition)
    return OptimalAgent(edition, load_solution(file, edition))


def _announce(text: str) -> None:
    """Say so where work takes its time: on a terminal, and in the log."""
    logging.getLogger(__name__).info(text)
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"incunabula: {text}", file=sys.stderr, flush=True)
