"""The oracle of Bibliogamo against recorded games and against cases worked out by hand."""

from __future__ import annotations

import copy
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

from tests.oracle.bibliogamo import Action, Game, episode_seed, key, mix, random_order
from tests.strategies import SEEDS, eager, editions, random_playout

TESTS = Path(__file__).parent
EDITIONS = TESTS.parent / "configs" / "editions"
G = 0x9E3779B97F4A7C15

END: Action = {"type": "end"}
KEEP: Action = {"type": "keep"}
SELL: Action = {"type": "sell"}
STAY: Action = {"type": "stay"}
WAIT: Action = {"type": "wait"}
ACCEPT: Action = {"type": "accept"}


def hire(card: int, tower: int) -> Action:
    return {"type": "hire", "card": card, "tower": tower}


def pay(card: int) -> Action:
    return {"type": "pay", "card": card}


def lift(card: int) -> Action:
    return {"type": "lift", "card": card}


def walk(space: int) -> Action:
    return {"type": "walk", "space": space}


def load(name: str) -> dict[str, Any]:
    edition: dict[str, Any] = yaml.safe_load((EDITIONS / f"{name}.yaml").read_text("utf-8"))
    return edition


def as_set(actions: list[Action]) -> set[str]:
    return {json.dumps(action, sort_keys=True) for action in actions}


def assert_legal(game: Game, *expected: Action) -> None:
    assert as_set(game.legal()) == as_set(list(expected))
    assert len(game.legal()) == len(expected)


# The tiny edition, on which the cases below are worked out by hand:
#   days 4, hand 3, librarian step 1, hires 1, lifts 1, 2 florins a VP, 1 VP a book, 3 cubes
#   types scribe, binder; psalter (tower 0) needs [1, 1], herbal (tower 1) needs [0, 2]
#   ring: psalter, herbal; collection 0 = psalter 1 VP, herbal 1 VP, bonus 2
#   id  move  icon    coin   crown lily  artisans
#    0    0   binder  crown    2    0    1 scribe
#    1    1   scribe  lily     0    4    1 scribe
#    2    0   binder  lily     0    2    2 scribes
#    3    1   scribe  crown    4    0    1 scribe
#    4    1   binder  crown    0    2    1 binder
#    5    0   scribe  lily     2    0    2 binders
#    6    1   scribe  lily     0    0    1 binder
#    7    0   binder  crown    4    4    1 scribe, 1 binder
SCRIBE, BINDER = 0, 1
IN_ORDER = [0, 1, 2, 3, 4, 5, 6, 7]


def tiny(**rules: Any) -> dict[str, Any]:
    """Return the tiny edition with some of its rules changed."""
    edition = copy.deepcopy(load("bibliogamo-tiny"))
    assert set(rules) <= set(edition["rules"])
    edition["rules"].update(rules)
    return edition


def position(
    edition: dict[str, Any], shuffles: list[list[int]] | None = None, **attributes: Any
) -> Game:
    """Return a game with the attributes given; `shuffles` are the next ones, none by default."""
    first = list(range(len(edition["cards"])))
    game = Game(edition, tape={"shuffles": [first, *(shuffles or [])], "prestige": 0})
    usual: dict[str, Any] = {
        "phase": "hire",
        "time": 1,
        "librarian": 0,
        "hand": [],
        "deck": [],
        "discard": [],
        "display": [],
        "banned": None,
    }
    for name, value in (usual | attributes).items():
        assert hasattr(game, name)
        setattr(game, name, copy.deepcopy(value))
    game.supply = edition["rules"]["cubes"] - sum(map(sum, game.towers))
    return game


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
    game = Game(load("bibliogamo"), seed=0)
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
    game = Game(load("bibliogamo"), seed=0)
    game.hand, game.deck, game.discard = [1, 2, 3, 4], [], [26, 40, 19]
    game.librarian = 5
    game.step(END)
    assert game.hand == [1, 2, 3, 4, 19]
    assert (game.deck, game.discard, game.banned) == ([26], [40], 3)
    assert game.librarian == 3  # 5 + 3 + 1 = 9 = 3 modulo 6


# ---------------------------------------------------------------------- R2, R3: florins, start


