"""Measures other implementations in turn, so that what else a machine does falls on all alike."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from incunabula.envs.editions import BaseEdition
from incunabula.training.evaluation.against.own import own_traits
from incunabula.training.evaluation.against.suite import Contender, Suite
from incunabula.training.evaluation.bench_play import Stepped, Timing, speeds
from incunabula.training.evaluation.progress import SlowProgress

Json = dict[str, Any]


def measure_against(
    suites: Sequence[Suite],
    edition: BaseEdition,
    players: int | None,
    asked: Sequence[int] | None,
    own_rows: Sequence[Mapping[str, Any]],
    *,
    seconds: float,
    repeats: int,
    seed: int,
) -> Json:
    """Rows of other implementations, and what is like for like.

    Args:
        edition, players: what our own rows play; players None = as many as the edition allows.
        asked: numbers of games, if any were asked for.
        own_rows: what was measured of ours.
        seconds: for each run of a row.
        repeats: runs of each row.
        seed: of the deals and the random play.

    Returns:
        JSON values: ``own`` and ``rows``; see docs/evaluation.md.
    """
    if edition.game == "bibliogamo":
        players = 1
    elif players is None:
        players = max(edition.rules.players)  # type: ignore[attr-defined]
    ours = list(dict.fromkeys(row["num_envs"] for row in own_rows))
    found: list[tuple[str, Contender]] = []
    with SlowProgress(len(suites)) as progress:
        for suite in suites:
            progress.advance(0, f"making games of {suite.name}")
            sizes = suite.sizes(asked, ours)
            for contender in suite.contenders(edition, players, sizes, seed):
                found.append((suite.name, contender))
            progress.advance(1)
    measured = _in_turn(found, seconds, repeats)
    return {
        "own": own_traits(edition, players, own_rows),
        "rows": [_row(*one, runs) for one, runs in zip(found, measured, strict=True)],
    }


class _Run(NamedTuple):
    """A run, and how many cores were busy in it."""

    timing: Timing
    cores: float


def _in_turn(
    found: Sequence[tuple[str, Contender]], seconds: float, repeats: int
) -> list[list[_Run]]:
    """The runs of each."""
    runs: list[list[_Run]] = [[] for _ in found]
    with SlowProgress(repeats * len(found)) as progress:
        for _ in range(repeats):
            for (name, contender), its in zip(found, runs, strict=True):
                progress.advance(0, f"{contender.fields['num_envs']:,} games, {name}")
                its.append(_run(contender.play, seconds))
                progress.advance(1)
    return runs


def _run(play: Stepped, seconds: float) -> _Run:
    began, worked = time.perf_counter(), time.process_time()
    timing = play.run(seconds)
    worked = time.process_time() - worked
    return _Run(timing, worked / (time.perf_counter() - began))


def _row(name: str, contender: Contender, runs: Sequence[_Run]) -> Json:
    best = max(runs)
    row = {
        "implementation": name,
        **contender.fields,
        **contender.traits._asdict(),
        **speeds([run.timing for run in runs]),
        "cores_busy": round(best.cores, 2),
    }
    if contender.fields["view"] == "learner":
        row["decisions_per_second"] = round(best.timing.decisions)
    return row
