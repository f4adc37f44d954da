"""The table of Scriptorium as text."""

from __future__ import annotations

import copy

from incunabula.envs.scriptorium.drawing import draw_text
from incunabula.envs.scriptorium.edition import load_edition
from tests.by_hand_scriptorium import (
    BUSY,
    seat,
    stand,
)
from tests.play_scriptorium import (
    data_of,
    dealt,
)


def test_a_drawing_says_what_lies_where() -> None:
    state = BUSY | {"grimoire": 1, "quill_next": 0}
    text = draw_text(dealt().edition, state, colour=False)
    assert (
        text
        == """\
╭─ Scriptorium ────────────────────────────────────────────────────────────────── reconstructed-1 ─╮
│ round 4 · seat 0 illuminates                                                  0 tiles in the bag │
│ quill  seat 0  · next day  seat 0  · grimoire  seat 1                                            │
│ left frame open: 5 · left page open: 5 · full frame open: 5 · right page open: 5                 │
│ right frame open: 5                                                                              │
╰──────────────────────────────────────────────────────────────────────────────────────────────────╯
╭─ ink pot ─────╮╭─ lecterns · tiles: number, name, points, cost ──────────────────────────────────╮
│ ● black    0  ││ 0 ● black  seat 1                                                               │
│ ◆ red      0  ││ 1 ◆ red   put away                                                              │
│ ▲ blue     0  ││ 5 quill    seat 0                                                               │
│ ♠ green    0  ││                                                                                 │
│ ★ gold     0  ││                                                                                 │
╰───────────────╯╰─────────────────────────────────────────────────────────────────────────────────╯
╭─ scriptorium: a help token buys a tile ──────────────────────────────────────────────────────────╮
│ 30 gilded text               4 ●●★                                                               │
╰──────────────────────────────────────────────────────────────────────────────────────────────────╯
╔═  seat 0  to act · quill · quill next day · points 0 · help tokens 0 ══════════════════ score 0 ═╗
║  □  ■  ■  ┃ □  □  □    ● black 1  ◆ red 1  ▲ blue 0  ♠ green 0  ★ gold 1                         ║
║  ■  ■A □B ┃ □I □T □    lectern: quill                       storage: 4 of 7                      ║
║  ■  □C □D ┃ □T □T □    16 miniature A               5 ●◆◆▲   0 red vine edge             1 ●◆    ║
║  □  ■  ■  ┃ □  □  □                                         22 miniature D               5 ●◆▲♠  ║
║                                                             24 red initial               7 ●◆★★  ║
║                                                             27 red rubric text           3 ●●◆   ║
╚══════════════════════════════════════════════════════════════════════════════════════════════════╝
╭─  seat 1  · grimoire · points 0 · help tokens 1 ─────────────────────────────────────── score 2 ─╮
│  □  □  □  ┃ □  □  □    ● black 0  ◆ red 0  ▲ blue 0  ♠ green 0  ★ gold 0                         │
│  □  □A □B ┃ □I □T □    lectern: ● black                     storage: 1 of 7                      │
│  □  □C □D ┃ □T □T □                                         27 red rubric text           3 ●●◆   │
│  □  □  □  ┃ □  □  □                                                                              │
╰──────────────────────────────────────────────────────────────────────────────────────────────────╯"""
    )


def test_a_drawing_of_the_end_names_the_winners() -> None:
    over = stand(seat(points=3), seat(tokens=1), seat(points=3), round=8, phase="over", player=None)
    text = draw_text(dealt(3).edition, over, colour=False)
    assert "│ round 8 · won by seat 0 and seat 2 " in text
    assert "to act" not in text


def test_many_spaces_are_given_as_numbers_and_long_names_cut() -> None:
    data = copy.deepcopy(data_of("scriptorium"))
    data["spaces"]["text"] = 20
    data["tiles"][30]["name"] = "gilded text of a hundred chapters"
    data["tiles"][30]["cost"] = {"black": 12, "gold": 1}
    text = draw_text(load_edition(data), BUSY, colour=False)
    assert "┃ initial □     " in text
    assert "┃ text    0/20  " in text
    assert "│ 30 gilded text of a hundre…  4 ●12★1 " in text


def test_who_won_an_achievement_is_said() -> None:
    given = {"left_frame": 1, "left_page": "gone", "full_frame": None}
    state = BUSY | {"achievements": BUSY["achievements"] | given}
    text = draw_text(dealt().edition, state, colour=False)
    assert "│ left frame  seat 1  · left page discarded · full frame open: 5 · " in text
