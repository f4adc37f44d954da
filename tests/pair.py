"""The same games on two engines, one on each backend, compared bit for bit after everything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.bibliogamo import twin as bibliogamo_twin
from incunabula.envs.bibliogamo.actions import Actions as BibliogamoActions
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.chance import TapeError
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium import twin as scriptorium_twin
from incunabula.envs.scriptorium.actions import Kind
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.envs.scriptorium.game import build_game

Json = dict[str, Any]
Rows = npt.NDArray[np.intp]
Rng = np.random.Generator
LAST_SEED = 2**64 - 1
NO_ROWS: Rows = np.zeros(0, np.intp)


def make(data: str | Json, players: int, rows: int, backend: str) -> Engine:
    """An engine of Bibliogamo, for one player, or of Scriptorium."""
    if players == 1:
        return BibliogamoEngine(data, rows, backend)
    return ScriptoriumEngine(data, rows, players, backend)


def with_kernels(engine: Engine) -> Engine:
    """The engine on its game's kernels; also where numba is missing, if they are interpreted."""
    if isinstance(engine, ScriptoriumEngine):
        game = build_game(engine.tables, engine.actions, engine.num_players)
        engine.backend = scriptorium_twin.compiled_backend(game, engine.layout, engine.state)
    else:
        engine.backend = bibliogamo_twin.compiled_backend(
            engine.tables, engine.actions, engine.layout, engine.state
        )
    return engine


# Bit for bit -------------------------------------------------------------------------------------


