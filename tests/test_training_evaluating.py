"""Evaluation of Scriptorium during training, and what the report of a run says to do next."""

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from incunabula.agents.agent import RandomAgent
from incunabula.agents.registry import make_agent
from incunabula.envs.compiled.functions import interpreted
from incunabula.envs.scriptorium.edition import load_edition
from incunabula.training.evaluation.seeds import seed_list
from incunabula.training.evaluation.statistics import wilson_interval
from incunabula.training.league.against import evaluate_against
from incunabula.training.ppo import evaluating
from incunabula.training.ppo.command import report
from incunabula.training.ppo.config import load_config
from incunabula.training.ppo.trainer import Trainer
from tests.commands import Cli, cli

__all__ = ["cli"]

SMALL = {
    "total_steps": 64,
    "num_envs": 8,
    "n_steps": 8,
    "batch_size": 32,
    "n_epochs": 1,
    "network": {"layers": [8]},
    "eval": {"every": 64, "games": 1},
    "checkpoint_every": 64,
}
TINY = load_edition("scriptorium-tiny")
PLAYERS = (2, 3)
DEALS = 8


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return evaluating.evaluate_seats(RandomAgent(), TINY, PLAYERS, DEALS)


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize(("baseline", "deals"), [("greedy", DEALS), ("random", DEALS // 4)])
def test_figures_are_those_of_plain_loops(
    players: int, baseline: str, deals: int, found: dict[str, Any]
) -> None:
    opponent, seeds = make_agent(baseline, TINY), seed_list("dev", deals)
    games = evaluate_against(RandomAgent(), opponent, TINY, players, seeds).games
    shares, margins, scores = [], [], []
    for deal in games.scores.tolist():
        for seat, ends in enumerate(deal):  # in seating k the agent has seat k
            own, best = ends[seat], max(ends)
            shares.append(1 / ends.count(best) if own == best else 0)
            margins.append(own - max(ends[:seat] + ends[seat + 1 :]))
            scores.append(own)
    for name, values in (("win_share", shares), ("margin", margins), ("score", scores)):
        assert found[f"eval/{players}/{baseline}/{name}"] == pytest.approx(
            np.mean(values), abs=1e-6
        )


def test_the_mean_is_over_numbers_of_players_and_has_an_interval(found: dict[str, Any]) -> None:
    shares = [found[f"eval/{players}/greedy/win_share"] for players in PLAYERS]
    assert found["eval_mean"] == pytest.approx(np.mean(shares), abs=1e-6)
    low, high = found["eval_ci95"]
    assert 0 <= low < found["eval_mean"] < high <= 1


def test_no_wins_at_all_have_an_interval_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(*arguments: Any, **options: Any) -> Any:
        played = evaluate_against(*arguments, **options)
        for seat in range(played.games.scores.shape[2]):
            played.games.scores[:, seat, seat] = -1
        return played

    monkeypatch.setattr(evaluating, "evaluate_against", lose)
    lost = evaluating.evaluate_seats(RandomAgent(), TINY, (2,), DEALS)
    assert lost["eval_mean"] == 0
    assert lost["eval_ci95"] == wilson_interval(0, DEALS)
    assert evaluating.evaluate_seats(RandomAgent(), TINY, (2,), 1)["eval_ci95"] is None


@pytest.mark.parametrize(
    ("changes", "few", "given"),
    [
        ({"game": "bibliogamo", "edition": "bibliogamo-tiny"}, "--games", []),
        (
            {"game": "scriptorium", "edition": "scriptorium-tiny", "players": [3]},
            "--deals",
            ["--players", "3"],
        ),
    ],
)
def test_the_report_says_how_to_compare(
    changes: dict[str, Any], few: str, given: list[str], cli: Cli, tmp_path: Path
) -> None:
    folder = tmp_path / "my runs" / "tiny"
    trainer = Trainer.start(load_config(SMALL | changes), folder)
    with interpreted():
        said = report(trainer.run(quiet=True)).splitlines()
    (line,) = [line for line in said if "compare it" in line]
    words = shlex.split(line.partition("incunabula ")[2])
    assert words[-len(given) - 2 :] == ["--edition", changes["edition"], *given]
    status, printed, error = cli(*words, few, "1")
    assert (status, error) == (0, "")
    assert "tiny" in printed
