"""A league as a folder: report.html with its picture, and the figures as JSON and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.training.evaluation.files import json_file, write_report_files
from incunabula.training.evaluation.page import conditions, figure, note, page, table
from incunabula.training.evaluation.report import check_report_possible
from incunabula.training.evaluation.tables import interval, short_names, signed
from incunabula.training.league.league import League
from incunabula.training.league.play import TableGames
from incunabula.training.league.tables import ranked, separation_note, share

Json = dict[str, Any]


def write_league(folder: str | Path, played: League) -> Path:
    """Write report.html, league.png, league.json and games.csv; the path of report.html.

    Each file is written under another name and renamed, report.html last, so that a reader never
    sees half a file.

    Raises:
        IncunabulaError: matplotlib is missing, or the folder can't be written.
    """
    path = check_report_possible(folder)
    from incunabula.training.league.plots import league_png

    result = played.result
    picture = league_png(result)
    names = [agent["name"] for agent in result["agents"]]
    return write_report_files(
        path,
        {
            "league.png": picture,
            "league.json": json_file(result),
            "games.csv": games_csv(played.seeds, [(names, played.games)]),
        },
        league_html(result, picture),
    )


def games_csv(
    seeds: npt.NDArray[np.uint64], played: Iterable[tuple[Sequence[str], TableGames]]
) -> bytes:
    """Every game: its deal and seed, who sat in each seat, and the scores."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for part, (names, games) in enumerate(played):
        settings, players = games.seats.shape
        seats = range(players)
        if part == 0:
            head = ["deal", "seed", *(f"seat {k}" for k in seats), *(f"score {k}" for k in seats)]
            writer.writerow(head)
        sitting = [[names[i] for i in row] for row in games.seats.tolist()]
        for deal, (seed, scores) in enumerate(
            zip(seeds.tolist(), games.scores.tolist(), strict=True)
        ):
            writer.writerows([deal, seed, *sitting[k], *scores[k]] for k in range(settings))
    return buffer.getvalue().encode("utf-8", "backslashreplace")


def league_html(result: Json, picture: bytes) -> str:
    """The page: one file, pictures included, nothing fetched."""
    names = short_names([agent["name"] for agent in result["agents"]])
    title = f"{result['game'].capitalize()}, league of {result['players']} players"
    separation = separation_note(result)
    parts = [
        "<h2>Standings</h2>",
        _standings(result, names),
        *([] if separation is None else [note(separation)]),
        note(_STANDINGS_NOTE),
        figure(picture, league_verdict(result), _PICTURE_CAPTION),
        "<h2>Agent against agent</h2>",
        _cross(result, names),
        note(_CROSS_NOTE),
        "<h2>Seats</h2>",
        _seats(result, names),
        note(seat_verdict(result["seats"], result["players"])),
        "<h2>Conditions</h2>",
        _league_conditions(result),
    ]
    return page(title, league_verdict(result), result, parts)


_STANDINGS_NOTE = (
    "Win share, score and margin (own score less the best other's) are those of games in which the "
    "agent sits once; a win that k share counts 1/k. The rating comes from the order of all agents "
    "at every table (Plackett–Luce): of two agents, the odds to finish ahead are exp(difference). "
    "Intervals draw whole deals again, with all their seatings."
)
_PICTURE_CAPTION = (
    "Above, ratings and win shares with 95% intervals; dashed: an even share. Below, each agent "
    "(row) against each other (column), and what a seat is worth, whoever sits there."
)
_CROSS_NOTE = (
    "a sits once, b at least once. Ahead: how often a finishes ahead of b, a tie counting half. "
    "Margin: a's score less b's."
)


