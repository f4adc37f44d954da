"""Agents by name, from a folder that training made, or searching over one of these."""

from __future__ import annotations

import importlib.resources
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from incunabula.agents.agent import Agent, RandomAgent
from incunabula.agents.search.budget import Budget
from incunabula.envs.documents import no_such
from incunabula.envs.editions import BaseEdition
from incunabula.envs.errors import IncunabulaError

T = TypeVar("T")

# "ppo" is the trained policy that comes with the package.
AGENTS = ("random", "greedy", "ppo")
# Agents that search: "rollouts" over greedy, "rollouts:SPEC" over another agent; "search", one
# that a shipped network guides (see ``guided``), "search:PATH" one that another policy guides.
SEARCHERS = ("rollouts", "search")
# Plays by exact values of a small edition of Bibliogamo; "optimal:FILE" by those in a file.
OPTIMAL = "optimal"
# Shipped policies whose values are in the game's payoffs.
GUIDES = {"bibliogamo": "search/bibliogamo", "scriptorium": "scriptorium"}
# Where a run folder holds its best policy.
RUN_POLICY = "policy"


def searches(spec: str | Path) -> bool:
    """Whether this is an agent that searches, and so has a budget."""
    return str(spec).partition(":")[0] in SEARCHERS


def make_agent(
    spec: str | Path, edition: BaseEdition, *, seed: int = 0, budget: Budget | None = None
) -> Agent:
    """An agent for an edition.

    Args:
        spec: ``random``, ``greedy``, ``ppo``, or the path of a policy folder or of a run folder
            (its best policy). A name wins over a folder of that name; write ``./ppo`` for the
            folder. ``rollouts`` is a rollout player over ``greedy``, ``rollouts:SPEC`` over
            another agent; ``search`` a search guided by a shipped network, ``search:PATH`` by the
            policy in a folder. ``optimal`` plays by the exact values of a small edition, which
            are worked out when they are first needed, ``optimal:FILE`` by those kept in a file.
        edition: what the agent is to play.
        seed: of the agent's own draws.
        budget: of an agent that searches, for each move; by default the agent's own.

    Raises:
        IncunabulaError: there is no such agent or folder, or its policy can't be used with this
            edition.
    """
    if searches(spec):
        return _make_searcher(str(spec), edition, budget, seed)
    if spec == "random":
        return RandomAgent(seed)
    if spec == "greedy":
        from incunabula.agents.baselines import make_greedy

        return make_greedy(edition.game)
    kind, kept, file = str(spec).partition(":")
    if kind == OPTIMAL:
        if kept and not file.strip():
            raise IncunabulaError(f"agent {str(spec)!r}: expected a file after the colon")
        from incunabula.agents.exact.optimal import make_optimal

        return make_optimal(edition, file if kept else None)
    from incunabula.agents.learned import PolicyAgent

    if spec == "ppo":
        return _shipped(edition.game, "ppo", lambda folder: PolicyAgent(folder, edition, "ppo"))
    return PolicyAgent(_policy_folder(spec), edition, str(spec))


def _make_searcher(spec: str, edition: BaseEdition, budget: Budget | None, seed: int) -> Agent:
    """The agent of a spec that ``searches``."""
    kind, over, base = spec.partition(":")
    base = base.strip()
    if over and not base:
        what = "an agent" if kind == "rollouts" else "a policy folder or run folder"
        raise IncunabulaError(f"agent {spec!r}: expected {what} after the colon")
    if searches(base):
        raise IncunabulaError(f"agent {spec!r}: {base!r} searches itself; name its base")
    if kind == "rollouts":
        from incunabula.agents.search.rollouts import make_rollouts

        own = make_agent(base if over else "greedy", edition, seed=seed)
        return make_rollouts(own, edition.game, budget, seed)
    from incunabula.agents.search.guided import make_search

    if over and base in (*AGENTS, OPTIMAL):
        raise IncunabulaError(
            f"agent {spec!r}: expected the path of a policy folder or run folder after the colon, "
            f"got the agent {base!r}; write ./{base} for a folder of that name"
        )
    if over:
        return make_search(_policy_folder(base), base, edition, budget, seed)
    guide = GUIDES[edition.game]
    return _shipped(guide, "search", lambda own: make_search(own, "ppo", edition, budget, seed))


def with_shipped(folder: str, make: Callable[[Path], T]) -> T:
    """What ``make`` makes of a policy folder that comes with the package, such as ``GUIDES``'."""
    shipped = importlib.resources.files("incunabula.agents") / "pretrained" / folder
    with importlib.resources.as_file(shipped) as path:
        return make(path)


def _shipped(folder: str, name: str, make: Callable[[Path], Agent]) -> Agent:
    """An agent by a policy folder that comes with the package; errors name the agent."""
    try:
        return with_shipped(folder, make)
    except IncunabulaError as error:
        raise IncunabulaError(f"agent {name!r}: {error}") from None


def _policy_folder(spec: str | Path) -> Path:
    """The policy folder that an agent's path means."""
    if not str(spec).strip():
        raise IncunabulaError("agent: the name or path is empty")
    found = policy_path(spec)
    if found is not None:
        return found
    if isinstance(spec, str) and os.sep not in spec and "/" not in spec:
        message = no_such("agent", spec, (*AGENTS, *SEARCHERS, OPTIMAL))
        raise IncunabulaError(f"{message}, or the path of a policy folder or run folder")
    raise IncunabulaError(f"agent {str(spec)!r}: there is no such folder")


def policy_path(path: str | Path) -> Path | None:
    """The policy folder that a path means: itself, or the best policy of a run folder.

    None if nothing is there.

    Raises:
        IncunabulaError: the path can't be read, or is a run that has no policy yet.
    """
    from incunabula.agents.policy_folder import DESCRIPTION
    from incunabula.agents.tensors import existing_folder

    folder = Path(path)
    try:
        found = folder.exists() or existing_folder(folder).exists()
        run = not (folder / DESCRIPTION).exists() and existing_folder(folder / RUN_POLICY).is_dir()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise IncunabulaError(f"{str(path)[:80]!r}: can't be read: {reason}") from None
    if not found:
        return None
    if (folder / "metrics.jsonl").exists() and not run:
        raise IncunabulaError(f"{folder}: this training run has no policy yet; let it go on")
    return folder / RUN_POLICY if run else folder
