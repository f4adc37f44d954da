"""The engines agree with the golden games, and a file that doesn't agree is told apart."""

import copy
import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from incunabula.envs.conform import conform
from incunabula.envs.errors import IncunabulaError

GOLDEN = sorted(Path(__file__).with_name("golden").glob("*.jsonl.gz"))
Game = dict[str, Any]


def read(path: Path) -> list[Game]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def write(path: Path, games: list[Game]) -> Path:
    path.write_text("".join(json.dumps(game) + "\n" for game in games), encoding="utf-8")
    return path


def first_game(name: str) -> Game:
    (path,) = (path for path in GOLDEN if path.name == name)
    return read(path)[0]


@pytest.fixture(scope="module")
def golden() -> Game:
    """One game of Bibliogamo's default edition, its first steps."""
    game = first_game("bibliogamo.jsonl.gz")
    return game | {"steps": game["steps"][:40]}


@pytest.fixture(scope="module")
def finished() -> Game:
    """One game of Scriptorium, to its end."""
    return first_game("scriptorium.jsonl.gz")


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_golden_games_agree(path: Path) -> None:
    games = read(path)
    agreement = conform(path)
    assert agreement.difference is None
    assert agreement.games == len(games)
    assert agreement.steps == sum(len(game["steps"]) for game in games)


def test_there_are_golden_games() -> None:
    assert [path.name for path in GOLDEN] == [
        *("bibliogamo-more.jsonl.gz", "bibliogamo.jsonl.gz"),
        *("scriptorium-more.jsonl.gz", "scriptorium.jsonl.gz"),
    ]


@pytest.mark.parametrize("field", ["time", "florins", "hand", "deck", "towers", "banned", "turn"])
def test_a_changed_field_is_found(golden: Game, tmp_path: Path, field: str) -> None:
    game = copy.deepcopy(golden)
    game["steps"][20]["state"][field] = "changed"
    difference = conform(write(tmp_path / "games.jsonl", [golden, game])).difference
    assert difference is not None
    assert (difference.game, difference.step, difference.field) == (1, 21, field)
    assert difference.expected == "changed"
    assert difference.found == golden["steps"][20]["state"][field]
    assert str(difference).startswith(f'game 1, step 21, {field}: expected "changed", found ')


def test_a_changed_reward_legal_set_action_or_start_is_found(golden: Game, tmp_path: Path) -> None:
    changes: list[tuple[Callable[[Game], Any], int, str]] = [
        (lambda game: game["steps"][5].update(reward=9), 6, "reward"),
        (lambda game: game["steps"][5]["legal"].pop(), 5, "legal"),
        (lambda game: game["steps"][5].update(action={"type": "pay", "card": 46}), 5, "action"),
        (lambda game: game["initial"].update(librarian=77), 0, "librarian"),
        (lambda game: game.update(seed=12345), 0, "librarian"),
    ]
    for change, step, field in changes:
        game = copy.deepcopy(golden)
        change(game)
        difference = conform(write(tmp_path / "games.jsonl", [game])).difference
        assert difference is not None
        assert difference.step == step
        if "seed" not in field and game["seed"] == golden["seed"]:
            assert difference.field == field


@pytest.mark.parametrize(
    ("change", "step", "field", "expected"),
    [
        (lambda game: game["steps"][9]["rewards"].__setitem__(1, 5), 10, "rewards[1]", 5),
        (lambda game: game["steps"][9]["margins"].__setitem__(0, 7), 10, "margins[0]", 7),
        (lambda game: game["steps"][9].update(margins=[0]), 10, "margins", [0]),
        (lambda game: game["steps"][9]["state"].update(quill_next=9), 10, "quill_next", 9),
        (
            lambda game: game["steps"][9]["state"]["players"][1]["inks"].update(red=99),
            10,
            "players[1].inks.red",
            99,
        ),
        (lambda game: game["steps"][9]["state"].update(bag=[]), 10, "bag", []),
        (lambda game: game["initial"]["lecterns"][2].update(owner=1), 0, "lecterns[2].owner", 1),
        (lambda game: game.update(winners=[1]), 205, "winners[0]", 1),
        (lambda game: game.update(winners=[0, 1]), 205, "winners", [0, 1]),
        (lambda game: game.update(outcome=[0.5, -0.5]), 205, "outcome[0]", 0.5),
        (lambda game: game["steps"].pop(), 204, "winners", [0]),
        (lambda game: game["initial"]["players"][0].pop("inks"), 0, "players[0]", ANY),
    ],
)
def test_a_change_to_a_game_of_scriptorium_is_found(
    finished: Game,
    tmp_path: Path,
    change: Callable[[Game], Any],
    step: int,
    field: str,
    expected: Any,
) -> None:
    game = copy.deepcopy(finished)
    change(game)
    difference = conform(write(tmp_path / "games.jsonl", [game])).difference
    assert difference is not None
    assert (difference.step, difference.field, difference.expected) == (step, field, expected)


