"""Scriptorium for one learner in stable-baselines3: native VecEnv and single environment."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from incunabula.agents.seat.gymnasium import ScriptoriumEnv, ScriptoriumVectorEnv
from incunabula.envs.errors import IllegalActionError, IncunabulaError
from tests.play import choose

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy as evaluate_without_masks
from stable_baselines3.common.vec_env import SubprocVecEnv

from incunabula.agents.seat.sb3 import ScriptoriumSB3VecEnv

TINY = "scriptorium-tiny"


def learner(env: Any) -> MaskablePPO:
    options: dict[str, Any] = {"n_steps": 64, "batch_size": 128, "n_epochs": 2, "seed": 0}
    return MaskablePPO("MlpPolicy", env, device="cpu", policy_kwargs={"net_arch": [32]}, **options)


def test_sb3s_own_checker_has_nothing_to_say() -> None:
    check_env(ScriptoriumEnv(opponents="random"))


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("reward", ["outcome", "score", "margin"])
def test_every_value_is_that_of_the_gymnasium_vector_environment(players: int, reward: str) -> None:
    n = 6
    options: dict[str, Any] = {
        "num_players": players,
        "reward": reward,
        "opponents": {"random": 1.0},
        "illegal_action": "penalize",
        "illegal_reward": -2.5,
    }
    mine: Any = ScriptoriumSB3VecEnv(n, TINY, seed=11, **options)
    theirs = ScriptoriumVectorEnv(n, TINY, autoreset_mode=AutoresetMode.SAME_STEP, **options)
    observations, infos = theirs.reset(seed=11)
    assert mine.reset().tobytes() == observations.tobytes()
    assert mine.observation_space == theirs.single_observation_space
    assert mine.action_space == theirs.single_action_space
    rng = np.random.default_rng(0)
    totals, lengths, ends, won = np.zeros(n), np.zeros(n, int), 0, 0
    while ends < 4 * n:
        assert np.array_equal(mine.action_masks(), infos["action_mask"])
        actions = choose(infos["action_mask"], rng)
        if rng.random() < 0.1:
            actions[0] = rng.integers(mine.engine.actions.n)  # often illegal
        got = mine.step(actions)
        want = theirs.step(actions)
        infos = want[4]
        assert got[0].tobytes() == want[0].tobytes()
        assert np.array_equal(got[1], want[1].astype(np.float32))
        assert np.array_equal(got[2], want[2])
        totals, lengths = totals + want[1], lengths + 1
        for row, info in enumerate(got[3]):
            assert ("illegal" in info) == ("illegal" in infos and infos["_illegal"][row])
            assert ("terminal_observation" in info) == bool(got[2][row])
            if not got[2][row]:
                continue
            ends += 1
            assert info["terminal_observation"].tobytes() == infos["final_obs"][row].tobytes()
            assert info["TimeLimit.truncated"] is False
            for name in ("score", "scores", "seat"):
                assert np.array_equal(info[name], infos["final_info"][name][row])
            assert info["is_success"] is bool(info["score"] == info["scores"].max())
            won += info["is_success"]
            assert (info["episode"]["r"], info["episode"]["l"]) == (totals[row], lengths[row])
            totals[row] = lengths[row] = 0
    assert 0 < won < ends


def test_reset_options_hold_for_one_episode_of_each_row() -> None:
    env = ScriptoriumSB3VecEnv(3, TINY, seed=0, opponents="random", seat=1)
    found = []
    for options in (None, {"seat": 0}, [{"seat": 0}, {}, {"seat": 1}], None):
        if options is not None:
            env.set_options(options)
        env.reset()
        found.append(env.games.seat.tolist())
    assert found == [[1, 1, 1], [0, 0, 0], [0, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize("how", ["deep copy", "pickle"])
def test_a_copy_goes_on_as_the_original_does(how: str) -> None:
    # Fault 26.
    env: Any = ScriptoriumSB3VecEnv(4, TINY, seed=0, num_players=3, opponents="random")
    env.reset()
    for _ in range(10):
        env.step(env.action_masks().argmax(axis=1))
    twin = copy.deepcopy(env) if how == "deep copy" else pickle.loads(pickle.dumps(env))
    for _ in range(50):
        actions = env.action_masks().argmax(axis=1)
        got, want = twin.step(actions), env.step(actions)
        for a, b in zip(got[:3], want[:3], strict=True):
            assert a.tobytes() == b.tobytes()


@pytest.mark.slow
def test_maskable_ppo_trains_directly_and_never_plays_an_illegal_action() -> None:
    # Faults 5 and 20; illegal actions raise here.
    env = ScriptoriumSB3VecEnv(16, seed=0, opponents={"random": 1, "greedy": 1}, reward="margin")
    assert is_masking_supported(env)
    model = learner(env)
    model.learn(2048)
    assert model.num_timesteps >= 2048
    assert model.get_env() is env
    assert len(model.ep_info_buffer) > 0  # type: ignore[arg-type]
    env.set_opponents("random")
    model.learn(1024, reset_num_timesteps=False)
    rounds = [
        evaluate_policy(
            model,
            ScriptoriumSB3VecEnv(8, seed=100, opponents="random"),
            n_eval_episodes=8,
            return_episode_rewards=True,
        )[0]
        for _ in range(2)
    ]
    assert rounds[0] == rounds[1]  # fault 36
    with pytest.raises(IllegalActionError, match=r"^row \d+: action \d+ is illegal \(") as e:
        evaluate_without_masks(model, env, n_eval_episodes=2)
    assert any("MaskableEvalCallback" in note for note in e.value.__notes__)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*render_mode='rgb_array'")
def test_a_spawned_worker_plays_the_games_of_a_single_environment() -> None:
    # Fault 21.
    options: dict[str, Any] = {"opponents": "random", "num_players": 3}
    env = make_vec_env(
        "incunabula:incunabula/Scriptorium-tiny-v0",
        n_envs=1,
        seed=4,
        env_kwargs=options,
        vec_env_cls=SubprocVecEnv,
        vec_env_kwargs={"start_method": "spawn"},
    )
    try:
        native = ScriptoriumSB3VecEnv(1, TINY, seed=4, **options)
        assert env.reset().tobytes() == native.reset().tobytes()  # type: ignore[union-attr]
        for _ in range(80):
            masks = get_action_masks(env)
            assert np.array_equal(masks, native.action_masks())
            got, want = env.step(masks.argmax(axis=1)), native.step(masks.argmax(axis=1))
            for a, b in zip(got[:3], want[:3], strict=True):
                assert np.array_equal(a, b)  # type: ignore[arg-type]
    finally:
        env.close()


def test_a_batch_must_be_reset_first_and_refuses_wrong_actions() -> None:
    # Fault 19.
    env = ScriptoriumSB3VecEnv(3, TINY, seed=0, opponents="random")
    with pytest.raises(IncunabulaError, match=r"call reset\(\) first"):
        env.action_masks()
    env.reset()
    before = env.engine.state.copy()
    for actions in ([0, 0], [0.0, 0.0, 0.0], [0, 0, 120], [0, 0, -1], [0, 0, 119]):
        with pytest.raises(IncunabulaError):
            env.step(np.array(actions))
    assert env.engine.state.equal(before)


def test_options_are_one_for_all_or_one_for_each() -> None:
    envs = ScriptoriumSB3VecEnv(3, TINY, seed=0, opponents="random")
    envs.set_options([{"seat": 0}, {"seat": 1}, {"seat": 0}])
    envs.reset()
    assert envs.games.seat.tolist() == [0, 1, 0]
    wrong: Any
    for wrong in ([{"seat": 1}], [{}], 5):
        envs.set_options(wrong)
        with pytest.raises(IncunabulaError, match=r"^options: expected a mapping, or 3 in a list"):
            envs.reset()
