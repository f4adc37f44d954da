"""Upper bounds on the expected score: against exact values, agents' play, and brute force."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from incunabula.agents.bounds.books import NEVER, SHOWN, Books, Credits
from incunabula.agents.bounds.bound import (
    Bound,
    card_sizes,
    cubes_of_a_book,
    most_books,
    prestige_part,
    upper_bound,
)
from incunabula.agents.bounds.sales import Block, Judge, Prices, Sample, Task, upper_limit
from incunabula.agents.bounds.waits import choices, forced_waits, rank_without
from incunabula.agents.exact.solver import solve
from incunabula.agents.registry import make_agent
from incunabula.envs.bibliogamo.edition import load_edition
from incunabula.envs.bibliogamo.tables import build_tables
from incunabula.envs.errors import IncunabulaError
from incunabula.training.bounds.command import run_bound
from incunabula.training.bounds.estimates import Estimates
from incunabula.training.evaluation.games import play_games
from incunabula.training.evaluation.seeds import seed_list
from tests.backends import needs_numba
from tests.commands import Cli, cli
from tests.play import Json
from tests.small_editions import BOTH, SCRIBES, SMALL, cut_down

__all__ = ["cli"]

pytestmark = needs_numba

# Editions that are solved in a moment, far from one another in what the bound looks at.
VARIED: dict[str, Json] = SMALL | {
    "florins for nothing": cut_down(
        (0, 1, 3, 7), SCRIBES, {"florins": 9}, days=3, hand_size=3, florins_per_vp=4
    ),
    "many florins a VP": cut_down((1, 2, 4, 7), BOTH, days=3, hand_size=2, florins_per_vp=5),
    "books alone": cut_down(
        (0, 1, 4, 5), BOTH, days=4, hand_size=3, vp_per_book=7, florins_per_vp=50
    ),
    "a hand of all": cut_down((0, 1, 4, 7), BOTH, days=3, hand_size=4),
    "no hires": cut_down((0, 1, 4, 7), BOTH, days=3, hand_size=3, hires_per_turn=0),
    "cubes short": cut_down((0, 1, 4, 7), days=3, hand_size=3, cubes=1),
    "three hires": cut_down(
        (0, 1, 3, 4, 6, 7), BOTH, days=2, hand_size=6, hires_per_turn=3, cubes=4
    ),
    "waiting with two hires": cut_down(
        (1, 2, 3, 4, 7), BOTH, days=4, hand_size=2, florins_per_vp=1, vp_per_book=0, cubes=2
    ),
}


@cache
def bounded(name: str) -> Bound:
    return upper_bound(load_edition(VARIED.get(name, name)), samples=2000)


@pytest.mark.parametrize("name", VARIED)
def test_no_small_edition_is_worth_more_than_its_bound(name: str) -> None:
    optimum = solve(load_edition(VARIED[name])).value
    assert bounded(name).value >= optimum - 1e-9
    assert sum(part.vp for part in bounded(name).parts) == pytest.approx(bounded(name).value)


def test_shipped_small_editions_are_worth_less_than_their_bounds() -> None:
    # Worked out by `incunabula solve`; see docs/optimal.md.
    for name, optimum in (("bibliogamo-tiny", 4.224065050), ("bibliogamo-small", 6.376298115)):
        assert optimum <= bounded(name).value <= 3 * optimum


def test_the_bound_is_no_formality() -> None:
    """It beats the trivial one where there is something to be said."""
    assert bounded("bibliogamo-tiny").samples > 0
    assert bounded("bibliogamo-small").samples > 0


def test_nothing_but_florins_at_the_start_without_books() -> None:
    assert bounded("cubes short").value == 0
    assert bounded("no hires").value == 0


# What holds in every game -------------------------------------------------------------------------


@pytest.mark.parametrize("edition", ["bibliogamo", "bibliogamo-tiny", "bibliogamo-small"])
def test_agents_sell_no_more_books_than_can_be_made(edition: str) -> None:
    tables = build_tables(load_edition(edition))
    for agent in ("random", "greedy"):
        games = play_games(
            make_agent(agent, load_edition(edition)), load_edition(edition), seed_list("dev", 200)
        )
        assert games.books.max() <= most_books(tables)
        prestige = games.prestige_vp + games.bonus_vp
        assert prestige.mean() <= prestige_part(tables, most_books(tables))


def test_cubes_by_card_and_book() -> None:
    tables = build_tables(load_edition("bibliogamo"))
    assert cubes_of_a_book(tables) == 8
    assert np.bincount(card_sizes(tables)).tolist() == [0, 24, 22, 0, 1]
    assert prestige_part(tables, 40) == pytest.approx(118 / 7)


# The books programme ------------------------------------------------------------------------------


def credits(cards: int, hand: int, **given: Any) -> Credits:
    none: dict[str, Any] = {
        "book": 1.0,
        "sale": np.full(cards + 1, NEVER),
        "wait": np.zeros(SHOWN + 1),
        "shuffle": np.zeros(cards + 1),
        "late": np.zeros((hand + 1, SHOWN + 1)),
    }
    return Credits(**(none | given))


def hires_by_hand(sizes: tuple[int, ...], hand_size: int, days: int) -> float:
    """The most cubes that one hire a day places on average, card by card, without sales."""

    @cache
    def draw(hand: frozenset[int], deck: frozenset[int], day: int) -> float:
        gone = frozenset(range(len(sizes))) - hand - deck
        if len(hand) == hand_size or not deck | gone:
            return turn(hand, deck, day)
        source = deck or gone
        return sum(draw(hand | {c}, source - {c}, day) for c in source) / len(source)

    @cache
    def turn(hand: frozenset[int], deck: frozenset[int], day: int) -> float:
        gone = frozenset(range(len(sizes))) - hand - deck
        source = deck or gone
        if not source:
            return hire(hand, deck, day)
        return sum(hire(hand, source - {c}, day) for c in source) / len(source)

    def hire(hand: frozenset[int], deck: frozenset[int], day: int) -> float:
        if day == days:
            return 0.0
        best = draw(hand, deck, day + 1)
        for card, paid in permutations(hand, 2):
            best = max(best, sizes[card] + draw(hand - {card, paid}, deck, day + 1))
        return best

    return draw(frozenset(), frozenset(range(len(sizes))), 1)


@pytest.mark.parametrize(
    ("sizes", "hand"), [((1, 1, 2, 2, 4), 3), ((0, 1, 2, 2), 2), ((1, 2, 3), 3)]
)
def test_the_books_programme_against_single_cards(sizes: tuple[int, ...], hand: int) -> None:
    kinds, cards = np.unique(sizes, return_counts=True)
    books = Books(kinds.tolist(), cards.tolist(), cubes=1, hand_size=hand, hires=1, lifts=0, days=3)
    assert books.value(credits(len(sizes), hand)) == pytest.approx(hires_by_hand(sizes, hand, 3))
    whole = Books(kinds.tolist(), cards.tolist(), cubes=2, hand_size=hand, hires=1, lifts=0, days=3)
    assert whole.value(credits(len(sizes), hand)) <= hires_by_hand(sizes, hand, 3) / 2 + 1e-12


def test_the_books_programme_sells_waits_and_shuffles() -> None:
    books = Books([1], [6], cubes=1, hand_size=2, hires=0, lifts=0, days=2)
    nothing = credits(6, 2)
    assert books.value(nothing) == 0
    assert books.value(nothing._replace(sale=np.ones(7))) == pytest.approx(2)  # one a day
    waits = nothing._replace(sale=np.ones(7), wait=np.full(SHOWN + 1, 5.0))
    assert books.value(waits) == pytest.approx(6)  # a sale, and the second day waited
    # A third day waited is the sale's second wait, paid as such.
    longer = Books([1], [8], cubes=1, hand_size=2, hires=0, lifts=0, days=3)
    by_number = np.full(SHOWN + 1, 5.0)
    by_number[3] = 2.0
    paid = credits(8, 2, sale=np.ones(9), wait=by_number)
    assert longer.value(paid) == pytest.approx(1 + 5 + 2)
    # 6 cards: 2 in hand, a flip, two of a sale, a flip: the second sale must shuffle first.
    shuffles = nothing._replace(sale=np.ones(7), shuffle=np.array([0, 0, 0, 7.0, 0, 0, 0]))
    assert books.value(shuffles) == pytest.approx(0 + 2)
    assert books.value(
        shuffles._replace(shuffle=np.array([0, 0, 7.0, 0, 0, 0, 0]))
    ) == pytest.approx(9)


# Sales --------------------------------------------------------------------------------------------


def wait_by_hand(cards: tuple[float, ...], wait: float | Sequence[float], beyond: float) -> float:
    """``wait``: what a flip costs, one for all or one by how many cards are left."""
    if not cards:
        return beyond
    cost = wait if isinstance(wait, float) else wait[len(cards)]
    rest = [(y, cards[:k] + cards[k + 1 :]) for k, y in enumerate(cards)]
    return sum(max(y, wait_by_hand(left, wait, beyond)) for y, left in rest) / len(cards) - cost


def test_what_waiting_is_worth_by_hand() -> None:
    values, beyond = np.array([0.0, 1.0, 4.0, 9.0]), 2.0
    wait = np.array([0.0, 0.3, 0.6, 1.5, 2.0, 1.0])
    choose = choices(4, 5)
    table, begins = forced_waits(values, 5, choose, wait, beyond)
    for items in ([], [2], [0, 3], [1, 1, 3], [0, 0, 1, 2, 3], [3, 3, 3, 3, 3]):
        found = table[
            begins[len(items)] + rank_without(np.array(items, np.int64), len(items), -1, choose)
        ]
        by_hand = wait_by_hand(tuple(values[np.array(items, np.int64)]), wait.tolist(), beyond)
        assert found == pytest.approx(by_hand)


def test_knowing_a_smaller_deck_is_never_worse() -> None:
    """J is at most the mean of J over the sets with a card less, if what follows them is worth no
    less than any wait."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        cards = tuple(rng.integers(0, 12, 6).astype(float))
        wait = float(rng.uniform(0, 6))
        beyond = 12 - wait
        fewer = [wait_by_hand(cards[:k] + cards[k + 1 :], wait, beyond) for k in range(6)]
        assert wait_by_hand(cards, wait, beyond) <= np.mean(fewer) + 1e-9


