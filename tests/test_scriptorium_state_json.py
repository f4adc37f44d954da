"""The JSON form of a Scriptorium state: there and back, and what is refused."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incunabula.envs.json_state import StateError
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.envs.scriptorium.json_form import lay_bag
from incunabula.envs.scriptorium.state import Phase
from tests.by_hand_scriptorium import FULL, LEFT_PAGE, lectern, seat, stand
from tests.oracle.bibliogamo import random_order
from tests.play_scriptorium import (
    TABLES,
    Beside,
    Eager,
    Json,
    QuickGame,
    bag_order,
    data_of,
    dealt,
    frozen,
    legal_json,
    stand_points,
)
from tests.strategies import SEEDS
from tests.strategies_scriptorium import editions

MISSING = object()


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_restore_gives_back_the_snapshot(name: str, players: int) -> None:
    engine = stand_points(name, players)
    other = engine.empty_like(engine.num_envs)
    for row in range(engine.num_envs):
        form = engine.snapshot(row)
        other.restore(row, form, row)
        assert other.snapshot(row) == form
    assert np.array_equal(other.mask, engine.mask)
    assert other.observe().tobytes() == engine.observe().tobytes()


@settings(max_examples=30, deadline=None)
@given(data=editions(), seed=SEEDS, luck=st.integers(0, 2**32 - 1))
def test_every_state_of_a_random_edition_is_restored(data: Json, seed: int, luck: int) -> None:
    rng = np.random.default_rng(luck)
    engine = ScriptoriumEngine(data, 1, int(rng.choice(data["rules"]["players"])))
    engine.deal(np.arange(1), np.array([seed], np.uint64))
    other, play = engine.empty_like(1), Eager(engine.actions, 1, rng)
    while True:
        form = engine.snapshot(0)
        other.restore(0, form, 0)
        assert other.snapshot(0) == form
        assert np.array_equal(other.mask, engine.mask)
        if not engine.mask.any():
            return
        engine.apply(play(engine.mask))


def test_lists_may_come_in_any_order() -> None:
    engine = stand_points("scriptorium", 4)
    other = engine.empty_like(1)
    for row in range(engine.num_envs):
        form = engine.snapshot(row)
        mixed = copy.deepcopy(form)
        mixed["lecterns"].reverse()
        mixed["scriptorium"].reverse()
        for each in mixed["players"]:
            each["storage"].reverse()
            each["achievements"].reverse()
        other.restore(0, mixed, 0)
        assert other.snapshot(0) == form


def test_what_is_hidden_comes_from_the_seed() -> None:
    engine = stand_points("scriptorium", 3)
    other = engine.empty_like(1)
    for row in range(24):
        form = engine.snapshot(row)
        tiles = [design for design, count in enumerate(form["bag"]) for _ in range(count)]
        for seed in (0, 5, 2**64 - 1):
            other.restore(0, form, seed)
            order = [tiles[number] for number in random_order(seed, 0, len(tiles))]
            assert bag_order(other, 0) == order
    # Seeds are taken modulo 2^64.
    one, two = engine.empty_like(1), engine.empty_like(1)
    one.restore(0, engine.snapshot(0), -1)
    two.restore(0, engine.snapshot(0), 2**64 - 1)
    assert one.state.equal(two.state)


def test_a_restored_game_is_dealt_on_from_its_seed() -> None:
    # The oracle at the same position, with the same tiles in the bag and lecterns of that seed.
    engine = stand_points("scriptorium", 3)
    rows = np.flatnonzero((engine.state.phase != Phase.OVER) & (engine.state.bag_left > 0))[:8]
    data = data_of("scriptorium")
    for row in rows:
        form = engine.snapshot(int(row))
        other = engine.empty_like(1)
        other.restore(0, form, 99)
        game = QuickGame(data, 3, seed=99)
        game.stand_at(form, bag_order(other, 0))
        Beside(other, data).play([game], Eager(other.actions, 1, np.random.default_rng(int(row))))
        assert form["round"] < game.round


def test_a_full_bag_is_laid_as_a_deal_lays_it() -> None:
    engine = dealt(rows=3)
    every = [tile["copies"][2] for tile in data_of("scriptorium")["tiles"]]
    engine.state.bag[:], engine.state.bag_left[:] = every, sum(every)
    before = [bag_order(engine, row) for row in range(3)]
    engine.state.order[:] = 0
    lay_bag(engine.tables, engine.state, np.arange(3))
    assert [bag_order(engine, row) for row in range(3)] == before


# What is refused ---------------------------------------------------------------------------------


# States of three players in round 3, one for each phase. In the middle of the day seat 0 has the
# quill lectern, seat 1 black, seat 2 red; blue was put away.
SEATS = (
    seat(inks={"black": 2, "red": 1}, storage=[0, 10], tokens=2, filled={"edge_left": 1}, points=1),
    seat(inks={"gold": 3}, storage=[16], tokens=3),
    seat(lectern_tiles=[4, 4], tokens=1),
)
HANDS = (*SEATS[:2], seat(tokens=1))  # nothing of a lectern
FOUR = [3, 5, 7, 9]
BAG = [0, 1, 1, 30]
ILLUMINATE = stand(*SEATS, round=3, bag=BAG, scriptorium=[2, 2], quill_next=0)
INK = stand(
    *HANDS,
    round=3,
    bag=BAG,
    phase="ink",
    player=1,
    quill=1,
    pot={"red": 1},
    lecterns=[(lectern, None, FOUR) for lectern in (0, 1, 2, 5)],
)
LECTERN = INK | {"phase": "lectern", "pot": dict.fromkeys(INK["pot"], 0)}
QUILL = stand(
    *HANDS,
    round=3,
    bag=BAG,
    phase="quill",
    player=2,
    quill=1,
    lecterns=[*((lectern, None, FOUR) for lectern in (0, 1, 2)), (5, 2, [])],
)
DISCARD = stand(
    *(HANDS[0], seat(tokens=3, storage=[16] * 8), seat(inks={"black": 8})),
    round=3,
    bag=BAG,
    phase="discard",
    player=1,
)
OVER = stand(*HANDS, round=3, phase="over", player=None)


@pytest.mark.parametrize("form", [INK, LECTERN, QUILL, ILLUMINATE, DISCARD, OVER])
def test_the_states_from_which_the_wrong_ones_are_made_are_right(form: Json) -> None:
    engine = ScriptoriumEngine("scriptorium", 1, 3)
    engine.restore(0, form, 0)
    assert engine.snapshot(0) == form


def changed(form: Json, changes: Json) -> Json:
    """A copy with these entries set, each by its path, or left out if MISSING."""
    form = copy.deepcopy(form)
    for path, value in changes.items():
        *keys, last = [int(key) if key.isdigit() else key for key in re.findall(r"\w+", path)]
        holder: Any = form
        for key in keys:
            holder = holder[key]
        if value is MISSING:
            del holder[last]
        else:
            holder[last] = value
    return form


def refused(form: Any) -> str:
    """What is said of a state that can't be; nothing may be changed."""
    engine = ScriptoriumEngine("scriptorium", 1, 3)
    engine.deal(np.arange(1), [0])
    before, mask = engine.state.copy(), engine.mask.copy()
    with pytest.raises(StateError) as e:
        engine.restore(0, form, 0)
    assert engine.state.equal(before)
    assert np.array_equal(engine.mask, mask)
    assert "\n" not in str(e.value)
    return str(e.value)


