"""The networks of learned policies in NumPy: what arrays they have, and what they compute.

A network is described by JSON values:

    {"kind": "towers", "layers": [256, 256], "value_layers": [256, 256], "activation": "tanh",
     "card_dim": 32, "tower_dim": 32, "advisor": null, "advice": 5.0}

With an `advisor`, the name of a baseline, the logit of that agent's choice is raised by `advice`:
the policy says where to depart from it (residual policy learning: Silver, Allen, Tenenbaum and
Kaelbling, 2018, arXiv:1812.06298).

Policy and value are two networks of these hidden layers; every array is float32. Layer i has
`policy.i.weight` (out, in) and `policy.i.bias` (out,), or `value.i...`; the last value layer gives
one number. What gives a logit for each action depends on the kind:

- `mlp`: one more policy layer.
- `cards` (Bibliogamo): the hand enters as a set of cards (see `Features.hand_set`). An action that
  uses a card is scored by the product of a query, which `policy.query` computes from the last
  hidden layer for each purpose (hiring into each tower, lifting, paying), and the card's key, which
  `policy.key` computes from the card's features; so what is learned about a card holds in every
  hand slot. `policy.other` gives the logits of the other actions, in their order.
- `towers` (Bibliogamo): as `cards`; and a tower's query, and the logit of walking to it, get a part
  that comes from what the tower needs (`Features.towers`), by one network for all towers:
  `policy.tower`, with `policy.context` of the last hidden layer added, rectified, then
  `policy.tower_query` and `policy.tower_walk`.
- `tiles` (Scriptorium): as `mlp`; and the logits of placing, buying and discarding a tile, and of
  giving a lectern away, get a part that comes from the tile's design, or from those that lie on the
  lectern (see `tile_head`), by one network for all designs: `policy.tile` of its features, with
  `policy.design` and `policy.context` of the last hidden layer added, rectified, then
  `policy.score`; and `policy.give` of the sum over a lectern's tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.agents.features import Features
from incunabula.agents.tile_head import TileHead, tile_shapes
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError

Float32Array = npt.NDArray[np.float32]
Weights = Mapping[str, Float32Array]

# The networks that understand each game, and the sizes each kind has besides its layers.
KINDS = {"bibliogamo": ("mlp", "cards", "towers"), "scriptorium": ("mlp", "tiles")}
DIMS = {
    "mlp": (),
    "cards": ("card_dim",),
    "towers": ("card_dim", "tower_dim"),
    "tiles": ("tile_dim",),
}
ALL_DIMS = ("card_dim", "tower_dim", "tile_dim")
ACTIVATIONS: dict[str, Callable[[Float32Array], Float32Array]] = {
    "tanh": lambda x: np.tanh(x, out=x),
    "relu": lambda x: np.maximum(x, np.float32(0), out=x),
}
MAX_LAYERS = 8
MAX_WIDTH = 4096
MAX_DIM = 1024
MAX_ADVICE = 100


def check_network(network: Mapping[str, Any], where: str, game: str) -> dict[str, Any]:
    """The description, checked: a kind for this game, sizes small enough to allocate.

    Raises IncunabulaError naming `where` and the field.
    """
    fields = {"kind": KINDS[game], "activation": tuple(ACTIVATIONS)}
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
    for field in ALL_DIMS:
        if field not in DIMS[network["kind"]] and field not in network:
            continue
        dim = network.get(field)
        if type(dim) is not int or not 1 <= dim <= MAX_DIM:
            raise IncunabulaError(
                f"{where}: network.{field}: must be a whole number from 1 to {MAX_DIM}"
            )
    if network.get("advisor") not in (None, "greedy"):
        raise IncunabulaError(f"{where}: network.advisor: must be null or greedy")
    advice = network.get("advice", 0.0)
    if type(advice) not in (int, float) or not 0 <= advice <= MAX_ADVICE:
        raise IncunabulaError(f"{where}: network.advice: must be a number from 0 to {MAX_ADVICE}")
    unknown = set(network) - {*fields, *ALL_DIMS, "layers", "value_layers", "advisor", "advice"}
    if unknown:
        raise IncunabulaError(f"{where}: network: unknown field {sorted(unknown)[0][:40]!r}")
    return dict(network)


def expected_shapes(network: Mapping[str, Any], engine: Engine) -> dict[str, tuple[int, ...]]:
    """Name and shape of every array of the network that plays this engine's edition."""
    shapes: dict[str, tuple[int, ...]] = {}

    def layer(name: str, inputs: int, outputs: int) -> None:
        shapes[f"{name}.weight"] = (outputs, inputs)
        shapes[f"{name}.bias"] = (outputs,)

    tables, actions = engine.tables, engine.actions.n
    by_cards, by_tiles = network["kind"] in ("cards", "towers"), network["kind"] == "tiles"
    inputs = engine.layout.size
    if by_cards:
        features = Features(tables)
        inputs = features.hand_set_size
    elif by_tiles:
        inputs += 2 * tables.designs
    for part, layers in (("policy", network["layers"]), ("value", network["value_layers"])):
        for i, (size, following) in enumerate(pairwise([inputs, *layers])):
            layer(f"{part}.{i}", size, following)
    last = network["layers"][-1]
    if by_cards:
        dim = network["card_dim"]
        layer("policy.query", last, (tables.towers + 2) * dim)
        layer("policy.key", features.cards.shape[1], dim)
        layer("policy.other", last, actions - tables.hand_size * (tables.towers + 2))
        if network["kind"] == "towers":
            size = network["tower_dim"]
            layer("policy.tower", features.tower_size, size)
            layer("policy.context", last, size)
            layer("policy.tower_query", size, dim)
            layer("policy.tower_walk", size, 1)
    else:
        layer(f"policy.{len(network['layers'])}", last, actions)
    if by_tiles:
        shapes |= tile_shapes(tables, last, network["tile_dim"])
    layer(f"value.{len(network['value_layers'])}", network["value_layers"][-1], 1)
    return shapes


