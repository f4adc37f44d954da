"""Editions of Scriptorium: what can be loaded, and that every fault is named with its field."""

import copy
import hashlib
import json
import pickle
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from incunabula.envs.scriptorium.edition import (
    Edition,
    EditionError,
    edition_by_hash,
    load_edition,
    shipped_editions,
)
from incunabula.envs.scriptorium.edition_checks import (
    INKS,
    MAX_BAG,
    MAX_ROUNDS,
    SPACES,
)
from incunabula.envs.scriptorium.edition_summary import summarise

EDITIONS = Path(str(files("incunabula.configs"))) / "editions"
NAMES = ["scriptorium", "scriptorium-small", "scriptorium-tiny"]
PLAIN = {name: yaml.safe_load((EDITIONS / f"{name}.yaml").read_text("utf-8")) for name in NAMES}

Data = dict[str, Any]


def plain(name: str = "scriptorium") -> Data:
    """A fresh copy of a shipped edition as plain values."""
    return copy.deepcopy(PLAIN[name])


def problems_of(source: Any) -> dict[str, str]:
    """Field -> message of every fault that the loader reports."""
    with pytest.raises(EditionError) as caught:
        load_edition(source)
    for problem in caught.value.problems:
        assert f"{caught.value.source}: {problem}" in str(caught.value)
    return {problem.field: problem.message for problem in caught.value.problems}


# ---------------------------------------------------------------------------------------------
# What can be loaded


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_edition_loads_by_name_path_mapping_and_itself(name: str) -> None:
    edition = load_edition(name)
    path = EDITIONS / f"{name}.yaml"
    assert edition.name == name
    assert edition.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert edition == load_edition(path) == load_edition(str(path))
    assert load_edition(edition) is edition
    from_mapping = load_edition(plain(name), name=name)
    assert from_mapping.model_dump() == edition.model_dump()
    assert from_mapping.name == name


def test_the_models_hold_what_the_file_says() -> None:
    edition = load_edition("scriptorium")
    assert edition.rules.players == (2, 3, 4)
    assert edition.rules.lecterns_in_play == "players + 1"
    assert edition.inks == INKS
    assert edition.inks_per_round[3] == {"black": 6, "red": 3, "blue": 3, "green": 3, "gold": 3}
    assert edition.lecterns == (*INKS, "quill")
    assert sum(edition.spaces.values()) == 24
    assert edition.tiles[13].kind == "corner"
    assert edition.tiles[13].points == 4
    assert edition.tiles[13].copies == {2: 3, 3: 4, 4: 5}
    assert edition.tiles[13].cost == {"black": 1, "red": 1, "gold": 1}


def test_a_bag_lasts_as_many_rounds_as_it_fills_lecterns() -> None:
    # The comment in the file says so: 96, 128 and 160 tiles for 8 rounds.
    edition = load_edition("scriptorium")
    assert [(edition.bag_size(n), edition.rounds(n)) for n in (2, 3, 4)] == [
        (96, 8),
        (128, 8),
        (160, 8),
    ]
    # A round that runs short of tiles is a round.
    small = load_edition("scriptorium-small")
    assert [(small.bag_size(n), small.rounds(n)) for n in (2, 3)] == [(25, 3), (34, 3)]
    assert [load_edition("scriptorium-tiny").rounds(n) for n in (2, 3, 4)] == [2, 2, 2]


def test_shipped_editions_are_listed_with_their_hashes() -> None:
    shipped = shipped_editions()
    assert list(shipped) == NAMES
    for name, sha256 in shipped.items():
        assert edition_by_hash(sha256).name == name
    with pytest.raises(EditionError, match="no shipped edition has this SHA-256"):
        edition_by_hash("0" * 64)


def test_tiles_and_players_come_in_order_whatever_the_file_says() -> None:
    data = plain()
    data["tiles"].reverse()
    data["rules"]["players"] = [4, 2, 3]
    edition = load_edition(data)
    assert [tile.id for tile in edition.tiles] == list(range(31))
    assert edition.rules.players == (2, 3, 4)
    assert edition == load_edition(plain())