NOT_A_COUNT: list[Any] = [-1, 1.0, True, "1", None, 2**40, [1]]
COUNTS = [
    *("round", "quill", "bag_left", "bag[3]", "pot.red"),
    *("players[1].inks.gold", "players[2].tokens", "players[0].points", "players[1].score"),
    *("players[0].filled.text", "players[2].filled.corner_left"),
]


@pytest.mark.parametrize("path", COUNTS)
@pytest.mark.parametrize("value", NOT_A_COUNT, ids=repr)
def test_what_is_no_count_is_refused_by_the_name_of_its_field(path: str, value: Any) -> None:
    said = refused(changed(ILLUMINATE, {path: value}))
    assert said.startswith(f"state.{path}: expected an integer in 0..") or (
        path == "round" and said.startswith("state.round: expected an integer in 1..")
    )


@pytest.mark.parametrize("value", [3, -1, 1.0, True, "0"], ids=repr)
@pytest.mark.parametrize("path", ["player", "quill_next", "grimoire", "lecterns[0].owner"])
def test_what_is_no_seat_is_refused(path: str, value: Any) -> None:
    said = refused(changed(ILLUMINATE, {path: value}))
    assert said.startswith(f"state.{path}: expected an integer in 0..2")


@pytest.mark.parametrize(
    "path",
    ["scriptorium", "lecterns[0].tiles", "players[0].storage", "players[0].lectern_tiles"],
)
@pytest.mark.parametrize("value", [None, 3, "3", {}, [31], [-1], [1.0], [True], [None]], ids=repr)
def test_what_is_no_list_of_tiles_is_refused(path: str, value: Any) -> None:
    said = refused(changed(ILLUMINATE, {path: value}))
    entry = "[0]: expected an integer in 0..30" if isinstance(value, list) else ": expected a list"
    assert said.startswith(f"state.{path}{entry}")


