"""A run folder: everything about one training run, in files that survive a kill at any moment.

config.yaml        the configuration, overrides included
versions.json      what it ran with: versions, machine, precision
seeds.json         the seeds everything random comes from
metrics.jsonl      one line a rollout, and one an evaluation (with `eval_mean`)
tensorboard/       the same for TensorBoard
checkpoints/N/     everything needed to go on from step N
policy/            the policy that did best on the dev games
policy-last/       the policy of the last checkpoint
evaluation.json    the last evaluation and the best one
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from incunabula.agents.tensors import Arrays, read_tensors, tensors_to_bytes, write_folder
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.files import check_folder, write_atomically
from incunabula.training.ppo.config import TrainConfig, load_config

CONFIG = "config.yaml"
METRICS = "metrics.jsonl"
CHECKPOINTS = "checkpoints"
MODEL, ENVIRONMENT, PROGRESS = "model.safetensors", "environment.safetensors", "progress.json"


class Checkpoint(NamedTuple):
    """What a checkpoint holds: arrays of the learner, of the environment, and JSON values."""

    model: Arrays
    environment: Arrays
    progress: dict[str, Any]


class RunFolder:
    """The files of one run. Nothing outside `path` is touched."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: str | Path, config: TrainConfig) -> "RunFolder":
        """A new run in an empty or missing folder.

        Raises IncunabulaError if the folder holds something or can't be written.
        """
        folder = Path(path)
        if folder.is_dir() and (folder / CONFIG).exists():
            raise IncunabulaError(
                f"{folder}: holds a training run already; go on with it (--resume {folder}) or "
                "name another folder"
            )
        if folder.is_dir() and any(folder.iterdir()):
            raise IncunabulaError(f"{folder}: is not empty; name another folder for the run")
        check_folder(folder)
        run = cls(folder)
        run.write(CONFIG, config.to_yaml().encode())
        return run

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
        """Drop lines after `steps`: a resumed run writes them again."""
        path = self.path / METRICS
        if not path.exists():
            return
        kept = []
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                break  # cut off by a kill
            if entry.get("steps", 0) <= steps:
                kept.append(line + "\n")
        self.write(METRICS, "".join(kept).encode())

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
            if other != folder:
                shutil.rmtree(other, ignore_errors=True)

    def last_checkpoint(self) -> tuple[int, Checkpoint]:
        """The newest checkpoint and its step. Raises IncunabulaError if there is no sound one."""
        parent = self.path / CHECKPOINTS
        numbers = [int(p.name) for p in parent.glob("*") if p.is_dir() and p.name.isdecimal()]
        if not numbers:
            raise IncunabulaError(
                f"{self.path}: no checkpoint was written yet; start the run again in a new folder"
            )
        folder = parent / str(max(numbers))
        path = folder / PROGRESS
        try:
            progress = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise IncunabulaError(f"{path}: can't be read: {error}") from None
        if not isinstance(progress, dict) or progress.get("steps") != max(numbers):
            raise IncunabulaError(f"{path}: isn't the progress of step {max(numbers)}")
        model, environment = read_tensors(folder / MODEL), read_tensors(folder / ENVIRONMENT)
        return max(numbers), Checkpoint(model, environment, progress)


def default_folder(name: str) -> Path:
    """A folder for a run without a name: runs/NAME, or runs/NAME-2, ... if that is taken."""
    for number in range(1, 10_000):
        folder = Path("runs") / (name if number == 1 else f"{name}-{number}")
        if not folder.exists():
            return folder
    raise IncunabulaError("runs: has too many folders; name one with --out")
