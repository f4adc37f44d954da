"""Positions as the page and the terminal show them: plain JSON.

The fields are listed in docs/replays.md.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from incunabula.envs.drawing.scene import scene_json
from incunabula.envs.editions import BaseEdition
from incunabula.envs.engine import Engine
from incunabula.envs.playback import positions
from incunabula.envs.replay import Replay
from incunabula.training.replay.advice import Advice, Adviser
from incunabula.training.replay.labels import action_label, asked, heading
from incunabula.training.replay.luck import DrawLuck

Json = dict[str, Any]
DIGITS = 4  # of numbers that are shown


def frame_of(
    engine: Engine,
    row: int = 0,
    seat: int = 0,
    done: Json | None = None,
    *,
    note: Json | None = None,
    advice: Advice | None = None,
    drawn: bool = True,
) -> Json:
    """One position of a game, with nothing in it that isn't public.

    Args:
        engine: its row ``row`` is the game.
        seat: whose place is drawn first, in a game of several players.
        done: {"action", "label", "seat"} of the action that led here; None at the start.
        note: what is known of how the game came here: "regret" of that action, "luck" of the draws
            that followed.
        advice: what an agent makes of the position.
        drawn: whether there is a scene and marks in it; else ``scene`` is null.
    """
    over = engine.state.phase[row] == engine.over
    state = engine.snapshot(row) if drawn else {}
    legal = [int(action) for action in np.flatnonzero(engine.mask[row])]
    note = {name: round(number, DIGITS) for name, number in (note or {}).items()}
    if advice is not None and advice.expected is not None:
        note["value"] = round(advice.expected, DIGITS)
    return {
        "scene": _scene(engine, state, seat) if drawn else None,
        "heading": heading(engine, row),
        "asked": asked(engine, row),
        "to_move": None if over else _to_move(engine, row),
        "scores": np.atleast_1d(engine.state.score[row]).tolist(),
        "legal": [_legal(engine, row, action, state, advice) for action in legal],
        "done": done,
        "note": note,
    }


def game_frames(
    replay: Replay,
    edition: BaseEdition,
    adviser: Adviser | None = None,
    *,
    drawn: bool = True,
    on_position: Callable[[Engine], None] | None = None,
) -> Json:
    """A game with all its positions, one more than there are actions.

    Args:
        replay: one that was verified; its notes are shown where no adviser is asked.
        edition: its own.
        adviser: who judges every move; also where luck comes from.
        drawn: as for ``frame_of``.
        on_position: called with the engine at each position, whose row 0 is the game.
    """
    luck = None if adviser is None else DrawLuck(edition)
    frames: list[Json] = []
    done: Json | None = None
    note: Json = {}
    for k, engine in enumerate(positions(replay, edition)):
        over = k == len(replay.actions)
        advice = None
        if adviser is not None and engine.state.phase[0] != engine.over:
            advice = adviser.advise(engine, 0, k)
        if luck is not None and k:
            brought = luck.after(engine, advice)
            note |= {} if brought is None else {"luck": brought}
        if adviser is None and replay.notes is not None and not over:
            note |= {name: replay.notes[k][name] for name in ("value",) if name in replay.notes[k]}
        frames.append(frame_of(engine, 0, 0, done, note=note, advice=advice, drawn=drawn))
        if on_position is not None:
            on_position(engine)
        if over:
            break
        action = replay.actions[k]
        if luck is not None and advice is not None:
            luck.before(engine, k, action, advice)
        note = _move_note(replay, k, advice)
        label = action_label(engine, 0, action)
        done = {"action": action, "label": label, "seat": _to_move(engine, 0)}
    return {
        "game": replay.game,
        "edition": replay.edition,
        "edition_sha256": replay.edition_sha256,
        "incunabula": replay.incunabula,
        "players": list(replay.players),
        "deal": replay.shown_deal,
        "frames": frames,
    }


def _move_note(replay: Replay, k: int, advice: Advice | None) -> Json:
    """What is known of an action beforehand."""
    if advice is not None:
        regret = advice.regret(replay.actions[k])
        return {} if regret is None else {"regret": regret}
    told = {} if replay.notes is None else replay.notes[k]
    return {name: told[name] for name in ("regret", "luck") if name in told}


def _to_move(engine: Engine, row: int) -> int:
    return 0 if engine.num_players == 1 else int(engine.state.player[row])


def _scene(engine: Engine, state: Json, seat: int) -> Json:
    module = import_module(f"incunabula.envs.{engine.game}.scene")
    place = () if engine.num_players == 1 else (seat,)
    return scene_json(module.draw_scene(engine.edition, state, *place))


def _legal(engine: Engine, row: int, action: int, state: Json, advice: Advice | None) -> Json:
    """A legal action, with what the adviser says of it."""
    form: Json = {"action": action, "label": action_label(engine, row, action), "mark": ""}
    if state:
        module = import_module(f"incunabula.envs.{engine.game}.scene")
        form["mark"] = module.action_mark(engine.edition, state, engine.actions.describe(action))
    if advice is not None:
        form["probability"] = round(advice.probability[action], DIGITS)
        if action in advice.value:
            form["value"] = round(advice.value[action], DIGITS)
    return form
