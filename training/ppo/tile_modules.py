"""The parts of the `tiles` network; `agents.networks` and `agents.tile_head` describe it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from incunabula.agents.tile_head import TileFeatures


class TileEncoder(nn.Module):
    """Observations (B, F) -> (B, E): inputs of the hidden layers, designs, tiles of free lecterns.

    The same as `TileFeatures.encode`, which computes it: it is done once for each observation.

    Attributes:
        inputs, designs, tiles: where these three lie in the result.
        size: E.
    """

    def __init__(self, features: TileFeatures) -> None:
        super().__init__()
        self.features = f = features
        designs = f.inputs + f.designs * f.size
        self.inputs, self.designs = slice(0, f.inputs), slice(f.inputs, designs)
        self.tiles, self.size = slice(designs, f.encoded), f.encoded

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        parts = self.features.encode(obs.cpu().numpy())
        flat = np.concatenate([part.reshape(len(obs), -1) for part in parts], axis=1)
        return torch.from_numpy(flat).to(obs.device)


class Spread(torch.autograd.Function):
    """Columns of scores (B, S) by index (A,); an index S means 0.

    What torch would do by itself, but many times faster in the backward pass.
    """

    @staticmethod
    def forward(
        ctx: Any, scores: torch.Tensor, where: torch.Tensor, back: torch.Tensor
    ) -> torch.Tensor:
        ctx.save_for_backward(back)
        none = scores.new_zeros(len(scores), 1)
        return torch.cat([scores, none], dim=1).index_select(1, where)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (back,) = ctx.saved_tensors
        none = grads[0].new_zeros(len(grads[0]), 1)
        return torch.cat([grads[0], none], dim=1).index_select(1, back), None, None


class TileHead(nn.Module):
    """Logits of all actions: a linear layer, and scores of designs and lecterns added to it.

    Args:
        inputs: width of the last hidden layer.
        actions: how many actions there are.
        encoder: whose results are to be understood.
        dim: width of the network that looks at designs.
    """

    where: torch.Tensor
    back: torch.Tensor

    def __init__(self, inputs: int, actions: int, encoder: TileEncoder, dim: int) -> None:
        super().__init__()
        f = encoder.features
        self.shape = (f.designs, f.size, f.lecterns)
        self.encoder_designs, self.encoder_tiles = encoder.designs, encoder.tiles
        where = torch.from_numpy(f.where)
        scores = f.designs * f.outputs + f.lecterns * f.players
        back = torch.full((scores + 1,), actions)
        back[where] = torch.arange(actions)
        self.register_buffer("where", where, persistent=False)
        self.register_buffer("back", back[:scores], persistent=False)
        self.last = nn.Linear(inputs, actions)
        self.tile = nn.Linear(f.size, dim)
        self.design = nn.Parameter(torch.zeros(f.designs, dim))
        self.context = nn.Linear(inputs, dim)
        self.score = nn.Linear(dim, f.outputs)
        self.give = nn.Linear(dim, f.players)

    def forward(self, latent: torch.Tensor, encoded: torch.Tensor) -> torch.Tensor:
        """Logits (B, A) from the last hidden layer (B, inputs) and what the encoder made."""
        rows, (designs, size, lecterns) = len(latent), self.shape
        features = encoded[:, self.encoder_designs].reshape(rows * designs, size)
        tiles = encoded[:, self.encoder_tiles].reshape(rows, lecterns, designs)
        looked = self.tile(features).view(rows, designs, -1) + self.design
        looked = torch.relu(looked + self.context(latent)[:, None, :])
        scores = self.score(looked)
        given = self.give(torch.bmm(tiles.to(looked.dtype), looked))
        every = torch.cat([scores.flatten(1), given.flatten(1)], dim=1)
        return self.last(latent) + Spread.apply(every, self.where, self.back)

    def init_weights(self, init: Callable[[nn.Module, float], None]) -> None:
        """As sb3 does: small logits at first; designs that differ."""
        init(self.tile, 2**0.5)
        init(self.context, 1.0)
        for layer in (self.last, self.score, self.give):
            init(layer, 0.01)
        nn.init.normal_(self.design, std=0.3)
