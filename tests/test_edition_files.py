"""Edition files: names and paths, files that are none, figures, and the command line."""

import hashlib
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from incunabula.envs.bibliogamo.edition import Edition, EditionError, load_edition
from incunabula.envs.bibliogamo.edition_summary import summarise
from incunabula.envs.documents import MAX_BYTES
from incunabula.envs.editions import (
    GAMES,
    edition_by_hash,
    edition_model,
    load_any_edition,
    shipped_editions,
)
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.scriptorium import edition as scriptorium
from tests.test_editions import EDITIONS, PLAIN, plain, problems_of


def test_an_unknown_name_suggests_the_nearest() -> None:
    (message,) = problems_of("bibliogamo-smal").values()
    assert "did you mean 'bibliogamo-small'?" in message
    assert "bibliogamo-tiny" in message


@pytest.mark.parametrize("source", [None, 3, ["bibliogamo"], b"bibliogamo"])
def test_other_sources_are_refused(source: Any) -> None:
    assert "a name, a path, a mapping or an Edition" in problems_of(source)[""]


def test_a_name_wins_over_a_file_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tiny = (EDITIONS / "bibliogamo-tiny.yaml").read_bytes()
    Path("bibliogamo").write_bytes(tiny)
    Path("mine").write_bytes(tiny)
    assert len(load_edition("bibliogamo").cards) == 47
    assert len(load_edition("./bibliogamo").cards) == 8
    assert load_edition("mine").name == "mine"


BAD_FILES: list[tuple[str, bytes, str]] = [
    ("empty", b"", "is empty"),
    ("blank", b" \n\n", "is empty"),
    ("comment", b"# nothing here\n", "is empty"),
    ("null", b"null\n", "is empty"),
    ("list", b"- 1\n- 2\n", "must be a mapping with the fields game, edition"),
    ("text", b"hello\n", "must be a mapping"),
    ("latin-1", "game: g\xfcnther\n".encode("latin-1"), "isn't UTF-8 text (byte 7)"),
    ("utf-16", "game: x".encode("utf-16"), "isn't UTF-8 text"),
    ("null character", b"game: \0\n", "isn't YAML"),
    ("syntax", b"game: bibliogamo\nrules: {days: 40\n", "isn't valid YAML (line 3"),
    ("tab", b"rules:\n\tdays: 40\n", "isn't valid YAML (line 2"),
    ("two documents", b"a: 1\n---\nb: 2\n", "isn't valid YAML"),
    ("python object", b"game: !!python/object/apply:os.getcwd []\n", "isn't valid YAML (line 1"),
    ("date", b"game: 2024-13-45\n", "holds a value that can't be read"),
    ("huge number", b"game: " + b"9" * 5000, "holds a value that can't be read"),
    ("list as key", b"? [a]\n: b\n", "isn't valid YAML"),
    ("alias", b"a: &x [1]\nb: *x\n", "aliases (*name) aren't supported"),
    (
        "alias bomb",
        b"a: &a [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(
            b"%c: &%c [%s]\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 9)) for c in range(98, 123)
        ),
        "aliases (*name) aren't supported",
    ),
    ("deep", b"[" * 30 + b"]" * 30, "nested over 20 deep"),
    ("deeper", b"[" * 100_000, "nest"),
    ("large", b"#" * (MAX_BYTES + 1), "is larger than 4,194,304 bytes"),
]


