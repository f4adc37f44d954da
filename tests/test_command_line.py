"""The program as a whole: help, JSON, exit status, completion, and the page that describes it."""

from __future__ import annotations

import errno
import itertools
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from incunabula.cli import ORDER, app
from incunabula.cli_options import complete_agents, complete_config, complete_edition
from incunabula.envs.errors import CheckFailedError, IncunabulaError
from incunabula.exits import run
from tests.commands import Cli, cli
from tests.pages import ROOT, docs_module, text_of

__all__ = ["cli"]

COMMANDS = dict(docs_module("tables").leaf_commands(get_command(app)))
# Commands without a table to print as JSON.
NO_JSON = {"play": "serves until it is stopped"}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_teaches(cli: Cli, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    outcome = cli(*name.split(), "--help")
    assert (outcome.status, outcome.err) == (0, "")
    assert f"Example: incunabula {name}" in outcome.out
    for parameter in COMMANDS[name].params:
        assert parameter.name == "help" or parameter.help, parameter.name
        if parameter.param_type_name == "option":
            assert parameter.opts[-1] in outcome.out


@pytest.mark.parametrize("width", [80, 100])
def test_help_fits_the_terminal(cli: Cli, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is cut off, and a paragraph's lines are as long as can be."""
    monkeypatch.setenv("COLUMNS", str(width))
    for name in ("", "editions", "policies", *COMMANDS):
        lines = cli(*name.split(), "--help").out.splitlines()
        assert lines
        assert not any("…" in line or len(line) > width for line in lines)
        text = [line.strip() for line in lines if not line.startswith(("│", "╭", "╰"))]
        for line, following in itertools.pairwise(text):
            if line and following:
                assert len(f"{line} {following.split()[0]}") > width - 2, (name, line)


def test_commands_are_listed_as_a_newcomer_may_want_them(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    out = cli("--help").out
    listed = re.findall(r"^│ (\w+) +\w", out, re.MULTILINE)
    assert listed == list(ORDER)
    assert {name.split()[0] for name in COMMANDS} == set(ORDER)
    assert "Example: incunabula evaluate" in out


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_print_json(name: str) -> None:
    options = [option for parameter in COMMANDS[name].params for option in parameter.opts]
    assert ("--json" in options) != (name in NO_JSON)


def test_the_page_has_every_command_and_option() -> None:
    page = text_of(ROOT / "docs" / "command_line.md")
    sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE))
    assert sections.keys() - {"Exit status", "Completion"} == set(COMMANDS)
    for name, command in COMMANDS.items():
        for parameter in command.params:
            if parameter.name != "help":
                shown = parameter.opts[-1]
                shown = shown if shown.startswith("-") else shown.upper()
                assert f"`{shown}`" in sections[name]


# Exit status --------------------------------------------------------------------------------------


def status_of(command: Any) -> int:
    try:
        run(command)
    except SystemExit as left:
        return int(left.code or 0)
    return 0


def raising(error: BaseException) -> Any:
    def command() -> None:
        raise error

    return command


def test_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(lambda: None) == 0
    assert status_of(raising(CheckFailedError("line 2: wrong"))) == 1
    assert status_of(raising(IncunabulaError("games: expected more"))) == 2
    assert status_of(raising(OSError(errno.ENOSPC, "No space left on device"))) == 2
    assert status_of(raising(OSError(errno.EACCES, "Permission denied", "a"))) == 2
    assert status_of(raising(KeyboardInterrupt())) == 130
    assert capsys.readouterr().err.splitlines() == [
        "incunabula: line 2: wrong",
        "incunabula: games: expected more",
        "incunabula: the output can't be written: No space left on device",
        f"incunabula: [Errno {errno.EACCES}] Permission denied: 'a'",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("evaluate", "bibliogamo", "--foo"), "no such option: --foo"),
        (("evaluat", "bibliogamo"), "no such command 'evaluat'"),
        (("replay",), "missing argument"),
        (("editions", "check"), "missing argument"),
        (("evaluate", "bibliogamo", "--games", "nan"), "invalid value for '--games'"),
        (("evaluate", "--games"), "option '--games' requires an argument"),
        (("doctor", "again"), "got unexpected extra argument"),
    ],
)
def test_what_is_wrong_with_a_command_line_is_told_in_a_line(
    cli: Cli, arguments: tuple[str, ...], said: str
) -> None:
    outcome = cli(*arguments)
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.startswith(f"incunabula: {said}")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("--version",), 0),
        (("--help",), 0),
        (("editions", "--help"), 0),
        (("editions", "check", "bibliogamo"), 0),
        (("editions", "check", "wrong.yaml"), 1),
        (("editions", "check", "missing.yaml"), 2),
        (("editions", "check", "bibliogmo"), 2),
        (("policies", "check", "bibliogamo"), 0),
        (("policies", "check", "bibliogamo", "--edition", "bibliogamo-tiny"), 1),
        (("policies", "check", "missing"), 2),
        (("conform", "missing.jsonl"), 2),
        (("hindsight", "--check", "missing.jsonl"), 2),
        (("evaluate",), 2),
        (("evaluate", "bibliogamo", "--gaems", "3"), 2),
        (("nosuch",), 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_commands_exit_as_the_page_says(
    cli: Cli,
    arguments: tuple[str, ...],
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.yaml").write_text("game: bibliogamo\n")
    outcome = cli(*arguments)
    assert outcome.status == status
    if status == 2:
        assert outcome.out == ""
        assert "Traceback" not in outcome.err


# What each command needs besides, so that nothing else is wrong with it.
SEEDED = {
    "bench": ("bibliogamo",),
    "bound": ("bibliogamo-tiny",),
    "evaluate": ("bibliogamo", "--agents", "random"),
    "hindsight": (),
    "ladder": ("bibliogamo",),
    "league": ("scriptorium", "--agents", "random,greedy"),
    "play": ("bibliogamo", "--no-browser"),
    "replay": ("games.jsonl",),
    "train": ("bibliogamo",),
}


@pytest.mark.parametrize("name", SEEDED)
def test_a_seed_out_of_range_is_refused_by_every_command_alike(cli: Cli, name: str) -> None:
    if name == "train":
        pytest.importorskip("sb3_contrib")
    option = "deal" if name == "hindsight" else "seed"
    for wrong in (-1, 2**64):
        outcome = cli(name, *SEEDED[name], f"--{option}", wrong)
        assert (outcome.status, outcome.out) == (2, "")
        assert outcome.err.strip() == (
            f"incunabula: {option}: expected a number in 0..{2**64 - 1} (2^64 - 1), got {wrong}"
        )


def test_every_command_that_takes_a_seed_is_among_them() -> None:
    named = {
        name
        for name, command in COMMANDS.items()
        if {"--seed", "--deal"} & {opt for parameter in command.params for opt in parameter.opts}
    }
    assert named == set(SEEDED)


def test_json_is_printed_of_a_check_that_failed_and_not_of_one_that_could_not_be_made(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "wrong.yaml").write_text("game: bibliogamo\n")
    outcome = cli("editions", "check", tmp_path / "wrong.yaml", "--json")
    assert (outcome.status, outcome.err) == (1, "")
    assert json.loads(outcome.out)["ok"] is False
    outcome = cli("editions", "check", tmp_path / "missing.yaml", "--json")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err == f"incunabula: {tmp_path / 'missing.yaml'}: there is no such file\n"


def test_ctrl_c_ends_a_command_with_130_and_without_a_traceback() -> None:
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a job of a shell ignores it\n"
        "import incunabula.training.policies as policies\n"
        "policies.run_list = lambda *a, **k: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.argv = ['incunabula', 'policies', 'list']\n"
        "from incunabula.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 128 + signal.SIGINT
    assert "Traceback" not in done.stderr


# Completion ---------------------------------------------------------------------------------------


@pytest.fixture
def completed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], list[str]]:
    """What a shell is told when these words have been typed."""

    def complete(shell: str, words: str) -> list[str]:
        given = {
            "_INCUNABULA_COMPLETE": f"complete_{shell}",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
            "_TYPER_COMPLETE_ARGS": words,
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        }
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        return re.findall(r"[\w,.-]+", cli().out)

    return complete


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_names(shell: str, completed: Callable[[str, str], list[str]]) -> None:
    assert "evaluate" in completed(shell, "incunabula eva")
    assert "bibliogamo" in completed(shell, "incunabula evaluate bib")
    command = "incunabula evaluate bibliogamo --edition"
    assert "bibliogamo-tiny" in completed(shell, f"{command} bibliogamo-t")
    command = "incunabula league scriptorium --agents"
    assert "random,greedy" in completed(shell, f"{command} random,g")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_is_installed_asks_the_program(
    shell: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--install-completion" in cli("--help").out
    monkeypatch.setenv("_INCUNABULA_COMPLETE", f"source_{shell}")
    outcome = cli()
    assert outcome.status == 0
    assert f"_INCUNABULA_COMPLETE=complete_{shell}" in outcome.out


def test_names_are_completed_after_a_comma() -> None:
    assert complete_agents("random,gr") == ["random,greedy"]
    assert "search" in complete_agents("")
    assert complete_agents("runs/mi") == []
    assert complete_edition("scriptorium-t") == ["scriptorium-tiny"]
    assert "demo" in complete_config("de")


# Extras that aren't installed ---------------------------------------------------------------------

EXTRAS = (
    *("choix", "matplotlib", "numba", "pettingzoo", "PIL", "sb3_contrib", "stable_baselines3"),
    *("starlette", "torch", "uvicorn"),
)
NEEDING = {
    "train bibliogamo": "training needs torch: install the extra, pip install 'incunabula[train]'",
    "league scriptorium": "ratings need choix, which is not installed: pip install 'incunabula[",
    "ladder scriptorium": "ratings need choix, which is not installed: pip install 'incunabula[",
    "evaluate bibliogamo --out x": "a report needs matplotlib, which is not installed: pip install",
    "policies export bibliogamo x --onnx y": "ONNX needs torch: install the extra, pip install",
    "play bibliogamo": "play needs uvicorn: install the extra, pip install 'incunabula[play]'",
    "bench bibliogamo --backend numba": "backend: numba is not installed: pip install 'incunabula[",
    "solve bibliogamo-tiny": "exact values need compiled code: numba is not installed: pip install",
    "bound bibliogamo-tiny": "bounds need compiled code: numba is not installed: pip install",
}


def test_what_needs_an_extra_says_so_in_a_line(tmp_path: Path) -> None:
    code = (
        "import contextlib, sys\n"
        f"sys.modules |= dict.fromkeys({EXTRAS})\n"  # importing one now fails
        "from incunabula.cli import main\n"
        f"for command in {list(NEEDING)}:\n"
        "    sys.argv = ['incunabula', *command.split()]\n"
        "    with contextlib.suppress(SystemExit):\n"
        "        main()\n"
        "try: import incunabula.envs.adapters.sb3\n"
        "except ImportError as error: print(error, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    *told, sb3 = done.stderr.splitlines()
    assert done.stdout == ""
    assert [line.startswith("incunabula: ") for line in told] == [True] * len(NEEDING)
    for line, said in zip(told, NEEDING.values(), strict=True):
        assert said in line
    assert sb3.startswith("an SB3 environment needs stable_baselines3: install the extra")
    assert not list(tmp_path.iterdir())
