"""The native vector environment: the same as many single ones, in every autoreset mode."""

from __future__ import annotations

import functools
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from incunabula.envs.adapters.gymnasium import BibliogamoEnv, BibliogamoVectorEnv
from incunabula.envs.chance import episode_seeds
from incunabula.envs.errors import IllegalActionError, IncunabulaError
from tests.drawings import plain
from tests.play import EDITIONS, Eager, Json, choose, deck_order, edition

NEXT, SAME, OFF = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED
IDS = {
    "bibliogamo": "incunabula:incunabula/Bibliogamo-v0",
    "bibliogamo-tiny": "incunabula:incunabula/Bibliogamo-tiny-v0",
    "bibliogamo-small": "incunabula:incunabula/Bibliogamo-small-v0",
}


# The same as SyncVectorEnv -----------------------------------------------------------------------


def assert_equivalent(mine: Any, theirs: Any) -> None:
    assert data_equivalence(mine, theirs, exact=True), (mine, theirs)


@pytest.mark.parametrize("name", EDITIONS)
@pytest.mark.parametrize("mode", [NEXT, SAME])
def test_every_value_is_that_of_single_environments_over_their_ends(
    name: str, mode: AutoresetMode
) -> None:
    # Faults 13, 17: observations, rewards, flags and infos, with illegal actions among them.
    n = 5
    mine: Any = gymnasium.make_vec(IDS[name], num_envs=n, autoreset_mode=mode)
    sync = SyncVectorEnv(
        [functools.partial(gymnasium.make, IDS[name]) for _ in range(n)], autoreset_mode=mode
    )
    assert mine.metadata == sync.metadata | {"render_modes": ["ansi", "rgb_array"]}
    assert mine.metadata["autoreset_mode"] is mode
    for space in (
        "observation_space",
        "action_space",
        "single_observation_space",
        "single_action_space",
    ):
        assert getattr(mine, space) == getattr(sync, space)
    assert_equivalent(mine.reset(seed=2**64 - 2), sync.reset(seed=2**64 - 2))
    inner: Any = mine.unwrapped
    rng = np.random.default_rng(0)
    ends = np.zeros(n, int)
    while ends.min() < 3:
        actions = choose(inner.action_masks(), rng)
        wild = rng.random(n) < 0.1
        actions[wild] = rng.integers(inner.engine.actions.n, size=n)[wild]
        got, want = mine.step(actions), sync.step(actions)
        assert_equivalent(got, want)
        ends += got[2]
        assert inner.deals == [env.unwrapped.deal for env in sync.envs]  # type: ignore[attr-defined]
    # A reset in mid-game goes on to the next episodes, in rows of different episodes.
    assert_equivalent(mine.reset(), sync.reset())
    assert_equivalent(
        mine.reset(seed=[3, None, 1, 3, None]), sync.reset(seed=[3, None, 1, 3, None])
    )
    assert_equivalent(mine.reset(options={"prestige": 1}), sync.reset(options={"prestige": 1}))
    assert inner.deals == [env.unwrapped.deal for env in sync.envs]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", EDITIONS)
def test_without_autoreset_every_value_is_that_of_single_environments(name: str) -> None:
    n = 4
    mine = BibliogamoVectorEnv(n, name, autoreset_mode=OFF)
    sync = SyncVectorEnv([lambda: BibliogamoEnv(name)] * n, autoreset_mode=OFF)
    assert_equivalent(mine.reset(seed=8), sync.reset(seed=8))
    rng = np.random.default_rng(0)
    ends = np.zeros(n, int)
    while ends.min() < 3:
        actions = choose(mine.action_masks(), rng)
        got = mine.step(actions)
        assert_equivalent(got, sync.step(actions))
        if got[2].any():
            ends += got[2]
            # SyncVectorEnv takes the mask out of the options it is given.
            reset = mine.reset(options={"reset_mask": got[2]})
            assert_equivalent(reset, sync.reset(options={"reset_mask": got[2]}))


