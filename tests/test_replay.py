"""Files of replays: written whole, read back, verified, and refused where something is wrong."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incunabula.envs.editions import load_any_edition
from incunabula.envs.errors import IncunabulaError
from incunabula.envs.lines import MAX_LINE, read_lines
from incunabula.envs.playback import edition_of, load_replays, positions, verify
from incunabula.envs.replay import Replay, read_replays, replay_line, write_replays
from tests.replays import loaded, random_replay
from tests.small_editions import SMALL

TINY, TABLE = "bibliogamo-tiny", "scriptorium-tiny"
SHUFFLES = [[3, 1, 0, 2, 7, 5, 6, 4], [0, 1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1, 0]]
TAPE = {"shuffles": SHUFFLES, "prestige": 1}
BAG = {"bag": [0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 6, 6], "lecterns": [[5, 4, 3, 2, 1, 0]] * 3}


def games() -> list[Replay]:
    """One of everything."""
    return [
        random_replay(TINY),
        random_replay(TINY, deal={"seed": str(2**64 - 1), "prestige": 1}),
        random_replay(TINY, deal={"tape": TAPE}),
        random_replay(TINY, deal={"tape": {"shuffles": SHUFFLES}, "prestige": 0}),
        random_replay("bibliogamo", deal={"seed": "0"}),
        *(random_replay(TABLE, players) for players in (2, 3, 4)),
        random_replay(TABLE, 2, {"tape": BAG}),
        random_replay("scriptorium", 4),
        random_replay(TABLE, 3, steps=5),
        random_replay(TINY, steps=0),
    ]


def changed(replay: Replay, **fields: Any) -> bytes:
    """A replay's line with other fields; None takes one away."""
    form = json.loads(replay_line(replay)) | fields
    form.pop("sha256")
    form = {name: value for name, value in form.items() if value is not None}
    return json.dumps(form).encode() + b"\n"


def error_of(path: Path, content: bytes, edition: Any = None) -> str:
    path.write_bytes(content)
    with pytest.raises(IncunabulaError) as caught:
        load_replays(path, edition)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    return message


# There and back -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["games.jsonl", "games.jsonl.gz"])
def test_games_of_all_kinds_come_back_as_they_were(tmp_path: Path, name: str) -> None:
    path, written = tmp_path / name, games()
    write_replays(path, written)
    assert path.read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")
    assert load_replays(path) == written
    again = tmp_path / f"again-{name}"
    write_replays(again, read_replays(path))
    assert again.read_bytes() == path.read_bytes()
    assert [replay.where for replay in read_replays(path)][1] == f"{path}, line 2"


def test_a_line_says_what_the_page_on_replays_says() -> None:
    replay = random_replay(TABLE, 2)
    noted = replace(replay, notes=tuple({"value": 0.5, "luck": -1} for _ in replay.actions))
    form = json.loads(replay_line(noted))
    assert list(form) == [
        *("format", "game", "edition", "edition_sha256", "incunabula", "players", "deal"),
        *("actions", "scores", "notes", "sha256"),
    ]
    assert form["deal"] == {"seed": "7"}
    assert (form["game"], form["edition_sha256"]) == ("scriptorium", loaded(TABLE).sha256)


def test_editions_of_ones_own(tmp_path: Path) -> None:
    edition = load_any_edition(SMALL["waiting"])
    path = tmp_path / "own.jsonl"
    write_replays(path, [random_replay(edition, deal={"seed": str(k)}) for k in range(20)])
    assert len(load_replays(path, edition)) == 20
    with pytest.raises(IncunabulaError, match=r"own\.jsonl, line 1: edition_sha256: no shipped"):
        load_replays(path)
    with pytest.raises(IncunabulaError, match=r"line 1: edition_sha256: was played with edition"):
        load_replays(path, TINY)


def test_many_games_are_verified_together(tmp_path: Path) -> None:
    replays = [random_replay(TINY, deal={"seed": str(k)}) for k in range(30)]
    replays += [random_replay(TINY, deal={"seed": str(k), "prestige": k % 2}) for k in range(9)]
    verify(replays)
    wrong = [*replays]
    wrong[17] = replace(wrong[17], scores=(wrong[17].scores[0] + 1,), where="here")
    wrong[25] = replace(wrong[25], actions=(), where="not yet here")
    with pytest.raises(IncunabulaError, match=r"^here: scores\[0\]: the actions score"):
        verify(wrong)


def test_positions_are_those_of_the_game() -> None:
    replay = random_replay(TABLE, 3)
    seen = [engine.snapshot(0) for engine in positions(replay, edition_of(replay))]
    assert len(seen) == len(replay.actions) + 1
    assert seen[0]["phase"] == "ink"
    assert seen[-1]["phase"] == "over"
    assert [player["score"] for player in seen[-1]["players"]] == list(replay.scores)


