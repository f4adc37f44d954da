"""A scene as SVG."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from incunabula.envs.drawing.lettering import CAP
from incunabula.envs.drawing.scene import KINDS, Json, Point, Scene, scene_json

FONTS = "Aileron, 'Helvetica Neue', Helvetica, Arial, sans-serif"
_TAGS = {kind: kind for kind in KINDS.values()} | {"line": "polyline"}


def to_svg(scene: Scene) -> str:
    """The scene as a whole SVG document, with nothing from outside; marks are ``data-mark``."""
    form = scene_json(scene)
    width, height = str(scene.width), str(scene.height)
    root = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {width} {height}",
            "width": width,
            "height": height,
            "role": "img",
            "font-family": FONTS,
        },
    )
    ET.SubElement(root, "title").text = scene.title
    for shape in form["shapes"]:
        _add(root, shape)
    ET.indent(root, " ")
    return ET.tostring(root, encoding="unicode") + "\n"


def _add(root: ET.Element, shape: Json) -> None:
    kind = shape["kind"]
    closed = shape.get("closed", False)
    attributes = {"fill": shape.get("fill", "none")}
    if "stroke" in shape:
        attributes |= {"stroke": shape["stroke"], "stroke-width": str(shape.get("width", 1))}
        if kind in ("line", "polygon"):
            attributes |= {"stroke-linejoin": "round", "stroke-linecap": "round"}
    if "opacity" in shape:
        attributes["opacity"] = str(shape["opacity"])
    if "mark" in shape:
        attributes["data-mark"] = shape["mark"]
    if kind == "rect":
        names = {"x": "x", "y": "y", "w": "width", "h": "height", "radius": "rx"}
        attributes |= {names[name]: str(shape[name]) for name in names if name in shape}
    elif kind == "circle":
        attributes |= {"cx": str(shape["x"]), "cy": str(shape["y"]), "r": str(shape["r"])}
    elif kind == "text":
        baseline = round(shape["y"] + CAP / 2 * shape["size"], 1)
        attributes |= {"x": str(shape["x"]), "y": str(baseline), "font-size": str(shape["size"])}
        attributes |= {"textLength": str(shape["length"]), "lengthAdjust": "spacingAndGlyphs"}
        attributes["text-anchor"] = shape.get("anchor", "middle")
        if shape.get("bold"):
            attributes["font-weight"] = "bold"
    else:
        attributes["points"] = _points(shape["points"])
        if closed:
            kind = "polygon"
    element = ET.SubElement(root, _TAGS[kind], attributes)
    if kind == "text":
        element.text = shape["text"]


def _points(points: list[Point]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)
