"""The page in a real browser. With INCUNABULA_SCREENSHOTS=docs/images pictures are written there.

Skipped where there is no Chromium.
"""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from incunabula.envs.engine import Engine
from incunabula.envs.playback import verify
from incunabula.training.play.html import replay_html
from incunabula.training.play.saves import replay_from_file
from incunabula.training.play.session import Session
from incunabula.training.replay.advice import Advice, Adviser
from tests.browser import (
    chromium,
    click_thing,
    marks,
    number,
    said,
    served,
    visitor,
    wait_past,
)
from tests.replays import random_replay
from tests.tables import legal, play_on, seated, uncompiled

__all__ = ["chromium", "uncompiled"]

SCREENSHOTS = os.environ.get("INCUNABULA_SCREENSHOTS")


def opened(page: Any, address: str) -> int:
    """Open a game's page; the number of the position it shows."""
    page.goto(address)
    return wait_past(page, -1)


def click_on(page: Any, session: Session, last: bool = False) -> None:
    """Do something by clicking on the board, on a choice if there is one, or on the list."""
    old, found = number(page), marks(page)
    if found:
        click_thing(page, found[-1 if last else 0])
        if page.locator("#choice[open]").count():
            page.locator("#choices button").nth(-1 if last else 0).click()
    else:
        page.locator("#actions button").first.click()
    wait_past(page, old)


@pytest.mark.parametrize("game", ["bibliogamo", "scriptorium"])
def test_a_whole_game_is_played_by_clicking(chromium: Any, tmp_path: Path, game: str) -> None:
    session = seated(game)
    with served(session, tmp_path) as address, visitor(chromium) as window:
        page = window.page
        opened(page, address)
        on_board = 0
        for step in range(200):
            if session.over:
                break
            on_board += bool(marks(page))
            click_on(page, session, last=step % 3 != 0)
            if step == 2:  # a reload in mid-game
                page.reload()
                assert wait_past(page, -1) == session.moment.number
        assert session.over
        assert on_board > len(session.moment.frames) / 4
        verify([session.replay])
        assert "The game is over" in page.locator("#asked").inner_text()
        shown = page.locator("#scores strong").all_inner_texts()
        assert shown == list(map(str, session.scores))
        assert page.locator("#moves li").count() == len(session.actions)
        assert page.locator("#as-page").is_visible()
        page.keyboard.press("Home")
        assert page.locator("#where").inner_text() == f"0 / {len(session.actions)}"
        assert page.locator("#actions button").count() == 0
        assert all(url.startswith((address, "data:")) for url in window.requests)


