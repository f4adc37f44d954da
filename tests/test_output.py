"""What commands print and leave behind on odd terminals, full disks and closed pipes."""

from __future__ import annotations

import html
import io
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from incunabula.agents.agent import Agent, View
from incunabula.exits import run
from incunabula.streams import print_anything
from incunabula.training.evaluation.tables import plain_console, short_names
from incunabula.training.league.evaluate import evaluate_versus
from incunabula.training.league.league import league
from incunabula.training.league.tables import print_league, print_versus
from incunabula.training.output import deliver
from tests.commands import Cli, cli

__all__ = ["cli"]

TINY = ("--edition", "scriptorium-tiny")


def terminal(encoding: str, errors: str = "strict") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=errors, newline="\n")


def printed(stream: Any) -> bytes:
    stream.flush()
    return bytes(stream.buffer.getvalue())


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_tables_print_where_the_terminal_has_only_ascii(
    monkeypatch: pytest.MonkeyPatch, errors: str
) -> None:
    monkeypatch.setattr(sys, "stdout", terminal("ascii", errors))
    print_anything()
    print("a − b: −0.5 · 3 × “x”…, ß")
    assert printed(sys.stdout) == b'a - b: -0.5 - 3 x "x"~, \\xdf\n'


def test_what_an_encoding_has_is_printed_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding, text, want in (
        ("cp1252", "× · − ß", "× · - ß".encode("cp1252")),
        ("utf-8", "× · − ß", "× · − ß".encode()),
        ("utf-8", "a\udcffb", b"a\xffb"),  # a file's name that isn't UTF-8
    ):
        monkeypatch.setattr(sys, "stdout", terminal(encoding))
        print_anything()
        print(text)
        assert printed(sys.stdout) == want + b"\n"


def test_an_error_handler_of_the_users_own_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", terminal("ascii", "replace"))
    print_anything()
    print("−")
    assert printed(sys.stdout) == b"?\n"
    monkeypatch.setattr(sys, "stdout", None)  # as under pythonw
    print_anything()


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "scriptorium", *TINY, "--against", "random", "--games", 2),
        ("evaluate", "bibliogamo", "--edition", "bibliogamo-tiny", "--games", 2),
        ("bench", "scriptorium", *TINY, "--num-envs", 1, "--opponents", "random"),
    ],
    ids=lambda command: f"{command[0]} {command[1]}",
)
def test_commands_print_where_the_terminal_has_only_ascii(
    monkeypatch: pytest.MonkeyPatch, command: tuple[object, ...]
) -> None:
    usual = ("--agents", "random", "--backend", "numpy")
    more = ("--seconds", "0.05") if command[0] == "bench" else usual
    monkeypatch.setattr(sys, "argv", ["incunabula", *map(str, command), *more])
    monkeypatch.setattr(sys, "stdout", terminal("ascii"))
    from incunabula.cli import main

    main()
    assert b" - engine num" in printed(sys.stdout).replace(b" \n", b" ")


def test_warnings_say_what_and_not_where_in_the_code(capsys: pytest.CaptureFixture[str]) -> None:
    before = warnings.formatwarning

    def warn() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            # As Python does where nobody records warnings.
            warnings.showwarning = lambda message, *more: print(
                warnings.formatwarning(message, *more), end="", file=sys.stderr
            )
            warnings.warn("mind the step", stacklevel=1)

    run(warn)
    assert capsys.readouterr().err == "incunabula: warning: mind the step\n"
    assert warnings.formatwarning is before


@pytest.mark.parametrize("game", ["scriptorium", "bibliogamo"])
def test_a_report_is_written_even_if_nobody_reads_the_output(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, game: str
) -> None:
    pytest.importorskip("matplotlib")
    command = ("evaluate", game, "--edition", f"{game}-tiny", "--agents", "random", "--games", 2)
    more = ("--against", "random") if game == "scriptorium" else ()
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        outcome = cli(*command, *more, "--out", tmp_path / "report")
    assert outcome.status == 1
    assert (tmp_path / "report" / "report.html").exists()


def test_what_was_measured_is_printed_even_if_the_disk_is_full(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def write() -> Path:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        deliver({"games": 4}, lambda result, console: console.print(result), write, as_json=False)
    assert capsys.readouterr().out == "{'games': 4}\n"


def test_a_full_device_is_told_as_the_output(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(SystemExit) as status:
        run(lambda: print("games"))
    assert status.value.code == 2
    said = "incunabula: the output can't be written: No space left on device\n"
    assert capsys.readouterr().err == said


def test_a_start_that_fails_leaves_no_folder_behind(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("choix")
    (tmp_path / "mine").mkdir()
    for out in ("a/b", "mine", "mine/c"):
        for command in (
            ("league", "scriptorium", "--agents", "random,nobody"),
            ("evaluate", "scriptorium", "--agents", "random", "--games", 0),
            ("evaluate", "bibliogamo", "--agents", "nobody"),
        ):
            outcome = cli(*command, "--out", tmp_path / out)
            assert outcome.status == 2, outcome
    assert [path.name for path in tmp_path.rglob("*")] == ["mine"]


class Named(Agent):
    """Takes the first legal action under any name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def act(self, view: View) -> npt.NDArray[np.intp]:
        return view.action_mask.argmax(axis=1)


def test_reports_and_tables_show_any_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("choix")
    pytest.importorskip("matplotlib")
    from incunabula.training.league.report import write_league
    from incunabula.training.league.versus_report import write_versus

    names = ["run[b]", "[/]", "$x_{$", "a\udcffb", "写本", "<b>", ":smile:"]
    agents = [Named(name) for name in names]
    played = league(agents, edition="scriptorium-tiny", deals=1)
    page = write_league(tmp_path, played).read_text(encoding="utf-8")
    versus = evaluate_versus(agents, against=agents[1], edition="scriptorium-tiny", deals=1)
    page += write_versus(tmp_path, versus).read_text(encoding="utf-8")
    console = plain_console()
    console.width = 200
    print_league(played.result, console)
    print_versus(versus.result, console)
    out = capsys.readouterr().out
    for shown in short_names(names).values():
        assert out.count(shown) >= 6, shown
        assert page.count(html.escape(shown)) >= 6, shown
