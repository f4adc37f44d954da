"""A scene as pixels, drawn with Pillow and the font that Pillow brings along.

A picture is put together from square cells. What a cell shows depends on nothing but the shapes
that reach into it, so cells that were drawn before are taken from a cache: from one position of a
game to the next most of them stay as they are.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from incunabula.envs.drawing.extra import need
from incunabula.envs.drawing.lettering import CAP
from incunabula.envs.drawing.modes import Pixels, Size
from incunabula.envs.drawing.palette import DESK
from incunabula.envs.drawing.scene import (
    Circle,
    Point,
    Polygon,
    Rect,
    Scene,
    Shape,
    Text,
    bounds,
)
from incunabula.envs.errors import IncunabulaError

FINER = 2  # drawn so many times as large and averaged, for smooth edges
LARGEST = 8.0
IN_FONT = "…·"  # what Pillow's font has beside ASCII
CELL = 160  # pixels along the side of a cell
SIDE = CELL * FINER  # of a cell as it is drawn
_SHARE = {"start": 0.0, "middle": 0.5, "end": 1.0}
Ink = tuple[int, int, int, int]
Corners = tuple[int, int, int, int]  # left, top, right, lower; the last two are painted, too


def to_pixels(scene: Scene, scale: float = 1.0) -> Pixels:
    """The scene as an array, uint8 (height * scale, width * scale, 3), rounded.

    The same scene gives the same pixels. Letters that Pillow's font lacks lose their accents, or
    are shown as boxes.

    Raises:
        IncunabulaError: the scale isn't above 0 and at most 8.
        MissingExtraError: Pillow isn't installed.
    """
    if not 0 < scale <= LARGEST:
        raise IncunabulaError(f"scale: expected above 0 and at most {LARGEST:g}, got {scale!r}")
    need("PIL.Image")
    width, height = (max(1, round(side * scale)) for side in (scene.width, scene.height))
    columns, rows = math.ceil(width / CELL), math.ceil(height / CELL)
    layers: list[list[_Placed]] = [[] for _ in range(columns * rows)]
    for shape in scene.shapes:
        placed = _placed(shape, scale * FINER)
        first, last = max(0, placed.left), min(columns, placed.right)
        for row in range(max(0, placed.top), min(rows, placed.lower)):
            for cell in range(row * columns + first, row * columns + last):
                layers[cell].append(placed)
    pixels = np.empty((height, width, 3), np.uint8)
    for cell, layer in enumerate(layers):
        row, column = divmod(cell, columns)
        place = pixels[row * CELL : (row + 1) * CELL, column * CELL : (column + 1) * CELL]
        shown = _cell(tuple(layer), row, column, scale * FINER)
        place[:] = shown[: place.shape[0], : place.shape[1]]
    return pixels


def fitted_pixels(scene: Scene, size: Size | None) -> Pixels:
    """The scene as large as it fits into a picture of this size (width, height), in its middle.

    Beside it, or above and below, the picture shows the desk. None = the scene's own size.
    """
    if size is None:
        return to_pixels(scene)
    width, height = size
    shown = to_pixels(scene, min(width / scene.width, height / scene.height))
    high, wide = shown.shape[:2]
    if (wide, high) == size:
        return shown
    pixels = np.empty((height, width, 3), np.uint8)
    pixels[:] = tuple(bytes.fromhex(DESK[1:]))
    top, left = (height - high) // 2, (width - wide) // 2
    pixels[top : top + high, left : left + wide] = shown
    return pixels


@dataclass(frozen=True, eq=False)  # compared as objects: `_placed` gives equal shapes the same one
class _Placed:
    """A shape, and the cells that it reaches into: columns left to right - 1, and rows likewise."""

    shape: Shape
    left: int
    top: int
    right: int
    lower: int


@lru_cache(16384)
def _placed(shape: Shape, factor: float) -> _Placed:
    left, top, right, lower = (end * factor for end in bounds(shape))
    if isinstance(shape, Text):  # what is painted, rather than what was allowed for
        x, y, mask = _lettered(shape, factor)
        left, top, right, lower = x, y, x + mask.width, y + mask.height
    return _Placed(
        shape,
        *(math.floor((end - 2) / SIDE) for end in (left, top)),
        *(math.ceil((end + 2) / SIDE) for end in (right, lower)),
    )


@lru_cache(384)  # 28 MiB
def _cell(layer: tuple[_Placed, ...], row: int, column: int, factor: float) -> Pixels:
    """A cell with these shapes in it, uint8 (CELL, CELL, 3)."""
    image = need("PIL.Image").new("RGB", (SIDE, SIDE), "#ffffff")
    brush = _Brush(image, factor, column * SIDE, row * SIDE)
    for placed in layer:
        brush.paint(placed.shape)
    cell = np.array(image.reduce(FINER), np.uint8)
    cell.flags.writeable = False
    return cell


class _Brush:
    """Paints shapes on an image of ``factor`` pixels a unit, which begins at (left, top).

    Everything begins and ends at whole pixels, so that it is the same in each cell it reaches into.
    """

    def __init__(self, image: Any, factor: float, left: int, top: int) -> None:
        self.image, self.factor, self.left, self.top = image, factor, left, top
        draw = need("PIL.ImageDraw").Draw
        # What is opaque needs no blending, which takes many times as long.
        self.opaque, self.blending = draw(image, "RGB"), draw(image, "RGBA")

    def paint(self, shape: Shape) -> None:
        draw = self.opaque if shape.opacity >= 1 else self.blending
        if isinstance(shape, Text):
            self._text(shape)
            return
        fill, stroke = _ink(shape.fill, shape.opacity), _ink(shape.stroke, shape.opacity)
        width = max(1, round(shape.width * self.factor)) if stroke else 0
        if isinstance(shape, Rect):
            self._rect(draw, shape, fill, stroke, width)
        elif isinstance(shape, Circle):
            r = shape.r * self.factor + width / 2
            x, y = shape.x * self.factor, shape.y * self.factor
            box = self._points([(x - r, y - r), (x + r - 1, y + r - 1)])
            draw.ellipse(box, fill=fill, outline=stroke, width=width)
        else:
            points = self._points((x * self.factor, y * self.factor) for x, y in shape.points)
            if isinstance(shape, Polygon) and fill:
                draw.polygon(points, fill=fill)
            if stroke:
                closed = isinstance(shape, Polygon) or shape.closed
                self._line(draw, [*points, *points[:2]] if closed else points, stroke, width)

    def _rect(
        self, draw: Any, shape: Rect, fill: Ink | None, stroke: Ink | None, width: int
    ) -> None:
        factor, out = self.factor, width / 2
        left, top = round(shape.x * factor - out), round(shape.y * factor - out)
        right = max(left, round((shape.x + shape.w) * factor + out) - 1)
        lower = max(top, round((shape.y + shape.h) * factor + out) - 1)
        radius = 0
        if shape.radius:
            radius = int(min(shape.radius * factor + out, (right - left) / 2, (lower - top) / 2))
        left, right = left - self.left, right - self.left
        top, lower = top - self.top, lower - self.top
        if shape.opacity < 1 or not fill:
            corners = (left, top, right, lower)
            draw.rounded_rectangle(corners, radius, fill=fill, outline=stroke, width=width)
            return
        # In parts that don't overlap: Pillow's way to draw it takes several times as long.
        if stroke:
            self._corners((left, top, right, lower), radius, stroke)
            self._fill((left + radius, top, right - radius, top + width - 1), stroke)
            self._fill((left + radius, lower - width + 1, right - radius, lower), stroke)
            self._fill((left, top + radius, left + width - 1, lower - radius), stroke)
            self._fill((right - width + 1, top + radius, right, lower - radius), stroke)
            left, top, right, lower = left + width, top + width, right - width, lower - width
            radius = max(0, radius - width)
        self._fill((left, top + radius, right, lower - radius), fill)
        if radius:
            self._corners((left, top, right, lower), radius, fill)
            self._fill((left + radius, top, right - radius, top + radius - 1), fill)
            self._fill((left + radius, lower - radius + 1, right - radius, lower), fill)

    def _corners(self, box: Corners, radius: int, ink: Ink) -> None:
        left, top, right, lower = box
        across = 2 * radius
        for x in (left, right - across):
            for y in (top, lower - across):
                if -across <= x < SIDE and -across <= y < SIDE:
                    self.opaque.ellipse((x, y, x + across, y + across), fill=ink)

    def _fill(self, box: Corners, ink: Ink) -> None:
        left, top = max(0, box[0]), max(0, box[1])
        right, lower = min(SIDE, box[2] + 1), min(SIDE, box[3] + 1)
        if left < right and top < lower:
            self.image.paste(ink, (left, top, right, lower))

    def _line(self, draw: Any, points: list[tuple[int, int]], stroke: Ink, width: int) -> None:
        draw.line(points, fill=stroke, width=width)
        if width > 4:  # else nobody sees that its corners are cut off
            before, after = (width - 1) // 2, width // 2
            for x, y in points[1:-1]:
                draw.ellipse((x - before, y - before, x + after, y + after), fill=stroke)

    def _points(self, points: Iterable[Point]) -> list[tuple[int, int]]:
        return [(math.floor(x) - self.left, math.floor(y) - self.top) for x, y in points]

    def _text(self, shape: Text) -> None:
        fill = _ink(shape.fill, 1.0)  # the mask has the opacity
        if fill:
            x, y, mask = _lettered(shape, self.factor)
            self.opaque.bitmap((x - self.left, y - self.top), mask, fill=fill)


def legible(text: str) -> str:
    """The text in letters that Pillow's font has, as far as they can be had by leaving accents."""
    if text.isascii():
        return text
    plain = "".join(
        letter if letter.isascii() or letter in IN_FONT else unicodedata.normalize("NFKD", letter)
        for letter in text
    )
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


