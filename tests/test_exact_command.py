"""`incunabula solve`, the agent `optimal` by name, and files of exact values."""

from __future__ import annotations

import errno
import io
import json
import zipfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from incunabula.agents.exact.estimate import estimate
from incunabula.agents.exact.files import load_solution, save_solution
from incunabula.agents.exact.optimal import OptimalAgent
from incunabula.agents.exact.solver import Solution, solve
from incunabula.agents.registry import make_agent
from incunabula.envs.bibliogamo.edition import load_edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.compiled.functions import Compiled
from incunabula.envs.editions import load_any_edition
from incunabula.envs.errors import IncunabulaError
from tests.backends import needs_numba
from tests.commands import Cli, cli
from tests.play import edition as shipped
from tests.small_editions import SMALL

__all__ = ["cli"]

pytestmark = needs_numba
EDITION = load_edition(SMALL["reshuffles"])


@lru_cache
def solved() -> Solution:
    return solve(EDITION)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An edition file of the same content."""
    path = tmp_path / "short.yaml"
    path.write_text(yaml.safe_dump(SMALL["reshuffles"]))
    return path


# The command --------------------------------------------------------------------------------------


def test_solve_prints_the_value_states_and_seconds(cli: Cli, file: Path) -> None:
    answer = json.loads(cli("solve", file, "--json").out)
    assert set(answer) >= {"edition", "value", "states", "seconds"}
    assert answer["edition"]["sha256"] == load_edition(file).sha256
    assert answer["value"] == pytest.approx(solved().value, abs=1e-12)
    assert answer["states"] == solved().states == answer["decisions"] + answer["chances"]
    shown = cli("solve", file).out
    assert f"{solved().value:.9f}" in shown
    assert f"{solved().states:,} states" in shown


def test_solve_gives_the_regret_of_agents(cli: Cli, file: Path) -> None:
    outcome = cli("solve", file, "--agents", "random,optimal", "--json")
    random, optimal = json.loads(outcome.out)["agents"]
    assert optimal["regret"] == pytest.approx(0, abs=1e-12)
    assert optimal["share"] == pytest.approx(1)
    assert random["regret"] == pytest.approx(solved().value - random["value"])
    assert random["share"] < 0.9
    assert "regret" in cli("solve", file, "--agents", "random").out


def test_what_solve_keeps_is_played_by(cli: Cli, file: Path, tmp_path: Path) -> None:
    kept = tmp_path / "values.npz"
    assert cli("solve", file, "--save", kept).status == 0
    agents = f"random,optimal:{kept}"
    outcome = cli(
        *("evaluate", "bibliogamo", "--edition", file, "--agents", agents, "--games", 20, "--json")
    )
    assert [row["name"] for row in json.loads(outcome.out)["agents"]] == agents.split(",")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["bibliogamo"], "edition 'bibliogamo': too large to be solved: about "),
        (["bibliogamo-small", "--max-memory", "0.1"], "more than the 0.1 GB allowed"),
        (["scriptorium-tiny"], "only 'bibliogamo' editions can be loaded here"),
        (["bibliogamo-tiny", "--max-memory", "0"], "max-memory: expected GB, more than 0, got 0"),
        (["bibliogamo-tiny", "--max-memory", "nan"], "max-memory: expected GB"),
        (["bibliogamo-tiny", "--agents", "rollouts"], "its choices are drawn, so it has no exact"),
        (["bibliogamo-tiny", "--agents", "greedy,greedy"], "'greedy' stands twice"),
        (["bibliogamo-tiny", "--agents", "optima"], "did you mean 'optimal'"),
        (["bibliogamo-tiny", "--save", "."], "save: expected a file, got '.'"),
    ],
)
def test_solve_refuses_before_it_begins(cli: Cli, arguments: list[str], said: str) -> None:
    outcome = cli("solve", *arguments)
    assert outcome.status == 2
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


def test_solve_loses_no_file_of_others(cli: Cli, file: Path) -> None:
    before = file.read_bytes()
    outcome = cli("solve", file, "--save", file)
    assert outcome.status == 2
    assert "is no file of exact values, so it isn't overwritten" in outcome.err
    assert file.read_bytes() == before


def test_a_refused_edition_leaves_no_folder(cli: Cli, tmp_path: Path) -> None:
    assert cli("solve", "bibliogamo", "--save", tmp_path / "a" / "b" / "x.npz").status == 2
    assert not list(tmp_path.iterdir())


def test_a_result_that_cannot_be_saved_is_told_all_the_same(
    cli: Cli, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("incunabula.agents.exact.files.np.savez", full)
    outcome = cli("solve", file, "--save", tmp_path / "values.npz", "--json")
    assert outcome.status == 2
    assert json.loads(outcome.out)["value"] == pytest.approx(solved().value, abs=1e-12)
    assert "can't be written: No space left on device" in outcome.err
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_without_compiled_code_solve_says_what_to_install(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = "numba is not installed: pip install 'incunabula[fast]'"
    monkeypatch.setattr("incunabula.agents.exact.solver.why_no_numba", lambda: why)
    outcome = cli("solve", "bibliogamo-tiny")
    assert outcome.status == 2
    assert outcome.err == f"incunabula: exact values need compiled code: {why}\n"


def test_an_interruption_is_told(cli: Cli, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, on_progress: Callable[[int], None], **__: Any) -> None:
        on_progress(1234)
        raise KeyboardInterrupt

    monkeypatch.setattr("incunabula.training.exact.command.solve", interrupted)
    outcome = cli("solve", file)
    assert outcome.status == 130
    assert (
        outcome.err
        == "incunabula: solving short: interrupted after 1,234 states; nothing is kept\n"
    )


# Size ---------------------------------------------------------------------------------------------


def test_the_estimate_is_of_the_right_order() -> None:
    for name in ("waiting", "reshuffles"):
        edition = load_edition(SMALL[name])
        assert 0.4 < estimate(edition).states / solve(edition).states < 2.5
    tiny = estimate(load_edition("bibliogamo-tiny"))
    assert 0.4 < tiny.states / 1_858_291 < 2.5  # as solving it counts them
    assert estimate(load_edition("bibliogamo")).states > 1e20


def test_an_edition_that_is_too_large_is_refused_before_anything_is_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What compiling takes, many seconds, would be in vain; nor need numba be there."""

    def compile_nothing(*_: Any) -> None:
        raise AssertionError("is compiled")

    monkeypatch.setattr(Compiled, "prepare", compile_nothing)
    monkeypatch.setattr("incunabula.agents.exact.solver.why_no_numba", lambda: "not installed")
    with pytest.raises(IncunabulaError, match="edition 'bibliogamo': too large to be solved"):
        make_agent("optimal", load_edition("bibliogamo"))


