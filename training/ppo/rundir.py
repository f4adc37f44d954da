"""A run folder: everything about one training run, in files that survive a kill at any moment.

config.yaml        the configuration, overrides included
versions.json      what it ran with: versions, machine, precision, backend
seeds.json         the seeds everything random comes from
metrics.jsonl      one line a rollout, and one an evaluation (with `eval_mean`)
tensorboard/       the same for TensorBoard
checkpoints/N/     everything needed to go on from step N
policy/            the policy that did best on the dev games
policy-last/       the policy of the last checkpoint
evaluation.json    the last evaluation and the best one
"""

import contextlib
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from incunabula.agents.tensors import (
    Arrays,
    existing_folder,
    read_tensors,
    tensors_to_bytes,
    write_folder,
)
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.files import open_regular
from incunabula.training.evaluation.files import check_folder, kept_if_used, write_atomically
from incunabula.training.ppo.config import TrainConfig, load_config

CONFIG = "config.yaml"
METRICS = "metrics.jsonl"
LOCK = ".lock"
CHECKPOINTS = "checkpoints"
MODEL, ENVIRONMENT, PROGRESS = "model.safetensors", "environment.safetensors", "progress.json"


class Interrupted(IncunabulaError):
    """Training was stopped by the user; the message says how to go on."""


class Checkpoint(NamedTuple):
    """What a checkpoint holds: arrays of the learner, of the environment, and JSON values."""

    model: Arrays
    environment: Arrays
    progress: dict[str, Any]


class RunFolder:
    """The files of one run. Nothing outside `path` is touched."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[bytes] | None = None

    @classmethod
    def create(
        cls, path: str | Path, config: TrainConfig, notes: Mapping[str, Any] | None = None
    ) -> "RunFolder":
        """A new run in an empty or missing folder, with notes: values of JSON files by name.

        Raises IncunabulaError if the folder holds something or can't be written; nothing is left.
        """
        run = cls(Path(path))
        run.check_new()
        with kept_if_used(run.path), contextlib.ExitStack() as undo:
            check_folder(run.path)
            run.lock()
            undo.callback(run.unlock)
            run.check_new()  # another process may have been quicker
            notes = notes or {}
            for name in (LOCK, CONFIG, *notes):
                undo.callback((run.path / name).unlink, missing_ok=True)
            run.write(CONFIG, config.to_yaml().encode())
            for name, value in notes.items():
                run.write_json(name, value)
            undo.pop_all()
        return run

    def check_new(self) -> None:
        """Raise IncunabulaError if the folder holds something."""
        folder = self.path
        try:
            found = {path.name for path in folder.iterdir()} - {LOCK} if folder.is_dir() else set()
        except OSError as error:
            raise IncunabulaError(f"{folder}: can't be read: {error.strerror or error}") from None
        if CONFIG in found and not self._numbers():
            raise IncunabulaError(
                f"{folder}: holds a training run without a checkpoint, which can't be gone on "
                "with; remove it or name another folder"
            )
        if CONFIG in found:
            raise IncunabulaError(
                f"{folder}: holds a training run already; go on with it (--resume {folder}) or "
                "name another folder"
            )
        if found:
            raise IncunabulaError(f"{folder}: is not empty; name another folder for the run")

    def lock(self) -> None:
        """Keep other writers out until `unlock` or the end of the process, however it ends.

        Raises IncunabulaError if there is one. A system without such locks does without.
        """
        if self._lock is not None:
            return
        try:
            import fcntl
        except ImportError:
            return
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            file = stack.enter_context((self.path / LOCK).open("ab"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise IncunabulaError(
                    f"{self.path}: another process is training in this folder; wait until it is "
                    "done or stop it first"
                ) from None
            stack.pop_all()
            self._lock = file

    def unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @classmethod
    def open(cls, path: str | Path) -> tuple["RunFolder", TrainConfig]:
        """The run in a folder, to be resumed. Raises IncunabulaError if there is none."""
        folder = Path(path)
        if not (folder / CONFIG).is_file():
            raise IncunabulaError(f"{folder}: holds no training run (no {CONFIG})")
        return cls(folder), load_config(folder / CONFIG)

    @property
    def best_policy(self) -> Path:
        return self.path / "policy"

    @property
    def last_policy(self) -> Path:
        return self.path / "policy-last"

    @property
    def tensorboard(self) -> Path:
        return self.path / "tensorboard"

    def write(self, name: str, content: bytes) -> None:
        """Write a file, in whole or not at all."""
        write_atomically(self.path / name, content)

    def write_json(self, name: str, value: Any) -> None:
        self.write(name, (json.dumps(value, indent=2) + "\n").encode())

    # Metrics --------------------------------------------------------------------------------------

    def append_metrics(self, entry: Mapping[str, Any]) -> None:
        """Add a line to the metrics; a number that isn't finite becomes null."""
        clean = {
            key: None if isinstance(value, float) and not np.isfinite(value) else value
            for key, value in entry.items()
        }
        try:
            with (self.path / METRICS).open("a", encoding="utf-8") as file:
                file.write(json.dumps(clean) + "\n")
        except OSError as error:
            raise IncunabulaError(
                f"{self.path / METRICS}: can't be written: {error.strerror or error}"
            ) from None

    def truncate_metrics(self, steps: int) -> None:
        """Drop lines after `steps`, which a resumed run writes again, and all from a bad one on."""
        path = self.path / METRICS
        if not path.exists():
            return
        try:
            with open_regular(path) as file:
                content = file.read()
        except OSError as error:
            raise IncunabulaError(f"{path}: can't be read: {error.strerror or error}") from None
        kept = []
        for line in content.split(b"\n"):
            try:
                entry = json.loads(line.decode("utf-8"))
            except (ValueError, RecursionError):
                break  # cut off by a kill, or the empty end
            at = entry.get("steps", 0) if isinstance(entry, dict) else None
            if type(at) is not int:
                break
            if at <= steps:
                kept.append(line + b"\n")
        self.write(METRICS, b"".join(kept))

    # Checkpoints ----------------------------------------------------------------------------------

    def save_checkpoint(self, steps: int, checkpoint: Checkpoint) -> None:
        """Write a checkpoint, and remove older ones once it is safely there."""
        folder = self.path / CHECKPOINTS / str(steps)
        progress = json.dumps(checkpoint.progress, indent=2, allow_nan=False) + "\n"
        write_folder(
            folder,
            {
                MODEL: tensors_to_bytes(checkpoint.model),
                ENVIRONMENT: tensors_to_bytes(checkpoint.environment),
                PROGRESS: progress.encode(),
            },
        )
        for other in folder.parent.iterdir():
            if other != folder and _number(other) is not None:
                shutil.rmtree(other, ignore_errors=True)

    def last_checkpoint(self) -> tuple[int, Checkpoint]:
        """The newest sound checkpoint and its step.

        Raises IncunabulaError if there is none: what is wrong with the newest.
        """
        wrong = None
        for steps in self._numbers():
            folder = existing_folder(self.path / CHECKPOINTS / str(steps))
            try:
                progress = _read_progress(folder / PROGRESS, steps)
                model, environment = (
                    read_tensors(folder / MODEL),
                    read_tensors(folder / ENVIRONMENT),
                )
            except IncunabulaError as error:
                wrong = wrong or error
                continue
            return steps, Checkpoint(model, environment, progress)
        raise wrong or IncunabulaError(
            f"{self.path}: no checkpoint was written yet; start the run again in a new folder"
        )

    def _numbers(self) -> list[int]:
        """Steps of the checkpoints, newest first; one whose replacing was cut off included."""
        parent = self.path / CHECKPOINTS
        found = {_number(path) for path in parent.glob("*") if path.is_dir()}
        return sorted((n for n in found if n is not None), reverse=True)


