"""Arguments of ``evaluate`` that are nearly right: refused by name, or taken for what they are."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from incunabula.envs.errors import IncunabulaError
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
