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
from incunabula.agents.policy_folder import policy_faults
from incunabula.envs.bibliogamo.edition import load_edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Sizes for a quick run; a command's own options come first, these replace or add to them.
# What a block of Python needs that need not be installed, by a word in it.
NEEDS = {
    "scriptorium_v0": "pettingzoo",
    "sb3": "sb3_contrib",
    "torch": "torch",
    "torchrl": "torchrl",
    "ray.rllib": "ray",
}
REDUCED = {
    "train": ["--steps", "4096", "--num-envs", "32"],
    "evaluate": ["--games", "20"],
    "bench": ["--seconds", "0.2"],
    "league": ["--deals", "4"],
    "ladder": ["--agents", "random,greedy", "--games", "4", "--search-games", "1"],
}


def has_training() -> bool:
    return importlib.util.find_spec("sb3_contrib") is not None


def python_blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def run_page(page: Path) -> dict[str, Any]:
    """Run a page's blocks one after the other; the names they leave."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for code in python_blocks(page):
        for word, package in NEEDS.items():
            if word in code:
                pytest.importorskip(package)
        exec(compile(code, page.name, "exec"), names)
    return names


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=page.name) for page in PAGES if python_blocks(page)]
)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_page(page)
    if page.name == "engines.md":  # the planner plays
        engine, rows = BibliogamoEngine("bibliogamo-tiny", 3), np.arange(3)
        engine.deal(rows, [0, 1, 2])
        view = View(engine, rows, np.zeros(3, np.uint64), np.zeros(3, np.int64))
        assert engine.mask[rows, names["Rollouts"]().act(view)].all()
    if page.name == "agents.md":
        played = names["solitaire"].result
        assert [agent["name"] for agent in played["agents"]] == ["random", "mine"]
        assert names["duel"].result["agents"][0]["games"] == 2 * 20
        # What was saved plays as the module does, without torch.
        agents = [names["TorchAgent"](names["module"]), "my-policy"]
        same = names["evaluate"](agents, edition="bibliogamo-tiny", games=20, seeds="dev").result
        assert same["paired"][0]["equal"] == 20
        assert policy_faults("my-policy", load_edition("bibliogamo-tiny")) == []


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
    if arguments[0] == "bound":  # the full game takes minutes, whatever the samples
        arguments = ["bound", "bibliogamo-tiny", *arguments[2:]]
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
    if ",fast]" in notebook.cells[0].source:  # what it says it needs
        pytest.importorskip("numba")
    sizes = {"INCUNABULA_NOTEBOOK_GAMES": "40", "INCUNABULA_NOTEBOOK_STEPS": "12000"}
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
