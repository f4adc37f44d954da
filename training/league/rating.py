"""One rating for every agent, whatever the order of the games: the Plackett-Luce model.

Every agent has a strength w. A table's ranking comes about from the top: the first place goes to
each agent with a probability in proportion to its strength, the second to one of the others in the
same way, and so on. With two players that is the model of Bradley and Terry. A rating is log w,
its mean over the league's agents 0: of two agents at a table, a finishes ahead of b with odds
exp(rating of a - rating of b).

The strengths are those of the greatest likelihood, found by choix (iterative Luce spectral
ranking), with three additions:

- Ties: a ranking with a tie counts as all orders of those who tied, in equal parts of one game.
- Copies of an agent at one table have one strength between them; who of them is ahead says nothing.
- Separation: who always finished ahead would have no finite rating. Therefore every two agents are
  given one drawn game in addition, which is nothing beside many games.
"""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.envs.errors import IncunabulaError

Float64Array = npt.NDArray[np.float64]

EXTRA = 1.0  # drawn games between every two agents, added to those played
TOLERANCE = 1e-7  # of a rating
MAX_ITERATIONS = 1000


class Choices(NamedTuple):
    """Rankings taken apart: each place went to one agent out of those still to be placed.

    K different choices of n agents occurred.
    """

    chosen: npt.NDArray[np.intp]  # (K,) the agent placed
    among: npt.NDArray[np.intp]  # (K, n) how many seats of each agent it was chosen from
    counts: Float64Array  # (D, K) how often, by deal


def check_rating_possible() -> None:
    """Raise IncunabulaError unless the library that fits the ratings is installed."""
    from importlib.util import find_spec

    if find_spec("choix") is None:
        raise IncunabulaError(
            "ratings need choix, which is not installed: pip install 'incunabula[train]'"
        )


def choices(seats: npt.NDArray[np.intp], scores: npt.NDArray[np.int64], agents: int) -> Choices:
    """Take the rankings of finished games apart.

    Args:
        seats: (S, P) the agent in each seat of each of S seatings.
        scores: (D, S, P) final scores of D deals.
        agents: n.
    """
    deals, _, players = scores.shape
    if (players + 1) ** agents * agents >= 1 << 63:
        raise IncunabulaError(f"agents: {agents} are too many for a table of {players}")
    # A choice as one number: how many seats of each agent were left, and which was chosen.
    base = np.array([(players + 1) ** a for a in range(agents)], np.int64)
    whole = (players + 1) ** agents
    orders = [list(order) for order in permutations(range(players))]
    possible = np.array(
        [(scores[:, :, order[:-1]] >= scores[:, :, order[1:]]).all(axis=2) for order in orders]
    )
    part = possible / possible.sum(axis=0)  # of a game, for each of its possible orders
    codes, weights, deal = [], [], []
    for order, weight in zip(orders, part, strict=True):
        at = np.nonzero(weight)
        for place in range(players - 1):
            left = base[seats[:, order[place:]]].sum(axis=1)
            code = left + whole * seats[:, order[place]]
            codes.append(code[at[1]])
            weights.append(weight[at])
            deal.append(at[0])
    found, which = np.unique(np.concatenate(codes), return_inverse=True)
    place_in_counts = np.concatenate(deal) * len(found) + which
    counts: Float64Array = np.zeros(deals * len(found))
    np.add.at(counts, place_in_counts, np.concatenate(weights))
    among = found[:, None] % whole // base % (players + 1)
    return Choices(
        (found // whole).astype(np.intp), among.astype(np.intp), counts.reshape(deals, len(found))
    )


def fit(found: Choices, counts: Float64Array, start: Float64Array | None = None) -> Float64Array:
    """Ratings of the greatest likelihood, float64 (n,), mean 0.

    Args:
        found: the choices.
        counts: (K,) how often each occurred.
        start: ratings to begin with; nothing depends on them but the time.

    Raises:
        IncunabulaError: choix isn't installed.
    """
    check_rating_possible()
    import choix

    agents = found.among.shape[1]
    others = found.among * (np.arange(agents) != found.chosen[:, None])
    won = np.arange(agents)[:, None] == found.chosen
    ratings = np.zeros(agents) if start is None else start
    extra = EXTRA / 2 * (1 - np.eye(agents))
    for _ in range(MAX_ITERATIONS):
        strength = np.exp(ratings)
        # choix has no numbers of games but for pairs. In its chain a game that i won counts for
        # each loser j at the rate 1/(w_i + w_j) if two were at the table, 1/(sum of w) if more
        # were: so many games of two make one of more.
        rate = won @ (others * (counts / (found.among @ strength))[:, None])
        pairs = rate * (strength[:, None] + strength) + extra
        before, ratings = ratings, choix.lsr_pairwise_dense(pairs, initial_params=ratings)
        ratings = ratings - ratings.mean()
        if np.abs(ratings - before).max() < TOLERANCE:
            return ratings
    raise AssertionError("the ratings didn't settle")


def separated(found: Choices) -> bool:
    """Whether the games alone would give some agent no finite rating.

    That is so if the agents fall into two groups, and nobody of the one ever finished ahead of
    anybody of the other (Ford 1957, Hunter 2004).
    """
    agents = found.among.shape[1]
    others = (found.among > 0) & (np.arange(agents) != found.chosen[:, None])
    ahead = np.eye(agents, dtype=bool)
    for agent in range(agents):
        ahead[agent] |= others[found.chosen == agent].any(axis=0)
    for _ in range(agents):
        ahead = (ahead.astype(np.intp) @ ahead) > 0
    return not ahead.all()
