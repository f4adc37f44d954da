"""The JSON form of a Scriptorium state: there and back, and what is refused."""

from __future__ import annotations

import copy
import re
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incunabula.envs.json_state import StateError
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.envs.scriptorium.state import Phase
from tests.by_hand_scriptorium import FULL, LEFT_PAGE
from tests.oracle.bibliogamo import random_order
from tests.play_scriptorium import (
    TABLES,
    Beside,
    Eager,
    Json,
    QuickGame,
    bag_order,
    data_of,
    positions,
)
from tests.strategies import SEEDS
from tests.strategies_scriptorium import editions

MISSING = object()


@lru_cache
def stand_points(name: str, players: int) -> ScriptoriumEngine:
    return positions(name, players, 160, seed=3)


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
        Beside(other, data).play(
            [game], Eager(other.actions, 1, np.random.default_rng(int(row)))
        )
        assert form["round"] < game.round


def test_a_new_game_restored_with_its_seed_is_that_game() -> None:
    engine = ScriptoriumEngine("scriptorium", 1, 2)
    engine.deal(np.arange(1), [77])
    form = engine.snapshot(0)
    every = [tile["copies"][2] for tile in data_of("scriptorium")["tiles"]]
    bag = engine.state.copy()
    bag.bag[0], bag.bag_left[0] = every, sum(every)
    engine.put(np.arange(1), bag)
    before = bag_order(engine, 0)
    engine._lay_hidden(np.arange(1))
    assert bag_order(engine, 0) == before  # as the deal laid it
    engine.restore(0, form, 77)
    assert sorted(bag_order(engine, 0)) == sorted(before[12:])


# What is refused ---------------------------------------------------------------------------------


@lru_cache
def in_phase(phase: str) -> Json:
    """A state of three players in that phase, in the middle of a game."""
    engine = stand_points("scriptorium", 3)
    rows = np.flatnonzero(engine.state.phase == Phase[phase.upper()])
    fitting = [row for row in rows if engine.state.round[row] > 2]
    assert fitting
    return engine.snapshot(int(fitting[0]))


def changed(form: Json, path: str, value: Any) -> Json:
    """A copy with one entry set, or left out if ``value`` is MISSING."""
    form = copy.deepcopy(form)
    keys = [int(key) if key.isdigit() else key for key in re.findall(r"\w+", path)]
    holder: Any = form
    for key in keys[:-1]:
        holder = holder[key]
    if value is MISSING:
        del holder[keys[-1]]
    else:
        holder[keys[-1]] = value
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
    said = refused(changed(in_phase("illuminate"), path, value))
    assert said.startswith(f"state.{path}: expected an integer in 0..") or (
        path == "round" and said.startswith("state.round: expected an integer in 1..")
    )


@pytest.mark.parametrize("value", [3, -1, 1.0, True, "0"], ids=repr)
@pytest.mark.parametrize("path", ["player", "quill_next", "grimoire", "lecterns[0].owner"])
def test_what_is_no_seat_is_refused(path: str, value: Any) -> None:
    said = refused(changed(in_phase("illuminate"), path, value))
    assert said.startswith(f"state.{path}: expected an integer in 0..2")


@pytest.mark.parametrize(
    "path",
    ["scriptorium", "lecterns[0].tiles", "players[0].storage", "players[0].lectern_tiles"],
)
@pytest.mark.parametrize("value", [None, 3, "3", {}, [31], [-1], [1.0], [True], [None]], ids=repr)
def test_what_is_no_list_of_tiles_is_refused(path: str, value: Any) -> None:
    said = refused(changed(in_phase("illuminate"), path, value))
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
    assert refused(changed(in_phase("illuminate"), path, value)).startswith(said)


@pytest.mark.parametrize("form", [None, [], "state", 3])
def test_what_is_no_mapping_is_refused(form: Any) -> None:
    assert refused(form).startswith("state: expected a mapping")


def lectern_of(form: Json, seat: int | None) -> int:
    """The place in the list of the lectern this seat owns."""
    owners = [each["owner"] for each in form["lecterns"]]
    return owners.index(seat)


