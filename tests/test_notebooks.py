"""The notebooks run, at small sizes, and are kept clean."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest

from tests.pages import ROOT

nbformat = pytest.importorskip("nbformat")
NOTEBOOKS = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
SIZES = {
    "INCUNABULA_NOTEBOOK_GAMES": "40",
    "INCUNABULA_NOTEBOOK_STEPS": "8000",
    "MPLBACKEND": "agg",
}


def read(name: str) -> Any:
    return nbformat.read(ROOT / "notebooks" / name, as_version=4)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_are_valid_and_hold_no_outputs(name: str) -> None:
    notebook = read(name)
    nbformat.validate(notebook)
    assert notebook.cells[0].source.startswith("# ")
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)


@pytest.mark.skipif(importlib.util.find_spec("sb3_contrib") is None, reason="needs the train extra")
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient")
    notebook = read(name)
    needed = notebook.cells[0].source  # what it says it needs
    for extra, package in (("pettingzoo", "pettingzoo"), (",fast]", "numba")):
        if extra in needed:
            pytest.importorskip(package)
    for variable, value in SIZES.items():
        monkeypatch.setitem(os.environ, variable, value)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, resources=resources).execute()
