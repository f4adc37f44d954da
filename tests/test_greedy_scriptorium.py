"""Scriptorium's greedy agent: legal everywhere, the same compiled and interpreted, honest, good."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from incunabula.agents.agent import Agent, RandomAgent, View
from incunabula.agents.greedy_scriptorium import GreedyScriptorium
from incunabula.agents.registry import make_agent
from incunabula.envs.compiled.functions import can_compile, interpreted
from incunabula.envs.scriptorium.edition import load_edition
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from tests.by_hand_scriptorium import (
    BLACK,
    BLUE,
    END,
    EVERY_INK,
    GREEN,
    GRIMOIRE,
    LEFT_FRAME,
    QUILL,
    RED,
    TAKE_POINTS,
    Json,
    buy,
    discard,
    ink,
    lectern,
    place,
    seat,
    stand,
)
from tests.strategies import SEEDS
from tests.strategies_scriptorium import editions

needs_numba = pytest.mark.skipif(not can_compile(), reason="numba is not installed")
FRESH = 20_000_000  # deals from here on were not used for tuning


# Players, and a mean score of self-play well below the one measured.
SELF_PLAY = [(2, 76.5), (3, 72.0), (4, 69.5)]


def view(engine: ScriptoriumEngine, rows: np.ndarray, decision: int = 0) -> View:
    return View(engine, rows, rows.astype(np.uint64), np.full(len(rows), decision, np.int64))


def dealt(edition: Any, seeds: list[int], players: int) -> ScriptoriumEngine:
    engine = ScriptoriumEngine(edition, len(seeds), num_players=players)
    engine.deal(np.arange(len(seeds)), np.array(seeds, np.uint64))
    return engine


def playout(edition: Any, seeds: list[int], players: int) -> list[list[int]]:
    """The actions of each game; the engine raises at an illegal one."""
    engine = dealt(edition, seeds, players)
    rows = np.arange(len(seeds))
    taken: list[list[int]] = [[] for _ in seeds]
    while rows.size:
        actions = GreedyScriptorium().act(view(engine, rows))
        for row, action in zip(rows, actions, strict=True):
            taken[row].append(int(action))
        _, terminated = engine.apply(actions, rows)
        rows = rows[~terminated]
    return taken


def scores(seats: list[Agent], seeds: list[int]) -> np.ndarray:
    """Final scores (games, P) of these agents on the default edition, one a seat."""
    engine = dealt("scriptorium", seeds, len(seats))
    rows, decision = np.arange(len(seeds)), 0
    while rows.size:
        seat = engine.state.player[rows]
        actions = np.zeros(len(rows), np.intp)
        for number, agent in enumerate(seats):
            mine = np.flatnonzero(seat == number)
            if mine.size:
                actions[mine] = agent.act(view(engine, rows[mine], decision))
        _, terminated = engine.apply(actions, rows)
        rows, decision = rows[~terminated], decision + 1
    return engine.state.score.copy()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_is_legal(players: int) -> None:
    """1,000 games; far fewer where every step is interpreted."""
    games = 1000 if can_compile() else 2
    playout("scriptorium", list(range(FRESH, FRESH + games)), players)


@settings(deadline=None, max_examples=60 if can_compile() else 5)
@given(editions(), SEEDS)
def test_is_legal_on_random_editions(edition: dict[str, Any], seed: int) -> None:
    for players in edition["rules"]["players"]:
        playout(edition, [seed, (seed + 1) % 2**64], players)


@needs_numba
@pytest.mark.parametrize("players", [2, 3, 4])
def test_compiled_and_interpreted_agree(players: int) -> None:
    """Action for action, on the positions of two games."""
    seeds = [FRESH, FRESH + 1]
    compiled = playout("scriptorium", seeds, players)
    with interpreted():
        assert playout("scriptorium", seeds, players) == compiled


@needs_numba
@settings(deadline=None, max_examples=15)
@given(editions(), SEEDS)
def test_compiled_and_interpreted_agree_on_random_editions(
    edition: dict[str, Any], seed: int
) -> None:
    players = max(edition["rules"]["players"])
    compiled = playout(edition, [seed], players)
    with interpreted():
        assert playout(edition, [seed], players) == compiled


def test_batch_size_does_not_matter() -> None:
    """Each row of a batch gets the action that its game gets alone."""
    engine, rows, agent = dealt("scriptorium", list(range(8)), 3), np.arange(8), GreedyScriptorium()
    for _ in range(60):
        together = agent.act(view(engine, rows))
        assert [agent.act(view(engine, rows[[k]]))[0] for k in range(8)] == together.tolist()
        engine.apply(together, rows)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_hidden_order_does_not_matter(players: int) -> None:
    """With the bag and all later lecterns dealt anew, every choice stays what it was."""
    n = 64 if can_compile() else 2
    engine, rows = dealt("scriptorium", list(range(n)), players), np.arange(n)
    agent = GreedyScriptorium()
    for step in range(100):
        actions = agent.act(view(engine, rows))
        engine.determinise(rows, (rows + 1000 * (step + 1)).astype(np.uint64))
        assert np.array_equal(agent.act(view(engine, rows)), actions)
        _, terminated = engine.apply(actions, rows)
        rows = rows[~terminated]


@needs_numba
def test_beats_random() -> None:
    """In at least 99% of 300 deals, from either seat."""
    greedy, seeds = GreedyScriptorium(), list(range(FRESH, FRESH + 150))
    first = scores([greedy, RandomAgent(1)], seeds)
    second = scores([RandomAgent(1), greedy], seeds)
    wins = (first[:, 0] > first[:, 1]).sum() + (second[:, 1] > second[:, 0]).sum()
    assert wins >= 297


# Positions --------------------------------------------------------------------------------------

RICH, POOR = [16, 18, 20, 22], [0, 0, 0, 0]  # tiles
NONE: list[int] = []
A_DAY_MORE = [0, 1, 2, 3, 4, 5] * 8  # a bag that lasts for further days
ONE_BLACK = {"black": 1, "red": 2, "blue": 2, "green": 2, "gold": 2}


def late(*seats: Json, **fields: Any) -> Json:
    """A position late in the game: much has been drawn."""
    return stand(*seats, round=9, **fields)


def answer(form: Json) -> Json:
    """What the agent does in this position."""
    engine = ScriptoriumEngine("scriptorium", 1, num_players=len(form["players"]))
    engine.restore(0, form, 0)
    return engine.action_to_json(0, int(GreedyScriptorium().act(view(engine, np.array([0])))[0]))


def test_spends_scarce_black_on_the_tile_worth_most() -> None:
    mine = seat(inks=ONE_BLACK, storage=[0, 10, 16, 29])
    assert answer(late(mine, seat())) == place(16)


def test_places_the_set_worth_most() -> None:
    """Two corners for two black (6 points), rather than a text alone (3) or with nothing else."""
    mine = seat(inks={"black": 2, "red": 2, "blue": 1, "green": 1}, storage=[10, 12, 27])
    first = answer(late(mine, seat()))
    assert first["type"] == "place"
    assert first["tile"] in (10, 12)


def test_places_a_tile_in_spite_of_a_better_one_that_lacks_ink() -> None:
    mine = seat(inks={"black": 2, "red": 1, "gold": 1}, storage=[9, 24])
    assert answer(late(mine, seat())) == place(9, "left")


def test_keeps_a_token_that_buys_less_than_it_scores() -> None:
    """On the last day an edge of 2 points costs as many."""
    mine = seat(inks={"black": 1, "gold": 1}, tokens=3)
    assert answer(late(mine, seat(), scriptorium=[9])) == END


def test_buys_what_completes_a_page() -> None:
    mine = seat(inks=EVERY_INK, tokens=1, filled={"A": 1, "B": 1, "C": 1})
    assert answer(late(mine, seat(), scriptorium=[9, 22, 27])) == buy(22)


def test_buys_nothing_that_it_could_not_place() -> None:
    mine = seat(inks={"black": 1, "red": 1}, tokens=1, filled={"A": 1, "B": 1, "C": 1})
    assert answer(late(mine, seat(), scriptorium=[22])) == END


def test_fills_up_a_frame_without_ink() -> None:
    mine = seat(storage=[0, 1], filled={"corner_right": 2, "edge_right": 4})
    form = late(mine, seat())
    assert answer(form)["ink"] is False
    assert answer(form)["side"] == "right"


def test_buys_an_edge_for_a_frame_that_it_completes() -> None:
    mine = seat(tokens=1, filled={"corner_right": 2, "edge_right": 5})
    assert answer(late(mine, seat(), scriptorium=[3])) == buy(3)


def test_wastes_no_edge_on_a_frame_out_of_reach() -> None:
    """On the last day: it would bring nothing."""
    assert answer(late(seat(storage=[9]), seat())) == END


def test_takes_points_for_the_quill_when_the_quill_is_worth_nothing() -> None:
    lecterns = [(BLACK, None, NONE), (RED, None, NONE), (QUILL, 1, NONE)]
    last_day = late(seat(), seat(), phase="quill", player=1, lecterns=lecterns)
    assert answer(last_day) == TAKE_POINTS


def test_the_holder_keeps_the_quill_and_takes_the_points() -> None:
    lecterns = [(BLACK, None, POOR), (RED, None, POOR), (QUILL, 0, [])]
    form = late(seat(), seat(), phase="quill", lecterns=lecterns, bag=A_DAY_MORE)
    assert answer(form) == TAKE_POINTS


def test_gives_the_rival_the_poor_lectern() -> None:
    lecterns = [(BLUE, None, RICH), (RED, None, POOR), (BLACK, None, RICH)]
    inks = {"black": 3, "red": 3, "blue": 3, "green": 3}
    form = late(seat(inks=inks), seat(inks=inks), phase="lectern", lecterns=sorted(lecterns))
    assert answer(form) == lectern(RED, 1)


def test_chooses_the_rich_lectern_with_the_grimoire() -> None:
    lecterns = [(BLACK, None, POOR), (RED, None, RICH), (BLUE, None, POOR)]
    inks = {"black": 3, "red": 3, "blue": 3, "green": 3}
    seats = (seat(inks=inks), seat(inks=inks))
    form = late(*seats, phase="lectern", grimoire=0, lecterns=lecterns)
    assert answer(form) == lectern(RED, 0)


def test_takes_the_grimoire_when_choosing_is_worth_the_last_inks() -> None:
    lecterns = [(BLACK, None, POOR), (RED, None, RICH), (BLUE, None, POOR)]
    inks = {"black": 3, "red": 3, "blue": 3, "green": 3}
    form = late(
        *(seat(inks=inks), seat(inks=inks)), phase="ink", pot={"green": 1}, lecterns=lecterns
    )
    assert answer(form) == GRIMOIRE


def test_leaves_the_grimoire_when_there_is_nothing_to_choose() -> None:
    lecterns = [(each, None, [9] * 4) for each in (RED, BLUE, GREEN)]
    form = late(seat(), seat(), phase="ink", pot={"black": 2}, lecterns=lecterns, bag=A_DAY_MORE)
    assert answer(form) == ink("black", "black")


def test_takes_the_inks_that_its_tiles_lack() -> None:
    """An initial of black, red and two gold; on the last day nothing else counts."""
    mine = seat(inks={"black": 1, "red": 1}, storage=[24])
    lecterns = [(RED, None, NONE), (BLUE, None, NONE), (GREEN, None, NONE)]
    pot = {"blue": 2, "green": 2, "gold": 2}
    form = late(mine, seat(), phase="ink", pot=pot, lecterns=lecterns)
    assert answer(form) == ink("gold", "gold")


def test_discards_a_tile_without_a_space_first_and_no_achievement() -> None:
    mine = seat(
        storage=[16, 18, 20, 22, 24, 30, 30],
        achievements=["left_frame"],
        filled=LEFT_FRAME | {"B": 1},
    )
    form = late(mine, seat(), phase="discard", bag=A_DAY_MORE)
    assert answer(form) == discard(18)


def test_discards_no_ink_that_its_tiles_need() -> None:
    mine = seat(inks={"black": 1, "red": 1, "gold": 2, "blue": 4}, storage=[24])
    form = late(mine, seat(), phase="discard", bag=A_DAY_MORE)
    assert answer(form) == discard("blue")


# The agent as it is given out -------------------------------------------------------------------


@pytest.mark.parametrize(("players", "least"), SELF_PLAY)
@needs_numba
def test_self_play_score(players: int, least: float) -> None:
    """Mean over all seats on 400 deals that were not used for tuning."""
    greedy = GreedyScriptorium()
    assert scores([greedy] * players, list(range(FRESH, FRESH + 400))).mean() > least


def test_small_editions_are_played_sensibly() -> None:
    """Better than ending every turn, on editions the parameters were not tuned on."""
    for name in ("scriptorium-tiny", "scriptorium-small"):
        engine = dealt(name, list(range(50)), 2)
        start, rows = engine.state.score.mean(), np.arange(50)
        while rows.size:
            _, terminated = engine.apply(GreedyScriptorium().act(view(engine, rows)), rows)
            rows = rows[~terminated]
        assert engine.state.score.mean() > start + 2


def test_make_agent_gives_it() -> None:
    assert isinstance(make_agent("greedy", load_edition("scriptorium")), GreedyScriptorium)


def test_importing_the_agent_does_not_import_numba() -> None:
    code = "import sys, incunabula.agents.greedy_scriptorium; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
