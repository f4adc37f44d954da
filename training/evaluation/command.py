"""What the commands ``evaluate``, ``bench`` and ``conform`` do."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from incunabula.envs.editions import edition_model, load_as
from incunabula.envs.errors import IncunabulaError
from incunabula.training.arguments import check_game, listed, whole
from incunabula.training.evaluation.tables import plain_console
from incunabula.training.output import deliver, print_json, report_folder


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