def test_a_game_is_played_by_keyboard_alone(chromium: Any, tmp_path: Path) -> None:
    session = seated("bibliogamo")
    with served(session, tmp_path) as address, visitor(chromium) as window:
        page = window.page
        old = opened(page, address)
        page.keyboard.press("?")
        assert page.locator("#keys[open]").count() == 1
        page.keyboard.press("Escape")
        # On the board: tab to it, and go to a thing that can be used.
        for _ in range(30):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('.thing')"):
                break
        focused = "document.activeElement.dataset.mark ?? ''"
        seen = {page.evaluate(focused)}
        for arrow in ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown", "ArrowRight") * 3:
            page.keyboard.press(arrow)
            seen.add(page.evaluate(focused))
        assert len(seen) > 3
        outline = page.evaluate("getComputedStyle(document.activeElement).strokeWidth")
        assert outline == "5px"
        for mark in marks(page):
            page.locator(f".thing[data-mark='{mark}']").focus()
            break
        page.keyboard.press("Enter")
        if page.locator("#choice[open]").count():
            page.keyboard.press("ArrowDown")
            page.keyboard.press("Enter")
        old = wait_past(page, old)
        assert page.evaluate("document.activeElement.matches('.thing')")
        # By numbers, and by arrows in the list.
        for step in range(100):
            if session.over:
                break
            count = len(legal(session))
            if step == 1:
                page.locator("#actions button").first.focus()
                for _ in range(count):
                    page.keyboard.press("ArrowDown")
            page.keyboard.press("Enter" if step == 1 else "1")
            if step != 1 and count >= 10:
                page.keyboard.press("Enter")
            old = wait_past(page, old)
        assert session.over
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        assert page.locator("#where").inner_text() == f"1 / {len(session.actions)}"


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_focus_is_never_lost(chromium: Any, tmp_path: Path, motion: str) -> None:
    session = seated("scriptorium")
    with (
        served(session, tmp_path) as address,
        visitor(chromium, reduced_motion=motion) as window,
    ):
        page = window.page
        old = opened(page, address)
        focused = "document.activeElement.id || document.activeElement.className.baseVal"
        for _ in range(4):  # with the others' moves shown in between
            page.locator(f".thing[data-mark='{marks(page)[0]}']").focus()
            page.keyboard.press("Enter")
            if page.locator("#choice[open]").count():
                page.keyboard.press("Enter")
            old = wait_past(page, old)
            assert page.evaluate(focused) in ("scene", "thing", "thing legal")
            page.locator(".thing.legal").first.wait_for(state="attached")
            assert page.evaluate(focused).startswith("thing")
        page.keyboard.press("Home")
        assert page.evaluate(focused) == "scene"
        page.keyboard.press("End")
        assert page.evaluate(focused).startswith("thing")
        for key, buttons in (("Home", ("first", "back")), ("End", ("forward", "last"))):
            for button in buttons:
                page.locator(f"#{button}").focus()
                page.keyboard.press(key)
                page.keyboard.press("Enter")
                assert page.evaluate(focused) == button
                assert page.locator(f"#{button}").get_attribute("aria-disabled") == "true"
        page.locator("#larger").focus()
        for _ in range(6):
            page.keyboard.press("Enter")
        assert page.evaluate(focused) == "larger"
        page.keyboard.press("Home")
        page.locator("#asked button").focus()
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.matches('#actions button')")


def test_a_finished_game_of_others_has_their_names(chromium: Any, tmp_path: Path) -> None:
    theirs = random_replay("scriptorium-tiny", 2)
    session = seated("scriptorium", deal=theirs.deal)
    session.load(theirs)
    with served(session, tmp_path) as address, visitor(chromium) as window:
        opened(window.page, address)
        names = window.page.locator("#scores .name").all_inner_texts()
        assert names == [f"{name} (seat {k})" for k, name in enumerate(theirs.players)]
        assert "You" not in window.page.locator("#asked").inner_text()
        assert "you" not in window.page.locator("#moves").inner_text()


def test_what_is_illegal_is_explained(chromium: Any, tmp_path: Path) -> None:
    session = seated("bibliogamo")
    with served(session, tmp_path) as address, visitor(chromium) as window:
        page = window.page
        opened(page, address)
        mark = next(mark for mark in marks(page, ".thing:not(.legal)") if session.why(mark))
        clause, reason, _ = session.why(mark)[0]
        click_thing(page, mark)
        page.locator("#why[open]").wait_for()
        told = page.locator("#reasons li").first.inner_text()
        assert told.startswith(clause)
        assert reason in told
        assert reason in said(page)
        page.keyboard.press("Escape")
        assert page.locator("#why[open]").count() == 0
        assert session.actions == []


def test_a_program_that_is_gone_is_told_once(chromium: Any, tmp_path: Path) -> None:
    session = seated("bibliogamo")
    with served(session, tmp_path) as address, visitor(chromium) as window:
        page = window.page
        opened(page, address)
        page.evaluate(
            "told = 0;"
            "new MutationObserver(() => told += 1).observe(byId('said'), { childList: true })"
        )
        page.route("**/*", lambda route: route.abort())
        click_thing(page, marks(page, ".thing:not(.legal)")[0])
        page.locator("#said", has_text="doesn’t answer").wait_for()
        page.wait_for_timeout(3_500)  # for two questions whether the game has changed
        assert page.evaluate("told") <= 2
        window.errors[:] = [error for error in window.errors if "net::ERR_FAILED" not in error]


