"""The bench measures what it says, and says what it measured."""

import json
import re
from typing import Any

import numpy as np
import pytest

from incunabula.envs.adapters.gymnasium import BibliogamoVectorEnv
from incunabula.envs.bibliogamo.edition import load_edition
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.bench import STAGGER, _Play, bench

PARTS = {"apply", "legal", "deal", "observe", "sampling"}


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    return bench((1, 64), edition="bibliogamo-tiny", seconds=0.1)


def test_a_row_for_each_number_of_games(result: dict[str, Any]) -> None:
    assert [row["num_envs"] for row in result["rows"]] == [1, 64]
    for row in result["rows"]:
        assert (row["game"], row["backend"]) == ("bibliogamo", "numpy")
        assert row["steps_per_second"] == max(row["runs"])
        assert 0 < row["steps_per_second_with_sampling"] < row["steps_per_second"]
        assert 0 <= row["spread"] < 1
        assert set(row["parts_us"]) == PARTS
        assert min(row["parts_us"].values()) > 0
    assert json.loads(json.dumps(result)) == result


def test_the_native_environment_beats_sync_at_64(result: dict[str, Any]) -> None:
    one, many = result["rows"]
    assert "sync_ratio" not in one
    assert many["sync_ratio"] > 2
    assert many["steps_per_second"] > 2 * one["steps_per_second"]


def test_what_it_was_measured_on(result: dict[str, Any]) -> None:
    assert set(result["machine"]) == {"cpu", "cores", "system", "load"}
    assert set(result["versions"]) == {"incunabula", "python", "numpy", "gymnasium"}
    assert result["edition"]["sha256"] == load_edition("bibliogamo-tiny").sha256


def test_games_are_out_of_step_with_each_other() -> None:
    env = BibliogamoVectorEnv(256, "bibliogamo")
    _Play(env, seed=0)
    turn = env.engine.state.turn
    assert turn.min() <= 5
    assert turn.max() >= 25
    assert len(np.unique(turn)) > 15


def test_steps_that_only_deal_are_not_counted() -> None:
    env = BibliogamoVectorEnv(32, "bibliogamo-tiny")
    play = _Play(env, seed=0)
    actions = 0
    for _ in range(2 * STAGGER):
        ended = int(play._ended.sum())
        moved = play._step(play._draw(play._mask))
        assert moved == 32 - ended
        actions += moved
    assert 32 * 2 * STAGGER > actions > 32 * 2 * STAGGER * 0.8


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
    ],
)
def test_errors_say_what_would_be_right(options: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"num_envs": (1,), "seconds": 0.01} | options
    with pytest.raises(IncunabulaError, match=re.escape(message)):
        bench(**arguments)
