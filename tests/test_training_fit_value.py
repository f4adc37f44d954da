"""Value networks for a search: fitted to undiscounted payoffs, the policy left as it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from incunabula.agents.networks import NumpyNetwork
from incunabula.agents.policy_folder import engine_of, load_policy
from incunabula.envs.editions import load_any_edition
from incunabula.training.ppo import fit_value
from incunabula.training.ppo.fit_value import fit, fit_folder, lambda_returns
from incunabula.training.ppo.value_games import Positions, play
from tests.test_search_tree import make_policy


def test_lambda_returns_by_hand() -> None:
    # Two lines: three decisions, then one. Payoffs at the end 10 and 4.
    seen = Positions(
        inputs=np.zeros((4, 1), np.float16),
        line=np.array([0, 0, 0, 3]),
        have=np.array([1, 2, 5, 0], np.float32),
        paid=np.array([10, 10, 10, 4], np.float32),
    )
    values = np.array([100, 6, 3, 100], np.float32)
    found = lambda_returns(seen, values, 0.5)
    last = 5.0
    middle = 3 + 0.5 * last + 0.5 * 3
    assert found.tolist() == [1 + 0.5 * middle + 0.5 * 6, middle, last, 4.0]
    assert lambda_returns(seen, values, 1.0).tolist() == [9.0, 8.0, 5.0, 4.0]


@pytest.mark.parametrize(
    ("game", "players", "games"), [("bibliogamo", 1, 1500), ("scriptorium", 2, 150)]
)
def test_a_fit_tells_more_than_the_mean(
    game: str, players: int, games: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit_value, "BATCH", 256)
    monkeypatch.setattr(fit_value, "LEARNING_RATE", 1e-2)
    folder, out = make_policy(tmp_path / "p", game), tmp_path / "out"
    edition = load_any_edition(f"{game}-tiny")
    before = load_policy(folder, edition)
    seen = play(before, games, players, 0)
    assert (np.diff(seen.line) >= 0).all()
    _, figures = fit(before, seen, epochs=8, lambdas=(0.8,))
    assert figures["error"] < 0.97 * figures["spread"]
    fit_folder(folder, out, 20, players)
    after = load_policy(out, edition)
    assert after.description["training"]["value"]["games"] == 20
    observation = engine_of(edition).observe()
    networks = [
        NumpyNetwork(p.network, p.weights, engine_of(edition).tables) for p in (before, after)
    ]
    first, second = (network.logits(observation) for network in networks)
    assert np.array_equal(first, second)
    assert networks[0].values(observation) != networks[1].values(observation)
