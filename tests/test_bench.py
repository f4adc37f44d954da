"""The bench measures what it says, and says what it measured."""

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from incunabula.agents.seat.gymnasium import ScriptoriumVectorEnv
from incunabula.envs.adapters.gymnasium import BibliogamoVectorEnv
from incunabula.envs.bibliogamo.edition import load_edition
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.training.evaluation.bench import STAGGER, bench
from incunabula.training.evaluation.bench_play import EnvPlay, LearnerPlay, Timing
from incunabula.training.evaluation.bench_stepper import (
    SLOW_STEPS,
    RolloutPlay,
    StepperPlay,
    Threads,
)

PARTS = {"apply", "legal", "deal", "observe", "sampling"}


@pytest.fixture(scope="module", autouse=True)
def _few_repeats() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("incunabula.training.evaluation.bench.REPEATS", 2)
        yield


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    return bench((1, 64), edition="bibliogamo-tiny", backend="numpy", seconds=0.1)


def test_a_row_for_each_view_and_number_of_games(result: dict[str, Any]) -> None:
    called = [(r["view"], r["num_envs"], r.get("policy"), r.get("threads")) for r in result["rows"]]
    assert called == [
        ("stepper", 1, None, None),
        ("stepper", 64, None, None),
        ("rollout", 64, "random", None),
        ("rollout", 64, "greedy", None),
        ("stepper", 64, None, 2),
        ("rollout", 64, "random", 2),
        ("vector_env", 1, None, None),
        ("vector_env", 64, None, None),
    ]
    for row in result["rows"]:
        assert (row["game"], row["backend"]) == ("bibliogamo", "numpy")
        assert row["steps_per_second"] == max(row["runs"]) > 0
        assert 0 <= row["spread"] < 1
        apart = row["view"] != "rollout" and "threads" not in row
        assert (row["steps_per_second_with_sampling"] < row["steps_per_second"]) == apart
        assert ("parts_us" in row) == (row["view"] == "stepper" and apart)
    for row in result["rows"][:2]:
        assert set(row["parts_us"]) == PARTS
        assert min(row["parts_us"].values()) > 0
    assert json.loads(json.dumps(result)) == result


def test_the_native_environment_beats_sync_at_64(result: dict[str, Any]) -> None:
    *others, one, many = result["rows"]
    assert not any("sync_ratio" in row for row in (*others, one))
    assert many["sync_ratio"] > 2
    assert many["steps_per_second"] > 2 * one["steps_per_second"]


def test_what_it_was_measured_on(result: dict[str, Any]) -> None:
    assert set(result["machine"]) == {"cpu", "cores", "system", "load"}
    assert set(result["versions"]) == {"incunabula", "python", "numpy", "gymnasium"}
    assert result["edition"]["sha256"] == load_edition("bibliogamo-tiny").sha256


def test_games_are_out_of_step_with_each_other() -> None:
    env = BibliogamoVectorEnv(256, "bibliogamo")
    EnvPlay(env, 0, STAGGER)
    turn = env.engine.state.turn
    assert turn.min() <= 5
    assert turn.max() >= 25
    assert len(np.unique(turn)) > 15


def test_steps_that_only_deal_are_not_counted() -> None:
    env = BibliogamoVectorEnv(32, "bibliogamo-tiny")
    play = EnvPlay(env, 0, STAGGER)
    actions = 0
    for _ in range(2 * STAGGER):
        ended = int(play.ended.sum())
        moved = play.step(play.draw(play.mask))
        assert moved == 32 - ended
        actions += moved
    assert 32 * 2 * STAGGER > actions > 32 * 2 * STAGGER * 0.8


# Scriptorium ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    options: dict[str, Any] = {"edition": "scriptorium-tiny", "players": 3, "seconds": 0.1}
    return bench((1, 65), opponents=["random"], backend="numpy", **options)


