"""Leagues and evaluations of several players as tables in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from incunabula.training.evaluation.tables import (
    PROVENANCE,
    interval,
    short_names,
    signed,
    table,
)

Json = dict[str, Any]

# With more agents than this the cross table has no intervals: they are in the JSON.
INTERVALS_UP_TO = 3


def share(value: float) -> str:
    """A share of the win: 0.254."""
    return f"{value:.3f}"


def ranked(agents: Sequence[Json]) -> list[Json]:
    """The league's agents by rating, the strongest first."""
    return sorted(agents, key=lambda agent: -agent["rating"])


def league_conditions(result: Json) -> str:
    """What was played, in a line."""
    edition, seeds, players = result["edition"], result["seeds"], result["players"]
    count = len(result["tables"])
    tables = "1 table" if count == 1 else f"{count:,} tables"
    return (
        f"{result['games']:,} games: {tables} of {players}, "
        f"{seeds['deals']:,} deals of the {seeds['list']!r} list at each, in "
        f"{_rotations(result)} · an even share is {share(1 / players)} · edition "
        f"{edition['name']} ({edition['provenance']}, {edition['sha256'][:12]}) · engine "
        f"{result['backend']}"
    )


def _rotations(result: Json) -> str:
    return "every order" if result["rotations"] == "all" else "cyclic seatings"


def separation_note(result: Json) -> str | None:
    """What to know of ratings that the games alone leave open."""
    if not result["rating"]["separated"]:
        return None
    return (
        "Some agents always finished ahead of others. How far apart they are these games can't "
        "tell: the ratings' distance grows with the number of games, and their intervals don't "
        "show it. Read the win shares."
    )


def print_league(result: Json, console: Console) -> None:
    """Standings, seats and the cross table, and what was played."""
    names = short_names([agent["name"] for agent in result["agents"]])
    standings = table(
        f"League of {result['players']} players",
        *("agent", "rating", "95% interval", "win share", "95% interval", "score", "margin"),
    )
    for agent in ranked(result["agents"]):
        standings.add_row(
            names[agent["name"]],
            signed(agent["rating"]),
            interval(agent["rating_ci95"]),
            share(agent["win_share"]),
            interval(agent["ci95"]),
            f"{agent['mean_score']:.1f}",
            signed(agent["mean_margin"], 1),
        )
    console.print(standings, _seats(result, names), _cross(result, names))
    note = separation_note(result)
    if note is not None:
        console.print(note, highlight=False)
    _print_note(league_conditions(result), result, console)


def _seats(result: Json, names: dict[str, str]) -> Table:
    seats = result["seats"]
    shown = table("Win share by seat", "agent", *(f"seat {seat['seat']}" for seat in seats))
    shown.add_row("everybody", *(_with_interval(s) for s in seats))
    for agent in ranked(result["agents"]):
        entries = [next(a for a in seat["agents"] if a["name"] == agent["name"]) for seat in seats]
        shown.add_row(
            names[agent["name"]],
            *(_with_interval(e) for e in entries),
        )
    return shown


def _with_interval(entry: Json) -> str:
    """A win share and, below it, its interval."""
    return f"{share(entry['win_share'])}\n{interval(entry['ci95'])}"


def _cross(result: Json, names: dict[str, str]) -> Table:
    agents = [agent["name"] for agent in ranked(result["agents"])]
    shown = table(
        "Win share and points ahead, row against column", "agent", *(names[a] for a in agents)
    )
    entries = {(entry["a"], entry["b"]): entry for entry in result["cross"]}
    for a in agents:
        cells = []
        for b in agents:
            entry = entries.get((a, b))
            cells.append("" if entry is None else _cross_cell(entry, len(agents)))
        shown.add_row(names[a], *cells)
    return shown


def _cross_cell(entry: Json, agents: int) -> str:
    first, second = share(entry["win_share"]), signed(entry["margin"], 1)
    if agents <= INTERVALS_UP_TO:
        first += f" {interval(entry['ci95'])}"
        second += f" {interval(entry['margin_ci95'], 1)}"
    return f"{first}\n{second}"


def evaluation_conditions(result: Json) -> str:
    """What was played, in a line."""
    edition, seeds, players = result["edition"], result["seeds"], result["players"]
    others = players - 1
    opponent = _opponent(result)
    copies = opponent if others == 1 else f"{others} × {opponent}"
    return (
        f"{seeds['deals']:,} deals of the {seeds['list']!r} list, each from all {players} seats, "
        f"against {copies} · an even share is {share(1 / players)} · edition {edition['name']} "
        f"({edition['provenance']}, {edition['sha256'][:12]}) · engine {result['backend']}"
    )


def _opponent(result: Json) -> str:
    name = result["against"]["name"]
    return short_names([name])[name]


def print_versus(result: Json, console: Console) -> None:
    """The agents' win shares, scores and margins, by seat too, and each pair of agents."""
    names = short_names([agent["name"] for agent in result["agents"]])
    seats = [f"seat {seat}" for seat in range(result["players"])]
    totals = table(
        f"Against {_opponent(result)}, {result['players']} players",
        *("agent", "win share", "95% interval", "score", "margin", "decisions", "games/s"),
    )
    by_seat = table("Win share by seat", "agent", *seats)
    for agent in result["agents"]:
        name = names[agent["name"]]
        totals.add_row(
            name,
            share(agent["win_share"]),
            interval(agent["ci95"], 3),
            f"{agent['mean_score']:.1f}",
            signed(agent["mean_margin"], 1),
            f"{agent['decisions_per_game']:.0f}",
            f"{agent['timing']['games_per_second']:,.0f}",
        )
        by_seat.add_row(name, *(_with_interval(s) for s in agent["seats"]))
    console.print(totals, by_seat)
    if result["paired"]:
        pairs = table(
            "Differences in win share, deal by deal",
            *("a − b", "mean", "95% interval", "a better", "equal", "b better", "score"),
        )
        for pair in result["paired"]:
            pairs.add_row(
                f"{names[pair['a']]} − {names[pair['b']]}",
                signed(pair["mean_difference"], 3),
                interval(pair["ci95"], 3),
                *(f"{pair[key] / pair['deals']:.0%}" for key in ("a_better", "equal", "b_better")),
                signed(pair["score_difference"], 1),
            )
        console.print(pairs)
    _print_note(evaluation_conditions(result), result, console)


def _print_note(conditions: str, result: Json, console: Console) -> None:
    meaning = PROVENANCE[result["edition"]["provenance"]]
    note = f"{conditions}. The edition is {meaning}."
    console.print(note, style="dim", highlight=False)
