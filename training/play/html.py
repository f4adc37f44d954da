"""The page as files and as one file: for the server, and for replays that are sent around."""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import json
import re
from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]
PAGE = "page.html"
# What the page consists of besides, with the type that each is served as.
PARTS = {
    "page.css": "text/css",
    "scene.js": "text/javascript",
    "graph.js": "text/javascript",
    "page.js": "text/javascript",
    "live.js": "text/javascript",
}


def page_file(name: str) -> str:
    """The text of a file of the page."""
    return (importlib.resources.files("incunabula.training.play") / "page" / name).read_text(
        "utf-8"
    )


def packed(frames: Iterable[Json]) -> Json:
    """Frames for the page, {"frames", "shapes"}: each shape of their scenes stands once, the scenes
    name it by its place, since most shapes are in many frames."""
    places: dict[str, int] = {}
    shapes: list[Json] = []
    out = []
    for frame in frames:
        numbers = []
        for shape in frame["scene"]["shapes"]:
            place = places.setdefault(json.dumps(shape, sort_keys=True), len(shapes))
            if place == len(shapes):
                shapes.append(shape)
            numbers.append(place)
        out.append({**frame, "scene": {**frame["scene"], "shapes": numbers}})
    return {"frames": out, "shapes": shapes}


def replay_html(game: Json) -> str:
    """One file that shows a game, and needs nothing else: no server, no network.

    Args:
        game: {"game", "edition", "edition_sha256", "incunabula", "players", "deal", "frames"}; the
            frames are those of ``training.replay.frames``.

    What is in the game is shown as text, whatever it holds. The file forbids its browser to load
    anything, and to run any script but its own.
    """
    data = json.dumps({**game, **packed(game["frames"])}, allow_nan=False, separators=(",", ":"))
    # Within a script element "</script" and "<!--" would be read as HTML. (`json.dumps` has left
    # nothing but ASCII.)
    data = data.replace("<", "\\u003c")
    style = page_file("page.css")
    scripts = [page_file(name) for name in PARTS if name.endswith(".js") and name != "live.js"]
    policy = "; ".join(
        (
            "default-src 'none'",
            f"style-src {_hash(style)}",
            f"script-src {' '.join(map(_hash, scripts))}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    html = page_file(PAGE)
    start, first = html.index("<script"), html.rindex("</script>") + len("</script>")
    block = f'<script type="application/json" id="data">{data}</script>'
    inline = "".join(f"\n<script>{script}</script>" for script in scripts)
    html = html[:start] + block + inline + html[first:]
    html = html.replace('<link rel="stylesheet" href="page.css">', f"<style>{style}</style>", 1)
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return re.sub('(<meta charset="utf-8">)', lambda found: f"{found[0]}\n{meta}", html, count=1)


def _hash(text: str) -> str:
    """A text as a Content-Security-Policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
