"""How many states an edition has, roughly, before the work of counting them is begun.

Random games show which public positions there are, cards aside; how many they miss is estimated
from how many they show once and twice (Chao, "Nonparametric estimation of the number of classes in
a population", Scandinavian Journal of Statistics 11, 1984). Each is taken to occur with every way
of parting the cards among hand, deck, display and discard pile in such numbers. Of the shipped
small editions the estimate is 40 to 80 per cent of the states there are.
"""

from __future__ import annotations

from math import lgamma
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import AGENT_STREAM, nth_legal
from incunabula.agents.exact.codes import DUE, Coding
from incunabula.agents.exact.table import ENTRY, FULLEST, GIGABYTE
from incunabula.envs.bibliogamo.actions import Kind
from incunabula.envs.bibliogamo.edition import Edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.bibliogamo.state import Phase
from incunabula.envs.chance import key, mix
from incunabula.envs.errors import IncunabulaError

GAMES = (256, 16384)  # random games: a glance, then more unless it has shown enough
HOPELESS = 1e12  # states
LONG = 200  # decisions of a game, after which it is enough to know that there is no hope
Int64Array = npt.NDArray[np.int64]


class Estimate(NamedTuple):
    """What solving an edition would take.

    Attributes:
        states: information states; as a float, for there can be very many.
        gigabytes: memory of their values.
    """

    states: float
    gigabytes: float


def check_size(edition: Edition, max_memory: float) -> None:
    """Raise IncunabulaError if the edition is too large for ``max_memory`` GB, by the estimate."""
    guess = estimate(edition)
    if guess.gigabytes > max_memory:
        raise IncunabulaError(
            f"edition {edition.name!r}: too large to be solved: about {guess.states:.0e} states, "
            f"which take {guess.gigabytes:.2g} GB, more than the {max_memory:g} GB allowed; exact "
            f"values are for editions of about 8 cards and 5 days, such as bibliogamo-tiny"
        )
    Coding(BibliogamoEngine(edition).tables).check()


def estimate(edition: Edition) -> Estimate:
    """Roughly how many information states an edition has, and what they take."""
    states = 0.0
    for games in GAMES:
        if states < HOPELESS:
            states = _states(edition, games)
    # While a table grows there is one of half the size too; it is at least half as full as can be.
    return Estimate(states, 1.5 * states * ENTRY / (0.75 * FULLEST) / GIGABYTE)


def _states(edition: Edition, games: int) -> float:
    """The estimate from a number of random games; if they are long, from how they begin once that
    shows that there are ``HOPELESS`` many."""
    # In a second; to compile the rules, for an edition that may well be refused, takes far longer.
    engine = BibliogamoEngine(edition, games, "numpy")
    t, rows = engine.tables, np.arange(games)
    engine.deal(rows, rows.astype(np.uint64))
    positions: list[npt.NDArray[np.uint64]] = []
    ways: list[npt.NDArray[np.float64]] = []
    decision, most = 0, 0.0
    while (live := rows[engine.state.phase != engine.over]).size:
        if decision >= LONG and most > HOPELESS:
            break
        draws = key(0, np.uint64(AGENT_STREAM) + live.astype(np.uint64), decision)
        actions = nth_legal(engine.mask[live], draws)
        for columns, parts in _positions(engine, live, actions):
            positions.append(_hashed(np.concatenate([columns, parts], axis=1)))
            ways.append(_ways(parts, t.cards))
            most = max(most, float(ways[-1].max(initial=0.0)))
        engine.apply(actions, live)
        decision += 1
    found = np.concatenate(positions)
    _, first, times = np.unique(found, return_index=True, return_counts=True)
    if not first.size:  # nothing can be scored
        return 0.0
    once, twice = int(np.count_nonzero(times == 1)), int(np.count_nonzero(times == 2))
    missed = once * (once - 1) / (2 * (twice + 1))
    return float(np.concatenate(ways)[first].sum()) * (1 + missed / len(first))


def _positions(
    engine: BibliogamoEngine, rows: npt.NDArray[np.intp], actions: npt.NDArray[np.intp]
) -> list[tuple[Int64Array, Int64Array]]:
    """What is kept of these rows, and of the turns that these actions end: columns that tell
    positions apart, cards aside, (n, ...), and the numbers of cards in the parts, (n, 4)."""
    t, a, p = engine.tables, engine.actions, engine.state.public().take(rows)
    hand = (p.hand < t.cards).sum(axis=1)
    deck, display = p.deck_left.astype(np.int64), p.display_len.astype(np.int64)
    lasting: list[Any] = [p.time, p.librarian, p.florins, p.prestige]
    lasting += [*p.slots_filled.T, *p.filled.reshape(len(rows), -1).T]
    late = p.time >= t.days
    last_pay = (p.phase == Phase.PAY) & (p.hires_left == 0)
    banned = np.where(late | last_pay, -1, p.banned)
    s = engine.state
    turn: list[Any] = [p.phase, banned, p.hires_left, s.display_coin[rows], s.offer[rows]]
    kept = ~late | (p.phase < Phase.HIRE)
    ends = ~late & ((a.kind[actions] == Kind.END) | last_pay)
    none = np.zeros_like(p.time)

    def told(
        which: npt.NDArray[np.bool_], columns: list[Any], held: Int64Array
    ) -> tuple[Int64Array, Int64Array]:
        parts = np.stack([held, deck, display, t.cards - held - deck - display], axis=1)
        return np.stack(columns, axis=1).astype(np.int64)[which], parts[which]

    due: list[Any] = [none + DUE, none - 1, none, none - 1, none]
    return [told(kept, lasting + turn, hand), told(ends, lasting + due, hand - last_pay)]


def _hashed(columns: Int64Array) -> npt.NDArray[np.uint64]:
    """One number for each row, uint64 (n,)."""
    hashed = np.zeros(len(columns), np.uint64)
    for column in columns.T:
        hashed = mix(hashed + np.uint64(1) + column.astype(np.uint64))
    return hashed


def _ways(parts: Int64Array, cards: int) -> npt.NDArray[np.float64]:
    """In how many ways the cards can be parted into such numbers, (n, 4) -> float64 (n,)."""
    factorial = np.array([lgamma(n + 1) for n in range(cards + 1)])
    logs = factorial[cards] - factorial[parts].sum(axis=1)
    return np.exp(logs)
