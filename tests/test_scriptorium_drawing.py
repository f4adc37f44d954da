"""The table of Scriptorium as text."""

from __future__ import annotations

import copy

import pytest

from incunabula.envs.scriptorium.drawing import draw_text
from incunabula.envs.scriptorium.edition import load_edition
from tests.by_hand_scriptorium import (
    BUSY,
    seat,
    stand,
)
from tests.play_scriptorium import (
    TABLES,
    data_of,
    dealt,
    stand_points,
)


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_a_drawing_fits_the_page_and_shows_every_player(name: str, players: int) -> None:
    engine = stand_points(name, players)
    for row in range(0, engine.num_envs, 4):
        state = engine.snapshot(row)
        text = draw_text(engine.edition, state)
        assert max(map(len, text.split("\n"))) <= 100
        without = {name: value for name, value in state.items() if name != "bag"}
        assert draw_text(engine.edition, without) == text
        for number, each in enumerate(state["players"]):
            pointer = ">" if state["player"] == number else " "
            assert f"\n{pointer} seat {number}      score {each['score']}  " in text


def test_a_drawing_says_what_lies_where() -> None:
    text = draw_text(dealt().edition, BUSY | {"grimoire": 1, "quill_next": 0})
    assert (
        text
        == """\
round 4  [illuminate]  seat 0 to act  quill: seat 0, then seat 0  grimoire: seat 1  bag 0

pot           black 0  red 0  blue 0  green 0  gold 0
lecterns      0 black   seat 1
              1 red     -
              5 quill   seat 0
scriptorium   30 gilded text
achievements  left_frame: open  left_page: open  full_frame: open  right_page: open
              right_frame: open

> seat 0      score 0  points 0  help tokens 0
    inks      black 1  red 1  blue 0  green 0  gold 1
    lectern   quill  16 miniature A
    storage   0 red vine  22 miniature D  24 red initial  27 red rubric text
    left      corners ..  edges ######  A #  B .  C .  D .
    right     corners ..  edges ......  initial .  text ...

  seat 1      score 2  points 0  help tokens 1
    inks      black 0  red 0  blue 0  green 0  gold 0
    lectern   black
    storage   27 red rubric text
    left      corners ..  edges ......  A .  B .  C .  D .
    right     corners ..  edges ......  initial .  text ..."""
    )


def test_a_drawing_of_the_end_names_the_winners() -> None:
    over = stand(seat(points=3), seat(tokens=1), seat(points=3), round=8, phase="over", player=None)
    assert "[over]  won by seat 0 and seat 2  quill" in draw_text(dealt(3).edition, over)


def test_many_spaces_are_given_as_numbers_and_long_names_cut() -> None:
    data = copy.deepcopy(data_of("scriptorium"))
    data["spaces"]["text"] = 20
    data["tiles"][30]["name"] = "gilded text of a hundred chapters"
    text = draw_text(load_edition(data), BUSY)
    assert "initial .  text 0/20" in text
    assert "scriptorium   30 gilded text of a hundred\n" in text
