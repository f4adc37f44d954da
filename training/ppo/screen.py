"""What a run shows while it runs: a progress bar, lines at evaluations, TensorBoard logs."""

from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from incunabula.training.ppo.trainer import Trainer


class Screen:
    """A context manager around a run. Lines go to stderr; `quiet` shows nothing."""

    def __init__(self, trainer: "Trainer", *, quiet: bool = False) -> None:
        self._trainer = trainer
        self._console = Console(stderr=True, quiet=quiet)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[figures]}", markup=False),
            console=self._console,
            transient=True,
            # A bar that is redrawn would fill a log file.
            disable=quiet or not self._console.is_terminal,
        )
        config, steps = trainer.config, trainer.learner.steps
        self._task = self._progress.add_task(
            f"{config.game}", total=config.total_steps, completed=steps, figures=""
        )
        self._writer: Any = None

    def __enter__(self) -> "Screen":
        trainer = self._trainer
        config = trainer.config
        self._console.print(
            f"Training {config.game} ({config.edition}), {config.total_steps:,} steps with "
            f"{trainer.algorithm}, {trainer.precision}, in {trainer.run_folder.path}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
        self._writer = _tensorboard(trainer.run_folder.tensorboard, trainer.learner.steps)
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()
        if self._writer is not None:
            self._writer.close()

    def note(self, text: str) -> None:
        """A line above the bar."""
        self._console.print(text, highlight=False, markup=False)

    def advance(self, steps: int) -> None:
        self._progress.advance(self._task, steps)

    def cloning(self, done: int, total: int, figures: dict[str, float]) -> None:
        agreement = figures["agreement"]
        self._progress.update(
            self._task, figures=f"cloning {done / total:.0%}, agreement {agreement:.1%}"
        )
        self._record(done, {f"clone/{name}": value for name, value in figures.items()})

    def log(self, steps: int, entry: dict[str, Any]) -> None:
        score = entry.get("rollout/score")
        figures = "" if score is None else f"score {score:.1f}  "
        figures += f"{entry['steps_per_second']:,.0f} steps/s"
        self._progress.update(self._task, figures=figures)
        figures_only = {k: v for k, v in entry.items() if isinstance(v, float)}
        self._record(steps, figures_only)

    def evaluated(self, result: dict[str, Any], is_best: bool) -> None:
        interval = result["eval_ci95"]
        low, high = interval or (result["eval_mean"],) * 2
        self.note(
            f"{result['steps']:>12,} steps: {result['eval_mean']:.2f} on {result['eval_games']:,} "
            f"dev games [{low:.2f}, {high:.2f}]{_exactly(result)}"
            f"{', the best so far' if is_best else ''}"
        )
        names = {"eval/mean": "eval_mean", "eval/exact": "eval_exact", "eval/regret": "eval_regret"}
        self._record(result["steps"], {n: result[k] for n, k in names.items() if k in result})

    def _record(self, steps: int, figures: dict[str, float]) -> None:
        if self._writer is not None:
            for name, value in figures.items():
                self._writer.add_scalar(name, value, steps)


def _exactly(result: dict[str, Any]) -> str:
    """What an evaluation says of the exact value, if it is known."""
    if "eval_exact" not in result:
        return ""
    exact, regret = result["eval_exact"], result["eval_regret"]
    return f"; exactly {exact:.3f}, {exact / (exact + regret):.1%} of the optimum"


def _tensorboard(folder: Any, steps: int) -> Any:
    """A writer that forgets what was logged after `steps`; None without TensorBoard."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=steps or None)