def mean_offer(worth: np.ndarray, coin: np.ndarray, deck: tuple[int, ...]) -> float:
    return float(np.mean([worth[j, coin[i]] for i, j in permutations(deck, 2)]))


@pytest.mark.parametrize("held", [0, 1, 2])
def test_no_cards_held_make_offers_exceed_more(held: int) -> None:
    """Whatever cards are held at a shuffle, and whenever a block's sale is made."""
    edition = cut_down((0, 1, 2, 3, 4, 5, 6, 7), BOTH, days=3, hand_size=2)
    prices = Prices(build_tables(load_edition(edition)))
    judge = Judge(prices, 1.0, Sample(20_000, 3))
    for low, c, a in ((2, 0.0, 1.5), (3, 1.0, 1.8), (4, 2.0, 2.2)):
        limit = judge.offers_over(Block(low, low, c, a), held, 20_000)
        worth = np.maximum(prices.worth, c)
        worst = 0.0
        for kept in combinations(range(8), 8 - held):
            over = [
                max(mean_offer(worth, prices.coin, deck) - a, 0.0)
                for deck in combinations(kept, low)
            ]
            worst = max(worst, float(np.mean(over)))
        assert worst <= limit <= 1.6 * worst + 0.05


def sale_by_hand(prices: Prices, deck: tuple[int, ...], wait: float, beyond: float) -> float:
    """What a sale is worth at best, the deck's set being known: its price less what waits cost."""
    total = 0.0
    for i in deck:
        column = {j: prices.worth[j, prices.coin[i]] for j in deck if j != i}
        for x, offer in column.items():
            rest = tuple(y for j, y in column.items() if j != x)
            total += max(offer, wait_by_hand(rest, wait, beyond)) / (len(deck) * (len(deck) - 1))
    return total