def test_a_long_game_is_not_played_to_its_end_to_see_that_it_is_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its random games would take minutes."""
    decisions = 0
    apply = BibliogamoEngine.apply

    def counted(self: BibliogamoEngine, *arguments: Any) -> None:
        nonlocal decisions
        decisions += 1
        apply(self, *arguments)

    monkeypatch.setattr(BibliogamoEngine, "apply", counted)
    long = load_edition(shipped("bibliogamo", days=1000))
    assert estimate(long).states > 1e12
    assert decisions == 200


def test_codes_that_do_not_fit_are_refused() -> None:
    """Few states, but numbers that are too large."""
    data = shipped("bibliogamo-tiny", days=2, hand_size=1)
    data["cards"] = [data["cards"][k % 8] | {"id": k} for k in range(40)]
    with pytest.raises(IncunabulaError, match="bits, and at most 62 can be used"):
        solve(load_edition(data))


def test_a_table_that_outgrows_its_memory_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incunabula.agents.exact.solver.check_size", lambda *_: None)
    with pytest.raises(IncunabulaError, match=r"after 2,867 states 0.0 GB are needed, more than"):
        solve(load_edition(SMALL["waiting"]), max_memory=1e-4)


# The agent by name --------------------------------------------------------------------------------


def test_the_agent_by_name(tmp_path: Path) -> None:
    agent = make_agent("optimal", EDITION)
    assert isinstance(agent, OptimalAgent)
    assert agent.name == "optimal"
    assert agent.solution.value == solved().value
    with pytest.raises(IncunabulaError, match="edition 'bibliogamo': too large to be solved"):
        make_agent("optimal", load_edition("bibliogamo"))
    with pytest.raises(IncunabulaError, match="exact values are for bibliogamo, not for script"):
        make_agent("optimal", load_any_edition("scriptorium-tiny"))
    with pytest.raises(IncunabulaError, match="can't be read: No such file"):
        make_agent(f"optimal:{tmp_path / 'none'}", EDITION)


# Files --------------------------------------------------------------------------------------------


def test_a_file_gives_back_the_solution(tmp_path: Path) -> None:
    path = tmp_path / "values.npz"
    save_solution(solved(), path)
    loaded = load_solution(path, EDITION)
    for name in ("value", "decisions", "chances", "seconds"):
        assert getattr(loaded, name) == getattr(solved(), name)
    for name in ("codes", "values"):
        was, now = getattr(solved().table, name), getattr(loaded.table, name)
        assert np.array_equal(np.sort(was[was != 0]), np.sort(now[now != 0]))
    assert [child.name for child in tmp_path.iterdir()] == ["values.npz"]


def test_a_file_is_written_in_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "values.npz"
    path.write_bytes(b"before")

    def full(file: Any, **_: Any) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(IncunabulaError, match="can't be written: No space left on device"):
        save_solution(solved(), path)
    assert path.read_bytes() == b"before"
    assert len(list(tmp_path.iterdir())) == 1


def rewritten(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    """The file with its header and arrays changed, and whole."""
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(arrays.pop("header").tobytes())
    change(header, arrays)
    coded = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with path.open("wb") as file:
        np.savez(file, header=coded, **arrays)


def flip_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def without_codes(path: Path) -> None:
    content = io.BytesIO(path.read_bytes())
    with zipfile.ZipFile(content) as whole, zipfile.ZipFile(path, "w") as part:
        for name in ("header.npy", "values.npy"):
            part.writestr(name, whole.read(name))


def marked(flags: int = 0, method: int = 0, version: int = 20) -> Callable[[Path], None]:
    """Spoil the first entry's fields in the archive's directory."""

    def spoil(path: Path) -> None:
        content = bytearray(path.read_bytes())
        at = content.index(b"PK\x01\x02")
        content[at + 6], content[at + 8], content[at + 10] = version, flags, method
        path.write_bytes(content)

    return spoil


def unclosed(path: Path) -> None:
    """An array's header that doesn't end."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part.replace(b"}", b" ", 1))


