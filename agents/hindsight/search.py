"""The best line that a beam search finds on a deal it knows: a lower bound on what hindsight gives.

This is no agent: it reads the hidden order of the cards, and what it scores says nothing of how
well anybody plays. Nothing here is an ``Agent``, and nothing of it is registered as one.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from incunabula.agents.agent import View, ask
from incunabula.agents.baselines import make_greedy
from incunabula.agents.hindsight import beam
from incunabula.agents.hindsight.value import HindsightParams, value_tables
from incunabula.envs.bibliogamo.deals import checked_prestige
from incunabula.envs.bibliogamo.edition import GAME, Edition, load_edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.bibliogamo.state import empty_state
from incunabula.envs.bibliogamo.twin import action_arrays, state_arrays, table_arrays
from incunabula.envs.chance import check_seed
from incunabula.envs.compiled.arrays import Arrays
from incunabula.envs.compiled.functions import can_compile, interpreted
from incunabula.envs.errors import IncunabulaError

Json = dict[str, Any]

SEARCH_VERSION = 1  # another number whenever the same width may find other lines
MAX_WIDTH = 10_000
MAX_POSITIONS = 10_000_000  # that there is memory for at once
MOST_WAITS = 6  # days that a sale waits at most; each costs the hires of a turn
ROW = np.arange(1)


class Line(NamedTuple):
    """A way to play a deal, found by a search that knew it.

    Attributes:
        seed: of the deal.
        prestige: the collection in play.
        drawn: whether it was drawn from the seed.
        score: what the line scores; the deal's best in hindsight is no less.
        actions: in the JSON forms of the rules.
        width: of the beam.
        tried: positions that the search looked at.
        seconds: processor time that it took.
    """

    seed: int
    prestige: int
    drawn: bool
    score: int
    actions: list[Json]
    width: int
    tried: int
    seconds: float


def best_line(
    edition: str | Path | Edition | Mapping[str, Any],
    seed: int,
    *,
    width: int,
    prestige: int | None = None,
    params: HindsightParams | None = None,
) -> Line:
    """The best line found on a deal; the greedy agent's own, should the beam find none as good.

    The same deal, width and edition give the same line.

    Args:
        edition: shipped name, path, parsed mapping or Edition.
        seed: the game's seed, in 0..2^64-1.
        width: positions kept at each point of a turn, 1..MAX_WIDTH.
        prestige: the collection to play; None = drawn from the seed (R15).
        params: how positions are weighed.

    Raises:
        IncunabulaError: an argument can't be used.
    """
    began = time.process_time()
    edition, seed = load_edition(edition), check_seed(seed)
    check_width(width)
    engine = BibliogamoEngine(edition)
    if prestige is not None:
        prestige = checked_prestige(engine.tables, prestige)

    def deal() -> BibliogamoEngine:
        engine.deal(ROW, np.array([seed], np.uint64), prestige)
        return engine

    found = Beam(deal(), int(width), HindsightParams() if params is None else params)
    actions = _played(deal(), iter(found.run()))
    score = int(engine.state.score[0])
    own = _played(deal(), _greedy_actions(engine))
    if engine.state.score[0] > score:
        actions, score = own, int(engine.state.score[0])
    return Line(
        seed=seed,
        prestige=int(engine.state.prestige[0]),
        drawn=prestige is None,
        score=score,
        actions=actions,
        width=int(width),
        tried=found.tried,
        seconds=time.process_time() - began,
    )


def check_width(width: int, name: str = "width") -> None:
    """Raise IncunabulaError unless the beam can be that wide."""
    whole = isinstance(width, int | np.integer) and not isinstance(width, bool)
    if not whole or not 1 <= width <= MAX_WIDTH:
        raise IncunabulaError(
            f"{name}: expected a whole number from 1 to {MAX_WIDTH:,}, got {width!r}"
        )


def _greedy_actions(engine: BibliogamoEngine) -> Iterator[int]:
    """What the greedy agent does in row 0, which is played on with it; it sees what is public."""
    agent = make_greedy(GAME)
    while engine.state.phase[0] != engine.over:
        view = View(engine, ROW, np.zeros(1, np.uint64), np.zeros(1, np.int64))
        yield int(ask(agent, view)[0])


def _played(engine: BibliogamoEngine, actions: Iterator[int]) -> list[Json]:
    """Play the actions in row 0, to the game's end; their JSON forms."""
    forms = []
    for action in actions:
        forms.append(engine.action_to_json(0, action))
        engine.apply(np.array([action]))
    if engine.state.phase[0] != engine.over:
        raise AssertionError("a line ended before its game")
    return forms


