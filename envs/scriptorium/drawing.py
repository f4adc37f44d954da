"""The table as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from incunabula.envs.drawing.lines import wrapped
from incunabula.envs.scriptorium.edition import Edition
from incunabula.envs.scriptorium.tables import ACHIEVEMENTS

Json = dict[str, Any]
LONGEST_BAR = 12  # spaces; more are given as numbers
LONGEST_NAME = 24
_PAGES = {
    "left": {
        "corners": "corner_left",
        "edges": "edge_left",
        **{letter: letter for letter in "ABCD"},
    },
    "right": {
        "corners": "corner_right",
        "edges": "edge_right",
        "initial": "initial",
        "text": "text",
    },
}


def draw_text(edition: Edition, state: Json) -> str:
    """The public state (its JSON form) as plain text, at most 100 columns for usual editions.

    Manuscripts show # for each filled space and . for each free one, lecterns and piles their
    tiles by number and name.
    """
    lines = [_heading(state), *_table(edition, state)]
    for seat in range(len(state["players"])):
        lines += ["", *_player(edition, state, seat)]
    return "\n".join(lines)


def _heading(state: Json) -> str:
    if state["phase"] == "over":
        best = max(player["score"] for player in state["players"])
        won = [k for k, player in enumerate(state["players"]) if player["score"] == best]
        to_act = f"won by {' and '.join(f'seat {seat}' for seat in won)}"
    else:
        to_act = f"seat {state['player']} to act"
    quill = f"quill: seat {state['quill']}"
    if state["quill_next"] is not None:
        quill += f", then seat {state['quill_next']}"
    return (
        f"round {state['round']}  [{state['phase']}]  {to_act}  {quill}  "
        f"grimoire: {_seat(state['grimoire'], '-')}  bag {state['bag_left']}"
    )


def _table(edition: Edition, state: Json) -> list[str]:
    lines = ["", *wrapped(_counts(state["pot"]), "pot         ")]
    for k, each in enumerate(state["lecterns"]):
        label = "lecterns    " if k == 0 else " " * 12
        first = f"{label}  {each['lectern']} {edition.lecterns[each['lectern']]:6s}"
        owner = [] if each["owner"] is None else [_seat(each["owner"])]
        lines += wrapped([*owner, *_tiles(edition, each["tiles"])] or ["-"], first)
    lines += wrapped(_tiles(edition, state["scriptorium"]) or ["-"], "scriptorium ")
    owners = state["achievements"]
    taken = (f"{name}: {_seat(owners[name], 'open')}" for name in ACHIEVEMENTS)
    return [*lines, *wrapped(taken, "achievements")]


def _player(edition: Edition, state: Json, seat: int) -> list[str]:
    player = state["players"][seat]
    pointer = ">" if state["player"] == seat else " "
    lines = wrapped(
        [
            f"score {player['score']}",
            f"points {player['points']}",
            f"help tokens {player['tokens']}",
            *player["achievements"],
        ],
        f"{pointer} seat {seat}    ",
    )
    lines += wrapped(_counts(player["inks"]), "    inks    ")
    own = [each["lectern"] for each in state["lecterns"] if each["owner"] == seat]
    label = [edition.lecterns[lectern] for lectern in own]
    lines += wrapped([*label, *_tiles(edition, player["lectern_tiles"])] or ["-"], "    lectern ")
    lines += wrapped(_tiles(edition, player["storage"]) or ["-"], "    storage ")
    for page, spaces in _PAGES.items():
        bars = (
            f"{label} {_bar(player['filled'][space], edition.spaces[space])}"
            for label, space in spaces.items()
        )
        lines += wrapped(bars, f"    {page:8s}")
    return lines


def _bar(filled: int, spaces: int) -> str:
    if spaces > LONGEST_BAR:
        return f"{filled}/{spaces}"
    return "#" * filled + "." * (spaces - filled)


def _seat(seat: int | str | None, nobody: str = "") -> str:
    if seat is None:
        return nobody
    return seat if isinstance(seat, str) else f"seat {seat}"


def _counts(inks: dict[str, int]) -> Iterable[str]:
    return (f"{ink} {count}" for ink, count in inks.items())


def _tiles(edition: Edition, designs: list[int]) -> list[str]:
    return [
        f"{design} {edition.tiles[design].name[:LONGEST_NAME]}" + (f" x{n}" if n > 1 else "")
        for design, n in sorted(Counter(designs).items())
    ]
