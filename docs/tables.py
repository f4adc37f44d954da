"""Write the generated tables of the environment pages: python docs/tables.py [--check].

A table stands between ``<!-- table: NAME -->`` and ``<!-- end -->`` lines; everything between is
replaced. With ``--check`` nothing is written and the exit status is 1 if a page is out of date.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from typer.main import get_command

from incunabula.cli import app
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.editions import shipped_editions
from incunabula.envs.engine import Engine
from incunabula.envs.scriptorium.actions import INK_CHOICES, Kind
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.training.ladder.readme import readme_table


def clause_anchor(clause: str) -> str:
    """Where a clause stands on its game's page of rules: "step 4a" -> "step-4a", "R4" -> "r4"."""
    return clause.lower().replace(" ", "-")


def picture(game: str) -> str:
    """The picture of a game's board, where there is one."""
    file = f"images/{game}.svg"
    there = (Path(__file__).parent / file).exists()
    return f"![A board of {game.capitalize()}]({file})" if there else ""


def bibliogamo_facts() -> str:
    """One row for each shipped edition."""
    rows = ["| Edition | Towers | Cards | Cubes | Days | Observation | Actions |"]
    rows.append("|---|---|---|---|---|---|---|")
    for name in sorted(shipped_editions("bibliogamo")):
        engine = BibliogamoEngine(name)
        t = engine.tables
        rows.append(
            f"| `{name}` | {t.towers} | {t.cards} | {t.cubes} | {t.days} "
            f"| {engine.layout.size} floats | {engine.actions.n} |"
        )
    return "\n".join(rows)


def scriptorium_facts() -> str:
    """One row for each shipped edition."""
    rows = ["| Edition | Players | Designs | Tiles | Spaces | Rounds | Observation | Actions |"]
    rows.append("|---|---|---|---|---|---|---|---|")
    for name in sorted(shipped_editions("scriptorium")):
        engine = ScriptoriumEngine(name)
        edition, t = engine.edition, engine.tables

        def each(numbers: Iterable[int]) -> str:
            """Numbers by number of players; once if they are the same."""
            found = list(numbers)
            return "/".join(map(str, found if len(set(found)) > 1 else found[:1]))

        rows.append(
            f"| `{name}` | {each(t.players)} | {t.designs} "
            f"| {each(edition.bag_size(players) for players in t.players)} "
            f"| {int(t.capacity.sum())} | {each(edition.rounds(players) for players in t.players)} "
            f"| {engine.layout.size} floats | {engine.actions.n} |"
        )
    return "\n".join(rows)


def observation(engine: Engine) -> str:
    """The observation's layout."""
    rows = ["| Index | Field | Shape | Largest value | Meaning |", "|---|---|---|---|---|"]
    for field in engine.layout.fields.values():
        last = field.start + field.size - 1
        index = str(field.start) if field.size == 1 else f"{field.start}–{last}"
        shape = " × ".join(map(str, field.shape)) or "1"
        rows.append(f"| {index} | `{field.name}` | {shape} | {field.high:g} | {field.meaning} |")
    return "\n".join(rows)


def bibliogamo_actions() -> str:
    """The action table for the default edition: a row for each kind."""
    a = BibliogamoEngine("bibliogamo").actions
    return action_table(
        "bibliogamo",
        [
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
        ],
    )


def scriptorium_actions() -> str:
    """The action table for the default edition: a row for each kind."""
    engine = ScriptoriumEngine("scriptorium")
    a, t = engine.actions, engine.tables
    inks = ", ".join(" + ".join(choice) for choice in INK_CHOICES)
    lectern, buy = a.of(Kind.LECTERN).start, a.of(Kind.BUY).start
    meanings = {
        Kind.INK: (f"take inks: {inks}", "phase 1"),
        Kind.GRIMOIRE: ("take the grimoire", "phase 1"),
        Kind.LECTERN: (
            f"give lectern l to the seat r after one's own: {lectern} + {t.max_players}·l + r "
            "(r = 0: take it oneself)",
            "phase 2, S4",
        ),
        Kind.QUILL: ("quill bonus: become the first player", "phase 2, S5"),
        Kind.POINTS: ("quill bonus: points", "phase 2"),
        Kind.PLACE: (
            "place a design, from the lectern or from storage, on a side (corners and edges), "
            "with ink or (edges) without; design by design, in that order",
            "phase 3, S7",
        ),
        Kind.BUY: (
            f"buy design d from the seat r after one's own: {buy} + {t.max_players}·d + r "
            "(r = 0: from the scriptorium)",
            "phase 3",
        ),
        Kind.END: ("end the turn", "phase 3, S10"),
        Kind.DISCARD_TILE: ("discard a tile of a design from storage", "phase 4, S8"),
        Kind.DISCARD_ACHIEVEMENT: ("discard an achievement", "phase 4, S8"),
        Kind.DISCARD_INK: ("discard an ink", "phase 4, S8"),
    }
    spans = {kind: a.of(kind) for kind in meanings}
    return action_table(
        "scriptorium",
        [(spans[kind].start, spans[kind].stop - 1, *said) for kind, said in meanings.items()],
    )