# What is wrong ------------------------------------------------------------------------------------

BAD_FIELDS: list[tuple[dict[str, Any], str]] = [
    ({"format": None}, r"format: expected 1, got null"),
    ({"format": True}, r"format: expected 1, got true"),
    ({"format": 2}, r"format: is 2, which this version \(.*\) can't read; expected 1"),
    ({"game": "chess"}, r"game: there is no game 'chess'"),
    ({"game": "scriptorium"}, r"game: is 'scriptorium', but its edition is one of 'bibliogamo'"),
    ({"edition_sha256": "12"}, r"edition_sha256: expected 64 hexadecimal digits, got '12'"),
    ({"edition_sha256": "0" * 64}, r"edition_sha256: no shipped edition is 'bibliogamo-tiny'"),
    ({"players": "me"}, r"players: expected a list, got 'me'"),
    ({"players": []}, r"players: expected a name for each seat, 1 to 64, got 0"),
    ({"players": ["a\x1b[2J"]}, r"players\[0\]: expected printable text"),
    ({"players": ["a", "b"], "scores": [0, 0]}, r"players: bibliogamo is for one, got 2"),
    ({"scores": [1, 2]}, r"scores: expected 1, one for each of the players, got 2"),
    (
        {"scores": [0.0]},
        r"scores\[0\]: expected a whole number in -4\d+\.\.4\d+, got 0",
    ),
    ({"scores": [999]}, r"scores\[0\]: the actions score 0, not 999"),
    ({"actions": []}, r"actions: the game isn't over after the 0 that are given"),
    (
        {"actions": [1.0]},
        r"actions\[0\]: expected a whole number in 0\.\.4\d+, got 1.0",
    ),
    (
        {"actions": [True]},
        r"actions\[0\]: expected a whole number in 0\.\.4\d+, got true",
    ),
    (
        {"actions": [-1]},
        r"actions\[0\]: expected a whole number in 0\.\.4\d+, got -1",
    ),
    (
        {"actions": ["1"]},
        r"actions\[0\]: expected a whole number in 0\.\.4\d+, got '1'",
    ),
    ({"actions": [10**15]}, r"actions\[0\]: 1000000000000000 is not an action; expected 0\.\.19"),
    ({"actions": [4]}, r"actions\[0\]: action 4 is illegal \(Order of decisions\): it isn't time"),
    ({"actions": {}}, r"actions: expected a list, got an empty mapping"),
    ({"deal": 7}, r"deal: expected a mapping with either seed or tape, got 7"),
    ({"deal": {}}, r"deal: expected a mapping with either seed or tape"),
    ({"deal": {"seed": 7}}, r"deal\.seed: expected decimal digits in quotes"),
    ({"deal": {"seed": str(2**64)}}, r"deal\.seed: expected decimal digits in quotes, at most"),
    ({"deal": {"seed": "07"}}, r"deal\.seed: expected decimal digits"),
    ({"deal": {"seed": "7", "prestige": 2}}, r"deal: prestige: expected an integer in 0\.\.1"),
    (
        {"deal": {"seed": "7", "prestige": False}},
        r"deal\.prestige: expected a whole .* got false",
    ),
    ({"deal": {"seed": "7", "tip": 1}}, r"deal: fields missing or unknown: tip"),
    ({"deal": {"tape": None}}, r"deal\.tape: expected a mapping, got null"),
    ({"deal": {"tape": {"shuffles": [[1]]}}}, r"deal: tape\.shuffles\[0\]: must list each card"),
    ({"deal": {"tape": {"shuffles": SHUFFLES}}}, r"deal: tape\.prestige: missing"),
    ({"finished": 1}, r"finished: expected true or false, got 1"),
    ({"finished": False}, r"finished: is false, but the game is over"),
    ({"notes": []}, r"notes: expected \d+, one for each action, got 0"),
    ({"colour": "red"}, r"fields missing or unknown: colour"),
    ({"scores": None}, r"fields missing or unknown: scores"),
    ({"incunabula": ""}, r"incunabula: expected printable text"),
]


@pytest.mark.parametrize(("fields", "said"), BAD_FIELDS, ids=lambda value: str(value)[:40])
def test_a_wrong_field_is_named(tmp_path: Path, fields: dict[str, Any], said: str) -> None:
    good, path = random_replay(TINY), tmp_path / "games.jsonl"
    message = error_of(path, replay_line(good) + b"\n" + changed(good, **fields))
    assert message.startswith(f"{path}, line 3: "), message
    rest = message.removeprefix(f"{path}, line 3: ")
    assert re.match(said, rest), rest


