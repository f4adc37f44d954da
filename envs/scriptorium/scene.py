"""The table as a scene, from what is public alone.

Marks of its shapes: ``ink:K`` (ink K of the pot), ``grimoire``, ``lectern:L`` (an edition's lectern
in play), ``market:DESIGN`` (a tile of the scriptorium), ``achievement:NAME``, ``end``, ``bag``, and
for each seat ``seat:SEAT``, ``inks:SEAT:K``, ``page:SEAT:SPACE``, ``lectern_tile:SEAT:DESIGN``,
``storage:SEAT:DESIGN``, ``kept:SEAT:NAME`` (an achievement), ``quill:SEAT``, ``tokens:SEAT``.
"""

from __future__ import annotations

from typing import Any

from incunabula.envs.drawing import palette
from incunabula.envs.drawing.palette import EDGE, FADED, GHOST, GOLD, INK, PAGE, SEATS, WHITE
from incunabula.envs.drawing.pen import Box, Pen
from incunabula.envs.drawing.scene import Scene
from incunabula.envs.scriptorium.edition import Edition
from incunabula.envs.scriptorium.edition_checks import QUILL
from incunabula.envs.scriptorium.scene_pages import draw_manuscript
from incunabula.envs.scriptorium.scene_tiles import (
    draw_tiles,
    grimoire,
    ink_mark,
    quill,
)
from incunabula.envs.scriptorium.tables import ACHIEVEMENTS, INKS
from incunabula.envs.scriptorium.wording import (
    achievement_said,
    asked,
    is_put_away,
    lecterns_of,
)

Json = dict[str, Any]
WIDTH, HEIGHT = 1200, 820
MOST_TOKENS = 6  # that are drawn one by one


def draw_scene(edition: Edition, state: Json, seat: int = 0) -> Scene:
    """The public state (its JSON form) as a picture, 1200 by 820.

    Args:
        edition: what is played with.
        state: the public state; ``bag`` isn't looked at.
        seat: whose place comes first; the others follow clockwise.
    """
    pen = Pen()
    pen.rect(Box(0, 0, WIDTH, HEIGHT), palette.PARCHMENT)
    _heading(pen, Box(0, 0, WIDTH, 52), edition, state)
    table = Box(16, 62, WIDTH - 32, 176)
    pot, lecterns, market = table.columns([128, 700, 324], 8)
    _pot(pen, pot, state)
    for place, each in zip(
        lecterns.columns([1.0] * len(state["lecterns"]), 8), state["lecterns"], strict=True
    ):
        with pen.marked(f"lectern:{each['lectern']}"):
            _lectern(pen, place, edition, state, each)
    _market(pen, market, edition, state)
    _achievements(pen, Box(16, 246, WIDTH - 32, 28), edition, state)
    players = len(state["players"])
    field = Box(16, 284, WIDTH - 32, HEIGHT - 296)
    if players <= 3:
        places = field.columns([1.0] * players, 10)
    else:
        upper, lower = field.rows([1, 1], 10)
        places = [*upper.columns([1, 1], 10), *lower.columns([1, 1], 10)[::-1]]
    for k, place in enumerate(places):
        _player(pen, place, edition, state, (seat + k) % players)
    return pen.scene(WIDTH, HEIGHT, f"Scriptorium, {edition.name}: {asked(state)}")


