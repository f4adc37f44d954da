"""The command `incunabula ladder`; thin, as those of `cli`."""

from typing import Annotated

import typer

from incunabula.cli_options import (
    BackendOption,
    BatchSizeOption,
    EditionOption,
    GameArgument,
    JsonOption,
    SecondsOption,
    SeedOption,
    SeedsOption,
    SimulationsOption,
    complete_agents,
)


def ladder(
    game: GameArgument,
    agents: Annotated[
        str,
        typer.Option(
            help="Agents, separated by commas: names, or paths of policy folders or run folders; "
            "all that there are by default.",
            autocompletion=complete_agents,
        ),
    ] = "random,greedy,ppo,rollouts,search",
    games: Annotated[
        int,
        typer.Option(help="How many deals an agent plays; Scriptorium: each from every seat."),
    ] = 2000,
    search_games: Annotated[
        int | None,
        typer.Option(
            help="How many of these deals an agent that searches plays; 50 by default, 10 in "
            "Scriptorium."
        ),
    ] = None,
    league_deals: Annotated[
        int | None,
        typer.Option(
            help="Scriptorium: how many deals each table of the league plays; 5 by default."
        ),
    ] = None,
    players: Annotated[
        str | None,
        typer.Option(help="Scriptorium: numbers of players, such as 2,4; by default all."),
    ] = None,
    runs: Annotated[
        str | None,
        typer.Option(
            help="Finished run folders, separated by commas, that differ in the training seed "
            "alone: the spread of their policies is shown."
        ),
    ] = None,
    seeds: SeedsOption = "final",
    edition: EditionOption = None,
    batch_size: BatchSizeOption = 512,
    backend: BackendOption = "auto",
    simulations: SimulationsOption = None,
    seconds_per_move: SecondsOption = None,
    out: Annotated[
        str, typer.Option(metavar="FOLDER", help="Folder for ladder.md and ladder-GAME.json.")
    ] = "ladder",
    seed: SeedOption = 0,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Measure everything anew, also what is in the folder.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Rank all agents on the same deals, with differences, times and training cost.

    Writes a page and JSON. What the folder holds of the same agents, deals and code isn't measured
    again, so that an interrupted command goes on where it was. Agents that search take long: name
    few --search-games, or leave them out of --agents.
    """
    from incunabula.training.ladder.command import run_ladder

    run_ladder(
        game,
        agents,
        games=games,
        search_games=search_games,
        league_deals=league_deals,
        players=players,
        runs=runs,
        seeds=seeds,
        edition=edition,
        batch_size=batch_size,
        backend=backend,
        simulations=simulations,
        seconds_per_move=seconds_per_move,
        out=out,
        seed=seed,
        fresh=fresh,
        as_json=as_json,
    )
