"""Scriptorium for one learner: seats, rewards, tapes and options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from incunabula.agents.agent import Agent, View
from incunabula.agents.seat.gymnasium import ScriptoriumEnv, ScriptoriumVectorEnv
from incunabula.envs.chance import episode_seeds
from incunabula.envs.errors import IllegalActionError, IncunabulaError, OptionWarning
from incunabula.envs.scriptorium.edition import load_edition
from incunabula.envs.scriptorium.state import Phase
from tests.drawings import plain
from tests.seat import (
    MIXED,
    NEXT,
    OFF,
    ORDER,
    PLAYERS,
    REWARDS,
    SAME,
    TINY,
    First,
    Last,
    payoff,
    pick,
    play,
    several,
    single,
    to_end,
)

# Checks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["", "-tiny", "-small"])
def test_gymnasiums_own_checker_has_nothing_to_say(size: str) -> None:
    env = gymnasium.make(f"incunabula:incunabula/Scriptorium{size}-v0", opponents="random")
    check_env(env.unwrapped)
    vector = gymnasium.make_vec(
        f"incunabula:incunabula/Scriptorium{size}-v0", num_envs=2, opponents="random"
    )
    assert isinstance(vector.unwrapped, ScriptoriumVectorEnv)


@pytest.mark.parametrize("players", PLAYERS)
def test_the_learner_is_to_move_at_each_return_and_sees_from_his_seat(players: int) -> None:
    env = single(num_players=players)
    observation, info = env.reset(seed=0)
    over = False
    for step in range(200):
        state, seat = env.snapshot(), env.games.seat[0]
        assert state["player"] == (None if over else seat)
        scores = [player["score"] for player in state["players"]]
        assert (info["seat"], info["scores"].tolist()) == (seat, scores)
        assert info["score"] == scores[seat]
        assert type(info["score"]) is int
        decoded = env.layout.decode(observation)
        assert decoded == {name: state[name] for name in decoded}
        own = env.engine.observe_rows(np.arange(1), np.array([seat]))
        assert observation.tobytes() == own.tobytes()
        legal = np.flatnonzero(info["action_mask"])
        assert legal.tolist() == ([0] if over else np.flatnonzero(env.engine.legal()[0]).tolist())
        if over:
            with pytest.raises(IllegalActionError, match="the game is over"):
                env.step(0)
            observation, info = env.reset()
            over = False
        else:
            action = int(pick(info["action_mask"], 1, step)[0])
            observation, reward, over, truncated, info = env.step(action)
            assert [type(x) for x in (reward, over, truncated)] == [float, bool, bool]


# Seats -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", PLAYERS)
def test_the_seat_rotates_with_the_episode_and_begins_with_the_seed(players: int) -> None:
    for base in (0, 1, 7, 2**64 - 1):
        env = single(num_players=players)
        seats = []
        for episode in range(2 * players):
            env.reset(seed=base if episode == 0 else None)
            seats.append(env.deal["seat"])
            if episode % 2:
                to_end(env)
        assert seats == [(base + k) % players for k in range(2 * players)]
    vector = several(2 * players, num_players=players)
    _, infos = vector.reset(seed=0)
    assert infos["seat"].tolist() == [*range(players)] * 2


def test_a_seat_may_be_fixed_drawn_or_given_for_one_episode() -> None:
    env = single(num_players=3, seat=2)
    found = []
    for options in (None, {"seat": 0}, {"seat": None}, {"unknown": 1}, {"seat": 1}, {}):
        _, info = env.reset(options=options)
        found.append(info["seat"])
    assert found == [2, 0, 2, 2, 1, 2]
    drawn = several(300, num_players=3, seat="random")
    _, infos = drawn.reset(seed=0)
    counts = np.bincount(infos["seat"], minlength=3)
    assert (counts > 70).all()
    for wrong in (3, -1, "rotate", True, 0.0):
        before = env.deal, env.snapshot()
        with pytest.raises(IncunabulaError, match=r"^seat: expected a seat in 0\.\.2, got"):
            env.reset(seed=5, options={"seat": wrong})
        assert (env.deal, env.snapshot()) == before


def test_the_deal_is_that_of_the_episode_seeds() -> None:
    # Fault 23.
    for seed in (0, 1, 2**32 - 1, 2**63, 2**64 + 5, -1):
        env = single()
        base = np.array([seed % 2**64], np.uint64)
        for episode in range(3):
            env.reset(seed=seed if episode == 0 else None)
            game = int(episode_seeds(base, np.array([episode], np.uint64))[0])
            assert env.deal["seed"] == game
        first, _ = env.reset(seed=seed)
        again, _ = env.reset(seed=seed)
        assert first.tobytes() == again.tobytes()


@pytest.mark.parametrize("seat", ["rotate", "random"])
def test_a_seed_plays_its_games_again_whatever_was_played_before(seat: str) -> None:
    env = single(num_players=3, opponents=MIXED, seat=seat)
    played = []
    for before in (0, 3, 30):
        env.reset(seed=8)
        play(env, before)
        env.reset(seed=7)
        played.append(play(env, 40))
    assert played[0] == played[1] == played[2]


# Rewards -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_the_return_is_the_payoff_of_the_final_scores(
    players: int, reward: str, mode: AutoresetMode
) -> None:
    # Faults 14 and 31.
    n = 12
    env = several(n, num_players=players, reward=reward, autoreset_mode=mode)
    start = env.engine.tables.help_tokens * env.engine.tables.token_points
    _, infos = env.reset(seed=players)
    totals, waiting = np.zeros(n), np.zeros(n, np.bool_)
    games: Counter[int] = Counter()
    last_movers = set()
    step = 0
    while len(games) < n or min(games.values()) < 3:
        before = env.engine.state.player.copy()
        observations, rewards, over, _, infos = env.step(pick(env.action_masks(), 3, step))
        step += 1
        assert not rewards[waiting].any()
        totals += rewards
        for row in np.flatnonzero(over).tolist():
            final = infos["final_obs"][row] if mode == SAME else observations[row]
            kept = infos["final_info"] if mode == SAME else infos
            state = env.layout.decode(final)
            scores = [player["score"] for player in state["players"]]
            assert state["phase"] == "over"
            assert kept["scores"][row].tolist() == scores
            seat = int(kept["seat"][row])
            assert totals[row] == pytest.approx(payoff(reward, scores, seat, start), abs=1e-12)
            totals[row] = 0
            games[row] += 1
            last_movers.add(bool(before[row] == seat))
        waiting = over & (mode == NEXT)
        if mode == OFF and over.any():
            env.reset(options={"reset_mask": over})
    assert last_movers == {True}


def test_rewards_take_in_what_the_others_did() -> None:
    # The margin can only fall by what others do, and does so here.
    env = several(32, reward="margin", opponents=Last(), num_players=3)
    _, infos = env.reset(seed=0)
    fell = 0
    for step in range(60):
        scores = infos["score"].copy()
        *_, infos = result = env.step(pick(infos["action_mask"], 0, step))
        still = (infos["score"] == scores) & ~result[2]
        fell += int((result[1][still] < 0).sum())
    assert fell > 0


class Passing(Agent):
    """Sees to it that the third seat has nothing to decide until phase 3: the second gives the
    first his lectern, and if that is the quill's the first takes its points."""

    name = "passing"

    def act(self, view: View) -> npt.NDArray[np.intp]:
        late = (view.seat == 1) | (view.public.phase == Phase.QUILL)
        return np.where(late, Last().act(view), view.action_mask.argmax(axis=1))


