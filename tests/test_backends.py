"""The compiled backend leaves the same bits as NumPy, in every game and whatever is done."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incunabula.envs import backend as backends
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.chance import TapeError, order_items, orders_of, sort_items
from incunabula.envs.compiled.functions import interpreted
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from tests.backends import NOT_INSTALLED, needs_numba
from tests.by_hand_scriptorium import varied_editions
from tests.pair import (
    DEEDS,
    Json,
    Pair,
    Play,
    Rows,
    assert_same,
    assert_same_arrays,
    make,
    same,
    with_kernels,
)
from tests.play import edition, large_edition
from tests.play_scriptorium import data_of
from tests.strategies import editions
from tests.strategies_scriptorium import editions as scriptorium_editions

LUCK = st.integers(0, 2**32 - 1)
GAMES = [("bibliogamo", 1), ("scriptorium", 2), ("scriptorium", 3), ("scriptorium", 4)]


def pair(data: str | Json, players: int, rows: int, luck: int = 0) -> Pair:
    """Games on both backends."""
    one, two = (make(data, players, rows, backend) for backend in ("numpy", "numba"))
    return Pair(one, two, np.random.default_rng(luck))


# Many games --------------------------------------------------------------------------------------

MANY, BATCH = 2000, 512


@needs_numba
@pytest.mark.parametrize(("name", "players"), GAMES)
def test_every_bit_is_the_same_at_every_step_of_2000_games(name: str, players: int) -> None:
    one, two = engines = [make(name, players, BATCH, backend) for backend in ("numpy", "numba")]
    rng = np.random.default_rng(players)
    play = Play(one, rng)
    seen = [np.full((BATCH, one.layout.size), np.nan, np.float32) for _ in engines]
    over, ended, step = np.ones(BATCH, np.bool_), 0, 0
    found: Counter[str] = Counter()
    while ended < MANY:
        rows, dealt = np.flatnonzero(~over), np.flatnonzero(over)
        actions, seeds = play(one.mask[rows]), rng.integers(2**64, size=len(dealt), dtype=np.uint64)
        fresh = (dealt, seeds) if dealt.size else None
        came = [engine.apply(actions, rows, fresh) for engine in engines]  # rewards, and ends
        assert same(*came)
        assert_same_arrays(one.state, two.state)
        assert np.array_equal(one.mask, two.mask)
        assert same(*(each.observe(out) for each, out in zip(engines, seen, strict=True)))
        if step % 8 == 0:
            assert one.state.equal(two.state)
            assert np.array_equal(two.legal(), two.mask)
            if isinstance(one, ScriptoriumEngine) and isinstance(two, ScriptoriumEngine):
                for seat in range(players):
                    seats = np.full(BATCH, seat)
                    assert same(one.observe(seats=seats), two.observe(seats=seats))
        over[:] = False
        over[rows] = came[0][1]
        note(found, one, np.flatnonzero(over))
        ended += int(np.count_nonzero(over))
        step += 1
    # What the games have in them is what the comparison is worth.
    assert min(found.values()) > MANY // 50


def note(found: Counter[str], engine: Engine, ended: Rows) -> None:
    """Count in how many of the games that have ended there was something rare."""
    s = engine.state
    if engine.num_players == 1:
        marks = {
            "book": s.books[ended] > 0,
            "slot": s.slots_filled[ended].any(axis=1),
            "shuffle": s.shuffles[ended] > 1,
        }
    else:
        filled, kept = s.filled[ended], s.achievements[ended]
        marks = {
            "kept": kept.any(axis=(1, 2)),
            "gone": (kept.sum(axis=1) + s.open[ended] == 0).any(axis=1),
            "bought": s.tokens[ended].sum(axis=1) < engine.num_players * engine.tables.help_tokens,
            "quill": s.quill[ended] > 0,
            "grimoire": s.grimoire[ended] >= 0,
            "full": (filled.sum(axis=2) == engine.tables.capacity.sum()).any(axis=1),
        }
    for name, each in marks.items():
        found[name] += int(np.count_nonzero(each))


@needs_numba
@pytest.mark.parametrize(("name", "players"), [("bibliogamo", 1), ("scriptorium-small", 2)])
@pytest.mark.parametrize("rows", [1, 2, 1023, 1025, 4096])
def test_every_number_of_games_is_played_the_same(name: str, players: int, rows: int) -> None:
    pair(name, players, rows).run(["step", "step_and_deal", "step"])


# Whatever is done --------------------------------------------------------------------------------

SIZES = st.sampled_from([1, 2, 3, 9, 33])
TO_DO = st.lists(st.sampled_from(DEEDS), min_size=1, max_size=24)


@needs_numba
@settings(max_examples=40, deadline=None)
@given(data=editions(), rows=SIZES, deeds=TO_DO, luck=LUCK)
def test_whatever_is_done_to_bibliogamo_leaves_the_same(
    data: Json, rows: int, deeds: list[str], luck: int
) -> None:
    pair(data, 1, rows, luck).run(deeds)


@needs_numba
@settings(max_examples=40, deadline=None)
@given(data=scriptorium_editions(), rows=SIZES, deeds=TO_DO, luck=LUCK, draw=st.data())
def test_whatever_is_done_to_scriptorium_leaves_the_same(
    data: Json, rows: int, deeds: list[str], luck: int, draw: st.DataObject
) -> None:
    players = draw.draw(st.sampled_from(data["rules"]["players"]), label="players")
    pair(data, players, rows, luck).run(deeds)


def odd_bibliogamo() -> dict[str, Json]:
    """Editions at the edges of what an edition may be."""

    def tiny(cards: int = 8, **rules: Any) -> Json:
        data = edition("bibliogamo-tiny", **rules)
        data["cards"] = data["cards"][:cards]
        return data

    # One tower that one scribe completes, and collections of several slots and of one.
    one = tiny(days=9, hires_per_turn=2, florin_cap=5)
    name = one["towers"][0]["name"]
    one["towers"] = [{"name": name, "requires": {"scribe": 1}}]
    one["board"]["spaces"] = [name]
    one["prestige"] = [
        {"name": str(n), "bonus": 4, "slots": [{"tower": name, "vp": vp} for vp in vps]}
        for n, vps in enumerate([(1, 3, 3, 0, 3), (2,), (0, 0)])
    ]
    # A scribe, a binder, and both: a tower is complete, but no two cards are left to be flipped.
    few = tiny(hand_size=2, days=20)
    few["cards"] = [few["cards"][k] | {"id": n} for n, k in enumerate((1, 6, 7))]
    return {
        "as it is sold": edition("bibliogamo"),
        "one tower": one,
        "too few cards to sell": few,
        "one day": tiny(days=1),
        "hand of one": tiny(hand_size=1, days=6),
        "hand of all cards": tiny(hand_size=8, days=9),
        "hand of more than all": tiny(cards=3, hand_size=9, days=9, hires_per_turn=3),
        "two cards": tiny(cards=2, days=9, hand_size=2),
        "one card": tiny(cards=1, days=5, hand_size=1),
        "long display": tiny(cards=8, days=30, hand_size=2),
        "empty hires": tiny(allow_empty_hire=True, hires_per_turn=3, days=9),
        "florin cap": edition("bibliogamo-small", florin_cap=3, days=12),
        "no lifts, no hires": tiny(lifts_per_turn=0, hires_per_turn=0),
        "no cubes": tiny(cubes=0, days=6),
    }


def odd_scriptorium() -> dict[str, Json]:
    """Editions at the edges of what an edition may be, all for two players and some for more."""
    base = data_of("scriptorium-tiny")
    bare: Json = copy.deepcopy(base)
    bare["rules"] |= {"help_tokens": 0, "storage_limit": 0, "ink_limit": 0, "quill_points": 0}
    one: Json = copy.deepcopy(base)
    one["tiles"] = one["tiles"][:1]
    one["tiles"][0]["copies"] = dict.fromkeys(one["rules"]["players"], 1)
    full: Json = copy.deepcopy(base)
    full["spaces"] = dict.fromkeys(full["spaces"], 0) | {"text": 1, "A": 1}
    heaps: Json = copy.deepcopy(base)
    heaps["rules"]["tiles_per_lectern"] = 100
    varied = {name: data for name, data in varied_editions().items() if name != "five"}
    return {"bare": bare, "one tile": one, "two spaces": full, "heaps": heaps} | varied


@needs_numba
@pytest.mark.parametrize("name", odd_bibliogamo())
def test_odd_editions_of_bibliogamo_are_played_the_same(name: str) -> None:
    play_long(pair(odd_bibliogamo()[name], 1, 9))


@needs_numba
@pytest.mark.parametrize("name", odd_scriptorium())
def test_odd_editions_of_scriptorium_are_played_the_same(name: str) -> None:
    data = odd_scriptorium()[name]
    for players in data["rules"]["players"]:
        play_long(pair(data, players, 7, players))


def play_long(games: Pair) -> None:
    games.run([*["steps"] * 4, *games.rng.permutation(DEEDS), *games.rng.permutation(DEEDS)])


@needs_numba
def test_an_edition_with_as_many_types_as_there_may_be_is_played_the_same() -> None:
    # Sets of types take 64 bits instead of 8, for which everything is compiled anew.
    pair(large_edition(cards=60), 1, 9).run(["steps"] * 6 + [*DEEDS])


# Interpreted: where numba is missing these kernels are tested too --------------------------------


@pytest.mark.parametrize(
    ("data", "players", "games"),
    [
        ("bibliogamo", 1, 2),
        ("bibliogamo-small", 1, 4),
        ("scriptorium", 3, 1),
        *(("scriptorium-tiny", players, 2) for players in (2, 3, 4)),
    ],
)
def test_interpreted_kernels_leave_the_same_in_whole_games(
    data: str, players: int, games: int
) -> None:
    with interpreted():
        both = kernels_beside(data, players, games)
        both.both("deal", both.every, both.every + 5)
        while (live := np.flatnonzero(both.one.mask.any(axis=1))).size:
            actions = both.play(both.one.mask[live])
            both.both("apply", actions, live)
            both.both("observe_rows", live)


def kernels_beside(data: str | Json, players: int, rows: int, luck: int = 0) -> Pair:
    """Games on the NumPy backend and on interpreted kernels."""
    one, two = (make(data, players, rows, "numpy") for _ in range(2))
    return Pair(one, with_kernels(two), np.random.default_rng(luck))


@settings(max_examples=10, deadline=None)
@given(
    data=editions() | st.sampled_from([large_edition(types, 20) for types in (9, 17, 64)]),
    deeds=st.lists(st.sampled_from(DEEDS), min_size=1, max_size=8),
    luck=LUCK,
)
def test_interpreted_kernels_of_bibliogamo_leave_the_same_whatever_is_done(
    data: Json, deeds: list[str], luck: int
) -> None:
    with interpreted():
        kernels_beside(data, 1, 2, luck).run(deeds)


@settings(max_examples=10, deadline=None)
@given(
    data=scriptorium_editions(),
    deeds=st.lists(st.sampled_from(DEEDS), min_size=1, max_size=8),
    luck=LUCK,
)
def test_interpreted_kernels_of_scriptorium_leave_the_same_whatever_is_done(
    data: Json, deeds: list[str], luck: int
) -> None:
    with interpreted():
        kernels_beside(data, data["rules"]["players"][-1], 2, luck).run(deeds)


@pytest.mark.parametrize("name", ["hand of more than all", "hand of all cards", "one card"])
def test_a_tape_that_has_run_out_is_not_read_when_nothing_is_to_be_shuffled(name: str) -> None:
    # R10: every card is in the hand; neither backend needs another order, or looks for one.
    data = odd_bibliogamo()[name]
    tape = {"shuffles": [list(range(len(data["cards"])))], "prestige": 0}
    with interpreted():
        both = kernels_beside(data, 1, 3)
        both.both("deal_tape", 2, tape)
        if name != "one card":
            assert both.one.state.phase[2] != both.one.over


@given(st.lists(st.integers(0, 2), max_size=40), st.integers(0, 2**64 - 1))
def test_items_are_sorted_by_key_and_then_by_number(given_keys: list[int], seed: int) -> None:
    keys, items = np.array(given_keys, np.uint64), np.arange(len(given_keys))
    expected = np.argsort(keys, kind="stable")
    with interpreted():
        sort_items(keys, items, len(items))
        assert np.array_equal(items, expected)
        assert np.array_equal(keys, np.sort(keys))
        order_items(np.uint64(seed), np.uint64(3), keys, items)
    assert np.array_equal(items, orders_of(np.array([seed], np.uint64), 3, len(items))[0])


# Tapes, arguments, copies ------------------------------------------------------------------------


@needs_numba
@pytest.mark.parametrize(
    ("name", "players", "tape"),
    [
        ("bibliogamo-tiny", 1, {"shuffles": [[*range(8)]], "prestige": 0}),
        ("scriptorium-tiny", 2, {"bag": [0] * 40, "lecterns": [[*range(6)]]}),
    ],
)
def test_where_two_tapes_run_out_in_one_step_no_game_has_moved(
    name: str, players: int, tape: Json
) -> None:
    both = pair(name, players, 5)
    both.both("deal", both.every, both.every)
    for row in (1, 3):
        both.both("deal_tape", row, tape)
    for _ in range(500):
        live = np.flatnonzero(both.one.mask.any(axis=1))
        again = np.setdiff1d(both.every, live)
        fresh = (again, again) if again.size else None
        came = both.both("apply", both.one.mask[live].argmax(axis=1), live, fresh)
        if isinstance(came, TapeError):
            break
    assert isinstance(came, TapeError)


@needs_numba
@pytest.mark.parametrize(("name", "players"), [("bibliogamo", 1), ("scriptorium", 3)])
def test_arguments_may_lie_in_memory_as_they_like(name: str, players: int) -> None:
    both = pair(name, players, 8)
    wide = np.arange(16, dtype=np.int32)
    fixed = np.arange(8)
    fixed.flags.writeable = False
    for rows in (wide[::2][:4], fixed, fixed[::-1], [5, 2], np.broadcast_to(3, 1), fixed[:0]):
        both.both("deal", rows, np.asarray(rows))
        actions = both.one.mask[np.asarray(rows, np.intp)].argmax(axis=1).astype(np.int16)
        both.both("apply", np.repeat(actions, 3)[::3], rows)
        both.both("determinise", rows, np.ones(len(rows), np.uint64))
        both.both("put", rows, both.one.state.take(np.arange(len(rows))))
        both.both("observe_rows", np.asarray(rows))
    if players > 1:
        for seats in (np.arange(16, dtype=np.int8)[::2] % 3, np.broadcast_to(1, 8), [0] * 8):
            both.both("observe", None, seats)


@pytest.mark.parametrize("backend", ["numpy", pytest.param("numba", marks=needs_numba)])
@pytest.mark.parametrize(("name", "players"), [("bibliogamo-tiny", 1), ("scriptorium-tiny", 2)])
def test_places_for_observations_that_dont_fit_are_refused(
    name: str, players: int, backend: str
) -> None:
    engine = make(name, players, 4, backend)
    engine.deal(np.arange(4), np.arange(4))
    shape = (4, engine.layout.size)
    fixed = np.zeros(shape, np.float32)
    fixed.flags.writeable = False
    for out in (
        *(np.zeros(shape), np.zeros(shape, ">f4"), np.zeros(shape[::-1], np.float32)),
        *(np.zeros(shape, np.float32, "F"), np.zeros((8, shape[1]), np.float32)[::2], fixed),
        np.zeros(shape[0] * shape[1] * 4 + 1, np.uint8)[1:].view(np.float32).reshape(shape),
    ):
        with pytest.raises(IncunabulaError, match=r"^out: expected a"):
            engine.observe(out)


@needs_numba
@pytest.mark.parametrize(("name", "players"), [("bibliogamo", 1), ("scriptorium", 2)])
def test_rows_that_are_not_there_are_not_touched(name: str, players: int) -> None:
    both = pair(name, players, 4)
    both.both("deal", both.every, both.every)
    before = both.two.state.copy()
    for rows in (np.array([4]), np.array([0, -5]), np.array([2**40])):
        none = np.zeros(len(rows), np.uint64)
        for method, arguments in {
            "deal": (rows, none),
            "apply": (none.astype(np.intp), rows),
            "put": (rows, before.take(none.astype(np.intp))),
            "determinise": (rows, none),
            "observe_rows": (rows,),
        }.items():
            with pytest.raises(IndexError):
                getattr(both.two, method)(*arguments)
            assert_same(both.one, both.two)


COPIES: dict[str, Callable[[Engine], Engine]] = {
    "deep copy": copy.deepcopy,
    "pickle": lambda engine: pickle.loads(pickle.dumps(engine)),
}


@needs_numba
@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize(("name", "players"), [("bibliogamo", 1), ("scriptorium", 3)])
def test_a_copy_goes_on_as_the_original_does_and_leaves_it_alone(
    name: str, players: int, how: str
) -> None:
    both = pair(name, players, 6, luck=1)
    both.run(["deal_tape", *["steps"] * 10])
    both.one = COPIES[how](both.two)
    assert both.one.backend.name == "numba"
    assert_same(both.one, both.two)
    before, mask = both.one.state.copy(), both.one.mask.copy()
    both.two.determinise(both.every, np.ones(6, np.uint64))
    for _ in range(20):
        live = np.flatnonzero(both.two.mask.any(axis=1))
        both.two.apply(both.play(both.two.mask[live]), live)
    assert both.one.state.equal(before)
    assert np.array_equal(both.one.mask, mask)
    both.two.put(both.every, before)
    both.run(["steps", *DEEDS])


@needs_numba
def test_threads_that_play_at_once_play_as_one_after_the_other() -> None:
    def play(name: str, players: int, luck: int, seen: list[Any]) -> None:
        engine = make(name, players, 64, "numba")
        choose = Play(engine, np.random.default_rng(luck))
        engine.deal(np.arange(64), np.arange(64) + luck)
        for _ in range(60):
            live = np.flatnonzero(engine.mask.any(axis=1))
            change, _ = engine.apply(choose(engine.mask[live]), live)
            seen += [change, engine.observe(), engine.mask.copy()]

    tables = [("bibliogamo", 1, 0), ("bibliogamo", 1, 1), ("scriptorium", 2, 2)]
    alone: list[list[Any]] = [[] for _ in tables]
    at_once: list[list[Any]] = [[] for _ in tables]
    for table, seen in zip(tables, alone, strict=True):
        play(*table, seen)
    threads = [
        Thread(target=play, args=(*table, seen))
        for table, seen in zip(tables, at_once, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same(at_once, alone)


# Which backend -----------------------------------------------------------------------------------


def test_a_backend_that_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        IncunabulaError, match=r"^backend: expected one of numpy, numba, auto.*numpy"
    ):
        BibliogamoEngine("bibliogamo-tiny", 1, "numpi")
    monkeypatch.setattr(backends, "why_no_numba", lambda: NOT_INSTALLED)
    monkeypatch.setattr(backends, "can_compile", lambda: False)
    assert ScriptoriumEngine("scriptorium-tiny", 1, 2, "auto").backend.name == "numpy"
    with pytest.raises(
        IncunabulaError, match=r"numba is not installed: pip install 'incunabula\[f"
    ):
        ScriptoriumEngine("scriptorium-tiny", 1, 2, "numba")


@needs_numba
@pytest.mark.parametrize(("name", "players"), [("bibliogamo-tiny", 1), ("scriptorium-tiny", 4)])
def test_an_engine_alike_has_the_same_backend(name: str, players: int) -> None:
    assert make(name, players, 1, "auto").empty_like(2).backend.name == "numba"
    assert make(name, players, 1, "numpy").empty_like(2).backend.name == "numpy"
    with interpreted():
        assert make(name, players, 1, "auto").backend.name == "numpy"
