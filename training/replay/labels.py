"""Actions as short sentences for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incunabula.envs.bibliogamo.state import Phase as BibliogamoPhase
from incunabula.envs.engine import Engine
from incunabula.envs.scriptorium.state import Phase as ScriptoriumPhase

Json = dict[str, Any]


def action_label(engine: Engine, row: int, action: int) -> str:
    """What an action that is legal in a row does, in a few words: "hire with card 12 (2 scribe) for
    herbal"."""
    form = engine.action_to_json(row, action)
    words = _scriptorium if engine.game == "scriptorium" else _bibliogamo
    return words(engine, row, form)


def heading(engine: Engine, row: int) -> str:
    """Where a row's game stands, in a few words: "turn 5 · day 12 of 40"."""
    state = engine.state
    if engine.game == "scriptorium":
        said = f"round {state.round[row]}"
    else:
        said = f"turn {state.turn[row]} · day {state.time[row]} of {engine.tables.days}"
    return f"{said} · game over" if state.phase[row] == engine.over else said


def asked(engine: Engine, row: int) -> str:
    """What the player to move is asked, in a few words: "walk, or stay"; empty when the game is
    over."""
    if engine.state.phase[row] == engine.over:
        return ""
    if engine.game == "scriptorium":
        return _ASKED_SCRIPTORIUM[ScriptoriumPhase(int(engine.state.phase[row]))]
    edition, state = engine.edition, engine.state
    match BibliogamoPhase(int(state.phase[row])):
        case BibliogamoPhase.TRAVEL:
            return "stay, or walk for a florin a space"
        case BibliogamoPhase.SELL:
            return f"sell the book of {edition.board.spaces[int(state.librarian[row])]}, or keep it"
        case BibliogamoPhase.PRICE:
            offered = _many(int(state.offer[row]), "florin")
            return f"accept the offer of {offered}, or wait a day for another"
        case BibliogamoPhase.PAY:
            tower = edition.towers[int(state.pending_tower[row])].name
            return f"discard a card to pay for the hire in {tower}"
    return f"hire artisans ({_many(int(state.hires_left[row]), 'hire')} left), or end the turn"


_ASKED_SCRIPTORIUM = {
    ScriptoriumPhase.INK: "take ink or the grimoire",
    ScriptoriumPhase.LECTERN: "choose a lectern and who gets it",
    ScriptoriumPhase.QUILL: "take the quill, or points instead",
    ScriptoriumPhase.ILLUMINATE: "place or buy tiles, or end the turn",
    ScriptoriumPhase.DISCARD: "discard what is above the limits",
}


def _bibliogamo(engine: Engine, row: int, form: Json) -> str:
    edition, state = engine.edition, engine.state
    here = int(state.librarian[row])
    match form["type"]:
        case "stay":
            return f"stay at {edition.board.spaces[here]}"
        case "walk":
            florins = int(engine.tables.distance[here, form["space"]])
            return f"walk to {edition.board.spaces[form['space']]} for {_many(florins, 'florin')}"
        case "keep":
            return "keep the book"
        case "sell":
            return f"sell the book of {edition.board.spaces[here]}"
        case "accept":
            return f"accept {_many(int(state.offer[row]), 'florin')}"
        case "wait":
            return "wait a day for another offer"
        case "hire":
            card = edition.cards[form["card"]]
            tower = edition.towers[form["tower"]].name
            return f"hire with card {card.id} ({_counts(card.artisans)}) for {tower}"
        case "lift":
            card = edition.cards[form["card"]]
            return f"lift the ban with card {card.id} (icon {card.icon})"
        case "pay":
            card = edition.cards[form["card"]]
            return f"pay with card {card.id} ({_counts(card.artisans)})"
    return "end the turn"


def _scriptorium(engine: Engine, row: int, form: Json) -> str:
    edition, seat = engine.edition, int(engine.state.player[row])
    tile = edition.tiles[form["tile"]] if "tile" in form else None
    named = "" if tile is None else f"{tile.name} #{form['tile']}"  # pictures show the number
    match form["type"]:
        case "ink":
            first, *more = form["inks"]
            if more == [first]:
                return f"take 2 {first} inks"
            return f"take {' and '.join(form['inks'])} ink"
        case "grimoire":
            return "take the grimoire"
        case "lectern":
            given = engine.state.tiles[row, form["lectern"]]
            tiles = [edition.tiles[k].name for k, n in enumerate(given) for _ in range(n)]
            to = "oneself" if form["to"] == seat else f"seat {form['to']}"
            lectern = edition.lecterns[form["lectern"]]
            return f"lectern {lectern} ({', '.join(tiles) or 'no tiles'}) for {to}"
        case "quill":
            return "take the quill"
        case "points":
            return f"take {_many(edition.rules.quill_points, 'point')} instead of the quill"
        case "place":
            assert tile is not None
            side = "" if form["side"] is None else f" on the {form['side']}"
            paid = "without ink"
            if form["ink"]:
                paid = f"for {_many(tile.points, 'point')}, cost {_counts(tile.cost)}"
            return f"place {named} from the {form['from']}{side} {paid}"
        case "buy":
            source = form["from"]
            return f"buy {named} from {f'seat {source}' if source != 'scriptorium' else source}"
        case "discard_tile":
            return f"discard {named}"
        case "discard_achievement":
            return f"discard the achievement {form['achievement'].replace('_', ' ')}"
        case "discard_ink":
            return f"discard a {form['ink']} ink"
    return "end the turn"


def _counts(counts: Mapping[str, int]) -> str:
    """Names with their counts: "2 scribe, 1 binder"."""
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "nobody"


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
