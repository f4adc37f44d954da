"""The PettingZoo environment: its own project's tests, rewards, ends, illegal moves, copies."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from incunabula.envs.chance import episode_seeds
from incunabula.envs.errors import IllegalActionError, IncunabulaError
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from tests.play import scripted

pytest.importorskip("pettingzoo")

# Where pygame is installed this loads one of its games in the old way, of which it then warns.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import (
        api_test,
        parallel_api_test,
        performance_benchmark,
        render_test,
        seed_test,
    )
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from incunabula.envs import scriptorium_v0

PLAYERS = (2, 3, 4)
REWARDS = ("outcome", "score", "margin")
TINY = "scriptorium-tiny"
COPIES: dict[str, Callable[[Any], Any]] = {
    "deep copy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
}
# PettingZoo's own tests warn of every observation that is a dict, and of the mask of whoever has
# nothing to choose; its classic games are excepted by name.
KNOWN = pytest.mark.filterwarnings(
    "ignore:Observation is not a NumPy array",
    "ignore:Observation space for each agent probably should be",
    "ignore:Action mask NumPy array is all zeros",
    "ignore:Action mask numpy array is all zeros",
)


def make(players: int = 2, **options: Any) -> Any:
    return scriptorium_v0.raw_env(players, edition=options.pop("edition", TINY), **options)


def choice(env: Any, step: int, luck: int = 0) -> int:
    """A legal action for the agent to move, which depends on the mask and these numbers alone."""
    mask = env.observe(env.agent_selection)["action_mask"]
    number = np.array([step], np.uint64)
    return int(scripted(mask[None], np.array([luck], np.uint64), number)[0])


def steps(env: Any, limit: int, luck: int = 0) -> Iterator[Any]:
    """All that the next steps of legal play show; deals the next game when one has ended."""
    for step in range(limit):
        if not env.agents:
            env.reset()
        agent = env.agent_selection
        observation, *rest = env.last()
        yield (
            agent,
            observation["observation"].tobytes(),
            observation["action_mask"].tobytes(),
            rest,
        )
        env.step(None if env.terminations[agent] else choice(env, step, luck))
        yield dict(env.rewards), list(env.agents), env.unwrapped.snapshot()


def to_end(env: Any, luck: int = 0) -> str:
    """Play until every agent is terminated; who took the last action."""
    mover = ""
    for step in range(10_000):
        if any(env.terminations.values()):
            return mover
        mover = env.agent_selection
        env.step(choice(env, step, luck))
    raise AssertionError("the game doesn't end")


# PettingZoo's own tests --------------------------------------------------------------------------


@KNOWN
@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("made", [scriptorium_v0.env, scriptorium_v0.raw_env])
def test_pettingzoos_api_test(players: int, made: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for reward in REWARDS:
        api_test(made(num_players=players, reward=reward), num_cycles=200)
        api_test(made(num_players=players, reward=reward, edition=TINY))
    assert capsys.readouterr().out.count("Passed API test") == 6


@pytest.mark.parametrize("players", PLAYERS)
def test_pettingzoos_seed_test(players: int) -> None:
    seed_test(lambda: scriptorium_v0.env(num_players=players))


@pytest.mark.parametrize("players", PLAYERS)
def test_pettingzoos_parallel_test_through_its_turn_based_conversion(
    players: int, capsys: pytest.CaptureFixture[str]
) -> None:
    env = turn_based_aec_to_parallel(scriptorium_v0.env(num_players=players, edition=TINY))
    parallel_api_test(env, num_cycles=300)
    assert "Passed Parallel API test" in capsys.readouterr().out


def test_pettingzoos_render_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    render_test(scriptorium_v0.env)


@pytest.mark.slow
def test_pettingzoos_performance_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    performance_benchmark(scriptorium_v0.env(num_players=4))
    assert "turns per second" in capsys.readouterr().out


# Rewards and ends --------------------------------------------------------------------------------


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("reward", REWARDS)
def test_the_rewards_that_last_gives_sum_to_the_payoffs_whoever_moves_last(
    players: int, reward: str
) -> None:
    # Fault 31.
    env = make(players, reward=reward)
    last_movers = set()
    env.reset(seed=players)
    for game in range(12):
        totals = dict.fromkeys(env.agents, 0.0)
        mover = ""
        for step, agent in enumerate(env.agent_iter()):
            _, paid, terminated, truncated, _ = env.last()
            assert not truncated
            totals[agent] += paid
            if not terminated:
                mover = agent
            env.step(None if terminated else choice(env, step, game))
        last_movers.add(mover)
        state = env.snapshot()
        scores = [player["score"] for player in state["players"]]
        best = max(scores)
        k = scores.count(best)
        start = env.engine.tables.help_tokens * env.engine.tables.token_points
        for seat, score in enumerate(scores):
            rival = max(s for other, s in enumerate(scores) if other != seat)
            want = {
                "outcome": ((players / k if score == best else 0) - 1) / (players - 1),
                "score": score - start,
                "margin": score - rival,
            }[reward]
            assert totals[f"player_{seat}"] == pytest.approx(want, abs=1e-12)
        env.reset()
    assert len(last_movers) > 1


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("made", [scriptorium_v0.env, scriptorium_v0.raw_env])
def test_all_agents_end_in_one_step_and_each_takes_one_more(players: int, made: Any) -> None:
    # Fault 30.
    env = made(num_players=players, edition=TINY)
    env.reset(seed=1)
    for game in range(3):
        while not any(env.terminations.values()):
            assert env.agents == env.possible_agents
            env.step(choice(env, len(env.agents), game))
        assert all(env.terminations.values())
        assert not any(env.truncations.values())
        assert list(env.terminations) == env.agents == env.possible_agents
        assert env.agent_selection == "player_0"
        with pytest.raises(ValueError, match="the only valid action is None"):
            env.step(0)
        for left in range(players, 0, -1):
            assert env.num_agents == left
            agent = env.agent_selection
            _, _, terminated, truncated, _ = env.last()
            assert (terminated, truncated) == (True, False)
            env.step(None)
            assert agent not in env.agents
            for known in (env.rewards, env.terminations, env.truncations, env.infos):
                assert list(known) == env.agents
        assert list(env.agent_iter()) == []
        env.reset()
    raw = make(players)
    raw.reset(seed=0)
    to_end(raw)
    for _ in range(players):
        raw.step(None)
    with pytest.raises(IncunabulaError, match=r"every agent is done: call reset\(\)"):
        raw.step(None)
    assert raw.observe("player_0")["action_mask"].sum() == 0


@pytest.mark.parametrize("players", PLAYERS)
def test_masks_are_those_of_the_rules_and_zeros_for_who_is_not_to_move(players: int) -> None:
    # Faults 9 and 10.
    env = make(players)
    env.reset(seed=0)
    spaces = {agent: env.observation_space(agent) for agent in env.possible_agents}
    for step in range(150):
        if not env.agents:
            env.reset()
        for agent in env.agents:
            observation = env.observe(agent)
            mask = observation["action_mask"]
            assert spaces[agent].contains(observation)
            assert (mask.dtype, mask.shape) == (np.int8, (env.engine.actions.n,))
            assert observation["observation"].dtype == np.float32
            if agent == env.agent_selection and not env.terminations[agent]:
                assert np.array_equal(mask, env.engine.legal()[0])
                assert mask.any()
            else:
                assert not mask.any()
            decoded = env.layout.decode(observation["observation"])
            state = env.snapshot()
            assert decoded == {key: state[key] for key in decoded}
        assert all(env.observation_space(agent) is spaces[agent] for agent in env.possible_agents)
        assert all(
            env.action_space(agent) is env.action_space(agent) for agent in env.possible_agents
        )
        over = env.terminations[env.agent_selection]
        env.step(None if over else choice(env, step))


def test_what_was_returned_stays_as_it_was() -> None:
    # Faults 7 and 15.
    env = make(3)
    env.reset(seed=0)
    kept: list[tuple[Any, bytes]] = []
    infos = []
    for step in range(40):
        observation, *_, info = env.last()
        for array in observation.values():
            assert not any(np.shares_memory(array, other) for other, _ in kept[-4:])
            kept.append((array, array.tobytes()))
        infos.append((info, dict(info)))
        env.step(None if env.terminations[env.agent_selection] else choice(env, step))
        if not env.agents:
            env.reset()
    assert all(array.tobytes() == before for array, before in kept)
    assert all(info == before for info, before in infos)


# Illegal moves -----------------------------------------------------------------------------------


def illegal(env: Any) -> int:
    return int(env.observe(env.agent_selection)["action_mask"].argmin())


def trajectory(env: Any, count: int) -> list[Any]:
    return list(steps(env, count))


@pytest.mark.parametrize("made", [scriptorium_v0.env, scriptorium_v0.raw_env])
@pytest.mark.parametrize("players", PLAYERS)
def test_an_illegal_move_ends_the_game_and_leaves_the_next_one_alone(
    players: int, made: Any
) -> None:
    # Fault 29.
    env = made(num_players=players, edition=TINY, illegal_reward=-3.0)
    env.reset(seed=5)
    for step in range(4):
        env.step(choice(env, step))
    offender, state = env.agent_selection, env.unwrapped.snapshot()
    why = env.unwrapped.why_illegal(illegal(env))
    env.step(illegal(env))
    assert env.unwrapped.snapshot() == state
    assert all(env.terminations.values())
    assert env.infos[offender]["illegal"] == why[0]
    paid = {}
    for agent in env.agent_iter():
        observation, reward, terminated, _, info = env.last()
        paid[agent] = reward
        assert terminated
        assert not observation["action_mask"].any()
        assert ("illegal" in info) == (agent == offender)
        env.step(None)
    assert paid == {agent: -3.0 if agent == offender else 0.0 for agent in env.possible_agents}

    fresh = made(num_players=players, edition=TINY)
    fresh.reset(seed=5)
    env.reset()
    fresh.reset()
    assert env.unwrapped.deal == fresh.unwrapped.deal
    assert trajectory(env, 120) == trajectory(fresh, 120)


def test_an_illegal_move_can_be_penalised_or_raise_and_changes_nothing_else() -> None:
    strict, lenient = make(3, illegal_action="raise"), make(3, illegal_action="penalize")
    for env in (strict, lenient):
        env.reset(seed=2)
        for step in range(5):
            env.step(choice(env, step))
    agent, state, before = lenient.agent_selection, lenient.snapshot(), dict(lenient.rewards)
    with pytest.raises(IllegalActionError, match=r"^row 0: action \d+ is illegal \("):
        strict.step(illegal(strict))
    assert (strict.agent_selection, strict.snapshot(), strict.rewards) == (agent, state, before)
    for _ in range(2):
        lenient.step(illegal(lenient))
        observation, reward, terminated, _, info = lenient.last()
        assert (lenient.agent_selection, lenient.snapshot()) == (agent, state)
        assert (reward, terminated) == (-1.0, False)
        assert observation["action_mask"].any()
        assert lenient.rewards == {a: -1.0 if a == agent else 0.0 for a in lenient.agents}
        assert "illegal" in info
    lenient.step(choice(lenient, 5))
    strict.step(choice(strict, 5))
    assert "illegal" not in lenient.infos[agent]
    assert trajectory(strict, 60) == trajectory(lenient, 60)


@pytest.mark.parametrize("action", [-1, 120, 1.0, "end", None, True, np.array([1, 2]), 2**70])
def test_what_is_no_action_is_refused_and_changes_nothing(action: Any) -> None:
    # Fault 19.
    env = make()
    env.reset(seed=0)
    state = env.snapshot()
    with pytest.raises(IncunabulaError, match=r"^action: "):
        env.step(action)
    assert (env.snapshot(), env.agent_selection) == (state, "player_0")


# Seeds, hidden information, copies ---------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**63, 2**64 - 1, 2**64 + 5, -1])
def test_episodes_are_those_of_the_rules(seed: int) -> None:
    # Fault 23.
    env = make(2, edition="scriptorium")
    base = np.array([seed % 2**64], np.uint64)
    for episode in range(3):
        env.reset(seed=seed if episode == 0 else None, options={"unknown": 1})
        game = int(episode_seeds(base, np.array([episode], np.uint64))[0])
        assert env.deal == {"seed": game}
        engine = ScriptoriumEngine("scriptorium", 1, 2)
        engine.deal(np.arange(1), [game])
        assert env.snapshot() == engine.snapshot(0)
        env.step(choice(env, episode))
    env.reset(seed=seed)
    assert env.deal == {"seed": seed % 2**64}


def test_environments_that_were_never_seeded_differ() -> None:
    seeds = set()
    for _ in range(4):
        env = make()
        env.reset()
        seeds.add(env.deal["seed"])
    assert len(seeds) == 4


def test_a_tape_of_the_constructor_holds_for_all_and_that_of_a_reset_for_one() -> None:
    order = [0, 1, 2, 3, 4, 5]
    first = {"bag": [0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 6, 0], "lecterns": [order, order[::-1]]}
    other = {"bag": [6] * 6, "lecterns": [order[::-1]]}
    env = make(2, tape=first)
    found = []
    for options in (None, {"tape": other}, None, {"tape": None}):
        env.reset(options=options)
        found.append(env.deal["tape"])
    assert found == [first, other, first, first]
    env.reset(seed=0)
    assert [lectern["lectern"] for lectern in env.snapshot()["lecterns"]] == [0, 1, 2]
    before = env.deal, env.snapshot()
    seeded = make(2)
    seeded.reset(seed=3)
    wrong: list[Any] = [
        {"bag": [99], "lecterns": [order]},
        {"bag": [0]},
        {"bag": [0], "lecterns": []},
    ]
    for tape in wrong:
        with pytest.raises(IncunabulaError, match=r"^tape"):
            env.reset(options={"tape": tape})
        with pytest.raises(IncunabulaError, match=r"^tape"):
            seeded.reset(options={"tape": tape})
    assert (env.deal, env.snapshot()) == before
    seeded.reset()
    base = np.array([3], np.uint64)
    assert seeded.deal == {"seed": int(episode_seeds(base, np.array([1], np.uint64))[0])}


@pytest.mark.parametrize("players", PLAYERS)
def test_what_is_hidden_shows_nowhere(players: int) -> None:
    # Fault 32: lay the bag in another order, and draw the lecterns to come from another seed.
    env = make(players, edition="scriptorium")
    env.reset(seed=players)
    for step in range(60):
        twin = copy.deepcopy(env)
        state = twin.engine.state
        left = int(state.bag_left[0])
        state.order[0, :left] = state.order[0, :left][::-1].copy()
        state.seed[0] += np.uint64(1)
        for agent in env.agents:
            mine, others = env.observe(agent), twin.observe(agent)
            assert all(mine[key].tobytes() == others[key].tobytes() for key in mine)
        assert env.infos == twin.infos
        assert all(set(info) == {"score"} for info in env.infos.values())
        env.step(choice(env, step))


@pytest.mark.parametrize("made", [scriptorium_v0.env, scriptorium_v0.raw_env])
@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("moment", ["in mid-game", "at the end", "half drained"])
def test_a_copy_goes_on_as_the_original_does(how: str, moment: str, made: Any) -> None:
    # Fault 26.
    env = made(num_players=3, edition=TINY, reward="margin")
    env.reset(seed=4)
    for step in range(9):
        env.step(choice(env, step))
    if moment != "in mid-game":
        to_end(env)
    if moment == "half drained":
        env.step(None)
    twin, third = COPIES[how](env), COPIES[how](env)
    played = trajectory(env, 50)
    assert trajectory(twin, 50) == played
    assert trajectory(third, 50) == played  # the first two left it alone


def test_a_determinised_copy_agrees_in_public_and_has_another_future() -> None:
    # Fault 27.
    env = make(2, edition="scriptorium")
    env.reset(seed=0)
    for step in range(20):
        env.step(choice(env, step))
    twin = copy.deepcopy(env)
    twin.determinise(0)  # the game's own seed doesn't bring its order back
    assert twin.snapshot() == env.snapshot()
    assert twin.observe("player_0")["observation"].tobytes() == (
        env.observe("player_0")["observation"].tobytes()
    )
    left = int(env.engine.state.bag_left[0])
    orders = [e.engine.state.order[0, :left] for e in (env, twin)]
    assert sorted(orders[0].tolist()) == sorted(orders[1].tolist())
    assert not np.array_equal(*orders)
    assert env.engine.state.seed[0] != twin.engine.state.seed[0]
