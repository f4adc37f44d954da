"""Compare the engines with games played by another implementation, step by step.

File format (one JSON object a line, ``.gz`` the same compressed): ``edition``, ``edition_sha256``,
``seed`` or ``tape``, ``initial``, ``steps`` of ``action``, ``state`` and ``legal`` (before the
action; may be left out). Bibliogamo has ``prestige`` and each step's ``reward``; Scriptorium has
``players``, ``winners`` and ``outcome``, and each step's ``rewards`` (changes of the scores) and
``margins`` (own score less the best other's, after the step).
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.backend import BACKENDS, chosen_backend, installed_backends
from incunabula.envs.bibliogamo import edition as bibliogamo_edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.chance import MASK64
from incunabula.envs.documents import did_you_mean
from incunabula.envs.editions import BaseEdition, load_any_edition, shipped_editions
from incunabula.envs.engine import Engine, Int32Array
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.json_state import Json
from incunabula.envs.lines import read_lines
from incunabula.envs.scriptorium import edition as scriptorium_edition
from incunabula.envs.scriptorium.edition_checks import MAX_PLAYERS
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.envs.scriptorium.payoffs import margins, outcome, winners

Found = tuple[str, Any, Any]  # field, expected, found
GAMES = "recorded games"  # what the lines of a file hold
ALL = "all"  # backends that are installed
SAME_PAYOFF = 1e-9  # payoffs are fractions: their last digits may differ


@dataclass(frozen=True)
class Difference:
    """The first place where the engine and the file disagree."""

    game: int  # 0-based, in the file's order
    step: int  # steps taken before; 0 = the state first dealt
    field: str
    expected: Any
    found: Any
    backend: str  # the engine's

    def __str__(self) -> str:
        return (
            f"game {self.game}, step {self.step}, {self.field}: "
            f"expected {json.dumps(self.expected)}, found {json.dumps(self.found)} ({self.backend})"
        )


@dataclass(frozen=True)
class Agreement:
    """How much was compared, and the first difference if there is one."""

    games: int
    steps: int
    difference: Difference | None
    backends: tuple[str, ...]  # the engines' that played, each all games


def conform(
    path: str | Path, edition: str | Path | BaseEdition | None = None, backend: str = ALL
) -> Agreement:
    """Replay every game of a file; stops at the first difference.

    Args:
        path: the file of games.
        edition: play this edition, whatever the file says; by default the shipped edition whose
            hash the game names.
        backend: the engine's, ``numpy``, ``numba``, ``auto``, or ``all``: each that is installed.

    Raises:
        IncunabulaError: the file can't be read, holds no game or something else, or its edition is
            not among the shipped ones; names the line.
    """
    backends = _backends(backend)
    tables: dict[tuple[str, str], list[_Table]] = {}
    steps = 0
    count = 0
    for where, game in read_lines(path, GAMES):
        try:
            kind = str(game.get("edition_sha256")), str(game.get("players"))
            if kind not in tables:
                tables[kind] = [_table(game, edition, each) for each in backends]
            for table in tables[kind]:
                played, difference = _replay(table, game, count)
                if difference is not None:
                    break
        except IncunabulaError as error:
            raise IncunabulaError(f"{where}: {error}") from None
        except KeyError as error:
            raise IncunabulaError(f"{where}: malformed game: field {error} is missing") from None
        except (TypeError, AttributeError, ValueError, IndexError, OverflowError) as error:
            raise IncunabulaError(f"{where}: malformed game: {error}") from None
        count += 1
        steps += played
        if difference is not None:
            return Agreement(count, steps, difference, backends)
    return Agreement(count, steps, None, backends)


def _backends(backend: str) -> tuple[str, ...]:
    """The backends that are meant."""
    if backend == ALL:
        return installed_backends()
    if backend not in BACKENDS:
        known = (*BACKENDS, ALL)
        raise IncunabulaError(
            f"backend: expected one of {', '.join(known)}, got {backend!r}"
            f"{did_you_mean(str(backend), known)}"
        )
    return (chosen_backend(backend),)


def _table(game: Json, edition: str | Path | BaseEdition | None, backend: str) -> _Table:
    """A table to replay this game and others of its kind at."""
    chosen = load_any_edition(_shipped(game) if edition is None else edition)
    if chosen.game == ScriptoriumEngine.game:
        players = _whole("players", game["players"], MAX_PLAYERS)
        return _ScriptoriumTable(chosen, players, backend)
    if "players" in game:
        raise IncunabulaError(
            f"players: expected no such field in a game of {chosen.game}, got {game['players']!r}"
        )
    return _BibliogamoTable(chosen, backend)


def _shipped(game: Json) -> str:
    digest = game.get("edition_sha256")
    for name, sha256 in shipped_editions().items():
        if sha256 == digest:
            return name
    raise IncunabulaError(
        f"edition_sha256: {digest!r} is none of the shipped editions; name the file by --edition"
    )


class _Table(ABC):
    """Row 0 of an engine, and what differs between the games."""

    engine: Engine

    @abstractmethod
    def deal(self, game: Json) -> None:
        """Deal the game."""

    @abstractmethod
    def paid(self, step: Json, change: Int32Array) -> Found | None:
        """The first of the step's rewards that differs; ``change`` is that of the score."""

    def ended(self, game: Json) -> Found | None:
        """The first of the final results that differs."""
        return None


