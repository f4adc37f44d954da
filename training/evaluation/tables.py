"""Evaluations and benches as tables in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

Json = dict[str, Any]

PROVENANCE = {
    "reconstructed": "a reconstruction: figures are about it, not about the published game",
    "transcribed": "transcribed from the published game",
    "variant": "a variant made for tests and study",
}


def plain_console() -> Console:
    """Stdout, where a name such as ``run[b]`` is printed as it is."""
    return Console(markup=False, emoji=False)


def interval(ci95: Sequence[float] | None, digits: int = 2) -> str:
    """ "[47.9, 48.6]", or a dash for a single game."""
    if ci95 is None:
        return "–"
    return f"[{signed(ci95[0], digits, '')}, {signed(ci95[1], digits, '')}]"


def signed(value: float, digits: int = 2, plus: str = "+") -> str:
    """A number with a real minus sign, and a plus sign if wanted."""
    text = f"{abs(value):,.{digits}f}"
    if float(text.replace(",", "")) == 0:
        return text
    return f"−{text}" if value < 0 else f"{plus}{text}"


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Name -> the last part of a path, or as much of its end as tells the names apart.

    Bytes of a path that are no text are shown as escapes.
    """
    short = {}
    for name in names:
        parts = PurePath(name).parts or (name,)
        for k in range(1, len(parts) + 1):
            end = str(PurePath(*parts[-k:]))
            if not any(
                other != name and PurePath(other).parts[-k:] == parts[-k:] for other in names
            ):
                break
        short[name] = end.encode("utf-8", "backslashreplace").decode()
    return short


def conditions(result: Json) -> str:
    """One line that says which games were played: edition, deals, prestige, engine."""
    edition, seeds = result["edition"], result["seeds"]
    prestige = result["prestige"]
    shown = "drawn" if prestige is None else f"collection {prestige}"
    return (
        f"{seeds['games']:,} games of the {seeds['list']!r} list, the same for every agent · "
        f"edition {edition['name']} ({edition['provenance']}, {edition['sha256'][:12]}) · "
        f"prestige {shown} · engine {result['backend']}"
    )


def print_evaluation(result: Json, console: Console) -> None:
    """The agents' scores, what they are made of, and each pair of agents, as three tables."""
    names = short_names([agent["name"] for agent in result["agents"]])
    scores = table("Scores", "agent", "mean", "95% interval", "sd", "5–95%", "best", "games/s")
    parts = table(
        "Points from", "agent", "books", "florins", "slots", "bonus", "books sold", "decisions"
    )
    for agent in result["agents"]:
        split, quantiles, name = agent["split"], agent["quantiles"], names[agent["name"]]
        scores.add_row(
            name,
            f"{agent['mean']:.2f}",
            interval(agent["ci95"]),
            "–" if agent["sd"] is None else f"{agent['sd']:.1f}",
            f"{quantiles['5']}–{quantiles['95']}",
            str(agent["max"]),
            f"{agent['timing']['games_per_second']:,.0f}",
        )
        parts.add_row(
            name,
            *(f"{split[key]:.1f}" for key in ("books", "florins", "prestige", "bonus")),
            f"{agent['books_sold']:.1f}",
            f"{agent['decisions_per_game']:.0f}",
        )
    console.print(scores, parts)
    if result["paired"]:
        pairs = table(
            "Differences, game by game",
            *("a − b", "mean", "95% interval", "a better", "equal", "b better"),
        )
        for pair in result["paired"]:
            pairs.add_row(
                f"{names[pair['a']]} − {names[pair['b']]}",
                signed(pair["mean_difference"]),
                interval(pair["ci95"]),
                *(f"{pair[key] / pair['games']:.0%}" for key in ("a_better", "equal", "b_better")),
            )
        console.print(pairs)
    if any("luck_adjusted" in agent for agent in result["agents"]):
        console.print(*_luck(result, names))
    meaning = PROVENANCE[result["edition"]["provenance"]]
    note = f"{conditions(result)}. The edition is {meaning}."
    console.print(note, style="dim", highlight=False)


