"""Seatings, the rating, the bootstrap by deal, and the tables that follow from scores."""

from __future__ import annotations

import math
from itertools import combinations, permutations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.edition import load_edition
from incunabula.training.evaluation.statistics import (
    DealBootstrap,
    mean_interval,
    percentile_interval,
    wilson_interval,
)
from incunabula.training.league.rating import EXTRA, choices, fit, separated
from incunabula.training.league.seating import (
    check_players,
    check_rotations,
    labels,
    program,
    seatings,
    tables,
)
from incunabula.training.league.standings import (
    Outcomes,
    agent_summary,
    by_seat,
    cross_table,
    seat_table,
)

Scores = npt.NDArray[np.int64]
Seats = npt.NDArray[np.intp]


def simulate(
    strengths: list[float],
    players: int,
    deals: int,
    *,
    seed: int = 0,
    rotations: str = "cyclic",
    seat_bonus: float = 0.0,
    luck: float = 0.0,
) -> tuple[Seats, Scores]:
    """Games of agents with known ratings: rankings of the Plackett-Luce model (Gumbel scores).

    ``luck`` is a deal's own gift to each agent, the same in all its seatings.
    """
    rng = np.random.default_rng(seed)
    seats = np.array(program(len(strengths), players, rotations).seats)
    score = rng.gumbel(size=(deals, *seats.shape)) + np.array(strengths)[seats]
    score += seat_bonus * (np.arange(players) == 0)
    score += luck * rng.normal(size=(deals, len(strengths)))[:, seats]
    return seats, (score * 1e6).astype(np.int64)


# Seatings ---------------------------------------------------------------------------------------


def test_tables_of_as_many_agents_or_more() -> None:
    assert tables(4, 4) == [(0, 1, 2, 3)]
    assert tables(3, 2) == [(0, 1), (0, 2), (1, 2)]
    assert tables(5, 3) == list(combinations(range(5), 3))


def test_tables_of_fewer_agents_meet_both_ways() -> None:
    assert tables(2, 3) == [(0, 0, 1), (0, 1, 1)]
    found = tables(3, 4)
    assert len(found) == 6
    for a, b in permutations(range(3), 2):
        assert tuple(sorted((a, b, b, b))) in found


@pytest.mark.parametrize("rotations", ["cyclic", "all"])
@pytest.mark.parametrize(
    ("agents", "players"), [(2, 2), (2, 3), (3, 3), (2, 4), (3, 4), (4, 4), (5, 4)]
)
def test_every_agent_of_a_table_has_every_seat_equally_often(
    agents: int, players: int, rotations: str
) -> None:
    for table in tables(agents, players):
        sat = np.array(seatings(table, rotations))
        assert len({tuple(row) for row in sat.tolist()}) == len(sat)
        for seat in range(players):
            for agent in set(table):
                share = table.count(agent) / players
                assert (sat[:, seat] == agent).mean() == pytest.approx(share)


def test_numbers_of_seatings() -> None:
    whole = {n: tuple(range(n)) for n in (2, 3, 4)}
    assert [len(seatings(whole[n], "cyclic")) for n in (2, 3, 4)] == [2, 3, 4]
    assert [len(seatings(whole[n], "all")) for n in (2, 3, 4)] == [2, 6, 24]
    assert len(seatings((0, 1, 1, 1), "all")) == 4
    assert seatings((0, 1, 2), "all")[:3] == seatings((0, 1, 2), "cyclic")


def test_rotations_by_default() -> None:
    assert [check_rotations(None, n) for n in (2, 3, 4)] == ["all", "all", "cyclic"]
    assert check_rotations("all", 4) == "all"
    with pytest.raises(IncunabulaError, match="did you mean 'cyclic'"):
        check_rotations("cylic", 4)


def test_names_that_stand_twice_are_numbered() -> None:
    assert labels(["greedy", "ppo", "greedy"]) == ["greedy#1", "ppo", "greedy#2"]
    assert labels(["a", "b"]) == ["a", "b"]


@pytest.mark.parametrize("wrong", [1, 5, True, 2.0, "2"])
def test_numbers_of_players_that_are_not(wrong: Any) -> None:
    with pytest.raises(IncunabulaError, match="this edition is for 2, 3, 4, got"):
        check_players(wrong, load_edition("scriptorium"))


# The rating -------------------------------------------------------------------------------------


