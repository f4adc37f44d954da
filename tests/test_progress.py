"""Progress shows names as they are, whatever stands in them."""

from __future__ import annotations

import pytest

from incunabula.training.evaluation import progress
from incunabula.training.evaluation.progress import SlowProgress
from incunabula.training.exact.command import Counting

NAME = "search(runs/[/x] [red]y, 8)"


def test_names_are_not_read_as_markup(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "DELAY", 0)
    monkeypatch.setattr(progress, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with SlowProgress(4) as bar:
        bar.advance(1, NAME)
        bar.advance(1)
    assert "runs/[/x] [red]y" in plain(capsys.readouterr().err)
    with Counting(f"evaluating {NAME}") as counting:
        counting.count(3)
    assert "runs/[/x] [red]y" in plain(capsys.readouterr().err)


def plain(text: str) -> str:
    """Without colours."""
    from rich.text import Text

    return Text.from_ansi(text).plain
