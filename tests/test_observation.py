"""The observation: its table, that it holds all that is public, and nothing that is hidden."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incunabula.envs.adapters.gymnasium import BibliogamoEnv, BibliogamoVectorEnv
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.bibliogamo.observation import Layout
from incunabula.envs.bibliogamo.tables import build_tables
from incunabula.envs.errors import IncunabulaError
from tests.play import (
    EDITIONS,
    Eager,
    Json,
    deck_order,
    edition,
    lay_deck_by_hand,
    positions,
)
from tests.strategies import SEEDS, editions


@lru_cache
def stand_points(name: str) -> BibliogamoEngine:
    return positions(name, 400, seed=11)


def as_known(state: Json) -> Json:
    """A state as the player knows it: of the display the first card, the last, and the others."""
    display = state["display"]
    if display:
        display = [display[0], *sorted(display[1:-1]), display[-1]]
    return state | {"display": display}


# The table ---------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("name", EDITIONS)
def test_the_table_is_without_gaps_and_covers_the_vector(name: str) -> None:
    engine = BibliogamoEngine(name, 2)
    check_table(engine.layout)
    engine.deal(np.arange(2), [0, 1])
    observation = engine.observe()
    assert observation.shape == (2, engine.layout.size)
    assert observation.dtype == np.float32


@settings(max_examples=25, deadline=None)
@given(editions())
def test_the_table_of_a_random_edition_is_without_gaps(data: Json) -> None:
    check_table(BibliogamoEngine(data, 1).layout)


def test_the_hash_of_a_layout_tells_editions_apart_and_nothing_else() -> None:
    hashes = {Layout(BibliogamoEngine(name).tables).sha256 for name in EDITIONS}
    assert len(hashes) == len(EDITIONS)
    again = Layout(build_tables(BibliogamoEngine("bibliogamo", 5).edition))
    assert again.sha256 == BibliogamoEngine("bibliogamo").layout.sha256
    assert len(again.sha256) == 64


@pytest.mark.parametrize(
    ("name", "env_id"),
    [
        ("bibliogamo", "incunabula/Bibliogamo-v0"),
        ("bibliogamo-tiny", "incunabula/Bibliogamo-tiny-v0"),
        ("bibliogamo-small", "incunabula/Bibliogamo-small-v0"),
    ],
)
def test_the_spaces_of_each_id_are_those_of_its_edition(name: str, env_id: str) -> None:
    engine = BibliogamoEngine(name)
    env = gymnasium.make(f"incunabula:{env_id}")
    assert env.action_space == gymnasium.spaces.Discrete(engine.actions.n)
    box = gymnasium.spaces.Box(0.0, engine.layout.high, dtype=np.float32)
    assert env.observation_space == box


# Nothing is missing ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EDITIONS)
def test_decoding_an_observation_gives_the_public_state(name: str) -> None:
    engine = stand_points(name)
    observations = engine.observe()
    for row in range(engine.num_envs):
        assert engine.layout.decode(observations[row]) == as_known(engine.snapshot(row))


@settings(max_examples=40, deadline=None)
@given(editions(), SEEDS, st.integers(0, 2**32 - 1))
def test_decoding_gives_the_public_state_at_every_step_of_random_editions(
    data: Json, seed: int, luck: int
) -> None:
    engine = BibliogamoEngine(data, 2)
    engine.deal(np.arange(2), np.array([seed, luck], np.uint64))
    play = Eager(engine.actions, 2, np.random.default_rng(luck))
    live = np.arange(2)
    while live.size:
        observations = engine.observe()
        assert (observations >= 0).all()
        assert (observations <= engine.layout.high).all()
        for row in range(2):
            assert engine.layout.decode(observations[row]) == as_known(engine.snapshot(row))
        live = live[~engine.apply(play(engine.mask)[live], live)[1]]


@pytest.mark.parametrize(
    "florins",
    [1, 2**20 + 1, 3_999_999, 4_000_000],
)
def test_florins_are_given_exactly_whatever_they_amount_to(florins: int) -> None:
    data = edition("bibliogamo-tiny", days=40)
    for card in data["cards"]:
        card["florins"] = dict.fromkeys(card["florins"], 100_000)
    engine = BibliogamoEngine(data, 1)
    engine.deal(np.arange(1), [0])
    form = engine.snapshot(0)
    engine.restore(0, form | {"florins": florins, "score": form["score"] + florins // 2}, 0)
    assert engine.layout.decode(engine.observe()[0])["florins"] == florins


@pytest.mark.parametrize("name", EDITIONS)
def test_observations_keep_within_the_bounds_of_the_box(name: str) -> None:
    engine = stand_points(name)
    observations = engine.observe()
    assert (observations >= 0).all()
    assert (observations <= engine.layout.high).all()
    # Bounds that are never reached would tell a learner little; most are.
    assert ((observations.max(axis=0) > 0).mean()) > 0.8


@pytest.mark.parametrize("name", EDITIONS)
def test_cards_are_given_by_id_and_slots_hold_what_is_on_them(name: str) -> None:
    engine, data = stand_points(name), edition(name)
    layout, types = engine.layout, data["artisan_types"]
    observations = engine.observe()
    for row in range(200):
        state = engine.snapshot(row)
        hand = observations[row, layout.fields["hand"].slice]
        for slot, vector in enumerate(hand.reshape(layout.fields["hand"].shape)):
            if slot >= len(state["hand"]):
                assert not vector.any()
                continue
            card = data["cards"][state["hand"][slot]]
            assert card["id"] == state["hand"][slot]
            assert vector[0] == pytest.approx((card["id"] + 1) / (len(data["cards"]) + 1))
            k = len(types)
            icon = vector[1 + k :].tolist()
            assert icon == [float(kind == card["icon"]) for kind in types]
            shown = vector[1 : 1 + k] > 0
            assert shown.tolist() == [card["artisans"].get(kind, 0) > 0 for kind in types]


@pytest.mark.parametrize("shape", [(0,), (1,), (2, 3), (10**4,)])
def test_a_vector_of_another_shape_can_not_be_decoded(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="observation: expected shape"):
        BibliogamoEngine("bibliogamo-tiny").layout.decode(np.zeros(shape, np.float32))


# Nothing is hidden -------------------------------------------------------------------------------


def seen(env: BibliogamoEnv | BibliogamoVectorEnv) -> tuple[Any, ...]:
    """Every byte an environment shows of the present state, but for its render."""
    engine = env.engine
    rows = range(engine.num_envs)
    return (
        engine.observe().tobytes(),
        engine.observe_rows(np.arange(engine.num_envs)).tobytes(),
        env.action_masks().tobytes(),
        engine.mask.tobytes(),
        [engine.snapshot(row) for row in rows],
        [array.tobytes() for array in engine.public()],
        [[engine.why_illegal(row, a) for a in range(engine.actions.n)] for row in rows],
        env.render(),
    )


def in_mid_game(name: str, rows: int, seed: int) -> BibliogamoVectorEnv:
    env = BibliogamoVectorEnv(rows, name, render_mode="ansi")
    env.reset(seed=seed)
    env.engine.put(np.arange(rows), positions(name, rows, seed=seed).state)
    env.restore_state(env.clone_state())
    return env


@pytest.mark.parametrize("name", EDITIONS)
@pytest.mark.parametrize("how", ["determinise", "by hand"])
def test_permuting_the_hidden_deck_changes_nothing_that_is_seen(name: str, how: str) -> None:
    env = in_mid_game(name, 24, 5)
    before = seen(env)
    decks = [deck_order(env.engine, row) for row in range(24)]
    rng = np.random.default_rng(0)
    if how == "determinise":
        env.determinise(rng.integers(2**63, size=24).tolist())
    else:
        for row, deck in enumerate(decks):
            lay_deck_by_hand(env.engine, row, rng.permutation(deck).tolist())
    after = [deck_order(env.engine, row) for row in range(24)]
    assert [sorted(deck) for deck in after] == [sorted(deck) for deck in decks]
    movable = sum(len(deck) > 1 for deck in decks)  # orders of two cards agree half the time
    assert sum(a != b for a, b in zip(after, decks, strict=True)) > movable / 4
    assert seen(env) == before


@pytest.mark.parametrize("name", EDITIONS)
def test_infos_and_observations_of_a_step_do_not_depend_on_what_stays_hidden(name: str) -> None:
    # Actions that reveal no card lead to the same bytes whatever the order of the deck.
    one, two = in_mid_game(name, 64, 9), in_mid_game(name, 64, 9)
    two.determinise(range(1000, 1064))
    actions = one.action_masks().argmax(axis=1)
    results: list[Any] = [one.step(actions), two.step(actions)]
    revealing = {"end", "sell", "wait", "pay"}
    kinds = [one.engine.actions.describe(int(a))["type"] for a in actions]
    rows = np.array([kind not in revealing for kind in kinds])
    assert rows.any()
    for a, b in zip(results[0][:4], results[1][:4], strict=True):
        assert a[rows].tobytes() == b[rows].tobytes()
    assert results[0][4].keys() == results[1][4].keys()
    for key, value in results[0][4].items():
        assert value[rows].tolist() == results[1][4][key][rows].tolist()


def test_infos_never_hold_the_deal() -> None:
    env = BibliogamoEnv()
    _, info = env.reset(seed=123)
    assert set(info) == {"action_mask", "score"}
    _, _, _, _, info = env.step(env.engine.actions.end)
    assert set(info) == {"action_mask", "score"}
    _, _, _, _, info = env.step(int(np.flatnonzero(env.action_masks() == 0)[0]))
    assert set(info) == {"action_mask", "score", "illegal"}
    assert env.deal == {"seed": 123, "prestige": env.engine.snapshot(0)["prestige"]}


# Rows and blocks ---------------------------------------------------------------------------------


def test_observing_rows_and_blocks_gives_the_same_bytes() -> None:
    engine = positions("bibliogamo-tiny", 2500)  # more than two blocks
    whole = engine.observe()
    rows = np.random.default_rng(0).permutation(2500)[:1500]
    assert engine.observe_rows(rows).tobytes() == whole[rows].tobytes()
    for row in (0, 1023, 1024, 2047, 2048, 2499):
        assert engine.observe_rows(np.array([row])).tobytes() == whole[row : row + 1].tobytes()
    out = np.full((2500, engine.layout.size), np.nan, np.float32)
    assert engine.observe(out) is out
    assert out.tobytes() == whole.tobytes()


def test_observing_changes_nothing() -> None:
    engine = positions("bibliogamo", 64)
    before, mask = engine.state.copy(), engine.mask.copy()
    engine.observe()[:] = 7
    engine.observe_rows(np.arange(64))[:] = 7
    for row in range(64):
        engine.snapshot(row)["hand"].append(99)
    assert engine.state.equal(before)
    assert np.array_equal(engine.mask, mask)


@pytest.mark.parametrize("layout", ["part of wider rows", "Fortran order"])
def test_observations_may_be_written_into_any_array_or_it_is_refused(layout: str) -> None:
    engine = positions("bibliogamo-tiny", 3)
    width = engine.layout.size
    out = np.zeros((3, 2 * width), np.float32)[:, :width]
    if layout == "Fortran order":
        out = np.zeros((width, 3), np.float32).T
    try:
        engine.observe(out)
    except IncunabulaError:
        return
    assert np.array_equal(out, engine.observe())
