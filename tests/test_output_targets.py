"""Where commands write is looked at before they work: nothing is played, trained or solved in vain.

A target is wrong in three ways: its folder is a file, what is there is of the other kind, or, if it
is a folder, a file that will be written there can't be.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from incunabula.cli import app
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.files import check_writable
from incunabula.training.evaluation.files import check_file, check_folder
from tests.commands import Cli, cli
from tests.pages import docs_module

__all__ = ["cli"]

FEW = ("bibliogamo", "--edition", "bibliogamo-tiny", "--games", "3", "--agents", "random")
LEAGUE = ("scriptorium", "--edition", "scriptorium-tiny", "--agents", "random,greedy")
# Command and option -> what else is given, and a file that it writes into a folder, if it is one.
FOLDERS: dict[tuple[str, str], tuple[tuple[str, ...], str | None]] = {
    ("evaluate", "--out"): (FEW, "report.html"),
    ("evaluate", "--record"): (FEW, "random.jsonl"),
    ("league", "--out"): (LEAGUE, "league.json"),
    ("league", "--record"): (LEAGUE, None),
    ("ladder", "--out"): (FEW, "ladder.md"),
    ("train", "--out"): (("bibliogamo", "--config", "demo"), None),
    ("play", "--record"): (("bibliogamo", "--no-browser"), None),
    ("policies export", "FOLDER"): (("bibliogamo",), None),
}
FILES: dict[tuple[str, str], tuple[str, ...]] = {
    ("bound", "--save"): ("bibliogamo-tiny",),
    ("hindsight", "--save"): ("--deal", "1", "--edition", "bibliogamo-tiny"),
    ("policies export", "--onnx"): ("bibliogamo", "new"),
    ("solve", "--save"): ("bibliogamo-tiny",),
}
# Looked at by its own tests: it needs a file to be read.
ELSEWHERE = {("replay", "--html")}
# How options are called that name something to be written.
WRITTEN = {"out", "save", "record", "html", "onnx", "folder"}
NEEDS = {"train": "torch", "play": "starlette", "bound": "numba", "solve": "numba"}
NEEDS |= {"league": "choix", "ladder": "choix"}


@pytest.fixture(autouse=True)
def nothing_is_played(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def played(*_: Any, **__: Any) -> None:
        raise AssertionError("worked before it looked where to write")

    monkeypatch.setattr(Engine, "apply", played)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()


def test_every_option_that_writes_is_listed() -> None:
    found = {
        (name, parameter.opts[-1] if parameter.param_type_name == "option" else "FOLDER")
        for name, command in docs_module("tables").leaf_commands(get_command(app))
        for parameter in command.params
        if parameter.name in WRITTEN
    }
    assert found == {*FOLDERS, *FILES, *ELSEWHERE}


def refused(cli: Cli, command: str, option: str, given: tuple[str, ...], target: str) -> None:
    """The command says in a line what is wrong with the target, and leaves everything as it was."""
    if command in NEEDS:
        pytest.importorskip(NEEDS[command])
    before = sorted(Path().rglob("*"))
    named = (target,) if option == "FOLDER" else (option, target)
    outcome = cli(*command.split(), *given, *named)
    assert (outcome.status, outcome.out) == (2, ""), outcome.err
    assert outcome.err.count("\n") == 1
    assert target.partition("/")[0] in outcome.err
    assert re.search("can't be written|expected a file|there already", outcome.err)
    assert sorted(Path().rglob("*")) == before
    assert Path("file").read_text() == "mine"


@pytest.mark.parametrize("target", ["file", "file/new"])
@pytest.mark.parametrize(("command", "option"), FOLDERS)
def test_a_folder_that_cannot_be_written(cli: Cli, command: str, option: str, target: str) -> None:
    refused(cli, command, option, FOLDERS[command, option][0], target)


@pytest.mark.parametrize(
    ("command", "option"), [key for key, (_, written) in FOLDERS.items() if written is not None]
)
def test_a_file_of_a_folder_that_cannot_be_written(cli: Cli, command: str, option: str) -> None:
    given, written = FOLDERS[command, option]
    Path("folder", str(written)).mkdir()
    refused(cli, command, option, given, "folder")


@pytest.mark.parametrize("target", ["folder", "file/new", "new/" + "n" * 300])
@pytest.mark.parametrize(("command", "option"), FILES)
def test_a_file_that_cannot_be_written(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, command: str, option: str, target: str
) -> None:
    if option == "--onnx":
        pytest.importorskip("torch")
        monkeypatch.setattr("incunabula.training.ppo.onnx.NEEDED", ())
    refused(cli, command, option, FILES[command, option], target)


def test_what_is_looked_at_is_left_alone() -> None:
    path = Path("folder", "x.json")
    path.write_text("mine")
    check_writable(path)
    assert check_file(path) == path
    assert check_folder("folder", files=["x.json", "y.json"]) == Path("folder")
    assert (path.read_text(), [each.name for each in Path("folder").iterdir()]) == (
        "mine",
        ["x.json"],
    )
    assert check_file("new/y.json").parent.is_dir()
    with pytest.raises(IncunabulaError, match=r"^save: folder/n*: can't be written: File name too"):
        check_folder("folder", "save", ["n" * 300])
