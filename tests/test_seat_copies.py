"""Scriptorium for one learner: what is hidden, copies, and other processes."""

from __future__ import annotations

import copy
import functools
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv

from incunabula.agents.agent import RandomAgent
from incunabula.envs.errors import IncunabulaError
from tests.seat import (
    COPIES,
    MIXED,
    PLAYERS,
    First,
    pick,
    play,
    several,
    single,
)


@pytest.mark.parametrize("players", PLAYERS)
def test_what_is_hidden_shows_nowhere(players: int) -> None:
    # Fault 32: another order of the bag and of the lecterns to come, other opponents' luck.
    env = single(edition="scriptorium", num_players=players)
    _, info = env.reset(seed=1)
    for step in range(40):
        twin = copy.deepcopy(env)
        state = twin.engine.state
        left = int(state.bag_left[0])
        state.order[0, :left] = state.order[0, :left][::-1].copy()
        state.seed[0] += np.uint64(1)
        twin.games.luck[0] += np.uint64(1)
        assert twin._observation().tobytes() == env._observation().tobytes()
        mine, others = env._info(), twin._info()
        assert set(mine) == {"action_mask", "score", "scores", "seat"}
        assert all(np.array_equal(mine[name], others[name]) for name in mine)
        *_, over, _, info = env.step(int(pick(info["action_mask"], 0, step)[0]))
        if over:
            break


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("steps", [0, 7, 1000], ids=["at the start", "in mid-game", "at the end"])
def test_a_copy_goes_on_as_the_original_does(how: str, steps: int) -> None:
    # Fault 26.
    env = single(num_players=3, opponents=MIXED, reward="margin")
    env.reset(seed=2)
    env.reset()
    for step in range(steps):
        if env.engine.mask.any():
            env.step(int(pick(env.action_masks(), 0, step)[0]))
    twin, third = COPIES[how](env), COPIES[how](env)
    played = play(env, 50)
    assert play(twin, 50) == played
    assert play(third, 50) == played


def test_a_restored_state_goes_on_as_before_with_the_same_opponents() -> None:
    env = single(num_players=3, opponents=MIXED, reward="score")
    env.reset(seed=2)
    for step in range(5):
        env.step(int(pick(env.action_masks(), 0, step)[0]))
    state, deal = env.clone_state(), env.deal
    first = play(env, 8)
    env.restore_state(state)
    assert play(env, 8) == first
    other = single(num_players=3, reward="score", opponents=First())
    other.restore_state(state)
    assert other.deal == deal
    assert play(other, 8) == first
    other.reset()
    assert set(other.deal["opponents"]) == {None, "first"}
    with pytest.raises(IncunabulaError, match="of games of 3 players, expected 2"):
        single().restore_state(state)
    with pytest.raises(IncunabulaError, match="another edition or number of games"):
        several(2, num_players=3).restore_state(state)


def test_rows_can_be_taken_from_a_state_into_single_environments() -> None:
    env = several(4, num_players=3, opponents=MIXED, reward="margin")
    env.reset(seed=0)
    for step in range(6):
        env.step(pick(env.action_masks(), 0, step))
    state = env.clone_state()
    alone = single(num_players=3, opponents="random", reward="margin")
    alone.restore_state(state.take(np.array([2])))
    for step in range(4):
        masks = env.action_masks()
        assert alone.action_masks().tobytes() == masks[2].tobytes()
        actions = pick(masks, 5, step)
        got, want = alone.step(int(actions[2])), env.step(actions)
        assert got[0].tobytes() == want[0][2].tobytes()
        assert got[1] == want[1][2]


