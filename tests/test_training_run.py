"""Training runs: exact resuming, interruption, and what lies in a run folder."""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from incunabula.agents.agent import RandomAgent  # noqa: E402
from incunabula.agents.learned import PolicyAgent  # noqa: E402
from incunabula.agents.policy_folder import load_policy  # noqa: E402
from incunabula.envs.bibliogamo.edition import load_edition  # noqa: E402
from incunabula.envs.errors import IncunabulaError  # noqa: E402
from incunabula.training.evaluation.games import play_games  # noqa: E402
from incunabula.training.evaluation.seeds import seed_list  # noqa: E402
from incunabula.training.ppo.clone import clone_teacher  # noqa: E402
from incunabula.training.ppo.command import report, train  # noqa: E402
from incunabula.training.ppo.config import TrainConfig, load_config  # noqa: E402
from incunabula.training.ppo.learner import Learner  # noqa: E402
from incunabula.training.ppo.rundir import RunFolder  # noqa: E402
from incunabula.training.ppo.trainer import Trainer  # noqa: E402

SMALL: dict[str, Any] = {
    "game": "bibliogamo",
    "edition": "bibliogamo-tiny",
    "total_steps": 4096,
    "num_envs": 32,
    "n_steps": 16,
    "batch_size": 128,
    "n_epochs": 2,
    "network": {"kind": "towers", "layers": [16], "card_dim": 4, "tower_dim": 4},
    "shaping": {},
    "eval": {"every": 1024, "games": 20},
    "checkpoint_every": 1024,
}


def small(**changes: Any) -> TrainConfig:
    return load_config(SMALL | changes)


def state_of(trainer: Trainer) -> dict[str, Any]:
    """Everything that decides what comes next, by name."""
    model, environment, progress = trainer.learner.get_state()
    return {
        **{f"model.{k}": v for k, v in model.items()},
        **{f"environment.{k}": v for k, v in environment.items()},
        **progress,
    }


def assert_same(a: dict[str, Any], b: dict[str, Any]) -> None:
    assert set(a) == set(b)
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def metrics(folder: Path) -> list[dict[str, Any]]:
    """The lines of metrics.jsonl without what depends on the clock."""
    timed = {"seconds", "cpu_seconds", "steps_per_second"}
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [{k: v for k, v in json.loads(x).items() if k not in timed} for x in lines]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Trainer, Path]:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    trainer = Trainer.start(small(), folder)
    trainer.run(quiet=True)
    return trainer, folder


# Resuming -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stop", [512, 2048, 3072])
def test_resuming_is_going_on(stop: int, finished: tuple[Trainer, Path], tmp_path: Path) -> None:
    """N steps, then resumed: bit for bit the uninterrupted run."""
    whole, whole_folder = finished
    folder = tmp_path / "parts"
    Trainer.start(small(), folder).run(stop_after=stop, quiet=True)
    torch.manual_seed(99)  # whatever happened to the generators in between
    np.random.seed(99)  # noqa: NPY002
    with (folder / "metrics.jsonl").open("a") as file:  # what a kill after the checkpoint leaves
        file.write(json.dumps({"steps": stop + 512, "eval_mean": 99}) + '\n{"steps": 9')
    resumed = Trainer.resume(folder)
    assert resumed.learner.steps == stop
    resumed.run(quiet=True)
    assert_same(state_of(whole), state_of(resumed))
    assert metrics(whole_folder) == metrics(folder)
    assert resumed.best == whole.best
    for policy in ("policy", "policy-last"):
        for a, b in zip(
            *(sorted(load_policy(f / policy).weights.items()) for f in (whole_folder, folder)),
            strict=True,
        ):
            np.testing.assert_array_equal(a[1], b[1])


def test_plain_ppo_resumes_exactly_too(tmp_path: Path) -> None:
    config = small(algorithm="ppo", network={"layers": [16]}, total_steps=2048)
    whole = Trainer.start(config, tmp_path / "whole")
    whole.run(quiet=True)
    Trainer.start(config, tmp_path / "parts").run(stop_after=1024, quiet=True)
    np.random.seed(99)  # noqa: NPY002
    resumed = Trainer.resume(tmp_path / "parts")
    resumed.run(quiet=True)
    assert_same(state_of(whole), state_of(resumed))
    # It sees no masks, and pays for it.
    assert whole.learner.environment.statistics()["illegal"] > 0


