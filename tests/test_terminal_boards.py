"""Boards in the terminal: 100 columns, colours that can be left out, and all there is to see."""

from __future__ import annotations

import copy
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import pytest
from rich.cells import cell_len
from rich.segment import Segment

from incunabula.envs.adapters.gymnasium import BibliogamoEnv
from incunabula.envs.bibliogamo.drawing import draw_text as city_text
from incunabula.envs.bibliogamo.wording import asked
from incunabula.envs.drawing.terminal import bar, cut, flowing, framed, name, to_text, width_of
from incunabula.envs.scriptorium.drawing import draw_text as table_text
from tests.drawings import plain
from tests.play import EDITIONS, edition
from tests.play import positions as city_positions
from tests.play_scriptorium import TABLES, data_of
from tests.play_scriptorium import positions as table_positions
from tests.test_drawing_scenes import ODD, ODD_PAGES

Json = dict[str, Any]
HOSTILE = (
    "[red]x[/]",
    "[link=file:///etc]" + "y" * 60,
    "書物の塔" * 20,
    "a" + " " * 97 + "b",
    "❤\ufe0f" * 45,
    "e\u0301" * 45,
    "\ufe0f\u0301z",
    "👩🏽🏳🇫🇷" * 20,
    "m" * 100,
)


def renamed(data: Json) -> Json:
    """An edition of Bibliogamo with hostile names everywhere."""
    data = copy.deepcopy(data)
    lists = ("artisan_types", "coins")
    given = iter(f"{HOSTILE[k % len(HOSTILE)][: 100 - k // 9]}{'!' * (k // 9)}" for k in range(60))
    new = {old: next(given) for field in lists for old in data[field]}
    new |= {tower["name"]: next(given) for tower in data["towers"]}

    def replaced(value: Any) -> Any:
        if isinstance(value, dict):
            return {new.get(key, key): replaced(each) for key, each in value.items()}
        if isinstance(value, list):
            return [replaced(each) for each in value]
        return new.get(value, value) if isinstance(value, str) else value

    fields = (*lists, "towers", "board", "prestige", "cards")
    data |= {field: replaced(data[field]) for field in fields}
    for k, collection in enumerate(data["prestige"]):
        collection["name"] = f"{k}{HOSTILE[k]}"[:100]
    return data | {"edition": HOSTILE[0]}


def retiled() -> Json:
    """An edition of Scriptorium whose tiles have hostile names."""
    data = copy.deepcopy(data_of("scriptorium"))
    for k, tile in enumerate(data["tiles"]):
        tile["name"] = HOSTILE[k % len(HOSTILE)]
    return data | {"edition": HOSTILE[2]}


CITIES: dict[str, Any] = {each: edition(each) for each in EDITIONS} | ODD
CITIES |= {"hostile": renamed(edition("bibliogamo")), "hostile tiny": renamed(CITIES[EDITIONS[1]])}
SEATED = [*TABLES, *((each, n) for each, n in zip(ODD_PAGES, (4, 3, 2, 4), strict=True))]
SEATED += [("hostile", 2)]


@lru_cache
def cities(edition_name: str) -> tuple[Any, list[Json]]:
    """An edition, and positions of games played at random."""
    engine = city_positions(CITIES[edition_name], 24, seed=5)
    return engine.edition, [engine.snapshot(row) for row in range(24)]


@lru_cache
def tables(edition_name: str, players: int) -> tuple[Any, list[Json]]:
    data = retiled() if edition_name == "hostile" else ODD_PAGES.get(edition_name, edition_name)
    engine = table_positions(data, players, 10, seed=3, steps=160)
    return engine.edition, [engine.snapshot(row) for row in range(10)]


def check(draw: Callable[..., str], played: Any, state: Json) -> str:
    """What every board keeps to; returns it without colours."""
    before = copy.deepcopy(state)
    coloured, text = draw(played, state), draw(played, state, colour=False)
    assert state == before
    assert draw(played, state) == coloured
    assert plain(coloured) == text
    assert "\x1b" not in text
    assert {cell_len(line) for line in text.split("\n")} == {100}
    for line in coloured.split("\n"):
        assert line.startswith("\x1b[")
        assert line.endswith("\x1b[0m")
        # The last thing on a line is a border: nothing painted can run on beyond it.
        assert plain(line)[-1] in "╮│╯╗║╝"
    assert set(re.findall(r"\x1b[^m]*m", coloured)) <= set(re.findall(SEQUENCE, coloured))
    return text


