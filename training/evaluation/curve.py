"""Learning curves: what a run folder's metrics say about scores during training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from incunabula.envs.errors import IncunabulaError
from incunabula.envs.files import open_regular

METRICS = "metrics.jsonl"


class Point(NamedTuple):
    """One evaluation during training."""

    steps: int
    mean: float
    low: float  # ends of the 95% interval; the mean itself where there is none
    high: float


class Curve(NamedTuple):
    """The evaluations of one run, by steps."""

    name: str
    points: list[Point]


def is_run_folder(path: str | Path) -> bool:
    """Whether a folder holds a training run's metrics."""
    try:
        return (Path(path) / METRICS).is_file()
    except (OSError, ValueError):
        return False


def read_curve(folder: str | Path, name: str | None = None) -> Curve:
    """The evaluations in a run folder's metrics.jsonl.

    A line without ``eval_mean`` is about something else; a last line that is cut off, as a kill
    leaves it, is passed over. Where a resumed run evaluated at the same steps again, the later
    line counts.

    Raises:
        IncunabulaError: there are no metrics, or a line can't be understood.
    """
    path = Path(folder) / METRICS
    try:
        with open_regular(path) as file:
            lines = file.read().decode("utf-8").splitlines(keepends=True)
    except IncunabulaError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise IncunabulaError(f"{path}: can't be read: {reason}") from None
    points: dict[int, Point] = {}
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line) if line.strip() else {}
        except (ValueError, RecursionError) as error:
            if number == len(lines) and not line.endswith("\n"):
                break
            raise IncunabulaError(f"{path}, line {number}: not JSON: {error}") from None
        point = _point(entry, f"{path}, line {number}")
        if point is not None:
            points[point.steps] = point
    return Curve(name or Path(folder).name, [points[steps] for steps in sorted(points)])


def _point(entry: Any, where: str) -> Point | None:
    if not isinstance(entry, dict):
        raise IncunabulaError(f"{where}: expected a JSON object")
    if entry.get("eval_mean") is None:
        return None
    steps, mean, ci95 = entry.get("steps"), entry["eval_mean"], entry.get("eval_ci95")
    if not _is_number(steps) or not _is_number(mean):
        raise IncunabulaError(f"{where}: expected numbers in steps and eval_mean")
    if not (isinstance(ci95, list) and len(ci95) == 2 and all(map(_is_number, ci95))):
        if ci95 is not None:
            raise IncunabulaError(f"{where}: expected eval_ci95 to be two numbers, low and high")
        ci95 = [mean, mean]
    return Point(int(steps), float(mean), float(ci95[0]), float(ci95[1]))


def _is_number(value: Any) -> TypeGuard[float]:
    # NaN compares false; a whole number may be too large for a float.
    return type(value) in (int, float) and abs(value) < 1e300
