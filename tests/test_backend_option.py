"""The option ``backend`` of engines and environments: who takes it, copies, and cloned states."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

from incunabula.agents.seat.gymnasium import ScriptoriumEnv, ScriptoriumVectorEnv
from incunabula.envs import backend as backend_module
from incunabula.envs.adapters.gymnasium import BibliogamoEnv, BibliogamoVectorEnv
from incunabula.envs.backend import chosen_backend, installed_backends
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.compiled.functions import can_compile, numba_is_there
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.envs.stepper import Stepper
from tests.backends import BOTH, NOT_INSTALLED, as_python, needs_numba
from tests.play import scripted

__all__ = ["as_python"]

ROWS = 3
Make = Callable[..., Any]


def bibliogamo_sb3(**options: Any) -> Any:
    pytest.importorskip("stable_baselines3")
    from incunabula.envs.adapters.sb3 import BibliogamoSB3VecEnv

    return BibliogamoSB3VecEnv(ROWS, "bibliogamo-tiny", seed=0, **options)


def scriptorium_sb3(**options: Any) -> Any:
    pytest.importorskip("stable_baselines3")
    from incunabula.agents.seat.sb3 import ScriptoriumSB3VecEnv

    return ScriptoriumSB3VecEnv(ROWS, "scriptorium-tiny", seed=0, opponents="random", **options)


def pettingzoo(**options: Any) -> Any:
    pytest.importorskip("pettingzoo")
    from incunabula.envs import scriptorium_v0

    return scriptorium_v0.raw_env(edition="scriptorium-tiny", **options)


def made(name: str, **options: Any) -> Any:
    return gymnasium.make(f"incunabula/{name}-tiny-v0", **options)


def made_vec(name: str, **options: Any) -> Any:
    return gymnasium.make_vec(f"incunabula/{name}-tiny-v0", num_envs=ROWS, **options)


ENVIRONMENTS: dict[str, Make] = {
    "Bibliogamo": lambda **o: BibliogamoEnv("bibliogamo-tiny", **o),
    "Bibliogamo, batch": lambda **o: BibliogamoVectorEnv(ROWS, "bibliogamo-tiny", **o),
    "Bibliogamo, SB3": bibliogamo_sb3,
    "Bibliogamo, make": lambda **o: made("Bibliogamo", **o),
    "Bibliogamo, make_vec": lambda **o: made_vec("Bibliogamo", **o),
    "Scriptorium": lambda **o: ScriptoriumEnv("scriptorium-tiny", opponents="random", **o),
    "Scriptorium, batch": lambda **o: ScriptoriumVectorEnv(
        ROWS, "scriptorium-tiny", opponents="random", **o
    ),
    "Scriptorium, SB3": scriptorium_sb3,
    "Scriptorium, make": lambda **o: made("Scriptorium", opponents="random", **o),
    "Scriptorium, make_vec": lambda **o: made_vec("Scriptorium", opponents="random", **o),
    "Scriptorium, PettingZoo": pettingzoo,
}
ENGINES: dict[str, Make] = {
    "bibliogamo": lambda backend="numpy": BibliogamoEngine("bibliogamo-tiny", ROWS, backend),
    "scriptorium": lambda backend="numpy": ScriptoriumEngine("scriptorium-tiny", ROWS, 3, backend),
}
COPIES: dict[str, Callable[[Any], Any]] = {
    "deep copy": copy.deepcopy,
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
}

each_environment = pytest.mark.parametrize("environment", ENVIRONMENTS)
each_game = pytest.mark.parametrize("game", ENGINES)
each_copy = pytest.mark.parametrize("how", COPIES)


# Names -------------------------------------------------------------------------------------------


@needs_numba
def test_auto_is_numba_unless_nothing_is_compiled() -> None:
    assert (chosen_backend("auto"), installed_backends()) == ("numpy", ("numpy",))
    assert chosen_backend("numba") == "numba"  # who asks for it gets it


def test_auto_is_numba_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend_module, "can_compile", lambda: True)
    assert (chosen_backend("auto"), installed_backends()) == ("numba", BOTH)


def test_everything_works_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend_module, "why_no_numba", lambda: NOT_INSTALLED)
    assert ENGINES["bibliogamo"]("auto").backend.name == "numpy"
    with pytest.raises(IncunabulaError, match=r"^backend: numba is not installed: pip install"):
        ENGINES["bibliogamo"]("numba")


# Environments ------------------------------------------------------------------------------------


@each_environment
def test_environments_take_the_option(environment: str) -> None:
    def name(**options: Any) -> Any:
        return ENVIRONMENTS[environment](**options).unwrapped.engine.backend.name

    assert (name(), name(backend="numpy"), name(backend="auto")) == ("numpy",) * 3
    with pytest.raises(IncunabulaError, match=r"^backend: .*'nunba' \(did you mean 'numba'\?\)$"):
        name(backend="nunba")
    if numba_is_there():
        assert name(backend="numba") == "numba"


def seen_of(env: Any, steps: int = 12) -> list[bytes]:
    """What some steps of legal play show, whatever kind of environment it is."""
    env = env.unwrapped
    seen = []
    for k in range(steps):
        if hasattr(env, "agent_selection"):
            if not env.agents or all(env.terminations.values()):
                env.reset()
            masks = env.engine.mask.copy()
        else:
            masks = env.games.action_masks()
        rows = np.arange(len(masks), dtype=np.uint64)
        actions = scripted(masks, rows, np.full(len(masks), k, np.uint64))
        if hasattr(env, "agent_selection"):
            env.step(int(actions[0]))
            seen.append(env.observe(env.agent_selection)["observation"].tobytes())
        elif env.engine.num_envs == 1:
            observation, reward, over, *_ = env.step(int(actions[0]))
            seen.append(observation.tobytes() + np.float64(reward).tobytes())
            if over:
                env.reset()
        else:
            observation, reward, *_ = env.step(actions)
            seen.append(observation.tobytes() + np.asarray(reward, np.float64).tobytes())
        seen.append(env.engine.mask.tobytes())
    return seen


def begun(environment: str, backend: str) -> Any:
    """An environment some steps into its second game or so."""
    env = ENVIRONMENTS[environment](backend=backend)
    env.reset() if "SB3" in environment else env.reset(seed=5)
    seen_of(env, 10)
    return env


@needs_numba
@each_environment
def test_environments_play_the_same_games_with_both(environment: str) -> None:
    one, other = (seen_of(begun(environment, name), 30) for name in BOTH)
    assert one == other


@needs_numba
@each_copy
@each_environment
def test_a_copy_of_an_environment_keeps_its_backend_and_steps_on_its_own(
    environment: str, how: str
) -> None:
    env = begun(environment, "numba")
    twin = COPIES[how](env)
    engine = env.unwrapped.engine
    assert twin.unwrapped.engine.backend.name == "numba"
    before, mask = engine.state.copy(), engine.mask.copy()
    theirs = seen_of(twin)
    assert engine.state.equal(before)
    np.testing.assert_array_equal(engine.mask, mask)
    assert seen_of(env) == theirs


@needs_numba
@pytest.mark.parametrize(("first", "second"), [BOTH, BOTH[::-1]], ids=" to ".join)
@pytest.mark.parametrize(
    "environment", [name for name in ENVIRONMENTS if name.split(", ")[-1] in (name, "batch")]
)
def test_a_state_cloned_with_one_is_restored_with_the_other(
    environment: str, first: str, second: str
) -> None:
    env, other = begun(environment, first), ENVIRONMENTS[environment](backend=second)
    state = env.clone_state()
    theirs = seen_of(env)
    other.restore_state(pickle.loads(pickle.dumps(state)))
    assert seen_of(other) == theirs
    env.restore_state(other.clone_state())
    assert other.engine.backend.name == second
    assert seen_of(env) == seen_of(other)


# Engines -----------------------------------------------------------------------------------------


def dealt(game: str, backend: str, steps: int = 5) -> Engine:
    engine: Engine = ENGINES[game](backend)
    engine.deal(np.arange(ROWS), [3, 4, 5])
    advance(engine, steps)
    return engine


def advance(engine: Engine, steps: int) -> list[bytes]:
    """What some steps of legal play show; finished games are dealt again."""
    seen = []
    for k in range(steps):
        over = np.flatnonzero(engine.state.phase == engine.over)
        if over.size:
            engine.deal(over, over + 100 * k)
        steps_of = np.full(ROWS, k, np.uint64)
        change, ended = engine.apply(
            scripted(engine.mask, np.arange(ROWS, dtype=np.uint64), steps_of)
        )
        seen += [change.tobytes(), ended.tobytes(), engine.mask.tobytes()]
        seen.append(engine.observe().tobytes())
    return seen


def check_copies(game: str, how: str) -> None:
    engine = dealt(game, "numba")
    twin = COPIES[how](engine)
    assert twin.backend.name == "numba"
    other = engine.empty_like(ROWS, "numpy")
    other.put(np.arange(ROWS), engine.state)
    before, mask = engine.state.copy(), engine.mask.copy()
    theirs = advance(twin, 40)
    assert engine.state.equal(before)
    np.testing.assert_array_equal(engine.mask, mask)
    assert advance(engine, 40) == theirs == advance(other, 40)
    assert engine.state.equal(twin.state)


@needs_numba
@each_copy
@each_game
def test_a_copied_engine_works_on_its_own_arrays(game: str, how: str) -> None:
    check_copies(game, how)


@pytest.mark.slow
@needs_numba
@each_game
def test_a_copied_engine_works_on_its_own_arrays_when_compiled(
    game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incunabula.envs.compiled.functions._interpreting", False)
    assert can_compile()
    for how in COPIES:
        check_copies(game, how)


@needs_numba
@each_copy
def test_a_copy_of_a_grown_state_is_bound_to_its_own_tapes(how: str) -> None:
    engine = dealt("bibliogamo", "numba")
    orders = [list(range(8))[::-1], *[list(range(8))] * 3]
    engine.deal_tape(1, {"shuffles": orders, "prestige": 0})
    twin = COPIES[how](engine)
    assert twin.state.tape is not engine.state.tape
    advance(twin, 4)
    twin.deal_tape(0, {"shuffles": [*orders, *orders], "prestige": 1})
    like = engine.empty_like(ROWS, "numpy")
    like.put(np.arange(ROWS), engine.state)
    advance(like, 4)
    like.deal_tape(0, {"shuffles": [*orders, *orders], "prestige": 1})
    assert advance(twin, 6) == advance(like, 6)


@needs_numba
def test_a_pickle_says_so_where_numba_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    pickled = pickle.dumps(dealt("bibliogamo", "numba"))
    monkeypatch.setattr(backend_module, "why_no_numba", lambda: NOT_INSTALLED)
    with pytest.raises(IncunabulaError, match=r"^backend: numba is not installed"):
        pickle.loads(pickled)


def check_steppers(game: str, how: str, backend: str) -> None:
    def play(stepper: Stepper, steps: int) -> list[bytes]:
        seen = []
        for k in range(steps):
            mask, numbers = stepper.action_mask, np.full(ROWS, k, np.uint64)
            stepper.step(scripted(mask, np.arange(ROWS, dtype=np.uint64), numbers))
            shown = (stepper.observation, mask, stepper.reward, stepper.terminated)
            seen += [array.tobytes() for array in (*shown, stepper.final_score, stepper.episode)]
        return seen

    stepper = Stepper(ENGINES[game](backend), seed=9)
    play(stepper, 5)
    twin = COPIES[how](stepper)
    before, observation = stepper.engine.state.copy(), stepper.observation.copy()
    theirs = play(twin, 60)
    assert twin.episode.any()  # games ended on the way
    assert stepper.engine.state.equal(before)
    np.testing.assert_array_equal(stepper.observation, observation)
    assert play(stepper, 60) == theirs


@needs_numba
@pytest.mark.parametrize("backend", BOTH)
@each_copy
@each_game
def test_a_copied_stepper_steps_on_its_own(game: str, how: str, backend: str) -> None:
    check_steppers(game, how, backend)