def with_quill_lectern() -> Json:
    """An illumination in which the quill lectern is seat 1's."""
    form = copy.deepcopy(in_phase("illuminate"))
    for each in form["lecterns"]:
        if each["lectern"] == 5:
            each["lectern"] = next(k for k in range(6) if k not in {o["lectern"] for o in form["lecterns"]})
    form["lecterns"][lectern_of(form, 1)]["lectern"] = 5
    return form | {"quill_next": 1}


def test_a_state_with_the_quill_lectern_is_accepted_as_it_stands() -> None:
    engine = ScriptoriumEngine("scriptorium", 1, 3)
    engine.restore(0, with_quill_lectern(), 0)
    assert engine.snapshot(0)["quill_next"] == 1


def contradictions() -> dict[str, tuple[Json, str]]:
    """States whose fields are each in their range, and what contradicts what."""
    ink, lectern, quill, illuminate, discard, over = map(
        in_phase, ("ink", "lectern", "quill", "illuminate", "discard", "over")
    )
    free = lectern_of(lectern, None)
    owned = lectern_of(illuminate, 0)
    taken = next(name for name, n in ink["pot"].items() if n)
    seats = range(3)
    player = illuminate["players"][0]
    everything = {name: 9 for name in player["inks"]}

    def other(form: Json) -> int:
        return next(seat for seat in seats if seat != form["player"])

    return {
        "bag_left": (changed(illuminate, "bag_left", 1), "state.bag_left: 1 contradicts bag"),
        "tiles drawn": (changed(illuminate, "round", 1), "state.round: by round 1 at most 16"),
        "rounds": (changed(illuminate, "round", 300), "state.round: 300 rounds with"),
        "over too early": (
            illuminate | {"phase": "over", "player": None},
            "state.phase: over needs an empty bag or a full manuscript",
        ),
        "played on": (
            changed(ink, "players[0].filled", FULL),
            "state.",
        ),
        "pot too full": (changed(ink, f"pot.{taken}", 7), f"state.pot.{taken}: a round brings"),
        "inks from nowhere": (
            changed(illuminate, "players[0].inks.red", 100),
            "state.players: 10",
        ),
        "inks in the pot": (changed(illuminate, "pot.red", 1), "state.pot: holds inks in phase"),
        "an empty pot": (
            changed(ink, "pot", dict.fromkeys(ink["pot"], 0)),
            "state.pot: holds inks in phase ink",
        ),
        "a lectern twice": (
            changed(illuminate, "lecterns[1].lectern", illuminate["lecterns"][0]["lectern"]),
            "state.lecterns[1].lectern: lectern",
        ),
        "two lecterns": (
            changed(illuminate, f"lecterns[{lectern_of(illuminate, None)}].owner", 0),
            "state.lecterns[",
        ),
        "tiles of an owned lectern": (
            changed(illuminate, f"lecterns[{owned}].tiles", [3]),
            f"state.lecterns[{owned}].tiles: expected none",
        ),
        "no lectern": (
            changed(illuminate, f"lecterns[{owned}].owner", None),
            "state.lecterns: expected an owner for every seat in phase illuminate; seat 0",
        ),
        "an owner in phase 1": (
            changed(changed(ink, "lecterns[0].owner", 0), "lecterns[0].tiles", []),
            "state.lecterns: expected no owner",
        ),
        "nobody left to serve": (illuminate | {"phase": "lectern"}, "state.phase: lectern, but"),
        "too many tiles on a lectern": (
            changed(lectern, f"lecterns[{free}].tiles", [0, 1, 2, 3, 4]),
            "state.",
        ),
        "too few tiles on a lectern": (
            changed(lectern, f"lecterns[{free}].tiles", []),
            f"state.lecterns: 0 tiles on lectern {lectern['lecterns'][free]['lectern']}",
        ),
        "tiles not put away": (
            changed(illuminate, f"lecterns[{lectern_of(illuminate, None)}].tiles", [0]),
            "state.lecterns: 1 tiles on lectern",
        ),
        "quill_next too early": (changed(ink, "quill_next", 0), "state.quill_next: expected null"),
        "quill_next at the end": (changed(over, "quill_next", 0), "state.quill_next: expected"),
        "quill_next of another": (
            with_quill_lectern() | {"quill_next": 0},
            "state.quill_next: seat 0 doesn't own",
        ),
        "filled": (
            changed(illuminate, "players[1].filled.A", 2),
            "state.players[1].filled.A: expected at most 1, got 2",
        ),
        "lectern tiles": (
            changed(changed(illuminate, "players[0].lectern_tiles", [1] * 5), "round", 40),
            "state.players[0].lectern_tiles: expected at most 4",
        ),
        "lectern tiles in phase 4": (
            changed(discard, "players[0].lectern_tiles", [1]),
            "state.players[0].lectern_tiles: expected at most 0",
        ),
        "lectern tiles without a lectern": (
            changed(changed(ink, "players[0].lectern_tiles", [1]), "round", 40),
            "state.players[0].lectern_tiles: expected at most 0 in phase ink without a lectern",
        ),
        "storage after the day": (
            changed(changed(ink, "players[0].storage", [1] * 8), "round", 40),
            "state.players[0].storage: expected at most 7",
        ),
        "points": (
            changed(changed(illuminate, "players[0].points", 900), "players[0].score", 900 + 2 * player["tokens"] + 5 * len(player["achievements"])),
            "state.players[0].points: at most",
        ),
        "score": (
            changed(illuminate, "players[0].score", player["score"] + 1),
            f"state.players[0].score: {player['score'] + 1} is not what",
        ),
        "tokens": (
            changed(changed(illuminate, "players[0].tokens", 10), "players[0].score", player["score"] + 2 * (10 - player["tokens"])),
            "state.players: ",
        ),
        "an achievement nobody lists": (
            changed(illuminate, "achievements.full_frame", 1),
            "state.achievements.full_frame: 1 contradicts the players' achievements: it is listed "
            "by nobody",
        ),
        "an achievement somebody lists": (
            changed(
                changed(illuminate, "players[1].achievements", ["full_frame"]),
                "players[1].score",
                illuminate["players"][1]["score"]
                + 5
                - 5 * len(illuminate["players"][1]["achievements"]),
            ),
            "state.achievements.",
        ),
        "an achievement gone too early": (
            changed(illuminate, "achievements.full_frame", "gone"),
            "state.achievements.full_frame: null as long as nobody has filled its spaces",
        ),
        "an achievement open too long": (
            changed(
                changed(
                    illuminate | {"round": 40},
                    "players[2].filled",
                    illuminate["players"][2]["filled"] | LEFT_PAGE,
                ),
                "achievements.left_page",
                None,
            ),
            "state.achievements.left_page: null as long as",
        ),
        "nobody to act": (illuminate | {"player": None}, "state.player: null when over and a"),
        "somebody to act": (over | {"player": 0}, "state.player: null when over and a seat"),
        "the grimoire's holder in phase 1": (
            ink | {"grimoire": ink["player"]},
            f"state.player: {ink['player']} in phase ink; expected",
        ),
        "the grimoire's holder unserved": (
            quill | {"grimoire": next(s for s in seats if s not in [o["owner"] for o in quill["lecterns"]])}
            if None in [o["owner"] for o in quill["lecterns"]][:0]
            else lectern_without_choice(),
            "state.grimoire: seat",
        ),
        "the wrong giver": (
            unserved_giver(),
            "state.player: ",
        ),
        "the wrong one asked": (
            quill | {"player": other(quill)},
            f"state.player: {other(quill)} in phase quill; expected seat {quill['player']}: who "
            "owns the quill lectern",
        ),
        "the wrong one discards": (
            discard | {"player": (discard["player"] + 1) % 3},
            f"state.player: {(discard['player'] + 1) % 3} in phase discard; expected seat "
            f"{discard['player']}",
        ),
        "nothing to discard": (
            changed(
                changed(discard, f"players[{discard['player']}].storage", []),
                f"players[{discard['player']}].inks",
                dict.fromkeys(everything, 0),
            ),
            f"state.player: {discard['player']} in phase discard; expected",
        ),
        "a discard owed at the end": (
            changed(over, "players[0].inks.black", 8),
            "state.phase: over, but seat 0 still owes a discard",
        ),
    }
