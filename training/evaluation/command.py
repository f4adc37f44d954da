"""What the commands ``evaluate``, ``bench`` and ``conform`` do."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Sequence
from typing import Any

from incunabula.envs.documents import no_such
from incunabula.envs.errors import IncunabulaError

GAMES = ("bibliogamo",)


def run_evaluate(
    game: str,
    agents: str,
    *,
    games: int,
    seeds: str,
    edition: str | None,
    prestige: int | None,
    batch_size: int,
    out: str | None,
    runs: Sequence[str],
    seed: int,
    as_json: bool,
) -> None:
    """Evaluate agents (names and paths, separated by commas), print, and write a report."""
    _check_game(game)
    if runs and out is None:
        raise IncunabulaError("run: learning curves are part of a report; give its folder by --out")
    if out is not None:
        # Before the games are played, not after.
        from incunabula.training.evaluation.curve import read_curve
        from incunabula.training.evaluation.report import check_report_possible

        check_report_possible(out)
        for run in runs:
            read_curve(run)
    from incunabula.training.evaluation.evaluate import evaluate

    evaluation = evaluate(
        _listed("agents", agents),
        edition=game if edition is None else edition,
        games=games,
        seeds=seeds,
        prestige=prestige,
        batch_size=batch_size,
        seed=seed,
    )
    if as_json:
        _print_json(evaluation.result)
    else:
        from rich.console import Console

        from incunabula.training.evaluation.tables import print_evaluation

        print_evaluation(evaluation.result, Console())
    if out is not None:
        from incunabula.training.evaluation.report import write_report

        page = write_report(out, evaluation, runs)
        # With --json, stdout holds the JSON and nothing else.
        print(f"Report: {page}", file=sys.stderr if as_json else sys.stdout)


def run_bench(
    game: str, num_envs: str, *, edition: str | None, seconds: float, seed: int, as_json: bool
) -> None:
    """Measure steps per second at each of these numbers of games (separated by commas)."""
    _check_game(game)
    from incunabula.training.evaluation.bench import bench

    result = bench(
        [_whole("num-envs", text) for text in _listed("num-envs", num_envs)],
        edition=game if edition is None else edition,
        seconds=seconds,
        seed=seed,
    )
    if as_json:
        _print_json(result)
        return
    from rich.console import Console

    from incunabula.training.evaluation.tables import print_bench

    print_bench(result, Console())


def run_conform(file: str, edition: str | None, *, as_json: bool) -> bool:
    """Compare the engine with a file of games and print the outcome; whether they agree."""
    from incunabula.envs.conform import conform

    agreement = conform(file, edition)
    difference = agreement.difference
    if as_json:
        _print_json(
            {
                "agree": difference is None,
                "games": agreement.games,
                "steps": agreement.steps,
                "difference": None if difference is None else dataclasses.asdict(difference),
            }
        )
    elif difference is None:
        print(f"{agreement.games} games, {agreement.steps} steps agree")
    else:
        print(difference)
    return difference is None


def _check_game(game: str) -> None:
    if game not in GAMES:
        raise IncunabulaError(no_such("game", game, GAMES))


def _listed(name: str, text: str) -> list[str]:
    entries = [entry.strip() for entry in text.split(",")]
    if not all(entries):
        raise IncunabulaError(
            f"{name}: expected entries separated by commas, with none empty, got {text!r}"
        )
    return entries


def _whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise IncunabulaError(f"{name}: expected whole numbers above 0, got {text!r}")
    return int(text)


def _print_json(value: dict[str, Any]) -> None:
    """Print JSON that any reader takes: ASCII alone, and null for a number that isn't finite."""
    print(json.dumps(_finite(value), indent=1, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