@pytest.mark.parametrize(
    ("cap", "florins", "reward"),
    [
        (None, 5, 4),  # book 1, slot 1, 5 // 2 = 2
        (5, 5, 4),
        (3, 3, 3),  # book 1, slot 1, 3 // 2 = 1
        (1, 1, 2),  # book 1, slot 1
    ],
)
def test_r2_florin_cap_clips_and_the_surplus_is_lost(
    cap: int | None, florins: int, reward: int
) -> None:
    # Card 0 says crown, card 7 offers 4 of them: 1 + 4 = 5 before the cap.
    game = position(
        tiny(florin_cap=cap),
        phase="price",
        florins=1,
        towers=[[1, 1], [0, 0]],
        display=[0, 7],
    )
    assert game.supply == 1
    assert game.step(ACCEPT) == reward
    assert game.florins == florins
    assert game.state()["score"] == reward
    assert (game.books, game.supply, game.towers) == (1, 3, [[0, 0], [0, 0]])
    assert game.slots_filled == [True, False]
    assert sorted(game.discard) == [0, 7]
    assert game.phase == "hire"


def test_r3_start_block() -> None:
    edition = tiny()
    edition["start"] = {"time": 2, "florins": 2, "librarian": 1}
    # Hand 1, 2, 3. Time 3. Librarian 1 + 1 = 0; card 0 moves him no further and bans binders.
    game = Game(edition, tape={"shuffles": [[1, 2, 3, 0, 4, 5, 6, 7]], "prestige": 0})
    state = game.state()
    assert (state["time"], state["librarian"], state["banned"], state["turn"]) == (3, 0, BINDER, 1)
    assert (state["florins"], state["score"], state["books"], state["supply"]) == (2, 1, 0, 3)
    assert state["phase"] == "travel"
    assert_legal(game, STAY, walk(1))
    assert game.step(STAY) == 0
    assert game.phase == "hire"
    # Next turn: time 4, the last. Librarian 0 + 1 = 1, card 4 moves him to 0.
    assert game.step(END) == 0
    assert (game.time, game.librarian, game.turn, game.phase) == (4, 0, 2, "travel")
    # One florin less is one VP less: the return is the score less the score at the start.
    assert game.step(walk(1)) == -1
    assert game.step(END) == 0
    assert game.over
    assert (game.score(), game.florins) == (0, 1)


# -------------------------------------------------------------------------- R1: ring and travel


def test_r1_travel_goes_the_shorter_way() -> None:
    edition = tiny()
    edition["board"]["spaces"] = ["psalter", "herbal", "psalter", "herbal", "psalter"]
    # From space 4 of five: to 0 and 3 one space, to 1 and 2 two.
    rich = position(edition, phase="travel", librarian=4, florins=2)
    assert_legal(rich, STAY, walk(0), walk(1), walk(2), walk(3))
    assert rich.step(walk(1)) == -1  # 2 florins = 1 VP
    assert (rich.florins, rich.librarian, rich.phase) == (0, 1, "hire")
    poor = position(edition, phase="travel", librarian=4, florins=1)
    assert_legal(poor, STAY, walk(0), walk(3))
    assert poor.step(walk(3)) == 0
    assert (poor.florins, poor.librarian) == (0, 3)


def test_r1_ring_of_one_space_still_asks_to_stay() -> None:
    edition = tiny()
    edition["board"]["spaces"] = ["herbal"]
    edition["start"]["florins"] = 1
    game = Game(edition, tape={"shuffles": [IN_ORDER], "prestige": 0})
    assert (game.phase, game.librarian) == ("travel", 0)
    assert_legal(game, STAY)


def test_r1_librarian_moves_backwards_over_space_0() -> None:
    # Small edition, ring of four, hand of four; card 0 moves -1.
    edition = load("bibliogamo-small")
    edition["rules"]["librarian_step"] = 0
    game = Game(edition, tape={"shuffles": [[1, 2, 3, 4, 0, 5, 6, 7]], "prestige": 0})
    assert game.librarian == 3


def test_travel_is_skipped_exactly_without_florins() -> None:
    game = Game(tiny(), tape={"shuffles": [IN_ORDER], "prestige": 0})
    assert game.florins == 0
    assert game.phase == "hire"


# ------------------------------------------------------------------------- R4, R11, R12: the ban


