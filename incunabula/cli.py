"""The `incunabula` command: thin functions that import what they run only when it is run.

To add a command, write a function here that declares the arguments and calls code elsewhere,
imported inside the function: `incunabula --version` must stay quick and must work without the
optional extras. Raise `IncunabulaError` for what the user can put right; `main` prints it.
"""

from functools import partial
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from incunabula.cli_bound import bound
from incunabula.cli_doctor import doctor
from incunabula.cli_hindsight import hindsight
from incunabula.cli_ladder import ladder
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
    complete_config,
    complete_edition,
    example,
)
from incunabula.cli_play import play
from incunabula.cli_policies import policies_app
from incunabula.cli_replay import replay
from incunabula.exits import run

# As a newcomer may want them: play, measure, train, compare; what is known; files.
ORDER = (
    *("doctor", "play", "replay", "evaluate", "train", "league", "ladder", "bench"),
    *("solve", "bound", "hindsight", "editions", "policies", "conform"),
)


class Program(TyperGroup):
    """Lists its commands in ``ORDER``."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=ORDER.index)


app = typer.Typer(
    cls=Program,
    help="Environments for reinforcement learning in two games about making books: Bibliogamo, a "
    "solitaire, and Scriptorium, for 2 to 4 players; with agents, training and evaluation.",
    epilog="Each command explains itself: incunabula evaluate --help. "
    + example("evaluate bibliogamo --agents random,greedy --games 500"),
    no_args_is_help=True,
    rich_markup_mode="markdown",  # which fills paragraphs to the terminal's width
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
editions_app = typer.Typer(help="Edition files: what the games are played with.")
app.add_typer(editions_app, name="editions", no_args_is_help=True)
app.add_typer(policies_app, name="policies", no_args_is_help=True)
app.command(
    epilog=example("ladder bibliogamo --agents random,greedy,ppo --games 1000 --out ladder")
)(ladder)
app.command(epilog=example("hindsight --deal 7 --width 64"))(hindsight)
app.command(epilog=example("doctor"))(doctor)
app.command(epilog=example("bound bibliogamo --agent greedy --samples 2000"))(bound)
app.command(epilog=example("replay games/greedy.jsonl --game 1"))(replay)
app.command(epilog=example("play scriptorium --players 3 --against greedy,ppo"))(play)

ReportOption = Annotated[
    str | None,
    typer.Option(metavar="FOLDER", help="Folder for a report: HTML, pictures, JSON and CSV."),
]
RecordOption = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER", help="Folder for replays of all games: incunabula replay shows them."
    ),
]


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


@editions_app.command("list", epilog=example("editions list"))
def editions_list(as_json: JsonOption = False) -> None:
    """List the editions that come with the package."""
    from incunabula.envs.edition_summary import list_editions

    typer.echo(list_editions(as_json=as_json))


@editions_app.command("check", epilog=example("editions check my-cards.yaml"))
def editions_check(
    file: Annotated[
        str,
        typer.Argument(
            help="An edition file, or the name of a shipped edition.",
            autocompletion=complete_edition,
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Check an edition file: print its summary, or everything that is wrong with it.

    Exit status 1 when something is wrong with it.
    """
    from incunabula.envs.edition_summary import check_edition

    ok, text = check_edition(file, as_json=as_json)
    # JSON is the command's answer, good or bad; a list of faults for people is an error.
    typer.echo(text, err=not ok and not as_json)
    if not ok:
        raise typer.Exit(1)


