"""The README, the pages and the notebook do what they say."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incunabula.agents.agent import View
from incunabula.envs.bibliogamo.engine import BibliogamoEngine

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Sizes for a quick run; a command's own options come first, these replace or add to them.
REDUCED = {
    "train": ["--steps", "4096", "--num-envs", "32"],
    "evaluate": ["--games", "20"],
    "bench": ["--seconds", "0.2"],
    "league": ["--deals", "4"],
}


def has_training() -> bool:
    return importlib.util.find_spec("sb3_contrib") is not None


def python_blocks() -> list[Any]:
    blocks = []
    for page in PAGES:
        found = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        blocks += [
            pytest.param(code, id=f"{page.name}-{number}") for number, code in enumerate(found)
        ]
    return blocks


@pytest.mark.parametrize("code", python_blocks())
def test_python_blocks_run(code: str) -> None:
    if "sb3" in code and not has_training():
        pytest.skip("needs the train extra")
    if "scriptorium_v0" in code:
        pytest.importorskip("pettingzoo")
    exec(compile(code, "block", "exec"), {"__name__": "__main__"})


def test_the_planner_of_the_page_on_engines_plays() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/engines.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(blocks[-1], names)
    engine, rows = BibliogamoEngine("bibliogamo-tiny", 3), np.arange(3)
    engine.deal(rows, [0, 1, 2])
    view = View(engine, rows, np.zeros(3, np.uint64), np.zeros(3, np.int64))
    assert engine.mask[rows, names["Rollouts"]().act(view)].all()


def commands() -> list[Any]:
    """Every `incunabula …` line of the pages, without its comment."""
    found: list[Any] = []
    seen: set[str] = set()
    for page in PAGES:
        for block in re.findall(r"```text\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            for line in block.splitlines():
                # Where a run is kept makes no other command of it.
                same = re.sub(r" --out \S+", "", line.partition("#")[0].strip())
                if line.startswith("incunabula ") and same not in seen:
                    seen.add(same)
                    found.append(pytest.param(shlex.split(line, comments=True)[1:], id=line[:60]))
    return found


@pytest.mark.parametrize("arguments", commands())
def test_commands_run(arguments: list[str], tmp_path: Path) -> None:
    if arguments[0] == "train" and not has_training():
        pytest.skip("needs the train extra")
    for mine, shipped in (("my-cards", "bibliogamo-tiny"), ("my-tiles", "scriptorium-tiny")):
        content = (ROOT / f"configs/editions/{shipped}.yaml").read_bytes()
        (tmp_path / f"{mine}.yaml").write_bytes(content)
    golden = ROOT / "tests/golden/bibliogamo-more.jsonl.gz"
    (tmp_path / "games.jsonl.gz").write_bytes(golden.read_bytes())
    ran = subprocess.run(
        [sys.executable, "-m", "incunabula", *arguments, *REDUCED.get(arguments[0], [])],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_generated_tables_are_up_to_date() -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / "docs" / "tables.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_links_lead_somewhere() -> None:
    for page in [*PAGES, *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.skipif(not has_training(), reason="needs the train extra")
@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb")))
def test_notebooks_run(name: str, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("pettingzoo")
    notebook = nbformat.read(ROOT / "notebooks" / name, as_version=4)
    sizes = {"INCUNABULA_NOTEBOOK_GAMES": "40", "INCUNABULA_NOTEBOOK_STEPS": "40000"}
    client = nbclient.NotebookClient(
        notebook,
        timeout=300,
        resources={"metadata": {"path": str(tmp_path)}},
    )
    before = {name: os.environ.get(name) for name in sizes}
    os.environ.update(sizes)
    try:
        client.execute()
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
