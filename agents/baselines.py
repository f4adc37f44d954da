"""The greedy baseline of each game.

``python -m incunabula.agents.baselines`` compiles them, so that what is run next need not.
"""

from __future__ import annotations

from incunabula.agents.agent import Agent


def make_greedy(game: str) -> Agent:
    """The game's greedy agent."""
    if game == "scriptorium":
        from incunabula.agents.greedy_scriptorium import GreedyScriptorium

        return GreedyScriptorium()
    from incunabula.agents.greedy_bibliogamo import GreedyBibliogamo

    return GreedyBibliogamo()


def compile_baselines() -> None:
    """Let each greedy agent take one decision: where numba is installed, its code is then kept."""
    import numpy as np

    from incunabula.agents.agent import View
    from incunabula.envs.bibliogamo.engine import BibliogamoEngine
    from incunabula.envs.engine import Engine
    from incunabula.envs.scriptorium.engine import ScriptoriumEngine

    engines: list[Engine] = [BibliogamoEngine(), ScriptoriumEngine()]
    for engine in engines:
        rows = np.arange(1)
        engine.deal(rows, [0])
        view = View(engine, rows, np.zeros(1, np.uint64), np.zeros(1, np.int64))
        make_greedy(engine.game).act(view)


if __name__ == "__main__":
    compile_baselines()
