"""The networks of learned policies in NumPy: what arrays they have, and what they compute.

A network is described by JSON values:

    {"kind": "mlp", "layers": [256, 256], "value_layers": [256, 256], "activation": "tanh",
     "card_dim": 32, "tower_dim": 32, "advisor": null, "advice": 5.0}

With an `advisor`, the name of a baseline, the logit of that agent's choice is raised by `advice`:
the policy says where to depart from it (residual policy learning: Silver, Allen, Tenenbaum and
Kaelbling, 2018, arXiv:1812.06298).

Policy and value are two networks of these hidden layers; every array is float32. Layer i has
`policy.i.weight` (out, in) and `policy.i.bias` (out,), or `value.i...`; the last value layer gives
one number. What gives a logit for each action depends on the kind:

- `mlp`: one more policy layer.
- `cards`: the hand enters as a set of cards (see `hand_set`). An action that uses a card is scored
  by the product of a query, which `policy.query` computes from the last hidden layer for each
  purpose (hiring into each tower, lifting, paying), and the card's key, which `policy.key` computes
  from the card's features; so what is learned about a card holds in every hand slot.
  `policy.other` gives the logits of the other actions, in their order.
- `towers`: as `cards`; and a tower's query, and the logit of walking to it, get a part that comes
  from what the tower needs (`tower_features`), by one network for all towers: `policy.tower`, with
  `policy.context` of the last hidden layer added, rectified, then `policy.tower_query` and
  `policy.tower_walk`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.bibliogamo.observation import Layout
from incunabula.envs.bibliogamo.tables import Tables
from incunabula.envs.errors import IncunabulaError

Float32Array = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.intp]
Weights = Mapping[str, Float32Array]

KINDS = ("mlp", "cards", "towers")
ACTIVATIONS: dict[str, Callable[[Float32Array], Float32Array]] = {
    "tanh": lambda x: np.tanh(x, out=x),
    "relu": lambda x: np.maximum(x, np.float32(0), out=x),
}
LACKING_SCALE, MISSING_SCALE = 3.0, 8.0
MAX_LAYERS = 8
MAX_WIDTH = 4096
MAX_DIM = 1024
MAX_ADVICE = 100


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
    dims = ("card_dim", "tower_dim")
    for field in dims:
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
    unknown = set(network) - {*fields, *dims, "layers", "value_layers", "advisor", "advice"}
    if unknown:
        raise IncunabulaError(f"{where}: network: unknown field {sorted(unknown)[0][:40]!r}")
    return dict(network)


def card_features(tables: Tables) -> Float32Array:
    """What a network knows of each card, float32 (C + 1, f); the last row, no card, is all 0.

    Artisans, icon, coin (one-hot), price in each coin, the librarian's move, and which card it is.
    """
    t, c = tables, tables.cards
    out = np.zeros((c + 1, t.types * 2 + t.coins * 2 + 1 + c), np.float32)
    parts: list[npt.NDArray[Any]] = [
        t.artisans[:c],
        np.eye(t.types)[t.icon[:c]],
        np.eye(t.coins)[t.coin[:c]],
        t.price[:c] / max(1, int(t.price.max())),
        t.move[:c, None] / max(1, int(np.abs(t.move).max())),
        np.eye(c),
    ]
    out[:c] = np.concatenate(parts, axis=1)
    return out


def hand_set_size(tables: Tables) -> int:
    """Numbers in an observation whose hand is given as a set."""
    hand = Layout(tables).fields["hand"]
    return hand.start + tables.cards + hand.shape[1] - 1


def hand_set(tables: Tables, observation: Float32Array) -> tuple[Float32Array, IntArray]:
    """Observations with the hand as a set, float32 (n, F'), and the cards in hand, intp (n, H).

    In place of the hand's slots stand 1 for each card that is held, and the sums of the slots'
    artisans and icons. Empty slots hold card C.
    """
    hand = Layout(tables).fields["hand"]
    start, (slots, width), c = hand.start, hand.shape, tables.cards
    block = observation[:, start:].reshape(-1, slots, width)
    ids = np.rint(block[:, :, 0] * np.float32(c + 1)).astype(np.intp) - 1
    ids[ids < 0] = c
    held = np.zeros((len(observation), c + 1), np.float32)
    held[np.arange(len(observation))[:, None], ids] = 1
    return np.concatenate(
        [observation[:, :start], held[:, :c], block[:, :, 1:].sum(axis=1)], axis=1
    ), ids


def towers_around(tables: Tables) -> Float32Array:
    """1 where tower t stands o spaces clockwise of space s; float32 (S, T * S), o fastest."""
    s = np.arange(tables.spaces)
    towers = tables.board[(s[:, None] + s) % tables.spaces]  # (s, o)
    found = towers[:, None, :] == np.arange(tables.towers)[None, :, None]
    return found.reshape(tables.spaces, -1).astype(np.float32)


def tower_features_size(tables: Tables) -> int:
    """Numbers `tower_features` gives of each tower."""
    return 3 * tables.types + 4 + tables.spaces


def tower_features(tables: Tables, observation: Float32Array) -> Float32Array:
    """What observations say of each tower, float32 (n, T, f).

    Artisans lacking of each type, whether any and whether more than one is; all that are missing,
    whether none is; the VP of its best open slot; whether a hire for it is to be paid; and where it
    stands as seen from the librarian (one-hot, clockwise).
    """
    fields, n, one = Layout(tables).fields, len(observation), np.float32(1)
    filled = observation[:, fields["filled"].slice].reshape(n, tables.towers, tables.types)
    lacking = (one - filled) * tables.requires.astype(np.float32)
    missing = lacking.sum(axis=2, keepdims=True)
    pending = fields["pending_tower"].slice.stop
    parts = [
        lacking / np.float32(LACKING_SCALE),
        lacking > 0.5,
        lacking > 1.5,
        missing / np.float32(MISSING_SCALE),
        missing < 0.5,
        observation[:, fields["next_slot"].slice, None],
        observation[:, pending - tables.towers : pending, None],  # the first column means none
        (observation[:, fields["librarian"].slice] @ towers_around(tables)).reshape(
            n, tables.towers, -1
        ),
    ]
    return np.concatenate(parts, axis=2, dtype=np.float32)


def expected_shapes(
    network: Mapping[str, Any], observation: int, actions: int, tables: Tables
) -> dict[str, tuple[int, ...]]:
    """Name and shape of every array of the network."""
    shapes: dict[str, tuple[int, ...]] = {}

    def layer(name: str, inputs: int, outputs: int) -> None:
        shapes[f"{name}.weight"] = (outputs, inputs)
        shapes[f"{name}.bias"] = (outputs,)

    by_cards = network["kind"] != "mlp"
    inputs = hand_set_size(tables) if by_cards else observation
    for part, layers in (("policy", network["layers"]), ("value", network["value_layers"])):
        for i, (size, following) in enumerate(pairwise([inputs, *layers])):
            layer(f"{part}.{i}", size, following)
    last = network["layers"][-1]
    if by_cards:
        dim = network["card_dim"]
        layer("policy.query", last, (tables.towers + 2) * dim)
        layer("policy.key", card_features(tables).shape[1], dim)
        layer("policy.other", last, actions - tables.hand_size * (tables.towers + 2))
        if network["kind"] == "towers":
            size = network["tower_dim"]
            layer("policy.tower", tower_features_size(tables), size)
            layer("policy.context", last, size)
            layer("policy.tower_query", size, dim)
            layer("policy.tower_walk", size, 1)
    else:
        layer(f"policy.{len(network['layers'])}", last, actions)
    layer(f"value.{len(network['value_layers'])}", network["value_layers"][-1], 1)
    return shapes


class NumpyNetwork:
    """A network ready to be evaluated.

    Args:
        network: its description, checked.
        weights: its arrays, checked.
        tables: the edition's.
    """

    def __init__(self, network: Mapping[str, Any], weights: Weights, tables: Tables) -> None:
        self._tables = tables
        self._weights = weights
        self._activate = ACTIVATIONS[network["activation"]]
        self._depth = {"policy": len(network["layers"]), "value": len(network["value_layers"])}
        self._keys: Float32Array | None = None
        self._towers = network["kind"] == "towers"
        if network["kind"] != "mlp":
            self._keys = self._linear("policy.key", card_features(tables)).T.copy()

    def logits(self, observation: Float32Array) -> Float32Array:
        """A logit for every action, legal or not; float32 (n, F) -> (n, A)."""
        if self._keys is None:
            latent = self._hidden("policy", observation)
            return self._linear(f"policy.{self._depth['policy']}", latent)
        inputs, ids = hand_set(self._tables, observation)
        latent = self._hidden("policy", inputs)
        t = self._tables
        n, parts = len(latent), t.towers + 2
        queries = self._linear("policy.query", latent).reshape(n, parts, -1)
        other = self._linear("policy.other", latent)
        if self._towers:
            towers = self._linear("policy.tower", tower_features(t, observation))
            towers += self._linear("policy.context", latent)[:, None, :]
            towers = np.maximum(towers, np.float32(0), out=towers)
            queries[:, :-2] += self._linear("policy.tower_query", towers)
            walks = self._linear("policy.tower_walk", towers)[:, :, 0]
            other[:, 1 : 1 + t.spaces] += walks[:, t.board]
        scores = (queries.reshape(n * parts, -1) @ self._keys).reshape(n, parts, -1)
        chosen = np.take_along_axis(scores, ids[:, None, :], axis=2)
        hire = chosen[:, :-2].transpose(0, 2, 1).reshape(n, -1)  # slot-major
        use = chosen[:, -2:].reshape(n, -1)  # lift slots, then pay slots
        return np.concatenate([other[:, :-1], hire, use, other[:, -1:]], axis=1)

    def values(self, observation: Float32Array) -> Float32Array:
        """The value network's estimate, in the trainer's units; float32 (n, F) -> (n,)."""
        if self._keys is not None:
            observation, _ = hand_set(self._tables, observation)
        latent = self._hidden("value", observation)
        return self._linear(f"value.{self._depth['value']}", latent)[:, 0]

    def _hidden(self, part: str, x: Float32Array) -> Float32Array:
        for i in range(self._depth[part]):
            x = self._activate(self._linear(f"{part}.{i}", x))
        return x

    def _linear(self, name: str, x: Float32Array) -> Float32Array:
        out: Float32Array = x @ self._weights[f"{name}.weight"].T
        out += self._weights[f"{name}.bias"]
        return out
