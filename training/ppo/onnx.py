"""A policy's network as an ONNX file (https://onnx.ai), for programs that run no Python.

What is exported is the network alone: observations in, a logit for every action and a value out.
Whoever runs it takes the legal action with the highest logit, after adding the advice to the
advisor's choice if the policy has an advisor, which is a program and no network.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from incunabula.agents.agent import nth_legal
from incunabula.agents.networks import NumpyNetwork
from incunabula.agents.policy_folder import Policy, engine_of, load_policy
from incunabula.agents.tile_head import MISSING_SCALE, TileFeatures
from incunabula.envs.chance import key
from incunabula.envs.editions import load_any_edition
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError, MissingExtraError
from incunabula.envs.scriptorium.tables import GOLD
from incunabula.envs.stepper import Stepper
from incunabula.training.evaluation.files import check_file, write_atomically
from incunabula.training.ppo.modules import CardHead, Encoder
from incunabula.training.ppo.tile_modules import TileEncoder, TileHead

NEEDED = ("onnx", "onnxscript")
ACTIVATIONS = {"tanh": torch.tanh, "relu": torch.relu}
# How far the file's numbers may be from the policy's own, as float32 sums differ by their order.
TOLERANCE = 1e-3
# Games that are played to compare them.
COMPARED = 16


def export_network(folder: Path, file: str | Path, edition: str | None = None) -> dict[str, Any]:
    """Write the network of a policy folder as an ONNX file.

    Input `observation` float32 (n, F), any n; outputs `logits` float32 (n, A), for legal and
    illegal actions, and `value` float32 (n,), in the trainer's units. The file's metadata hold the
    policy's description without its training.

    Args:
        edition: what the policy plays; None = the shipped edition of the name it was made for.

    Returns:
        `file`; `bytes`; `compared`: the largest difference of a logit from the policy's own on some
        positions, or null if onnxruntime isn't installed; `says`: this in words.

    Raises:
        IncunabulaError: the policy can't be used, a package is missing, the file can't be written,
            or what it computes is not what the policy computes.
    """
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"ONNX needs {' and '.join(missing)}: pip install {' '.join(NEEDED)}"
        )
    file = check_file(file, "onnx")
    played = load_any_edition(edition or load_policy(folder).description["edition"])
    policy, engine = load_policy(folder, played), engine_of(played)
    network = PolicyNetwork(policy, engine).eval()
    content = _to_onnx(network, policy)
    compared = _compare(content, policy, engine)
    write_atomically(file, content)
    advisor = policy.network.get("advisor")
    says = f"{len(content):,} bytes, the network alone: it gives logits and a value"
    if advisor is not None:
        weight = policy.network.get("advice")
        says += f"; to play as the policy does, add {weight} to the logit of {advisor}'s choice"
    says += (
        "; not compared with the policy, since onnxruntime isn't installed"
        if compared is None
        else f"; agrees with the policy to {compared:.1g}"
    )
    return {"file": str(file), "bytes": len(content), "compared": compared, "says": says}


class PolicyNetwork(nn.Module):
    """What `NumpyNetwork` computes, in torch: observations float32 (n, F) -> logits, values."""

    def __init__(self, policy: Policy, engine: Engine) -> None:
        super().__init__()
        spec = policy.network
        self.activate = ACTIVATIONS[spec["activation"]]
        self.depth = {"policy": len(spec["layers"]), "value": len(spec["value_layers"])}
        arrays = {name: torch.from_numpy(array) for name, array in policy.weights.items()}
        self.encoder: Encoder | TileEncoder | None = None
        self.head: CardHead | TileHead | None = None
        last = spec["layers"][-1]
        if spec["kind"] in ("cards", "towers"):
            self.encoder = Encoder(engine.tables, spec["kind"] == "towers")
            towers = spec["tower_dim"] if spec["kind"] == "towers" else 0
            self.head = CardHead(last, engine.tables, self.encoder, spec["card_dim"], towers)
        elif spec["kind"] == "tiles":
            self.encoder = TileOperations(TileFeatures(engine.tables))
            self.head = TileHead(last, engine.actions.n, self.encoder, spec["tile_dim"])
            for name in ("weight", "bias"):
                arrays[f"policy.last.{name}"] = arrays[f"policy.{self.depth['policy']}.{name}"]
        if self.head is not None:
            self.head.load_state_dict({n: arrays[f"policy.{n}"] for n in self.head.state_dict()})
        self.layers = nn.ParameterDict(
            {
                name.replace(".", "_"): nn.Parameter(array)
                for name, array in arrays.items()
                if name.split(".")[1].isdigit()
            }
        )

    def forward(self, observation: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        encoded = observation if self.encoder is None else self.encoder(observation)
        inputs = encoded if self.encoder is None else encoded[:, self.encoder.inputs]
        latent = self._hidden("policy", inputs)
        if self.head is None:
            logits = self._layer("policy", self.depth["policy"], latent)
        else:
            logits = self.head(latent, encoded)
        value = self._layer("value", self.depth["value"], self._hidden("value", inputs))
        return logits, value[:, 0]

    def _hidden(self, part: str, x: torch.Tensor) -> torch.Tensor:
        for i in range(self.depth[part]):
            x = self.activate(self._layer(part, i, x))
        return x

    def _layer(self, part: str, i: int, x: torch.Tensor) -> torch.Tensor:
        return functional.linear(
            x, self.layers[f"{part}_{i}_weight"], self.layers[f"{part}_{i}_bias"]
        )


class TileOperations(TileEncoder):
    """What `TileFeatures.encode` computes, in operations that ONNX has."""

    gain: torch.Tensor
    costs: torch.Tensor
    capacity: torch.Tensor
    space: torch.Tensor
    ink_scale: torch.Tensor
    filled_scale: torch.Tensor

    def __init__(self, features: TileFeatures) -> None:
        super().__init__(features)
        # A number of Python's own, since the exporter takes one of NumPy's for a tensor.
        self.missing_scale = float(MISSING_SCALE)
        for name in ("gain", "costs", "capacity", "ink_scale", "filled_scale"):
            array = torch.from_numpy(np.asarray(getattr(features, name)))
            self.register_buffer(name, array, persistent=False)
        self.register_buffer("space", torch.from_numpy(features.space), persistent=False)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        f = self.features
        seen = obs * self.gain
        tiles = seen[:, f.tiles].reshape(-1, f.lecterns, f.designs)
        owned = obs[:, f.lectern]
        held = torch.where(owned.sum(dim=1) > 0.5, owned.argmax(dim=1), f.lecterns)
        inks = obs[:, f.inks] * self.ink_scale
        short = self.costs.index_select(0, held) - inks[:, None, :]
        gold = short[:, :, GOLD]
        short = torch.relu(short)
        missing = short[:, :, 0] + torch.relu(gold + short[:, :, 1:GOLD].sum(dim=2))
        free = self.capacity - (obs[:, f.filled] * self.filled_scale).round()
        room = free.index_select(1, self.space.flatten()).reshape(-1, f.designs, 2)
        none_missing = (missing < 0.5).float()
        missing = missing / self.missing_scale
        parts = [seen[:, place] for place in f.places]
        parts += [tiles.sum(dim=1), missing, none_missing]
        parts += [(room[:, :, side] > 0.5).float() for side in range(2)]
        parts += [((room[:, :, side] - 1).abs() < 0.5).float() for side in range(2)]
        designs = torch.stack(parts, dim=2)
        return torch.cat([seen, missing, none_missing, designs.flatten(1), tiles.flatten(1)], dim=1)


def _to_onnx(network: nn.Module, policy: Policy) -> bytes:
    """The file's content."""
    example = torch.zeros(2, policy.description["observation_size"])
    with warnings.catch_warnings(), _no_log():
        warnings.simplefilter("ignore")  # the exporter's, about itself
        program = torch.onnx.export(
            network,
            (example,),
            dynamo=True,
            input_names=["observation"],
            output_names=["logits", "value"],
            dynamic_shapes={"observation": {0: torch.export.Dim.DYNAMIC}},
            verbose=False,
            optimize=False,  # its passes fail on some networks, and runtimes have their own
        )
    assert program is not None
    description = {k: v for k, v in policy.description.items() if k != "training"}
    program.model.metadata_props["incunabula"] = json.dumps(description)
    return bytes(program.model_proto.SerializeToString())


