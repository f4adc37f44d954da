"""What the command ``replay`` does."""

from __future__ import annotations

import contextlib
import os
import sys
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.console import Console

from incunabula.agents.search.budget import Budget
from incunabula.envs.chance import check_seed
from incunabula.envs.drawing.modes import colour_wanted
from incunabula.envs.editions import BaseEdition, load_any_edition
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.files import check_writable, file_to_write
from incunabula.envs.playback import edition_of
from incunabula.envs.replay import Replay
from incunabula.training.evaluation.files import write_atomically
from incunabula.training.evaluation.progress import SlowProgress
from incunabula.training.evaluation.result import move_budget
from incunabula.training.evaluation.tables import plain_console
from incunabula.training.output import deliver, print_json
from incunabula.training.replay.advice import Adviser
from incunabula.training.replay.frames import game_frames
from incunabula.training.replay.load import load_games
from incunabula.training.replay.terminal import move_text, step_through

Json = dict[str, Any]
LISTED = 20  # games of a file that are listed


def run_replay(
    file: str,
    *,
    game: int | None,
    edition: str | None,
    agent: str | None,
    html: str | None,
    simulations: int | None,
    seconds_per_move: float | None,
    seed: int,
    as_json: bool,
) -> None:
    """Verify a file of games; list them, or show one of them."""
    if not file.strip():
        raise IncunabulaError(f"file: expected a file of replays, got {file!r}")
    if html is not None:
        _check_page(html, file)
    budget = _budget(agent, simulations, seconds_per_move)
    seed = check_seed(seed)
    given = None if edition is None else load_any_edition(edition)
    games = load_games(file, given)
    if game is not None and not 1 <= game <= len(games):
        held = "1 game" if len(games) == 1 else f"games 1 to {len(games):,}"
        raise IncunabulaError(f"game: {file} holds {held}, got {game}")
    if game is None and len(games) > 1:
        for option, value in (("agent", agent), ("html", html)):
            if value is not None:
                raise IncunabulaError(
                    f"{option}: {file} holds {len(games):,} games; choose one by --game"
                )
        deliver(
            {"file": file, "games": [_entry(k, g) for k, g in enumerate(games, 1)]},
            _print_list,
            None,
            as_json=as_json,
        )
        return
    number = 1 if game is None else game
    replay = games[number - 1]
    played = edition_of(replay, given)
    adviser = None if agent is None else Adviser(agent, played, seed=seed, budget=budget)
    boards: list[str] = []
    shown = _frames(replay, played, adviser, boards, drawn=html is not None)
    page = None
    if html is not None:
        page = _write_page(Path(html), shown)
    if as_json:
        print_json(
            {"file": file, **_entry(number, replay), **_judged(adviser), "moves": _moves(shown)}
        )
    elif page is None and sys.stdin is not None and sys.stdin.isatty():
        step_through(_title(replay), shown, boards)
    elif page is None:
        _print_moves(replay, shown, plain_console())
    else:
        _line(plain_console(), f"Verified: {_title(replay)}")
    if page is not None:
        print(f"Page: {page}", file=sys.stderr if as_json else sys.stdout)


def _budget(agent: str | None, simulations: int | None, seconds: float | None) -> Budget | None:
    if agent is None:
        for option, value in (("simulations", simulations), ("seconds-per-move", seconds)):
            if value is not None:
                raise IncunabulaError(f"{option}: is an agent's; name it by --agent")
        return None
    if simulations is not None or seconds is not None:
        return move_budget([agent], simulations, seconds)
    return None


def _frames(
    replay: Replay, edition: BaseEdition, adviser: Adviser | None, boards: list[str], *, drawn: bool
) -> Json:
    """``game_frames``, with a bar if it is slow; and every position's board as text."""
    drawing = import_module(f"incunabula.envs.{edition.game}.drawing")
    coloured = colour_wanted() and sys.stdout is not None and sys.stdout.isatty()
    coloured = coloured and os.environ.get("TERM") != "dumb"
    with SlowProgress(len(replay.actions), "replay") as progress:

        def seen(engine: Engine) -> None:
            boards.append(drawing.draw_text(edition, engine.snapshot(0), coloured))
            progress.advance(1)

        return game_frames(replay, edition, adviser, drawn=drawn, on_position=seen)


