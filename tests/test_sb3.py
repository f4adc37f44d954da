"""stable-baselines3: the native VecEnv, and the single environment in its wrappers."""

from __future__ import annotations

import copy
import pickle
import time
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from incunabula.envs.adapters.gymnasium import BibliogamoEnv, BibliogamoVectorEnv
from incunabula.envs.chance import episode_seeds
from incunabula.envs.errors import IllegalActionError, IncunabulaError
from tests.play import EDITIONS, Eager, choose

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import (
    evaluate_policy as evaluate_without_masks,
)
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import SubprocVecEnv, VecMonitor, VecNormalize

from incunabula.envs.adapters.sb3 import BibliogamoSB3VecEnv

ID = "incunabula:incunabula/Bibliogamo-v0"
# SB3 first asks for a render mode that isn't offered, and goes on without it.
ASKS_FOR_PICTURES = pytest.mark.filterwarnings("ignore:.*render_mode='rgb_array'")


def learner(env: Any, **changes: Any) -> MaskablePPO:
    options: dict[str, Any] = {"n_steps": 64, "batch_size": 128, "n_epochs": 2, "seed": 0}
    policy = {"net_arch": [32], **changes.pop("policy_kwargs", {})}
    return MaskablePPO("MlpPolicy", env, device="cpu", policy_kwargs=policy, **(options | changes))


# The single environment --------------------------------------------------------------------------


def test_sb3s_own_checker_has_nothing_to_say() -> None:
    check_env(BibliogamoEnv())
    check_env(gymnasium.make(ID).unwrapped)


@ASKS_FOR_PICTURES
def test_sb3_makes_the_single_environment_from_its_id_and_finds_its_masks() -> None:
    env = make_vec_env(ID, n_envs=2, seed=3)
    assert is_masking_supported(env)
    env.reset()
    masks = get_action_masks(env)
    assert masks.shape == (2, 52)
    assert masks.dtype == np.int8
    assert learner(ID).get_env().num_envs == 1  # type: ignore[union-attr]
    rng = np.random.default_rng(0)
    ended: list[dict[str, Any]] = []
    while len(ended) < 4:
        _, _, dones, infos = env.step(choose(get_action_masks(env), rng))
        ended += [info for info, done in zip(infos, dones, strict=True) if done]
    for info in ended:
        assert info["episode"]["r"] == info["score"]
        assert not info["TimeLimit.truncated"]
    env.close()


def test_a_truncated_game_says_so_and_carries_its_last_observation() -> None:
    # Fault 22.
    env = make_vec_env(lambda: gymnasium.make(ID, max_episode_steps=3), n_envs=2, seed=0)
    env.reset()
    for _ in range(3):
        _, _, dones, infos = env.step(get_action_masks(env).argmax(axis=1))
    assert dones.all()
    layout = BibliogamoEnv().layout
    for info in infos:
        assert info["TimeLimit.truncated"] is True
        assert layout.decode(info["terminal_observation"])["phase"] != "over"


@ASKS_FOR_PICTURES
@pytest.mark.slow
def test_a_spawned_worker_plays_the_games_of_a_single_environment() -> None:
    # Fault 21.
    env = make_vec_env(
        ID, n_envs=1, seed=4, vec_env_cls=SubprocVecEnv, vec_env_kwargs={"start_method": "spawn"}
    )
    try:
        native = BibliogamoSB3VecEnv(1, seed=4)
        assert env.reset().tobytes() == native.reset().tobytes()  # type: ignore[union-attr]
        for _ in range(120):
            masks = get_action_masks(env)
            assert np.array_equal(masks, native.action_masks())
            got, want = env.step(masks.argmax(axis=1)), native.step(masks.argmax(axis=1))
            for a, b in zip(got[:3], want[:3], strict=True):
                assert np.array_equal(a, b)  # type: ignore[arg-type]
    finally:
        env.close()


# The native VecEnv beside the Gymnasium vector environment ---------------------------------------


