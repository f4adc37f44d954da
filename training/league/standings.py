"""What a list of games says about each agent: win shares, scores and margins, with intervals.

All games of a deal belong together (they share its luck), so a figure is first averaged over a
deal's games, and its interval is the bootstrap over deals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.scriptorium import payoffs
from incunabula.training.evaluation.statistics import DIGITS, DealBootstrap

Json = dict[str, Any]
IntpArray = npt.NDArray[np.intp]
Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Outcomes:
    """D deals, each played in S seatings of P players, and what they were worth.

    Attributes:
        seats: intp (S, P), the number of the agent in each seat.
        scores: int64 (D, S, P), final scores.
    """

    seats: IntpArray
    scores: Int64Array

    @cached_property
    def shares(self) -> Float64Array:
        """Share of the win of each seat, (D, S, P): 1/k for each of k who have the most points."""
        won = self._by_game(payoffs.winners)
        return won / won.sum(axis=2, keepdims=True)

    @cached_property
    def margins(self) -> Int64Array:
        """Own score less the best other's, (D, S, P)."""
        return self._by_game(payoffs.margins)

    def _by_game(self, function: Any) -> Any:
        games = self.scores.reshape(-1, self.scores.shape[2])
        return function(games).reshape(self.scores.shape)

    @property
    def players(self) -> int:
        return self.scores.shape[2]

    def places(self, agent: int, other: int | None = None) -> tuple[IntpArray, IntpArray]:
        """(seatings, seats), each (R,), where the agent sits once (and ``other`` does too, if
        given, at least once): what is counted as the agent's games.
        """
        mine = self.seats == agent
        once = mine.sum(axis=1) == 1
        if other is not None:
            once &= (self.seats == other).any(axis=1)
        seating, seat = np.nonzero(mine & once[:, None])
        return seating, seat


def agent_summary(
    outcomes: Outcomes, agent: int, bootstrap: DealBootstrap, seats: IntpArray | None = None
) -> Json:
    """Win share, score and margin in the agent's games (or those in which it has one of ``seats``).

    JSON values: ``games``, ``wins`` (alone), ``shared`` (wins), ``win_share`` with ``ci95``, and
    ``mean_score`` and ``mean_margin`` (own score less the best other's), each with its interval.
    """
    seating, seat = outcomes.places(agent)
    if seats is not None:
        kept = np.isin(seat, seats)
        seating, seat = seating[kept], seat[kept]
    shares = outcomes.shares[:, seating, seat]
    by_deal = shares.mean(axis=1)
    scores = outcomes.scores[:, seating, seat].mean(axis=1)
    margins = outcomes.margins[:, seating, seat].mean(axis=1)
    return {
        "games": shares.size,
        "wins": int((shares == 1).sum()),
        "shared": int(((shares > 0) & (shares < 1)).sum()),
        "win_share": _mean(by_deal),
        "ci95": bootstrap.share_interval(by_deal),
        "mean_score": _mean(scores),
        "mean_score_ci95": bootstrap.interval(scores),
        "mean_margin": _mean(margins),
        "mean_margin_ci95": bootstrap.interval(margins),
    }


def by_seat(outcomes: Outcomes, agent: int, bootstrap: DealBootstrap) -> list[Json]:
    """The agent's summary in each seat; seat 0 has the quill at the start."""
    return [
        {"seat": seat, **agent_summary(outcomes, agent, bootstrap, np.array([seat]))}
        for seat in range(outcomes.players)
    ]


def seat_table(outcomes: Outcomes, names: Sequence[str], bootstrap: DealBootstrap) -> list[Json]:
    """What each seat is worth: over everybody who sits there, and for each agent."""
    seats = []
    for seat in range(outcomes.players):
        shares = outcomes.shares[:, :, seat].mean(axis=1)
        scores = outcomes.scores[:, :, seat].mean(axis=1)
        agents = [
            {"name": name, **agent_summary(outcomes, agent, bootstrap, np.array([seat]))}
            for agent, name in enumerate(names)
        ]
        seats.append(
            {
                "seat": seat,
                "win_share": _mean(shares),
                "ci95": bootstrap.share_interval(shares),
                "mean_score": _mean(scores),
                "mean_score_ci95": bootstrap.interval(scores),
                "agents": agents,
            }
        )
    return seats


def cross_table(outcomes: Outcomes, names: Sequence[str], bootstrap: DealBootstrap) -> list[Json]:
    """Each agent ``a`` against each other agent ``b``: games where a sits once, and b sits too.

    ``win_share`` is a's share of the win at these tables, ``ahead`` how often a finishes ahead of
    b (a tie counts half), ``margin`` a's score less b's, each by deal with its interval.
    """
    rows = []
    for a, first in enumerate(names):
        for b, second in enumerate(names):
            if a == b:
                continue
            seating, seat = outcomes.places(a, b)
            own = outcomes.scores[:, seating, seat]
            other = outcomes.scores[:, seating]
            there = outcomes.seats[seating] == b
            lead = own[:, :, None] - other
            ahead = (_mean_of(np.sign(lead), there) + 1) / 2
            margin = _mean_of(lead, there)
            share = outcomes.shares[:, seating, seat].mean(axis=1)
            rows.append(
                {
                    "a": first,
                    "b": second,
                    "games": own.size,
                    "win_share": _mean(share),
                    "ci95": bootstrap.share_interval(share),
                    "ahead": _mean(ahead),
                    "ahead_ci95": bootstrap.share_interval(ahead),
                    "margin": _mean(margin),
                    "margin_ci95": bootstrap.interval(margin),
                }
            )
    return rows


def _mean_of(values: npt.NDArray[Any], there: npt.NDArray[np.bool_]) -> Float64Array:
    """Mean by deal, (D,), of values (D, R, P): first over the seats that are ``there`` (R, P)."""
    each = (values * there).sum(axis=2) / there.sum(axis=1)
    mean: Float64Array = each.mean(axis=1)
    return mean


def _mean(values: npt.NDArray[Any]) -> float:
    return round(float(np.mean(values)), DIGITS)
