"""What the command ``league``, and ``evaluate`` in a game of several players, do."""

from __future__ import annotations

from collections.abc import Sequence

from incunabula.training.arguments import check_game, listed
from incunabula.training.output import deliver, report_folder

GAMES = ("scriptorium",)


def run_league(
    game: str,
    agents: str,
    *,
    players: int,
    deals: int,
    rotations: str | None,
    seeds: str,
    edition: str | None,
    batch_size: int,
    backend: str,
    out: str | None,
    record: str | None,
    seed: int,
    simulations: int | None,
    seconds_per_move: float | None,
    as_json: bool,
) -> None:
    """Let agents (names and paths, separated by commas) meet, print, and write a report."""
    check_game(game, GAMES)
    from incunabula.training.evaluation.result import move_budget
    from incunabula.training.league.league import league
    from incunabula.training.league.report import write_league
    from incunabula.training.league.tables import print_league

    specs = listed("agents", agents)
    budget = move_budget(specs, simulations, seconds_per_move)
    with report_folder(out):
        played = league(
            specs,
            num_players=players,
            edition=game if edition is None else edition,
            deals=deals,
            rotations=rotations,
            seeds=seeds,
            batch_size=batch_size,
            backend=backend,
            seed=seed,
            budget=budget,
            record=record,
        )
        deliver(
            played.result,
            print_league,
            None if out is None else lambda: write_league(out, played),
            as_json=as_json,
        )


def run_versus(
    agents: Sequence[str],
    *,
    against: str,
    players: int,
    deals: int,
    seeds: str,
    edition: str,
    batch_size: int,
    backend: str,
    out: str | None,
    record: str | None,
    runs: Sequence[str],
    seed: int,
    simulations: int | None,
    seconds_per_move: float | None,
    as_json: bool,
) -> None:
    """Evaluate agents against one opponent from every seat, print, and write a report."""
    from incunabula.training.evaluation.result import move_budget
    from incunabula.training.league.evaluate import evaluate_versus
    from incunabula.training.league.tables import print_versus
    from incunabula.training.league.versus_report import write_versus

    budget = move_budget([*agents, against], simulations, seconds_per_move)
    with report_folder(out, runs):
        evaluation = evaluate_versus(
            agents,
            against=against,
            num_players=players,
            edition=edition,
            deals=deals,
            seeds=seeds,
            batch_size=batch_size,
            backend=backend,
            seed=seed,
            budget=budget,
            record=record,
        )
        deliver(
            evaluation.result,
            print_versus,
            None if out is None else lambda: write_versus(out, evaluation, runs),
            as_json=as_json,
        )
