"""Parts of networks that look at cards and towers one by one; `agents.networks` describes them.

What an observation holds about cards and towers is laid out once, when it is seen (`Encoder`), for
all passes over it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from incunabula.agents.features import LACKING_SCALE, MISSING_SCALE, Features
from incunabula.envs.bibliogamo.actions import Actions
from incunabula.envs.bibliogamo.tables import Tables


class Encoder(nn.Module):
    """Observations (B, F) -> (B, E): inputs of the networks, tower features, cards in hand.

    The same as `agents.features` computes in NumPy.

    Attributes:
        inputs, towers, ids: where these three lie in the result.
        size: E.
    """

    requires: torch.Tensor
    around: torch.Tensor

    def __init__(self, tables: Tables, look_at_towers: bool) -> None:
        super().__init__()
        self.features = features = Features(tables)
        self.cards, self.shape = tables.cards, tables.requires.shape
        self.lacking_scale, self.missing_scale = float(LACKING_SCALE), float(MISSING_SCALE)
        self.register_buffer("requires", torch.from_numpy(features.requires), persistent=False)
        self.register_buffer("around", torch.from_numpy(features.around), persistent=False)
        each = features.tower_size if look_at_towers else 0
        inputs = features.hand_set_size
        towers = inputs + tables.towers * each
        self.inputs, self.towers = slice(0, inputs), slice(inputs, towers)
        self.size = towers + tables.hand_size
        self.ids = slice(towers, self.size)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        start, (slots, width) = self.features.hand.start, self.features.hand.shape
        hand = obs[:, start:].view(-1, slots, width)
        # 0 means no card, (id + 1) / (C + 1) a card.
        ids = (hand[:, :, 0] * (self.cards + 1)).round() - 1
        ids = torch.where(ids < 0, float(self.cards), ids)
        held = obs.new_zeros(len(obs), self.cards + 1).scatter_(1, ids.long(), 1.0)
        parts = [obs[:, :start], held[:, : self.cards], hand[:, :, 1:].sum(dim=1)]
        if self.towers.start < self.towers.stop:
            parts.append(self._towers(obs).flatten(1))
        return torch.cat([*parts, ids], dim=1)

    def _towers(self, obs: torch.Tensor) -> torch.Tensor:
        at, (towers, types) = self.features, self.shape
        lacking = (1 - obs[:, at.filled].view(-1, towers, types)) * self.requires
        missing = lacking.sum(dim=2, keepdim=True)
        around = (obs[:, at.librarian] @ self.around).view(len(obs), towers, -1)
        return torch.cat(
            [
                lacking / self.lacking_scale,
                (lacking > 0.5).float(),
                (lacking > 1.5).float(),
                missing / self.missing_scale,
                (missing < 0.5).float(),
                obs[:, at.next_slot, None],
                obs[:, at.pending, None],
                around,
            ],
            dim=2,
        )


class HandScores(torch.autograd.Function):
    """Products of queries (B, P, d) with the keys (C + 1, d) of the cards in hand: (B, H, P).

    What torch would do by itself, but many times faster in the backward pass.
    """

    @staticmethod
    def forward(
        ctx: Any, queries: torch.Tensor, keys: torch.Tensor, ids: torch.Tensor
    ) -> torch.Tensor:
        hand = keys.index_select(0, ids.flatten()).view(*ids.shape, -1)
        ctx.save_for_backward(queries, hand, ids)
        ctx.cards = len(keys)
        with torch.autocast(queries.device.type, enabled=False):
            return torch.bmm(hand, queries.transpose(1, 2))

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        queries, hand, ids = ctx.saved_tensors
        grad = grads[0].contiguous()
        to_keys = torch.bmm(grad, queries).flatten(0, 1)
        keys = to_keys.new_zeros(ctx.cards, to_keys.shape[1])
        keys.index_add_(0, ids.flatten(), to_keys)
        return torch.bmm(grad.transpose(1, 2), hand), keys, None


class CardHead(nn.Module):
    """Logits of all actions; those that use a card are products of queries and card keys.

    Args:
        inputs: width of the last hidden layer.
        tables: the edition's.
        encoder: whose results are to be understood.
        dim: length of queries and keys.
        tower_dim: width of the network that looks at towers; 0 = none does.
    """

    features: torch.Tensor
    board: torch.Tensor

    def __init__(
        self, inputs: int, tables: Tables, encoder: Encoder, dim: int, tower_dim: int
    ) -> None:
        super().__init__()
        self.towers, self.spaces, self.dim = tables.towers, tables.spaces, dim
        self.encoder_ids, self.encoder_towers = encoder.ids, encoder.towers
        others = Actions(tables).n - tables.hand_size * (tables.towers + 2)
        features = encoder.features.cards
        self.register_buffer("features", torch.from_numpy(features), persistent=False)
        board = torch.from_numpy(tables.board.astype(np.int64))
        self.register_buffer("board", board, persistent=False)
        self.query = nn.Linear(inputs, (self.towers + 2) * dim)
        self.key = nn.Linear(features.shape[1], dim)
        self.other = nn.Linear(inputs, others)
        self.tower_dim = tower_dim
        if tower_dim:
            each = (encoder.towers.stop - encoder.towers.start) // self.towers
            self.tower = nn.Linear(each, tower_dim)
            self.context = nn.Linear(inputs, tower_dim)
            self.tower_query = nn.Linear(tower_dim, dim)
            self.tower_walk = nn.Linear(tower_dim, 1)

    def forward(self, latent: torch.Tensor, encoded: torch.Tensor) -> torch.Tensor:
        """Logits (B, A) from the last hidden layer (B, inputs) and what the encoder made."""
        rows, hires = len(latent), self.towers * self.dim
        ids = encoded[:, self.encoder_ids].long()
        keys = self.key(self.features).float()
        other = self.other(latent).float()
        weight, bias = self.query.weight, self.query.bias
        hire = functional.linear(latent, weight[:hires], bias[:hires])
        use = functional.linear(latent, weight[hires:], bias[hires:])
        hire, use = hire.view(rows, self.towers, -1), use.view(rows, 2, -1)
        walks = other[:, 1 : 1 + self.spaces]
        if self.tower_dim:
            features = encoded[:, self.encoder_towers].reshape(rows * self.towers, -1)
            looked = self.tower(features).view(rows, self.towers, -1)
            # Every tower by the same network, in the light of the whole position.
            looked = torch.relu(looked + self.context(latent)[:, None, :])
            hire = hire + self.tower_query(looked)
            walks = walks + self.tower_walk(looked)[:, :, 0].index_select(1, self.board)
        hire = HandScores.apply(hire.float(), keys, ids)  # (B, H, T)
        use = HandScores.apply(use.float(), keys, ids)  # (B, H, 2): lifting and paying
        return torch.cat(
            [
                other[:, :1],
                walks,
                other[:, 1 + self.spaces : -1],
                hire.flatten(1),
                use.transpose(1, 2).flatten(1),
                other[:, -1:],
            ],
            dim=1,
        )

    def init_weights(self, init: Callable[[nn.Module, float], None]) -> None:
        """As sb3 does: small logits at first; keys of size one, so that queries can grow."""
        for layer in (self.query, self.other):
            init(layer, 0.01)
        init(self.key, 1.0)
        if self.tower_dim:
            init(self.tower, 2**0.5)
            init(self.context, 1.0)
            init(self.tower_query, 0.01)
            init(self.tower_walk, 0.01)
