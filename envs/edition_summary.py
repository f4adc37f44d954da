"""What editions amount to, in figures: what `incunabula editions` prints, for every game."""

import importlib
import json
import os
from typing import Any, Protocol, cast

from incunabula.envs.editions import (
    BaseEdition,
    EditionError,
    load_any_edition,
    shipped_editions,
)


class _Summary(Protocol):
    """What each game's own `edition_summary` offers."""

    def summarise(self, edition: BaseEdition) -> dict[str, Any]: ...

    def summary_rows(self, edition: BaseEdition) -> list[tuple[str, str]]: ...

    def sizes(self, edition: BaseEdition) -> dict[str, Any]: ...

    def contents(self, edition: BaseEdition) -> str: ...


def _summary_of(edition: BaseEdition) -> _Summary:
    # By name, and only now: a game is loaded when one of its editions is looked at.
    module = importlib.import_module(f"incunabula.envs.{edition.game}.edition_summary")
    return cast(_Summary, module)


def summarise(edition: BaseEdition) -> dict[str, Any]:
    """Figures that show whether an edition is the one meant, and whether it is balanced.

    Returns JSON values: first those of `BaseEdition.identity`, then the game's own.
    """
    return _summary_of(edition).summarise(edition)


def summary_text(edition: BaseEdition) -> str:
    """The figures of `summarise` as a few aligned lines of text."""
    rows = [
        ("name", edition.name),
        ("game", edition.game),
        ("edition", f"{edition.edition} ({edition.provenance})"),
        ("sha256", edition.sha256),
        *_summary_of(edition).summary_rows(edition),
    ]
    return "\n".join(f"{label:<20} {value}" for label, value in rows)


def check_edition(source: str, *, as_json: bool = False) -> tuple[bool, str]:
    """Check an edition file or shipped name: whether it can be used, and what to print about it.

    Raises:
        EditionError: there is nothing to check: neither such a name nor such a file, or it can't be
            read.
    """
    try:
        edition = load_any_edition(source)
    except EditionError as error:
        if not os.path.isfile(source):
            raise
        if not as_json:
            return False, str(error)
        faults = [{"field": p.field, "message": p.message} for p in error.problems]
        return False, json.dumps({"ok": False, "file": source, "errors": faults}, indent=2)
    if as_json:
        return True, json.dumps({"ok": True, "file": source, **summarise(edition)}, indent=2)
    return True, f"ok\n{summary_text(edition)}"


def list_editions(*, as_json: bool = False) -> str:
    """What to print about the editions that come with the package."""
    editions = [load_any_edition(name) for name in shipped_editions()]
    if as_json:
        listed = [
            {**edition.identity, **_summary_of(edition).sizes(edition)} for edition in editions
        ]
        return json.dumps(listed, indent=2)
    rows = [("name", "edition", "provenance", "contents", "sha256")]
    rows += [
        (
            edition.name,
            edition.edition,
            edition.provenance,
            _summary_of(edition).contents(edition),
            edition.sha256[:12],
        )
        for edition in editions
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
