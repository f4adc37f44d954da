"""Networks for programs that run no Python compute what the policies compute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("torch")

import torch

from incunabula.agents.networks import NumpyNetwork, expected_shapes
from incunabula.agents.policies import named_policy
from incunabula.agents.policy_folder import Policy, engine_of, load_policy, save_policy
from incunabula.envs.editions import load_any_edition
from incunabula.envs.engine import Engine
from incunabula.training.ppo.onnx import PolicyNetwork, export_network, positions

NETWORKS: dict[str, dict[str, Any]] = {
    "bibliogamo mlp relu": {},
    "bibliogamo-tiny cards tanh": {"card_dim": 4},
    "bibliogamo towers tanh": {"card_dim": 4, "tower_dim": 5},
    "scriptorium-tiny mlp tanh": {},
    "scriptorium tiles relu": {"tile_dim": 6},
    "scriptorium-small tiles tanh": {"tile_dim": 6},
}


def random_weights(network: dict[str, Any], engine: Engine) -> dict[str, npt.NDArray[np.float32]]:
    rng = np.random.default_rng(0)
    shapes = expected_shapes(network, engine)
    return {n: rng.normal(0, 0.5, size=s).astype(np.float32) for n, s in shapes.items()}


@pytest.mark.parametrize("name", NETWORKS)
def test_the_torch_network_is_the_numpy_network(name: str) -> None:
    edition, kind, activation = name.split()
    engine = engine_of(load_any_edition(edition))
    network = {"kind": kind, "layers": [12, 10], "value_layers": [8], "activation": activation}
    network |= NETWORKS[name]
    weights = random_weights(network, engine)
    policy = Policy(Path(), {"network": network, "actions": engine.actions.n}, weights, "")
    observation = positions(engine)
    with torch.inference_mode():
        logits, values = PolicyNetwork(policy, engine)(torch.from_numpy(observation))
    wanted = NumpyNetwork(network, weights, engine.tables)
    np.testing.assert_allclose(logits, wanted.logits(observation), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(values, wanted.values(observation), rtol=1e-4, atol=1e-4)


@pytest.mark.clients
@pytest.mark.parametrize("kind", ["cards", "tiles", "towers"])
def test_the_file_plays_as_the_policy_does(kind: str, tmp_path: Path) -> None:
    onnx, _ = pytest.importorskip("onnx"), pytest.importorskip("onnxscript")
    runtime = pytest.importorskip("onnxruntime")
    game = "scriptorium" if kind == "tiles" else "bibliogamo"
    engine = engine_of(load_any_edition(game))
    folder = named_policy(game)
    if kind == "towers":
        network: dict[str, Any] = {"kind": kind, "layers": [8], "value_layers": [8]}
        network |= {"activation": "relu", "card_dim": 4, "tower_dim": 5}
        weights = random_weights(network, engine)
        folder = tmp_path / "policy"
        save_policy(folder, weights, edition=engine.edition, network=network, training={})
    said = export_network(folder, tmp_path / "x" / "net.onnx")
    assert said["compared"] < 1e-3
    assert ("greedy" in said["says"]) is (kind != "towers")
    policy = load_policy(folder, load_any_edition(game))
    model = onnx.load(said["file"])
    (text,) = [p.value for p in model.metadata_props if p.key == "incunabula"]
    assert json.loads(text)["edition_sha256"] == policy.description["edition_sha256"]
    session = runtime.InferenceSession(said["file"], providers=["CPUExecutionProvider"])
    wanted = NumpyNetwork(policy.network, policy.weights, engine.tables)
    for rows in (1, 7):
        observation = positions(engine)[-rows:]
        logits, value = session.run(None, {"observation": observation})
        assert (logits.shape, value.shape) == ((rows, engine.actions.n), (rows,))
        np.testing.assert_allclose(logits, wanted.logits(observation), rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(value, wanted.values(observation), rtol=1e-3, atol=1e-3)
