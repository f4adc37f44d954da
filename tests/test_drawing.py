"""Shapes as JSON, SVG and pixels, and text that keeps to its room."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import ImageFont

from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.bibliogamo.scene import draw_scene
from incunabula.envs.drawing import pixels
from incunabula.envs.drawing.flow import grid, shortest_names
from incunabula.envs.drawing.lettering import fitted, text_width
from incunabula.envs.drawing.pen import Box
from incunabula.envs.drawing.pixels import legible, to_pixels
from incunabula.envs.drawing.scene import (
    Circle,
    Line,
    Polygon,
    Rect,
    Scene,
    Shape,
    Text,
    bounds,
    scene_json,
)
from incunabula.envs.drawing.svg import to_svg
from incunabula.envs.errors import IncunabulaError

RED, BLUE, WHITE, BLACK = "#ff0000", "#0000ff", "#ffffff", "#000000"
NS = "{http://www.w3.org/2000/svg}"


def picture(*shapes: Shape, width: int = 60, height: int = 40) -> Scene:
    return Scene(width, height, "a <picture>", (Rect(0, 0, width, height, fill=WHITE), *shapes))


def at(scene: Scene, x: int, y: int) -> tuple[int, ...]:
    return tuple(to_pixels(scene)[y, x].tolist())


def test_json_leaves_out_what_is_usual_and_rounds_to_tenths() -> None:
    scene = Scene(
        *(60, 40, "t"),
        (
            Rect(1.0, 2.04, 3.26, 4, fill=RED, mark="hand:2"),
            Polygon(((0.0, 1.0), (2.55, 3.0), (4.0, 5.0)), stroke=BLUE, width=2.0, opacity=0.5),
            Line(((0.0, 0.0), (1.0, 1.0)), closed=True, stroke=BLUE),
            Text(5.0, 6.0, "ab", 10.0, "end", fill=RED, bold=True),
        ),
    )
    assert scene_json(scene) == {
        **{"width": 60, "height": 40, "title": "t"},
        "shapes": [
            {
                **{"kind": "rect", "x": 1, "y": 2, "w": 3.3, "h": 4},
                **{"fill": RED, "mark": "hand:2"},
            },
            {
                **{"kind": "polygon", "points": [[0, 1], [2.5, 3], [4, 5]]},
                **{"stroke": BLUE, "width": 2, "opacity": 0.5},
            },
            {"kind": "line", "points": [[0, 0], [1, 1]], "closed": True, "stroke": BLUE},
            {
                **{"kind": "text", "x": 5, "y": 6, "text": "ab", "size": 10, "anchor": "end"},
                **{"bold": True, "fill": RED, "length": 12.1},
            },
        ],
    }
    json.dumps(scene_json(scene), allow_nan=False)


def test_svg_holds_every_shape_and_nothing_from_outside() -> None:
    scene = picture(
        Rect(1, 2, 30, 20, 4, fill=RED, mark="hand:0"),
        Circle(20, 20, 5, stroke=BLUE, width=2),
        Polygon(((1, 1), (9, 1), (5, 9)), fill=BLUE, opacity=0.5),
        Line(((1, 1), (9, 9)), stroke=BLUE),
        Line(((1, 1), (9, 9), (9, 1)), closed=True, stroke=BLUE),
        Text(30, 20, "<&>", 10, fill=RED),
    )
    text = to_svg(scene)
    root = ET.fromstring(text)
    assert root.attrib["viewBox"] == "0 0 60 40"
    tags = [child.tag.removeprefix(NS) for child in root]
    assert tags == ["title", "rect", "rect", "circle", "polygon", "polyline", "polygon", "text"]
    title, _, rect, circle, area, _, closed, words = root
    assert title.text == "a <picture>"
    assert rect.attrib == {
        **{"x": "1", "y": "2", "width": "30", "height": "20", "rx": "4"},
        **{"fill": RED, "data-mark": "hand:0"},
    }
    assert (circle.attrib["fill"], circle.attrib["stroke-width"]) == ("none", "2")
    assert area.attrib["opacity"] == "0.5"
    assert closed.attrib["points"] == "1,1 9,9 9,1"
    assert words.text == "<&>"
    assert words.attrib["textLength"] == "18.1"
    assert "href" not in text
    assert to_svg(scene) == text


@pytest.mark.parametrize(
    ("shape", "inside", "outside"),
    [
        (Rect(10, 10, 20, 10, fill=RED), (11, 11), (31, 11)),
        (Rect(10, 10, 20, 10, 5, fill=RED), (20, 15), (10, 10)),
        (Circle(20, 20, 8, fill=RED), (20, 13), (13, 13)),
        (Polygon(((10, 10), (40, 10), (10, 35)), fill=RED), (12, 20), (35, 30)),
        (Line(((5, 20), (50, 20)), stroke=RED, width=4), (30, 20), (30, 24)),
        (Line(((5, 5), (50, 5), (50, 30)), closed=True, stroke=RED, width=6), (28, 18), (12, 25)),
        (Rect(10, 10, 20, 20, stroke=RED, width=4), (10, 20), (20, 20)),
        (Circle(20, 20, 10, stroke=RED, width=4), (10, 20), (20, 20)),
    ],
)
def test_pixels_lie_where_the_shape_is(
    shape: Shape, inside: tuple[int, int], outside: tuple[int, int]
) -> None:
    scene = picture(shape)
    assert at(scene, *inside) == (255, 0, 0)
    assert at(scene, *outside) == (255, 255, 255)


def test_later_shapes_cover_earlier_ones_as_far_as_they_are_opaque() -> None:
    below = Rect(0, 0, 30, 30, fill=BLACK)
    assert at(picture(below, Rect(5, 5, 20, 20, fill=RED)), 10, 10) == (255, 0, 0)
    half = at(picture(below, Rect(5, 5, 20, 20, fill=RED, opacity=0.5)), 10, 10)
    assert half[0] in (127, 128)
    assert half[1:] == (0, 0)


def test_a_picture_has_no_seams_and_forgets_what_was_drawn_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = BibliogamoEngine("bibliogamo")
    engine.deal(np.arange(1), [7])
    scenes = []
    for _ in range(8):
        scenes.append(draw_scene(engine.edition, engine.snapshot(0)))
        engine.apply(engine.mask.argmax(1))
    pictures = [to_pixels(scene) for scene in scenes]
    assert all(np.array_equal(to_pixels(s), p) for s, p in zip(scenes, pictures, strict=True))
    for cached in (pixels._cell, pixels._placed, pixels._letters):
        cached.cache_clear()
    assert np.array_equal(to_pixels(scenes[-1]), pictures[-1])
    monkeypatch.setattr(pixels, "CELL", 1200)  # the whole picture is one
    monkeypatch.setattr(pixels, "SIDE", 1200 * pixels.FINER)
    for cached in (pixels._cell, pixels._placed):
        cached.cache_clear()
    whole = to_pixels(scenes[-1])
    for cached in (pixels._cell, pixels._placed):
        cached.cache_clear()
    assert np.array_equal(whole, pictures[-1])


def test_what_was_drawn_cannot_be_spoilt_from_outside() -> None:
    scene = picture(Rect(10, 10, 20, 10, fill=RED))
    first = to_pixels(scene)
    before = first.copy()
    first[:] = 0
    assert np.array_equal(to_pixels(scene), before)


@pytest.mark.parametrize("anchor", ["start", "middle", "end"])
@pytest.mark.parametrize("bold", [False, True])
def test_text_keeps_to_the_bounds_it_was_laid_out_with(anchor: str, bold: bool) -> None:
    text = Text(200, 30, "The Hedgehog, 48", 18, anchor, bold, fill=BLACK)
    pixels = to_pixels(picture(text, width=400, height=60), 2.0)
    assert pixels.shape == (120, 800, 3)
    rows, columns = np.nonzero(pixels[..., 0] < 128)
    left, top, right, lower = (2 * end for end in bounds(text))
    assert left - 3 <= columns.min()
    assert columns.max() <= right + 3
    if not bold:  # bold faces are wider than what is painted for one
        assert columns.min() < left + 5
        assert columns.max() > right - 5
    assert top - 2 <= rows.min() < top + 5
    assert rows.max() <= lower + 2


def test_the_widths_are_those_of_pillows_font() -> None:
    font = ImageFont.load_default(100)
    for letter in map(chr, range(32, 127)):
        assert text_width(letter, 100) == pytest.approx(font.getlength(letter), abs=2)
    words = "Handwriting of the 15th century"
    assert text_width(words, 100) == pytest.approx(font.getlength(words), rel=0.03)


@pytest.mark.parametrize("room", [5.0, 20.0, 60.0, 100.0, 1000.0])
@pytest.mark.parametrize("text", ["", "w", "scriptorium of the abbey", "책을 만드는 사람들의 도시"])
def test_text_shrinks_and_is_cut_to_its_room(text: str, room: float) -> None:
    shown, size = fitted(text, room, 14, 9)
    assert text_width(shown, size) <= room + 1e-9
    assert size <= 14
    if shown != text:
        assert shown == "" or shown.endswith("…")
        assert text_width(text, 9) > room


def test_letters_that_the_font_lacks_lose_their_accents() -> None:
    assert legible("Évangile · naïf…") == "Evangile · naif…"
    assert legible("plain") == "plain"
    scene = picture(Text(5, 20, "é", 20, "start", fill=BLACK))
    plain = picture(Text(5, 20, "e", 20, "start", fill=BLACK))
    assert np.array_equal(to_pixels(scene), to_pixels(plain))


@pytest.mark.parametrize("scale", [0, -1.0, 9.0, float("nan")])
def test_a_scale_must_make_sense(scale: Any) -> None:
    with pytest.raises(IncunabulaError, match=r"^scale: expected above 0 and at most 8, got"):
        to_pixels(picture(), scale)


@pytest.mark.parametrize("count", [0, 1, 2, 7, 31, 400])
@pytest.mark.parametrize(("w", "h"), [(300.0, 80.0), (80.0, 300.0)])
def test_a_grid_lies_in_its_box_and_is_as_large_as_it_can_be(
    count: int, w: float, h: float
) -> None:
    box = Box(10, 20, w, h)
    places, per_row = grid(box, count, 1.25, 60.0, 3.0)
    assert len(places) == count
    for place in places:
        assert place.x >= box.x
        assert place.y >= box.y
        assert place.right <= box.right + 1e-6
        assert place.lower <= box.lower + 1e-6
    if count:
        assert per_row <= count
        size = places[0].w + 0.5  # whatever is a little larger doesn't fit
        across, down = int((w + 3) / (size + 3)), int((h + 3) / (size * 1.25 + 3))
        assert size > 60 or across * down < count


def test_the_pages_pictures_are_up_to_date() -> None:
    script = Path(__file__).parent.parent / "docs" / "pictures.py"
    command = [sys.executable, str(script), "--check"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_names_are_told_apart_by_as_few_letters_as_can_be() -> None:
    assert shortest_names(["researcher", "scribe", "binder"]) == ["R", "S", "B"]
    assert shortest_names(["scribe", "seller"]) == ["SC", "SE"]
    assert shortest_names(["type 1", "type 2"]) == ["1", "2"]
