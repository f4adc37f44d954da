"""Who plays the seats that the learner doesn't: agents, fixed or drawn anew for each game."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent
from incunabula.agents.registry import make_agent
from incunabula.envs.chance import key
from incunabula.envs.editions import BaseEdition
from incunabula.envs.errors import IncunabulaError

AgentLike = str | Path | Agent
Mixture = Mapping[AgentLike, float]
OpponentsLike = AgentLike | Mixture | Sequence[AgentLike | Mixture]

# Draws of a game's opponents: key(the game's luck, DRAW_STREAM, seats after the learner's).
DRAW_STREAM = 0


class Opponents:
    """The agents that can hold the other seats, and how likely each is to hold which.

    Args:
        spec: an agent (a name, the path of a policy folder or run folder, or an Agent) for every
            other seat; a mixture {agent: weight}, drawn from anew for each other seat and game; or
            a list of these for the other seats, in clockwise order from the learner's.
        edition: what is played.
        others: how many other seats there are.

    Attributes:
        agents: each once.

    Raises:
        IncunabulaError: there is no such agent, or a list or weight is wrong.
    """

    def __init__(self, spec: OpponentsLike, edition: BaseEdition, others: int) -> None:
        self._edition = edition
        self._numbers: dict[Any, int] = {}
        self.agents: list[Agent] = []
        if isinstance(spec, (str, Path, Agent, Mapping)):
            seats: list[Any] = [spec] * others
        elif isinstance(spec, Sequence) and not isinstance(spec, bytes):
            seats = list(spec)
        else:
            raise IncunabulaError(
                "opponents: expected an agent, a mixture {agent: weight}, or a list of these, "
                f"got {spec!r}"
            )
        if len(seats) != others:
            raise IncunabulaError(
                f"opponents: expected {others}, one for each other seat, got {len(seats)}; "
                "a pool to draw from is a mixture {agent: weight}"
            )
        shares = [self._shares(seat, f"opponents[{i}]") for i, seat in enumerate(seats)]
        table = np.zeros((others, len(self.agents)))
        for row, share in zip(table, shares, strict=True):
            for number, weight in share:
                row[number] += weight
        # Of the largest weight, so that no sum of large ones overflows.
        bounds = np.cumsum(table / table.max(axis=1, keepdims=True), axis=1)
        # float64 (others, agents): below the k-th bound lie the draws that choose an agent up to k.
        self._bounds = bounds / bounds[:, -1:]

    def draw(self, luck: npt.NDArray[np.uint64]) -> npt.NDArray[np.intp]:
        """An agent for each other seat of each game: numbers of ``agents``, intp (n, others)."""
        others = np.arange(1, len(self._bounds) + 1, dtype=np.uint64)
        draws = key(luck[:, None], DRAW_STREAM, others)
        chance = (draws >> np.uint64(11)).astype(np.float64) * 2.0**-53  # in [0, 1)
        drawn = [
            np.searchsorted(bounds, chance[:, j], side="right")
            for j, bounds in enumerate(self._bounds)
        ]
        return np.stack(drawn, axis=1)

    def _shares(self, seat: Any, where: str) -> list[tuple[int, float]]:
        """(number of an agent, weight) for everyone who can hold a seat."""
        if not isinstance(seat, Mapping):
            return [(self._number(seat, where), 1.0)]
        if not seat:
            raise IncunabulaError(f"{where}: a mixture needs at least one agent")
        shares = []
        for agent, weight in seat.items():
            number = isinstance(weight, (int, float, np.integer, np.floating))
            if isinstance(weight, bool) or not number or not 0 <= weight <= sys.float_info.max:
                raise IncunabulaError(
                    f"{where}: expected a finite weight of at least 0 for {agent!r}, got {weight!r}"
                )
            shares.append((self._number(agent, where), float(weight)))
        if not any(weight for _, weight in shares):
            raise IncunabulaError(f"{where}: at least one weight must be above 0")
        return shares

    def _number(self, agent: Any, where: str) -> int:
        if not isinstance(agent, (str, Path, Agent)):
            raise IncunabulaError(
                f"{where}: an agent is a name, the path of a policy folder or run folder, or an "
                f"Agent, not {agent!r}"
            )
        # An Agent is itself alone, even if its class calls another its equal.
        entry = id(agent) if isinstance(agent, Agent) else agent
        if entry not in self._numbers:
            made = agent if isinstance(agent, Agent) else make_agent(agent, self._edition)
            self._numbers[entry] = len(self.agents)
            self.agents.append(made)
        return self._numbers[entry]
