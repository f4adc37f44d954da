"""How much of a score's spread is skill, how much the deal, how much luck in the draws.

Two-way layout without replication (Scheffé, "The Analysis of Variance", 1959, chapter 7): each
agent plays each deal once. Its components are those of variances and covariances: agents' scores on
one deal have in common what the deal gives to all, so the mean covariance between two agents is the
deal's part, and what the mean variance of an agent has beyond that is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.baselines import make_greedy
from incunabula.envs.bibliogamo.edition import Edition, load_edition
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.games import play_games
from incunabula.training.evaluation.luck import LuckMeter
from incunabula.training.evaluation.statistics import DealBootstrap, percentile_interval
from incunabula.training.study.measure import Figure
from incunabula.training.study.play import BATCH, collections_drawn

Float64Array = npt.NDArray[np.float64]
SOURCES = ("agent", "deal", "left")
REST = "the rest"
FEWEST = 10  # deals; of fewer, drawing them again says little


class Share(NamedTuple):
    """A part of a spread.

    Attributes:
        what: in words.
        sd: its standard deviation, points.
        share: of the variance, with its 95% interval ``low`` to ``high``, by bootstrap of deals.
    """

    what: str
    sd: float
    share: float
    low: float
    high: float


def two_way(scores: npt.NDArray[np.int64]) -> list[Share]:
    """Shares of agent, deal and what is left, of scores (A, D) of A agents on the same D deals.

    What is left is all that isn't the same for everybody on a deal: how its cards suit an agent,
    and how they fall after agents have played differently. Components are unbiased, but for being 0
    where an estimate is negative.

    Raises:
        IncunabulaError: fewer than two agents or ten deals, or all scores are the same.
    """
    agents, deals = scores.shape
    if agents < 2 or deals < FEWEST or np.ptp(scores) == 0:
        raise IncunabulaError(
            f"scores: expected 2 agents and {FEWEST} deals or more, and scores that differ, got "
            f"{agents} agents, {deals} deals, scores from {scores.min()} to {scores.max()}"
        )
    values = scores.T - scores.mean()  # near zero, where sums of squares lose nothing
    products = values[:, :, None] * values[:, None, :]
    found = _components(values.mean(axis=0), products.mean(axis=0), deals)
    draws = DealBootstrap(deals)
    drawn = _components(draws.means(values), draws.means(products), deals)
    return _shares(SOURCES, np.sqrt(found), found, drawn)


def _components(mean: Float64Array, product: Float64Array, deals: int) -> Float64Array:
    """Variances by agent, deal and the rest, float64 (..., 3), of means (..., A) of the scores and
    (..., A, A) of their products over so many deals."""
    agents = mean.shape[-1]
    covariance = product - mean[..., :, None] * mean[..., None, :]
    covariance *= deals / (deals - 1)
    own = np.trace(covariance, axis1=-2, axis2=-1)
    deal = (covariance.sum(axis=(-2, -1)) - own) / (agents * (agents - 1))
    left = own / agents - deal
    agent = mean.var(axis=-1, ddof=1) - left / deals
    return np.maximum(np.stack([agent, deal, left], axis=-1), 0.0)


def split(parts: Mapping[str, Float64Array]) -> list[Share]:
    """Shares of parts (n,) by deal that add up to a score: each part's covariance with the score,
    as a share of its variance. They add up to 1; one can be negative.

    Raises:
        IncunabulaError: fewer than ten deals, or the score is the same in all of them.
    """
    values = np.stack(list(parts.values()), axis=1)
    values = values - values.mean(axis=0)
    total = values.sum(axis=1)
    if len(total) < FEWEST or not total.any():
        raise IncunabulaError(f"parts: expected {FEWEST} deals or more, and scores that differ")
    products, draws = values * total[:, None], DealBootstrap(len(total))
    drawn = draws.means(products) - draws.means(values) * draws.means(total)[:, None]
    return _shares(list(parts), values.std(axis=0, ddof=1), products.mean(axis=0), drawn)


def _shares(
    names: Sequence[str], sd: Float64Array, found: Float64Array, drawn: Float64Array
) -> list[Share]:
    """Shares of variances (K,) that add up, with those of bootstrap replicates (B, K)."""
    shares, replicates = found / found.sum(), drawn / drawn.sum(axis=1, keepdims=True)
    rows = []
    for k, name in enumerate(names):
        low, high = percentile_interval(replicates[:, k])
        rows.append(Share(name, float(sd[k]), float(shares[k]), low, high))
    return rows


class Luck(NamedTuple):
    """What games' scores are made of.

    Attributes:
        parts: name -> points, float64 (n,); they add up to the scores.
        weights: name -> by what the luck that was seen is multiplied to be such a part.
    """

    parts: dict[str, Float64Array]
    weights: dict[str, float]


def luck_parts(seeds: npt.NDArray[np.uint64], by_collection: Sequence[float]) -> Luck:
    """Parts of greedy's scores in the shipped edition: luck in the offers of sales, luck in the
    cards drawn between turns, the deal's prestige collection, and the rest.

    Luck is what the value network of ``LuckMeter`` sees of it. See ``weigh`` for its weights. What
    it doesn't see is in the rest, and so is the luck of the first hand.

    Args:
        seeds: game seeds, uint64 (n,).
        by_collection: mean score with each collection, measured elsewhere.
    """
    edition = load_edition("bibliogamo")
    meter = LuckMeter(edition, len(seeds))
    agent = make_greedy("bibliogamo")
    score = play_games(agent, edition, seeds, batch_size=BATCH, watch=meter).score
    effect = np.asarray(by_collection, np.float64)
    drawn = (effect - effect.mean())[collections_drawn(edition, seeds)]
    luck = weigh({"luck in prices": meter.prices, "luck in cards": meter.cards}, score - drawn)
    rest = luck.parts.pop(REST)
    return Luck(luck.parts | {"prestige collection": drawn, REST: rest}, luck.weights)


def weigh(luck: Mapping[str, Float64Array], score: npt.NDArray[Any]) -> Luck:
    """Scores (n,) as multiples of kinds of luck (n,) and a rest, by least squares.

    A value network that were perfect would have weights of 1. One that takes chance for more than
    it is, or sees luck where there is none, gets less weight: luck is zero on average whatever is
    played, so any multiple of it may be taken off (a control variate). What the multiples account
    for is then the least that luck can be.
    """
    seen = np.stack(list(luck.values()), axis=1)
    found, *_ = np.linalg.lstsq(seen - seen.mean(axis=0), score - score.mean(), rcond=None)
    parts = {name: weight * luck[name] for name, weight in zip(luck, found, strict=True)}
    weights = {name: float(weight) for name, weight in zip(luck, found, strict=True)}
    return Luck(parts | {REST: score - seen @ found}, weights)


def percentages(name: str, shares: Sequence[Share], games: int, edition: Edition) -> list[Figure]:
    """Shares of a variance as figures in per cent, of so many deals."""
    own = edition.sha256[:12]
    return [
        Figure(f"{name}: {s.what}, %", 100 * s.share, 100 * s.low, 100 * s.high, games, own)
        for s in shares
    ]


def ahead(
    what: str, a: npt.NDArray[np.int64], b: npt.NDArray[np.int64], edition: Edition
) -> Figure:
    """In how many of the games (n,) a is ahead of b, in per cent; a tie counts half.

    Raises:
        IncunabulaError: there are fewer than two deals, so that there is no interval.
    """
    won = (np.sign(a - b) + 1.0) / 2.0
    interval = DealBootstrap(len(won)).share_interval(won)
    if interval is None:
        raise IncunabulaError(f"{what}: expected at least 2 deals for an interval, got 1")
    low, high = (100 * end for end in interval)
    return Figure(what, 100 * float(won.mean()), low, high, len(won), edition.sha256[:12])