def test_two_runs_of_a_configuration_are_the_same_run_and_the_seed_matters(
    finished: tuple[Trainer, Path], tmp_path: Path
) -> None:
    whole, _ = finished
    again = Trainer.start(small(), tmp_path / "again")
    again.run(quiet=True)
    assert_same(state_of(whole), state_of(again))
    other = Trainer.start(small(seed=1), tmp_path / "other")
    other.run(stop_after=512, quiet=True)
    assert other.learner.steps == 512
    weights, others = whole.learner.weights(), other.learner.weights()
    assert not np.array_equal(weights["policy.0.weight"], others["policy.0.weight"])


def test_a_finished_run_can_be_lengthened(finished: tuple[Trainer, Path], tmp_path: Path) -> None:
    folder = tmp_path / "longer"
    shutil.copytree(finished[1], folder)
    summary = train("bibliogamo", resume=str(folder), steps=5120, quiet=True)
    assert summary["steps"] == 5120
    assert load_config(folder / "config.yaml").total_steps == 5120


# The folder ---------------------------------------------------------------------------------------


def test_the_run_folder_holds_everything(finished: tuple[Trainer, Path]) -> None:
    trainer, folder = finished
    assert load_config(folder / "config.yaml") == small()
    versions = json.loads((folder / "versions.json").read_text())
    assert {"torch", "stable_baselines3", "numpy"} <= set(versions["versions"])
    assert versions["precision"] == trainer.precision
    assert json.loads((folder / "seeds.json").read_text())["seed"] == 0
    assert [path.name for path in (folder / "checkpoints").iterdir()] == ["4096"]
    assert not [path for path in folder.rglob("*") if path.suffix in (".pkl", ".zip", ".pt")]
    evaluations = [line for line in metrics(folder) if "eval_mean" in line]
    assert [line["steps"] for line in evaluations] == [1024, 2048, 3072, 4096]
    best = json.loads((folder / "evaluation.json").read_text())["best"]
    assert best["eval_mean"] == max(line["eval_mean"] for line in evaluations)
    assert best["eval_seeds"] == "dev"
    receipt = load_policy(folder / "policy").description["training"]
    assert receipt["evaluation"] == best
    assert receipt["config"] == small().model_dump(mode="json")
    assert list((folder / "tensorboard").iterdir())


def test_numbers_next_to_zero_are_what_they_were_after_training(
    finished: tuple[Trainer, Path],
) -> None:
    assert math.nextafter(0.0, 1.0) > 0


def test_evaluations_are_those_of_the_policy_folder(finished: tuple[Trainer, Path]) -> None:
    trainer, folder = finished
    edition = load_edition("bibliogamo-tiny")
    agent = PolicyAgent(folder / "policy", edition)
    for batch_size in (1, 512):
        played = play_games(agent, edition, seed_list("dev", 20), batch_size=batch_size)
        assert trainer.best is not None
        assert played.score.mean() == pytest.approx(trainer.best["eval_mean"])


def test_the_report_says_where_everything_lies(finished: tuple[Trainer, Path]) -> None:
    trainer, folder = finished
    summary = trainer.summary()
    assert json.loads(report(summary, as_json=True)) == summary
    text = report(summary)
    assert "Trained 4,096 steps" in text
    assert str(folder / "policy") in text


def test_training_with_strict_masks_never_plays_an_illegal_action(tmp_path: Path) -> None:
    """20,000 steps in an environment that raises, then 200 games through the agent."""
    config = small(edition="bibliogamo", total_steps=20_000, num_envs=128, skip_forced=True)
    trainer = Trainer.start(config, tmp_path / "run")
    trainer.run(quiet=True)
    statistics = trainer.learner.environment.statistics()
    assert statistics["illegal"] == 0
    assert trainer.learner.environment.decisions > trainer.learner.steps
    edition = load_edition("bibliogamo")
    play_games(PolicyAgent(tmp_path / "run" / "policy", edition), edition, seed_list("dev", 200))


# Imitation ----------------------------------------------------------------------------------------


class First(RandomAgent):
    """Takes the first legal action: easy to imitate."""

    def act(self, view: Any) -> Any:
        return view.action_mask.argmax(axis=1)


def test_a_teacher_is_imitated() -> None:
    config = small(
        shaping=None,
        clone={"decisions": 20_000, "epochs": 3, "batch_size": 256, "num_envs": 64},
    )
    learner = Learner(config, torch.device("cpu"), False)
    seen = []

    def on_progress(decisions: int, figures: dict[str, float]) -> bool:
        seen.append(decisions)
        return True

    figures = clone_teacher(learner, First(), on_progress)
    assert figures["agreement"] > 0.9
    assert sum(seen) == pytest.approx(20_000, abs=4096)


