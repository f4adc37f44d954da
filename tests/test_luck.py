"""Luck of a game: zero on average, the same however games are batched, and worth taking out."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from rich.console import Console

from incunabula.agents.agent import Agent, RandomAgent
from incunabula.agents.baselines import make_greedy
from incunabula.envs.backend import chosen_backend
from incunabula.envs.bibliogamo.edition import Edition, load_edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.bibliogamo.state import Phase
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.evaluate import evaluate
from incunabula.training.evaluation.games import play_games
from incunabula.training.evaluation.luck import Judge, LuckMeter, load_judge, luck_possible
from incunabula.training.evaluation.seeds import seed_list
from incunabula.training.evaluation.tables import print_evaluation

EDITION = load_edition("bibliogamo")


def luck_of(agent: Agent, games: int, **options: Any) -> tuple[npt.NDArray[Any], LuckMeter]:
    meter = LuckMeter(EDITION, games, options.get("start", 0))
    first = options.get("start", 0)
    deals = seed_list("dev", first + games)[first:]
    return play_games(agent, EDITION, deals, watch=meter, **options).score, meter


@pytest.mark.skipif(chosen_backend("auto") == "numpy", reason="slow without compiled code")
@pytest.mark.parametrize("name", ["random", "greedy"])
def test_luck_is_zero_on_average_and_takes_spread_out(name: str) -> None:
    agent = RandomAgent(3) if name == "random" else make_greedy("bibliogamo")
    games = 250
    score, meter = luck_of(agent, games)
    for luck in (meter.cards, meter.prices):
        assert abs(luck.mean()) < 4 * luck.std(ddof=1) / games**0.5
    if name == "greedy":
        assert meter.cards.std() > 0.5
        assert meter.prices.std() > 0.5
        assert (score - meter.luck).std() < 0.75 * score.std()


def test_neither_the_batch_nor_the_engine_nor_a_game_s_place_changes_luck() -> None:
    # But for float32 rounding: a matrix product may sum a row in another order at another place.
    def same(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
        return bool(np.allclose(a, b, rtol=0, atol=1e-4))

    agent = make_greedy("bibliogamo")
    score, meter = luck_of(agent, 6)
    for options in ({"batch_size": 1}, {"batch_size": 4, "backend": "numpy"}):
        again, other = luck_of(agent, 6, **options)
        assert np.array_equal(score, again)
        assert same(meter.cards, other.cards)
        assert same(meter.prices, other.prices)
    part, later = luck_of(agent, 3, start=3)
    assert np.array_equal(part, score[3:])
    assert same(later.luck, meter.luck[3:])


def test_only_what_was_drawn_counts() -> None:
    """Watched step by step: a step that draws nothing adds nothing, one that does adds something
    to the one account that it belongs to."""

    class Steps:
        def __init__(self) -> None:
            self.meter = LuckMeter(EDITION, 1)
            self.found: list[tuple[bool, bool, bool, bool]] = []

        def before(self, engine: BibliogamoEngine, part: Any, actions: npt.NDArray[Any]) -> None:
            self.meter.before(engine, part, actions)
            self.kept = self.meter.cards[0], self.meter.prices[0]
            self.deck = self.cards(engine)

        def after(self, engine: BibliogamoEngine, part: Any) -> None:
            self.meter.after(engine, part)
            cards, prices = (self.meter.cards[0], self.meter.prices[0])
            offer = bool(engine.state.phase[0] == Phase.PRICE)
            moved = self.cards(engine) != self.deck
            self.found.append((moved, offer, cards != self.kept[0], prices != self.kept[1]))

        def cards(self, engine: BibliogamoEngine) -> tuple[int, int]:
            return int(engine.state.deck_left[0]), int(engine.state.shuffles[0])

    steps = Steps()
    play_games(make_greedy("bibliogamo"), EDITION, seed_list("dev", 1), watch=steps)
    drawn = {step for step in steps.found if step[0]}
    assert drawn == {(True, False, True, False), (True, True, False, True)}
    assert {step[2:] for step in steps.found if not step[0]} == {(False, False)}


def test_an_evaluation_with_luck() -> None:
    plain = evaluate(["greedy", "random"], games=12, seeds="dev")
    both = evaluate(["greedy", "random"], games=12, seeds="dev", luck=True)
    for old, new in zip(plain.result["agents"], both.result["agents"], strict=True):
        assert {k: v for k, v in new.items() if k not in ("luck_adjusted", "timing")} == {
            k: v for k, v in old.items() if k != "timing"
        }
    greedy, random = both.result["agents"]
    left = both.games["greedy"].score - both.luck["greedy"]
    assert greedy["luck_adjusted"]["mean"] == pytest.approx(left.mean(), abs=1e-6)
    low, high = greedy["luck_adjusted"]["ci95"]
    assert low < left.mean() < high
    (pair,) = both.result["paired"]
    difference = random["luck_adjusted"]["mean"] - greedy["luck_adjusted"]["mean"]
    assert pair["luck_adjusted"]["mean_difference"] == pytest.approx(difference, abs=2e-6)
    console = Console(file=io.StringIO(), width=100)
    print_evaluation(both.result, console)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "Scores less luck" in shown
    assert f"{random['luck_adjusted']['mean']:.2f}" in shown
    single = evaluate(["greedy"], games=1, seeds="dev", luck=True).result["agents"][0]
    assert single["luck_adjusted"]["ci95"] is None
    assert single["luck_adjusted"]["sd"] is None


def test_the_agents_of_an_evaluation_share_one_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []

    def load(edition: Edition) -> Judge:
        loaded.append(load_judge(edition))
        return loaded[-1]

    monkeypatch.setattr("incunabula.training.evaluation.evaluate.load_judge", load)
    monkeypatch.setattr("incunabula.training.evaluation.luck.load_judge", load)
    shared = evaluate(["random", "greedy"], games=3, seeds="dev", luck=True)
    assert len(loaded) == 1
    _, alone = luck_of(make_greedy("bibliogamo"), 3)  # which loads one of its own
    assert len(loaded) == 2
    assert shared.luck["greedy"].tolist() == alone.luck.tolist()


def test_refused_without_a_value_network() -> None:
    assert luck_possible(EDITION)
    assert not luck_possible(load_edition("bibliogamo-tiny"))
    with pytest.raises(IncunabulaError, match="luck: its value network isn't of this edition"):
        evaluate(["greedy"], edition="bibliogamo-tiny", games=2, luck=True)