@pytest.mark.parametrize("name", EDITIONS)
def test_every_value_is_that_of_the_gymnasium_vector_environment(name: str) -> None:
    n = 6
    mine: Any = BibliogamoSB3VecEnv(
        n, name, seed=11, illegal_action="penalize", illegal_reward=-2.5
    )
    theirs = BibliogamoVectorEnv(
        n, name, autoreset_mode=AutoresetMode.SAME_STEP, illegal_reward=-2.5
    )
    observations, infos = theirs.reset(seed=11)
    assert mine.reset().tobytes() == observations.tobytes()
    assert mine.observation_space == theirs.single_observation_space
    assert mine.action_space == theirs.single_action_space
    play = Eager(mine.engine.actions, n, np.random.default_rng(0))
    totals, lengths, ends = np.zeros(n), np.zeros(n, int), 0
    while ends < 3 * n:
        assert np.array_equal(mine.action_masks(), infos["action_mask"])
        actions = play(mine.action_masks())
        actions[0] = play.rng.integers(mine.engine.actions.n)  # often illegal
        got = mine.step(actions)
        want = theirs.step(actions)
        infos = want[4]
        assert got[0].tobytes() == want[0].tobytes()
        assert [array.dtype for array in got[:3]] == [np.float32, np.float32, np.bool_]
        assert np.array_equal(got[1], want[1])
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
            assert info["score"] == infos["final_info"]["score"][row]
            episode = info["episode"]
            assert (episode["r"], episode["l"]) == (totals[row], lengths[row])
            assert episode["t"] >= 0
            assert type(episode["r"]) is float
            assert type(episode["l"]) is int
            if row != 0:
                assert episode["r"] == info["score"]
            totals[row] = lengths[row] = 0


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**63, 2**64 - 1, -1])
def test_row_i_is_seeded_s_plus_i_and_goes_on_to_the_next_episodes(seed: int) -> None:
    # Fault 23.
    env = BibliogamoSB3VecEnv(3, "bibliogamo-tiny", seed=seed)
    bases = np.array([(seed + i) % 2**64 for i in range(3)], np.uint64)
    for episode in (0, 1, 2):
        env.reset()
        expected = episode_seeds(bases, np.full(3, episode, np.uint64))
        assert env.engine.state.seed.tolist() == expected.tolist()
    assert env.seed(seed) == bases.tolist()
    env.reset()
    assert env.engine.state.seed.tolist() == bases.tolist()


def test_without_a_seed_it_is_drawn_from_the_system_and_not_from_numpy() -> None:
    seeds = set()
    for _ in range(4):
        np.random.seed(0)  # noqa: NPY002
        env = BibliogamoSB3VecEnv(1, "bibliogamo-tiny")
        env.reset()
        seeds.add(int(env.engine.state.seed[0]))
    assert len(seeds) == 4


def test_reset_options_hold_for_one_episode_of_each_row() -> None:
    env = BibliogamoSB3VecEnv(3, seed=0, prestige=4)
    found = []
    for options in (None, {"prestige": 1}, [{"prestige": 2}, {}, {"prestige": 3}], None):
        if options is not None:
            env.set_options(options)
        env.reset()
        found.append(env.engine.state.prestige.tolist())
    assert found == [[4, 4, 4], [1, 1, 1], [2, 4, 3], [4, 4, 4]]


@pytest.mark.parametrize("how", ["deep copy", "pickle"])
def test_a_copy_goes_on_as_the_original_does(how: str) -> None:
    # Fault 26.
    env: Any = BibliogamoSB3VecEnv(4, "bibliogamo-small", seed=0)
    env.reset()
    for _ in range(20):
        env.step(env.action_masks().argmax(axis=1))
    twin = copy.deepcopy(env) if how == "deep copy" else pickle.loads(pickle.dumps(env))
    for _ in range(50):
        actions = env.action_masks().argmax(axis=1)
        got, want = twin.step(actions), env.step(actions)
        for a, b in zip(got[:3], want[:3], strict=True):
            assert a.tobytes() == b.tobytes()
        for a, b in zip(got[3], want[3], strict=True):
            assert a.keys() == b.keys()
            assert a.get("episode", {}).get("r") == b.get("episode", {}).get("r")


# What learners may do with what they get ---------------------------------------------------------


def test_arrays_may_be_spoilt_and_are_never_shared() -> None:
    # Faults 7 and 15: SB3 changes rewards in place and keeps the last observation.
    env: Any = BibliogamoSB3VecEnv(4, "bibliogamo-tiny", seed=0)
    twin: Any = BibliogamoSB3VecEnv(4, "bibliogamo-tiny", seed=0)
    kept: list[Any] = [env.reset()]
    twin.reset()
    for _ in range(40):
        actions = twin.action_masks().argmax(axis=1)
        got, want = env.step(actions.copy()), twin.step(actions)
        mine = [*got[:3], env.action_masks(), *(i["terminal_observation"] for i in got[3] if i)]
        for a, b in zip(got[:3], want[:3], strict=True):
            assert a.tobytes() == b.tobytes()
        for i, a in enumerate(mine):
            assert not any(np.shares_memory(a, b) for b in (*kept, *mine[:i], env.engine.mask))
        for info, expected in zip(got[3], want[3], strict=True):
            assert info.get("episode", {}).get("r") == expected.get("episode", {}).get("r")
        for a in mine:
            a[:] = 1
        kept = mine


def test_masks_of_the_batch_come_in_one_block_or_row_by_row() -> None:
    # Fault 9.
    env = BibliogamoSB3VecEnv(5, seed=0)
    env.reset()
    masks = env.action_masks()
    assert masks.shape == (5, 52)
    assert masks.dtype == np.bool_
    assert is_masking_supported(env)
    assert get_action_masks(env).reshape(5, 52).tobytes() == masks.tobytes()
    rows = env.env_method("action_masks", indices=[3, 1])
    assert [row.tobytes() for row in rows] == [masks[3].tobytes(), masks[1].tobytes()]
    assert env.env_method("action_masks", indices=2)[0].tobytes() == masks[2].tobytes()
    assert len(env.env_method("render")) == 5
    with pytest.raises(AttributeError, match=r"^snap: not a method of a game in this batch"):
        env.env_method("snap")
    assert not env.has_attr("nothing_of_the_kind")
    assert env.get_attr("render_mode", [0, 1]) == [None, None]


