"""A row of the state as the rules' JSON form, and back; and laying the bag in a fresh order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from incunabula.envs.chance import as_seed, key
from incunabula.envs.json_state import (
    Json,
    StateError,
    read_choice,
    read_fields,
    read_integer,
    read_list,
)
from incunabula.envs.scriptorium.position import check_position, most_tiles
from incunabula.envs.scriptorium.state import Int16Array, Phase, Rows, State, empty_state
from incunabula.envs.scriptorium.tables import ACHIEVEMENTS, INKS, SPACES, Tables

PHASES = [phase.name.lower() for phase in Phase]
GONE = "gone"  # the owner of an achievement that was discarded

KEYS = (
    *("phase", "round", "player", "quill", "quill_next", "grimoire", "pot", "lecterns"),
    *("scriptorium", "bag_left", "achievements", "players", "bag"),
)
LECTERN_KEYS = ("lectern", "tiles", "owner")
PLAYER_KEYS = (
    *("inks", "lectern_tiles", "storage", "achievements", "tokens", "points", "score", "filled"),
)

BAG_STREAM = 0
MAX_INT16 = 2**15 - 1


def snapshot(t: Tables, s: State, i: int) -> Json:
    """Row ``i`` in the JSON form of the rules, with ``bag``: how many of each design are in it."""
    return {
        "phase": PHASES[s.phase[i]],
        "round": int(s.round[i]),
        "player": _or_none(s.player[i]),
        "quill": int(s.quill[i]),
        "quill_next": _or_none(s.quill_next[i]),
        "grimoire": _or_none(s.grimoire[i]),
        "pot": _counts(INKS, s.pot[i]),
        "lecterns": [
            {
                "lectern": int(lectern),
                "tiles": _tiles(s.tiles[i, lectern]),
                "owner": _holder(s.lectern[i, :, lectern]),
            }
            for lectern in np.flatnonzero(s.in_play[i])
        ],
        "scriptorium": _tiles(s.market[i]),
        "bag_left": int(s.bag_left[i]),
        "achievements": {
            name: None if s.open[i, k] else _holder(s.achievements[i, :, k], GONE)
            for k, name in enumerate(ACHIEVEMENTS)
        },
        "players": [_player(s, i, seat) for seat in range(s.num_players)],
        "bag": s.bag[i].tolist(),
    }


def _player(s: State, i: int, seat: int) -> Json:
    return {
        "inks": _counts(INKS, s.inks[i, seat]),
        "lectern_tiles": _tiles(s.lectern_tiles[i, seat]),
        "storage": _tiles(s.storage[i, seat]),
        "achievements": [ACHIEVEMENTS[k] for k in np.flatnonzero(s.achievements[i, seat])],
        "tokens": int(s.tokens[i, seat]),
        "points": int(s.points[i, seat]),
        "score": int(s.score[i, seat]),
        "filled": _counts(SPACES, s.filled[i, seat]),
    }


def _or_none(seat: np.int16) -> int | None:
    return None if seat < 0 else int(seat)


def _counts(names: tuple[str, ...], counts: Int16Array) -> dict[str, int]:
    return dict(zip(names, counts.tolist(), strict=True))


def _tiles(counts: Int16Array) -> list[int]:
    """Designs, ascending, each as often as it is there."""
    return [design for design, count in enumerate(counts.tolist()) for _ in range(count)]


def _holder(seats: Int16Array, nobody: str | None = None) -> int | str | None:
    """The seat that is marked."""
    return int(seats.argmax()) if seats.any() else nobody


def restore(t: Tables, form: Mapping[str, Any], seed: int, num_players: int) -> State:
    """One row rebuilt from its JSON form; what is hidden is drawn from ``seed``.

    The tiles in the bag are laid as ``lay_bag`` does, later lecterns come from the seed as in any
    game.

    Args:
        t: the edition's tables.
        form: the state as ``snapshot`` gives it, with ``bag``; lists of tiles, lecterns and
            achievements in any order.
        seed: any integer, taken modulo 2^64.
        num_players: how many players the state must have.

    Raises:
        StateError: naming the field that is malformed or contradicts another.
    """
    s = empty_state(t, 1, num_players)
    _Reader(t, s, read_fields("state", form, KEYS)).read()
    check_position(t, s)
    s.fit(int(s.bag_left[0]), 0)
    s.seed[0] = as_seed(seed)
    lay_bag(t, s, np.arange(1))
    return s


class _Reader:
    """Reads a JSON state into the only row of ``s``: each field by itself."""

    def __init__(self, t: Tables, s: State, form: Mapping[str, Any]) -> None:
        self.t, self.s, self.form = t, s, form

    def read(self) -> None:
        t, s, form = self.t, self.s, self.form
        s.phase[0] = read_choice("state.phase", form["phase"], PHASES)
        s.round[0] = read_integer("state.round", form["round"], 1, MAX_INT16)
        s.player[0] = self._seat("player", form["player"])
        s.quill[0] = read_integer("state.quill", form["quill"], 0, s.num_players - 1)
        s.quill_next[0] = self._seat("quill_next", form["quill_next"])
        s.grimoire[0] = self._seat("grimoire", form["grimoire"])
        self._counts("pot", form["pot"], INKS, s.pot[0])
        self._tiles("scriptorium", form["scriptorium"], s.market[0])
        s.bag_left[0] = read_integer("state.bag_left", form["bag_left"], 0, self._most)
        for d, count in enumerate(read_list("state.bag", form["bag"], t.designs)):
            s.bag[0, d] = read_integer(f"state.bag[{d}]", count, 0, self._most)
        self._lecterns()
        for seat, player in enumerate(read_list("state.players", form["players"], s.num_players)):
            self._player(seat, f"players[{seat}]", player)
        self._achievements()

    @property
    def _most(self) -> int:
        return most_tiles(self.t, self.s.num_players)

    def _seat(self, name: str, value: Any) -> int:
        """A seat, or -1 for null."""
        if value is None:
            return -1
        return read_integer(f"state.{name}", value, 0, self.s.num_players - 1)

    def _counts(self, name: str, value: Any, names: tuple[str, ...], into: Int16Array) -> None:
        counts = read_fields(f"state.{name}", value, names)
        for k, each in enumerate(names):
            into[k] = read_integer(f"state.{name}.{each}", counts[each], 0, MAX_INT16)

    def _tiles(self, name: str, value: Any, into: Int16Array) -> None:
        """A list of designs, as counts."""
        tiles = read_list(f"state.{name}", value)
        if len(tiles) > self._most:
            raise StateError(f"state.{name}: expected at most {self._most} tiles, got {len(tiles)}")
        for j, design in enumerate(tiles):
            into[read_integer(f"state.{name}[{j}]", design, 0, self.t.designs - 1)] += 1

    def _lecterns(self) -> None:
        s = self.s
        in_play = s.num_players + 1
        for k, value in enumerate(read_list("state.lecterns", self.form["lecterns"], in_play)):
            where = f"lecterns[{k}]"
            each = read_fields(f"state.{where}", value, LECTERN_KEYS)
            lectern = read_integer(
                f"state.{where}.lectern", each["lectern"], 0, self.t.lecterns - 1
            )
            if s.in_play[0, lectern]:
                raise StateError(f"state.{where}.lectern: lectern {lectern} is listed before")
            s.in_play[0, lectern] = 1
            self._tiles(f"{where}.tiles", each["tiles"], s.tiles[0, lectern])
            owner = self._seat(f"{where}.owner", each["owner"])
            if owner < 0:
                continue
            if s.lectern[0, owner].any():
                raise StateError(f"state.{where}.owner: seat {owner} owns another lectern already")
            if each["tiles"]:
                raise StateError(
                    f"state.{where}.tiles: expected none, as seat {owner} owns the lectern: its "
                    f"tiles belong in players[{owner}].lectern_tiles"
                )
            s.lectern[0, owner, lectern] = 1

    def _player(self, seat: int, where: str, value: Any) -> None:
        t, s = self.t, self.s
        form = read_fields(f"state.{where}", value, PLAYER_KEYS)
        self._counts(f"{where}.inks", form["inks"], INKS, s.inks[0, seat])
        self._tiles(f"{where}.lectern_tiles", form["lectern_tiles"], s.lectern_tiles[0, seat])
        self._tiles(f"{where}.storage", form["storage"], s.storage[0, seat])
        for j, name in enumerate(read_list(f"state.{where}.achievements", form["achievements"])):
            k = read_choice(f"state.{where}.achievements[{j}]", name, ACHIEVEMENTS)
            if s.achievements[0, seat, k]:
                raise StateError(f"state.{where}.achievements[{j}]: {name} is listed before")
            s.achievements[0, seat, k] = 1
        for name in ("tokens", "points", "score"):
            number = read_integer(f"state.{where}.{name}", form[name], 0, MAX_INT16)
            getattr(s, name)[0, seat] = number
        made = (
            int(s.points[0, seat])
            + t.achievement_points * int(s.achievements[0, seat].sum())
            + t.token_points * int(s.tokens[0, seat])
        )
        if s.score[0, seat] != made:
            raise StateError(
                f"state.{where}.score: {form['score']} is not what points, achievements and "
                f"tokens make: {made}"
            )
        self._counts(f"{where}.filled", form["filled"], SPACES, s.filled[0, seat])

    def _achievements(self) -> None:
        s = self.s
        owners = read_fields("state.achievements", self.form["achievements"], ACHIEVEMENTS)
        for k, name in enumerate(ACHIEVEMENTS):
            owner = owners[name]
            seat = -1 if owner == GONE else self._seat(f"achievements.{name}", owner)
            holders = np.flatnonzero(s.achievements[0, :, k]).tolist()
            if holders != ([seat] if seat >= 0 else []):
                listed = f"seats {holders}" if holders else "nobody"
                raise StateError(
                    f"state.achievements.{name}: {owner!r} contradicts the players' achievements: "
                    f"it is listed by {listed}"
                )
            s.open[0, k] = owner is None


def lay_bag(t: Tables, s: State, rows: Rows) -> None:
    """Lay the tiles in the bag in a fresh order, drawn from the row's seed and their counts alone.

    They are numbered design by design; the draw order is by (key(seed, 0, number), number). What
    ``s.order`` held before doesn't matter.
    """
    counts, left = s.bag[rows], s.bag_left[rows].astype(np.intp)
    width = int(left.max(initial=0))
    numbers = np.arange(width)
    in_bag = numbers < left[:, None]
    designs = np.zeros((len(rows), width), np.int16)
    every = np.tile(np.arange(t.designs, dtype=np.int16), len(rows))
    designs[in_bag] = np.repeat(every, counts.ravel())
    keys = key(s.seed[rows][:, None], BAG_STREAM, numbers.astype(np.uint64))
    keys[~in_bag] = np.iinfo(np.uint64).max
    # A stable sort settles equal keys by number, as the rules ask.
    designs = np.take_along_axis(designs, np.argsort(keys, axis=1, kind="stable"), axis=1)
    row, place = np.nonzero(in_bag)
    s.order[rows[row], left[row] - 1 - place] = designs[in_bag]
