"""The city of the board's picture: the ring of spaces, its towers, and the librarian."""

from __future__ import annotations

import math
from typing import Any

from incunabula.envs.bibliogamo.edition import Edition, Tower
from incunabula.envs.bibliogamo.scene_cards import cube, gap_for_cube, medal
from incunabula.envs.bibliogamo.wording import names_of, needs_of
from incunabula.envs.drawing import palette
from incunabula.envs.drawing.flow import centred, grid
from incunabula.envs.drawing.palette import EDGE, FADED, GOLD, INK, PAGE, STONE, VERMILION, WHITE
from incunabula.envs.drawing.pen import Box, Pen
from incunabula.envs.drawing.scene import Point

Json = dict[str, Any]
MOST_PLOTS = 12  # spaces that have a tower each; a longer ring has dots around the towers
MOST_DOTS = 160
SMALLEST_CUBE = 7.5
GRASS, ROAD = "#d3d6a6", "#efe1bf"


def draw_city(pen: Pen, box: Box, edition: Edition, state: Json) -> None:
    """The ring of spaces, clockwise from the upper left, around the town square."""
    pen.rect(box, GRASS, EDGE, radius=10)
    if len(edition.board.spaces) > MOST_PLOTS:
        _dotted_city(pen, box, edition, state)
        return
    spaces = len(edition.board.spaces)
    inside = box.inset(14, 12)
    if spaces <= 3:
        upper, square = inside.rows([4, 1], 12)
        plots = upper.columns([1.0] * spaces, 16)
        road = Box(
            inside.x + 30, upper.middle[1], inside.w - 60, square.middle[1] - upper.middle[1]
        )
    else:
        upper, square, lower = inside.rows([5, 2.1, 5], 10)
        first = math.ceil(spaces / 2)
        plots = upper.columns([1.0] * first, 14)
        plots += lower.columns([1.0] * (spaces - first), 14)[::-1]
        road = Box(
            *(inside.x + 40, upper.middle[1], inside.w - 80, lower.middle[1] - upper.middle[1])
        )
    _road(pen, road)
    towers = [tower.name for tower in edition.towers]
    for space, plot in enumerate(plots):
        index = towers.index(edition.board.spaces[space])
        with pen.marked(f"space:{space}"):
            _plot(pen, plot, edition, state, index, state["librarian"] == space, str(space))
    wide = square.w * (0.62 if spaces > 2 else 0.8)
    _square(pen, Box(square.middle[0] - wide / 2, square.y, wide, square.h), edition, state)


def _road(pen: Pen, box: Box) -> None:
    corners = [(box.x, box.y), (box.right, box.y), (box.right, box.lower), (box.x, box.lower)]
    pen.line(corners, palette.mixed(ROAD, INK, 0.25), 30, closed=True)
    pen.line(corners, ROAD, 27, closed=True)
    for x, way in ((box.right, 1), (box.x, -1)):
        y = box.middle[1]
        pen.polygon([(x - 8, y - 6 * way), (x + 8, y - 6 * way), (x, y + 8 * way)], EDGE)


def _dotted_city(pen: Pen, box: Box, edition: Edition, state: Json) -> None:
    track = box.inset(16)
    corners = [(track.x, track.y), (track.right, track.y)]
    corners += [(track.right, track.lower), (track.x, track.lower)]
    pen.line(corners, ROAD, 22, closed=True)
    towers = [tower.name for tower in edition.towers]
    spaces, at = edition.board.spaces, state["librarian"]
    along = 2 * (track.w + track.h) / len(spaces)
    r = min(9.0, along * 0.42)
    for space, name in enumerate(spaces):
        if len(spaces) > MOST_DOTS and space != at:
            continue
        x, y = _on_track(track, along * space)
        with pen.marked(f"space:{space}"):
            here = space == at
            pen.circle(x, y, r, GOLD if here else PAGE, INK if here else FADED)
            if r >= 6:
                pen.text(x, y, str(towers.index(name) + 1), r * 1.1, room=1.8 * r, bold=here)
    inside = box.inset(34, 32)
    upper, square = inside.rows([5, 1], 10)
    places, _ = grid(upper, len(towers), 0.8, upper.w, 10)
    here = towers.index(spaces[at])
    for index, place in enumerate(centred(places, upper)):
        _plot(pen, place, edition, state, index, index == here, str(index + 1))
    _square(pen, square, edition, state)


