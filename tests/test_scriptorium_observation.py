"""Scriptorium's observation: its table, that all that is public is in it, and nothing hidden."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.drawing import draw_text
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.envs.scriptorium.observation import Layout
from incunabula.envs.scriptorium.tables import build_tables
from tests.by_hand_scriptorium import (
    Json,
)
from tests.play_scriptorium import (
    EDITIONS,
    TABLES,
    Mixed,
    bag_order,
    data_of,
    dealt,
    positions,
    stand_points,
)
from tests.strategies import SEEDS
from tests.strategies_scriptorium import editions

LUCK = st.integers(0, 2**32 - 1)


# Observations: the table -------------------------------------------------------------------------


def check_table(layout: Layout) -> None:
    end = 0
    for name, field in layout.fields.items():
        assert field.name == name
        assert field.meaning
        assert (field.start, field.slice) == (end, slice(end, end + field.size))
        assert field.size == int(np.prod(field.shape)) > 0
        end += field.size
    assert end == layout.size == len(layout.high)
    assert layout.high.dtype == np.float32
    for field in layout.fields.values():
        assert (layout.high[field.slice] == np.float32(field.high)).all()
        assert field.high > 0


@settings(max_examples=25, deadline=None)
@given(editions())
def test_the_table_of_a_random_edition_is_without_gaps(data: Json) -> None:
    check_table(ScriptoriumEngine(data, 1, data["rules"]["players"][0]).layout)


def test_the_hash_of_a_layout_tells_editions_apart_and_not_numbers_of_players() -> None:
    layouts = {
        (name, players): ScriptoriumEngine(name, 1, players).layout
        for name, players in TABLES
        if name in EDITIONS
    }
    assert len({layout.sha256 for layout in layouts.values()}) == len(EDITIONS)
    assert len({(name, layout.sha256) for (name, _), layout in layouts.items()}) == len(EDITIONS)
    again = Layout(build_tables(ScriptoriumEngine("scriptorium", 5, 3).edition))
    assert again.sha256 == layouts["scriptorium", 2].sha256
    assert len(again.sha256) == 64


# Observations: nothing is missing ----------------------------------------------------------------


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_decoding_any_seats_observation_gives_the_public_state(name: str, players: int) -> None:
    engine = stand_points(name, players)
    states = [engine.snapshot(row) for row in range(engine.num_envs)]
    for seat_ in range(players):
        seen = engine.observe(seats=np.full(engine.num_envs, seat_))
        assert (seen >= 0).all()
        assert (seen <= engine.layout.high).all()
        for row, state in enumerate(states):
            assert engine.layout.decode(seen[row]) == state


@settings(max_examples=30, deadline=None)
@given(editions(), SEEDS, LUCK)
def test_decoding_gives_the_public_state_at_every_step_of_random_editions(
    data: Json, seed: int, luck: int
) -> None:
    rng = np.random.default_rng(luck)
    engine = ScriptoriumEngine(data, 2, int(rng.choice(data["rules"]["players"])))
    engine.deal(np.arange(2), np.array([seed, luck], np.uint64))
    play = Mixed(engine.actions, 2, rng)
    live = np.arange(2)
    while live.size:
        seen = engine.observe()
        assert (seen >= 0).all()
        assert (seen <= engine.layout.high).all()
        for row in range(2):
            assert engine.layout.decode(seen[row]) == engine.snapshot(row)
        live = live[~engine.apply(play(engine.mask)[live], live)[1]]


@pytest.mark.parametrize("how", ["a large edition", "a long tape"])
def test_large_piles_are_given_exactly_and_within_bounds(how: str) -> None:
    data = copy.deepcopy(data_of("scriptorium-tiny"))
    if how == "a large edition":
        for number, tile in enumerate(data["tiles"]):
            tile["copies"] = dict.fromkeys((2, 3, 4), 4000 if number < 2 else 200)
        data["rules"]["tiles_per_lectern"] = 100
    engine = ScriptoriumEngine(data, 1, 4)
    if how == "a large edition":
        engine.deal(np.arange(1), [0])
    else:
        engine.deal_tape(0, {"bag": [3] * 4096, "lecterns": [[0, 1, 2, 3, 4, 5]] * 5})
    play = Mixed(engine.actions, 1, np.random.default_rng(0))
    for _ in range(150):
        seen = engine.observe()
        assert (seen <= engine.layout.high).all()
        assert engine.layout.decode(seen[0]) == engine.snapshot(0)
        other = engine.empty_like(1)
        other.restore(0, engine.snapshot(0), 0)
        assert other.snapshot(0) == engine.snapshot(0)
        engine.apply(play(engine.mask))


def turned(form: Json, by: int) -> Json:
    """The same game with everybody so many seats further on."""
    players = len(form["players"])

    def seat_(seat: Any) -> Any:
        return (seat + by) % players if isinstance(seat, int) else seat

    marks = {name: seat_(form[name]) for name in ("player", "quill", "quill_next", "grimoire")}
    return (
        form
        | marks
        | {
            "lecterns": [each | {"owner": seat_(each["owner"])} for each in form["lecterns"]],
            "achievements": {name: seat_(seat) for name, seat in form["achievements"].items()},
            "players": [form["players"][(number - by) % players] for number in range(players)],
        }
    )


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_player_sees_and_may_do_the_same_in_any_seat(players: int) -> None:
    engine = stand_points("scriptorium", players)
    other = engine.empty_like(1)
    own = engine.layout.fields["seat"].slice
    for row in range(0, engine.num_envs, 5):
        for by in range(1, players):
            other.restore(0, turned(engine.snapshot(row), by), 0)
            assert np.array_equal(other.mask[0], engine.mask[row])
            for seat_ in range(players):
                mine = engine.observe_rows(np.array([row]), np.array([seat_]))[0]
                theirs = other.observe(seats=np.array([(seat_ + by) % players]))[0]
                assert mine[own].argmax() == seat_
                assert theirs[own].argmax() == (seat_ + by) % players
                mine[own] = theirs[own] = 0
                assert mine.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("shape", [(0,), (1,), (2, 3), (10**4,)])
def test_a_vector_of_another_shape_can_not_be_decoded(shape: tuple[int, ...]) -> None:
    with pytest.raises(IncunabulaError, match="observation: expected shape"):
        dealt().layout.decode(np.zeros(shape, np.float32))


@pytest.mark.parametrize("field", ["phase", "seat", "players", "player", "quill", "grimoire"])
def test_a_vector_that_is_not_one_hot_can_not_be_decoded(field: str) -> None:
    engine = dealt()
    seen = engine.observe()[0]
    seen[engine.layout.fields[field].slice] = 0
    with pytest.raises(IncunabulaError, match=f"^observation: {field} is not one-hot"):
        engine.layout.decode(seen)


def test_an_observer_that_does_not_play_is_refused() -> None:
    engine = dealt(players=3, rows=2)
    for seats in ([0], [0, 3], [-1, 0], [0.0, 1.0], [[0, 1]]):
        with pytest.raises(IncunabulaError, match=r"^seats: expected 2 seats in 0\.\.2"):
            engine.observe(seats=np.array(seats))


# Observations: nothing is hidden -----------------------------------------------------------------


def seen(engine: ScriptoriumEngine) -> list[Any]:
    """Every byte an engine shows of the present states."""
    rows = range(engine.num_envs)
    views = [
        engine.observe(seats=np.full(engine.num_envs, seat_)).tobytes()
        for seat_ in range(engine.num_players)
    ]
    states = [engine.snapshot(row) for row in rows]
    return [
        views,
        engine.observe_rows(np.array(rows)).tobytes(),
        engine.mask.tobytes(),
        engine.legal().tobytes(),
        states,
        [array.tobytes() for array in engine.public()],
        [[engine.why_illegal(row, a) for a in range(0, engine.actions.n, 7)] for row in rows],
        [draw_text(engine.edition, state) for state in states],
    ]


@pytest.mark.parametrize(("name", "players"), TABLES)
@pytest.mark.parametrize("how", ["determinise", "by hand"])
def test_another_hidden_order_changes_nothing_that_is_seen(
    name: str, players: int, how: str
) -> None:
    engine = positions(name, players, 24, seed=5)
    before, bags = seen(engine), [bag_order(engine, row) for row in range(24)]
    rng = np.random.default_rng(0)
    if how == "determinise":
        engine.determinise(np.arange(24), rng.integers(2**63, size=24).astype(np.uint64))
    else:
        for row, bag in enumerate(bags):
            engine.state.order[row, : len(bag)] = rng.permutation(bag)
        engine.state.seed[:] = 0
    after = [bag_order(engine, row) for row in range(24)]
    assert [sorted(bag) for bag in after] == [sorted(bag) for bag in bags]
    movable = sum(len(set(bag)) > 1 for bag in bags)
    assert sum(a != b for a, b in zip(after, bags, strict=True)) >= movable / 2
    assert seen(engine) == before


@pytest.mark.parametrize("players", [2, 3, 4])
def test_what_stays_hidden_shows_in_nothing_before_the_next_round(players: int) -> None:
    one = positions("scriptorium", players, 64, seed=9)
    two = one.empty_like(64)
    two.put(np.arange(64), one.state)
    two.determinise(np.arange(64), np.arange(64, dtype=np.uint64))
    play = Mixed(one.actions, 64, np.random.default_rng(0))
    day = one.state.round.copy()
    live = np.flatnonzero(one.mask.any(axis=1))
    begun = differ = 0
    while live.size:
        actions = play(one.mask)[live]
        results = [each.apply(actions, live) for each in (one, two)]
        for a, b in zip(*results, strict=True):
            assert a.tobytes() == b.tobytes()
        same = live[one.state.round[live] == day[live]]
        assert one.mask[same].tobytes() == two.mask[same].tobytes()
        assert one.observe_rows(same).tobytes() == two.observe_rows(same).tobytes()
        for row in np.setdiff1d(live, same):
            begun += 1
            differ += one.snapshot(int(row)) != two.snapshot(int(row))
        live = same[one.mask[same].any(axis=1)]
    assert begun > 32
    assert differ == begun  # the future is another one


# Rows and blocks ---------------------------------------------------------------------------------


def test_observing_changes_nothing() -> None:
    engine = positions("scriptorium", 4, 32)
    before, mask = engine.state.copy(), engine.mask.copy()
    engine.observe()[:] = 7
    engine.observe_rows(np.arange(32))[:] = 7
    for row in range(32):
        state = engine.snapshot(row)
        state["scriptorium"].append(99)
        state["players"][0]["inks"]["red"] = 99
    assert engine.state.equal(before)
    assert np.array_equal(engine.mask, mask)


@pytest.mark.parametrize("game", ["bibliogamo", "scriptorium"])
def test_no_rows_are_no_special_case(game: str) -> None:
    engine: Engine = dealt(3, 4) if game == "scriptorium" else BibliogamoEngine(game, 4)
    engine.deal(np.arange(4), [1, 2, 3, 4])
    before = engine.state.copy()
    none = np.zeros(0, np.intp)
    engine.deal(none, [])
    changes, over = engine.apply(none, none)
    engine.determinise(none, np.zeros(0, np.uint64))
    engine.put(none, engine.state.take(none))
    assert len(changes) == len(over) == 0
    assert engine.observe_rows(none).shape == (0, engine.layout.size)
    assert engine.state.equal(before)


def test_observing_rows_and_blocks_gives_the_same_bytes() -> None:
    engine = positions("scriptorium-tiny", 3, 2500, steps=60)  # more than two blocks
    rng = np.random.default_rng(0)
    seats = rng.integers(3, size=2500)
    whole = engine.observe(seats=seats)
    rows = rng.permutation(2500)[:1500]
    assert engine.observe_rows(rows, seats[rows]).tobytes() == whole[rows].tobytes()
    for row in (0, 1023, 1024, 2047, 2048, 2499):
        alone = engine.observe_rows(np.array([row]), seats[row : row + 1])
        assert alone.tobytes() == whole[row : row + 1].tobytes()
    out = np.full((2500, engine.layout.size), np.nan, np.float32)
    assert engine.observe(out, seats) is out
    assert out.tobytes() == whole.tobytes()
    # By default everybody looks from the seat that is to move.
    player = np.maximum(engine.state.player, 0)
    assert engine.observe().tobytes() == engine.observe(seats=player).tobytes()


def test_a_scaled_count_at_its_most_is_within_the_bounds() -> None:
    data = copy.deepcopy(data_of("scriptorium-tiny"))
    data["rules"]["ink_limit"] = 7
    for pot in data["inks_per_round"].values():
        pot["black"] = 4
    engine = ScriptoriumEngine(data, 1, 2)
    engine.deal(np.arange(1), [0])
    assert np.float32(11) * np.float32(1 / 7) > np.float32(11 / 7)
    engine.state.inks[0, 0, 0] = 11
    field = engine.layout.fields["inks+0"]
    seen = engine.observe(seats=np.zeros(1, np.intp))[0, field.start]
    assert engine.layout.high[field.start] == np.float32(11 / 7)
    assert np.float32(10 / 7) < seen <= engine.layout.high[field.start]
