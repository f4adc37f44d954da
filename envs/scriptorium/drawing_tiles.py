"""Inks, tiles and double pages of the table in the terminal."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.segment import Segment

from incunabula.envs.drawing import palette
from incunabula.envs.drawing.palette import GHOST, GOLD, INK, PAGE, VERMILION
from incunabula.envs.drawing.terminal import (
    HAVE,
    LABEL,
    LACK,
    Block,
    Line,
    bar,
    beside,
    fitted,
    grounded,
    label,
    name,
    piece,
    width_of,
)
from incunabula.envs.scriptorium.edition import Edition, Tile
from incunabula.envs.scriptorium.scene_pages import PAGES, SPACE_COLOURS, cells_of, is_usual
from incunabula.envs.scriptorium.scene_tiles import INK_COLOURS, MOST_PIPS
from incunabula.envs.scriptorium.tables import INKS

Json = dict[str, Any]
SIGNS = dict(zip(INKS, "●◆▲♠★", strict=True))  # a disc, a diamond, a drop, a leaf, a star
LONGEST_NAME = 24  # of a tile
MOST_SPACES = 12  # of a kind that have a mark each; more are given as numbers
SPACE_NAMES = {"corner": "corners", "edge": "edges"}
_GOLDEN = palette.mixed(GOLD, INK, 0.2)


def ink_piece(ink: str, count: int = 1) -> Segment:
    """So many signs of an ink."""
    colour = _GOLDEN if ink == "gold" else INK_COLOURS[ink]
    return piece(SIGNS[ink] * count, colour)


def ink_counts(inks: Json) -> list[Line]:
    """How much there is of each ink."""
    return [
        [ink_piece(ink), piece(f" {ink} "), piece(str(n), INK if n else LABEL, bold=n > 0)]
        for ink, n in inks.items()
    ]


def _cost(tile: Tile) -> Line:
    """A sign for each ink of a cost; of a large one how much of each."""
    cost = [(ink, tile.cost.get(ink, 0)) for ink in INKS]
    cost = [(ink, count) for ink, count in cost if count]
    if sum(count for _, count in cost) <= MOST_PIPS:
        return [ink_piece(ink, count) for ink, count in cost]
    return [part for ink, count in cost for part in (ink_piece(ink), piece(str(count)))]


def tile_lines(edition: Edition, designs: list[int], width: int, columns: int) -> Block:
    """Tiles side by side in so many columns, equal ones together; none are no lines.

    Each with its number, how many there are if several, its name, its points, its cost, and its
    kind unless its name says it.
    """
    stacks = sorted(Counter(designs).items())
    wide = (width - columns + 1) // columns
    cells = [_tile(edition.tiles[design], count, wide) for design, count in stacks]
    lines = []
    for start in range(0, len(cells), columns):
        line: Line = []
        for k, cell in enumerate(cells[start : start + columns]):
            line += [piece(" "), *cell] if k else cell
        lines.append(line)
    return lines


def _tile(tile: Tile, count: int, width: int) -> Line:
    head, tail = label(f"{tile.id:2d} "), [piece(f" {tile.points:2d} ", bold=True), *_cost(tile)]
    taken = max(
        width_of([head, *tail]), width_of([head]) + 4 + MOST_PIPS
    )  # points stand in a column
    room = min(LONGEST_NAME, max(0, width - taken))
    shown = [piece(f"{count}× ", VERMILION, bold=True)] if count > 1 else []
    shown.append(piece(name(tile.name)))
    said = fitted(shown, room)
    if tile.kind not in "".join(segment.text for segment in said).split():
        kind = label(f" {tile.kind}")
        free = max(0, room - width_of([kind]))
        said = fitted([*fitted(shown, min(width_of(shown), free)), kind], room)
    return fitted([head, *said, *tail], width)


# Manuscripts --------------------------------------------------------------------------------------


def double_page(edition: Edition, filled: Json) -> Block:
    """The double page of a seat, as it lies there, or its spaces as a list."""
    pages = []
    for side, spaces in PAGES.items():
        if is_usual(edition, spaces):
            pages.append(_usual_page(edition, spaces, filled, side == "right"))
        else:
            pages.append(_listed_page(edition, spaces, filled))
    high = max(map(len, pages))
    gutter = [[piece("┃", GHOST)] for _ in range(high)]
    return grounded(beside([pages[0], gutter, pages[1]]), PAGE)


def _usual_page(edition: Edition, spaces: tuple[str, ...], filled: Json, mirrored: bool) -> Block:
    grid: list[list[Line]] = [[[] for _ in range(3)] for _ in range(4)]
    for space, cells in cells_of(edition, spaces, mirrored):
        kind = space.partition("_")[0]
        letter = {"corner": "", "edge": "", "initial": "I", "text": "T"}.get(kind, kind)
        for k, (column, row) in enumerate(cells):
            done = k < filled[space]
            colour = SPACE_COLOURS[kind] if done else LABEL
            said = f"{HAVE if done else LACK}{letter}"
            grid[row][column] = [piece(f" {said:2s}", colour, bold=done)]
    return [[part for cell in row for part in cell] + [piece(" ")] for row in grid]


def _listed_page(edition: Edition, spaces: tuple[str, ...], filled: Json) -> Block:
    """A page of any other form: a line for each kind of space that it has."""
    lines = []
    for space in spaces:
        kind, total = space.partition("_")[0], edition.spaces[space]
        if total:
            marks = bar(filled[space], total, SPACE_COLOURS[kind], MOST_SPACES)
            lines.append([label(f" {SPACE_NAMES.get(kind, kind):8s}"), *marks, piece(" ")])
    lines = lines or [[label(" no spaces ")]]
    widest = max(map(width_of, lines))
    return [fitted(line, widest) for line in lines]