@lru_cache(512)
def _ink(colour: str | None, opacity: float) -> Ink | None:
    if colour is None or opacity <= 0:
        return None
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue, round(255 * opacity)


@lru_cache(64)
def _font(size: float) -> Any:
    return need("PIL.ImageFont").load_default(size)


def _lettered(shape: Text, factor: float) -> tuple[int, int, Any]:
    """A mask of the text, and where its upper left corner lies in a picture of this factor."""
    size = round(shape.size * factor, 1)
    mask, left, top, length = _letters(legible(shape.text), size, shape.bold, shape.opacity)
    x = shape.x * factor - _SHARE[shape.anchor] * length
    y = (shape.y + CAP / 2 * shape.size) * factor
    return round(x) + left, round(y) + top, mask


@lru_cache(4096)
def _letters(text: str, size: float, bold: bool, opacity: float) -> tuple[Any, int, int, float]:
    """A mask of the text, where it lies from the start of its base line, and its length."""
    font, smear = _font(size), round(size / 30) if bold else 0
    left, top, right, lower = (round(end) for end in font.getbbox(text, anchor="ls"))
    mask = need("PIL.Image").new("L", (max(1, right + smear - left), max(1, lower - top)), 0)
    draw = need("PIL.ImageDraw").Draw(mask)
    for shift in range(smear + 1):  # the font has no bold face
        draw.text((shift - left, -top), text, fill=round(255 * opacity), font=font, anchor="ls")
    return mask, left, top, font.getlength(text) + smear
