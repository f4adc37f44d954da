"""Editions of Scriptorium drawn at random, spoilt at random, and in figures."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from incunabula.envs.scriptorium.edition import EditionError, load_edition
from incunabula.envs.scriptorium.edition_checks import (
    INKS,
    KINDS,
    MAX_BAG,
    MAX_ROUNDS,
    MAX_TOTAL,
    SPACES,
)
from incunabula.envs.scriptorium.edition_summary import summarise
from tests.test_scriptorium_editions import (
    EDITIONS,
    NAMES,
    PLAIN,
    Data,
    plain,
    problems_of,
    put,
)


def test_keys_that_stand_twice_are_all_reported(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    text = (EDITIONS / "scriptorium.yaml").read_text("utf-8")
    text = text.replace("  ink_limit: 7\n", "  ink_limit: 7\n  ink_limit: 8\n")
    text = text.replace("copies: {2: 4, 3: 6, 4: 7}", "copies: {2: 4, 3: 6, 3: 6, 4: 7}", 1)
    path.write_text(text, "utf-8")
    found = problems_of(path)
    assert list(found) == ["rules.ink_limit", "tiles[3].copies[3]"]
    assert "stands twice (lines " in found["tiles[3].copies[3]"]


# ---------------------------------------------------------------------------------------------
# Any edition


@st.composite
def editions(draw: st.DrawFn) -> Data:
    """Any small edition that can be played."""
    players = draw(st.lists(st.integers(2, 4), min_size=1, max_size=3, unique=True))
    small = st.integers(0, 5)
    lecterns = draw(st.permutations([*INKS, "quill"]))
    pot = st.dictionaries(st.sampled_from(INKS), small).filter(lambda pot: any(pot.values()))
    spaces = draw(st.fixed_dictionaries(dict.fromkeys(SPACES, small)))
    spaces[draw(st.sampled_from(SPACES))] = 1
    rules = ("help_tokens", "storage_limit", "ink_limit")
    bonuses = ("achievement_points", "token_points", "quill_points")
    count = draw(st.integers(1, 6))
    tiles = [
        {
            "id": i,
            "name": f"tile {i}",
            "kind": draw(st.sampled_from(KINDS)),
            "points": draw(small),
            # The first design has a copy, so that no bag is empty.
            "copies": {n: draw(small) + (i == 0) for n in players},
            "cost": {**draw(st.dictionaries(st.sampled_from(INKS), small)), "black": 1},
        }
        for i in draw(st.permutations(range(count)))
    ]
    return {
        "game": "scriptorium",
        "edition": "drawn",
        "provenance": "variant",
        "rules": {
            "players": players,
            "tiles_per_lectern": draw(st.integers(1, 5)),
            "lecterns_in_play": "players + 1",
            **{name: draw(small) for name in (*rules, *bonuses)},
        },
        "inks": list(INKS),
        "inks_per_round": {n: draw(pot) for n in players},
        "lecterns": lecterns[: draw(st.integers(max(players) + 1, 6))],
        "spaces": spaces,
        "tiles": tiles,
    }


@given(editions())
@settings(max_examples=60, deadline=None)
def test_playable_editions_load_and_survive_json(data: Data) -> None:
    edition = load_edition(data)
    again = load_edition(json.loads(edition.model_dump_json()))
    assert again.model_dump() == edition.model_dump()
    assert (again.sha256, hash(again)) == (edition.sha256, hash(edition))
    assert [tile.id for tile in edition.tiles] == list(range(len(data["tiles"])))
    for players in edition.rules.players:
        full = (players + 1) * edition.rules.tiles_per_lectern
        rounds = edition.rounds(players)
        assert (rounds - 1) * full < edition.bag_size(players) <= rounds * full
    facts = summarise(edition)
    assert json.loads(json.dumps(facts)) == facts
    assert sum(kind["designs"] for kind in facts["kinds"].values()) == len(edition.tiles)


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([-1, 0, 1, 2, 100, 999, 1_000, 9_999, 10_000, 30_000, 2**15, 2**31, 10**5000]),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from([*INKS, *SPACES, "quill", "2", "3"]),
    st.lists(st.integers(0, 5) | st.sampled_from(INKS), max_size=3),
    st.dictionaries(st.integers(0, 5) | st.sampled_from([*INKS, "2"]), st.integers(-1, 5)),
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, below in pairs:
            found += _places(below, (*path, key))
    return found


@given(st.sampled_from(NAMES), st.data())
@settings(max_examples=300, deadline=None)
def test_whatever_stands_in_a_file_is_an_edition_or_a_clear_error(
    name: str, data: st.DataObject
) -> None:
    changed = plain(name)
    for _ in range(data.draw(st.integers(1, 2))):
        put(changed, data.draw(st.sampled_from(_places(changed))), data.draw(JUNK))
    try:
        edition = load_edition(changed)
    except EditionError as error:
        for line in str(error).splitlines():
            assert line.startswith("edition: ")
        return
    for players in edition.rules.players:
        assert 1 <= edition.bag_size(players) <= MAX_BAG
        rounds = edition.rounds(players)
        assert 1 <= rounds <= MAX_ROUNDS
        assert 1 <= sum(edition.inks_per_round[players].values()) * rounds <= MAX_TOTAL
    assert all(tile.cost["black"] >= 1 for tile in edition.tiles)
    summarise(edition)


# ---------------------------------------------------------------------------------------------
# Figures


def test_the_figures_of_the_default_edition() -> None:
    facts = summarise(load_edition("scriptorium"))
    assert (facts["name"], facts["game"], facts["designs"]) == ("scriptorium", "scriptorium", 31)
    assert facts["spaces"] == 24
    # 4 corners of 4, 12 edges of 2, four miniatures of 6, an initial of 7, 3 texts of 4.
    assert facts["best_points"] == 4 * 4 + 12 * 2 + 4 * 6 + 7 + 3 * 4
    assert facts["kinds"]["corner"] == {
        "designs": 6,
        "spaces": 4,
        "points": [3, 4],
        "best_points": 16,
        "tiles": {"2": 17, "3": 22, "4": 28},
    }
    for players, game in facts["by_players"].items():
        tiles = PLAIN["scriptorium"]["tiles"]
        copies = [(tile, tile["copies"][int(players)]) for tile in tiles]
        assert game["rounds"] == 8
        assert game["inks"] == 8 * sum(
            PLAIN["scriptorium"]["inks_per_round"][int(players)].values()
        )
        assert game["tiles"] == sum(count for _, count in copies)
        assert game["tile_points"] == sum(tile["points"] * count for tile, count in copies)
        assert game["tile_inks"] == sum(sum(tile["cost"].values()) * n for tile, n in copies)
    assert sum(kind["tiles"]["4"] for kind in facts["kinds"].values()) == 160


def test_a_kind_without_designs_has_no_points() -> None:
    facts = summarise(load_edition("scriptorium-small"))
    assert facts["kinds"]["text"]["points"] is None
    assert facts["by_players"]["2"]["inks_per_round"]["green"] == 0
