"""The networks of learned policies in NumPy: what arrays they have, and what they compute.

A network is described by JSON values:

    {"kind": "mlp", "layers": [256, 256], "value_layers": [256, 256], "activation": "tanh"}

Arrays are float32: `policy.0.weight` (out, in) and `policy.0.bias` (out,) and so on, the last layer
giving a logit for each action; `value.0.weight` and so on, the last giving the value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.bibliogamo.tables import Tables
from incunabula.envs.errors import IncunabulaError

Float32Array = npt.NDArray[np.float32]
Weights = Mapping[str, Float32Array]

KINDS = ("mlp",)
ACTIVATIONS: dict[str, Callable[[Float32Array], Float32Array]] = {
    "tanh": lambda x: np.tanh(x, out=x),
    "relu": lambda x: np.maximum(x, np.float32(0), out=x),
}
MAX_LAYERS = 8
MAX_WIDTH = 4096


def check_network(network: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The description, checked: sizes are small enough to allocate.

    Raises IncunabulaError naming `where` and the field.
    """
    fields = {"kind": KINDS, "activation": tuple(ACTIVATIONS)}
    for field, options in fields.items():
        if network.get(field) not in options:
            raise IncunabulaError(
                f"{where}: network.{field}: is {str(network.get(field))[:40]!r}, but must be one "
                f"of {', '.join(options)}"
            )
    for field in ("layers", "value_layers"):
        layers = network.get(field)
        good = (
            isinstance(layers, list)
            and 1 <= len(layers) <= MAX_LAYERS
            and all(type(n) is int and 1 <= n <= MAX_WIDTH for n in layers)
        )
        if not good:
            raise IncunabulaError(
                f"{where}: network.{field}: must be 1 to {MAX_LAYERS} whole numbers from 1 to "
                f"{MAX_WIDTH}"
            )
    unknown = set(network) - {*fields, "layers", "value_layers"}
    if unknown:
        raise IncunabulaError(f"{where}: network: unknown field {sorted(unknown)[0][:40]!r}")
    return dict(network)


def expected_shapes(
    network: Mapping[str, Any], observation: int, actions: int, tables: Tables
) -> dict[str, tuple[int, ...]]:
    """Name and shape of every array of the network."""
    shapes: dict[str, tuple[int, ...]] = {}
    for part, layers, outputs in (
        ("policy", network["layers"], actions),
        ("value", network["value_layers"], 1),
    ):
        sizes = [observation, *layers, outputs]
        for i, (inputs, size) in enumerate(zip(sizes, sizes[1:], strict=False)):
            shapes[f"{part}.{i}.weight"] = (size, inputs)
            shapes[f"{part}.{i}.bias"] = (size,)
    return shapes


def policy_logits(
    network: Mapping[str, Any], weights: Weights, observation: Float32Array
) -> Float32Array:
    """Logits of every action, legal or not; float32 (n, F) -> (n, A)."""
    return _mlp(network, weights, "policy", len(network["layers"]), observation)


def values(network: Mapping[str, Any], weights: Weights, observation: Float32Array) -> Float32Array:
    """The value network's estimate (in the trainer's units), float32 (n, F) -> (n,)."""
    return _mlp(network, weights, "value", len(network["value_layers"]), observation)[:, 0]


def _mlp(
    network: Mapping[str, Any], weights: Weights, part: str, hidden: int, x: Float32Array
) -> Float32Array:
    activate = ACTIVATIONS[network["activation"]]
    for i in range(hidden + 1):
        x = x @ weights[f"{part}.{i}.weight"].T
        x += weights[f"{part}.{i}.bias"]
        if i < hidden:
            x = activate(x)
    return x