@pytest.mark.parametrize("held", [0, 2])
def test_sales_exceed_their_credit_by_no_more_than_is_said(held: int) -> None:
    edition = cut_down((0, 1, 2, 3, 4, 5, 6, 7), BOTH, days=3, hand_size=2)
    prices = Prices(build_tables(load_edition(edition)))
    wait = 1.0
    judge = Judge(prices, wait, Sample(20_000, 3))
    beyond = prices.top - wait
    low = 4
    judge.small[low] = judge._table(low - 1, np.full(low, wait), beyond)
    for c, a in ((0.5, 2.0), (1.5, 2.5), (-1.0, 3.0)):
        block = Block(low, low, c, a)
        limit = judge.estimate(Task(0, block, held, 20_000, True)).value
        limit += judge.estimate(Task(1, block, held, 20_000, False)).value
        worst = 0.0
        for kept in combinations(range(8), 8 - held):
            over = [
                max(sale_by_hand(prices, deck, wait, beyond) - a, 0.0)
                for deck in combinations(kept, low)
            ]
            worst = max(worst, float(np.mean(over)))
        assert worst <= limit


def test_upper_limits_lie_above_the_mean() -> None:
    rng = np.random.default_rng(1)
    values = rng.uniform(0, 1, (200, 500)) ** 4
    limits = [upper_limit(row, 1.0) for row in values]
    assert min(limits) > 0.2
    assert max(limits) < 0.6
    assert upper_limit(np.zeros(1000), 1.0) > 0


