"""Games of Scriptorium played at random for the tests, and an engine beside its oracle."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from incunabula.envs.scriptorium.actions import Actions, Kind
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from tests.by_hand_scriptorium import ACHIEVEMENTS, Json, varied_editions
from tests.oracle.scriptorium import Scriptorium
from tests.play import Masks, choose, scatter

FILES = Path(__file__).parent.parent / "configs" / "editions"
EDITIONS = ("scriptorium", "scriptorium-tiny", "scriptorium-small")
Forms = dict[tuple[Any, ...], int]


@lru_cache
def data_of(name: str) -> Json:
    """An edition as plain values: a shipped one, or one varied by hand."""
    if name in EDITIONS:
        data: Json = yaml.safe_load((FILES / f"{name}.yaml").read_text("utf-8"))
        return data
    return varied_editions()[name]


TABLES = [
    (name, players)
    for name in (*EDITIONS, "small", "lavish")
    for players in data_of(name)["rules"]["players"]
]
"""Every shipped and varied edition with each number of players."""


class QuickGame(Scriptorium):
    """The oracle, which works its legal actions out once a decision."""

    _known: list[Json] | None = None

    def legal(self) -> list[Json]:
        if self._known is None:
            self._known = super().legal()
        return self._known

    def step(self, action: Json) -> list[int]:
        changes = super().step(action)
        self._known = None
        return changes

    def stand_at(self, form: Json, bag: list[int]) -> None:
        super().stand_at(form, bag)
        self._known = None


def frozen(action: Json) -> tuple[Any, ...]:
    """A JSON action as a key; True is not 1."""
    return tuple(
        (name, type(value).__name__, tuple(value) if isinstance(value, list) else value)
        for name, value in sorted(action.items())
    )


def numbered(data: Json) -> list[Json]:
    """Every action of an edition with relative seats, put together as documented."""
    inks, designs = data["inks"], data["tiles"]
    seats = range(max(data["rules"]["players"]))
    pairs = [list(pair) for pair in combinations_with_replacement(inks, 2)]
    choices = [[ink] for ink in inks] + [pair for pair in pairs if pair != ["black", "gold"]]
    forms: list[Json] = [{"type": "ink", "inks": choice} for choice in choices]
    forms.append({"type": "grimoire"})
    for lectern in range(len(data["lecterns"])):
        forms += [{"type": "lectern", "lectern": lectern, "to": seat} for seat in seats]
    forms += [{"type": "quill"}, {"type": "points"}]
    for design, tile in enumerate(designs):
        sides = ["left", "right"] if tile["kind"] in ("corner", "edge") else [None]
        ways = [True, False] if tile["kind"] == "edge" else [True]
        forms += [
            {"type": "place", "tile": design, "from": source, "side": side, "ink": ink}
            for source in ("lectern", "storage")
            for side in sides
            for ink in ways
        ]
    for design in range(len(designs)):
        forms += [{"type": "buy", "tile": design, "from": seat or "scriptorium"} for seat in seats]
    forms.append({"type": "end"})
    forms += [{"type": "discard_tile", "tile": design} for design in range(len(designs))]
    forms += [{"type": "discard_achievement", "achievement": name} for name in ACHIEVEMENTS]
    return [*forms, *({"type": "discard_ink", "ink": ink} for ink in inks)]


class Beside:
    """Compares rows of an engine with their oracles."""

    def __init__(self, engine: ScriptoriumEngine, data: Json) -> None:
        self.engine = engine
        forms = numbered(data)
        # By the seat to act: the action's JSON form, with absolute seats, and its number.
        self.numbers: list[Forms] = [
            {frozen(self._absolute(form, seat)): a for a, form in enumerate(forms)}
            for seat in range(engine.num_players)
        ]

    def _absolute(self, form: Json, seat: int) -> Json:
        field = {"lectern": "to", "buy": "from"}.get(form["type"])
        if field is None or isinstance(form[field], str):
            return form
        if form[field] >= self.engine.num_players:
            return form | {field: f"seat {form[field]} doesn't play"}
        return form | {field: (form[field] + seat) % self.engine.num_players}

    def number(self, game: Scriptorium, action: Json) -> int:
        """The number of an action of the oracle's."""
        return self.numbers[game.player or 0][frozen(action)]

    def check(self, row: int, game: Scriptorium) -> None:
        """The row and the oracle agree: the JSON state, the legal set, who is to act."""
        engine = self.engine
        assert engine.snapshot(row) == game.state()
        legal = sorted(self.number(game, action) for action in game.legal())
        assert np.flatnonzero(engine.mask[row]).tolist() == legal
        assert engine.state.player[row] == (-1 if game.player is None else game.player)
        assert bool(legal) != game.over

    def play(self, games: list[QuickGame], play: Any) -> int:
        """Play all rows and their oracles to the end, comparing them at every step; the steps."""
        engine, steps = self.engine, 0
        rows = np.arange(engine.num_envs)
        for number, game in enumerate(games):
            self.check(number, game)
        while rows.size:
            actions = play(engine.mask)[rows]
            forms = [
                engine.action_to_json(int(row), int(a))
                for row, a in zip(rows, actions, strict=True)
            ]
            changes, over = engine.apply(actions, rows)
            for i, (row, form) in enumerate(zip(rows, forms, strict=True)):
                game = games[row]
                assert self.number(game, form) == actions[i]
                assert changes[i].tolist() == game.step(form)
                assert bool(over[i]) == game.over
                self.check(int(row), game)
            steps += len(rows)
            rows = rows[~over]
        return steps


