"""Options that several commands share."""

from typing import Annotated

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
GameArgument = Annotated[str, typer.Argument(help="The game: bibliogamo or scriptorium.")]
EditionOption = Annotated[
    str | None,
    typer.Option(help="Edition: a shipped name or a YAML file; by default the game's own."),
]
SeedOption = Annotated[int, typer.Option(help="Seed of everything random that isn't a deal.")]
SeedsOption = Annotated[str, typer.Option(help="List of deals: dev or final.")]
BatchSizeOption = Annotated[
    int, typer.Option(help="Games played at once; changes only the time taken.")
]
BackendOption = Annotated[
    str,
    typer.Option(
        help="What works out the rules: numpy, numba, or auto: numba where it is installed; "
        "changes only the time taken."
    ),
]
SimulationsOption = Annotated[
    int | None,
    typer.Option(help="Imagined games a move, of agents that search; results repeat exactly."),
]
SecondsOption = Annotated[
    float | None,
    typer.Option(
        "--seconds-per-move",
        help="Time a move, of agents that search; n games at once have n times as much. Results "
        "then depend on the machine.",
    ),
]
