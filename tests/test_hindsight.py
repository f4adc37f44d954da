"""Play in hindsight: the beam against brute force over the oracle, the bound, certificates."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from incunabula.agents.agent import Agent, RandomAgent
from incunabula.agents.greedy_bibliogamo import GreedyBibliogamo
from incunabula.agents.hindsight import search as search_module
from incunabula.agents.hindsight.bound import decks_drawn_from, pathwise_bound
from incunabula.agents.hindsight.certificate import (
    certificate,
    check_certificate,
    read_certificate,
)
from incunabula.agents.hindsight.search import Beam, Line, best_line
from incunabula.agents.registry import make_agent
from incunabula.envs.bibliogamo.edition import load_edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.bibliogamo.tables import build_tables
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.games import play_games
from tests.backends import as_python
from tests.by_hand import tiny
from tests.clairvoyant import best_score
from tests.oracle.bibliogamo import Game
from tests.play import Json, large_edition
from tests.small_editions import BOTH, SMALL, cut_down

__all__ = ["as_python"]

WIDE = 300  # more than the positions that these editions have at any point of a turn
SEEDS = range(4)


@lru_cache
def tiny_line(seed: int = 3, width: int = 20) -> Line:
    return best_line("bibliogamo-tiny", seed, width=width)


# The beam -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMALL)
def test_a_wide_beam_finds_the_best_there_is(name: str) -> None:
    for seed in SEEDS:
        line = best_line(SMALL[name], seed, width=WIDE)
        assert line.score == best_score(SMALL[name], seed)


ODD: dict[str, Json] = {
    "no hires": cut_down((1, 4, 5, 6), BOTH, {"florins": 3}, days=3, hand_size=2, hires_per_turn=0),
    "three hires": cut_down(
        (0, 1, 4, 5, 6, 7), BOTH, days=2, hand_size=6, hires_per_turn=3, cubes=2
    ),
    "one card in hand": cut_down((1, 4, 5), BOTH, days=3, hand_size=1),
    "one card": cut_down((1,), BOTH, days=3, hand_size=1),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_editions_are_searched_and_bounded(name: str) -> None:
    for seed in SEEDS:
        line = best_line(ODD[name], seed, width=WIDE)
        assert line.score == best_score(ODD[name], seed)
        assert line.score <= pathwise_bound(load_edition(ODD[name]), line.prestige).value


def test_large_editions_can_be_searched() -> None:
    form = large_edition(types=9, cards=60)
    line = best_line(form, 1, width=1)
    game = Game(form, seed=1)
    for action in line.actions:
        game.step(action)
    assert game.over
    assert game.score() == line.score > 0


def test_a_wide_beam_is_exact_on_a_shipped_edition() -> None:
    line = best_line(tiny(), 2, width=WIDE, prestige=0)
    assert line.score == best_score(tiny(), 2, prestige=0)
    assert best_line(tiny(), 2, width=1, prestige=0).score <= line.score


def test_lines_use_all_that_the_rules_allow() -> None:
    lines = [best_line(form, 1, width=4) for form in SMALL.values()] + [tiny_line()]
    kinds = {action["type"] for line in lines for action in line.actions}
    assert kinds >= {"stay", "walk", "sell", "accept", "wait", "hire", "pay", "lift", "end"}


def test_a_line_is_played_by_the_oracle_to_the_score_it_claims() -> None:
    for name, form in SMALL.items():
        line = best_line(form, 5, width=4)
        game = Game(form, seed=5)
        for action in line.actions:
            game.step(action)
        assert game.over, name
        assert (game.score(), game.prestige) == (line.score, line.prestige)


class Blind:
    """In place of the beam: never sells and never hires."""

    tried = 0

    def __init__(self, engine: BibliogamoEngine, *_: Any) -> None:
        self._engine = copy.deepcopy(engine)

    def run(self) -> list[int]:
        engine, chosen = self._engine, []
        while engine.state.phase[0] != engine.over:
            end = engine.actions.end
            chosen.append(end if engine.mask[0, end] else int(engine.mask[0].argmax()))
            engine.apply(np.array([chosen[-1]]))
        return chosen


def test_no_line_is_worse_than_greedy(monkeypatch: pytest.MonkeyPatch) -> None:
    edition = load_edition("bibliogamo-tiny")
    seeds = np.arange(8, dtype=np.uint64)
    greedy = play_games(GreedyBibliogamo(), edition, seeds).score.tolist()
    lines = [best_line(edition, seed, width=1).score for seed in seeds.tolist()]
    assert all(line >= own for line, own in zip(lines, greedy, strict=True))
    monkeypatch.setattr(search_module, "Beam", Blind)
    lines = [best_line(edition, seed, width=1).score for seed in seeds.tolist()]
    assert lines == greedy
    assert max(greedy) > 0


def test_the_same_deal_gives_the_same_line() -> None:
    first, again = tiny_line(), best_line("bibliogamo-tiny", 3, width=20)
    assert first._replace(seconds=0) == again._replace(seconds=0)
    assert tiny_line(4).actions != first.actions


def test_nothing_of_it_is_an_agent() -> None:
    with pytest.raises(IncunabulaError, match="there is no agent 'hindsight'"):
        make_agent("hindsight", load_edition("bibliogamo-tiny"))
    assert not issubclass(Beam, Agent)


@pytest.mark.parametrize("width", [0, -1, 10_001, 1.5, True, "8"])
def test_a_width_that_cannot_be_used_is_named(width: Any) -> None:
    with pytest.raises(IncunabulaError, match=r"width: expected a whole number from 1 to 10,000"):
        best_line("bibliogamo-tiny", 0, width=width)


def test_a_search_that_memory_cannot_hold_is_refused() -> None:
    with pytest.raises(IncunabulaError, match=r"width: 60 would keep [\d,]+ positions"):
        best_line(tiny(hires_per_turn=30_000), 0, width=60)
    with pytest.raises(IncunabulaError, match=r"width: 9,999 would keep [\d,]+ positions"):
        best_line(tiny(days=30_000), 0, width=9_999)


# The bound ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMALL)
def test_nothing_scores_more_than_the_bound(name: str) -> None:
    edition = load_edition(SMALL[name])
    for prestige in range(len(edition.prestige)):
        bound = pathwise_bound(edition, prestige)
        for seed in range(8):
            assert best_score(SMALL[name], seed, prestige) <= bound.value


def test_agents_and_lines_stay_within_the_bound() -> None:
    edition = load_edition("bibliogamo-tiny")
    seeds = np.arange(40, dtype=np.uint64)
    for prestige in (0, 1):
        most = pathwise_bound(edition, prestige).value
        for agent in (RandomAgent(), GreedyBibliogamo()):
            assert play_games(agent, edition, seeds, prestige=prestige).score.max() <= most
        assert best_line(edition, 1, width=8, prestige=prestige).score <= most


def test_the_bound_of_the_default_edition_is_what_the_proof_makes_it() -> None:
    # 318 cards drawn at most: 5, 40 by step 2, 39 times 5 by step 5, 39 times 2 by sales; decks of
    # 47 and then at least 41. 78 hires, 8 of them of 4 cubes, the others of 2: 172 cubes, 21 books
    # of 8, at 20 florins each; slots 12 and bonus 4.
    edition = load_edition("bibliogamo")
    assert decks_drawn_from(build_tables(edition), 40) == 8
    assert pathwise_bound(edition, 0) == (21 + 420 // 5 + 16, 40, 21, 420, 16)
    assert pathwise_bound(edition, 1).value == 21 + 84 + 13 + 5
    with pytest.raises(IncunabulaError, match=r"prestige: expected an integer in 0\.\.6, got 7"):
        pathwise_bound(edition, 7)


def test_the_bound_follows_caps_and_what_cards_can_do() -> None:
    # 3 turns, a hire in each but the last: 2 books at most. Card 7 offers 4 in either coin.
    form = tiny(days=3, florins_per_vp=1)
    assert pathwise_bound(load_edition(form), 0)[1:4] == (3, 2, 8)
    capped = tiny(days=3, florins_per_vp=1, florin_cap=5)
    assert pathwise_bound(load_edition(capped), 0).florins == 5
    # Without the cards 5 and 7 no hire fills a tower by itself, so that two make one book.
    cards = [card for card in form["cards"] if card["id"] not in (5, 7)]
    form["cards"] = [card | {"id": k} for k, card in enumerate(cards)]
    assert pathwise_bound(load_edition(form), 0).books == 1


# Certificates -------------------------------------------------------------------------------------


def written(**changes: Any) -> str:
    """A certificate as text, with fields changed."""
    return json.dumps(certificate(tiny_line(), load_edition("bibliogamo-tiny")) | changes)


def check(text: str, edition: Any = "bibliogamo-tiny") -> None:
    check_certificate(read_certificate(text, "here"), load_edition(edition), "here")


def test_a_certificate_says_what_it_is_of_and_holds() -> None:
    edition = load_edition("bibliogamo-tiny")
    form = read_certificate(written(), "here")
    assert (form["seed"], form["edition_sha256"]) == (3, edition.sha256)
    assert form["score"] == tiny_line().score <= form["upper_bound"] == 13
    check(written())
    chosen = best_line(edition, 3, width=2, prestige=1 - form["prestige"])
    check(json.dumps(certificate(chosen, edition)))


def without(actions: list[Json], index: int) -> list[Json]:
    return actions[:index] + actions[index + 1 :]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda form: {"score": form["score"] + 1}, "here: score: the line scores"),
        (lambda form: {"upper_bound": 12}, "here: upper_bound: the deal's is 13, not 12"),
        (lambda form: {"seed": 4}, "here: "),
        (lambda form: {"seed": -1}, "here: seed: expected an integer in"),
        (lambda form: {"prestige": 1 - form["prestige"]}, "here: prestige: seed 3 draws"),
        (lambda form: {"prestige": 2}, r"here: prestige: expected an integer in 0\.\.1"),
        (lambda form: {"prestige_drawn": 1}, "here: prestige_drawn: expected true or false"),
        (lambda form: {"kind": "else"}, "here: kind: expected"),
        (lambda form: {"game": "scriptorium"}, "here: game: expected 'bibliogamo'"),
        (lambda form: {"edition_sha256": "0" * 64}, "here: edition_sha256: is of edition"),
        (lambda form: {"edition_sha256": None}, "here: edition_sha256: expected text"),
        (lambda form: {"width": 0}, "here: width: expected"),
        (lambda form: {"search": "1"}, "here: search: expected"),
        (lambda form: {"score": 1.0}, "here: score: expected an integer"),
        (lambda form: {"actions": {}}, "here: actions: expected a list"),
        (lambda form: {"extra": 1}, "here: fields missing or unknown: extra"),
        (lambda form: {"actions": form["actions"][:-1]}, "here: actions: the game isn't over"),
        (
            lambda form: {"actions": [*form["actions"], {"type": "end"}]},
            r"here: actions\[\d+\]: the game is over already",
        ),
        (lambda form: {"actions": without(form["actions"], 2)}, r"here: actions\[\d+\]: "),
        (lambda form: {"actions": [{"type": "wait"}]}, r"here: actions\[0\]: is illegal \(Order"),
        (lambda form: {"actions": [{"type": "fly"}]}, r"here: actions\[0\]: action: unknown type"),
        (lambda form: {"actions": [7]}, r"here: actions\[0\]: action: unknown type"),
        (
            lambda form: {"actions": [{"type": "lift", "card": 99}]},
            r"here: actions\[0\]: action.card: card 99 is not in the hand",
        ),
        (
            lambda form: {"actions": [{"type": "lift", "card": []}]},
            r"here: actions\[0\]: action.card: card \[\] is not in the hand",
        ),
    ],
)
def test_what_is_wrong_with_a_certificate_is_named(
    change: Callable[[Json], Json], said: str
) -> None:
    with pytest.raises(IncunabulaError, match=said) as raised:
        check(written(**change(json.loads(written()))))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", "NaN", "\0", "[" * 9999])
def test_what_is_no_certificate_is_told(text: str) -> None:
    with pytest.raises(IncunabulaError, match=r"here: (isn't JSON|kind: expected)"):
        check(text)


def test_a_certificate_that_is_cut_off_is_told() -> None:
    with pytest.raises(IncunabulaError, match="here: isn't JSON, or is cut off"):
        check(written()[:-9])


def test_a_field_that_is_missing_is_named() -> None:
    form = json.loads(written())
    del form["width"]
    with pytest.raises(IncunabulaError, match="here: fields missing or unknown: width"):
        check(json.dumps(form))


def test_a_certificate_of_another_edition_is_refused() -> None:
    with pytest.raises(IncunabulaError, match="is of edition 'bibliogamo-tiny'"):
        check(written(), "bibliogamo-small")
