"""Rollouts play the same games whoever works them out, and as agents play them one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from incunabula.agents.agent import Agent, RandomAgent, View
from incunabula.agents.baselines import make_greedy
from incunabula.agents.rollout import Rollout, rollout
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.envs.stepper import Stepper
from tests.backends import needs_numba

Make = Callable[[int, str], Engine]
GAMES: dict[str, Make] = {
    "bibliogamo": lambda n, backend: BibliogamoEngine("bibliogamo", n, backend),
    "bibliogamo-tiny": lambda n, backend: BibliogamoEngine("bibliogamo-tiny", n, backend),
    "scriptorium": lambda n, backend: ScriptoriumEngine("scriptorium", n, 4, backend),
    "scriptorium-tiny": lambda n, backend: ScriptoriumEngine("scriptorium-tiny", n, 2, backend),
}
games = pytest.mark.parametrize("make", GAMES.values(), ids=GAMES)
small = pytest.mark.parametrize(
    "make", [GAMES["bibliogamo-tiny"], GAMES["scriptorium-tiny"]], ids=["bibliogamo", "scriptorium"]
)


def dealt(make: Make, n: int, backend: str = "numpy") -> Engine:
    engine = make(n, backend)
    engine.deal(np.arange(n), np.arange(n) + 7)
    return engine


def same(a: Rollout, b: Rollout) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


@needs_numba
@games
@pytest.mark.parametrize("policy", ["random", "greedy"])
def test_backends_play_the_same_games(make: Make, policy: str) -> None:
    n = 24
    engines = [dealt(make, n, backend) for backend in ("numpy", "numba")]
    plain, compiled = (rollout(engine, policy, seed=3) for engine in engines)
    assert same(plain, compiled)
    assert engines[0].state.equal(engines[1].state)
    assert np.array_equal(engines[0].mask, engines[1].mask)
    steppers = [Stepper(make(n, backend), 5) for backend in ("numpy", "numba")]
    plain, compiled = (rollout(stepper, policy, 120, seed=3) for stepper in steppers)
    assert same(plain, compiled)
    assert steppers[0].engine.state.equal(steppers[1].engine.state)
    assert np.array_equal(steppers[0].engine.mask, steppers[1].engine.mask)
    assert np.array_equal(steppers[0].episode, steppers[1].episode)


@small
@pytest.mark.parametrize("backend", ["numpy", pytest.param("numba", marks=needs_numba)])
def test_every_row_plays_as_its_agent_does_alone(make: Make, backend: str) -> None:
    rows, episode = np.array([3, 0, 4]), np.array([70, 1, 2**40], np.uint64)
    engine = dealt(make, 6, backend)
    untouched = engine.state.take(np.array([1, 2, 5]))
    done = rollout(engine, "random", seed=9, rows=rows, episode=episode)
    for k, row in enumerate(rows):
        alone = make(1, "numpy")
        alone.deal(np.arange(1), [int(row) + 7])
        agent, steps = RandomAgent(9), 0
        while alone.state.phase[0] != alone.over:
            view = View(alone, np.arange(1), episode[k : k + 1], np.array([steps]))
            alone.apply(agent.act(view))
            steps += 1
        assert done.steps[k] == steps
        assert done.games[k] == 1
        assert np.array_equal(done.score[k], alone.state.score[0].reshape(-1))
        assert engine.state.take(rows[k : k + 1]).equal(alone.state)
    assert engine.state.take(np.array([1, 2, 5])).equal(untouched)


@small
@pytest.mark.parametrize("policy", ["random", "greedy"])
def test_two_halves_are_one_whole(make: Make, policy: str) -> None:
    """Decisions are counted on, so that where a rollout stops doesn't matter."""
    backend = "auto"
    whole, halves = Stepper(make(5, backend), 1), Stepper(make(5, backend), 1)
    all_at_once = rollout(whole, policy, 90)
    first = rollout(halves, policy, 37)
    second = rollout(halves, policy, 53, decision=first.steps)
    for together, a, b in zip(all_at_once, first, second, strict=True):
        assert np.array_equal(together, a + b)
    assert whole.engine.state.equal(halves.engine.state)
    assert np.array_equal(whole.episode, all_at_once.games.astype(np.uint64))