class NumpyNetwork:
    """A network ready to be evaluated.

    Args:
        network: its description, checked.
        weights: its arrays, checked.
        tables: the edition's.
    """

    def __init__(self, network: Mapping[str, Any], weights: Weights, tables: Any) -> None:
        self._weights = weights
        self._activate = ACTIVATIONS[network["activation"]]
        self._depth = {"policy": len(network["layers"]), "value": len(network["value_layers"])}
        self._kind = network["kind"]
        self._tables = tables
        if self._kind in ("cards", "towers"):
            self._features = Features(tables)
            self._keys = self._linear("policy.key", self._features.cards).T.copy()
        elif self._kind == "tiles":
            self._head = TileHead(tables, weights)

    def logits(self, observation: Float32Array) -> Float32Array:
        """A logit for every action, legal or not; float32 (n, F) -> (n, A)."""
        if self._kind in ("cards", "towers"):
            return self._card_logits(observation)
        if self._kind == "mlp":
            return self._last("policy", self._hidden("policy", observation))
        inputs, designs, tiles = self._head.features.encode(observation)
        latent = self._hidden("policy", inputs)
        out = self._last("policy", latent)
        out += self._head.scores(latent, designs, tiles)
        return out

    def _card_logits(self, observation: Float32Array) -> Float32Array:
        inputs, ids = self._features.hand_set(observation)
        latent = self._hidden("policy", inputs)
        t = self._tables
        n, parts = len(latent), t.towers + 2
        queries = self._linear("policy.query", latent).reshape(n, parts, -1)
        other = self._linear("policy.other", latent)
        if self._kind == "towers":
            # As rows of one matrix: NumPy multiplies stacks of small ones slowly.
            features = self._features.towers(observation).reshape(n * t.towers, -1)
            towers = self._linear("policy.tower", features)
            context = self._linear("policy.context", latent)
            towers += np.repeat(context, t.towers, axis=0)
            np.maximum(towers, np.float32(0), out=towers)
            queries[:, :-2] += self._linear("policy.tower_query", towers).reshape(n, t.towers, -1)
            walks = self._linear("policy.tower_walk", towers).reshape(n, t.towers)
            other[:, 1 : 1 + t.spaces] += walks[:, t.board]
        scores = (queries.reshape(n * parts, -1) @ self._keys).reshape(n, parts, -1)
        chosen = np.take_along_axis(scores, ids[:, None, :], axis=2)
        hire = chosen[:, :-2].transpose(0, 2, 1).reshape(n, -1)  # slot-major
        use = chosen[:, -2:].reshape(n, -1)  # lift slots, then pay slots
        return np.concatenate([other[:, :-1], hire, use, other[:, -1:]], axis=1)

    def values(self, observation: Float32Array) -> Float32Array:
        """The value network's estimate, in the trainer's units; float32 (n, F) -> (n,)."""
        return self._last("value", self._hidden("value", self.value_inputs(observation)))[:, 0]

    def value_inputs(self, observation: Float32Array) -> Float32Array:
        """What enters the first layer of the value network, float32 (n, inputs)."""
        if self._kind in ("cards", "towers"):
            observation, _ = self._features.hand_set(observation)
        elif self._kind == "tiles":
            observation, _, _ = self._head.features.encode(observation)
        return observation

    def _last(self, part: str, latent: Float32Array) -> Float32Array:
        return self._linear(f"{part}.{self._depth[part]}", latent)

    def _hidden(self, part: str, x: Float32Array) -> Float32Array:
        for i in range(self._depth[part]):
            x = self._activate(self._linear(f"{part}.{i}", x))
        return x

    def _linear(self, name: str, x: Float32Array) -> Float32Array:
        out: Float32Array = x @ self._weights[f"{name}.weight"].T
        out += self._weights[f"{name}.bias"]
        return out
