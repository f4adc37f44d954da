"""The exact value of a policy: its expected score, without playing a game.

Policy evaluation by backward induction (Puterman, "Markov Decision Processes", 1994, chapter 4).
The agent is asked, in batches, what it does in every state that its own play can come to; then the
mean over chance is worked out as for optimal play.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent, RandomAgent, View, ask
from incunabula.agents.exact import walk
from incunabula.agents.exact.codes import Coding
from incunabula.agents.exact.outcomes import NEXT_TURN
from incunabula.agents.exact.solver import (
    MEMORY,
    Policy,
    Progress,
    Solution,
    check_solvable,
    look_members,
    set_up,
    work_out,
)
from incunabula.agents.exact.table import GIGABYTE, Table
from incunabula.agents.search.rollouts import Rollouts
from incunabula.agents.search.tree import TreeSearch
from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.compiled.arrays import Arrays
from incunabula.envs.compiled.backend import CompiledBackend
from incunabula.envs.errors import IncunabulaError
from incunabula.training.exact import spread

BATCH = 1024  # states an agent is asked about at a time
CHECKED = 16  # of them, it is asked about twice
POOL = 1 << 14  # states that wait, at first


def exact_value(
    agent: Agent,
    edition: Edition,
    *,
    max_memory: float = MEMORY,
    on_progress: Progress | None = None,
) -> Solution:
    """The expected score of an agent, with the states its play can come to.

    The random agent's is that of play uniform over the legal actions.

    Args:
        agent: one that draws nothing, or the random agent.
        edition: what it plays.
        max_memory: GB for each of the tables, of its actions and of their values.
        on_progress: called now and then with the number of states so far.

    Raises:
        IncunabulaError: the agent draws, the edition is too large, or nothing can be compiled here.
    """
    check_evaluable(agent)
    check_solvable(edition, max_memory)
    if isinstance(agent, RandomAgent):
        return work_out(edition, walk.MEAN, max_memory=max_memory, on_progress=on_progress)
    policy = _Spread(agent, edition, max_memory).policy(on_progress)
    return work_out(edition, walk.FOLLOW, policy, max_memory=max_memory, on_progress=on_progress)


def check_evaluable(agent: Agent) -> None:
    """Raise IncunabulaError if the agent is known to draw."""
    if isinstance(agent, Rollouts | TreeSearch):
        raise _draws(agent)


def _draws(agent: Agent) -> IncunabulaError:
    return IncunabulaError(
        f"agent {agent.name!r}: its choices are drawn, so it has no exact value; only random and "
        f"agents that always do the same in the same state have one"
    )


class _Spread:
    """All states that an agent's play can come to, and what it does there."""

    def __init__(self, agent: Agent, edition: Edition, max_memory: float) -> None:
        self.agent, self.edition = agent, edition
        self.batch = BibliogamoEngine(edition, BATCH + 2, "numba")
        self.pool = BibliogamoEngine(edition, POOL, "numba")
        self.coding = Coding(self.batch.tables, full=True)
        self.coding.check()
        self.table = Table(max_memory * GIGABYTE)
        self.counts = np.zeros(spread.COUNTS, np.int64)
        self._members: dict[str, Any] = {
            **look_members(self.batch, self.coding),
            "counts": self.counts,
        }

    def policy(self, on_progress: Progress | None) -> Policy:
        """Walk through all states."""
        for prestige in range(len(self.edition.prestige)):
            set_up(self.batch, prestige)
            self._spread(np.array([NEXT_TURN]))
            while waiting := int(self.counts[spread.WAITING]):
                rows = np.arange(min(waiting, BATCH))
                first = waiting - len(rows)
                self.batch.put(rows, self.pool.state.take(first + rows))
                self.counts[spread.WAITING] = first
                self._spread(self._asked(rows))
                if on_progress is not None:
                    on_progress(int(self.counts[spread.TAKEN]))
        return Policy(self.coding, self.table)

    def _asked(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """What the agent does in these rows, intp (n,)."""
        n = len(rows)
        actions = ask(self.agent, View(self.batch, rows, rows.astype(np.uint64), np.zeros(n, int)))
        self.batch.check_actions(actions, rows)
        again = rows[::-1][:CHECKED]
        other = View(self.batch, again, again.astype(np.uint64) + np.uint64(n), again + 1)
        if not np.array_equal(ask(self.agent, other), actions[again]):
            raise _draws(self.agent)
        return actions

    def _spread(self, actions: npt.NDArray[np.intp]) -> None:
        """Take an action in each of the batch's first rows."""
        done = 0
        while (done := spread.spread(self._arrays(), done, actions)) < len(actions):
            full = self.counts[spread.TAKEN] > self.table.room // 2
            if full:
                self.table.grow()
            if not full or self.counts[spread.WAITING] > self.pool.num_envs // 2:
                self._grow_pool()

    def _grow_pool(self) -> None:
        larger = self.pool.empty_like(2 * self.pool.num_envs)
        rows = np.arange(int(self.counts[spread.WAITING]))
        larger.put(rows, self.pool.state.take(rows))
        self.pool = larger

    def _arrays(self) -> Arrays:
        assert isinstance(self.pool.backend, CompiledBackend)
        return Arrays(
            self._members
            | {
                "p": self.pool.backend.bound.s,
                "rows": self.pool.num_envs,
                "codes": self.table.codes,
                "values": self.table.values,
                "room": self.table.room,
            }
        )