class Beam:
    """Drives ``beam``: memory for its pools, and the way back from the best end.

    Args:
        engine: row 0 is a deal at its first decision.
        width: positions kept at each point of a turn.
    """

    def __init__(self, engine: BibliogamoEngine, width: int, params: HindsightParams) -> None:
        t = engine.tables
        self._start, self._days = int(engine.state.time[0]), t.days
        self._points = max(t.hires_per_turn, 1) + 1
        waits = min(MOST_WAITS, t.display_size - 2)
        ring = max(waits, 1) + 1  # days whose pools are in use at once
        # What is left of a turn's hires is tried in fewer ways: more positions can be kept there.
        widths = np.full(self._points, width)
        widths[-1] *= 2
        room = beam.ROOM * 2 * width
        pools = ring * self._points
        rows, nodes = pools * room, (t.days - self._start + 1) * self._points * 2 * width
        if rows + nodes > MAX_POSITIONS:
            raise IncunabulaError(
                f"width: {width:,} would keep {rows + nodes:,} positions of this edition, more "
                f"than {MAX_POSITIONS:,}, in memory; a smaller width, fewer days or fewer hires a "
                "turn would do"
            )
        longest = waits + 3  # actions between two points: walk, sell, waits, accept
        state = empty_state(t, rows + beam.SPARE_ROWS)
        state.seed[:] = engine.state.seed[0]
        first = self._start % ring * self._points * room
        state.put(np.array([first]), engine.state)
        self._members: dict[str, Any] = {
            "t": Arrays(table_arrays(t)),
            "a": Arrays(action_arrays(engine.actions)),
            "s": Arrays(state_arrays(state)),
            "v": value_tables(t, params),
            "points": self._points,
            "ring": ring,
            "room": room,
            "widths": widths,
            "waits": waits,
            "spare": rows,
            "count": np.zeros(pools, np.int64),
            "floor": np.full(pools, beam.LOWEST),
            "places": np.zeros((pools, 1 << (4 * room).bit_length()), np.int32),
            "value": np.zeros(rows),
            "digest": np.zeros(rows, np.uint64),
            "origin": np.full(rows, beam.NOWHERE),
            "steps": np.zeros(rows, np.int64),
            "path": np.zeros((rows, longest), np.int64),
            "mask": np.zeros((beam.SPARE_ROWS, engine.actions.n), np.bool_),
            "node_origin": np.zeros(nodes, np.int64),
            "node_steps": np.zeros(nodes, np.int64),
            "node_path": np.zeros((nodes, longest), np.int64),
            "now": np.zeros(longest, np.int64),
            "best_path": np.zeros(longest, np.int64),
            "tally": np.zeros(beam.TALLIES, np.int64),
        }
        self._members["count"][first // room] = 1
        self._members["tally"][beam.BEST] = beam.NO_SCORE

    @property
    def tried(self) -> int:
        """Positions looked at."""
        return int(self._members["tally"][beam.TRIED])

    def run(self) -> list[int]:
        """The actions of the best line."""
        g = Arrays(self._members)
        with contextlib.nullcontext() if can_compile() else interpreted():
            for day in range(self._start, self._days + 1):
                for point in range(self._points):
                    beam.close_pool(g, day, point)
        return self._way()

    def _way(self) -> list[int]:
        """From the start to the best end."""
        m, tally = self._members, self._members["tally"]
        parts = [m["best_path"][: tally[beam.LENGTH]]]
        node = int(tally[beam.FROM])
        while node != beam.NOWHERE:
            parts.append(m["node_path"][node, : m["node_steps"][node]])
            node = int(m["node_origin"][node])
        return [int(action) for part in reversed(parts) for action in part]
