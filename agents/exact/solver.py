"""Working out the exact value of an edition."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.exact import walk
from incunabula.agents.exact.codes import Coding
from incunabula.agents.exact.estimate import check_size
from incunabula.agents.exact.outcomes import NEXT_TURN, binomials
from incunabula.agents.exact.table import GIGABYTE, Table
from incunabula.envs.bibliogamo.edition import Edition, load_edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.compiled.arrays import Arrays
from incunabula.envs.compiled.backend import CompiledBackend
from incunabula.envs.compiled.functions import why_no_numba
from incunabula.envs.errors import IncunabulaError

MEMORY = 8.0  # GB, unless told otherwise
STEPS = 1 << 21  # between two looks at the clock and the keyboard: about a second
Progress = Callable[[int], None]


class Solution(NamedTuple):
    """The exact value of an edition under optimal play, with all that it rests on.

    Attributes:
        edition: what was solved.
        value: expected final score, over prestige collections and card orders.
        by_prestige: the same for each collection, float64 (P,).
        decisions, chances: states of either kind that were worked out.
        table: their values: what is still to be scored, on average.
        seconds: how long it took.
    """

    edition: Edition
    value: float
    by_prestige: npt.NDArray[np.float64]
    decisions: int
    chances: int
    table: Table
    seconds: float

    @property
    def states(self) -> int:
        """States that were worked out."""
        return self.decisions + self.chances


class Policy(NamedTuple):
    """A policy to be followed: full codes -> actions, as a table, and the coding."""

    coding: Coding
    table: Table


def solve(
    edition: str | Path | Edition,
    *,
    max_memory: float = MEMORY,
    on_progress: Progress | None = None,
) -> Solution:
    """The optimal expected score of a small edition of Bibliogamo.

    Args:
        edition: shipped name, path or Edition.
        max_memory: GB that the table of values may take.
        on_progress: called about once a second with the number of states so far.

    Raises:
        IncunabulaError: the edition is too large (known beforehand by an estimate), or nothing can
            be compiled here.
    """
    edition = load_edition(edition)
    check_solvable(edition, max_memory)
    return work_out(edition, walk.BEST, max_memory=max_memory, on_progress=on_progress)


def check_solvable(edition: Edition, max_memory: float) -> None:
    """Raise IncunabulaError if the edition is too large, or if nothing can be compiled here."""
    check_size(edition, max_memory)  # first: nobody installs numba for an edition that is refused
    why_not = why_no_numba()
    if why_not is not None:
        raise IncunabulaError(f"exact values need compiled code: {why_not}")


def work_out(
    edition: Edition,
    mode: int,
    policy: Policy | None = None,
    *,
    max_memory: float = MEMORY,
    on_progress: Progress | None = None,
) -> Solution:
    """As ``solve``, whatever the estimate: of optimal play (mode BEST), of play uniform over the
    legal actions (MEAN), or of a policy that knows every state it comes to (FOLLOW)."""
    began = time.perf_counter()
    walker = Walker(edition, mode, policy, max_memory)
    by_prestige = [walker.value_of(k, on_progress) for k in range(len(edition.prestige))]
    # R15: collections are equally likely.
    return Solution(
        edition=edition,
        value=float(np.mean(by_prestige)),
        by_prestige=np.array(by_prestige),
        decisions=int(walker.counts[walk.DECISIONS]),
        chances=int(walker.counts[walk.CHANCES]),
        table=walker.table,
        seconds=time.perf_counter() - began,
    )


class Walker:
    """Drives ``walk.run``: sets games up, and lets the table grow."""

    def __init__(
        self,
        edition: Edition,
        mode: int,
        policy: Policy | None,
        max_memory: float,
        table: Table | None = None,
    ) -> None:
        rules = edition.rules
        # A day: travel, sell, flips, price, a lift, hires and payments, the end, the next draws.
        deepest = (rules.days + 1) * (8 + 2 * rules.hires_per_turn + rules.lifts_per_turn) + 2
        self.engine = BibliogamoEngine(edition, deepest, "numba")
        coding = Coding(self.engine.tables) if policy is None else policy.coding
        coding.check()
        told = Table(0) if policy is None else policy.table
        self.counts = np.zeros(walk.COUNTS, np.int64)
        self.table = Table(max_memory * GIGABYTE) if table is None else table
        self.total = np.zeros(deepest)
        self._members: dict[str, Any] = {
            **look_members(self.engine, coding),
            "told": told.codes,
            "told_action": told.values,
            "mode": mode,
            "mask": np.zeros((deepest, self.engine.actions.n), np.bool_),
            "total": self.total,
            "counts": self.counts,
        }
        for name in ("action", "code", "at", "most", "count", "gain"):
            self._members[name] = np.zeros(deepest, np.int64)

    def value_of(self, prestige: int, on_progress: Progress | None = None) -> float:
        """The expected final score with a prestige collection."""
        start = self._start(prestige)
        g = self._arrays()
        while (came_to := walk.run(g, STEPS)) != walk.DONE:
            if on_progress is not None:
                on_progress(int(self.counts[walk.DECISIONS] + self.counts[walk.CHANCES]))
            if came_to == walk.UNTOLD:
                raise AssertionError("a policy came to a state that it wasn't asked about")
            if came_to == walk.FULL:
                self.table.grow()
                g = self._arrays()
        return start + float(self.total[0])

    def value_at_hand(self, prestige: int) -> float:
        """The same from the table as it is, NaN if it lacks one of the first turns."""
        start = self._start(prestige)
        steps = int(self._members["most"][0]) + 1
        done = walk.run(self._arrays(), steps) == walk.DONE
        return start + float(self.total[0]) if done else math.nan

    def _start(self, prestige: int) -> int:
        """Begin with the first draw of a game; the score at the start."""
        score = set_up(self.engine, prestige)
        self.counts[walk.DEPTH] = 0
        walk.open_chance(self._arrays(), 0, NEXT_TURN, walk.NONE, walk.NONE)
        return score

    def _arrays(self) -> Arrays:
        table = {"codes": self.table.codes, "values": self.table.values, "room": self.table.room}
        return Arrays(self._members | table)


def set_up(engine: BibliogamoEngine, prestige: int) -> int:
    """Make row 0 a new game before its first draw; the score at the start."""
    engine.backend.set_up(np.arange(1), np.array([prestige], np.int16))
    return int(engine.state.score[0])


def values_at_hand(edition: Edition, table: Table) -> npt.NDArray[np.float64]:
    """The value of a game with each collection as a table has it, float64 (P,); NaN where it lacks
    a first turn."""
    walker = Walker(edition, walk.BEST, None, 0.0, table)
    return np.array([walker.value_at_hand(k) for k in range(len(edition.prestige))])


def look_members(engine: BibliogamoEngine, coding: Coding) -> dict[str, Any]:
    """Members of ``walk``'s g that go with an engine."""
    assert isinstance(engine.backend, CompiledBackend)
    bound, cards = engine.backend.bound, engine.tables.cards
    return {
        "t": bound.t,
        "a": bound.a,
        "s": bound.s,
        "c": coding.arrays,
        "choose": binomials(cards),
        "work": np.zeros((3, cards), np.int64),
    }
