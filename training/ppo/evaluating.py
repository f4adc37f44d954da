"""Masked evaluation during training: the argmax policy on the published `dev` games.

It is what `incunabula evaluate` would report: the same agent, the same games, no matter how many
at once. Checkpoints are chosen on these games only; `final` games are never played here.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from incunabula.agents.learned import PolicyAgent
from incunabula.agents.policy_folder import Policy, Weights
from incunabula.envs.bibliogamo.actions import Actions
from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.bibliogamo.tables import build_tables
from incunabula.training.evaluation.games import play_games
from incunabula.training.evaluation.seeds import seed_list
from incunabula.training.evaluation.statistics import mean_interval

SEEDS = "dev"


def evaluate_weights(
    weights: Weights,
    network: dict[str, Any],
    edition: Edition,
    games: int,
    on_finished: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Mean score (`eval_mean`), its 95% interval, and decisions a game, on the first dev games."""
    description = {
        "edition": edition.name,
        "edition_sha256": edition.sha256,
        "network": network,
        "actions": Actions(build_tables(edition)).n,
    }
    agent = PolicyAgent(Policy(Path("policy"), description, weights, ""), edition)
    played = play_games(agent, edition, seed_list(SEEDS, games), on_finished=on_finished)
    mean, interval = mean_interval(played.score)
    return {
        "eval_mean": mean,
        "eval_ci95": interval,
        "eval_games": games,
        "eval_seeds": SEEDS,
        "eval_length": float(np.mean(played.decisions)),
    }