# The command --------------------------------------------------------------------------------------


def test_the_command_prints_both_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "short.yaml"
    file.write_text(yaml.safe_dump(SMALL["reshuffles"]))

    def run(*, as_json: bool) -> str:
        run_bound(
            str(file),
            "random",
            games=30,
            seeds="final",
            samples=500,
            seed=0,
            workers=1,
            save=None,
            as_json=as_json,
        )
        return capsys.readouterr().out

    answer, again = json.loads(run(as_json=True)), json.loads(run(as_json=True))
    for result in (answer, again):
        for timed in (result, result["upper"], result["lower"]):
            assert timed.pop("seconds") >= 0
    assert answer == again
    upper, lower = answer["upper"], answer["lower"]
    assert lower["value"] < lower["mean"] < solve(load_edition(file)).value <= upper["value"]
    assert sum(upper["parts"].values()) == pytest.approx(upper["value"], abs=1e-4)
    assert lower["seeds"]["games"] == 30
    shown = run(as_json=False)
    assert f"{upper['value']:.2f}" in shown
    assert "random" in shown


def test_estimates_are_kept_shared_and_gone_on_with(tmp_path: Path) -> None:
    edition, file = load_edition("bibliogamo-tiny"), tmp_path / "estimates.jsonl"

    def bound(*, workers: int, save: str | None) -> Bound:
        made = Estimates(edition, 2000, 0, workers=workers, save=save)
        found = upper_bound(edition, samples=2000, each=made.each, choice=made.choice)
        return found._replace(seconds=0.0)

    whole = bounded("bibliogamo-tiny")._replace(seconds=0.0)
    assert bound(workers=1, save=str(file)) == whole
    kept = file.read_text().splitlines()
    file.write_text("\n".join(kept[:4]) + "\n")  # as if it had been interrupted
    assert bound(workers=2, save=str(file)) == whole
    assert file.read_text().splitlines() == kept
    # What is in the file isn't worked out again.
    task = json.loads(kept[2])
    higher = [*kept[:2], json.dumps(task | {"value": task["value"] + 100}), *kept[3:]]
    file.write_text("\n".join(higher) + "\n")
    assert bound(workers=1, save=str(file)) != whole
    # But what rests on something else, such as another credit, is.
    other = [*kept[:2], json.dumps(task | {"value": 0.0, "name": "another"}), *kept[3:]]
    file.write_text("\n".join(other) + "\n")
    assert bound(workers=1, save=str(file)) == whole


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("notes\n", "something else"),
        (
            '{"kind": "incunabula bound"}\n{"task": "x", "value": 1.0, "limits": 1, "name": ""}\n',
            "something",
        ),
        ('{"kind": "incunabula bound", "version": 2}\n', "edition_sha256"),
    ],
)
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "file"
    file.write_text(text)
    with pytest.raises(IncunabulaError, match=said):
        Estimates(load_edition("bibliogamo-tiny"), 100, 0, save=str(file))
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bibliogamo-tiny", "--samples", 0), "samples"),
        (("bibliogamo-tiny", "--workers", 0), "workers"),
        (("bibliogamo-tiny", "--save", " "), "save"),
        (("bibliogamo-tiny", "--games", 0), "games"),
        (("bibliogamo-tiny", "--agent", "nobody"), "nobody"),
        (("bibliogamo-nowhere",), "bibliogamo-nowhere"),
    ],
)
def test_the_command_says_what_is_wrong(cli: Cli, arguments: tuple[object, ...], said: str) -> None:
    outcome = cli("bound", *arguments)
    assert outcome.status == 2
    assert said in outcome.err


def test_an_edition_too_large_is_refused() -> None:
    edition = cut_down(tuple(range(8)) * 12, days=3, hand_size=3)
    for k, card in enumerate(edition["cards"]):
        edition["cards"][k] = card | {"artisans": {"scribe": k % 9}}
    edition["towers"][0]["requires"] = {"scribe": 9}
    edition["rules"]["cubes"] = 99
    with pytest.raises(IncunabulaError, match="too large for the bound"):
        upper_bound(load_edition(edition), samples=100)
