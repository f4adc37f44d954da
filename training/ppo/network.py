"""Policy and value networks of the lean MaskablePPO.

`LeanPolicy` computes what sb3-contrib's `MaskableActorCriticPolicy` computes, from the same
parameters, with less around it: no distribution objects, no validation, masks as bool tensors,
optionally bfloat16 inside the networks. Log-probabilities and losses are always float32.

Two kinds of network (`config.Network.kind`):

- `mlp`: separate tanh or relu networks for policy and value; parameters are named as in sb3.
- `cards`: hand cards enter the network as a set, and actions that use a card are scored by the
  product of a query computed from the position and a key computed from the card's features, so
  that what is learned about a card holds in every hand slot.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn
from torch.nn import functional

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


def sample(log_probs: torch.Tensor) -> torch.Tensor:
    """One action for each row, int64 (B,), by the Gumbel-max trick from torch's generator."""
    noise = torch.empty_like(log_probs).exponential_()
    return (log_probs - noise.log_()).argmax(dim=1)


class LeanPolicy(MaskableActorCriticPolicy):
    """Actor-critic with masks; see the module.

    Args:
        observation_space, action_space, lr_schedule: as for sb3-contrib's policy.
        network: layers and kind.
        bf16: run the networks under bfloat16 autocast.
    """

    def __init__(
        self,
        observation_space: spaces.Space,
        action_space: spaces.Space,
        lr_schedule: Callable[[float], float],
        network: Network | None = None,
        bf16: bool = False,
        **kwargs: Any,
    ) -> None:
        network = network or Network()
        self.network_spec = network
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

    def logits_and_values(self, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Unmasked logits float32 (B, A) and values float32 (B, 1) of observations (B, F)."""
        with torch.autocast(obs.device.type, torch.bfloat16, enabled=self.bf16):
            logits = self.action_net(self.mlp_extractor.policy_net(obs))
            values = self.value_net(self.mlp_extractor.value_net(obs))
        return logits.float(), values.float()

    def logits(self, obs: torch.Tensor) -> torch.Tensor:
        """Unmasked logits float32 (B, A)."""
        with torch.autocast(obs.device.type, torch.bfloat16, enabled=self.bf16):
            return self.action_net(self.mlp_extractor.policy_net(obs)).float()

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
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        logits, values = self.logits_and_values(obs)
        log_probs = masked_log_softmax(logits, self._masks(action_masks, logits))
        # Where an action is illegal p is exactly 0 and log p finite: it adds nothing.
        entropy = -(log_probs.exp() * log_probs).sum(dim=1)
        return values, log_probs.gather(1, actions[:, None]).squeeze(1), entropy

    def predict_values(self, obs: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        with torch.autocast(obs.device.type, torch.bfloat16, enabled=self.bf16):
            return self.value_net(self.mlp_extractor.value_net(obs)).float()

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


__all__ = ["ACTIVATIONS", "LeanPolicy", "functional", "masked_log_softmax", "sample"]
