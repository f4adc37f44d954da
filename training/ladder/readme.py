"""The short table of both ladders: ``python -m incunabula.training.ladder.readme FOLDER``.

It stands in README.md between the lines ``BEGIN`` and ``END``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from incunabula.envs.errors import IncunabulaError
from incunabula.exits import run
from incunabula.training.ladder.short import short_table
from incunabula.training.ladder.store import read_results

BEGIN, END = "<!-- table: ladder -->", "<!-- end -->"


def readme_table(folder: str | Path) -> str:
    """The main columns of the ladders in a folder, in Markdown; empty if there are none.

    Raises:
        IncunabulaError: a ladder can't be read.
    """
    return "\n\n".join(short_table(result) for result in read_results(folder).values())


def readme_part(folder: str | Path) -> str:
    """The table between its marks, as README.md must hold it; empty if there are no ladders."""
    table = readme_table(folder)
    return f"{BEGIN}\n\n{table}\n\n{END}" if table else ""


def main() -> None:
    """Print what README.md must hold of the ladders in a folder (docs by default)."""
    folder = sys.argv[1] if len(sys.argv) > 1 else "docs"

    def show() -> None:
        part = readme_part(folder)
        if not part:
            raise IncunabulaError(f"{folder}: holds no ladder; write one: incunabula ladder GAME")
        print(part)

    run(show)


if __name__ == "__main__":
    main()