def test_r4_any_card_with_the_banned_icon_lifts() -> None:
    # Card 4 itself hires a binder; card 6 hires one but its icon is scribe; card 0 has the icon.
    game = position(tiny(), hand=[0, 4, 6], banned=BINDER)
    assert_legal(game, END, hire(0, 0), lift(0), lift(4))
    assert game.step(lift(4)) == 0
    assert game.state()["banned"] is None
    assert (game.hand, game.discard, game.hires_left) == ([0, 6], [4], 1)
    assert_legal(game, END, hire(0, 0), hire(6, 0), hire(6, 1))


def test_r4_a_useless_lift_is_legal_with_one_card_in_hand() -> None:
    game = position(tiny(), hand=[2], banned=BINDER)
    assert_legal(game, END, lift(2))


def test_r4_a_banned_card_may_pay() -> None:
    game = position(tiny(), hand=[1, 4, 5], banned=BINDER)
    assert_legal(game, END, hire(1, 0), lift(4))
    game.step(hire(1, 0))
    assert game.state()["pending_hire"] == {"card": 1, "tower": 0}
    assert (game.hand, game.discard, game.hires_left) == ([4, 5], [1], 0)
    assert (game.towers, game.supply) == ([[1, 0], [0, 0]], 2)
    assert_legal(game, pay(4), pay(5))


def test_r12_the_small_icon_is_no_symbol_for_the_ban() -> None:
    # Card 0 has the banned icon but hires a scribe; card 7 hires a binder among others.
    game = position(tiny(lifts_per_turn=0), hand=[0, 7], banned=BINDER)
    assert_legal(game, END, hire(0, 0))


def test_no_lifts_a_turn() -> None:
    game = position(tiny(lifts_per_turn=0), hand=[0, 1, 4], banned=BINDER, lifts_left=0)
    assert_legal(game, END, hire(0, 0), hire(1, 0))
    dealt = Game(tiny(lifts_per_turn=0), tape={"shuffles": [IN_ORDER], "prestige": 0})
    # Hand 0, 1, 2, card 3 flipped: scribes banned, card 1 could lift. All three hire scribes.
    assert dealt.banned == SCRIBE
    assert_legal(dealt, END)


def test_no_hires_a_turn() -> None:
    # Hand 0, 1, 2; card 3 bans scribes; card 1 has the icon. The lift is useless but legal, and
    # the hire phase is asked again after it.
    game = Game(tiny(hires_per_turn=0), tape={"shuffles": [IN_ORDER], "prestige": 0})
    assert (game.phase, game.hires_left, game.banned) == ("hire", 0, SCRIBE)
    assert_legal(game, END, lift(1))
    assert game.step(lift(1)) == 0
    assert (game.phase, game.hires_left, game.banned) == ("hire", 0, None)
    assert_legal(game, END)
    # Refill: card 4. Turn 2: card 5 is flipped and bans scribes again.
    game.step(END)
    assert (sorted(game.hand), game.turn, game.banned) == ([0, 2, 4], 2, SCRIBE)


# -------------------------------------------------------------------- R5, R6, R16: price and sale


def test_r5_the_coin_is_the_first_cards_and_the_offer_the_last_ones() -> None:
    # Card 0: crown. Card 1 offers 0 crowns (4 lilies). After a day card 3 offers 4 crowns.
    game = position(
        tiny(), phase="sell", towers=[[1, 1], [0, 0]], deck=[0, 1, 3, 2], hand=[4, 5, 6]
    )
    assert_legal(game, KEEP, SELL)
    assert game.step(SELL) == 0
    assert game.state()["display"] == [0, 1]
    assert_legal(game, ACCEPT, WAIT)  # R16: no way back
    assert game.step(WAIT) == 0
    assert (game.time, game.display, game.discard, game.phase) == (2, [0, 1, 3], [], "price")
    assert game.step(ACCEPT) == 4  # book 1, slot 1, 4 // 2 = 2
    assert (game.florins, sorted(game.discard), game.display) == (4, [0, 1, 3], [])
    assert game.phase == "hire"  # R6: one sale a turn


def test_r5_card_1_first_reads_lilies() -> None:
    game = position(tiny(), phase="sell", towers=[[1, 1], [0, 0]], deck=[1, 4, 3])
    game.step(SELL)
    assert game.step(ACCEPT) == 3  # book 1, slot 1, 2 lilies = 1 VP
    assert game.florins == 2


