"""The command doctor: what it finds, and its exit status."""

from __future__ import annotations

import json
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from incunabula.envs.documents import Problem
from incunabula.envs.editions import GAMES, EditionError
from incunabula.training import doctor
from incunabula.training.evaluation.tables import plain_console
from tests.commands import Cli, cli

__all__ = ["cli"]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "SECONDS", 0.01)
    monkeypatch.setattr(doctor, "NUM_ENVS", 2)


@pytest.mark.usefixtures("quick")
def test_doctor_says_that_all_is_well(cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = cli("doctor", "--json")
    assert (outcome.status, outcome.err) == (0, "")
    found = json.loads(outcome.out)
    doctor.print_found(found, plain_console())
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "result       everything needed works"
    for game in GAMES:
        assert any(f"{game}: " in line and "steps a second" in line for line in lines)
    assert found["ok"] is True
    assert all(check["fault"] is None for check in found["checks"])
    assert [speed["game"] for speed in found["speed"]] == list(GAMES)
    assert all(speed["steps_per_second"] > 0 for speed in found["speed"])
    assert found["backend"]["auto"] == "numpy"  # the tests' own command line compiles nothing
    assert Path(found["folders"]["editions"], "bibliogamo.yaml").exists()


def test_what_is_broken_is_named_and_the_rest_goes_on(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(name: str) -> None:
        raise EditionError(name, [Problem("rules", "is missing")])

    monkeypatch.setattr(doctor, "load_any_edition", damaged)
    outcome = cli("doctor")
    assert outcome.status == 1
    assert "shipped editions: EditionError: bibliogamo: rules: is missing" in outcome.out
    assert "shipped policies: fine" in outcome.out
    assert "something is broken" in outcome.out
    assert "steps a second" not in outcome.out
    assert json.loads(cli("doctor", "--json").out)["ok"] is False


def test_a_damaged_policy_is_broken(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copytree(Path(doctor.folders()["policies"]) / "bibliogamo", tmp_path / "bibliogamo")
    (tmp_path / "bibliogamo" / "policy.safetensors").write_bytes(b"")
    found = [("bibliogamo", tmp_path / "bibliogamo")]
    monkeypatch.setattr(doctor, "find_policies", lambda folders: found)
    outcome = cli("doctor", "--no-speed")
    assert outcome.status == 1
    assert "shipped policies: bibliogamo: " in outcome.out


def test_missing_extras_are_named_with_what_gets_them(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    required = ["numpy>=2", "nosuchpackage>=1; extra == 'train'", 'numpy>=1; extra == "train"']
    monkeypatch.setattr(metadata, "requires", lambda name: required)
    outcome = cli("doctor", "--no-speed")
    assert outcome.status == 0  # what is optional may be missing
    line = next(line for line in outcome.out.splitlines() if line.startswith("extra"))
    assert line.endswith("; missing: nosuchpackage; get it: pip install 'incunabula[train]'")
    assert "train: numpy " in line


@pytest.mark.parametrize("error", ["OSError", "ImportError"])
def test_what_is_installed_and_cannot_be_imported_is_broken(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: str
) -> None:
    (tmp_path / "torch.py").write_text(f"raise {error}('libtorch.so: cannot open')")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.split(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(doctor, "CHECKS", {})
    monkeypatch.setattr(doctor, "versions", lambda *names: dict.fromkeys(names, "1.0"))
    monkeypatch.setattr(metadata, "requires", lambda name: ["torch>=2; extra == 'train'"])
    outcome = cli("doctor", "--no-speed")
    fault = f"{error}: libtorch.so: cannot open"
    assert outcome.status == 1
    assert f"check        torch: {fault}" in outcome.out
    assert f"train: nothing; can't be imported: torch ({fault})" in outcome.out
    assert "something is broken" in outcome.out


def test_a_look_that_fails_is_named_and_the_rest_goes_on(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise OSError("out of order")

    monkeypatch.setattr(doctor, "CHECKS", {})
    for name in ("versions", "extras", "drawing"):
        monkeypatch.setattr(doctor, name, fails)
    outcome = cli("doctor", "--no-speed")
    assert outcome.status == 1
    for name in ("versions", "extras", "drawing"):
        assert f"check        {name}: OSError: out of order" in outcome.out


def test_a_folder_for_compiled_rules_that_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(doctor, "why_no_numba", lambda: None)
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "deep"))
    assert "file/deep: files can't be written there" in str(doctor._check_kept_code())
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "new" / "deep"))
    assert doctor._check_kept_code() is None


def test_two_engines_that_differ_are_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    played: dict[str, Any] = {"numpy": [1, 2], "numba": [1, 3]}
    monkeypatch.setattr(doctor, "trial", lambda game, backend: played[backend])
    assert doctor._check_numba() == "bibliogamo: scores [1, 3], on NumPy [1, 2]"
    played["numba"] = [1, 2]
    assert doctor._check_numba() is None


def test_a_browser_that_playwright_installed_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(doctor.sys, "platform", "linux")
    assert doctor.drawing() | {"pillow": None} == {
        "display": False,
        "pillow": None,
        "chromium": None,
    }
    browser = tmp_path / "chromium-1200" / "chrome-linux" / "chrome"
    browser.parent.mkdir(parents=True)
    browser.touch()
    monkeypatch.setenv("DISPLAY", ":0")
    assert doctor.drawing()["chromium"] == str(browser)
    assert doctor.drawing()["display"] is True
