"""One game in progress at a table, as the page shows and changes it.

Nothing that is hidden leaves a session but for what `replay` gives, which is for a file: frames
are made of the public state, hints of what an agent sees.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from incunabula import __version__
from incunabula.agents.agent import Agent, View, ask
from incunabula.agents.seat.driver import LUCK_STREAM
from incunabula.envs.bibliogamo.edition import GAME as BIBLIOGAMO
from incunabula.envs.chance import key
from incunabula.envs.engine import Engine, Json
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.playback import deal_as, new_engine, verify
from incunabula.envs.replay import Replay
from incunabula.training.play.table import Table
from incunabula.training.replay.frames import frame_of

ROW = np.arange(1)
MOST_REASONS = 6  # why something can't be done, that are told at once


class StaleError(IncunabulaError):
    """A change to a position that is no longer the present one."""


class Moment(NamedTuple):
    """What there is to see of a game at one time; never changed once made.

    Attributes:
        number: of the position; every change makes it larger.
        serials: which frame is which: a new number for each that is made.
        frames: the positions so far, the present one last.
        facts: what the page knows of the game besides.
    """

    number: int
    serials: tuple[int, ...]
    frames: tuple[Json, ...]
    facts: Json


class Reason(NamedTuple):
    """Why actions are illegal."""

    clause: str
    reason: str
    actions: int  # how many


def check_game_of(replay: Replay, game: str) -> None:
    """IncunabulaError unless this is the game that a replay is of."""
    if replay.game != game:
        raise IncunabulaError(f"{replay.where}: is a game of {replay.game}, not of {game}")


class Session:
    """A game that is being played.

    Changes are for one thread at a time; ``moment`` may be read by others meanwhile.

    Args:
        table: what is played, and by whom.
        deal: {"seed": decimal digits} or {"tape": …}, and in Bibliogamo perhaps "prestige"; None: a
            seed from the operating system.
        replay: what has been played already; see ``load``.

    Raises:
        IncunabulaError: the deal or what has been played isn't possible here, or an agent fails.
    """

    def __init__(
        self, table: Table, deal: Json | None = None, replay: Replay | None = None
    ) -> None:
        if replay is not None:
            check_game_of(replay, table.edition.game)
            if len(replay.players) != len(table.agents):
                raise IncunabulaError(
                    f"{replay.where}: is a game of {len(replay.players)}; here "
                    f"{len(table.agents)} play"
                )
            verify([replay], table.edition)
            deal = replay.deal
        self.table = table
        self.players = table.names
        self._edition: Json = {
            "edition": table.edition.name,
            "edition_sha256": table.edition.sha256,
        }
        self.deal = deal or {"seed": str(secrets.randbits(64))}
        self.engine, deals = new_engine(table.edition, 1, len(table.agents))
        deal_as(self.engine, deals, ROW, [self.deal])
        # The agents' own draws: not the game's seed.
        seed = np.array([int(self.deal.get("seed", 0))], np.uint64)
        self._luck = key(seed, LUCK_STREAM, np.zeros(1, np.uint64))
        self._number = self._serial = 0
        self.actions: list[int] = []
        self._before: list[Any] = []  # the state that each action was taken in
        self._seats: list[int] = []  # who took it
        self._frames: list[Json] = []
        self._serials: list[int] = []
        self._add_frame(None)
        if replay is not None:
            for action in replay.actions:
                self._take(action)
            if self.over:
                self.players = replay.players
        self._given = len(self.actions)  # that were not made at this table
        self._publish()
        self._others_move()

    # Looking ------------------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.engine.state.phase[0] == self.engine.over)

    @property
    def to_move(self) -> int | None:
        """The seat to move; None when the game is over."""
        if self.over:
            return None
        return 0 if self.engine.num_players == 1 else int(self.engine.state.player[0])

    @property
    def scores(self) -> tuple[int, ...]:
        """Each seat's score."""
        return tuple(np.atleast_1d(self.engine.state.score[0]).tolist())

    @property
    def person_moved(self) -> bool:
        """Whether a person has done something at this table."""
        return any(self.table.agents[seat] is None for seat in self._seats[self._given :])

    @property
    def replay(self) -> Replay:
        """The game as it was when ``moment`` was made, as a replay; the deal in it says what is to
        come. May be read while another thread changes the game."""
        return self._replay

    def _as_replay(self) -> Replay:
        return Replay(
            game=self.table.edition.game,
            **self._edition,
            players=self.players,
            deal=self.deal,
            actions=tuple(self.actions),
            scores=self.scores,
            finished=self.over,
        )

    def why(self, mark: str) -> list[Reason]:
        """Why nothing can be done with a thing of the scene now: reasons that differ.

        Those that speak of the thing come before those that speak of the phase alone.
        """
        engine, counts = self.engine, dict[tuple[str, str], int]()
        scene = import_module(f"incunabula.envs.{engine.game}.scene")
        state = engine.snapshot(0)
        for action in range(engine.actions.n):
            if scene.action_mark(engine.edition, state, engine.actions.describe(action)) != mark:
                continue
            why = engine.why_illegal(0, action)
            if why is not None:
                counts[why] = counts.get(why, 0) + 1
        found = [Reason(*why, count) for why, count in counts.items()]
        return found[:MOST_REASONS]

    def hint(self, name: str) -> Json:
        """What an agent makes of the position: {"agent", "action", "probabilities", "values",
        "value"}: its choice, for each action how likely it is and what it is worth, and what the
        position is worth; null or empty where the agent doesn't say.

        Raises:
            IncunabulaError: there is no such adviser, it fails, or no person is to move.
        """
        return self.hint_later(name)()

    def hint_later(self, name: str) -> Callable[[], Json]:
        """What gives the ``hint`` of the present position, in any thread and while the game goes
        on; for one agent not twice at a time.

        Raises:
            IncunabulaError: no person is to move. (The rest when it is called.)
        """
        seat = self.to_move
        if seat is None or self.table.agents[seat] is not None:
            raise IncunabulaError("hint: nobody is to move")
        engine, decision = self.engine.empty_like(1, "numpy"), len(self.actions)
        engine.put(ROW, self.engine.state.take(ROW))

        def asked() -> Json:
            advice = self.table.adviser(name).advise(engine, 0, decision)
            # Where there is but one it says nothing that the choice doesn't.
            likely = {action: p for action, p in advice.probability.items() if p}
            return {
                "agent": name,
                "action": advice.chosen,
                "probabilities": likely if len(likely) > 1 else {},
                "values": {action: x for action, x in advice.value.items() if math.isfinite(x)},
                "value": advice.expected,
            }

        return asked

    # Changing -----------------------------------------------------------------------------------

    def check_number(self, number: object) -> None:
        """StaleError unless this is the number of the present position."""
        if number != self._number:
            raise StaleError(
                "The game has moved on meanwhile, perhaps in another tab: here is how it stands."
            )

    def act(self, action: int) -> None:
        """Do what a person chose, and let the agents move up to the next person's turn; each move
        can be seen as soon as it is made.

        Raises:
            IllegalActionError: the rules don't allow it.
            IncunabulaError: no person is to move, or an agent failed. All is then as it was.
        """
        self.engine.actions.check(action)
        done = len(self.actions)
        try:
            self._take(action)
            self._publish()
            self._others_move()
        except BaseException:
            if len(self.actions) > done:
                self._back_to(done)
                self._publish()
            raise

    @property
    def no_undo(self) -> str:
        """Why the last action can't be taken back; empty if it can."""
        if not self.actions:
            return "Nothing has been done yet."
        if self.over:
            return "The game is over, and its deal is known."
        if self.table.agents[self._seats[-1]] is not None:
            return "Another seat has moved since."
        if _drawn(self._before[-1], self.engine) != _drawn(self.engine.state, self.engine):
            return "Something was revealed since: what is known can't be forgotten."
        return ""

    def undo(self) -> None:
        """Take the last action back.

        Raises:
            IncunabulaError: another seat has moved since, something was revealed, or the game is
                over.
        """
        if self.no_undo:
            raise IncunabulaError(self.no_undo)
        self._back_to(len(self.actions) - 1)
        self._publish()

    def restart(self, deal: Json | None = None) -> None:
        """Deal a new game; see ``__init__``."""
        self._replace(Session(self.table, deal))

    def load(self, replay: Replay) -> None:
        """Go on with a game from a file, played at this table so far or by others.

        Raises:
            IncunabulaError: it is of another game, edition or number of players, or its actions or
                scores aren't what the rules make of them. Nothing is changed then.
        """
        self._replace(Session(self.table, replay=replay))

    def _replace(self, other: Session) -> None:
        """Become another session at the same table; numbers go on."""
        number, serial = self._number, self._serial
        self.__dict__.update(vars(other))
        self._number = number
        self._serials = list(range(serial + 1, serial + 1 + len(self._frames)))
        self._serial = serial + len(self._frames)
        self._publish()

    # How ----------------------------------------------------------------------------------------

    def _take(self, action: int) -> None:
        seat = self.to_move
        before = self.engine.state.take(ROW)
        legal = {each["action"]: each["label"] for each in self._frames[-1]["legal"]}
        self.engine.apply(np.array([action]))
        assert seat is not None
        self._before.append(before)
        self.actions.append(int(action))
        self._seats.append(seat)
        self._add_frame({"action": int(action), "label": legal[action], "seat": seat})

    def _others_move(self) -> None:
        """Let agents move until a person is to, or the game is over."""
        while (seat := self.to_move) is not None:
            agent = self.table.agents[seat]
            if agent is None:
                return
            self._take(self._asked(agent, seat))
            self._publish()

    def _asked(self, agent: Agent, seat: int) -> int:
        """A legal action of an agent's."""
        decision = np.array([len(self.actions)], np.int64)
        action = int(ask(agent, View(self.engine, ROW, self._luck, decision))[0])
        why = self.engine.why_illegal(0, action)
        if why is not None:
            raise IncunabulaError(
                f"agent {agent.name!r} in seat {seat}: action {action} is illegal ({why[0]}): "
                f"{why[1]}"
            )
        return action

    def _back_to(self, count: int) -> None:
        """Take back all actions but the first so many."""
        if count == len(self.actions):
            return
        self.engine.put(ROW, self._before[count])
        for kept in (self.actions, self._before, self._seats):
            del kept[count:]
        del self._frames[count + 1 :], self._serials[count + 1 :]

    def _publish(self) -> None:
        self._number += 1
        over, no_undo = self.over, self.no_undo
        self._replay = self._as_replay()
        facts = {
            "game": self.table.edition.game,
            **self._edition,
            "incunabula": __version__,
            "players": list(self.players),
            # While the game goes on this would tell what is to come.
            "deal": self.replay.shown_deal if over else "",
            "persons": list(self.table.persons),
            "advisers": list(self.table.advisers),
            "over": over,
            "undo": not no_undo,
            "undo_reason": no_undo,
        }
        self.moment = Moment(self._number, tuple(self._serials), tuple(self._frames), facts)

    def _add_frame(self, done: Json | None) -> None:
        self._frames.append(frame_of(self.engine, 0, self._viewer(), done))
        self._serial += 1
        self._serials.append(self._serial)

    def _viewer(self) -> int:
        """The seat from which the table is drawn: of the person to move, else of the last one."""
        persons = self.table.persons
        if self.to_move in persons:
            return int(self.to_move)
        return next((seat for seat in reversed(self._seats) if seat in persons), persons[0])


def _drawn(state: Any, engine: Engine) -> tuple[int, ...]:
    """Counts that change whenever something hidden comes to light, and with the turn."""
    names = (
        ("turn", "deck_left", "shuffles") if engine.game == BIBLIOGAMO else ("round", "bag_left")
    )
    return tuple(int(getattr(state, name)[0]) for name in names)
