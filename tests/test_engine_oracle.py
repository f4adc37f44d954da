"""The engine against the oracle: whole games, step by step, on shipped and on random editions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.chance import TapeError
from incunabula.envs.errors import IncunabulaError
from tests.oracle.bibliogamo import Game
from tests.play import (
    EDITIONS,
    Eager,
    Json,
    Masks,
    QuickGame,
    as_set,
    assert_same,
    choose,
    deck_order,
    edition,
    index_of,
    large_edition,
    legal_json,
    scripted,
)
from tests.strategies import SEEDS, editions

GAMES = 200


def play_beside(engine: BibliogamoEngine, games: list[QuickGame], play: Any) -> int:
    """Play the rows and their oracles to the end, comparing them at every step."""
    steps = 0
    rows = np.arange(engine.num_envs)
    for number, game in enumerate(games):
        assert_same(engine, number, game)
    while rows.size:
        actions = play(engine.mask)[rows]
        forms = [
            engine.action_to_json(int(row), int(a)) for row, a in zip(rows, actions, strict=True)
        ]
        reward, over = engine.apply(actions, rows)
        for i, (row, form) in enumerate(zip(rows, forms, strict=True)):
            game = games[row]
            assert int(reward[i]) == game.step(form)
            assert bool(over[i]) == game.over
            assert_same(engine, int(row), game)
        steps += len(rows)
        rows = rows[~over]
    return steps


@pytest.mark.parametrize("name", EDITIONS)
def test_engine_and_oracle_agree_at_every_step_of_200_games(name: str) -> None:
    data = edition(name)
    seeds = np.random.default_rng(1).integers(2**64, size=GAMES, dtype=np.uint64)
    games = [QuickGame(data, seed=int(seed)) for seed in seeds]
    engine = BibliogamoEngine(name, GAMES)
    engine.deal(np.arange(GAMES), seeds)
    play = Eager(engine.actions, GAMES, np.random.default_rng(2))

    def mixed(masks: Masks) -> npt.NDArray[np.intp]:
        """Half of the games are played uniformly at random, half with books in mind."""
        chosen = play(masks)
        chosen[::2] = choose(masks[::2], play.rng)
        return chosen

    assert play_beside(engine, games, mixed) > 5 * GAMES
    assert max(game.books for game in games) > 0
    assert max(game.shuffles_made for game in games) > 1
    assert any(any(game.slots_filled) for game in games)


@settings(max_examples=80, deadline=None)
@given(data=editions(), seed=SEEDS, luck=st.integers(0, 2**32 - 1), draw=st.data())
def test_engine_and_oracle_agree_on_random_editions(
    data: Json, seed: int, luck: int, draw: st.DataObject
) -> None:
    most = len(data["prestige"]) - 1
    prestige = draw.draw(st.none() | st.integers(0, most), label="prestige")
    games = [
        QuickGame(data, seed=seed, prestige=prestige),
        QuickGame(data, seed=luck, prestige=prestige),
    ]
    engine = BibliogamoEngine(data, 2)
    engine.deal(np.arange(2), np.array([seed, luck], np.uint64), prestige)
    play_beside(engine, games, Eager(engine.actions, 2, np.random.default_rng(luck)))


@settings(max_examples=50, deadline=None)
@given(data=editions(), luck=st.integers(0, 2**32 - 1), length=st.integers(1, 6))
def test_engine_and_oracle_agree_on_tapes_and_where_they_run_out(
    data: Json, luck: int, length: int
) -> None:
    rng = np.random.default_rng(luck)
    cards = len(data["cards"])
    tape = {
        "shuffles": [rng.permutation(cards).tolist() for _ in range(length)],
        "prestige": int(rng.integers(len(data["prestige"]))),
    }
    engine = BibliogamoEngine(data, 1)
    engine.deal_tape(0, tape)
    game = Game(data, tape=tape)
    play = Eager(engine.actions, 1, rng)
    assert_same(engine, 0, game)
    while not game.over:
        action = play(engine.mask)
        form = engine.action_to_json(0, int(action[0]))
        try:
            reward = game.step(form)
        except LookupError:
            with pytest.raises(TapeError, match=f"shuffle {length} is needed, the tape has"):
                engine.apply(action)
            return
        assert int(engine.apply(action)[0][0]) == reward
        assert_same(engine, 0, game)


def test_engine_and_oracle_agree_on_a_large_edition() -> None:
    data = large_edition()
    games = [QuickGame(data, seed=seed) for seed in range(6)]
    engine = BibliogamoEngine(data, 6)
    engine.deal(np.arange(6), np.arange(6))
    play_beside(engine, games, Eager(engine.actions, 6, np.random.default_rng(0)))


# The batch ---------------------------------------------------------------------------------------


def trajectory(
    name: str, batch: int, rows: npt.NDArray[np.intp], seeds: npt.NDArray[np.uint64]
) -> list[Any]:
    """Every array of these rows, and their masks and rewards, at each step of scripted play."""
    engine = BibliogamoEngine(name, batch)
    others = np.random.default_rng(batch).integers(2**63, size=batch).astype(np.uint64)
    others[rows] = seeds
    engine.deal(np.arange(batch), others)
    live = np.arange(batch)
    rewards = np.zeros(batch, np.int32)
    seen: list[Any] = []
    for step in range(10_000):
        kept = engine.state.take(rows)
        observed = engine.observe()[rows] if step % 16 == 0 else engine.observe_rows(rows)
        seen.append((kept, engine.mask[rows], rewards[rows], observed))
        if not np.isin(rows, live).any():
            break
        actions = scripted(engine.mask[live], others[live], np.full(len(live), step, np.uint64))
        rewards[:] = 0
        rewards[live], over = engine.apply(actions, live)
        live = live[~over]
    return seen


@pytest.mark.parametrize("name", EDITIONS)
def test_a_game_is_the_same_in_every_batch_and_in_any_row(name: str) -> None:
    seeds = np.array([0, 1, 2**63, 2**64 - 1, 12345, 99, 7], np.uint64)
    among = trajectory(name, 7, np.arange(7), seeds)
    somewhere = np.random.default_rng(0).permutation(np.arange(1, 4095))[:7]
    somewhere[:2] = 4095, 0
    others = [(trajectory(name, 4096, somewhere, seeds), np.arange(7))]
    for i in range(7):
        others.append((trajectory(name, 1, np.arange(1), seeds[i : i + 1]), np.array([i])))
    for seen, index in others:
        for (state, *arrays), (expected, *wanted) in zip(seen, among, strict=False):
            assert state.equal(expected.take(index))
            for array, want in zip(arrays, wanted, strict=True):
                assert array.tobytes() == want[index].tobytes()


@pytest.mark.parametrize("name", EDITIONS)
def test_the_order_in_which_rows_are_moved_on_does_not_matter(name: str) -> None:
    one, two = BibliogamoEngine(name, 64), BibliogamoEngine(name, 64)
    for engine in (one, two):
        engine.deal(np.arange(64), np.arange(64))
    rng = np.random.default_rng(0)
    for _ in range(40):
        live = np.flatnonzero(one.mask.any(axis=1))
        if not live.size:
            break
        actions = choose(one.mask, rng)
        gained, over = one.apply(actions[live], live)
        mixed = rng.permutation(live)
        some = np.split(mixed, np.sort(rng.integers(len(mixed) + 1, size=3)))
        for rows in some:
            reward, ended = two.apply(actions[rows], rows)
            at = np.searchsorted(live, rows)
            assert np.array_equal(reward, gained[at])
            assert np.array_equal(ended, over[at])
        assert one.state.equal(two.state)
        assert np.array_equal(one.mask, two.mask)


# What never changes ------------------------------------------------------------------------------


def check_invariants(engine: BibliogamoEngine) -> None:
    """Cards, cubes, score and form of every row."""
    s, t = engine.state, engine.tables
    data = engine.edition.model_dump()
    c = t.cards
    for i in range(engine.num_envs):
        hand = s.hand[i].tolist()
        held = [card for card in hand if card < c]
        assert hand == sorted(held) + [c] * (t.hand_size - len(held))
        deck = deck_order(engine, i)
        shown = s.display[i].tolist()
        display = shown[: s.display_len[i]]
        assert shown[len(display) :] == [c] * (len(shown) - len(display))
        # Every card is in exactly one place, and `place` says which.
        pile = np.flatnonzero(s.place[i] == 0).tolist()
        assert sorted(held + deck + display + pile) == list(range(c))
        for place, cards in ((1, held), (2, display), (3, deck)):
            assert (s.place[i, cards] == place).all()
    # Cubes are conserved, and no tower holds more than it requires.
    assert (s.filled >= 0).all()
    assert (s.filled <= t.requires).all()
    assert (s.supply >= 0).all()
    assert (s.filled.sum(axis=(1, 2)) + s.supply == t.cubes).all()
    # The score, put together from the pieces.
    rules = data["rules"]
    for i in range(engine.num_envs):
        collection = data["prestige"][s.prestige[i]]
        filled = s.slots_filled[i].tolist()
        slots = collection["slots"]
        assert not any(filled[len(slots) :])
        score = int(s.books[i]) * rules["vp_per_book"]
        score += int(s.florins[i]) // rules["florins_per_vp"]
        score += sum(slot["vp"] for slot, done in zip(slots, filled, strict=False) if done)
        score += collection["bonus"] if all(filled[: len(slots)]) else 0
        assert score == s.score[i]
    assert (s.florins >= 0).all()
    if t.florin_cap >= 0:
        assert (s.florins <= t.florin_cap).all()
    assert ((s.time > t.start_time) & (s.time <= t.days)).all()
    assert ((s.librarian >= 0) & (s.librarian < t.spaces)).all()
    assert ((s.phase == 2) == (s.display_len >= 2)).all()
    assert ((s.phase == 4) == (s.pending_card >= 0)).all()
    assert ((s.phase == 4) == (s.pending_tower >= 0)).all()
    assert np.array_equal(engine.mask, engine.legal())
    assert np.array_equal(engine.mask.any(axis=1), s.phase != 5)


@pytest.mark.parametrize(
    "data",
    [
        *EDITIONS,
        pytest.param(
            edition("bibliogamo-small", allow_empty_hire=True, florin_cap=4, hand_size=7, days=12),
            id="hand of all but one",
        ),
        pytest.param(
            edition("bibliogamo-tiny", hires_per_turn=3, lifts_per_turn=0, hand_size=8, days=9),
            id="hand of all cards",
        ),
    ],
)
def test_invariants_hold_after_every_step(data: str | Json) -> None:
    rows = 24
    engine = BibliogamoEngine(data, rows)
    engine.deal(np.arange(rows), np.arange(rows))
    start = engine.state.score.copy()
    check_invariants(engine)
    play = Eager(engine.actions, rows, np.random.default_rng(3))
    total = np.zeros(rows, np.int64)
    live = np.arange(rows)
    while live.size:
        reward, over = engine.apply(play(engine.mask)[live], live)
        total[live] += reward
        live = live[~over]
        check_invariants(engine)
    assert np.array_equal(total, engine.state.score - start)


@pytest.mark.parametrize("name", EDITIONS)
def test_a_finished_row_keeps_its_last_turn_and_offers_nothing(name: str) -> None:
    rows = 32
    engine = BibliogamoEngine(name, rows)
    engine.deal(np.arange(rows), np.arange(100, 100 + rows))
    play = Eager(engine.actions, rows, np.random.default_rng(4))
    live = np.arange(rows)
    ended: dict[int, Json] = {}
    banned, spare, short = 0, 0, 0
    while live.size:
        before = [engine.snapshot(int(row)) for row in live]
        actions = play(engine.mask)[live]
        forms = [engine.action_to_json(int(r), int(a)) for r, a in zip(live, actions, strict=True)]
        _, over = engine.apply(actions, live)
        for i in np.flatnonzero(over):
            row = int(live[i])
            after = ended[row] = engine.snapshot(row)
            hand = [card for card in before[i]["hand"] if card != forms[i].get("card")]
            assert (after["phase"], after["time"]) == ("over", engine.tables.days)
            assert after["hand"] == hand
            for field in ("banned", "hires_left", "librarian", "turn", "time", "deck", "florins"):
                assert after[field] == before[i][field]
            banned += after["banned"] is not None
            spare += after["hires_left"] > 0
            short += len(hand) < engine.tables.hand_size
        live = live[~over]
        for row, state in ended.items():
            assert engine.snapshot(row) == state
            assert legal_json(engine, row) == []
    assert len(ended) == rows
    assert banned > 0
    assert spare > 0
    assert short > 0


@settings(max_examples=25, deadline=None)
@given(editions())
def test_every_action_has_one_number_and_one_json_form(data: Json) -> None:
    engine = BibliogamoEngine(data, 1)
    engine.deal(np.arange(1), [0])
    game = QuickGame(data, seed=0)
    forms = set()
    for action in range(engine.actions.n):
        slot = engine.actions.describe(action).get("slot")
        if slot is not None and slot >= len(game.hand):
            with pytest.raises(IncunabulaError, match=f"hand slot {slot}, which is empty"):
                engine.action_to_json(0, action)
            continue
        form = engine.action_to_json(0, action)
        forms |= as_set([form])
        assert engine.action_from_json(0, form) == action == index_of(game, form)
    assert len(forms) == engine.actions.n - (engine.tables.hand_size - len(game.hand)) * (
        engine.tables.towers + 2
    )
