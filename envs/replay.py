"""Replays: games as lines of JSON, deal and actions, which anybody can play again.

One game a line, the file plain or compressed (``.gz``). A line says which game and edition it is,
who played, what was dealt, the number of every action, and what each seat scored; whether that is
so is for ``playback`` to see. The fields are listed in docs/replays.md.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incunabula import __version__
from incunabula.envs.chance import MASK64
from incunabula.envs.documents import no_such, show
from incunabula.envs.editions import GAMES
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.files import written_whole
from incunabula.envs.json_state import Json, read_fields, read_list
from incunabula.envs.lines import Line, read_lines

FORMAT = 1
REPLAYS = "replays"  # what the lines of a file hold
# What a note on an action may say: what the player to move could expect before it, what it gave
# away, and what the draws that followed brought.
NOTES = ("value", "regret", "luck")
MAX_NAME = 200  # characters of a player's name
MAX_PLAYERS = 64
MAX_SCORE = 1 << 62
MAX_PRESTIGE = 1 << 31

FIELDS = (
    *("format", "game", "edition", "edition_sha256", "incunabula", "players", "deal", "actions"),
    "scores",
)
OPTIONAL = ("notes", "finished", "sha256")


@dataclass(frozen=True)
class Replay:
    """One game.

    Attributes:
        game: its name.
        edition: the edition's name, told for people; which it is, the hash says.
        edition_sha256: 64 hexadecimal digits.
        players: who had each seat.
        deal: {"seed": decimal digits} or {"tape": …}, as the game's tapes are; in Bibliogamo also
            "prestige", the collection in play where it wasn't drawn.
        actions: the number of each action, all seats' in the order of play.
        scores: the final score of each seat.
        notes: for each action what is known about it, by ``NOTES``; None: nothing of any.
        finished: whether the game is over; if not, ``scores`` are those so far.
        incunabula: the version of the package that recorded it.
        where: the file and line it was read from, for errors.
    """

    game: str
    edition: str
    edition_sha256: str
    players: tuple[str, ...]
    deal: Json
    actions: tuple[int, ...]
    scores: tuple[int, ...]
    notes: tuple[Json, ...] | None = None
    finished: bool = True
    incunabula: str = __version__
    where: str = field(default="replay", compare=False)

    @property
    def shown_deal(self) -> str:
        """The deal in a few words: ``seed 7``."""
        dealt = f"seed {self.deal['seed']}" if "seed" in self.deal else "a tape"
        prestige = self.deal.get("prestige")
        return dealt if prestige is None else f"{dealt}, prestige collection {prestige}"


# Writing ------------------------------------------------------------------------------------------


def player_name(name: str) -> str:
    """A name as replays hold it: printable, and not longer than ``MAX_NAME``."""
    shown = "".join(c if c.isprintable() else "?" for c in name.strip())
    return shown[:MAX_NAME] or "?"


def replay_line(replay: Replay) -> bytes:
    """A replay as a line of a file, its end included; the same for equal replays."""
    form: Json = {
        "format": FORMAT,
        "game": replay.game,
        "edition": replay.edition,
        "edition_sha256": replay.edition_sha256,
        "incunabula": replay.incunabula,
        "players": list(replay.players),
        "deal": replay.deal,
        "actions": list(replay.actions),
        "scores": list(replay.scores),
    }
    if replay.notes is not None:
        form["notes"] = list(replay.notes)
    if not replay.finished:
        form["finished"] = False
    form["sha256"] = _digest(form)
    return (json.dumps(form, allow_nan=False) + "\n").encode("ascii")


def write_replays(path: str | Path, replays: Iterable[Replay]) -> None:
    """Write a file of replays, compressed if it is called ``.gz``, in whole or not at all.

    Raises:
        IncunabulaError: it can't be written, or one of the replays hasn't the right form.
    """
    path = Path(path)
    packer = zlib.compressobj(wbits=31) if path.suffix == ".gz" else None  # 31: as gzip does
    with written_whole(path) as write:
        for number, replay in enumerate(replays, 1):
            line = replay_line(replay)
            read_replay(Line(f"replay {number}", json.loads(line)))
            write(line if packer is None else packer.compress(line))
        if packer is not None:
            write(packer.flush())


# Reading ------------------------------------------------------------------------------------------


def read_replays(path: str | Path) -> Iterator[Replay]:
    """The replays of a file, each of the right form; what they claim is not looked at.

    Raises:
        IncunabulaError: the file can't be read, holds no replay, or something else too; names the
            line and the field.
    """
    for line in read_lines(path, REPLAYS):
        yield read_replay(line)


def read_replay(line: Line) -> Replay:
    """The replay that a line holds.

    Raises:
        IncunabulaError: the line isn't a replay; names the field.
    """
    where, form = line
    version = form.get("format")
    if "format" not in form or isinstance(version, bool) or not isinstance(version, int):
        raise IncunabulaError(
            f"{where}: format: expected {FORMAT}, got {show(version)}; is this a file of replays?"
        )
    if version != FORMAT:
        raise IncunabulaError(
            f"{where}: format: is {show(version)}, which this version ({__version__}) can't read; "
            f"expected {FORMAT}"
        )
    read_fields(where, form, (*FIELDS, *(name for name in OPTIONAL if name in form)))
    game = _text(where, form, "game")
    if game not in GAMES:
        raise IncunabulaError(f"{where}: game: {no_such('game', game, GAMES)}")
    edition_sha256 = _text(where, form, "edition_sha256")
    if not re.fullmatch("[0-9a-f]{64}", edition_sha256):
        raise IncunabulaError(
            f"{where}: edition_sha256: expected 64 hexadecimal digits, got {show(edition_sha256)}"
        )
    named = _items(where, form, "players")
    players = tuple(_printable(f"{where}: players[{k}]", name) for k, name in enumerate(named))
    scores = _integers(where, form, "scores", -MAX_SCORE)
    if not 1 <= len(players) <= MAX_PLAYERS:
        raise IncunabulaError(
            f"{where}: players: expected a name for each seat, 1 to {MAX_PLAYERS}, got "
            f"{len(players)}"
        )
    if len(scores) != len(players):
        raise IncunabulaError(
            f"{where}: scores: expected {len(players)}, one for each of the players, got "
            f"{len(scores)}"
        )
    if not isinstance(form.get("finished", True), bool):
        raise IncunabulaError(
            f"{where}: finished: expected true or false, got {show(form['finished'])}"
        )
    actions = _integers(where, form, "actions", 0)
    replay = Replay(
        game=game,
        edition=_text(where, form, "edition"),
        edition_sha256=edition_sha256,
        incunabula=_text(where, form, "incunabula"),
        players=players,
        deal=_deal(f"{where}: deal", form["deal"]),
        actions=actions,
        scores=scores,
        notes=_notes(where, form, len(actions)) if "notes" in form else None,
        finished=form.get("finished", True),
        where=where,
    )
    if "sha256" in form and form["sha256"] != _digest(form):
        raise IncunabulaError(
            f"{where}: sha256: isn't that of the rest of the line, so something in it was changed; "
            "leave sha256 out if that was meant"
        )
    return replay


def _digest(form: Mapping[str, Any]) -> str:
    """SHA-256 of a line without its ``sha256``: of its JSON with sorted keys and no spaces."""
    rest = {name: value for name, value in form.items() if name != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _text(where: str, form: Json, name: str) -> str:
    return _printable(f"{where}: {name}", form[name])


def _printable(where: str, value: Any) -> str:
    if not (isinstance(value, str) and 0 < len(value) <= MAX_NAME and value.isprintable()):
        raise IncunabulaError(
            f"{where}: expected printable text of 1 to {MAX_NAME} characters, got {show(value)}"
        )
    return value


def _items(where: str, form: Json, name: str) -> list[Any]:
    if not isinstance(form[name], list):
        raise IncunabulaError(f"{where}: {name}: expected a list, got {show(form[name])}")
    return read_list(f"{where}: {name}", form[name])


def _integers(where: str, form: Json, name: str, low: int) -> tuple[int, ...]:
    values = _items(where, form, name)
    for k, value in enumerate(values):
        if type(value) is not int or not low <= value <= MAX_SCORE:
            raise IncunabulaError(
                f"{where}: {name}[{k}]: expected a whole number in {low}..{MAX_SCORE}, got "
                f"{show(value)}"
            )
    return tuple(values)


def _deal(where: str, value: Any) -> Json:
    """A deal; what stands in a tape is for the game to look at."""
    if not isinstance(value, dict) or ("seed" in value) == ("tape" in value):
        raise IncunabulaError(
            f"{where}: expected a mapping with either seed or tape, got {show(value)}"
        )
    how = "seed" if "seed" in value else "tape"
    read_fields(where, value, (how, *(name for name in ("prestige",) if name in value)))
    if "prestige" in value:
        prestige = value["prestige"]
        if type(prestige) is not int or not 0 <= prestige <= MAX_PRESTIGE:
            raise IncunabulaError(
                f"{where}.prestige: expected a whole number in 0..{MAX_PRESTIGE}, got "
                f"{show(prestige)}"
            )
    if how == "tape" and not isinstance(value["tape"], dict):
        raise IncunabulaError(f"{where}.tape: expected a mapping, got {show(value['tape'])}")
    seed = value.get("seed", "0")
    digits = isinstance(seed, str) and re.fullmatch("0|[1-9][0-9]{0,19}", seed)
    if not digits or int(seed) > MASK64:
        raise IncunabulaError(
            f"{where}.seed: expected decimal digits in quotes, at most {MASK64}, got {show(seed)}"
        )
    return value


def _notes(where: str, form: Json, actions: int) -> tuple[Json, ...]:
    values = _items(where, form, "notes")
    if len(values) != actions:
        raise IncunabulaError(
            f"{where}: notes: expected {actions}, one for each action, got {len(values)}"
        )
    for k, note in enumerate(values):
        if not isinstance(note, dict):
            raise IncunabulaError(f"{where}: notes[{k}]: expected a mapping, got {show(note)}")
        for name, number in note.items():
            if name not in NOTES:
                raise IncunabulaError(f"{where}: notes[{k}]: {no_such('field', name, NOTES)}")
            least = 0 if name == "regret" else -sys.float_info.max
            if type(number) not in (int, float) or not least <= number <= sys.float_info.max:
                raise IncunabulaError(
                    f"{where}: notes[{k}].{name}: expected a number"
                    f"{' of at least 0' if name == 'regret' else ''}, got {show(number)}"
                )
    return tuple(values)
