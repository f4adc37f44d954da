"""Masked evaluation during training: the argmax policy on the published `dev` games.

It is what `incunabula evaluate` and `incunabula league` would report: the same agent, the same
games, no matter how many at once. Checkpoints are chosen on these games only; `final` games are
never played here.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from incunabula.agents.agent import Agent
from incunabula.agents.learned import PolicyAgent
from incunabula.agents.policy_folder import Policy, Weights, engine_of
from incunabula.agents.registry import make_agent
from incunabula.envs.editions import BaseEdition
from incunabula.envs.scriptorium.payoffs import margins, winners
from incunabula.training.evaluation.games import play_games
from incunabula.training.evaluation.seeds import seed_list
from incunabula.training.evaluation.statistics import mean_interval
from incunabula.training.league.play import play_tables
from incunabula.training.league.seating import seatings
from incunabula.training.ppo.config import ScriptoriumConfig, TrainConfig

SEEDS = "dev"
BASELINES = ("greedy", "random")


def evaluate_weights(
    weights: Weights,
    network: dict[str, Any],
    edition: BaseEdition,
    config: TrainConfig,
    on_finished: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """How well the policy does on the first dev games.

    Of Bibliogamo the mean score (`eval_mean`), its 95% interval, and decisions a game; of
    Scriptorium what `evaluate_seats` says.
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
        return evaluate_seats(agent, edition, config.players, games)
    played = play_games(agent, edition, seed_list(SEEDS, games), on_finished=on_finished)
    mean, interval = mean_interval(played.score)
    return {
        "eval_mean": mean,
        "eval_ci95": interval,
        "eval_games": games,
        "eval_seeds": SEEDS,
        "eval_length": float(np.mean(played.decisions)),
    }


def evaluate_seats(
    agent: Agent, edition: BaseEdition, players: tuple[int, ...], deals: int
) -> dict[str, Any]:
    """What an agent does against copies of each baseline, on the first dev deals from every seat.

    Returns:
        `eval_mean`: its win share (ties shared) against greedy, the mean over deals, seats and
        numbers of players, and its interval `eval_ci95`, bootstrapping nothing: the deals are what
        varies. Then, for P players and each baseline B, `P/B/win_share`, `P/B/margin` and
        `P/B/score`.
    """
    found: dict[str, Any] = {}
    shares = []
    seeds = seed_list(SEEDS, deals)
    for count in players:
        for baseline in BASELINES:
            agents = [agent, make_agent(baseline, edition)]
            seats = np.array(seatings((0, *[1] * (count - 1)), "cyclic"))
            played = play_tables(agents, seats, edition, seeds)
            own = seats == 0  # one seat of each seating
            scores = played.scores.reshape(-1, count)
            best = winners(scores)
            mine = np.broadcast_to(own, played.scores.shape).reshape(-1, count)
            share = (best / best.sum(axis=1, keepdims=True))[mine]
            prefix = f"eval/{count}/{baseline}"
            found[f"{prefix}/win_share"] = round(float(share.mean()), 6)
            found[f"{prefix}/margin"] = round(float(margins(scores)[mine].mean()), 6)
            found[f"{prefix}/score"] = round(float(scores[mine].mean()), 6)
            if baseline == "greedy":
                shares.append(share.reshape(deals, -1).mean(axis=1))
    mean, interval = mean_interval(np.mean(shares, axis=0))
    return {
        "eval_mean": mean,
        "eval_ci95": interval,
        "eval_games": deals,
        "eval_seeds": SEEDS,
        **found,
    }