def action_mark(edition: Edition, state: Json, action: Json) -> str:
    """The mark of the thing at which an action is done, "" if none is drawn.

    Args:
        edition: what is played with.
        state: the public state in which it is done.
        action: as ``Actions.describe`` has it, seats counted from the one to move.
    """
    seat = state["player"]
    match action["type"]:
        case "ink":
            return f"ink:{INKS.index(action['inks'][0])}"
        case "grimoire":
            return "grimoire"
        case "lectern":
            return f"lectern:{action['lectern']}"
        case "quill":
            return f"quill:{seat}"
        case "points":
            return f"seat:{seat}"
        case "place":
            source = "lectern_tile" if action["from"] == "lectern" else "storage"
            return f"{source}:{seat}:{action['tile']}"
        case "buy":
            if action["from"] == "scriptorium":
                return f"market:{action['tile']}"
            owner = (seat + action["from"]) % len(state["players"])
            return f"storage:{owner}:{action['tile']}"
        case "discard_tile":
            return f"storage:{seat}:{action['tile']}"
        case "discard_achievement":
            return f"kept:{seat}:{action['achievement']}"
        case "discard_ink":
            return f"inks:{seat}:{INKS.index(action['ink'])}"
    return "end"


def _heading(pen: Pen, box: Box, edition: Edition, state: Json) -> None:
    pen.rect(box, palette.DESK)
    pen.rect(Box(box.x, box.lower - 3, box.w, 3), GOLD)
    y = box.y + 25
    pen.text(20, y, "Scriptorium", 26, room=170, fill=palette.PARCHMENT, anchor="start", bold=True)
    pen.text(184, y + 4, edition.name, 12, room=190, fill=GHOST, anchor="start")
    with pen.marked("end"):
        place = Box(390, box.y + 8, 470, 33)
        pen.rect(place, palette.mixed(palette.DESK, INK, 0.35), radius=16)
        if state["player"] is not None:
            pen.circle(place.x + 20, place.middle[1], 9, SEATS[state["player"]], WHITE)
        said = f"round {state['round']} · {asked(state)}"
        pen.text(*place.middle, said, 16, room=place.w - 72, fill=WHITE)
    with pen.marked("bag"):
        x = 1010.0
        pen.circle(x, y + 4, 12, "#a98a5b", INK)
        pen.polygon(
            [(x - 8, y - 14), (x + 8, y - 14), (x + 4, y - 5), (x - 4, y - 5)], "#a98a5b", INK
        )
        left = state["bag_left"]
        said = f"{left} {'tile' if left == 1 else 'tiles'} in the bag"
        pen.text(x + 22, y, said, 14, room=150, fill=palette.PARCHMENT, anchor="start")


def _pot(pen: Pen, box: Box, state: Json) -> None:
    """The ink pot, and the grimoire while nobody has it."""
    inside = pen.panel(box, "INK POT")
    *rows, last = inside.rows([1.0] * len(INKS) + [1.35], 1)
    for k, (ink, row) in enumerate(zip(INKS, rows, strict=True)):
        count = state["pot"][ink]
        y = row.middle[1]
        with pen.marked(f"ink:{k}"):
            ink_mark(pen, row.x + 9, y, 7.5, ink, count > 0)
            faint = INK if count else GHOST
            pen.text(row.x + 25, y, ink, 12, room=44, fill=faint, anchor="start")
            pen.text(
                *(row.right - 2, y, str(count), 14),
                room=34,
                fill=faint,
                anchor="end",
                bold=count > 0,
            )
    with pen.marked("grimoire"):
        y = last.middle[1] + 2
        if state["grimoire"] is None:
            grimoire(pen, last.x + 9, y, 9)
            pen.text(last.x + 25, y, "grimoire", 12, room=last.w - 26, anchor="start")
        else:
            pen.text(
                *(last.x + 25, y, "grimoire taken", 11),
                room=last.w - 26,
                fill=GHOST,
                anchor="start",
            )


