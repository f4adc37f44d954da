"""Scenes of both games: everything has its room, whatever the edition, and nothing hidden shows."""

from __future__ import annotations

import copy
import json
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.bibliogamo.scene import action_mark as city_mark
from incunabula.envs.bibliogamo.scene import draw_scene as draw_city
from incunabula.envs.drawing.pen import Box, Pen
from incunabula.envs.drawing.scene import Circle, Polygon, Scene, Text
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.envs.scriptorium.scene import action_mark as table_mark
from incunabula.envs.scriptorium.scene import draw_scene as draw_table
from tests.by_hand_scriptorium import BUSY
from tests.drawings import faults, texts_of
from tests.play import EDITIONS, edition, large_edition
from tests.play import positions as city_positions
from tests.play_scriptorium import TABLES, data_of, dealt
from tests.play_scriptorium import positions as table_positions

Json = dict[str, Any]
LONG = "the collected letters of the abbess, in Latin and in Greek, with notes"


def ring(spaces: int, towers: int, types: int, hand: int, **rules: Any) -> Json:
    """An edition of these sizes, with names that are long."""
    data = large_edition(types, 60)
    data["towers"] = data["towers"][:towers]
    for k, tower in enumerate(data["towers"]):
        tower["name"] = f"{k} {LONG}"
        tower["requires"] = {
            data["artisan_types"][t]: 1 + (k + t) % 4 for t in range(min(types, 7))
        }
    names = [tower["name"] for tower in data["towers"]]
    data["board"]["spaces"] = [names[k % towers] for k in range(spaces)]
    data["prestige"] = [
        {"name": LONG, "bonus": 30, "slots": [{"tower": n, "vp": 12} for n in names * 12]}
    ]
    data["rules"] |= {"hand_size": hand, "florin_cap": 1_000_000} | rules
    return data


def towering() -> Json:
    """Towers that need more than can be drawn as cubes, and cards that hire as many."""
    data = ring(6, 6, 7, 5, cubes=4000, days=90)
    for k, tower in enumerate(data["towers"]):
        tower["requires"] = dict.fromkeys(data["artisan_types"][: k + 1], 90)
    for card in data["cards"]:
        card["artisans"] = dict.fromkeys(data["artisan_types"], 77)
        card["florins"] = dict.fromkeys(card["florins"], 1_000)
        card["librarian"] = -9_999
    return data


ODD = {
    "one tower": ring(1, 1, 1, 1),
    "two spaces": ring(2, 2, 3, 2),
    "three spaces": ring(3, 2, 3, 4),
    "five spaces": ring(5, 5, 4, 6),
    "twelve spaces": ring(12, 8, 7, 9),
    "many spaces": ring(150, 7, 7, 14),
    "endless ring": ring(900, 8, 7, 3),
    "many cards": ring(7, 7, 7, 55, days=60),
    "towering": towering(),
    "many types": large_edition(),
}


TYPES = ("researcher", "scribe", "illustrator", "binder")


def dealt_city() -> BibliogamoEngine:
    engine = BibliogamoEngine("bibliogamo")
    engine.deal(np.arange(1), np.zeros(1, np.uint64))
    return engine


@lru_cache
def cities(name: str) -> BibliogamoEngine:
    return city_positions(ODD.get(name) or edition(name), 16, seed=5)


@pytest.mark.parametrize("name", [*EDITIONS, *ODD])
def test_the_city_has_room_for_everything(name: str) -> None:
    engine = cities(name)
    phases = set()
    for row in range(engine.num_envs):
        state = engine.snapshot(row)
        phases.add(state["phase"])
        scene = draw_city(engine.edition, state)
        assert faults(scene, ("hand:", "space:", "price", "prestige", "deck", "score")) == []
        assert (scene.width, scene.height) == (1120, 760)
    assert {"hire", "over"} <= phases


def pages(**spaces: int) -> Json:
    """The shipped edition with other numbers of spaces, and with names that are long."""
    data = copy.deepcopy(data_of("scriptorium"))
    data["spaces"] |= spaces
    for tile in data["tiles"]:
        tile["name"] = f"{tile['name']}: {LONG}"
    return data


def wealthy() -> Json:
    """Costs, points and numbers of spaces, tokens and inks that are far too large to draw."""
    data = pages(corner_left=100, edge_left=97, A=50, B=51, C=99, D=1, initial=80, text=100)
    data["rules"] |= {"help_tokens": 400, "token_points": 9, "storage_limit": 30_000}
    data["rules"] |= {"ink_limit": 30_000, "tiles_per_lectern": 50}
    data["inks_per_round"] = {n: dict.fromkeys(data["inks"], 25) for n in (2, 3, 4)}
    for tile in data["tiles"]:
        tile |= {"points": 8, "cost": dict.fromkeys(data["inks"], 30)}
        tile["copies"] = dict.fromkeys((2, 3, 4), 12)
    return data


ODD_PAGES = {
    "wealthy": wealthy(),
    "no right page": pages(corner_right=0, edge_right=0, initial=0, text=0),
    "frames alone": pages(A=0, B=0, C=0, D=0, initial=0, text=0),
    "long frames": pages(edge_left=20, edge_right=14),
}
SEATED = ("seat:", "inks:", "page:", "lectern_tile:", "storage:", "market:", "lectern:", "ink:")


