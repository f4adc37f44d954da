"""What the command ``bound`` does."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from incunabula.agents.bounds.bound import MAX_SAMPLES, Bound, upper_bound
from incunabula.agents.registry import make_agent
from incunabula.envs.bibliogamo.edition import Edition, load_edition
from incunabula.envs.chance import check_seed
from incunabula.training.bounds.estimates import Estimates
from incunabula.training.evaluation.evaluate import evaluate
from incunabula.training.evaluation.files import kept_if_used
from incunabula.training.evaluation.progress import SlowStatus
from incunabula.training.evaluation.result import edition_entry
from incunabula.training.evaluation.seeds import check_count, seed_list
from incunabula.training.evaluation.statistics import one_sided_t
from incunabula.training.evaluation.tables import PROVENANCE, table
from incunabula.training.output import deliver

Json = dict[str, Any]


def run_bound(
    edition: str,
    agent: str,
    *,
    games: int,
    seeds: str,
    samples: int,
    seed: int,
    workers: int,
    save: str | None,
    as_json: bool,
) -> None:
    """Bound the best expected score from both sides, and print."""
    loaded = load_edition(edition)
    check_count("samples", samples, MAX_SAMPLES)
    seed_list(seeds, games)  # what is wrong with these is told before the work
    seed = check_seed(seed)
    make_agent(agent, loaded, seed=seed)
    began = time.perf_counter()
    folder = None if save is None else Path(save).parent
    with kept_if_used(folder), Bounding(f"bounding {loaded.name}", save) as working:
        estimates = Estimates(
            loaded, samples, seed, workers=workers, save=save, on_progress=working.count
        )
        upper = upper_bound(
            loaded,
            samples=samples,
            seed=seed,
            each=estimates.each,
            choice=estimates.choice,
            on_progress=working.show,
        )
    result: Json = {
        "edition": edition_entry(loaded),
        "upper": upper_entry(upper),
        "lower": lower_entry(loaded, agent, games, seeds, seed),
    }
    result["seconds"] = round(time.perf_counter() - began, 3)
    deliver(result, print_bound, None, as_json=as_json)


def upper_entry(bound: Bound) -> Json:
    """The upper end, as JSON values."""
    return {
        "value": round(bound.value, 6),
        "confidence": bound.confidence,
        "parts": {part.name: round(part.vp, 6) for part in bound.parts},
        "charge": round(bound.charge, 6),
        "day": round(bound.day, 6),
        "counts": {name: round(count, 3) for name, count in bound.counts.items()},
        "samples": bound.samples,
        "states": bound.states,
        "seconds": round(bound.seconds, 3),
    }


def lower_entry(edition: Edition, agent: str, games: int, seeds: str, seed: int) -> Json:
    """The lower end, as JSON values: the one-sided 95% limit of an agent's mean score."""
    began = time.perf_counter()
    played = evaluate([agent], edition=edition, games=games, seeds=seeds, seed=seed)
    row, scores = played.result["agents"][0], next(iter(played.games.values())).score
    n, limit = len(scores), None
    if n > 1:
        error = float(np.std(scores, ddof=1)) / np.sqrt(n)
        limit = round(float(np.mean(scores)) - one_sided_t(n - 1) * error, 6)
    return {
        "value": limit,
        "confidence": 0.95,
        "agent": row["name"],
        "mean": row["mean"],
        "sd": row["sd"],
        "split": row["split"],
        "books_sold": row["books_sold"],
        "seeds": played.result["seeds"],
        "seconds": round(time.perf_counter() - began, 3),
    }


def print_bound(result: Json, console: Console) -> None:
    """Both ends, for people."""
    upper, lower = result["upper"], result["lower"]
    name, provenance = result["edition"]["name"], result["edition"]["provenance"]
    low = "–" if lower["value"] is None else f"{lower['value']:.2f}"
    console.print(
        f"Best expected score of {name}: between {low} and {upper['value']:.2f}", highlight=False
    )
    games = lower["seeds"]
    console.print(
        f"Lower end: {lower['agent']}, mean {lower['mean']:.2f} in {games['games']:,} games of the "
        f"{games['list']!r} list; one-sided 95% confidence limit.",
        highlight=False,
    )
    sure = "no sampling" if upper["samples"] == 0 else f"confidence {upper['confidence']:.4%}"
    console.print(
        f"Upper end: holds for every policy ({sure}); proof in docs/optimal_bound.md.",
        highlight=False,
    )
    rows = table("Upper end", "part", "VP")
    for part, vp in upper["parts"].items():
        rows.add_row(part, f"{vp:.2f}")
    rows.add_row("together", f"{upper['value']:.2f}")
    console.print(rows)
    if upper["counts"]:
        counts = ", ".join(f"{count:.2f} {what}" for what, count in upper["counts"].items())
        console.print(
            f"The relaxed game's best play: {counts}; {upper['charge']:.3f} VP charged for a book, "
            f"{upper['day']:.3f} for a day of waiting.",
            highlight=False,
        )
    console.print(
        f"The edition is {PROVENANCE[provenance]}. {result['seconds']:.1f} s.",
        style="dim",
        highlight=False,
    )


class Bounding(SlowStatus):
    """Shows what is being done; says what is kept should it be interrupted."""

    _done = ""

    def __init__(self, what: str, save: str | None) -> None:
        super().__init__(what)
        self._save = save

    def interrupted(self) -> str:
        kept = "nothing is kept" if self._save is None else f"{self._save} keeps what is done"
        return f"{self.what}: interrupted{self._done}; {kept}"

    def count(self, done: int, tasks: int) -> None:
        """So many of so many estimates are there."""
        self._done = f" after {done:,} of {tasks:,} estimates"
        self.show(f"sales, {done:,} of {tasks:,} estimates")
