"""The search that each game is played with best, guided by a policy folder.

Scriptorium: the tree search of ``tree``. Bibliogamo: chance is loud there, and a tree below the
next actions was not seen to gain anything. So the policy's choice is compared with others by
rollouts, which are cut off at a turn and judged by the mean of two values, the network's and the
greedy agent's: each errs where the other mostly doesn't.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent
from incunabula.agents.baselines import make_greedy
from incunabula.agents.learned import PolicyAgent
from incunabula.agents.policy_folder import Policy, engine_of, load_policy
from incunabula.agents.search.bibliogamo_value import greedy_values
from incunabula.agents.search.budget import Budget
from incunabula.agents.search.guide import Guide
from incunabula.agents.search.rollouts import Rollouts, Settings
from incunabula.agents.search.tree import TreeSearch
from incunabula.envs.editions import BaseEdition
from incunabula.envs.engine import Engine

# What each game is played with, unless something else is given.
BUDGETS = {"bibliogamo": Budget(simulations=384), "scriptorium": Budget(simulations=32)}
SETTINGS = Settings(evidence=1.0, margin=0.05, horizon=1, tried=5)  # Bibliogamo


class BothValues:
    """The mean of what the value network and the greedy agent expect of a turn's start.

    Args:
        policy: loaded for the edition that is played.
        edition: that edition.

    Raises:
        IncunabulaError: it isn't known in what unit the policy's values are.
    """

    def __init__(self, policy: Policy, edition: BaseEdition) -> None:
        self._guide = Guide(policy, engine_of(edition).tables)

    def __call__(self, engine: Engine, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """Points at the end, float64 (n,)."""
        return (self._guide.payoffs(engine, rows)[:, 0] + greedy_values(engine, rows)) / 2


def make_search(
    policy: str | Path,
    name: str,
    edition: BaseEdition,
    budget: Budget | None = None,
    seed: int = 0,
) -> Agent:
    """A search as it plays best, guided by a policy folder that results call ``name``.

    Raises:
        IncunabulaError: the policy can't be used, or its values' unit isn't known.
    """
    own = budget or BUDGETS[edition.game]
    if edition.game != "bibliogamo":
        return TreeSearch(policy, edition, budget=own, seed=seed, name=name)
    loaded = load_policy(policy, edition)
    return Rollouts(
        PolicyAgent(loaded, edition, name),
        own,
        seed=seed,
        settings=SETTINGS,
        play=make_greedy(edition.game),
        value=BothValues(loaded, edition),
        name=f"search({name}, {own})",
    )
