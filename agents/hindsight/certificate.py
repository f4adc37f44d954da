"""Certificates: a line of play that anybody can replay, as JSON, and the replay.

A certificate says which deal it is of, what it scores and by which actions. Checking asks the rules
alone: every action must be legal, the game must end with the last one, and the score must be what
is claimed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from incunabula.agents.hindsight.bound import pathwise_bound
from incunabula.agents.hindsight.search import MAX_WIDTH, SEARCH_VERSION, Line
from incunabula.envs.bibliogamo.edition import GAME, Edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.json_state import Json, read_fields, read_integer, read_list

KIND = "incunabula hindsight line"
ROW = np.arange(1)
FIELDS = (
    *("kind", "search", "game", "edition", "edition_sha256", "seed", "prestige"),
    *("prestige_drawn", "width", "score", "upper_bound", "actions"),
)


class Deal(NamedTuple):
    """Which game it is."""

    seed: int
    prestige: int | None  # None: drawn from the seed


def certificate(line: Line, edition: Edition) -> Json:
    """A line as JSON values; ``score`` is a lower bound on the deal's optimum in hindsight."""
    return {
        "kind": KIND,
        "search": SEARCH_VERSION,
        "game": GAME,
        "edition": edition.name,
        "edition_sha256": edition.sha256,
        "seed": line.seed,
        "prestige": line.prestige,
        "prestige_drawn": line.drawn,
        "width": line.width,
        "score": line.score,
        "upper_bound": pathwise_bound(edition, line.prestige).value,
        "actions": line.actions,
    }


def read_certificate(text: str, where: str) -> Json:
    """The certificate in a line of text, whole and of the right form; what it claims is not looked
    at.

    Raises:
        IncunabulaError: it isn't one; names the field.
    """
    try:
        value = json.loads(text, parse_constant=_not_json)
    except (ValueError, RecursionError):
        raise IncunabulaError(f"{where}: isn't JSON, or is cut off") from None
    if not isinstance(value, Mapping) or value.get("kind") != KIND:
        raise IncunabulaError(f"{where}: kind: expected {KIND!r}, as hindsight --save writes")
    form: Json = dict(read_fields(where, value, FIELDS))
    read_integer(f"{where}: search", form["search"], 1, 1 << 31)
    for name in ("edition", "edition_sha256"):
        if not isinstance(form[name], str):
            raise IncunabulaError(f"{where}: {name}: expected text, got {form[name]!r}")
    if form["game"] != GAME:
        raise IncunabulaError(f"{where}: game: expected {GAME!r}, got {form['game']!r}")
    read_integer(f"{where}: seed", form["seed"], 0, 2**64 - 1)
    read_integer(f"{where}: prestige", form["prestige"], 0, 1 << 31)
    if not isinstance(form["prestige_drawn"], bool):
        raise IncunabulaError(
            f"{where}: prestige_drawn: expected true or false, got {form['prestige_drawn']!r}"
        )
    read_integer(f"{where}: width", form["width"], 1, MAX_WIDTH)
    for name in ("score", "upper_bound"):
        read_integer(f"{where}: {name}", form[name], -(1 << 62), 1 << 62)
    read_list(f"{where}: actions", form["actions"])
    return form


def _not_json(name: str) -> None:
    raise ValueError(name)  # NaN or Infinity


def check_certificate(form: Json, edition: Edition, where: str) -> None:
    """Replay a certificate that ``read_certificate`` gave, by the rules.

    Raises:
        IncunabulaError: a field or an action isn't what the rules make of the deal; names it.
    """
    if form["edition_sha256"] != edition.sha256:
        raise IncunabulaError(
            f"{where}: edition_sha256: is of edition {form['edition'][:80]!r} "
            f"({form['edition_sha256'][:12]}), not of {edition.name!r} ({edition.sha256[:12]})"
        )
    engine = BibliogamoEngine(edition)
    collections = engine.tables.collections
    read_integer(f"{where}: prestige", form["prestige"], 0, collections - 1)
    fixed = None if form["prestige_drawn"] else form["prestige"]
    engine.deal(ROW, np.array([form["seed"]], np.uint64), fixed)
    drawn = int(engine.state.prestige[0])
    if drawn != form["prestige"]:
        raise IncunabulaError(
            f"{where}: prestige: seed {form['seed']} draws collection {drawn}, the file says "
            f"{form['prestige']}"
        )
    for index, action in enumerate(form["actions"]):
        _take(engine, action, f"{where}: actions[{index}]")
    if engine.state.phase[0] != engine.over:
        raise IncunabulaError(
            f"{where}: actions: the game isn't over after the {len(form['actions'])} that are given"
        )
    score = int(engine.state.score[0])
    if score != form["score"]:
        raise IncunabulaError(f"{where}: score: the line scores {score}, not {form['score']}")
    bound = pathwise_bound(edition, drawn).value
    if bound != form["upper_bound"]:
        raise IncunabulaError(
            f"{where}: upper_bound: the deal's is {bound}, not {form['upper_bound']}"
        )


def _take(engine: BibliogamoEngine, action: Any, where: str) -> None:
    """Take one action of a certificate."""
    if engine.state.phase[0] == engine.over:
        raise IncunabulaError(f"{where}: the game is over already")
    try:
        number = engine.action_from_json(0, action)
    except IncunabulaError as error:
        raise IncunabulaError(f"{where}: {error}") from None
    why = engine.why_illegal(0, number)
    if why is not None:
        raise IncunabulaError(f"{where}: is illegal ({why[0]}): {why[1]}")
    engine.apply(np.array([number]))
