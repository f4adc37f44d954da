"""The `tiles` network's way of looking at Scriptorium's designs one by one, in NumPy.

Every design is scored by one network for all of them, from where it lies, whether its cost can be
met, and the space there is for it; so what is learned about placing, buying or discarding one tile
holds for the others. Free lecterns are scored by what lies on them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from incunabula.envs.scriptorium.actions import Actions, Kind
from incunabula.envs.scriptorium.observation import Layout
from incunabula.envs.scriptorium.tables import GOLD, Tables

Float32Array = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.intp]

# Outputs for each design: placing it (from lectern or storage, to a side, with or without ink),
# buying it (from each seat), discarding it.
PLACES = 8
# What missing inks and counts of tiles are divided by.
MISSING_SCALE, COUNT_SCALE = np.float32(3), np.float32(2)


class TileFeatures:
    """Where things lie in an observation, and what is known of each design.

    Attributes:
        gain: float32 (F,), factors of the observation that make tiles and inks count about 1.
        places: slices of the counts of tiles by design, in observations.
        tiles: slice of the tiles on free lecterns.
        lectern, inks: the observer's own.
        filled: spaces he has filled.
        costs: float32 (L + 1, D, 5), by lectern; the last is for having none.
        space: intp (D, 2); capacity: float32 (10,).
        size: numbers given of each design, f.
        inputs: numbers the hidden layers get, F + 2 D.
        encoded: inputs, f for each design, then the tiles of free lecterns.
        outputs: of the network that scores a design.
        where: intp (A,), for each action its place among the D · outputs scores of designs and the
            L · P scores of lecterns that follow; one place more, which is 0, for the others.
    """

    def __init__(self, tables: Tables) -> None:
        t = self.tables = tables
        layout = Layout(t)
        fields, d, most = layout.fields, t.designs, t.max_players
        self.size_observed = layout.size
        self.designs, self.lecterns, self.players = d, t.lecterns, most
        names = ["lectern_tiles+0", "storage+0", "market", "bag"]
        for j in range(1, most):
            names += [f"lectern_tiles+{j}", f"storage+{j}"]
        self.places = [fields[name].slice for name in names]
        self.tiles = fields["tiles"].slice
        self.lectern, self.inks = fields["lectern+0"].slice, fields["inks+0"].slice
        self.filled = fields["filled+0"].slice
        divisors = _divisors(layout)
        counted = (*names, "tiles")
        self.gain = np.ones(layout.size, np.float32)
        for name in counted:
            self.gain[fields[name].slice] = divisors[fields[name].slice] / COUNT_SCALE
        for j in range(most):
            at = fields[f"inks+{j}"].slice
            self.gain[at] = divisors[at] / MISSING_SCALE
        self.ink_scale = divisors[self.inks]
        self.filled_scale = divisors[self.filled]
        self.costs = np.concatenate([t.costs, t.cost[None]]).astype(np.float32)
        self.space = t.space.astype(np.intp)
        self.capacity = t.capacity.astype(np.float32)
        self.size = len(names) + 7
        self.inputs = layout.size + 2 * d
        self.encoded = self.inputs + d * self.size + t.lecterns * d
        self.outputs = PLACES + most + 1
        self.where = self._where(Actions(t))

    def _where(self, actions: Actions) -> IntArray:
        none = self.designs * self.outputs + self.lecterns * self.players
        where = np.full(actions.n, none, np.intp)
        base = actions.design * self.outputs
        at = actions.of(Kind.PLACE)
        source, side, paid = actions.source[at], actions.side[at], actions.paid[at]
        where[at] = base[at] + source * 4 + np.maximum(side, 0) * 2 + paid
        at = actions.of(Kind.BUY)
        where[at] = base[at] + PLACES + actions.source[at]
        at = actions.of(Kind.DISCARD_TILE)
        where[at] = base[at] + PLACES + self.players
        at = actions.of(Kind.LECTERN)
        first = self.designs * self.outputs
        where[at] = first + actions.lectern[at] * self.players + actions.to[at]
        return where

    def encode(self, observation: Float32Array) -> tuple[Float32Array, Float32Array, Float32Array]:
        """Observations float32 (n, F) -> inputs (n, F + 2 D), designs (n, D, f), and the tiles on
        free lecterns (n, L, D).

        Of a design: how many lie where; inks missing to place it, whether none is; whether there
        is a space for it on either side, whether it is the last; whether it lies on a free lectern.
        """
        n = len(observation)
        seen = observation * self.gain
        tiles = seen[:, self.tiles].reshape(n, self.lecterns, self.designs)
        inks = observation[:, self.inks] * self.ink_scale
        owned = observation[:, self.lectern]
        held = np.where(owned.sum(axis=1) > 0.5, owned.argmax(axis=1), self.lecterns)
        short = self.costs[held] - inks[:, None, :]  # (n, D, 5)
        gold = short[:, :, GOLD].copy()
        short = np.maximum(short, np.float32(0))
        colours = short[:, :, 1:GOLD].sum(axis=2)
        missing = short[:, :, 0] + np.maximum(gold + colours, np.float32(0))
        free = self.capacity - np.rint(observation[:, self.filled] * self.filled_scale)
        room = free[:, self.space]  # (n, D, 2)
        parts = [seen[:, place] for place in self.places]
        parts += [tiles.sum(axis=1), missing / MISSING_SCALE, missing < 0.5]
        parts += [room[:, :, 0] > 0.5, room[:, :, 1] > 0.5]
        parts += [np.abs(room[:, :, side] - 1) < 0.5 for side in range(2)]
        designs = np.stack(parts, axis=2, dtype=np.float32)
        missing_at = len(self.places) + 1
        inputs = np.concatenate([seen, designs[:, :, missing_at], designs[:, :, missing_at + 1]], 1)
        return inputs, designs, tiles


def _divisors(layout: Layout) -> Float32Array:
    """What each number of an observation was divided by, float32 (F,)."""
    found = np.ones(layout.size, np.float32)
    for name, field in layout.fields.items():
        kind = name.partition("+")[0]
        for scales in layout.divisors.values():
            if kind in scales:
                found[field.slice] = scales[kind][0]
    return found


def tile_shapes(tables: Tables, last: int, dim: int) -> dict[str, tuple[int, ...]]:
    """Arrays of the part that scores designs and lecterns; `last` = width of the last hidden
    layer."""
    features = TileFeatures(tables)
    return {
        "policy.tile.weight": (dim, features.size),
        "policy.tile.bias": (dim,),
        "policy.design": (tables.designs, dim),
        "policy.context.weight": (dim, last),
        "policy.context.bias": (dim,),
        "policy.score.weight": (features.outputs, dim),
        "policy.score.bias": (features.outputs,),
        "policy.give.weight": (tables.max_players, dim),
        "policy.give.bias": (tables.max_players,),
    }


class TileHead:
    """Scores of designs and lecterns, to be added to the logits."""

    def __init__(self, tables: Tables, weights: Mapping[str, Float32Array]) -> None:
        self.features = TileFeatures(tables)
        self._weights = weights

    def scores(
        self, latent: Float32Array, designs: Float32Array, tiles: Float32Array
    ) -> Float32Array:
        """What is added to each action's logit, float32 (n, A)."""
        f, w = self.features, self._weights
        n, dim = len(latent), len(w["policy.tile.bias"])
        looked = designs.reshape(n * f.designs, -1) @ w["policy.tile.weight"].T
        looked = looked.reshape(n, f.designs, dim) + w["policy.design"]
        looked += w["policy.tile.bias"]
        context = latent @ w["policy.context.weight"].T + w["policy.context.bias"]
        looked += context[:, None, :]
        np.maximum(looked, np.float32(0), out=looked)
        scores = looked.reshape(n * f.designs, dim) @ w["policy.score.weight"].T
        scores += w["policy.score.bias"]
        lecterns = np.matmul(tiles, looked).reshape(n * f.lecterns, dim)
        given = lecterns @ w["policy.give.weight"].T + w["policy.give.bias"]
        none = np.zeros((n, 1), np.float32)
        every = np.concatenate([scores.reshape(n, -1), given.reshape(n, -1), none], axis=1)
        return np.asarray(every[:, f.where])
