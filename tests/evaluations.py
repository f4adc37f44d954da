"""A small evaluation, and what takes part in one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from incunabula.agents.agent import RandomAgent
from incunabula.agents.networks import expected_shapes
from incunabula.agents.policy_folder import save_policy
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.training.evaluation.evaluate import Evaluation, evaluate

TINY = "bibliogamo-tiny"


class Other(RandomAgent):
    """Another random agent, under a name of its own."""

    name = "other"

    def __init__(self) -> None:
        super().__init__(seed=77)


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return evaluate(["random", Other()], edition=TINY, games=200)


def write_policy(folder: Any) -> None:
    """A policy folder for the tiny edition, with random weights."""
    engine = BibliogamoEngine(TINY)
    network: dict[str, Any] = {"kind": "mlp", "layers": [8], "value_layers": [8]}
    network |= {"activation": "tanh", "card_dim": 4, "tower_dim": 4}
    rng = np.random.default_rng(0)
    shapes = expected_shapes(network, engine)
    weights = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    save_policy(folder, weights, edition=engine.edition, network=network, training={"steps": 1})
