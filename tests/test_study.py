"""What the game is made of: variants, weak players, worths and shares of variance."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from incunabula.agents.agent import RandomAgent
from incunabula.agents.baselines import make_greedy
from incunabula.envs.bibliogamo.edition import EditionError, load_edition
from incunabula.envs.bibliogamo.state import Phase
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.games import play_games
from incunabula.training.evaluation.luck import LuckMeter
from incunabula.training.evaluation.seeds import seed_list
from incunabula.training.study.measure import (
    Change,
    as_table,
    collections,
    figure,
    levels,
    worths,
)
from incunabula.training.study.play import Cell, collections_drawn, play_cells
from incunabula.training.study.players import Abstaining, Erring
from incunabula.training.study.variance import (
    ahead,
    luck_parts,
    percentages,
    split,
    two_way,
    weigh,
)
from incunabula.training.study.variants import variant

SHIPPED = load_edition("bibliogamo")
TINY = load_edition("bibliogamo-tiny")
GREEDY = make_greedy("bibliogamo")
DEALS = seed_list("dev", 60)


class Seen:
    """Counts what is done in games: actions by number."""

    def __init__(self) -> None:
        self.actions = np.zeros(1000, np.int64)
        self.choices = 0  # decisions with more than one legal action

    def before(self, engine: Any, part: Any, actions: npt.NDArray[Any]) -> None:
        self.engine = engine
        np.add.at(self.actions, actions, 1)
        self.choices += int((engine.mask[part.rows].sum(axis=1) > 1).sum())

    def after(self, engine: Any, part: Any) -> None:
        pass


def test_a_variant_differs_in_what_was_asked_and_says_so() -> None:
    assert variant({}) == SHIPPED
    assert variant({}).sha256 == SHIPPED.sha256
    assert variant({"rules.days": SHIPPED.rules.days}).sha256 == SHIPPED.sha256
    changed = variant({"rules.days": 41, "prestige.*.slots.*.vp": 0})
    assert changed.rules == SHIPPED.rules.model_copy(update={"days": 41})
    assert {slot.vp for each in changed.prestige for slot in each.slots} == {0}
    assert [each.bonus for each in changed.prestige] == [each.bonus for each in SHIPPED.prestige]
    assert (changed.cards, changed.start) == (SHIPPED.cards, SHIPPED.start)
    assert changed.provenance == "variant"
    assert "rules.days 41" in changed.name
    assert changed.sha256 not in {SHIPPED.sha256, variant({"rules.days": 41}).sha256}


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("rules.day", "'day' is not one of days, hand_size"),
        ("rule.days", "'rule' is not one of game, edition"),
        ("prestige.0.bonus", r"'0' is a list; write \*"),
        ("rules.days.few", "'few' is not there"),
    ],
)
def test_a_field_that_is_not_there(field: str, said: str) -> None:
    with pytest.raises(IncunabulaError, match=said):
        variant({field: 1})


def test_a_value_that_no_edition_can_have() -> None:
    with pytest.raises(EditionError, match="lifts_per_turn"):
        variant({"rules.lifts_per_turn": 2})


@pytest.mark.parametrize("never", ["walking", "waiting"])
def test_who_abstains_does_all_but_that(never: str) -> None:
    """Random moves do everything; what is left out is left out, and only that."""
    plain, left_out = Seen(), Seen()
    play_games(RandomAgent(0), SHIPPED, DEALS, watch=plain)
    play_games(Abstaining(RandomAgent(0), never), SHIPPED, DEALS, watch=left_out)
    actions = plain.engine.actions
    walks, waits = slice(actions.walk, actions.keep), slice(actions.wait, actions.wait + 1)
    gone, kept = (walks, waits) if never == "walking" else (waits, walks)
    assert plain.actions[gone].sum() > 0
    assert left_out.actions[gone].sum() == 0
    assert left_out.actions[kept].sum() > 0


def test_abstaining_from_something_else() -> None:
    with pytest.raises(IncunabulaError, match="never: expected walking or waiting, got 'sleeping'"):
        Abstaining(GREEDY, "sleeping")


def test_who_errs_does_so_in_the_share_of_decisions_asked_for() -> None:
    class Stubborn(RandomAgent):
        """Takes the first legal action."""

        def act(self, view: Any) -> npt.NDArray[np.intp]:
            return np.asarray(view.action_mask.argmax(axis=1), np.intp)

    class Counting(Seen):
        first = 0

        def before(self, engine: Any, part: Any, actions: npt.NDArray[Any]) -> None:
            super().before(engine, part, actions)
            mask = engine.mask[part.rows]
            hires = (mask.sum(axis=1) >= 4) & (engine.state.phase[part.rows] != Phase.PAY)
            self.four = getattr(self, "four", 0) + int(hires.sum())
            wrong = (actions != mask.argmax(axis=1)) / (1 - 1 / mask.sum(axis=1).clip(2))
            self.wrong = getattr(self, "wrong", 0.0) + float(wrong[hires].sum())

    seen = Counting()
    play_games(Erring(Stubborn(), 0.3, seed=5), SHIPPED, DEALS, watch=seen)
    assert seen.four > 1000
    assert abs(seen.wrong / seen.four - 0.3) < 0.05


def test_erring_never_and_always() -> None:
    for share, other in ((0.0, RandomAgent(1)), (1.0, RandomAgent(2))):
        agent = Erring(RandomAgent(1), share, seed=2)
        same = play_games(agent, SHIPPED, DEALS, batch_size=7).score
        assert np.array_equal(same, play_games(other, SHIPPED, DEALS).score)
    with pytest.raises(IncunabulaError, match="share: expected a number from 0 to 1, got 20"):
        Erring(GREEDY, 20)


def test_cells_are_played_as_by_themselves_however_many_threads() -> None:
    cells = [Cell(RandomAgent(1), SHIPPED), Cell(RandomAgent(2), TINY), Cell(GREEDY, TINY, 1)]
    one, two = play_cells(cells, DEALS, 1), play_cells(cells, DEALS, 2)
    for cell, a, b in zip(cells, one, two, strict=True):
        alone = play_games(cell.agent, cell.edition, DEALS, prestige=cell.prestige)
        assert np.array_equal(a, alone)
        assert np.array_equal(b, alone)
    with pytest.raises(IncunabulaError, match="threads: expected a whole number"):
        play_cells(cells, DEALS, 0)


def test_worths_are_differences_deal_by_deal() -> None:
    changes = [
        Change("more days", {"rules.days": TINY.rules.days + 4}),
        Change("the same", {}),
        Change("rich", {"start.florins": 7 * TINY.rules.florins_per_vp}),
        Change("at home", {}, "walking"),
    ]
    found = worths(DEALS, changes, TINY)
    base = play_games(GREEDY, TINY, DEALS).score
    longer = play_games(GREEDY, variant(changes[0].fields, TINY), DEALS).score
    home = play_games(Abstaining(GREEDY, "walking"), TINY, DEALS).score
    days, same, rich, stays = found.differences
    assert found.base.mean == pytest.approx(base.mean(), abs=1e-6)
    assert days.mean == pytest.approx((longer - base).mean(), abs=1e-6)
    assert 0 < days.low < days.mean < days.high
    assert (same.mean, same.low, same.high) == (0.0, 0.0, 0.0)
    assert rich.mean > 4
    assert stays.mean == pytest.approx((home - base).mean(), abs=1e-6)
    assert same.edition == stays.edition == found.base.edition == TINY.sha256[:12]
    assert len({days.edition, rich.edition, same.edition}) == 3
    assert np.array_equal(found.scores["more days"], longer)


def test_levels_and_collections() -> None:
    most = TINY.rules.days
    days = levels("rules.days", (most + 4, most + 2, most), DEALS, TINY)
    assert [each.what for each in days] == [f"{most + more} days" for more in (4, 2, 0)]
    assert all(a.mean > b.mean for a, b in pairwise(days))
    base = play_games(GREEDY, TINY, DEALS).score
    assert days[-1].mean == pytest.approx(base.mean(), abs=1e-6)
    assert days[-1].edition == TINY.sha256[:12] != days[0].edition
    kinds = collections(DEALS, TINY)
    assert [each.what for each in kinds] == [each.name for each in TINY.prestige]
    own = play_games(GREEDY, TINY, DEALS, prestige=0).score
    assert kinds[0].mean == pytest.approx(own.mean(), abs=1e-6)


def test_a_table_of_figures() -> None:
    text = as_table([figure("coins", np.array([1, 2, 3, 4]), TINY)]).splitlines()
    assert text[1].split() == ["coins", "2.50", "[0.45,", "4.55]", "4", TINY.sha256[:12]]
    with pytest.raises(IncunabulaError, match="coins: expected at least 2 deals"):
        figure("coins", np.array([1]), TINY)


def test_two_way_finds_what_was_put_in() -> None:
    rng = np.random.default_rng(3)
    skill = np.array([0.0, 2.0, 4.0])[:, None]  # variance 4
    deal, left = rng.normal(0, 3, 4000), rng.normal(0, 2, (3, 4000))  # variances 9 and 4
    agent, common, rest = two_way(np.rint(100 * (skill + deal + left)).astype(np.int64))
    for share, sd in ((agent, 2.0), (common, 3.0), (rest, 2.0)):
        assert share.sd / 100 == pytest.approx(sd, rel=0.05)
        assert share.low < sd**2 / 17 < share.high
        assert share.low < share.share < share.high
    assert agent.share + common.share + rest.share == pytest.approx(1)


def test_two_way_is_the_textbook_s() -> None:
    """The same components from sums of squares."""
    scores = np.random.default_rng(4).integers(0, 50, (4, 30)) + np.arange(4)[:, None] * 20
    agents, deals = scores.shape
    rows, columns, mean = scores.mean(axis=1), scores.mean(axis=0), scores.mean()
    ms_agent = deals * ((rows - mean) ** 2).sum() / (agents - 1)
    ms_deal = agents * ((columns - mean) ** 2).sum() / (deals - 1)
    residual = scores - rows[:, None] - columns + mean
    ms_left = (residual**2).sum() / ((agents - 1) * (deals - 1))
    expected = [(ms_agent - ms_left) / deals, max(0, (ms_deal - ms_left) / agents), ms_left]
    assert [share.sd**2 for share in two_way(scores)] == pytest.approx(expected)


def test_two_way_gives_nothing_to_deals_that_mean_nothing() -> None:
    apart = np.random.default_rng(5).integers(0, 100, (2, 5000))
    _, deal, left = two_way(apart)
    assert deal.share < 0.05
    assert left.share > 0.95
    for few in (apart[:1], apart[:, :9], np.full((2, 50), 7)):
        with pytest.raises(IncunabulaError, match="expected 2 agents and 10 deals or more"):
            two_way(few)


def test_a_split_adds_up() -> None:
    rng = np.random.default_rng(6)
    a, b = rng.normal(0, 3, 5000), rng.normal(0, 4, 5000)
    found = split({"a": a, "b": b, "c": -b / 2})
    assert [share.what for share in found] == ["a", "b", "c"]
    assert [share.sd for share in found] == pytest.approx([3, 4, 2], rel=0.05)
    for share, true in zip(found, (9 / 13, 8 / 13, -4 / 13), strict=True):
        assert share.low < true < share.high
    assert sum(share.share for share in found) == pytest.approx(1)
    with pytest.raises(IncunabulaError, match="scores that differ"):
        split({"a": np.ones(20), "b": np.zeros(20)})
    with pytest.raises(IncunabulaError, match="expected 10 deals or more"):
        split({"a": a[:9], "b": b[:9]})


def test_parts_of_a_game_s_luck_add_up_to_its_score() -> None:
    seeds = DEALS[:4]
    effect = [5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0]
    parts, weights = luck_parts(seeds, effect)
    score = play_games(GREEDY, SHIPPED, seeds).score
    assert sum(parts.values()) == pytest.approx(score)
    drawn = collections_drawn(SHIPPED, seeds)
    assert parts["prestige collection"] == pytest.approx([effect[k] - 1.0 for k in drawn])
    for k in np.unique(drawn):
        deals = seeds[drawn == k]
        fixed = play_games(RandomAgent(0), SHIPPED, deals, prestige=int(k))
        assert np.array_equal(fixed, play_games(RandomAgent(0), SHIPPED, deals))
    meter = LuckMeter(SHIPPED, len(seeds))
    play_games(GREEDY, SHIPPED, seeds, watch=meter)
    for name, seen in (("luck in prices", meter.prices), ("luck in cards", meter.cards)):
        assert seen.any()
        assert parts[name] == pytest.approx(weights[name] * seen)


def test_weights_take_out_what_is_no_luck() -> None:
    rng = np.random.default_rng(7)
    good, poor, noise = rng.normal(0, 2, 5000), rng.normal(0, 2, 5000), rng.normal(0, 4, 5000)
    score = 50 + good + poor + rng.normal(0, 1, 5000)
    parts, weights = weigh({"good": good, "noisy": poor + noise}, score)
    assert weights["good"] == pytest.approx(1, abs=0.1)
    assert weights["noisy"] == pytest.approx(4 / (4 + 16), abs=0.05)
    assert sum(parts.values()) == pytest.approx(score)
    shares = {share.what: share.share for share in split(parts)}
    assert shares["good"] == pytest.approx(4 / 9, abs=0.05)
    assert shares["the rest"] == pytest.approx((1 + 4 * 16 / 20) / 9, abs=0.05)
    percent = percentages("luck", split(parts), 5000, SHIPPED)
    assert percent[0].what == "luck: good, %"
    assert percent[0].mean == pytest.approx(100 * shares["good"])


def test_how_often_one_is_ahead() -> None:
    found = ahead("cats", np.array([1, 2, 3, 9] * 50), np.array([0, 2, 4, 0] * 50), TINY)
    assert (found.what, found.mean, found.games) == ("cats", 62.5, 200)
    assert 50 < found.low < 62.5 < found.high < 75
    never = ahead("dogs", np.zeros(40, np.int64), np.ones(40, np.int64), TINY)
    assert never.low == never.mean == 0 < never.high < 20
    with pytest.raises(IncunabulaError, match="expected at least 2 deals"):
        ahead("cats", np.array([1]), np.array([0]), TINY)
