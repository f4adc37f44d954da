"""Policy and value networks of the lean MaskablePPO.

`LeanPolicy` computes what sb3-contrib's `MaskableActorCriticPolicy` computes, from the same
parameters, with less around it: no distribution objects, no validation, masks as bool tensors,
optionally bfloat16 inside the networks. Log-probabilities and losses are always float32.

Four kinds of network (`config.Network.kind`):

- `mlp`: separate tanh or relu networks for policy and value; parameters are named as in sb3.
- `cards`: hand cards enter the network as a set, and actions that use a card are scored by the
  product of a query computed from the position and a key computed from the card's features, so
  that what is learned about a card holds in every hand slot.
- `towers`: as `cards`, and queries for towers come from what each tower needs, by one network for
  all towers.
- `tiles`: as `mlp`, and every design of a tile is scored by one network for all designs.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn

from incunabula.agents.tile_head import TileFeatures
from incunabula.envs.engine import Engine
from incunabula.training.ppo.config import Network
from incunabula.training.ppo.modules import CardHead, Encoder
from incunabula.training.ppo.tile_modules import TileEncoder, TileHead

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


class LeanPolicy(MaskableActorCriticPolicy):
    """Actor-critic with masks; see the module.

    Args:
        observation_space, action_space, lr_schedule: as for sb3-contrib's policy.
        network: layers and kind.
        engine: the game's, needed by networks that know cards or tiles.
        bf16: run the networks under bfloat16 autocast.
    """

    def __init__(
        self,
        observation_space: spaces.Space,
        action_space: spaces.Space,
        lr_schedule: Callable[[float], float],
        network: Network | None = None,
        engine: Engine | None = None,
        bf16: bool = False,
        **kwargs: Any,
    ) -> None:
        network = network or Network()
        self.network_spec = network
        self._engine = engine
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
        spec = self.network_spec
        self.encoder: Encoder | TileEncoder | None = None
        if spec.kind == "mlp":
            super()._build(lr_schedule)
            return
        engine = self._engine
        assert engine is not None, "networks that know cards or tiles need the engine"
        if spec.kind == "tiles":
            self.encoder = TileEncoder(TileFeatures(engine.tables))
        else:
            self.encoder = Encoder(engine.tables, spec.kind == "towers")
        self.features_dim = self.encoder.inputs.stop
        super()._build(lr_schedule)
        latent = self.mlp_extractor.latent_dim_pi
        if isinstance(self.encoder, TileEncoder):
            self.action_net = TileHead(latent, engine.actions.n, self.encoder, spec.tile_dim)
        else:
            self.action_net = CardHead(
                latent,
                engine.tables,
                self.encoder,
                spec.card_dim,
                spec.tower_dim if spec.kind == "towers" else 0,
            )
        self.action_net.init_weights(self.init_weights)
        self.optimizer = torch.optim.Adam(
            self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs
        )

    @property
    def encoded_size(self) -> int:
        """Numbers in an encoded observation."""
        if self.encoder is not None:
            return self.encoder.size
        return int(np.prod(self.observation_space.shape or ()))

    def encode(self, obs: torch.Tensor) -> torch.Tensor:
        """What the networks take for input, float32 (B, E), from observations (B, F).

        It holds no parameters: a rollout encodes each observation once, for all passes over it.
        """
        return obs if self.encoder is None else self.encoder(obs)

    def logits_and_values(self, encoded: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Unmasked logits float32 (B, A) and values float32 (B, 1) of what `encode` gives."""
        with torch.autocast(encoded.device.type, torch.bfloat16, enabled=self.bf16):
            return self._logits(encoded).float(), self._values(encoded).float()

    def logits(self, obs: torch.Tensor) -> torch.Tensor:
        """Unmasked logits float32 (B, A) of observations (B, F)."""
        with torch.autocast(obs.device.type, torch.bfloat16, enabled=self.bf16):
            return self._logits(self.encode(obs)).float()

    def _logits(self, encoded: torch.Tensor) -> torch.Tensor:
        if self.encoder is None:
            return self.action_net(self.mlp_extractor.policy_net(encoded))
        latent = self.mlp_extractor.policy_net(encoded[:, self.encoder.inputs])
        return self.action_net(latent, encoded)

    def _values(self, encoded: torch.Tensor) -> torch.Tensor:
        inputs = encoded if self.encoder is None else encoded[:, self.encoder.inputs]
        return self.value_net(self.mlp_extractor.value_net(inputs))

    def evaluate(
        self,
        encoded: torch.Tensor,
        actions: torch.Tensor,
        masks: torch.Tensor | None,
        advice: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Values (B, 1), log-probabilities of the actions (B,) and entropies (B,)."""
        logits, values = self.logits_and_values(encoded)
        log_probs = masked_log_softmax(advised(logits, advice, self.network_spec.advice), masks)
        # Where an action is illegal p is exactly 0 and log p finite: it adds nothing. Softmax
        # rather than exp, which is slow where it underflows.
        entropy = -(torch.softmax(log_probs, dim=1) * log_probs).sum(dim=1)
        return values, log_probs.gather(1, actions[:, None]).squeeze(1), entropy

    # sb3's interface -----------------------------------------------------------------------------

    def forward(
        self,
        obs: torch.Tensor,
        deterministic: bool = False,
        action_masks: np.ndarray | torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        logits, values = self.logits_and_values(self.encode(obs))
        log_probs = masked_log_softmax(logits, self._masks(action_masks, len(logits)))
        actions = log_probs.argmax(dim=1) if deterministic else sample(log_probs)
        return actions, values, log_probs.gather(1, actions[:, None]).squeeze(1)

    def evaluate_actions(
        self,
        obs: torch.Tensor,
        actions: torch.Tensor,
        action_masks: torch.Tensor | np.ndarray | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        masks = self._masks(action_masks, len(obs))
        return self.evaluate(self.encode(obs), actions, masks)

    def predict_values(self, obs: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        with torch.autocast(obs.device.type, torch.bfloat16, enabled=self.bf16):
            return self._values(self.encode(obs)).float()

    def _predict(  # type: ignore[override]
        self,
        observation: torch.Tensor,
        deterministic: bool = False,
        action_masks: np.ndarray | None = None,
    ) -> torch.Tensor:
        logits = self.logits(observation)
        log_probs = masked_log_softmax(logits, self._masks(action_masks, len(logits)))
        return log_probs.argmax(dim=1) if deterministic else sample(log_probs)

    def get_distribution(self, obs: Any, action_masks: np.ndarray | None = None) -> Any:
        distribution = self.action_dist.proba_distribution(action_logits=self.logits(obs))
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution

    def _masks(self, masks: np.ndarray | torch.Tensor | None, rows: int) -> torch.Tensor | None:
        if masks is None:
            return None
        return torch.as_tensor(masks, dtype=torch.bool, device=self.device).reshape(rows, -1)