def league_verdict(result: Json) -> str:
    """The result in words: who leads, who wins most, and what the first seat is worth."""
    agents = ranked(result["agents"])
    names = short_names([agent["name"] for agent in agents])
    best, second = agents[0], agents[1]
    entry = next(e for e in result["cross"] if (e["a"], e["b"]) == (best["name"], second["name"]))
    ahead = entry["ahead_ci95"]
    if ahead is None:
        told = "one deal doesn't say who is better"
    elif ahead[0] > 0.5:
        told = "so it is the better of the two"
    else:
        told = "which doesn't tell them apart"
    text = (
        f"{names[best['name']]} leads with a rating of {signed(best['rating'])}; it finishes ahead "
        f"of the next, {names[second['name']]}, in {entry['ahead']:.1%} {interval(ahead)} of "
        f"games where both sit, {told}."
    )
    most = max(agents, key=lambda agent: agent["win_share"])
    if most["win_share"] > best["win_share"]:
        text += f" The largest win share is {names[most['name']]}'s, {share(most['win_share'])}."
    return f"{text} {seat_verdict(result['seats'], result['players'])}"


def seat_verdict(seats: Sequence[Json], players: int) -> str:
    """What the first seat is worth."""
    first = seats[0]
    text = f"Seat 0 wins {share(first['win_share'])} {interval(first['ci95'], 3)} of games"
    if first["ci95"] is None:
        return f"{text}."
    low, high = first["ci95"]
    if low > 1 / players:
        return f"{text}, more than an even {share(1 / players)}: sitting first is an advantage."
    if high < 1 / players:
        return f"{text}, less than an even {share(1 / players)}: sitting first is a disadvantage."
    return f"{text}, which can't be told from an even {share(1 / players)}."


def _standings(result: Json, names: dict[str, str]) -> str:
    rows = [
        (
            names[agent["name"]],
            signed(agent["rating"]),
            interval(agent["rating_ci95"]),
            share(agent["win_share"]),
            interval(agent["ci95"], 3),
            f"{agent['mean_score']:.1f} {interval(agent['mean_score_ci95'], 1)}",
            f"{signed(agent['mean_margin'], 1)} {interval(agent['mean_margin_ci95'], 1)}",
            f"{agent['games']:,}",
        )
        for agent in ranked(result["agents"])
    ]
    head = ("agent", "rating", "95% interval", "win share", "95% interval")
    return table((*head, "score", "margin", "games"), rows)


def _cross(result: Json, names: dict[str, str]) -> str:
    rows = [
        (
            f"{names[entry['a']]} against {names[entry['b']]}",
            share(entry["win_share"]),
            interval(entry["ci95"], 3),
            f"{entry['ahead']:.3f} {interval(entry['ahead_ci95'], 3)}",
            f"{signed(entry['margin'], 1)} {interval(entry['margin_ci95'], 1)}",
            f"{entry['games']:,}",
        )
        for entry in result["cross"]
    ]
    return table(("a against b", "win share", "95% interval", "ahead", "margin", "games"), rows)


def _seats(result: Json, names: dict[str, str]) -> str:
    seats = result["seats"]
    rows = [("everybody", *(seat_cell(seat) for seat in seats))]
    for agent in ranked(result["agents"]):
        own = [next(a for a in seat["agents"] if a["name"] == agent["name"]) for seat in seats]
        rows.append((names[agent["name"]], *(seat_cell(entry) for entry in own)))
    return table(("win share, score", *(f"seat {seat['seat']}" for seat in seats)), rows)


def seat_cell(entry: Json) -> str:
    """Win share with its interval, and mean score."""
    return f"{share(entry['win_share'])} {interval(entry['ci95'])}, {entry['mean_score']:.1f}"


def _league_conditions(result: Json) -> str:
    tables, seeds = result["tables"], result["seeds"]
    kinds = "every order" if result["rotations"] == "all" else "cyclic seatings"
    games = f"{result['games']:,}: {seeds['deals']:,} deals, {len(tables):,} tables, {kinds}"
    rating = (
        f"{result['rating']['model']}, with {result['rating']['extra_draws']:g} drawn game more "
        "between every two agents"
    )
    drawn = result["bootstrap"]
    intervals = f"bootstrap by deal, {drawn['replicates']:,} times, seed {drawn['seed']}"
    more = [("Players", str(result["players"])), ("Rating", rating), ("Intervals", intervals)]
    return conditions(result, games, more, "league.json")
