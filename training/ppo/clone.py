"""Imitation before reinforcement: the policy learns to choose as a teacher does.

Games are played by teacher and learner together, the learner's share growing from none to all, so
that it learns what the teacher would do in the positions it reaches itself (Ross, Gordon and
Bagnell, "A reduction of imitation learning and structured prediction to no-regret online
learning", AISTATS 2011). The value network learns the shaped, scaled, discounted returns of those
games, so that PPO starts with a critic that knows its actor.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from incunabula.agents.agent import Agent
from incunabula.training.ppo.config import TrainConfig
from incunabula.training.ppo.lean import LeanMaskablePPO, Rollout
from incunabula.training.ppo.learner import Learner, make_environment, run_seeds
from incunabula.training.ppo.network import advised, masked_log_softmax, sample
from incunabula.training.ppo.seats import SelfPlayVecEnv
from incunabula.training.ppo.selfplay import SelfPlayPPO, SelfPlayRollout
from incunabula.training.ppo.vecenv import TrainingVecEnv

STEPS = 64
"""Steps of each game between two updates."""


def clone_teacher(
    learner: Learner,
    teacher: Agent,
    on_progress: Callable[[int, dict[str, float]], bool] | None = None,
) -> dict[str, float]:
    """Train the learner's networks to imitate `teacher`; returns figures of the last update.

    Args:
        on_progress: called after each update with the decisions since the last call, and figures:
            `agreement` (share of the teacher's choices that the policy finds likeliest),
            `cross_entropy`, `value_loss`. It returns whether to go on.
    """
    config, model = learner.config, learner.model
    clone = config.clone
    assert clone is not None
    assert isinstance(model, LeanMaskablePPO)
    games = config.model_copy(update={"num_envs": clone.num_envs})
    environment = make_environment(games, run_seeds(config.seed)["clone"])
    environment.reset()
    rollout = model.make_rollout(STEPS, clone.num_envs)
    optimizer = torch.optim.Adam(model.policy.parameters(), eps=1e-5, fused=True)
    chunk = STEPS * clone.num_envs
    chunks = max(1, round(clone.decisions / chunk))
    starts = np.ones(clone.num_envs, np.bool_)
    figures: dict[str, float] = {}
    for i in range(chunks):
        share = 1 - i / max(1, chunks - 1)
        if isinstance(environment, SelfPlayVecEnv):
            assert isinstance(model, SelfPlayPPO)
            assert isinstance(rollout, SelfPlayRollout)
            model.imitate(rollout, environment, teacher, share)
        else:
            starts = _play(model, environment, teacher, rollout, starts, share)
        figures = _learn(model, optimizer, rollout, config, i / chunks, 1 / chunks)
        if on_progress is not None and not on_progress(chunk, figures):
            break
    return figures


def _play(
    model: LeanMaskablePPO,
    environment: TrainingVecEnv,
    teacher: Agent,
    rollout: Rollout,
    starts: np.ndarray,
    share: float,
) -> np.ndarray:
    """Fill the rollout; `share` of the actions played are the teacher's, all recorded are."""
    engine, policy = environment.engine, model.policy
    rows = np.arange(environment.num_envs)
    dones = starts
    with torch.inference_mode():
        for t in range(STEPS):
            obs = torch.from_numpy(engine.observe()).to(model.device)
            rollout.obs[t].copy_(policy.encode(obs))
            rollout.masks[t].copy_(torch.from_numpy(environment.masks))
            rollout.starts[t].copy_(torch.from_numpy(dones))
            wanted = torch.from_numpy(environment.ask(teacher))
            rollout.actions[t].copy_(wanted)
            logits, values = policy.logits_and_values(rollout.obs[t])
            if model.advisor is not None:
                logits = advised(logits, wanted, policy.network_spec.advice)
            rollout.values[t].copy_(values[:, 0])
            own = sample(masked_log_softmax(logits, rollout.masks[t])).cpu()
            played = torch.where(torch.rand(len(rows)) < share, wanted, own)
            rewards, dones = environment.step_arrays(played.numpy())
            rollout.rewards[t].copy_(torch.from_numpy(rewards))
        last = policy.predict_values(torch.from_numpy(engine.observe()).to(model.device))[:, 0]
        ended = torch.from_numpy(dones).to(model.device, torch.float32)
        rollout.compute_returns(last, ended, model.gamma, model.gae_lambda)
    return dones


def _learn(
    model: LeanMaskablePPO,
    optimizer: torch.optim.Optimizer,
    rollout: Rollout,
    config: TrainConfig,
    done: float,
    share: float,
) -> dict[str, float]:
    """Several passes over the rollout; the learning rate falls to 0 over the whole phase."""
    clone = config.clone
    assert clone is not None
    data, records = rollout.flat(), rollout.records()
    size = len(records)
    names = ("cross_entropy", "value_loss", "agreement")
    totals = torch.zeros(len(names), device=model.device)
    batches = clone.epochs * -(-size // clone.batch_size)
    for epoch in range(clone.epochs):
        order = records[torch.randperm(size, device=model.device)]
        for at in range(0, size, clone.batch_size):
            progress = done + share * (epoch + at / size) / clone.epochs
            for group in optimizer.param_groups:
                group["lr"] = clone.learning_rate * (1 - progress)
            chosen = order[at : at + clone.batch_size]
            batch: dict[str, Any] = {k: v.index_select(0, chosen) for k, v in data.items()}
            logits, values = model.policy.logits_and_values(batch["obs"])
            log_probs = masked_log_softmax(logits, batch["masks"])
            cross_entropy = functional.nll_loss(log_probs, batch["actions"])
            value_loss = functional.mse_loss(values.flatten(), batch["returns"])
            optimizer.zero_grad()
            # A policy that hears its teacher knows the choices: only values are to be learned.
            imitation = 0.0 if model.advisor is not None else cross_entropy
            (imitation + config.vf_coef * value_loss).backward()
            torch.nn.utils.clip_grad_norm_(model.policy.parameters(), config.max_grad_norm)
            optimizer.step()
            with torch.no_grad():
                agreement = (log_probs.argmax(dim=1) == batch["actions"]).float().mean()
                totals += torch.stack([cross_entropy.detach(), value_loss.detach(), agreement])
    return dict(zip(names, (totals / batches).tolist(), strict=True))
