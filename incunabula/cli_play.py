"""The command `incunabula play`; thin, as those of `cli`."""

from typing import Annotated

import typer

from incunabula.cli_options import EditionOption, GameArgument


def play(
    game: GameArgument,
    edition: EditionOption = None,
    players: Annotated[
        int | None, typer.Option(help="Scriptorium: seats at the table; 2 by default.")
    ] = None,
    seat: Annotated[
        str | None,
        typer.Option(
            help="Scriptorium: your seat; several, separated by commas, or all, for persons who "
            "share the page; 0 by default."
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            help="Scriptorium: agents in the other seats, one for all or one for each, separated "
            "by commas; greedy by default."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the deal; drawn at random by default.")
    ] = None,
    hint: Annotated[
        str,
        typer.Option(
            help="Agent that gives hints: greedy, ppo, rollouts, search, optimal, or the path of "
            "a policy folder or run folder."
        ),
    ] = "greedy",
    load: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A replay of one game, to go on with or to look at."),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder that every game is recorded in when it ends or the program does; games "
            "saved by hand go there too, else to the current folder.",
        ),
    ] = None,
    port: Annotated[int, typer.Option(help="Port of the page; any that is free by default.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in your browser.")
    ] = True,
) -> None:
    """Play a game in your browser, alone or against agents, on a page of this machine's own.

    Needs the extra `play`. The page is at 127.0.0.1, at an address that nobody else knows; see
    docs/play.md.
    """
    from incunabula.training.play.command import run_play

    run_play(
        game,
        edition=edition,
        players=players,
        seat=seat,
        against=against,
        seed=seed,
        hint=hint,
        load=load,
        record=record,
        port=port,
        browser=browser,
    )
