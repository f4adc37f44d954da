"""Scriptorium's engine: masks, reasons, copies, determinised copies, and the end."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest

from incunabula.envs.errors import IllegalActionError, IncunabulaError
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.envs.scriptorium.state import Phase
from tests.by_hand_scriptorium import (
    BUSY,
    END,
    EVERY_INK,
    FULL,
    GRIMOIRE,
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
from tests.play_scriptorium import (
    TABLES,
    Mixed,
    bag_order,
    dealt,
    legal_json,
    positions,
    stand_points,
)

# What the rules call their parts.
CLAUSES = re.compile(r"S([1-9]|10)|phase [1-4]|setup|end and score")


# Masks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "players"), [("scriptorium", 3), ("scriptorium-tiny", 4), ("scriptorium-small", 2)]
)
def test_an_action_raises_exactly_when_the_mask_says_it_is_illegal(name: str, players: int) -> None:
    engine = stand_points(name, players)
    every = np.arange(engine.num_envs)
    other = engine.empty_like(engine.num_envs)
    for action in range(engine.actions.n):
        other.put(every, engine.state)
        legal = engine.mask[:, action]
        wanted = np.full(len(every), action)
        other.apply(wanted[legal], every[legal])
        moved = other.state.copy()
        # Part of the states for each action; all of them over the actions.
        for row in every[~legal][action % 16 :: 16]:
            with pytest.raises(IllegalActionError):
                other.apply(wanted[:1], every[row : row + 1])
        assert other.state.equal(moved)


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_every_illegal_action_has_a_clause_and_a_reason_and_no_legal_one_has(
    name: str, players: int
) -> None:
    engine = stand_points(name, players)
    seen = set()
    for row in range(0, engine.num_envs, 3):
        for action in range(engine.actions.n):
            why = engine.why_illegal(row, action)
            assert (why is None) == engine.mask[row, action]
            if why is not None:
                clause, reason = why
                assert CLAUSES.fullmatch(clause)
                assert 10 < len(reason) < 140
                seen.add(clause)
    assert {"phase 1", "phase 2", "phase 3", "S7"} < seen


FOUR = [0, 1, 1, 2]
GIVING = stand(
    *(seat(), seat(lectern_tiles=FOUR), seat()),
    round=2,
    phase="lectern",
    player=1,
    quill=2,
    bag=[0],
    lecterns=[(0, 1, []), (1, None, FOUR), (2, None, FOUR), (5, None, FOUR)],
)
BEGINNING = stand(
    *(seat(), seat(), seat()),
    round=2,
    phase="lectern",
    player=2,
    quill=2,
    bag=[0],
    lecterns=[(lectern, None, FOUR) for lectern in (0, 1, 2, 5)],
)
TAKING = BEGINNING | {"phase": "ink", "grimoire": 0}
TAKING |= {"pot": TAKING["pot"] | {"black": 1, "red": 1}}
CROWDED = stand(
    *(seat(storage=[16] * 8), seat(inks={"black": 8}, storage=[16])),
    round=3,
    phase="discard",
    player=0,
)
EMPTIER = stand(
    *(seat(storage=[16] * 7), seat(inks={"black": 8}, storage=[16])),
    round=3,
    phase="discard",
    player=1,
)
REASONS: list[tuple[Json, Json, str, str]] = [
    (BUSY, ink("red"), "phase 3", "it isn't time to take ink now, but to place or buy"),
    (BUSY, place(1, "left"), "phase 3", "there is no blue vine #1 in seat 0's storage"),
    (
        BUSY,
        place(0, "right", storage=False),
        "phase 3",
        "there is no red vine #0 on seat 0's lectern",
    ),
    (BUSY, place(16, storage=False), "phase 3", "no space A is free (1 of 1 filled)"),
    (BUSY, place(0, "left"), "phase 3", "no left edge is free (6 of 6 filled)"),
    (BUSY, place(0, "left", paid=False), "phase 3", "no left edge is free (6 of 6 filled)"),
    (
        BUSY,
        place(27),
        "S7",
        "red rubric text #27 costs 2 black, 1 red; 1 black held, and nothing else",
    ),
    (BUSY, place(24), "S7", "red initial #24 costs 1 black, 1 red, 2 gold; 2 gold needed, 1 held"),
    (
        *(BUSY, place(22), "S7"),
        "miniature D #22 costs 1 black, 1 red, 1 blue, 1 green; 1 blue, 1 green short, which gold "
        "must pay; 2 gold needed, 1 held",
    ),
    (
        *(BUSY | {"player": 1}, place(27), "S7"),
        "red rubric text #27 costs 1 red (black is free); 1 red short, which gold must pay; 1 gold",
    ),
    (BUSY, buy(30), "phase 3", "buying costs a help token, seat 0 has none"),
    (BUSY | {"player": 1}, buy(5), "phase 3", "there is no red and green braid #5 in the"),
    (BUSY | {"player": 1}, buy(5, 0), "phase 3", "there is no red and green braid #5 in seat 0's"),
    (GIVING, END, "phase 2", "it isn't time to end the turn now, but to choose a lectern"),
    (GIVING, lectern(0, 0), "phase 2", "lectern black belongs to seat 1"),
    (
        GIVING,
        lectern(3, 0),
        "phase 2",
        "lectern green is not in play this round; black, red, blue, quill are",
    ),
    (GIVING, lectern(1, 1), "phase 2", "seat 1 has a lectern already"),
    (BEGINNING, lectern(1, 2), "S4", "nobody chooses his own lectern without the grimoire"),
    (
        *(BEGINNING | {"grimoire": 0, "player": 0}, lectern(1, 1), "phase 2"),
        "seat 0 took the grimoire and first chooses for himself",
    ),
    (TAKING, ink("black", "black"), "phase 1", "2 black wanted, the pot has 1"),
    (TAKING, ink("red", "gold"), "phase 1", "1 gold wanted, the pot has 0"),
    (TAKING, GRIMOIRE, "phase 1", "seat 0 has taken the grimoire this round"),
    (TAKING, TAKE_POINTS, "phase 1", "it isn't time to take points for the quill now, but"),
    (
        *(CROWDED, discard("red"), "phase 4"),
        "storage holds 8 tiles and achievements, 7 may stay: discard one of those before inks",
    ),
    (CROWDED, discard(3), "phase 4", "seat 0 has no red and blue braid #3 in storage"),
    (CROWDED, discard("left_page"), "phase 4", "seat 0 has no achievement left page"),
    (EMPTIER, discard(16), "phase 4", "storage holds 1 tiles and achievements, 7 may stay: only"),
    (EMPTIER, discard("gold"), "phase 4", "seat 1 has no gold ink"),
    (
        *(stand(seat(), seat(), round=3, phase="over", player=None), END, "end and score"),
        "the game is over after round 3; deal a new one",
    ),
]


@pytest.mark.parametrize(("form", "action", "clause", "said"), REASONS)
def test_the_reason_is_the_one_a_player_would_give(
    form: Json, action: Json, clause: str, said: str
) -> None:
    engine = ScriptoriumEngine("scriptorium", 1, len(form["players"]))
    engine.restore(0, form, 0)
    found = engine.why_illegal(0, engine.action_from_json(0, action))
    assert found is not None
    assert found[0] == clause
    assert found[1].startswith(said)


def test_a_seat_that_nobody_takes_is_named() -> None:
    engine = dealt(players=2)
    engine.restore(0, BUSY | {"player": 1}, 0)
    actions = [
        a
        for a in range(engine.actions.n)
        if engine.actions.describe(a) == {"type": "buy", "tile": 0, "from": 3}
    ]
    assert engine.why_illegal(0, actions[0]) == (
        "setup",
        "2 players play; nobody sits 3 seats further on",
    )


def test_the_error_names_row_action_clause_and_reason() -> None:
    engine = dealt(players=2, rows=3)
    actions = engine.mask.argmax(axis=1)
    actions[2] = engine.action_from_json(2, END)
    before = engine.state.copy()
    with pytest.raises(IllegalActionError) as e:
        engine.apply(actions)
    assert (e.value.row, e.value.action, e.value.clause) == (2, actions[2], "phase 1")
    assert str(e.value) == (
        f"row 2: action {actions[2]} is illegal (phase 1): it isn't time to end the turn now, but "
        "to take ink or the grimoire"
    )
    assert engine.state.equal(before)


@pytest.mark.parametrize("players", [0, 1, 5, True, 2.0, "2", None])
def test_a_number_of_players_that_the_edition_is_not_for_is_refused(players: Any) -> None:
    with pytest.raises(IncunabulaError, match=r"^num_players: this edition is for 2, 3, 4 players"):
        ScriptoriumEngine("scriptorium", 1, players)
    with pytest.raises(IncunabulaError, match=r"^num_players: this edition is for 2, 3 players"):
        ScriptoriumEngine("scriptorium-small", 1, 4)


# Determinised copies -----------------------------------------------------------------------------


def test_the_fresh_order_does_not_depend_on_the_present_one() -> None:
    one = positions("scriptorium", 3, 32, seed=2)
    two = one.empty_like(32)
    two.put(np.arange(32), one.state)
    rng = np.random.default_rng(0)
    for row in range(32):
        left = int(two.state.bag_left[row])
        two.state.order[row, :left] = rng.permutation(two.state.order[row, :left])
        two.state.order[row, left:] = 99
    two.state.seed[:] = 12345
    for engine in (one, two):
        engine.determinise(np.arange(32), np.arange(100, 132, dtype=np.uint64))
    assert one.state.equal(two.state)


def test_no_seed_given_to_determinise_brings_back_the_real_future() -> None:
    engine = dealt(rows=8)
    bags = [bag_order(engine, row) for row in range(8)]
    engine.determinise(np.arange(8), np.arange(8, dtype=np.uint64))
    assert all(bag_order(engine, row) != bags[row] for row in range(8))


def test_only_the_rows_asked_for_are_determinised() -> None:
    engine = dealt(rows=6)
    before = engine.state.copy()
    rows = np.array([4, 1])
    engine.determinise(rows, np.array([7, 7], np.uint64))
    assert bag_order(engine, 4) != [*before.order[4, : before.bag_left[4]][::-1]]
    kept = np.array([0, 2, 3, 5])
    assert engine.state.take(kept).equal(before.take(kept))


def test_every_tile_in_the_bag_is_equally_likely_to_come_next() -> None:
    n = 6000
    engine = ScriptoriumEngine("scriptorium-tiny", n, 2)
    engine.deal(np.arange(n), np.zeros(n, np.uint64))
    counts = engine.state.bag[0].copy()
    left = int(counts.sum())
    assert left == 6
    engine.determinise(np.arange(n), np.arange(n, dtype=np.uint64))
    expected = n * counts / left
    there = expected > 0
    for place_ in (left - 1, 0):  # the next tile, and the last
        drawn = np.bincount(engine.state.order[:, place_], minlength=len(counts))
        assert drawn[~there].sum() == 0
        chi = ((drawn - expected)[there] ** 2 / expected[there]).sum()
        assert chi < 22.5  # 99.9%, at most 6 degrees


def test_a_determinised_game_goes_on_where_its_tape_runs_out() -> None:
    engine = ScriptoriumEngine("scriptorium", 1, 2)
    engine.deal_tape(0, {"bag": [0] * 20 + [9] * 20, "lecterns": [[0, 1, 2, 3, 4, 5]]})
    tapes = engine.state.copy()
    futures = set()
    for number in range(8):
        engine.put(np.arange(1), tapes)
        engine.determinise(np.arange(1), np.array([number], np.uint64))
        while engine.state.round[0] < 2:
            engine.apply(engine.mask.argmax(axis=1))
        futures.add(tuple(each["lectern"] for each in engine.snapshot(0)["lecterns"]))
    assert len(futures) > 3


# Copies ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_a_copy_goes_on_as_the_original_does_and_leaves_it_alone(how: Any) -> None:
    engine = positions("scriptorium-tiny", 3, 16, seed=1)
    before, mask = engine.state.copy(), engine.mask.copy()
    twin = how(engine)
    seen_by: list[list[bytes]] = []
    for each in (twin, engine):
        assert engine.state.equal(before)
        assert np.array_equal(engine.mask, mask)
        play = Mixed(each.actions, 16, np.random.default_rng(0))
        live = np.flatnonzero(each.mask.any(axis=1))
        shown = []
        while live.size:
            changes, over = each.apply(play(each.mask)[live], live)
            live = live[~over]
            shown += [changes.tobytes(), each.observe().tobytes(), each.mask.tobytes()]
        seen_by.append(shown)
    assert seen_by[0] == seen_by[1]
    assert twin.edition == engine.edition


# After the end -----------------------------------------------------------------------------------


def test_after_the_end_nothing_is_legal_and_acting_raises() -> None:
    engine = positions("scriptorium", 3, 32)
    over = np.flatnonzero(engine.state.phase == Phase.OVER)
    assert over.size
    for row in over:
        assert legal_json(engine, int(row)) == []
        for action in (0, engine.action_from_json(int(row), END)):
            with pytest.raises(IllegalActionError, match="the game is over"):
                engine.apply(np.array([action]), np.array([row]))


def test_a_full_manuscript_ends_the_game_when_the_day_ends() -> None:
    almost = {name: count - (name == "text") for name, count in FULL.items()}
    everything = ["left_frame", "left_page", "full_frame", "right_frame"]
    form = stand(
        seat(inks=EVERY_INK, storage=[27], filled=almost, achievements=everything, points=60),
        seat(),
        round=12,
        bag=[0] * 5,
    )
    engine = dealt()
    engine.restore(0, form, 0)
    for action in (place(27), END, END):
        changes, over = engine.apply(np.array([engine.action_from_json(0, action)]))
    while not over[0]:  # inks over the limit
        assert legal_json(engine, 0)[0]["type"] == "discard_ink"
        changes, over = engine.apply(engine.mask.argmax(axis=1))
    state = engine.snapshot(0)
    assert (state["phase"], state["bag_left"]) == ("over", 5)
    assert state["players"][0]["score"] == 60 + 3 + 5 * 5
    assert changes.tolist() == [[0, 0]]
