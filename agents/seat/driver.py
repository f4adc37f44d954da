"""Games of Scriptorium in which a learner holds one seat and agents hold the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from incunabula.agents.agent import Agent, View, ask
from incunabula.agents.seat.opponents import Opponents, OpponentsLike
from incunabula.envs.adapters.games import Arrays, EditionLike, Games
from incunabula.envs.backend import Rows
from incunabula.envs.chance import DETERMINISE_STREAM, key
from incunabula.envs.deals import Fixed
from incunabula.envs.drawing.scene import Scene
from incunabula.envs.engine import Fresh, Json
from incunabula.envs.errors import IllegalActionError, IncunabulaError
from incunabula.envs.scriptorium.deals import ScriptoriumDeals
from incunabula.envs.scriptorium.engine import ScriptoriumEngine
from incunabula.envs.scriptorium.payoffs import checked_reward_mode, margins, outcome, winners
from incunabula.envs.scriptorium.scene import draw_scene

# What is drawn besides the deal: key(base seed, LUCK_STREAM, episode) is the game's luck, and from
# that come the opponents, their own draws, and a random seat.
LUCK_STREAM = 1 << 38
SEAT_STREAM = 1

LEARNER = 0  # in ``who``


class SeatGames(Games[ScriptoriumEngine]):
    """N games that always wait for the learner: the others have moved when a call returns.

    Rewards are the learner's and take in what the others did up to his next decision. Deals follow
    the episode seeds; who sits where, and what the opponents draw, follows from the same base seed
    and episode, so that no game depends on the others of the batch.

    Everybody has his turns in every round, so the learner always gets to decide something in a game
    before it ends.

    Args:
        edition: a name, a file or an edition.
        num_envs: N.
        num_players: P.
        opponents: who holds the other seats, see ``Opponents``.
        seat: the learner's: ``rotate`` (the next one in each episode, beginning with base seed
            modulo P), ``random``, or a number.
        reward: ``outcome``, ``score`` or ``margin`` ("End and score").
        tape: recorded bag and lecterns for every deal.
        illegal_action, illegal_reward: see ``Games``.
        backend: the engine's.

    Attributes:
        seat: intp (N,), the learner's.
        who: int16 (N, P), who holds each seat: LEARNER, or a number of ``roster``.
        roster: [None, agents …].
        decision: int64 (N,), decisions taken in each game, by all seats.
    """

    options = (*Games.options, "seat")

    def __init__(
        self,
        edition: EditionLike = "scriptorium",
        num_envs: int = 1,
        num_players: int = 2,
        *,
        opponents: OpponentsLike = "greedy",
        seat: str | int = "rotate",
        reward: str = "outcome",
        tape: Mapping[str, Any] | None = None,
        illegal_action: str = "raise",
        illegal_reward: float = -1.0,
        backend: str = "numpy",
    ) -> None:
        engine = ScriptoriumEngine(edition, num_envs, num_players, backend)
        super().__init__(engine, ScriptoriumDeals(engine, tape), illegal_action, illegal_reward)
        self.reward = checked_reward_mode(reward)
        self._seating = self._checked_seat(seat, named=True)
        n, players = self.num_envs, engine.num_players
        self.opponents = Opponents(opponents, engine.edition, players - 1)
        self.roster: list[Agent | None] = [None]
        self._numbers = self._enter(self.opponents.agents)  # of the present opponents
        self.seat = np.zeros(n, np.intp)
        self.who = np.zeros((n, players), np.int16)
        self.luck = np.zeros(n, np.uint64)
        self.decision = np.zeros(n, np.int64)
        self._value = np.zeros(n)  # score or margin that has been paid for
        self._halted = np.zeros(n, np.bool_)  # an opponent failed, and no reset since

    def set_opponents(self, opponents: OpponentsLike) -> None:
        """Change who holds the other seats, from each row's next deal on."""
        self.opponents = Opponents(opponents, self.engine.edition, self.engine.num_players - 1)
        used = np.unique(np.append(self.who, LEARNER))
        self.roster = [self.roster[k] for k in used]
        self.who = np.searchsorted(used, self.who).astype(np.int16)
        self._numbers = self._enter(self.opponents.agents)

    def _enter(self, agents: Iterable[Agent | None]) -> npt.NDArray[np.int16]:
        """Enter agents in the roster, unless they are there; their numbers, int16 (n,)."""
        known = {id(agent): number for number, agent in enumerate(self.roster)}
        numbers = []
        for agent in agents:
            if id(agent) not in known:
                known[id(agent)] = len(self.roster)
                self.roster.append(agent)
            numbers.append(known[id(agent)])
        return np.array(numbers, np.int16)

    # Episodes -----------------------------------------------------------------------------------

    def reset(
        self,
        rows: Rows,
        seeds: Sequence[int | None],
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Deal the next game in each row, and let the others move up to the learner's turn.

        ``options`` may hold ``tape`` and ``seat``, for these episodes alone.
        """
        if isinstance(options, Mapping) and options.get("seat") is not None:
            self._checked_seat(options["seat"], named=False)
        super().reset(rows, seeds, options)

    def _deal(self, rows: Rows, fixed: Fixed, options: Mapping[str, Any]) -> None:
        super()._deal(rows, fixed, options)
        self._sit(rows, options.get("seat"))
        self._others_move(rows)
        self._halted[rows] = False

    def _all_dealt(self) -> bool:
        return super()._all_dealt() and not self._halted.any()

    def _sit(self, rows: Rows, seat: int | None) -> None:
        """Say who holds which seat in games that have just been dealt."""
        players = np.uint64(self.engine.num_players)
        self.luck[rows] = luck = key(self.base[rows], LUCK_STREAM, self.episode[rows])
        if seat is not None:
            self.seat[rows] = seat
        elif self._seating == "rotate":
            turns = self.base[rows] % players + self.episode[rows] % players
            self.seat[rows] = (turns % players).astype(np.intp)
        elif self._seating == "random":
            self.seat[rows] = (key(luck, SEAT_STREAM, 0) % players).astype(np.intp)
        else:
            self.seat[rows] = self._seating
        self._draw_opponents(rows)
        self.decision[rows] = 0
        self._value[rows] = self._worth(rows)

    def _draw_opponents(self, rows: Rows) -> None:
        drawn = self._numbers[self.opponents.draw(self.luck[rows])]
        self.who[rows, self.seat[rows]] = LEARNER
        for j in range(drawn.shape[1]):
            self.who[rows, (self.seat[rows] + 1 + j) % self.engine.num_players] = drawn[:, j]

    def deal(self, row: int) -> Json:
        """{"seed" | "tape", "seat": the learner's, "opponents": [name or None, by seat]}."""
        agents = [self.roster[k] for k in self.who[row]]
        names = [None if agent is None else agent.name for agent in agents]
        return super().deal(row) | {"seat": int(self.seat[row]), "opponents": names}

    # Steps --------------------------------------------------------------------------------------

    def _play(
        self, actions: npt.NDArray[np.integer], rows: Rows, fresh: Fresh | None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        engine = self.engine
        engine.apply(actions, rows, fresh)
        self.decision[rows] += 1
        if fresh is None:
            self._others_move(rows)
        else:
            self._sit(fresh[0], None)
            self._others_move(np.concatenate([rows, fresh[0]]))
        terminated = engine.state.phase[rows] == engine.over
        return self._paid(rows, terminated), terminated

    def _others_move(self, rows: Rows) -> None:
        """Let the others decide in these games until the learner is to move or they are over."""
        engine = self.engine
        player = engine.state.player
        try:
            while True:
                # Finished games have player -1; the last seat's holder is not asked there.
                holder = self.who[rows, player[rows]]
                waiting = (holder != LEARNER) & (player[rows] >= 0)
                rows, holder = rows[waiting], holder[waiting]
                if not rows.size:
                    return
                actions = np.empty(len(rows), np.intp)
                for number in np.flatnonzero(np.bincount(holder)).tolist():
                    mine = holder == number
                    actions[mine] = self._ask(number, rows[mine])
                self._apply(actions, rows)
                self.decision[rows] += 1
        except BaseException:
            # Some games stand in the middle of the others' moves: all are to be dealt again.
            self._halted[:] = True
            self.ready = False
            raise

    def _ask(self, number: int, rows: Rows) -> npt.NDArray[np.intp]:
        """What an agent of the roster does in these games."""
        agent = self.roster[number]
        assert agent is not None
        return ask(agent, View(self.engine, rows, self.luck[rows], self.decision[rows]))

    def _apply(self, actions: npt.NDArray[np.intp], rows: Rows) -> None:
        """Do what opponents decided; an error says whose action was illegal."""
        try:
            self.engine.apply(actions, rows)
        except IllegalActionError as error:
            row = error.row
            agent = self.roster[self.who[row, self.engine.state.player[row]]]
            assert agent is not None
            raise IncunabulaError(
                f"opponent {agent.name!r}, row {row}, decision {self.decision[row]}: "
                f"action {error.action} is illegal ({error.clause}): {error.reason}"
            ) from error

    def _worth(self, rows: Rows) -> npt.NDArray[np.float64]:
        """The learner's running score or margin, float64 (n,)."""
        if self.reward == "outcome":
            return np.zeros(len(rows))
        scores = self.engine.state.score[rows].astype(np.int64)
        worth = scores if self.reward == "score" else margins(scores)
        return worth[np.arange(len(rows)), self.seat[rows]].astype(np.float64)

    def _paid(self, rows: Rows, terminated: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        if self.reward != "outcome":
            worth = self._worth(rows)
            paid = worth - self._value[rows]
            self._value[rows] = worth
            return paid
        paid = np.zeros(len(rows))
        ended = rows[terminated]
        if ended.size:
            payoffs = outcome(self.engine.state.score[ended])
            paid[terminated] = payoffs[np.arange(len(ended)), self.seat[ended]]
        return paid

    # Looking ------------------------------------------------------------------------------------

    def observe(self) -> npt.NDArray[np.float32]:
        """What the learners see, float32 (N, F), fresh."""
        return self.engine.observe(seats=self.seat)

    def observe_rows(self, rows: Rows) -> npt.NDArray[np.float32]:
        """What the learners see in these games, float32 (n, F), fresh."""
        return self.engine.observe_rows(rows, seats=self.seat[rows])

    def facts(self) -> Arrays:
        """The learner's ``score`` (N,), all ``scores`` by seat (N, P), the learner's ``seat``."""
        scores = self.engine.state.score.astype(np.int64)
        return {
            "score": scores[self.rows, self.seat],
            "scores": scores,
            "seat": self.seat.astype(np.int64),
        }

    def draw(self, row: int) -> str:
        """The row's table as text, and whose seat the learner's is."""
        return f"the learner has seat {self.seat[row]}\n{super().draw(row)}"

    def scene(self, row: int) -> Scene:
        """The row's table as a scene; the learner's place comes first."""
        return draw_scene(self.engine.edition, self.engine.snapshot(row), int(self.seat[row]))

    def won(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Whether the learner has the highest score (ties included), bool (n,)."""
        best = winners(self.engine.state.score[rows])
        return np.asarray(best[np.arange(len(rows)), self.seat[rows]])

    # Copies -------------------------------------------------------------------------------------

    def determinise(self, rows: Rows, seeds: npt.NDArray[np.uint64]) -> None:
        """Keep what is public in these games and replace what is hidden.

        Hidden are the orders of tiles and lecterns to come, which agents were drawn to be the
        opponents, and what they will draw.
        """
        super().determinise(rows, seeds)
        self.luck[rows] = key(seeds, DETERMINISE_STREAM, 1)
        self._draw_opponents(rows)

    def _more(self) -> Arrays:
        agents = np.empty(len(self.roster), object)
        agents[:] = self.roster
        return {
            "agents": agents[self.who],
            "seat": self.seat.copy(),
            "luck": self.luck.copy(),
            "decision": self.decision.copy(),
            "value": self._value.copy(),
            "halted": self._halted.copy(),
        }

    def _set_more(self, more: Arrays) -> None:
        self.roster = [None]
        self._numbers = self._enter(self.opponents.agents)
        self.who = self._enter(more["agents"].flat).reshape(self.who.shape)
        self.seat = more["seat"].copy()
        self.luck = more["luck"].copy()
        self.decision = more["decision"].copy()
        self._value = more["value"].copy()
        self._halted = more["halted"].copy()

    # Arguments ----------------------------------------------------------------------------------

    def _checked_seat(self, seat: Any, *, named: bool) -> str | int:
        most = self.engine.num_players - 1
        if named and seat in ("rotate", "random"):
            return str(seat)
        whole = isinstance(seat, (int, np.integer)) and not isinstance(seat, bool)
        if not whole or not 0 <= seat <= most:
            names = "'rotate', 'random' or " if named else ""
            raise IncunabulaError(f"seat: expected {names}a seat in 0..{most}, got {seat!r}")
        return int(seat)
