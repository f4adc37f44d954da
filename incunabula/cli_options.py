"""Options that several commands share, and what the shell may complete."""

from collections.abc import Sequence
from typing import Annotated

import typer


def example(arguments: str) -> str:
    """The last line of a command's help: the command as one may give it."""
    return f"Example: incunabula {arguments}"


# Completion ---------------------------------------------------------------------------------------
# The shell asks with what has been typed; modules are loaded only then.


def complete_game(incomplete: str) -> list[str]:
    """Games that begin so."""
    from incunabula.envs.editions import GAMES

    return _that_begin(GAMES, incomplete)


def complete_edition(incomplete: str) -> list[str]:
    """Shipped editions that begin so; for files the shell's own completion is left."""
    from incunabula.envs.editions import shipped_editions

    return _that_begin(list(shipped_editions()), incomplete)


def complete_agents(incomplete: str) -> list[str]:
    """Agents separated by commas, the last of which begins so."""
    from incunabula.agents.registry import AGENTS, SEARCHERS

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in _that_begin((*AGENTS, *SEARCHERS), last)]


def complete_backend(incomplete: str) -> list[str]:
    """Backends that begin so."""
    from incunabula.envs.backend import BACKENDS

    return _that_begin(BACKENDS, incomplete)


def complete_seeds(incomplete: str) -> list[str]:
    """Lists of deals that begin so."""
    from incunabula.training.evaluation.seeds import SEED_LISTS

    return _that_begin(list(SEED_LISTS), incomplete)


def complete_config(incomplete: str) -> list[str]:
    """Shipped training configurations that begin so."""
    from incunabula.training.ppo.config import shipped_configs

    return _that_begin(shipped_configs(), incomplete)


def _that_begin(names: Sequence[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


# Options ------------------------------------------------------------------------------------------

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
GameArgument = Annotated[
    str,
    typer.Argument(help="The game: bibliogamo or scriptorium.", autocompletion=complete_game),
]
EditionOption = Annotated[
    str | None,
    typer.Option(
        help="Edition: a shipped name or a YAML file; by default the game's own.",
        autocompletion=complete_edition,
    ),
]
SeedOption = Annotated[int, typer.Option(help="Seed of everything random that isn't a deal.")]
SeedsOption = Annotated[
    str, typer.Option(help="List of deals: dev or final.", autocompletion=complete_seeds)
]
BatchSizeOption = Annotated[
    int, typer.Option(help="Games played at once; changes only the time taken.")
]
BackendOption = Annotated[
    str,
    typer.Option(
        help="What works out the rules: numpy, numba, or auto: numba where it is installed; "
        "changes only the time taken.",
        autocompletion=complete_backend,
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
