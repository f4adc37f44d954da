"""Pictures of leagues and of evaluations of several players. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator

from incunabula.training.evaluation.plots import FAINT, INK, STYLE, colours, cut, png
from incunabula.training.evaluation.tables import short_names, signed
from incunabula.training.league.tables import ranked, share

Json = dict[str, Any]

# With more agents than this the cross table's cells hold no figures.
FIGURES_UP_TO = 8


def league_png(result: Json) -> bytes:
    """Ratings and win shares, the cross table, and what each seat is worth."""
    agents = ranked(result["agents"])
    n = len(agents)
    names = short_names([agent["name"] for agent in agents])
    paint = colours([agent["name"] for agent in result["agents"]])
    labels = [cut(names[agent["name"]]) for agent in agents]
    painted = [paint[agent["name"]] for agent in agents]
    even = 1 / result["players"]
    with mpl.rc_context(STYLE):
        upper = 1.1 + 0.42 * n
        lower = max(2.6, 1.3 + 0.55 * n)
        figure = Figure(figsize=(9.5, upper + lower), dpi=144, layout=_layout())
        axes: Any = figure.subplots(2, 2, height_ratios=[upper, lower])
        ratings = [(a["rating"], a["rating_ci95"]) for a in agents]
        _dots(axes[0, 0], ratings, labels, painted, "Rating (log strength)", 0.0, 2)
        shares = [(a["win_share"], a["ci95"]) for a in agents]
        _dots(axes[0, 1], shares, labels, painted, "Win share", even, 3)
        axes[0, 1].set_yticklabels([])
        _cross(axes[1, 0], result["cross"], [a["name"] for a in agents], labels, even)
        everybody = [(seat["win_share"], seat["ci95"]) for seat in result["seats"]]
        _seat_bars(axes[1, 1], [("everybody", FAINT, everybody)], even)
        return png(figure)


def versus_png(result: Json) -> bytes:
    """Each agent's win share, and its win share in each seat."""
    agents = result["agents"]
    names = short_names([agent["name"] for agent in agents])
    paint = colours([agent["name"] for agent in agents])
    labels = [cut(names[agent["name"]]) for agent in agents]
    even = 1 / result["players"]
    with mpl.rc_context(STYLE):
        upper, lower = 1.1 + 0.42 * len(agents), 2.9
        figure = Figure(figsize=(9, upper + lower), dpi=144, layout=_layout())
        axes: Any = figure.subplots(2, 1, height_ratios=[upper, lower])
        shares = [(agent["win_share"], agent["ci95"]) for agent in agents]
        opponent = result["against"]["name"]
        title = f"Win share against {cut(short_names([opponent])[opponent])}"
        _dots(axes[0], shares, labels, [paint[a["name"]] for a in agents], title, even, 3)
        groups = [
            (
                label,
                paint[agent["name"]],
                [(seat["win_share"], seat["ci95"]) for seat in agent["seats"]],
            )
            for label, agent in zip(labels, agents, strict=True)
        ]
        _seat_bars(axes[1], groups, even)
        return png(figure)


def _layout() -> ConstrainedLayoutEngine:
    """Constrained, with room between the panels."""
    return ConstrainedLayoutEngine(hspace=0.06, wspace=0.04)


Estimate = tuple[float, list[float] | None]


def _error(estimates: Sequence[Estimate]) -> Any:
    """Distances from the values to the ends of their intervals, (2, n)."""
    ends = [(v, v) if ci is None else ci for v, ci in estimates]
    return np.array(
        [[v - low, high - v] for (v, _), (low, high) in zip(estimates, ends, strict=True)]
    ).T.clip(0)


def _dots(
    ax: Axes,
    estimates: Sequence[Estimate],
    labels: Sequence[str],
    painted: Sequence[str],
    title: str,
    level: float,
    digits: int,
) -> None:
    """A value with its interval on each line, and a line at ``level``."""
    places = np.arange(len(labels))
    ax.axvline(level, color=FAINT, linewidth=1, linestyle=(0, (4, 2)))
    for place, (value, _), colour, error in zip(
        places, estimates, painted, _error(estimates).T, strict=True
    ):
        ax.errorbar(
            [value], [place], xerr=error[:, None], fmt="o", color=colour, capsize=3, linewidth=1.6
        )
        text = signed(value, digits, "+" if level == 0 else "")
        ax.annotate(
            text,
            (value, place),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=8.5,
            fontweight="bold",
            color=INK,
        )
    ax.set_title(title)
    ax.set_yticks(places, labels, fontweight="bold")
    ax.set_ylim(len(labels) - 0.5, -0.7)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.margins(x=0.12)
    ax.xaxis.set_major_locator(MaxNLocator(6))


def _cross(
    ax: Axes, cross: Sequence[Json], names: Sequence[str], labels: Sequence[str], even: float
) -> None:
    """Win shares, row against column; the colour is even at an even share."""
    n = len(names)
    grid = np.full((n, n), np.nan)
    for entry in cross:
        grid[names.index(entry["a"]), names.index(entry["b"])] = entry["win_share"]
    # From nothing over an even share to everything, whatever the number of players.
    shade = np.where(grid <= even, grid / even / 2, 0.5 + (grid - even) / (1 - even) / 2)
    ax.imshow(shade, cmap="BrBG", vmin=-0.15, vmax=1.15, aspect="auto")
    if n <= FIGURES_UP_TO:
        for i, j in zip(*np.nonzero(~np.isnan(grid)), strict=True):
            strong = abs(shade[i, j] - 0.5) > 0.42
            ink = "white" if strong else INK
            ax.text(j, i, share(grid[i, j]), ha="center", va="center", fontsize=9, color=ink)
    ax.set_title("Win share, row against column")
    ax.set_xticks(range(n), labels, rotation=30 if n > 3 else 0, ha="right" if n > 3 else "center")
    ax.set_yticks(range(n), labels, fontweight="bold")
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _seat_bars(
    ax: Axes, groups: Sequence[tuple[str, str, Sequence[Estimate]]], even: float
) -> None:
    """Win share of each seat, a bar for each group."""
    players = len(groups[0][2])
    width = 0.8 / len(groups)
    for k, (label, colour, estimates) in enumerate(groups):
        places = np.arange(players) + (k - (len(groups) - 1) / 2) * width
        values = [value for value, _ in estimates]
        ax.bar(places, values, width * 0.92, color=colour, label=label)
        ax.errorbar(
            places, values, yerr=_error(estimates), fmt="none", color=INK, capsize=2.5, linewidth=1
        )
        if len(groups) * players <= 16:
            for place, value, (_, ci) in zip(places, values, estimates, strict=True):
                top = value if ci is None else ci[1]
                ax.annotate(
                    share(value),
                    (place, top),
                    xytext=(0, 2),
                    textcoords="offset points",
                    ha="center",
                    fontsize=8.5,
                )
    ax.axhline(even, color=FAINT, linewidth=1, linestyle=(0, (4, 2)))
    ax.set_title("Win share by seat")
    names = [f"seat {seat}" for seat in range(players)]
    names[0] += "\n(has the quill)"
    ax.set_xticks(range(players), names)
    ax.tick_params(axis="x", length=0)
    ax.margins(y=0.15)
    ax.set_ylim(bottom=0)
    if len(groups) > 1:
        ax.legend(fontsize=9, ncols=min(4, len(groups)))