def test_undo_hint_save_and_load(chromium: Any, tmp_path: Path) -> None:
    session = seated("bibliogamo")
    with served(session, tmp_path / "saves") as address, visitor(chromium) as window:
        page = window.page
        old = opened(page, address)
        while session.no_undo and not session.over:
            page.locator("#actions button").first.click()
            old = wait_past(page, old)
        taken, old = len(session.actions), number(page)
        page.locator("#undo").click()
        old = wait_past(page, old)
        assert len(session.actions) == taken - 1
        assert page.locator("#moves li").count() == taken - 1
        asked = session.moment.frames[-1]["asked"]
        assert said(page).startswith("Taken back. Turn ")
        assert said(page).endswith(f". Now you: {asked}.")
        page.keyboard.press("t")
        page.locator(".tag.tip").wait_for()
        assert "greedy would" in said(page)
        page.locator("#save").click()
        page.locator("#said", has_text="Saved as").wait_for()
        (file,) = (tmp_path / "saves").iterdir()
        actions, board = list(session.actions), page.locator("#scene svg > g").inner_html()
        page.locator("#new").click()
        page.locator("#seed").fill("123")
        page.keyboard.press("Enter")
        old = wait_past(page, old)
        assert session.deal == {"seed": "123"}
        page.locator("#actions button").first.click()
        old = wait_past(page, old)
        page.locator("#load").click()  # which gives the present game up, as a new one does
        page.locator("#swap .close").click()
        page.locator("#load").click()
        with page.expect_file_chooser():
            page.locator("#swap-yes").click()
        page.locator("#file").set_input_files(file)
        old = wait_past(page, old)
        assert session.actions == actions
        assert page.locator("#scene svg > g").inner_html() == board
        nonsense = tmp_path / "nonsense.jsonl"
        nonsense.write_text("<b>not a game</b>")
        page.locator("#file").set_input_files(nonsense)
        page.locator("#said", has_text="nonsense.jsonl, line 1: isn't JSON").wait_for()
        assert replay_from_file(file).actions == tuple(actions)


@pytest.mark.parametrize("game", ["bibliogamo", "scriptorium"])
def test_what_happened_and_what_is_asked_now_is_said(
    chromium: Any, tmp_path: Path, game: str
) -> None:
    session = seated(game)
    with served(session, tmp_path) as address, visitor(chromium) as window:
        page = window.page
        old = opened(page, address)
        you = "you" if game == "bibliogamo" else "you (seat 0)"
        for begins in ("Turn 1", "You", "You") if game == "bibliogamo" else ("Round 1", "You"):
            frame = session.moment.frames[-1]
            assert said(page).startswith(begins)
            assert said(page).endswith(f" Now {you}: {frame['asked']}.")
            assert frame["done"] is None or f": {frame['done']['label']}." in said(page)
            assert frame["asked"] in page.locator("#heading").inner_text()
            assert page.locator("#asked").inner_text() == f"It is your turn: {frame['asked']}."
            assert frame["asked"] in page.locator("#slider").get_attribute("aria-valuetext")
            page.locator("#actions button").last.click()
            old = wait_past(page, old)
            page.locator(f"body[data-number='{session.moment.number}']").wait_for()
        old = number(page)
        page.locator("#new").click()
        page.locator("#anew-yes").click()
        wait_past(page, old)
        assert re.match(r"A new game\. (Turn|Round) 1", said(page))


