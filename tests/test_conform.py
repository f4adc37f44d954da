"""The engine agrees with the golden games, and a file that doesn't agree is told apart."""

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incunabula.envs.conform import conform
from incunabula.envs.errors import IncunabulaError

GOLDEN = sorted(Path(__file__).with_name("golden").glob("bibliogamo*.jsonl.gz"))
Game = dict[str, Any]


def read(path: Path) -> list[Game]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def write(path: Path, games: list[Game]) -> Path:
    path.write_text("".join(json.dumps(game) + "\n" for game in games), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def golden() -> Game:
    """One game of the default edition, its first steps."""
    (path,) = (path for path in GOLDEN if path.name == "bibliogamo.jsonl.gz")
    game = read(path)[0]
    return game | {"steps": game["steps"][:40]}


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_golden_games_agree(path: Path) -> None:
    games = read(path)
    agreement = conform(path)
    assert agreement.difference is None
    assert agreement.games == len(games)
    assert agreement.steps == sum(len(game["steps"]) for game in games)


def test_there_are_golden_games() -> None:
    assert len(GOLDEN) == 2


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
        ("", "holds no game"),
        ("{", "line 1: not JSON"),
        ("[1]\n", "line 1: expected a JSON object"),
        ("{}\n", "edition_sha256: None is none of the shipped editions"),
    ],
)
def test_a_file_that_is_no_games(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(content)
    with pytest.raises(IncunabulaError, match=said):
        conform(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda game: game | {"seed": -1}, "line 1: seed: expected a whole number"),
        (lambda game: game | {"seed": 1.5}, "seed: expected a whole number"),
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
