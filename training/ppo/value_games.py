"""Games to fit a value network on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent, RandomAgent, View
from incunabula.agents.baselines import make_greedy
from incunabula.agents.learned import PolicyAgent
from incunabula.agents.networks import NumpyNetwork
from incunabula.agents.policy_folder import Policy
from incunabula.agents.search.guide import earned, reward_weights
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.editions import load_any_edition
from incunabula.envs.engine import Engine
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.training.evaluation.luck import drew
from incunabula.training.evaluation.seeds import seed_list

Float16Array = npt.NDArray[np.float16]
Float32Array = npt.NDArray[np.float32]
Rows = npt.NDArray[np.intp]

# Share of random actions in the first stretch of a game: of most games the first.
RATES, SHARES = (0.05, 0.2, 0.5, 1.0), (0.85, 0.05, 0.05, 0.05)
STRETCH = (-60, 165)  # decisions: the stretch is drawn from these, and is often empty
FIRST_DEAL = 1_000_000  # of `dev`: not the deals on which choices are made
TOGETHER = 4096  # games played at once


class Positions(NamedTuple):
    """Decisions of many games, those of one seat of one game after another.

    `have` is what was safe then, `paid` what the game came to in the end, in payoffs.
    """

    inputs: Float16Array  # (n, inputs) of the value network; halves, to save memory
    line: Rows  # (n,) which seat of which game, ascending
    have: Float32Array  # (n,)
    paid: Float32Array  # (n,)


def play(policy: Policy, games: int, players: int, start: int, seed: int = 0) -> Positions:
    """Positions of games that the policy played with itself, or, where it hears an advisor, that
    one, as it does in a search: of a solitaire those that chance has just made, turns' starts,
    where a search cuts off, and offers; of others all in which there was a choice."""
    edition = load_any_edition(str(policy.description["edition"]))
    engine: Engine
    if edition.game == "scriptorium":
        engine = ScriptoriumEngine(edition, min(games, TOGETHER), players, "auto")
    else:
        engine = BibliogamoEngine(edition, min(games, TOGETHER), "auto")
    agent: Agent = PolicyAgent(policy)
    if policy.network["advisor"] is not None:
        agent = make_greedy(edition.game)
    network = NumpyNetwork(policy.network, policy.weights, engine.tables)
    weights = reward_weights(policy)
    deals = seed_list("dev", games, start=start)
    parts = [
        _play(engine, agent, network, weights, deals[first : first + TOGETHER], first, seed)
        for first in range(0, games, TOGETHER)
    ]
    return Positions._make(np.concatenate(column) for column in zip(*parts, strict=True))


def _play(
    engine: Engine,
    agent: Agent,
    network: NumpyNetwork,
    weights: tuple[float, float],
    deals: npt.NDArray[np.uint64],
    first: int,
    seed: int,
) -> Positions:
    """The positions of some games, played at once; ``first``: the number of the first."""
    n, players = len(deals), engine.num_players
    rng, chance = np.random.default_rng([seed, first]), RandomAgent(seed)
    rate, until = rng.choice(RATES, n, p=SHARES), rng.integers(*STRETCH, n)
    engine.deal(np.arange(n), deals)
    parts: list[tuple[Any, ...]] = []
    turn, live, step = np.zeros(n, np.int64), np.arange(n), 0
    while live.size:
        view = View(engine, live, (first + live).astype(np.uint64), np.full(len(live), step))
        seen = step >= until[live]
        if players == 1:
            seen &= drew(engine, live, turn[live])
            turn[live] = engine.turn[live]
        else:
            seen &= view.action_mask.sum(axis=1) > 1
        inputs = network.value_inputs(view.observation[seen]).astype(np.float16)
        seat = view.seat[seen]
        have = earned(engine, live, weights)[np.flatnonzero(seen), seat]
        parts.append((inputs, (first + live[seen]) * players + seat, have.astype(np.float32)))
        action = agent.act(view)
        random = (step < until[live]) & (rng.random(len(live)) < rate[live])
        action[random] = chance.act(view)[random]
        _, over = engine.apply(action, live)
        live, step = live[~over], step + 1
    inputs, line, have = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(line, kind="stable")
    paid = earned(engine, np.arange(n), weights).reshape(-1)
    line = line[order]
    came = paid[line - first * players].astype(np.float32)
    return Positions(inputs[order], line, have[order].astype(np.float32), came)
