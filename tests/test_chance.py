"""Chance: the vectors of the rules, and tapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from incunabula.envs.adapters.gymnasium import BibliogamoEnv
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.bibliogamo.tape import read_tape
from incunabula.envs.chance import (
    GAMMA,
    PRESTIGE_STREAM,
    TapeError,
    as_seed,
    check_seed,
    episode_seeds,
    first_of,
    key,
    mix,
    shuffle_orders,
)
from incunabula.envs.errors import IncunabulaError
from tests.by_hand import PSALTER, stand, tiny
from tests.oracle import bibliogamo as oracle
from tests.play import deck_order

M = 2**64 - 1
SEEDS = [0, 1, 2**32 - 1, 2**32, 2**63 - 1, 2**63, M]
EVERY = [7, 6, 5, 4, 3, 2, 1, 0]


def orders(seed: int, shuffle: int, items: int) -> list[int]:
    """Shuffle order of one seed without a tape."""
    return shuffle_orders(
        np.array([seed], np.uint64),
        np.array([shuffle], np.int32),
        np.zeros((1, 0, items), np.int16),
        np.array([-1], np.int32),
        items,
    )[0].tolist()


def u64(*values: int) -> npt.NDArray[np.uint64]:
    return np.array(values, np.uint64)


# The vectors of the rules -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "mixed"), [(0, 0), (1, 0x5692161D100B05E5), (GAMMA, 0xE220A8397B1DCDAF)]
)
def test_mix_has_the_values_of_the_rules(x: int, mixed: int) -> None:
    assert int(mix(x)) == mixed
    assert mix(u64(5, x))[1] == mixed


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ((0, 0, 0), 0xA706DD2F4D197E6F),
        ((7, 3, 11), 0x416231B55613C1D7),
        ((M, 0, 0), 0x5DC20AA7B2A27137),
    ],
)
def test_key_has_the_values_of_the_rules(arguments: tuple[int, int, int], value: int) -> None:
    assert int(key(*arguments)) == value
    assert key(*(u64(argument, 1) for argument in arguments))[0] == value


def test_mix_leaves_its_argument_alone() -> None:
    x = u64(1, 2, 3)
    mix(x)
    assert x.tolist() == [1, 2, 3]


def test_shuffles_of_seed_0_start_as_in_the_rules() -> None:
    assert orders(0, 0, 47)[:10] == [38, 39, 19, 12, 26, 11, 5, 32, 29, 31]
    assert orders(0, 1, 47)[:5] == [21, 36, 19, 40, 26]


def test_prestige_of_seeds_0_to_9_is_that_of_the_rules() -> None:
    drawn = first_of(np.arange(10, dtype=np.uint64), PRESTIGE_STREAM, 7)
    assert drawn.tolist() == [6, 3, 1, 1, 6, 1, 6, 3, 6, 5]
    engine = BibliogamoEngine("bibliogamo", 10)
    engine.deal(np.arange(10), np.arange(10))
    assert engine.state.prestige.tolist() == [6, 3, 1, 1, 6, 1, 6, 3, 6, 5]


def test_episodes_0_to_2_of_seed_0_are_those_of_the_rules() -> None:
    seeds = episode_seeds(u64(0, 0, 0), u64(0, 1, 2))
    assert seeds.tolist() == [0, 0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]


def test_the_deal_of_seed_0_is_that_of_the_rules() -> None:
    # 38,39,19,12,26 in hand; 11 is flipped: it moves -2 and its icon is type 2.
    engine = BibliogamoEngine("bibliogamo", 1)
    engine.deal(np.arange(1), [0])
    state = engine.snapshot(0)
    assert state["hand"] == [12, 19, 26, 38, 39]
    assert (state["discard"], state["librarian"], state["banned"]) == ([11], 1, 2)
    assert deck_order(engine, 0)[:4] == [5, 32, 29, 31]


# Seeds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_draws_of_extreme_seeds_agree_with_plain_integers(seed: int) -> None:
    for shuffle in (0, 1, 7, 2**31 - 1):
        assert orders(seed, shuffle, 47) == oracle.random_order(seed, shuffle, 47)
    for items in (1, 2, 7):
        drawn = int(first_of(u64(seed), PRESTIGE_STREAM, items)[0])
        assert drawn == oracle.random_order(seed, 2**32, items)[0]
    for episode in (0, 1, 2, 1000, 2**32, M):
        expected = oracle.episode_seed(seed, episode)
        assert int(episode_seeds(u64(seed), u64(episode))[0]) == expected


def test_extreme_seeds_deal_different_games_and_the_same_ones_again() -> None:
    engine = BibliogamoEngine("bibliogamo", len(SEEDS))
    every = np.arange(len(SEEDS))
    engine.deal(every, u64(*SEEDS))
    decks = [tuple(deck_order(engine, row)) for row in range(len(SEEDS))]
    assert len(set(decks)) == len(SEEDS)
    engine.deal(every, u64(*SEEDS))
    assert [tuple(deck_order(engine, row)) for row in range(len(SEEDS))] == decks


def test_seeds_of_resets_count_modulo_2_to_the_64() -> None:
    assert [as_seed(s) for s in (0, -1, 2**64, 2**64 + 5, np.int64(-1))] == [0, M, 0, 5, M]


@pytest.mark.parametrize("read", [as_seed, check_seed])
@pytest.mark.parametrize("wrong", [1.0, "0", None, True, np.bool_(False), [0]])
def test_a_seed_must_be_an_integer(wrong: object, read: Any) -> None:
    with pytest.raises(IncunabulaError, match=r"^seed: expected an integer, got"):
        read(wrong)


def test_a_seed_that_a_person_names_is_used_as_it_is_or_refused() -> None:
    for seed in (0, M, np.int64(3), np.uint64(M)):
        assert check_seed(seed) == seed
    for wrong in (-1, M + 1, np.int64(-1)):
        said = rf"^deal: expected a number in 0\.\.{M} \(2\^64 - 1\), got {wrong}$"
        with pytest.raises(IncunabulaError, match=said):
            check_seed(wrong, "deal")


def test_a_shuffle_favours_the_same_cards_whatever_is_shuffled() -> None:
    order = orders(3, 2, 47)
    for seed in range(5):
        kept = set(np.random.default_rng(seed).permutation(47)[:20].tolist())
        assert [c for c in order if c in kept] == [
            c for c in oracle.random_order(3, 2, 47) if c in kept
        ]


def test_every_card_comes_first_about_equally_often() -> None:
    n = 20_000
    seeds = np.arange(n, dtype=np.uint64)
    first = np.bincount(first_of(seeds, 0, 8), minlength=8)
    chi2 = float(((first - n / 8) ** 2 / (n / 8)).sum())
    assert chi2 < 24.3  # 99.9% of chi-squared with 7 degrees of freedom


# Tapes -------------------------------------------------------------------------------------------


def small_engine() -> BibliogamoEngine:
    return BibliogamoEngine("bibliogamo-tiny", 1)


def test_a_tape_says_which_card_comes_next() -> None:
    engine = small_engine()
    engine.deal_tape(0, {"shuffles": [EVERY], "prestige": 1})
    state = engine.snapshot(0)
    # 7, 6, 5 in hand; 4 is flipped: librarian 0 + 1 + 1, binders banned; next is 3.
    assert (state["hand"], state["discard"], state["prestige"]) == ([5, 6, 7], [4], 1)
    assert (state["librarian"], state["banned"]) == (0, 1)
    assert deck_order(engine, 0) == [3, 2, 1, 0]


def test_a_tape_that_runs_out_says_which_shuffle_is_needed() -> None:
    engine = small_engine()
    engine.deal_tape(0, {"shuffles": [EVERY], "prestige": 0})

    def play_on() -> None:
        while True:
            engine.apply(engine.mask.argmax(axis=1))

    with pytest.raises(TapeError) as e:
        play_on()
    assert str(e.value) == (
        "tape: ran out of shuffles: shuffle 1 is needed, the tape has 1 (shuffles[0..0]); "
        "add the order of the next shuffle"
    )


def test_a_tape_that_runs_out_changes_nothing_in_any_row() -> None:
    # A shuffle falls between the two flips of a sale; only the first row has a tape.
    engine = BibliogamoEngine("bibliogamo-tiny", 2)
    form = stand(tiny(), phase="sell", towers=PSALTER, hand=[0, 1, 2], deck=[3])
    for row in range(2):
        engine.restore(row, form, 0)
    engine.state.fit_tapes(1)
    engine.state.tape_length[0] = 1
    with pytest.raises(TapeError):
        engine.apply(np.full(2, engine.actions.sell))
    for row in range(2):
        assert engine.snapshot(row) == form
    assert np.array_equal(engine.mask, engine.legal())


def test_a_longer_tape_goes_on_where_a_shorter_one_ran_out() -> None:
    engine = small_engine()
    engine.deal_tape(0, {"shuffles": [EVERY, EVERY, EVERY, EVERY], "prestige": 0})
    over = False
    while not over:
        over = bool(engine.apply(engine.mask.argmax(axis=1))[1][0])
    assert engine.state.shuffles[0] > 1


def test_tapes_of_different_lengths_and_seeds_live_in_one_batch() -> None:
    engine = BibliogamoEngine("bibliogamo-tiny", 3)
    engine.deal(np.arange(3), [5, 6, 7])
    engine.deal_tape(1, {"shuffles": [EVERY], "prestige": 0})
    engine.deal_tape(2, {"shuffles": [list(range(8))] * 4, "prestige": 0})
    alone = small_engine()
    alone.deal(np.arange(1), [5])
    assert engine.snapshot(0) == alone.snapshot(0)
    assert [engine.snapshot(i)["hand"] for i in (1, 2)] == [[5, 6, 7], [0, 1, 2]]
    # A row that is dealt from a seed again forgets its tape.
    engine.deal(np.array([1]), [5])
    assert engine.snapshot(1) == alone.snapshot(0)


@pytest.mark.parametrize(
    ("tape", "entry"),
    [
        ([EVERY], "tape"),
        ("shuffles", "tape"),
        ({"shuffles": [EVERY], "prestiege": 0}, "tape"),
        ({"prestige": 0}, "tape.shuffles"),
        ({"shuffles": [], "prestige": 0}, "tape.shuffles"),
        ({"shuffles": 5, "prestige": 0}, "tape.shuffles"),
        ({"shuffles": EVERY, "prestige": 0}, "tape.shuffles[0]"),
        ({"shuffles": [EVERY, [0, 1]], "prestige": 0}, "tape.shuffles[1]"),
        ({"shuffles": [EVERY, [*EVERY[:-1], 1]], "prestige": 0}, "tape.shuffles[1]"),
        ({"shuffles": [EVERY, EVERY, [8, *EVERY[1:]]], "prestige": 0}, "tape.shuffles[2]"),
        ({"shuffles": [[*EVERY, 8]], "prestige": 0}, "tape.shuffles[0]"),
        ({"shuffles": [[7, 6, 5, 4, 3, 2, True, 0]], "prestige": 0}, "tape.shuffles[0]"),
        ({"shuffles": [[7.0, 6, 5, 4, 3, 2, 1, 0]], "prestige": 0}, "tape.shuffles[0]"),
        ({"shuffles": [["7", 6, 5, 4, 3, 2, 1, 0]], "prestige": 0}, "tape.shuffles[0]"),
        ({"shuffles": [[None, 6, 5, 4, 3, 2, 1, 0]], "prestige": 0}, "tape.shuffles[0]"),
        ({"shuffles": [{"7": 1}], "prestige": 0}, "tape.shuffles[0]"),
        ({"shuffles": [EVERY], "prestige": 2}, "tape.prestige"),
        ({"shuffles": [EVERY], "prestige": -1}, "tape.prestige"),
        ({"shuffles": [EVERY], "prestige": "0"}, "tape.prestige"),
        ({"shuffles": [EVERY], "prestige": False}, "tape.prestige"),
    ],
)
def test_a_malformed_tape_is_refused_by_the_name_of_its_entry(tape: Any, entry: str) -> None:
    with pytest.raises(TapeError) as e:
        read_tape(small_engine().tables, tape)
    assert str(e.value).startswith(f"{entry}: ")
    with pytest.raises(TapeError) as e:
        BibliogamoEnv("bibliogamo-tiny", tape=tape)
    assert str(e.value).startswith(f"{entry}: ")


def test_a_tape_that_is_read_is_independent_of_its_source() -> None:
    source = {"shuffles": [list(EVERY), tuple(EVERY)]}
    read = read_tape(small_engine().tables, source)
    source["shuffles"][0][0] = 0  # type: ignore[index]
    assert read.shuffles.tolist() == [EVERY, EVERY]
    assert read.prestige is None


def test_a_tape_without_prestige_needs_one_given() -> None:
    engine = small_engine()
    with pytest.raises(IncunabulaError, match=r"^tape\.prestige: missing"):
        engine.deal_tape(0, {"shuffles": [EVERY]})
    engine.deal_tape(0, {"shuffles": [EVERY]}, 1)
    assert engine.snapshot(0)["prestige"] == 1


def test_prestige_given_beats_the_tapes_which_beats_the_seeds() -> None:
    engine = small_engine()
    engine.deal_tape(0, {"shuffles": [EVERY], "prestige": 1}, 0)
    assert engine.snapshot(0)["prestige"] == 0
    engine = BibliogamoEngine("bibliogamo", 1)
    engine.deal(np.arange(1), [1])
    assert engine.snapshot(0)["prestige"] == 3
    engine.deal(np.arange(1), [1], 2)
    assert engine.snapshot(0)["prestige"] == 2
