"""Masked evaluation during training: the argmax policy on the published `dev` games.

It is what `incunabula evaluate` and `incunabula league` would report: the same agent, the same
games, no matter how many at once. Checkpoints are chosen on these games only; `final` games are
never played here.
"""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from incunabula.agents.agent import Agent
from incunabula.agents.exact.solver import solve
from incunabula.agents.learned import PolicyAgent
from incunabula.agents.policy_folder import Policy, Weights, engine_of
from incunabula.agents.registry import make_agent
from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.editions import BaseEdition
from incunabula.training.evaluation.games import play_games
from incunabula.training.evaluation.seeds import seed_list
from incunabula.training.evaluation.statistics import DIGITS, DealBootstrap, mean_interval
from incunabula.training.exact.policies import exact_value
from incunabula.training.league.against import evaluate_against
from incunabula.training.ppo.config import ScriptoriumConfig, TrainConfig

SEEDS = "dev"
EXACT_DIGITS = 9
# Baselines, and the part of the deals that is played against each.
BASELINES = {"greedy": 1, "random": 4}
# What is reported of the games against each, and its name in their summary.
FIGURES = {"win_share": "win_share", "margin": "mean_margin", "score": "mean_score"}


def evaluate_weights(
    weights: Weights,
    network: dict[str, Any],
    edition: BaseEdition,
    config: TrainConfig,
    on_progress: Callable[[float], None] | None = None,
    optimum: float | None = None,
) -> dict[str, Any]:
    """How well the policy does on the first dev games.

    Of Bibliogamo the mean score (`eval_mean`), its 95% interval, and decisions a game; of
    Scriptorium what `evaluate_seats` says. With the edition's `optimum`, the policy's exact
    expected score (`eval_exact`) and what it lacks (`eval_regret`), too.
    """
    description = {
        "edition": edition.name,
        "edition_sha256": edition.sha256,
        "network": network,
        "actions": engine_of(edition).actions.n,
    }
    games = config.eval.games
    agent = PolicyAgent(Policy(Path("policy"), description, weights, ""), edition)
    if isinstance(config, ScriptoriumConfig):
        return evaluate_seats(agent, edition, config.players, games, config.backend)
    assert isinstance(edition, Edition)
    seeds = seed_list(SEEDS, games)
    played = play_games(agent, edition, seeds, backend=config.backend, on_progress=on_progress)
    mean, interval = mean_interval(played.score)
    result = {
        "eval_mean": mean,
        "eval_ci95": interval,
        "eval_games": games,
        "eval_seeds": SEEDS,
        "eval_length": float(np.mean(played.decisions)),
    }
    if optimum is None:
        return result
    exact = exact_value(agent, edition).value
    return result | {
        "eval_exact": round(exact, EXACT_DIGITS),
        "eval_regret": round(optimum - exact, EXACT_DIGITS),
    }


def optimum_of(config: TrainConfig, edition: BaseEdition) -> float | None:
    """The optimal expected score, if the run asks for exact values.

    Raises:
        IncunabulaError: the edition is too large, or nothing can be compiled here.
    """
    if not config.eval.exact:
        return None
    assert isinstance(edition, Edition)
    return solve(edition).value


def merit(result: dict[str, Any]) -> float:
    """By what the best policy of a run is chosen: the exact value where it is known."""
    return float(result.get("eval_exact", result["eval_mean"]))


def evaluate_seats(
    agent: Agent,
    edition: BaseEdition,
    players: tuple[int, ...],
    deals: int,
    backend: str = "auto",
) -> dict[str, Any]:
    """What an agent does against copies of each baseline, on the first dev deals from every seat.

    Against random play, where little is to be seen, a quarter of the deals is played.

    Returns:
        `eval_mean`: its win share (ties shared) against greedy, the mean over deals, seats and
        numbers of players, with its 95% interval over deals (see `DealBootstrap.share_interval`);
        and for P players and each baseline B `eval/P/B/win_share`, `eval/P/B/margin` and
        `eval/P/B/score`.
    """
    found: dict[str, Any] = {}
    shares = []
    for count, (name, part) in product(players, BASELINES.items()):
        seeds = seed_list(SEEDS, max(1, deals // part))
        opponent = make_agent(name, edition)
        against = evaluate_against(agent, opponent, edition, count, seeds, backend=backend)
        summary = against.summary()
        for figure, called in FIGURES.items():
            found[f"eval/{count}/{name}/{figure}"] = summary[called]
        if name == "greedy":
            # In seating k the agent has seat k.
            own = np.diagonal(against.outcomes.shares, axis1=1, axis2=2)
            shares.append(own.mean(axis=1))
    by_deal = np.mean(shares, axis=0)
    return {
        "eval_mean": round(float(by_deal.mean()), DIGITS),
        "eval_ci95": DealBootstrap(deals).share_interval(by_deal),
        "eval_games": deals,
        "eval_seeds": SEEDS,
        **found,
    }