def test_numbers_of_players_may_be_text_as_in_json(tmp_path: Path) -> None:
    edition = load_edition("scriptorium-small")
    as_json = json.loads(edition.model_dump_json())
    assert list(as_json["inks_per_round"]) == ["2", "3"]
    assert load_edition(as_json).model_dump() == edition.model_dump()
    path = tmp_path / "small.yaml"
    path.write_text(json.dumps(as_json), "utf-8")
    assert load_edition(path).tiles[5].copies == {2: 0, 3: 3}


def test_an_edition_cannot_be_changed_and_survives_copies() -> None:
    edition = load_edition("scriptorium-tiny")
    with pytest.raises(ValidationError, match="frozen"):
        edition.rules.ink_limit = 5
    for twin in (pickle.loads(pickle.dumps(edition)), copy.deepcopy(edition)):
        assert twin == edition
        assert hash(twin) == hash(edition)
        assert (twin.name, twin.sha256) == (edition.name, edition.sha256)


def test_the_hash_of_a_mapping_is_that_of_its_canonical_json() -> None:
    edition = load_edition(plain("scriptorium-tiny"))
    canonical = json.dumps(plain("scriptorium-tiny"), sort_keys=True, separators=(",", ":"))
    assert edition.sha256 == hashlib.sha256(canonical.encode()).hexdigest()
    assert edition.name == "tiny-1"


def test_a_changed_copy_is_checked_and_does_not_keep_the_hash_of_the_file() -> None:
    edition = load_edition("scriptorium-tiny")
    rules = edition.rules
    richer = edition.model_copy(update={"rules": rules.model_copy(update={"help_tokens": 5})})
    assert load_edition(richer).sha256 != edition.sha256
    broken = edition.model_copy(update={"rules": rules.model_copy(update={"players": (2, 2)})})
    assert "rules.players[1]" in problems_of(broken)


def test_direct_construction_is_checked_too() -> None:
    data = plain("scriptorium-tiny")
    assert Edition.model_validate(data) == load_edition(data)
    del data["spaces"]["text"]
    with pytest.raises(ValidationError, match=r"spaces\.text: is missing"):
        Edition.model_validate(data)


def _only_players(data: Data, *players: int) -> None:
    data["rules"]["players"] = list(players)
    for entries in (data["inks_per_round"], *(tile["copies"] for tile in data["tiles"])):
        for number in set(entries) - set(players):
            del entries[number]


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["rules"].update(help_tokens=0, storage_limit=0, ink_limit=0),
        lambda d: d["rules"].update(achievement_points=0, token_points=0, quill_points=0),
        lambda d: d["rules"].update(tiles_per_lectern=1),
        lambda d: d["rules"].update(tiles_per_lectern=100),
        lambda d: d.update(lecterns=["gold", "quill", "green", "black", "red"]),
        lambda d: d.update(lecterns=list(INKS)),  # no quill
        lambda d: d.update(spaces={**dict.fromkeys(SPACES, 0), "text": 1}),
        lambda d: d["inks_per_round"].update({3: {"gold": 1}}),
        lambda d: d["tiles"][0].update(points=0, cost={"black": 1}),
        lambda d: d["tiles"][0].update(copies={2: 0, 3: 0, 4: 0}),
        lambda d: _only_players(d, 3),
        lambda d: _only_players(d, 2, 4),
        lambda d: d.update(tiles=[{**d["tiles"][0], "copies": {2: 1, 3: 1, 4: 1}}]),
        lambda d: [tile.update(name="tile") for tile in d["tiles"]],
    ],
)
def test_unusual_but_playable_editions_load(change: Callable[[Data], None]) -> None:
    data = plain()
    change(data)
    summarise(load_edition(data))


# ---------------------------------------------------------------------------------------------
# What is wrong, and where


def put(data: Data, path: tuple[Any, ...], value: Any) -> None:
    """Put a value at a path of an edition's data."""
    at: Any = data
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = value


