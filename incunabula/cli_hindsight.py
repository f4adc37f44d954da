"""The command `incunabula hindsight`; thin, as those of `cli`."""

from typing import Annotated

import typer

from incunabula.cli_options import EditionOption, JsonOption


def hindsight(
    game: Annotated[str, typer.Argument(help="The game: bibliogamo.")] = "bibliogamo",
    deal: Annotated[int | None, typer.Option(help="Seed of the deal.")] = None,
    seeds: Annotated[
        str | None, typer.Option(help="With --games: list of deals, dev or final.")
    ] = None,
    games: Annotated[
        int | None, typer.Option(help="In place of --deal: how many deals of a list.")
    ] = None,
    edition: EditionOption = None,
    prestige: Annotated[
        int | None, typer.Option(help="Prestige collection of every deal; drawn by default.")
    ] = None,
    width: Annotated[
        int | None,
        typer.Option(
            help="Positions kept at each point of a turn, 120 by default; more find more."
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes that share the deals; changes only the time taken."),
    ] = None,
    save: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File that keeps every line as it is found, one deal a line; a command that was "
            "interrupted goes on with the rest.",
        ),
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Replay the lines of a saved file by the rules instead."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """The best line of play found knowing the deal: a lower bound on what hindsight gives.

    It reads the hidden order of the cards, so that no player can be held to it; beside it stands
    what no play of the deal can exceed. Use the extra `fast`: without it this takes very long.
    """
    from incunabula.training.hindsight.command import run_hindsight

    run_hindsight(
        game,
        deal=deal,
        seeds=seeds,
        games=games,
        edition=edition,
        prestige=prestige,
        width=width,
        workers=workers,
        save=save,
        check=check,
        as_json=as_json,
    )
