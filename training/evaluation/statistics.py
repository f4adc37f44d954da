"""Means with intervals, without SciPy.

Two kinds of 95% interval: Student's, of independent values such as the scores of one agent's games,
and the bootstrap by deal, where a deal is played several times and its games belong together.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

# Figures are rounded so that the last bits of a sum can't differ between processors.
DIGITS = 6
QUANTILES = (5, 25, 50, 75, 95)
Z = 1.959963984540054  # the normal distribution lies in [-Z, Z] with 95%
REPLICATES = 1000  # of a bootstrap
_BLOCK = 1 << 22  # weights worked on at a time
# Beyond this many degrees of freedom the t quantile moves by less than 3e-5.
_MOST_DF = 100_000


def t_quantile(df: int) -> float:
    """t such that Student's t with ``df`` >= 1 degrees of freedom lies in [-t, t] with 95%."""
    return _central_t(df, 0.95)


def one_sided_t(df: int) -> float:
    """t such that Student's t with ``df`` >= 1 degrees of freedom is below t with 95%."""
    return _central_t(df, 0.90)


@lru_cache
def _central_t(df: int, probability: float) -> float:
    """t such that Student's t with ``df`` degrees of freedom lies in [-t, t] with ``probability``.

    The probability is a finite series for whole ``df`` (Abramowitz and Stegun, 26.7.3 and 26.7.4);
    it is inverted by bisection.
    """
    df = min(df, _MOST_DF)
    low, high = 0.0, math.pi / 2  # of the angle atan(t / sqrt(df))
    for _ in range(60):
        angle = (low + high) / 2
        if _central_probability(angle, df) < probability:
            low = angle
        else:
            high = angle
    return math.tan(low) * math.sqrt(df)


def _central_probability(angle: float, df: int) -> float:
    """P(|T| < t) for t = tan(angle) * sqrt(df)."""
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = df % 2
    if df == 1:
        return 2 * angle / math.pi
    # Factors between successive terms: k/(k+1) · cos², k = 2, 4, ... (odd) or 1, 3, ... (even).
    k = np.arange(1 + odd, df - 2, 2)
    terms = np.cumprod(np.concatenate([[cosine if odd else 1.0], k / (k + 1) * cosine**2]))
    total = sine * float(terms.sum())
    return 2 / math.pi * (angle + total) if odd else total


@lru_cache
def chi2_quantile(df: int, probability: float) -> float:
    """x such that chi-squared with ``df`` >= 1 degrees of freedom is below x with ``probability``.

    The probability is a finite series for whole ``df`` (Abramowitz and Stegun, 26.4.4 and 26.4.5);
    it is inverted by bisection.
    """
    low, high = 0.0, df + 40 * math.sqrt(2 * df)
    for _ in range(80):
        x = (low + high) / 2
        if 1 - _chi2_above(x, df) < probability:
            low = x
        else:
            high = x
    return (low + high) / 2


def _chi2_above(x: float, df: int) -> float:
    """P(chi-squared > x), x > 0."""
    half, power = x / 2, 0.5 if df % 2 else 1.0
    above = math.erfc(math.sqrt(half)) if df % 2 else math.exp(-half)
    while power < df / 2:
        above += math.exp(power * math.log(half) - half - math.lgamma(power + 1))
        power += 1
    return above


def mean_interval(values: npt.NDArray[Any]) -> tuple[float, list[float] | None]:
    """Mean and its 95% t interval [low, high] of values (n,); no interval for a single value."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return round(mean, DIGITS), None
    half = t_quantile(len(values) - 1) * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return round(mean, DIGITS), [round(mean - half, DIGITS), round(mean + half, DIGITS)]


def summary(scores: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Mean, interval, spread and distribution of whole-number scores (n,), as JSON values."""
    mean, ci95 = mean_interval(scores)
    values, counts = np.unique(scores, return_counts=True)
    # inverted_cdf: a quantile is a score that occurred.
    quantiles = np.percentile(scores, QUANTILES, method="inverted_cdf")
    return {
        "mean": mean,
        "ci95": ci95,
        "sd": round(float(np.std(scores, ddof=1)), DIGITS) if len(scores) > 1 else None,
        "min": int(scores.min()),
        "max": int(scores.max()),
        "quantiles": {str(q): int(v) for q, v in zip(QUANTILES, quantiles, strict=True)},
        "distribution": {"score": values.tolist(), "games": counts.tolist()},
    }


def paired(a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> dict[str, Any]:
    """a - b game by game, both (n,) on the same deals, as JSON values."""
    difference = a - b
    mean, ci95 = mean_interval(difference)
    return {
        "games": len(a),
        "mean_difference": mean,
        "ci95": ci95,
        "a_better": int((difference > 0).sum()),
        "equal": int((difference == 0).sum()),
        "b_better": int((difference < 0).sum()),
    }


def wilson_interval(share: float, n: int) -> list[float]:
    """Wilson's 95% interval [low, high] of a probability that showed as ``share`` of n trials.

    It has a width even where every trial came out the same.
    """
    centre = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    return [round(max(0.0, centre - half), DIGITS), round(min(1.0, centre + half), DIGITS)]


class DealBootstrap:
    """The same deals drawn again and again with replacement, for every figure of one result.

    All games of a deal are drawn together: they share its luck, so they aren't independent.

    Args:
        deals: D, how many deals were played.
        seed: of the draws.
        replicates: B, how often as many deals are drawn.
    """

    def __init__(self, deals: int, *, seed: int = 0, replicates: int = REPLICATES) -> None:
        rng = np.random.default_rng(seed)
        self.deals, self.seed, self.replicates = deals, seed, replicates
        # How often each deal is drawn, (B, D). With D draws a deal comes up a few times at most.
        self._counts = np.empty((replicates, deals), np.uint16)
        for row in self._counts:
            row[:] = np.bincount(rng.integers(0, deals, deals), minlength=deals)

    @property
    def description(self) -> dict[str, Any]:
        """What was drawn, as JSON values."""
        return {"unit": "deal", "replicates": self.replicates, "seed": self.seed}

    def means(self, values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Mean over the deals of each replicate, float64 (B, ...), of values (D, ...) by deal."""
        flat = np.asarray(values, np.float64).reshape(self.deals, -1)
        out = np.empty((self.replicates, flat.shape[1]))
        step = max(1, _BLOCK // self.deals)
        for start in range(0, self.replicates, step):
            block = slice(start, start + step)
            out[block] = self._counts[block].astype(np.float64) @ flat / self.deals
        return out.reshape(self.replicates, *np.shape(values)[1:])

    def interval(self, values: npt.NDArray[Any]) -> list[float] | None:
        """95% percentile interval of the mean of values (D,) by deal; none for a single deal."""
        return None if self.deals < 2 else percentile_interval(self.means(values))

    def share_interval(self, shares: npt.NDArray[Any]) -> list[float] | None:
        """The interval of a mean share in 0..1, by deal (D,).

        Where every deal says 0, or every deal says 1, drawing them again says nothing; then it is
        Wilson's interval with a deal for a trial.
        """
        for extreme in (0.0, 1.0):
            if self.deals > 1 and bool((np.asarray(shares) == extreme).all()):
                return wilson_interval(extreme, self.deals)
        return self.interval(shares)


def percentile_interval(replicates: npt.NDArray[np.float64]) -> list[float]:
    """[low, high] that hold the middle 95% of the replicates (B,)."""
    low, high = np.percentile(replicates, (2.5, 97.5))
    return [round(float(low), DIGITS), round(float(high), DIGITS)]
