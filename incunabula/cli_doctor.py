"""The command `incunabula doctor`; thin, as those of `cli`."""

from typing import Annotated

import typer

from incunabula.cli_options import JsonOption


def doctor(
    speed: Annotated[
        bool,
        typer.Option(
            "--speed/--no-speed",
            help="Measure how fast both games are played: a second each, and up to a minute each "
            "where rules are to be compiled first.",
        ),
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Say what is installed and works here, how fast, what is missing and how to get it.

    Exit status 1 when something is broken; what is optional may be missing.
    """
    from incunabula.training.doctor import run_doctor

    if not run_doctor(speed=speed, as_json=as_json):
        raise typer.Exit(1)
