"""ladder.md: the ladders that lie in a folder as one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from incunabula.envs.editions import GAMES
from incunabula.training.evaluation.tables import PROVENANCE
from incunabula.training.ladder.cells import conditions, heading, machines, ranking, spread

Json = dict[str, Any]

_INTRODUCTION = """\
# Ladders

Written by `incunabula ladder`, not by hand; the same figures and more are in the JSON beside it.
All agents of a game play the same deals. Intervals are 95% and about the deals: what another
training seed would have given is a matter of several runs, which stand apart.
"""

_READING = """\
## How to read it

- *to the next*: this row less the next one, deal by deal, on the deals that both have played. Luck
  that both share cancels, so read this and not whether two intervals overlap. An interval that
  holds 0 is a tie as far as these deals can tell.
- *less luck*: the mean of the scores less the luck of the draws, as a value function sees it: the
  same expectation with a narrower interval, whatever the value function is worth (see *Luck* on
  the page on evaluation). Where it is given, ranks and differences are by it.
- *rank*: by the mean. An agent of fewer deals stands where the differences on its deals put it: its
  own mean is about other deals than that of the rest.
- *ms a decision*: time a decision with many games at once, on the machine named; no time that an
  agent would take over a single move.
- *training*: environment steps and time of the policy's training by its receipt, CPU: of the
  processor, where that is known; of an agent that searches, of the policy it is guided by or plays
  imagined games with.
- *win share*: from every seat against copies of `greedy`. *rating*: logarithm of strength in a
  league of all agents (Plackett-Luce), mean 0.
- *sd between runs*: how far policies of several training seeds lie apart, the noise of the games
  taken out, with an interval by chi-squared. *noise of the games*: the standard deviation that
  chance in the games alone gives a run's mean beside another's on the same deals. The interval of
  the *mean of the runs* is about both: other seeds and other deals.
"""


def page(results: Mapping[str, Json]) -> str:
    """The page of these ladders, by game."""
    parts = [_INTRODUCTION]
    parts += [_game(results[game]) for game in GAMES if game in results]
    return "\n".join([*parts, _READING])


def _game(result: Json) -> str:
    """The chapter of a game."""
    versions = ", ".join(f"{name} {known}" for name, known in result["versions"].items() if known)
    parts = [f"## {result['game'].capitalize()}", f"```text\n{result['command']}\n```"]
    parts.append(f"{conditions(result)}. The edition is {PROVENANCE[_provenance(result)]}.")
    for table in result["tables"]:
        parts += [f"### {heading(table)}", markdown(*ranking(table))]
        if table.get("separated"):
            parts.append(
                "Some agents always finished ahead of others, so how far apart their ratings lie "
                "these games can't tell; read the win shares."
            )
        if table["training_runs"] is not None:
            parts += ["Several training seeds of one configuration:", markdown(*spread(table))]
    parts.append(f"Times: {machines(result)}. Versions: {versions}.")
    return "\n\n".join(parts) + "\n"


def _provenance(result: Json) -> str:
    return str(result["edition"]["provenance"])


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    """Text that can't end a cell or a line, or say anything in HTML."""
    printable = text if text.isprintable() else ascii(text)
    return printable.replace("|", "\\|").replace("<", "&lt;")
