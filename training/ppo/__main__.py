"""`python -m incunabula.training.ppo CONFIG`: the same as `incunabula train --config CONFIG`."""

from typing import Annotated

import typer

from incunabula.exits import run


def _main(
    config: Annotated[str, typer.Argument(help="Name or file of a configuration.")] = "default",
    out: Annotated[str | None, typer.Option(help="A new folder for the run.")] = None,
    resume: Annotated[str | None, typer.Option(help="Go on with the run in this folder.")] = None,
    seed: Annotated[int | None, typer.Option(help="Replaces the configuration's.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, ...")] = None,
    steps: Annotated[int | None, typer.Option(help="Replaces total_steps.")] = None,
    num_envs: Annotated[int | None, typer.Option(help="Replaces num_envs.")] = None,
    players: Annotated[str | None, typer.Option(help="Replaces players, such as 2,3,4.")] = None,
    backend: Annotated[str | None, typer.Option(help="numpy, numba or auto.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Train as a configuration says."""
    from incunabula.training.ppo.command import run_train

    run_train(
        None,
        None if resume else config,
        out,
        resume,
        seed=seed,
        device=device,
        steps=steps,
        num_envs=num_envs,
        players=players,
        backend=backend,
        as_json=as_json,
    )


def main() -> None:
    """Run and exit, with the statuses of `incunabula.exits.run`."""
    run(lambda: typer.run(_main))


if __name__ == "__main__":
    main()
