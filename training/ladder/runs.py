"""Training runs of one configuration: how much their policies differ, apart from chance in games.

A run's mean over deals has two kinds of noise: another training seed gives another policy, and
other deals give other scores. All runs play the same deals, so the two are told apart by a two-way
analysis of variance without replication (Scheffé, "The Analysis of Variance", 1959, chapter 7).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.learned import PolicyAgent
from incunabula.agents.policy_folder import read_description
from incunabula.envs.editions import BaseEdition
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.statistics import DIGITS, chi2_quantile, mean_interval
from incunabula.training.ppo.rundir import RunFolder

Json = dict[str, Any]

# What may differ: the seed, and the engine, which changes only the time taken.
FREE = ("seed", "backend")


class TrainedRun(NamedTuple):
    """A finished training run.

    Attributes:
        folder: as given.
        seed: its training seed.
        config: everything else that decided it, JSON values.
        agent: plays its best policy.
    """

    folder: str
    seed: int
    config: Json
    agent: PolicyAgent


def read_runs(folders: Sequence[str], edition: BaseEdition) -> list[TrainedRun]:
    """Finished runs that differ in their training seeds and in nothing else.

    Raises:
        IncunabulaError: there are fewer than two, one can't be read or isn't finished, two have one
            seed, or something else differs, which is named.
    """
    if len(folders) < 2:
        raise IncunabulaError(f"runs: expected at least 2 run folders, got {len(folders)}")
    runs = [_read_run(folder, edition) for folder in folders]
    first = runs[0]
    for run in runs[1:]:
        for name, (a, b) in _differences(first.config, run.config):
            raise IncunabulaError(
                f"runs: {name} is {_short(b)} in {run.folder}, but {_short(a)} in {first.folder}; "
                "they must differ in the training seed alone"
            )
    for one, other in combinations(runs, 2):
        if one.seed == other.seed:
            raise IncunabulaError(
                f"runs: {one.folder} and {other.folder} have the same training seed, {one.seed}; "
                "name runs of different seeds"
            )
    return runs


def _read_run(folder: str, edition: BaseEdition) -> TrainedRun:
    run, config = RunFolder.open(folder)
    receipt = read_description(run.last_policy)["training"]
    steps = receipt.get("steps")
    if type(steps) is not int or steps < config.total_steps:
        raise IncunabulaError(
            f"runs: {folder} isn't finished: it is at step {_short(steps)} of "
            f"{config.total_steps:,}; go on with it: incunabula train {config.game} --resume "
            f"{folder}"
        )
    agent = PolicyAgent(run.best_policy, edition, folder)
    values = config.model_dump(mode="json")
    for name in FREE:
        del values[name]
    # "auto" precision isn't the same on every machine; what stands behind it in words may differ.
    values["precision"] = str(receipt.get("precision")).partition(" ")[0]
    return TrainedRun(folder, config.seed, values, agent)


def _differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """(path of the field, both values) wherever two configurations differ."""
    for name in {**a, **b}:
        one, other = a.get(name), b.get(name)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            for path, values in _differences(one, other):
                yield f"{name}.{path}", values
        elif one != other:
            yield name, (one, other)


def _short(value: Any) -> str:
    return json.dumps(value)[:80]


def common_name(folders: Sequence[str]) -> str:
    """What the runs' folders have in common: "demo" of runs/demo-1, runs/demo-2, ...

    The beginning of their names, otherwise the name of the folder they lie in.
    """
    paths = [Path(folder).absolute() for folder in folders]
    names = [path.name for path in paths]
    shared = 0
    while all(len(n) > shared and n[shared] == names[0][shared] for n in names):
        shared += 1
    beginning = names[0][:shared].rstrip("-_. ").removesuffix("seed").rstrip("-_. ")
    return beginning or paths[0].parent.name or "runs"


def training_spread(values: npt.NDArray[np.float64]) -> Json:
    """What results of R runs on the same D deals, float64 (R, D), say about training and games.

    Returns:
        JSON values. ``mean`` of the runs' means; ``ci95_deals``: of these runs on other deals;
        ``ci95_runs``: of other runs on other deals; ``min``, ``max`` and ``sd_of_means`` of the
        runs' means; ``game_noise``: the standard deviation of a run's mean beside another's that is
        due to the games; ``training_sd``: the standard deviation between runs without that, and its
        ``training_sd_ci95`` (by chi-squared; 0 where the games' noise explains all); ``deal_sd``:
        the standard deviation of one run's result from deal to deal.

    Raises:
        IncunabulaError: fewer than two runs or two deals.
    """
    runs, deals = values.shape
    if min(runs, deals) < 2:
        raise IncunabulaError(
            f"runs: their spread needs at least 2 runs and 2 deals, got {runs} and {deals}"
        )
    means = values.mean(axis=1)
    observed = float(means.var(ddof=1))
    # Luck of a deal that all runs share doesn't set their means apart: it is taken out.
    left = values - means[:, None] - values.mean(axis=0) + means.mean()
    noise = float((left**2).sum()) / ((runs - 1) * (deals - 1)) / deals
    mean, ci95_deals = mean_interval(values.mean(axis=0))
    _, ci95_runs = mean_interval(means)
    ends = [(runs - 1) * observed / chi2_quantile(runs - 1, p) for p in (0.975, 0.025)]
    return {
        "runs": runs,
        "mean": mean,
        "ci95_deals": ci95_deals,
        "ci95_runs": ci95_runs,
        "min": round(float(means.min()), DIGITS),
        "max": round(float(means.max()), DIGITS),
        "sd_of_means": round(math.sqrt(observed), DIGITS),
        "game_noise": round(math.sqrt(noise), DIGITS),
        "deal_sd": round(math.sqrt(float(values.var(axis=1, ddof=1).mean())), DIGITS),
        "training_sd": _root(observed - noise),
        "training_sd_ci95": [_root(end - noise) for end in ends],
    }


def _root(variance: float) -> float:
    return round(math.sqrt(max(0.0, variance)), DIGITS)
