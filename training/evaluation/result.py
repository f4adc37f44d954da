"""What every result says of itself: agents, edition, times."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from incunabula.agents.agent import Agent
from incunabula.agents.registry import make_agent, searches
from incunabula.agents.search.budget import Budget
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.machine import machine

Json = dict[str, Any]
Entrant = str | Path | Agent

MAX_BATCH = 1 << 16


def entrant_names(agents: Sequence[Entrant]) -> list[str]:
    """How the agents are called: an Agent by its own name, others by name or path as given.

    Raises IncunabulaError if there is none, or if it isn't a list of such.
    """
    listed = isinstance(agents, Sequence) and not isinstance(agents, str | bytes)
    if not listed or not agents:
        raise IncunabulaError("agents: expected at least one name, path or Agent, in a list")
    for given in agents:
        if not isinstance(given, str | Path | Agent):
            raise IncunabulaError(f"agents: expected a name, a path or an Agent, got {given!r}")
    return [given.name if isinstance(given, Agent) else str(given).strip() for given in agents]


def check_agents(agents: Sequence[Agent]) -> None:
    """Raise IncunabulaError unless these are Agents."""
    for given in agents:
        if not isinstance(given, Agent):
            raise IncunabulaError(f"expected an Agent, as make_agent makes one, got {given!r}")


def entrant(
    given: Entrant, name: str, edition: Any, seed: int, budget: Budget | None = None
) -> Agent:
    """The agent itself."""
    if isinstance(given, Agent):
        return given
    return make_agent(name, edition, seed=seed, budget=budget)


def named_agents(
    agents: Sequence[Entrant], edition: Any, seed: int, budget: Budget | None = None
) -> dict[str, Agent]:
    """Name -> agent, of agents that must differ; one that searches is named with its budget."""
    players: dict[str, Agent] = {}
    specs = entrant_names(agents)
    for spec in specs:
        if specs.count(spec) > 1:
            raise IncunabulaError(f"agents: {spec!r} stands twice; name each agent once")
    for given, spec in zip(agents, specs, strict=True):
        player = entrant(given, spec, edition, seed, budget)
        name = player.name if searches(spec) else spec
        if name in players:
            raise IncunabulaError(f"agents: {spec!r} is {name!r} again; name each agent once")
        players[name] = player
    return players


def move_budget(
    agents: Sequence[str], simulations: int | None, seconds: float | None
) -> Budget | None:
    """The budget given for the agents that search, None if none is given.

    Raises:
        IncunabulaError: it can't be used, or no agent of these specs searches.
    """
    if simulations is None and seconds is None:
        return None
    budget = Budget(simulations, seconds)
    if not any(searches(spec) for spec in agents):
        given = "simulations" if seconds is None else "seconds-per-move"
        raise IncunabulaError(
            f"{given}: none of the agents {', '.join(agents)} searches; name rollouts or "
            f"search, or leave --{given} out"
        )
    return budget


def edition_entry(edition: Any) -> Json:
    """Which edition was played."""
    return {
        "name": edition.name,
        "edition": edition.edition,
        "provenance": edition.provenance,
        "sha256": edition.sha256,
    }


def policy_entry(agent: Agent) -> Json:
    """What a learned agent plays: its weights' hash and the receipt of their training."""
    policy = getattr(agent, "policy", None)
    if policy is None:
        return {}
    return {"policy": {"sha256": policy.sha256, "training": policy.description["training"]}}


def timing_entry(began: float, batch_size: int) -> Json:
    """When and on what; ``began`` is a time of ``time.perf_counter``."""
    return {
        "seconds": round(time.perf_counter() - began, 3),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "batch_size": batch_size,
        "machine": machine(),
    }