class Eager:
    """Random play that fills manuscripts: it places rather than buys, and buys rather than ends."""

    def __init__(self, actions: Actions, rows: int, rng: np.random.Generator) -> None:
        self.rng = rng
        self.weights = np.ones((rows, actions.n), np.float32)
        self.weights[:, actions.of(Kind.PLACE)] = 5
        self.weights[:, actions.of(Kind.BUY)] = 0.3
        self.weights[:, actions.of(Kind.END)] = 0.1
        self.weights[:, actions.of(Kind.GRIMOIRE)] = 3
        self.weights[:, actions.of(Kind.DISCARD_ACHIEVEMENT)] = 0.3

    def __call__(self, masks: Masks) -> npt.NDArray[np.intp]:
        return choose(masks, self.rng, self.weights)


class Mixed(Eager):
    """Half of the games at random, half eagerly."""

    def __call__(self, masks: Masks) -> npt.NDArray[np.intp]:
        chosen = super().__call__(masks)
        chosen[::2] = choose(masks[::2], self.rng)
        return chosen


def positions(
    name: str | Json, players: int, rows: int, seed: int = 0, steps: int = 250
) -> ScriptoriumEngine:
    """An engine whose rows stand at random points of random games, out of step with each other.

    One row in sixteen has just been dealt, another one in sixteen is over.
    """
    data = data_of(name) if isinstance(name, str) else name
    engine = ScriptoriumEngine(data, rows, players)
    rng = np.random.default_rng(seed)
    scatter(engine, Mixed(engine.actions, rows, rng), rng, steps)
    return engine


def bag_order(engine: ScriptoriumEngine, row: int) -> list[int]:
    """The hidden order of a bag, the tile that is drawn next first."""
    state = engine.state
    order: list[int] = state.order[row, : state.bag_left[row]][::-1].tolist()
    return order


def legal_json(engine: ScriptoriumEngine, row: int) -> list[Json]:
    """The legal actions of a row in JSON form."""
    return [engine.action_to_json(row, int(a)) for a in np.flatnonzero(engine.mask[row])]


@lru_cache
def stand_points(name: str, players: int) -> ScriptoriumEngine:
    """Positions to look at; not to be played on."""
    return positions(name, players, 200, seed=11)


def dealt(players: int = 2, rows: int = 1, name: str = "scriptorium") -> ScriptoriumEngine:
    """New games of seeds 0, 1, 2, …"""
    engine = ScriptoriumEngine(data_of(name), rows, players)
    engine.deal(np.arange(rows), np.arange(rows))
    return engine