def _check_page(html: str, file: str) -> None:
    """See that a page can take this name, before the games are played."""
    if not html.strip():
        raise IncunabulaError("html: the file's name is empty")
    page = file_to_write(Path(html))
    same = False
    with contextlib.suppress(OSError, ValueError):  # where one of them isn't there
        same = page.samefile(file)
    if same:
        raise IncunabulaError(f"html: {html} is the file of replays itself; choose another")
    check_writable(page)


def _write_page(path: Path, shown: Json) -> Path:
    from incunabula.training.play.html import replay_html

    write_atomically(path, replay_html(shown).encode("utf-8"))
    return path


# As JSON ------------------------------------------------------------------------------------------


def _entry(number: int, replay: Replay) -> Json:
    """A game of a file, in a few values."""
    return {
        "number": number,
        "game": replay.game,
        "edition": replay.edition,
        "edition_sha256": replay.edition_sha256,
        "incunabula": replay.incunabula,
        "players": list(replay.players),
        "deal": replay.shown_deal,
        "finished": replay.finished,
        "scores": list(replay.scores),
        "decisions": len(replay.actions),
    }


def _judged(adviser: Adviser | None) -> Json:
    return {} if adviser is None else {"agent": adviser.agent.name}


def _moves(shown: Json) -> list[Json]:
    """Every move: who, what, where; what is known of it, and of the position it was made in."""
    frames = shown["frames"]
    moves = []
    for before, after in pairwise(frames):
        done = after["done"]
        choice = next(each for each in before["legal"] if each["action"] == done["action"])
        known = {name: choice[name] for name in ("probability",) if name in choice}
        known |= {name: before["note"][name] for name in ("value",) if name in before["note"]}
        known |= {name: after["note"][name] for name in ("regret", "luck") if name in after["note"]}
        moves.append({"heading": before["heading"], **done, "scores": after["scores"], **known})
    return moves


# For people ---------------------------------------------------------------------------------------


def _title(replay: Replay) -> str:
    """Who played what: "bibliogamo, edition bibliogamo-tiny, seed 7: greedy 12"."""
    scored = _scored(replay.players, replay.scores)
    so_far = "" if replay.finished else " so far"
    return f"{replay.game}, edition {replay.edition}, {replay.shown_deal}: {scored}{so_far}"


def _print_list(result: Json, console: Console) -> None:
    """The games of a file, the first of them one by one."""
    games = result["games"]
    for entry in games[:LISTED]:
        scored = _scored(entry["players"], entry["scores"])
        _line(console, f"{entry['number']:4d}  {scored}  ({entry['deal']})")
    if len(games) > LISTED:
        _line(console, f"   …  and {len(games) - LISTED:,} more")
    total: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for entry in games:
        for name, score in zip(entry["players"], entry["scores"], strict=True):
            total[name] += score
            count[name] += 1
    means = ", ".join(f"{name} {total[name] / count[name]:.2f}" for name in count)
    _line(
        console,
        f"{result['file']}: {len(games):,} games verified: every action is legal, every score is "
        f"right. Mean scores: {means}. Show one by --game.",
    )


def _print_moves(replay: Replay, shown: Json, console: Console) -> None:
    """A game as a list of its moves."""
    for k, (before, after) in enumerate(pairwise(shown["frames"]), 1):
        _line(console, f"{k:4d}  {before['heading']}  {move_text(after, shown['players'])}")
    _line(console, f"Verified: {_title(replay)}")


def _scored(players: Sequence[str], scores: Sequence[int]) -> str:
    """Who scored what: "greedy 58, random 3"."""
    return ", ".join(f"{name} {score}" for name, score in zip(players, scores, strict=True))


def _line(console: Console, text: str) -> None:
    """Print a line as it is, however long."""
    console.print(text, highlight=False, soft_wrap=True)
