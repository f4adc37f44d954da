"""Games played at random for the tests: choices, positions, and an engine beside its oracle."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from incunabula.envs.bibliogamo.actions import Actions
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.chance import key
from incunabula.envs.engine import Engine
from tests.oracle.bibliogamo import Action, Game, random_order

Json = dict[str, Any]
Masks = npt.NDArray[np.bool_] | npt.NDArray[np.int8]
FILES = Path(__file__).parent.parent / "configs" / "editions"
EDITIONS = ("bibliogamo", "bibliogamo-tiny", "bibliogamo-small")


@lru_cache
def _text(name: str) -> str:
    return (FILES / f"{name}.yaml").read_text("utf-8")


def edition(name: str, **rules: Any) -> Json:
    """A shipped edition as plain values, with some of its rules changed."""
    data: Json = yaml.safe_load(_text(name))
    assert set(rules) <= set(data["rules"])
    data["rules"] |= rules
    return data


def large_edition(types: int = 64, cards: int = 700) -> Json:
    """By default as many types and towers as there may be, and enough cards to outgrow 16-bit
    products."""
    data = edition("bibliogamo-tiny", days=8, hand_size=9, hires_per_turn=3, cubes=60)
    kinds = data["artisan_types"] = [f"type {k}" for k in range(types)]
    names = [f"tower {n}" for n in range(8)]
    data["towers"] = [
        {"name": name, "requires": {kinds[k]: 1 + k % 2 for k in range(n, types, 9)}}
        for n, name in enumerate(names)
    ]
    data["board"]["spaces"] = [names[space % 8] for space in range(20)]
    data["prestige"] = [
        {"name": str(p), "bonus": 1, "slots": [{"tower": names[p], "vp": p}] * (p + 1)}
        for p in range(8)
    ]
    data["cards"] = [
        data["cards"][i % 8]
        | {
            "id": i,
            "icon": kinds[i % types],
            "artisans": {kinds[k % types]: 2 for k in (i, 7 * i + 3, 5 * i + 1)},
        }
        for i in range(cards)
    ]
    return data


def choose(
    masks: Masks, rng: np.random.Generator, weights: npt.NDArray[np.float32] | None = None
) -> npt.NDArray[np.intp]:
    """A legal action for each row: uniform, or in proportion to ``weights`` (N, A)."""
    # Of exponential times divided by weights the smallest is a draw in proportion to the weights.
    times = rng.standard_exponential(size=masks.shape, dtype=np.float32)
    if weights is not None:
        times /= weights
    times[masks == 0] = np.inf
    return times.argmin(axis=1)


def scripted(
    masks: Masks, seeds: npt.NDArray[np.uint64], steps: npt.NDArray[np.uint64]
) -> npt.NDArray[np.intp]:
    """A legal action for each row that depends on its mask, seed and number of steps alone."""
    draws = key(seeds, 1 << 40, steps)
    count = (masks != 0).sum(axis=1)
    nth = (draws % np.maximum(count, 1).astype(np.uint64)).astype(np.intp)
    return np.asarray((np.cumsum(masks != 0, axis=1) > nth[:, None]).argmax(axis=1))


class Eager:
    """Random play that gets books sold: it favours one tower at a time and seldom passes."""

    def __init__(self, actions: Actions, rows: int, rng: np.random.Generator) -> None:
        self.rng = rng
        self.weights = np.ones((rows, actions.n), np.float32)
        self.weights[:, actions.end] = 0.1
        self.weights[:, actions.keep] = 0.1
        self.weights[:, actions.lift : actions.pay] = 0.3
        self.hire, self.towers = slice(actions.hire, actions.lift), actions.towers
        self.slots = actions.hand_size
        self._favour(np.arange(rows))

    def _favour(self, rows: npt.NDArray[np.intp]) -> None:
        liked = np.full((len(rows), 1, self.towers), 0.02)
        liked[np.arange(len(rows)), 0, self.rng.integers(self.towers, size=len(rows))] = 1
        wide = np.broadcast_to(liked, (len(rows), self.slots, self.towers))
        self.weights[rows, self.hire] = wide.reshape(len(rows), self.slots * self.towers)

    def __call__(self, masks: Masks) -> npt.NDArray[np.intp]:
        self._favour(np.flatnonzero(self.rng.random(len(masks)) < 0.03))
        return choose(masks, self.rng, self.weights)


def positions(name: str | Json, rows: int, seed: int = 0, steps: int = 150) -> BibliogamoEngine:
    """An engine whose rows stand at random points of random games, out of step with each other.

    One row in sixteen has just been dealt, another one in sixteen is over.
    """
    engine = BibliogamoEngine(name, rows)
    rng = np.random.default_rng(seed)
    scatter(engine, Eager(engine.actions, rows, rng), rng, steps)
    return engine


def scatter(
    engine: Engine,
    play: Callable[[Masks], npt.NDArray[np.intp]],
    rng: np.random.Generator,
    steps: int,
) -> None:
    """Deal all rows and play each for a random number of steps below ``steps``.

    One row in sixteen has just been dealt, another one in sixteen is over.
    """
    rows = engine.num_envs
    every = np.arange(rows)
    engine.deal(every, rng.integers(2**63, size=rows))
    left = rng.integers(steps, size=rows)
    while (left > 0).any():
        at = np.flatnonzero(left > 0)
        _, over = engine.apply(play(engine.mask)[at], at)
        left[at] -= 1
        if over.any():
            engine.deal(at[over], rng.integers(2**63, size=int(over.sum())))
    fresh, ending = every[::16], every[1::16]
    engine.deal(fresh, rng.integers(2**63, size=len(fresh)))
    while ending.size:
        _, over = engine.apply(play(engine.mask)[ending], ending)
        ending = ending[~over]


def deck_order(engine: BibliogamoEngine, row: int) -> list[int]:
    """The hidden order of a draw deck, the card that is drawn next first."""
    return [int(card) for card in _deck(engine, row)[::-1]]


def lay_deck_by_hand(engine: BibliogamoEngine, row: int, order: list[int]) -> None:
    """Lay the same draw deck in another order, the card that is to be drawn next first."""
    assert sorted(order) == sorted(deck_order(engine, row))
    _deck(engine, row)[::-1] = order


def _deck(engine: BibliogamoEngine, row: int) -> npt.NDArray[np.int16]:
    state = engine.state
    below = state.deck.shape[1] - engine.tables.cards
    return state.deck[row, below : below + int(state.deck_left[row])]


def as_set(actions: list[Action]) -> set[str]:
    return {json.dumps(action, sort_keys=True) for action in actions}


class QuickGame(Game):
    """The oracle, which works its legal actions out once a decision."""

    _known: list[Action] | None = None

    def legal(self) -> list[Action]:
        if self._known is None:
            self._known = super().legal()
        return self._known

    def step(self, action: Action) -> int:
        reward = super().step(action)
        self._known = None
        return reward


def position(data: Json, form: Mapping[str, Any], seed: int) -> QuickGame:
    """The oracle at a JSON state whose hidden order comes from ``seed`` (as engine.restore's)."""
    game = QuickGame(data, seed=seed, prestige=form["prestige"])
    stand_at(game, form)
    game.deck = [card for card in random_order(seed, 0, len(game.cards)) if card in form["deck"]]
    game.shuffles_made = 1
    return game


def stand_at(game: QuickGame, form: Mapping[str, Any]) -> None:
    """Set the oracle to a JSON state of the same collection, the deck in ascending order."""
    for name in (
        *("phase", "time", "librarian", "florins", "books", "supply", "turn", "banned"),
        *("hires_left", "towers", "slots_filled", "hand", "deck", "discard", "display"),
        "pending_hire",
    ):
        assert hasattr(game, name)
        setattr(game, name, deepcopy(form[name]))
    game._known = None


def index_of(game: Game, action: Action) -> int:
    """The number of an action in the oracle's present state, put together as documented."""
    spaces, towers, slots = len(game.ring), len(game.towers), int(game.rules["hand_size"])
    kind = action["type"]
    if kind == "stay":
        return 0
    if kind == "walk":
        return 1 + int(action["space"])
    plain = {"keep": 1, "sell": 2, "accept": 3, "wait": 4}
    if kind in plain:
        return spaces + plain[kind]
    first = spaces + 5
    if kind == "end":
        return first + slots * (towers + 2)
    slot = sorted(game.hand).index(action["card"])
    if kind == "hire":
        return first + slot * towers + int(action["tower"])
    return first + slots * (towers + (0 if kind == "lift" else 1)) + slot


def assert_same(engine: BibliogamoEngine, row: int, game: Game) -> None:
    """The engine's row and the oracle agree: the JSON state and the legal set."""
    assert engine.snapshot(row) == game.state()
    legal = sorted(index_of(game, action) for action in game.legal())
    assert np.flatnonzero(engine.mask[row]).tolist() == legal


def legal_json(engine: BibliogamoEngine, row: int) -> list[Json]:
    """The legal actions of a row in the rules' JSON form."""
    return [engine.action_to_json(row, int(i)) for i in np.flatnonzero(engine.mask[row])]
