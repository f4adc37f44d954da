"""What an agent makes of a position: how likely it is to take each action, and what each is worth.

How much there is to know depends on the agent. Worths are in one unit to the end of the game: in
Bibliogamo points, the score so far included; in Scriptorium what the agent plays for, as the seat
to move sees it.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent, RandomAgent, View, ask
from incunabula.agents.exact import walk
from incunabula.agents.exact.codes import Coding
from incunabula.agents.exact.optimal import OptimalAgent
from incunabula.agents.exact.solver import look_members
from incunabula.agents.learned import PolicyAgent
from incunabula.agents.registry import make_agent
from incunabula.agents.search.budget import Budget
from incunabula.agents.search.guide import Guide
from incunabula.agents.search.rollouts import Race, Rollouts
from incunabula.agents.search.tree import Search, TreeSearch
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.compiled.arrays import Arrays
from incunabula.envs.editions import BaseEdition
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError

ROW = np.arange(1)


class Advice(NamedTuple):
    """What an agent makes of a position.

    Attributes:
        chosen: the action it would take.
        probability: of each legal action, by its number.
        value: of the actions whose worth it knows or has estimated.
        expected: what the seat to move can expect; None: not known.
        exact: whether worths are exact.
    """

    chosen: int
    probability: dict[int, float]
    value: dict[int, float]
    expected: float | None = None
    exact: bool = False

    def regret(self, action: int) -> float | None:
        """How much less an action is worth than the best (exactly), or than the agent's choice (by
        its estimates, at least 0); None where that isn't known."""
        best = max(self.value.values(), default=None) if self.exact else None
        best = self.value.get(self.chosen) if best is None else best
        if best is None or action not in self.value:
            return None
        return max(0.0, best - self.value[action])


class Adviser:
    """An agent that is asked what it makes of positions; the same answer each time, if its budget
    isn't a time.

    Args:
        spec: as for ``make_agent``.
        edition: what is played.
        seed: of the agent's own draws.
        budget: for each move, of an agent that searches.

    Raises:
        IncunabulaError: there is no such agent, or it isn't for this edition.
    """

    def __init__(
        self, spec: str, edition: BaseEdition, *, seed: int = 0, budget: Budget | None = None
    ) -> None:
        self.agent = make_agent(spec, edition, seed=seed, budget=budget)
        self._guide: Guide | None = None
        self._guided = False  # whether a guide was looked for

    def advise(self, engine: Engine, row: int, decision: int) -> Advice:
        """What the agent makes of a game that isn't over.

        Args:
            decision: how many decisions were taken before, by all seats.
        """
        view = View(engine, np.array([row]), np.zeros(1, np.uint64), np.array([decision]))
        agent = self.agent
        if isinstance(agent, OptimalAgent):
            return _exact(agent, view)
        if isinstance(agent, PolicyAgent):
            return self._learned(agent, view, engine, row)
        if isinstance(agent, Rollouts):
            return _imagined(agent, view)
        if isinstance(agent, TreeSearch):
            return _searched(agent, view, _payoff(agent.guide, engine, row))
        legal = _legal(view)
        if isinstance(agent, RandomAgent):
            return Advice(_asked(agent, view), dict.fromkeys(legal, 1 / len(legal)), {})
        return _sure(view, _asked(agent, view), {})

    def _learned(self, agent: PolicyAgent, view: View, engine: Engine, row: int) -> Advice:
        logits = agent.logits(view)
        if not self._guided:
            self._guided = True
            try:
                self._guide = Guide(agent.policy, view.tables)
            except IncunabulaError:  # its values are in no unit that is known
                self._guide = None
        expected = None
        if self._guide is not None:
            expected = _payoff(self._guide, engine, row)
        return Advice(int(logits[0].argmax()), _likely(logits[0], view), {}, expected)


def _exact(agent: OptimalAgent, view: View) -> Advice:
    chosen = _asked(agent, view)
    # A copy of the game, and a row for looking an action ahead.
    engine = view.imagine(np.zeros(2, np.intp), np.zeros(2, np.uint64), backend="numba")
    assert isinstance(engine, BibliogamoEngine)
    table, score = agent.solution.table, float(engine.state.score[0])
    members = look_members(engine, Coding(engine.tables))
    look = Arrays(members | {"codes": table.codes, "values": table.values})
    value = {action: score + float(walk.worth(look, 0, 1, action)) for action in _legal(view)}
    return _sure(view, chosen, value, exact=True)


def _imagined(agent: Rollouts, view: View) -> Advice:
    """The means of the imagined games of each choice that had any."""
    base, legal = ask(agent.base, view), np.array(_legal(view))
    if len(legal) == 1:
        return _sure(view, int(legal[0]), {})
    race = Race(view, np.zeros(len(legal), np.intp), legal, base, agent)
    race.run(time.perf_counter())
    played = np.flatnonzero(race.played)
    means = np.nanmean(race.payoff[played], axis=1).mean(axis=1)
    value = {int(race.action[k]): float(mean) for k, mean in zip(played, means, strict=True)}
    return _sure(view, int(race.decide()[0]), value)


def _searched(agent: TreeSearch, view: View, expected: float) -> Advice:
    """The guide's probabilities, and the means of the simulations of the actions tried."""
    logits = agent.guide.logits(view).astype(np.float64)
    probability, value = _likely(logits[0], view), {}
    chosen = int(logits[0].argmax())
    if len(probability) > 1:
        search = Search(agent, view, ROW, logits)
        seconds = agent.budget.seconds
        stop = None if seconds is None else time.perf_counter() + seconds
        search.run(agent.budget.simulations, stop)
        arms = search.arms
        tried = np.flatnonzero(arms.visits[0])
        means = arms.total[0, tried] / arms.visits[0, tried]
        value = dict(zip(arms.action[0, tried].tolist(), means.tolist(), strict=True))
        if probability[chosen] < agent.settings.sure:
            chosen = int(search.best()[0])
    return Advice(chosen, probability, value, expected)


def _sure(view: View, chosen: int, value: dict[int, float], exact: bool = False) -> Advice:
    """The advice of an agent that takes one action and no other."""
    value = {action: worth for action, worth in value.items() if np.isfinite(worth)}
    probability = {action: float(action == chosen) for action in _legal(view)}
    return Advice(chosen, probability, value, value.get(chosen), exact and bool(value))


def _payoff(guide: Guide, engine: Engine, row: int) -> float:
    """What the seat to move can expect by a value network."""
    seat = 0 if engine.num_players == 1 else int(engine.state.player[row])
    return float(guide.payoffs(engine, np.array([row]))[0, seat])


def _likely(logits: npt.NDArray[np.floating], view: View) -> dict[int, float]:
    """Probabilities of the legal actions, by their logits (A,)."""
    legal = _legal(view)
    shares = np.exp(logits[legal].astype(np.float64) - logits[legal].max())
    return dict(zip(legal, (shares / shares.sum()).tolist(), strict=True))


def _legal(view: View) -> list[int]:
    return [int(action) for action in np.flatnonzero(view.action_mask[0])]


def _asked(agent: Agent, view: View) -> int:
    return int(ask(agent, view)[0])
