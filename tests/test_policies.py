"""Policy folders to keep and pass around: `incunabula policies list|show|check|export`."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incunabula.agents.networks import expected_shapes
from incunabula.agents.policies import check_policy, copy_policy, find_policies, named_policy
from incunabula.agents.policy_folder import (
    DESCRIPTION,
    WEIGHTS,
    engine_of,
    load_policy,
    policy_faults,
    save_policy,
)
from incunabula.agents.tensors import read_tensors, tensors_to_bytes
from incunabula.envs.editions import GAMES, load_any_edition
from incunabula.envs.errors import IncunabulaError
from tests.commands import Cli, cli

__all__ = ["cli"]

NETWORK = {"kind": "mlp", "layers": [8], "value_layers": [4], "activation": "tanh"}


def make_policy(folder: Path, edition: str = "bibliogamo-tiny", **training: Any) -> Path:
    engine = engine_of(load_any_edition(edition))
    rng = np.random.default_rng(0)
    shapes = expected_shapes(NETWORK, engine)
    save_policy(
        folder,
        {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()},
        edition=engine.edition,
        network=NETWORK,
        training={"steps": 7, **training},
        players=[2, 3] if engine.edition.game == "scriptorium" else None,
    )
    return folder


def change(folder: Path, **changes: Any) -> Path:
    path = folder / DESCRIPTION
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder with a best policy and a last one."""
    folder = tmp_path / "run"
    evaluation = {"eval_mean": 3.25, "eval_ci95": [3.0, 3.5]}
    make_policy(folder / "policy", evaluation=evaluation)
    make_policy(folder / "policy-last")
    (folder / "metrics.jsonl").write_text("")
    return folder


# list ---------------------------------------------------------------------------------------------


def test_list_shows_what_is_shipped_and_what_lies_under_folders(
    cli: Cli, run: Path, tmp_path: Path
) -> None:
    shutil.copytree(run / "policy", run / ".policy.old")
    change(run / "policy-last", layout_sha256="0" * 64)
    outcome = cli("policies", "list", tmp_path, "--json")
    assert outcome.status == 0, outcome.err
    rows = {row["policy"]: row for row in json.loads(outcome.out)["policies"]}
    assert list(rows) == [*GAMES, str(run / "policy"), str(run / "policy-last")]
    good, bad = rows[str(run / "policy")], rows[str(run / "policy-last")]
    assert good["faults"] == []
    assert good["description"]["training"]["steps"] == 7
    assert [fault["about"] for fault in bad["faults"]] == ["observation"]
    for game in GAMES:
        assert rows[game]["faults"] == []
        assert rows[game]["description"]["game"] == game


def test_list_is_a_table_with_scores(cli: Cli, run: Path) -> None:
    (run / "policy-last" / DESCRIPTION).write_text("{")
    outcome = cli("policies", "list", run)
    assert outcome.status == 0, outcome.err
    lines = {line.split()[0]: line for line in outcome.out.splitlines() if line.split()}
    assert "3.25 [3.00, 3.50]" in outcome.out
    assert "51.16 [50.94, 51.38]" in lines["bibliogamo"]
    assert lines["policy-last"].split()[-1] == "no"
    assert "isn't JSON" in outcome.out