@pytest.mark.parametrize("game", ["bibliogamo", "scriptorium"])
def test_on_a_phone_the_board_can_be_read_and_moved(
    chromium: Any, tmp_path: Path, game: str
) -> None:
    options: dict[str, Any] = {"players": 4} if game == "scriptorium" else {}
    session = seated(game, edition=game, **options)
    play_on(session, 5)
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    least = """() => {
        const svg = document.querySelector("#scene svg");
        const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        const texts = [...svg.querySelectorAll("text")];
        return scale * Math.min(...texts.map((text) => text.getAttribute("font-size")));
    }"""
    with served(session, tmp_path) as address, visitor(chromium, **phone) as window:
        page = window.page
        old = opened(page, address)
        scene = page.locator("#scene")
        width = page.evaluate("document.querySelector('#scene svg').clientWidth")
        assert width == 760
        assert scene.bounding_box()["width"] <= 390
        page.locator("#larger").click()
        page.locator("#larger").click()
        if page.evaluate(least) < 9:
            page.locator("#larger").click()
        assert page.evaluate(least) >= 9
        # The board moves in its place, the page doesn't, and what is done leaves it where it is.
        scene.evaluate("scene => { scene.scrollLeft = 333; }")
        page.locator("#actions button").first.click()
        old = wait_past(page, old)
        assert scene.evaluate("scene => scene.scrollLeft") == 333
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        mark = marks(page)[0]
        shape = page.locator(f"#scene g [data-mark='{mark}']").first
        shape.evaluate("shape => shape.scrollIntoView({ block: 'center', inline: 'center' })")
        box = shape.bounding_box()
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.locator(f"#choice[open], body:not([data-number='{old}'])").first.wait_for()
        if page.locator("#choice[open]").count():
            assert page.locator("#choice").bounding_box()["width"] <= 390
            page.locator("#choices button").first.tap()
        wait_past(page, old)
        # As a whole, for those who want to see it all.
        while page.locator("#smaller").is_enabled():
            page.locator("#smaller").click()
        assert page.locator("#scene svg").bounding_box()["width"] <= 390
        page.set_viewport_size({"width": 844, "height": 390})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


class Slow(Adviser):
    """Thinks until it is let go."""

    go = threading.Event()

    def advise(self, engine: Engine, row: int, decision: int) -> Advice:
        assert self.go.wait(60)
        return super().advise(engine, row, decision)


