"""Means with intervals, without SciPy."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

# Figures are rounded so that the last bits of a sum can't differ between processors.
DIGITS = 6
QUANTILES = (5, 25, 50, 75, 95)
# Beyond this many degrees of freedom the t quantile moves by less than 3e-5.
_MOST_DF = 100_000


@lru_cache
def t_quantile(df: int) -> float:
    """t such that Student's t with ``df`` >= 1 degrees of freedom lies in [-t, t] with 95%.

    The probability is a finite series for whole ``df`` (Abramowitz and Stegun, 26.7.3 and 26.7.4);
    it is inverted by bisection.
    """
    df = min(df, _MOST_DF)
    low, high = 0.0, math.pi / 2  # of the angle atan(t / sqrt(df))
    for _ in range(60):
        angle = (low + high) / 2
        if _central_probability(angle, df) < 0.95:
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
