"""The commands `incunabula policies ...`; thin, as those of `cli`."""

from typing import Annotated

import typer

from incunabula.cli_options import JsonOption, complete_edition, complete_game, example

policies_app = typer.Typer(help="Policy folders: trained policies to keep and pass around.")

PolicyArgument = Annotated[
    str,
    typer.Argument(
        help="A policy folder or a run folder (its best policy), or the name of a game: the policy "
        "that comes with the package.",
        autocompletion=complete_game,
    ),
]
EditionOption = Annotated[
    str | None,
    typer.Option(
        help="Edition it is to play: a shipped name or a YAML file; by default the shipped one of "
        "the name it was made for.",
        autocompletion=complete_edition,
    ),
]


@policies_app.command("list", epilog=example("policies list runs"))
def policies_list(
    folders: Annotated[
        list[str] | None,
        typer.Argument(help="Folders to look for policies in; by default runs, if it is there."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the policies that come with the package, and those in folders."""
    from incunabula.training.policies import run_list

    run_list(folders or (), as_json=as_json)


@policies_app.command("show", epilog=example("policies show bibliogamo"))
def policies_show(policy: PolicyArgument, as_json: JsonOption = False) -> None:
    """Show what a policy says of itself: what it was made for, its network, how it was trained."""
    from incunabula.training.policies import run_show

    run_show(policy, as_json=as_json)


@policies_app.command("check", epilog=example("policies check runs/mine"))
def policies_check(
    policy: PolicyArgument, edition: EditionOption = None, as_json: JsonOption = False
) -> None:
    """Check whether a policy can be played here, and name everything that doesn't fit.

    Exit status 1 if it can't.
    """
    from incunabula.training.policies import run_check

    if not run_check(policy, edition, as_json=as_json):
        raise typer.Exit(1)


@policies_app.command("export", epilog=example("policies export runs/mine my-policy"))
def policies_export(
    policy: PolicyArgument,
    folder: Annotated[str, typer.Argument(help="A new folder to be passed around.")],
    onnx: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="A file for the network in ONNX too (needs onnx and onnxscript)."
        ),
    ] = None,
    edition: EditionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy a policy out of a run: weights and description, nothing that can be executed."""
    from incunabula.training.policies import run_export

    run_export(policy, folder, onnx, edition, as_json=as_json)