def test_what_others_do_before_the_first_decision_is_paid_with_the_first_step() -> None:
    data = load_edition(TINY).model_dump(mode="json")
    for inks in data["inks_per_round"].values():
        inks.update(dict.fromkeys(inks, 0), black=1)  # the first seat's
    env = several(64, edition=data, reward="margin", num_players=3, seat=2, opponents=Passing())
    _, infos = env.reset(seed=0)
    assert (infos["scores"][:, 0] > infos["scores"][:, 2]).any()
    totals, done = np.zeros(64), np.zeros(64, np.bool_)
    for step in range(200):
        waiting = env._ended.copy()
        _, rewards, over, _, infos = env.step(pick(infos["action_mask"], 0, step))
        totals += np.where(done | waiting, 0, rewards)
        scores = infos["scores"]
        margin = scores[:, 2] - scores[:, :2].max(axis=1)
        assert np.array_equal(totals[over & ~done], margin[over & ~done])
        done |= over
    assert done.all()


# Tapes and arguments -----------------------------------------------------------------------------


def test_a_tape_holds_for_one_episode_or_for_all() -> None:
    tape = {"bag": [0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 6, 0], "lecterns": [ORDER, ORDER[::-1]]}
    short = {"bag": tape["bag"], "lecterns": [ORDER]}
    env = single(tape=tape)
    for _ in range(2):
        env.reset()
        assert env.deal["tape"] == tape
        to_end(env)
    env = single(opponents=First())
    env.reset(seed=0, options={"tape": tape})
    assert env.deal["tape"] == tape
    state = env.clone_state()
    env.reset()
    second = env.deal["seed"]
    env.restore_state(state)
    assert env.deal["tape"] == tape
    env.reset(seed=0)
    env.reset()
    assert env.deal["seed"] == second
    # A tape that runs out: the error says so, and the next game can be dealt.
    env.reset(seed=0, options={"tape": short})
    with pytest.raises(IncunabulaError, match=r"^tape: ran out|^tape"):
        to_end(env)
    env.reset()
    assert env.deal["seed"] == second
    to_end(env)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 1}, "num_players: this edition is for 2, 3, 4 players, got 1"),
        ({"seat": "left"}, "seat: expected 'rotate', 'random' or a seat in 0..1, got 'left'"),
        ({"seat": 2}, "seat: expected 'rotate', 'random' or a seat in 0..1, got 2"),
        ({"seat": True}, "a seat in 0..1, got True"),
        ({"reward": "win"}, "reward: expected one of outcome, score, margin, got 'win'"),
        ({"opponents": "gredy"}, "there is no agent 'gredy'"),
        ({"opponents": "no/such"}, "agent 'no/such': there is no such folder"),
        ({"opponents": 5}, "opponents: expected an agent, a mixture {agent: weight}, or a list"),
        ({"opponents": []}, "opponents: expected 1, one for each other seat, got 0"),
        ({"opponents": ["random"] * 2}, "expected 1, one for each other seat, got 2"),
        ({"opponents": [5]}, "opponents[0]: an agent is a name, the path of a policy folder or"),
        ({"opponents": {}}, "opponents[0]: a mixture needs at least one agent"),
        ({"opponents": {"random": 0}}, "opponents[0]: at least one weight must be above 0"),
        ({"opponents": {"random": -1}}, "expected a finite weight of at least 0 for 'random'"),
        ({"opponents": {"random": True}}, "expected a finite weight of at least 0"),
        ({"tape": {"bag": []}}, "tape: expected a mapping with bag and lecterns"),
        ({"illegal_action": "end"}, "illegal_action: expected one of penalize, raise"),
        ({"render_mode": "svg"}, "render_mode: expected None or one of ansi, rgb_array"),
        ({"edition": "bibliogamo"}, "only 'scriptorium' editions can be loaded here"),
    ],
)
def test_a_bad_option_gives_one_clear_error(options: dict[str, Any], message: str) -> None:
    for make in (ScriptoriumEnv, ScriptoriumVectorEnv):
        with pytest.raises(IncunabulaError) as e:
            make(**{"opponents": "random", **options})
        assert message in str(e.value)


