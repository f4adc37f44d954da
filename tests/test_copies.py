"""Copies of environments: deep copies, pickles, cloned states, and determinised ones."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from incunabula.envs.adapters.gymnasium import BibliogamoEnv, BibliogamoVectorEnv
from incunabula.envs.errors import IllegalActionError, IncunabulaError
from tests.play import EDITIONS, deck_order, edition

EVERY = list(range(8))
COPIES: dict[str, Callable[[Any], Any]] = {
    "deep copy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "old pickle": lambda env: pickle.loads(pickle.dumps(env, protocol=2)),
}


def begun(name: str, steps: int) -> BibliogamoEnv:
    """An environment in its third episode, so many random steps in (or at the end)."""
    env = BibliogamoEnv(name, render_mode="ansi")
    env.reset(seed=4)
    env.reset()
    env.reset()
    rng = np.random.default_rng(steps)
    for _ in range(steps):
        if env.engine.mask.any():
            env.step(int(rng.choice(np.flatnonzero(env.action_masks()))))
    return env


def go_on(env: BibliogamoEnv, steps: int = 50) -> list[Any]:
    """What the next steps of random legal play show, over the ends of episodes."""
    rng = np.random.default_rng(0)
    seen: list[Any] = [(env.action_masks().tobytes(), env.snapshot(), env.deal)]
    over = not env.engine.mask.any()
    for _ in range(steps):
        if over:
            observation, info = env.reset()
            reward, over = 0.0, False
        else:
            action = int(rng.choice(np.flatnonzero(env.action_masks())))
            observation, reward, over, _, info = env.step(action)
        seen.append((observation.tobytes(), reward, over, info["action_mask"].tobytes()))
        seen.append((env.snapshot(), env.deal, env.render()))
    return seen


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("steps", [0, 9, 1000], ids=["at the start", "in mid-game", "at the end"])
@pytest.mark.parametrize("name", EDITIONS)
def test_a_copy_goes_on_as_the_original_does_and_leaves_it_alone(
    name: str, steps: int, how: str
) -> None:
    # Fault 26.
    env = begun(name, steps)
    before, state = (env.snapshot(), env.deal), env.engine.state.copy()
    twin = COPIES[how](env)
    theirs = go_on(twin)
    assert (env.snapshot(), env.deal) == before
    assert env.engine.state.equal(state)
    assert go_on(env) == theirs


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_keeps_every_option(how: str) -> None:
    env = BibliogamoEnv(
        edition("bibliogamo-tiny", days=9),
        prestige=1,
        tape={"shuffles": [EVERY[::-1]] * 9},
        illegal_reward=-3.0,
    )
    env.reset(seed=0)
    twin = COPIES[how](env)
    assert twin.deal == env.deal
    assert twin.step(6)[1] == -3.0
    assert twin.engine.edition == env.engine.edition
    assert twin.engine.edition.sha256 == env.engine.edition.sha256
    assert twin.observation_space == env.observation_space
    assert go_on(twin) == go_on(env)
    strict = COPIES[how](BibliogamoEnv("bibliogamo-tiny", illegal_action="raise"))
    strict.reset(seed=0)
    with pytest.raises(IllegalActionError):
        strict.step(6)


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_a_copy_of_a_vector_environment_goes_on_as_the_original_does(
    mode: AutoresetMode, how: str
) -> None:
    env = BibliogamoVectorEnv(5, "bibliogamo-tiny", autoreset_mode=mode)
    env.reset(seed=1)
    over = np.zeros(5, np.bool_)
    while not over.any():  # stop where a row waits for its reset
        over = env.step(env.action_masks().argmax(axis=1))[2]
    twin = COPIES[how](env)
    if mode == AutoresetMode.DISABLED:
        for each in (env, twin):
            each.reset(options={"reset_mask": np.ones(5, np.bool_)})
    for _ in range(3):
        actions = env.action_masks().argmax(axis=1)
        got: Any = twin.step(actions)
        want: Any = env.step(actions)
        for a, b in zip(got[:4], want[:4], strict=True):
            assert a.tobytes() == b.tobytes()
        assert got[4]["action_mask"].tobytes() == want[4]["action_mask"].tobytes()
    assert twin.deals == env.deals
    assert twin.metadata == env.metadata


def test_errors_survive_pickling() -> None:
    error = IllegalActionError(3, 7, "R8", "no cube is left")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.row, again.clause) == (str(error), 3, "R8")


# Cloned states -----------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [0, 9, 1000], ids=["at the start", "in mid-game", "at the end"])
@pytest.mark.parametrize("name", EDITIONS)
def test_a_restored_state_goes_on_as_before_as_often_as_wanted(name: str, steps: int) -> None:
    env = begun(name, steps)
    state = env.clone_state()
    first = go_on(env)
    for _ in range(2):
        env.restore_state(state)
        assert go_on(env) == first
    other = BibliogamoEnv(name, render_mode="ansi")
    other.restore_state(pickle.loads(pickle.dumps(state)))  # into one that was never reset
    assert go_on(other) == first


def test_a_cloned_state_holds_a_tape_too() -> None:
    env = BibliogamoEnv("bibliogamo-tiny")
    env.reset(seed=0)
    plain = env.clone_state()
    env.reset(options={"tape": {"shuffles": [EVERY] * 3, "prestige": 1}})
    taped, deal = env.clone_state(), env.deal
    env.restore_state(plain)
    assert env.deal["seed"] == 0
    env.restore_state(taped)
    assert env.deal == deal
    other = BibliogamoEnv("bibliogamo-tiny")
    other.restore_state(taped)
    assert other.deal == deal
    # What comes next is the episode after, from the seed again.
    other.reset()
    assert other.deal["seed"] == 0x6E789E6AA1B965F4


def test_a_vector_environment_is_restored_with_the_rows_that_wait_for_their_reset() -> None:
    for mode in AutoresetMode:
        env = BibliogamoVectorEnv(4, "bibliogamo-tiny", autoreset_mode=mode)
        env.reset(seed=3)
        over = np.zeros(4, np.bool_)
        while not over.any():
            over = env.step(env.action_masks().argmax(axis=1))[2]
        state, masks = env.clone_state(), env.action_masks()
        other = BibliogamoVectorEnv(4, "bibliogamo-tiny", autoreset_mode=mode)
        other.restore_state(state)
        assert other.action_masks().tobytes() == masks.tobytes()
        if mode == AutoresetMode.DISABLED:
            with pytest.raises(IncunabulaError, match="its game is over"):
                other.step(masks.argmax(axis=1))
            continue
        want: Any = env.step(masks.argmax(axis=1))
        got: Any = other.step(masks.argmax(axis=1))
        for a, b in zip(got[:4], want[:4], strict=True):
            assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize(
    "other",
    [
        BibliogamoEnv("bibliogamo-small"),
        BibliogamoEnv(edition("bibliogamo-tiny", days=5)),
        BibliogamoVectorEnv(2, "bibliogamo-tiny"),
    ],
    ids=["another edition", "changed rules", "another number of games"],
)
def test_a_state_of_another_edition_or_number_of_games_is_refused(other: Any) -> None:
    env = BibliogamoEnv("bibliogamo-tiny")
    env.reset(seed=0)
    before = env.snapshot()
    with pytest.raises(IncunabulaError, match=r"^state: it is of another edition or number of"):
        env.restore_state(other.clone_state())
    for wrong in (None, {}, before):
        with pytest.raises(IncunabulaError, match=r"^state: expected what clone_state returned"):
            env.restore_state(wrong)  # type: ignore[arg-type]
    assert env.snapshot() == before


# Determinised copies -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", EDITIONS)
def test_a_determinised_copy_agrees_in_public_and_differs_in_what_is_hidden(name: str) -> None:
    # Fault 27.
    env = begun(name, 7)
    deck = deck_order(env.engine, 0)
    shown = (env.engine.observe().tobytes(), env.action_masks().tobytes(), env.snapshot())
    orders = set()
    for seed in range(20):
        twin = copy.deepcopy(env)
        twin.determinise(seed)
        assert (twin.engine.observe().tobytes(), twin.action_masks().tobytes()) == shown[:2]
        assert twin.snapshot() == shown[2]
        orders.add(tuple(deck_order(twin.engine, 0)))
        assert sorted(deck_order(twin.engine, 0)) == sorted(deck)
        again = copy.deepcopy(env)
        again.determinise(seed)
        assert go_on(again, 30) == go_on(twin, 30)
    assert len(orders) > 5
    assert deck_order(env.engine, 0) == deck


def test_later_shuffles_of_a_determinised_game_are_fresh_too() -> None:
    env = BibliogamoEnv("bibliogamo", tape={"shuffles": [list(range(47))], "prestige": 0})
    env.reset(seed=0)
    state = env.clone_state()
    futures = set()
    for seed in range(8):
        env.restore_state(state)
        env.determinise(seed)
        while env.engine.state.shuffles[0] < 2:  # the tape would have run out
            env.step(int(env.action_masks().argmax()))  # hire and pay rather than end
        futures.add(tuple(deck_order(env.engine, 0)))
    assert len(futures) == 8
    env.reset()
    assert "tape" in env.deal  # what comes after is the environment's own


def test_no_seed_given_to_determinise_brings_back_the_real_future() -> None:
    # A planner that numbers its samples 0, 1, 2, … must not meet the seed of the game itself.
    env = BibliogamoEnv("bibliogamo")
    env.reset(seed=5)
    deck = deck_order(env.engine, 0)
    env.determinise(5)
    assert deck_order(env.engine, 0) != deck


def test_every_order_of_a_determinised_deck_is_about_equally_likely() -> None:
    env = BibliogamoEnv("bibliogamo-tiny")
    env.reset(seed=0)
    n = 1200
    tops = np.zeros(8, int)
    for seed in range(n):
        env.determinise(1000 + seed)
        tops[deck_order(env.engine, 0)[0]] += 1
    deck = sorted(deck_order(env.engine, 0))
    expected = n / len(deck)
    assert tops.sum() == tops[deck].sum() == n
    assert float(((tops[deck] - expected) ** 2 / expected).sum()) < 16.3  # 99.9%, 3 degrees


def test_rows_of_a_vector_environment_are_determinised_each_by_its_own_seed() -> None:
    env = BibliogamoVectorEnv(3, "bibliogamo")
    env.reset(seed=[7, 7, 7])
    decks = [deck_order(env.engine, row) for row in range(3)]
    assert decks[0] == decks[1] == decks[2]
    env.determinise([1, 2, 1])
    after = [deck_order(env.engine, row) for row in range(3)]
    assert after[0] == after[2] != after[1]
    assert decks[0] not in after
    with pytest.raises(IncunabulaError, match="seeds: expected 3, got 2"):
        env.determinise([1, 2])
