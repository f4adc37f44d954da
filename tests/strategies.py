"""Random editions of Bibliogamo for hypothesis, and random games on them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.oracle.bibliogamo import Action, Game

SEEDS = st.integers(0, 2**64 - 1)


def _often(usual: st.SearchStrategy[int], low: int, high: int) -> st.SearchStrategy[int]:
    """Draw from `usual` half of the time, else from the whole range low..high."""
    return usual | st.integers(low, high)


# Strategies that are built once: hypothesis checks each new strategy, which is slow. A name is
# drawn as a number, which `_name` turns into one of the names of the edition at hand.
_NUMBER = st.integers(0, 7)
_FEW = st.lists(st.tuples(_NUMBER, st.integers(1, 3)), min_size=1, max_size=2)
_MANY = st.lists(st.tuples(_NUMBER, st.integers(1, 3)), min_size=0, max_size=4)
_REQUIRES = st.lists(st.tuples(_NUMBER, st.integers(1, 2)), min_size=1, max_size=1) | st.lists(
    st.tuples(_NUMBER, st.integers(1, 3)), min_size=1, max_size=4
)
_CARD = st.tuples(
    st.integers(-3, 3),
    _NUMBER,
    _NUMBER,
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6)),
    _FEW | _FEW | _MANY,
)
_SLOT = st.tuples(_NUMBER, st.integers(0, 3))
_COLLECTION = st.tuples(st.integers(0, 4), st.lists(_SLOT, min_size=1, max_size=6))
_COLLECTIONS = st.lists(_COLLECTION, min_size=1, max_size=3)
_CARDS = st.lists(_CARD, min_size=5, max_size=10) | st.lists(_CARD, min_size=2, max_size=14)
_SPACES = st.lists(_NUMBER, min_size=1, max_size=3) | st.lists(_NUMBER, min_size=1, max_size=9)
_TOWERS = st.lists(_REQUIRES, min_size=1, max_size=2) | st.lists(_REQUIRES, min_size=1, max_size=8)
_RULES = st.fixed_dictionaries(
    {
        "days": _often(st.integers(5, 8), 1, 8),
        "hand_size": _often(st.integers(2, 4), 1, 5),
        "librarian_step": _often(st.integers(0, 2), 0, 4),
        "hires_per_turn": _often(st.integers(1, 2), 0, 3),
        "lifts_per_turn": _often(st.just(1), 0, 1),
        "sales_per_turn": st.just(1),
        "allow_empty_hire": st.booleans(),
        "florins_per_vp": st.integers(1, 4),
        "vp_per_book": st.integers(0, 3),
        "florin_cap": st.none() | st.integers(0, 8),
        "cubes": _often(st.integers(3, 12), 0, 12),
    }
)
_TYPE_COUNT = _often(st.integers(2, 3), 1, 4)
_COIN_COUNT = st.integers(1, 3)
_START = st.tuples(_often(st.just(0), 0, 7), st.integers(0, 6), st.integers(0, 8))


def _name(names: list[str], number: int) -> str:
    """Turn any drawn number into one of the names."""
    return names[number % len(names)]


@st.composite
def editions(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a small valid edition as a plain dict, in the form of the edition files.

    Small rings and small towers are drawn more often, so that books get sold.
    """
    types = [f"type {n}" for n in range(draw(_TYPE_COUNT))]
    coins = [f"coin {n}" for n in range(draw(_COIN_COUNT))]
    requires = draw(_TOWERS)
    towers = [f"tower {n}" for n in range(len(requires))]
    spaces = [_name(towers, number) for number in draw(_SPACES)]
    rules: dict[str, Any] = draw(_RULES)
    time, florins, librarian = draw(_START)
    if rules["florin_cap"] is not None:
        florins = min(florins, rules["florin_cap"])
    return {
        "game": "bibliogamo",
        "edition": "random",
        "provenance": "variant",
        "rules": rules,
        "start": {
            "time": time % rules["days"],
            "florins": florins,
            "librarian": librarian % len(spaces),
        },
        "artisan_types": types,
        "coins": coins,
        "towers": [
            {"name": name, "requires": {_name(types, kind): count for kind, count in counts}}
            for name, counts in zip(towers, requires, strict=True)
        ],
        "board": {"spaces": spaces},
        "prestige": [
            {
                "name": f"collection {n}",
                "bonus": bonus,
                "slots": [{"tower": _name(towers, tower), "vp": vp} for tower, vp in slots],
            }
            for n, (bonus, slots) in enumerate(draw(_COLLECTIONS))
        ],
        "cards": [
            {
                "id": n,
                "librarian": move,
                "icon": _name(types, icon),
                "coin": _name(coins, coin),
                "florins": dict(zip(coins, prices, strict=False)),
                "artisans": {_name(types, kind): count for kind, count in counts},
            }
            for n, (move, icon, coin, prices, counts) in enumerate(draw(_CARDS))
        ],
    }


def eager(rng: Random) -> Callable[[list[Action]], Action]:
    """Return a `choose` for random_playout that seldom ends a turn or keeps a book for nothing."""

    def choose(legal: list[Action]) -> Action:
        active = [action for action in legal if action["type"] not in ("end", "keep")]
        return rng.choice(active if active and rng.random() < 0.9 else legal)

    return choose


def random_playout(
    edition: dict[str, Any],
    seed: int,
    choose: Callable[[list[Action]], Action],
    *,
    prestige: int | None = None,
) -> dict[str, Any]:
    """Play one game of the oracle to its end; `choose` picks from the list of legal actions.

    Returns a record in the form of the golden games: `seed`, `prestige`, `initial`, `score` and
    `steps`, each with `legal` (before the action), `action`, `reward` and `state` (after it).
    """
    game = Game(edition, seed=seed, prestige=prestige)
    record: dict[str, Any] = {
        "seed": seed,
        "prestige": prestige,
        "initial": game.state(),
        "steps": [],
    }
    while not game.over:
        legal = game.legal()
        action = choose(legal)
        reward = game.step(action)
        record["steps"].append(
            {"legal": legal, "action": action, "reward": reward, "state": game.state()}
        )
    record["score"] = game.score()
    return record
