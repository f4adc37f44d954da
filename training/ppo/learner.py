"""The learner of a run: PPO, its environment, and their state as plain arrays.

Everything that decides how training goes on is in `LearnerState`'s arrays, so that a resumed run is
the uninterrupted one, bit for bit.
"""

from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm

from incunabula.agents.baselines import make_greedy
from incunabula.agents.networks import DIMS
from incunabula.agents.policy_folder import Weights
from incunabula.agents.registry import make_agent
from incunabula.agents.tensors import Arrays
from incunabula.envs.chance import key
from incunabula.envs.errors import IncunabulaError
from incunabula.training.ppo.config import BibliogamoConfig, ScriptoriumConfig, TrainConfig
from incunabula.training.ppo.lean import LeanMaskablePPO
from incunabula.training.ppo.network import ACTIVATIONS, LeanPolicy
from incunabula.training.ppo.rundir import Checkpoint
from incunabula.training.ppo.seats import SelfPlayVecEnv
from incunabula.training.ppo.selfplay import SelfPlayPPO
from incunabula.training.ppo.vecenv import TrainingVecEnv

# Streams of key(seed, stream, 0) from which a run's seeds come.
TRAINING_STREAM = 1 << 35
SEED_NAMES = ("environment", "torch", "clone")


def run_seeds(seed: int) -> dict[str, int]:
    """Where every random number of a run comes from: the seeds of its parts."""
    seeds = {name: int(key(seed, TRAINING_STREAM + i, 0)) for i, name in enumerate(SEED_NAMES)}
    seeds["torch"] >>= 32  # sb3 seeds NumPy's generator too, which takes 32 bits
    return {"seed": seed} | seeds


Environment = TrainingVecEnv | SelfPlayVecEnv


def make_environment(config: TrainConfig, seed: int) -> Environment:
    """The training games."""
    if isinstance(config, ScriptoriumConfig):
        return SelfPlayVecEnv(
            config.num_envs,
            config.edition,
            players=config.players,
            seed=seed,
            reward=config.reward,
            reward_scale=config.reward_scale,
            opponents=config.opponents,
            backend=config.backend,
        )
    assert isinstance(config, BibliogamoConfig)
    return TrainingVecEnv(
        config.num_envs,
        config.edition,
        seed=seed,
        gamma=config.gamma,
        reward_scale=config.reward_scale,
        shaping=config.shaping,
        skip_forced=config.skip_forced,
        illegal_reward=config.illegal_reward if config.algorithm == "ppo" else None,
        backend=config.backend,
    )


def make_model(
    config: TrainConfig, environment: Environment, seed: int, device: torch.device, bf16: bool
) -> OnPolicyAlgorithm:
    """The algorithm that the configuration asks for, with fresh networks."""
    network = config.network
    options: dict[str, Any] = {
        "env": environment,
        "learning_rate": config.learning_rate.at,
        "n_steps": config.n_steps,
        "batch_size": config.batch_size,
        "n_epochs": config.n_epochs,
        "gamma": config.gamma,
        "gae_lambda": config.gae_lambda,
        "clip_range": config.clip,
        "ent_coef": config.entropy.start,
        "vf_coef": config.vf_coef,
        "max_grad_norm": config.max_grad_norm,
        "seed": seed,
        "device": device,
    }
    if isinstance(config, BibliogamoConfig) and config.algorithm == "ppo":
        values = list(network.value_layers or network.layers)
        options["policy_kwargs"] = {
            "net_arch": {"pi": list(network.layers), "vf": values},
            "activation_fn": ACTIVATIONS[network.activation],
        }
        return PPO("MlpPolicy", **options)
    options["policy_kwargs"] = {"network": network, "bf16": bf16}
    model: LeanMaskablePPO
    if isinstance(config, ScriptoriumConfig):
        assert isinstance(environment, SelfPlayVecEnv)
        greedy = make_greedy(config.game)
        options["policy_kwargs"]["engine"] = environment.groups[0].engine
        model = SelfPlayPPO(LeanPolicy, greedy=greedy, pool=config.past.size, **options)
        model.skip_forced = config.skip_forced
    else:
        assert isinstance(environment, TrainingVecEnv)
        options["policy_kwargs"]["engine"] = environment.engine
        model = LeanMaskablePPO(LeanPolicy, **options)
    if network.advisor is not None:
        model.advisor = make_agent(network.advisor, environment.edition)
    return model