MALFORMED: list[tuple[str, Any, str]] = [
    *(
        (path, MISSING, f"state{where}: fields missing or unknown: {path.rpartition('.')[2]}")
        for path, where in [
            *((name, "") for name in ("phase", "round", "player", "quill", "quill_next", "pot")),
            *((name, "") for name in ("grimoire", "lecterns", "scriptorium", "bag_left", "bag")),
            *((name, "") for name in ("achievements", "players")),
            ("pot.gold", ".pot"),
            ("lecterns[1].owner", ".lecterns[1]"),
            ("players[2].tokens", ".players[2]"),
            ("players[1].inks.black", ".players[1].inks"),
            ("players[1].filled.D", ".players[1].filled"),
            ("achievements.left_page", ".achievements"),
        ]
    ),
    ("extra", 1, "state: fields missing or unknown: extra"),
    ("players[0].name", "me", "state.players[0]: fields missing or unknown: name"),
    ("phase", "flying", "state.phase: expected one of ink, lectern, quill, illuminate, discard"),
    ("phase", None, "state.phase"),
    ("phase", ["ink"], "state.phase"),
    ("pot", [], "state.pot: expected a mapping"),
    ("players", [], "state.players: expected a list of 3"),
    ("players", {}, "state.players: expected a list of 3"),
    ("players[1]", None, "state.players[1]: expected a mapping"),
    ("lecterns", [], "state.lecterns: expected a list of 4"),
    ("lecterns[0]", 0, "state.lecterns[0]: expected a mapping"),
    ("lecterns[0].lectern", 6, "state.lecterns[0].lectern: expected an integer in 0..5"),
    ("bag", [], "state.bag: expected a list of 31"),
    ("achievements.left_page", "lost", "state.achievements.left_page: expected an integer in 0..2"),
    ("players[0].achievements", ["nonsense"], "state.players[0].achievements[0]: expected one of"),
    ("players[0].achievements", ["left_page"] * 2, "state.players[0].achievements[1]: left_page"),
    ("players[0].achievements", None, "state.players[0].achievements: expected a list"),
    ("players[0].storage", [0] * 5000, "state.players[0].storage: expected at most 4096 tiles"),
]


@pytest.mark.parametrize(("path", "value", "said"), MALFORMED)
def test_a_malformed_state_is_refused_by_the_name_of_its_field(
    path: str, value: Any, said: str
) -> None:
    assert refused(changed(ILLUMINATE, {path: value})).startswith(said)


@pytest.mark.parametrize("form", [None, [], "state", 3])
def test_what_is_no_mapping_is_refused(form: Any) -> None:
    assert refused(form).startswith("state: expected a mapping")