def rating(seats: Seats, scores: Scores, agents: int) -> npt.NDArray[np.float64]:
    found = choices(seats, scores, agents)
    return fit(found, found.counts.sum(axis=0))


@pytest.mark.parametrize(("agents", "players"), [(4, 4), (2, 4), (3, 4), (5, 3), (3, 2)])
def test_the_rating_is_what_choix_finds_in_the_rankings(agents: int, players: int) -> None:
    choix = pytest.importorskip("choix")
    seats, scores = simulate(np.linspace(-1, 1, agents).tolist(), players, 400)
    rankings = [
        seats[s][np.argsort(-scores[d, s])].tolist()
        for d in range(len(scores))
        for s in range(len(seats))
    ]
    expected = choix.ilsr_rankings(agents, rankings)
    # The drawn games that are added pull a little towards each other.
    assert rating(seats, scores, agents) == pytest.approx(expected - expected.mean(), abs=0.01)


def test_known_strengths_lie_in_their_intervals() -> None:
    pytest.importorskip("choix")
    strengths = [-1.0, -0.2, 0.3, 0.9]
    inside = total = 0
    for seed in range(12):
        seats, scores = simulate(strengths, 4, 150, seed=seed)
        found = choices(seats, scores, 4)
        counts = DealBootstrap(150, seed=seed, replicates=200).means(found.counts) * 150
        again = np.array([fit(found, row) for row in counts])
        for true, column in zip(strengths, again.T, strict=True):
            low, high = percentile_interval(column)
            inside += low <= true <= high
            total += 1
    assert inside / total > 0.85  # 95% of 48, less what chance may take


def test_two_players_are_bradley_and_terry() -> None:
    """With two players and two agents the rating follows from the counts in one line."""
    pytest.importorskip("choix")
    seats = np.array([[0, 1], [1, 0]])
    scores = np.zeros((50, 2, 2), np.int64)
    scores[:30, 0, 0] = 1  # agent 0 wins 30 from the first seat
    scores[30:, 0, 1] = 1
    scores[:40, 1, 1] = 1  # and 40 from the second
    scores[40:, 1, 0] = 1
    wins, losses = 70 + EXTRA / 2, 30 + EXTRA / 2
    expected = math.log(wins / losses) / 2
    assert rating(seats, scores, 2) == pytest.approx([expected, -expected], abs=1e-6)


def test_a_tie_is_half_a_win_for_each() -> None:
    pytest.importorskip("choix")
    seats = np.array([[0, 1]])
    tied = np.zeros((40, 1, 2), np.int64)
    assert rating(seats, tied, 2) == pytest.approx([0, 0], abs=1e-9)
    tied[:20, 0, 0] = 1  # 20 wins and 20 ties are 30 wins of 40
    expected = math.log((30 + EXTRA / 2) / (10 + EXTRA / 2)) / 2
    assert rating(seats, tied, 2)[0] == pytest.approx(expected, abs=1e-6)


def test_choices_of_a_ranking_with_a_tie() -> None:
    """Scores 5, 3, 3 of agents 0, 1, 2: first 0 of all, then 1 or 2 by halves."""
    found = choices(np.array([[0, 1, 2]]), np.array([[[5, 3, 3]]]), 3)
    entries = {
        (int(c), tuple(a.tolist())): float(n)
        for c, a, n in zip(found.chosen, found.among, found.counts[0], strict=True)
    }
    assert entries == {(0, (1, 1, 1)): 1.0, (1, (0, 1, 1)): 0.5, (2, (0, 1, 1)): 0.5}


def test_every_game_makes_as_many_choices_as_it_has_places_but_one() -> None:
    rng = np.random.default_rng(3)
    seats = np.array(program(3, 4, "cyclic").seats)
    found = choices(seats, rng.integers(0, 4, (20, len(seats), 4)), 3)  # full of ties
    assert found.counts.sum(axis=1) == pytest.approx(np.full(20, 3 * len(seats)))


def test_copies_of_an_agent_do_not_count_against_each_other() -> None:
    """One among copies that places at random has the copies' rating."""
    pytest.importorskip("choix")
    seats, scores = simulate([0.0, 0.0], 4, 4000, seed=5)
    assert rating(seats, scores, 2) == pytest.approx([0, 0], abs=0.03)