def _lectern(pen: Pen, box: Box, edition: Edition, state: Json, each: Json) -> None:
    """A lectern in play: what it carries, whose it is, and its tiles until it is somebody's."""
    name, owner = edition.lecterns[each["lectern"]], each["owner"]
    wood = palette.mixed("#8a6238", palette.PANEL, 0.55)
    pen.rect(box, wood, SEATS[owner] if owner is not None else EDGE, radius=8, width=1.5)
    head = Box(box.x + 8, box.y + 5, box.w - 16, 28)
    y = head.middle[1]
    if name == QUILL:
        quill(pen, head.x + 12, y, 13)
    else:
        ink_mark(pen, head.x + 11, y, 10, name)
    pen.text(head.x + 28, y, name, 14, room=head.w - 58, anchor="start", bold=True)
    pen.text(head.right, y, f"#{each['lectern']}", 11, room=26, fill=INK, anchor="end")
    shelf = Box(box.x + 7, box.y + 38, box.w - 14, box.h - 46)
    pen.rect(shelf, palette.mixed(wood, PAGE, 0.5), palette.mixed(wood, INK, 0.3), radius=4)
    if owner is not None:
        x, y = shelf.middle
        pen.circle(x, y - 12, 15, SEATS[owner], WHITE, width=2)
        pen.text(x, y - 12, str(owner), 16, room=24, fill=WHITE, bold=True)
        pen.text(x, y + 17, f"of seat {owner}", 12, room=shelf.w - 8)
    elif not each["tiles"]:
        said = "put away" if is_put_away(state, each) else "no tiles"
        pen.text(*shelf.middle, said, 12, room=shelf.w - 8, fill=FADED)
    else:
        lectern = each["lectern"]
        draw_tiles(pen, shelf.inset(6), edition, each["tiles"], lambda _: f"lectern:{lectern}")


def _market(pen: Pen, box: Box, edition: Edition, state: Json) -> None:
    inside = pen.panel(box, "SCRIPTORIUM: A HELP TOKEN BUYS A TILE")
    if not state["scriptorium"]:
        pen.text(*inside.middle, "empty", 13, room=inside.w, fill=FADED)
    draw_tiles(pen, inside, edition, state["scriptorium"], lambda design: f"market:{design}")


def _achievements(pen: Pen, box: Box, edition: Edition, state: Json) -> None:
    """The five achievements, and who has earned each."""
    points = edition.rules.achievement_points
    for name, place in zip(ACHIEVEMENTS, box.columns([1.0] * len(ACHIEVEMENTS), 8), strict=True):
        owner = state["achievements"][name]
        won = isinstance(owner, int)
        colour = SEATS[owner] if isinstance(owner, int) else EDGE
        with pen.marked(f"achievement:{name}"):
            fill = palette.mixed(colour, WHITE, 0.78) if won else palette.PANEL
            pen.rect(place, fill, colour, radius=14, width=2 if won else 1)
            y = place.middle[1]
            medallion(pen, place.x + 16, y, 10, name, owner != "gone")
            said = achievement_said(state, name, points)
            pen.text(
                *(place.x + 32, y, name.replace("_", " "), 12),
                room=place.w - 110,
                anchor="start",
                bold=won,
            )
            pen.text(
                *(place.right - 12, y, said, 12),
                room=64,
                fill=INK if won else FADED,
                anchor="end",
            )


def medallion(pen: Pen, x: float, y: float, r: float, name: str, bright: bool = True) -> None:
    """An achievement: a double page on which the part to fill is gold."""
    gold = GOLD if bright else GHOST
    left, right = name in ("left_frame", "full_frame"), name in ("right_frame", "full_frame")
    half = Box(x - r, y - r * 0.7, r, r * 1.4)
    for page, framed, inner in (
        (half, left, name == "left_page"),
        (Box(x, half.y, r, half.h), right, name == "right_page"),
    ):
        pen.rect(page, gold if framed else PAGE, INK, width=0.8)
        pen.rect(page.inset(r * 0.25), gold if inner else PAGE, None)


