"""Who sits at a table, and what is played there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from incunabula.agents.agent import Agent
from incunabula.agents.registry import make_agent
from incunabula.envs.documents import show
from incunabula.envs.editions import BaseEdition, edition_model, load_as
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium.edition import Edition as ScriptoriumEdition
from incunabula.training.arguments import check_game, listed
from incunabula.training.replay.advice import Adviser

PERSON = "person"  # how replays call one
EVERYBODY = "all"
# Agents that are asked for hints besides the one that is named, where they can play the edition.
ADVISERS = ("greedy", "ppo", "rollouts", "search")


@dataclass(frozen=True)
class Table:
    """What is played, and by whom.

    Attributes:
        edition: the edition.
        agents: who has each seat; None: a person.
        advisers: names of agents that may be asked for hints, the usual one first.
    """

    edition: BaseEdition
    agents: tuple[Agent | None, ...]
    advisers: tuple[str, ...] = ("greedy",)
    _made: dict[str, Adviser] = field(default_factory=dict, repr=False)

    @property
    def persons(self) -> tuple[int, ...]:
        """The seats that persons have."""
        return tuple(seat for seat, agent in enumerate(self.agents) if agent is None)

    @property
    def names(self) -> tuple[str, ...]:
        """Who has each seat, by name."""
        return tuple(PERSON if agent is None else agent.name for agent in self.agents)

    def adviser(self, name: str) -> Adviser:
        """The agent of this name to ask for hints.

        Raises:
            IncunabulaError: it isn't one of ``advisers``, or can't be had.
        """
        if name not in self.advisers:
            known = ", ".join(self.advisers)
            raise IncunabulaError(f"hint: expected an agent of {known}, got {show(name)}")
        if name not in self._made:
            self._made[name] = Adviser(name, self.edition)
        return self._made[name]


def set_table(
    game: str,
    edition: str | None = None,
    *,
    players: int | None = None,
    seat: str | None = None,
    against: str | None = None,
    hint: str = "greedy",
) -> Table:
    """A table as the command's options describe it.

    Args:
        edition: a shipped name or a file; None: the game's own.
        players: how many seats; None: 2, or the fewest that the edition is for.
        seat: a person's seat, several separated by commas, or ``all``; None: 0.
        against: agents for the other seats in their order, or one for all; None: greedy.
        hint: the agent that gives hints unless another is asked.

    Raises:
        IncunabulaError: one of them can't be used.
    """
    check_game(game)
    loaded = load_as(edition_model(game), edition or game)
    if isinstance(loaded, ScriptoriumEdition):
        agents = _seated(loaded, players, seat, against)
    else:
        alone = {"players": players not in (None, 1), "seat": seat not in (None, "0", EVERYBODY)}
        for option, wrong in (alone | {"against": against is not None}).items():
            if wrong:
                raise IncunabulaError(f"{option}: {game} is played alone; leave this out")
        agents = (None,)
    make_agent(hint, loaded)
    return Table(loaded, agents, tuple(dict.fromkeys((hint, *_advisers(loaded)))))


def _seated(
    edition: ScriptoriumEdition, players: int | None, seat: str | None, against: str | None
) -> tuple[Agent | None, ...]:
    allowed = edition.rules.players
    count = players if players is not None else 2 if 2 in allowed else allowed[0]
    if count not in allowed:
        raise IncunabulaError(
            f"players: this edition is for {', '.join(map(str, allowed))} players, got {count}"
        )
    persons = _persons("0" if seat is None else seat, count)
    others = [k for k in range(count) if k not in persons]
    if against is not None and not others:
        raise IncunabulaError("against: persons have all the seats; leave this out")
    specs = listed("against", "greedy" if against is None else against)
    if len(specs) not in (1, len(others)) and others:
        seats = ", ".join(map(str, others))
        wanted = (
            f"one agent, or {len(others)} for seats {seats}"
            if len(others) > 1
            else f"one agent, for seat {seats}"
        )
        raise IncunabulaError(f"against: expected {wanted}, got {len(specs)}")
    named = dict(zip(others, specs * len(others) if len(specs) == 1 else specs, strict=False))
    made = {spec: make_agent(spec, edition) for spec in set(named.values())}
    return tuple(made[named[k]] if k in named else None for k in range(count))


def _persons(seat: str, players: int) -> Sequence[int]:
    if seat.strip() == EVERYBODY:
        return range(players)
    seats = {str(number): number for number in range(players)}
    entries = listed("seat", seat)
    if not set(entries) <= set(seats) or len(set(entries)) < len(entries):
        raise IncunabulaError(
            f"seat: expected seats in 0..{players - 1}, each once, separated by commas, or "
            f"{EVERYBODY}, got {seat!r}"
        )
    return [seats[entry] for entry in entries]


def _advisers(edition: BaseEdition) -> list[str]:
    """Those of the usual advisers that can play the edition."""
    found = []
    for name in ADVISERS:
        try:
            make_agent(name, edition)
        except IncunabulaError:
            continue
        found.append(name)
    return found
