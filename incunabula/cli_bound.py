"""The command `incunabula bound`; thin, as those of `cli`."""

from typing import Annotated

import typer

from incunabula.cli_options import (
    JsonOption,
    SeedOption,
    SeedsOption,
    complete_agents,
    complete_edition,
)


def bound(
    edition: Annotated[
        str,
        typer.Argument(
            help="An edition of Bibliogamo: name or file.", autocompletion=complete_edition
        ),
    ],
    agent: Annotated[
        str,
        typer.Option(
            help="Agent whose mean score is the lower end: random, greedy, ppo, rollouts, search, "
            "or the path of a policy folder or run folder.",
            autocompletion=complete_agents,
        ),
    ] = "greedy",
    games: Annotated[int, typer.Option(help="How many deals it plays.")] = 2000,
    seeds: SeedsOption = "final",
    samples: Annotated[
        int,
        typer.Option(help="Draws for each estimate of the upper end; more make it smaller."),
    ] = 10_000,
    seed: SeedOption = 0,
    workers: Annotated[
        int, typer.Option(help="Processes that share the estimates; changes only the time taken.")
    ] = 1,
    save: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File that keeps every estimate as it is made; a command that was interrupted "
            "goes on with the rest.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Between what the best expected score lies: what an agent reaches, and what no policy exceeds.

    Needs the extra `fast`. The proof of the upper end is docs/optimal_bound.md.
    """
    from incunabula.training.bounds.command import run_bound

    run_bound(
        edition,
        agent,
        games=games,
        seeds=seeds,
        samples=samples,
        seed=seed,
        workers=workers,
        save=save,
        as_json=as_json,
    )
