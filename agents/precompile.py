"""Compile ahead: ``python -m incunabula.agents.precompile [game]``.

Compiled code is kept on disk. What is run next, in however many processes, then need not compile:
the backend and the stepper of each game, the greedy agent, rollouts, and of Bibliogamo what judges
a turn, exact values, hindsight and bounds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import numpy as np

from incunabula.agents.agent import Agent, View
from incunabula.agents.baselines import make_greedy
from incunabula.agents.bounds.bound import upper_bound
from incunabula.agents.hindsight.search import best_line
from incunabula.agents.registry import make_agent
from incunabula.agents.rollout import POLICIES, rollout
from incunabula.agents.search.bibliogamo_value import greedy_values
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.compiled.functions import can_compile
from incunabula.envs.engine import Engine
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.envs.stepper import Stepper

GAMES = ("bibliogamo", "scriptorium")


def precompile(game: str) -> None:
    """Play a step of the game in each compiled way; nothing to do where numba is missing."""
    if not can_compile():
        return
    maker = ScriptoriumEngine if game == "scriptorium" else BibliogamoEngine
    engine: Engine = maker(game, backend="numba")
    stepper = Stepper(engine)
    stepper.step(stepper.action_mask.argmax(axis=1))
    _ask_once(make_greedy(game), engine)
    for policy in POLICIES:
        rollout(stepper, policy, 1)
    if game == "bibliogamo":  # exact values can be had of small editions only
        greedy_values(engine, np.arange(1))
        small = BibliogamoEngine("bibliogamo-tiny", backend="numba")
        small.deal(np.arange(1), [0])
        _ask_once(make_agent("optimal", small.edition), small)
        best_line(small.edition, 0, width=2)
        upper_bound(small.edition, samples=20)


def _ask_once(agent: Agent, engine: Engine) -> None:
    agent.act(View(engine, np.arange(1), np.zeros(1, np.uint64), np.zeros(1, np.int64)))


def main(games: Sequence[str]) -> None:
    """Compile what the named games need, or all."""
    unknown = [game for game in games if game not in GAMES]
    if unknown:
        sys.exit(f"precompile: expected {' or '.join(GAMES)}, got {unknown[0]!r}")
    for game in games or GAMES:
        began = time.perf_counter()
        precompile(game)
        print(f"{game}: {time.perf_counter() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