def test_what_a_game_of_scriptorium_may_leave_out(finished: Game, tmp_path: Path) -> None:
    game = copy.deepcopy(finished)
    game["outcome"] = [each + 1e-12 for each in game["outcome"]]
    for step in game["steps"]:
        step.pop("legal", None)
    part = {name: game[name] for name in game if name not in ("winners", "outcome")}
    part["steps"] = game["steps"][:30]
    agreement = conform(write(tmp_path / "games.jsonl", [game, part]))
    assert (agreement.games, agreement.steps, agreement.difference) == (2, 235, None)


def test_games_of_both_games_and_all_players_may_stand_in_one_file(
    golden: Game, tmp_path: Path
) -> None:
    games = [golden, *read(GOLDEN[-1])]
    agreement = conform(write(tmp_path / "games.jsonl", games))
    assert agreement.difference is None
    assert agreement.games == 7


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda game: game | {"players": 5}, "line 1: players: expected a whole number in 0..4"),
        (lambda game: game | {"players": 1}, "line 1: num_players: this edition is for 2, 3, 4"),
        (lambda game: game | {"players": True}, "players: expected a whole number"),
        (lambda game: without(game, "players"), "field 'players' is missing"),
        (lambda game: game | {"tape": {"bag": []}}, "line 1: tape: expected a mapping with bag"),
        (lambda game: without(game, "steps", 2, "state", "pot"), "field 'pot' is missing"),
        (lambda game: without(game, "seed"), "field 'seed' is missing"),
        (lambda game: game | {"seed": None}, "seed: expected a whole number"),
    ],
)
def test_a_malformed_game_of_scriptorium(
    finished: Game, tmp_path: Path, change: Callable[[Game], Game], said: str
) -> None:
    with pytest.raises(IncunabulaError, match=said):
        conform(write(tmp_path / "games.jsonl", [change(finished)]))


def test_the_legal_set_may_be_left_out_and_comes_in_any_order(golden: Game, tmp_path: Path) -> None:
    game = copy.deepcopy(golden)
    for step in game["steps"]:
        step["legal"].reverse()
    del game["steps"][3]["legal"]
    assert conform(write(tmp_path / "games.jsonl", [game])).difference is None


def without(game: Game, *path: Any) -> Game:
    game = copy.deepcopy(game)
    holder: Any = game
    for key in path[:-1]:
        holder = holder[key]
    del holder[path[-1]]
    return game


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "holds no game; expected recorded games, one a line"),
        (b"\n \n", "holds no game; expected recorded games, one a line"),
        (b"{", "line 1: isn't JSON, or is cut off"),
        (b"\n{", "line 2: isn't JSON, or is cut off"),
        (b"[1]\n", "line 1: expected a JSON object, a game, got a list"),
        (b"{}\n", "edition_sha256: None is none of the shipped editions"),
        (b"\xff", r"line 1: isn't UTF-8 text \(byte 0\)"),
        (b'{"seed": NaN}', "line 1: isn't JSON, or is cut off: NaN is no number"),
        (b'{"seed": 1' + b"0" * 5000 + b"}", "line 1: holds a whole number of thousands of digits"),
        (b'{"seed": 1, "seed": 2}', "line 1: the field 'seed' stands twice"),
        (b"\n" * 70_000, "line 65537: blank lines of more than 65,536 bytes; expected recorded"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_file_that_is_no_games(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(content)
    with pytest.raises(IncunabulaError, match=f"^{re.escape(str(path))}(, |: ).*{said}"):
        conform(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda game: game | {"seed": -1}, "line 1: seed: expected a whole number"),
        (lambda game: game | {"seed": 1.5}, "seed: expected a whole number"),
        (lambda game: game | {"players": 2}, "players: expected no such field in a game of bib"),
        (lambda game: game | {"prestige": "x"}, "prestige: expected a whole number"),
        (lambda game: game | {"steps": 3}, "line 1: malformed game"),
        (lambda game: game | {"tape": {"shuffles": 3}}, "line 1: tape"),
        (lambda game: without(game, "initial"), "field 'initial' is missing"),
        (lambda game: without(game, "steps", 2, "action"), "field 'action' is missing"),
        (lambda game: without(game, "steps", 2, "state", "supply"), "field 'supply' is missing"),
    ],
)
def test_a_malformed_game(
    golden: Game, tmp_path: Path, change: Callable[[Game], Game], said: str
) -> None:
    with pytest.raises(IncunabulaError, match=said):
        conform(write(tmp_path / "games.jsonl", [change(golden)]))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(IncunabulaError, match="can't be read"):
        conform(tmp_path / "missing.jsonl")
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(GOLDEN[0].read_bytes()[:5000])
    with pytest.raises(IncunabulaError, match="can't be read"):
        conform(cut)


def test_the_edition_can_be_given(golden: Game, tmp_path: Path) -> None:
    games = [golden | {"edition_sha256": "of a file elsewhere"}]
    path = write(tmp_path / "games.jsonl", games)
    assert conform(path, "bibliogamo").difference is None
    with pytest.raises(IncunabulaError, match="none of the shipped editions"):
        conform(path)
    with pytest.raises(IncunabulaError, match="field 'players' is missing"):
        conform(path, "scriptorium")
