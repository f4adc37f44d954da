"""The oracle of Bibliogamo: recorded games, chance, seeds and tapes, games played at random."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.by_hand import END, SELL, STAY, hire, lift, pay, tiny
from tests.by_hand_oracle import IN_ORDER, assert_legal, position
from tests.oracle.bibliogamo import Game, episode_seed, key, mix, random_order
from tests.play import edition as shipped
from tests.strategies import SEEDS, eager, editions, random_playout

TESTS = Path(__file__).parent
EDITIONS = TESTS.parent / "configs" / "editions"
G = 0x9E3779B97F4A7C15


# --------------------------------------------------------------------------- recorded games


def golden_games(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(TESTS / "golden" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


@pytest.mark.parametrize("name", ["bibliogamo", "bibliogamo-more"])
def test_golden_games(name: str) -> None:
    played = 0
    for record in golden_games(name):
        edition_bytes = (EDITIONS / f"{record['edition']}.yaml").read_bytes()
        assert hashlib.sha256(edition_bytes).hexdigest() == record["edition_sha256"]
        game = Game(
            yaml.safe_load(edition_bytes),
            seed=record["seed"],
            tape=record.get("tape"),
            prestige=record["prestige"],
        )
        assert game.state() == record["initial"]
        for step in record["steps"]:
            assert_legal(game, *step["legal"])
            assert game.step(step["action"]) == step["reward"]
            assert game.state() == step["state"]
        assert game.over
        assert game.score() == record["score"]
        played += 1
    assert played > 0


# ----------------------------------------------------------------------------------- chance


def test_chance_vectors() -> None:
    assert mix(0) == 0
    assert mix(1) == 0x5692161D100B05E5
    assert mix(G) == 0xE220A8397B1DCDAF
    assert key(0, 0, 0) == 0xA706DD2F4D197E6F
    assert key(7, 3, 11) == 0x416231B55613C1D7
    assert key(2**64 - 1, 0, 0) == 0x5DC20AA7B2A27137


def test_shuffle_and_episode_vectors() -> None:
    assert random_order(0, 0, 47)[:10] == [38, 39, 19, 12, 26, 11, 5, 32, 29, 31]
    assert random_order(0, 1, 47)[:5] == [21, 36, 19, 40, 26]
    assert [random_order(seed, 2**32, 7)[0] for seed in range(10)] == [6, 3, 1, 1, 6, 1, 6, 3, 6, 5]
    assert [episode_seed(0, k) for k in range(3)] == [0, 0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
    assert episode_seed(2**64 + 5, 0) == 5
    assert episode_seed(2**64 + 5, 1) == episode_seed(5, 1)


def test_deal_of_seed_0() -> None:
    # Shuffle 0 starts 38,39,19,12,26 | 11: five cards in hand, then card 11 is flipped. Its move
    # is -2: space 0 + 3 - 2 = 1; its icon, illustrator, is type 2. Seed 0 draws collection 6.
    game = Game(shipped("bibliogamo"), seed=0)
    assert game.hand == [38, 39, 19, 12, 26]
    assert game.deck[:4] == [5, 32, 29, 31]
    assert len(game.deck) == 41
    state = game.state()
    assert (state["discard"], state["librarian"], state["banned"]) == ([11], 1, 2)
    assert (state["prestige"], state["time"], state["turn"]) == (6, 1, 1)
    assert state["phase"] == "hire"


def test_a_later_shuffle_lays_a_subset_in_its_priority_order() -> None:
    # Shuffle 1 of seed 0 starts 21,36,19,40,26. Of 26, 40 and 19, card 19 is drawn first, then 40
    # is flipped: move 1, icon binder (3).
    game = Game(shipped("bibliogamo"), seed=0)
    game.hand, game.deck, game.discard = [1, 2, 3, 4], [], [26, 40, 19]
    game.librarian = 5
    game.step(END)
    assert game.hand == [1, 2, 3, 4, 19]
    assert (game.deck, game.discard, game.banned) == ([26], [40], 3)
    assert game.librarian == 3  # 5 + 3 + 1 = 9 = 3 modulo 6


# ------------------------------------------------------------------------- R15: seeds and tapes


def test_r15_prestige_argument_beats_tape_beats_seed() -> None:
    assert Game(shipped("bibliogamo"), seed=1).prestige == 3
    assert Game(shipped("bibliogamo"), seed=1, prestige=2).prestige == 2
    with_prestige = {"shuffles": [IN_ORDER], "prestige": 1}
    assert Game(tiny(), tape=with_prestige).prestige == 1
    assert Game(tiny(), tape=with_prestige, prestige=0).prestige == 0
    without = {"shuffles": [IN_ORDER]}
    assert Game(tiny(), tape=without, prestige=1).prestige == 1
    with pytest.raises(ValueError, match="prestige="):
        Game(tiny(), tape=without)
    with pytest.raises(ValueError, match="no prestige collection 2"):
        Game(tiny(), seed=0, prestige=2)


def test_exactly_one_of_seed_and_tape() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        Game(tiny())
    with pytest.raises(ValueError, match="exactly one"):
        Game(tiny(), seed=0, tape={"shuffles": [IN_ORDER], "prestige": 0})


def test_a_tape_that_runs_out_says_so() -> None:
    with pytest.raises(LookupError, match="tape ran out: it holds no shuffle number 0"):
        Game(tiny(), tape={"shuffles": [], "prestige": 0})
    game = position(tiny(), hand=[0, 1], discard=[2, 3, 4, 5, 6, 7])
    with pytest.raises(LookupError, match="tape ran out: it holds no shuffle number 1"):
        game.step(END)


def test_a_tape_lists_every_card_once() -> None:
    with pytest.raises(ValueError, match="every card once"):
        Game(tiny(), tape={"shuffles": [[0, 1, 2, 3, 4, 5, 6, 6]], "prestige": 0})


def test_an_illegal_action_changes_nothing() -> None:
    game = Game(tiny(), tape={"shuffles": [IN_ORDER], "prestige": 0})
    before = game.state()
    for action in (STAY, SELL, pay(0), hire(0, 0), hire(5, 0), lift(0), {"type": "nonsense"}):
        with pytest.raises(ValueError, match="illegal"):
            game.step(action)
    assert game.state() == before


# ---------------------------------------------------------------------------------- random games


@settings(max_examples=300, deadline=None)
@given(editions(), SEEDS, st.integers(0, 2**32 - 1))
def test_random_games_finish_and_conserve_cards_and_cubes(
    edition: dict[str, Any], seed: int, luck: int
) -> None:
    record = random_playout(edition, seed, eager(Random(luck)))
    rules = edition["rules"]
    requires = [
        [tower["requires"].get(kind, 0) for kind in edition["artisan_types"]]
        for tower in edition["towers"]
    ]
    states = [record["initial"], *(step["state"] for step in record["steps"])]
    for state in states:
        cards = state["hand"] + state["deck"] + state["discard"] + state["display"]
        assert sorted(cards) == list(range(len(edition["cards"])))
        assert sum(map(sum, state["towers"])) + state["supply"] == rules["cubes"]
        assert state["supply"] >= 0
        for held, needed in zip(state["towers"], requires, strict=True):
            assert all(0 <= have <= need for have, need in zip(held, needed, strict=True))
        assert edition["start"]["time"] < state["time"] <= rules["days"]
        assert 0 <= state["librarian"] < len(edition["board"]["spaces"])
        assert len(state["hand"]) <= rules["hand_size"]
        assert state["florins"] >= 0
        if rules["florin_cap"] is not None:
            assert state["florins"] <= rules["florin_cap"]
        assert (state["phase"] == "price") == (len(state["display"]) >= 2)
        assert (state["phase"] == "pay") == (state["pending_hire"] is not None)
    assert all(step["legal"] for step in record["steps"])
    assert [state["phase"] == "over" for state in states] == [False] * (len(states) - 1) + [True]
    assert states[-1]["time"] == rules["days"]
    gained = sum(step["reward"] for step in record["steps"])
    assert gained == record["score"] - record["initial"]["score"]
