"""The documentation site: it builds without a warning, from what is there, and fetches nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import ROOT, anchors, docs_module, text_of

pytest.importorskip("mkdocs")
pytest.importorskip("material")
pytest.importorskip("mkdocstrings")

LINKS = [
    ("README.md", "docs/index.md", "docs/clients.md#rllib", "clients.md#rllib"),
    ("README.md", "docs/index.md", "docs/images/scores.png", "images/scores.png"),
    ("", "docs/optimal.md", "../notebooks/selfplay.ipynb", "notebooks/selfplay.md"),
    ("", "docs/rules/scriptorium.md", "../engines.md", "../engines.md"),
    ("", "docs/engines.md", "../README.md#commands", "index.md#commands"),
    ("", "docs/engines.md", "https://example.org/a", "https://example.org/a"),
    ("", "docs/engines.md", "#threads", "#threads"),
]


@pytest.mark.parametrize(("source", "page", "link", "expected"), LINKS)
def test_links_between_files_become_links_between_pages(
    source: str, page: str, link: str, expected: str
) -> None:
    hooks = docs_module("site_hooks")
    assert hooks.MADE.get(page, "") == source
    assert hooks.site_links(f"see [it]({link}).", page) == f"see [it]({expected})."
    code = f"```text\n[it]({link})\n```"
    assert hooks.site_links(code, page) == code


def test_resources_from_elsewhere_are_found(tmp_path: Path) -> None:
    hooks = docs_module("site_hooks")
    (tmp_path / "a.html").write_text(
        '<link rel="stylesheet" href="https://fonts.example/css"><script src="//cdn.example/x.js">'
        '</script><img src="images/a.png"><a href="https://example.org">fine</a>'
        "<style>p {background: url(http://example.org/b.png)}</style>"
    )
    (tmp_path / "a.css").write_text('@import "https://example.org/c.css"; p {b: url("d.png")}')
    assert hooks.outside_resources(tmp_path) == [
        "a.css: https://example.org/c.css",
        "a.html: https://fonts.example/css",
        "a.html: //cdn.example/x.js",
        "a.html: http://example.org/b.png",
    ]


def test_names_with_one_meaning_are_told_apart() -> None:
    groups = docs_module("griffe_groups")
    text = "Args:\n    a: one.\n    b, c,\n    d: as above\n        and more.\n"
    assert groups._GROUP.sub(groups._each, text) == (
        "Args:\n    a: one.\n    b: as above\n        and more.\n    c: as above\n"
        "        and more.\n    d: as above\n        and more.\n"
    )


def test_the_site_builds(tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in (ROOT / "docs").rglob("*.md")}
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    assert {path: path.read_bytes() for path in (ROOT / "docs").rglob("*.md")} == before
    for game in ("bibliogamo", "scriptorium"):
        page = text_of(tmp_path / "site" / "rules" / f"{game}.html")
        for anchor in anchors(ROOT / "docs" / "rules" / f"{game}.md"):
            assert f'id="{anchor}"' in page, anchor
    reference = text_of(tmp_path / "site" / "reference" / "agents.html")
    assert 'id="incunabula.agents.agent.Agent.act"' in reference
    assert "make demo" in text_of(tmp_path / "site" / "index.html")
    assert (tmp_path / "site" / "notebooks" / "quickstart.html").exists()
