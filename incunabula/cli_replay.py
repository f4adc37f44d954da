"""The command `incunabula replay`; thin, as those of `cli`."""

from typing import Annotated

import typer

from incunabula.cli_options import JsonOption, SecondsOption, SeedOption, SimulationsOption


def replay(
    file: Annotated[
        str, typer.Argument(help="Replays as JSON lines, plain or .gz, as --record writes them.")
    ],
    game: Annotated[
        int | None,
        typer.Option(
            help="The number of the game in the file, from 1; needed if it holds several."
        ),
    ] = None,
    edition: Annotated[
        str | None,
        typer.Option(
            help="Edition the games were played with, if it isn't a shipped one: a YAML file."
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            help="Agent that judges each move: ppo, optimal, rollouts, search, greedy, or the path "
            "of a policy folder or run folder. Also the luck of the draws, where it is known."
        ),
    ] = None,
    html: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File for the game as a page that needs nothing else."),
    ] = None,
    simulations: SimulationsOption = None,
    seconds_per_move: SecondsOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Verify recorded games, and step through one: Enter next, b back, a number to jump, q quits.

    Where input isn't a terminal, the moves are printed as a list. Every action is played again by
    the rules; a file that isn't what it claims to be is refused.
    """
    from incunabula.training.replay.command import run_replay

    run_replay(
        file,
        game=game,
        edition=edition,
        agent=agent,
        html=html,
        simulations=simulations,
        seconds_per_move=seconds_per_move,
        seed=seed,
        as_json=as_json,
    )