def test_list_looks_into_runs_by_default(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "runs" not in cli("policies", "list", "--json").out
    make_policy(tmp_path / "runs" / "mine" / "policy")
    assert "runs/mine/policy" in cli("policies", "list", "--json").out


def test_list_of_a_missing_folder(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("policies", "list", tmp_path / "no")
    assert (outcome.status, outcome.out) == (2, "")
    assert "there is no such folder" in outcome.err
    with pytest.raises(IncunabulaError):
        find_policies([tmp_path / "no"])


# show ---------------------------------------------------------------------------------------------


def test_show_says_what_the_folder_says(cli: Cli, run: Path) -> None:
    outcome = cli("policies", "show", run)
    assert outcome.status == 0, outcome.err
    description = json.loads((run / "policy" / DESCRIPTION).read_text())
    for said in (
        description["edition_sha256"],
        description["layout_sha256"],
        description["weights_sha256"],
        "61 numbers",
        "kind mlp, layers [8]",
        "3.25 [3.00, 3.50]",
        "steps: 7",
    ):
        assert said in outcome.out
    shown = json.loads(cli("policies", "show", run, "--json").out)
    assert description.items() <= shown.items()
    assert shown["parameters"] == 8 * 62 + 20 * 9 + 4 * 62 + 5
    assert shown["files"][WEIGHTS] == (run / "policy" / WEIGHTS).stat().st_size


def test_show_of_damaged_weights(cli: Cli, run: Path) -> None:
    (run / "policy" / WEIGHTS).write_bytes(b"\x80\x04cos\nsystem\n.")
    outcome = cli("policies", "show", run)
    assert outcome.status == 0, outcome.err
    assert "parameters   can't be read" in outcome.out


def test_show_leaves_the_terminal_alone(cli: Cli, run: Path) -> None:
    change(run / "policy", edition="x\x1b[2J", training={"note\x1b[2J": "\x1b]0;title\x07"})
    outcome = cli("policies", "show", run)
    assert outcome.status == 0, outcome.err
    assert "\x1b" not in outcome.out
    assert "\\x1b[2J" in outcome.out


# check --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
def test_check_of_the_shipped(cli: Cli, game: str) -> None:
    outcome = cli("policies", "check", game)
    assert (outcome.status, outcome.out) == (0, f"ok: {game} can be played\n"), outcome.err


def test_check_names_every_mismatch(cli: Cli, run: Path) -> None:
    folder = run / "policy"
    arrays: dict[str, Any] = dict(read_tensors(folder / WEIGHTS))
    arrays["policy.0.bias"] = arrays["policy.0.bias"][:5]
    arrays["value.1.bias"][:] = np.nan
    arrays["extra"] = arrays.pop("value.0.bias")
    (folder / WEIGHTS).write_bytes(tensors_to_bytes(arrays))
    change(folder, edition_sha256="1" * 64, layout_sha256="2" * 64, observation_size=1, actions=2)
    outcome = cli("policies", "check", run)
    assert (outcome.status, outcome.out) == (1, "")
    said = outcome.err.splitlines()
    wanted = [
        ("edition", "edition_sha256: the policy was made for 111111111111 (edition"),
        ("observation", "layout_sha256: the policy was made for 222222222222"),
        ("observation", "observation_size: is 1, but must be 61"),
        ("actions", "actions: is 2, but must be 20"),
        ("files", "isn't the file policy.json describes"),
        ("network", "array value.0.bias [4] of the network is missing"),
        ("network", "array 'extra' is none of the network's"),
        ("network", "array policy.0.bias: has shape [5]"),
        ("files", "array value.1.bias: holds values that aren't finite"),
    ]
    assert len(said) == len(wanted)
    for line, (about, words) in zip(said, wanted, strict=True):
        assert line.startswith(f"{about}: {folder}")
        assert words in line
    result = json.loads(cli("policies", "check", run, "--json").out)
    assert result["ok"] is False
    assert [fault["about"] for fault in result["faults"]] == [about for about, _ in wanted]
    # Loading stops at the first of them.
    with pytest.raises(IncunabulaError) as caught:
        load_policy(folder, load_any_edition("bibliogamo-tiny"))
    assert str(caught.value) == result["faults"][0]["message"]


DAMAGE: dict[str, tuple[Callable[[Path], object], list[str], str]] = {
    "no description": (lambda f: (f / DESCRIPTION).unlink(), ["files"], "there is no such file"),
    "no weights": (lambda f: (f / WEIGHTS).unlink(), ["files"], "there is no such file"),
    "network and weights": (
        lambda f: (f / WEIGHTS).rename(change(f, network={"kind": "os"}) / "policy.pt"),
        ["network", "files"],
        "network.kind: is 'os'",
    ),
    "edition": (lambda f: change(f, edition="mine"), ["edition"], "edition: is 'mine'"),
    "game": (
        lambda f: change(f, game="scriptorium"),
        ["game"],
        "plays 'scriptorium', not 'bibliogamo'",
    ),
    "no game": (lambda f: change(f, game="chess"), ["game"], "'chess', not 'bibliogamo'"),
    "path": (lambda f: change(f, edition="../x.yaml"), ["edition"], "edition: is '../x.yaml'"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_check_of_damaged_folders(name: str, cli: Cli, run: Path) -> None:
    damage, about, words = DAMAGE[name]
    damage(run / "policy")
    outcome = cli("policies", "check", run / "policy")
    assert (outcome.status, outcome.out) == (1, "")
    assert [line.partition(":")[0] for line in outcome.err.splitlines()] == about
    assert words in outcome.err


def test_check_against_another_edition(cli: Cli, run: Path) -> None:
    outcome = cli("policies", "check", run, "--edition", "bibliogamo")
    assert outcome.status == 1
    assert outcome.err.startswith("edition: ")
    assert cli("policies", "check", run, "--edition", "bibliogamo-tiny").status == 0
    assert cli("policies", "check", run, "--edition", "scriptorium").status == 1
    assert cli("policies", "check", run, "--edition", "no").status == 2
    assert cli("policies", "check", run / "no").status == 2
    folder = named_policy(run)
    assert check_policy(folder) == policy_faults(folder) == []


# export -------------------------------------------------------------------------------------------


def test_export_copies_two_files_and_nothing_else(cli: Cli, run: Path, tmp_path: Path) -> None:
    (run / "policy" / "setup.py").write_text("raise SystemExit")
    target = tmp_path / "new" / "policy"
    outcome = cli("policies", "export", run, target)
    assert outcome.status == 0, outcome.err
    assert str(target) in outcome.out
    assert sorted(path.name for path in target.iterdir()) == [DESCRIPTION, WEIGHTS]
    for name in (DESCRIPTION, WEIGHTS):
        assert (target / name).read_bytes() == (run / "policy" / name).read_bytes()
    assert cli("policies", "check", target).status == 0
    again = cli("policies", "export", run, target)
    assert (again.status, again.out) == (2, "")
    assert "is there already" in again.err


def test_export_refuses_what_is_damaged(cli: Cli, run: Path, tmp_path: Path) -> None:
    (run / "policy" / WEIGHTS).write_bytes(b"")
    outcome = cli("policies", "export", run, tmp_path / "new")
    assert outcome.status == 2
    assert "isn't a safetensors file" in outcome.err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("target", ["", ".", "nul\0l", "file/below"])
def test_export_to_where_nothing_can_be(
    target: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(IncunabulaError):
        copy_policy(run / "policy", target)


@pytest.mark.skipif(importlib.util.find_spec("onnx") is not None, reason="onnx is installed")
def test_export_names_the_packages_that_onnx_needs(cli: Cli, run: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    outcome = cli("policies", "export", run, tmp_path / "new", "--onnx", tmp_path / "x.onnx")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert "pip install onnx onnxscript" in outcome.err
    assert not (tmp_path / "new").exists()
