"""Write the generated tables of the environment pages: python docs/tables.py [--check].

A table stands between ``<!-- table: NAME -->`` and ``<!-- end -->`` lines; everything between is
replaced. With ``--check`` nothing is written and the exit status is 1 if a page is out of date.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from incunabula.envs.bibliogamo.edition import shipped_editions
from incunabula.envs.bibliogamo.engine import BibliogamoEngine

PAGES = [Path(__file__).parent / "bibliogamo.md"]


def facts() -> str:
    """One row for each shipped edition of Bibliogamo."""
    rows = ["| Edition | Towers | Cards | Cubes | Days | Observation | Actions |"]
    rows.append("|---|---|---|---|---|---|---|")
    for name in sorted(name for name in shipped_editions() if name.startswith("bibliogamo")):
        engine = BibliogamoEngine(name)
        t = engine.tables
        rows.append(
            f"| `{name}` | {t.towers} | {t.cards} | {t.cubes} | {t.days} "
            f"| {engine.layout.size} floats | {engine.actions.n} |"
        )
    return "\n".join(rows)


def observation() -> str:
    """The observation's layout for the default edition."""
    rows = ["| Index | Field | Shape | Largest value | Meaning |", "|---|---|---|---|---|"]
    for field in BibliogamoEngine("bibliogamo").layout.fields.values():
        last = field.start + field.size - 1
        index = str(field.start) if field.size == 1 else f"{field.start}–{last}"
        shape = " × ".join(map(str, field.shape)) or "1"
        rows.append(f"| {index} | `{field.name}` | {shape} | {field.high:g} | {field.meaning} |")
    return "\n".join(rows)


def actions() -> str:
    """The action table for the default edition: a row for each kind."""
    a = BibliogamoEngine("bibliogamo").actions
    ranges = [
        (a.stay, a.stay, "stay", "step 4a"),
        (a.walk, a.keep - 1, f"walk to space 0–{a.spaces - 1}", "step 4a"),
        (a.keep, a.keep, "keep (don't sell)", "step 4b"),
        (a.sell, a.sell, "sell the librarian's book", "step 4b"),
        (a.accept, a.accept, "accept the price", "step 4b"),
        (a.wait, a.wait, "wait a day for another price", "step 4b"),
        (
            a.hire,
            a.lift - 1,
            f"hire with hand slot s into tower t: {a.hire} + {a.towers}·s + t",
            "step 4c",
        ),
        (a.lift, a.pay - 1, f"lift the ban with hand slot 0–{a.hand_size - 1}", "R4"),
        (a.pay, a.end - 1, f"pay with hand slot 0–{a.hand_size - 1}", "step 4c"),
        (a.end, a.end, "end the turn", "step 4c"),
    ]
    rows = ["| Index | Action | Rule |", "|---|---|---|"]
    for first, last, meaning, clause in ranges:
        index = str(first) if first == last else f"{first}–{last}"
        rows.append(f"| {index} | {meaning} | {clause} |")
    return "\n".join(rows)


TABLES = {"facts": facts, "observation": observation, "actions": actions}


def renewed(text: str) -> str:
    """The page with every table made anew."""

    def table(match: re.Match[str]) -> str:
        name = match.group(1)
        return f"<!-- table: {name} -->\n\n{TABLES[name]()}\n\n<!-- end -->"

    return re.sub(r"<!-- table: (\w+) -->.*?<!-- end -->", table, text, flags=re.DOTALL)


def main(arguments: list[str]) -> int:
    """Renew the pages, or with ``--check`` say which are out of date."""
    stale = 0
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        after = renewed(before)
        if before != after and "--check" in arguments:
            print(f"{page}: out of date; run python docs/tables.py", file=sys.stderr)
            stale = 1
        elif before != after:
            page.write_text(after, encoding="utf-8")
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
