"""Who sits where: the tables of a league, and the seatings in which each deal is played."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

from incunabula.envs.documents import no_such
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.edition import Edition

# A table or a seating: an agent's number for each seat.
Seats = tuple[int, ...]

ROTATIONS = ("cyclic", "all")
MAX_AGENTS = 16
MAX_DEALS = 100_000


def tables(num_agents: int, num_players: int) -> list[Seats]:
    """Every table of a league: which agents meet, by number.

    With at least as many agents as seats these are all combinations. With fewer, every agent A
    meets copies of every other agent B, one A among B's and one B among A's (with two seats that
    is the same table).
    """
    if num_agents >= num_players:
        return list(combinations(range(num_agents), num_players))
    found = {
        tuple(sorted((one, *[many] * (num_players - 1))))
        for one in range(num_agents)
        for many in range(num_agents)
        if one != many
    }
    return sorted(found)


def seatings(table: Seats, rotations: str) -> list[Seats]:
    """The distinct ways in which a table sits down, the cyclic ones first.

    Args:
        table: an agent's number for each seat; numbers may stand twice.
        rotations: ``cyclic``: everybody moves up a seat, so that each agent takes every seat;
            ``all``: every order. They are the same for two players.
    """
    players = len(table)
    cyclic = [tuple(table[(seat - k) % players] for seat in range(players)) for k in range(players)]
    every = list(permutations(table)) if rotations == "all" else []
    return list(dict.fromkeys([*cyclic, *every]))


class Program(NamedTuple):
    """Every seating of a league."""

    tables: list[Seats]
    seats: list[Seats]  # one for each seating
    table: list[int]  # the number of its table
    turn: list[int]  # its number among those of its table


def program(num_agents: int, num_players: int, rotations: str) -> Program:
    """All seatings of all tables."""
    met = tables(num_agents, num_players)
    entries = [
        (seats, number, turn)
        for number, table in enumerate(met)
        for turn, seats in enumerate(seatings(table, rotations))
    ]
    seats, table, turn = zip(*entries, strict=True)
    return Program(met, list(seats), list(table), list(turn))


def check_rotations(rotations: str | None, num_players: int) -> str:
    """``cyclic`` or ``all``; by default all orders of up to three players, else the cyclic ones."""
    if rotations is None:
        return "all" if num_players <= 3 else "cyclic"
    if rotations not in ROTATIONS:
        raise IncunabulaError(no_such("kind of rotations", rotations, ROTATIONS))
    return rotations


def labels(specs: Sequence[str]) -> list[str]:
    """A name for each entrant; those that stand more than once are numbered: greedy#1, greedy#2."""
    seen: dict[str, int] = {}
    found = []
    for spec in specs:
        seen[spec] = seen.get(spec, 0) + 1
        found.append(spec if specs.count(spec) == 1 else f"{spec}#{seen[spec]}")
    return found


def check_players(num_players: int, edition: Edition) -> int:
    """The number of players, if the edition can be played with so many."""
    allowed = sorted(edition.rules.players)
    whole = isinstance(num_players, int | np.integer) and not isinstance(num_players, bool)
    if not whole or num_players not in allowed:
        raise IncunabulaError(
            f"players: this edition is for {', '.join(map(str, allowed))}, got {num_players!r}"
        )
    return int(num_players)
