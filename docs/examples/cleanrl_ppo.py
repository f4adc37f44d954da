"""Masked PPO in one file, in the manner of CleanRL: something to copy and to change.

    python docs/examples/cleanrl_ppo.py --env-id incunabula:incunabula/Bibliogamo-v0
    python docs/examples/cleanrl_ppo.py --env-id incunabula:incunabula/Scriptorium-v0 --gamma 1

The algorithm is that of CleanRL's ppo.py (Huang and others, 2022, JMLR 23(274);
https://github.com/vwxyzjn/cleanrl), with invalid action masking (Huang and Ontañón, 2022,
arXiv:2006.14171): illegal actions get a logit that makes their probability 0, when actions are
drawn and when they are learned from. Masks come from `infos["action_mask"]`, games from a native
vector environment. The trainer behind `incunabula train` is faster and does more.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, fields

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


@dataclass
class Args:
    """The settings, each of them an option of the command line."""

    env_id: str = "incunabula:incunabula/Bibliogamo-v0"
    seed: int = 1
    total_timesteps: int = 200_000
    learning_rate: float = 3e-4
    num_envs: int = 64
    num_steps: int = 128
    gamma: float = 0.999
    gae_lambda: float = 0.95
    num_minibatches: int = 8
    update_epochs: int = 3
    clip_coef: float = 0.2
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    reward_scale: float = 0.1


def layer_init(layer: nn.Linear, std: float = 2**0.5) -> nn.Linear:
    nn.init.orthogonal_(layer.weight, std)
    nn.init.zeros_(layer.bias)
    return layer


class ActorCritic(nn.Module):
    """Two networks: logits of all actions, and the value."""

    def __init__(self, observations: int, actions: int) -> None:
        super().__init__()

        def network(outputs: int, std: float) -> nn.Sequential:
            return nn.Sequential(
                layer_init(nn.Linear(observations, 128)),
                nn.Tanh(),
                layer_init(nn.Linear(128, 128)),
                nn.Tanh(),
                layer_init(nn.Linear(128, outputs), std),
            )

        self.actor, self.critic = network(actions, 0.01), network(1, 1.0)

    def value(self, observation: torch.Tensor) -> torch.Tensor:
        return self.critic(observation)[:, 0]

    def distribution(self, observation: torch.Tensor, mask: torch.Tensor) -> Categorical:
        return Categorical(logits=self.actor(observation).masked_fill(~mask, -1e8))


def train(args: Args) -> list[dict[str, float]]:
    """Train, and return what each iteration came to: steps, losses, mean return of ended games."""
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    # A game that ends is dealt anew in the same step: the observation and mask that a step returns
    # are always those to act on next. With illegal_action="raise" a wrong mask couldn't go unseen.
    envs = gym.make_vec(
        args.env_id,
        num_envs=args.num_envs,
        autoreset_mode=gym.vector.AutoresetMode.SAME_STEP,
        illegal_action="raise",
    )
    observations = envs.single_observation_space.shape[0]
    actions = int(envs.single_action_space.n)
    agent = ActorCritic(observations, actions)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

    shape = (args.num_steps, args.num_envs)
    obs = torch.zeros(*shape, observations)
    masks = torch.zeros(*shape, actions, dtype=torch.bool)
    chosen = torch.zeros(shape, dtype=torch.long)
    logprobs, rewards, dones, values = (torch.zeros(shape) for _ in range(4))

    start, global_step, history = time.time(), 0, []
    returns = np.zeros(args.num_envs)
    next_obs, infos = envs.reset(seed=args.seed)
    batch_size = args.num_envs * args.num_steps
    for _ in range(args.total_timesteps // batch_size):
        ended: list[float] = []
        for step in range(args.num_steps):
            obs[step] = torch.as_tensor(next_obs)
            masks[step] = torch.as_tensor(infos["action_mask"], dtype=torch.bool)
            with torch.no_grad():
                policy = agent.distribution(obs[step], masks[step])
                chosen[step] = policy.sample()
                logprobs[step] = policy.log_prob(chosen[step])
                values[step] = agent.value(obs[step])
            next_obs, reward, terminated, truncated, infos = envs.step(chosen[step].numpy())
            done = terminated | truncated  # these games are never truncated
            rewards[step] = torch.as_tensor(reward * args.reward_scale, dtype=torch.float32)
            dones[step] = torch.as_tensor(done, dtype=torch.float32)
            returns += reward
            ended += returns[done].tolist()
            returns[done] = 0
            global_step += args.num_envs

        with torch.no_grad():
            following = agent.value(torch.as_tensor(next_obs))
            advantages, gae = torch.zeros(shape), torch.zeros(args.num_envs)
            for t in reversed(range(args.num_steps)):
                alive = 1 - dones[t]
                delta = rewards[t] + args.gamma * following * alive - values[t]
                gae = delta + args.gamma * args.gae_lambda * alive * gae
                advantages[t], following = gae, values[t]
            targets = advantages + values

        flat = [x.flatten(0, 1) for x in (obs, masks, chosen, logprobs, advantages, targets)]
        for _ in range(args.update_epochs):
            for part in np.array_split(rng.permutation(batch_size), args.num_minibatches):
                b_obs, b_masks, b_chosen, b_logprobs, b_advantages, b_targets = (
                    x[torch.from_numpy(part)] for x in flat
                )
                policy = agent.distribution(b_obs, b_masks)
                ratio = (policy.log_prob(b_chosen) - b_logprobs).exp()
                weight = (b_advantages - b_advantages.mean()) / (b_advantages.std() + 1e-8)
                clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
                pg_loss = -torch.min(weight * ratio, weight * clipped).mean()
                v_loss = 0.5 * (agent.value(b_obs) - b_targets).square().mean()
                entropy = policy.entropy().mean()
                loss = pg_loss - args.ent_coef * entropy + args.vf_coef * v_loss
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()

        figures = {
            "steps": float(global_step),
            "games": float(len(ended)),
            "mean_return": float(np.mean(ended)) if ended else float("nan"),
            "policy_loss": pg_loss.item(),
            "value_loss": v_loss.item(),
            "entropy": entropy.item(),
            "steps_per_second": global_step / (time.time() - start),
        }
        history.append(figures)
        print("  ".join(f"{name} {value:.4g}" for name, value in figures.items()), flush=True)
    envs.close()
    return history


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Masked PPO in one file.")
    for field in fields(Args):
        kind = type(field.default)
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=kind, default=field.default)
    train(Args(**vars(parser.parse_args())))