def test_keeping_a_complete_tower_scores_nothing() -> None:
    game = position(tiny(), phase="sell", towers=[[1, 1], [0, 0]], deck=[1, 4, 3])
    assert game.step(KEEP) == 0
    assert (game.phase, game.score(), game.towers) == ("hire", 0, [[1, 1], [0, 0]])


def test_the_last_day_can_be_spent_waiting_but_no_more() -> None:
    game = position(
        tiny(),
        phase="price",
        time=3,
        towers=[[1, 1], [0, 0]],
        display=[0, 1],
        deck=[2, 3],
        hand=[4, 7],
        banned=BINDER,
    )
    game.step(WAIT)
    assert game.time == 4
    assert_legal(game, ACCEPT)
    assert game.step(ACCEPT) == 2  # book 1, slot 1, card 2 offers 0 crowns
    # The turn goes on: hiring is still asked, then the game ends without a refill.
    assert_legal(game, END, lift(4), lift(7))
    game.step(END)
    state = game.state()
    assert game.over
    assert (state["phase"], state["hand"], state["deck"]) == ("over", [4, 7], [3])
    assert (state["banned"], state["hires_left"], state["librarian"]) == (BINDER, 1, 0)
    assert (state["turn"], state["time"]) == (1, 4)
    assert_legal(game)
    with pytest.raises(ValueError, match="over"):
        game.step(END)


# --------------------------------------------------------------------- R7, R8, R13: hiring artisans


def test_r7_the_turn_ends_by_itself_after_the_last_paid_hire() -> None:
    game = position(tiny(hires_per_turn=2), hand=[0, 1, 4, 5], deck=[2, 3, 6, 7], hires_left=2)
    game.step(hire(0, 0))
    game.step(pay(1))
    assert (game.phase, game.hires_left, game.turn) == ("hire", 1, 1)
    game.step(hire(4, 0))
    assert (game.phase, game.hires_left) == ("pay", 0)
    game.step(pay(5))
    # Refill 2, 3, 6; then librarian 0 + 1, card 7 moves 0 and bans binders: herbal, incomplete.
    assert (sorted(game.hand), game.turn, game.time) == ([2, 3, 6], 2, 2)
    assert (game.phase, game.hires_left, game.librarian, game.banned) == ("hire", 2, 1, BINDER)


def test_a_hire_needs_a_second_card_to_pay() -> None:
    for allow_empty in (False, True):
        game = position(tiny(allow_empty_hire=allow_empty), hand=[0])
        assert_legal(game, END)


def test_r8_a_hire_must_place_a_cube() -> None:
    # Psalter is complete; herbal takes binders only: cards 0 and 3 find no place.
    game = position(tiny(), hand=[0, 3, 4], towers=[[1, 1], [0, 0]])
    assert_legal(game, END, hire(4, 1))
    # No cube left in the supply.
    game = position(tiny(), hand=[0, 3, 4], towers=[[1, 1], [0, 1]])
    assert game.supply == 0
    assert_legal(game, END)


def test_r8_empty_hires_when_allowed() -> None:
    full: dict[str, Any] = {"towers": [[1, 1], [0, 1]], "hand": [0, 3, 4], "deck": [1, 2, 5, 6, 7]}
    game = position(tiny(allow_empty_hire=True), **full)
    assert_legal(game, END, hire(0, 0), hire(0, 1), hire(3, 0), hire(3, 1), hire(4, 0), hire(4, 1))
    # Scribes banned: cards 0 and 3 may not be hired, card 3 could lift.
    game = position(tiny(allow_empty_hire=True), **full, banned=SCRIBE)
    assert_legal(game, END, hire(4, 0), hire(4, 1), lift(3))
    assert game.step(hire(4, 0)) == 0
    assert (game.towers, game.supply, game.hires_left) == ([[1, 1], [0, 1]], 0, 0)
    assert_legal(game, pay(0), pay(3))


def test_r13_types_are_served_in_the_editions_order() -> None:
    # One cube left, card 7 brings a scribe and a binder: the scribe is served.
    game = position(tiny(), hand=[0, 7], towers=[[0, 0], [0, 2]])
    game.step(hire(7, 0))
    assert (game.towers, game.supply) == ([[1, 0], [0, 2]], 0)
    # With binders listed first, the binder is.
    edition = tiny()
    edition["artisan_types"] = ["binder", "scribe"]
    game = position(edition, hand=[0, 7], towers=[[0, 0], [2, 0]])
    game.step(hire(7, 0))
    assert (game.towers, game.supply) == ([[1, 0], [2, 0]], 0)