SEQUENCE = r"\x1b\[(?:0|(?:1;)?38;2;\d+;\d+;\d+;48;2;\d+;\d+;\d+)m"


# Bibliogamo ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("edition_name", CITIES)
def test_the_city_keeps_to_100_columns(edition_name: str) -> None:
    played, states = cities(edition_name)
    for state in states[::2]:
        text = check(city_text, played, state)
        for number in state["hand"]:
            assert f": card {number} " in text
        assert f"score {state['score']} │" in text
        assert f" {len(state['deck'])} to draw " in text
        assert f" {len(state['discard'])} discarded " in text


@pytest.mark.parametrize("edition_name", EDITIONS)
def test_the_city_shows_every_tower_and_card(edition_name: str) -> None:
    played, states = cities(edition_name)
    phases = set()
    for state in states:
        phases.add(state["phase"])
        text = city_text(played, state, colour=False)
        assert asked(played, state) in text
        assert f"day {state['time']} of {played.rules.days} " in text
        lines = text.split("\n")
        for space, tower in enumerate(played.board.spaces):
            filled = state["towers"][[each.name for each in played.towers].index(tower)]
            here = "═" if state["librarian"] == space else "─"
            assert re.search(rf"{here} {space} {tower} {here}+ {sum(filled)}/", text)
        assert text.count("■") == marks(played, state)
        assert text.count(" librarian") == 1
        icons = next(line for line in lines if " icon " in line) if state["hand"] else ""
        assert icons.count("icon ") == min(5, len(state["hand"]))
        for number in state["hand"]:
            card = played.cards[number]
            for said in (
                f"icon {card.icon}",
                f"coin {card.coin}",
                f"move {card.librarian or 0:+d}",
            ):
                assert said.replace("+0", "0") in text
    assert {"hire", "over", "pay"} <= phases


def marks(played: Any, state: Json) -> int:
    """Cubes in towers, once for each space that has one; cubes on cards; filled slots."""
    names = [tower.name for tower in played.towers]
    stand = sum(sum(state["towers"][names.index(tower)]) for tower in played.board.spaces)
    hired = sum(sum(played.cards[card].artisans.values()) for card in state["hand"])
    return stand + hired + sum(state["slots_filled"])


def test_the_city_says_what_is_pending_offered_and_banned() -> None:
    played, states = cities("bibliogamo")
    by_phase = {state["phase"]: state for state in states}
    pay = by_phase["pay"]
    card, tower = pay["pending_hire"]["card"], played.towers[pay["pending_hire"]["tower"]].name
    hires = ((kind, played.cards[card].artisans.get(kind, 0)) for kind in played.artisan_types)
    whom = ", ".join(f"{count} {kind}" for kind, count in hires if count)
    text = city_text(played, pay, colour=False)
    assert f"hand: one pays for card {card}: {whom} in {tower} ─" in text
    assert "╰─ banned" not in text
    sale = by_phase["hire"] | {"phase": "price", "display": [0, 1, 2], "banned": None}
    text = city_text(played, sale, colour=False)
    assert "│ 5 florins in ship " in text
    assert "│ cards 0 1 2 " in text
    assert "│ offers 0 5 " in text
    assert "no ban: everybody may be hired" in text
    banned = by_phase["hire"] | {"banned": 0, "hand": [1, 2, 10, 11]}  # icons and hires of type 0
    text = city_text(played, banned, colour=False)
    assert "banned today:  R  researcher" in text
    ribbons = re.findall("lifts the ban|─ banned ─", text)
    assert ribbons == ["lifts the ban", "─ banned ─", "lifts the ban"]


# Scriptorium --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("edition_name", "players"), SEATED)
def test_the_table_keeps_to_100_columns(edition_name: str, players: int) -> None:
    played, states = tables(edition_name, players)
    for state in states[::2]:
        text = check(table_text, played, state)
        without = {key: value for key, value in state.items() if key != "bag"}
        assert table_text(played, without, colour=False) == text
        for seat, player in enumerate(state["players"]):
            to_act = "to act" if state["player"] == seat else "·"
            plate = rf" seat {seat}  {to_act}.* points {player['points']} · help tokens "
            assert re.search(rf"{plate}{player['tokens']} .* score {player['score']} [─═]", text)


