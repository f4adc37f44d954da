"""Empty decks and scores of Bibliogamo, worked out by hand."""

from __future__ import annotations

import pytest

from tests.by_hand import ACCEPT, BINDER, END, SELL, STAY, WAIT, hire, pay, tiny
from tests.by_hand_oracle import assert_legal, position
from tests.oracle.bibliogamo import Game

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
