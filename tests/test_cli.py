"""The commands evaluate, bench and conform: what they print, and their exit status."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Cli, cli

__all__ = ["cli"]

GOLDEN = Path(__file__).with_name("golden") / "bibliogamo.jsonl.gz"
TINY = ("--edition", "bibliogamo-tiny")


# evaluate ---------------------------------------------------------------------------------------


def test_evaluate_prints_tables(cli: Cli) -> None:
    outcome = cli("evaluate", "bibliogamo", *TINY, "--agents", "random,greedy", "--games", 20)
    assert outcome.status == 0, outcome.err
    for said in ("random", "greedy", "95% interval", "greedy − random", "20 games", "variant"):
        assert said in outcome.out
    assert outcome.err == ""


def test_evaluate_prints_json_and_nothing_else(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    command = ("evaluate", "bibliogamo", *TINY, "--agents", "random", "--games", 10, "--json")
    outcome = cli(*command, "--seeds", "dev", "--seed", 3, "--out", tmp_path / "report")
    assert outcome.status == 0, outcome.err
    result = json.loads(outcome.out)
    assert (result["seeds"]["list"], result["agent_seed"]) == ("dev", 3)
    assert [agent["name"] for agent in result["agents"]] == ["random"]
    assert outcome.err.strip() == f"Report: {tmp_path / 'report' / 'report.html'}"
    assert json.loads((tmp_path / "report" / "evaluation.json").read_text()) == result


def test_evaluate_writes_a_report_and_says_where(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    command = ("evaluate", "bibliogamo", *TINY, "--agents", "random", "--games", 10)
    outcome = cli(*command, "--out", tmp_path)
    assert outcome.status == 0, outcome.err
    assert outcome.out.splitlines()[-1] == f"Report: {tmp_path / 'report.html'}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("biblogamo",), "there is no game 'biblogamo' (did you mean 'bibliogamo'?)"),
        (("bibliogamo", "--agents", "rnadom"), "there is no agent 'rnadom' (did you mean 'random'"),
        (("bibliogamo", "--agents", "random,"), "with none empty"),
        (("bibliogamo", "--agents", "random", "--games", "0"), "games: expected"),
        (("bibliogamo", "--agents", "random", "--games", "-2"), "got -2"),
        (("bibliogamo", "--agents", "random", "--games", "many"), "--games"),
        (("bibliogamo", "--agents", "random", "--seeds", "finale"), "did you mean 'final'?"),
        (("bibliogamo", "--agents", "random", "--batch-size", "0"), "batch size: expected"),
        (("bibliogamo", "--agents", "random", "--prestige", "7"), "0..6, got 7"),
        (("bibliogamo", "--agents", "random", "--edition", "no.yaml"), "there is no such file"),
        (("bibliogamo", "--agents", "random", "--run", "x"), "give its folder by --out"),
        (("bibliogamo", "--agents", "random", "--out", "x", "--run", "no/run"), "can't be read"),
        (("bibliogamo", "--agents", "random", "--out", f"{__file__}/x"), "can't be written"),
    ],
)
def test_evaluate_errors(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Any, said: str
) -> None:
    if "--out" in arguments:
        pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    outcome = cli("evaluate", *arguments)
    assert outcome.status == 2
    assert outcome.out == ""
    assert said in outcome.err
    assert "Traceback" not in outcome.err


# bench ------------------------------------------------------------------------------------------


def test_bench_prints_tables(cli: Cli) -> None:
    outcome = cli("bench", "bibliogamo", *TINY, "--num-envs", "1,3", "--seconds", 0.05)
    assert outcome.status == 0, outcome.err
    assert "steps/s" in outcome.out
    assert "observe" in outcome.out


def test_bench_prints_json_and_nothing_else(cli: Cli) -> None:
    outcome = cli("bench", "bibliogamo", *TINY, "--num-envs", "2", "--seconds", 0.05, "--json")
    assert outcome.status == 0, outcome.err
    rows = json.loads(outcome.out)["rows"]
    assert {row["num_envs"] for row in rows} == {2}
    assert {row["view"] for row in rows} == {"stepper", "rollout", "vector_env"}
    assert min(row["steps_per_second"] for row in rows) > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("chess",), "there is no game 'chess'"),
        (("bibliogamo", "--num-envs", "1,,2"), "with none empty"),
        (("bibliogamo", "--num-envs", "1,x"), "expected whole numbers above 0, got 'x'"),
        (("bibliogamo", "--num-envs", "-1"), "expected whole numbers above 0, got '-1'"),
        (("bibliogamo", "--num-envs", "0"), "got 0"),
        (("bibliogamo", "--num-envs", "2.5"), "got '2.5'"),
        (("bibliogamo", "--seconds", "-1"), "seconds: expected a number above 0"),
    ],
)
def test_bench_errors(cli: Cli, arguments: Any, said: str) -> None:
    outcome = cli("bench", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert said in outcome.err


# conform ----------------------------------------------------------------------------------------


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """The first golden game with other florins after its third step."""
    with gzip.open(GOLDEN, "rt", encoding="utf-8") as lines:
        game = json.loads(next(lines))
    game["steps"][2]["state"]["florins"] += 1
    path = tmp_path / "changed.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(game).encode()))
    return path


def test_conform_agrees(cli: Cli) -> None:
    outcome = cli("conform", GOLDEN)
    assert outcome == (0, "6 games, 890 steps agree (numpy)\n", "")
    outcome = cli("conform", GOLDEN, "--json")
    expected = {"agree": True, "backends": ["numpy"], "games": 6, "steps": 890, "difference": None}
    assert (outcome.status, json.loads(outcome.out)) == (0, expected)
    outcome = cli("conform", GOLDEN.with_name("scriptorium-more.jsonl.gz"))
    assert outcome == (0, "5 games, 891 steps agree (numpy)\n", "")


def test_conform_names_the_first_difference(cli: Cli, changed: Path) -> None:
    outcome = cli("conform", changed)
    assert outcome.status == 1
    assert outcome.out == "game 0, step 3, florins: expected 1, found 0 (numpy)\n"
    outcome = cli("conform", changed, "--json")
    assert outcome.status == 1
    assert json.loads(outcome.out)["difference"] == {
        "game": 0,
        "step": 3,
        "field": "florins",
        "expected": 1,
        "found": 0,
        "backend": "numpy",
    }


def test_conform_refuses_what_it_cannot_read(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("{not json\n")
    for path in (tmp_path / "bad.jsonl", tmp_path / "missing.jsonl", tmp_path):
        outcome = cli("conform", path)
        assert (outcome.status, outcome.out) == (2, "")
        assert len(outcome.err.splitlines()) == 1
        assert str(path) in outcome.err


# The installed command --------------------------------------------------------------------------


def test_modules_run_as_commands() -> None:
    command = [sys.executable, "-m", "incunabula.training.evaluation", "bibliogamo", "--json"]
    command += [*TINY, "--agents", "random", "--games", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["agents"][0]["games"] == 3


def test_evaluating_loads_nothing_it_does_not_need() -> None:
    """Neither torch nor matplotlib, unless a report is asked for (fault 37)."""
    code = (
        "import sys; import incunabula.training.evaluation.evaluate as e; "
        "e.evaluate(['random'], edition='bibliogamo-tiny', games=2, backend='numpy'); "
        "print(sorted({'torch', 'matplotlib', 'stable_baselines3', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