@lru_cache
def tables(name: str, players: int) -> ScriptoriumEngine:
    return table_positions(ODD_PAGES.get(name, name), players, 16, seed=3, steps=160)


@pytest.mark.parametrize(
    ("name", "players"),
    [*TABLES, *zip(ODD_PAGES, (4, 3, 2, 4), strict=True), ("wealthy", 2)],
)
def test_the_table_has_room_for_everything(name: str, players: int) -> None:
    engine = tables(name, players)
    for row in range(0, engine.num_envs, 3):
        scene = draw_table(engine.edition, engine.snapshot(row), row % players)
        assert faults(scene, SEATED) == []
        assert (scene.width, scene.height) == (1200, 820)


# What is shown ------------------------------------------------------------------------------------


def marked(scene: Scene) -> set[str]:
    return {shape.mark for shape in scene.shapes}


@pytest.mark.parametrize("name", [*EDITIONS, "twelve spaces", "many spaces"])
def test_every_legal_action_has_its_place_in_the_city(name: str) -> None:
    engine = cities(name)
    for row in range(engine.num_envs):
        state = engine.snapshot(row)
        marks = marked(draw_city(engine.edition, state))
        for action in np.flatnonzero(engine.mask[row]).tolist():
            mark = city_mark(engine.edition, state, engine.actions.describe(action))
            form = engine.action_to_json(row, action)
            assert mark in marks - {""}, form
            kind, _, number = mark.partition(":")
            if "card" in form:
                assert (kind, state["hand"][int(number)]) == ("hand", form["card"])
            elif form["type"] in ("walk", "stay"):
                assert (kind, int(number)) == ("space", form.get("space", state["librarian"]))


def test_what_is_too_much_to_draw_has_no_mark() -> None:
    endless, crowded = cities("endless ring"), cities("many cards")
    state = endless.snapshot(0) | {"librarian": 3}
    assert city_mark(endless.edition, state, {"type": "walk", "space": 500}) == ""
    assert city_mark(endless.edition, state, {"type": "stay"}) == "space:3"
    state = crowded.snapshot(0) | {"hand": list(range(55))}
    assert city_mark(crowded.edition, state, {"type": "pay", "slot": 39}) == "hand:39"
    assert city_mark(crowded.edition, state, {"type": "pay", "slot": 40}) == ""


@pytest.mark.parametrize(("name", "players"), [("scriptorium", 3), ("scriptorium-tiny", 2)])
def test_every_legal_action_has_its_place_on_the_table(name: str, players: int) -> None:
    engine = tables(name, players)
    for row in range(engine.num_envs):
        state = engine.snapshot(row)
        marks = marked(draw_table(engine.edition, state))
        for action in np.flatnonzero(engine.mask[row]).tolist():
            form, said = engine.actions.describe(action), engine.action_to_json(row, action)
            mark = table_mark(engine.edition, state, form)
            assert mark in marks - {""}, form
            if said["type"] == "buy" and said["from"] != "scriptorium":
                assert mark.startswith(f"storage:{said['from']}:")


@pytest.mark.parametrize("name", ["bibliogamo", "bibliogamo-tiny"])
def test_the_order_of_the_deck_is_never_drawn(name: str) -> None:
    engine = city_positions(edition(name), 8, seed=9)
    before = [draw_city(engine.edition, engine.snapshot(row)) for row in range(8)]
    orders = engine.state.deck.copy()
    engine.determinise(np.arange(8), np.arange(100, 108, dtype=np.uint64))
    assert not np.array_equal(orders, engine.state.deck)
    assert before == [draw_city(engine.edition, engine.snapshot(row)) for row in range(8)]


def test_the_bag_is_never_drawn_and_drawing_changes_no_state() -> None:
    engine = tables("scriptorium", 4)
    for row in range(0, 16, 3):
        state = engine.snapshot(row)
        before = copy.deepcopy(state)
        scene = draw_table(engine.edition, state)
        assert state == before
        without = {name: value for name, value in state.items() if name != "bag"}
        assert draw_table(engine.edition, without) == scene
        assert draw_table(engine.edition, state | {"bag": None}) == scene


def test_the_city_shows_what_the_state_says() -> None:
    engine = dealt_city()
    state = engine.snapshot(0) | {
        **{"phase": "price", "florins": 77, "books": 13, "score": 29, "time": 12, "turn": 11},
        **{"display": [0, 1, 4], "banned": 2, "supply": 3, "prestige": 6},
    }
    state["slots_filled"] = [True] * len(engine.edition.prestige[6].slots)
    texts = texts_of(draw_city(engine.edition, state))
    offer = engine.edition.cards[4].florins[engine.edition.cards[0].coin]
    for text in (
        *("77", "13", "29", "day 12 of 40", "banned today", "illustrator", str(offer), "0/8"),
        *(f"florins in {engine.edition.cards[0].coin}", "PRESTIGE: UNIVERSAL LIBRARY"),
        *("cubes left: 3 of 26", "turn 11 · accept the offer, or wait a day for another"),
    ):
        assert text in texts


