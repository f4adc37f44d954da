"""Policy and value networks of the lean MaskablePPO.

`LeanPolicy` computes what sb3-contrib's `MaskableActorCriticPolicy` computes, from the same
parameters, with less around it: no distribution objects, no validation, masks as bool tensors,
optionally bfloat16 inside the networks. Log-probabilities and losses are always float32.

Three kinds of network (`config.Network.kind`):

- `mlp`: separate tanh or relu networks for policy and value; parameters are named as in sb3.
- `cards`: hand cards enter the network as a set, and actions that use a card are scored by the
  product of a query computed from the position and a key computed from the card's features, so
  that what is learned about a card holds in every hand slot.
- `towers`: as `cards`, and queries for towers come from what each tower needs, by one network for
  all towers.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn
from torch.nn import functional

from incunabula.agents import networks
from incunabula.envs.bibliogamo.observation import Layout
from incunabula.envs.bibliogamo.tables import Tables
from incunabula.training.ppo.config import Network

ACTIVATIONS: dict[str, type[nn.Module]] = {"tanh": nn.Tanh, "relu": nn.ReLU}

MASKED_LOGIT = -1e8
"""Logit of an illegal action, as in sb3-contrib: its probability is exactly 0 in float32."""


def masked_log_softmax(logits: torch.Tensor, masks: torch.Tensor | None) -> torch.Tensor:
    """Log-probabilities float32 (B, A); `masks` bool (B, A), True where legal."""
    logits = logits.float()
    if masks is not None:
        logits = logits.masked_fill(~masks, MASKED_LOGIT)
    return torch.log_softmax(logits, dim=1)


def advised(logits: torch.Tensor, advice: torch.Tensor | None, weight: float) -> torch.Tensor:
    """Logits (B, A) with `weight` added to the action that an advisor chose, int64 (B,)."""
    if advice is None:
        return logits
    return logits.scatter_add(1, advice[:, None], logits.new_full((len(logits), 1), weight))


def sample(log_probs: torch.Tensor) -> torch.Tensor:
    """One action for each row, int64 (B,), from torch's generator; never one of probability 0."""
    cumulated = torch.softmax(log_probs, dim=1).cumsum(dim=1)
    # In (0, total]: the first sum to reach it belongs to an action of positive probability.
    wanted = (1 - torch.rand(len(log_probs), 1, device=log_probs.device)) * cumulated[:, -1:]
    return (cumulated < wanted).sum(dim=1)


