"""What guides a search: a policy's logits, and payoffs that its value network expects.

Payoffs are in one unit to the end of the game, so that cut-off and finished games can be averaged:

- Bibliogamo: points at the end, the score so far included.
- Scriptorium: of each seat, what the policy was trained for: so much an outcome (1 for a sole win,
  zero-sum) and so much a point of margin, at the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import View
from incunabula.agents.baselines import make_greedy
from incunabula.agents.learned import by_blocks
from incunabula.agents.networks import NumpyNetwork
from incunabula.agents.policy_folder import Policy
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.payoffs import margins, outcome

Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


class Guide:
    """A policy and its value network, evaluated in batches; row i depends on row i alone.

    Args:
        policy: loaded for the edition that is played.
        tables: the edition's.

    Raises:
        IncunabulaError: it isn't known in what unit the policy's values are.
    """

    def __init__(self, policy: Policy, tables: Any) -> None:
        network = policy.network
        self.game = str(policy.description["game"])
        self._network = NumpyNetwork(network, policy.weights, tables)
        self._actions = int(policy.description["actions"])
        self._advisor = make_greedy(self.game) if network.get("advisor") == "greedy" else None
        self._advice = np.float32(network.get("advice", 0.0))
        self._scale, self._weights = _scale(policy), reward_weights(policy)

    def logits(self, view: View) -> Float32Array:
        """A logit for every action, -inf where it is illegal; float32 (n, A)."""
        found = by_blocks(self._network.logits, view.observation, self._actions)
        if self._advisor is not None:
            found[np.arange(len(found)), self._advisor.act(view)] += self._advice
        found[~view.action_mask] = -np.inf
        return found

    def payoffs(self, engine: Engine, rows: Rows) -> Float64Array:
        """What each seat can expect at the end of these games, float64 (n, P); exact when over."""
        paid = earned(engine, rows, self._weights)
        live = np.flatnonzero(engine.state.phase[rows] != engine.over)
        if live.size:
            paid[live] += self._to_come(engine, rows[live])
        return paid

    def _to_come(self, engine: Engine, rows: Rows) -> Float64Array:
        """What the value network adds to what is already there, float64 (n, P)."""
        players = engine.num_players
        if players == 1:
            return self._values(engine.observe_rows(rows))[:, None]
        if players == 2:  # zero-sum: what one expects, the other loses
            mover = np.asarray(engine.state.player[rows], np.intp)
            own = self._values(engine.observe_rows(rows))
            found = np.repeat(-own[:, None], 2, axis=1)
            found[np.arange(len(rows)), mover] = own
            return found
        seen = [
            engine.observe_rows(rows, np.full(len(rows), seat))  # type: ignore[call-arg]
            for seat in range(players)
        ]
        return np.stack([self._values(observation) for observation in seen], axis=1)

    def _values(self, observation: Float32Array) -> Float64Array:
        found = by_blocks(lambda x: self._network.values(x)[:, None], observation, 1)[:, 0]
        return found.astype(np.float64) * self._scale


def reward_weights(policy: Policy) -> tuple[float, float]:
    """What an outcome of 1 and a point of margin pay a seat of Scriptorium, as it was trained."""
    reward = policy.description["training"].get("config", {}).get("reward", {})
    return float(reward.get("outcome", 1.0)), float(reward.get("margin", 0.0))


def earned(engine: Engine, rows: Rows, weights: tuple[float, float]) -> Float64Array:
    """Payoffs so far, float64 (n, P): what the games would pay if they went on without a change
    of the score; outcomes are paid when they are over."""
    score = np.asarray(engine.state.score[rows], np.int64).reshape(len(rows), -1)
    if engine.num_players == 1:
        return score.astype(np.float64)
    paid = np.multiply(margins(score), weights[1], dtype=np.float64)
    over = engine.state.phase[rows] == engine.over
    paid[over] += weights[0] * outcome(score[over])
    return paid


def _scale(policy: Policy) -> float:
    """By what values are multiplied to be payoffs.

    A receipt may say ``value: {"scale": s}``: then the values were fitted to undiscounted returns.
    Else they are the trainer's critic's, and are payoffs if that neither discounted nor shaped.
    """
    training = policy.description["training"]
    config = training.get("config", {})
    value = training.get("value")
    if isinstance(value, dict) and type(value.get("scale")) in (int, float):
        return float(value["scale"])
    score = policy.description["game"] == "scriptorium" and config.get("reward", {}).get("score")
    if config.get("gamma") != 1 or config.get("shaping") or score:
        raise IncunabulaError(
            f"{policy.folder}: a search needs a value network in the game's points, but this one "
            "was trained on discounted or shaped rewards; fit one with "
            "python -m incunabula.training.ppo.fit_value"
        )
    return 1 / float(config.get("reward_scale", 1.0))
