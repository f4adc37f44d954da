"""PPO by self-play: every seat that the learner holds is a trajectory of its own.

A seat decides at one moment and is paid at many, also while others act; what it is paid until its
next decision belongs to the last one. At the end of a rollout a seat's last decision waits for what
comes of it: it only says what the ones before were worth, and nothing is learned from it.
"""

import copy
from typing import Any

import numpy as np
import torch

from incunabula.agents.agent import Agent, RandomAgent
from incunabula.agents.tensors import Arrays
from incunabula.training.ppo.lean import LeanMaskablePPO, Rollout
from incunabula.training.ppo.network import LeanPolicy, advised, masked_log_softmax, sample
from incunabula.training.ppo.seats import GREEDY, PAST, RANDOM, SELF, SelfPlayVecEnv


class SelfPlayRollout(Rollout):
    """A rollout of T steps of N games of up to S seats.

    Attributes besides those of Rollout: rewards float32 (T, N, S), every seat's; movers int64
    (T, N), the seat that decided; decided bool (T, N), whether the learner did; dones bool (T, N),
    whether the game ended with this step; known bool (T, N), whether what came of it is known.
    """

    def __init__(
        self, steps: int, games: int, obs: int, actions: int, seats: int, device: Any
    ) -> None:
        super().__init__(steps, games, obs, actions, device)
        self.rewards = torch.zeros((steps, games, seats), device=device)
        self.movers = torch.zeros((steps, games), dtype=torch.int64, device=device)
        self.decided, self.dones, self.known = (
            torch.zeros((steps, games), dtype=torch.bool, device=device) for _ in range(3)
        )

    def look(self, t: int, policy: LeanPolicy, environment: SelfPlayVecEnv) -> np.ndarray:
        """Put down what is seen at step t; returns the masks."""
        masks = environment.masks
        obs = torch.from_numpy(environment.observe()).to(self.obs.device)
        self.obs[t].copy_(policy.encode(obs))
        self.masks[t].copy_(torch.from_numpy(masks))
        self.movers[t].copy_(torch.from_numpy(environment.movers))
        return masks

    def step(self, t: int, environment: SelfPlayVecEnv, actions: np.ndarray) -> None:
        """Play step t, and put down what came of it."""
        rewards, dones = environment.step_arrays(actions)
        self.rewards[t].copy_(torch.from_numpy(rewards))
        self.dones[t].copy_(torch.from_numpy(dones))

    def estimate(self, gamma: float, gae_lambda: float) -> None:
        """Generalised advantage estimation along each seat's decisions.

        Only decisions of the learner (`decided`) count as steps of a seat.
        """
        _, games, seats = self.rewards.shape
        device = self.rewards.device
        paid, following, carried = (torch.zeros((games, seats), device=device) for _ in range(3))
        known = torch.zeros((games, seats), dtype=torch.bool, device=device)
        self.known.zero_()
        for t in reversed(range(len(self.rewards))):
            over = self.dones[t]
            for array in (paid, following, carried):
                array[over] = 0
            known[over] = True
            paid += self.rewards[t]
            rows = self.decided[t].nonzero()[:, 0]
            seat = self.movers[t, rows]
            values, sure = self.values[t, rows], known[rows, seat]
            delta = paid[rows, seat] + gamma * following[rows, seat] - values
            advantages = delta + gamma * gae_lambda * carried[rows, seat]
            self.advantages[t, rows] = advantages
            self.known[t, rows] = sure
            following[rows, seat] = values
            carried[rows, seat] = advantages * sure
            paid[rows, seat] = 0
            known[rows, seat] = True
        torch.add(self.advantages, self.values, out=self.returns)

    def records(self) -> torch.Tensor:
        return (self.decided & self.known).flatten().nonzero()[:, 0]


