"""Recorded orders of bag and lecterns, and what is no such record."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from incunabula.envs.chance import TapeError
from incunabula.envs.scriptorium.edition import load_edition
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from tests.play_scriptorium import (
    Mixed,
    dealt,
)

ORDER = [0, 1, 2, 3, 4, 5]
TAPES: list[tuple[Any, str]] = [
    (None, "tape: expected a mapping with bag and lecterns"),
    ({"bag": [0]}, "tape: expected a mapping with bag and lecterns"),
    ({"bag": [0], "lecterns": [ORDER], "seed": 3}, "tape: expected a mapping with bag"),
    ({"bag": None, "lecterns": [ORDER]}, "tape.bag: expected a list of designs, got None"),
    ({"bag": [0, 31], "lecterns": [ORDER]}, "tape.bag[1]: expected a design 0..30, got 31"),
    ({"bag": [-1], "lecterns": [ORDER]}, "tape.bag[0]: expected a design 0..30, got -1"),
    ({"bag": [True], "lecterns": [ORDER]}, "tape.bag[0]: expected a design 0..30, got True"),
    ({"bag": [1.0], "lecterns": [ORDER]}, "tape.bag[0]: expected a design 0..30, got 1.0"),
    ({"bag": [0] * 4097, "lecterns": [ORDER]}, "tape.bag: expected at most 4096 tiles, got 4097"),
    ({"bag": [0], "lecterns": []}, "tape.lecterns: expected a list of at least one round's order"),
    ({"bag": [0], "lecterns": 3}, "tape.lecterns: expected a list of at least one round's order"),
    ({"bag": [0], "lecterns": [ORDER, [0]]}, "tape.lecterns[1]: must list each lectern 0..5"),
    ({"bag": [0], "lecterns": [[0, 0, 2, 3, 4, 5]]}, "tape.lecterns[0]: must list each lectern"),
    ({"bag": [0], "lecterns": [[0, 1, 2, 3, 4, "5"]]}, "tape.lecterns[0]: must list each"),
    ({"bag": [0], "lecterns": [[False, True, 2, 3, 4, 5]]}, "tape.lecterns[0]: must list each"),
    ({"bag": [0], "lecterns": [None]}, "tape.lecterns[0]: must list each lectern 0..5"),
]


@pytest.mark.parametrize(("tape", "said"), TAPES)
def test_a_malformed_tape_is_refused_by_the_name_of_its_entry(tape: Any, said: str) -> None:
    engine = dealt()
    before = engine.state.copy()
    with pytest.raises(TapeError) as e:
        engine.deal_tape(0, tape)
    assert str(e.value).startswith(said)
    assert engine.state.equal(before)


def test_a_tape_may_be_of_arrays_and_its_bag_empty() -> None:
    engine = dealt(rows=2)
    engine.deal_tape(0, {"bag": [], "lecterns": [ORDER]})
    engine.deal_tape(1, {"bag": np.zeros(0, int), "lecterns": np.array([ORDER])})
    assert engine.snapshot(0) == engine.snapshot(1)
    # A day without a tile, and the bag is empty: the game is over.
    state = engine.snapshot(0)
    assert [each["tiles"] for each in state["lecterns"]] == [[]] * 3
    play, live = Mixed(engine.actions, 2, np.random.default_rng(0)), np.arange(2)
    while live.size:
        live = live[~engine.apply(play(engine.mask)[live], live)[1]]
    assert engine.snapshot(0)["round"] == 1


def test_a_tape_replaces_what_the_seed_would_bring() -> None:
    tape = {"bag": [5] * 12 + [0] * 4, "lecterns": [[5, 4, 3, 2, 1, 0], [0, 1, 2, 3, 4, 5]]}
    engine = ScriptoriumEngine("scriptorium", 2, 2)
    engine.deal(np.arange(2), [1, 2])
    engine.deal_tape(1, tape)
    state = engine.snapshot(1)
    assert [each["lectern"] for each in state["lecterns"]] == [3, 4, 5]
    assert [each["tiles"] for each in state["lecterns"]] == [[5, 5, 5, 5]] * 3
    assert (state["bag_left"], state["bag"][0], sum(state["bag"])) == (4, 4, 4)
    # The seed is back when the row is dealt again.
    fresh = ScriptoriumEngine("scriptorium", 1, 2)
    for each, row in ((engine, 1), (fresh, 0)):
        each.deal(np.array([row]), [7])
    assert engine.snapshot(1) == fresh.snapshot(0)


def test_a_bag_that_makes_too_many_rounds_to_count_is_refused() -> None:
    edition = load_edition("scriptorium").model_dump(mode="json")
    edition["rules"] |= {"tiles_per_lectern": 1, "quill_points": 100}
    engine = ScriptoriumEngine(edition, 1)
    engine.deal(np.arange(1), [0])
    before = engine.state.copy()
    # 151 rounds of 2 players, 100 points in each: 30,000 / 200 rounds are the most.
    with pytest.raises(TapeError, match=r"tape\.bag: 451 tiles make 151 rounds of 2 players"):
        engine.deal_tape(0, {"bag": [0] * 451, "lecterns": [ORDER] * 151})
    assert engine.state.equal(before)
    engine.deal_tape(0, {"bag": [0] * 450, "lecterns": [ORDER] * 150})