def _on_track(box: Box, distance: float) -> Point:
    """The point so far along a rectangle, clockwise from its upper left."""
    if distance <= box.w:
        return box.x + distance, box.y
    distance -= box.w
    if distance <= box.h:
        return box.right, box.y + distance
    distance -= box.h
    if distance <= box.w:
        return box.right - distance, box.lower
    return box.x, box.lower - (distance - box.w)


def _plot(
    pen: Pen, box: Box, edition: Edition, state: Json, index: int, here: bool, number: str
) -> None:
    """A space: its tower, filled as far as it is, and the librarian if he is there."""
    tower, filled = edition.towers[index], state["towers"][index]
    needed = sum(tower.requires.values())
    pen.rect(Box(box.x + 2, box.y + 3, box.w, box.h), palette.mixed(GRASS, INK, 0.18), radius=8)
    pen.rect(box, PAGE, GOLD if here else EDGE, radius=8, width=4 if here else 1.2)
    plate = Box(box.x, box.lower - 22, box.w, 22).inset(6, 2)
    count = f"{sum(filled)}/{needed}"
    tally = min(plate.w * 0.4, 46.0)
    pen.text(
        *(plate.x + 4, plate.middle[1], tower.name, 13),
        room=plate.w - tally - 10,
        anchor="start",
        bold=True,
    )
    done = sum(filled) == needed
    pen.text(
        *(plate.right - 2, plate.middle[1], count, 12),
        room=tally,
        fill=palette.LEAF if done else FADED,
        anchor="end",
        bold=done,
    )
    pen.text(box.right - 12, box.y + 12, number, 10, room=16, fill=FADED)
    yard = Box(box.x + 6, box.y + 6, box.w - 12, plate.y - box.y - 6)
    room = min(30.0, yard.w * 0.22)
    _tower(pen, Box(yard.x + room, yard.y, yard.w - room - 6, yard.h), edition, tower, filled)
    if here:
        with pen.marked("librarian"):
            librarian(pen, yard.x + room / 2, yard.lower - 1, min(46.0, yard.h * 0.6, room * 1.7))


def _tower(pen: Pen, box: Box, edition: Edition, tower: Tower, filled: list[int]) -> None:
    names = names_of(edition)
    kinds = needs_of(edition, tower, filled)
    rows = max(need for _, _, need in kinds)
    done = all(have == need for _, have, need in kinds)
    roof = min(30.0, box.h * 0.26)
    size = min((box.w - 12) / len(kinds), (box.h - roof - 6) / rows, 27.0)
    cubes = size >= SMALLEST_CUBE
    width = size * len(kinds) + 10 if cubes else box.w
    height = size * rows + 6 if cubes else box.h - roof
    body = Box(box.x + (box.w - width) / 2, box.lower - height, width, height)
    _house(pen, body, roof, done)
    if not cubes:
        _bars(pen, body.inset(5, 3), edition, kinds)
        return
    for column, (kind, have, need) in enumerate(kinds):
        for k in range(need):
            place = Box(
                *(body.x + 6 + column * size, body.lower - 3 - (k + 1) * size, size - 2, size - 2)
            )
            place = Box(place.x, place.y + 2, place.w, place.h)
            paint = cube if k < have else gap_for_cube
            paint(pen, place, names.colour(kind), names.letter(kind))


def _house(pen: Pen, body: Box, roof: float, done: bool) -> None:
    """Walls, a roof, and a flag once the book is finished."""
    tiles = GOLD if done else palette.TILE
    dark = palette.mixed(tiles, INK, 0.4)
    x, tip = body.middle[0], body.y - roof + 4
    if done:
        pen.line([(x, tip), (x, tip - 6)], INK, 1.5)
        pen.polygon([(x, tip - 6), (x + 13, tip - 2), (x, tip + 2)], VERMILION)
    pen.polygon([(body.x - 5, body.y + 1), (x, tip), (body.right + 5, body.y + 1)], tiles, dark)
    pen.circle(x, body.y - roof * 0.32 + 1, max(1.5, roof * 0.1), dark)
    pen.rect(body, STONE, palette.mixed(STONE, INK, 0.45))


