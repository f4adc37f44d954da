"""Compare an engine with games played by another implementation, step by step.

File format (one JSON object a line, ``.gz`` the same compressed): ``edition``, ``edition_sha256``,
``seed`` or ``tape``, ``prestige``, ``initial``, ``steps`` of ``action``, ``state``, ``legal``
(before the action; may be left out) and ``reward``.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from incunabula.envs.bibliogamo.edition import Edition, load_edition, shipped_editions
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.chance import MASK64
from incunabula.envs.errors import IncunabulaError

Json = dict[str, Any]


@dataclass(frozen=True)
class Difference:
    """The first place where the engine and the file disagree."""

    game: int  # 0-based, in the file's order
    step: int  # steps taken before; 0 = the state first dealt
    field: str
    expected: Any
    found: Any

    def __str__(self) -> str:
        return (
            f"game {self.game}, step {self.step}, {self.field}: "
            f"expected {json.dumps(self.expected)}, found {json.dumps(self.found)}"
        )


@dataclass(frozen=True)
class Agreement:
    """How much was compared, and the first difference if there is one."""

    games: int
    steps: int
    difference: Difference | None


def read_games(path: str | Path) -> Iterator[tuple[int, Json]]:
    """(line number, game) for each line of a plain or gzip-compressed file.

    Raises:
        IncunabulaError: the file can't be read, or a line is not a JSON object.
    """
    path = Path(path)
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    game = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise IncunabulaError(f"{path}, line {number}: not JSON: {error}") from None
                if not isinstance(game, dict):
                    raise IncunabulaError(f"{path}, line {number}: expected a JSON object, a game")
                yield number, game
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise IncunabulaError(f"{path}: can't be read: {error}") from None


def conform(path: str | Path, edition: str | Path | Edition | None = None) -> Agreement:
    """Replay every game of a file; stops at the first difference.

    Args:
        path: the file of games.
        edition: play this edition, whatever the file says; by default the shipped edition whose
            hash the game names.

    Raises:
        IncunabulaError: the file is malformed, holds no game, or its edition is not among the
            shipped ones.
    """
    engines: dict[str, BibliogamoEngine] = {}
    steps = 0
    count = 0
    for number, game in read_games(path):
        where = f"{path}, line {number}"
        try:
            digest = game.get("edition_sha256")
            name = str(digest)
            if name not in engines:
                engines[name] = BibliogamoEngine(edition or _shipped(digest), 1)
            played, difference = _replay(engines[name], game, count)
        except IncunabulaError as error:
            raise IncunabulaError(f"{where}: {error}") from None
        except KeyError as error:
            raise IncunabulaError(f"{where}: malformed game: field {error} is missing") from None
        except (TypeError, AttributeError, ValueError, IndexError, OverflowError) as error:
            raise IncunabulaError(f"{where}: malformed game: {error}") from None
        count += 1
        steps += played
        if difference is not None:
            return Agreement(count, steps, difference)
    if not count:
        raise IncunabulaError(f"{path}: holds no game; expected a JSON object a line")
    return Agreement(count, steps, None)


def _shipped(digest: object) -> Edition:
    for name, sha256 in shipped_editions().items():
        if sha256 == digest:
            return load_edition(name)
    raise IncunabulaError(
        f"edition_sha256: {digest!r} is none of the shipped editions; name the file by --edition"
    )


def _replay(engine: BibliogamoEngine, game: Json, number: int) -> tuple[int, Difference | None]:
    """Play one game; (steps that agree, first difference)."""
    prestige = game.get("prestige")
    if prestige is not None:
        _whole("prestige", prestige, engine.tables.collections - 1)
    if game.get("tape") is not None:
        engine.deal_tape(0, game["tape"], prestige)
    else:
        seed = _whole("seed", game["seed"], MASK64)
        engine.deal(np.arange(1), np.array([seed], np.uint64), prestige)
    found = _differs(game["initial"], engine.snapshot(0))
    if found:
        return 0, Difference(number, 0, *found)
    for k, step in enumerate(game["steps"]):
        legal = [engine.action_to_json(0, int(i)) for i in np.flatnonzero(engine.mask[0])]
        if "legal" in step and _as_set(step["legal"]) != _as_set(legal):
            return k, Difference(number, k, "legal", step["legal"], legal)
        if _as_set([step["action"]]) - _as_set(legal):
            return k, Difference(number, k, "action", step["action"], legal)
        action = engine.action_from_json(0, step["action"])
        reward, _ = engine.apply(np.array([action]))
        if "reward" in step and step["reward"] != int(reward[0]):
            return k, Difference(number, k + 1, "reward", step["reward"], int(reward[0]))
        found = _differs(step["state"], engine.snapshot(0))
        if found:
            return k, Difference(number, k + 1, *found)
    return len(game["steps"]), None


def _whole(field: str, value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise IncunabulaError(f"{field}: expected a whole number in 0..{most}, got {value!r}")
    return value


def _as_set(actions: list[Json]) -> set[str]:
    return {json.dumps(action, sort_keys=True) for action in actions}


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _differs(expected: Json, found: Json) -> tuple[str, Any, Any] | None:
    """The first field that differs; every field of the rules' JSON form is compared."""
    for field in found:
        # As JSON texts, so that true is not 1 and 1.0 is not 1.
        if _text(expected[field]) != _text(found[field]):
            return field, expected[field], found[field]
    return None
