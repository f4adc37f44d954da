"""The search of Bibliogamo: over a learned policy, judged by its value network and by greedy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from incunabula.agents.agent import View
from incunabula.agents.learned import PolicyAgent
from incunabula.agents.policy_folder import engine_of, load_policy
from incunabula.agents.registry import make_agent
from incunabula.agents.search.bibliogamo_value import greedy_values
from incunabula.agents.search.budget import Budget
from incunabula.agents.search.guide import Guide
from incunabula.agents.search.guided import make_search
from incunabula.agents.search.rollouts import Rollouts
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.editions import load_any_edition
from incunabula.envs.errors import IncunabulaError
from tests.test_search_tree import make_policy, positions

EDITION = load_any_edition("bibliogamo-tiny")


def view(engine: BibliogamoEngine, rows: np.ndarray, decision: int) -> View:
    return View(engine, rows, rows.astype(np.uint64), np.full(len(rows), decision))


def test_departs_from_its_policy_whatever_the_batch_and_the_hidden_order(tmp_path: Path) -> None:
    folder = make_policy(tmp_path / "p", "bibliogamo")
    agent, policy = make_search(folder, "p", EDITION, Budget(40)), PolicyAgent(folder, EDITION)
    engine = BibliogamoEngine(EDITION, 12, "auto")
    engine.deal(np.arange(12), np.arange(12))
    departed, step = 0, 0
    rows = np.arange(12)
    while rows.size:
        chosen = agent.act(view(engine, rows, step))
        departed += int(np.count_nonzero(chosen != policy.act(view(engine, rows, step))))
        engine.determinise(rows, (rows + 100 * (step + 1)).astype(np.uint64))
        alone = [agent.act(view(engine, rows[k : k + 1], step))[0] for k in range(len(rows))]
        assert chosen.tolist() == alone
        engine.apply(chosen, rows)
        rows, step = np.flatnonzero(engine.state.phase != engine.over), step + 1
    assert departed > 3


def test_its_judges_are_greedy_and_the_network(tmp_path: Path) -> None:
    folder = make_policy(tmp_path / "p", "bibliogamo")
    engine = positions("bibliogamo", 1)
    rows = np.array([4, 1])
    network = Guide(load_policy(folder, EDITION), engine_of(EDITION).tables)
    search = make_search(folder, "p", EDITION)
    assert isinstance(search, Rollouts)
    first, second = (judge(engine, rows).tolist() for judge in search.judges)
    assert first == greedy_values(engine, rows).tolist()
    assert second == network.payoffs(engine, rows)[:, 0].tolist()
    assert first != second


def test_by_name(tmp_path: Path) -> None:
    agent = make_agent("search", load_any_edition("bibliogamo"), budget=Budget(30), seed=7)
    assert isinstance(agent, Rollouts)
    assert (agent.name, agent.seed) == ("search(ppo, 30)", 7)
    folder = make_policy(tmp_path / "p", "bibliogamo")
    named = make_agent(f"search:{folder}", EDITION)
    assert named.name == f"search({folder}, 384)"
    with pytest.raises(IncunabulaError, match=r"agent 'search': .*edition_sha256"):
        make_agent("search", EDITION)
