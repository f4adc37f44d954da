"""Scriptorium for one learner in the tests: opponents, environments and play."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from incunabula.agents.agent import Agent, View
from incunabula.agents.seat.gymnasium import ScriptoriumEnv, ScriptoriumVectorEnv
from tests.play import scripted

PLAYERS = (2, 3, 4)
REWARDS = ("outcome", "score", "margin")
TINY = "scriptorium-tiny"
NEXT, SAME, OFF = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED
ORDER = [0, 1, 2, 3, 4, 5]
COPIES: dict[str, Callable[[Any], Any]] = {
    "deep copy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
}


class First(Agent):
    """Takes the first legal action; counts what it is asked."""

    name = "first"

    def __init__(self) -> None:
        self.calls = 0
        self.seen: list[tuple[int, int, int]] = []  # seat, luck, decision

    def act(self, view: View) -> npt.NDArray[np.intp]:
        self.calls += 1
        self.seen += zip(
            view.seat.tolist(), view.episode.tolist(), view.decision.tolist(), strict=True
        )
        return view.action_mask.argmax(axis=1)


class Last(Agent):
    """Takes the last legal action."""

    name = "last"

    def act(self, view: View) -> npt.NDArray[np.intp]:
        return view.action_mask.shape[1] - 1 - view.action_mask[:, ::-1].argmax(axis=1)


MIXED: dict[Any, Any] = {"random": 0.5, First(): 0.3, Last(): 0.2}


def single(**options: Any) -> ScriptoriumEnv:
    return ScriptoriumEnv(
        options.pop("edition", TINY), opponents=options.pop("opponents", "random"), **options
    )


def several(n: int, **options: Any) -> ScriptoriumVectorEnv:
    return ScriptoriumVectorEnv(
        n, options.pop("edition", TINY), opponents=options.pop("opponents", "random"), **options
    )


def pick(masks: Any, luck: int, step: int) -> npt.NDArray[np.intp]:
    """A legal action for each row that depends on its mask and these numbers alone."""
    masks = np.atleast_2d(masks)
    n = len(masks)
    return scripted(masks, np.full(n, luck, np.uint64), np.full(n, step, np.uint64))


def play(env: ScriptoriumEnv, steps: int, luck: int = 0) -> list[Any]:
    """What the next steps of legal play return, over the ends of games."""
    seen: list[Any] = []
    over = not env.engine.mask.any()
    for step in range(steps):
        if over:
            observation, info = env.reset()
            reward, over = 0.0, False
        else:
            action = int(pick(env.action_masks(), luck, step)[0])
            observation, reward, over, _, info = env.step(action)
        plain = {k: v.tobytes() if isinstance(v, np.ndarray) else v for k, v in info.items()}
        seen.append((observation.tobytes(), reward, over, plain, env.snapshot(), env.deal))
    return seen


def to_end(env: ScriptoriumEnv, luck: int = 0) -> float:
    """Play the present game to its end; the sum of the rewards."""
    total, step = 0.0, 0
    while env.engine.mask.any():
        total += env.step(int(pick(env.action_masks(), luck, step)[0]))[1]
        step += 1
    return total


def payoff(reward: str, scores: list[int], seat: int, start: int) -> float:
    """What a game pays, straight from the rules ("End and score")."""
    best, players = max(scores), len(scores)
    if reward == "outcome":
        share = players / scores.count(best) if scores[seat] == best else 0
        return (share - 1) / (players - 1)
    if reward == "score":
        return scores[seat] - start
    return scores[seat] - max(score for other, score in enumerate(scores) if other != seat)
