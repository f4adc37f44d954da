"""A Stepper: the same bits on both backends, the games of an environment, and what it refuses."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.vector import AutoresetMode

from incunabula.envs.adapters.games import Games
from incunabula.envs.adapters.vector import GamesVectorEnv
from incunabula.envs.bibliogamo.deals import BibliogamoDeals
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.chance import TapeError, episode_seeds
from incunabula.envs.compiled.functions import interpreted
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IllegalActionError, IncunabulaError
from incunabula.envs.scriptorium.deals import ScriptoriumDeals
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.envs.stepper import Stepper
from tests.backends import needs_numba
from tests.pair import LAST_SEED, Play, assert_same_state, make, same, with_kernels

BACKENDS = ["numpy", pytest.param("numba", marks=needs_numba)]
TABLES = [("bibliogamo", 1), ("scriptorium", 2), ("scriptorium", 3), ("scriptorium", 4)]
TINY = [("bibliogamo-tiny", 1), ("scriptorium-tiny", 3)]
SEEN = ("observation", "action_mask", "reward", "terminated", "final_score", "base", "episode")


def stepper(name: str, players: int, rows: int, backend: str, seed: Any = 0) -> Stepper:
    return Stepper(make(name, players, rows, backend), seed)


def what_is_seen(games: Stepper) -> list[npt.NDArray[Any]]:
    return [getattr(games, name) for name in SEEN]


def assert_same(one: Stepper, two: Stepper) -> None:
    """Everything that two steppers show and hold is the same, bit for bit."""
    assert [k for k, *pair in zip(SEEN, what_is_seen(one), what_is_seen(two), strict=True)
            if not same(*pair)] == []  # fmt: skip
    assert_same_state(one.engine.state, two.engine.state)


def play_both(one: Stepper, two: Stepper, steps: int, luck: int = 0) -> int:
    """Step both alike and compare them after each step; how many games ended."""
    play, ended = Play(one.engine, np.random.default_rng(luck)), 0
    assert_same(one, two)
    for _ in range(steps):
        actions = play(one.action_mask)
        one.step(actions)
        two.step(actions)
        assert_same(one, two)
        assert one.action_mask.any(axis=1).all()
        ended += int(np.count_nonzero(one.terminated))
    return ended


@needs_numba
@pytest.mark.parametrize(("name", "players"), TABLES)
@pytest.mark.parametrize(("rows", "steps"), [(1, 800), (7, 300), (130, 500), (1025, 12)])
def test_every_bit_is_the_same_on_both_backends(
    name: str, players: int, rows: int, steps: int
) -> None:
    one, two = (stepper(name, players, rows, each, LAST_SEED - 1) for each in ("numpy", "numba"))
    ended = play_both(one, two, steps, luck=rows)
    assert steps < 500 or ended >= rows


@pytest.mark.parametrize(("name", "players"), TINY)
def test_interpreted_kernels_leave_the_same(name: str, players: int) -> None:
    with interpreted():
        one = Stepper(make(name, players, 3, "numpy"), 5)
        two = Stepper(with_kernels(make(name, players, 3, "numpy")), 5)
        assert play_both(one, two, 200) >= 3


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("name", "players"), [*TINY, ("scriptorium", 2)])
def test_rows_play_the_games_of_an_environment_seeded_one_apart(
    name: str, players: int, backend: str
) -> None:
    rows, seed = 5, LAST_SEED - 2
    games = stepper(name, players, rows, backend, seed)
    env = environment(name, players, rows)
    seen, _ = env.reset(seed=seed)
    play = Play(games.engine, np.random.default_rng(0))
    earned, start = np.zeros((rows, players), np.int64), games.engine.state.score.copy()
    ended = np.zeros(rows, np.int64)
    while ended.min() < 3:
        assert same(games.observation, seen)
        assert np.array_equal(games.action_mask, env.engine.mask)
        assert_same_state(games.engine.state, env.engine.state)
        actions = play(games.action_mask)
        games.step(actions)
        seen, reward, terminated, _, info = env.step(actions)
        assert np.array_equal(games.reward, reward.reshape(rows, players))
        assert np.array_equal(games.terminated, terminated)
        earned += games.reward
        if terminated.any():
            final = info["final_info"]["score"].reshape(rows, players)[terminated]
            assert np.array_equal(games.final_score[terminated], final)
            # What a game has paid is its score less the score at the start.
            from_start = earned + start.reshape(rows, players)
            assert np.array_equal(from_start[terminated], final)
            earned[terminated] = 0
        ended += terminated
        assert np.array_equal(games.episode, ended.astype(np.uint64))
    bases = np.array([(seed + i) % 2**64 for i in range(rows)], np.uint64)
    assert np.array_equal(games.base, bases)
    assert np.array_equal(games.engine.state.seed, episode_seeds(bases, games.episode))


def environment(name: str, players: int, rows: int) -> GamesVectorEnv:
    """The vector environment of these games, on the NumPy backend."""
    engine = make(name, players, rows, "numpy")
    if isinstance(engine, ScriptoriumEngine):
        games: Games[Any] = Games(engine, ScriptoriumDeals(engine, None), "raise", 0.0)
    else:
        assert isinstance(engine, BibliogamoEngine)
        games = Games(engine, BibliogamoDeals(engine, None, None), "raise", 0.0)
    return GamesVectorEnv(games, None, AutoresetMode.SAME_STEP)


@pytest.mark.parametrize("backend", BACKENDS)
def test_each_row_may_have_a_seed_of_its_own(backend: str) -> None:
    seeds = [7, 0, LAST_SEED, 2**64 + 7]
    games = stepper("bibliogamo", 1, 4, backend, seeds)
    assert games.base.tolist() == [7, 0, LAST_SEED, 7]
    play = Play(games.engine, np.random.default_rng(1))
    for _ in range(300):
        actions = play(games.action_mask)
        actions[3] = actions[0]
        games.step(actions)
        assert np.array_equal(games.observation[0], games.observation[3])
        assert np.array_equal(games.reward[0], games.reward[3])
    assert games.episode[0] > 0
    alone = stepper("bibliogamo", 1, 1, backend, [LAST_SEED])
    other = stepper("bibliogamo", 1, 1, backend, LAST_SEED)
    assert same(alone.observation, other.observation)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "seed", [[1, 2], [], [1.5] * 3, "abc", True, 1.5, None, {0: 1, 1: 2, 2: 3}]
)
def test_wrong_seeds_are_refused(backend: str, seed: Any) -> None:
    with pytest.raises(IncunabulaError, match=r"^seeds?: expected"):
        stepper("bibliogamo-tiny", 1, 3, backend, seed)


# Actions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("name", "players"), TINY)
def test_an_illegal_action_raises_and_nothing_has_changed(
    name: str, players: int, backend: str
) -> None:
    games = stepper(name, players, 4, backend)
    play = Play(games.engine, np.random.default_rng(0))
    for number in range(40):
        games.step(play(games.action_mask))
        state, before = games.engine.state.copy(), copy.deepcopy(what_is_seen(games))
        actions, row = play(games.action_mask), number % 4
        illegal = np.flatnonzero(~games.action_mask[row])
        actions[row] = illegal[number % len(illegal)]
        with pytest.raises(IllegalActionError) as error:
            games.step(actions)
        assert (error.value.row, error.value.action) == (row, actions[row])
        for outside in (-1, games.engine.actions.n, 2**62, -(2**63)):
            actions[row] = outside
            with pytest.raises(IncunabulaError, match=rf"^actions\[{row}\]: {outside} is not an"):
                games.step(actions)
        assert same(what_is_seen(games), before)
        assert_same_state(games.engine.state, state)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "wrong",
    [
        *(lambda a: a[:-1], lambda a: np.append(a, a[-1]), lambda a: a[:, None], lambda a: a[None]),
        *(lambda a: a[:0], lambda a: a[0], lambda a: int(a[0]), lambda a: None),
        *(lambda a: a.astype(float), lambda a: a > 0, lambda a: [str(x) for x in a]),
        *(lambda a: a.astype(object), lambda a: [float(x) for x in a]),
    ],
)
def test_actions_of_the_wrong_shape_or_type_are_refused(
    backend: str, wrong: Callable[[Any], Any]
) -> None:
    games = stepper("bibliogamo-tiny", 1, 3, backend)
    for _ in range(2):  # before and after a step
        actions = games.action_mask.argmax(axis=1)
        state, before = games.engine.state.copy(), copy.deepcopy(what_is_seen(games))
        with pytest.raises(IncunabulaError, match=r"^actions: expected"):
            games.step(wrong(actions))
        assert same(what_is_seen(games), before)
        assert_same_state(games.engine.state, state)
        games.step(actions)


@pytest.mark.parametrize("backend", BACKENDS)
def test_actions_may_be_any_integers_that_lie_anywhere(backend: str) -> None:
    def fixed(actions: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        actions = actions.copy()
        actions.flags.writeable = False
        return actions

    ways: list[Callable[[npt.NDArray[np.intp]], Any]] = [
        *(fixed, np.ndarray.tolist, tuple, lambda a: a[::-1].copy()[::-1]),
        *(lambda a: np.repeat(a, 2)[::2], lambda a: a.astype(">i8")),
        *(lambda a, t=kind: a.astype(t) for kind in (np.int8, np.uint8, np.int32, np.uint64)),
        lambda a: np.frombuffer(b"-" + a.tobytes(), np.uint8)[1:].view(np.intp),
    ]
    for rows in (1, 4):
        one, two = (stepper("bibliogamo-tiny", 1, rows, each) for each in ("numpy", backend))
        play = Play(one.engine, np.random.default_rng(0))
        for way in ways:
            actions = play(one.action_mask)
            one.step(actions)
            two.step(way(actions))
            assert_same(one, two)


# Memory ------------------------------------------------------------------------------------------


@needs_numba
@pytest.mark.parametrize(("name", "players"), TINY)
def test_arrays_that_grow_are_found_again_and_tapes_that_run_out_raise(
    name: str, players: int
) -> None:
    one, two = (stepper(name, players, 3, each) for each in ("numpy", "numba"))
    play_both(one, two, 5)
    for row, rounds in ((1, 100), (0, 1)):
        tape = long_tape(one.engine, rounds)
        for games in (one, two):
            grown = games.engine.state.grown
            games.engine.deal_tape(row, tape)
            assert (games.engine.state.grown > grown) == (row == 1)
            games.engine.observe(games.observation)
        gc.collect()
        if row == 1:
            assert play_both(one, two, 200) > 3
    play, ran_out = Play(one.engine, np.random.default_rng(0)), False
    for _ in range(3000):
        if one.terminated[0]:  # the game came to its end first
            for games in (one, two):
                games.engine.deal_tape(0, tape)
                games.engine.observe(games.observation)
        actions = play(one.action_mask)
        before, state = copy.deepcopy(what_is_seen(one)), one.engine.state.copy()
        said: list[str] = []
        for games in (one, two):
            try:
                games.step(actions)
            except TapeError as error:
                said.append(str(error))
        ran_out = len(said) > 0
        if ran_out:
            assert said[0] == said[1]
            assert same(what_is_seen(one), before)
            assert_same_state(one.engine.state, state)
        assert_same(one, two)
        if ran_out:
            break
    assert ran_out


def long_tape(engine: Engine, rounds: int) -> dict[str, Any]:
    t = engine.tables
    if engine.num_players == 1:
        return {"shuffles": [[*range(t.cards)]] * rounds, "prestige": 0}
    return {"bag": [*range(t.designs)] * 9, "lecterns": [[*range(t.lecterns)]] * rounds}


@needs_numba
@pytest.mark.parametrize(("name", "players"), TINY)
def test_steppers_of_other_sizes_come_and_go(name: str, players: int) -> None:
    kept = [(stepper(name, players, 3, "numpy"), stepper(name, players, 3, "numba"))]
    for rows in (1, 900, 2, 64):
        # The engine of each is known to its stepper alone.
        passing = stepper(name, players, rows, "numba")
        play = Play(passing.engine, np.random.default_rng(rows))
        for _ in range(10):
            passing.step(play(passing.action_mask))
            play_both(*kept[0], 1, luck=rows)
        del passing, play
        gc.collect()
        kept.append(
            (stepper(name, players, 5, "numpy", rows), stepper(name, players, 5, "numba", rows))
        )
        for one, two in kept:
            play_both(one, two, 10)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("name", "players"), TINY)
def test_a_copy_goes_on_as_the_original_does_and_leaves_it_alone(
    name: str, players: int, backend: str
) -> None:
    games = stepper(name, players, 4, backend, 3)
    play = Play(games.engine, np.random.default_rng(0))
    for _ in range(30):
        games.step(play(games.action_mask))
    before, state = copy.deepcopy(what_is_seen(games)), games.engine.state.copy()
    for twin in (copy.deepcopy(games), pickle.loads(pickle.dumps(games))):
        assert twin.action_mask is twin.engine.mask
        assert play_both(twin, copy.deepcopy(twin), 60) > 0
        assert same(what_is_seen(games), before)
        assert_same_state(games.engine.state, state)
    assert play_both(copy.deepcopy(games), games, 60) > 0


@needs_numba
def test_threads_that_step_at_once_step_as_one_after_the_other() -> None:
    def play(name: str, players: int, seed: int, seen: list[Any]) -> None:
        games = stepper(name, players, 64, "numba", seed)
        choose = Play(games.engine, np.random.default_rng(seed))
        for _ in range(150):
            games.step(choose(games.action_mask))
            seen += [games.observation.copy(), games.reward.copy(), games.episode.copy()]

    tables = [("bibliogamo", 1, 0), ("bibliogamo", 1, 9), ("scriptorium", 2, 2)]
    alone: list[list[Any]] = [[] for _ in tables]
    at_once: list[list[Any]] = [[] for _ in tables]
    for table, seen in zip(tables, alone, strict=True):
        play(*table, seen)
    threads = [
        Thread(target=play, args=(*each, seen)) for each, seen in zip(tables, at_once, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same(at_once, alone)