def test_wrong_notes_are_named(tmp_path: Path) -> None:
    good, path = random_replay(TINY), tmp_path / "games.jsonl"
    for note, said in (
        (1, "notes[1]: expected a mapping, got 1"),
        ({"joy": 1}, "notes[1]: there is no field 'joy'"),
        ({"luck": "much"}, "notes[1].luck: expected a number, got 'much'"),
        ({"luck": True}, "notes[1].luck: expected a number, got true"),
        ({"value": 10**400}, "notes[1].value: expected a number, got 1000"),
        ({"regret": -0.5}, "notes[1].regret: expected a number of at least 0, got -0.5"),
    ):
        notes = [{}, note, *[{}] * (len(good.actions) - 2)]
        assert said in error_of(path, changed(good, notes=notes))


def test_an_action_too_many_and_one_too_few(tmp_path: Path) -> None:
    good, path = random_replay(TABLE, 2), tmp_path / "games.jsonl"
    n = len(good.actions)
    assert f"actions[{n}]: the game was over before action 0; expected no more" in error_of(
        path, changed(good, actions=[*good.actions, 0])
    )
    assert f"actions: the game isn't over after the {n - 1} that are given" in error_of(
        path, changed(good, actions=good.actions[:-1])
    )
    old = changed(good, actions=good.actions[:-1], incunabula="0.0.1")
    assert "(recorded by version 0.0.1, this is " in error_of(path, old)
    with_prestige = changed(good, deal={"seed": "7", "prestige": 0})
    assert "deal: prestige: scriptorium has none; leave it out" in error_of(path, with_prestige)
    three = changed(good, players=["a"] * 5, scores=[0] * 5)
    assert "line 1: num_players: this edition is for 2, 3, 4 players, got 5" in error_of(
        path, three
    )


def test_actions_without_end_are_refused_at_once(tmp_path: Path) -> None:
    good = random_replay(TINY)
    line = changed(good, actions=[*good.actions, *[0] * 300_000])
    began = time.process_time()
    said = error_of(tmp_path / "games.jsonl", changed(good) * 100 + line)
    assert f"line 101: actions[{len(good.actions)}]: the game was over before action 0" in said
    assert time.process_time() - began < 5  # where every action is tried, tens of seconds


def test_a_mark_at_the_start_that_editors_write_is_passed_over(tmp_path: Path) -> None:
    good, path = random_replay(TINY), tmp_path / "games.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + replay_line(good) * 2)
    assert load_replays(path) == [good, good]


def test_a_tape_that_runs_out(tmp_path: Path) -> None:
    good, path = random_replay(TINY, deal={"tape": TAPE}), tmp_path / "games.jsonl"
    short = {"tape": {"shuffles": SHUFFLES[:1], "prestige": 1}}
    assert "tape: ran out of shuffles" in error_of(path, changed(good, deal=short))
    assert "actions[" in error_of(path, changed(good, deal=short))