def test_who_always_wins_has_a_finite_rating_and_it_is_said() -> None:
    pytest.importorskip("choix")
    seats = np.array([[0, 1], [1, 0]])
    always = np.tile(np.array([[9, 1], [1, 9]]), (50, 1, 1))
    found = choices(seats, always, 2)
    assert separated(found)
    ratings = fit(found, found.counts.sum(axis=0))
    assert ratings[0] - ratings[1] == pytest.approx(math.log(100.5 / 0.5), abs=1e-5)
    always[0, 0] = 1, 9
    assert not separated(choices(seats, always, 2))
    always[0, 0] = 5, 5
    assert not separated(choices(seats, always, 2))


def test_a_group_below_all_others_is_separated() -> None:
    seats, scores = simulate([0.0, 0.1, -60.0, -60.1], 4, 30)
    assert separated(choices(seats, scores, 4))
    seats, scores = simulate([0.0, 0.1, -0.5, 0.4], 4, 30)
    assert not separated(choices(seats, scores, 4))


def test_the_order_of_agents_and_deals_does_not_matter() -> None:
    pytest.importorskip("choix")
    seats, scores = simulate([0.5, -0.3, 0.1], 3, 200, rotations="all")
    ratings = rating(seats, scores, 3)
    other = np.array([2, 0, 1])  # number k is called other[k]
    assert rating(other[seats], scores[::-1], 3)[other] == pytest.approx(ratings, abs=1e-6)


def test_too_many_agents_to_rate_are_refused() -> None:
    with pytest.raises(IncunabulaError, match="too many"):
        choices(np.array([[0, 1, 2, 3]]), np.zeros((1, 1, 4), np.int64), 40)


# The bootstrap ----------------------------------------------------------------------------------


def test_wilson() -> None:
    assert wilson_interval(0.0, 10) == [0.0, pytest.approx(0.277533, abs=1e-5)]
    assert wilson_interval(0.5, 100) == [
        pytest.approx(0.403832, abs=1e-5),
        pytest.approx(0.596168, abs=1e-5),
    ]
    low, high = wilson_interval(1.0, 10)
    assert low == pytest.approx(1 - 0.277533, abs=1e-5)
    assert high == 1.0


def test_the_bootstrap_covers_the_truth_where_deals_bring_luck() -> None:
    """All games of a deal share its luck; to draw games one by one would give far less."""
    rng = np.random.default_rng(11)
    hits = naive = 0
    for seed in range(200):
        luck = rng.normal(size=(60, 1))
        games = luck + 0.5 * rng.normal(size=(60, 4))
        whole = DealBootstrap(60, seed=seed, replicates=200).interval(games.mean(axis=1))
        assert whole is not None
        hits += whole[0] <= 0 <= whole[1]
        _, ends = mean_interval(games.ravel())
        assert ends is not None
        naive += ends[0] <= 0 <= ends[1]
    assert 0.89 < hits / 200 <= 0.99
    assert naive / 200 < 0.8


def test_replicates_are_means_of_drawn_deals() -> None:
    values = np.arange(12.0).reshape(4, 3)
    bootstrap = DealBootstrap(4, seed=1, replicates=50)
    means = bootstrap.means(values)
    assert means.shape == (50, 3)
    assert means[:, 1] - means[:, 0] == pytest.approx(np.ones(50))  # columns are drawn together
    assert bootstrap.means(np.ones(4)) == pytest.approx(np.ones(50))
    assert np.array_equal(means, DealBootstrap(4, seed=1, replicates=50).means(values))
    assert not np.array_equal(means, DealBootstrap(4, seed=2, replicates=50).means(values))


def test_blocks_of_replicates_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from incunabula.training.evaluation import statistics

    values = np.random.default_rng(0).normal(size=(30, 2))
    whole = DealBootstrap(30, replicates=100).means(values)
    monkeypatch.setattr(statistics, "_BLOCK", 70)
    assert DealBootstrap(30, replicates=100).means(values) == pytest.approx(whole)


def test_intervals_of_little() -> None:
    bootstrap = DealBootstrap(1)
    assert bootstrap.interval(np.array([3.0])) is None
    assert bootstrap.share_interval(np.array([1.0])) is None
    assert DealBootstrap(20).share_interval(np.ones(20)) == wilson_interval(1.0, 20)
    assert DealBootstrap(20).share_interval(np.zeros(20)) == wilson_interval(0.0, 20)
    assert DealBootstrap(20).share_interval(np.full(20, 0.5)) == [0.5, 0.5]