def _bars(pen: Pen, box: Box, edition: Edition, kinds: list[tuple[str, int, int]]) -> None:
    """What a large tower holds, as bars with numbers; of many types one bar for all."""
    names = names_of(edition)
    most = max(1, int(box.h // 13))
    rows = [(names.letter(kind), names.colour(kind), have, need) for kind, have, need in kinds]
    if len(rows) > most:
        whole = sum(have for _, have, _ in kinds), sum(need for _, _, need in kinds)
        rows = [("", palette.LEAF, whole[0], whole[1])]
    for part, (letter, colour, have, need) in zip(
        box.rows([1.0] * len(rows), 2), rows, strict=True
    ):
        high = min(part.h, 16.0)
        bar = Box(part.x + 14, part.middle[1] - high / 2, part.w - 14, high)
        pen.text(part.x + 6, part.middle[1], letter, 10, room=12, fill=INK, bold=True)
        pen.rect(bar, palette.mixed(colour, WHITE, 0.8), colour, radius=2)
        if have:
            pen.rect(
                Box(bar.x, bar.y, bar.w * have / need, bar.h),
                palette.mixed(colour, WHITE, 0.4),
                radius=2,
            )
        pen.text(*bar.middle, f"{have}/{need}", 10, room=bar.w - 4)


def librarian(pen: Pen, x: float, ground: float, height: float) -> None:
    """The pawn: a gown, a head with a cap, and a book under the arm."""
    robe, dark = palette.PLUM, palette.mixed(palette.PLUM, INK, 0.5)
    half, neck = height * 0.27, ground - height * 0.6
    pen.polygon(
        [(x - half, ground), (x - half * 0.45, neck), (x + half * 0.45, neck), (x + half, ground)],
        *(robe, dark),
    )
    head = height * 0.17
    pen.circle(x, neck - head * 0.7, head, "#e8c39e", dark)
    cap = neck - head * 1.25
    pen.polygon([(x - head * 1.2, cap), (x, cap - head * 1.1), (x + head * 1.2, cap)], dark)
    book = Box(x + half * 0.05, neck + height * 0.16, height * 0.26, height * 0.2)
    pen.rect(book, VERMILION, INK, radius=1)
    pen.line([(book.x + 3, book.y), (book.x + 3, book.lower)], GOLD, 1.2)


def _square(pen: Pen, box: Box, edition: Edition, state: Json) -> None:
    """The town square: this turn's ban, and the artisans who wait for work."""
    pen.rect(box, PAGE, EDGE, radius=8)
    ban, supply = box.inset(8, 4).columns([1, 1.1], 10)
    y = ban.middle[1]
    r = min(19.0, ban.h * 0.36)
    x = ban.x + r + 4
    names = names_of(edition)
    with pen.marked("ban"):
        if state["banned"] is None:
            pen.circle(x, y, r, None, palette.GHOST, width=3)
            said = ("no ban", "everybody may be hired")
        else:
            kind = edition.artisan_types[state["banned"]]
            medal(pen, x, y, r * 0.8, names, kind)
            pen.circle(x, y, r, None, VERMILION, width=3.5)
            slash = 0.7 * r
            pen.line([(x - slash, y - slash), (x + slash, y + slash)], VERMILION, 3.5)
            said = ("banned today", kind)
        left = x + r + 10
        for line, bold, offset in ((said[0], False, -8), (said[1], True, 9)):
            pen.text(
                *(left, y + offset, line, 11 if offset < 0 else 14),
                room=ban.right - left,
                fill=INK if bold and state["banned"] is not None else FADED,
                anchor="start",
                bold=bold and state["banned"] is not None,
            )
    with pen.marked("supply"):
        pen.line([(supply.x - 5, box.y + 8), (supply.x - 5, box.lower - 8)], palette.GHOST)
        left, total = state["supply"], edition.rules.cubes
        pen.text(
            *(supply.x + 4, supply.y + 9, f"cubes left: {left} of {total}", 11),
            room=supply.w - 6,
            fill=FADED,
            anchor="start",
        )
        field = Box(supply.x + 4, supply.y + 18, supply.w - 8, supply.h - 20)
        if total <= 60:
            places, _ = grid(field, total, 1.0, 14.0, 2.5)
            for place in places[:left]:
                cube(pen, place, palette.mixed(palette.GHOST, INK, 0.15))
