"""The edition loader: what it accepts, and that every fault is named with its field."""

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

from incunabula.envs.bibliogamo.edition import (
    Edition,
    EditionError,
    edition_by_hash,
    load_edition,
    shipped_editions,
)
from incunabula.envs.bibliogamo.edition_summary import summarise

EDITIONS = Path(str(files("incunabula.configs"))) / "editions"
NAMES = ["bibliogamo", "bibliogamo-small", "bibliogamo-tiny"]
PLAIN = {name: yaml.safe_load((EDITIONS / f"{name}.yaml").read_text("utf-8")) for name in NAMES}

Data = dict[str, Any]


def plain(name: str = "bibliogamo") -> Data:
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
    edition = load_edition("bibliogamo")
    assert edition.rules.days == 40
    assert edition.rules.florin_cap is None
    assert edition.towers[0].requires == {"researcher": 3, "scribe": 3, "illustrator": 2}
    assert edition.cards[6].librarian == -2
    assert edition.cards[6].florins == {"crown": 7, "lily": 20, "ship": 1}
    assert edition.prestige[5].name == "court of love"
    assert edition.prestige[0].slots[3].tower == "law"


def test_shipped_editions_are_listed_with_their_hashes() -> None:
    shipped = shipped_editions()
    assert list(shipped) == NAMES
    for name, sha256 in shipped.items():
        assert edition_by_hash(sha256).name == name
    with pytest.raises(EditionError, match="no shipped edition has this SHA-256"):
        edition_by_hash("0" * 64)


def test_cards_come_in_order_of_id_whatever_the_file_says() -> None:
    data = plain()
    data["cards"].reverse()
    edition = load_edition(data)
    assert [card.id for card in edition.cards] == list(range(47))
    assert edition == load_edition(plain())


def test_an_edition_cannot_be_changed_and_survives_copies() -> None:
    edition = load_edition("bibliogamo-tiny")
    with pytest.raises(ValidationError, match="frozen"):
        edition.rules.days = 5
    for twin in (pickle.loads(pickle.dumps(edition)), copy.deepcopy(edition)):
        assert twin == edition
        assert hash(twin) == hash(edition)
        assert (twin.name, twin.sha256) == (edition.name, edition.sha256)


def test_the_hash_of_a_mapping_is_that_of_its_canonical_json() -> None:
    edition = load_edition(plain("bibliogamo-tiny"))
    canonical = json.dumps(plain("bibliogamo-tiny"), sort_keys=True, separators=(",", ":"))
    assert edition.sha256 == hashlib.sha256(canonical.encode()).hexdigest()
    assert edition.name == "tiny-1"


def test_a_changed_copy_does_not_keep_the_hash_of_the_file() -> None:
    edition = load_edition("bibliogamo-tiny")
    longer = edition.model_copy(update={"rules": edition.rules.model_copy(update={"days": 9})})
    assert load_edition(longer).sha256 != edition.sha256
    broken = edition.model_copy(update={"rules": edition.rules.model_copy(update={"cubes": -1})})
    assert list(problems_of(broken)) == ["rules.cubes"]


def test_a_name_can_be_given() -> None:
    edition = load_edition("bibliogamo-tiny")
    named = load_edition(edition, name="mine")
    assert (named.name, edition.name) == ("mine", "bibliogamo-tiny")
    assert named.sha256 == edition.sha256


def test_direct_construction_is_checked_too() -> None:
    data = plain("bibliogamo-tiny")
    assert Edition.model_validate(data) == load_edition(data)
    data["board"]["spaces"][1] = "herbals"
    with pytest.raises(ValidationError, match=r"board\.spaces\[1\]: there is no tower 'herbals'"):
        Edition.model_validate(data)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["rules"].update(florin_cap=0),
        lambda d: d["rules"].update(hires_per_turn=0, lifts_per_turn=0, cubes=0, vp_per_book=0),
        lambda d: d["rules"].update(allow_empty_hire=True),
        lambda d: d["start"].update(time=39, librarian=5, florins=1_000_000),
        lambda d: d["board"].update(spaces=["law"]),
        lambda d: d["cards"][0].update(artisans={}),
        lambda d: d["towers"][0]["requires"].update(binder=0),
        lambda d: d["prestige"][0]["slots"][0].update(vp=0),
    ],
)
def test_unusual_but_playable_editions_load(change: Callable[[Data], None]) -> None:
    data = plain()
    change(data)
    load_edition(data)