def pickled(path: Path) -> None:
    np.savez(path, header=np.array([{"format": "x"}], object), allow_pickle=True)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.write_bytes(b""), "is no whole file of exact values"),
        (lambda path: path.write_bytes(b"no archive"), "is no whole file of exact values"),
        (lambda path: path.write_bytes(path.read_bytes()[:-500]), "is no whole file"),
        (flip_a_byte, "is no whole file of exact values"),
        (without_codes, "is no whole file of exact values"),
        (pickled, "is no whole file of exact values"),
        (marked(flags=1), "is no whole file of exact values"),
        (marked(method=99), "is no whole file of exact values"),
        (marked(method=8), "is no whole file of exact values"),
        (marked(version=200), "is no whole file of exact values"),
        (unclosed, "is no whole file of exact values"),
        (
            lambda path: rewritten(path, lambda header, _: header.update(version=99)),
            r"another version of this program \(format 99, expected 1\)",
        ),
        (
            lambda path: rewritten(path, lambda header, _: header.update(edition_sha256="0")),
            "holds exact values of edition",
        ),
        (
            lambda path: rewritten(path, lambda header, _: header.update(value=3.0)),
            "its values don't fit each other",
        ),
        (
            lambda path: rewritten(path, lambda header, _: header.pop("decisions")),
            "is no whole file of exact values",
        ),
        (
            lambda path: rewritten(path, lambda _, arrays: arrays["codes"].__iadd__(1)),
            "its values don't fit each other",
        ),
        (
            lambda path: rewritten(path, lambda _, arrays: arrays["values"].fill(np.nan)),
            "its arrays don't fit",
        ),
        (
            lambda path: rewritten(
                path, lambda _, arrays: arrays.update(values=arrays["values"][:-1])
            ),
            "its arrays don't fit",
        ),
    ],
)
def test_damaged_and_foreign_files_are_refused(
    tmp_path: Path, spoil: Callable[[Path], Any], said: str
) -> None:
    path = tmp_path / "values.npz"
    save_solution(solved(), path)
    spoil(path)
    with pytest.raises(IncunabulaError, match=said):
        load_solution(path, EDITION)


def test_values_of_another_edition_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "values.npz"
    save_solution(solved(), path)
    other = load_edition(SMALL["late start"])
    with pytest.raises(IncunabulaError, match="holds exact values of edition"):
        make_agent(f"optimal:{path}", other)
