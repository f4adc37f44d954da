"""The greedy baseline of each game."""

from __future__ import annotations

from incunabula.agents.agent import Agent


def make_greedy(game: str) -> Agent:
    """The game's greedy agent."""
    if game == "scriptorium":
        from incunabula.agents.greedy_scriptorium import GreedyScriptorium

        return GreedyScriptorium()
    from incunabula.agents.greedy_bibliogamo import GreedyBibliogamo

    return GreedyBibliogamo()