def test_artisans_without_a_place_are_lost() -> None:
    game = position(tiny(), hand=[0, 2])
    game.step(hire(2, 0))  # two scribes, psalter needs one
    assert (game.towers, game.supply) == ([[1, 0], [0, 0]], 2)
    game = position(tiny(cubes=1), hand=[0, 5])
    game.step(hire(5, 1))  # two binders, one cube
    assert (game.towers, game.supply) == ([[0, 0], [0, 1]], 0)


# ------------------------------------------------------------------------------- R10: empty decks


def test_r10_shuffling_is_lazy() -> None:
    game = position(
        tiny(), [[7, 6, 5, 4, 3, 2, 1, 0]], hand=[0, 1], deck=[2, 3], discard=[4, 5, 6, 7]
    )
    # Draw 2; flip 3: the deck stands empty, librarian 0 + 1 + 1 = 0.
    game.step(END)
    assert (game.hand, game.deck, game.shuffles_made) == ([0, 1, 2], [], 1)
    assert (game.state()["discard"], game.librarian) == ([3, 4, 5, 6, 7], 0)
    # The hand is full; the flip of turn 3 needs a card: shuffle 1 lays 7, 6, 5, 4, 3.
    game.step(END)
    assert (game.deck, game.discard, game.shuffles_made) == ([6, 5, 4, 3], [7], 2)
    assert (game.librarian, game.banned) == (1, BINDER)


def test_r10_no_shuffle_at_the_end_of_the_game() -> None:
    game = position(tiny(), time=4, hand=[0], discard=[1, 2, 3, 4, 5, 6, 7])
    game.step(END)  # a shuffle here would ask more of the tape than it holds
    assert game.over
    assert game.hand == [0]


def test_r10_a_shuffle_between_the_two_flips_of_a_sale() -> None:
    # Card 5 is flipped from the deck; it lies on display and is no part of the shuffle, which lays
    # 7, 0, 4, 6. Card 5 says lily, card 7 offers 4.
    game = position(
        tiny(),
        [[7, 5, 0, 4, 6, 1, 2, 3]],
        phase="sell",
        towers=[[1, 1], [0, 0]],
        hand=[1, 2, 3],
        deck=[5],
        discard=[0, 4, 6, 7],
    )
    game.step(SELL)
    assert (game.display, game.deck, game.discard) == ([5, 7], [0, 4, 6], [])
    assert game.step(ACCEPT) == 4  # book 1, slot 1, 4 // 2 = 2
    assert sorted(game.discard) == [5, 7]


@pytest.mark.parametrize(
    ("deck", "discard", "phase"),
    [
        ([], [], "hire"),
        ([4], [], "hire"),
        ([], [4], "hire"),
        ([4], [5], "sell"),
        ([], [4, 5], "sell"),
        ([4, 5], [], "sell"),
    ],
)
def test_r10_a_sale_needs_two_cards(deck: list[int], discard: list[int], phase: str) -> None:
    game = position(
        tiny(),
        [[5, 4, 0, 1, 2, 3, 6, 7]],
        phase="travel",
        florins=1,
        towers=[[1, 1], [0, 0]],
        deck=deck,
        discard=discard,
    )
    game.step(STAY)
    assert (game.phase, game.shuffles_made) == (phase, 1)
    if phase == "sell":
        game.step(SELL)
        assert sorted(game.display) == [4, 5]
        assert (game.deck, game.discard) == ([], [])
        # Nothing is left to flip: no waiting, though days are left.
        assert_legal(game, ACCEPT)


def test_r10_waiting_may_shuffle_the_discard_pile_but_not_the_display() -> None:
    game = position(
        tiny(),
        [[0, 1, 6, 2, 3, 4, 5, 7]],
        phase="price",
        towers=[[1, 1], [0, 0]],
        display=[0, 1],
        discard=[2, 6],
    )
    assert_legal(game, ACCEPT, WAIT)
    game.step(WAIT)
    assert (game.display, game.deck, game.discard, game.time) == ([0, 1, 6], [2], [], 2)


