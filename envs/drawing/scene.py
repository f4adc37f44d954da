"""A picture as a list of plain shapes, which SVG, pixels and web pages are made from."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from incunabula.envs.drawing.lettering import CAP, DESCENT, text_width

Json = dict[str, Any]
Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a shape is painted, and what it stands for.

    Attributes:
        fill, stroke: colours "#rrggbb"; None = not painted.
        width: of the stroke, which lies half inside and half outside of the shape.
        opacity: 0 to 1.
        mark: the thing on the board that the shape belongs to; the game's scene lists them.
    """

    fill: str | None = None
    stroke: str | None = None
    width: float = 1.0
    opacity: float = 1.0
    mark: str = ""


@dataclass(frozen=True)
class Rect(Style):
    """A rectangle; ``radius`` rounds its corners."""

    x: float
    y: float
    w: float
    h: float
    radius: float = 0.0


@dataclass(frozen=True)
class Circle(Style):
    """A circle around (x, y)."""

    x: float
    y: float
    r: float


@dataclass(frozen=True)
class Polygon(Style):
    """An area with straight sides."""

    points: tuple[Point, ...]


@dataclass(frozen=True)
class Line(Style):
    """A line through points, back to the first if ``closed``; painted with ``stroke`` alone."""

    points: tuple[Point, ...]
    closed: bool = False


@dataclass(frozen=True)
class Text(Style):
    """One line of text, painted with ``fill``: capitals stand centred on y.

    Attributes:
        x: its ``start``, ``middle`` or ``end``, as ``anchor`` says.
        size: of the font, in the scene's units.
    """

    x: float
    y: float
    text: str
    size: float
    anchor: str = "middle"
    bold: bool = False


Shape = Rect | Circle | Polygon | Line | Text
KINDS: dict[type[Any], str] = {
    Rect: "rect",
    Circle: "circle",
    Polygon: "polygon",
    Line: "line",
    Text: "text",
}


@dataclass(frozen=True)
class Scene:
    """A picture: shapes are painted in their order on an area of ``width`` by ``height``."""

    width: int
    height: int
    title: str
    shapes: tuple[Shape, ...]


def scene_json(scene: Scene) -> Json:
    """The scene as plain JSON.

    ``{"width", "height", "title", "shapes": [{"kind": "rect", "x": …, "mark": "hand:2"}, …]}``;
    what has its default value is left out, numbers are rounded to tenths. A text has besides
    ``length``, the width it was laid out with: SVG's ``textLength`` keeps to it in any font.
    """
    return {
        "width": scene.width,
        "height": scene.height,
        "title": scene.title,
        "shapes": [_shape_json(shape) for shape in scene.shapes],
    }


def _shape_json(shape: Shape) -> Json:
    form: Json = {"kind": KINDS[type(shape)]}
    for field in fields(shape):
        value = getattr(shape, field.name)
        if value != field.default:
            form[field.name] = _rounded(value)
    if isinstance(shape, Text):
        form["length"] = _rounded(text_width(shape.text, shape.size, shape.bold))
    return form


def _rounded(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_rounded(each) for each in value]
    if isinstance(value, float):
        tenths = round(value, 1)
        return int(tenths) if tenths.is_integer() else tenths
    return value


def bounds(shape: Shape) -> tuple[float, float, float, float]:
    """The left, upper, right and lower end of what a shape paints."""
    if isinstance(shape, Text):
        length = text_width(shape.text, shape.size, shape.bold)
        left = shape.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[shape.anchor] * length
        half = CAP / 2 * shape.size
        return left, shape.y - half, left + length, shape.y + half + DESCENT * shape.size
    if isinstance(shape, Rect):
        box = shape.x, shape.y, shape.x + shape.w, shape.y + shape.h
    elif isinstance(shape, Circle):
        box = shape.x - shape.r, shape.y - shape.r, shape.x + shape.r, shape.y + shape.r
    else:
        xs, ys = zip(*shape.points, strict=True)
        box = min(xs), min(ys), max(xs), max(ys)
    out = shape.width / 2 if shape.stroke else 0.0
    return box[0] - out, box[1] - out, box[2] + out, box[3] + out