@app.command(
    epilog=example("evaluate bibliogamo --agents random,greedy,ppo --games 500 --out report")
)
def evaluate(
    game: GameArgument,
    agents: Annotated[
        str,
        typer.Option(
            help="Agents, separated by commas: random, greedy, ppo, rollouts, search, or paths of "
            "policy folders or run folders.",
            autocompletion=complete_agents,
        ),
    ] = "random,greedy,ppo",
    games: Annotated[
        int,
        typer.Option(help="How many deals each agent plays; Scriptorium: each from every seat."),
    ] = 2000,
    seeds: SeedsOption = "final",
    edition: EditionOption = None,
    prestige: Annotated[
        int | None,
        typer.Option(help="Bibliogamo: prestige collection of every game; drawn by default."),
    ] = None,
    players: Annotated[
        int | None, typer.Option(help="Scriptorium: seats at the table; 2 by default.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            help="Scriptorium: who has the other seats; greedy by default.",
            autocompletion=complete_agents,
        ),
    ] = None,
    batch_size: BatchSizeOption = 512,
    backend: BackendOption = "auto",
    simulations: SimulationsOption = None,
    seconds_per_move: SecondsOption = None,
    luck: Annotated[
        bool,
        typer.Option(
            "--luck",
            help="Also give scores less the luck of the draws, whose intervals are narrower "
            "(bibliogamo).",
        ),
    ] = False,
    par: Annotated[
        bool,
        typer.Option(
            "--par", help="Bibliogamo: also hold scores against the best line found in hindsight."
        ),
    ] = False,
    par_width: Annotated[
        int | None,
        typer.Option(help="With --par: width of its beam, 64 by default; wider finds more."),
    ] = None,
    out: ReportOption = None,
    record: RecordOption = None,
    run: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FOLDER",
            help="Run folder whose learning curve the report shows; may be repeated.",
        ),
    ] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Compare agents on the same deals: means, 95% intervals, differences deal by deal.

    In Bibliogamo by their scores. In Scriptorium by their share of the wins from every seat, all
    other seats taken by one opponent.
    """
    from incunabula.training.evaluation.command import run_evaluate

    run_evaluate(
        game,
        agents,
        games=games,
        seeds=seeds,
        edition=edition,
        prestige=prestige,
        players=players,
        against=against,
        batch_size=batch_size,
        backend=backend,
        out=out,
        runs=run or (),
        record=record,
        seed=seed,
        simulations=simulations,
        seconds_per_move=seconds_per_move,
        luck=luck,
        par=par,
        par_width=par_width,
        as_json=as_json,
    )


@app.command(
    epilog=example("league scriptorium --players 3 --agents random,greedy,ppo --deals 100")
)
def league(
    game: Annotated[str, typer.Argument(help="The game: scriptorium.")],
    agents: Annotated[
        str,
        typer.Option(
            help="At least two, separated by commas: random, greedy, ppo, rollouts, search, or "
            "paths of policy folders or run folders. Names may stand twice.",
            autocompletion=complete_agents,
        ),
    ] = "random,greedy,ppo",
    players: Annotated[int, typer.Option(help="Seats at a table.")] = 2,
    deals: Annotated[int, typer.Option(help="How many deals each table plays.")] = 500,
    rotations: Annotated[
        str | None,
        typer.Option(
            help="Seatings of each deal: cyclic or all; all for up to 3 players by default."
        ),
    ] = None,
    seeds: SeedsOption = "final",
    edition: EditionOption = None,
    batch_size: BatchSizeOption = 512,
    backend: BackendOption = "auto",
    simulations: SimulationsOption = None,
    seconds_per_move: SecondsOption = None,
    out: ReportOption = None,
    record: RecordOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Let agents meet in all combinations, each deal in all seats: win shares and ratings.

    With fewer agents than seats, each meets copies of each other, one among many and many against
    one. Needs the extra `train`.
    """
    from incunabula.training.league.command import run_league

    run_league(
        game,
        agents,
        players=players,
        deals=deals,
        rotations=rotations,
        seeds=seeds,
        edition=edition,
        batch_size=batch_size,
        backend=backend,
        out=out,
        record=record,
        seed=seed,
        simulations=simulations,
        seconds_per_move=seconds_per_move,
        as_json=as_json,
    )


