"""The rollout player: legal, repeatable, honest, within its budget, and better than its base."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from incunabula.agents.agent import Agent, RandomAgent, View
from incunabula.agents.baselines import make_greedy
from incunabula.agents.registry import make_agent
from incunabula.agents.search.budget import MAX_SIMULATIONS, Budget
from incunabula.agents.search.rollouts import (
    FIRST_LOOK,
    Race,
    Rollouts,
    Settings,
    make_rollouts,
)
from incunabula.envs.bibliogamo.edition import load_edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.compiled.functions import can_compile
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.edition import load_edition as load_scriptorium
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.training.evaluation.evaluate import evaluate
from incunabula.training.evaluation.games import play_games
from incunabula.training.evaluation.seeds import seed_list
from incunabula.training.league.against import evaluate_against
from incunabula.training.league.evaluate import evaluate_versus
from incunabula.training.league.league import league
from tests.by_hand import PSALTER, stand, tiny
from tests.commands import Cli, cli
from tests.strategies import SEEDS, editions
from tests.strategies_scriptorium import editions as editions_scriptorium

__all__ = ["cli"]

needs_numba = pytest.mark.skipif(not can_compile(), reason="numba is not installed")
Make = Callable[[int], Engine]
GAMES: dict[str, Make] = {
    "bibliogamo": lambda n: BibliogamoEngine("bibliogamo-tiny", n, "auto"),
    "scriptorium": lambda n: ScriptoriumEngine("scriptorium-tiny", n, 3, "auto"),
}
games = pytest.mark.parametrize("game", GAMES)


class First(Agent):
    """The first legal action: it stays, keeps, accepts."""

    def act(self, view: View) -> np.ndarray:
        return view.action_mask.argmax(axis=1)


def view(engine: Engine, rows: np.ndarray, decision: int = 0) -> View:
    return View(engine, rows, rows.astype(np.uint64), np.full(len(rows), decision, np.int64))


def dealt(game: str, n: int, steps: int = 0) -> Engine:
    """Games some way into play."""
    engine = GAMES[game](n)
    engine.deal(np.arange(n), np.arange(n) + 5)
    for step in range(steps):
        rows = np.flatnonzero(engine.state.phase != engine.over)
        engine.apply(make_greedy(game).act(view(engine, rows, step)), rows)
    return engine


def player(game: str, simulations: int = 24, **changes: Any) -> Rollouts:
    chosen = Settings(evidence=0.0)._replace(**changes)
    return Rollouts(make_greedy(game), Budget(simulations), seed=3, settings=chosen)


def playout(engine: Engine, agent: Agent) -> None:
    """Play all rows to their end; the engine raises at an illegal action."""
    for step in range(1000):
        rows = np.flatnonzero(engine.state.phase != engine.over)
        if not rows.size:
            return
        engine.apply(agent.act(view(engine, rows, step)), rows)
    raise AssertionError("a game does not end")


# Legal ------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=20 if can_compile() else 3)
@given(editions(), SEEDS)
def test_is_legal_on_random_editions(edition: dict[str, Any], seed: int) -> None:
    engine = BibliogamoEngine(edition, 2, "auto")
    engine.deal(np.arange(2), [seed, seed ^ 1])
    playout(engine, make_rollouts(make_greedy("bibliogamo"), "bibliogamo", Budget(12)))


@settings(deadline=None, max_examples=5 if can_compile() else 1)
@given(editions_scriptorium(), SEEDS)
def test_is_legal_on_random_editions_for_several(edition: dict[str, Any], seed: int) -> None:
    engine = ScriptoriumEngine(edition, 1, edition["rules"]["players"][0], "auto")
    engine.deal(np.arange(1), [seed])
    playout(engine, make_rollouts(make_greedy("scriptorium"), "scriptorium", Budget(12)))


# Repeatable and honest --------------------------------------------------------------------------


@games
def test_batch_size_does_not_matter(game: str) -> None:
    engine, agent = dealt(game, 8, steps=6), player(game)
    rows = np.flatnonzero(engine.state.phase != engine.over)
    together = agent.act(view(engine, rows, 6)).tolist()
    apart = [int(player(game).act(view(engine, np.array([row]), 6))[0]) for row in rows]
    assert together == apart
    assert together != make_greedy(game).act(view(engine, rows, 6)).tolist()


@games
def test_what_is_spent_on_a_game_does_not_depend_on_the_others(
    game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Games of more choices have more rounds, in which the others' savings must not be spent."""
    spent: list[list[int]] = []
    decide = Race.decide

    def noting(self: Race) -> np.ndarray:
        spent.append(self.spent.tolist())
        return decide(self)

    monkeypatch.setattr(Race, "decide", noting)
    for steps in (4, 9):
        engine = dealt(game, 12, steps)
        rows = np.flatnonzero(engine.state.phase != engine.over)
        player(game, 64).act(view(engine, rows, steps))
        for row in rows:
            player(game, 64).act(view(engine, np.array([row]), steps))
        together, *apart = spent
        assert [[n] for n in together] == apart
        spent.clear()


