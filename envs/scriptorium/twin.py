"""What the kernels read by name: the edition, the actions, the state, the observation's table.

Every value is an array or an integer, as ``compiled.arrays.Arrays`` takes them.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from incunabula.envs.compiled.backend import CompiledBackend, Twin
from incunabula.envs.scriptorium import kernels, kernels_look
from incunabula.envs.scriptorium.actions import Actions, Kind
from incunabula.envs.scriptorium.edition import GAME
from incunabula.envs.scriptorium.game import Game
from incunabula.envs.scriptorium.kernels_look import (
    GRIMOIRE_THERE,
    IN_STORAGE,
    ON_LECTERN,
    ONE_INK,
    PAYABLE,
    SPACE_FREE,
    TWO_INKS,
)
from incunabula.envs.scriptorium.observation import Layout
from incunabula.envs.scriptorium.state import MARKS, PublicState, State
from incunabula.envs.scriptorium.tables import INKS
from incunabula.envs.scriptorium.tape import lecterns_ran_out

Members = dict[str, Any]


def table_arrays(game: Game) -> Members:
    """``t``: the numbers of ``Tables`` and, of ``Game``, those that follow from them."""
    t = game.tables
    numbers = {name: x for name, x in t._asdict().items() if isinstance(x, (np.ndarray, int))}
    return numbers | {
        "designs": t.designs,
        "lecterns": t.lecterns,
        "max_players": t.max_players,
        "players": game.players,  # that play; the tuple of ``Tables`` says how many may
        "bag": game.bag,
        "spaces": game.spaces,
        "group_size": game.group_size,
    }


def action_arrays(actions: Actions) -> Members:
    """``a``: the arrays of ``Actions``, and two more.

    ``places`` (D + 1,): design d is placed by the actions places[d] .. places[d + 1]. ``needs``
    (A,): what ink choices, the grimoire and placements need, as bits (see ``kernels_look``).
    """
    place = actions.of(Kind.PLACE)
    needs = np.zeros(actions.n, np.int16)
    for ink in range(len(INKS)):
        needs |= (actions.take[:, ink] > 0) << (ONE_INK + ink)
        needs |= (actions.take[:, ink] > 1) << (TWO_INKS + ink)
    needs[actions.of(Kind.GRIMOIRE)] = 1 << GRIMOIRE_THERE
    source = np.array([ON_LECTERN, IN_STORAGE])[actions.source[place]]
    needs[place] = 1 << (SPACE_FREE + actions.space[place])
    needs[place] |= (1 << source) | actions.paid[place] << PAYABLE
    arrays = {name: x for name, x in vars(actions).items() if isinstance(x, (np.ndarray, int))}
    designs = np.arange(actions.tables.designs + 1)
    return arrays | {
        "bound": np.array(actions.bound),
        "needs": needs,
        "places": place.start + actions.design[place].searchsorted(designs),
    }


def state_arrays(state: State) -> Members:
    """``s``: the arrays of a state and their views; made anew once ``State.fit`` made room."""
    names = [f.name for f in fields(State) if f.name != "tables"] + list(PublicState._fields)
    names += ["seat_flat", "stock_flat", "seats_wide", "tiles_wide", "stock_wide"]
    return {name: getattr(state, name) for name in names}


def layout_arrays(layout: Layout) -> Members:
    """``l``: where the regions of an observation start, and the scales of counts."""
    t, start = layout.tables, {name: field.start for name, field in layout.fields.items()}
    return {
        "marks_at": np.array([start[name] for name in MARKS]),
        "phase_at": start["phase"],
        "seat_at": start["seat"],
        "players_at": start["players"],
        "table_at": start["round"],
        "seats_at": start["inks+0"],
        "tiles_at": start["tiles"],
        "stock_at": start["lectern_tiles+0"],
        "table_scale": layout.table_scale,
        "seat_width": len(layout.seat_scale),
        "seat_scale": np.tile(layout.seat_scale, t.max_players),  # of all seats, side by side
    }


TWIN = Twin(
    kernels={
        "set_up": kernels.set_up,
        "begin": kernels.begin,
        "act": kernels.act,
        "legal": kernels_look.legal,
        "observe": kernels_look.observe,
    },
    state_arrays=state_arrays,
    tape_ran_out=lambda s, row: lecterns_ran_out(int(s.round[row]), int(s.tape_length[row])),
)


def compiled_backend(game: Game, layout: Layout, state: State) -> CompiledBackend:
    """The backend of an engine with these parts."""
    return CompiledBackend(
        GAME, state, table_arrays(game), action_arrays(game.actions), layout_arrays(layout)
    )
