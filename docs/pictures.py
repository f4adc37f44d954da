"""Draw the pictures and boards of the environment pages: python docs/pictures.py [--check].

Each page shows a position of a game that the agent ``greedy`` plays in every seat, as a picture and
as text. With ``--check`` nothing is written and the exit status is 1 if one is out of date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from incunabula.agents.agent import View, ask
from incunabula.agents.registry import make_agent
from incunabula.envs.bibliogamo import scene as city
from incunabula.envs.bibliogamo.drawing import draw_text as city_text
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.drawing.svg import to_svg
from incunabula.envs.engine import Engine
from incunabula.envs.scriptorium import scene as table
from incunabula.envs.scriptorium.drawing import draw_text as table_text
from incunabula.envs.scriptorium.engine import ScriptoriumEngine


def play(engine: Engine, seed: int, decisions: int) -> None:
    """Deal the game of this seed and take so many decisions."""
    agent, row = make_agent("greedy", engine.edition), np.arange(1)
    engine.deal(row, np.array([seed], np.uint64))
    for decision in range(decisions):
        view = View(engine, row, np.zeros(1, np.uint64), np.array([decision]))
        engine.apply(ask(agent, view))


def bibliogamo() -> tuple[str, str]:
    """A hand and half a city, as SVG and as text."""
    engine = BibliogamoEngine("bibliogamo")
    play(engine, seed=7, decisions=120)
    shown = engine.edition, engine.snapshot(0)
    return to_svg(city.draw_scene(*shown)), city_text(*shown, colour=False)


def scriptorium() -> tuple[str, str]:
    """Two players in the fifth of eight rounds, as SVG and as text."""
    engine = ScriptoriumEngine("scriptorium", num_players=2)
    play(engine, seed=3, decisions=105)
    shown = engine.edition, engine.snapshot(0)
    return to_svg(table.draw_scene(*shown)), table_text(*shown, colour=False)


GAMES: dict[str, Callable[[], tuple[str, str]]] = {
    "bibliogamo": bibliogamo,
    "scriptorium": scriptorium,
}
# Where a page shows its board: a block of text after this mark.
BOARD = re.compile(r"(<!-- board -->\n\n```text\n)(.*?)(\n```\n)", re.DOTALL)


def main(arguments: list[str]) -> int:
    """Draw pictures and boards anew, or with ``--check`` say which are out of date."""
    stale, docs = 0, Path(__file__).parent
    for name, draw in GAMES.items():
        picture, board = draw()
        page = docs / f"{name}.md"
        start, opening, _, closing, end = BOARD.split(page.read_text(encoding="utf-8"))
        written = "".join([start, opening, board, closing, end])
        for file, after in ((docs / "images" / f"{name}.svg", picture), (page, written)):
            before = file.read_text(encoding="utf-8") if file.exists() else ""
            if before != after and "--check" in arguments:
                print(f"{file}: out of date; run python docs/pictures.py", file=sys.stderr)
                stale = 1
            elif before != after:
                file.write_text(after, encoding="utf-8")
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
