"""`incunabula replay`: what it prints, steps through and judges; frames."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incunabula.agents.exact.optimal import OptimalAgent
from incunabula.agents.exact.solver import solve
from incunabula.agents.hindsight.certificate import certificate
from incunabula.agents.hindsight.search import best_line
from incunabula.agents.search.budget import Budget
from incunabula.envs.bibliogamo.edition import load_edition
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.playback import new_engine, positions
from incunabula.envs.replay import write_replays
from incunabula.training.replay.advice import Adviser
from incunabula.training.replay.frames import frame_of, game_frames
from incunabula.training.replay.labels import action_label
from incunabula.training.replay.load import load_games
from incunabula.training.replay.terminal import step_through
from tests.backends import as_python, needs_numba
from tests.commands import Cli, cli
from tests.drawings import plain
from tests.replays import ROW, loaded, random_replay
from tests.small_editions import SMALL
from tests.test_search_tree import make_policy

__all__ = ["as_python", "cli"]

TINY, TABLE = "bibliogamo-tiny", "scriptorium-tiny"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.jsonl"
    write_replays(path, [random_replay(TABLE, 3)])
    return path


# The command --------------------------------------------------------------------------------------


def test_a_game_is_listed_move_by_move(cli: Cli, table: Path) -> None:
    outcome = cli("replay", table)
    assert (outcome.status, outcome.err) == (0, "")
    replay = random_replay(TABLE, 3)
    lines = outcome.out.splitlines()
    assert len(lines) == len(replay.actions) + 1
    assert lines[0].startswith("   1  round 1  seat 0 (player 0): take ")
    scored = ", ".join(f"player {k} {score}" for k, score in enumerate(replay.scores))
    assert lines[-1] == f"Verified: scriptorium, edition {TABLE}, seed 7: {scored}"


def test_as_json(cli: Cli, table: Path) -> None:
    answer = json.loads(cli("replay", table, "--json").out)
    replay = random_replay(TABLE, 3)
    assert answer["scores"] == list(replay.scores)
    assert [move["action"] for move in answer["moves"]] == list(replay.actions)
    assert answer["moves"][-1]["scores"] == list(replay.scores)
    assert set(answer["moves"][0]) == {"heading", "action", "label", "seat", "scores"}


def test_a_file_of_many_games_is_summed_up(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl.gz"
    replays = [random_replay(TINY, deal={"seed": str(k)}) for k in range(23)]
    write_replays(path, replays)
    out = cli("replay", path).out
    mean = sum(replay.scores[0] for replay in replays) / 23
    assert "23 games verified: every action is legal, every score is right" in out
    assert f"Mean scores: player 0 {mean:.2f}" in out
    assert "and 3 more" in out
    assert len(json.loads(cli("replay", path, "--json").out)["games"]) == 23
    third = json.loads(cli("replay", path, "--game", 3, "--json").out)
    assert (third["number"], third["deal"]) == (3, "seed 2")
    assert cli("replay", path, "--game", 24).err.startswith(
        f"incunabula: game: {path} holds games 1 to 23, got 24"
    )
    assert "choose one by --game" in cli("replay", path, "--agent", "random").err


def test_mistakes_are_told_in_a_line(cli: Cli, tmp_path: Path, table: Path) -> None:
    for arguments, said in (
        ((tmp_path / "none",), "can't be read: No such file or directory"),
        (("",), "file: expected a file of replays"),
        ((table, "--edition", TINY), "edition_sha256: was played with edition"),
        ((table, "--game", 0), "game: "),
        ((table, "--agent", "optimal"), "exact values are for bibliogamo"),
        ((table, "--agent", "nobody"), "there is no agent 'nobody'"),
        ((table, "--simulations", 4), "simulations: is an agent's; name it by --agent"),
        ((table, "--agent", "greedy", "--simulations", 4), "none of the agents greedy searches"),
    ):
        outcome = cli("replay", *arguments)
        assert (outcome.status, outcome.out) == (2, "")
        assert said in outcome.err
        assert outcome.err.count("\n") == 1


def test_a_page(cli: Cli, table: Path, tmp_path: Path) -> None:
    pytest.importorskip("incunabula.training.play.html")
    page = tmp_path / "game.html"
    outcome = cli("replay", table, "--html", page)
    assert outcome.status == 0, outcome.err
    assert f"Page: {page}" in outcome.out
    text = page.read_text("utf-8")
    assert random_replay(TABLE, 3).edition_sha256 in text
    assert "can't be written" in cli("replay", table, "--html", tmp_path / "no" / "a.html").err


def test_places_where_no_page_can_be(cli: Cli, table: Path, tmp_path: Path) -> None:
    content, link = table.read_bytes(), tmp_path / "link"
    link.symlink_to(table)
    for place, said in (
        ("", "html: the file's name is empty"),
        (".", ".: can't be written: it must be a regular file"),
        ("/", "/: can't be written: it must be a regular file"),
        ("a\0b", "can't be written: embedded null byte"),
        (table, "is the file of replays itself"),
        (link, "is the file of replays itself"),
    ):
        outcome = cli("replay", table, "--html", place)
        assert (outcome.status, outcome.out) == (2, "")
        assert said in outcome.err
        assert outcome.err.count("\n") == 1
    assert table.read_bytes() == content


def test_the_edition_has_its_own_name(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    write_replays(path, [replace(random_replay(TINY), edition="the best")])
    assert f"edition {TINY}, seed 7" in cli("replay", path).out
    assert json.loads(cli("replay", path, "--json").out)["edition"] == TINY


def test_lines_found_in_hindsight_are_games_too(tmp_path: Path) -> None:
    edition, path = load_edition(TINY), tmp_path / "lines.jsonl"
    lines = [best_line(edition, seed, width=4) for seed in (3, 4)]
    path.write_text("".join(json.dumps(certificate(line, edition)) + "\n" for line in lines))
    found = load_games(path)
    assert [game.scores for game in found] == [(line.score,) for line in lines]
    assert {game.players for game in found} == {("hindsight",)}
    form = certificate(lines[0], edition) | {"score": 99}
    path.write_text(json.dumps(form))
    with pytest.raises(IncunabulaError, match=r"lines\.jsonl, line 1: score: the line scores"):
        load_games(path)


# Stepping through ---------------------------------------------------------------------------------


def stepped(*answers: str) -> list[str]:
    replay = random_replay(TINY)
    game = game_frames(replay, loaded(TINY), drawn=False)
    shown: list[str] = []
    given = iter(answers)

    def ask(_: str) -> str:
        try:
            return next(given)
        except StopIteration:
            raise EOFError from None

    boards = [f"board {k}" for k in range(len(game["frames"]))]
    step_through("the game", game, boards, ask, lambda text: shown.append(str(text)))
    return shown


def test_steps() -> None:
    last = len(random_replay(TINY).actions)

    def board(text: str) -> str:
        return next((line for line in text.splitlines() if line.startswith("board ")), text)

    shown = [board(text) for text in stepped("", "n", "b", "4", str(last), "", "0", "b", "x", "q")]
    assert shown == [
        *("the game", "board 0", "board 1", "board 2", "board 1", "board 4", f"board {last}"),
        *("The game ends here.", "board 0", "The game begins here."),
        f"'x': expected Enter, b, a number in 0..{last}, or q",
    ]
    assert stepped()[-1] == ""
    assert "expected Enter" in stepped("99999999999999999999")[2]
    assert board(stepped("0000000000005")[2]) == "board 5"
    assert "scores: player 0 0" in stepped(str(last))[2]
    assert "next: " in stepped()[1]


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person at the terminal, who looks at two positions."""

    class Keyboard:
        def __init__(self) -> None:
            self.lines: Iterator[str] = iter(["\n", "q\n"])

        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            return next(self.lines)

    monkeypatch.setattr(sys, "stdin", Keyboard())
    monkeypatch.setattr("builtins.input", lambda prompt: sys.stdin.readline().strip())


