"""The report's pictures, drawn without a display. Matplotlib is imported by this module alone."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from incunabula.training.evaluation.curve import Curve
from incunabula.training.evaluation.tables import short_names, signed

Json = dict[str, Any]

INK, FAINT, PAPER = "#2b2723", "#8d857b", "#ffffff"
# Told apart by lightness too, so that they survive a grey printer and most colour blindness.
COLOURS = ("#9a9389", "#c8892b", "#1f5a8c", "#a8423f", "#4b8b6b", "#7a5a96", "#56b0c9", "#3d3a36")
PARTS = (
    ("books", "books sold", "#1f5a8c"),
    ("florins", "florins", "#c8892b"),
    ("prestige", "prestige slots", "#4b8b6b"),
    ("bonus", "prestige bonus", "#a3cbb4"),
)
STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "text.color": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "legend.frameon": False,
    "text.parse_math": False,  # a name may hold a dollar
}
MOST_BINS = 90


def colours(names: Sequence[str]) -> dict[str, str]:
    """Name -> colour, the same in every picture; random, greedy and ppo have their own."""
    fixed = {"random": COLOURS[0], "greedy": COLOURS[1], "ppo": COLOURS[2]}
    others = [c for c in COLOURS[3:] if c not in fixed.values()]
    if "ppo" not in names:
        others.insert(0, COLOURS[2])
    free = iter(others * len(names))
    return {name: fixed.get(name) or next(free) for name in names}


def scores_png(result: Json) -> bytes:
    """How each agent's scores are spread, one above the other, and what they are made of."""
    agents = result["agents"]
    names = short_names([agent["name"] for agent in agents])
    colour = colours([agent["name"] for agent in agents])
    with mpl.rc_context(STYLE):
        rows = len(agents)
        height = 1.05 * rows + 0.42 * rows + 2.3
        figure = Figure(figsize=(9, height), dpi=144, layout="constrained")
        halves: Any = figure.subfigures(2, 1, height_ratios=[1.05 * rows + 1.0, 0.42 * rows + 1.3])
        upper, lower = halves
        upper.suptitle("Scores of single games", x=0.01, ha="left", fontsize=11, fontweight="bold")
        axes = upper.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
        edges = _edges(agents)
        for ax, agent in zip(axes, agents, strict=True):
            _distribution(ax, agent, edges, names[agent["name"]], colour[agent["name"]])
        axes[-1].set_xlabel("score (each row has its own height; line and figure: the mean)")
        _composition(lower.subplots(), agents, names)
        return png(figure)


