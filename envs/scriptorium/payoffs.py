"""What a game pays its players ("End and score", rewards by mode)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.documents import did_you_mean
from incunabula.envs.errors import IncunabulaError

IntArray = npt.NDArray[np.integer[Any]]
Float64Array = npt.NDArray[np.float64]

REWARDS = ("outcome", "score", "margin")


def checked_reward_mode(reward: str) -> str:
    """The reward mode; IncunabulaError if there is none such."""
    if reward not in REWARDS:
        raise IncunabulaError(
            f"reward: expected one of {', '.join(REWARDS)}, got {reward!r}"
            f"{did_you_mean(str(reward), REWARDS)}"
        )
    return reward


def winners(scores: IntArray) -> npt.NDArray[np.bool_]:
    """Who has the highest score of each game, bool (n, P)."""
    best: npt.NDArray[np.bool_] = scores == scores.max(axis=1, keepdims=True)
    return best


def outcome(scores: IntArray) -> Float64Array:
    """Zero-sum payoffs of finished games, float64 (n, P).

    With k winners of P players a winner gets (P/k − 1)/(P − 1), a loser −1/(P − 1).
    """
    players = scores.shape[1]
    best = winners(scores)
    share = players / best.sum(axis=1, keepdims=True)
    pays: Float64Array = np.where(best, share - 1, -1.0) / (players - 1)
    return pays


def margins(scores: IntArray) -> IntArray:
    """Own score less the best other's, of each player; int (n, P)."""
    ranked = np.sort(scores, axis=1)
    best, second = ranked[:, -1:], ranked[:, -2:-1]
    # The best's best rival is the second; a tie at the top makes both the same number.
    return scores - np.where(scores == best, second, best)
