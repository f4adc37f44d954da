"""A game in progress: moves of persons and agents, undo, hints, saving and loading."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from incunabula.agents.agent import Agent, RandomAgent, View
from incunabula.agents.baselines import make_greedy
from incunabula.envs.errors import IllegalActionError, IncunabulaError
from incunabula.envs.lines import MAX_LINE
from incunabula.envs.playback import verify
from incunabula.envs.replay import read_replays, write_replays
from incunabula.training.play.saves import Saves, replay_from_file, replay_from_text
from incunabula.training.play.session import ROW, Session, StaleError
from incunabula.training.play.table import Table, set_table
from tests.tables import SEED, legal, play_on, seated, uncompiled

__all__ = ["uncompiled"]


def position(session: Session) -> str:
    """All that is known of a game's present position but its numbers."""
    frames = session.moment.frames
    return json.dumps([session.engine.snapshot(0), frames[-1], len(frames), session.actions])


# Moves ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["bibliogamo", "scriptorium"])
def test_a_game_is_played_to_its_end(game: str) -> None:
    session = seated(game)
    play_on(session)
    last = session.moment.frames[-1]
    assert session.over
    assert (last["to_move"], last["legal"]) == (None, [])
    assert tuple(last["scores"]) == session.scores
    assert len(session.moment.frames) == len(session.actions) + 1
    assert session.moment.facts["deal"] == "seed 7"
    verify([session.replay])


def test_each_position_says_what_is_asked() -> None:
    found = set()
    for game in ("bibliogamo", "scriptorium"):
        session = seated(game)
        while not session.over:
            greedy = game == "bibliogamo"  # who sells books
            session.act(session.hint("greedy")["action"] if greedy else legal(session)[0])
        for frame in session.moment.frames:
            assert bool(frame["asked"]) == (frame["to_move"] is not None)
            found.add((frame["heading"].split()[0], *frame["asked"].split()[:2]))
    assert {asked[1:] for asked in found if asked[0] == "turn"} == {
        (),
        ("stay,", "or"),
        ("sell", "the"),
        ("accept", "the"),
        ("hire", "artisans"),
        ("discard", "a"),
    }
    assert {asked[1:] for asked in found if asked[0] == "round"} == {
        (),
        ("take", "ink"),
        ("choose", "a"),
        ("take", "the"),
        ("place", "or"),
        ("discard", "what"),
    }


def test_only_persons_are_asked() -> None:
    session = seated("scriptorium", players=3, seat="1", against="random,random")
    assert session.table.names == ("random", "person", "random")
    while not session.over:
        assert session.to_move == 1
        session.act(legal(session)[0])
    assert {frame["done"]["seat"] for frame in session.moment.frames[1:]} == {0, 1, 2}


def test_an_illegal_action_is_explained_and_changes_nothing() -> None:
    session = seated("bibliogamo")
    before = position(session)
    illegal = next(a for a in range(session.engine.actions.n) if a not in legal(session))
    with pytest.raises(IllegalActionError) as error:
        session.act(illegal)
    assert (error.value.clause, error.value.reason) == session.engine.why_illegal(0, illegal)
    with pytest.raises(IncunabulaError, match="is not an action"):
        session.act(-1)
    for game in ("bibliogamo", "scriptorium"):
        with pytest.raises(IncunabulaError, match="is not an action") as huge:
            seated(game).act(10**4000)
        assert len(str(huge.value)) < 200
    assert position(session) == before


class Failing(Agent):
    """Fails after so many actions."""

    name = "failing"

    def __init__(self, good: int) -> None:
        self.left, self.random = good, RandomAgent(0)

    def act(self, view: View) -> npt.NDArray[np.intp]:
        self.left -= 1
        if self.left < 0:
            raise IncunabulaError("no idea")
        return self.random.act(view)


def test_an_agent_that_fails_leaves_the_game_as_it_was() -> None:
    usual = set_table("scriptorium", "scriptorium-tiny")
    session = Session(Table(usual.edition, (None, Failing(2), Failing(1))), SEED)
    session.act(legal(session)[0])
    before = position(session)
    session.table.agents[1].left = 1  # type: ignore[union-attr]
    with pytest.raises(IncunabulaError, match="no idea"):
        session.act(legal(session)[0])
    assert position(session) == before


def to_undone(session: Session) -> None:
    """Play until the last action can be taken back."""
    seed = 0
    while session.no_undo:
        if session.over:
            session.restart()
        play_on(session, 1, seed)
        seed += 1


def test_changes_name_the_position() -> None:
    session, numbers = seated("bibliogamo"), []
    to_undone(session)
    for change in (session.undo, session.restart, lambda: play_on(session, 1)):
        numbers.append(session.moment.number)
        change()
    numbers.append(session.moment.number)
    assert numbers == sorted(set(numbers))
    session.check_number(numbers[-1])
    for stale in (numbers[0], None, str(numbers[-1])):
        with pytest.raises(StaleError):
            session.check_number(stale)