@games
def test_small_chunks_do_not_matter(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = dealt(game, 6, steps=4)
    chosen = player(game).act(view(engine, np.arange(6))).tolist()
    monkeypatch.setattr("incunabula.agents.search.rollouts.CHUNK", 7)
    assert player(game).act(view(engine, np.arange(6))).tolist() == chosen


@games
def test_seed_matters(game: str) -> None:
    engine = dealt(game, 24, steps=5)
    base, rows = make_greedy(game), np.flatnonzero(engine.state.phase != engine.over)
    few = [
        Rollouts(base, Budget(8), seed=seed, settings=Settings(evidence=0.0)).act(
            view(engine, rows)
        )
        for seed in (0, 1)
    ]
    assert few[0].tolist() != few[1].tolist()


@games
def test_hidden_order_does_not_matter(game: str) -> None:
    """With everything hidden dealt anew, every choice stays what it was."""
    engine, agent = dealt(game, 6), player(game)
    for step in range(8):
        rows = np.flatnonzero(engine.state.phase != engine.over)
        actions = agent.act(view(engine, rows, step))
        engine.determinise(rows, (rows + 1000 * (step + 1)).astype(np.uint64))
        assert np.array_equal(agent.act(view(engine, rows, step)), actions)
        engine.apply(actions, rows)


@games
def test_imagined_games_agree_with_what_is_public(game: str) -> None:
    """Repeated rows with one seed are one game; other seeds are others; the true one is kept."""
    engine = dealt(game, 3, steps=3)
    before = engine.state.take(np.arange(3))
    seeds = np.array([7, 7, 8, 9], np.uint64)
    imagined = view(engine, np.arange(3)).imagine(np.array([2, 2, 2, 0]), seeds)
    public = imagined.state.public()
    for name, values in engine.state.public().take(np.array([2, 2, 2, 0]))._asdict().items():
        assert np.array_equal(getattr(public, name), values), name
    hidden = imagined.state.deck if game == "bibliogamo" else imagined.state.order
    assert np.array_equal(hidden[0], hidden[1])
    assert imagined.state.seed[0] == imagined.state.seed[1] != imagined.state.seed[2]
    assert engine.state.equal(before)
    again = view(engine, np.arange(3)).imagine(np.array([1]), seeds[:1], imagined)
    assert again is imagined


# Budgets ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((None, None), "simulations or seconds a move, got neither"),
        ((0, None), "simulations: expected a whole number in 1"),
        ((MAX_SIMULATIONS + 1, None), "simulations: expected a whole number in 1"),
        ((2.5, None), "got 2.5"),
        ((True, None), "got True"),
        ((None, 0.0), "seconds per move: expected a number above 0"),
        ((None, float("nan")), "got nan"),
        ((None, float("inf")), "got inf"),
        ((None, "1"), "got '1'"),
    ],
)
def test_budgets_that_cannot_be_used(arguments: tuple[Any, Any], said: str) -> None:
    with pytest.raises(IncunabulaError, match=r"budget|simulations|seconds") as raised:
        Budget(*arguments)
    assert said in str(raised.value)


def test_names_say_what_a_move_may_cost() -> None:
    base = make_greedy("bibliogamo")
    assert Rollouts(base, Budget(32)).name == "rollouts(greedy, 32)"
    assert Rollouts(base, Budget(seconds=0.2)).name == "rollouts(greedy, 0.2 s)"
    assert Rollouts(RandomAgent(), Budget(8, 1)).name == "rollouts(random, 8, 1 s)"


def test_a_horizon_needs_a_value() -> None:
    with pytest.raises(IncunabulaError, match="horizon"):
        Rollouts(RandomAgent(), Budget(8), settings=Settings(horizon=2))


