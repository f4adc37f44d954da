"""The random agent's draws in numba's subset; as ``RandomAgent`` has them on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from incunabula.envs.chance import key_of
from incunabula.envs.compiled.functions import compiled, compiled_apart

HALF = np.uint64(32)


@compiled
def draw_legal(mask: Any, seed: Any, stream: Any, decision: int) -> int:
    """A legal action of ``mask``, bool (A,), -1 if there is none; see ``nth_legal``."""
    count = np.uint64(0)
    for action in range(len(mask)):
        count += np.uint64(mask[action])
    left = int((key_of(seed, stream, np.uint64(decision)) >> HALF) * count >> HALF)
    for action in range(len(mask)):
        if mask[action]:
            if left == 0:
                return action
            left -= 1
    return -1


@compiled_apart
def draw_actions(mask: Any, seed: Any, stream: Any, decision: int, actions: Any) -> None:
    """Write a legal action of every row of ``mask``, bool (N, A), into ``actions``, intp (N,); row
    i draws from stream ``stream`` + i."""
    for i in range(len(actions)):
        actions[i] = draw_legal(mask[i], seed, stream + np.uint64(i), decision)


@compiled_apart
def prepare(t: Any, policy: Any) -> Any:
    """For rollouts: the seed, uint64."""
    return policy


@compiled_apart
def choose(t: Any, p: Any, i: int, mask: Any, ready: Any, stream: Any, decision: int) -> int:
    """For rollouts: a legal action."""
    return draw_legal(mask, ready, stream, decision)