def _luck(result: Json, names: dict[str, str]) -> list[Table]:
    """Scores less the luck of the draws, and their differences."""
    less = table(
        "Scores less luck", "agent", "mean", "95% interval", "sd", "luck in cards", "in prices"
    )
    for agent in result["agents"]:
        left = agent["luck_adjusted"]
        spreads = (
            "–" if left[f] is None else f"{left[f]:.1f}" for f in ("sd", "cards_sd", "prices_sd")
        )
        less.add_row(names[agent["name"]], f"{left['mean']:.2f}", interval(left["ci95"]), *spreads)
    pairs = table("Differences less luck", "a − b", "mean", "95% interval")
    for pair in result["paired"]:
        left = pair["luck_adjusted"]
        pairs.add_row(
            f"{names[pair['a']]} − {names[pair['b']]}",
            signed(left["mean_difference"]),
            interval(left["ci95"]),
        )
    return [less, pairs] if result["paired"] else [less]


def print_bench(result: Json, console: Console) -> None:
    """Steps per second of each view, and where a step's time goes."""
    rows = result["rows"]
    learner = [row for row in rows if row["view"] == "learner"]
    others = [row for row in rows if row["view"] != "learner"]
    sync = any("sync_ratio" in row for row in others)
    title = "Steps per second, random legal play"
    if "players" in others[0]:
        title += f", {others[0]['players']} players, all seats"
    speeds = table(
        title,
        *("view", "games", "steps/s", "slowest", "with sampling"),
        *(["× sync"] if sync else []),
    )
    speeds.columns[0].no_wrap = True
    parts = table(
        "Microseconds a step of one game, engine alone",
        *("games", "apply", "of it legal", "deal", "observe", "sampling"),
    )
    for row in others:
        games = f"{row['num_envs']:,}"
        if "threads" in row:
            games = f"{row['threads']} × {games}"
        ratio = [f"{row['sync_ratio']:.1f}" if "sync_ratio" in row else ""] if sync else []
        speeds.add_row(_view(row), games, *row_speeds(row), *ratio)
        if "parts_us" in row:
            kinds = ("apply", "legal", "deal", "observe", "sampling")
            parts.add_row(games, *(f"{row['parts_us'][kind]:.3g}" for kind in kinds))
    console.print(speeds, parts)
    if learner:
        seats = table(
            "A learner's steps per second, the other seats by opponents",
            *("opponents", "games", "steps/s", "slowest run", "with sampling", "decisions/s"),
        )
        names = short_names([row["opponents"] for row in learner])
        for row in learner:
            games, decisions = f"{row['num_envs']:,}", f"{row['decisions_per_second']:,}"
            seats.add_row(names[row["opponents"]], games, *row_speeds(row), decisions)
        console.print(seats)
    machine, versions = result["machine"], result["versions"]
    console.print(
        f"Best of {result['repeats']} runs · edition {result['edition']['name']} · engine "
        f"{rows[0]['backend']} · {machine['cpu']}, {machine['cores']} cores, load "
        f"{machine['load']} · Python {versions['python']}, NumPy {versions['numpy']}.",
        style="dim",
        highlight=False,
    )


def _view(row: Json) -> str:
    """What a bench's row measures, for people."""
    view = str(row["view"]).replace("_", " ")
    return f"{view}, {row['policy']}" if "policy" in row else view


def row_speeds(row: Json) -> tuple[str, str, str]:
    """Of a bench's row: the best run, how much slower the slowest was, the best with sampling."""
    sampled = row["steps_per_second_with_sampling"]
    return f"{row['steps_per_second']:,}", f"−{row['spread']:.0%}", f"{sampled:,}"


def table(title: str, first: str, *numbers: str) -> Table:
    """A table whose first column is text and whose other columns are numbers."""
    made = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    made.add_column(first, overflow="fold")
    for column in numbers:
        made.add_column(column, justify="right", no_wrap=True)
    return made