FROM_0 = "a whole number from 0 to "
WRONG_VALUES: list[tuple[tuple[Any, ...], Any, str, str]] = [
    # path, wrong value, field that the error names, what the message says
    (("game",), "scriptoria", "game", "did you mean 'scriptorium'?"),
    (("game",), "bibliogamo", "game", "only 'scriptorium' editions can be loaded"),
    (("provenance",), "reconstruct", "provenance", "did you mean 'reconstructed'?"),
    (("edition",), 7, "edition", "printable text"),
    (("tile",), [], "tile", "did you mean 'tiles'?"),
    # rules
    (("rules",), None, "rules", "is null"),
    (("rules", "player"), [2], "rules.player", "did you mean 'players'?"),
    (("rules", "players"), [], "rules.players", "has 0 entries, but must have 1 to 3"),
    (("rules", "players"), 4, "rules.players", "must be a list"),
    (("rules", "players"), [2, 3, 4, 5], "rules.players[3]", "a whole number from 2 to 4"),
    (("rules", "players"), [1, 2], "rules.players[0]", "a whole number from 2 to 4"),
    (("rules", "players"), [2, "3"], "rules.players[1]", "is '3', but must be a whole number"),
    (("rules", "players"), [2, 3, True], "rules.players[2]", "is true"),
    (("rules", "players"), [2, 4, 2], "rules.players[2]", "is 2, as rules.players[0] is"),
    (("rules", "tiles_per_lectern"), 0, "rules.tiles_per_lectern", "from 1 to 100"),
    (("rules", "tiles_per_lectern"), "4", "rules.tiles_per_lectern", "is '4'"),
    (("rules", "lecterns_in_play"), 5, "rules.lecterns_in_play", "must be players + 1"),
    (("rules", "lecterns_in_play"), "players", "rules.lecterns_in_play", "must be players + 1"),
    (("rules", "help_tokens"), -1, "rules.help_tokens", FROM_0 + "1,000"),
    (("rules", "storage_limit"), None, "rules.storage_limit", FROM_0 + "30,000"),
    (("rules", "ink_limit"), 7.0, "rules.ink_limit", "is 7.0"),
    (("rules", "achievement_points"), -5, "rules.achievement_points", FROM_0 + "1,000"),
    (("rules", "token_points"), 1_001, "rules.token_points", FROM_0 + "1,000"),
    (("rules", "quill_points"), False, "rules.quill_points", "is false"),
    # inks and lecterns
    (("inks",), ["red", "black", "blue", "green", "gold"], "inks", "in this order"),
    (("inks",), [*INKS, "silver"], "inks", "must be [black, red, blue, green, gold]"),
    (("inks",), [], "inks", "in this order"),
    (("inks",), "black", "inks", "must be a list"),
    (("inks_per_round",), [1], "inks_per_round", "must be a mapping"),
    (("inks_per_round", 3), {}, "inks_per_round[3]", "brings no ink"),
    (("inks_per_round", 3), {"red": 0}, "inks_per_round[3]", "brings no ink"),
    (("inks_per_round", 3), 6, "inks_per_round[3]", "must be a mapping"),
    (("inks_per_round", 3, "golden"), 1, "inks_per_round[3].golden", "did you mean 'gold'?"),
    (("inks_per_round", 3, "gold"), -1, "inks_per_round[3].gold", FROM_0 + "1,000"),
    (("inks_per_round", 3, "gold"), 1_001, "inks_per_round[3].gold", FROM_0 + "1,000"),
    (("inks_per_round", 5), {"red": 1}, "inks_per_round[5]", "a number of players from 2 to 4"),
    (("inks_per_round", "two"), {"red": 1}, "inks_per_round.two", "a number of players"),
    (("inks_per_round", "2"), {"red": 1}, "inks_per_round.2", "stands twice"),
    (("inks_per_round", 2.5), {"red": 0}, "inks_per_round['2.5']", "a number of players"),
    (("inks_per_round", None), {"red": 0}, "inks_per_round.None", "a number of players"),
    (("inks_per_round", True), {"red": 0}, "inks_per_round[1]", "a number of players"),
    (("inks_per_round", (2, 3)), {"red": 0}, "inks_per_round['(2, 3)']", "a number of players"),
    (
        ("inks_per_round", 10**5000),
        {"red": 0},
        "inks_per_round['<unprintable int object>']",
        "a huge number",
    ),
    (("inks_per_round", 3, 2.5), 1, "inks_per_round[3]['2.5']", "printable text"),
    (("lecterns",), [*INKS, "quil"], "lecterns[5]", "did you mean 'quill'?"),
    (("lecterns",), [*INKS, "red"], "lecterns[5]", "is 'red', as lecterns[1] is"),
    (("lecterns",), ["red", "quill", "gold", "blue"], "lecterns", "4 players need at least 5"),
    (("lecterns",), [], "lecterns", "has 0 entries"),
    (("lecterns", 0), 1, "lecterns[0]", "printable text"),
    # spaces
    (("spaces",), dict.fromkeys(SPACES, 0), "spaces", "has no space at all"),
    (("spaces",), {}, "spaces.corner_left", "is missing"),
    (("spaces",), [24], "spaces", "must be a mapping"),
    (("spaces", "edges"), 1, "spaces.edges", "there is no kind of space 'edges'"),
    (("spaces", "E"), 1, "spaces.E", "there are: corner_left"),
    (("spaces", "text"), -1, "spaces.text", FROM_0 + "100"),
    (("spaces", "text"), 101, "spaces.text", FROM_0 + "100"),
    (("spaces", "text"), "3", "spaces.text", "is '3'"),
    # tiles
    (("tiles",), [], "tiles", "has 0 entries, but must have 1 to 500"),
    (("tiles",), {"id": 0}, "tiles", "must be a list"),
    (("tiles", 4), None, "tiles[4]", "a mapping with the fields id, name, kind"),
    (("tiles", 4, "id"), 3, "tiles[4].id", "as that of tiles[3] is"),
    (("tiles", 4, "id"), 31, "tiles[4].id", "the ids of 31 tiles are 0 to 30, each once"),
    (("tiles", 4, "id"), -1, "tiles[4].id", FROM_0 + "499"),
    (("tiles", 4, "name"), "", "tiles[4].name", "printable text"),
    (("tiles", 4, "kind"), "edges", "tiles[4].kind", "did you mean 'edge'?"),
    (("tiles", 4, "kind"), "E", "tiles[4].kind", "one of corner, edge, A, B, C, D, initial, text"),
    (("tiles", 4, "kind"), "corner_left", "tiles[4].kind", "did you mean 'corner'?"),
    (("tiles", 4, "points"), -1, "tiles[4].points", FROM_0 + "1,000"),
    (("tiles", 4, "points"), 1.5, "tiles[4].points", "is 1.5"),
    (("tiles", 4, "copies"), 3, "tiles[4].copies", "must be a mapping"),
    (
        ("tiles", 4, "copies"),
        {2: 1, 3: 1},
        "tiles[4].copies[4]",
        "is missing; each of rules.players",
    ),
    (("tiles", 4, "copies", 5), 1, "tiles[4].copies[5]", "a number of players from 2 to 4"),
    (("tiles", 4, "copies", 2), -1, "tiles[4].copies[2]", FROM_0 + "10,000"),
    (("tiles", 4, "copies", 2), "4", "tiles[4].copies[2]", "is '4'"),
    (("tiles", 4, "cost"), [1], "tiles[4].cost", "must be a mapping"),
    (("tiles", 4, "cost"), {}, "tiles[4].cost", "has no black, but every tile needs"),
    (("tiles", 4, "cost"), {"red": 2}, "tiles[4].cost", "has no black, but every tile needs"),
    (("tiles", 4, "cost", "black"), 0, "tiles[4].cost", "has no black, but every tile needs"),
    (("tiles", 4, "cost", "black"), -1, "tiles[4].cost.black", FROM_0 + "1,000"),
    (("tiles", 4, "cost", "silver"), 1, "tiles[4].cost.silver", "there is no ink 'silver'"),
    (("tiles", 4, "cost", "purple ink"), 1, "tiles[4].cost['purple ink']", "there is no ink"),
    (("tiles", 4, "colour"), 1, "tiles[4].colour", "there are: id, name, kind"),
]