def test_one_card_one_tower_one_space_load() -> None:
    data = plain("bibliogamo-tiny")
    data["cards"] = data["cards"][:1]
    data["towers"] = data["towers"][:1]
    data["board"] = {"spaces": ["psalter"]}
    data["prestige"] = [{"name": "one", "bonus": 0, "slots": [{"tower": "psalter", "vp": 1}]}]
    assert summarise(load_edition(data))["expected_sale"] is None


# ---------------------------------------------------------------------------------------------
# What is wrong, and where


def _set(*path: str | int) -> Callable[[Data, Any], None]:
    """A function that puts a value at a path of an edition's data."""

    def put(data: Data, value: Any) -> None:
        at: Any = data
        for part in path[:-1]:
            at = at[part]
        at[path[-1]] = value

    return put


COUNT = "a whole number from 0 to 30,000"
WRONG_VALUES: list[tuple[tuple[str | int, ...], Any, str, str]] = [
    # path, wrong value, field that the error names, what the message says
    (("game",), "bibliogame", "game", "did you mean 'bibliogamo'?"),
    (("game",), "scriptorium", "game", "only 'bibliogamo' editions can be loaded"),
    (("provenance",), "invented", "provenance", "reconstructed, transcribed, variant"),
    (("provenance",), "variation", "provenance", "did you mean 'variant'?"),
    (("edition",), 7, "edition", "printable text"),
    (("edition",), "", "edition", "printable text"),
    (("edition",), "bell\a", "edition", "printable text"),
    (("extra",), 1, "extra", "there is no field 'extra'"),
    (("tower",), [], "tower", "did you mean 'towers'?"),
    # rules
    (("rules", "day"), 40, "rules.day", "did you mean 'days'?"),
    (("rules", "days"), 0, "rules.days", "a whole number from 1 to 30,000"),
    (("rules", "days"), 30_001, "rules.days", "a whole number from 1 to 30,000"),
    (("rules", "days"), "40", "rules.days", "is '40', but must be a whole number"),
    (("rules", "days"), 40.0, "rules.days", "is 40.0, but must be a whole number"),
    (("rules", "days"), True, "rules.days", "is true, but must be a whole number"),
    (("rules", "days"), None, "rules.days", "is null, but must be a whole number"),
    (("rules", "days"), 10**5000, "rules.days", "a huge number"),
    (("rules", "hand_size"), 0, "rules.hand_size", "from 1 to"),
    (("rules", "librarian_step"), -1, "rules.librarian_step", "from 0 to 10,000"),
    (("rules", "hires_per_turn"), -1, "rules.hires_per_turn", COUNT),
    (("rules", "lifts_per_turn"), 2, "rules.lifts_per_turn", "from 0 to 1"),
    (("rules", "lifts_per_turn"), True, "rules.lifts_per_turn", "is true"),
    (("rules", "sales_per_turn"), 2, "rules.sales_per_turn", "must be 1"),
    (("rules", "sales_per_turn"), 0, "rules.sales_per_turn", "must be 1"),
    (("rules", "allow_empty_hire"), 0, "rules.allow_empty_hire", "true or false"),
    (("rules", "allow_empty_hire"), "no", "rules.allow_empty_hire", "true or false"),
    (("rules", "florins_per_vp"), 0, "rules.florins_per_vp", "from 1 to"),
    (("rules", "vp_per_book"), -1, "rules.vp_per_book", COUNT),
    (("rules", "florin_cap"), -1, "rules.florin_cap", "or null"),
    (("rules", "florin_cap"), 1_000_001, "rules.florin_cap", "1,000,000"),
    (("rules", "cubes"), -1, "rules.cubes", COUNT),
    (("rules",), [1], "rules", "must be a mapping with the fields days"),
    (("rules",), None, "rules", "is null"),
    # start
    (("start", "time"), 40, "start.time", "less than rules.days, which is 40"),
    (("start", "time"), -1, "start.time", COUNT),
    (("start", "librarian"), 6, "start.librarian", "are 0 to 5"),
    (("start", "florins"), -1, "start.florins", "from 0 to 1,000,000"),
    (("start", "florin"), 1, "start.florin", "did you mean 'florins'?"),
    # names
    (("artisan_types",), [], "artisan_types", "has 0 entries, but must have 1 to 64"),
    (("artisan_types",), "binder", "artisan_types", "must be a list"),
    (("artisan_types", 3), "scribe", "artisan_types[3]", "as artisan_types[1] is"),
    (("artisan_types", 3), 4, "artisan_types[3]", "printable text"),
    (("coins",), [], "coins", "has 0 entries"),
    (("coins", 2), "crown", "coins[2]", "as coins[0] is"),
    (("coins",), {"crown", "lily", "ship"}, "coins", "must be a list"),
    # towers and board
    (("towers",), [], "towers", "has 0 entries, but must have 1 to 8"),
    (("towers", 1, "name"), "law", "towers[2].name", "is 'law', as towers[1] is"),
    (("towers", 2, "requires"), {}, "towers[2].requires", "asks for no artisan"),
    (("towers", 2, "requires"), {"scribe": 0}, "towers[2].requires", "asks for no artisan"),
    (("towers", 2, "requires"), [3], "towers[2].requires", "must be a mapping"),
    (("towers", 2, "requires", "bindr"), 3, "towers[2].requires.bindr", "did you mean 'binder'?"),
    (("towers", 2, "requires", "binder"), -3, "towers[2].requires.binder", COUNT),
    (("towers", 2, "cost"), 1, "towers[2].cost", "there are: name, requires"),
    (("towers", 2), "law", "towers[2]", "a mapping with the fields name, requires"),
    (("board", "spaces"), [], "board.spaces", "has 0 entries"),
    (("board", "spaces", 2), "lore", "board.spaces[2]", "there is no tower 'lore'"),
    (("board", "spaces", 2), "Law", "board.spaces[2]", "did you mean 'law'?"),
    (("board", "ring"), [], "board.ring", "there are: spaces"),
    # prestige
    (("prestige",), [], "prestige", "has 0 entries"),
    (("prestige", 1, "name"), "chronicle", "prestige[1].name", "as prestige[0] is"),
    (("prestige", 1, "bonus"), -1, "prestige[1].bonus", COUNT),
    (("prestige", 1, "slots"), [], "prestige[1].slots", "has 0 entries"),
    (("prestige", 1, "slots", 4, "tower"), "poem", "prestige[1].slots[4].tower", "no tower"),
    (("prestige", 1, "slots", 4, "vp"), 1.5, "prestige[1].slots[4].vp", COUNT),
    (("prestige", 1, "slots", 4, "points"), 1, "prestige[1].slots[4].points", "no field"),
    # cards
    (("cards",), [], "cards", "has 0 entries"),
    (("cards", 5, "id"), 3, "cards[5].id", "as that of cards[3] is"),
    (("cards", 5, "id"), 47, "cards[5].id", "the ids of 47 cards are 0 to 46, each once"),
    (("cards", 5, "id"), -1, "cards[5].id", COUNT),
    (("cards", 5, "id"), "05", "cards[5].id", COUNT),
    (("cards", 5, "librarian"), 1.0, "cards[5].librarian", "from -10,000 to 10,000"),
    (("cards", 5, "icon"), "binders", "cards[5].icon", "did you mean 'binder'?"),
    (("cards", 5, "coin"), "shop", "cards[5].coin", "did you mean 'ship'?"),
    (("cards", 5, "florins"), {"crown": 1, "lily": 1}, "cards[5].florins.ship", "is missing"),
    (("cards", 5, "florins", "penny"), 1, "cards[5].florins.penny", "there is no coin 'penny'"),
    (("cards", 5, "florins", "ship"), -1, "cards[5].florins.ship", "from 0 to 1,000,000"),
    (("cards", 5, "florins", "ship"), 1_000_001, "cards[5].florins.ship", "1,000,000"),
    (("cards", 17, "artisans", "binder"), True, "cards[17].artisans.binder", "is true"),
    (("cards", 17, "artisans", "monk"), 1, "cards[17].artisans.monk", "there are: researcher"),
    (("cards", 17, "artisans", "two words"), 1, "cards[17].artisans['two words']", "no artisan"),
    (("cards", 17, "artisans", 3), 1, "cards[17].artisans[3]", "printable text"),
    (("cards", 17), None, "cards[17]", "a mapping with the fields id, librarian"),
]