class SelfPlayPPO(LeanMaskablePPO):
    """PPO over a `SelfPlayVecEnv`; see the module.

    Attributes:
        greedy: the baseline that may hold seats; it is the advisor too, if there is one.
        past: snapshots of the policy, by number.
        snapshots: how many were ever taken.
        skip_forced: play decisions with one legal action without asking anybody.
    """

    skip_forced = True

    def __init__(self, *arguments: Any, greedy: Agent, pool: int, seed: int, **options: Any):
        self.greedy, self.pool = greedy, pool
        self._random = RandomAgent(seed)
        self.past: list[LeanPolicy] = []
        self.snapshots = 0
        options["seed"] = seed
        super().__init__(*arguments, **options)

    @property
    def games(self) -> SelfPlayVecEnv:
        """The games that are learned from."""
        assert isinstance(self.env, SelfPlayVecEnv)
        return self.env

    def make_rollout(self, steps: int, games: int) -> SelfPlayRollout:
        actions = int(self.action_space.n)  # type: ignore[attr-defined]
        return SelfPlayRollout(
            steps, games, self.policy.encoded_size, actions, self.games.seats, self.device
        )

    def collect_rollouts(self, env, callback, rollout_buffer, n_rollout_steps, use_masking=True):
        """Play `n_steps` steps of every game with the present policy and its opponents."""
        rollout = self.rollout
        assert isinstance(rollout, SelfPlayRollout)
        self.policy.set_training_mode(False)
        with torch.inference_mode():
            for t in range(self.n_steps):
                masks = rollout.look(t, self.policy, self.games)
                rollout.step(t, self.games, self._choose(t, rollout, masks))
                self.num_timesteps += self.games.num_envs
            rollout.estimate(self.gamma, self.gae_lambda)
        return True

    def _choose(self, t: int, rollout: SelfPlayRollout, masks: np.ndarray) -> np.ndarray:
        """An action for every game from whoever holds the seat to act, intp (N,)."""
        env, holders = self.games, self.games.holders
        actions, asked = self._forced(masks)
        rollout.decided[t].copy_(torch.from_numpy(asked & (holders == SELF)))
        # One question to the baseline for all who hear it or are it.
        hearing = holders != RANDOM if self.advisor is not None else holders == GREEDY
        advice = np.zeros(len(masks), np.intp)
        rows = np.flatnonzero(asked & hearing)
        advice[rows] = env.ask(self.greedy, rows)
        for who in np.unique(holders[asked]):
            rows = np.flatnonzero(asked & (holders == who))
            if who == GREEDY:
                actions[rows] = advice[rows]
            elif who == RANDOM:
                actions[rows] = env.ask(self._random, rows)
            else:
                policy = self.policy if who == SELF else self.past[who - PAST]
                actions[rows] = self._sampled(t, rollout, policy, rows, advice[rows])
        return actions

    def _forced(self, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The first legal actions, intp (N,), and where somebody is to be asked, bool (N,)."""
        asked = np.ones(len(masks), np.bool_)
        if self.skip_forced:
            np.greater(np.count_nonzero(masks, axis=1), 1, out=asked)
        return masks.argmax(axis=1), asked

    def _sampled(
        self,
        t: int,
        rollout: SelfPlayRollout,
        policy: LeanPolicy,
        rows: np.ndarray,
        advice: np.ndarray,
    ) -> np.ndarray:
        """Actions of a policy in these rows; the latest policy's are put down to learn from."""
        at = torch.from_numpy(rows).to(self.device)
        heard = torch.from_numpy(advice).to(self.device)
        logits, values = policy.logits_and_values(rollout.obs[t, at])
        if self.advisor is not None:
            logits = advised(logits, heard, policy.network_spec.advice)
        log_probs = masked_log_softmax(logits, rollout.masks[t, at])
        actions = sample(log_probs)
        if policy is self.policy:
            rollout.actions[t, at] = actions
            rollout.advice[t, at] = heard
            rollout.values[t, at] = values[:, 0]
            rollout.log_probs[t, at] = log_probs.gather(1, actions[:, None])[:, 0]
        return actions.cpu().numpy()

    def imitate(
        self, rollout: SelfPlayRollout, environment: SelfPlayVecEnv, teacher: Agent, share: float
    ) -> None:
        """Fill the rollout with games in which the policy holds every seat and `share` of its
        actions are the teacher's; put down what the teacher would do."""
        self.policy.set_training_mode(False)
        with torch.inference_mode():
            for t in range(len(rollout.actions)):
                actions, asked = self._forced(rollout.look(t, self.policy, environment))
                rollout.decided[t].copy_(torch.from_numpy(asked))
                rows = np.flatnonzero(asked)
                wanted = environment.ask(teacher, rows)
                own = self._sampled(t, rollout, self.policy, rows, wanted)
                rollout.actions[t, torch.from_numpy(rows).to(self.device)] = torch.from_numpy(
                    wanted
                ).to(self.device)
                teaches = torch.rand(len(rows)).numpy() < share
                actions[rows] = np.where(teaches, wanted, own)
                rollout.step(t, environment, actions)
            rollout.estimate(self.gamma, self.gae_lambda)

    # Snapshots ------------------------------------------------------------------------------------

    def take_snapshot(self) -> None:
        """Keep the present policy as an opponent; when the pool is full the oldest gives way, also
        in games that are being played."""
        number = self.snapshots % self.pool
        if number == len(self.past):
            self.past.append(self._twin())
        else:
            self.past[number].load_state_dict(self.policy.state_dict())
        self.snapshots += 1
        self.games.filled = len(self.past)

    def _twin(self) -> LeanPolicy:
        """A copy of the policy that learns nothing."""
        optimizer = self.policy.optimizer
        del self.policy.optimizer
        try:
            twin = copy.deepcopy(self.policy)
        finally:
            self.policy.optimizer = optimizer
        twin.set_training_mode(False)
        return twin.requires_grad_(False)

    def past_arrays(self) -> Arrays:
        """The snapshots as arrays, to be saved; copies."""
        arrays: Arrays = {"past.count": np.array(self.snapshots, np.int64)}
        for number, policy in enumerate(self.past):
            for name, value in policy.state_dict().items():
                arrays[f"past.{number}.{name}"] = value.cpu().numpy().copy()
        return arrays

    def set_past(self, arrays: Arrays) -> None:
        """Snapshots from what `past_arrays` gave; LookupError or ValueError if it doesn't fit."""
        self.snapshots = int(arrays["past.count"])
        self.past = [self._twin() for _ in range(min(self.snapshots, self.pool))]
        for number, policy in enumerate(self.past):
            for name, value in policy.state_dict().items():
                found = arrays[f"past.{number}.{name}"]
                if found.shape != tuple(value.shape):
                    raise ValueError(f"past.{number}.{name}: shape {found.shape}")
                value.copy_(torch.from_numpy(found.copy()))
