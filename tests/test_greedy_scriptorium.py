"""Scriptorium's greedy agent: legal everywhere, the same compiled and interpreted, honest, good."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from incunabula.agents.agent import Agent, RandomAgent, View
from incunabula.agents.compiled import can_compile, interpreted
from incunabula.agents.greedy_scriptorium import GreedyScriptorium
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from tests.strategies import SEEDS
from tests.strategies_scriptorium import editions

needs_numba = pytest.mark.skipif(not can_compile(), reason="numba is not installed")
FRESH = 20_000_000  # deals from here on were not used for tuning


def view(engine: ScriptoriumEngine, rows: np.ndarray, decision: int = 0) -> View:
    return View(engine, rows, rows.astype(np.uint64), np.full(len(rows), decision, np.int64))


def dealt(edition: Any, seeds: list[int], players: int) -> ScriptoriumEngine:
    engine = ScriptoriumEngine(edition, len(seeds), num_players=players)
    engine.deal(np.arange(len(seeds)), np.array(seeds, np.uint64))
    return engine


def playout(edition: Any, seeds: list[int], players: int) -> list[list[int]]:
    """The actions of each game; the engine raises at an illegal one."""
    engine = dealt(edition, seeds, players)
    rows = np.arange(len(seeds))
    taken: list[list[int]] = [[] for _ in seeds]
    while rows.size:
        actions = GreedyScriptorium().act(view(engine, rows))
        for row, action in zip(rows, actions, strict=True):
            taken[row].append(int(action))
        _, terminated = engine.apply(actions, rows)
        rows = rows[~terminated]
    return taken


def scores(seats: list[Agent], seeds: list[int]) -> np.ndarray:
    """Final scores (games, P) of these agents on the default edition, one a seat."""
    engine = dealt("scriptorium", seeds, len(seats))
    rows, decision = np.arange(len(seeds)), 0
    while rows.size:
        seat = engine.state.player[rows]
        actions = np.zeros(len(rows), np.intp)
        for number, agent in enumerate(seats):
            mine = np.flatnonzero(seat == number)
            if mine.size:
                actions[mine] = agent.act(view(engine, rows[mine], decision))
        _, terminated = engine.apply(actions, rows)
        rows, decision = rows[~terminated], decision + 1
    return engine.state.score.copy()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_is_legal(players: int) -> None:
    """1,000 games; far fewer where every step is interpreted."""
    games = 1000 if can_compile() else 2
    playout("scriptorium", list(range(FRESH, FRESH + games)), players)


@settings(deadline=None, max_examples=60 if can_compile() else 5)
@given(editions(), SEEDS)
def test_is_legal_on_random_editions(edition: dict[str, Any], seed: int) -> None:
    for players in edition["rules"]["players"]:
        playout(edition, [seed, (seed + 1) % 2**64], players)
