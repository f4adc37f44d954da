"""Manuscripts of the table's picture: the double page of each player."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from incunabula.envs.drawing import palette
from incunabula.envs.drawing.palette import EDGE, FADED, GHOST, GOLD, INK, PAGE, WHITE
from incunabula.envs.drawing.pen import Box, Pen
from incunabula.envs.scriptorium.edition import Edition
from incunabula.envs.scriptorium.scene_tiles import INK_COLOURS, ornament, spots, vine

Json = dict[str, Any]
SMALLEST_SPACE = 11.0
PAGES = {
    "left": ("corner_left", "edge_left", "A", "B", "C", "D"),
    "right": ("corner_right", "edge_right", "initial", "text"),
}
# Where the spaces of the usual page lie, as (column, row) of 3 by 4; the right page is mirrored.
_CORNERS = ((0, 0), (0, 3))
_EDGES = ((1, 0), (2, 0), (0, 1), (0, 2), (1, 3), (2, 3))
_INSIDE = ((1, 1), (2, 1), (1, 2), (2, 2))
SPACE_COLOURS = {
    "corner": INK_COLOURS["red"],
    "edge": INK_COLOURS["green"],
    "A": INK_COLOURS["blue"],
    "B": INK_COLOURS["red"],
    "C": INK_COLOURS["green"],
    "D": palette.PLUM,
    "initial": INK_COLOURS["blue"],
    "text": INK_COLOURS["red"],
}


def draw_manuscript(pen: Pen, box: Box, edition: Edition, filled: Json, seat: int) -> None:
    """The double page of a seat; its spaces are marked ``page:SEAT:SPACE``."""
    pen.rect(Box(box.x + 2, box.y + 3, box.w, box.h), palette.mixed(EDGE, INK, 0.2), radius=5)
    pen.rect(box, palette.mixed(PAGE, EDGE, 0.25), EDGE, radius=5)
    pages = box.inset(5).columns([1, 1], 4)
    for (side, spaces), page in zip(PAGES.items(), pages, strict=True):
        pen.rect(page, PAGE, GHOST)
        if is_usual(edition, spaces):
            _usual_page(pen, page.inset(6, 5), edition, spaces, filled, seat, side == "right")
        else:
            _listed_page(pen, page.inset(6, 5), edition, spaces, filled, seat)
    gutter = box.middle[0]
    pen.line([(gutter, box.y + 2), (gutter, box.lower - 2)], palette.mixed(EDGE, INK, 0.2), 2)


def is_usual(edition: Edition, spaces: tuple[str, ...]) -> bool:
    """Whether a page has 2 corners, 6 edges and 4 spaces inside, as the game's own pages."""
    corners, edges, *inside = (edition.spaces[space] for space in spaces)
    return (corners, edges) == (len(_CORNERS), len(_EDGES)) and sum(inside) == len(_INSIDE)


def cells_of(
    edition: Edition, spaces: tuple[str, ...], mirrored: bool
) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Where the spaces of a usual page lie: each kind, with (column, row) of its cells."""
    inside = iter(_INSIDE)
    for space in spaces:
        kind = space.partition("_")[0]
        if kind in ("corner", "edge"):
            cells = list(_CORNERS if kind == "corner" else _EDGES)
            yield space, [(2 - x, y) for x, y in cells] if mirrored else cells
        else:
            cells = [next(inside) for _ in range(edition.spaces[space])]
            yield space, [(x - 1, y) for x, y in cells] if mirrored else cells


def _usual_page(
    pen: Pen,
    box: Box,
    edition: Edition,
    spaces: tuple[str, ...],
    filled: Json,
    seat: int,
    mirrored: bool,
) -> None:
    side = min(box.w / 3, box.h / 4)
    left = box.middle[0] - 1.5 * side
    top = box.middle[1] - 2 * side
    for space, cells in cells_of(edition, spaces, mirrored):
        kind = space.partition("_")[0]
        with pen.marked(f"page:{seat}:{space}"):
            for k, (column, row) in enumerate(cells):
                place = Box(left + column * side, top + row * side, side, side).inset(1.5)
                upright = row in (1, 2)
                _space(pen, place, kind, k < filled[space], (column > 1, row > 1), upright)


def _listed_page(
    pen: Pen, box: Box, edition: Edition, spaces: tuple[str, ...], filled: Json, seat: int
) -> None:
    """A page of any other form: a row for each kind of space that it has."""
    kinds = [space for space in spaces if edition.spaces[space]]
    if not kinds:
        pen.text(*box.middle, "no spaces", 11, room=box.w, fill=FADED)
        return
    shares = [1.0 + min(3.0, edition.spaces[space] / 8) for space in kinds]
    for space, part in zip(kinds, box.rows(shares, 3), strict=True):
        kind, total, done = space.partition("_")[0], edition.spaces[space], filled[space]
        with pen.marked(f"page:{seat}:{space}"):
            places = spots(part, total, min(34.0, part.h))
            if places[0].w >= SMALLEST_SPACE:
                for k, place in enumerate(places):
                    _space(pen, place, kind, k < done)
                continue
            label = Box(part.x, part.y, min(48.0, part.w * 0.35), part.h)
            pen.text(*label.middle, kind, 10, room=label.w, fill=FADED, smallest=5)
            bar = Box(label.right + 2, part.y, part.w - label.w - 2, part.h)
            pen.rect(bar, WHITE, SPACE_COLOURS[kind], radius=2)
            if done:
                part_done = Box(bar.x, bar.y, bar.w * done / total, bar.h)
                pen.rect(part_done, palette.mixed(SPACE_COLOURS[kind], WHITE, 0.6), radius=2)
            pen.text(*bar.middle, f"{done}/{total}", min(11.0, part.h), room=bar.w - 4, smallest=4)


def _space(
    pen: Pen,
    box: Box,
    kind: str,
    done: bool,
    turned: tuple[bool, bool] = (False, False),
    upright: bool = False,
) -> None:
    """A space, filled or free; a corner is turned to the right and downwards as told."""
    if not done:
        pen.rect(box, palette.mixed(PAGE, EDGE, 0.12), GHOST)
        if kind == "edge":
            pen.rect(_band(box, upright), palette.mixed(PAGE, EDGE, 0.22))
        elif kind != "corner":
            letter = {"initial": "I", "text": "T"}.get(kind, kind)
            pen.text(*box.middle, letter, box.h * 0.45, room=box.w, fill=GHOST, smallest=4)
        return
    colour = SPACE_COLOURS[kind]
    pen.rect(box, palette.mixed(colour, WHITE, 0.9), palette.mixed(GOLD, INK, 0.1))
    before = len(pen.shapes)
    if kind == "edge":
        vine(pen, _band(box, upright), colour)
        return
    ornament(pen, box.inset(box.w * 0.12), kind, colour)
    if kind == "corner":
        pen.mirror(before, box, *turned)


def _band(box: Box, upright: bool) -> Box:
    """The part of a space in the frame that the frame covers."""
    return box.inset(box.w * 0.25, 2) if upright else box.inset(2, box.h * 0.25)