@pytest.mark.usefixtures("keyboard")
def test_it_steps_on_a_terminal(cli: Cli, table: Path) -> None:
    out = cli("replay", table).out
    assert "Position 0 · round 1" in out
    assert "Position 1 · round 1" in out
    assert "Position 2" not in out
    assert "╭─ Scriptorium ─" in out
    assert "\x1b" not in out  # stdout is a file


@pytest.mark.usefixtures("keyboard")
@pytest.mark.parametrize(
    ("no_color", "term", "coloured"),
    [("", "xterm", True), ("1", "xterm", False), ("", "dumb", False)],
)
def test_boards_have_colours_where_stdout_is_a_terminal(
    no_color: str,
    term: str,
    coloured: bool,
    cli: Cli,
    table: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    out = cli("replay", table).out
    assert ("\x1b[" in out) == coloured
    assert "╭─ Scriptorium ─" in plain(out)


# Frames -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "players"), [(TINY, 1), (TABLE, 2), (TABLE, 4)])
def test_frames_are_the_positions(name: str, players: int) -> None:
    replay = random_replay(name, players)
    game = game_frames(replay, loaded(name))
    frames = game["frames"]
    assert json.loads(json.dumps(game, allow_nan=False)) == game
    assert {key: value for key, value in game.items() if key != "frames"} == {
        "game": replay.game,
        "edition": name,
        "edition_sha256": replay.edition_sha256,
        "incunabula": replay.incunabula,
        "players": list(replay.players),
        "deal": "seed 7",
    }
    assert len(frames) == len(replay.actions) + 1
    assert frames[0]["done"] is None
    assert [frame["done"]["action"] for frame in frames[1:]] == list(replay.actions)
    assert frames[-1]["scores"] == list(replay.scores)
    assert (frames[-1]["to_move"], frames[-1]["legal"]) == (None, [])
    for before, after in pairwise(frames):
        legal = {each["action"]: each["label"] for each in before["legal"]}
        assert len(set(legal.values())) == len(legal)
        assert legal[after["done"]["action"]] == after["done"]["label"]
        assert after["done"]["seat"] == before["to_move"]
        assert before["note"] == {}
        marks = {shape.get("mark", "") for shape in before["scene"]["shapes"]}
        assert {each["mark"] for each in before["legal"]} <= marks | {""}


def test_notes_of_a_file_are_shown() -> None:
    replay = random_replay(TINY)
    notes = tuple({"value": float(k), "luck": -k} for k in range(len(replay.actions)))
    frames = game_frames(replace(replay, notes=notes), loaded(TINY), drawn=False)["frames"]
    assert frames[0]["note"] == {"value": 0.0}
    assert frames[2]["note"] == {"value": 2.0, "luck": -1}
    assert frames[-1]["note"] == {"luck": 1 - len(replay.actions)}


@pytest.mark.parametrize("name", ["bibliogamo", "bibliogamo-small", "scriptorium"])
def test_labels_tell_legal_actions_apart(name: str) -> None:
    players = 3 if name == "scriptorium" else 1
    kinds = set()
    for k, engine in enumerate(positions(random_replay(name, players), loaded(name))):
        legal = np.flatnonzero(engine.mask[0])
        labels = [action_label(engine, 0, int(action)) for action in legal]
        assert len(set(labels)) == len(labels)
        assert all(label.isprintable() and "_" not in label for label in labels)
        kinds |= {engine.action_to_json(0, int(action))["type"] for action in legal}
        if k > 120:
            break
    assert len(kinds) > 3


def test_a_label_shows_what_the_card_holds() -> None:
    engine, deals = new_engine(loaded(TINY), 1, 1)
    deals.deal(ROW, np.array([3], np.uint64), deals.read({}))
    frame = frame_of(engine, drawn=False)
    assert frame["heading"] == "turn 1 · day 1 of 4"
    assert (frame["scene"], frame["to_move"], frame["done"]) == (None, 0, None)
    labels = [each["label"] for each in frame["legal"]]
    assert "end the turn" in labels
    hires = [label for label in labels if label.startswith("hire with card ")]
    cards = load_edition(TINY).cards
    for label in hires:
        card = cards[int(label.split()[3])]
        held = ", ".join(f"{n} {kind}" for kind, n in card.artisans.items() if n)
        assert f"({held}) for " in label
    assert hires


# Advice -------------------------------------------------------------------------------------------


@needs_numba
@pytest.mark.parametrize("name", ["waiting", "reshuffles", "bans and lifts"])
def test_exact_regret_and_luck_add_up_to_the_score(name: str) -> None:
    """What could be expected at first, with all luck, less all regret, is what came of it."""
    edition = load_edition(SMALL[name])
    adviser = Adviser("random", edition)
    adviser.agent = OptimalAgent(edition, solve(edition))
    lost = 0.0
    for seed in range(4):
        replay = random_replay(edition, deal={"seed": str(seed)})
        frames = game_frames(replay, edition, adviser, drawn=False)["frames"]
        notes = [frame["note"] for frame in frames]
        assert all(note.get("regret", 0) >= 0 for note in notes)
        total = notes[0]["value"] + sum(note.get("luck", 0) for note in notes)
        total -= sum(note.get("regret", 0) for note in notes)
        assert total == pytest.approx(replay.scores[0], abs=1e-2)
        lost += sum(note.get("regret", 0) for note in notes)
        for before, after in pairwise(frames):
            worth = {each["action"]: each["value"] for each in before["legal"]}
            best = max(worth.values())
            assert before["note"]["value"] == best
            regret = best - worth[after["done"]["action"]]
            assert after["note"]["regret"] == pytest.approx(regret, abs=1e-3)
    assert lost > 0


def test_a_policy_gives_probabilities_and_a_value() -> None:
    edition = loaded("bibliogamo")
    replay = random_replay("bibliogamo", steps=12)
    frames = game_frames(replay, edition, Adviser("ppo", edition), drawn=False)["frames"]
    for frame in frames:
        assert sum(each["probability"] for each in frame["legal"]) == pytest.approx(1, abs=0.01)
    assert any("luck" in frame["note"] for frame in frames)
    assert all("value" not in each for frame in frames for each in frame["legal"])


def test_a_policy_of_ones_own_gives_them_too(tmp_path: Path) -> None:
    """Of a table: what the seat to move can expect; none where the unit isn't known."""
    edition, frames = loaded(TABLE), {}
    for name, training in (("known", {"value": {"scale": 5.0}}), ("unknown", {"config": {}})):
        adviser = Adviser(str(make_policy(tmp_path / name, edition.game, **training)), edition)
        game = game_frames(random_replay(TABLE, 2, steps=3), edition, adviser, drawn=False)
        frames[name] = game["frames"]
    assert all("value" in frame["note"] for frame in frames["known"])
    assert all(frame["note"] == {} for frame in frames["unknown"])
    for one, other in zip(frames["known"], frames["unknown"], strict=True):
        assert one["legal"] == other["legal"]
        assert sum(each["probability"] for each in one["legal"]) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("spec", "name", "players"),
    [("rollouts:random", TINY, 1), ("rollouts:random", TABLE, 2), ("search", TABLE, 2)],
)
def test_a_search_gives_the_values_of_what_it_looked_at(
    spec: str, name: str, players: int, tmp_path: Path
) -> None:
    edition = loaded(name)
    if spec == "search":
        spec = f"search:{make_policy(tmp_path / 'policy', edition.game)}"
    adviser = Adviser(spec, edition, budget=Budget(simulations=8))
    replay = random_replay(name, players, steps=4)
    frames = game_frames(replay, edition, adviser, drawn=False)["frames"]
    assert frames == game_frames(replay, edition, adviser, drawn=False)["frames"]
    for frame in frames:
        values: list[Any] = [each["value"] for each in frame["legal"] if "value" in each]
        assert len(values) > 1 or len(frame["legal"]) == 1
        assert sum(each["probability"] for each in frame["legal"]) == pytest.approx(1, abs=0.01)
    noted = [frame["note"]["regret"] for frame in frames if "regret" in frame["note"]]
    assert all(regret >= 0 for regret in noted)
    assert noted or spec != "rollouts:random"


def test_agents_that_tell_nothing_show_what_they_would_do() -> None:
    for spec, most in (("greedy", 1.0), ("random", 0.5)):
        adviser = Adviser(spec, loaded(TINY))
        game = game_frames(random_replay(TINY, steps=3), loaded(TINY), adviser, drawn=False)
        for frame in game["frames"]:
            shares = [each["probability"] for each in frame["legal"]]
            assert sum(shares) == pytest.approx(1, abs=0.01)
            assert max(shares) <= most or len(shares) == 1