def _player(pen: Pen, box: Box, edition: Edition, state: Json, seat: int) -> None:
    """A seat's place: score, inks, manuscript, tiles."""
    player, to_act = state["players"][seat], state["player"] == seat
    colour = SEATS[seat]
    fill = palette.mixed(palette.PANEL, colour, 0.08)
    pen.rect(box, fill, GOLD if to_act else EDGE, radius=10, width=4 if to_act else 1.2)
    inside = box.inset(10, 6)
    wide = inside.w > 1.6 * inside.h
    head = Box(inside.x, inside.y, inside.w, 30)
    _name_plate(pen, head, edition, state, seat)
    body = Box(inside.x, head.lower + 4, inside.w, inside.lower - head.lower - 4)
    if wide:
        page, rest = body.columns([1.06, 1], 10)
        inks, lectern, storage = rest.rows([27, 80, 84], 5)
    else:
        inks, page, lectern, storage = body.rows([27, 228, 84, 88], 6)
    for k, part in enumerate(inks.columns([1.0] * len(INKS), 4)):
        ink = INKS[k]
        count = player["inks"][ink]
        with pen.marked(f"inks:{seat}:{k}"):
            pen.rect(part, PAGE if count else palette.mixed(fill, PAGE, 0.4), EDGE, radius=6)
            x, y = part.middle
            ink_mark(pen, x - 11, y, 7.5, ink, count > 0)
            pen.text(
                *(x + 11, y, str(count), 14),
                room=part.w / 2 - 8,
                fill=INK if count else GHOST,
                bold=count > 0,
            )
    draw_manuscript(pen, page, edition, player["filled"], seat)
    own = lecterns_of(state, seat)
    title = f"lectern: {edition.lecterns[own[0]]}" if own else "lectern: none yet"
    _shelf(pen, lectern, edition, title, player["lectern_tiles"], f"lectern_tile:{seat}")
    held = len(player["storage"]) + len(player["achievements"])
    title = f"storage: {held} of {edition.rules.storage_limit}"
    _shelf(pen, storage, edition, title, player["storage"], f"storage:{seat}")


def _name_plate(pen: Pen, box: Box, edition: Edition, state: Json, seat: int) -> None:
    player, y = state["players"][seat], box.middle[1]
    with pen.marked(f"seat:{seat}"):
        pen.circle(box.x + 14, y, 13, SEATS[seat], WHITE, width=2)
        pen.text(box.x + 14, y, str(seat), 15, room=20, fill=WHITE, bold=True)
        pen.text(
            *(box.right - 2, y, str(player["score"]), 26),
            room=66,
            fill=palette.mixed(SEATS[seat], INK, 0.3),
            anchor="end",
            bold=True,
        )
    x = box.x + 46.0
    with pen.marked(f"quill:{seat}"):
        if state["quill"] == seat:
            quill(pen, x, y, 16)
            x += 28
        elif state["quill_next"] == seat or (state["phase"], state["player"]) == ("quill", seat):
            pen.circle(x, y, 12, None, GOLD, width=1.5)
            quill(pen, x, y, 9)
            x += 26
    if state["grimoire"] == seat:
        grimoire(pen, x, y, 9)
        x += 24
    with pen.marked(f"tokens:{seat}"):
        tokens = player["tokens"]
        drawn = tokens if tokens <= MOST_TOKENS else 1
        for k in range(drawn):
            pen.circle(x + 13 * k, y, 6, palette.LEAF, WHITE)
        x += 13 * drawn - 4
        if tokens > drawn:
            pen.text(x, y, f"x {tokens}", 12, room=34, anchor="start")
            x += 36
    x += 16
    for name in player["achievements"]:
        with pen.marked(f"kept:{seat}:{name}"):
            medallion(pen, x, y, 10, name)
        x += 25
    said = f"{player['points']} points, {tokens} help"
    pen.text(box.right - 76, y, said, 12, room=box.right - 80 - x, fill=FADED, anchor="end")


def _shelf(pen: Pen, box: Box, edition: Edition, title: str, designs: list[int], mark: str) -> None:
    """A row of tiles with its name above."""
    pen.text(box.x + 2, box.y + 7, title, 11, room=box.w - 4, fill=FADED, anchor="start")
    place = Box(box.x, box.y + 16, box.w, box.h - 16)
    draw_tiles(pen, place, edition, designs, lambda design: f"{mark}:{design}")
