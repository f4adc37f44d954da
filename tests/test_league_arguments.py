"""Arguments of leagues and evaluations of several players that are nearly right."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from incunabula.agents.agent import Agent, RandomAgent, View, ask
from incunabula.envs.bibliogamo.edition import load_edition as load_bibliogamo
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.edition import load_edition
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.training.evaluation.games import play_games
from incunabula.training.league.against import evaluate_against
from incunabula.training.league.evaluate import evaluate_versus
from incunabula.training.league.league import league

TINY = "scriptorium-tiny"
EDITION = load_edition(TINY)
SEEDS = np.arange(2, dtype=np.uint64)


@dataclasses.dataclass
class Equal(Agent):
    """Equal to any other of its class, not hashable, and without a name of its own."""

    width: int = 1

    def act(self, view: View) -> npt.NDArray[np.intp]:
        return view.action_mask.argmax(axis=1)


class Says(Agent):
    """Answers with anything."""

    def __init__(self, answer: Callable[[View], Any]) -> None:
        self.answer = answer

    def act(self, view: View) -> Any:
        return self.answer(view)


@pytest.mark.parametrize(
    ("agents", "message"),
    [
        ("random,random", "in a list"),
        (5, "in a list"),
        ({"random": 1}, "in a list"),
        (np.array(["random", "random"]), "in a list"),
        ((name for name in ("random", "random")), "in a list"),
        (["random", None], "expected a name, a path or an Agent, got None"),
        (["random", Equal], "expected a name, a path or an Agent"),
        (["random", ""], "the name or path is empty"),
        (["random", "/"], r"^/policy\.json: there is no such file"),
    ],
)
def test_entrants_that_are_none(agents: Any, message: str) -> None:
    pytest.importorskip("choix")
    with pytest.raises(IncunabulaError, match=message):
        league(agents, edition=TINY, deals=1)
    with pytest.raises(IncunabulaError, match=message):
        evaluate_versus(agents, against="random", edition=TINY, deals=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agent": "random"}, "expected an Agent"),
        ({"opponent": None}, "expected an Agent"),
        ({"num_players": 2.0}, "players: this edition is for"),
        ({"num_players": 0}, "players: this edition is for"),
        ({"seeds": []}, "at least one"),
        ({"seeds": "dev"}, "seeds: expected a list of integers"),
        ({"seeds": 5}, "seeds: expected a list of integers"),
        ({"seeds": np.array([1.5])}, "seed: expected an integer"),
        ({"seeds": [True]}, "seed: expected an integer"),
        ({"seeds": np.zeros((2, 2), np.uint64)}, "seed: expected an integer"),
        ({"batch_size": "2"}, "batch size: expected"),
        ({"batch_size": 0}, "batch size: expected"),
        ({"start": -1}, "start: expected"),
        ({"start": 1.5}, "start: expected"),
    ],
)
def test_arguments_that_are_nearly_right(options: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"agent": RandomAgent(), "opponent": RandomAgent(), "edition": EDITION}
    given |= {"num_players": 2, "seeds": SEEDS} | options
    with pytest.raises(IncunabulaError, match=message):
        evaluate_against(**given)
    if "num_players" not in options and "opponent" not in options:
        given.pop("num_players")
        given.pop("opponent")
        given["edition"] = load_bibliogamo("bibliogamo-tiny")
        with pytest.raises(IncunabulaError, match=message):
            play_games(**given)


def test_seeds_may_be_any_list_of_integers() -> None:
    agent = RandomAgent()

    def scores(seeds: Any) -> list[Any]:
        played: Any = evaluate_against(agent, agent, EDITION, 2, seeds)
        return list(played.games.scores.tolist())

    assert scores([0, 1]) == scores(SEEDS) == scores(range(2)) == scores([2**64, np.int8(1)])


def test_agents_that_equal_each_other_are_told_apart() -> None:
    pytest.importorskip("choix")
    first, second = Equal(), Equal()
    result = league([first, second, "random"], edition=TINY, deals=2).result
    assert [agent["name"] for agent in result["agents"]] == ["Equal#1", "Equal#2", "random"]
    decisions = [agent["timing"]["decisions"] for agent in result["agents"]]
    assert min(decisions) > 0
    total = result["games"] * result["decisions_per_game"]
    assert sum(decisions) == pytest.approx(total, abs=0.01)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda view: None, r"got shape \(\) of object"),
        (lambda view: 0, r"got shape \(\) of int64"),
        (lambda view: np.zeros(len(view)), r"got shape \(2,\) of float64"),
        (lambda view: np.ones(len(view), bool), r"got shape \(2,\) of bool"),
        (lambda view: [[1], [1, 2]], r"got shape \(0,\) of object"),
        (lambda view: np.full(len(view), -1), "got -1$"),
        (lambda view: np.full(len(view), 2**64 - 1, np.uint64), f"got {2**64 - 1}$"),
        (lambda view: np.full(len(view), 120), "got 120$"),
    ],
)
def test_answers_that_are_no_actions(answer: Callable[[View], Any], message: str) -> None:
    match = rf"^agent 'Says': act must return an array of 2 integers in 0\.\.119.*{message}"
    with pytest.raises(IncunabulaError, match=match):
        ask(Says(answer), view())
    with pytest.raises(IncunabulaError, match=r"^agent 'Says': act must return"):
        evaluate_against(Says(answer), RandomAgent(), EDITION, 2, SEEDS)


def test_a_list_of_integers_is_an_answer() -> None:
    chosen = ask(Says(lambda view: view.action_mask.argmax(axis=1).tolist()), view())
    assert chosen.dtype == np.intp
    assert chosen.tolist() == view().action_mask.argmax(axis=1).tolist()


def view() -> View:
    engine = ScriptoriumEngine(EDITION, 2)
    engine.deal(np.arange(2), [0, 1])
    return View(engine, np.arange(2), np.zeros(2, np.uint64), np.zeros(2, np.int64))