def used(state: Any) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a state by name, of those with unused cells what is in use."""
    arrays = {f.name: getattr(state, f.name) for f in fields(state) if f.name != "tables"}
    tape = arrays["tape"]
    arrays["tape"] = tape[np.arange(tape.shape[1]) < state.tape_length[:, None]]
    if "deck" in arrays:
        below = state.deck.shape[1] - state.place.shape[1]
        deck, arrays["places"] = state.deck[:, below:], state.place
        arrays["deck"] = deck[np.arange(deck.shape[1]) < state.deck_left[:, None]]
    else:
        left = np.arange(state.order.shape[1]) < state.bag_left[:, None]
        arrays["order"] = state.order[left]
    return arrays


def same(one: Any, two: Any) -> bool:
    """Whether two values, arrays or groups of such are the same, down to the bits of floats."""
    if isinstance(one, np.ndarray):
        if one.dtype != two.dtype or one.shape != two.shape:
            return False
        if one.dtype == np.float32:
            one, two = one.view(np.uint32), two.view(np.uint32)
        return np.array_equal(one, two)
    if isinstance(one, (tuple, list)):
        return len(one) == len(two) and all(map(same, one, two))
    return type(one) is type(two) and bool(one == two)


def assert_same_arrays(one: Any, two: Any) -> None:
    """The arrays of two states are the same, bit for bit, but for unused cells."""
    mine, theirs = used(one), used(two)
    assert [name for name in mine if not same(mine[name], theirs[name])] == []


def assert_same_state(one: Any, two: Any) -> None:
    """Two states are the same in every array, and they say so themselves."""
    assert_same_arrays(one, two)
    assert one.equal(two)


def assert_same(one: Engine, two: Engine) -> None:
    """The states and masks of two engines are the same, bit for bit."""
    assert_same_state(one.state, two.state)
    assert np.array_equal(one.mask, two.mask)


# Playing -----------------------------------------------------------------------------------------


class Play:
    """Legal actions at random; where some are liked, usually one of those."""

    def __init__(self, engine: Engine, rng: Rng) -> None:
        self.rng, self.actions = rng, engine.actions
        self.liked = np.ones(engine.actions.n, np.bool_)
        if isinstance(engine, ScriptoriumEngine):
            for kind in (Kind.LECTERN, Kind.BUY, Kind.END, Kind.DISCARD_ACHIEVEMENT):
                self.liked[engine.actions.of(kind)] = False
        else:
            self.liked[[engine.actions.end, engine.actions.keep, engine.actions.stay]] = False
            self.liked[engine.actions.lift : engine.actions.pay] = False
            self._favour()

    def _favour(self) -> None:
        """Like hiring into one tower: now and then another, so that books get sold."""
        a = self.actions
        self.liked[a.hire : a.lift] = np.arange(a.lift - a.hire) % a.towers == self.rng.integers(
            a.towers
        )

    def __call__(self, mask: npt.NDArray[np.bool_]) -> Rows:
        n, width = mask.shape
        if isinstance(self.actions, BibliogamoActions) and self.rng.random() < 0.05:
            self._favour()
        row, action = np.divmod(np.flatnonzero(mask), width)
        liked = self.liked[action]
        picky = (np.bincount(row[liked], minlength=n) > 0) & (self.rng.random(n) < 0.8)
        among = liked | ~picky[row]
        row, action = row[among], action[among]
        count = np.bincount(row, minlength=n)
        nth = np.cumsum(count) - count + (self.rng.random(n) * count).astype(np.intp)
        return action[nth]


class Pair:
    """Two engines to which the same is done, in rows and with choices drawn from ``rng``."""

    def __init__(self, one: Engine, two: Engine, rng: Rng) -> None:
        self.one, self.two, self.rng = one, two, rng
        self.play = Play(one, rng)
        self.every = np.arange(one.num_envs)

    def both(self, method: str, *arguments: Any) -> Any:
        """Call a method of both: the same comes back and is left behind, or the same error is
        raised and nothing has changed. What came back, or the error."""
        came: list[Any] = []
        for engine in (self.one, self.two):
            before, mask = engine.state.copy(), engine.mask.copy()
            try:
                came.append(getattr(engine, method)(*arguments))
            except IncunabulaError as error:
                came.append(error)
                assert_same_state(engine.state, before)
                assert np.array_equal(engine.mask, mask)
        one, two = came
        if isinstance(one, IncunabulaError):
            assert (type(one), str(one)) == (type(two), str(two))
        else:
            assert same(one, two)
        assert_same(self.one, self.two)
        return one

    def run(self, deeds: Iterable[str]) -> None:
        """Do what the names in DEEDS say, and look at the games after each."""
        self.both("deal", self.every, self.every)
        for deed in deeds:
            getattr(self, deed)()
            self.look()

    # What is done -----------------------------------------------------------------------------

    def step(self, fresh: tuple[Any, ...] | None = None, idle: Rows = NO_ROWS) -> None:
        """A step of some games that go on, those that are ``idle`` left out."""
        rows = np.setdiff1d(np.flatnonzero(self.one.mask.any(axis=1)), idle)
        if self.rng.random() < 0.5:
            rows = self.some(rows)
        # Of several games whose tapes run out in one step any may be named: one at a time.
        taped = rows[self.one.state.tape_length[rows] >= 0]
        rows = rows[~np.isin(rows, taped[1:])]
        actions = self.play(self.one.mask[rows])
        given = None if np.array_equal(rows, self.every) else rows
        ran_out = self.both("apply", actions, given, fresh)
        if isinstance(ran_out, IncunabulaError):
            assert isinstance(ran_out, TapeError)
            seeds = self.seeds(1)
            again = str(self.rng.choice(["deal", "determinise"]))
            self.both(again, taped[:1], seeds)

    def steps(self) -> None:
        """Several steps, in games that have ended too: these are dealt anew."""
        over = np.flatnonzero(~self.one.mask.any(axis=1))
        self.both("deal", over, self.seeds(len(over)), *self.how(len(over)))
        for _ in range(8):
            self.step()

    def step_and_deal(self) -> None:
        """A step of some games, others being dealt in the same call."""
        rows = self.some(self.every)
        self.step((rows, self.seeds(len(rows)), *self.how(len(rows))), idle=rows)

    def deal(self) -> None:
        """Some rows are dealt anew."""
        rows = self.some(self.every)
        seeds, how = self.seeds(len(rows)), self.how(len(rows))
        self.both("deal", rows, seeds, *how)

    def deal_tape(self) -> None:
        """A row is dealt from a tape, often one that is too short."""
        row, tape = int(self.rng.choice(self.every)), self.tape()
        self.both("deal_tape", row, tape)

    def move(self) -> None:
        """Rows go over to the other engine, to other places there, and are played on."""
        rows = self.some(self.every)
        places = self.rng.permutation(self.every)[: len(rows)]
        mine, theirs = self.one.state.take(rows), self.two.state.take(rows)
        self.one.put(places, theirs)
        self.two.put(places, mine)
        assert_same(self.one, self.two)

    def determinise(self) -> None:
        """What is hidden in some rows is laid anew."""
        rows = self.some(self.every)
        seeds = self.seeds(len(rows))
        self.both("determinise", rows, seeds)

    def restore(self) -> None:
        """A row is set to another's JSON state."""
        place, row = (int(row) for row in self.rng.choice(self.every, size=2))
        form, seed = self.both("snapshot", row), int(self.seeds(1)[0])
        self.both("restore", place, form, seed)

    def look(self) -> None:
        """Legal actions and observations, of the player to move and of others."""
        one, rows = self.one, self.some(self.every)
        mask = self.both("legal")
        assert np.array_equal(mask, one.mask)
        seen = self.both("observe")
        for engine in (self.one, self.two):  # every cell is written
            assert same(engine.observe(np.full(seen.shape, np.nan, np.float32)), seen)
        assert same(self.both("observe_rows", rows), seen[rows])
        if isinstance(one, ScriptoriumEngine):
            seats = self.rng.integers(one.num_players, size=one.num_envs)
            seen = self.both("observe", None, seats)
            part = self.both("observe_rows", rows, seats[rows])
            assert same(part, seen[rows])

    # Chance -----------------------------------------------------------------------------------

    def some(self, rows: Rows) -> Rows:
        """Some of these rows in any order, perhaps none or all."""
        return self.rng.permutation(rows)[: self.rng.integers(len(rows) + 1)]

    def seeds(self, n: int) -> npt.NDArray[np.uint64]:
        """Game seeds, often the first or the last there is."""
        seeds = self.rng.integers(2**64, size=n, dtype=np.uint64)
        seeds[self.rng.random(n) < 0.2] = 0
        seeds[self.rng.random(n) < 0.2] = LAST_SEED
        return seeds

    def how(self, n: int) -> tuple[Any, ...]:
        """What else a deal takes: in Bibliogamo nothing, a collection, or one for each row."""
        if isinstance(self.one, ScriptoriumEngine):
            return ()
        collections = self.one.tables.collections
        each = self.rng.integers(-1, collections, size=n).astype(np.int16)
        return [(), (None,), (collections - 1,), (each,)][self.rng.integers(4)]

    def tape(self) -> Json:
        """A tape of one order or few."""
        rng, t = self.rng, self.one.tables
        orders = range(rng.integers(1, 4))
        if isinstance(self.one, ScriptoriumEngine):
            bag = rng.integers(t.designs, size=rng.choice([0, 1, 12, 60]))
            return {"bag": bag, "lecterns": [rng.permutation(t.lecterns) for _ in orders]}
        shuffles = [rng.permutation(t.cards) for _ in orders]
        return {"shuffles": shuffles, "prestige": int(rng.integers(t.collections))}


DEEDS = (
    *("step", "steps", "step_and_deal", "deal", "deal_tape"),
    *("move", "determinise", "restore"),
)
