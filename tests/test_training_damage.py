"""Run folders that a kill, a second writer or a bad disk has left in disorder."""

import gc
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from incunabula.agents.policy_folder import load_policy
from incunabula.agents.tensors import read_tensors
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.curve import read_curve
from incunabula.training.ppo.config import load_config
from incunabula.training.ppo.rundir import RunFolder
from incunabula.training.ppo.screen import Screen
from incunabula.training.ppo.trainer import Trainer

SMALL: dict[str, Any] = {
    "game": "bibliogamo",
    "edition": "bibliogamo-tiny",
    "total_steps": 128,
    "num_envs": 8,
    "n_steps": 8,
    "batch_size": 32,
    "n_epochs": 1,
    "network": {"layers": [8]},
    "eval": {"every": 64, "games": 5},
    "checkpoint_every": 64,
}
DEEP = "[" * 100_000


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    Trainer.start(load_config(SMALL), folder).run(quiet=True)
    return folder


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "run"))


def test_a_kill_between_the_renames_loses_nothing(run: Path) -> None:
    checkpoints = run / "checkpoints"
    (checkpoints / "128").rename(checkpoints / ".128.old")
    (checkpoints / ".128.mine.tmp").mkdir()
    assert RunFolder(run).last_checkpoint()[0] == 128
    Trainer.resume(run, 192).run(quiet=True)
    assert {path.name for path in checkpoints.iterdir()} == {"192", ".128.mine.tmp"}


def test_an_older_checkpoint_serves_if_the_newest_is_damaged(run: Path) -> None:
    shutil.copytree(run / "checkpoints" / "128", run / "checkpoints" / "192")
    assert RunFolder(run).last_checkpoint()[0] == 128
    (run / "checkpoints" / "128" / "model.safetensors").unlink()
    with pytest.raises(IncunabulaError, match="isn't the progress of step 192"):
        RunFolder(run).last_checkpoint()


def test_fewer_steps_than_were_taken_are_refused(run: Path) -> None:
    before = (run / "config.yaml").read_bytes()
    with pytest.raises(IncunabulaError, match="at step 128 already; name more steps"):
        Trainer.resume(run, 127)
    assert (run / "config.yaml").read_bytes() == before


@pytest.mark.parametrize(
    ("changes", "device"),
    [
        ({"edition": "nonsense"}, None),
        ({"clone": {"teacher": "nonsense"}}, None),
        ({}, "meta"),
        ({}, "foo"),
    ],
)
def test_a_start_that_fails_leaves_no_folder(
    changes: dict[str, Any], device: str | None, tmp_path: Path
) -> None:
    with pytest.raises(IncunabulaError) as caught:
        Trainer.start(load_config(SMALL | changes), tmp_path / "run", device)
    assert not (tmp_path / "run").exists()
    if device is not None:
        assert f"device: '{device}' can't be used; it must be cpu, cuda" in str(caught.value)


@pytest.mark.parametrize("full_after", [0, 1, 2])
@pytest.mark.parametrize("made", [True, False])
def test_a_start_on_a_full_disk_leaves_nothing(
    full_after: int, made: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = 0

    def fsync(handle: int) -> None:
        nonlocal written
        if written == full_after:
            raise OSError(28, "No space left on device")
        written += 1

    folder = tmp_path / "runs" / "mine"
    if made:
        folder.mkdir(parents=True)
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(IncunabulaError, match="No space left"):
        Trainer.start(load_config(SMALL), folder)
    gc.collect()  # a file that is still open would warn now
    assert list(tmp_path.rglob("*")) == ([folder.parent, folder] if made else [])
    monkeypatch.undo()
    Trainer.start(load_config(SMALL), folder).run_folder.unlock()  # not locked any more
    assert {"config.yaml", "seeds.json", "versions.json"} <= set(os.listdir(folder))


def test_a_run_without_a_checkpoint_is_called_that(run: Path) -> None:
    shutil.rmtree(run / "checkpoints")
    with pytest.raises(IncunabulaError, match="without a checkpoint"):
        Trainer.start(load_config(SMALL), run)


def test_two_writers_are_one_too_many(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    trainer = Trainer.resume(run, 192)
    with pytest.raises(IncunabulaError, match="another process is training in this folder"):
        Trainer.resume(run, 192)
    trainer.run(quiet=True)
    Trainer.resume(run).run_folder.unlock()
    fresh = Trainer.start(load_config(SMALL), tmp_path / "fresh")
    with pytest.raises(IncunabulaError, match="another process"):
        Trainer.resume(tmp_path / "fresh")
    fresh.run_folder.unlock()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("best", 5),
        ("best", {"steps": 64}),
        ("last_evaluation", {"steps": 64, "eval_mean": True, "eval_games": 5}),
        ("seconds", "x"),
        ("seconds", -1),
        ("cpu_seconds", 10**400),
        ("updates", 1.5),
        ("best", None),
        ("updates", None),
    ],
)
def test_bad_progress_is_one_clear_error(field: str, value: Any, run: Path) -> None:
    path = run / "checkpoints" / "128" / "progress.json"
    progress = json.loads(path.read_text()) | {field: value}
    if value is None:
        del progress[field]
    path.write_text(json.dumps(progress))
    with pytest.raises(IncunabulaError, match=rf"progress.json: {field}: .*must be"):
        Trainer.resume(run)