@small
def test_an_engines_rows_stay_as_they_ended(make: Make) -> None:
    engine = dealt(make, 8, "auto")
    done = rollout(engine, "greedy")
    assert (engine.state.phase == engine.over).all()
    assert (done.games == 1).all()
    assert not engine.mask.any()
    again = rollout(engine, "greedy")
    assert not again.steps.any()
    assert not again.games.any()


@small
def test_steps_are_a_limit_and_masks_are_those_of_the_state(make: Make) -> None:
    engine = dealt(make, 4, "auto")
    done = rollout(engine, "greedy", 3)
    assert done.steps.tolist() == [3] * 4
    assert np.array_equal(engine.mask, engine.legal())
    assert not rollout(engine, "random", 0).steps.any()


class Last(Agent):
    """The last legal action."""

    def act(self, view: View) -> Any:
        return view.action_mask.shape[1] - 1 - view.action_mask[:, ::-1].argmax(axis=1)


@small
@pytest.mark.parametrize("policy", ["random", "greedy"])
@pytest.mark.parametrize("backend", ["numpy", pytest.param("numba", marks=needs_numba)])
def test_rows_stop_at_the_first_decision_of_a_turn(make: Make, policy: str, backend: str) -> None:
    engine, other = dealt(make, 4, backend), dealt(make, 4)
    until = np.array([2, 0, 3, (1 << 63) + 5], np.uint64)
    done = rollout(engine, policy, until=until, seed=3)  # type: ignore[arg-type]
    most = np.minimum(until, 99).astype(np.int64)
    steps = np.zeros(4, np.int64)
    agent = RandomAgent(3) if policy == "random" else make_greedy(other.game)
    while (rows := np.flatnonzero((other.state.phase != other.over) & (other.turn < most))).size:
        other.apply(agent.act(View(other, rows, rows.astype(np.uint64), steps[rows])), rows)
        steps[rows] += 1
    assert np.array_equal(done.steps, steps)
    assert done.steps[1] == 0 < done.steps[0]
    assert done.games.tolist()[3] == 1
    assert engine.state.equal(other.state)
    assert np.array_equal(engine.mask, other.mask)


@needs_numba
@small
def test_any_agent_can_play_and_a_subclass_is_asked_itself(make: Make) -> None:
    greedy: Any = type(make_greedy(make(1, "numpy").game))

    class LastOfGreedy(greedy):
        act = Last.act

    results = [
        rollout(dealt(make, 6, backend), agent)
        for backend in ("numpy", "numba")
        for agent in (Last(), LastOfGreedy())
    ]
    assert all(same(results[0], result) for result in results[1:])
    assert not same(results[0], rollout(dealt(make, 6), "greedy"))


def test_arguments() -> None:
    engine = dealt(GAMES["bibliogamo-tiny"], 3)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"policy": "gredy"}, "policy: expected random or greedy or an agent, got 'gredy'"),
        ({"steps": -1}, "steps: expected a whole number of at least 0, got -1"),
        ({"steps": True}, "steps: expected a whole number of at least 0, got True"),
        ({"steps": 2.5}, "steps: expected a whole number of at least 0, got 2.5"),
        ({"rows": np.array([0, 3])}, "rows: expected rows in 0..2"),
        ({"rows": np.array([-1])}, "rows: expected rows in 0..2"),
        ({"rows": np.array([1, 1])}, "rows: expected distinct rows"),
        ({"decision": np.zeros(2, np.int64)}, "decision: expected 3, one for each row"),
        ({"episode": np.zeros(4, np.uint64)}, "episode: expected 3, one for each row"),
        ({"until": np.zeros(2, np.int64)}, "until: expected 3, one for each row"),
        ({"until": 2}, "until: expected 3, one for each row"),
        ({"until": np.array([1.0, 2.5, np.nan])}, "until: expected whole numbers"),
        ({"decision": np.array([1.5, 2, 3])}, "decision: expected whole numbers"),
        ({"episode": ["a", "b", "c"]}, "episode: expected whole numbers"),
    ]
    for arguments, message in wrong:
        with pytest.raises(IncunabulaError, match=message):
            rollout(engine, **arguments)
    with pytest.raises(IncunabulaError, match="a stepper's games never end"):
        rollout(Stepper(dealt(GAMES["bibliogamo-tiny"], 3)), "random")