# Tables from scores -----------------------------------------------------------------------------

# Two agents, four seats, two deals: agent 0 alone among copies of 1, and the other way round.
SEATS = np.array(program(2, 4, "cyclic").seats)


def by_hand() -> Outcomes:
    """Agent 0 has 10 points, agent 1 has 8, but for two games that are set below."""
    scores = np.where(SEATS == 0, 10, 8)[None].repeat(2, axis=0).astype(np.int64)
    alone = int(np.flatnonzero((SEATS == 0).sum(axis=1) == 1)[0])
    seat = int(np.flatnonzero(SEATS[alone] == 0)[0])
    scores[0, alone] = 12  # agent 0 alone, all four tie
    scores[1, alone, seat] = 3  # agent 0 alone is last
    return Outcomes(SEATS, scores)


def test_a_tied_win_is_shared() -> None:
    outcomes = by_hand()
    assert outcomes.shares.sum(axis=2) == pytest.approx(np.ones((2, 8)))
    entry = agent_summary(outcomes, 0, DealBootstrap(2))
    assert (entry["games"], entry["wins"], entry["shared"]) == (8, 6, 1)
    assert entry["win_share"] == pytest.approx((6 + 1 / 4) / 8)
    assert entry["mean_score"] == pytest.approx((6 * 10 + 12 + 3) / 8)
    assert entry["mean_margin"] == pytest.approx((6 * 2 + 0 - 5) / 8)


def test_an_agents_games_are_those_where_it_sits_once() -> None:
    outcomes = by_hand()
    entry = agent_summary(outcomes, 1, DealBootstrap(2))  # one among copies of agent 0: never wins
    assert (entry["games"], entry["wins"], entry["win_share"]) == (8, 0, 0.0)
    assert entry["mean_score"] == 8


def test_cross_table() -> None:
    first, second = cross_table(by_hand(), ["x", "y"], DealBootstrap(2))
    assert (first["a"], first["b"], first["games"]) == ("x", "y", 8)
    assert first["win_share"] == pytest.approx((6 + 1 / 4) / 8)
    assert first["ahead"] == pytest.approx((6 + 1 / 2) / 8)
    assert first["margin"] == pytest.approx((6 * 2 + 0 - 5) / 8)
    assert (second["win_share"], second["ahead"], second["margin"]) == (0.0, 0.0, -2.0)


def test_cross_tables_of_whole_tables_add_up() -> None:
    seats, scores = simulate([0.4, 0.0, -0.4], 3, 100, rotations="all")
    names = ["a", "b", "c"]
    entries = {
        (e["a"], e["b"]): e for e in cross_table(Outcomes(seats, scores), names, DealBootstrap(100))
    }
    for a, b in combinations(names, 2):
        assert entries[a, b]["ahead"] + entries[b, a]["ahead"] == pytest.approx(1, abs=1e-5)
        assert entries[a, b]["margin"] == pytest.approx(-entries[b, a]["margin"], abs=1e-5)
    won = [entries[a, b]["win_share"] for a, b in (("a", "b"), ("b", "c"), ("c", "a"))]
    assert sum(won) == pytest.approx(1, abs=1e-5)


def test_seats_show_the_first_seats_advantage() -> None:
    seats, scores = simulate([0.5, -0.5], 4, 300, seat_bonus=0.8)
    outcomes, bootstrap = Outcomes(seats, scores), DealBootstrap(300)
    table = seat_table(outcomes, ["x", "y"], bootstrap)
    assert [seat["seat"] for seat in table] == [0, 1, 2, 3]
    assert sum(seat["win_share"] for seat in table) == pytest.approx(1, abs=1e-5)
    assert table[0]["ci95"][0] > 0.3
    assert all(seat["ci95"][1] < 0.25 for seat in table[1:])
    own = by_seat(outcomes, 0, bootstrap)
    for seat, entry in zip(table, own, strict=True):
        assert seat["agents"][0] == {"name": "x", **{k: v for k, v in entry.items() if k != "seat"}}
    shares = [entry["win_share"] for entry in own]
    whole = agent_summary(outcomes, 0, bootstrap)["win_share"]
    assert np.mean(shares) == pytest.approx(whole, abs=1e-5)
