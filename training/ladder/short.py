"""The main columns of a ladder, for README.md."""

from __future__ import annotations

from typing import Any

from incunabula.training.evaluation.tables import short_names
from incunabula.training.ladder.cells import (
    cost,
    heading,
    less_luck,
    spread,
    to_the_next,
    with_interval,
)
from incunabula.training.ladder.page import markdown

Json = dict[str, Any]


def short_table(result: Json) -> str:
    """The main columns of a ladder, in Markdown, and a sentence about each set of training runs."""
    return (_scores if result["game"] == "bibliogamo" else _shares)(result)


def _scores(result: Json) -> str:
    (table,) = result["tables"]
    names = short_names([row["name"] for row in table["rows"]])
    head = ["Bibliogamo", "Mean score", "Less luck", "To the next", "Games", "ms a decision"]
    head.append("Training")
    rows = [
        [
            f"`{names[row['name']]}`",
            with_interval(row["mean"], row["ci95"], 2),
            less_luck(row),
            to_the_next(row, 2),
            f"{row['games']:,}",
            f"{row['timing']['ms_per_decision']:.3g}",
            cost(row["training"]),
        ]
        for row in table["rows"]
    ]
    return "\n\n".join([markdown(head, rows), *_spreads(result)])


def _shares(result: Json) -> str:
    """Win shares by number of players; agents by the mean of their ranks."""
    tables = result["tables"]
    found: dict[str, list[Json]] = {}
    for table in tables:
        for row in table["rows"]:
            found.setdefault(row["name"], []).append(row)
    names = short_names(list(found))
    head = ["Scriptorium", *(heading(table) for table in tables), "Deals", "Training"]
    rows = [
        [
            f"`{names[name]}`",
            *(with_interval(row["win_share"], row["ci95"], 3) for row in entries),
            f"{entries[0]['games'] // tables[0]['players']:,}",
            cost(entries[0]["training"]),
        ]
        for name, entries in sorted(found.items(), key=lambda each: sum(r["rank"] for r in each[1]))
    ]
    return "\n\n".join([markdown(head, rows), *_spreads(result)])


def _spreads(result: Json) -> list[str]:
    """A sentence about the training runs of each table that has any."""
    said = []
    for table in result["tables"]:
        if table["training_runs"] is None:
            continue
        _, ((name, mean, between, sd, noise, *_),) = spread(table)
        where = "" if table["players"] == 1 else f" with {table['players']} players"
        said.append(
            f"`{name}`{where} (training seeds of one configuration): {mean}, the runs {between}; "
            f"standard deviation between runs {sd}, of a run's mean by chance in the games {noise}."
        )
    return said