@games
def test_no_more_simulations_than_allowed(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = np.zeros(6, np.int64)
    play = Rollouts.play

    def counting(self: Rollouts, view: View, game: np.ndarray, *rest: Any, **more: Any) -> Any:
        np.add.at(counted, game, 1)
        return play(self, view, game, *rest, **more)

    monkeypatch.setattr(Rollouts, "play", counting)
    engine = dealt(game, 6, steps=3)
    for simulations in (1, 5, 40):
        counted[:] = 0
        player(game, simulations, worse=1e9).act(view(engine, np.arange(6)))
        assert counted.max() <= simulations
        if simulations == 40:
            forced = engine.mask.sum(axis=1) == 1
            assert counted[forced].max(initial=0) == 0
            assert counted[~forced].min(initial=99) >= 20


def test_a_first_look_leaves_a_few_choices_and_the_bases() -> None:
    engine = dealt("bibliogamo", 8, steps=5)
    rows = np.flatnonzero(engine.mask.sum(axis=1) > 3)
    seen = view(engine, rows, 5)
    agent = Rollouts(
        First(),
        Budget(40),
        settings=Settings(horizon=0, tried=2, first_look=3, worse=1e9),
        judges=[lambda engine, rows: engine.state.score[rows].astype(np.float64)],
    )
    asked: list[tuple[int, int, int]] = []
    play = agent.play

    def noting(view: View, game: Any, action: Any, number: Any, *how: Any, **more: Any) -> Any:
        asked.extend(zip(game.tolist(), action.tolist(), number.tolist(), strict=True))
        return play(view, game, action, number, *how, **more)

    agent.play = noting  # type: ignore[method-assign]
    agent.act(seen)
    for game in range(len(rows)):
        mine = [(action, number) for at, action, number in asked if at == game]
        choices = np.flatnonzero(seen.action_mask[game])
        looks = {a: sum(n >= FIRST_LOOK for b, n in mine if b == a) for a in choices}
        assert set(looks.values()) == {min(3, 20 // len(choices))}
        compared = {a for a, number in mine if number < FIRST_LOOK}
        assert len(compared) == 2
        assert choices[0] in compared
        assert len(mine) <= 40


def test_of_two_judges_the_mean_counts_with_the_larger_error() -> None:
    def none(engine: Any, rows: Any) -> Any:
        raise AssertionError("nothing is played")

    engine = dealt("bibliogamo", 8, steps=5)
    rows = np.flatnonzero(engine.mask.sum(axis=1) > 3)[:1]
    seen, choices = view(engine, rows, 5), np.flatnonzero(engine.mask[rows[0]])
    settings = Settings(evidence=1.0, margin=0.1, horizon=0)
    agent = Rollouts(First(), Budget(9), settings=settings, judges=[none, none])
    base, other = choices[:2]

    def decided(first: list[float], second: list[float]) -> int:
        """What is chosen if the other choice is so much better in two imagined games."""
        race = Race(seen, np.zeros(2, np.intp), choices[:2], np.array([base]), agent)
        race.played[:] = 2
        race.payoff[0, :2] = 50.0
        race.payoff[1, :2, 0], race.payoff[1, :2, 1] = np.add(50, first), np.add(50, second)
        return int(race.decide()[0])

    # Standard errors: half the distance of the two games.
    assert decided([1.0, 1.0], [1.0, 1.0]) == other
    assert decided([2.0, 2.0], [-1.0, -1.0]) == other  # one judge promises enough for both
    assert decided([2.0, 2.0], [-1.9, -1.9]) == base  # 0.05, within the margin
    assert decided([1.0, 3.0], [0.5, 0.5]) == other  # 1.25 ± 1
    assert decided([1.0, 3.0], [-0.5, -0.5]) == base  # 0.75 ± 1, though the mean's own is ± 0.5


def test_what_the_value_may_err_by_is_no_reason_to_depart() -> None:
    engine = dealt("bibliogamo", 12, steps=4)
    rows = np.flatnonzero(engine.state.phase != engine.over)
    base = make_greedy("bibliogamo").act(view(engine, rows, 4)).tolist()
    assert player("bibliogamo", margin=1e9).act(view(engine, rows, 4)).tolist() == base
    assert player("bibliogamo", margin=0.0).act(view(engine, rows, 4)).tolist() != base


def test_time_is_kept() -> None:
    engine = dealt("scriptorium", 4, steps=2)
    agent = Rollouts(make_greedy("scriptorium"), Budget(seconds=0.05))
    agent.act(view(engine, np.arange(4)))  # what is compiled isn't play
    began = time.perf_counter()
    agent.act(view(engine, np.arange(4)))
    assert 0.02 < time.perf_counter() - began < 2.0


# Better -----------------------------------------------------------------------------------------


def test_finds_the_sale_that_its_base_misses() -> None:
    """Last day, a finished book, and a base that always keeps it."""
    engine = BibliogamoEngine(tiny(), 1, "auto")
    at = stand(tiny(), phase="sell", time=4, towers=PSALTER, deck=[0, 1, 2])
    engine.restore(0, at, 0)
    keep, sell = engine.actions.keep, engine.actions.sell
    assert First().act(view(engine, np.arange(1))).tolist() == [keep]
    for simulations, chosen in ((1, keep), (16, sell)):
        agent = Rollouts(First(), Budget(simulations))
        assert agent.act(view(engine, np.arange(1))).tolist() == [chosen]


def test_beats_its_base() -> None:
    """Paired, on 150 deals of the tiny edition; 0.4 lies far below what was measured."""
    edition, deals = load_edition("bibliogamo-tiny"), seed_list("dev", 150)
    base = play_games(First(), edition, deals).score
    better = play_games(Rollouts(First(), Budget(24)), edition, deals).score
    assert (better - base).mean() > 0.4


@needs_numba
def test_beats_its_base_at_a_table() -> None:
    edition, greedy = load_scriptorium("scriptorium-tiny"), make_greedy("scriptorium")
    agent = Rollouts(greedy, Budget(32))
    played = evaluate_against(agent, greedy, edition, 2, seed_list("dev", 20))
    assert played.summary()["win_share"] > 0.55


# By name ----------------------------------------------------------------------------------------


def test_make_agent() -> None:
    edition = load_edition("bibliogamo-tiny")
    assert make_agent("rollouts", edition, budget=Budget(4)).name == "rollouts(greedy, 4)"
    over = make_agent("rollouts:random", edition, budget=Budget(seconds=1))
    assert over.name == "rollouts(random, 1 s)"
    with pytest.raises(IncunabulaError, match="searches itself"):
        make_agent("rollouts:rollouts", edition)
    with pytest.raises(IncunabulaError, match="'nobody'"):
        make_agent("rollouts:nobody", edition)
    for spec in ("rollouts:", "rollouts: ", "search:", "optimal:"):
        with pytest.raises(IncunabulaError, match=f"agent '{spec}': expected .* after the colon"):
            make_agent(spec, edition)


def test_one_agent_by_two_names_is_not_swallowed() -> None:
    twice = ["rollouts", "rollouts:greedy"]
    said = "'rollouts:greedy' is 'rollouts[(]greedy, 2[)]' again"
    with pytest.raises(IncunabulaError, match=said):
        evaluate(twice, edition="bibliogamo-tiny", games=1, budget=Budget(2))
    with pytest.raises(IncunabulaError, match=said):
        evaluate_versus(twice, edition="scriptorium-tiny", deals=1, budget=Budget(2))


def test_results_name_the_budget_and_repeat() -> None:
    results = [
        evaluate(
            ["greedy", "rollouts"],
            edition="bibliogamo-tiny",
            games=6,
            batch_size=batch_size,
            budget=Budget(8),
        )
        for batch_size in (6, 2)
    ]
    for evaluation in results:
        assert list(evaluation.games) == ["greedy", "rollouts(greedy, 8)"]
    scores = [evaluation.games["rollouts(greedy, 8)"].score.tolist() for evaluation in results]
    assert scores[0] == scores[1]


def test_a_league_takes_it() -> None:
    pytest.importorskip("choix")
    played = league(["rollouts", "random"], edition="scriptorium-tiny", deals=2, budget=Budget(4))
    assert [row["name"] for row in played.result["agents"]] == ["rollouts(greedy, 4)", "random"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("evaluate", "bibliogamo", "--simulations", "8"), "none of the agents"),
        (("evaluate", "scriptorium", "--seconds-per-move", "1"), "--seconds-per-move out"),
        (("league", "scriptorium", "--simulations", "8"), "none of the agents"),
        (("evaluate", "bibliogamo", "--agents", "rollouts", "--simulations", "0"), "got 0"),
        (
            ("league", "scriptorium", "--agents", "rollouts,random", "--seconds-per-move", "-1"),
            "-1",
        ),
    ],
)
def test_options_that_cannot_be_used(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    outcome = cli(*arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert said in outcome.err


def test_command(cli: Cli) -> None:
    outcome = cli(
        *("evaluate", "bibliogamo", "--edition", "bibliogamo-tiny", "--agents", "greedy,rollouts"),
        *("--games", 3, "--simulations", 6),
    )
    assert outcome.status == 0, outcome.err
    assert "rollouts(greedy, 6)" in outcome.out


def test_importing_it_does_not_import_numba() -> None:
    code = "import sys, incunabula.agents.search.rollouts; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