@pytest.mark.parametrize(
    ("path", "value", "field", "message"),
    WRONG_VALUES,
    ids=[f"{field}-{index}" for index, (_, _, field, _) in enumerate(WRONG_VALUES)],
)
def test_a_wrong_value_is_named_with_its_field(
    path: tuple[Any, ...], value: Any, field: str, message: str
) -> None:
    data = plain()
    put(data, path, value)
    assert message in problems_of(data)[field]


@pytest.mark.parametrize(
    "path",
    [
        *((field,) for field in PLAIN["scriptorium"]),
        *(("rules", field) for field in PLAIN["scriptorium"]["rules"]),
        *(("inks_per_round", players) for players in (2, 3, 4)),
        *(("spaces", space) for space in SPACES),
        *(("tiles", 30, field) for field in PLAIN["scriptorium"]["tiles"][30]),
        *(("tiles", 30, "copies", players) for players in (2, 3, 4)),
    ],
    ids=str,
)
def test_every_missing_field_is_named(path: tuple[str | int, ...]) -> None:
    data = plain()
    at: Any = data
    for part in path[:-1]:
        at = at[part]
    del at[path[-1]]
    field = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path).lstrip(".")
    assert problems_of(data)[field].startswith("is missing; ")


def test_all_faults_come_at_once_in_the_order_of_the_file() -> None:
    data = plain()
    data["rules"]["players"] = [2, 3, 4, 4]
    data["rules"]["ink_limt"] = data["rules"].pop("ink_limit")
    data["inks_per_round"][4] = {"blck": 8}
    data["lecterns"][2] = "red"
    data["spaces"]["E"] = 1
    data["tiles"][3]["kind"] = "border"
    data["tiles"][12]["copies"][4] = "five"
    data["tiles"][17]["cost"] = {"red": 1}
    data["tiles"][30]["id"] = 29
    assert list(problems_of(data)) == [
        "rules.ink_limit",
        "rules.ink_limt",
        "rules.players",
        "rules.players[3]",
        "inks_per_round[4].blck",
        "lecterns[2]",
        "spaces.E",
        "tiles[3].kind",
        "tiles[12].copies[4]",
        "tiles[17].cost",
        "tiles[30].id",
    ]


