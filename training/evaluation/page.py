"""Pages of reports: HTML in one file, pictures included, nothing fetched."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from typing import Any

from incunabula.training.evaluation.tables import PROVENANCE

Json = dict[str, Any]

CSS = """
:root { color-scheme: light dark; --ink: #2b2723; --faint: #6f675e; --line: #ddd6cc;
  --paper: #fbf9f5; --card: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e9e4dc; --faint: #a9a196; --line: #443f39;
  --paper: #1d1b19; --card: #262321; } }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font: 600 2rem/1.2 Georgia, "Times New Roman", serif; margin: 0 0 .4rem; }
h2 { font: 600 1.25rem/1.3 Georgia, "Times New Roman", serif; margin: 2.4rem 0 .6rem; }
p { margin: .4rem 0; max-width: 46rem; }
.lead { font-size: 1.1rem; }
.faint, figcaption, caption { color: var(--faint); font-size: .9rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .6rem 0;
  min-width: 34rem; }
th, td { padding: .35rem .8rem; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th { font-weight: 600; color: var(--faint); font-size: .85rem; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td.name, td.mean { font-weight: 600; }
figure { margin: 1rem 0; }
img { width: 100%; height: auto; border: 1px solid var(--line); border-radius: 6px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem; margin: .6rem 0; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
"""


def page(title: str, lead: str, result: Json, parts: Sequence[str]) -> str:
    """The whole page: a heading, the result in a sentence (plain text), and HTML parts."""
    top = [
        f"<h1>{html.escape(title)}</h1>",
        f'<p class="lead">{html.escape(lead)}</p>',
        note(edition_note(result)),
    ]
    body = "\n".join([*top, *parts])
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{CSS}</style>\n</head>\n"
        f"<body><main>\n{body}\n</main></body>\n</html>\n"
    )


def note(text: str) -> str:
    """A remark, plain text, in small print."""
    return f'<p class="faint">{html.escape(text)}</p>'


def edition_note(result: Json) -> str:
    """What the figures are about."""
    edition = result["edition"]
    return (
        f"Edition “{edition['name']}” is {PROVENANCE[edition['provenance']]}. Brackets are 95% "
        "intervals."
    )


def _row(cells: Sequence[str], tag: str = "td", classes: Sequence[str] = ()) -> str:
    shown = []
    for i, cell in enumerate(cells):
        attribute = f' class="{classes[i]}"' if i < len(classes) else ""
        shown.append(f"<{tag}{attribute}>{html.escape(cell)}</{tag}>")
    return f"<tr>{''.join(shown)}</tr>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of plain texts; the first two columns stand out."""
    body = "\n".join(_row(row, classes=("name", "mean")) for row in rows)
    return (
        f'<div class="scroll"><table>\n<thead>{_row(head, "th")}</thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def figure(picture: bytes, text: str, caption: str) -> str:
    """A picture in the page itself; ``text`` says the same to those who can't see it."""
    data = base64.b64encode(picture).decode("ascii")
    return (
        f'<figure><img src="data:image/png;base64,{data}" alt="{html.escape(text)}">'
        f"<figcaption>{html.escape(caption)}</figcaption></figure>"
    )


def conditions(result: Json, games: str, more: Sequence[tuple[str, str]], file: str) -> str:
    """What was played, with what and where.

    Args:
        games: how many games, in words.
        more: entries of this kind of result alone.
        file: the file that holds the figures.
    """
    edition, seeds, timing = result["edition"], result["seeds"], result["timing"]
    machine = timing["machine"]
    entries = [
        ("Games", games),
        ("Deals", f"list “{seeds['list']}”, SHA-256 {seeds['sha256']}"),
        ("Edition", f"{edition['name']} ({edition['edition']}), {edition['provenance']}"),
        ("Edition SHA-256", edition["sha256"]),
        *more,
        ("Agents", ", ".join(agent["name"] for agent in result["agents"])),
        ("Agent seed", str(result["agent_seed"])),
        ("Engine", result["backend"]),
        ("Versions", ", ".join(f"{name} {v}" for name, v in result["versions"].items() if v)),
        ("Machine", f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}"),
        ("Finished", f"{timing['finished']}, after {timing['seconds']:.1f} s"),
    ]
    items = "".join(f"<dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd>" for k, v in entries)
    said = (
        f"The figures are in {file}, every game in games.csv. The same command gives the same "
        "figures, whatever the batch size and the engine; only times differ."
    )
    return f"<dl>{items}</dl>\n{note(said)}"
