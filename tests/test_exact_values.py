"""Exact values: against brute force over the oracle, and against games played."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import yaml

from incunabula.agents.agent import Agent, RandomAgent, View
from incunabula.agents.exact.codes import Coding, encode
from incunabula.agents.exact.optimal import OptimalAgent
from incunabula.agents.exact.solver import Solution, look_members, solve
from incunabula.agents.greedy_bibliogamo import GreedyBibliogamo
from incunabula.agents.registry import make_agent
from incunabula.envs.bibliogamo.edition import Edition, load_edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.bibliogamo.state import Phase
from incunabula.envs.compiled.arrays import Arrays
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.games import play_games
from incunabula.training.exact.policies import exact_value
from tests.backends import needs_numba
from tests.by_hand import tiny as tiny_form
from tests.expectimax import Expectimax
from tests.small_editions import SMALL
from tests.test_policies import make_policy

pytestmark = needs_numba
TINY = load_edition("bibliogamo-tiny")
# A deviation of the normal distribution that is exceeded once in a thousand times.
Z999 = 3.2905


@lru_cache
def tiny() -> Solution:
    return solve(TINY)


@lru_cache
def small(name: str) -> Solution:
    return solve(load_edition(SMALL[name]))


def sampled(agent: Agent, edition: Edition, games: int = 20_000) -> tuple[float, float]:
    """Mean score of games, and half its 99.9% interval."""
    scores = play_games(agent, edition, np.arange(games, dtype=np.uint64)).score
    return float(scores.mean()), Z999 * float(scores.std(ddof=1)) / games**0.5


# What is best somewhere, so that the brute force is known to have met it.
MET = {
    "bans and lifts": {"lift", "hire"},
    "two hires": {"hire", "sell", "keep"},
    "florin cap": {"walk", "keep"},
    "reshuffles": {"walk", "sell"},
    "waiting": {"wait", "accept"},
    "late start": {"sell"},
    "empty hires": {"hire", "sell"},
}


@pytest.mark.parametrize("name", SMALL)
def test_the_value_is_that_of_brute_force_over_the_oracle(name: str) -> None:
    brute = Expectimax(SMALL[name])
    value = brute.value()
    assert value > 0
    assert brute.best >= MET[name]
    assert brute.shuffled
    solution = small(name)
    assert solution.value == pytest.approx(value, rel=0, abs=1e-9)
    assert 0 < solution.decisions < len(brute.known)


@pytest.mark.parametrize("name", ["bans and lifts", "reshuffles", "empty hires"])
def test_random_play_is_worth_what_brute_force_says(name: str) -> None:
    brute = Expectimax(SMALL[name], lambda values: sum(values.values()) / len(values))
    exact = exact_value(RandomAgent(), load_edition(SMALL[name]))
    assert exact.value == pytest.approx(brute.value(), rel=0, abs=1e-9)


def test_a_game_of_one_day_is_worth_nothing() -> None:
    """All is settled on its first day, so that no state is left to be kept."""
    solution = solve(load_edition(tiny_form(days=1)))
    assert (solution.value, solution.states) == (0, 0)
    assert exact_value(GreedyBibliogamo(), solution.edition).value == 0


def test_the_cap_and_the_collections_count() -> None:
    """Figures that no rule but the one asked about could have changed."""
    data = json.loads(json.dumps(SMALL["florin cap"]))
    data["rules"]["florin_cap"] = None
    assert solve(load_edition(data)).value > small("florin cap").value + 0.1
    solution = small("reshuffles")
    assert solution.value == pytest.approx(float(solution.by_prestige.mean()))
    assert solution.by_prestige[0] != solution.by_prestige[1]


def test_the_optimal_agent_scores_the_value_on_average() -> None:
    mean, half = sampled(OptimalAgent(TINY, tiny()), TINY)
    assert abs(mean - tiny().value) <= half < 0.1


@pytest.mark.parametrize("name", ["florin cap", "waiting", "late start"])
def test_the_optimal_policy_evaluated_is_worth_the_value(name: str) -> None:
    edition = load_edition(SMALL[name])
    own = exact_value(OptimalAgent(edition, small(name)), edition)
    assert own.value == pytest.approx(small(name).value, rel=0, abs=1e-9)


@pytest.mark.parametrize("name", ["waiting", "reshuffles", "late start"])
@pytest.mark.parametrize("agent", ["random", "greedy"])
def test_exact_values_of_policies_are_those_of_their_games(agent: str, name: str) -> None:
    edition = load_edition(SMALL[name])
    player = make_agent(agent, edition)
    exact = exact_value(player, edition)
    mean, half = sampled(player, edition)
    assert abs(mean - exact.value) <= half < 0.1
    assert exact.value < small(name).value - half


def test_a_learned_policy_has_an_exact_value(tmp_path: Path) -> None:
    file = tmp_path / "waiting.yaml"
    file.write_text(yaml.safe_dump(SMALL["waiting"]))
    edition = load_edition(file)
    agent = make_agent(make_policy(tmp_path / "own", edition=str(file)), edition)
    exact = exact_value(agent, edition)
    mean, half = sampled(agent, edition, 4000)
    assert abs(mean - exact.value) <= half
    assert half > 0
    assert exact.value <= small("waiting").value


class Counting(Agent):
    """Chooses by what only a full state tells: turn, books, the first card of the display."""

    def act(self, view: View) -> npt.NDArray[np.intp]:
        p = view.public
        wish = p.turn + 3 * p.books + 5 * p.display[:, 0] + p.pending_card + 7 * p.pending_tower
        count = view.action_mask.sum(axis=1)
        ranks = view.action_mask.cumsum(axis=1) > (wish % count)[:, None]
        return np.asarray(ranks.argmax(axis=1))


def test_a_policy_may_look_at_all_that_is_public() -> None:
    for name in ("waiting", "florin cap"):
        edition = load_edition(SMALL[name])
        exact = exact_value(Counting(), edition)
        mean, half = sampled(Counting(), edition)
        assert abs(mean - exact.value) <= half
        assert exact.value > 0.1


class Drawing(Agent):
    """Draws without saying so."""

    def act(self, view: View) -> npt.NDArray[np.intp]:
        return RandomAgent(1).act(view)


def test_policies_that_draw_are_refused() -> None:
    edition = load_edition(SMALL["reshuffles"])
    for agent in (Drawing(), make_agent("rollouts", edition)):
        with pytest.raises(IncunabulaError, match="its choices are drawn, so it has no exact"):
            exact_value(agent, edition)


def test_exact_values_need_every_state_that_agents_come_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The pool and the table grow, and the batch is small: the same value."""
    edition = load_edition(SMALL["waiting"])
    usual = exact_value(GreedyBibliogamo(), edition)
    monkeypatch.setattr("incunabula.training.exact.policies.BATCH", 40)
    monkeypatch.setattr("incunabula.training.exact.policies.POOL", 8)
    monkeypatch.setattr("incunabula.agents.exact.table.SMALLEST", 16)
    other = exact_value(GreedyBibliogamo(), edition)
    assert (other.value, other.states) == (usual.value, usual.states)