def test_cloning_comes_first_and_is_not_repeated(tmp_path: Path) -> None:
    config = small(clone={"teacher": "random", "decisions": 2_000, "num_envs": 32})
    folder = tmp_path / "run"
    Trainer.start(config, folder).run(stop_after=512, quiet=True)
    lines = metrics(folder)
    assert "clone/agreement" in lines[0]
    assert [line["steps"] for line in lines if "eval_mean" in line] == [0]
    before = len([line for line in lines if "clone/agreement" in line])
    Trainer.resume(folder).run(stop_after=1024, quiet=True)
    assert len([line for line in metrics(folder) if "clone/agreement" in line]) == before


# What goes wrong ----------------------------------------------------------------------------------


def test_options_that_are_wrong(finished: tuple[Trainer, Path], tmp_path: Path) -> None:
    folder = str(finished[1])
    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("precious")
    for arguments, words in (
        ({"game": "chess"}, "can't train 'chess'"),
        ({"config": "defualt"}, "did you mean 'default'"),
        ({"config": "demo", "steps": 0}, "total_steps: is 0"),
        ({"config": "demo", "num_envs": -3}, "num_envs: is -3"),
        ({"config": "demo", "seed": -1}, "seed: expected a number in 0.."),
        ({"config": "demo", "device": "cude"}, "device: 'cude' can't be used"),
        ({"config": "demo", "out": folder}, "holds a training run already"),
        ({"config": "demo", "out": str(tmp_path / "full")}, "is not empty"),
        ({"config": "demo", "out": str(tmp_path / "file")}, "can't be written"),
        ({"resume": str(tmp_path / "none")}, "holds no training run"),
        ({"resume": folder, "seed": 3}, "seed: can't be given with resume"),
        ({"resume": folder, "config": "demo"}, "config: can't be given with resume"),
        ({"resume": folder, "steps": -1}, "steps: must be at least 1"),
    ):
        with pytest.raises(IncunabulaError) as caught:
            train(**arguments, quiet=True)
        assert words in str(caught.value)
    assert (tmp_path / "full" / "mine").read_text() == "precious"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: shutil.rmtree(c.parent), "no checkpoint was written yet"),
        (lambda c: (c / "progress.json").write_text("{"), "can't be read"),
        (lambda c: (c / "progress.json").write_text('{"steps": 3}'), "isn't the progress of step"),
        (lambda c: (c / "model.safetensors").unlink(), "there is no such file"),
        (lambda c: (c / "model.safetensors").write_bytes(b"\x80\x04."), "isn't a safetensors file"),
        (
            lambda c: shutil.copy(c / "environment.safetensors", c / "model.safetensors"),
            "doesn't fit the run's configuration",
        ),
        (
            lambda c: shutil.copy(c / "model.safetensors", c / "environment.safetensors"),
            "doesn't fit the run's configuration",
        ),
    ],
)
def test_damaged_checkpoints_are_refused(
    change: Any, words: str, finished: tuple[Trainer, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished[1], folder)
    change(folder / "checkpoints" / "4096")
    with pytest.raises(IncunabulaError, match=words):
        Trainer.resume(folder)


def test_a_checkpoint_that_can_not_be_written_leaves_the_one_before(
    finished: tuple[Trainer, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished[1], folder)
    run, _ = RunFolder.open(folder)
    steps, checkpoint = run.last_checkpoint()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(IncunabulaError, match="No space left"):
        run.save_checkpoint(steps + 512, checkpoint)
    assert run.last_checkpoint()[0] == steps
    assert [path.name for path in (folder / "checkpoints").iterdir()] == [str(steps)]


def start(folder: Path, config: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "incunabula.training.ppo", str(config), "--out", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )


def wait_for(folder: Path, lines: int) -> None:
    """Until the metrics have so many lines."""
    for _ in range(30_000):
        path = folder / "metrics.jsonl"
        if path.exists() and path.read_text().count("\n") >= lines:
            return
        time.sleep(0.02)
    raise AssertionError("training didn't start")


@pytest.mark.slow
def test_ctrl_c_saves_and_says_how_to_go_on_and_a_kill_loses_little(tmp_path: Path) -> None:
    config = tmp_path / "mine.yaml"
    config.write_text(small(total_steps=10**8).to_yaml())
    folder = tmp_path / "run"
    process = start(folder, config)
    wait_for(folder, 3)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=120)
    assert process.returncode == 130
    assert f"--resume {folder}" in error
    assert "Traceback" not in error
    steps, _ = RunFolder(folder).last_checkpoint()
    assert metrics(folder)[-1]["steps"] == steps

    folder = tmp_path / "killed"
    process = start(folder, config)
    wait_for(folder, 8)
    process.kill()
    process.communicate(timeout=120)
    resumed = Trainer.resume(folder)
    assert resumed.learner.steps >= 1024
    resumed.run(stop_after=resumed.learner.steps + 512, quiet=True)