def test_what_was_changed_is_noticed_even_if_it_could_be(tmp_path: Path) -> None:
    """Another legal game of the same score: only the hash of the line tells."""
    path, line = tmp_path / "games.jsonl", replay_line(random_replay(TINY))
    said = error_of(path, line.replace(b'"player 0"', b'"someone"'))
    assert "line 1: sha256: isn't that of the rest of the line" in said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "holds no game; expected replays, one a line"),
        (b"\n \n", "holds no game"),
        (b"[1, 2]\n", "line 1: expected a JSON object, a game, got a list"),
        (b"7", "line 1: expected a JSON object, a game, got 7"),
        (b"{}", "line 1: format: expected 1, got null"),
        (b"\xff\xfe{}", "line 1: isn't UTF-8 text (byte 0)"),
        (b"[" * 100_000, "line 1: has too many brackets within"),
        (b'{"a":' * 50_000, "line 1: has too many brackets within"),
        (b'{"format": NaN}', "line 1: isn't JSON, or is cut off: NaN is no number"),
        (
            b'{"format": ' + b"9" * 5000 + b"}",
            "line 1: holds a whole number of thousands of",
        ),
        (b'{"format": 1, "format": 1}', "line 1: the field 'format' stands twice"),
        (b" " * (MAX_LINE + 2), "line 1: is longer than 4,194,304 bytes"),
        (
            gzip.compress(b"\n" * (1 << 20), mtime=0),
            "line 65537: blank lines of more than 65,536 bytes",
        ),
        (b"\x1f\x8b\x08rubbish", "can't be read: "),
        (b"\n\n" + b"\x00" * 10, "line 3: isn't JSON, or is cut off"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_files_that_are_something_else(tmp_path: Path, content: bytes, said: str) -> None:
    assert said in error_of(tmp_path / "games.jsonl", content)


def test_places_that_are_no_files(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.jsonl", "a\0b", "/dev/null"):
        with pytest.raises(IncunabulaError, match=r"can't be read|must be a regular file"):
            list(read_lines(path, "games"))


def test_a_compressed_file_that_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl.gz"
    content = gzip.compress(replay_line(random_replay(TABLE, 2)) * 50)
    assert "can't be read" in error_of(path, content[: len(content) // 2])
    bomb = gzip.compress(b"0" * (50 << 20))
    assert "line 1: is longer than" in error_of(path, bomb)


def corruptions(content: bytes, count: int) -> Iterator[bytes]:
    """So many ways in which a file can come to harm."""
    draw = random.Random(8)
    for _ in range(count):
        data, at = bytearray(content), draw.randrange(len(content))
        match draw.randrange(6):
            case 0:
                data[at] ^= 1 << draw.randrange(8)
            case 1:
                del data[at : at + draw.randrange(1, 40)]
            case 2:
                data[at:at] = draw.randbytes(draw.randrange(1, 10))
            case 3:
                del data[at:]
            case 4:
                data[at] = ord(draw.choice('0123456789,[]{}" -.e'))
            case 5:
                other = draw.randrange(len(content))
                data[at : at + 8], data[other : other + 8] = (
                    data[other : other + 8],
                    data[at : at + 8],
                )
        yield bytes(data)


@pytest.mark.parametrize("packed", [False, True])
def test_whatever_harm_comes_to_a_file_no_other_game_is_read(tmp_path: Path, packed: bool) -> None:
    whole = [random_replay(TINY), random_replay(TABLE, 2), random_replay(TINY, steps=3)]
    content = b"".join(map(replay_line, whole))
    path, refused = tmp_path / "games.jsonl", 0
    for harmed in corruptions(gzip.compress(content) if packed else content, 300):
        path.write_bytes(harmed)
        try:
            found = load_replays(path)
        except IncunabulaError:
            refused += 1
        else:  # at a line's end nothing shows that there were more
            assert found == whole[: len(found)]
    assert refused > 250


def test_without_a_hash_what_is_read_is_a_game_all_the_same(tmp_path: Path) -> None:
    content, path = changed(random_replay(TINY)), tmp_path / "games.jsonl"
    read = 0
    for harmed in corruptions(content, 300):
        path.write_bytes(harmed)
        try:
            (found,) = load_replays(path, loaded(TINY))
        except IncunabulaError:
            continue
        read += 1
        last = list(positions(found, loaded(TINY)))[-1]
        assert int(np.atleast_1d(last.state.score[0])[0]) == found.scores[0]
    assert 0 < read < 100


# Writing ------------------------------------------------------------------------------------------


def test_nothing_half_is_left(tmp_path: Path) -> None:
    path, good = tmp_path / "games.jsonl", random_replay(TINY)
    write_replays(path, [good])

    def fails() -> Iterator[Replay]:
        yield good
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_replays(path, fails())
    with pytest.raises(IncunabulaError, match=r"replay 2: players\[0\]: expected printable"):
        write_replays(path, [good, replace(good, players=("\n",))])
    assert load_replays(path) == [good]
    assert os.listdir(tmp_path) == ["games.jsonl"]
    with pytest.raises(IncunabulaError, match="can't be written: No such file"):
        write_replays(tmp_path / "none" / "games.jsonl", [good])


@pytest.mark.skipif(os.name == "nt", reason="no such pipes")
def test_what_is_no_file_is_not_replaced_and_links_are_followed(tmp_path: Path) -> None:
    good, target, link = random_replay(TINY), tmp_path / "games.jsonl", tmp_path / "link.jsonl"
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe", ".", ""):
        with pytest.raises(IncunabulaError, match="can't be written: it must be a regular file"):
            write_replays(tmp_path / name, [good])
    for name in ("a\0b", "n" * 300):
        with pytest.raises(IncunabulaError, match="can't be written: "):
            write_replays(tmp_path / name, [good])
    link.symlink_to("games.jsonl")
    for replays in ([good], [good, good]):  # there is no such file yet; then there is
        write_replays(link, replays)
        assert load_replays(target) == replays
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(IncunabulaError, match="loop: can't be written: "):
        write_replays(tmp_path / "loop", [good])
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["folder", "games.jsonl", "link.jsonl", "loop", "pipe"]


@pytest.mark.skipif(os.name == "nt", reason="signals of another kind")
def test_killed_while_writing_what_was_there_stays(tmp_path: Path) -> None:
    path, good = tmp_path / "games.jsonl", random_replay(TINY)
    write_replays(path, [good])
    script = (
        "import sys, time\n"
        "from incunabula.envs.replay import read_replays, write_replays\n"
        "def slow():\n"
        "    for replay in list(read_replays(sys.argv[1])) * 200:\n"
        "        yield replay\n"
        "    print('half', flush=True)\n"
        "    time.sleep(60)\n"
        "write_replays(sys.argv[1], slow())\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "half\n"
        writer.send_signal(signal.SIGKILL)
    assert load_replays(path) == [good]
