"""Other implementations beside our own, as tables in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, JustifyMethod
from rich.table import Table

from incunabula.training.evaluation.tables import row_speeds

Json = dict[str, Any]
OWN = "incunabula"
# Headings and widths of columns; None = as wide as the terminal has room for.
SPEEDS = {
    "": None,
    "games": 9,
    "steps/s": 10,
    "slowest run": 7,
    "with sampling": 10,
    "decisions/s": 11,
    "cores busy": 5,
}
TRAITS = {
    "": None,
    "made of": None,
    "observation": 11,
    "mask": 9,
    "deals anew": 9,
    "draws timed": 5,
    "threads": 7,
}


def print_against(result: Json, console: Console) -> None:
    """Speeds of our own rows of random play and the others', and what is like for like."""
    others = result["against"]["rows"]
    random = [row for row in result["rows"] if _plays_at_random(row)]
    own = [{"implementation": OWN, "plays": row["game"], **row} for row in random]
    own_traits = [{"implementation": OWN, **line} for line in result["against"]["own"]]
    console.print(_speeds(own + others), _traits(own_traits + others))
    same = {row["implementation"] for row in others if row["plays"] == result["rows"][0]["game"]}
    other = {row["implementation"] for row in others} - same
    notes = [f"The same game: {', '.join(sorted(same))}."] if same else []
    if other:
        notes.append(f"Other games, so that only magnitudes compare: {', '.join(sorted(other))}.")
    names = sorted({*result["versions"]} - {"incunabula", "python", "numpy", "gymnasium"})
    notes += [f"{name} {result['versions'][name]}." for name in names]
    console.print(" ".join(notes), style="dim", highlight=False)


def _plays_at_random(row: Json) -> bool:
    return {row.get("policy", "random"), row.get("opponents", "random")} == {"random"}


def _speeds(rows: Sequence[Json]) -> Table:
    """A line for each row; decisions of all seats where a step is more than one."""
    made = _table("Beside other implementations", SPEEDS, "right")
    for row in rows:
        games = f"{row['num_envs']:,}"
        made.add_row(
            _called(row),
            f"{row['threads']} × {games}" if (row.get("threads") or 1) > 1 else games,
            *row_speeds(row),
            f"{row.get('decisions_per_second', row['steps_per_second']):,}",
            f"{row['cores_busy']:.1f}" if "cores_busy" in row else "",
        )
    return made


def _traits(rows: Sequence[Json]) -> Table:
    """What each implementation does in the time that is measured, a line for each view."""
    made = _table("What is like for like", TRAITS, "left")
    for (name, threads), row in {(_called(row), row["threads"]): row for row in rows}.items():
        made.add_row(
            name,
            *(row[key] for key in ("technique", "observation", "action_mask", "autoreset")),
            "yes" if row["sampling_timed"] else "no",
            "any" if threads is None else str(threads),
        )
    return made


def _called(row: Json) -> str:
    view = row["view"].replace("_", " ")
    return f"{row['implementation']} {view}: {row['plays']}"


def _table(title: str, columns: Mapping[str, int | None], justify: JustifyMethod) -> Table:
    """A table whose first column is text."""
    made = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=0)
    for i, (heading, width) in enumerate(columns.items()):
        made.add_column(heading, overflow="fold", width=width, justify=justify if i else "left")
    return made
