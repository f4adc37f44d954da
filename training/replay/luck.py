"""The luck of single draws in a game: what came, less what could be expected of it."""

from __future__ import annotations

import numpy as np

from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.editions import BaseEdition
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.luck import LuckMeter, drew
from incunabula.training.evaluation.rows import Part
from incunabula.training.replay.advice import Advice

ROW = np.arange(1)


class DrawLuck:
    """The luck of each draw of one game of Bibliogamo: exact where an adviser's worths are, else by
    the value network that ``LuckMeter`` has, else not known. Of other games none is known.

    Args:
        edition: what is played.
    """

    def __init__(self, edition: BaseEdition) -> None:
        self._meter: LuckMeter | None = None
        if isinstance(edition, Edition):
            try:
                self._meter = LuckMeter(edition, 1)
            except IncunabulaError:  # no value network is of this edition
                self._meter = None
        self._before = 0.0  # what the meter had counted
        self._expected: float | None = None  # worth of the action, exactly
        self._part: Part | None = None
        self._turn = np.zeros(1, np.int64)

    def before(self, engine: Engine, decision: int, action: int, advice: Advice) -> None:
        """An action is about to be taken in row 0."""
        if not isinstance(engine, BibliogamoEngine):
            return
        self._part = Part(ROW, np.zeros(1, np.intp), np.array([decision]))
        self._turn = engine.turn[ROW]
        self._expected = advice.value.get(action) if advice.exact else None
        if self._expected is None and self._meter is not None:
            self._before = float(self._meter.luck[0])
            self._meter.before(engine, self._part, np.array([action]))

    def after(self, engine: Engine, advice: Advice | None) -> float | None:
        """The luck of what it drew, in points; None where it drew nothing, or it isn't known.

        ``advice``: of the position that it led to; None: the game is over.
        """
        if self._part is None or not isinstance(engine, BibliogamoEngine):
            return None
        if not drew(engine, ROW, self._turn)[0]:
            return None
        if self._expected is not None:
            if advice is None or advice.expected is None or not advice.exact:
                return None
            return advice.expected - self._expected
        if self._meter is None:
            return None
        self._meter.after(engine, self._part)
        return float(self._meter.luck[0]) - self._before