class Learner:
    """PPO as the configuration asks for it; `step` is one rollout and one update."""

    def __init__(self, config: TrainConfig, device: torch.device, bf16: bool) -> None:
        self.config = config
        self.device = device
        seeds = run_seeds(config.seed)
        self.environment = make_environment(config, seeds["environment"])
        self.model = make_model(config, self.environment, seeds["torch"], device, bf16)
        self.model.set_logger(Logger(None, []))
        _, self._callback = self.model._setup_learn(config.total_steps, _Quiet())

    @property
    def backend(self) -> str:
        """What works out the rules of the training games."""
        environment = self.environment
        if isinstance(environment, SelfPlayVecEnv):
            return environment.groups[0].engine.backend.name
        return environment.engine.backend.name

    @property
    def steps(self) -> int:
        """Environment steps so far (a skipped forced decision is none)."""
        return self.model.num_timesteps

    def step(self) -> dict[str, float]:
        """A rollout and an update. Returns figures for the log."""
        model, config = self.model, self.config
        remaining = max(0.0, 1.0 - model.num_timesteps / config.total_steps)
        model.ent_coef = config.entropy.at(remaining)
        model._current_progress_remaining = remaining
        model.collect_rollouts(
            self.environment, self._callback, model.rollout_buffer, config.n_steps
        )
        model.train()
        if isinstance(model, SelfPlayPPO):
            assert isinstance(config, ScriptoriumConfig)
            due = model.num_timesteps // config.past.every
            if due > (model.num_timesteps - config.rollout) // config.past.every:
                model.take_snapshot()
        figures = {
            name: float(value)
            for name, value in model.logger.name_to_value.items()
            if isinstance(value, (int, float, np.number))
        }
        model.logger.name_to_value.clear()
        figures |= {f"rollout/{k}": v for k, v in self.environment.statistics().items()}
        figures["train/entropy_coefficient"] = model.ent_coef
        return figures

    # The policy as it is saved --------------------------------------------------------------------

    def network(self) -> dict[str, Any]:
        """The network's description for a policy folder."""
        network = self.config.network
        found: dict[str, Any] = {
            "kind": network.kind,
            "layers": list(network.layers),
            "value_layers": list(network.value_layers or network.layers),
            "activation": network.activation,
            "advisor": network.advisor,
            "advice": network.advice,
        }
        return found | {name: getattr(network, name) for name in DIMS[network.kind]}

    def weights(self) -> Weights:
        """The network's arrays under the names of a policy folder; copies."""
        found: Weights = {}
        for name, parameter in self.model.policy.state_dict().items():
            kept = _public_name(name, self.config)
            if kept is not None:
                found[kept] = parameter.detach().cpu().numpy().copy()
        return found

    # Checkpoints ----------------------------------------------------------------------------------

    def get_state(self) -> Checkpoint:
        """Everything that decides how training goes on; copies."""
        model = self.model
        arrays: Arrays = {
            f"policy.{name}": value.detach().cpu().numpy().copy()
            for name, value in model.policy.state_dict().items()
        }
        names = [name for name, _ in model.policy.named_parameters()]
        for i, moments in model.policy.optimizer.state_dict()["state"].items():
            for kind, value in moments.items():
                arrays[f"optimizer.{names[i]}.{kind}"] = value.cpu().numpy().copy()
        if isinstance(model, SelfPlayPPO):
            arrays |= model.past_arrays()
        arrays["random.torch"] = torch.get_rng_state().numpy().copy()
        if self.device.type == "cuda":
            arrays["random.cuda"] = torch.cuda.get_rng_state(self.device).numpy().copy()
        # Stable-Baselines3's own buffer shuffles with NumPy's global generator.
        generator = np.random.get_state(legacy=False)  # noqa: NPY002
        assert isinstance(generator, dict)
        arrays["random.numpy"] = np.append(generator["state"]["key"], generator["state"]["pos"])
        environment = {k: v.copy() for k, v in self.environment.get_state().items()}
        starts = model._last_episode_starts
        assert starts is not None
        environment["learner.starts"] = starts.copy()
        progress = {"steps": model.num_timesteps, "updates": model._n_updates}
        return Checkpoint(arrays, environment, progress)

    def set_state(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint of the same configuration.

        Raises IncunabulaError naming what doesn't fit.
        """
        model, arrays = self.model, checkpoint.model
        try:
            state = model.policy.state_dict()
            for name, value in state.items():
                value.copy_(_tensor(arrays[f"policy.{name}"], value))
            optimizer = model.policy.optimizer
            saved = optimizer.state_dict()
            saved["state"] = {}
            for i, (name, parameter) in enumerate(model.policy.named_parameters()):
                prefix = f"optimizer.{name}."
                moments = {k.removeprefix(prefix): k for k in arrays if k.startswith(prefix)}
                if not moments:
                    continue  # nothing was learned yet
                saved["state"][i] = {
                    kind: torch.from_numpy(arrays[key_].copy()) for kind, key_ in moments.items()
                }
                for kind in ("exp_avg", "exp_avg_sq"):
                    _tensor(arrays[moments[kind]], parameter)
            optimizer.load_state_dict(saved)
            if isinstance(model, SelfPlayPPO):
                model.set_past(arrays)
            torch.set_rng_state(torch.from_numpy(arrays["random.torch"].copy()))
            if self.device.type == "cuda" and "random.cuda" in arrays:
                torch.cuda.set_rng_state(
                    torch.from_numpy(arrays["random.cuda"].copy()), self.device
                )
            numbers = arrays["random.numpy"]
            generator = np.random.get_state(legacy=False)  # noqa: NPY002
            assert isinstance(generator, dict)
            generator["state"] = {"key": numbers[:-1].astype(np.uint32), "pos": int(numbers[-1])}
            np.random.set_state(generator)  # noqa: NPY002
            environment = dict(checkpoint.environment)
            starts = environment.pop("learner.starts")
            self.environment.set_state(environment)
            model._last_episode_starts = starts
            model._last_obs = self.environment.observe()
            model.num_timesteps = int(checkpoint.progress["steps"])
            model._n_updates = int(checkpoint.progress["updates"])
        except (LookupError, ValueError, RuntimeError, TypeError, OverflowError) as error:
            raise IncunabulaError(
                f"checkpoint: doesn't fit the run's configuration ({type(error).__name__}: {error})"
            ) from None


class _Quiet(BaseCallback):
    """Asks nothing at each step."""

    def _on_step(self) -> bool:
        return True


def _tensor(array: np.ndarray, like: torch.Tensor) -> torch.Tensor:
    """The array as a tensor, which must have this shape."""
    if array.shape != tuple(like.shape):
        raise ValueError(f"shape {array.shape} instead of {tuple(like.shape)}")
    return torch.from_numpy(array.copy())


def _public_name(name: str, config: TrainConfig) -> str | None:
    """A torch parameter's name in a policy folder."""
    network = config.network
    hidden = {"policy": len(network.layers), "value": len(network.value_layers or network.layers)}
    path = name.split(".")
    if path[0] == "mlp_extractor" and path[1] in ("policy_net", "value_net"):
        return f"{path[1].removesuffix('_net')}.{int(path[2]) // 2}.{path[3]}"
    if path[0] in ("action_net", "value_net"):
        part = "policy" if path[0] == "action_net" else "value"
        # "last" is what a head of several parts calls its linear layer.
        own = (len(path) > 2 and path[1] != "last") or path[1] == "design"
        layer = path[1:] if own else [str(hidden[part]), path[-1]]
        return ".".join([part, *layer])
    return None
