"""The command line in this process, for the tests."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from incunabula.cli import main
from incunabula.envs.compiled.functions import interpreted


class Outcome(NamedTuple):
    """What a command came to."""

    status: int
    out: str
    err: str


Cli = Callable[..., Outcome]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run the command in this process."""

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["incunabula", *map(str, arguments)])
        status: Any = 0
        with interpreted():  # a few decisions aren't worth compiling for
            try:
                main()
            except SystemExit as error:
                status = error.code or 0
        return Outcome(status, *capsys.readouterr())

    return run
