"""Reports of an evaluation: the page, its pictures, the files beside it, learning curves."""

import csv
import errno
import json
import os
import re
from typing import Any

import pytest

from incunabula.agents.agent import RandomAgent
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation import report as report_module
from incunabula.training.evaluation.curve import read_curve
from incunabula.training.evaluation.evaluate import Evaluation, evaluate
from incunabula.training.evaluation.files import write_atomically
from incunabula.training.evaluation.report import report_html, verdict, write_report
from incunabula.training.evaluation.tables import short_names, signed
from tests.evaluations import TINY, evaluation, write_policy

__all__ = ["evaluation"]


@pytest.fixture
def run(tmp_path: Any) -> Any:
    """A run folder of three evaluations, the last line cut off as by a kill."""
    folder = tmp_path / "run"
    folder.mkdir()
    lines = [
        {"steps": 100, "loss": 3.0},
        {"steps": 1000, "eval_mean": 1.5, "eval_ci95": [1.0, 2.0]},
        {"steps": 2000, "eval_mean": 2.5, "eval_ci95": [2.0, 3.0]},
        {"steps": 2000, "eval_mean": 2.75, "eval_ci95": [2.5, 3.0]},
        {"steps": 3000, "eval_mean": 2.25, "eval_ci95": None},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "metrics.jsonl").write_text(text + '{"steps": 4000, "eval_')
    return folder


def test_learning_curve_is_read(run: Any) -> None:
    curve = read_curve(run)
    assert [tuple(point) for point in curve.points] == [
        (1000, 1.5, 1.0, 2.0),
        (2000, 2.75, 2.5, 3.0),
        (3000, 2.25, 2.25, 2.25),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense\n", "line 1: not JSON"),
        ("[]\n", "line 1: expected a JSON object"),
        ('{"eval_mean": 1}\n', "expected numbers in steps and eval_mean"),
        ('{"steps": 1, "eval_mean": NaN}\n', "expected numbers in steps and eval_mean"),
        ('{"steps": 1, "eval_mean": 1, "eval_ci95": [1]}\n', "expected eval_ci95 to be two"),
    ],
)
def test_metrics_that_make_no_sense_are_refused(run: Any, text: str, message: str) -> None:
    (run / "metrics.jsonl").write_text(text)
    with pytest.raises(IncunabulaError, match=re.escape(message)):
        read_curve(run)


def test_report_is_one_page_with_its_pictures(
    evaluation: Evaluation, run: Any, tmp_path: Any
) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "new" / "report"
    page = write_report(out, evaluation, run)
    assert page == out / "report.html"
    assert sorted(file.name for file in out.iterdir()) == [
        "evaluation.json",
        "games.csv",
        "learning_curve.png",
        "report.html",
        "scores.png",
    ]
    text = page.read_text(encoding="utf-8")
    assert text.count("data:image/png;base64,") == 2
    assert not re.search(r"(src|href)=\"(?!data:)|https?://|@import|url\(", text)
    for said in ("variant", TINY, evaluation.result["seeds"]["sha256"], "numpy", "final"):
        assert said in text
    for picture in ("scores.png", "learning_curve.png"):
        assert (out / picture).read_bytes().startswith(b"\x89PNG")
    assert json.loads((out / "evaluation.json").read_text()) == evaluation.result
    rows = list(csv.DictReader((out / "games.csv").read_text().splitlines()))
    assert [int(row["other"]) for row in rows] == evaluation.games["other"].score.tolist()
    assert [int(row["seed"]) for row in rows] == evaluation.seeds.tolist()


def test_report_again_replaces_its_files_and_no_others(
    evaluation: Evaluation, run: Any, tmp_path: Any
) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "notes.txt").write_text("mine")
    write_report(tmp_path, evaluation, run)
    pictures = (tmp_path / "scores.png").read_bytes()
    write_report(tmp_path, evaluation)
    assert (tmp_path / "scores.png").read_bytes() == pictures
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert not (tmp_path / "learning_curve.png").exists()
    assert not list(tmp_path.glob(".*"))