def test_a_determinised_copy_agrees_in_public_and_has_another_future() -> None:
    # Fault 27: tiles and lecterns to come, who the opponents are, and what they draw.
    env = several(64, edition="scriptorium", num_players=3, opponents=MIXED, seat=0)
    env.reset(seed=0)
    for step in range(6):
        env.step(pick(env.action_masks(), 0, step))
    state, observed, masks = env.clone_state(), env.games.observe(), env.action_masks()
    deals = env.deals
    futures = []
    for seeds in (range(64), range(64), range(100, 164)):
        env.restore_state(state)
        env.determinise(seeds)
        assert env.games.observe().tobytes() == observed.tobytes()
        assert env.action_masks().tobytes() == masks.tobytes()
        assert [deal["seat"] for deal in env.deals] == [0] * 64
        assert all(mine["seed"] != old["seed"] for mine, old in zip(env.deals, deals, strict=True))
        assert any(
            mine["opponents"] != old["opponents"]
            for mine, old in zip(env.deals, deals, strict=True)
        )
        assert (env.games.luck != state.more["luck"]).all()
        futures.append((env.deals, env.step(masks.argmax(axis=1))[0].tobytes()))
    env.restore_state(state)
    futures.append((env.deals, env.step(masks.argmax(axis=1))[0].tobytes()))
    assert futures[0] == futures[1]
    assert futures[0] != futures[2]
    assert futures[3][0] == deals
    assert futures[3] not in futures[:3]
    who = {tuple(deal["opponents"]) for deal in futures[0][0]}
    assert len(who) > 3


def test_a_random_opponent_draws_anew_in_a_determinised_copy() -> None:
    env = several(64, opponents=RandomAgent(3), seat=1)
    env.reset(seed=0)
    state = env.clone_state()
    futures = []
    for seed in (None, 0, 1):
        env.restore_state(state)
        if seed is not None:
            env.determinise([seed] * 64)
        for _ in range(2):
            env.step(env.action_masks().argmax(axis=1))
        futures.append(env.engine.state.inks.tobytes())
    assert len(set(futures)) == 3


# A change here means that games on published seeds change: the ids need a new version.
TRAJECTORY = "30121cef5ea2cc2bf5f7136ff16c6fd93dffe05bdb5a4766637f10a34a1f2c97"


def trajectory_hash() -> str:
    """SHA-256 of five games: deals, seats, opponents, and all that anybody does."""
    env = single(num_players=3, opponents="random", seat="random")
    found = hashlib.sha256()
    env.reset(seed=5)
    for game in range(5):
        for step in range(1000):
            found.update(json.dumps([env.snapshot(), env.deal], sort_keys=True).encode())
            if not env.engine.mask.any():
                break
            env.step(int(pick(env.action_masks(), game, step)[0]))
        env.reset()
    return found.hexdigest()


def test_games_are_those_that_were_committed_in_every_process() -> None:
    # Fault 24.
    code = "from tests.test_seat_copies import trajectory_hash; print(trajectory_hash())"
    found = [trajectory_hash()]
    for hash_seed in ("0", "random"):
        run = subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parent.parent,
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(run.stdout.strip())
    assert found == [TRAJECTORY] * 3


@pytest.mark.slow
def test_spawned_workers_know_the_id_and_play_the_same_games() -> None:
    # Faults 24 and 28.
    env_id = "incunabula:incunabula/Scriptorium-tiny-v0"
    options: dict[str, Any] = {"num_players": 3, "opponents": {"random": 1.0}, "reward": "margin"}
    make = functools.partial(gymnasium.make, env_id, **options)
    env = AsyncVectorEnv([make, make], context="spawn")
    try:
        native = gymnasium.make_vec(env_id, num_envs=2, **options)
        got: Any = env.reset(seed=6)
        want: Any = native.reset(seed=6)
        for _ in range(60):
            assert got[0].tobytes() == want[0].tobytes()
            masks = got[-1]["action_mask"]
            assert masks.tobytes() == want[-1]["action_mask"].tobytes()
            assert got[-1]["seat"].tolist() == want[-1]["seat"].tolist()
            actions = masks.argmax(axis=1)
            got, want = env.step(actions), native.step(actions)
            for a, b in zip(got[1:4], want[1:4], strict=True):
                assert a.tobytes() == b.tobytes()
    finally:
        env.close()