def test_a_hint_that_takes_long_can_be_done_without(
    chromium: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, slow = seated("bibliogamo"), Slow("greedy", seated("bibliogamo").table.edition)
    monkeypatch.setitem(session.table._made, "greedy", slow)
    with served(session, tmp_path) as address, visitor(chromium) as window:
        page = window.page
        old = opened(page, address)
        try:
            waiting = page.locator("#waiting")
            page.keyboard.press("t")
            waiting.filter(has_text=re.compile(r"^greedy is thinking… [3-9] s\.")).wait_for()
            page.locator("#said", has_text="compiled when it is first used").wait_for()
            assert "You can play on" in waiting.inner_text()
            page.locator("#cancel").click()
            waiting.wait_for(state="hidden")
            assert "No hint is waited for" in said(page)
            page.keyboard.press("t")
            waiting.wait_for()
            page.keyboard.press("Escape")
            waiting.wait_for(state="hidden")
            # Playing on does without it, too.
            page.locator("#hint").click()
            waiting.wait_for()
            page.locator("#actions button").first.click()
            old = wait_past(page, old)
            waiting.wait_for(state="hidden")
            assert len(session.actions) == 1
        finally:
            slow.go.set()
        page.locator("#hint").click()
        page.locator(".tag.tip").wait_for()
        assert "greedy would" in said(page)
        assert number(page) == old


def test_two_tabs_show_the_same_game(chromium: Any, tmp_path: Path) -> None:
    session = seated("scriptorium", seat="all")
    with served(session, tmp_path) as address, visitor(chromium) as window:
        page, other = window.page, window.tab()
        old = opened(page, address)
        opened(other, address)
        # One that hasn't heard yet: its change is refused, and it is brought up to date.
        other.route("**/state*", lambda route: route.fulfill(json={}))
        other.bring_to_front()
        page.locator("#actions button").first.click()
        new = wait_past(page, old)
        other.locator("#actions button").nth(1).click()
        assert wait_past(other, old) == new
        other.locator("#said", has_text="moved on").wait_for()
        assert len(session.actions) == 1
        other.unroute("**/state*")
        other.locator("#actions button").first.click()
        assert wait_past(other, new) == wait_past(page, new)
        assert len(session.actions) == 2


def test_others_are_kept_out(chromium: Any, tmp_path: Path) -> None:
    session = seated("bibliogamo")
    bait = tmp_path / "bait.html"
    with served(session, tmp_path) as address, visitor(chromium) as window:
        page = window.page
        host = address.rsplit("/", 2)[0]
        assert page.goto(f"{host}/{'x' * 32}/").status == 404
        assert page.goto(address.replace("127.0.0.1", "localhost")).status == 421
        bait.write_text(
            f"<iframe src='{address}'></iframe><script src='{address}page.js'></script>"
        )
        page.goto(bait.as_uri())
        tried = page.evaluate(
            """address => fetch(address + "act", {
                method: "POST", headers: {"Content-Type": "application/json"}, body: "{}"
            }).then(() => "read", () => "refused")""",
            address,
        )
        assert tried == "refused"
        assert session.actions == []
        assert page.evaluate("typeof page === 'undefined' || typeof board")  # no script of ours
        window.errors.clear()


@pytest.mark.parametrize("size", [(1280, 860), (390, 780)])
def test_a_replay_needs_no_network(chromium: Any, tmp_path: Path, size: tuple[int, int]) -> None:
    session = seated("scriptorium", players=3)
    play_on(session)
    frames = [dict(frame) for frame in session.moment.frames]
    for k, frame in enumerate(frames):
        frame["note"] = {"value": 5.0 - k / 7, "regret": (k % 3) / 4, "luck": (-1) ** k * 0.5}
        frame["legal"] = [{**each, "probability": 0.25, "value": 1.5} for each in frame["legal"]]
    names = ["</script><b>mine</b>", "greedy", "random"]
    file = tmp_path / "game.html"
    file.write_text(replay_html({**session.moment.facts, "players": names, "frames": frames}))
    width, height = size
    viewport = {"width": width, "height": height}
    with visitor(chromium, viewport=viewport, offline=True) as window:
        page = window.page
        page.goto(file.as_uri())
        last = len(frames) - 1
        where = page.locator("#where")
        assert where.inner_text() == f"0 / {last}"
        for key, expected in (("End", last), ("ArrowLeft", last - 1), ("Home", 0)):
            page.keyboard.press(key)
            assert where.inner_text() == f"{expected} / {last}"
        page.locator("#forward").click()
        page.locator("#slider").fill("5")
        assert where.inner_text() == f"5 / {last}"
        assert page.locator("#actions .played").count() == 1
        assert page.locator("#note dd").all_inner_texts() == ["4.29", "0.50", "−0.50"]
        assert page.locator("#graph .line").count() == 3 + 3  # scores and values
        assert names[0] in page.locator("#scores").inner_text()
        assert page.locator("#actions button").count() == 0
        assert page.locator("#undo").is_hidden()
        page.keyboard.press("End")
        page.locator("#auto").click()
        page.locator("#where", has_text=re.compile(rf"^1 / {last}$")).wait_for()
        page.locator("#auto").click()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.locator("#scene").bounding_box()["width"] <= width
        assert [url for url in window.requests if not url.startswith("data:")] == [file.as_uri()]


@pytest.mark.skipif(SCREENSHOTS is None, reason="INCUNABULA_SCREENSHOTS names no folder")
@pytest.mark.parametrize("game", ["bibliogamo", "scriptorium"])
def test_pictures_for_the_documentation(chromium: Any, tmp_path: Path, game: str) -> None:
    folder = Path(str(SCREENSHOTS))
    options: dict[str, Any] = {"players": 3, "against": "greedy"} if game == "scriptorium" else {}
    session = seated(game, edition=game, **options)
    for _ in range(34):
        session.act(session.hint("greedy")["action"])
    with served(session, tmp_path) as address, visitor(chromium) as window:
        opened(window.page, address)
        window.page.keyboard.press("t")
        window.page.locator(".tag.tip").wait_for()
        window.page.screenshot(path=folder / f"play_{game}.png")
