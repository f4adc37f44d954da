"""The steps of a turn of Bibliogamo, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.by_hand import (
    ACCEPT,
    BINDER,
    END,
    KEEP,
    SCRIBE,
    SELL,
    STAY,
    WAIT,
    hire,
    lift,
    pay,
    tiny,
    walk,
)
from tests.by_hand_oracle import IN_ORDER, assert_legal, position
from tests.oracle.bibliogamo import Game
from tests.play import edition as shipped

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
    edition = shipped("bibliogamo-small")
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