def test_r10_the_card_flipped_in_step_2_can_be_shuffled_in_the_same_turn() -> None:
    # Librarian 1 + 1 = 0; card 0 moves 0: psalter, complete. Deck empty, discard 4 and 0.
    game = position(
        tiny(),
        [[0, 4, 1, 2, 3, 5, 6, 7]],
        librarian=1,
        towers=[[1, 1], [0, 0]],
        hand=[1, 2, 3],
        deck=[0],
        discard=[4],
    )
    game.step(END)
    assert (game.phase, game.deck, sorted(game.discard)) == ("sell", [], [0, 4])
    game.step(SELL)
    assert (game.display, game.discard) == ([0, 4], [])
    assert game.step(ACCEPT) == 2  # book 1, slot 1, card 4 offers 0 crowns


def test_r10_two_cards_in_all() -> None:
    edition = tiny()
    edition["cards"] = edition["cards"][:2]
    game = Game(edition, tape={"shuffles": [[1, 0], [0, 1]], "prestige": 0})
    # The third draw of the deal stops, and the flip is skipped: no extra move, no ban, no lift.
    state = game.state()
    assert (state["hand"], state["deck"], state["discard"]) == ([0, 1], [], [])
    assert (state["librarian"], state["banned"], state["time"]) == (1, None, 1)
    assert_legal(game, END, hire(0, 0), hire(1, 0))
    game.step(hire(0, 0))
    # Pay: both cards lie on the discard pile; the refill shuffles them (1) and draws both, the
    # third draw stops; the flip of turn 2 is skipped.
    game.step(pay(1))
    assert (game.hand, game.deck, game.discard, game.shuffles_made) == ([0, 1], [], [], 2)
    assert (game.librarian, game.banned, game.time, game.turn) == (0, None, 2, 2)
    assert_legal(game, END)  # psalter has its scribe, herbal takes none
    for _ in range(3):
        game.step(END)
    assert game.over
    assert (game.time, game.turn, game.librarian, game.score()) == (4, 4, 0, 0)


def test_r10_a_refill_may_leave_nothing_to_flip() -> None:
    # The refill takes the last card of all; yesterday's ban does not last.
    game = position(tiny(), hand=[0, 1], deck=[2], banned=BINDER)
    game.step(END)
    assert (game.hand, game.deck, game.discard) == ([0, 1, 2], [], [])
    assert (game.banned, game.librarian, game.turn) == (None, 1, 2)
    assert_legal(game, END, hire(0, 0), hire(1, 0), hire(2, 0))


# --------------------------------------------------------------------- R14 and the end: scoring


def test_r14_highest_slot_first_and_the_first_listed_among_equals() -> None:
    edition = tiny()
    edition["prestige"][0] = {
        "name": "pair",
        "bonus": 5,
        "slots": [
            {"tower": "psalter", "vp": 1},
            {"tower": "herbal", "vp": 2},
            {"tower": "psalter", "vp": 2},
            {"tower": "psalter", "vp": 2},
        ],
    }
    game = position(edition)

    def sell_for_nothing(space: int, reward: int, filled: list[bool]) -> None:
        game.phase, game.librarian, game.display = "price", space, [0, 6]
        game.towers = [list(requires) for requires in ([1, 1], [0, 2])]
        assert game.step(ACCEPT) == reward
        assert game.slots_filled == filled

    sell_for_nothing(0, 3, [False, False, True, False])  # book 1, slot 2
    sell_for_nothing(0, 3, [False, False, True, True])
    sell_for_nothing(0, 2, [True, False, True, True])  # book 1, slot 1
    sell_for_nothing(0, 1, [True, False, True, True])  # no slot is left
    sell_for_nothing(1, 8, [True, True, True, True])  # book 1, slot 2, bonus 5
    sell_for_nothing(1, 1, [True, True, True, True])  # the bonus counts once
    assert game.score() == 18


def test_score() -> None:
    game = position(tiny(vp_per_book=3, florins_per_vp=4), books=2, florins=11)
    game.slots_filled = [False, True]
    game.towers = [[1, 1], [0, 0]]  # complete, unsold: nothing
    assert game.score() == 9  # 2 * 3, 11 // 4 = 2, slot 1


# ------------------------------------------------------------------------- R15: seeds and tapes


def test_r15_prestige_argument_beats_tape_beats_seed() -> None:
    assert Game(load("bibliogamo"), seed=1).prestige == 3
    assert Game(load("bibliogamo"), seed=1, prestige=2).prestige == 2
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
