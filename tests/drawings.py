"""What a picture must keep to, whatever it shows."""

from __future__ import annotations

import re
from collections import defaultdict

from incunabula.envs.drawing.scene import Scene, Text, bounds

Box = tuple[float, float, float, float]
SLACK = 0.6  # of a unit: rounding, and neighbours that touch


def overlap(a: Box, b: Box) -> bool:
    """Whether two boxes share more than an edge."""
    return min(a[2], b[2]) - max(a[0], b[0]) > SLACK and min(a[3], b[3]) - max(a[1], b[1]) > SLACK


def faults(scene: Scene, apart: tuple[str, ...] = ()) -> list[str]:
    """What lies outside of the picture, which texts overlap, and which things do.

    Args:
        scene: the picture.
        apart: starts of marks; things of two marks that start so must not overlap.
    """
    found = []
    for shape in scene.shapes:
        left, top, right, lower = bounds(shape)
        if min(left, top) < -SLACK or right > scene.width + SLACK or lower > scene.height + SLACK:
            found.append(f"outside: {shape}")
    texts = [(shape, bounds(shape)) for shape in scene.shapes if isinstance(shape, Text)]
    for k, (text, box) in enumerate(texts):
        found += [f"overlap: {text} and {other}" for other, at in texts[:k] if overlap(box, at)]
    things: dict[str, list[Box]] = defaultdict(list)
    for shape in scene.shapes:
        if apart and shape.mark.startswith(apart):
            things[shape.mark].append(bounds(shape))
    around = {mark: _around(boxes) for mark, boxes in things.items()}
    for k, (mark, box) in enumerate(around.items()):
        for other in list(around)[:k]:
            if overlap(box, around[other]) and any(
                overlap(a, b) for a in things[mark] for b in things[other]
            ):
                found.append(f"overlap: {mark} and {other}")
    return found


def _around(boxes: list[Box]) -> Box:
    lefts, tops, rights, lowers = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(lowers)


def texts_of(scene: Scene) -> list[str]:
    """All that is written on a picture."""
    return [shape.text for shape in scene.shapes if isinstance(shape, Text)]


def plain(text: object) -> str:
    """A board of the terminal without its escape sequences."""
    return re.sub(r"\x1b\[[0-9;]*m", "", str(text))
