"""What the command ``solve`` does."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from incunabula.agents.agent import Agent
from incunabula.agents.exact.files import may_be_solution, save_solution
from incunabula.agents.exact.optimal import OptimalAgent
from incunabula.agents.exact.solver import Solution, solve
from incunabula.agents.exact.table import GIGABYTE
from incunabula.agents.registry import OPTIMAL, make_agent
from incunabula.envs.bibliogamo.edition import Edition, load_edition
from incunabula.envs.errors import IncunabulaError
from incunabula.training.arguments import listed
from incunabula.training.evaluation.files import check_file, kept_if_used
from incunabula.training.evaluation.progress import SlowStatus
from incunabula.training.evaluation.result import edition_entry
from incunabula.training.evaluation.tables import short_names, table
from incunabula.training.exact.policies import check_evaluable, exact_value
from incunabula.training.output import deliver

Json = dict[str, Any]


def run_solve(
    edition: str, agents: str | None, *, max_memory: float, save: str | None, as_json: bool
) -> None:
    """Solve an edition, evaluate agents (names and paths, separated by commas), and print."""
    if not (math.isfinite(max_memory) and max_memory > 0):
        raise IncunabulaError(f"max-memory: expected GB, more than 0, got {max_memory:g}")
    loaded = load_edition(edition)
    names = [] if agents is None else listed("agents", agents)
    players = _made(names, loaded)
    with kept_if_used(None if save is None else Path(save).parent):
        if save is not None:
            _check_file(save)
        with Counting(f"solving {loaded.name}") as counting:
            solution = solve(loaded, max_memory=max_memory, on_progress=counting.count)
    unsaved = None if save is None else _saved(solution, save)
    result = solution_entry(solution)
    if names:
        result["agents"] = []
    for name in names:
        agent = players.get(name) or OptimalAgent(loaded, solution)
        with Counting(f"evaluating {name}") as counting:
            began = time.perf_counter()
            own = exact_value(agent, loaded, max_memory=max_memory, on_progress=counting.count)
            seconds = time.perf_counter() - began
        result["agents"].append(agent_entry(name, own, solution, seconds))
    deliver(result, print_solution, None, as_json=as_json)
    if unsaved is not None:
        raise unsaved


def _saved(solution: Solution, save: str) -> IncunabulaError | None:
    """Save; what went wrong is told after the result, which isn't lost with it."""
    try:
        save_solution(solution, save)
    except IncunabulaError as error:
        return error
    return None


def _made(names: list[str], edition: Edition) -> dict[str, Agent]:
    """The agents, before the work: but ``optimal``, which needs its result."""
    players: dict[str, Agent] = {}
    for name in names:
        if names.count(name) > 1:
            raise IncunabulaError(f"agents: {name!r} stands twice; name each agent once")
        if name != OPTIMAL:
            players[name] = make_agent(name, edition)
            check_evaluable(players[name])
    return players


def _check_file(save: str) -> None:
    """See that a file can be written there, before the work, and that nothing else is lost."""
    path = check_file(save)
    if path.exists() and not may_be_solution(path):
        raise IncunabulaError(
            f"save: {path} is no file of exact values, so it isn't overwritten; name another file"
        )


def solution_entry(solution: Solution) -> Json:
    """The optimum, as JSON values."""
    return {
        "edition": edition_entry(solution.edition),
        "value": solution.value,
        "by_prestige": solution.by_prestige.tolist(),
        "states": solution.states,
        "decisions": solution.decisions,
        "chances": solution.chances,
        "gigabytes": round(
            (solution.table.codes.nbytes + solution.table.values.nbytes) / GIGABYTE, 3
        ),
        "seconds": round(solution.seconds, 3),
    }


def agent_entry(name: str, own: Solution, optimum: Solution, seconds: float) -> Json:
    """An agent's exact value beside the optimum, as JSON values."""
    short = optimum.value - own.value
    if short < -1e-9:
        raise AssertionError(f"agent {name!r} is better than optimal by {-short}")
    return {
        "name": name,
        "value": own.value,
        "regret": max(short, 0.0),
        "share": own.value / optimum.value if optimum.value > 0 else None,
        "states": own.states,
        "seconds": round(seconds, 3),
    }


def print_solution(result: Json, console: Console) -> None:
    """The optimum and the agents, for people."""
    name = result["edition"]["name"]
    console.print(f"Optimal expected score of {name}: {result['value']:.9f}", highlight=False)
    by = ", ".join(f"{value:.6f}" for value in result["by_prestige"])
    console.print(f"By prestige collection: {by}", highlight=False)
    if "agents" in result:
        rows = table("Exact values", "agent", "score", "regret", "of optimal", "states", "seconds")
        names = short_names([row["name"] for row in result["agents"]])
        for row in result["agents"]:
            share = "–" if row["share"] is None else f"{row['share']:.1%}"
            figures = f"{row['value']:.6f}", f"{row['regret']:.6f}", share
            rows.add_row(
                names[row["name"]], *figures, f"{row['states']:,}", f"{row['seconds']:.1f}"
            )
        console.print(rows)
    console.print(
        f"{result['states']:,} states ({result['decisions']:,} decisions, {result['chances']:,} "
        f"ended turns) · {result['gigabytes']:g} GB of values · {result['seconds']:.1f} s.",
        style="dim",
        highlight=False,
    )


class Counting(SlowStatus):
    """Shows how many states have been seen; says how far it came should it be interrupted."""

    states = 0

    def interrupted(self) -> str:
        return f"{self.what}: interrupted after {self.states:,} states; nothing is kept"

    def count(self, states: int) -> None:
        """So many states so far."""
        self.states = states
        self.show(f"{states:,} states")