def test_a_batch_of_one_is_a_batch() -> None:
    for mode in (NEXT, SAME):
        mine = BibliogamoVectorEnv(1, "bibliogamo-tiny", autoreset_mode=mode)
        sync = SyncVectorEnv([lambda: BibliogamoEnv("bibliogamo-tiny")], autoreset_mode=mode)
        assert_equivalent(mine.reset(seed=0), sync.reset(seed=0))
        for _ in range(40):
            actions = mine.action_masks().argmax(axis=1)
            assert_equivalent(mine.step(actions), sync.step(actions))


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_rows_play_the_games_of_single_environments_seeded_one_apart(mode: AutoresetMode) -> None:
    # Fault 17.
    env = BibliogamoVectorEnv(6, autoreset_mode=mode)
    env.reset(seed=2**64 - 3)
    bases = (np.uint64(2**64 - 3) + np.arange(6, dtype=np.uint64)).astype(np.uint64)
    decks = set()
    for episode in range(4):
        expected = episode_seeds(bases, np.full(6, episode, np.uint64)).tolist()
        assert [deal["seed"] for deal in env.deals] == expected
        decks |= {tuple(deck_order(env.engine, row)) for row in range(6)}
        env.reset()
    assert len(decks) == 24


def test_constructor_options_reach_every_row_and_every_episode() -> None:
    # Fault 25.
    env = BibliogamoVectorEnv(
        3, edition("bibliogamo-tiny", days=2), prestige=1, illegal_reward=-7.0, render_mode="ansi"
    )
    env.reset(seed=0)
    for _ in range(12):
        assert [deal["prestige"] for deal in env.deals] == [1, 1, 1]
        live = ~env._ended
        _, rewards, _, _, infos = env.step(np.full(3, 6))  # nobody may wait now
        assert (rewards[live] == -7.0).all()
        assert infos["_illegal"][live].all()
        env.step(env.action_masks().argmax(axis=1))
    boards = env.render()
    assert boards is not None
    assert [" of 2 " in plain(board).split("\n")[2] for board in boards] == [True] * 3


# Autoreset, step by step -------------------------------------------------------------------------
#
# Two days, one florin, a librarian who doesn't move by himself: each game is walk (the florin and
# its VP are spent), end, end. The second row begins with an illegal action and so is a step behind.


def short() -> Json:
    data = edition("bibliogamo-tiny", days=2, florins_per_vp=1, librarian_step=0)
    data["start"]["florins"] = 1
    for card in data["cards"]:
        card["librarian"] = 0
    return data


WALK, ILLEGAL, END, ANY = 2, 4, 19, 0
T1, H1, H2, O2 = "1 travel", "1 hire", "2 hire", "2 over"
# step: actions, then for each row what is observed, reward, terminated, final observation
NEXT_TABLE: list[Any] = [
    ((WALK, ILLEGAL), ((0, H1), -1, False), ((0, T1), -5, False)),
    ((END, WALK), ((0, H2), 0, False), ((0, H1), -1, False)),
    ((END, END), ((0, O2), 0, True), ((0, H2), 0, False)),
    ((ANY, END), ((1, T1), 0, False), ((0, O2), 0, True)),
    ((WALK, 99), ((1, H1), -1, False), ((1, T1), 0, False)),
    ((END, WALK), ((1, H2), 0, False), ((1, H1), -1, False)),
    ((END, END), ((1, O2), 0, True), ((1, H2), 0, False)),
    ((-1, END), ((2, T1), 0, False), ((1, O2), 0, True)),
    ((WALK, ANY), ((2, H1), -1, False), ((2, T1), 0, False)),
]
SAME_TABLE: list[Any] = [
    ((WALK, ILLEGAL), ((0, H1), -1, False), ((0, T1), -5, False)),
    ((END, WALK), ((0, H2), 0, False), ((0, H1), -1, False)),
    ((END, END), ((1, T1), 0, True, (0, O2)), ((0, H2), 0, False)),
    ((WALK, END), ((1, H1), -1, False), ((1, T1), 0, True, (0, O2))),
    ((END, WALK), ((1, H2), 0, False), ((1, H1), -1, False)),
    ((END, END), ((2, T1), 0, True, (1, O2)), ((1, H2), 0, False)),
    ((WALK, END), ((2, H1), -1, False), ((2, T1), 0, True, (1, O2))),
]
OFF_TABLE: list[Any] = [
    ((WALK, ILLEGAL), ((0, H1), -1, False), ((0, T1), -5, False)),
    ((END, WALK), ((0, H2), 0, False), ((0, H1), -1, False)),
    ((END, END), ((0, O2), 0, True), ((0, H2), 0, False)),
    ("reset", ((1, T1), None, None), ((0, H2), None, None)),
    ((WALK, END), ((1, H1), -1, False), ((0, O2), 0, True)),
    ("reset", ((1, H1), None, None), ((1, T1), None, None)),
    ((END, WALK), ((1, H2), 0, False), ((1, H1), -1, False)),
]


