"""The commands ``league``, and ``evaluate`` and ``bench`` in a game of several players."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Cli, cli

__all__ = ["cli"]

TINY = ("--edition", "scriptorium-tiny")


# league -----------------------------------------------------------------------------------------


def test_league_prints_tables(cli: Cli) -> None:
    pytest.importorskip("choix")
    agents = ("--agents", "random,random")
    outcome = cli("league", "scriptorium", *TINY, "--players", 3, *agents, "--deals", 5)
    assert outcome.status == 0, outcome.err
    assert outcome.err == ""
    for said in ("League of 3 players", "random#1", "random#2", "seat 2", "everybody"):
        assert said in outcome.out
    said = " ".join(outcome.out.split())
    assert "30 games: 2 tables of 3, 5 deals of the 'final' list at each, in every order" in said


def test_league_prints_json_and_nothing_else(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("choix")
    pytest.importorskip("matplotlib")
    out = tmp_path / "report"
    command = ("league", "scriptorium", *TINY, "--players", 4, "--agents", "random,random")
    more = ("--deals", 3, "--seeds", "dev", "--rotations", "all", "--seed", 2, "--json")
    outcome = cli(*command, *more, "--out", out)
    assert outcome.status == 0, outcome.err
    result = json.loads(outcome.out)
    assert (result["seeds"]["list"], result["agent_seed"]) == ("dev", 2)
    assert (result["rotations"], result["players"]) == ("all", 4)
    assert outcome.err.strip() == f"Report: {out / 'report.html'}"
    assert json.loads((out / "league.json").read_text()) == result


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bibliogamo",), "there is no game 'bibliogamo'; there are: scriptorium"),
        (("scriptorum",), "did you mean 'scriptorium'?"),
        (("scriptorium", "--agents", "random"), "agents: expected 2 to 16, got 1"),
        (("scriptorium", "--agents", "random,,random"), "with none empty"),
        (("scriptorium", "--agents", "random,nobody"), "there is no agent 'nobody'"),
        (("scriptorium", "--players", "5"), "players: this edition is for 2, 3, 4, got 5"),
        (("scriptorium", "--players", "two"), "--players"),
        (("scriptorium", "--deals", "0"), "deals: expected"),
        (("scriptorium", "--rotations", "cyclc"), "did you mean 'cyclic'?"),
        (("scriptorium", "--seeds", "finale"), "did you mean 'final'?"),
        (("scriptorium", "--edition", "bibliogamo"), "only 'scriptorium' editions"),
        (("scriptorium", "--out", f"{__file__}/x"), "can't be written"),
    ],
)
def test_league_errors(cli: Cli, arguments: Any, said: str) -> None:
    pytest.importorskip("choix")
    pytest.importorskip("matplotlib")
    default = () if "--agents" in arguments else ("--agents", "random,random")
    outcome = cli("league", *arguments, *default)
    assert outcome.status == 2
    assert outcome.out == ""
    assert said in outcome.err
    assert "Traceback" not in outcome.err


# evaluate ---------------------------------------------------------------------------------------


def test_evaluate_prints_tables(cli: Cli) -> None:
    agents = ("--agents", "random", "--against", "random")
    outcome = cli("evaluate", "scriptorium", *TINY, *agents, "--games", 5)
    assert outcome.status == 0, outcome.err
    said = " ".join(outcome.out.split())
    for part in ("Against random, 2 players", "Win share by seat", "5 deals of the 'final' list"):
        assert part in said


def test_evaluate_prints_json_and_writes_a_report(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    command = ("evaluate", "scriptorium", *TINY, "--agents", "random", "--against", "random")
    more = ("--games", 4, "--players", 3, "--seeds", "dev", "--json", "--out", tmp_path)
    outcome = cli(*command, *more)
    assert outcome.status == 0, outcome.err
    result = json.loads(outcome.out)
    assert (result["players"], result["against"]["name"]) == (3, "random")
    assert result["agents"][0]["games"] == 12
    assert outcome.err.strip() == f"Report: {tmp_path / 'report.html'}"
    assert json.loads((tmp_path / "evaluation.json").read_text()) == result


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("scriptorium", "--agents", "random", "--prestige", "1"), "only bibliogamo has prestige"),
        (("scriptorium", "--agents", "random", "--luck"), "luck: only measured of bibliogamo"),
        (("scriptorium", "--agents", "random", "--players", "1"), "is for 2, 3, 4, got 1"),
        (("scriptorium", "--agents", "random", "--against", "nobody"), "no agent 'nobody'"),
        (("scriptorium", "--agents", "random,random"), "'random' stands twice"),
        (("scriptorium", "--agents", "random", "--games", "0"), "games: expected"),
        (("bibliogamo", "--agents", "random", "--players", "2"), "bibliogamo is for one"),
        (("bibliogamo", "--agents", "random", "--against", "random"), "bibliogamo is for one"),
    ],
)
def test_evaluate_errors(cli: Cli, arguments: Any, said: str) -> None:
    outcome = cli("evaluate", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert said in outcome.err
    assert "Traceback" not in outcome.err


# bench ------------------------------------------------------------------------------------------


def test_bench_prints_tables(cli: Cli) -> None:
    command = ("bench", "scriptorium", *TINY, "--num-envs", "1,3", "--seconds", 0.05)
    outcome = cli(*command, "--players", 2, "--opponents", "random")
    assert outcome.status == 0, outcome.err
    said = " ".join(outcome.out.split())
    for part in ("2 players, all seats", "observe", "the other seats by opponents", "random 3"):
        assert part in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bibliogamo", "--edition", "scriptorium"), "only 'bibliogamo' editions"),
        (("bibliogamo", "--players", "2"), "players: bibliogamo is for one"),
        (("scriptorium", "--players", "9"), "is for 2, 3, 4 players, got 9"),
        (("scriptorium", "--opponents", "random,"), "with none empty"),
    ],
)
def test_bench_errors(cli: Cli, arguments: Any, said: str) -> None:
    outcome = cli("bench", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert said in outcome.err


# The modules ------------------------------------------------------------------------------------


def test_modules_run_as_commands() -> None:
    pytest.importorskip("choix")
    command = [sys.executable, "-m", "incunabula.training.league", "scriptorium", "--json", *TINY]
    command += ["--agents", "random,random", "--deals", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["games"] == 4