def test_the_agent_depends_on_what_is_public_alone() -> None:
    """The same choices whatever lies hidden, whatever the backend and however many are asked."""
    engine = BibliogamoEngine(TINY, 64)
    agent, rows = OptimalAgent(TINY, tiny()), np.arange(64)
    engine.deal(rows, rows.astype(np.uint64))

    def asked(of: BibliogamoEngine, some: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        return agent.act(View(of, some, some.astype(np.uint64), np.zeros(len(some), np.int64)))

    for _ in range(6):
        rows = rows[engine.state.phase[rows] != engine.over]
        chosen = asked(engine, rows)
        assert engine.mask[rows, chosen].all()
        other = engine.empty_like(64, "numba")
        other.put(np.arange(64), engine.state.copy())
        other.determinise(np.arange(64), np.full(64, 99, np.uint64))
        assert np.array_equal(asked(other, rows), chosen)
        assert np.array_equal(asked(engine, rows[:1]), chosen[:1])
        engine.apply(chosen, rows)


def test_the_agent_refuses_what_it_has_no_value_for() -> None:
    agent, none = OptimalAgent(TINY, tiny()), np.zeros(1, np.int64)
    other = BibliogamoEngine(load_edition(SMALL["waiting"]))
    other.deal(np.arange(1), [0])
    with pytest.raises(IncunabulaError, match="was made for edition 'bibliogamo-tiny'"):
        agent.act(View(other, np.arange(1), none.astype(np.uint64), none))
    engine = BibliogamoEngine(TINY)
    engine.deal(np.arange(1), [0])
    engine.state.florins[0] = 9  # nobody has nine florins on the first day
    with pytest.raises(IncunabulaError, match="there is no value for it"):
        agent.act(View(engine, np.arange(1), none.astype(np.uint64), none))


def code_of(fields: dict[str, int], full: bool = False, due: bool = False) -> int:
    """The code of a row of `bibliogamo-small` in which these columns are set."""
    engine = BibliogamoEngine("bibliogamo-small", 1, "numba")
    engine.deal(np.arange(1), [0], 0)
    engine.state.hires_left[0] = 2
    for name, value in fields.items():
        getattr(engine.state, name)[0] = value
    look: Any = Arrays(look_members(engine, Coding(engine.tables, full)))
    return int(encode(look.t, look.c, look.s, 0, np.bool_(due)))


PRICE, PAY = int(Phase.PRICE), int(Phase.PAY)
# Cards 1 and 7 cost 6 lilies alike, card 2 costs 3.
SHOWN = {"phase": PRICE, "display_coin": 1, "display_last": 1, "display_first": 5}


@pytest.mark.parametrize(
    ("state", "change", "matters"),
    [
        ({"phase": PAY, "hires_left": 1, "banned": 0}, {"banned": 1}, True),
        ({"phase": PAY, "hires_left": 1, "banned": 0}, {"banned": -1}, True),
        ({"phase": PAY, "hires_left": 0, "banned": 0}, {"banned": 1}, False),
        ({"phase": PAY, "hires_left": 1}, {"hires_left": 0}, True),
        ({"phase": PAY, "pending_card": 3}, {"pending_card": 4}, False),
        ({"phase": PAY, "pending_tower": 0}, {"pending_tower": 1}, False),
        (SHOWN | {"time": 4, "banned": 0}, {"banned": 1}, True),
        (SHOWN | {"time": 5, "banned": 0}, {"banned": 1}, False),
        (SHOWN, {"display_last": 7}, False),
        (SHOWN, {"display_last": 2}, True),
        (SHOWN, {"display_coin": 0}, True),
        (SHOWN, {"display_first": 6}, False),
        (SHOWN, {"books": 1}, False),
        (SHOWN, {"turn": 2}, False),
        (SHOWN, {"florins": 4}, True),
        (SHOWN, {"librarian": 3}, True),
        (SHOWN, {"time": 2}, True),
        (SHOWN, {"prestige": 1}, True),
    ],
)
def test_codes_leave_out_what_no_longer_matters(
    state: dict[str, int], change: dict[str, int], matters: bool
) -> None:
    assert (code_of(state) != code_of(state | change)) == matters
    assert code_of(state, full=True) != code_of(state | change, full=True)


def test_a_turn_that_has_ended_is_a_state_of_its_own() -> None:
    ended = {"phase": PAY, "hires_left": 1, "banned": 0}
    assert code_of(ended, due=True) != code_of(ended)
    for full in (False, True):
        other = code_of({"phase": int(Phase.HIRE), "hires_left": 0, "banned": 1}, full, due=True)
        assert code_of(ended, full, due=True) == other


def test_codes_tell_states_apart_as_they_should() -> None:
    """Full codes are as many as there are public states; others no more than that."""
    engine = BibliogamoEngine("bibliogamo-small", 512, "numba")
    rows = np.arange(512)
    engine.deal(rows, rows.astype(np.uint64))
    agent = RandomAgent()
    seen: dict[bool, dict[int, str]] = {False: {}, True: {}}
    public: set[str] = set()
    for decision in range(12):
        for full, codes in seen.items():
            look: Any = Arrays(look_members(engine, Coding(engine.tables, full)))
            for row in rows:
                form = engine.snapshot(int(row))
                display = form["display"]
                form["display"] = [display[:1], sorted(display), display[-1:]]
                text = json.dumps(form)
                public.add(text)
                code = int(encode(look.t, look.c, look.s, int(row), False))
                if full:
                    assert codes.setdefault(code, text) == text
                else:
                    codes.setdefault(code, text)
        view = View(engine, rows, rows.astype(np.uint64), np.full(len(rows), decision))
        engine.apply(agent.act(view), rows)
        rows = rows[engine.state.phase[rows] != engine.over]
    assert len(seen[True]) == len(public)
    assert len(seen[False]) < len(public)
