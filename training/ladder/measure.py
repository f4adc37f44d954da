"""A ladder's measurements: one agent's games, or one league, as JSON values that can be kept.

A measurement has a ``key`` that says what was measured, the figures of ``evaluate``,
``evaluate_versus`` or ``league``, and the results ``by_deal`` that pairs are compared by. What
depends on the machine stands under ``timing``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import incunabula.agents
import incunabula.envs
from incunabula.agents.agent import Agent
from incunabula.envs.editions import BaseEdition
from incunabula.training.evaluation.evaluate import evaluate
from incunabula.training.evaluation.luck import luck_possible
from incunabula.training.evaluation.machine import machine, versions
from incunabula.training.evaluation.rows import DEFAULT_BATCH
from incunabula.training.league.against import AGENT
from incunabula.training.league.evaluate import deal_means, evaluate_versus
from incunabula.training.league.league import league

Json = dict[str, Any]
# Who has the other seats in a game of several players.
OPPONENT = "greedy"
ROTATIONS = "cyclic"
# A share of a win is 1, 1/2, 1/3 or 1/4: whole numbers of twelfths can be kept exactly.
TWELFTHS = 12
MILLI = 1000  # luck is kept to a thousandth of a point
# How folders and files of games and agents begin that have no part in what an evaluation plays.
UNPLAYED = (
    *("adapters", "bounds", "conform", "drawing", "hindsight", "lines", "precompile", "replay"),
    *("scene", "scriptorium_v0", "seat", "why", "wording"),
)

_FIGURES = {
    1: ("games", "mean", "ci95", "sd", "min", "max", "decisions_per_game"),
    2: (
        *("games", "wins", "shared", "win_share", "ci95", "mean_score", "mean_score_ci95"),
        *("mean_margin", "mean_margin_ci95", "decisions_per_game"),
    ),
}


@dataclass(frozen=True)
class Terms:
    """What all measurements of a ladder have in common.

    Attributes:
        edition: what is played.
        seeds: the published list of deals, ``dev`` or ``final``.
        seed: of the agents' own draws.
        batch_size: games played at once; changes the time taken and nothing else.
        backend: the engine's; changes as little.
    """

    edition: BaseEdition
    seeds: str = "final"
    seed: int = 0
    batch_size: int = DEFAULT_BATCH
    backend: str = "auto"

    @cached_property
    def basis(self) -> Json:
        """What figures depend on beside a measurement's key."""
        known = versions()
        return {
            "game": self.edition.game,
            "edition_sha256": self.edition.sha256,
            "seeds": self.seeds,
            "agent_seed": self.seed,
            "incunabula": known["incunabula"],
            "numpy": known["numpy"],
            "code_sha256": code_hash(),
        }


def code_hash() -> str:
    """SHA-256 over the source files of games and agents, which decide what is played.

    Left out is what shows or studies games and never plays one (``UNPLAYED``): measurements of
    hours needn't be made again for a picture.
    """
    total = hashlib.sha256()
    for package in (incunabula.agents, incunabula.envs):
        root = Path(package.__path__[0])
        files = {path.relative_to(root).as_posix(): path for path in root.rglob("*.py")}
        for name in sorted(files):
            if not any(part.startswith(UNPLAYED) for part in name.split("/")):
                content = hashlib.sha256(files[name].read_bytes()).hexdigest()
                total.update(f"{name} {content}\n".encode())
    return total.hexdigest()


def policy_hash(agent: Agent) -> str | None:
    """SHA-256 of the weights that an agent plays or is guided by; None if it has none."""
    policy = getattr(agent, "policy", None)
    return None if policy is None else str(policy.sha256)


def agent_key(what: str, agent: Agent, players: int, deals: int) -> Json:
    """What a measurement of one agent is of; ``what`` is "agent", or "run": a training run."""
    return {
        "measured": what,
        "name": agent.name,
        "policy_sha256": policy_hash(agent),
        "players": players,
        "deals": deals,
    }