def test_a_normaliser_leaves_the_masks_alone() -> None:
    # Fault 8.
    env = VecNormalize(BibliogamoSB3VecEnv(4, "bibliogamo-small", seed=0))
    env.reset()
    rng = np.random.default_rng(0)
    inner: Any = env.venv
    for _ in range(60):
        masks = get_action_masks(env).reshape(4, -1)
        assert masks.dtype == np.bool_
        assert np.array_equal(masks, inner.engine.legal())
        _, _, dones, infos = env.step(choose(masks, rng))
        for row in np.flatnonzero(dones):
            assert infos[row]["episode"]["r"] == infos[row]["score"]


def test_masks_cost_less_than_a_twentieth_of_a_step() -> None:
    # Fault 21, at N = 1,024: the least of several rounds of each, in process time.
    n = 1024
    env = BibliogamoSB3VecEnv(n, seed=0)
    env.reset()
    play = Eager(env.engine.actions, n, np.random.default_rng(0))
    fetch, step = [], []
    for _ in range(30):
        start = time.process_time()
        for _ in range(5):
            masks = get_action_masks(env)
        fetched = time.process_time()
        actions = play(masks.reshape(n, -1))
        before = time.process_time()
        env.step(actions)
        step.append(time.process_time() - before)
        fetch.append((fetched - start) / 5)
    assert min(fetch) < 0.05 * min(step)


# Learners ----------------------------------------------------------------------------------------


def test_maskable_ppo_trains_directly_and_never_plays_an_illegal_action() -> None:
    # Faults 5 and 20; illegal actions raise here.
    env = BibliogamoSB3VecEnv(16, seed=0)
    model = learner(env)
    model.learn(2048)
    assert model.num_timesteps >= 2048
    assert model.get_env() is env
    assert len(model.ep_info_buffer) > 0  # type: ignore[arg-type]
    returns: Any
    returns, lengths = evaluate_policy(
        model, BibliogamoSB3VecEnv(8, seed=100), n_eval_episodes=16, return_episode_rewards=True
    )
    again, _ = evaluate_policy(
        model, BibliogamoSB3VecEnv(8, seed=100), n_eval_episodes=16, return_episode_rewards=True
    )
    assert returns == again  # fault 36
    assert len(returns) == len(lengths) == 16  # type: ignore[arg-type]
    assert min(returns) >= 0


def test_a_plain_evaluation_without_masks_gives_a_clear_error() -> None:
    # Fault 5.
    env = BibliogamoSB3VecEnv(2, seed=0)
    model = learner(env)
    with pytest.raises(IllegalActionError, match=r"^row \d: action \d+ is illegal \(") as e:
        evaluate_without_masks(model, env, n_eval_episodes=2)
    assert any("MaskableEvalCallback" in note for note in e.value.__notes__)


def test_training_does_not_depend_on_what_wraps_the_batch() -> None:
    weights = []
    for wrap in (lambda env: env, VecMonitor):
        env = BibliogamoSB3VecEnv(4, "bibliogamo-tiny", seed=0)
        if wrap is VecMonitor:
            with pytest.warns(UserWarning, match="already wrapped with a `Monitor`"):
                wrapped: Any = wrap(env)
        else:
            wrapped = env
        model = learner(wrapped, n_steps=16, batch_size=32)
        model.learn(128)
        weights.append([p.detach().numpy().tobytes() for p in model.policy.parameters()])
    assert weights[0] == weights[1]


def test_the_batch_counts_as_monitored() -> None:
    env = BibliogamoSB3VecEnv(3, "bibliogamo-tiny", seed=0)
    assert env.env_is_wrapped(Monitor) == [True] * 3
    assert env.env_is_wrapped(gymnasium.wrappers.TimeLimit, indices=[0]) == [False]


# Wrong input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 0], r"actions: expected 3 integers"),
        ([0.0, 0.0, 0.0], r"actions: expected 3 integers"),
        ([[0, 0, 0]], r"actions: expected 3 integers"),
        ([19, 19, 20], r"actions\[2\]: 20 is not an action"),
        ([19, 19, 6], r"^row 2: action 6 is illegal"),
    ],
)
def test_wrong_actions_raise_at_once_and_change_nothing(actions: Any, message: str) -> None:
    # Fault 19.
    env = BibliogamoSB3VecEnv(3, "bibliogamo-tiny", seed=0)
    env.reset()
    before = env.engine.state.copy()
    with pytest.raises(IncunabulaError, match=message):
        env.step(np.array(actions))
    assert env.engine.state.equal(before)


def test_a_batch_must_be_reset_first() -> None:
    env = BibliogamoSB3VecEnv(2, "bibliogamo-tiny")
    for use in (env.action_masks, lambda: env.step(np.zeros(2, int))):
        with pytest.raises(IncunabulaError, match=r"call reset\(\) first"):
            use()