def test_entries_for_numbers_of_players_that_do_not_play_are_refused() -> None:
    data = plain()
    data["rules"]["players"] = [2, 4]
    found = problems_of(data)
    assert "rules.players is 2, 4; remove it or add it there" in found["inks_per_round[3]"]
    assert all(f"tiles[{i}].copies[3]" in found for i in range(31))
    assert len(found) == 32


def test_an_empty_bag_is_refused() -> None:
    data = plain("scriptorium-small")
    for tile in data["tiles"]:
        tile["copies"][2] = 0
    (field,), (message,) = zip(*problems_of(data).items(), strict=True)
    assert field == "tiles"
    assert "put 0 tiles into the bag of 2 players" in message


def test_a_bag_that_is_too_large_is_refused() -> None:
    data = plain("scriptorium-small")
    data["rules"]["tiles_per_lectern"] = 100
    data["tiles"][0]["copies"][2] = MAX_BAG - 20
    load_edition(data)
    data["tiles"][0]["copies"][2] += 1
    assert "put 10,001 tiles into the bag of 2 players" in problems_of(data)["tiles"]


def test_too_many_rounds_are_refused() -> None:
    data = plain("scriptorium-small")
    data["rules"]["tiles_per_lectern"] = 1
    data["tiles"][0]["copies"][2] += 3 * MAX_ROUNDS - 25
    assert load_edition(data).rounds(2) == MAX_ROUNDS
    data["tiles"][0]["copies"][2] += 1
    assert "a game of 2 players last 1,001 rounds" in problems_of(data)["tiles"]


def test_more_inks_than_can_be_counted_are_refused() -> None:
    data = plain("scriptorium-small")  # 3 rounds
    for players in (2, 3):
        data["inks_per_round"][players] = dict.fromkeys(INKS, 1_000)
    load_edition(data)
    data["rules"]["tiles_per_lectern"] = 1  # 9 rounds
    found = problems_of(data)
    assert "5,000 inks in each of 9 rounds, 45,000 in all" in found["inks_per_round[2]"]
    assert "over the 30,000 that can be counted" in found["inks_per_round[3]"]


def test_a_score_that_cannot_be_counted_is_refused() -> None:
    data = plain("scriptorium-tiny")
    # Of 2 players in 2 rounds: 8 spaces of 100 points, 2 quills, 5 achievements, 2 x 2 tokens.
    for tile in data["tiles"]:
        tile["points"] = 100
    _only_players(data, 2)
    data["rules"].update(quill_points=10, achievement_points=200, token_points=1, help_tokens=2)
    assert summarise(load_edition(data))["best_points"] == 800
    data["rules"].update(help_tokens=1_000, token_points=14)  # 28,000
    load_edition(data)  # 29,820
    data["rules"]["achievement_points"] = 236
    load_edition(data)  # 30,000
    data["rules"]["achievement_points"] = 237
    assert "a score of 30,005 with 2 players" in problems_of(data)["tiles"]