def league_key(agents: Sequence[Agent], players: int, deals: int) -> Json:
    """What a league among these agents is of."""
    return {
        "measured": "league",
        "names": [agent.name for agent in agents],
        "policy_sha256": [policy_hash(agent) for agent in agents],
        "players": players,
        "deals": deals,
        "rotations": ROTATIONS,
    }


def measure_agent(agent: Agent, key: Json, terms: Terms) -> Json:
    """Play an agent's games: alone, or from every seat against copies of ``OPPONENT``."""
    players, deals = key["players"], key["deals"]
    options: Json = {
        "edition": terms.edition,
        "seeds": terms.seeds,
        "seed": terms.seed,
        "batch_size": terms.batch_size,
        "backend": terms.backend,
    }
    if players == 1:
        alone = evaluate([agent], games=deals, luck=luck_possible(terms.edition), **options)
        entry, games = alone.result["agents"][0], alone.games[agent.name]
        by_deal = {"score": _text(games.score)}
        if alone.luck:
            by_deal["luck_milli"] = _text(np.rint(MILLI * alone.luck[agent.name]))
        decisions, seconds = int(games.decisions.sum()), entry["timing"]["seconds"]
    else:
        versus = evaluate_versus(
            [agent], against=OPPONENT, num_players=players, deals=deals, **options
        )
        entry, played = versus.result["agents"][0], versus.games[agent.name]
        by_deal = {
            "win_twelfths": _text(np.rint(deal_means(played, "shares") * players * TWELFTHS)),
            "score": _text(np.rint(deal_means(played, "scores") * players)),
        }
        work = played.games.work[AGENT]
        decisions, seconds = work.decisions, work.seconds
    return {
        "key": key,
        **{name: entry[name] for name in _FIGURES[min(players, 2)]},
        **{name: entry[name] for name in ("luck_adjusted",) if name in entry},
        "by_deal": by_deal,
        "timing": _timing(decisions, seconds, entry["backend"], terms),
    }


def measure_league(agents: Sequence[Agent], key: Json, terms: Terms) -> Json:
    """Let the agents meet at tables of so many players."""
    played = league(
        agents,
        num_players=key["players"],
        edition=terms.edition,
        deals=key["deals"],
        rotations=ROTATIONS,
        seeds=terms.seeds,
        seed=terms.seed,
        batch_size=terms.batch_size,
        backend=terms.backend,
    ).result
    figures = ("name", "games", "rating", "rating_ci95", "win_share", "ci95")
    return {
        "key": key,
        "games": played["games"],
        "agents": [{name: agent[name] for name in figures} for agent in played["agents"]],
        "rating": played["rating"],
        "timing": {"seconds": played["timing"]["seconds"], "machine": played["timing"]["machine"]},
    }


def by_deal(measurement: Json, what: str) -> npt.NDArray[np.float64]:
    """``score``, ``win_share``, or, of a solitaire, ``luck_adjusted`` (the score less its luck) by
    deal, the mean over an agent's seats, float64 (D,)."""
    kept, players = measurement["by_deal"], measurement["key"]["players"]
    if what == "luck_adjusted":
        return _numbers(kept["score"]) - _numbers(kept["luck_milli"]) / MILLI
    if what == "win_share":
        return _numbers(kept["win_twelfths"]) / (TWELFTHS * players)
    return _numbers(kept["score"]) / players


def _text(values: npt.NDArray[Any]) -> str:
    """Whole numbers (D,) in a line."""
    return " ".join(str(int(value)) for value in values)


def _numbers(text: str) -> npt.NDArray[np.float64]:
    return np.array(text.split(), np.float64)


def _timing(decisions: int, seconds: float, backend: str, terms: Terms) -> Json:
    return {
        "ms_per_decision": 1000 * seconds / max(decisions, 1),
        "seconds": round(seconds, 3),
        "batch_size": terms.batch_size,
        "backend": backend,
        "machine": machine(),
    }
