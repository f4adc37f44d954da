"""A real browser for the tests of the page: Chromium, if there is one."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from incunabula.training.play.saves import Saves
from incunabula.training.play.server import Server
from incunabula.training.play.session import Session

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A running browser with a profile of its own; the tests are skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no Chromium on the PATH (looked for {', '.join(NAMES)})")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


class Visitor:
    """A browser's window on a page, and all that it asked the network for.

    Attributes:
        page: Playwright's.
        requests: addresses, in order.
        errors: what went wrong in the page's scripts.
    """

    def __init__(self, browser: Any, **options: Any) -> None:
        usual = {"reduced_motion": "reduce", "viewport": {"width": 1280, "height": 860}}
        self.context = browser.new_context(**usual | options)
        self.context.set_default_timeout(60_000)
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.page = self.tab()

    def tab(self) -> Any:
        """Another tab of the same window."""
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._heard)
        return page

    def _heard(self, message: Any) -> None:
        # A refused change is logged by the browser; everything else is a fault.
        if message.type == "error" and "status of 4" not in message.text:
            self.errors.append(message.text)


@contextmanager
def visitor(browser: Any, **options: Any) -> Iterator[Visitor]:
    """A window with nothing kept from others; fails if scripts did."""
    window = Visitor(browser, **options)
    try:
        yield window
        assert window.errors == []
    finally:
        window.context.close()


@contextmanager
def served(session: Session, folder: Path) -> Iterator[str]:
    """The address of the page of a game."""
    server = Server(session, Saves(folder))
    started = threading.Event()
    thread = threading.Thread(target=server.run, args=(started.set,))
    thread.start()
    try:
        assert started.wait(30)
        yield server.address
    finally:
        server.stop()
        thread.join(30)


def number(page: Any) -> int:
    """The number of the position that the page shows."""
    return int(page.locator("body").get_attribute("data-number"))


def wait_past(page: Any, old: int) -> int:
    """Wait until the page knows a later position than this, and nobody moves; its number."""
    page.locator(f"body[data-number]:not([data-number='{old}'], .busy)").wait_for()
    return number(page)


def click_thing(page: Any, mark: str) -> None:
    """Click in the middle of one of the shapes that a thing of the board consists of."""
    shape = page.locator(f"#scene g [data-mark='{mark}']").first
    shape.scroll_into_view_if_needed()
    box = shape.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def marks(page: Any, which: str = ".thing.legal") -> list[str]:
    """The marks of things."""
    return page.locator(which).evaluate_all("all => all.map(each => each.dataset.mark)")


def said(page: Any) -> str:
    """What the live region says."""
    return page.locator("#said").inner_text()
