"""What a game of Bibliogamo is worth at the start of a turn, where a rollout may be cut off.

It is the greedy agent's own judgement (``bibliogamo_worth``): points that are safe, the position,
the best sale and hires of this turn, and what the days left are worth.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.agents.bibliogamo_worth import (
    GreedyParams,
    look_ahead,
    position_worth,
    read_scene,
)
from incunabula.agents.greedy_bibliogamo import (
    best_plan,
    best_space,
    read_hand,
    sale_worth,
    worth_of_day,
)
from incunabula.envs.compiled.functions import compiled_apart
from incunabula.envs.engine import Engine


@compiled_apart
def turn_values(tables: Any, public: Any, rows: Any, params: Any, out: Any) -> None:
    """Write the worth of each of these rows, (n,), into ``out``, float64 (n,); VP."""
    for k in range(len(rows)):
        row = rows[k]
        scene = read_scene(tables, public, row, params)
        librarian = np.int64(public.librarian[row])
        worth = float(public.books[row]) * scene.vp_per_book
        for j in range(len(scene.slots)):
            if scene.slots[j]:
                worth += float(scene.slot_vp[j])
        space, sells = best_space(params, scene, tables.board, librarian, scene.florins)
        step = abs(space - librarian)
        florins = scene.florins - min(step, len(tables.board) - step)
        if sells:
            worth += sale_worth(params, scene, np.int64(tables.board[space]), space, florins)
        else:
            books = np.empty(len(scene.missing))
            horizon = look_ahead(params, scene, scene.slots, scene.days_left, books)
            worth += position_worth(
                params,
                scene,
                horizon,
                books,
                scene.missing,
                scene.places,
                scene.wide,
                scene.supply,
                space,
                florins,
            )
        banned, can_lift = np.int64(public.banned[row]), tables.lifts_per_turn > 0
        hand = read_hand(public.hand[row], banned, tables.artisans, tables.icon, can_lift)
        none, hires = np.int64(-1), np.int64(public.hires_left[row])
        worth += best_plan(params, scene, hand, space, hires, none)[0]
        worth -= best_plan(params, scene, hand, space, np.int64(0), none)[0]
        for day in range(2, scene.days_left + 1):
            worth += worth_of_day(params, day)
        out[k] = worth


def greedy_values(
    engine: Engine, rows: npt.NDArray[np.intp], params: GreedyParams | None = None
) -> npt.NDArray[np.float64]:
    """Points at the end that the greedy agent expects of these rows (n,), each at the first
    decision of a turn; float64 (n,)."""
    out = np.empty(len(rows))
    turn_values(
        engine.table_arrays,
        engine.public_arrays,
        rows,
        GreedyParams() if params is None else params,
        out,
    )
    return out
