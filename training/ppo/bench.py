"""`python -m incunabula.training.ppo.bench`: how fast stock and lean MaskablePPO train, in one run.

Both train the same network on the same environments with the same hyperparameters. Their rollouts
and updates take turns, so that whatever else the machine does falls on both.
"""

import json
import statistics
import time
from typing import Annotated, Any

import torch
import typer
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.logger import Logger

from incunabula.training.evaluation.machine import machine, versions
from incunabula.training.ppo.config import Network, Shaping
from incunabula.training.ppo.lean import LeanMaskablePPO
from incunabula.training.ppo.network import LeanPolicy
from incunabula.training.ppo.precision import choose_device, denormals_flushed, has_bf16
from incunabula.training.ppo.vecenv import TrainingVecEnv

COMMON: dict[str, Any] = {
    "n_epochs": 3,
    "gamma": 0.999,
    "learning_rate": 3e-4,
    "ent_coef": 0.001,
    "seed": 0,
    "device": "cpu",
}


def make_learner(
    kind: str, num_envs: int, n_steps: int, batch_size: int, layers: tuple[int, ...]
) -> Any:
    """A learner ready to be stepped: `stock`, `lean` or `lean-bf16`."""
    environment = TrainingVecEnv(num_envs, gamma=0.999, reward_scale=0.1, shaping=Shaping())
    options = COMMON | {"n_steps": n_steps, "batch_size": batch_size}
    model: MaskablePPO
    if kind == "stock":
        model = MaskablePPO(
            MaskableActorCriticPolicy,
            environment,
            policy_kwargs={"net_arch": list(layers)},
            **options,
        )
    else:
        network = {"network": Network(layers=layers), "bf16": kind == "lean-bf16"}
        model = LeanMaskablePPO(LeanPolicy, environment, policy_kwargs=network, **options)
    model.set_logger(Logger(None, []))
    model.quiet_callback = model._setup_learn(10**9)[1]  # type: ignore[attr-defined]
    return model


def measure(model: Any) -> tuple[float, float]:
    """Seconds that a rollout and an update take."""
    began = time.perf_counter()
    model.collect_rollouts(model.env, model.quiet_callback, model.rollout_buffer, model.n_steps)
    rolled = time.perf_counter()
    model.train()
    return rolled - began, time.perf_counter() - rolled


@denormals_flushed()
def compare(
    num_envs: int = 512,
    n_steps: int = 128,
    batch_size: int = 4096,
    layers: tuple[int, ...] = (256, 256),
    threads: tuple[int, ...] = (1,),
    rounds: int = 3,
) -> dict[str, Any]:
    """Measure every learner with every number of torch threads.

    Returns JSON values: `rows` with `learner`, `threads`, `steps_per_second` (the median of the
    rounds, after one that isn't counted), and the seconds of rollout and update; `ratio`: lean's
    steps per second to stock's, each at its best number of threads.
    """
    kinds = ["stock", "lean"]
    if has_bf16(choose_device(None)):
        kinds.append("lean-bf16")
    before = torch.get_num_threads()
    times: dict[tuple[str, int], list[tuple[float, float]]] = {}
    learners = {k: make_learner(k, num_envs, n_steps, batch_size, layers) for k in kinds}
    try:
        for each in range(rounds + 1):
            for count in threads:
                torch.set_num_threads(count)
                for kind, model in learners.items():
                    seconds = measure(model)
                    if each:
                        times.setdefault((kind, count), []).append(seconds)
    finally:
        torch.set_num_threads(before)
    steps = num_envs * n_steps
    rows: list[dict[str, Any]] = [
        {
            "learner": kind,
            "threads": count,
            "steps_per_second": round(steps / statistics.median(map(sum, found)), 1),
            "rollout_seconds": round(statistics.median(r for r, _ in found), 4),
            "update_seconds": round(statistics.median(u for _, u in found), 4),
        }
        for (kind, count), found in times.items()
    ]
    best = {k: max(r["steps_per_second"] for r in rows if r["learner"] == k) for k in kinds}
    return {
        "game": "bibliogamo",
        "num_envs": num_envs,
        "n_steps": n_steps,
        "batch_size": batch_size,
        "layers": list(layers),
        "rows": rows,
        "ratio": {k: round(best[k] / best["stock"], 3) for k in kinds[1:]},
        "bf16": "lean-bf16" in kinds,
        "machine": machine(),
        "versions": versions("torch", "stable_baselines3", "sb3_contrib"),
    }


def _numbers(text: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 1:
        raise typer.BadParameter(f"{text!r} isn't a list of positive whole numbers such as 1,2")
    return numbers


def _main(
    num_envs: Annotated[int, typer.Option(min=1)] = 512,
    n_steps: Annotated[int, typer.Option(min=1)] = 128,
    batch_size: Annotated[int, typer.Option(min=2)] = 4096,
    layers: Annotated[str, typer.Option(help="Hidden layers.")] = "256,256",
    threads: Annotated[str, typer.Option(help="Numbers of torch threads to try.")] = "1",
    rounds: Annotated[int, typer.Option(min=1, help="Rollouts that count.")] = 3,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Compare the speed of stock and lean MaskablePPO."""
    found = compare(num_envs, n_steps, batch_size, _numbers(layers), _numbers(threads), rounds)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    for row in found["rows"]:
        typer.echo(
            f"{row['learner']:>10}, {row['threads']} thread(s): "
            f"{row['steps_per_second']:>9,.0f} steps/s (rollout {row['rollout_seconds']:.2f} s, "
            f"update {row['update_seconds']:.2f} s)"
        )
    for kind, ratio in found["ratio"].items():
        typer.echo(f"{kind} trains {ratio:.2f} times as fast as stock")
    if not found["bf16"]:
        typer.echo("this processor has no bfloat16 arithmetic; float32 only")


if __name__ == "__main__":
    typer.run(_main)