@contextlib.contextmanager
def _no_log() -> Iterator[None]:
    """Keep libraries from logging that others aren't installed."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


def _compare(content: bytes, policy: Policy, engine: Engine) -> float | None:
    """The largest difference of a logit on some positions; None without onnxruntime."""
    if importlib.util.find_spec("onnxruntime") is None:
        return None
    import onnxruntime

    observation = positions(engine)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    (logits,) = session.run(["logits"], {"observation": observation})
    wanted = NumpyNetwork(policy.network, policy.weights, engine.tables).logits(observation)
    difference = float(np.abs(logits - wanted).max())
    if not difference <= TOLERANCE * max(1.0, float(np.abs(wanted).max())):
        raise IncunabulaError(
            f"{policy.folder}: the exported network's logits differ from the policy's by "
            f"{difference:.3g}; nothing was written"
        )
    return difference


def positions(engine: Engine) -> npt.NDArray[np.float32]:
    """Observations of games after 0, 10, ..., 50 random moves, float32 (n, F)."""
    stepper = Stepper(engine.empty_like(COMPARED))
    rows = np.arange(COMPARED, dtype=np.uint64)
    seen = []
    for step in range(51):
        if step % 10 == 0:
            seen.append(stepper.observation.copy())
        stepper.step(nth_legal(stepper.action_mask, key(0, rows, step)))
    return np.concatenate(seen)
