"""What the command ``ladder`` does."""

from __future__ import annotations

import shlex
import sys
from typing import Any

from rich.console import Console
from rich.table import Table

from incunabula.training.arguments import check_game, listed, whole
from incunabula.training.evaluation.tables import PROVENANCE, table
from incunabula.training.output import deliver

Json = dict[str, Any]


def run_ladder(
    game: str,
    agents: str,
    *,
    games: int,
    search_games: int | None,
    league_deals: int | None,
    players: str | None,
    runs: str | None,
    seeds: str,
    edition: str | None,
    batch_size: int,
    backend: str,
    simulations: int | None,
    seconds_per_move: float | None,
    out: str,
    seed: int,
    fresh: bool,
    as_json: bool,
) -> None:
    """Measure what hasn't been measured yet, write the ladder's files, and print."""
    check_game(game)
    from incunabula.training.evaluation.files import check_folder, kept_if_used
    from incunabula.training.evaluation.result import move_budget
    from incunabula.training.ladder.ladder import default_sizes, make_ladder
    from incunabula.training.ladder.store import (
        known_measurements,
        read_results,
        write_part,
        write_result,
        written_files,
    )

    specs = listed("agents", agents)
    ladder = make_ladder(
        game,
        specs,
        edition=edition,
        sizes=default_sizes(game, games, search_games, league_deals),
        players=None
        if players is None
        else [whole("players", n) for n in listed("players", players)],
        runs=() if runs is None else listed("runs", runs),
        seeds=seeds,
        batch_size=batch_size,
        backend=backend,
        seed=seed,
        budget=move_budget(specs, simulations, seconds_per_move),
    )
    given = {
        "agents": agents,
        "games": games,
        "search-games": ladder.sizes.search_games,
        "league-deals": None if game == "bibliogamo" else ladder.sizes.league_deals,
        "players": players,
        "runs": runs,
        "seeds": seeds,
        "edition": edition,
        "simulations": simulations,
        "seconds-per-move": seconds_per_move,
        "seed": seed or None,
    }
    with kept_if_used(out):
        folder, basis = check_folder(out, files=written_files(game)), ladder.terms.basis
        read_results(folder)  # what isn't ours is found before the games, not after
        known = known_measurements(folder, game, basis)
        measured = False

        def keep(measurements: list[Json]) -> None:
            nonlocal measured
            write_part(folder, game, basis, measurements)
            measured = True

        try:
            result = ladder.play([] if fresh else known, keep)
        except KeyboardInterrupt:
            if measured:
                print(
                    f"incunabula: what was measured is kept in {folder}; the same command goes on "
                    "with the rest",
                    file=sys.stderr,
                )
            raise
        result["command"] = _command(game, given)
        deliver(result, print_ladder, lambda: write_result(folder, result), as_json=as_json)


def _command(game: str, given: Json) -> str:
    """The command that makes the ladder, whatever the defaults will be then."""
    words = ["incunabula", "ladder", game]
    for option, value in given.items():
        if value is not None:
            words += [f"--{option}", str(value)]
    return shlex.join(words)


# Columns that the page has room for and a terminal hasn't.
_PAGE_ONLY = ("rank", "sd of a game", "score", "training", "sd of a deal", "training of a run")


def print_ladder(result: Json, console: Console) -> None:
    """The rankings, and the training runs, as tables in the terminal."""
    from incunabula.training.ladder.cells import conditions, heading, machines, ranking, spread

    for ranked in result["tables"]:
        console.print(_terminal(heading(ranked), *ranking(ranked)))
        if ranked["training_runs"] is not None:
            seeds = "Several training seeds of one configuration"
            console.print(_terminal(seeds, *spread(ranked)))
    meaning = PROVENANCE[result["edition"]["provenance"]]
    note = f"{conditions(result)}. The edition is {meaning}. Times: {machines(result)}."
    console.print(note, style="dim", highlight=False)


def _terminal(title: str, head: list[str], rows: list[list[str]]) -> Table:
    """A table for a terminal: fewer columns, intervals on a line of their own."""
    kept = [at for at, column in enumerate(head) if column not in _PAGE_ONLY]
    heads = [head[at].removesuffix(" a decision") for at in kept]
    for broken in (" of the ", " between "):
        heads = [each.replace(broken, f"\n{broken.strip()} ") for each in heads]
    shown = table(title, *heads)
    for row in rows:
        shown.add_row(*(row[at].replace(" [", "\n[") for at in kept))
    return shown