@pytest.mark.parametrize(
    ("content", "message"), [c[1:] for c in BAD_FILES], ids=[c[0] for c in BAD_FILES]
)
def test_a_file_that_is_no_edition_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    with pytest.raises(EditionError) as caught:
        load_edition(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    assert problems_of(tmp_path / "none.yaml") == {"": "there is no such file"}
    assert problems_of(str(tmp_path / "none")) == {"": "there is no such file"}
    assert "can't be read" in problems_of(tmp_path)[""]
    assert "can't be read" in problems_of("a\0b.yaml")[""]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "pipe.yaml"
    os.mkfifo(path)
    # In a process of its own, since opening a pipe that nobody writes to can't be interrupted.
    done = incunabula("editions", "check", str(path))
    assert done.returncode == 2
    assert done.stderr == (
        f"incunabula: {path}: can't be read: it is a pipe, a socket or a device, "
        "but must be a file\n"
    )


@pytest.mark.skipif(not Path("/dev/null").is_char_device(), reason="needs devices")
def test_a_device_is_refused() -> None:
    assert "a device, but must be a file" in problems_of("/dev/null")[""]


def test_keys_that_stand_twice_are_all_reported(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    text = (EDITIONS / "bibliogamo.yaml").read_text("utf-8")
    text = text.replace("  days: 40\n", "  days: 40\n  days: 41\n")
    text = text.replace("artisans: {binder: 2}}", "artisans: {binder: 1, binder: 2}}", 1)
    text = text.replace("  cubes: 26\n", "  cubes: -26\n")
    path.write_text(text, "utf-8")
    found = problems_of(path)
    assert list(found) == ["rules.days", "rules.cubes", "cards[34].artisans.binder"]
    line = text.splitlines().index("  days: 40") + 1
    assert f"stands twice (lines {line} and {line + 1})" in found["rules.days"]


def test_a_byte_order_mark_is_allowed_and_part_of_the_hash(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + (EDITIONS / "bibliogamo-tiny.yaml").read_bytes())
    assert load_edition(path).sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_an_error_is_a_value_error_and_survives_pickling() -> None:
    with pytest.raises(EditionError) as caught:
        load_edition("no such edition")
    error = caught.value
    assert isinstance(error, IncunabulaError)
    assert isinstance(error, ValueError)
    twin = pickle.loads(pickle.dumps(error))
    assert (str(twin), twin.problems) == (str(error), error.problems)


# ---------------------------------------------------------------------------------------------
# Figures and the command line


def test_the_figures_of_the_default_edition() -> None:
    facts = summarise(load_edition("bibliogamo"))
    assert facts["artisans_offered"] == dict.fromkeys(PLAIN["bibliogamo"]["artisan_types"], 18)
    assert facts["cubes_to_complete_all_towers"] == 48
    assert facts["librarian_move"] == pytest.approx(3, abs=0.1)
    assert facts["prestige"][6] == {
        "name": "universal library",
        "slots": 8,
        "slot_vp": 10,
        "bonus": 6,
        "total_vp": 16,
    }


def test_the_expected_sale_counts_every_ordered_pair_of_cards() -> None:
    edition = load_edition("bibliogamo-tiny")
    offers = [b.florins[a.coin] for a in edition.cards for b in edition.cards if a is not b]
    assert summarise(edition)["expected_sale"] == pytest.approx(sum(offers) / len(offers))


def incunabula(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "incunabula", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", cwd=cwd, check=False, timeout=60
    )


@pytest.mark.parametrize("name", GAMES)
def test_check_prints_a_summary(name: str) -> None:
    done = incunabula("editions", "check", name)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ok\n")
    assert load_any_edition(name).sha256 in done.stdout


def test_the_summary_of_scriptorium_says_how_long_a_game_is() -> None:
    printed = " ".join(incunabula("editions", "check", "scriptorium-small").stdout.split())
    assert "players 2 or 3 lecterns" in printed
    assert "2 players 3 rounds; 25 tiles of 48 points" in printed
    assert "4 black, 2 red, 1 blue, 0 green, 2 gold a round" in printed
    assert "edge: spaces 5, designs 3, points 0-3, tiles 15/17" in printed


def test_check_prints_every_fault_on_a_line_of_its_own(tmp_path: Path) -> None:
    data = plain("bibliogamo-tiny")
    data["rules"]["days"] = "four"
    data["coins"][0] = "crwn"
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(data), "utf-8")
    done = incunabula("editions", "check", "mine.yaml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    lines = done.stderr.splitlines()
    assert "mine.yaml: rules.days: is 'four', but must be a whole number" in lines[0] + lines[-1]
    assert all(line.startswith("mine.yaml: ") for line in lines)
    assert any("cards[3].coin: there is no coin 'crown'" in line for line in lines)

    as_json = incunabula("editions", "check", "mine.yaml", "--json", cwd=tmp_path)
    assert (as_json.returncode, as_json.stderr) == (1, "")
    report = json.loads(as_json.stdout)
    assert report["ok"] is False
    assert len(report["errors"]) == len(lines)
    assert {"field", "message"} == set(report["errors"][0])


def test_check_and_list_print_json() -> None:
    report = json.loads(incunabula("editions", "check", "bibliogamo-tiny", "--json").stdout)
    assert report["ok"] is True
    assert report["sha256"] == load_edition("bibliogamo-tiny").sha256
    listed = json.loads(incunabula("editions", "list", "--json").stdout)
    assert {entry["name"]: entry["sha256"] for entry in listed} == shipped_editions()
    table = incunabula("editions", "list").stdout
    assert all(name in table for name in shipped_editions())
    assert "2, 3 or 4 players, 31 designs, 8 rounds" in table
    assert "47 cards, 6 towers, 40 days" in table


# ---------------------------------------------------------------------------------------------
# Editions of any game


def test_every_shipped_edition_is_of_the_game_its_name_says() -> None:
    assert list(shipped_editions()) == sorted(path.stem for path in EDITIONS.glob("*.yaml"))
    for game in GAMES:
        shipped = shipped_editions(game)
        assert game in shipped
        for name, sha256 in shipped.items():
            assert name.partition("-")[0] == game
            edition = load_any_edition(name)
            assert (edition.game, edition.name, edition.sha256) == (game, name, sha256)
            assert type(edition) is edition_model(game)
            assert edition_by_hash(sha256) == edition_by_hash(sha256, game) == edition


def test_the_game_is_that_of_the_file_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "bibliogamo.yaml"
    path.write_bytes((EDITIONS / "scriptorium-tiny.yaml").read_bytes())
    edition = load_any_edition(path, name="mine")
    assert isinstance(edition, scriptorium.Edition)
    assert edition.name == "mine"
    assert load_any_edition(edition) is edition
    assert load_any_edition(edition, name="yours").name == "yours"
    assert isinstance(load_any_edition(plain("bibliogamo-tiny")), Edition)


def any_problems_of(source: Any) -> dict[str, str]:
    with pytest.raises(EditionError) as caught:
        load_any_edition(source)
    return {problem.field: problem.message for problem in caught.value.problems}


@pytest.mark.parametrize(
    ("source", "field", "message"),
    [
        ({}, "game", "is missing; it must be one of bibliogamo, scriptorium"),
        ({"game": "scriptorum"}, "game", "did you mean 'scriptorium'?"),
        ({"game": None}, "game", "is null, but must be one of bibliogamo, scriptorium"),
        ({"game": ["bibliogamo"]}, "game", "is a list, but must be one of"),
        ({"game": "scriptorium"}, "tiles", "is missing; it must be a list"),
        ("scriptorium-smal", "", "did you mean 'scriptorium-small'?"),
        (3, "", "a name, a path, a mapping or an Edition"),
        ("", "", "the name or path is empty"),
    ],
)
def test_what_is_no_edition_of_any_game_is_refused(source: Any, field: str, message: str) -> None:
    assert message in any_problems_of(source)[field]


def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("- game: bibliogamo\n", "utf-8")
    assert "must be a mapping with the fields game, edition" in any_problems_of(path)[""]
    path.write_text("game: chess\nrules: {a: 1, a: 2}\n", "utf-8")
    assert list(any_problems_of(path)) == ["rules.a", "game"]


def test_the_edition_of_another_game_is_refused() -> None:
    for source in ("scriptorium", scriptorium.load_edition("scriptorium")):
        message = problems_of(source)["game"]
        assert message == "is 'scriptorium', but only 'bibliogamo' editions can be loaded here"
    with pytest.raises(EditionError, match="only 'scriptorium' editions can be loaded here"):
        scriptorium.load_edition(load_edition("bibliogamo"))
    with pytest.raises(EditionError, match="no shipped edition has this SHA-256"):
        scriptorium.edition_by_hash(load_edition("bibliogamo").sha256)


def test_an_unknown_game_is_refused() -> None:
    with pytest.raises(EditionError, match="did you mean 'scriptorium'"):
        edition_model("scriptoria")
    with pytest.raises(EditionError, match="there are: bibliogamo, scriptorium"):
        shipped_editions("chess")
