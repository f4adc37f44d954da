"""The compiled backend of Bibliogamo: its kernels and what they work on."""

from __future__ import annotations

from typing import Any

import numpy as np

from incunabula.envs.bibliogamo import kernels, kernels_look
from incunabula.envs.bibliogamo.actions import Actions
from incunabula.envs.bibliogamo.edition import GAME
from incunabula.envs.bibliogamo.observation import Layout
from incunabula.envs.bibliogamo.state import State
from incunabula.envs.bibliogamo.tables import Tables
from incunabula.envs.chance import tape_ran_out
from incunabula.envs.compiled.backend import CompiledBackend, Twin

Members = dict[str, Any]


def table_arrays(t: Tables) -> Members:
    """The edition: all of ``Tables``, its sizes among them."""
    sizes = ("cards", "towers", "types", "spaces", "coins", "collections", "slots")
    return t._asdict() | {name: getattr(t, name) for name in sizes}


def action_arrays(a: Actions) -> Members:
    """The action table."""
    return dict(vars(a))


def state_arrays(s: State) -> Members:
    """All arrays of the state and their views."""
    return {name: array for name, array in vars(s).items() if isinstance(array, np.ndarray)}


def layout_arrays(layout: Layout) -> Members:
    """The observation's table: where regions begin, and scales."""
    return layout.numbers()


TWIN = Twin(
    kernels={
        "set_up": kernels.set_up,
        "begin": kernels.begin,
        "act": kernels.act,
        "legal": kernels_look.legal,
        "observe": kernels_look.observe,
    },
    state_arrays=state_arrays,
    tape_ran_out=lambda s, row: tape_ran_out(int(s.shuffles[row]), int(s.tape_length[row])),
)


def compiled_backend(
    tables: Tables, actions: Actions, layout: Layout, state: State
) -> CompiledBackend:
    """The backend of an engine with these parts."""
    return CompiledBackend(
        GAME, state, table_arrays(tables), action_arrays(actions), layout_arrays(layout)
    )