class _BibliogamoTable(_Table):
    def __init__(self, edition: BaseEdition, backend: str) -> None:
        self.engine: BibliogamoEngine = BibliogamoEngine(
            bibliogamo_edition.load_edition(edition), 1, backend
        )

    def deal(self, game: Json) -> None:
        prestige = game.get("prestige")
        if prestige is not None:
            _whole("prestige", prestige, self.engine.tables.collections - 1)
        if game.get("tape") is not None:
            self.engine.deal_tape(0, game["tape"], prestige)
        else:
            self.engine.deal(np.arange(1), _seed(game), prestige)

    def paid(self, step: Json, change: Int32Array) -> Found | None:
        return _differs(step, {"reward": int(change[0])}, {"reward"})


class _ScriptoriumTable(_Table):
    def __init__(self, edition: BaseEdition, players: int, backend: str) -> None:
        self.engine: ScriptoriumEngine = ScriptoriumEngine(
            scriptorium_edition.load_edition(edition), 1, players, backend
        )

    def deal(self, game: Json) -> None:
        if game.get("tape") is not None:
            self.engine.deal_tape(0, game["tape"])
        else:
            self.engine.deal(np.arange(1), _seed(game))

    def paid(self, step: Json, change: Int32Array) -> Found | None:
        now = margins(self.engine.state.score)[0].tolist()
        found = {"rewards": change[0].tolist(), "margins": now}
        return _differs(step, found, found)

    def ended(self, game: Json) -> Found | None:
        score = self.engine.state.score
        over = self.engine.state.player[0] < 0
        won = np.flatnonzero(winners(score)[0]).tolist() if over else None
        paid = outcome(score)[0].tolist() if over else None
        expected = game.get("outcome")
        if paid is not None and isinstance(expected, list) and len(expected) == len(paid):
            near = np.abs(np.array(expected, np.float64) - paid) < SAME_PAYOFF
            paid = expected if near.all() else paid
        return _differs(game, {"winners": won, "outcome": paid}, {"winners", "outcome"})


def _replay(table: _Table, game: Json, number: int) -> tuple[int, Difference | None]:
    """Play one game; (steps that agree, first difference)."""
    engine, backend = table.engine, table.engine.backend.name
    table.deal(game)
    found = _differs(game["initial"], engine.snapshot(0), {"bag"})
    if found:
        return 0, Difference(number, 0, *found, backend)
    for k, step in enumerate(game["steps"]):
        legal = [engine.action_to_json(0, int(i)) for i in np.flatnonzero(engine.mask[0])]
        if "legal" in step and _as_set(step["legal"]) != _as_set(legal):
            return k, Difference(number, k, "legal", step["legal"], legal, backend)
        if _as_set([step["action"]]) - _as_set(legal):
            return k, Difference(number, k, "action", step["action"], legal, backend)
        action = engine.action_from_json(0, step["action"])
        change, _ = engine.apply(np.array([action]))
        found = table.paid(step, change)
        found = found or _differs(step["state"], engine.snapshot(0), {"bag"})
        if found:
            return k, Difference(number, k + 1, *found, backend)
    found = table.ended(game)
    steps = len(game["steps"])
    return steps, Difference(number, steps, *found, backend) if found else None


def _seed(game: Json) -> npt.NDArray[np.uint64]:
    return np.array([_whole("seed", game["seed"], MASK64)], np.uint64)


def _whole(field: str, value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise IncunabulaError(f"{field}: expected a whole number in 0..{most}, got {value!r}")
    return value


def _as_set(actions: list[Json]) -> set[str]:
    return {json.dumps(action, sort_keys=True) for action in actions}


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _differs(expected: Json, found: Json, optional: Collection[str] = ()) -> Found | None:
    """The first field of ``found`` that differs; ``optional`` ones may be missing in the file."""
    for field in found:
        if field in optional and field not in expected:
            continue
        where, wanted, got = _narrowed(field, expected[field], found[field])
        # As JSON texts, so that true is not 1 and 1.0 is not 1.
        if _text(wanted) != _text(got):
            return where, wanted, got
    return None


def _narrowed(field: str, expected: Any, found: Any) -> Found:
    """The part of a field in which a difference lies, as ``players[1].inks.red``."""
    parts: Iterable[tuple[str, Any, Any]] = ()
    if isinstance(expected, dict) and isinstance(found, dict) and set(expected) == set(found):
        parts = ((f"{field}.{key}", expected[key], found[key]) for key in found)
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        parts = ((f"{field}[{j}]", one, other) for j, (one, other) in pairs)
    for part in parts:
        if _text(part[1]) != _text(part[2]):
            return _narrowed(*part)
    return field, expected, found
