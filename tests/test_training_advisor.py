"""Policies that hear an advisor: they start as it, and learning may depart from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incunabula.agents.learned import PolicyAgent
from incunabula.agents.networks import expected_shapes
from incunabula.agents.policy_folder import load_policy, save_policy
from incunabula.agents.registry import make_agent
from incunabula.envs.bibliogamo.edition import load_edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.games import play_games
from incunabula.training.evaluation.seeds import seed_list

EDITION = "bibliogamo-tiny"
NETWORK: dict[str, Any] = {
    "kind": "cards",
    "layers": [8],
    "value_layers": [8],
    "activation": "tanh",
    "card_dim": 4,
    "tower_dim": 4,
    "advisor": "greedy",
    "advice": 5.0,
}


def make_policy(folder: Path, scale: float, **changes: Any) -> Path:
    """A policy of random weights of this size."""
    engine = BibliogamoEngine(EDITION)
    network = NETWORK | changes
    shapes = expected_shapes(network, engine)
    rng = np.random.default_rng(0)
    weights = {n: (scale * rng.normal(size=s)).astype(np.float32) for n, s in shapes.items()}
    save_policy(folder, weights, edition=load_edition(EDITION), network=network, training={})
    return folder


def test_without_an_opinion_it_plays_as_its_advisor(tmp_path: Path) -> None:
    edition = load_edition(EDITION)
    deals = seed_list("dev", 300)
    policy = PolicyAgent(make_policy(tmp_path / "p", 0.0), edition)
    greedy = make_agent("greedy", edition)
    heard, alone = (play_games(agent, edition, deals) for agent in (policy, greedy))
    assert np.array_equal(heard.score, alone.score)
    assert np.array_equal(heard.decisions, alone.decisions)


def test_a_strong_opinion_departs_and_the_batch_does_not_matter(tmp_path: Path) -> None:
    edition = load_edition(EDITION)
    deals = seed_list("dev", 100)
    policy = PolicyAgent(make_policy(tmp_path / "p", 5.0), edition)
    few, many = (play_games(policy, edition, deals, batch_size=n) for n in (7, 100))
    assert np.array_equal(few.score, many.score)
    alone = play_games(make_agent("greedy", edition), edition, deals)
    assert not np.array_equal(few.score, alone.score)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"advisor": "os.system"}, "advisor"),
        ({"advisor": 3}, "advisor"),
        ({"advice": -1}, "advice"),
    ],
)
def test_descriptions_are_checked(changes: dict[str, Any], field: str, tmp_path: Path) -> None:
    with pytest.raises(IncunabulaError, match=field):
        load_policy(make_policy(tmp_path / "p", 0.0, **changes))


def test_training_starts_as_the_advisor_and_learns(tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib")
    from incunabula.training.ppo.config import load_config
    from incunabula.training.ppo.trainer import Trainer

    config = load_config(
        {
            "game": "bibliogamo",
            "edition": EDITION,
            "total_steps": 4096,
            "num_envs": 32,
            "n_steps": 32,
            "batch_size": 256,
            "network": {"kind": "cards", "layers": [16], "card_dim": 4, "advisor": "greedy"},
            "shaping": {},
            "clone": {"teacher": "greedy", "decisions": 4096, "num_envs": 32},
            "eval": {"every": 2048, "games": 200},
        }
    )
    trainer = Trainer.start(config, tmp_path / "run", None)
    trainer.run(quiet=True)
    edition = load_edition(EDITION)
    alone = play_games(make_agent("greedy", edition), edition, seed_list("dev", 200))
    assert trainer.best is not None
    # Before the first step the policy is its advisor, so the best is no worse on these deals.
    assert trainer.best["eval_mean"] >= alone.score.mean()
    learned = load_policy(tmp_path / "run" / "policy-last", edition)
    assert learned.network["advisor"] == "greedy"