FILLED = dict.fromkeys(SEATS[0]["filled"], 0)
# Of states whose fields are each in their range: what contradicts what.
CONTRADICTIONS: list[tuple[Json, Json, str]] = [
    # The bag and the rounds
    (ILLUMINATE, {"bag_left": 5}, "state.bag_left: 5 contradicts bag, which holds 4 tiles"),
    (ILLUMINATE, {"bag[30]": 0}, "state.bag_left: 4 contradicts bag, which holds 3 tiles"),
    (
        ILLUMINATE,
        {"players[0].storage": [1] * 43, "round": 3},
        "state.round: by round 3 at most 48",
    ),
    (ILLUMINATE, {"round": 256}, "state.round: 256 rounds with 4 tiles left in the bag need a bag"),
    (OVER, {"round": 258}, "state.round: 258 rounds with 0 tiles left in the bag need a bag of"),
    (OVER, {"bag[0]": 1, "bag_left": 1}, "state.phase: over needs an empty bag or a full"),
    (
        INK,
        {"players[0].filled": FILLED | FULL, "round": 8},
        "state.phase: ink, but the game ended the day that seat 0's manuscript was full",
    ),
    # Inks
    (INK, {"pot.red": 4}, "state.pot.red: a round brings 3, got 4"),
    (
        INK,
        {"players[0].inks.red": 9},
        "state.players: 10 red inks with the pot's; expected at most 9",
    ),
    (
        INK,
        {"pot.red": 0},
        "state.pot: holds inks in phase ink and none in others, got 0 in phase ink",
    ),
    (LECTERN, {"pot.red": 1}, "state.pot: holds inks in phase ink and none in others, got 1"),
    # Lecterns
    (
        ILLUMINATE,
        {"lecterns[1].lectern": 0},
        "state.lecterns[1].lectern: lectern 0 is listed before",
    ),
    (ILLUMINATE, {"lecterns[1].owner": 1}, "state.lecterns[1].owner: seat 1 owns another lectern"),
    (ILLUMINATE, {"lecterns[0].tiles": [3]}, "state.lecterns[0].tiles: expected none, as seat 1"),
    (INK, {"lecterns[0].owner": 0, "lecterns[0].tiles": []}, "state.lecterns: expected no owner"),
    (
        ILLUMINATE,
        {"phase": "lectern", "quill_next": None},
        "state.phase: lectern, but everybody has",
    ),
    (ILLUMINATE, {"lecterns[0].owner": None}, "state.lecterns: expected an owner for every seat"),
    (
        OVER,
        {"lecterns[0].owner": None},
        "state.lecterns: expected an owner for every seat in phase over",
    ),
    (ILLUMINATE, {"lecterns[2].tiles": [3]}, "state.lecterns: 1 tiles on lectern 2, which nobody"),
    (
        INK,
        {"lecterns[2].tiles": [3] * 5},
        "state.lecterns: 5 tiles on lectern 2, which nobody owns",
    ),
    (LECTERN, {"lecterns[3].tiles": [3] * 3}, "state.lecterns: 3 tiles on lectern 5, which nobody"),
    (INK, {"quill_next": 0}, "state.quill_next: expected null in phase ink, got 0"),
    (QUILL, {"quill_next": 2}, "state.quill_next: expected null in phase quill, got 2"),
    (OVER, {"quill_next": 0}, "state.quill_next: expected null in phase over, got 0"),
    (ILLUMINATE, {"quill_next": 1}, "state.quill_next: seat 1 doesn't own the quill lectern"),
    # Players
    (
        ILLUMINATE,
        {"players[1].filled.A": 2},
        "state.players[1].filled.A: expected at most 1, got 2",
    ),
    (ILLUMINATE, {"players[2].lectern_tiles": [1] * 5}, "state.players[2].lectern_tiles: expected"),
    (
        DISCARD,
        {"players[2].lectern_tiles": [1]},
        "state.players[2].lectern_tiles: expected at most 0",
    ),
    (INK, {"players[0].lectern_tiles": [1]}, "state.players[0].lectern_tiles: expected at most 0"),
    (QUILL, {"players[1].storage": [1] * 8}, "state.players[1].storage: expected at most 7"),
    (
        ILLUMINATE,
        {"players[0].points": 9, "players[0].score": 13},
        "state.players[0].points: at most 8 can be had with these spaces filled in 3 rounds, got 9",
    ),
    (ILLUMINATE, {"players[0].score": 6}, "state.players[0].score: 6 is not what points, achieve"),
    (
        ILLUMINATE,
        {"players[0].tokens": 6, "players[0].score": 13},
        "state.players: 10 help tokens among 3 players; expected at most 3 each at the start, 9",
    ),
    # Achievements
    (
        ILLUMINATE,
        {"achievements.left_page": 1},
        "state.achievements.left_page: 1 contradicts the players' achievements: it is listed by "
        "nobody",
    ),
    (
        ILLUMINATE,
        {"players[1].achievements": ["left_page"], "players[1].score": 11},
        "state.achievements.left_page: None contradicts the players' achievements: it is listed by "
        "seats [1]",
    ),
    (
        ILLUMINATE,
        {
            "players[1].achievements": ["left_page"],
            "players[1].score": 11,
            "achievements.left_page": 1,
        },
        "state.achievements.left_page: seat 1 hasn't filled its spaces",
    ),
    (ILLUMINATE, {"achievements.left_page": "gone"}, "state.achievements.left_page: null as long"),
    (
        ILLUMINATE,
        {"players[1].filled": FILLED | LEFT_PAGE},
        "state.achievements.left_page: null as long as nobody has filled its spaces, and seat 1",
    ),
    # Whose turn it is
    (ILLUMINATE, {"player": None}, "state.player: null when over and a seat before, got None"),
    (OVER, {"player": 0}, "state.player: null when over and a seat before, got 0 in phase over"),
    (INK, {"grimoire": 1}, "state.player: 1 in phase ink; expected seat 0, seat 2: who took"),
    (LECTERN, {"player": 2}, "state.player: 2 in phase lectern; expected seat 1: the grimoire's"),
    (LECTERN, {"grimoire": 0}, "state.player: 1 in phase lectern; expected seat 0: the grimoire's"),
    (
        QUILL,
        {"phase": "lectern"} | {"player": 1},
        "state.player: 1 in phase lectern; expected seat 2",
    ),
    (
        QUILL,
        {"phase": "lectern", "grimoire": 2},
        "state.player: 2 in phase lectern; expected seat 1",
    ),
    (QUILL, {"player": 1}, "state.player: 1 in phase quill; expected seat 2: who owns the quill"),
    (QUILL, {"grimoire": 0}, "state.grimoire: seat 0 holds it, so the first lectern is his"),
    (DISCARD, {"player": 2}, "state.player: 2 in phase discard; expected seat 1: the first seat"),
    (DISCARD, {"quill": 2}, "state.player: 1 in phase discard; expected seat 2: the first seat"),
    (
        DISCARD,
        {"players[1].storage": [], "players[2].inks.black": 7},
        "state.player: 1 in phase discard; expected nobody: the first seat from the quill",
    ),
    (OVER, {"players[2].inks.black": 8}, "state.phase: over, but seat 2 still owes a discard"),
]


