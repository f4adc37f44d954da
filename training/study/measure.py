"""What parts of the game are worth to greedy: it plays the same deals with more or less of them.

Greedy is tuned for the edition as it is, so all of this is worth *to greedy*; it bounds what the
same is worth to a perfect player from neither side. Only this is certain: to a perfect player
nothing that may be ignored, such as a florin or a further hire, is worth less than 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.agents.baselines import make_greedy
from incunabula.envs.bibliogamo.edition import Edition, load_edition
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.statistics import mean_interval
from incunabula.training.study.play import THREADS, Cell, play_cells
from incunabula.training.study.players import Abstaining
from incunabula.training.study.variants import variant

Int64Array = npt.NDArray[np.int64]
Seeds = npt.NDArray[np.uint64]


class Figure(NamedTuple):
    """One measured number: a mean with its 95% interval.

    Attributes:
        what: in words.
        mean, low, high: points, or what ``what`` says.
        games: how many deals it is of.
        edition: the first 12 hexadecimal digits of the SHA-256 of what was played.
    """

    what: str
    mean: float
    low: float
    high: float
    games: int
    edition: str


class Change(NamedTuple):
    """Something more or less in the game.

    Attributes:
        what: in words.
        fields: of the edition, see ``variant``.
        never: what the player abstains from, see ``Abstaining``.
    """

    what: str
    fields: Mapping[str, Any]
    never: str | None = None


CHANGES = (
    Change("a florin more at the start", {"start.florins": 1}),
    Change("5 florins more at the start", {"start.florins": 5}),
    Change("a day more", {"rules.days": 41}),
    Change("a day less", {"rules.days": 39}),
    Change("a card more in hand", {"rules.hand_size": 6}),
    Change("a card less in hand", {"rules.hand_size": 4}),
    Change("a third hire a turn", {"rules.hires_per_turn": 3}),
    Change("a third hire and a card more", {"rules.hires_per_turn": 3, "rules.hand_size": 6}),
    Change("only one hire a turn", {"rules.hires_per_turn": 1}),
    Change("a cube more", {"rules.cubes": 27}),
    Change("a cube less", {"rules.cubes": 25}),
    Change("no lift of the ban", {"rules.lifts_per_turn": 0}),
    Change("no walking", {}, "walking"),
    Change("no waiting in a sale", {}, "waiting"),
    Change("no bonus for a full collection", {"prestige.*.bonus": 0}),
    Change("no prestige at all", {"prestige.*.bonus": 0, "prestige.*.slots.*.vp": 0}),
)


class Worths(NamedTuple):
    """What changes come to.

    Attributes:
        base: greedy's mean score in the edition as it is.
        differences: for each change, the score with it less that without, deal by deal.
        scores: by ``what``, int64 (n,); ``""`` is the edition as it is.
    """

    base: Figure
    differences: list[Figure]
    scores: dict[str, Int64Array]


def figure(what: str, values: npt.NDArray[Any], edition: Edition) -> Figure:
    """The mean of values by deal (n,), with Student's interval.

    Raises:
        IncunabulaError: there are fewer than two values, so that there is no interval.
    """
    mean, interval = mean_interval(values)
    if interval is None:
        raise IncunabulaError(f"{what}: expected at least 2 deals for an interval, got 1")
    low, high = interval
    return Figure(what, mean, low, high, len(values), edition.sha256[:12])


def worths(
    seeds: Seeds,
    changes: Sequence[Change] = CHANGES,
    base: str | Edition = "bibliogamo",
    threads: int = THREADS,
) -> Worths:
    """Play the deals uint64 (n,) as the edition is, and with each change.

    Raises:
        IncunabulaError: a change can't be made, or there are fewer than two deals.
    """
    edition, greedy = load_edition(base), make_greedy("bibliogamo")
    cells = [Cell(greedy, edition)]
    for change in changes:
        agent = greedy if change.never is None else Abstaining(greedy, change.never)
        cells.append(Cell(agent, variant(change.fields, edition)))
    names = ["", *(change.what for change in changes)]
    played = play_cells(cells, seeds, threads)
    scores = {name: games.score for name, games in zip(names, played, strict=True)}
    return Worths(
        figure("greedy, the edition as it is", scores[""], edition),
        [
            figure(change.what, scores[change.what] - scores[""], cell.edition)
            for change, cell in zip(changes, cells[1:], strict=True)
        ],
        scores,
    )


def levels(
    field: str,
    values: Sequence[int],
    seeds: Seeds,
    base: str | Edition = "bibliogamo",
    threads: int = THREADS,
) -> list[Figure]:
    """Greedy's mean score for each value of a field of the edition, such as ``rules.days``.

    Raises:
        IncunabulaError: there is no such field, or there are fewer than two deals.
    """
    greedy, own = make_greedy("bibliogamo"), load_edition(base)
    editions = [variant({field: value}, own) for value in values]
    played = play_cells([Cell(greedy, edition) for edition in editions], seeds, threads)
    name = field.rpartition(".")[2]
    return [
        figure(f"{value} {name}", games.score, edition)
        for value, edition, games in zip(values, editions, played, strict=True)
    ]


def collections(
    seeds: Seeds, base: str | Edition = "bibliogamo", threads: int = THREADS
) -> list[Figure]:
    """Greedy's mean score with each prestige collection, all on the same deals.

    Raises:
        IncunabulaError: there are fewer than two deals.
    """
    greedy, edition = make_greedy("bibliogamo"), load_edition(base)
    cells = [Cell(greedy, edition, prestige) for prestige in range(len(edition.prestige))]
    return [
        figure(collection.name, games.score, edition)
        for collection, games in zip(
            edition.prestige, play_cells(cells, seeds, threads), strict=True
        )
    ]


def as_table(figures: Sequence[Figure]) -> str:
    """One line a figure."""
    width = max(len(each.what) for each in figures)
    head = f"{'':{width}s} {'mean':>7s}  {'95% interval':18s} {'deals':>7s}  edition"
    return "\n".join(
        [head]
        + [
            f"{f.what:{width}s} {f.mean:7.2f}  {f'[{f.low:.2f}, {f.high:.2f}]':18s} "
            f"{f.games:7,d}  {f.edition}"
            for f in figures
        ]
    )