# Undo -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["bibliogamo", "scriptorium"])
def test_a_game_that_is_over_stays_over(game: str) -> None:
    options: dict[str, Any] = {} if game == "bibliogamo" else {"players": 2, "seat": "all"}
    session = seated(game, **options)
    play_on(session)
    assert not session.moment.facts["undo"]
    with pytest.raises(IncunabulaError, match=r"^The game is over, and its deal is known\.$"):
        session.undo()
    assert session.over


@pytest.mark.parametrize("game", ["bibliogamo", "scriptorium"])
def test_undo_gives_back_exactly_what_was(game: str) -> None:
    session, undone = seated(game), 0
    straight = seated(game)
    while not session.over:
        before, action = position(session), legal(session)[0]
        session.act(action)
        straight.act(action)
        if not session.no_undo:
            session.undo()
            undone += 1
            assert position(session) == before
            assert np.array_equal(session.engine.legal(), session.engine.mask)
            session.act(action)
    assert undone
    assert position(session) == position(straight)


def test_what_was_revealed_is_not_taken_back() -> None:
    session, seen = seated("bibliogamo"), set()
    while not session.over:
        cards = set(session.engine.snapshot(0)["deck"])
        play_on(session, 1, len(session.actions))
        if set(session.engine.snapshot(0)["deck"]) != cards:
            seen.add(session.moment.frames[-1]["done"]["label"])
            assert "revealed" in session.no_undo
            with pytest.raises(IncunabulaError, match="revealed"):
                session.undo()
    assert seen


def test_undo_stops_at_the_moves_of_agents_but_not_of_persons() -> None:
    alone, together = seated("scriptorium"), seated("scriptorium", seat="all")
    for session in (alone, together):
        with pytest.raises(IncunabulaError, match="Nothing"):
            session.undo()
        session.act(legal(session)[0])
    with pytest.raises(IncunabulaError, match="Another seat"):
        alone.undo()
    together.undo()
    assert together.actions == []


# Hints and reasons ------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["bibliogamo", "scriptorium"])
def test_a_hint_is_what_the_agent_does(game: str) -> None:
    session = seated(game)
    before = position(session)
    hint = session.hint("greedy")
    assert hint["action"] in legal(session)
    view = View(session.engine, ROW, np.zeros(1, np.uint64), np.zeros(1, np.int64))
    assert hint["action"] == make_greedy(game).act(view)[0]
    assert position(session) == before
    with pytest.raises(IncunabulaError, match="hint: expected an agent of greedy"):
        session.hint("../somewhere")
    play_on(session)
    with pytest.raises(IncunabulaError, match="nobody is to move"):
        session.hint("greedy")


def test_every_thing_that_can_be_used_some_time_says_why_not_now() -> None:
    session = seated("bibliogamo", edition="bibliogamo")
    open_marks = {each["mark"] for each in session.moment.frames[-1]["legal"]}
    reasons = session.why("hand:0")
    assert "hand:0" in open_marks or reasons
    for clause, reason, count in reasons:
        assert clause
        assert reason
        assert count >= 1
    assert session.why("no such thing") == []


# Hidden information -----------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["bibliogamo", "scriptorium"])
def test_a_game_in_progress_tells_nothing_hidden(game: str) -> None:
    secret = 13827391182374917234
    session = seated(game, {"seed": str(secret)}, edition=game)
    play_on(session, 6)
    shown = json.dumps([session.moment, session.hint("greedy")])
    assert str(secret) not in shown
    assert session.moment.facts["deal"] == ""
    before = session.moment.frames[-1]
    session.engine.determinise(ROW, np.array([99], np.uint64))
    session._add_frame(before["done"])
    assert session._frames[-1] == before


# Files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"game": "bibliogamo"}, {"game": "scriptorium", "players": 3}])
def test_a_saved_game_goes_on_where_it_stood(options: dict[str, Any], tmp_path: Path) -> None:
    session, other = seated(**options), seated(**options, deal={"seed": "8"})
    play_on(session, 4)
    saves = Saves(tmp_path / "saved")
    file = saves.save(session)
    assert saves.save(session) == file
    number = other.moment.number
    other.load(replay_from_file(file))
    assert position(other) == position(session)
    assert other.moment.number > number
    assert min(other.moment.serials) > 1
    play_on(session)
    play_on(other)
    assert position(other) == position(session)
    assert saves.save(session) == file
    (replay,) = read_replays(file)
    assert replay == dataclasses.replace(session.replay, where=replay.where)
    other.restart()
    assert saves.save(other) != file