@pytest.mark.parametrize(("form", "changes", "said"), CONTRADICTIONS)
def test_a_state_that_contradicts_itself_is_refused(form: Json, changes: Json, said: str) -> None:
    assert refused(changed(form, changes)).startswith(said)


def test_with_two_players_the_grimoires_holder_chooses_for_the_quills() -> None:
    # S4 as a position: seat 1 has the grimoire and has chosen, seat 0 the quill and no lectern.
    form = stand(
        *HANDS[:2],
        round=3,
        bag=BAG,
        phase="lectern",
        player=1,
        grimoire=1,
        lecterns=[(0, 1, []), (3, None, FOUR), (4, None, FOUR)],
    )
    engine = ScriptoriumEngine("scriptorium", 1, 2)
    engine.restore(0, form, 0)
    assert {frozen(each) for each in legal_json(engine, 0)} == {
        frozen(lectern(3, 0)),
        frozen(lectern(4, 0)),
    }
    with pytest.raises(StateError, match=r"^state\.player: 0 in phase lectern; expected seat 1"):
        engine.restore(0, form | {"player": 0}, 0)


def test_a_state_of_another_number_of_players_is_refused() -> None:
    engine = ScriptoriumEngine("scriptorium", 1, 2)
    with pytest.raises(StateError, match=r"^state\.lecterns: expected a list of 3"):
        engine.restore(0, ILLUMINATE, 0)