def test_a_seeded_reset_keeps_every_argument() -> None:
    # Fault 25.
    env = single(num_players=3, seat=2, reward="score", illegal_reward=-9.0, render_mode="ansi")
    for seed in (None, 5, None, 0):
        _, info = env.reset(seed=seed)
        assert (info["seat"], len(info["scores"]), env.games.reward) == (2, 3, "score")
        assert env.step(int(info["action_mask"].argmin()))[1] == -9.0
        board = env.render()
        assert board is not None
        assert board.startswith("the learner has seat 2\n")
        assert "round 1 · seat 2 takes ink" in plain(board)


@pytest.mark.parametrize("make", [single, lambda: several(2)], ids=["single", "vector"])
def test_an_option_that_looks_misspelt_is_warned_of(make: Callable[[], Any]) -> None:
    env = make()
    for name, meant in (("seats", "seat"), ("Tape", "tape"), ("reset-mask", "reset_mask")):
        message = rf"^options: '{name}' is ignored \(did you mean '{meant}'\?\)$"
        with pytest.warns(OptionWarning, match=message):
            env.reset(options={name: None})
    for other in ("options", "state", "opponents", 1):  # left to wrappers
        env.reset(options={other: 1})
    for wrong in ("seat", 1, [1]):
        with pytest.raises(IncunabulaError, match=r"^options: expected a mapping or None"):
            env.reset(options=wrong)


def test_nothing_is_told_of_games_that_have_not_been_dealt() -> None:
    env = several(2, render_mode="ansi")
    for ask in (env.action_masks, env.render, lambda: env.deals, lambda: env.determinise([0, 1])):
        with pytest.raises(IncunabulaError, match=r"call reset\(\) first"):
            ask()
    env.reset(seed=0)
    for wrong in (3, None, "01", [0], [0, 1.0]):
        seeds: Any = wrong
        with pytest.raises(IncunabulaError, match=r"^seeds?: expected"):
            env.determinise(seeds)
    for reward in (10**400, float("inf")):
        with pytest.raises(IncunabulaError, match=r"^illegal_reward: expected a finite number"):
            single(illegal_reward=reward)
