"""The `incunabula` command: thin functions that import what they run only when it is run.

To add a command, write a function here that declares the arguments and calls code elsewhere,
imported inside the function: `incunabula --version` must stay quick and must work without the
optional extras. Raise `IncunabulaError` for what the user can put right; `main` prints it.
"""

import contextlib
import os
import sys
from typing import Annotated

import typer

app = typer.Typer(
    help="Reinforcement-learning environments for board games about medieval books.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
editions_app = typer.Typer(help="Edition files: what the games are played with.")
app.add_typer(editions_app, name="editions", no_args_is_help=True)

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        from incunabula import __version__

        typer.echo(f"incunabula {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


@editions_app.command("list")
def editions_list(as_json: JsonOption = False) -> None:
    """List the editions that come with the package."""
    from incunabula.envs.bibliogamo.edition_summary import list_editions

    typer.echo(list_editions(as_json=as_json))


@editions_app.command("check")
def editions_check(
    file: Annotated[str, typer.Argument(help="An edition file, or the name of a shipped edition.")],
    as_json: JsonOption = False,
) -> None:
    """Check an edition file: print its summary, or everything that is wrong with it.

    Exit status 2 when the edition can't be used.
    """
    from incunabula.envs.bibliogamo.edition_summary import check_edition

    ok, text = check_edition(file, as_json=as_json)
    # JSON is the command's answer, good or bad; a list of faults for people is an error.
    typer.echo(text, err=not ok and not as_json)
    if not ok:
        raise typer.Exit(2)


def main() -> None:
    """Run the command line and exit.

    Exit status: 0 done, 1 a fault of the program or its output was closed, 2 something the user can
    put right (printed on stderr in a line), 130 interrupted.
    """
    from incunabula.envs.errors import IncunabulaError

    try:
        try:
            app()
        finally:
            # Write what is still buffered: here a closed pipe or a full disk can be dealt with.
            if sys.stdout is not None:
                sys.stdout.flush()
    except IncunabulaError as error:
        print(f"incunabula: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # whoever read the output, such as `| head`, has seen enough
        _discard_stdout()
        sys.exit(1)
    except OSError as error:
        print(f"incunabula: {error}", file=sys.stderr)
        _discard_stdout()
        sys.exit(2)


def _discard_stdout() -> None:
    """Keep the interpreter from failing once more when it flushes stdout at exit."""
    with contextlib.suppress(OSError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