@pytest.mark.parametrize(
    ("mode", "table"), [(NEXT, NEXT_TABLE), (SAME, SAME_TABLE), (OFF, OFF_TABLE)]
)
def test_autoreset_goes_step_by_step_as_its_mode_says(mode: AutoresetMode, table: Any) -> None:
    # Fault 13.
    env = BibliogamoVectorEnv(2, short(), autoreset_mode=mode, illegal_reward=-5.0)
    # What each row's k-th game shows at its start: which game an observation belongs to.
    single = BibliogamoEnv(short())
    decks: list[list[Any]] = []
    for row in range(2):
        single.reset(seed=40 + row)
        decks.append([])
        for _ in range(3):
            decks[row].append((single.deal["seed"], single.snapshot()["prestige"]))
            single.reset()

    def cell(observation: Any) -> str:
        state = env.layout.decode(observation)
        return f"{state['turn']} {state['phase']}"

    observations, infos = env.reset(seed=40)
    assert [cell(o) for o in observations] == [T1, T1]
    ended = np.zeros(2, np.bool_)
    for actions, *rows in table:
        if actions == "reset":
            observations, infos = env.reset(options={"reset_mask": ended})
            assert infos["_action_mask"].tolist() == ended.tolist()
        else:
            observations, rewards, ended, truncated, infos = env.step(np.array(actions))
            assert not truncated.any()
            assert infos["_action_mask"].all()
        for row, ((episode, shown), reward, done, *final) in enumerate(rows):
            assert cell(observations[row]) == shown
            assert (env.deals[row]["seed"], env.deals[row]["prestige"]) == decks[row][episode]
            if reward is not None:
                assert (rewards[row], ended[row]) == (reward, done)
            has_final = "final_obs" in infos and bool(infos["_final_obs"][row])
            assert has_final == bool(final)
            if has_final:
                ((before, last),) = final
                assert cell(infos["final_obs"][row]) == last
                assert infos["_final_info"][row]
                assert before == episode - 1
                assert infos["final_info"]["action_mask"][row].nonzero()[0].tolist() == [0]
                assert infos["final_info"]["score"][row] == 0
        assert ("final_obs" in infos) == (mode == SAME and bool(ended.any()))
        assert ("illegal" in infos) == (actions == (WALK, ILLEGAL))
        if "illegal" in infos:
            assert infos["illegal"].tolist() == [None, "Order of decisions"]
            assert infos["_illegal"].tolist() == [False, True]


# What is remembered and what is touched ----------------------------------------------------------


@pytest.mark.parametrize("name", EDITIONS)
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_the_final_observations_score_is_the_sum_of_the_rewards(
    name: str, mode: AutoresetMode
) -> None:
    # Fault 14.
    n = 16
    env = BibliogamoVectorEnv(n, name, autoreset_mode=mode)
    observations, infos = env.reset(seed=1)
    play = Eager(env.engine.actions, n, np.random.default_rng(1))
    totals, games, scored = np.zeros(n), 0, 0
    waiting = np.zeros(n, np.bool_)
    while games < 2 * n:
        actions = play(env.action_masks())
        observations, rewards, terminated, _, infos = env.step(actions)
        totals += np.where(waiting, 0, rewards)
        assert not rewards[waiting].any()
        for row in np.flatnonzero(terminated):
            final = infos["final_obs"][row] if mode == SAME else observations[row]
            state = env.layout.decode(final)
            assert (state["phase"], state["score"]) == ("over", totals[row])
            kept = infos["final_info"]["score"] if mode == SAME else infos["score"]
            assert kept[row] == state["score"]
            scored += state["score"] > 0
            games += 1
        totals[terminated] = 0
        waiting = terminated & (mode == NEXT)
        if mode == OFF and terminated.any():
            env.reset(options={"reset_mask": terminated})
    assert scored > 0


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_what_was_returned_stays_as_it_was(mode: AutoresetMode) -> None:
    # Fault 15.
    env = BibliogamoVectorEnv(4, short(), autoreset_mode=mode)
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
    for _ in range(12):
        result = env.step(env.action_masks().argmax(axis=1))
        keep(result)
        if mode == OFF and result[2].any():
            keep(env.reset(options={"reset_mask": result[2]}))
    assert all(array.tobytes() == before for array, before in kept)
    assert len(kept) > 100


