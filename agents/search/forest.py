"""Search trees of many decisions at once, in arrays: one tree for each action that is tried.

A node is an information state: what is public, seen by who is asked. It keeps the most promising
actions, each with its prior, its visits and the payoffs that came of it to who chooses there.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.intp]
Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]


class Forest:
    """Nodes by (tree, information state).

    Args:
        width: actions kept at a node, the likeliest.
        explore: weight of the prior against the payoffs (c of PUCT), in payoffs.
    """

    def __init__(self, width: int, explore: float) -> None:
        self.width, self.explore = width, explore
        self._index: dict[tuple[int, bytes], int] = {}
        self._action = np.zeros((0, width), np.intp)
        self._prior = np.zeros((0, width))
        self._visits = np.zeros((0, width), np.int64)
        self._total = np.zeros((0, width))
        self._seat = np.zeros(0, np.intp)

    def __len__(self) -> int:
        return len(self._index)

    def find(self, trees: Rows, observation: Float32Array) -> Rows:
        """The node of each row, -1 where there is none yet; intp (n,)."""
        get = self._index.get
        keys = zip(trees.tolist(), observation, strict=True)
        return np.array([get((tree, seen.tobytes()), -1) for tree, seen in keys], np.intp)

    def add(self, trees: Rows, observation: Float32Array, logits: Float32Array, seat: Rows) -> None:
        """A node for each row, which has none yet; rows are of distinct trees.

        Args:
            logits: (n, A), -inf where illegal.
            seat: who chooses there.
        """
        first = len(self._index)
        self._grow(first + len(trees))
        for k, (tree, seen) in enumerate(zip(trees.tolist(), observation, strict=True)):
            self._index[tree, seen.tobytes()] = first + k
        order = np.argsort(-logits, axis=1, kind="stable")[:, : self.width]
        best = np.take_along_axis(logits, order, axis=1).astype(np.float64)
        likely = np.exp(best - best[:, :1])
        at = slice(first, first + len(trees))
        self._action[at, : order.shape[1]] = order
        self._prior[at, : order.shape[1]] = likely / likely.sum(axis=1, keepdims=True)
        self._seat[at] = seat

    def select(self, nodes: Rows) -> tuple[Rows, Rows]:
        """Where to go on from each node: (place among its actions, action), intp (n,) each.

        PUCT (Silver et al., 2017): the mean payoff, of an untried action the node's mean, plus
        explore · prior · sqrt(visits of the node) / (1 + visits of the action).
        """
        visits, total = self._visits[nodes], self._total[nodes]
        prior = self._prior[nodes]
        every = visits.sum(axis=1, keepdims=True)
        mean = total.sum(axis=1, keepdims=True) / np.maximum(every, 1)
        worth = np.where(visits > 0, total / np.maximum(visits, 1), mean)
        # + 1: before the first visit the prior decides.
        worth += self.explore * prior * np.sqrt(every + 1) / (1 + visits)
        place = np.where(prior > 0, worth, -np.inf).argmax(axis=1)
        return place, self._action[nodes, place]

    def back_up(self, nodes: Rows, places: Rows, payoffs: Float64Array) -> None:
        """Add a visit of these actions, and what came of it: payoffs (n, P) of all seats, of which
        who chooses at a node looks at his own (max^n: Luckhardt and Irani, 1986)."""
        self._visits[nodes, places] += 1
        self._total[nodes, places] += payoffs[np.arange(len(nodes)), self._seat[nodes]]

    def mean(self, nodes: Rows) -> Float64Array:
        """Mean payoff of each action of these nodes to who chooses there, float64 (n, width); 0
        where it wasn't tried."""
        return self._total[nodes] / np.maximum(self._visits[nodes], 1)

    def _grow(self, size: int) -> None:
        have = len(self._seat)
        if size <= have:
            return
        more = max(size, 2 * have) - have
        for name in ("_action", "_prior", "_visits", "_total", "_seat"):
            array = getattr(self, name)
            grown = np.zeros((more, *array.shape[1:]), array.dtype)
            setattr(self, name, np.concatenate([array, grown]))
