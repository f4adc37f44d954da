"""Puts a scene together, shape by shape."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

from incunabula.envs.drawing.lettering import SMALLEST, fitted
from incunabula.envs.drawing.palette import EDGE, FADED, INK, PANEL
from incunabula.envs.drawing.scene import (
    Circle,
    Line,
    Point,
    Polygon,
    Rect,
    Scene,
    Shape,
    Text,
)


class Look(TypedDict, total=False):
    """How a shape's stroke and the whole of it are painted; see ``Style``."""

    width: float
    opacity: float


@dataclass(frozen=True)
class Box:
    """A part of the picture to lay things out in."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        return self.x + self.w

    @property
    def lower(self) -> float:
        return self.y + self.h

    @property
    def middle(self) -> Point:
        return self.x + self.w / 2, self.y + self.h / 2

    def inset(self, x: float, y: float | None = None) -> Box:
        """The box without a margin, ``x`` wide left and right, ``y`` above and below."""
        y = x if y is None else y
        return Box(self.x + x, self.y + y, max(0.0, self.w - 2 * x), max(0.0, self.h - 2 * y))

    def columns(self, shares: Sequence[float], gap: float = 0.0) -> list[Box]:
        """Parts side by side, as wide as their shares."""
        room = self.w - gap * (len(shares) - 1)
        found, x = [], self.x
        for share in shares:
            width = room * share / sum(shares)
            found.append(Box(x, self.y, width, self.h))
            x += width + gap
        return found

    def rows(self, shares: Sequence[float], gap: float = 0.0) -> list[Box]:
        """Parts one below the other, as high as their shares."""
        turned = Box(self.y, self.x, self.h, self.w).columns(shares, gap)
        return [Box(part.y, part.x, part.h, part.w) for part in turned]


class Pen:
    """Collects shapes; all that is drawn inside ``marked`` bears that mark."""

    def __init__(self) -> None:
        self.shapes: list[Shape] = []
        self._mark = ""

    def scene(self, width: int, height: int, title: str) -> Scene:
        """What was drawn."""
        return Scene(width, height, title, tuple(self.shapes))

    @contextmanager
    def marked(self, mark: str) -> Iterator[None]:
        """Give everything drawn meanwhile this mark."""
        before, self._mark = self._mark, mark
        yield
        self._mark = before

    def rect(
        self,
        box: Box,
        fill: str | None,
        stroke: str | None = None,
        *,
        radius: float = 0.0,
        **look: Unpack[Look],
    ) -> None:
        """A filled box."""
        x, y, w, h = box.x, box.y, box.w, box.h
        self.shapes.append(
            Rect(x, y, w, h, radius, fill=fill, stroke=stroke, mark=self._mark, **look)
        )

    def circle(
        self,
        x: float,
        y: float,
        r: float,
        fill: str | None,
        stroke: str | None = None,
        **look: Unpack[Look],
    ) -> None:
        """A circle around (x, y)."""
        self.shapes.append(Circle(x, y, r, fill=fill, stroke=stroke, mark=self._mark, **look))

    def polygon(
        self,
        points: Iterable[Point],
        fill: str | None,
        stroke: str | None = None,
        **look: Unpack[Look],
    ) -> None:
        """A filled area with straight sides."""
        self.shapes.append(
            Polygon(tuple(points), fill=fill, stroke=stroke, mark=self._mark, **look)
        )

    def line(
        self,
        points: Iterable[Point],
        stroke: str,
        width: float = 1.0,
        *,
        closed: bool = False,
        opacity: float = 1.0,
    ) -> None:
        """A line through points."""
        look: Look = {"width": width, "opacity": opacity}
        self.shapes.append(Line(tuple(points), closed, stroke=stroke, mark=self._mark, **look))

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float,
        *,
        room: float,
        fill: str = INK,
        anchor: str = "middle",
        bold: bool = False,
        smallest: float = SMALLEST,
    ) -> None:
        """A line of text that shrinks, and is cut if need be, to the ``room`` it has."""
        shown, fits = fitted(text, room, size, min(smallest, size), bold)
        if shown:
            self.shapes.append(
                Text(x, y, shown, fits, anchor, bold, fill=fill, mark=self._mark),
            )

    def mirror(self, first: int, box: Box, across: bool, down: bool) -> None:
        """Mirror what was drawn from the ``first`` shape on within a box; circles, areas, lines."""

        def turned(x: float, y: float) -> Point:
            return 2 * box.middle[0] - x if across else x, 2 * box.middle[1] - y if down else y

        for k, shape in enumerate(self.shapes[first:], first):
            if isinstance(shape, Polygon | Line):
                self.shapes[k] = replace(shape, points=tuple(turned(*p) for p in shape.points))
            elif isinstance(shape, Circle):
                x, y = turned(shape.x, shape.y)
                self.shapes[k] = replace(shape, x=x, y=y)

    # What several things on the boards are made of ----------------------------------------------

    def panel(self, box: Box, title: str = "", fill: str = PANEL) -> Box:
        """A framed part of the board; returns the room inside, below its title."""
        self.rect(box, fill, EDGE, radius=8)
        inside = box.inset(10, 8)
        if not title:
            return inside
        self.text(
            inside.x, box.y + 16, title, 12, room=inside.w, fill=FADED, anchor="start", bold=True
        )
        return Box(inside.x, box.y + 30, inside.w, max(0.0, box.h - 38))

    def star(self, x: float, y: float, r: float, fill: str, stroke: str | None = None) -> None:
        """A star with five points."""
        points = [
            (
                x + (r if k % 2 == 0 else 0.45 * r) * math.sin(k * math.pi / 5),
                y - (r if k % 2 == 0 else 0.45 * r) * math.cos(k * math.pi / 5),
            )
            for k in range(10)
        ]
        self.polygon(points, fill, stroke)
