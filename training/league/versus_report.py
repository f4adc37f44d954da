"""An evaluation of several players as a folder: report.html, pictures, JSON and CSV."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from incunabula.training.evaluation.curve import Curve
from incunabula.training.evaluation.files import json_file, write_report_files
from incunabula.training.evaluation.page import conditions, figure, note, page, table
from incunabula.training.evaluation.report import (
    PAIRS_NOTE,
    RunFolders,
    check_report_possible,
    curves_of,
    learning_parts,
)
from incunabula.training.evaluation.tables import interval, short_names, signed
from incunabula.training.league.evaluate import SeatsEvaluation
from incunabula.training.league.report import games_csv, seat_cell
from incunabula.training.league.tables import share

Json = dict[str, Any]


def write_versus(
    folder: str | Path, evaluation: SeatsEvaluation, run_folder: RunFolders = None
) -> Path:
    """Write report.html, win_shares.png, learning_curve.png, evaluation.json and games.csv.

    Args:
        folder: made if it isn't there.
        evaluation: what ``evaluate_versus`` returned.
        run_folder: training runs whose learning curves are shown. Evaluated agents that are run
            folders are shown in any case.

    Returns:
        The path of report.html.

    Raises:
        IncunabulaError: matplotlib is missing, the folder can't be written, or a run's metrics
            can't be read.
    """
    path = check_report_possible(folder)
    from incunabula.training.evaluation.plots import learning_curve_png
    from incunabula.training.league.plots import versus_png

    result = evaluation.result
    curves = curves_of(result, run_folder)
    pictures = {"win_shares.png": versus_png(result)}
    if curves:
        levels = {agent["name"]: agent["win_share"] for agent in result["agents"]}
        pictures["learning_curve.png"] = learning_curve_png(
            curves, levels, "win share against greedy"
        )
    else:
        (path / "learning_curve.png").unlink(missing_ok=True)  # of an earlier report
    opponent = result["against"]["name"]
    games = [([name, opponent], played.games) for name, played in evaluation.games.items()]
    files = {
        **pictures,
        "evaluation.json": json_file(result),
        "games.csv": games_csv(evaluation.seeds, games),
    }
    return write_report_files(path, files, versus_html(result, pictures, curves))


def versus_html(result: Json, pictures: dict[str, bytes], curves: Sequence[Curve]) -> str:
    """The page: one file, pictures included, nothing fetched."""
    names = short_names([agent["name"] for agent in result["agents"]])
    players, opponent = result["players"], result["against"]["name"]
    title = f"{result['game'].capitalize()}, {players} players: {', '.join(names.values())}"
    lead = versus_verdict(result)
    parts = [
        f"<h2>Against {short_names([opponent])[opponent]}</h2>",
        _versus_table(result, names),
        figure(pictures["win_shares.png"], lead, _VERSUS_CAPTION),
        "<h2>Seats</h2>",
        _versus_seats(result, names),
    ]
    if result["paired"]:
        parts += ["<h2>Differences, deal by deal</h2>", _versus_pairs(result, names)]
        parts += [note(PAIRS_NOTE)]
    parts += learning_parts(pictures, curves, 3)
    drawn = result["bootstrap"]
    more = [
        ("Players", f"{players}, the other seats are {opponent}'s"),
        ("Intervals", f"bootstrap by deal, {drawn['replicates']:,} times, seed {drawn['seed']}"),
    ]
    games = f"{result['seeds']['deals']:,} deals, each from all {players} seats with every agent"
    parts += ["<h2>Conditions</h2>", conditions(result, games, more, "evaluation.json")]
    return page(title, lead, result, parts)


_VERSUS_CAPTION = "Win shares with 95% intervals, in all and in each seat; dashed: an even share."


def versus_verdict(result: Json) -> str:
    """The result in a sentence: the best win share, and whether it is more than even."""
    best = max(result["agents"], key=lambda agent: agent["win_share"])
    names = short_names([agent["name"] for agent in result["agents"]])
    even, opponent = 1 / result["players"], result["against"]["name"]
    count = result["seeds"]["deals"]
    deals = "1 deal" if count == 1 else f"{count:,} deals"
    text = (
        f"{names[best['name']]} has {share(best['win_share'])} {interval(best['ci95'], 3)} of the "
        f"wins against {opponent} over {deals} from every seat"
    )
    if best["ci95"] is None:
        return f"{text}; one deal doesn't say who is better."
    low, high = best["ci95"]
    if low > even:
        return f"{text}: better than {opponent}, whose even share is {share(even)}."
    told = "worse than" if high < even else "not to be told from"
    return f"{text}: {told} {opponent}, an even share being {share(even)}."


def _versus_table(result: Json, names: dict[str, str]) -> str:
    rows = [
        (
            names[agent["name"]],
            share(agent["win_share"]),
            interval(agent["ci95"], 3),
            f"{agent['mean_score']:.1f} {interval(agent['mean_score_ci95'], 1)}",
            f"{signed(agent['mean_margin'], 1)} {interval(agent['mean_margin_ci95'], 1)}",
            f"{agent['decisions_per_game']:.0f}",
            f"{agent['timing']['games_per_second']:,.0f}",
        )
        for agent in result["agents"]
    ]
    head = ("agent", "win share", "95% interval", "score", "margin", "decisions", "games/s")
    return table(head, rows)


def _versus_seats(result: Json, names: dict[str, str]) -> str:
    rows = [
        (names[agent["name"]], *(seat_cell(seat) for seat in agent["seats"]))
        for agent in result["agents"]
    ]
    seats = (f"seat {seat}" for seat in range(result["players"]))
    return table(("win share, score", *seats), rows)


def _versus_pairs(result: Json, names: dict[str, str]) -> str:
    rows = [
        (
            f"{names[pair['a']]} − {names[pair['b']]}",
            signed(pair["mean_difference"], 3),
            interval(pair["ci95"], 3),
            *(f"{pair[key] / pair['deals']:.0%}" for key in ("a_better", "equal", "b_better")),
            f"{signed(pair['score_difference'], 1)} {interval(pair['score_ci95'], 1)}",
        )
        for pair in result["paired"]
    ]
    head = ("a − b, win share", "mean", "95% interval", "a better", "equal", "b better", "score")
    return table(head, rows)