@app.command(epilog=example("bench bibliogamo --num-envs 1,64,1024 --seconds 2"))
def bench(
    game: GameArgument,
    num_envs: Annotated[
        str | None,
        typer.Option(
            help="Numbers of games to measure, separated by commas; by default 1,64,1024, and "
            "8192 in bibliogamo."
        ),
    ] = None,
    edition: EditionOption = None,
    players: Annotated[
        int | None,
        typer.Option(help="Scriptorium: seats; as many as the edition allows by default."),
    ] = None,
    opponents: Annotated[
        str | None,
        typer.Option(
            help="Scriptorium: agents that hold the other seats of a learner's view, measured one "
            "after the other; random,greedy by default."
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            help="Other implementations to measure too, separated by commas: numpy, sync, oracle, "
            "pgx, openspiel."
        ),
    ] = None,
    backend: BackendOption = "auto",
    seconds: Annotated[float, typer.Option(help="Time for each row of the result.")] = 5.0,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure steps per second of random legal play, and where the time goes."""
    from incunabula.training.evaluation.command import run_bench

    run_bench(
        game,
        num_envs,
        edition=edition,
        players=players,
        opponents=opponents,
        against=against,
        backend=backend,
        seconds=seconds,
        seed=seed,
        as_json=as_json,
    )


@app.command(epilog=example("solve bibliogamo-tiny --agents random,greedy"))
def solve(
    edition: Annotated[
        str,
        typer.Argument(
            help="A small edition of Bibliogamo: name or file.", autocompletion=complete_edition
        ),
    ],
    agents: Annotated[
        str | None,
        typer.Option(
            help="Agents whose exact values are worked out too, separated by commas: random, "
            "greedy, ppo, or paths of policy folders or run folders.",
            autocompletion=complete_agents,
        ),
    ] = None,
    max_memory: Annotated[
        float, typer.Option(help="GB that a table of values may take; larger editions are refused.")
    ] = 8.0,
    save: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="File for the values, to be played by as agent optimal:FILE."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """The optimal expected score of a small edition, exactly, and how far agents fall short of it.

    Needs the extra `fast`. An edition that is too large is refused beforehand.
    """
    from incunabula.training.exact.command import run_solve

    run_solve(edition, agents, max_memory=max_memory, save=save, as_json=as_json)


@app.command(epilog=example("conform games.jsonl.gz --backend all"))
def conform(
    file: Annotated[str, typer.Argument(help="Games as JSON lines, plain or .gz.")],
    edition: Annotated[
        str | None,
        typer.Option(
            help="Edition the games are played with; by default the shipped one whose hash a game "
            "names."
        ),
    ] = None,
    backend: Annotated[
        str,
        typer.Option(
            help="What works out the rules: numpy, numba, auto, or all: each that is installed."
        ),
    ] = "all",
    as_json: JsonOption = False,
) -> None:
    """Compare the engine with recorded games, step by step.

    Exit status 1 at the first difference, 2 when the file can't be understood.
    """
    from incunabula.training.evaluation.command import run_conform

    if not run_conform(file, edition, backend=backend, as_json=as_json):
        raise typer.Exit(1)


@app.command(epilog=example("train bibliogamo --config demo --out runs/mine"))
def train(
    game: GameArgument,
    config: Annotated[
        str | None,
        typer.Option(
            help="Configuration: demo, default, long, or a file.", autocompletion=complete_config
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="A new folder for the run; by default runs/NAME."),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Go on with the run in this folder, exactly."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Replaces the configuration's.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, ...; by default cpu.")] = None,
    steps: Annotated[int | None, typer.Option(help="Replaces total_steps.")] = None,
    num_envs: Annotated[int | None, typer.Option(help="Replaces num_envs.")] = None,
    players: Annotated[
        str | None, typer.Option(help="Numbers of players, such as 2,3,4 (scriptorium).")
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option(help="Replaces the configuration's: numpy, numba or auto. Resumed runs too."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Train a policy with masked PPO (needs the extra `train`)."""
    from incunabula.training.ppo.command import run_train

    run_train(
        game,
        config,
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
    """Run the command line and exit; the status is that of ``run``."""
    # By its own name also where it is run as `python -m incunabula`.
    run(partial(app, prog_name="incunabula", standalone_mode=False))
