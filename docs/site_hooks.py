"""What MkDocs does besides turning pages into HTML; named by mkdocs.yml.

The home page is the README and the notebooks are pages, so that nothing is written twice. Links
lead from file to file, as on a forge, and are changed to lead from page to page. At the end no page
may fetch anything from elsewhere.
"""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
# Page of the site -> the file it is made of, both from the project's root.
MADE = {"docs/index.md": "README.md"} | {
    f"docs/notebooks/{path.stem}.md": f"notebooks/{path.name}"
    for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
}
_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)")
_FENCE = re.compile(r"(^ *```.*?^ *```$)", re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made of files elsewhere."""
    for page, source in MADE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        if source.endswith(".ipynb"):
            text = notebook_page(json.loads(text), source)
        files.append(File.generated(config, page.removeprefix("docs/"), content=text))
    return files


def notebook_page(notebook: dict[str, Any], source: str) -> str:
    """A notebook's cells as Markdown, with a line that says what they are."""
    cells = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        cells.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    title, _, rest = cells[0].partition("\n")
    cells[0] = f"{title}\n\n*The cells of `{source}`, without what they print.*\n{rest}"
    return "\n\n".join(cells) + "\n"


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Let links lead to pages of the site."""
    return site_links(markdown, f"docs/{page.file.src_uri}")


def site_links(markdown: str, page: str) -> str:
    """Markdown whose links to files, as the file itself has them, lead to the site's pages."""
    pages = {source: made for made, source in MADE.items()}
    here = os.path.dirname(MADE.get(page, page))

    def changed(link: re.Match[str]) -> str:
        target = os.path.normpath(os.path.join(here, link[1]))
        target = pages.get(target, target)
        return f"]({os.path.relpath(target, os.path.dirname(page))}"

    parts = _FENCE.split(markdown)
    return "".join(part if k % 2 else _LINK.sub(changed, part) for k, part in enumerate(parts))


# What the site must not hold ----------------------------------------------------------------------


class _Fetched(HTMLParser):
    """Collects the addresses that a browser would fetch for a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        for name in ("src", "srcset", "poster", "data"):
            self.found.append(named.get(name, ""))
        if tag == "link" and named.get("rel") not in ("canonical", "prev", "next"):
            self.found.append(named.get("href", ""))
        self.found += _in_style(named.get("style", ""))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "style":
            self.found += _in_style(data)


def _in_style(css: str) -> list[str]:
    return [address.strip("\"' ") for address in re.findall(r"(?:url\(|@import\s+)([^);]+)", css)]


def outside_resources(site: Path) -> list[str]:
    """What pages and style sheets of a built site fetch from elsewhere, each with its file."""
    found = []
    for path in sorted(site.rglob("*")):
        if path.suffix == ".html":
            parser = _Fetched()
            parser.feed(path.read_text(encoding="utf-8"))
            addresses = parser.found
        elif path.suffix == ".css":
            addresses = _in_style(path.read_text(encoding="utf-8"))
        else:
            continue
        outside = [address for address in addresses if re.match(r"(https?:)?//", address)]
        found += [f"{path.relative_to(site)}: {address}" for address in outside]
    return found


def on_post_build(config: MkDocsConfig) -> None:
    """Fail if a page would fetch anything from elsewhere."""
    found = outside_resources(Path(config.site_dir))
    if found:
        raise PluginError("resources from elsewhere: " + ", ".join(found))