@pytest.mark.parametrize(
    ("path", "value", "field", "message"),
    WRONG_VALUES,
    ids=[f"{field}-{index}" for index, (_, _, field, _) in enumerate(WRONG_VALUES)],
)
def test_a_wrong_value_is_named_with_its_field(
    path: tuple[str | int, ...], value: Any, field: str, message: str
) -> None:
    data = plain()
    _set(*path)(data, value)
    found = problems_of(data)
    assert message in found[field]


@pytest.mark.parametrize(
    "path",
    [
        *((field,) for field in PLAIN["bibliogamo"]),
        *(("rules", field) for field in PLAIN["bibliogamo"]["rules"]),
        *(("start", field) for field in PLAIN["bibliogamo"]["start"]),
        ("board", "spaces"),
        ("towers", 0, "name"),
        ("towers", 0, "requires"),
        ("prestige", 6, "bonus"),
        ("prestige", 6, "slots"),
        ("prestige", 6, "slots", 7, "tower"),
        *(("cards", 46, field) for field in PLAIN["bibliogamo"]["cards"][46]),
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
    assert problems_of(data)[field].startswith("is missing; it must be ")


def test_all_faults_come_at_once_in_the_order_of_the_file() -> None:
    data = plain()
    del data["rules"]["days"]
    data["rules"]["dayz"] = 40
    data["start"]["librarian"] = 6
    data["towers"][2]["requires"] = {"binder": 0}
    data["prestige"][3]["slots"][1]["tower"] = "gardening"
    data["cards"][2]["coin"] = "groat"
    data["cards"][17]["artisans"]["binder"] = "one"
    data["cards"][46]["id"] = 45
    assert list(problems_of(data)) == [
        "rules.days",
        "rules.dayz",
        "start.librarian",
        "towers[2].requires",
        "prestige[3].slots[1].tower",
        "cards[2].coin",
        "cards[17].artisans.binder",
        "cards[46].id",
    ]


def test_too_many_towers_and_types_are_refused() -> None:
    data = plain()
    data["towers"] = [{"name": f"t{i}", "requires": {"scribe": 1}} for i in range(9)]
    data["board"]["spaces"] = ["t0"]
    data["artisan_types"] += [f"type{i}" for i in range(61)]
    found = problems_of(data)
    assert "has 9 entries, but must have 1 to 8" in found["towers"]
    assert "has 65 entries, but must have 1 to 64" in found["artisan_types"]


def test_more_florins_than_an_observation_tells_apart_are_refused() -> None:
    data = plain()
    data["rules"]["days"] = 30_000
    data["cards"][0]["florins"]["ship"] = 1_000_000
    assert "30,000,000,000 florins" in problems_of(data)["rules.days"]
    data["rules"]["florin_cap"] = 1_000_000
    load_edition(data)
    data["rules"].update(florin_cap=None, days=4)
    data["start"]["florins"] = 0
    load_edition(data)
    data["start"]["florins"] = 1
    assert "4,000,001 florins, over the 4,000,000" in problems_of(data)["rules.days"]


def test_more_start_florins_than_the_cap_are_refused() -> None:
    data = plain()
    data["rules"]["florin_cap"] = 10
    data["start"]["florins"] = 11
    assert "at most rules.florin_cap, which is 10" in problems_of(data)["start.florins"]
