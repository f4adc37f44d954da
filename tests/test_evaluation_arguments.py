"""Arguments of ``evaluate`` that are nearly right: refused by name, or taken for what they are."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incunabula.agents.tensors import existing_folder
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.curve import read_curve
from incunabula.training.evaluation.evaluate import evaluate

TINY = "bibliogamo-tiny"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agents": "random"}, "in a list"),
        ({"prestige": 0.5}, "prestige"),
        ({"prestige": True}, "prestige"),
        ({"edition": ""}, "empty"),
        ({"seed": 1.5}, "seed"),
    ],
)
def test_arguments_that_are_nearly_right(options: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"agents": ["random"], "edition": TINY, "games": 2}
    with pytest.raises(IncunabulaError, match=message):
        evaluate(**(arguments | options))


def test_numbers_of_numpy_are_numbers() -> None:
    numbers: dict[str, Any] = {"games": np.int64(2), "prestige": np.int64(1)}
    result = evaluate(["random"], edition=TINY, **numbers).result
    assert json.loads(json.dumps(result))["agents"][0]["games"] == 2


def test_a_policy_may_be_the_folder_one_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert existing_folder(Path(".")) == Path(".")
    for folder in (".", ""):
        with pytest.raises(IncunabulaError, match=r"policy\.json: there is no such file|is empty"):
            evaluate([folder], edition=TINY, games=1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_learning_curve_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "metrics.jsonl")
    with pytest.raises(IncunabulaError, match="must be a regular file"):
        read_curve(tmp_path)
