"""Draw the pictures of the environment pages: python docs/pictures.py [--check].

Each shows a position of a game that the agent ``greedy`` plays in every seat. With ``--check``
nothing is written and the exit status is 1 if a picture is out of date.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from incunabula.agents.agent import View, ask
from incunabula.agents.registry import make_agent
from incunabula.envs.bibliogamo import scene as city
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.drawing.svg import to_svg
from incunabula.envs.engine import Engine
from incunabula.envs.scriptorium import scene as table
from incunabula.envs.scriptorium.engine import ScriptoriumEngine


def play(engine: Engine, seed: int, decisions: int) -> None:
    """Deal the game of this seed and take so many decisions."""
    agent, row = make_agent("greedy", engine.edition), np.arange(1)
    engine.deal(row, np.array([seed], np.uint64))
    for decision in range(decisions):
        view = View(engine, row, np.zeros(1, np.uint64), np.array([decision]))
        engine.apply(ask(agent, view))


def bibliogamo() -> str:
    """A hand and half a city."""
    engine = BibliogamoEngine("bibliogamo")
    play(engine, seed=7, decisions=120)
    return to_svg(city.draw_scene(engine.edition, engine.snapshot(0)))


def scriptorium() -> str:
    """Two players in the fifth of eight rounds."""
    engine = ScriptoriumEngine("scriptorium", num_players=2)
    play(engine, seed=3, decisions=105)
    return to_svg(table.draw_scene(engine.edition, engine.snapshot(0)))


PICTURES: dict[str, Callable[[], str]] = {
    "bibliogamo.svg": bibliogamo,
    "scriptorium.svg": scriptorium,
}


def main(arguments: list[str]) -> int:
    """Draw the pictures anew, or with ``--check`` say which are out of date."""
    stale = 0
    for name, draw in PICTURES.items():
        file = Path(__file__).parent / "images" / name
        before = file.read_text(encoding="utf-8") if file.exists() else ""
        after = draw()
        if before != after and "--check" in arguments:
            print(f"{file}: out of date; run python docs/pictures.py", file=sys.stderr)
            stale = 1
        elif before != after:
            file.write_text(after, encoding="utf-8")
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
