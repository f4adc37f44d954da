"""Scriptorium for one learner: who holds the other seats, and how they are asked."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest

from incunabula.agents.agent import Agent, View
from incunabula.agents.networks import expected_shapes
from incunabula.agents.policy_folder import save_policy
from incunabula.agents.seat.driver import LEARNER, SeatGames
from incunabula.agents.seat.opponents import Opponents
from incunabula.envs.chance import key
from incunabula.envs.errors import IllegalActionError, IncunabulaError
from incunabula.envs.scriptorium.edition import load_edition
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from tests.play import choose
from tests.seat import (
    OFF,
    SAME,
    TINY,
    First,
    Last,
    pick,
    several,
    single,
)


def test_opponents_are_asked_together_and_never_for_the_learner() -> None:
    n = 64
    first = First()
    env = several(n, num_players=4, opponents=first)
    env.reset(seed=0)
    longest = 0
    for step in range(30):
        calls, seen = first.calls, len(first.seen)
        seats = dict(zip(env.games.luck.tolist(), env.games.seat.tolist(), strict=True))
        env.step(pick(env.action_masks(), 0, step))
        now = dict(zip(env.games.luck.tolist(), env.games.seat.tolist(), strict=True))
        asked = first.seen[seen:]
        assert all(seat != (seats | now)[luck] for seat, luck, _ in asked)
        # As many calls as the longest series of moves in one game, not as there are games.
        by_game = Counter(luck for _, luck, _ in asked)
        longest = max(by_game.values(), default=0)
        assert first.calls - calls == longest
    assert longest > 0
    decisions = [(luck, decision) for _, luck, decision in first.seen]
    assert len(set(decisions)) == len(decisions)


def test_a_list_is_seated_clockwise_from_the_learner() -> None:
    env = single(num_players=4, opponents=[First(), Last(), "random"])
    names: list[Any] = []
    for _ in range(4):
        env.reset(seed=None if names else 0)
        names.append(env.deal["opponents"])
    assert names == [
        [None, "first", "last", "random"],
        ["random", None, "first", "last"],
        ["last", "random", None, "first"],
        ["first", "last", "random", None],
    ]


def test_a_mixture_is_drawn_from_for_each_seat_and_game_by_its_weights() -> None:
    mixture: dict[Any, Any] = {First(): 1, Last(): 3, "random": 0}
    opponents = Opponents(mixture, load_edition(TINY), 2)
    drawn = opponents.draw(key(0, 5, np.arange(4000, dtype=np.uint64)))
    assert drawn.shape == (4000, 2)
    share = (drawn == 1).mean(axis=0)
    assert (abs(share - 0.75) < 4 * np.sqrt(0.75 * 0.25 / 4000)).all()
    assert not (drawn == 2).any()
    both = (drawn == 1).all(axis=1).mean()
    assert abs(both - 0.75**2) < 0.04  # the seats are drawn each for itself


def test_a_list_may_hold_mixtures() -> None:
    env = several(200, num_players=3, opponents=[First(), {First(): 1, Last(): 1}], seat=0)
    env.reset(seed=0)
    names = Counter(tuple(deal["opponents"]) for deal in env.deals)
    assert set(names) == {(None, "first", "first"), (None, "first", "last")}
    assert min(names.values()) > 60


def test_new_opponents_sit_down_at_the_next_deal() -> None:
    games = SeatGames(TINY, 4, opponents=First())
    games.reset(games.rows, [0, 1, 2, 3])
    games.set_opponents({Last(): 1})
    names = [games.deal(row)["opponents"] for row in range(4)]
    assert all(set(each) == {None, "first"} for each in names)
    games.next_episode(np.array([1, 2]))
    games.set_opponents("random")
    names = [games.deal(row)["opponents"] for row in range(4)]
    assert [next(filter(None, each)) for each in names] == ["first", "last", "last", "first"]
    games.next_episode(np.array([0, 1, 2, 3]))
    games.set_opponents("random")
    assert [agent.name for agent in games.roster if agent] == ["random", "random"]
    for _ in range(40):
        actions = games.engine.mask.argmax(axis=1)
        _, over, _ = games.step(games.rows, actions)
        games.next_episode(np.flatnonzero(over))
        assert (games.who[games.rows, games.engine.state.player] == LEARNER).all()


def test_an_opponents_illegal_action_or_error_is_told_from_the_learners() -> None:
    class Wrong(First):
        name = "wrong"

        def act(self, view: View) -> npt.NDArray[np.intp]:
            return view.action_mask.argmin(axis=1)

    class Vague(First):
        name = "vague"

        def act(self, view: View) -> npt.NDArray[np.intp]:
            return view.action_mask.argmax(axis=1) * 1.0

    class Broken(First):
        def act(self, view: View) -> npt.NDArray[np.intp]:
            raise RuntimeError("no")

    env = single(opponents=Wrong(), seat=0)
    _, info = env.reset(seed=0)
    message = r"^opponent 'wrong', row 0, decision 1: action \d+ is illegal \(phase"
    with pytest.raises(IncunabulaError, match=message) as e:
        env.step(int(info["action_mask"].argmax()))
    assert not isinstance(e.value, IllegalActionError)
    with pytest.raises(IncunabulaError, match=r"call reset\(\) first"):
        env.step(0)
    message = r"^agent 'vague': act must return an array of 1 integers in 0\.\.119, one for each"
    with pytest.raises(IncunabulaError, match=message):
        single(opponents=Vague(), seat=1).reset(seed=0)
    env = single(opponents=Broken(), seat=1)
    with pytest.raises(RuntimeError, match="no"):
        env.reset(seed=0)


def test_a_pool_of_policy_folders_is_a_mixture(tmp_path: Path) -> None:
    engine = ScriptoriumEngine(TINY)
    rng = np.random.default_rng(0)
    network: dict[str, Any] = {
        "kind": "mlp",
        "layers": [8],
        "value_layers": [8],
        "activation": "tanh",
    }
    network |= {"advisor": None, "advice": 0.0}
    for name in ("early", "late"):
        shapes = expected_shapes(network, engine)
        weights = {n: rng.normal(size=shape).astype(np.float32) for n, shape in shapes.items()}
        save_policy(
            tmp_path / name,
            weights,
            edition=engine.edition,
            network=network,
            training={},
            players=[2],
        )
    pool = dict.fromkeys([str(tmp_path / "early"), tmp_path / "late"], 1)
    env = several(64, opponents=pool, autoreset_mode=SAME)
    _, infos = env.reset(seed=0)
    names = Counter(name for deal in env.deals for name in deal["opponents"] if name)
    assert set(names) == {str(path) for path in pool}
    assert min(names.values()) > 16
    ends = 0
    for step in range(40):
        _, _, over, _, infos = env.step(pick(infos["action_mask"], 0, step))
        ends += int(over.sum())
    assert ends > 64


@pytest.mark.slow
def test_the_default_opponent_is_greedy_and_plays_whole_games() -> None:
    # Fault 12.
    env = gymnasium.make_vec("incunabula:incunabula/Scriptorium-v0", num_envs=32)
    _, infos = env.reset(seed=0)
    inner: Any = env.unwrapped
    assert {name for deal in inner.deals for name in deal["opponents"]} == {None, "greedy"}
    rng = np.random.default_rng(0)
    paid: list[float] = []
    while len(paid) < 64:
        _, rewards, over, _, infos = env.step(choose(infos["action_mask"], rng))
        paid += rewards[over].tolist()
    assert np.mean(paid) < -0.9  # a random learner loses


def test_weights_of_any_size_are_shares() -> None:
    edition, luck = load_edition(TINY), key(3, 0, np.arange(4000, dtype=np.uint64))
    for one, other, share in ((1e308, 1e308, 0.5), (5e-324, 5e-324, 0.5), (1e308, 1.0, 1.0)):
        drawn = Opponents({First(): one, Last(): other}, edition, 3).draw(luck)
        assert (drawn == 0).mean() == pytest.approx(share, abs=0.02)
    with pytest.raises(IncunabulaError, match="expected a finite weight"):
        Opponents({"random": 10**400}, edition, 1)
    spec: Any = b"random"
    with pytest.raises(IncunabulaError, match="expected an agent, a mixture"):
        Opponents(spec, edition, 1)


@dataclasses.dataclass
class Plain(Agent):
    """Equal to any other of its class, not hashable, and without a name of its own."""

    def act(self, view: View) -> Any:
        return view.action_mask.argmax(axis=1).tolist()


def test_agents_of_any_class_may_sit_down() -> None:
    env = single(num_players=3, opponents=[Plain(), Plain()], seat=0)
    env.reset(seed=0)
    assert env.deal["opponents"] == [None, "Plain", "Plain"]
    assert len(env.games.opponents.agents) == 2


def test_an_illegal_action_inside_an_opponents_own_thoughts_is_its_own() -> None:
    class Planner(First):
        def act(self, view: View) -> npt.NDArray[np.intp]:
            engine = view.determinise(np.zeros(len(view), np.uint64))
            engine.apply(engine.mask.argmin(axis=1))
            return view.action_mask.argmax(axis=1)

    with pytest.raises(IllegalActionError, match=r"^row 0: action"):
        single(opponents=Planner(), seat=1).reset(seed=0)


def test_after_an_opponent_failed_every_game_is_to_be_dealt_again() -> None:
    class Tired(First):
        def act(self, view: View) -> npt.NDArray[np.intp]:
            if self.calls == 3:
                self.calls = 0
                raise RuntimeError("tired")
            return super().act(view)

    env = several(3, opponents=Tired(), autoreset_mode=OFF)
    env.reset(seed=0)

    def play_on() -> None:
        for step in range(9):
            env.step(pick(env.action_masks(), 0, step))

    with pytest.raises(RuntimeError, match="tired"):
        play_on()
    state = env.clone_state()
    # Games 1 and 2 may stand in the middle of the others' moves.
    env.reset(options={"reset_mask": np.array([True, False, False])})
    for again in (False, True):
        if again:
            env.restore_state(state)
        with pytest.raises(IncunabulaError, match=r"call reset\(\) first"):
            env.step(np.zeros(3, np.intp))
    _, infos = env.reset()
    assert (env.engine.state.player == infos["seat"]).all()
    env.step(pick(env.action_masks(), 0, 0))
