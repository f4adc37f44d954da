"""A training run from configuration to policy folder."""

import contextlib
import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from incunabula.agents.agent import Agent
from incunabula.agents.policy_folder import save_policy
from incunabula.agents.registry import make_agent
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.curve import is_run_folder, read_curve
from incunabula.training.evaluation.machine import machine, versions
from incunabula.training.ppo.clone import clone_teacher
from incunabula.training.ppo.config import ScriptoriumConfig, TrainConfig, with_overrides
from incunabula.training.ppo.evaluating import evaluate_weights, merit, optimum_of
from incunabula.training.ppo.learner import Learner, run_seeds
from incunabula.training.ppo.precision import choose_device, choose_precision, denormals_flushed
from incunabula.training.ppo.rundir import Checkpoint, Interrupted, RunFolder
from incunabula.training.ppo.screen import Screen


class Trainer:
    """One run in one folder.

    Use `Trainer.start` for a new run and `Trainer.resume` to go on with one, then `run`.
    """

    def __init__(self, run: RunFolder, config: TrainConfig, device: str | None = None) -> None:
        self.run_folder = run
        self.config = config
        self.device = _device(device)
        bf16, self.precision = choose_precision(config.precision, self.device)
        self.learner = Learner(config, self.device, bf16)
        self.edition = self.learner.environment.edition
        self.algorithm = getattr(config, "algorithm", "maskable_ppo")
        self.players = list(config.players) if isinstance(config, ScriptoriumConfig) else None
        self._optimum = optimum_of(config, self.edition)
        self.best: dict[str, Any] | None = None
        self.last_evaluation: dict[str, Any] | None = None
        self.seconds = 0.0  # of training, evaluation and checkpoints included
        self.cpu_seconds = 0.0
        self._cloned = config.clone is None
        self._teacher: Agent | None = None
        self._began = (0.0, 0.0)

    @classmethod
    def start(cls, config: TrainConfig, folder: str | Path, device: str | None = None) -> "Trainer":
        """A new run in an empty or missing folder."""
        run = RunFolder(Path(folder))
        run.check_new()
        # Whatever is wrong with the configuration shows before the folder is there.
        trainer = cls(run, config, device)
        if config.clone is not None:
            trainer._make_teacher()
        notes = {"seeds.json": run_seeds(config.seed), "versions.json": trainer._versions()}
        trainer.run_folder = RunFolder.create(folder, config, notes)
        return trainer

    @classmethod
    def resume(
        cls,
        folder: str | Path,
        total_steps: int | None = None,
        device: str | None = None,
        backend: str | None = None,
    ) -> "Trainer":
        """Go on with a run from its last checkpoint; `total_steps` lengthens or shortens it,
        `backend` replaces its own, which changes nothing but the time taken."""
        run, config = RunFolder.open(folder)
        run.lock()
        try:
            config = with_overrides(config, total_steps=total_steps, backend=backend)
            return cls._resume(run, config, total_steps, device)
        except BaseException:
            run.unlock()
            raise

    @classmethod
    def _resume(
        cls, run: RunFolder, config: TrainConfig, total_steps: int | None, device: str | None
    ) -> "Trainer":
        steps, checkpoint = run.last_checkpoint()
        if total_steps is not None and total_steps < steps:
            raise IncunabulaError(
                f"steps: {total_steps:,} is too few, {run.path} is at step {steps:,} already; "
                "name more steps"
            )
        trainer = cls(run, config, device)
        trainer.learner.set_state(checkpoint)
        progress = checkpoint.progress
        trainer._cloned = True
        trainer.best = progress["best"]
        trainer.last_evaluation = progress["last_evaluation"]
        trainer.seconds, trainer.cpu_seconds = progress["seconds"], progress["cpu_seconds"]
        run.truncate_metrics(steps)
        run.write("config.yaml", config.to_yaml().encode())
        return trainer

    def run(self, *, stop_after: int | None = None, quiet: bool = False) -> dict[str, Any]:
        """Train to the end (or until `stop_after` steps, leaving a checkpoint).

        Ctrl-C finishes the rollout, saves a checkpoint and raises Interrupted, which says how to go
        on; a second Ctrl-C stops at once, leaving the checkpoint before.

        Returns the summary.
        """
        self.run_folder.lock()
        try:
            return self._run(stop_after, quiet)
        finally:
            self.run_folder.unlock()

    def _run(self, stop_after: int | None, quiet: bool) -> dict[str, Any]:
        config, learner = self.config, self.learner
        with (
            self._settings(),
            self._asked_to_stop() as asked,
            Screen(self, quiet=quiet) as screen,
        ):
            self._began = (time.perf_counter(), time.process_time())
            if not self._cloned:
                self._clone(screen, asked)
            while learner.steps < config.total_steps and not asked.is_set():
                if stop_after is not None and learner.steps >= stop_after:
                    break
                self._step(screen)
            if self._cloned:
                self._checkpoint()
        if asked.is_set() and learner.steps < config.total_steps:
            if not self._cloned:
                raise Interrupted("stopped while cloning; nothing to go on from, start it again")
            raise Interrupted(
                f"stopped after {learner.steps:,} of {config.total_steps:,} steps, all saved; "
                f"go on with: incunabula train {config.game} --resume {self.run_folder.path}"
            )
        return self.summary()

    def summary(self) -> dict[str, Any]:
        """What the run came to, as JSON values."""
        run = self.run_folder
        return {
            "run": str(run.path),
            "game": self.config.game,
            "edition": self.config.edition,
            "players": self.players,
            "steps": self.learner.steps,
            "decisions": self.learner.environment.decisions,
            "seconds": round(self.seconds, 2),
            "cpu_seconds": round(self.cpu_seconds, 2),
            "steps_per_second": round(self.learner.steps / max(self.seconds, 1e-9), 1),
            "precision": self.precision,
            "backend": self.learner.backend,
            "policy": str(run.best_policy),
            "best": self.best,
            "last": self.last_evaluation,
        }

    # Steps ----------------------------------------------------------------------------------------

    def _step(self, screen: "Screen") -> None:
        config, learner = self.config, self.learner
        before = learner.steps
        figures = learner.step()
        self._tick()
        steps = learner.steps
        entry: dict[str, Any] = {
            "steps": steps,
            "seconds": round(self.seconds, 3),
            "cpu_seconds": round(self.cpu_seconds, 3),
            "steps_per_second": round(steps / self.seconds, 1),
        } | figures
        self.run_folder.append_metrics(entry)
        screen.log(steps, entry)
        over = steps >= config.total_steps
        if over or before // config.eval.every != steps // config.eval.every:
            self._evaluate(screen)
        if before // config.checkpoint_every != steps // config.checkpoint_every and not over:
            self._checkpoint()
        screen.advance(steps - before)

    def _clone(self, screen: "Screen", asked: threading.Event) -> None:
        clone = self.config.clone
        assert clone is not None
        teacher = self._teacher or self._make_teacher()
        done = 0

        def on_progress(decisions: int, figures: dict[str, float]) -> bool:
            nonlocal done
            done += decisions
            self._tick()
            entry = {f"clone/{name}": value for name, value in figures.items()}
            entry |= {"steps": 0, "clone/decisions": done, "seconds": round(self.seconds, 3)}
            self.run_folder.append_metrics(entry)
            screen.cloning(done, clone.decisions, figures)
            return not asked.is_set()

        clone_teacher(self.learner, teacher, on_progress)
        if asked.is_set():
            return
        self._cloned = True
        self._evaluate(screen)
        self._checkpoint()

    def _make_teacher(self) -> Agent:
        clone = self.config.clone
        assert clone is not None
        self._teacher = make_agent(clone.teacher, self.edition, seed=self.config.seed)
        return self._teacher

    def _evaluate(self, screen: "Screen") -> None:
        """Play the dev games; keep the policy if it is the best so far."""
        learner = self.learner
        weights = learner.weights()
        result = {"steps": learner.steps} | evaluate_weights(
            weights, learner.network(), self.edition, self.config, optimum=self._optimum
        )
        self.last_evaluation = result
        self.run_folder.append_metrics(result)
        is_best = self.best is None or merit(result) > merit(self.best)
        if is_best:
            self.best = result
            self._save_policy(self.run_folder.best_policy, result)
        evaluations = {"best": self.best, "last": result}
        self.run_folder.write_json("evaluation.json", evaluations)
        screen.evaluated(result, is_best)
        self._tick()

    def _checkpoint(self) -> None:
        self._tick()
        model, environment, progress = self.learner.get_state()
        progress |= {
            "best": self.best,
            "last_evaluation": self.last_evaluation,
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
        }
        self.run_folder.save_checkpoint(
            self.learner.steps, Checkpoint(model, environment, progress)
        )
        self._save_policy(self.run_folder.last_policy, self.last_evaluation)

    def _save_policy(self, folder: Path, evaluation: dict[str, Any] | None) -> None:
        config, learner = self.config, self.learner
        path = self.run_folder.path
        curve = read_curve(path).points if is_run_folder(path) else []
        save_policy(
            folder,
            learner.weights(),
            edition=self.edition,
            network=learner.network(),
            players=self.players,
            training={
                "algorithm": self.algorithm,
                "steps": learner.steps,
                "decisions": learner.environment.decisions,
                "seed": config.seed,
                "seconds": round(self.seconds, 1),
                "cpu_seconds": round(self.cpu_seconds, 1),
                "precision": self.precision,
                "backend": learner.backend,
                "evaluation": evaluation,
                "curve": [{"steps": at.steps, "eval_mean": at.mean} for at in curve],
                "config": config.model_dump(mode="json"),
                "versions": versions("torch", "stable_baselines3", "sb3_contrib"),
            },
        )

    def _tick(self) -> None:
        now = (time.perf_counter(), time.process_time())
        self.seconds += now[0] - self._began[0]
        self.cpu_seconds += now[1] - self._began[1]
        self._began = now

    def _versions(self) -> dict[str, Any]:
        return {
            "versions": versions("torch", "stable_baselines3", "sb3_contrib", "gymnasium", "numba"),
            "machine": machine(),
            "device": str(self.device),
            "precision": self.precision,
            "torch_threads": self.config.torch_threads,
            "backend": self.learner.backend,
            "edition": self.edition.name,
            "edition_sha256": self.edition.sha256,
        }

    @contextlib.contextmanager
    def _asked_to_stop(self) -> Iterator[threading.Event]:
        """An event that Ctrl-C sets; a second Ctrl-C interrupts as usual."""
        asked = threading.Event()
        if threading.current_thread() is not threading.main_thread():
            yield asked  # signals can be handled in the main thread only
            return
        before = signal.getsignal(signal.SIGINT)

        def handle(number: int, frame: Any) -> None:
            asked.set()
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, handle)
        try:
            yield asked
        finally:
            signal.signal(signal.SIGINT, before)

    @contextlib.contextmanager
    def _settings(self) -> Iterator[None]:
        """The process's settings of torch, for as long as the training lasts."""
        before = torch.get_num_threads()
        torch.set_num_threads(self.config.torch_threads)
        try:
            with denormals_flushed():
                yield
        finally:
            torch.set_num_threads(before)


def _device(name: str | None) -> torch.device:
    """`choose_device`, but of devices that training was made for."""
    if name not in (None, "auto") and not re.fullmatch(r"cpu|cuda(:[0-9]{1,2})?", str(name)):
        raise IncunabulaError(f"device: {name!r} can't be used; it must be cpu, cuda or cuda:N")
    return choose_device(name)