@pytest.mark.parametrize("mode", [NEXT, SAME])
def test_statistics_of_five_episodes_in_a_row_are_exact(mode: AutoresetMode) -> None:
    # Fault 16: Gymnasium's own wrapper, against single environments that play the same.
    n = 3
    env = BibliogamoVectorEnv(n, "bibliogamo-small", autoreset_mode=mode)
    wrapped = RecordEpisodeStatistics(env)
    wrapped.reset(seed=5)
    found: list[list[tuple[float, int]]] = [[] for _ in range(n)]
    while min(map(len, found)) < 5:
        *_, infos = wrapped.step(env.action_masks().argmax(axis=1))
        for row in np.flatnonzero(infos.get("_episode", np.zeros(n))).tolist():
            episode = infos["episode"]
            found[row].append((float(episode["r"][row]), int(episode["l"][row])))
    for row in range(n):
        single = BibliogamoEnv("bibliogamo-small")
        single.reset(seed=5 + row)
        for episode in found[row]:
            total, length, over = 0.0, 0, False
            while not over:
                _, reward, over, _, _ = single.step(int(single.action_masks().argmax()))
                total, length = total + reward, length + 1
            assert episode == (total, length)
            single.reset()


def test_resetting_some_rows_touches_no_other_and_not_the_options() -> None:
    # Fault 18.
    n = 6
    env = BibliogamoVectorEnv(n, "bibliogamo-tiny", autoreset_mode=OFF)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(25):
        over = env.step(choose(env.action_masks(), rng))[2]
        mask = over | (rng.random(n) < 0.2)
        if not mask.any():
            continue
        others = np.flatnonzero(~mask)
        before, observed = env.clone_state(), env.engine.observe()
        masks = env.engine.mask.copy()
        options = {"reset_mask": mask.copy(), "prestige": 1, "else": "kept"}
        observations, infos = env.reset(options=options)
        assert options.keys() == {"reset_mask", "prestige", "else"}
        assert np.array_equal(options["reset_mask"], mask)  # type: ignore[arg-type]
        after = env.clone_state()
        assert after.state.take(others).equal(before.state.take(others))
        for field in ("base", "episode", "seeded"):
            assert np.array_equal(getattr(after, field)[others], getattr(before, field)[others])
        assert env.engine.mask[others].tobytes() == masks[others].tobytes()
        assert observations[others].tobytes() == observed[others].tobytes()
        assert (after.episode[mask] == before.episode[mask] + np.uint64(1)).all()
        assert (env.engine.state.prestige[mask] == 1).all()
        assert infos["_action_mask"].tolist() == mask.tolist()
        assert np.array_equal(infos["action_mask"][mask], env.engine.mask[mask])


