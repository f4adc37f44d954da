"""README and pages: their Python runs, their links lead somewhere, clauses are to be found."""

from __future__ import annotations

import ast
import contextlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from incunabula.agents.agent import View
from incunabula.agents.policy_folder import policy_faults
from incunabula.envs.bibliogamo.edition import load_edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.compiled.functions import interpreted
from incunabula.envs.editions import GAMES
from incunabula.envs.engine import Engine
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from tests.pages import PAGES, ROOT, anchors, blocks, docs_module, name_of, text_of, without_code

# What a block of Python needs that need not be installed, by a word in it.
NEEDS = {
    "scriptorium_v0": "pettingzoo",
    "sb3": "sb3_contrib",
    "torch": "torch",
    "torchrl": "torchrl",
    "ray.rllib": "ray",
    "RecordVideo": "moviepy",
    "write_report": "matplotlib",
    "training.league.league": "choix",
    "agents.exact": "numba",
    "agents.hindsight": "numba",
}
# What takes too long uncompiled; the rest is quicker so, as no compiled code has to be loaded.
COMPILED = ("docs/optimal.md", "docs/optimal_hindsight.md", "docs/scriptorium.md")


def run_page(page: Path) -> dict[str, Any]:
    """Run a page's blocks one after the other; the names they leave."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for code in blocks(page, "python"):
        for word, package in NEEDS.items():
            if word in code:
                pytest.importorskip(package)
        exec(compile(code, page.name, "exec"), names)
    return names


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=name_of(page)) for page in PAGES if blocks(page, "python")]
)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with contextlib.nullcontext() if name_of(page) in COMPILED else interpreted():
        names = run_page(page)
        if page.name == "engines.md":  # the planner plays
            engine, rows = BibliogamoEngine("bibliogamo-tiny", 3), np.arange(3)
            engine.deal(rows, [0, 1, 2])
            view = View(engine, rows, np.zeros(3, np.uint64), np.zeros(3, np.int64))
            assert engine.mask[rows, names["Rollouts"]().act(view)].all()
        if page.name == "agents.md" and page.parent.name == "docs":
            check_agents_page(names)


def check_agents_page(names: dict[str, Any]) -> None:
    played = names["solitaire"].result
    assert [agent["name"] for agent in played["agents"]] == ["random", "mine"]
    assert names["duel"].result["agents"][0]["games"] == 2 * 20
    # What was saved plays as the module does, without torch.
    agents = [names["TorchAgent"](names["module"]), "my-policy"]
    same = names["evaluate"](agents, edition="bibliogamo-tiny", games=20, seeds="dev").result
    assert same["paired"][0]["equal"] == 20
    assert policy_faults("my-policy", load_edition("bibliogamo-tiny")) == []


def test_generated_tables_are_up_to_date() -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / "docs" / "tables.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


# Links and form -----------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text_of(page))):
        path, _, anchor = target.partition("#")
        if "://" in target:
            continue
        file = page.parent / path if path else page
        assert file.exists(), target
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), target


def test_a_missing_anchor_would_be_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# How to *read* it: §1\n\n```text\n# no heading\n```\n<a id='x'></a>\n")
    assert anchors(page) == {"how-to-read-it-1"}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_lists_and_tables_are_such_for_every_reader_of_markdown(page: Path) -> None:
    """Some take a list or a table that follows a line of text for part of that text."""
    text = re.sub(r"^ *```.*?^ *```$", "\n", text_of(page), flags=re.DOTALL | re.MULTILINE)
    before = ""
    for line in text.splitlines():
        for start in (r"- |\d+\. ", r"\|"):
            if re.match(start, line):
                assert not before.strip() or re.match(rf"{start}|  ", before), line
        before = line


# Clauses ------------------------------------------------------------------------------------------


def clauses_of(source: str) -> set[str]:
    """The clauses that a game's `why_illegal` can name: first of what its functions return."""
    tree = ast.parse(source)
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
            first = node.value.elts[0]
            if isinstance(first, ast.Constant):
                found.add(str(first.value))
            elif isinstance(first, ast.Subscript):  # a table of clauses by phase
                assert isinstance(first.value, ast.Name)
                found |= values_of(tree, first.value.id)
    return found


def values_of(tree: ast.Module, name: str) -> set[str]:
    """The values of a module's dict of constants."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            assert isinstance(node.value, ast.Dict)
            return {ast.literal_eval(value) for value in node.value.values}
    raise AssertionError(f"no {name}")


@pytest.mark.parametrize("game", GAMES)
def test_every_clause_that_the_code_can_name_has_an_anchor(game: str) -> None:
    clause_anchor = docs_module("tables").clause_anchor
    named = clauses_of((ROOT / "envs" / game / "why.py").read_text(encoding="utf-8"))
    assert {"bibliogamo": "R4", "scriptorium": "S7"}[game] in named
    # Comments and docstrings name clauses, too.
    letter = {"bibliogamo": "R", "scriptorium": "S"}[game]
    for path in (ROOT / "envs" / game).glob("*.py"):
        source = path.read_text(encoding="utf-8")
        named |= set(re.findall(rf"\b{letter}\d+\b|\bstep \d[abc]?\b|\bphase [1-4]\b", source))
    there = anchors(ROOT / "docs" / "rules" / f"{game}.md")
    assert {clause for clause in named if clause_anchor(clause) not in there} == set()


def clause_of(engine: Engine, action: int) -> str:
    why = engine.why_illegal(0, action)
    assert why is not None
    return why[0]


def test_clauses_that_are_named_in_play_are_among_them() -> None:
    """What is read from the source holds what comes up in games."""
    engines: list[Engine] = [
        BibliogamoEngine("bibliogamo-tiny"),
        ScriptoriumEngine("scriptorium-tiny"),
    ]
    for engine in engines:
        source = (ROOT / "envs" / engine.game / "why.py").read_text(encoding="utf-8")
        named, found = clauses_of(source), set()
        engine.deal(np.arange(1), [3])
        while engine.state.phase[0] != engine.over:
            for action in np.flatnonzero(~engine.mask[0])[::5]:
                found.add(clause_of(engine, int(action)))
            engine.apply(np.array([int(np.flatnonzero(engine.mask[0])[-1])]))
        found.add(clause_of(engine, 0))
        assert found <= named
        assert len(found) > 2


def test_the_citation_is_the_same_everywhere() -> None:
    """CITATION.cff, from which forges and reference managers read, says what the pages say."""
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "cite.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert said["version"] == project["version"]
    assert said["license"] == project["license"]
    assert re.search(r"version = \{(.*)\}", page)[1] == said["version"]  # type: ignore[index]
    assert re.search(r"title  = \{(.*)\}", page)[1] == said["title"]  # type: ignore[index]
    assert said["authors"] == project["authors"]