def shown_at(scene: Scene, mark: str) -> list[str]:
    """What is written on a thing."""
    return [shape.text for shape in scene.shapes if shape.mark == mark and isinstance(shape, Text)]


@pytest.mark.parametrize("name", ["bibliogamo", "many cards"])  # cards of either form
def test_every_card_bears_the_number_that_actions_have(name: str) -> None:
    engine = cities(name)
    for row in range(0, engine.num_envs, 3):
        state = engine.snapshot(row)
        scene = draw_city(engine.edition, state)
        for slot, card in enumerate(state["hand"][:40]):
            assert shown_at(scene, f"hand:{slot}").count(f"card {card}") == 1


def test_a_payment_says_whom_it_hires() -> None:
    engine = dealt_city()
    card = next(card for card in engine.edition.cards if sum(card.artisans.values()) > 1)
    state = engine.snapshot(0) | {"phase": "pay", "pending_hire": {"card": card.id, "tower": 2}}
    hired = ", ".join(f"{card.artisans[kind]} {kind}" for kind in TYPES if card.artisans.get(kind))
    tower = engine.edition.towers[2].name
    texts = texts_of(draw_city(engine.edition, state))
    assert f"one pays for card {card.id}: {hired} in {tower}" in texts


@pytest.mark.parametrize("players", [2, 4])
def test_every_tile_and_lectern_bears_its_number(players: int) -> None:
    engine = tables("scriptorium", players)
    for row in range(0, engine.num_envs, 3):
        state = engine.snapshot(row)
        scene = draw_table(engine.edition, state)
        for design in set(state["scriptorium"]):
            assert f"#{design}" in shown_at(scene, f"market:{design}")
        for seat, player in enumerate(state["players"]):
            for place in ("storage", "lectern_tiles"):
                mark = place.removesuffix("s") if place != "storage" else place
                for design in set(player[place]):
                    assert f"#{design}" in shown_at(scene, f"{mark}:{seat}:{design}")
        for each in state["lecterns"]:
            number = each["lectern"]
            wanted = {f"#{number}", *(f"#{design}" for design in each["tiles"])}
            assert wanted <= {*shown_at(scene, f"lectern:{number}")}


def test_towers_fill_up_with_cubes() -> None:
    engine = dealt_city()
    state = engine.snapshot(0)
    requires = [[tower.requires.get(k, 0) for k in TYPES] for tower in engine.edition.towers]

    def cubes(towers: list[list[int]]) -> int:
        """Solid cubes have three sides, of which two are areas that nothing else has."""
        scene = draw_city(engine.edition, state | {"towers": towers, "supply": 0})
        plots = [s for s in scene.shapes if s.mark == "space:3" and isinstance(s, Polygon)]
        return sum(len(shape.points) == 4 for shape in plots) // 3

    empty = [[0] * len(TYPES) for _ in requires]
    assert cubes(empty) == 0
    some = copy.deepcopy(empty)
    some[3] = [2, 0, 1, 0]
    assert cubes(some) == 3
    assert cubes(requires) == sum(requires[3])


def test_the_table_shows_what_the_state_says() -> None:
    edition = dealt().edition
    state = json.loads(json.dumps(BUSY)) | {"grimoire": 1, "quill_next": 0}
    scene = draw_table(edition, state)
    texts = texts_of(scene)
    for text in ("round 4 · seat 0 illuminates", "of seat 0", "of seat 1", "grimoire taken"):
        assert text in texts
    assert {"storage:0:22", "storage:1:27", "lectern_tile:0:16", "market:30"} <= marked(scene)
    over = state | {"phase": "over", "player": None}
    over["players"] = [player | {"score": 9} for player in state["players"]]
    assert "round 4 · won by seat 0 and seat 1" in texts_of(draw_table(edition, over))


def test_the_given_seat_comes_first_and_the_others_follow() -> None:
    engine = dealt(4)
    for seat in range(4):
        scene = draw_table(engine.edition, engine.snapshot(0), seat)
        discs = {
            shape.mark: (shape.x, shape.y)
            for shape in scene.shapes
            if isinstance(shape, Circle) and shape.mark.startswith("seat:")
        }
        first, second, third, fourth = (discs[f"seat:{(seat + k) % 4}"] for k in range(4))
        assert first[0] < second[0]  # clockwise: right, down, left
        assert first[1] == second[1] < third[1] == fourth[1]
        assert (third[0], fourth[0]) == (second[0], first[0])


def test_what_overlaps_or_leaves_the_picture_is_found() -> None:
    """That these tests can fail."""
    pen = Pen()
    pen.text(50, 50, "one", 20, room=90)
    pen.text(55, 55, "two", 20, room=90)
    with pen.marked("hand:0"):
        pen.rect(Box(80, 0, 15, 15), "#000000")
    with pen.marked("hand:1"):
        pen.circle(96, 10, 5, "#000000")
    found = faults(pen.scene(100, 100, ""), ("hand:",))
    assert [fault.split(":")[0] for fault in found] == ["outside", "overlap", "overlap"]
