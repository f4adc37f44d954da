"""`incunabula train` and `python -m incunabula.training.ppo`: run a configuration and report."""

import json
import shlex
from pathlib import Path
from typing import Any

import typer

from incunabula.envs.chance import check_seed
from incunabula.envs.errors import IncunabulaError, needing
from incunabula.training.ppo.config import (
    CONFIGS,
    TrainConfig,
    load_config,
    shipped_configs,
    with_overrides,
)
from incunabula.training.ppo.rundir import Interrupted, default_folder

GAMES = tuple(CONFIGS)
DEFAULT = "default"


def train(
    game: str | None = None,
    config: str | None = None,
    out: str | None = None,
    resume: str | None = None,
    *,
    seed: int | None = None,
    device: str | None = None,
    steps: int | None = None,
    num_envs: int | None = None,
    players: str | None = None,
    backend: str | None = None,
    quiet: bool = False,
) -> dict[str, Any]:
    """Train, or go on training; returns the run's summary.

    Args:
        game: the game the configuration must be for.
        config: name or file; "default" by default. With a game, NAME means the shipped GAME-NAME
            if there is one.
        out: a new folder for the run; by default runs/NAME.
        resume: the folder of a run to go on with, with its own configuration (then only `steps`,
            `device` and `backend` can be given).
        seed, steps, num_envs, players, backend: replace the configuration's; players are numbers
            with commas between.

    Raises:
        IncunabulaError: what is wrong with the options, the configuration or the folder.
    """
    if seed is not None:
        seed = check_seed(seed)
    if game is not None and game not in GAMES:
        raise IncunabulaError(f"game: can't train {game!r}; there is: {', '.join(GAMES)}")
    with needing("training", "train"):
        from incunabula.training.ppo.trainer import Trainer
    if resume is not None:
        given = {"config": config, "out": out, "seed": seed, "num_envs": num_envs}
        given["players"] = players
        for name, value in given.items():
            if value is not None:
                raise IncunabulaError(f"{name}: can't be given with resume; the run has its own")
        if steps is not None and steps < 1:
            raise IncunabulaError(f"steps: must be at least 1, not {steps}")
        trainer = Trainer.resume(resume, steps, device, backend)
    else:
        name = _shipped_name(game, DEFAULT if config is None else config)
        loaded = load_config(name)
        if game is not None and loaded.game != game:
            raise IncunabulaError(f"config: is for {loaded.game!r}, not for {game!r}")
        chosen = with_overrides(
            loaded,
            seed=seed,
            total_steps=steps,
            num_envs=num_envs,
            players=None if players is None else _numbers(players, loaded),
            backend=backend,
        )
        name = Path(name).stem
        folder = Path(out) if out is not None else default_folder(name)
        trainer = Trainer.start(chosen, folder, device)
    return trainer.run(quiet=quiet)


def _shipped_name(game: str | None, config: str) -> str:
    """GAME-NAME for NAME, if such a configuration comes with the package."""
    return f"{game}-{config}" if f"{game}-{config}" in shipped_configs() else config


def _numbers(text: str, config: TrainConfig) -> list[int]:
    if "players" not in type(config).model_fields:
        raise IncunabulaError(f"players: {config.game} has one player")
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise IncunabulaError(
            f"players: {text!r} isn't a number, or numbers with commas between, such as 2,3,4"
        ) from None


def run_train(
    game: str | None,
    config: str | None,
    out: str | None,
    resume: str | None,
    *,
    as_json: bool = False,
    **options: Any,
) -> None:
    """`train`, with its outcome printed; exit status 130 when it was interrupted."""
    try:
        summary = train(game, config, out, resume, quiet=as_json, **options)
    except Interrupted as stop:
        typer.echo(f"incunabula: {stop}", err=True)
        raise typer.Exit(130) from None
    typer.echo(report(summary, as_json=as_json))


def report(summary: dict[str, Any], *, as_json: bool = False) -> str:
    """The summary for a reader, or as JSON."""
    if as_json:
        return json.dumps(summary, indent=2)
    minutes, seconds = divmod(round(summary["seconds"]), 60)
    lines = [
        f"Trained {summary['steps']:,} steps in {minutes} min {seconds} s "
        f"({summary['steps_per_second']:,.0f} steps/s, {summary['precision']})."
    ]
    best, run, game = summary["best"], summary["run"], summary["game"]
    if best is not None:
        low, high = best["eval_ci95"] or (best["eval_mean"],) * 2
        what = "win share against greedy " if game == "scriptorium" else ""
        lines.append(
            f"Best policy: {what}{best['eval_mean']:.2f} [{low:.2f}, {high:.2f}] on "
            f"{best['eval_games']:,} dev games, at step {best['steps']:,}."
        )
    compare = ["league" if game == "scriptorium" else "evaluate", game]
    compare += ["--agents", f"random,greedy,{run}", "--edition", summary["edition"]]
    if summary["players"] is not None:
        compare += ["--players", str(summary["players"][0])]
    lines += [
        f"  run folder   {run}",
        f"  policy       {summary['policy']}",
        f"  curves       tensorboard --logdir {run}",
        f"  compare it   incunabula {shlex.join(compare)}",
    ]
    return "\n".join(lines)
