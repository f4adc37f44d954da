"""The search that each game is played with best, guided by a policy folder.

Scriptorium: the tree search of ``tree``. Bibliogamo: chance is loud there, and a tree below the
next actions was not seen to gain anything. So the policy's choice is compared with others by
rollouts, which are cut off at a turn and judged by two values, the greedy agent's, which picks the
choices that are looked into, and the network's: each errs where the other mostly doesn't.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent
from incunabula.agents.baselines import make_greedy
from incunabula.agents.learned import PolicyAgent
from incunabula.agents.policy_folder import engine_of, load_policy
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
    guide = Guide(loaded, engine_of(edition).tables)

    def network_values(engine: Engine, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        return guide.payoffs(engine, rows)[:, 0]

    return Rollouts(
        PolicyAgent(loaded, edition, name),
        own,
        seed=seed,
        settings=SETTINGS,
        play=make_greedy(edition.game),
        judges=(greedy_values, network_values),
        name=f"search({name}, {own})",
    )
