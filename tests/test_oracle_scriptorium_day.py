"""The second half of a Scriptorium day and the end of the game, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.by_hand_scriptorium import (
    BLACK,
    END,
    EVERY_INK,
    FULL,
    GOLD,
    GREEN,
    IN_ORDER,
    LEFT_FRAME,
    LEFT_PAGE,
    QUILL,
    RED,
    RIGHT_FRAME,
    RIGHT_PAGE,
    Json,
    assert_legal,
    buy,
    discard,
    ink,
    legal_of,
    place,
    play,
    position,
    seat,
    stand,
)
from tests.oracle.scriptorium import Scriptorium

# -------------------------------------------------------------------- phase 3, S7: payments


def with_lectern(own: int, **fields: Any) -> Scriptorium:
    """Two players; seat 0, who is to act, has the lectern `own`, seat 1 another one."""
    other = RED if own == GREEN else GREEN
    owners = {own: 0, other: 1}
    lecterns = [(index, owners[index], list[int]()) for index in sorted(owners)]
    return position(stand(seat(**fields), seat(), lecterns=lecterns))


@pytest.mark.parametrize(
    ("own", "tile", "before", "after"),
    [
        # The quill lectern waives nothing; each colour is paid with its own ink.
        (QUILL, 0, {"black": 1, "red": 1}, {}),
        (QUILL, 0, {"black": 1}, None),
        (QUILL, 0, {"black": 2, "red": 2, "gold": 1}, {"black": 1, "red": 1, "gold": 1}),
        # Gold only for what is short.
        (QUILL, 0, {"black": 1, "gold": 1}, {}),
        (QUILL, 16, {"black": 1, "red": 1, "blue": 1, "gold": 1}, {}),
        (QUILL, 16, {"black": 1, "red": 1, "gold": 3}, {"gold": 1}),
        (QUILL, 16, {"black": 1, "red": 1, "gold": 1}, None),
        (QUILL, 16, {"black": 1, "gold": 3, "green": 9}, {"green": 9}),
        # Gold in the cost and gold for what is short add up.
        (QUILL, 24, {"black": 1, "gold": 3}, {}),
        (QUILL, 24, {"black": 1, "gold": 2}, None),
        (QUILL, 24, {"black": 1, "red": 1, "gold": 2}, {}),
        (QUILL, 24, {"black": 1, "red": 9, "gold": 1}, None),
        # Black is only ever paid with black.
        (QUILL, 27, {"black": 1, "red": 1, "gold": 5}, None),
        (QUILL, 27, {"black": 2, "gold": 1}, {}),
        # A lectern waives every unit of its colour.
        (RED, 16, {"black": 1, "blue": 1}, {}),
        (RED, 16, {"black": 1, "blue": 1, "red": 5}, {"red": 5}),
        (RED, 0, {"black": 1}, {}),
        (RED, 0, {"red": 3, "gold": 3}, None),
        (BLACK, 27, {"red": 1}, {}),
        (BLACK, 27, {"black": 3, "gold": 1}, {"black": 3}),
        (BLACK, 27, {"black": 3}, None),
        # The gold lectern waives gold in costs, and is no gold to substitute with.
        (GOLD, 24, {"black": 1, "red": 1}, {}),
        (GOLD, 24, {"black": 1}, None),
        (GOLD, 24, {"black": 1, "gold": 2}, {"gold": 1}),
        (GOLD, 16, {"black": 1, "red": 2}, None),
    ],
)
def test_s7_payment(
    own: int, tile: int, before: dict[str, int], after: dict[str, int] | None
) -> None:
    game = with_lectern(own, inks=before, storage=[tile])
    paid = [action for action in legal_of(game, "place") if action["ink"]]
    if after is None:
        assert paid == []
        return
    points = {0: 1, 16: 5, 24: 7, 27: 3}[tile]
    assert game.step(place(tile, "right" if tile == 0 else None)) == [points, 0]
    form = game.state()["players"][0]
    assert form["inks"] == dict.fromkeys(EVERY_INK, 0) | after
    assert (form["points"], form["storage"]) == (points, [])


def test_s7_another_seats_lectern_waives_nothing() -> None:
    game = position(
        stand(seat(), seat(inks={"black": 1}, storage=[0]), player=1)
    )  # seat 1 has the black lectern
    assert_legal(game, *(place(0, side, paid=False) for side in ("left", "right")), END)
    game.players[1].inks |= {"black": 0, "red": 1}
    assert place(0, "left") in game.legal()


# ----------------------------------------------------------------------- phase 3: placements


def test_a_place_names_lectern_or_storage_and_a_side_for_corners_and_edges() -> None:
    game = position(
        stand(
            seat(inks=EVERY_INK, lectern_tiles=[0, 0, 16, 22], storage=[0, 10, 27], tokens=1),
            seat(lectern_tiles=[18]),
        )
    )
    assert_legal(
        game,
        *(
            place(0, side, paid=paid, storage=storage)
            for side in ("left", "right")
            for paid in (True, False)
            for storage in (True, False)
        ),
        *(place(16, storage=False), place(22, storage=False)),
        *(place(10, "left"), place(10, "right"), place(27)),
        END,
    )
    game.step(place(0, "left", storage=False))
    game.step(place(16, storage=False))
    form = game.state()["players"][0]
    assert (form["lectern_tiles"], form["storage"]) == ([0, 22], [0, 10, 27])
    assert (form["filled"]["edge_left"], form["filled"]["edge_right"]) == (1, 0)
    assert (form["filled"]["A"], form["filled"]["D"], form["points"]) == (1, 0, 6)


def test_a_tile_needs_a_free_space_that_fits() -> None:
    filled = {"corner_left": 2, "edge_left": 5, "edge_right": 6, "A": 1, "text": 2, "initial": 1}
    tiles = [0, 10, 16, 18, 24, 27]
    game = position(stand(seat(inks=EVERY_INK, storage=tiles, filled=filled), seat()))
    assert_legal(
        game,
        *(place(0, "left"), place(0, "left", paid=False), place(10, "right"), place(18)),
        *(place(27), END),
    )
    game.step(place(27))
    game.step(place(0, "left", paid=False))
    assert_legal(game, place(10, "right"), place(18), END)


def test_an_edge_without_ink_fills_its_space_for_no_points() -> None:
    game = position(stand(seat(inks={"black": 1}, storage=[0, 10], lectern_tiles=[6]), seat()))
    assert_legal(
        game,
        *(place(0, side, paid=False) for side in ("left", "right")),
        *(place(6, side, paid=False, storage=False) for side in ("left", "right")),
        END,
    )
    assert game.step(place(6, "right", paid=False, storage=False)) == [0, 0]
    form = game.state()["players"][0]
    assert (form["points"], form["inks"]["black"], form["lectern_tiles"]) == (0, 1, [])
    assert form["filled"]["edge_right"] == 1


# ------------------------------------------------------------------------- phase 3: purchases


def test_buying_from_the_scriptorium_loses_the_token() -> None:
    game = position(stand(seat(tokens=1), seat(tokens=1), scriptorium=[10, 10, 27]))
    assert_legal(game, buy(10), buy(27), END)
    assert game.step(buy(10)) == [-2, 0]
    assert game.margins_of([-2, 0]) == [-2, 2]
    state = game.state()
    assert state["scriptorium"] == [10, 27]
    assert [each["tokens"] for each in state["players"]] == [0, 1]
    assert state["players"][0]["storage"] == [10]
    assert_legal(game, END)  # no token left, no ink for the corner


def test_buying_from_a_storage_pays_the_seller_and_never_from_lectern_or_achievements() -> None:
    seller = seat(storage=[6, 24], lectern_tiles=[16], achievements=["left_page"], filled=LEFT_PAGE)
    game = position(stand(seat(tokens=2, storage=[30]), seat(), seller))
    assert_legal(game, buy(6, 2), buy(24, 2), END)
    assert game.step(buy(6, 2)) == [-2, 0, 2]
    assert game.margins_of([-2, 0, 2]) == [-4, -2, 4]
    form = game.state()["players"]
    assert (form[0]["storage"], form[0]["tokens"]) == ([6, 30], 1)
    assert (form[2]["storage"], form[2]["tokens"]) == ([24], 1)
    # It can be placed at once.
    assert place(6, "left", paid=False) in game.legal()


def test_a_token_received_before_ones_turn_can_be_used_on_it() -> None:
    game = position(stand(seat(tokens=1), seat(storage=[6]), scriptorium=[27]))
    play(game, buy(6, 1), END)
    assert game.player == 1
    assert_legal(game, buy(27), buy(6, 0), END)


def test_s10_a_token_received_after_ones_turn_waits_for_the_next_day() -> None:
    form = stand(seat(storage=[6]), seat(tokens=1), scriptorium=[27], bag=[0])
    game = position(form, [IN_ORDER])
    assert_legal(
        game, place(6, "left", paid=False), place(6, "right", paid=False), END
    )  # no token, no purchase
    play(game, END, buy(6, 0))
    assert [each.tokens for each in game.players] == [1, 0]
    game.step(END)
    assert (game.phase, game.round, game.players[0].tokens) == ("ink", 2, 1)


def test_storage_has_no_limit_within_a_day() -> None:
    full = [0, 1, 2, 3, 4, 5, 6]
    game = position(stand(seat(tokens=3, storage=full), seat(), scriptorium=[27, 28, 29]))
    play(game, buy(27), buy(28), buy(29))
    assert game.state()["players"][0]["storage"] == [*full, 27, 28, 29]
    assert game.phase == "illuminate"


def test_s10_each_seat_has_one_turn_from_the_quills_holder() -> None:
    game = position(stand(seat(), seat(), seat(), quill=2, player=2, bag=[0]), [IN_ORDER])
    seats = []
    for _ in range(3):
        seats.append(game.player)
        game.step(END)
    assert seats == [2, 0, 1]
    assert (game.phase, game.player, game.round) == ("ink", 2, 2)


# ------------------------------------------------------------------------------- achievements


@pytest.mark.parametrize(
    ("filled", "action", "names"),
    [
        (LEFT_FRAME | {"edge_left": 5}, place(0, "left"), ["left_frame"]),
        (LEFT_FRAME | {"edge_left": 5}, place(0, "left", paid=False), ["left_frame"]),
        (LEFT_FRAME | {"corner_left": 1}, place(10, "left"), ["left_frame"]),
        (RIGHT_FRAME | {"edge_right": 5}, place(0, "right"), ["right_frame"]),
        (LEFT_PAGE | {"B": 0}, place(18), ["left_page"]),
        (RIGHT_PAGE | {"text": 2}, place(27), ["right_page"]),
        (RIGHT_PAGE | {"initial": 0}, place(24), ["right_page"]),
        # Something else is still missing.
        (LEFT_FRAME | {"edge_left": 5, "corner_left": 1}, place(0, "left"), []),
        (LEFT_FRAME | {"edge_left": 5}, place(0, "right"), []),
        (LEFT_PAGE | {"A": 0, "B": 0}, place(18), []),
        (RIGHT_PAGE | {"text": 1}, place(27), []),
        (RIGHT_PAGE | {"initial": 0, "text": 2}, place(24), []),
    ],
)
def test_filling_a_part_earns_its_achievement(
    filled: dict[str, int], action: Json, names: list[str]
) -> None:
    form = seat(inks=EVERY_INK, storage=[action["tile"]], filled=filled)
    game = position(stand(form, seat()))
    points = {0: 1, 10: 3, 18: 5, 24: 7, 27: 3}[action["tile"]] if action["ink"] else 0
    assert game.step(action) == [points + 5 * len(names), 0]
    state = game.state()
    assert state["players"][0]["achievements"] == names
    assert [name for name, owner in state["achievements"].items() if owner == 0] == names


@pytest.mark.parametrize("left_frames", [[0], [1], []])
def test_one_placement_can_earn_several(left_frames: list[int]) -> None:
    """Whoever has the left frame, or nobody any more, the full frame is there to be earned."""
    seats = [seat(), seat()]
    for number, form in enumerate(seats):
        form |= seat(
            storage=[0],
            filled=LEFT_FRAME | RIGHT_FRAME | {"edge_right": 5},
            achievements=["left_frame"] if number in left_frames else [],
        )
    form = stand(*seats)
    if not left_frames:
        form["achievements"]["left_frame"] = "gone"
    game = position(form)
    assert game.step(place(0, "right", paid=False)) == [10, 0]
    had = ["left_frame"] if left_frames == [0] else []
    assert game.state()["players"][0]["achievements"] == [*had, "full_frame", "right_frame"]
    # Seat 1 fills the same later: only the first player gets a tile.
    assert play(game, END, place(0, "right", paid=False)) == [[0, 0], [0, 0]]
    assert game.state()["achievements"]["full_frame"] == 0


def test_a_part_without_spaces_is_never_filled() -> None:
    game = position(stand(seat(storage=[0]), seat()))
    game.spaces |= {"initial": 0, "text": 0}
    assert game.step(place(0, "left", paid=False)) == [0, 0]
    assert game.achievements["right_page"] is None


def test_a_discarded_achievement_is_gone() -> None:
    page, tiles = LEFT_PAGE | {"B": 0}, [0, 1, 2, 3, 4, 5, 6]
    first = seat(achievements=["left_page"], filled=LEFT_PAGE, storage=tiles, tokens=1)
    second = seat(inks=EVERY_INK, storage=[18], filled=page)
    form = stand(first, second, phase="discard", bag=[0])
    game = position(form, [IN_ORDER])
    assert_legal(game, *(discard(tile) for tile in tiles), discard("left_page"))
    assert game.step(discard("left_page")) == [-5, 0]
    state = game.state()
    assert state["achievements"]["left_page"] == "gone"
    assert (state["players"][0]["achievements"], state["players"][0]["score"]) == ([], 2)
    # Seat 1 owes inks; then the next day. He fills his left page and gets nothing for it.
    assert (game.phase, game.player) == ("discard", 1)
    form = stand(seat(), second, player=1)
    form["achievements"]["left_page"] = "gone"
    game = position(form)
    assert game.step(place(18)) == [0, 5]
    assert game.achievements["left_page"] == "gone"
    assert game.players[1].achievements == []


# -------------------------------------------------------------------- phase 4: end of the day

SEVEN = [0, 1, 2, 3, 4, 5, 6]


def test_lectern_tiles_go_to_the_storage_and_seven_of_each_may_stay() -> None:
    kept = seat(storage=SEVEN[:3], lectern_tiles=[3, 4, 5, 6], inks={"black": 4, "gold": 3})
    game = position(stand(kept, seat(lectern_tiles=[1, 9]), bag=[0]), [IN_ORDER])
    play(game, END, END)
    # Nobody owes anything: the next day begins.
    state = game.state()
    assert (state["phase"], state["round"], state["player"]) == ("ink", 2, 0)
    assert [each["storage"] for each in state["players"]] == [SEVEN, [1, 9]]
    assert [each["lectern_tiles"] for each in state["players"]] == [[], []]
    assert state["players"][0]["inks"] == dict.fromkeys(EVERY_INK, 0) | {"black": 4, "gold": 3}
    assert state["pot"]["black"] == 4
    assert [each["owner"] for each in state["lecterns"]] == [None] * 3
    assert (state["grimoire"], state["bag_left"]) == (None, 0)


def test_discards_go_seat_by_seat_from_the_quill_storage_before_inks() -> None:
    hoard = {"storage": SEVEN, "inks": {"black": 5, "red": 3}}
    game = position(
        stand(
            seat(**hoard, lectern_tiles=[9]),
            seat(storage=SEVEN, inks={"gold": 7}),
            seat(**hoard, lectern_tiles=[0, 10]),
            quill=1,
            player=0,
            bag=[0],
        ),
        [IN_ORDER],
    )
    # Seats 1 and 2 have had their turns; seat 0 is the last.
    game.step(END)
    state = game.state()
    assert (state["phase"], state["player"], state["round"]) == ("discard", 2, 1)
    assert state["players"][2]["storage"] == sorted([*SEVEN, 0, 10])
    assert_legal(game, *(discard(tile) for tile in [*SEVEN, 10]))
    assert game.step(discard(0)) == [0, 0, 0]
    assert (game.phase, game.player) == ("discard", 2)
    assert_legal(game, *(discard(tile) for tile in [*SEVEN, 10]))
    game.step(discard(6))
    assert_legal(game, discard("black"), discard("red"))
    game.step(discard("red"))
    # Seat 0 comes after seat 2 has done all of his; seat 1 is never asked.
    assert game.player == 0
    assert_legal(game, *(discard(tile) for tile in [*SEVEN, 9]))
    game.step(discard(9))
    assert_legal(game, discard("black"), discard("red"))
    game.step(discard("black"))
    state = game.state()
    assert (state["phase"], state["round"], state["player"]) == ("ink", 2, 1)
    assert [sum(each["inks"].values()) for each in state["players"]] == [7, 7, 7]
    # S8: what was discarded is nowhere any more.
    assert [len(each["storage"]) for each in state["players"]] == [7, 7, 7]
    assert (state["scriptorium"], sum(state["bag"])) == ([], 0)


def test_achievements_take_storage_slots() -> None:
    form = seat(storage=SEVEN[:5], lectern_tiles=[9], achievements=["left_frame", "right_page"])
    game = position(stand(form, seat(), player=1))
    game.step(END)
    assert_legal(
        game,
        *(discard(tile) for tile in [*SEVEN[:5], 9]),
        *(discard("left_frame"), discard("right_page")),
    )
    assert game.step(discard("right_page")) == [-5, 0]
    assert game.over  # the bag is empty


def test_the_last_day_ends_with_discards_and_the_quills_move() -> None:
    form = seat(storage=[*SEVEN, 9], inks={"black": 8}, points=3)
    game = position(stand(form, seat(points=2), player=1, quill_next=1, grimoire=0))
    game.step(END)
    assert (game.phase, game.player, game.quill, game.quill_next) == ("discard", 0, 0, 1)
    play(game, discard(9))
    assert not game.over
    play(game, discard("black"))
    state = game.state()
    assert (state["phase"], state["player"], state["round"]) == ("over", None, 1)
    assert (state["quill"], state["quill_next"], state["grimoire"]) == (1, None, 0)
    assert [each["owner"] for each in state["lecterns"]] == [1, None, 0]
    assert game.over
    assert_legal(game)
    with pytest.raises(ValueError, match="over"):
        game.step(END)


def test_s5_the_quill_moves_when_the_day_ends() -> None:
    form = stand(seat(), seat(), seat(), player=2, quill_next=2, bag=[0])
    game = position(form, [IN_ORDER])
    game.step(END)
    state = game.state()
    assert (state["quill"], state["quill_next"], state["player"]) == (2, None, 2)
    play(game, ink("black"), ink("black"))
    assert game.player == 1


def test_s5_points_taken_leave_the_quill_where_it_is() -> None:
    game = position(stand(seat(), seat(), quill=1, player=0, bag=[0]), [IN_ORDER])
    game.step(END)
    assert (game.phase, game.player, game.quill) == ("ink", 1, 1)


def test_s9_the_lecterns_are_drawn_anew_each_round_with_the_next_tiles() -> None:
    order = [QUILL, GREEN, BLACK, RED, GOLD, 2]
    game = position(stand(seat(), seat(), player=1, bag=[1, 2, 3, 4, 5, 6, 7, 8, 9]), [order])
    game.step(END)
    state = game.state()
    assert state["lecterns"] == [
        {"lectern": BLACK, "tiles": [9], "owner": None},
        {"lectern": GREEN, "tiles": [5, 6, 7, 8], "owner": None},
        {"lectern": QUILL, "tiles": [1, 2, 3, 4], "owner": None},
    ]
    # The bag is empty, but that ends the game only after this day.
    assert (state["phase"], state["bag_left"], state["round"]) == ("ink", 0, 2)


def test_a_tape_that_runs_out_says_so() -> None:
    game = position(stand(seat(), seat(), player=1, bag=[0]))
    with pytest.raises(LookupError, match="round 2"):
        game.step(END)


# ---------------------------------------------------------------------------- end and score


def test_a_full_manuscript_ends_the_game_at_the_end_of_the_day() -> None:
    last = seat(storage=[27], inks={"black": 2, "red": 1}, filled=FULL | {"text": 2}, tokens=1)
    last["achievements"] = ["left_frame", "left_page", "full_frame", "right_frame"]
    last["score"] += 20
    game = position(stand(last, seat(storage=[0]), bag=[0, 1]))
    assert game.step(place(27)) == [8, 0]  # 3 points and the right page
    # The others still have their turns.
    game.step(END)
    assert (game.player, game.over) == (1, False)
    game.step(place(0, "left", paid=False))
    game.step(END)
    state = game.state()
    assert (state["phase"], state["bag_left"]) == ("over", 2)
    assert state["players"][0]["score"] == 3 + 5 * 5 + 2
    assert (game.winners(), game.outcome()) == ([0], [1.0, -1.0])


def test_a_manuscript_one_space_short_does_not_end_the_game() -> None:
    game = position(stand(seat(filled=FULL | {"D": 0}), seat(), player=1, bag=[0]), [IN_ORDER])
    game.step(END)
    assert (game.phase, game.round) == ("ink", 2)


@pytest.mark.parametrize(
    ("scores", "outcome"),
    [
        # Points, achievements and tokens count: 5 points a kept achievement, 2 a token.
        ([(4, 0, 0), (3, 0, 0)], [1, -1]),
        ([(5, 0, 0), (0, 1, 0)], [0, 0]),
        ([(1, 1, 1), (9, 0, 0)], [-1, 1]),
        ([(4, 0, 0), (0, 0, 2), (3, 0, 0)], [0.25, 0.25, -0.5]),
        ([(4, 0, 0), (4, 0, 0), (4, 0, 0)], [0, 0, 0]),
        ([(4, 0, 0), (5, 0, 0), (4, 0, 0)], [-0.5, 1, -0.5]),
        ([(7, 0, 0), (5, 0, 1), (2, 1, 0), (0, 0, 3)], [1 / 9, 1 / 9, 1 / 9, -1 / 3]),
        ([(1, 0, 0), (2, 0, 0), (3, 0, 0), (3, 0, 0)], [-1 / 3, -1 / 3, 1 / 3, 1 / 3]),
        ([(1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0)], [-1 / 3, -1 / 3, -1 / 3, 1]),
    ],
)
def test_scores_and_payoffs(scores: list[tuple[int, int, int]], outcome: list[float]) -> None:
    seats = [
        seat(points=points, tokens=tokens, achievements=["left_page"][:kept])
        for points, kept, tokens in scores
    ]
    game = position(stand(*seats, player=len(seats) - 1))
    with pytest.raises(ValueError, match="isn't over"):
        game.outcome()
    assert game.step(END) == [0] * len(seats)
    expected = [points + 5 * kept + 2 * tokens for points, kept, tokens in scores]
    assert game.scores() == expected
    assert game.outcome() == pytest.approx(outcome)
    assert game.winners() == [n for n, score in enumerate(expected) if score == max(expected)]
