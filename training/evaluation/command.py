"""What the commands ``evaluate``, ``bench`` and ``conform`` do."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from incunabula.envs.documents import no_such
from incunabula.envs.editions import GAMES, edition_model, load_as
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.files import kept_if_used
from incunabula.training.evaluation.tables import plain_console


def run_evaluate(
    game: str,
    agents: str,
    *,
    games: int,
    seeds: str,
    edition: str | None,
    prestige: int | None,
    players: int | None,
    against: str | None,
    batch_size: int,
    backend: str,
    out: str | None,
    runs: Sequence[str],
    record: str | None,
    seed: int,
    simulations: int | None,
    seconds_per_move: float | None,
    luck: bool,
    par: bool,
    par_width: int | None,
    as_json: bool,
) -> None:
    """Evaluate agents (names and paths, separated by commas), print, and write a report."""
    check_game(game)
    if runs and out is None:
        raise IncunabulaError("run: learning curves are part of a report; give its folder by --out")
    if par_width is not None and not par:
        raise IncunabulaError("par-width: is the width of the search for par; give --par with it")
    if game == "scriptorium":
        if par:
            raise IncunabulaError(
                "par: scriptorium has none, since what opponents do isn't part of a deal; only "
                "bibliogamo has"
            )
        if prestige is not None:
            raise IncunabulaError("prestige: only bibliogamo has prestige collections")
        if luck:
            raise IncunabulaError("luck: only measured of bibliogamo; leave --luck out")
        from incunabula.training.league.command import run_versus

        run_versus(
            listed("agents", agents),
            against="greedy" if against is None else against,
            players=2 if players is None else players,
            deals=games,
            seeds=seeds,
            edition=game if edition is None else edition,
            batch_size=batch_size,
            backend=backend,
            out=out,
            runs=runs,
            record=record,
            seed=seed,
            simulations=simulations,
            seconds_per_move=seconds_per_move,
            as_json=as_json,
        )
        return
    for option, value in (("players", players), ("against", against)):
        if value is not None:
            raise IncunabulaError(f"{option}: bibliogamo is for one; leave --{option} out")
    from incunabula.training.evaluation.evaluate import evaluate
    from incunabula.training.evaluation.par import PAR_WIDTH, print_par
    from incunabula.training.evaluation.report import write_report
    from incunabula.training.evaluation.result import move_budget
    from incunabula.training.evaluation.tables import print_evaluation

    def show(result: dict[str, Any], console: Console) -> None:
        print_evaluation(result, console)
        if "par" in result:
            print_par(result, console)

    specs = listed("agents", agents)
    budget = move_budget(specs, simulations, seconds_per_move)
    with report_folder(out, runs):
        evaluation = evaluate(
            specs,
            edition=game if edition is None else edition,
            games=games,
            seeds=seeds,
            prestige=prestige,
            batch_size=batch_size,
            backend=backend,
            seed=seed,
            budget=budget,
            luck=luck,
            par_width=(PAR_WIDTH if par_width is None else par_width) if par else None,
            record=record,
        )
        deliver(
            evaluation.result,
            show,
            None if out is None else lambda: write_report(out, evaluation, runs),
            as_json=as_json,
        )


def run_bench(
    game: str,
    num_envs: str | None,
    *,
    edition: str | None,
    players: int | None,
    opponents: str | None,
    against: str | None,
    backend: str,
    seconds: float,
    seed: int,
    as_json: bool,
) -> None:
    """Measure steps per second at each of these numbers of games (separated by commas)."""
    check_game(game)
    sizes = None
    if num_envs is not None:
        sizes = [whole("num-envs", text) for text in listed("num-envs", num_envs)]
    from incunabula.training.evaluation.bench import bench

    result = bench(
        sizes,
        edition=load_as(edition_model(game), game if edition is None else edition),
        players=players,
        opponents=None if opponents is None else listed("opponents", opponents),
        against=() if against is None else listed("against", against),
        backend=backend,
        seconds=seconds,
        seed=seed,
    )
    if as_json:
        print_json(result)
        return
    from incunabula.training.evaluation.tables import print_bench

    console = plain_console()
    print_bench(result, console)
    if "against" in result:
        from incunabula.training.evaluation.against.tables import print_against

        print_against(result, console)


def run_conform(file: str, edition: str | None, *, backend: str, as_json: bool) -> bool:
    """Compare the engine with a file of games and print the outcome; whether they agree."""
    from incunabula.envs.conform import conform

    agreement = conform(file, edition, backend)
    difference = agreement.difference
    if as_json:
        print_json(
            {
                "agree": difference is None,
                "backends": agreement.backends,
                "games": agreement.games,
                "steps": agreement.steps,
                "difference": None if difference is None else dataclasses.asdict(difference),
            }
        )
    elif difference is None:
        by = ", ".join(agreement.backends)
        print(f"{agreement.games} games, {agreement.steps} steps agree ({by})")
    else:
        print(difference)
    return difference is None


def check_game(game: str, games: Sequence[str] = GAMES) -> None:
    """Raise IncunabulaError unless it is one of these games."""
    if game not in games:
        raise IncunabulaError(no_such("game", game, games))


def listed(name: str, text: str) -> list[str]:
    """Entries separated by commas."""
    entries = [entry.strip() for entry in text.split(",")]
    if not all(entries):
        raise IncunabulaError(
            f"{name}: expected entries separated by commas, with none empty, got {text!r}"
        )
    return entries


def whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise IncunabulaError(f"{name}: expected whole numbers above 0, got {text!r}")
    return int(text)


@contextlib.contextmanager
def report_folder(out: str | None, runs: Sequence[str] = ()) -> Iterator[None]:
    """See that a report can be written before the games are played, not after.

    A folder made for it is taken away again should nothing come of it.
    """
    with kept_if_used(out):
        if out is not None:
            from incunabula.training.evaluation.curve import read_curve
            from incunabula.training.evaluation.report import check_report_possible

            check_report_possible(out)
            for run in runs:
                read_curve(run)
        yield


def deliver(
    result: dict[str, Any],
    show: Callable[[dict[str, Any], Console], None],
    write: Callable[[], Path] | None,
    *,
    as_json: bool,
) -> None:
    """Write the report, if there is to be one, and print; with --json, stdout holds JSON alone.

    Neither is lost with the other: the report is written before a reader such as ``head`` can close
    the output, and what was measured is printed even if the disk is full.
    """
    page = None
    try:
        if write is not None:
            page = write()
    finally:
        if as_json:
            print_json(result)
        else:
            show(result, plain_console())
    if page is not None:
        print(f"Report: {page}", file=sys.stderr if as_json else sys.stdout)


def print_json(value: dict[str, Any]) -> None:
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