class HandSet(nn.Module):
    """Observations with the hand as a set: (B, F) -> (B, F'), what `networks.hand_set` computes."""

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        self.hand = Layout(tables).fields["hand"]
        self.cards = tables.cards
        self.size = networks.hand_set_size(tables)

    def ids(self, obs: torch.Tensor) -> torch.Tensor:
        """Cards in hand, int64 (B, H); C where a slot is empty."""
        slots = obs[:, self.hand.start :: self.hand.shape[1]]
        # 0 means no card, (id + 1) / (C + 1) a card.
        ids = (slots * (self.cards + 1)).round().long() - 1
        return torch.where(ids < 0, self.cards, ids)

    def forward(self, obs: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        held = obs.new_zeros(len(obs), self.cards + 1)
        held.scatter_(1, ids, 1.0)
        start, (slots, width) = self.hand.start, self.hand.shape
        sums = obs[:, start:].view(-1, slots, width)[:, :, 1:].sum(dim=1)
        return torch.cat([obs[:, :start], held[:, : self.cards], sums], dim=1)


class TowerFeatures(nn.Module):
    """What an observation says of each tower: (B, F) -> (B, T, f), `networks.tower_features`."""

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        fields = Layout(tables).fields
        self.filled, self.librarian = fields["filled"].slice, fields["librarian"].slice
        self.slot = fields["next_slot"].slice
        stop = fields["pending_tower"].slice.stop
        self.pending = slice(stop - tables.towers, stop)  # the first column means none
        self.shape = fields["filled"].shape
        self.size = networks.tower_features_size(tables)
        requires = torch.from_numpy(tables.requires.astype(np.float32))
        self.register_buffer("requires", requires, persistent=False)
        around = torch.from_numpy(networks.towers_around(tables))
        self.register_buffer("around", around, persistent=False)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        towers, types = self.shape
        lacking = (1 - obs[:, self.filled].view(-1, towers, types)) * self.requires
        around = (obs[:, self.librarian] @ self.around).view(len(obs), towers, -1)
        return torch.cat(
            [
                lacking / networks.LACKING_SCALE,
                (lacking > 0.5).float(),
                (lacking > 1.5).float(),
                lacking.sum(dim=2, keepdim=True) / networks.MISSING_SCALE,
                (lacking.sum(dim=2, keepdim=True) < 0.5).float(),
                obs[:, self.slot, None],
                obs[:, self.pending, None],
                around,
            ],
            dim=2,
        )


class CardHead(nn.Module):
    """Logits of all actions; those that use a card are products of queries and card keys."""

    def __init__(self, inputs: int, tables: Tables, dim: int, tower_dim: int) -> None:
        super().__init__()
        self.towers, self.cards = tables.towers, tables.cards
        self.plain = 1 + tables.spaces + 4  # stay, walks, keep, sell, accept, wait; end is last
        features = networks.card_features(tables)
        self.register_buffer("features", torch.from_numpy(features), persistent=False)
        self.query = nn.Linear(inputs, (self.towers + 2) * dim)
        self.key = nn.Linear(features.shape[1], dim)
        self.other = nn.Linear(inputs, self.plain + 1)
        self.look: TowerFeatures | None = None
        if tower_dim:
            self.look = TowerFeatures(tables)
            self.tower = nn.Linear(self.look.size, tower_dim)
            self.context = nn.Linear(inputs, tower_dim)
            self.tower_query = nn.Linear(tower_dim, dim)
            self.tower_walk = nn.Linear(tower_dim, 1)
            board = torch.from_numpy(tables.board.astype(np.int64))
            self.register_buffer("board", board, persistent=False)

    def forward(self, latent: torch.Tensor, ids: torch.Tensor, obs: torch.Tensor) -> torch.Tensor:
        keys = self.key(self.features)
        queries = self.query(latent).view(len(latent), self.towers + 2, -1)
        other = self.other(latent)
        if self.look is not None:
            # Every tower by the same network, in the light of the whole position.
            towers = torch.relu(self.tower(self.look(obs)) + self.context(latent)[:, None, :])
            shared = functional.pad(self.tower_query(towers), (0, 0, 0, 2))
            queries = queries + shared
            walks = self.tower_walk(towers)[:, :, 0].index_select(1, self.board)
            other = other + functional.pad(walks, (1, 5))
        scores = queries @ keys.T  # (B, T + 2, C + 1): every card, in hand or not
        chosen = scores.gather(2, ids[:, None, :].expand(-1, self.towers + 2, -1))
        hire = chosen[:, : self.towers].transpose(1, 2).flatten(1)  # slot-major
        use = chosen[:, self.towers :].flatten(1)  # lift slots, then pay slots
        return torch.cat([other[:, : self.plain], hire, use, other[:, self.plain :]], dim=1)

    def init_weights(self, init: Callable[[nn.Module, float], None]) -> None:
        """As sb3 does: small logits at first; keys of size one, so that queries can grow."""
        for layer in (self.query, self.other):
            init(layer, 0.01)
        init(self.key, 1.0)
        if self.look is not None:
            for layer, gain in (
                (self.tower, 2**0.5),
                (self.context, 1.0),
                (self.tower_query, 0.01),
                (self.tower_walk, 0.01),
            ):
                init(layer, gain)


class LeanPolicy(MaskableActorCriticPolicy):
    """Actor-critic with masks; see the module.

    Args:
        observation_space, action_space, lr_schedule: as for sb3-contrib's policy.
        network: layers and kind.
        tables: the edition's, needed by networks that know cards.
        bf16: run the networks under bfloat16 autocast.
    """

    def __init__(
        self,
        observation_space: spaces.Space,
        action_space: spaces.Space,
        lr_schedule: Callable[[float], float],
        network: Network | None = None,
        tables: Tables | None = None,
        bf16: bool = False,
        **kwargs: Any,
    ) -> None:
        network = network or Network()
        self.network_spec = network
        self._tables = tables
        self.bf16 = bf16
        super().__init__(
            observation_space,
            action_space,
            lr_schedule,
            net_arch={
                "pi": list(network.layers),
                "vf": list(network.value_layers or network.layers),
            },
            activation_fn=ACTIVATIONS[network.activation],
            optimizer_kwargs={"eps": 1e-5, "fused": True},
            **kwargs,
        )

    def _build(self, lr_schedule: Callable[[float], float]) -> None:
        self._hand: HandSet | None = None
        if self.network_spec.kind == "mlp":
            super()._build(lr_schedule)
            return
        assert self._tables is not None, "networks that know cards need the edition's tables"
        self._hand = HandSet(self._tables)
        self.features_dim = self._hand.size
        super()._build(lr_schedule)
        spec = self.network_spec
        self.action_net = CardHead(
            self.mlp_extractor.latent_dim_pi,
            self._tables,
            spec.card_dim,
            spec.tower_dim if spec.kind == "towers" else 0,
        )
        self.action_net.init_weights(self.init_weights)
        self.optimizer = torch.optim.Adam(
            self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs
        )

    def _act(self, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits and what the value network takes for input."""
        if self._hand is None:
            return self.action_net(self.mlp_extractor.policy_net(obs)), obs
        ids = self._hand.ids(obs)
        inputs = self._hand(obs, ids)
        return self.action_net(self.mlp_extractor.policy_net(inputs), ids, obs), inputs

    def logits_and_values(self, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Unmasked logits float32 (B, A) and values float32 (B, 1) of observations (B, F)."""
        with torch.autocast(obs.device.type, torch.bfloat16, enabled=self.bf16):
            logits, inputs = self._act(obs)
            values = self.value_net(self.mlp_extractor.value_net(inputs))
        return logits.float(), values.float()

    def logits(self, obs: torch.Tensor) -> torch.Tensor:
        """Unmasked logits float32 (B, A)."""
        with torch.autocast(obs.device.type, torch.bfloat16, enabled=self.bf16):
            return self._act(obs)[0].float()

    # sb3's interface -----------------------------------------------------------------------------

    def forward(
        self,
        obs: torch.Tensor,
        deterministic: bool = False,
        action_masks: np.ndarray | torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        logits, values = self.logits_and_values(obs)
        log_probs = masked_log_softmax(logits, self._masks(action_masks, logits))
        actions = log_probs.argmax(dim=1) if deterministic else sample(log_probs)
        return actions, values, log_probs.gather(1, actions[:, None]).squeeze(1)

    def evaluate_actions(
        self,
        obs: torch.Tensor,
        actions: torch.Tensor,
        action_masks: torch.Tensor | np.ndarray | None = None,
        advice: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        logits, values = self.logits_and_values(obs)
        logits = advised(logits, advice, self.network_spec.advice)
        log_probs = masked_log_softmax(logits, self._masks(action_masks, logits))
        # Where an action is illegal p is exactly 0 and log p finite: it adds nothing. Softmax
        # rather than exp, which is slow where it underflows.
        entropy = -(torch.softmax(log_probs, dim=1) * log_probs).sum(dim=1)
        return values, log_probs.gather(1, actions[:, None]).squeeze(1), entropy

    def predict_values(self, obs: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        with torch.autocast(obs.device.type, torch.bfloat16, enabled=self.bf16):
            inputs = obs if self._hand is None else self._hand(obs, self._hand.ids(obs))
            return self.value_net(self.mlp_extractor.value_net(inputs)).float()

    def _predict(  # type: ignore[override]
        self,
        observation: torch.Tensor,
        deterministic: bool = False,
        action_masks: np.ndarray | None = None,
    ) -> torch.Tensor:
        logits = self.logits(observation)
        log_probs = masked_log_softmax(logits, self._masks(action_masks, logits))
        return log_probs.argmax(dim=1) if deterministic else sample(log_probs)

    def get_distribution(self, obs: Any, action_masks: np.ndarray | None = None) -> Any:
        distribution = self.action_dist.proba_distribution(action_logits=self.logits(obs))
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution

    @staticmethod
    def _masks(
        masks: np.ndarray | torch.Tensor | None, logits: torch.Tensor
    ) -> torch.Tensor | None:
        if masks is None:
            return None
        tensor = torch.as_tensor(masks, dtype=torch.bool, device=logits.device)
        return tensor.reshape(logits.shape)
