"""Scriptorium for one learner: one game beside a batch of games."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from incunabula.envs.errors import IllegalActionError
from tests.seat import (
    MIXED,
    NEXT,
    OFF,
    PLAYERS,
    SAME,
    pick,
    several,
    single,
)


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("players", PLAYERS)
def test_row_i_plays_the_games_of_a_single_environment_seeded_s_plus_i(
    players: int, mode: AutoresetMode
) -> None:
    # Faults 13 and 17, with opponents that are drawn for each game.
    n = 5
    options: dict[str, Any] = {
        "num_players": players,
        "opponents": MIXED,
        "reward": "margin",
        "illegal_reward": -7.0,
    }
    env = several(n, autoreset_mode=mode, **options)
    alone = [single(**options) for _ in range(n)]
    got: Any = env.reset(seed=20)
    want: Any = [each.reset(seed=20 + row) for row, each in enumerate(alone)]
    ended = np.zeros(n, np.bool_)
    ends, wrongs = np.zeros(n, int), 0
    opponents = set()
    step = 0
    while ends.min() < 3:
        for row, each in enumerate(alone):
            assert got[0][row].tobytes() == want[row][0].tobytes()
            info, infos = want[row][-1], got[-1]
            for name in ("action_mask", "score", "scores", "seat"):
                assert np.array_equal(infos[name][row], info[name])
            assert env.deals[row] == each.deal
            opponents.add(tuple(each.deal["opponents"]))
        actions = pick(env.action_masks(), 9, step)
        if step % 7 == 3:
            actions[step % n] = int(env.action_masks()[step % n].argmin())  # illegal
        step += 1
        got = env.step(actions)
        waiting, ended = ended & (mode == NEXT), np.zeros(n, np.bool_)
        for row, each in enumerate(alone):
            if waiting[row]:
                want[row] = (*each.reset(),)
                assert (got[1][row], got[2][row]) == (0, False)
                continue
            stepped = each.step(int(actions[row]))
            assert (got[1][row], got[2][row], got[3][row]) == stepped[1:4]
            illegal = "illegal" in stepped[4]
            assert illegal == ("illegal" in got[4] and bool(got[4]["_illegal"][row]))
            wrongs += illegal
            ended[row] = stepped[2]
            ends[row] += stepped[2]
            want[row] = (stepped[0], stepped[4])
            if stepped[2] and mode == SAME:
                assert got[4]["final_obs"][row].tobytes() == stepped[0].tobytes()
                final = {name: got[4]["final_info"][name][row] for name in ("score", "seat")}
                assert final == {name: stepped[4][name] for name in final}
                want[row] = each.reset()
        if mode == OFF and ended.any():
            reset = env.reset(options={"reset_mask": ended})
            got = (reset[0], *got[1:4], got[4])
            for row in np.flatnonzero(ended).tolist():
                want[row] = alone[row].reset()
                for name in ("action_mask", "score", "scores", "seat"):
                    got[4][name][row] = reset[1][name][row]
            assert np.array_equal(reset[1]["_seat"], ended)
            ended[:] = False
    assert wrongs > 3
    assert len(opponents) > 3


def test_no_row_depends_on_the_size_of_the_batch() -> None:
    games = {}
    for n in (2, 9):
        env = several(n, num_players=3, opponents=MIXED, seat="random", autoreset_mode=SAME)
        _, infos = env.reset(seed=3)
        seen = []
        for step in range(60):
            observations, rewards, over, _, infos = env.step(pick(infos["action_mask"], 1, step))
            seen.append((observations[:2].tobytes(), rewards[:2].tolist(), over[:2].tolist()))
        games[n] = seen, env.deals[:2]
    assert games[2] == games[9]


def test_resetting_some_rows_touches_no_other() -> None:
    # Fault 18.
    env = several(6, num_players=3, opponents=MIXED, autoreset_mode=OFF)
    env.reset(seed=0)
    mask = np.array([True, False, True, False, False, True])
    for step in range(5):
        env.step(pick(env.action_masks(), 0, step))
    before = env.clone_state()
    options = {"reset_mask": mask.copy(), "seat": 2}
    env.reset(options=options)
    assert options.keys() == {"reset_mask", "seat"}
    after = env.clone_state()
    others = np.flatnonzero(~mask)
    assert after.take(others).state.equal(before.take(others).state)
    for name, array in after.take(others).more.items():
        assert np.array_equal(array, before.take(others).more[name])
    assert np.array_equal(after.episode - before.episode, mask)
    assert (env.games.seat[mask] == 2).all()


def test_errors_name_the_right_row_while_another_waits_for_its_reset() -> None:
    env = several(3, illegal_action="raise")
    env.reset(seed=0)
    while not env._ended.any() or env._ended.all():
        env.step(pick(env.action_masks(), 0, 0))
    row = int(np.flatnonzero(~env._ended)[-1])
    before, deals = env.clone_state(), env.deals
    actions = env.action_masks().argmax(axis=1)
    actions[row] = env.action_masks()[row].argmin()
    with pytest.raises(IllegalActionError, match=rf"^row {row}: action \d+ is illegal"):
        env.step(actions)
    after = env.clone_state()
    assert after.state.equal(before.state)
    assert np.array_equal(after.episode, before.episode)
    assert env.deals == deals
    env.step(env.action_masks().argmax(axis=1))


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_what_was_returned_stays_as_it_was(mode: AutoresetMode) -> None:
    # Fault 15.
    env = several(4, autoreset_mode=mode)
    kept: list[tuple[Any, bytes]] = []

    def keep(value: Any) -> None:
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, (list, tuple)):
            for item in value:
                keep(item)
        elif isinstance(value, np.ndarray) and value.dtype != object:
            kept.append((value, value.tobytes()))
        elif isinstance(value, np.ndarray):
            keep(value.tolist())

    keep(env.reset(seed=0))
    for step in range(25):
        result = env.step(pick(env.action_masks(), 0, step))
        keep(result)
        if mode == OFF and result[2].any():
            keep(env.reset(options={"reset_mask": result[2]}))
    assert all(array.tobytes() == before for array, before in kept)


@pytest.mark.parametrize("mode", [NEXT, SAME])
def test_statistics_of_five_episodes_in_a_row_are_exact(mode: AutoresetMode) -> None:
    # Fault 16: Gymnasium's own wrapper, against single environments that play the same.
    n = 3
    env = several(n, autoreset_mode=mode, reward="score")
    wrapped = RecordEpisodeStatistics(env)
    wrapped.reset(seed=5)
    found: list[list[tuple[float, int]]] = [[] for _ in range(n)]
    while min(map(len, found)) < 5:
        *_, infos = wrapped.step(env.action_masks().argmax(axis=1))
        for row in np.flatnonzero(infos.get("_episode", np.zeros(n))).tolist():
            episode = infos["episode"]
            found[row].append((float(episode["r"][row]), int(episode["l"][row])))
    for row in range(n):
        alone = single(reward="score")
        alone.reset(seed=5 + row)
        for episode in found[row]:
            total, length, over = 0.0, 0, False
            while not over:
                _, reward, over, _, _ = alone.step(int(alone.action_masks().argmax()))
                total, length = total + reward, length + 1
            assert episode == (total, length)
            alone.reset()
