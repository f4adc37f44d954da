"""Par: the best line found in hindsight on each deal, and how far agents stay behind it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console

from incunabula.agents.hindsight.search import SEARCH_VERSION
from incunabula.envs.bibliogamo.edition import Edition
from incunabula.training.evaluation.games import Games
from incunabula.training.evaluation.statistics import DIGITS, paired, summary
from incunabula.training.evaluation.tables import interval, short_names, signed, table
from incunabula.training.hindsight.deals import find_lines

Json = dict[str, Any]
Int64Array = npt.NDArray[np.int64]
PAR_WIDTH = 64  # of the beam, unless told otherwise


def par_of(
    edition: Edition,
    deals: npt.NDArray[np.uint64],
    width: int,
    prestige: int | None,
    on_progress: Callable[[int], None],
) -> Int64Array:
    """What the best line found on each of these deals (n,) scores, int64 (n,); see
    ``find_lines``."""
    seeds = deals.tolist()
    found = find_lines(edition, seeds, width=width, prestige=prestige, on_progress=on_progress)
    return np.array([line.form["score"] for line in found], np.int64)


def par_entry(par: Int64Array, width: int, played: Mapping[str, Games], began: float) -> Json:
    """The result's ``par``; ``began`` is a time of ``time.perf_counter``."""
    seconds = time.perf_counter() - began
    return {
        "width": int(width),
        "search": SEARCH_VERSION,
        **summary(par),
        "agents": [_behind(name, games.score, par) for name, games in played.items()],
        "timing": {
            "seconds": round(seconds, 3),
            "deals_per_second": round(len(par) / seconds, 2),
        },
    }


def _behind(name: str, score: Int64Array, par: Int64Array) -> Json:
    """An agent's scores (n,) against par, deal by deal."""
    against = paired(score, par)
    mean = float(par.mean())
    return {
        "name": name,
        "mean_difference": against["mean_difference"],
        "ci95": against["ci95"],
        "share": round(float(score.mean()) / mean, DIGITS) if mean > 0 else None,
        "above": against["a_better"],
        "equal": against["equal"],
        "below": against["b_better"],
    }


def print_par(result: Json, console: Console) -> None:
    """How far the agents stay behind par, as a table."""
    par = result["par"]
    names = short_names([agent["name"] for agent in result["agents"]])
    rows = table(
        f"Against par (best line found in hindsight: {par['mean']:.2f} {interval(par['ci95'])})",
        *("agent", "score − par", "95% interval", "score / par", "not below"),
    )
    for agent in par["agents"]:
        share = "–" if agent["share"] is None else f"{agent['share']:.1%}"
        games = sum(agent[key] for key in ("above", "equal", "below"))
        reached = (agent["above"] + agent["equal"]) / games
        rows.add_row(
            names[agent["name"]],
            signed(agent["mean_difference"]),
            interval(agent["ci95"]),
            share,
            f"{reached:.0%}",
        )
    console.print(rows)
    console.print(
        "Par knows the order of the cards, which no player does; it is a lower bound on the best "
        f"in hindsight (beam width {par['width']:,}).",
        style="dim",
        highlight=False,
    )