def test_games_are_recorded_when_they_end(tmp_path: Path) -> None:
    session, saves = seated("bibliogamo"), Saves(tmp_path, record=True)
    saves.finished(session)
    assert list(tmp_path.iterdir()) == []
    play_on(session)
    saves.finished(session)
    (file,) = tmp_path.iterdir()
    assert replay_from_file(file).scores == session.scores


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"edition_sha256": "0" * 64}, "edition_sha256"),
        ({"game": "scriptorium"}, "is a game of scriptorium, not of bibliogamo"),
        (
            {"game": "scriptorium", "players": ("a",) * 3, "scores": (0,) * 3},
            "is a game of scriptorium, not of bibliogamo",
        ),
        ({"players": ("a", "b"), "scores": (0, 0)}, "is a game of 2; here 1 play"),
        ({"scores": (99,)}, r"scores\[0\]: the actions score"),
        ({"actions": (1,)}, r"actions\[0\]: .*illegal"),
        ({"actions": (4000,)}, r"actions\[0\]: .*is not an action"),
        ({"deal": {"tape": {}}}, "tape"),
        ({"finished": True}, "the game isn't over"),
    ],
)
def test_a_game_that_does_not_fit_is_refused(
    changed: dict[str, Any], said: str, tmp_path: Path
) -> None:
    session = seated("bibliogamo")
    play_on(session, 4)
    before = position(session)
    with pytest.raises(IncunabulaError, match=said):
        session.load(dataclasses.replace(session.replay, **changed))
    assert position(session) == before


def test_a_file_holds_one_game(tmp_path: Path) -> None:
    session = seated("bibliogamo")
    write_replays(tmp_path / "two.jsonl", [session.replay] * 2)
    text = (tmp_path / "two.jsonl").read_text()
    with pytest.raises(IncunabulaError, match="holds 2 games"):
        replay_from_file(tmp_path / "two.jsonl")
    with pytest.raises(IncunabulaError, match="holds 2 games"):
        replay_from_text(text, "two.jsonl")
    assert replay_from_text(text.split("\n")[0], "one.jsonl").actions == ()
    for bad in ("", "{", "[]", "[" * 100_000, "\x00", '{"format": 1}'):
        with pytest.raises(IncunabulaError):
            replay_from_text(bad, "bad.jsonl")


def _errors(read: Callable[[], object]) -> str:
    with pytest.raises(IncunabulaError) as error:
        read()
    return str(error.value)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda line: line[:-30], "line 1: isn't JSON, or is cut off: "),
        (
            lambda line: f"\n\n{line}\n[]\n",
            "line 4: expected a JSON object, a game, got an empty list",
        ),
        (lambda line: line.replace('"format"', '"format": 1, "format"'), "'format' stands twice"),
        (lambda line: line.replace("[0]", "[NaN]"), "line 1: isn't JSON"),
        (lambda line: line.replace("[0]", f"[{'9' * 5000}]"), "thousands of digits"),
        (lambda line: line.replace("[0]", "[1]"), "line 1: sha256: isn't that of the rest"),
        (lambda line: line.replace('"7"', '"7", "seed": "8"'), "'seed' stands twice"),
        (lambda line: f"{line}{' ' * MAX_LINE}", "line 1: is longer than"),
        (lambda line: "\n" * 70_000, "blank lines of more than 65,536 bytes"),
        (lambda line: "", "holds no game"),
        (lambda line: " \n", "holds no game"),
        (lambda line: line + "\n" + line, "holds 2 games"),
    ],
)
def test_a_text_is_read_as_strictly_as_a_file(
    damage: Callable[[str], str], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "game.jsonl"
    write_replays(file, [seated("bibliogamo").replay])
    text = damage(file.read_text().strip())
    file.write_text(text)
    told = _errors(lambda: replay_from_text(text, str(file)))
    assert told == _errors(lambda: replay_from_file(file))
    assert said in told


def test_a_byte_order_mark_before_a_text_is_passed_over(tmp_path: Path) -> None:
    session = seated("bibliogamo")
    write_replays(tmp_path / "game.jsonl", [session.replay])
    text = (tmp_path / "game.jsonl").read_text()
    assert replay_from_text(f"\ufeff{text}", "game.jsonl").deal == session.deal


# Tables -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"game": "chess"}, "there is no game 'chess'"),
        ({"game": "bibliogamo", "edition": "scriptorium"}, "only 'bibliogamo' editions"),
        ({"game": "bibliogamo", "players": 2}, "players: bibliogamo is played alone"),
        ({"game": "bibliogamo", "seat": "1"}, "seat: bibliogamo is played alone"),
        ({"game": "bibliogamo", "against": "greedy"}, "against: bibliogamo is played alone"),
        ({"game": "bibliogamo", "hint": "greddy"}, "did you mean 'greedy'"),
        ({"game": "scriptorium", "players": 5}, "for 2, 3, 4 players, got 5"),
        ({"game": "scriptorium", "seat": "2"}, "seats in 0..1"),
        ({"game": "scriptorium", "seat": "0,,1"}, "none empty"),
        ({"game": "scriptorium", "seat": "all", "against": "greedy"}, "persons have all"),
        (
            {"game": "scriptorium", "against": "greedy,random"},
            "expected one agent, for seat 1, got 2",
        ),
    ],
)
def test_a_table_that_cannot_be_set_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(IncunabulaError, match=said):
        set_table(**options)
