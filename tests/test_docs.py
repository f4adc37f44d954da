"""Python in the documentation runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from incunabula.agents.agent import View
from incunabula.envs.bibliogamo.engine import BibliogamoEngine

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_on_engines_runs() -> None:
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "engines.md").read_text(), re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        exec(block, names)
    assert names["done"].games.tolist() == [1] * 4
    assert names["stepper"].reward.shape == (64, 1)
    engine = BibliogamoEngine("bibliogamo-tiny", 3)
    engine.deal(np.arange(3), [0, 1, 2])
    view = View(engine, np.arange(3), np.zeros(3, np.uint64), np.zeros(3, np.int64))
    actions = names["Rollouts"]().act(view)
    assert engine.mask[np.arange(3), actions].all()