def test_all_seats_and_a_learner_are_measured(table: dict[str, Any]) -> None:
    called = [(r["view"], r.get("opponents"), r["num_envs"]) for r in table["rows"]]
    assert called[:2] == [("stepper", None, 1), ("stepper", None, 65)]
    assert called[-1] == ("learner", "random", 1)
    for row in table["rows"]:
        assert (row["game"], row["players"]) == ("scriptorium", 3)
        assert row["steps_per_second"] == max(row["runs"]) > 0
    assert set(table["rows"][0]["parts_us"]) == PARTS
    learner = table["rows"][-1]
    # Two others decide as often as the learner, about.
    assert 1.5 < learner["decisions_per_second"] / learner["steps_per_second"] < 8
    assert json.loads(json.dumps(table)) == table


class Counted(ScriptoriumEngine):
    """Counts the decisions that it is given."""

    taken = 0

    def apply(self, actions: Any, rows: Any = None, fresh: Any = None) -> Any:
        self.taken += len(actions)
        return super().apply(actions, rows, fresh)


def test_decisions_of_all_seats_are_counted() -> None:
    env = ScriptoriumVectorEnv(9, "scriptorium-tiny", num_players=4, opponents="random")
    play = LearnerPlay(env, 0, 16)
    counted = Counted(env.engine.edition, 9, 4)
    counted.put(np.arange(9), env.engine.state)
    env.games.engine = env.engine = counted
    before = play.decisions
    for _ in range(60):
        play.step(play.draw(play.mask))
    assert play.decisions - before == counted.taken


def test_the_engine_alone_plays_on_over_every_end() -> None:
    engine = Counted("scriptorium-tiny", 16, 3)
    play = StepperPlay(engine, 0, 32)
    assert len(np.unique(engine.state.round)) > 1
    engine.taken = moved = ends = 0
    for _ in range(200):
        moved += play.step(play.draw(play.mask))
        ends += int(play.stepper.terminated.sum())
        assert play.mask is engine.mask
        assert play.mask.any(axis=1).all()
    assert moved == engine.taken == 200 * 16
    assert ends > 16


def test_rollouts_count_their_steps_and_draw_on() -> None:
    play = RolloutPlay(Counted("scriptorium-tiny", 4, 2), "random", 0, 8)
    before = play._taken.copy()
    timing = play.run(0.0)
    assert (play._taken - before).tolist() == [SLOW_STEPS] * 4
    assert timing.steps == timing.with_sampling > 0


def test_threads_add_up() -> None:
    class Fixed:
        def run(self, seconds: float) -> Timing:
            return Timing(9.0, 2.0, 9.0)

    plays: Any = [Fixed(), Fixed(), Fixed()]
    assert Threads(plays).run(0.1) == Timing(6.0, 6.0, 6.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": ()}, "num-envs: expected at least one number"),
        ({"num_envs": (0,)}, "num-envs: expected a whole number from 1 to 262,144, got 0"),
        ({"num_envs": (-1,)}, "got -1"),
        ({"num_envs": (2, 2)}, "num-envs: expected each number once"),
        ({"seconds": 0.0}, "seconds: expected a number above 0"),
        ({"seconds": float("nan")}, "seconds: expected a number above 0"),
        ({"edition": "bibliogam"}, "did you mean 'bibliogamo'?"),
        ({"players": 2}, "players: bibliogamo is for one"),
        ({"opponents": ["random"]}, "opponents: bibliogamo is for one"),
        ({"edition": "scriptorium-tiny", "players": 5}, "is for 2, 3, 4 players, got 5"),
        ({"edition": "scriptorium-tiny", "opponents": ["rndom"]}, "did you mean 'random'"),
        ({"backend": "nunba"}, "backend: expected one of numpy, numba, auto, got 'nunba'"),
    ],
)
def test_errors_say_what_would_be_right(options: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"num_envs": (1,), "seconds": 0.01} | options
    with pytest.raises(IncunabulaError, match=re.escape(message)):
        bench(**arguments)