def _edges(agents: Sequence[Json]) -> Any:
    """Edges of bins of whole scores, at most MOST_BINS of them for all agents together."""
    low = min(agent["min"] for agent in agents)
    high = max(agent["max"] for agent in agents)
    width = max(1, -(-(high - low + 1) // MOST_BINS))
    return np.arange(low, high + width + 1, width) - 0.5


def _distribution(ax: Axes, agent: Json, edges: Any, name: str, colour: str) -> None:
    spread = agent["distribution"]
    counts, _ = np.histogram(spread["score"], edges, weights=spread["games"])
    ax.stairs(counts, edges, fill=True, color=colour, alpha=0.35)
    ax.stairs(counts, edges, color=colour, linewidth=1)
    ax.axvline(agent["mean"], color=colour, linewidth=1.8)
    # The figure stands on the side of the mean line that has more room.
    left = agent["mean"] > (edges[0] + edges[-1]) / 2
    ax.annotate(
        signed(agent["mean"], 1, ""),
        (agent["mean"], 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(-6 if left else 6, 0),
        textcoords="offset points",
        ha="right" if left else "left",
        va="top",
        fontweight="bold",
        color=INK,
    )
    ax.set_ylabel(cut(name), rotation=0, ha="right", va="center", fontweight="bold")
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.margins(x=0.01)
    ax.set_ylim(0, max(1.0, float(counts.max())) * 1.3)


def _composition(ax: Axes, agents: Sequence[Json], names: dict[str, str]) -> None:
    places = np.arange(len(agents))
    start = np.zeros(len(agents))
    for key, label, colour in PARTS:
        width = np.array([agent["split"][key] for agent in agents])
        ax.barh(places, width, left=start, height=0.55, color=colour, label=label)
        total = max(1e-9, float(max(agent["mean"] for agent in agents)))
        for place, (x, w) in enumerate(zip(start, width, strict=True)):
            if w > 0.06 * total:  # wide enough for a figure
                dark = colour in ("#1f5a8c", "#4b8b6b")
                ink = "white" if dark else INK
                ax.text(x + w / 2, place, f"{w:.1f}", ha="center", va="center", color=ink, size=8.5)
        start += width
    ax.set_yticks(places, [cut(names[agent["name"]]) for agent in agents], fontweight="bold")
    ax.tick_params(axis="y", length=0)
    ax.invert_yaxis()
    ax.spines["left"].set_visible(False)
    ax.set_title("Where a mean game's points come from")
    ax.set_xlabel("points")
    ax.legend(
        loc="lower right",
        bbox_to_anchor=(1, 1),
        ncols=4,
        fontsize=9,
        borderaxespad=0.2,
        handlelength=1,
        handleheight=1,
        columnspacing=1.2,
    )


def learning_curve_png(
    curves: Sequence[Curve], levels: Mapping[str, float], label: str = "mean score"
) -> bytes:
    """What was measured during training against steps, with the evaluated agents as level lines.

    Args:
        curves: one for each run.
        levels: name -> the same measure of each evaluated agent.
        label: what is measured.
    """
    short = short_names(list(levels))
    learners = {curve.name for curve in curves}
    paint = colours(list(levels))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9, 4.4), dpi=144, layout="constrained")
        ax = figure.subplots()
        free = iter(COLOURS[2:] * (1 + len(curves)))
        for curve in curves:
            colour = paint.get(curve.name) or next(free)
            steps = [point.steps for point in curve.points]
            means = [point.mean for point in curve.points]
            low = [point.low for point in curve.points]
            high = [point.high for point in curve.points]
            ax.fill_between(steps, low, high, color=colour, alpha=0.18, linewidth=0)
            ax.plot(
                steps,
                means,
                color=colour,
                linewidth=1.8,
                marker="o",
                markersize=3,
                label=cut(short.get(curve.name, curve.name)),
            )
            best = max(curve.points, key=lambda point: point.mean)
            ax.plot(best.steps, best.mean, "o", color=colour, markersize=7, fillstyle="none")
        lines = [name for name in levels if name not in learners]
        for name in lines:
            ax.axhline(levels[name], color=paint[name], linestyle=(0, (5, 2)), linewidth=1.4)
        ax.set_title("Learning")
        ax.set_xlabel("steps of training")
        ax.set_ylabel(label)
        ax.xaxis.set_major_formatter(FuncFormatter(_steps))
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        ax.grid(axis="y", color=FAINT, alpha=0.2, linewidth=0.8)
        ax.set_xlim(left=0)
        bottom, top = ax.get_ylim()
        ax.set_ylim(min(0.0, bottom), top)
        digits = 1 if top - bottom > 5 else 3
        heights = _apart([levels[name] for name in lines], top - bottom)
        for name, height in zip(lines, heights, strict=True):
            ax.text(
                1.01,
                height,
                f"{cut(short[name])} {levels[name]:.{digits}f}",
                transform=ax.get_yaxis_transform(),
                va="center",
                color=paint[name],
                fontweight="bold",
            )
        if len(curves) > 1:
            ax.legend(loc="lower right", fontsize=9)
        return png(figure)


def _apart(values: Sequence[float], extent: float) -> list[float]:
    """Heights for labels of these values: at least 5.5% of the axis apart, order kept."""
    gap = 0.055 * extent
    heights = list(values)
    order = np.argsort(values, kind="stable")
    for _ in range(100):
        for i, j in pairwise(order):
            lacking = gap - (heights[j] - heights[i])
            if lacking > 1e-9:
                heights[i] -= lacking / 2
                heights[j] += lacking / 2
    return heights


def _steps(value: float, _: Any = None) -> str:
    """1500000 as 1.5M."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def cut(name: str) -> str:
    """A name that fits beside an axis."""
    return name if len(name) <= 22 else f"…{name[-21:]}"


def png(figure: Figure) -> bytes:
    """The figure as a file."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        # A letter that the font hasn't got is drawn as a box; the tables have it.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from", UserWarning)
        # No version or date in the file: the same result gives the same picture.
        FigureCanvasAgg(figure).print_figure(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()