@pytest.mark.parametrize("text", ['{"steps": NaN}', '{"steps": Infinity}', DEEP, "{"])
def test_unreadable_progress(text: str, run: Path) -> None:
    (run / "checkpoints" / "128" / "progress.json").write_text(text)
    with pytest.raises(IncunabulaError, match=r"progress\.json: can't be read"):
        Trainer.resume(run)


@pytest.mark.parametrize("line", [b"5", b"null", b'{"steps": "x"}', b"\xff", DEEP.encode()])
def test_metrics_end_before_a_bad_line(line: bytes, run: Path) -> None:
    path = run / "metrics.jsonl"
    good = path.read_bytes()
    path.write_bytes(good + line + b"\n" + b'{"steps": 1}\n')
    if line != b'{"steps": "x"}':
        with pytest.raises(IncunabulaError, match=r"metrics\.jsonl"):
            read_curve(run)
    Trainer.resume(run).run_folder.unlock()
    assert path.read_bytes() == good


def test_an_impossible_shape_is_refused(tmp_path: Path) -> None:
    entry = {"dtype": "F32", "shape": [0, 2**47, 2**47], "data_offsets": [0, 0]}
    text = json.dumps({"a": entry}).encode()
    (tmp_path / "file").write_bytes(len(text).to_bytes(8, "little") + text)
    with pytest.raises(IncunabulaError, match="array 'a' is described wrongly"):
        read_tensors(tmp_path / "file")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
@pytest.mark.parametrize("name", ["policy.json", "policy.safetensors"])
def test_a_pipe_is_refused(name: str, run: Path) -> None:
    (run / "policy" / name).unlink()
    os.mkfifo(run / "policy" / name)
    with pytest.raises(IncunabulaError, match=f"{name}: must be a regular file"):
        load_policy(run / "policy")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_going_on_refuses_metrics_that_are_a_pipe(run: Path) -> None:
    (run / "metrics.jsonl").unlink()
    os.mkfifo(run / "metrics.jsonl")
    with pytest.raises(IncunabulaError, match=r"metrics\.jsonl: must be a regular file"):
        Trainer.resume(run)


def test_brackets_in_a_path_are_shown(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = shutil.copytree(whole, tmp_path / "a[red]b[/x]")
    trainer = Trainer.resume(run)
    with Screen(trainer):
        pass
    trainer.run_folder.unlock()
    assert str(run) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("does", "status", "printed"),
    [
        ("raise KeyboardInterrupt", 130, b""),
        ("raise OSError(28, 'No space')", 2, b""),
        ("raise BrokenPipeError", 1, b""),
        ("print('\\u2212\\xe9')", 0, rb"-\xe9"),
    ],
)
def test_the_module_ends_without_a_traceback(does: str, status: int, printed: bytes) -> None:
    code = (
        "import incunabula.training.ppo.command as command\n"
        f"def run_train(*a, **k): {does}\n"
        "command.run_train = run_train\n"
        "from incunabula.training.ppo.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == status
    assert done.stdout.strip() == printed
    assert b"Traceback" not in done.stderr
