"""Shaping adds up to nothing, scores are true ones, and skipped decisions change no game."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from incunabula.agents.agent import RandomAgent, View, nth_legal
from incunabula.envs.adapters.sb3 import BibliogamoSB3VecEnv
from incunabula.envs.chance import key
from incunabula.envs.errors import IllegalActionError, IncunabulaError
from incunabula.training.ppo.config import Opponents, Reward, Shaping
from incunabula.training.ppo.seats import SelfPlayVecEnv
from incunabula.training.ppo.shaping import Potential
from incunabula.training.ppo.vecenv import STATISTICS_WINDOW, TrainingVecEnv

GAMES = 24


def choose(env: Any, mask: Any, decision: int) -> Any:
    """Legal actions that depend on the game and the number of the choice alone."""
    draws = key(7, env.engine.state.seed, np.full(len(mask), decision, np.uint64))
    return nth_legal(mask, draws)


def test_potential_of_positions_set_up_by_hand() -> None:
    env = TrainingVecEnv(3, seed=0)
    env.reset()
    t, s = env.engine.tables, env.engine.state
    s.prestige[:] = 6  # universal library: bonus 6, eight slots; history 1 and 2
    s.slots_filled[:] = False
    s.time[:] = 10
    s.filled[1, 0] = t.requires[0]
    s.filled[2, 0] = t.requires[0]
    s.slots_filled[2, [0, 6]] = True  # both history slots
    public = env.engine.public()
    potential = Potential(t, Shaping(scale=2.0), 0.1)
    price = t.price[: t.cards].mean() / 5
    np.testing.assert_allclose(potential.worth(public)[1:, 0], [1 + price + 2 + 6 / 8, 1 + price])
    full = 0.1 * 2.0 * np.array([0, 1 + price + 2 + 6 / 8, 1 + price])
    np.testing.assert_allclose(potential(public), full, rtol=1e-6)
    s.time[:] = 37  # half of the last six days are left
    np.testing.assert_allclose(potential(public), full / 2, rtol=1e-6)
    by_days = Potential(t, Shaping(scale=0.0, day_value=1.5), 0.1)
    np.testing.assert_allclose(by_days(public), 0.1 * 1.5 * 3, rtol=1e-6)


@pytest.mark.parametrize("skip_forced", [False, True])
@pytest.mark.parametrize("gamma", [1.0, 0.9])
@pytest.mark.parametrize(
    "shaping", [None, Shaping(), Shaping(scale=0.7, power=1.25, day_value=1.0)], ids=str
)
def test_shaping_adds_up_to_the_potential_of_the_start(
    shaping: Shaping | None, gamma: float, skip_forced: bool
) -> None:
    """sum gamma^t r_t = sum gamma^t scale * score gained - Phi(start), in every game."""
    options: dict[str, Any] = {"seed": 3, "gamma": gamma, "reward_scale": 0.1}
    options["skip_forced"] = skip_forced
    shaped = TrainingVecEnv(GAMES, shaping=shaping, **options)
    plain = TrainingVecEnv(GAMES, **options)
    shaped.reset()
    plain.reset()
    potential = Potential(shaped.engine.tables, shaping or Shaping(scale=0), 0.1)
    start = potential(shaped.engine.public())
    total, true = np.zeros(GAMES), np.zeros(GAMES)
    factor = np.ones(GAMES)
    ended = 0
    for decision in range(400):
        actions = choose(shaped, shaped.masks, decision)
        rewards, dones = shaped.step_arrays(actions)
        others, _ = plain.step_arrays(actions)
        total += factor * rewards
        true += factor * others
        factor *= gamma
        for i in np.flatnonzero(dones):
            assert total[i] == pytest.approx(true[i] - start[i], abs=1e-5)
            ended += 1
        total[dones], true[dones], factor[dones] = 0, 0, 1
        start = np.where(dones, potential(shaped.engine.public()), start)
    assert ended > GAMES


@pytest.mark.parametrize("skip_forced", [False, True])
def test_games_and_scores_are_those_of_the_plain_environment(skip_forced: bool) -> None:
    """Row by row the same games in the same order, whatever is skipped."""
    mine = TrainingVecEnv(GAMES, seed=11, shaping=Shaping(), skip_forced=skip_forced)
    plain = BibliogamoSB3VecEnv(GAMES, seed=11)
    played: list[list[list[tuple[float, int]]]] = []
    for env in (mine, plain):
        rows: list[list[tuple[float, int]]] = [[] for _ in range(GAMES)]
        env.reset()
        for _ in range(500):
            # Depends on the position alone, so that skipping can't shift the choices.
            s, mask = env.engine.state, env.engine.mask
            turn, legal = s.turn.astype(np.uint64), mask.sum(axis=1).astype(np.uint64)
            _, _, _, infos = env.step(nth_legal(mask, key(5, s.seed + turn, legal)))
            for row, info in zip(rows, infos, strict=True):
                if "episode" in info:
                    row.append((info["episode"]["r"], info["episode"]["l"]))
        played.append(rows)
    for ours, theirs in zip(*played, strict=True):
        assert len(ours) >= len(theirs) >= 2
        assert ours[: len(theirs)] == theirs
    scores = [score for row in played[0] for score, _ in row]
    assert len(scores) < STATISTICS_WINDOW
    assert mine.statistics()["score"] == pytest.approx(np.mean(scores))


def test_no_choice_is_forced_when_forced_ones_are_skipped() -> None:
    env = TrainingVecEnv(GAMES, seed=2, skip_forced=True)
    env.reset()
    for decision in range(300):
        _, dones = env.step_arrays(choose(env, env.masks, decision))
        legal = env.masks.sum(axis=1)
        assert (legal[~dones] > 1).all()
    assert env.decisions > 300 * GAMES


def test_illegal_actions_raise_or_cost_what_was_said() -> None:
    strict = TrainingVecEnv(4, seed=0)
    strict.reset()
    with pytest.raises(IllegalActionError):
        strict.step_arrays((~strict.masks).argmax(axis=1))
    env = TrainingVecEnv(4, seed=0, reward_scale=0.1, illegal_reward=-0.25, shaping=Shaping())
    env.reset()
    before = env.engine.observe()
    actions = env.masks.argmax(axis=1)
    actions[[1, 3]] = (~env.masks[[1, 3]]).argmax(axis=1)
    rewards, dones = env.step_arrays(actions)
    np.testing.assert_allclose(rewards[[1, 3]], -0.25, atol=1e-6)
    assert not dones.any()
    after = env.engine.observe()
    np.testing.assert_array_equal(after[[1, 3]], before[[1, 3]])
    assert not np.array_equal(after[[0, 2]], before[[0, 2]])


def test_arrays_are_fresh_every_step() -> None:
    env = TrainingVecEnv(4, seed=0, shaping=Shaping())
    kept: list[Any] = [env.reset()]
    copies: list[Any] = [kept[0].copy()]
    for decision in range(5):
        arrays: list[Any] = list(env.step(choose(env, env.masks, decision))[:3])
        kept += arrays
        copies += [array.copy() for array in arrays]
    for a, b in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(a, b)


class Careless(RandomAgent):
    """Answers for one game fewer than it is asked about."""

    name = "careless"

    def act(self, view: View) -> Any:
        return super().act(view)[1:]


def test_answers_of_agents_are_checked() -> None:
    games = TrainingVecEnv(4, seed=0)
    tables = SelfPlayVecEnv(4, seed=0, reward=Reward(outcome=1), opponents=Opponents())
    games.reset()
    tables.reset()
    with pytest.raises(IncunabulaError, match="agent 'careless': act must return an array of 4"):
        games.ask(Careless())
    with pytest.raises(IncunabulaError, match="agent 'careless': act must return an array of 3"):
        tables.ask(Careless(), np.array([0, 1, 3]))