def commands() -> str:
    """A section for each command of the program: what its help says."""
    return "\n\n".join(
        _command_section(path, command) for path, command in leaf_commands(get_command(app))
    )


def leaf_commands(group: Any, path: tuple[str, ...] = ()) -> list[tuple[str, Any]]:
    """Every command under a group, by what is typed after ``incunabula``, in alphabetical order."""
    found: list[tuple[str, Any]] = []
    for name, command in sorted(group.commands.items()):
        here = (*path, name)
        if hasattr(command, "commands"):
            found += leaf_commands(command, here)
        else:
            found.append((" ".join(here), command))
    return found


def _command_section(path: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join(
        [
            "incunabula",
            path,
            *(a.name.upper() if a.required else f"[{a.name.upper()}]" for a in arguments),
        ]
    )
    about = inspect.cleandoc(command.help or "")
    shown = (command.epilog or "").removeprefix("Example: ")
    parts = [f"## {path}", about, f"`{usage} [OPTIONS]`"]
    if shown:
        parts.append(f"```text\n{shown}\n```")
    rows = [f"| `{a.name.upper()}` | {a.help} | {_default(a)} |" for a in arguments]
    rows += [
        f"| `{'`, `'.join([*o.opts, *o.secondary_opts])}` | {o.help} | {_default(o)} |"
        for o in options
    ]
    if rows:
        parts.append("\n".join(["| | | Default |", "|---|---|---|", *rows]))
    return "\n\n".join(parts)


def _default(parameter: Any) -> str:
    default = parameter.default
    if parameter.required or default is None or default is False or default == ():
        return ""
    return f"`{default}`" if default is not True else "on"


def action_table(game: str, ranges: list[tuple[int, int, str, str]]) -> str:
    """A row for each (first, last, meaning, clauses)."""
    rows = ["| Index | Action | Rule |", "|---|---|---|"]
    for first, last, meaning, clauses in ranges:
        index = str(first) if first == last else f"{first}–{last}"
        links = [f"[{c}](rules/{game}.md#{clause_anchor(c)})" for c in clauses.split(", ")]
        rows.append(f"| {index} | {meaning} | {', '.join(links)} |")
    return "\n".join(rows)


# Page -> name of a table -> what makes it.
TABLES: dict[str, dict[str, Callable[[], str]]] = {
    "bibliogamo.md": {
        "picture": lambda: picture("bibliogamo"),
        "facts": bibliogamo_facts,
        "observation": lambda: observation(BibliogamoEngine("bibliogamo")),
        "actions": bibliogamo_actions,
    },
    "scriptorium.md": {
        "picture": lambda: picture("scriptorium"),
        "facts": scriptorium_facts,
        "observation": lambda: observation(ScriptoriumEngine("scriptorium")),
        "actions": scriptorium_actions,
    },
    "command_line.md": {"commands": commands},
    "../README.md": {"ladder": lambda: readme_table(Path(__file__).parent)},
}


def renewed(text: str, tables: Mapping[str, Callable[[], str]]) -> str:
    """The page with every table made anew."""

    def table(match: re.Match[str]) -> str:
        name = match.group(1)
        return f"<!-- table: {name} -->\n\n{tables[name]()}\n\n<!-- end -->"

    return re.sub(r"<!-- table: (\w+) -->.*?<!-- end -->", table, text, flags=re.DOTALL)


def main(arguments: list[str]) -> int:
    """Renew the pages, or with ``--check`` say which are out of date."""
    stale = 0
    for name, tables in TABLES.items():
        page = Path(__file__).parent / name
        before = page.read_text(encoding="utf-8")
        after = renewed(before, tables)
        if before != after and "--check" in arguments:
            print(f"{page}: out of date; run python docs/tables.py", file=sys.stderr)
            stale = 1
        elif before != after:
            page.write_text(after, encoding="utf-8")
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
