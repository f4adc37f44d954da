"""A ladder's folder: ladder.md, ladder-GAME.json, and what an unfinished run has measured so far.

The files of a folder are written in whole or not at all, and what this module didn't write is never
overwritten.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from incunabula.envs.editions import GAMES
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.files import open_regular
from incunabula.training.evaluation.files import json_file, write_atomically
from incunabula.training.ladder.cells import machines, ranking, with_interval
from incunabula.training.ladder.ladder import SCHEMA_VERSION
from incunabula.training.ladder.measure import by_deal
from incunabula.training.ladder.page import page
from incunabula.training.ladder.short import short_table

Json = dict[str, Any]
PAGE = "ladder.md"
MAX_BYTES = 1 << 28
KINDS = ("ladder", "ladder-part")


def result_path(folder: Path, game: str) -> Path:
    """The file of a game's ladder."""
    return folder / f"ladder-{game}.json"


def part_path(folder: Path, game: str) -> Path:
    """The file of what an unfinished run has measured; gone once it is finished."""
    return folder / f"ladder-{game}.part.json"


def written_files(game: str) -> tuple[str, ...]:
    """The names of what a game's ladder writes into its folder."""
    return PAGE, result_path(Path(), game).name, part_path(Path(), game).name


def read_results(folder: str | Path) -> dict[str, Json]:
    """Game -> its ladder, of those that lie in a folder.

    Raises:
        IncunabulaError: a file can't be read, or isn't a ladder.
    """
    found = {}
    for game in GAMES:
        result = _read(result_path(Path(folder), game), game, "ladder")
        if result is not None:
            found[game] = result
    return found


def known_measurements(folder: Path, game: str, basis: Json) -> list[Json]:
    """What was measured before on this basis, by a finished run and by an unfinished one.

    Raises:
        IncunabulaError: a file can't be read, or is somebody else's.
    """
    found: list[Json] = []
    for path, kind in zip((result_path(folder, game), part_path(folder, game)), KINDS, strict=True):
        kept = _read(path, game, kind)
        if kept is not None and kept["basis"] == basis:
            found += kept["measurements"]
    return found


def write_part(folder: Path, game: str, basis: Json, measurements: list[Json]) -> None:
    """Keep what an unfinished run has measured."""
    kept = {
        "schema_version": SCHEMA_VERSION,
        "kind": "ladder-part",
        "game": game,
        "basis": basis,
        "measurements": measurements,
    }
    write_atomically(part_path(folder, game), json_file(kept))


def write_result(folder: Path, result: Json) -> Path:
    """Write a finished ladder and the page of all that lie in the folder; the page's path."""
    results = read_results(folder) | {result["game"]: result}
    text = page(results)
    write_atomically(result_path(folder, result["game"]), json_file(result))
    write_atomically(folder / PAGE, text.encode("utf-8", "backslashreplace"))
    part_path(folder, result["game"]).unlink(missing_ok=True)
    return folder / PAGE


def _read(path: Path, game: str, kind: str) -> Json | None:
    """A file's content, if it is there and sound."""
    try:
        with open_regular(path) as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except IncunabulaError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise IncunabulaError(f"{path}: can't be read: {reason}") from None
    wrong = _fault(raw, game, kind)
    if wrong is not None:
        raise IncunabulaError(
            f"{path}: {wrong}, so it isn't overwritten; move it away or name another folder by "
            "--out"
        )
    value: Json = json.loads(raw)
    return value


def _fault(raw: bytes, game: str, kind: str) -> str | None:
    """What keeps a file from being such a ladder; None if nothing does."""
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_not_json)
    except (ValueError, RecursionError):
        return "isn't JSON, or is cut off"
    if not isinstance(value, dict) or value.get("kind") != kind:
        return "isn't a ladder that this command wrote"
    if value.get("schema_version") != SCHEMA_VERSION:
        return f"isn't of schema version {SCHEMA_VERSION}"
    if value.get("game") != game:
        return f"isn't of {game}"
    checks: list[Callable[[], object]] = [lambda: _check_measurements(value)]
    if kind == "ladder":
        checks += [lambda: page({game: value}), lambda: short_table(value)]
    try:
        for check in checks:
            check()
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
        return "is a ladder with parts that are missing or damaged"
    return None


def _not_json(name: str) -> None:
    raise ValueError(name)  # NaN or Infinity


def _check_measurements(value: Json) -> None:
    """Raise what ``_fault`` expects unless they can be used again: compared and shown."""
    if not isinstance(value["basis"], dict):
        raise TypeError
    for entry in value["measurements"]:
        key = entry["key"]
        if key["measured"] == "league":
            bool(entry["rating"]["separated"])
            for agent in entry["agents"]:
                with_interval(agent["rating"], agent["rating_ci95"], 2)
            continue
        if type(key["players"]) is not int or key["players"] < 1:
            raise ValueError
        for what in ("score",) if key["players"] == 1 else ("score", "win_share"):
            results = by_deal(entry, what)
            if len(results) != key["deals"] or not np.isfinite(results).all():
                raise ValueError
        row = entry | {"rank": 1, "name": str(key["name"]), "training": None, "next": None}
        table = {"players": key["players"], "rows": [row]}
        ranking(table)
        machines({"tables": [table]})