# Wrong input -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("illegal", ["penalize", "raise"])
@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 0], r"actions: expected 3 integers, one for each game, got shape \(2,\)"),
        ([[0, 0, 0]], r"expected 3 integers, one for each game, got shape \(1, 3\)"),
        (0, r"expected 3 integers, one for each game, got shape \(\)"),
        ([0.0, 0.0, 0.0], r"expected 3 integers, one for each game, got shape \(3,\) of float64"),
        ([True, True, True], r"expected 3 integers, one for each game, got shape \(3,\) of bool"),
        ([19, 19, 20], r"actions\[2\]: 20 is not an action; expected 0\.\.19"),
        ([19, -1, 4], r"actions\[1\]: -1 is not an action; expected 0\.\.19"),
    ],
)
def test_wrong_actions_raise_at_once_and_change_nothing(
    mode: AutoresetMode, illegal: str, actions: Any, message: str
) -> None:
    # Fault 19.
    env = BibliogamoVectorEnv(3, "bibliogamo-tiny", autoreset_mode=mode, illegal_action=illegal)
    env.reset(seed=0)
    before = env.clone_state()
    with pytest.raises(IncunabulaError, match=message):
        env.step(np.array(actions))
    assert env.clone_state().state.equal(before.state)


@pytest.mark.parametrize("illegal", ["penalize", "raise"])
def test_errors_name_the_right_row_while_another_waits_for_its_reset(illegal: str) -> None:
    env = BibliogamoVectorEnv(3, short(), illegal_action=illegal)
    env.reset(seed=0)
    state = env.clone_state()
    alone = BibliogamoVectorEnv(3, short(), autoreset_mode=OFF)
    alone.restore_state(state)
    for action in (WALK, END, END):
        alone.engine.apply(np.array([action]), np.array([0]))
    env.restore_state(alone.clone_state())  # row 0 is over, rows 1 and 2 have just begun
    before = env.clone_state()
    with pytest.raises(IncunabulaError, match=r"^actions\[2\]: 20 is not an action"):
        env.step(np.array([99, WALK, 20]))
    if illegal == "raise":
        with pytest.raises(IllegalActionError, match=r"^row 2: action 4 is illegal"):
            env.step(np.array([ANY, WALK, ILLEGAL]))
    assert env.clone_state().state.equal(before.state)
    assert np.array_equal(env.clone_state().episode, before.episode)
    _, _, _, _, infos = env.step(np.array([99, WALK, WALK]))
    assert "illegal" not in infos
    assert env.clone_state().episode.tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("mask", "found"),
    [
        ([True, False], r"got shape \(2,\) of bool"),
        ([1, 0, 1], r"got shape \(3,\) of int64"),
        ([False] * 3, "at least one True"),
        ("all", r"got shape \(\)"),
    ],
)
def test_a_wrong_reset_mask_is_refused(mask: Any, found: str) -> None:
    env = BibliogamoVectorEnv(3, "bibliogamo-tiny", autoreset_mode=OFF)
    env.reset(seed=0)
    before = env.clone_state()
    with pytest.raises(IncunabulaError, match=found):
        env.reset(options={"reset_mask": np.array(mask)})
    assert env.clone_state().state.equal(before.state)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 0}, "num_envs: expected at least 1, got 0"),
        ({"num_envs": 2.0}, "num_envs: expected an integer, got 2.0"),
        ({"num_envs": True}, "num_envs: expected an integer, got True"),
        ({"autoreset_mode": "never"}, "autoreset_mode: expected one of NextStep, SameStep, Dis"),
        ({"prestige": [0, 1]}, "prestige: expected an integer in 0..6, got [0, 1]"),
    ],
)
def test_a_bad_option_gives_one_clear_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(IncunabulaError) as e:
        BibliogamoVectorEnv(**options)
    assert message in str(e.value)


def test_seeds_may_be_given_row_by_row_and_must_be_as_many() -> None:
    env = BibliogamoVectorEnv(3, "bibliogamo-tiny")
    for seeds in ([5, 6, 7], (5, 6, 7), np.array([5, 6, 7]), 5, np.int64(5), np.array(5)):
        env.reset(seed=seeds)  # type: ignore[arg-type]
        assert [deal["seed"] for deal in env.deals] == [5, 6, 7]
    for wrong in ([1, 2], [1, 2, 3, 4], [1, 2, 0.5], "123", 0.5):
        with pytest.raises(IncunabulaError, match=r"^seed: expected"):
            env.reset(seed=wrong)  # type: ignore[arg-type]
    with pytest.raises(IncunabulaError, match=r"call reset\(\) first"):
        BibliogamoVectorEnv(2, "bibliogamo-tiny").step(np.zeros(2, int))
