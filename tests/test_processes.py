"""Other processes: the same games everywhere, and ids that spawned workers know."""

from __future__ import annotations

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

from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from tests.play import EDITIONS, scripted

# Of JSON states, rewards and legal sets: what the rules fix for ever, whatever the observation is.
TRAJECTORIES = {
    "bibliogamo": "467b85694b76155c157e6b543ffea685e5317417f28e858b2d40ada5ed216f40",
    "bibliogamo-tiny": "924b5123235e66f9c1f0c5baac409891803edfa278ee1f4162490677e41710ff",
    "bibliogamo-small": "0ee147bf764530fb1e6ca29932beb1ce38cf47f565680ebaf76b5ec08c284ee5",
}


def trajectory_hash(name: str) -> str:
    """Hash of five scripted games."""
    seeds = np.array([0, 1, 2**32 - 1, 2**63, 2**64 - 1], np.uint64)
    engine = BibliogamoEngine(name, len(seeds))
    engine.deal(np.arange(len(seeds)), seeds)
    found = hashlib.sha256()
    live = np.arange(len(seeds))
    step = 0
    while live.size:
        for row in live.tolist():
            legal = [engine.action_to_json(row, int(a)) for a in np.flatnonzero(engine.mask[row])]
            found.update(json.dumps([engine.snapshot(row), legal], sort_keys=True).encode())
        steps = np.full(len(live), step, np.uint64)
        rewards, over = engine.apply(scripted(engine.mask[live], seeds[live], steps), live)
        found.update(json.dumps(rewards.tolist()).encode())
        live = live[~over]
        step += 1
    found.update(json.dumps([engine.snapshot(row) for row in range(len(seeds))]).encode())
    return found.hexdigest()


@pytest.mark.parametrize("name", EDITIONS)
def test_trajectories_are_those_that_were_committed(name: str) -> None:
    # A change here means that results on published seeds change: the ids need a new version.
    assert trajectory_hash(name) == TRAJECTORIES[name]


def test_trajectories_do_not_depend_on_the_process_or_its_hash_seed() -> None:
    # Fault 24.
    code = (
        "import numpy as np, random; np.random.seed({n}); random.seed({n})\n"
        "from tests.test_processes import EDITIONS, trajectory_hash\n"
        "print(*map(trajectory_hash, EDITIONS))"
    )
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", code.format(n=n)],
            cwd=Path(__file__).parent.parent,
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for n, hash_seed in enumerate(["0", "1", "random"])
    ]
    found = [worker.communicate(timeout=300)[0].split() for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0, 0]
    assert found == [list(TRAJECTORIES.values())] * 3


def test_nothing_draws_from_the_global_generators() -> None:
    before = repr(np.random.get_state())  # noqa: NPY002
    env = gymnasium.make("incunabula:incunabula/Bibliogamo-tiny-v0")
    env.reset()
    env.reset(seed=3)
    env.step(19)
    vector = gymnasium.make_vec("incunabula:incunabula/Bibliogamo-tiny-v0", num_envs=2)
    vector.reset()
    assert repr(np.random.get_state()) == before  # noqa: NPY002


def test_spawned_workers_know_the_id_and_play_the_same_games() -> None:
    # Fault 28: importing twice, here and in the workers, warns of nothing.
    env_id = "incunabula:incunabula/Bibliogamo-small-v0"
    make = functools.partial(gymnasium.make, env_id, prestige=1)
    env = AsyncVectorEnv([make, make], context="spawn")
    try:
        native = gymnasium.make_vec(env_id, num_envs=2, prestige=1)
        got: Any = env.reset(seed=6)
        want: Any = native.reset(seed=6)
        for _ in range(40):
            assert got[0].tobytes() == want[0].tobytes()
            masks = got[-1]["action_mask"]
            assert masks.tobytes() == want[-1]["action_mask"].tobytes()
            actions = masks.argmax(axis=1)
            got, want = env.step(actions), native.step(actions)
            for a, b in zip(got[1:4], want[1:4], strict=True):
                assert a.tobytes() == b.tobytes()
    finally:
        env.close()


def test_make_vec_can_spawn_workers_too() -> None:
    env = gymnasium.make_vec(
        "incunabula:incunabula/Bibliogamo-tiny-v0",
        num_envs=1,
        vectorization_mode="async",
        vector_kwargs={"context": "spawn"},
    )
    try:
        _, infos = env.reset(seed=0)
        env.step(infos["action_mask"].argmax(axis=1))
    finally:
        env.close()
