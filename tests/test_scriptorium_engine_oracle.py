"""Scriptorium's engine against the oracle: whole games, step by step, on many editions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incunabula.envs.chance import TapeError
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.envs.scriptorium.payoffs import margins, outcome, winners
from tests.play import scripted
from tests.play_scriptorium import (
    EDITIONS,
    TABLES,
    Beside,
    Eager,
    Json,
    Mixed,
    QuickGame,
    data_of,
    frozen,
    numbered,
)
from tests.strategies import SEEDS
from tests.strategies_scriptorium import editions

LUCK = st.integers(0, 2**32 - 1)


def dealt(data: Json, players: int, seeds: npt.NDArray[np.uint64]) -> ScriptoriumEngine:
    engine = ScriptoriumEngine(data, len(seeds), players)
    engine.deal(np.arange(len(seeds)), seeds)
    return engine


@pytest.mark.parametrize(("players", "count"), [(2, 150), (3, 100), (4, 75)])  # as many moves
def test_engine_and_oracle_agree_at_every_step_of_many_games(players: int, count: int) -> None:
    data = data_of("scriptorium")
    seeds = np.random.default_rng(players).integers(2**64, size=count, dtype=np.uint64)
    games = [QuickGame(data, players, seed=int(seed)) for seed in seeds]
    engine = dealt(data, players, seeds)
    play = Mixed(engine.actions, count, np.random.default_rng(1))
    assert Beside(engine, data).play(games, play) > 100 * count
    # What the games have in them is what the comparison is worth.
    owners = [set(game.achievements.values()) for game in games]
    assert any("gone" in found for found in owners)
    assert any(found & set(range(players)) for found in owners)
    assert any(game.quill for game in games)
    assert any(not all(player.tokens for player in game.players) for game in games)
    assert_paid(engine, games)


def assert_paid(engine: ScriptoriumEngine, games: list[QuickGame]) -> None:
    """Winners and payoffs of finished games."""
    score = engine.state.score
    for row, game in enumerate(games):
        assert np.flatnonzero(winners(score)[row]).tolist() == game.winners()
        assert margins(score)[row].tolist() == game.margins()
        assert outcome(score)[row] == pytest.approx(game.outcome())


@pytest.mark.parametrize(("name", "players"), [at for at in TABLES if at[0] != "scriptorium"])
def test_engine_and_oracle_agree_on_other_editions(name: str, players: int) -> None:
    data = data_of(name)
    seeds = np.random.default_rng(7).integers(2**64, size=16, dtype=np.uint64)
    games = [QuickGame(data, players, seed=int(seed)) for seed in seeds]
    engine = dealt(data, players, seeds)
    assert Beside(engine, data).play(games, Mixed(engine.actions, 16, np.random.default_rng(2)))
    assert_paid(engine, games)


@settings(max_examples=60, deadline=None)
@given(data=editions(), seed=SEEDS, luck=LUCK, draw=st.data())
def test_engine_and_oracle_agree_on_random_editions(
    data: Json, seed: int, luck: int, draw: st.DataObject
) -> None:
    players = draw.draw(st.sampled_from(data["rules"]["players"]), label="players")
    games = [QuickGame(data, players, seed=each) for each in (seed, luck)]
    engine = dealt(data, players, np.array([seed, luck], np.uint64))
    Beside(engine, data).play(games, Eager(engine.actions, 2, np.random.default_rng(luck)))
    assert_paid(engine, games)


@settings(max_examples=40, deadline=None)
@given(data=editions(), luck=LUCK, rounds=st.integers(1, 4), tiles=st.integers(0, 60))
def test_engine_and_oracle_agree_on_tapes_and_where_they_run_out(
    data: Json, luck: int, rounds: int, tiles: int
) -> None:
    rng = np.random.default_rng(luck)
    players = int(rng.choice(data["rules"]["players"]))
    tape = {
        "bag": rng.integers(len(data["tiles"]), size=tiles).tolist(),
        "lecterns": [rng.permutation(len(data["lecterns"])).tolist() for _ in range(rounds)],
    }
    engine = ScriptoriumEngine(data, 1, players)
    engine.deal_tape(0, tape)
    game = QuickGame(data, players, tape=tape)
    beside, play = Beside(engine, data), Eager(engine.actions, 1, rng)
    beside.check(0, game)
    while not game.over:
        action = play(engine.mask)
        form = engine.action_to_json(0, int(action[0]))
        before = engine.state.copy()
        try:
            changes = game.step(form)
        except LookupError:
            with pytest.raises(TapeError, match=f"round {rounds + 1} is needed, the tape has"):
                engine.apply(action)
            assert engine.state.equal(before)
            return
        assert engine.apply(action)[0][0].tolist() == changes
        beside.check(0, game)


# Actions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_every_action_has_one_number_and_one_json_form(name: str, players: int) -> None:
    data = data_of(name)
    engine = dealt(data, players, np.array([3], np.uint64))
    forms = numbered(data)
    assert engine.actions.n == len(forms)
    assert [frozen(engine.actions.describe(a)) for a in range(len(forms))] == [*map(frozen, forms)]
    for seat in range(players):
        for a, form in enumerate(forms):
            field = {"lectern": "to", "buy": "from"}.get(form["type"])
            relative = form[field] if field else 0
            if isinstance(relative, int) and relative >= players:
                continue
            absolute = engine.actions.to_json(a, seat, players)
            assert engine.actions.from_json(absolute, seat, players) == a


def test_the_default_edition_has_346_actions() -> None:
    assert ScriptoriumEngine("scriptorium", 1, 2).actions.n == 346


@pytest.mark.parametrize(
    "form",
    [
        {"type": "ink", "inks": ["gold", "black"]},
        {"type": "ink", "inks": ["black", "gold"]},
        {"type": "ink", "inks": ["red", "black"]},
        {"type": "ink", "inks": []},
        {"type": "ink"},
        {"type": "lectern", "lectern": 0, "to": 2},
        {"type": "lectern", "lectern": 0, "to": True},
        {"type": "lectern", "lectern": 6, "to": 1},
        {"type": "place", "tile": 10, "from": "storage", "side": "left", "ink": False},
        {"type": "place", "tile": 0, "from": "storage", "side": None, "ink": True},
        {"type": "place", "tile": 16, "from": "storage", "side": "left", "ink": True},
        {"type": "place", "tile": 0, "from": "storage", "side": "left", "ink": 1},
        {"type": "buy", "tile": 0, "from": "lectern"},
        {"type": "buy", "tile": 0, "from": 0},
        {"type": "buy", "tile": 31, "from": "scriptorium"},
        {"type": "end", "extra": 1},
        {"type": ["end"]},
        {},
        "end",
    ],
)
def test_what_is_no_action_is_refused(form: Any) -> None:
    engine = dealt(data_of("scriptorium"), 2, np.array([0], np.uint64))
    with pytest.raises(IncunabulaError, match=r"^action"):
        engine.action_from_json(0, form)


# The batch ---------------------------------------------------------------------------------------


def trajectory(
    name: str, players: int, batch: int, rows: npt.NDArray[np.intp], seeds: npt.NDArray[np.uint64]
) -> list[Any]:
    """Every array of these rows, their masks, changes and views, at each step of scripted play."""
    others = np.random.default_rng(batch).integers(2**63, size=batch).astype(np.uint64)
    others[rows] = seeds
    engine = dealt(data_of(name), players, others)
    live = np.arange(batch)
    changes = np.zeros((batch, players), np.int32)
    seen: list[Any] = []
    for step in range(10_000):
        kept = engine.state.take(rows)
        observed = engine.observe()[rows] if step % 16 == 0 else engine.observe_rows(rows)
        seen.append((kept, engine.mask[rows], changes[rows], observed))
        if not np.isin(rows, live).any():
            break
        actions = scripted(engine.mask[live], others[live], np.full(len(live), step, np.uint64))
        changes[:] = 0
        changes[live], over = engine.apply(actions, live)
        live = live[~over]
    return seen


@pytest.mark.parametrize(("name", "players"), [("scriptorium", 4), ("scriptorium-small", 2)])
def test_a_game_is_the_same_in_every_batch_and_in_any_row(name: str, players: int) -> None:
    seeds = np.array([0, 2**63, 2**64 - 1, 12345], np.uint64)
    among = trajectory(name, players, 4, np.arange(4), seeds)
    somewhere = np.array([1030, 0, 1099, 77])
    others = [(trajectory(name, players, 1100, somewhere, seeds), np.arange(4))]
    for i in range(4):
        alone = trajectory(name, players, 1, np.arange(1), seeds[i : i + 1])
        others.append((alone, np.array([i])))
    for seen, index in others:
        for (state, *arrays), (expected, *wanted) in zip(seen, among, strict=False):
            assert state.equal(expected.take(index))
            for array, want in zip(arrays, wanted, strict=True):
                assert array.tobytes() == want[index].tobytes()


@pytest.mark.parametrize("name", EDITIONS)
def test_the_order_in_which_rows_are_moved_on_does_not_matter(name: str) -> None:
    one, two = (dealt(data_of(name), 3, np.arange(64, dtype=np.uint64)) for _ in range(2))
    rng = np.random.default_rng(0)
    play = Mixed(one.actions, 64, rng)
    for _ in range(60):
        live = np.flatnonzero(one.mask.any(axis=1))
        if not live.size:
            break
        actions = play(one.mask)
        changes, over = one.apply(actions[live], live)
        mixed = rng.permutation(live)
        for rows in np.split(mixed, np.sort(rng.integers(len(mixed) + 1, size=3))):
            change, ended = two.apply(actions[rows], rows)
            at = np.searchsorted(live, rows)
            assert np.array_equal(change, changes[at])
            assert np.array_equal(ended, over[at])
        assert one.state.equal(two.state)
        assert np.array_equal(one.mask, two.mask)


def test_rows_dealt_in_the_same_call_are_as_if_dealt_by_themselves() -> None:
    one, two = (dealt(data_of("scriptorium-tiny"), 2, np.arange(8, dtype=np.uint64)) for _ in "12")
    play = Mixed(one.actions, 8, np.random.default_rng(0))
    for step in range(200):
        over = ~one.mask.any(axis=1)
        again, live = np.flatnonzero(over), np.flatnonzero(~over)
        actions = play(one.mask)[live]
        seeds = (1000 * step + again).astype(np.uint64)
        one.apply(actions, live, (again, seeds))
        two.apply(actions, live)
        two.deal(again, seeds)
        assert one.state.equal(two.state)
        assert np.array_equal(one.mask, two.mask)


# What never changes ------------------------------------------------------------------------------


class Ledger:
    """Follows the tiles, inks and tokens of all rows by the actions taken."""

    def __init__(self, engine: ScriptoriumEngine, data: Json) -> None:
        self.engine, n, players = engine, engine.num_envs, engine.num_players
        self.forms = numbered(data)
        self.data = data
        self.copies = np.array([tile["copies"][players] for tile in data["tiles"]])
        per_round = data["inks_per_round"][players]
        self.pot = np.array([per_round.get(ink, 0) for ink in data["inks"]])
        # What has left the game, by design and by ink, and tokens.
        self.gone = np.zeros((n, len(self.copies)), int)
        self.spent = np.zeros((n, 5), int)
        self.lost = np.zeros(n, int)

    def note(self, row: int, action: int, inks: npt.NDArray[Any]) -> None:
        """Before an action: ``inks`` are those that it takes from the player."""
        form = self.forms[action]
        kind = form["type"]
        if kind in ("place", "discard_tile"):
            self.gone[row, form["tile"]] += 1
        if kind in ("place", "discard_ink"):
            self.spent[row] += inks
        self.lost[row] += kind == "buy" and form["from"] == "scriptorium"

    def check(self) -> None:
        s, t = self.engine.state, self.engine.tables
        tiles = s.bag + s.market + s.tiles.sum(axis=1)
        tiles = tiles + (s.lectern_tiles + s.storage).sum(axis=1)
        assert np.array_equal(tiles + self.gone, np.tile(self.copies, (len(tiles), 1)))
        assert np.array_equal(s.bag.sum(axis=1), s.bag_left)
        inks = s.pot + s.inks.sum(axis=1)
        assert np.array_equal(inks + self.spent, s.round[:, None] * self.pot)
        tokens = self.engine.num_players * self.data["rules"]["help_tokens"]
        assert (s.tokens.sum(axis=1) + self.lost == tokens).all()
        for array in (s.table, s.seats, s.bag, s.tiles, s.lectern_tiles, s.storage):
            assert (array >= 0).all()
        assert (s.filled <= t.capacity).all()
        assert (s.in_play.sum(axis=1) == self.engine.num_players + 1).all()
        assert (s.lectern.sum(axis=2) <= 1).all()
        assert (s.lectern.sum(axis=1) <= s.in_play).all()
        assert (s.achievements.sum(axis=1) + s.open <= 1).all()
        rules = self.data["rules"]
        score = s.points + rules["achievement_points"] * s.achievements.sum(axis=2)
        assert np.array_equal(s.score, score + rules["token_points"] * s.tokens)
        assert np.array_equal(self.engine.mask, self.engine.legal())
        assert np.array_equal(self.engine.mask.any(axis=1), s.phase != 5)
        assert np.array_equal(s.player < 0, s.phase == 5)


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_tiles_inks_and_tokens_are_conserved_after_every_step(name: str, players: int) -> None:
    rows = 24
    data = data_of(name)
    engine = dealt(data, players, np.arange(rows, dtype=np.uint64))
    ledger, s = Ledger(engine, data), engine.state
    start = s.score.copy()
    ledger.check()
    play = Mixed(engine.actions, rows, np.random.default_rng(3))
    total = np.zeros((rows, players), int)
    live = np.arange(rows)
    while live.size:
        actions = play(engine.mask)[live]
        seats = s.player[live]
        before, day = s.inks[live, seats].copy(), s.round[live].copy()
        changes, over = engine.apply(actions, live)
        total[live] += changes
        for i, row in enumerate(live):
            ledger.note(int(row), int(actions[i]), before[i] - s.inks[row, seats[i]])
        assert ((s.round[live] == day) | (s.round[live] == day + 1)).all()
        live = live[~over]
        ledger.check()
    assert np.array_equal(total, s.score - start)


@pytest.mark.parametrize("name", EDITIONS)
def test_a_finished_row_keeps_its_last_day_and_offers_nothing(name: str) -> None:
    rows = 32
    engine = dealt(data_of(name), 2, np.arange(100, 100 + rows, dtype=np.uint64))
    play = Eager(engine.actions, rows, np.random.default_rng(4))
    live = np.arange(rows)
    ended: dict[int, Json] = {}
    while live.size:
        _, over = engine.apply(play(engine.mask)[live], live)
        for row in live[over]:
            ended[int(row)] = engine.snapshot(int(row))
        live = live[~over]
        for row, state in ended.items():
            assert engine.snapshot(row) == state
    for state in ended.values():
        full = [p["filled"] == engine.edition.spaces for p in state["players"]]
        assert state["bag_left"] == 0 or any(full)
        assert (state["phase"], state["player"], state["quill_next"]) == ("over", None, None)
        assert sorted(each["owner"] for each in state["lecterns"] if each["owner"] is not None) == [
            0,
            1,
        ]
    assert len(ended) == rows
