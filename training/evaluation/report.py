"""An evaluation as a folder: report.html with its pictures, and the figures as JSON and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.curve import Curve, is_run_folder, read_curve
from incunabula.training.evaluation.evaluate import Evaluation
from incunabula.training.evaluation.files import check_folder, json_file, write_report_files
from incunabula.training.evaluation.page import conditions, figure, note, page, table
from incunabula.training.evaluation.tables import interval, short_names, signed

Json = dict[str, Any]
RunFolders = str | Path | Sequence[str | Path] | None
# What a report may write: of an evaluation of either game, or of a league.
FILES = (
    *("report.html", "evaluation.json", "league.json", "games.csv"),
    *("scores.png", "win_shares.png", "league.png", "learning_curve.png"),
)


def check_report_possible(folder: str | Path) -> Path:
    """Make the folder and see that a report can be written there, before games are played.

    Raises IncunabulaError if it can't, or if the folder is a training run's own: its
    evaluation.json would be overwritten.
    """
    if find_spec("matplotlib") is None:
        raise IncunabulaError(
            "a report needs matplotlib, which is not installed: pip install 'incunabula[train]'"
        )
    if is_run_folder(folder):
        raise IncunabulaError(
            f"out: {folder} is a training run's own folder; name another one, such as "
            f"{Path(folder) / 'report'}"
        )
    return check_folder(folder, files=FILES)


def write_report(folder: str | Path, evaluation: Evaluation, run_folder: RunFolders = None) -> Path:
    """Write report.html, scores.png, learning_curve.png, evaluation.json and games.csv.

    Each file is written under another name and renamed, report.html last, so that a reader never
    sees half a file. Other files of the folder are left alone.

    Args:
        folder: made if it isn't there.
        evaluation: what ``evaluate`` returned.
        run_folder: training runs whose learning curves are shown. Evaluated agents that are run
            folders are shown in any case.

    Returns:
        The path of report.html.

    Raises:
        IncunabulaError: matplotlib is missing, the folder can't be written, or a run's metrics
            can't be read.
    """
    path = check_report_possible(folder)
    from incunabula.training.evaluation.plots import learning_curve_png, scores_png

    result = evaluation.result
    curves = curves_of(result, run_folder)
    pictures = {"scores.png": scores_png(result)}
    if curves:
        pictures["learning_curve.png"] = learning_curve_png(
            curves, {agent["name"]: agent["mean"] for agent in result["agents"]}
        )
    else:
        (path / "learning_curve.png").unlink(missing_ok=True)  # of an earlier report
    files = {
        **pictures,
        "evaluation.json": json_file(result),
        "games.csv": _games_csv(evaluation).encode("utf-8", "backslashreplace"),
    }
    return write_report_files(path, files, report_html(result, pictures, curves))


def curves_of(result: Json, run_folder: RunFolders) -> list[Curve]:
    """Learning curves of the runs given and of evaluated agents that are runs, with any points."""
    given = [run_folder] if isinstance(run_folder, str | Path) else list(run_folder or ())
    names = {
        Path(agent["name"]).resolve(): agent["name"]
        for agent in result["agents"]
        if is_run_folder(agent["name"])
    }
    folders = dict.fromkeys([*(Path(run).resolve() for run in given), *names])
    curves = [read_curve(folder, names.get(folder)) for folder in folders]
    return [curve for curve in curves if curve.points]


def _games_csv(evaluation: Evaluation) -> str:
    """Every game: its number in the list of deals, its seed, and each agent's score."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    columns = {name: games.score for name, games in evaluation.games.items()}
    if evaluation.par is not None:
        columns["par"] = evaluation.par
    writer.writerow(["game", "seed", *columns])
    scores = [column.tolist() for column in columns.values()]
    writer.writerows(
        [i, seed, *row]
        for i, (seed, *row) in enumerate(zip(evaluation.seeds.tolist(), *scores, strict=True))
    )
    return buffer.getvalue()


def report_html(result: Json, pictures: dict[str, bytes], curves: Sequence[Curve]) -> str:
    """The page: one file, pictures included, nothing fetched."""
    names = short_names([agent["name"] for agent in result["agents"]])
    title = f"{result['game'].capitalize()}: {', '.join(names.values())}"
    parts = [
        "<h2>Scores</h2>",
        _scores_table(result, names),
        figure(pictures["scores.png"], _scores_text(result, names), _SCORES_CAPTION),
    ]
    if result["paired"]:
        parts += [
            "<h2>Differences, game by game</h2>",
            _pairs_table(result, names),
            note(PAIRS_NOTE),
        ]
    if "par" in result:
        parts += ["<h2>Against par</h2>", _par_table(result["par"], names), note(PAR_NOTE)]
    parts += learning_parts(pictures, curves, 1)
    parts += ["<h2>Conditions</h2>", _conditions(result)]
    return page(title, verdict(result), result, parts)


