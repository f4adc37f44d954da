"""A scene as pixels, drawn with Pillow and the font that Pillow brings along."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.envs.drawing.extra import need
from incunabula.envs.drawing.lettering import CAP
from incunabula.envs.drawing.scene import Circle, Line, Point, Polygon, Rect, Scene, Shape, Text
from incunabula.envs.errors import IncunabulaError

FINER = 2  # drawn so many times as large and averaged, for smooth edges
LARGEST = 8.0
IN_FONT = "…·"  # what Pillow's font has beside ASCII


def to_pixels(scene: Scene, scale: float = 1.0) -> npt.NDArray[np.uint8]:
    """The scene as an array, uint8 (height * scale, width * scale, 3), rounded.

    The same scene gives the same pixels. Letters that Pillow's font lacks lose their accents, or
    are shown as boxes.

    Raises:
        IncunabulaError: the scale isn't above 0 and at most 8.
        MissingExtraError: Pillow isn't installed.
    """
    if not 0 < scale <= LARGEST:
        raise IncunabulaError(f"scale: expected above 0 and at most {LARGEST:g}, got {scale!r}")
    image_module, draw_module = need("PIL.Image"), need("PIL.ImageDraw")
    width, height = (max(1, round(side * scale)) for side in (scene.width, scene.height))
    image = image_module.new("RGB", (width * FINER, height * FINER), "#ffffff")
    # What is opaque needs no blending, which takes many times as long.
    brushes = {
        opaque: _Brush(image, draw_module.Draw(image, mode), scale * FINER)
        for opaque, mode in ((True, "RGB"), (False, "RGBA"))
    }
    for shape in scene.shapes:
        brushes[shape.opacity >= 1].paint(shape)
    return np.array(image.reduce(FINER), np.uint8)


class _Brush:
    """Paints shapes on an image of ``factor`` pixels a unit."""

    def __init__(self, image: Any, draw: Any, factor: float) -> None:
        self.image, self.draw, self.factor = image, draw, factor

    def paint(self, shape: Shape) -> None:
        if isinstance(shape, Text):
            self._text(shape)
            return
        fill, stroke = _ink(shape.fill, shape.opacity), _ink(shape.stroke, shape.opacity)
        width = max(1, round(shape.width * self.factor)) if stroke else 0
        if isinstance(shape, Rect):
            self._rect(shape, fill, stroke, width)
        elif isinstance(shape, Circle):
            out = width / 2
            r = shape.r * self.factor + out
            x, y = shape.x * self.factor, shape.y * self.factor
            box = (x - r, y - r, x + r - 1, y + r - 1)
            self.draw.ellipse(box, fill=fill, outline=stroke, width=width)
        elif isinstance(shape, Polygon):
            points = self._points(shape.points)
            if fill:
                self.draw.polygon(points, fill=fill)
            if stroke:
                self.draw.line([*points, points[0]], fill=stroke, width=width, joint="curve")
        elif stroke:
            self._line(shape, stroke, width)

    def _rect(self, shape: Rect, fill: Any, stroke: Any, width: int) -> None:
        factor, out = self.factor, width / 2
        left, top = round(shape.x * factor - out), round(shape.y * factor - out)
        right = max(left, round((shape.x + shape.w) * factor + out) - 1)
        lower = max(top, round((shape.y + shape.h) * factor + out) - 1)
        box = (left, top, right, lower)
        radius = min(shape.radius * factor + out, (right - left) / 2, (lower - top) / 2)
        if shape.radius and radius >= 1:
            self.draw.rounded_rectangle(box, radius, fill=fill, outline=stroke, width=width)
        else:
            self.draw.rectangle(box, fill=fill, outline=stroke, width=width)

    def _line(self, shape: Line, stroke: Any, width: int) -> None:
        points = self._points(shape.points)
        if shape.closed:
            points.append(points[0])
        self.draw.line(points, fill=stroke, width=width, joint="curve")

    def _points(self, points: tuple[Point, ...]) -> list[Point]:
        return [(x * self.factor, y * self.factor) for x, y in points]

    def _text(self, shape: Text) -> None:
        text = legible(shape.text)
        if not text or not shape.fill:
            return
        mask, left, top, length = _letters(
            text, round(shape.size * self.factor, 1), shape.bold, shape.opacity
        )
        share = {"start": 0.0, "middle": 0.5, "end": 1.0}[shape.anchor]
        x = shape.x * self.factor - share * length
        y = (shape.y + CAP / 2 * shape.size) * self.factor
        self.image.paste(shape.fill, (round(x) + left, round(y) + top), mask)


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
def _ink(colour: str | None, opacity: float) -> tuple[int, int, int, int] | None:
    if colour is None or opacity <= 0:
        return None
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue, round(255 * opacity)


@lru_cache(64)
def _font(size: float) -> Any:
    return need("PIL.ImageFont").load_default(size)


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
