"""An evaluation as a folder: report.html with its pictures, and the figures as JSON and CSV."""

from __future__ import annotations

import base64
import csv
import html
import io
import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.curve import Curve, is_run_folder, read_curve
from incunabula.training.evaluation.evaluate import Evaluation
from incunabula.training.evaluation.files import check_folder, write_atomically
from incunabula.training.evaluation.tables import PROVENANCE, interval, short_names, signed

Json = dict[str, Any]
RunFolders = str | Path | Sequence[str | Path] | None

CSS = """
:root { color-scheme: light dark; --ink: #2b2723; --faint: #6f675e; --line: #ddd6cc;
  --paper: #fbf9f5; --card: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e9e4dc; --faint: #a9a196; --line: #443f39;
  --paper: #1d1b19; --card: #262321; } }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font: 600 2rem/1.2 Georgia, "Times New Roman", serif; margin: 0 0 .4rem; }
h2 { font: 600 1.25rem/1.3 Georgia, "Times New Roman", serif; margin: 2.4rem 0 .6rem; }
p { margin: .4rem 0; max-width: 46rem; }
.lead { font-size: 1.1rem; }
.faint, figcaption, caption { color: var(--faint); font-size: .9rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .6rem 0;
  min-width: 34rem; }
th, td { padding: .35rem .8rem; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th { font-weight: 600; color: var(--faint); font-size: .85rem; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td.name, td.mean { font-weight: 600; }
figure { margin: 1rem 0; }
img { width: 100%; height: auto; border: 1px solid var(--line); border-radius: 6px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem; margin: .6rem 0; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
"""


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
    return check_folder(folder)


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
    curves = _curves(result, run_folder)
    pictures = {"scores.png": scores_png(result)}
    if curves:
        pictures["learning_curve.png"] = learning_curve_png(curves, result)
    for name, picture in pictures.items():
        write_atomically(path / name, picture)
    if not curves:
        (path / "learning_curve.png").unlink(missing_ok=True)  # of an earlier report
    write_atomically(path / "evaluation.json", (json.dumps(result, indent=1) + "\n").encode())
    write_atomically(path / "games.csv", _games_csv(evaluation).encode())
    page = report_html(result, pictures, curves)
    write_atomically(path / "report.html", page.encode())
    return path / "report.html"


def _curves(result: Json, run_folder: RunFolders) -> list[Curve]:
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
    writer.writerow(["game", "seed", *evaluation.games])
    scores = [games.score.tolist() for games in evaluation.games.values()]
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
        f"<h1>{html.escape(title)}</h1>",
        f'<p class="lead">{html.escape(verdict(result))}</p>',
        f'<p class="faint">{html.escape(_edition_note(result))}</p>',
        "<h2>Scores</h2>",
        _scores_table(result, names),
        _figure(pictures["scores.png"], _scores_text(result, names), _SCORES_CAPTION),
    ]
    if result["paired"]:
        parts += ["<h2>Differences, game by game</h2>", _pairs_table(result, names), _PAIRS_NOTE]
    if "learning_curve.png" in pictures:
        text = "; ".join(
            f"{curve.name}: from {curve.points[0].mean:.1f} at {curve.points[0].steps:,} steps to "
            f"{curve.points[-1].mean:.1f} at {curve.points[-1].steps:,}"
            for curve in curves
        )
        picture = _figure(pictures["learning_curve.png"], text, _CURVE_CAPTION)
        parts += ["<h2>Learning</h2>", picture]
    parts += ["<h2>Conditions</h2>", _conditions(result)]
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{CSS}</style>\n</head>\n"
        f"<body><main>\n{body}\n</main></body>\n</html>\n"
    )


_SCORES_CAPTION = (
    "Above, the distribution of single games' scores; below, where the points of a mean game come "
    "from. Both on the same deals for every agent."
)
_PAIRS_NOTE = (
    '<p class="faint">Both agents play the same deals, so luck that both share cancels. An '
    "interval that doesn't hold 0 is a difference that these games show; one that holds 0 is a tie "
    "as far as they can tell. The interval is about the deals: another training run with "
    "another seed would give another policy.</p>"
)
_CURVE_CAPTION = (
    "Mean score during training on the run's own evaluation games (list “dev”), band: 95% "
    "interval, ring: the best, which is what the policy folder holds. Dashed: the other agents' "
    "means in this evaluation."
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


def _edition_note(result: Json) -> str:
    edition = result["edition"]
    return (
        f"Edition “{edition['name']}” is {PROVENANCE[edition['provenance']]}. Brackets are 95% "
        "intervals."
    )


def _row(cells: Sequence[str], tag: str = "td", classes: Sequence[str] = ()) -> str:
    shown = []
    for i, cell in enumerate(cells):
        attribute = f' class="{classes[i]}"' if i < len(classes) else ""
        shown.append(f"<{tag}{attribute}>{html.escape(cell)}</{tag}>")
    return f"<tr>{''.join(shown)}</tr>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    body = "\n".join(_row(row, classes=("name", "mean")) for row in rows)
    return (
        f'<div class="scroll"><table>\n<thead>{_row(head, "th")}</thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


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
    return _table((*head, "games/s"), rows)


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
    return _table(("a − b", "mean", "95% interval", "a better", "equal", "b better"), rows)


def _figure(picture: bytes, text: str, caption: str) -> str:
    data = base64.b64encode(picture).decode("ascii")
    return (
        f'<figure><img src="data:image/png;base64,{data}" alt="{html.escape(text)}">'
        f"<figcaption>{html.escape(caption)}</figcaption></figure>"
    )


def _scores_text(result: Json, names: dict[str, str]) -> str:
    return "Distribution of scores. " + "; ".join(
        f"{names[agent['name']]}: mean {agent['mean']:.1f}, {agent['min']} to {agent['max']}"
        for agent in result["agents"]
    )


def _conditions(result: Json) -> str:
    edition, seeds, timing = result["edition"], result["seeds"], result["timing"]
    machine = timing["machine"]
    prestige = result["prestige"]
    shown = "drawn from each game's seed" if prestige is None else f"collection {prestige}"
    entries = [
        ("Games", f"{seeds['games']:,}, each dealt once to every agent"),
        ("Deals", f"list “{seeds['list']}”, SHA-256 {seeds['sha256']}"),
        ("Edition", f"{edition['name']} ({edition['edition']}), {edition['provenance']}"),
        ("Edition SHA-256", edition["sha256"]),
        ("Prestige", shown),
        ("Agents", ", ".join(agent["name"] for agent in result["agents"])),
        ("Agent seed", str(result["agent_seed"])),
        ("Engine", result["backend"]),
        ("Versions", ", ".join(f"{name} {v}" for name, v in result["versions"].items() if v)),
        ("Machine", f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}"),
        ("Finished", f"{timing['finished']}, after {timing['seconds']:.1f} s"),
    ]
    items = "".join(f"<dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd>" for k, v in entries)
    return (
        f"<dl>{items}</dl>\n"
        '<p class="faint">The figures are in evaluation.json, every game in games.csv. The same '
        "command gives the same figures, whatever the batch size; only times differ.</p>"
    )