@pytest.mark.parametrize(("edition_name", "players"), [each for each in TABLES if each[1] != 3])
def test_the_table_shows_every_tile_and_space(edition_name: str, players: int) -> None:
    played, states = tables(edition_name, players)
    for state in states:
        text = table_text(played, state, colour=False)
        lying = {*state["scriptorium"]}
        for each in (*state["lecterns"], *state["players"]):
            for place in ("tiles", "lectern_tiles", "storage"):
                lying |= {*each.get(place, ())}
        for design in lying:
            assert re.search(rf" {design} (\d+× )?{played.tiles[design].name[:8]}", text)
        assert f" {state['bag_left']} tiles in the bag" in text or state["bag_left"] == 1
        done = sum(sum(player["filled"].values()) for player in state["players"])
        assert text.count("■") == done


# Colours ------------------------------------------------------------------------------------------


@pytest.fixture
def env() -> Iterator[BibliogamoEnv]:
    env = BibliogamoEnv("bibliogamo-tiny", render_mode="ansi")
    env.reset(seed=0)
    yield env
    env.close()


def test_no_color_leaves_the_colours_out(
    env: BibliogamoEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = str(env.render())
    assert "\x1b[" in coloured
    monkeypatch.setenv("NO_COLOR", "")
    assert env.render() == coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert env.render() == plain(coloured)


def test_a_board_is_the_same_on_every_terminal(
    env: BibliogamoEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    board = env.render()
    for variable, value in (("TERM", "dumb"), ("COLUMNS", "40"), ("COLORTERM", "no")):
        monkeypatch.setenv(variable, value)
    assert env.render() == board


def test_a_name_of_markup_is_shown_as_it_stands() -> None:
    played, states = cities("hostile")
    text = city_text(played, states[0], colour=False)
    assert "─ [red]x[/] ─╮\n" in text
    assert re.search(r"\[red\]x\[/\]", text.split("\n", 2)[2])


def test_rich_is_loaded_when_a_board_is_drawn() -> None:
    code = (
        "import sys; from incunabula.envs import scriptorium_v0\n"
        "from incunabula.agents.seat.gymnasium import ScriptoriumEnv\n"
        "from incunabula.envs.adapters.gymnasium import BibliogamoEnv\n"
        "env = BibliogamoEnv('bibliogamo-tiny', render_mode='ansi'); env.reset(seed=0)\n"
        "before = 'rich' in sys.modules; env.render(); print(before, 'rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_a_terminal_that_has_only_ascii_shows_boards_too() -> None:
    code = (
        "from incunabula.envs.adapters.gymnasium import BibliogamoEnv\n"
        "from incunabula.streams import print_anything; print_anything()\n"
        "env = BibliogamoEnv('bibliogamo-tiny', render_mode='ansi'); env.reset(seed=0)\n"
        "print(env.render())"
    )
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    lines = done.stdout.splitlines()
    assert {len(line) for line in lines} == {100}
    assert lines[0].startswith("+- Bibliogamo ---")
    assert "\\u" not in done.stdout


# Lines --------------------------------------------------------------------------------------------


def test_what_is_too_wide_is_cut() -> None:
    assert [cut("scribes", k) for k in (7, 6, 1, 0)] == ["scribes", "scrib…", "…", ""]
    assert cut("書物の塔", 6) == "書物…"
    assert cut("e\u0301" * 9, 5) == "e\u0301" * 4 + "…"  # what takes no column isn't counted
    assert name("a \ufe0f  b") == "a b"
    assert bar(2, 3, "#000000", 3) == [*bar(2, 2, "#000000", 3)[:1], bar(0, 1, "#000000", 3)[1]]
    assert to_text([bar(2, 30, "#000000", 3)], colour=False) == "2/30"


def test_items_flow_and_frames_hold() -> None:
    def line(text: str) -> list[Segment]:
        return [Segment(text)]

    block = flowing(
        [line(text) for text in ("one", "two", "three", "x" * 30)], 12, " ", line("a: ")
    )
    assert to_text(block, colour=False) == "a: one two\n   three\n   xxxxxxxx…"
    frame = framed(block, 16, line("t" * 30), line("r" * 30), line("foot"), height=4)
    assert {width_of(each) for each in frame} == {16}
    assert len(frame) == 6
    assert to_text(frame[-1:], colour=False) == "╰─ foot ───────╯"