def test_an_evaluated_run_shows_its_learning_curve(tmp_path: Any) -> None:
    pytest.importorskip("matplotlib")
    write_policy(tmp_path / "run" / "policy")
    (tmp_path / "run" / "metrics.jsonl").write_text(
        '{"steps": 9, "eval_mean": 1.0, "eval_ci95": [0.5, 1.5]}\n'
    )
    result = evaluate(["random", str(tmp_path / "run")], edition=TINY, games=20)
    write_report(tmp_path / "report", result)
    assert (tmp_path / "report" / "learning_curve.png").exists()


def test_many_agents_of_one_game_can_be_drawn(tmp_path: Any) -> None:
    pytest.importorskip("matplotlib")
    agents = [RandomAgent(k) for k in range(10)]
    for k, agent in enumerate(agents):
        agent.name = f"an/agent & <of> a very long name {k}"
    result = evaluate(agents, edition=TINY, games=1)
    text = write_report(tmp_path, result).read_text(encoding="utf-8")
    assert "&amp; &lt;of&gt;" in text
    assert "<of>" not in text


def test_report_without_matplotlib_says_how_to_get_it(
    evaluation: Evaluation, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_module, "find_spec", lambda name: None)
    with pytest.raises(IncunabulaError, match=r"pip install 'incunabula\[train\]'"):
        write_report(tmp_path, evaluation)
    assert not list(tmp_path.iterdir())


def test_report_to_a_place_that_cannot_be_written(evaluation: Evaluation, tmp_path: Any) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "file").write_text("")
    with pytest.raises(IncunabulaError, match=r"out: .*file.*: files can't be written there"):
        write_report(tmp_path / "file", evaluation)


def test_a_full_disk_leaves_what_was_there(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "evaluation.json"
    write_atomically(path, b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(IncunabulaError, match=r"evaluation\.json: can't be written: No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["evaluation.json"]


def test_report_does_not_overwrite_a_training_run(evaluation: Evaluation, run: Any) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(IncunabulaError, match="training run's own folder"):
        write_report(run, evaluation, run)
    assert [file.name for file in run.iterdir()] == ["metrics.jsonl"]


@pytest.mark.parametrize(
    ("ends", "said"),
    [([0.5, 1.5], "is better than the next, other: +1.00"), ([-0.5, 2.5], "can't be told from")],
)
def test_verdict(ends: list[float], said: str) -> None:
    rows = [
        {"name": "other", "mean": 2.0, "ci95": [1.0, 3.0]},
        {"name": "random", "mean": 3.0, "ci95": [2.0, 4.0]},
    ]
    mean = sum(ends) / 2
    pair = {"a": "other", "b": "random", "mean_difference": -mean, "ci95": [-e for e in ends[::-1]]}
    result = {"agents": rows, "paired": [pair], "seeds": {"games": 9}}
    assert verdict(result).startswith("random scores 3.00 [2.00, 4.00] on average over 9 games.")
    assert said in verdict(result)


def test_page_needs_no_pairs(evaluation: Evaluation) -> None:
    alone = evaluate(["random"], edition=TINY, games=10).result
    assert "Differences" not in report_html(alone, {"scores.png": b""}, [])
    assert "Differences" in report_html(evaluation.result, {"scores.png": b""}, [])


def test_names_and_numbers_in_tables() -> None:
    assert short_names(["random", "runs/a", "runs/b"]) == {
        "random": "random",
        "runs/a": "a",
        "runs/b": "b",
    }
    assert short_names(["x/run", "y/run"]) == {"x/run": "x/run", "y/run": "y/run"}
    assert [signed(x) for x in (1.0, -1.0, 0.0, -0.001)] == ["+1.00", "−1.00", "0.00", "0.00"]