def learning_parts(pictures: dict[str, bytes], curves: Sequence[Curve], digits: int) -> list[str]:
    """The page's chapter about learning, if there is a picture for it."""
    if "learning_curve.png" not in pictures:
        return []
    text = "; ".join(
        f"{curve.name}: from {curve.points[0].mean:.{digits}f} at {curve.points[0].steps:,} steps "
        f"to {curve.points[-1].mean:.{digits}f} at {curve.points[-1].steps:,}"
        for curve in curves
    )
    picture = figure(pictures["learning_curve.png"], text, _CURVE_CAPTION)
    return ["<h2>Learning</h2>", picture]


_SCORES_CAPTION = (
    "Above, the distribution of single games' scores; below, where the points of a mean game come "
    "from. Both on the same deals for every agent."
)
PAIRS_NOTE = (
    "Both agents play the same deals, so luck that both share cancels. An "
    "interval that doesn't hold 0 is a difference that these games show; one that holds 0 is a tie "
    "as far as they can tell. The interval is about the deals: another training run with "
    "another seed would give another policy."
)
PAR_NOTE = (
    "Par is the best line found on each deal by a search that knows the order of the cards, which "
    "no player does: a lower bound on the best in hindsight, and out of reach of honest play."
)
_CURVE_CAPTION = (
    "What was measured during training on the run's own evaluation games (list “dev”), band: 95% "
    "interval, ring: the best, which is what the policy folder holds. Dashed: the other agents' "
    "values in this evaluation."
)


def verdict(result: Json) -> str:
    """The result in a sentence or two: the best mean, and whether the next best is beaten."""
    agents = sorted(result["agents"], key=lambda agent: -agent["mean"])
    names = short_names([agent["name"] for agent in agents])
    best = agents[0]
    count = result["seeds"]["games"]
    games = "1 game" if count == 1 else f"{count:,} games"
    mean = f"{best['mean']:.2f} {interval(best['ci95'])}"
    text = f"{names[best['name']]} scores {mean} on average over {games}."
    if len(agents) == 1:
        return text
    pair = {best["name"], agents[1]["name"]}
    found = next(p for p in result["paired"] if {p["a"], p["b"]} == pair)
    sign = 1 if found["a"] == best["name"] else -1
    mean, second = sign * found["mean_difference"], names[agents[1]["name"]]
    if found["ci95"] is None:
        return f"{text} {second} has {signed(-mean)}; one game doesn't say who is better."
    low, high = sorted(sign * end for end in found["ci95"])
    told = "is better than" if low > 0 else "can't be told from"
    shown = f"{signed(mean)} {interval([low, high])}"
    return f"{text} It {told} the next, {second}: {shown} game by game."


def _scores_table(result: Json, names: dict[str, str]) -> str:
    rows = [
        (
            names[agent["name"]],
            signed(agent["mean"], plus=""),
            interval(agent["ci95"]),
            "–" if agent["sd"] is None else f"{agent['sd']:.1f}",
            f"{agent['quantiles']['5']}–{agent['quantiles']['95']}",
            f"{agent['min']}–{agent['max']}",
            f"{agent['books_sold']:.1f}",
            f"{agent['decisions_per_game']:.0f}",
            f"{agent['timing']['games_per_second']:,.0f}",
        )
        for agent in result["agents"]
    ]
    head = ("agent", "mean", "95% interval", "sd", "5–95%", "min–max", "books sold", "decisions")
    return table((*head, "games/s"), rows)


def _pairs_table(result: Json, names: dict[str, str]) -> str:
    rows = [
        (
            f"{names[pair['a']]} − {names[pair['b']]}",
            signed(pair["mean_difference"]),
            interval(pair["ci95"]),
            *(f"{pair[key] / pair['games']:.0%}" for key in ("a_better", "equal", "b_better")),
        )
        for pair in result["paired"]
    ]
    return table(("a − b", "mean", "95% interval", "a better", "equal", "b better"), rows)


def _par_table(par: Json, names: dict[str, str]) -> str:
    rows = [
        (
            names[agent["name"]],
            signed(agent["mean_difference"]),
            interval(agent["ci95"]),
            "–" if agent["share"] is None else f"{agent['share']:.1%}",
        )
        for agent in par["agents"]
    ]
    rows.append((f"par (width {par['width']:,})", signed(par["mean"], plus=""), "", ""))
    return table(("agent", "score − par", "95% interval", "score / par"), rows)


def _scores_text(result: Json, names: dict[str, str]) -> str:
    return "Distribution of scores. " + "; ".join(
        f"{names[agent['name']]}: mean {agent['mean']:.1f}, {agent['min']} to {agent['max']}"
        for agent in result["agents"]
    )


def _conditions(result: Json) -> str:
    prestige = result["prestige"]
    shown = "drawn from each game's seed" if prestige is None else f"collection {prestige}"
    games = f"{result['seeds']['games']:,}, each dealt once to every agent"
    return conditions(result, games, [("Prestige", shown)], "evaluation.json")