def _number(path: Path) -> int | None:
    """The step of a checkpoint folder, or of one that was being replaced; None of others."""
    match = re.fullmatch(r"(0|[1-9][0-9]{0,17})|\.(0|[1-9][0-9]{0,17})\.old", path.name)
    return int(match[1] or match[2]) if match else None


def _read_progress(path: Path, steps: int) -> dict[str, Any]:
    """A checkpoint's progress, every field checked."""

    def no_number(name: str) -> None:
        raise ValueError(f"{name} is no number")

    try:
        with open_regular(path) as file:
            text = file.read().decode("utf-8")
        progress = json.loads(text, parse_constant=no_number)
    except (OSError, ValueError, RecursionError) as error:
        raise IncunabulaError(f"{path}: can't be read: {error}") from None
    if not isinstance(progress, dict) or not _whole(progress.get("steps"), steps, steps):
        raise IncunabulaError(f"{path}: isn't the progress of step {steps}")
    for name, good, what in (
        ("updates", _whole, "a whole number"),
        ("seconds", _seconds, "a number from 0 up"),
        ("cpu_seconds", _seconds, "a number from 0 up"),
        ("best", _evaluation, "null or an evaluation"),
        ("last_evaluation", _evaluation, "null or an evaluation"),
    ):
        if name not in progress:
            raise IncunabulaError(f"{path}: {name}: is missing; it must be {what}")
        if not good(progress[name]):
            raise IncunabulaError(f"{path}: {name}: must be {what}")
    return progress


def _whole(value: Any, low: int = 0, high: int = 2**62) -> bool:
    return type(value) is int and low <= value <= high


def _finite(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e300  # false for NaN


def _seconds(value: Any) -> bool:
    return _finite(value) and value >= 0


def _evaluation(value: Any) -> bool:
    """Whether this is an evaluation as `Trainer` keeps it, or None."""
    if value is None:
        return True
    if not isinstance(value, dict):
        return False
    ci95 = value.get("eval_ci95")
    return (
        _whole(value.get("steps"))
        and _whole(value.get("eval_games"))
        and _finite(value.get("eval_mean"))
        and (
            ci95 is None or (isinstance(ci95, list) and len(ci95) == 2 and all(map(_finite, ci95)))
        )
    )


def default_folder(name: str) -> Path:
    """A folder for a run without a name: runs/NAME, or runs/NAME-2, ... if that is taken."""
    for number in range(1, 10_000):
        folder = Path("runs") / (name if number == 1 else f"{name}-{number}")
        if not folder.exists():
            return folder
    raise IncunabulaError("runs: has too many folders; name one with --out")
