"""How the boards, drawn or written, say what is asked and by whom."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

_ASKED = {
    "ink": "takes ink",
    "lectern": "gives a lectern",
    "quill": "takes the quill or points",
    "illuminate": "illuminates",
    "discard": "discards",
}


def asked(state: Json) -> str:
    """What the seat to act is to decide; after the end, who has won."""
    if state["phase"] == "over":
        best = max(player["score"] for player in state["players"])
        won = [k for k, player in enumerate(state["players"]) if player["score"] == best]
        return f"won by {' and '.join(f'seat {seat}' for seat in won)}"
    return f"seat {state['player']} {_ASKED[state['phase']]}"


def lecterns_of(state: Json, seat: int) -> list[int]:
    """The lectern of a seat: none, or one (an edition's index)."""
    return [each["lectern"] for each in state["lecterns"] if each["owner"] == seat]


def is_put_away(state: Json, each: Json) -> bool:
    """Whether one of the round's lecterns was left over, so that its tiles are for sale (S6)."""
    given = state["phase"] not in ("ink", "lectern", "quill")
    return each["owner"] is None and given


def achievement_said(state: Json, achievement: str, points: int) -> str:
    """Where an achievement is: "open: 5", "discarded" or "seat 1"."""
    owner = state["achievements"][achievement]
    return {None: f"open: {points}", "gone": "discarded"}.get(owner, f"seat {owner}")
