"""Policy folders and the agent that plays them: exact, batch-independent, and trusting nothing."""

import contextlib
import json
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from incunabula.agents import policy_folder, tensors
from incunabula.agents.agent import View
from incunabula.agents.features import Features
from incunabula.agents.learned import BLOCK, PolicyAgent
from incunabula.agents.networks import expected_shapes
from incunabula.agents.policy_folder import DESCRIPTION, WEIGHTS, load_policy, save_policy
from incunabula.agents.tensors import read_tensors, tensors_to_bytes, write_folder
from incunabula.envs.bibliogamo.edition import load_edition
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.games import play_games
from incunabula.training.evaluation.seeds import seed_list

NETWORKS: list[dict[str, Any]] = [
    {
        "kind": kind,
        "layers": [24, 16],
        "value_layers": [8],
        "activation": activation,
        "card_dim": 8,
        "tower_dim": 8,
        "advisor": None,
        "advice": 0.0,
    }
    for kind, activation in (("mlp", "tanh"), ("towers", "tanh"), ("cards", "relu"))
]
KINDS = ["mlp", "towers", "cards"]


def random_weights(
    network: dict[str, Any], edition: str = "bibliogamo", seed: int = 0
) -> dict[str, npt.NDArray[np.float32]]:
    engine = BibliogamoEngine(edition)
    shapes = expected_shapes(network, engine)
    rng = np.random.default_rng(seed)
    return {n: rng.normal(size=s).astype(np.float32) for n, s in shapes.items()}


def make_policy(
    folder: Path, network: dict[str, Any] = NETWORKS[1], edition: str = "bibliogamo"
) -> Path:
    save_policy(
        folder,
        random_weights(network, edition),
        edition=load_edition(edition),
        network=network,
        training={"steps": 0},
    )
    return folder


def positions(n: int, steps: int = 40) -> BibliogamoEngine:
    """n games after some random moves."""
    engine = BibliogamoEngine("bibliogamo", n)
    engine.deal(np.arange(n), np.arange(n))
    rng = np.random.default_rng(0)
    for _ in range(steps):
        engine.apply((rng.random(engine.mask.shape) * engine.mask).argmax(axis=1))
    return engine


def view(engine: BibliogamoEngine, rows: npt.NDArray[np.intp]) -> View:
    return View(engine, rows, rows.astype(np.uint64), np.zeros(len(rows), np.int64))


# Playing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("network", NETWORKS, ids=KINDS)
def test_actions_do_not_depend_on_the_batch(network: dict[str, Any], tmp_path: Path) -> None:
    agent = PolicyAgent(make_policy(tmp_path / "p", network))
    engine = positions(512)
    together = agent.act(view(engine, np.arange(512)))
    for size in (1, 7, BLOCK, BLOCK + 1):
        rows = np.arange(0, 512) if size > 1 else np.arange(0, 512, 23)
        parts = [
            agent.act(view(engine, part)) for part in np.split(rows, range(size, len(rows), size))
        ]
        np.testing.assert_array_equal(np.concatenate(parts), together[rows])
    backwards = agent.act(view(engine, np.arange(512)[::-1].copy()))
    np.testing.assert_array_equal(backwards[::-1], together)


@pytest.mark.parametrize("network", NETWORKS, ids=KINDS)
def test_games_do_not_depend_on_the_batch(network: dict[str, Any], tmp_path: Path) -> None:
    edition = load_edition("bibliogamo")
    agent = PolicyAgent(make_policy(tmp_path / "p", network), edition)
    many = play_games(agent, edition, seed_list("dev", 100), batch_size=512)
    for size, games in ((1, 4), (7, 40)):
        few = play_games(agent, edition, seed_list("dev", games), batch_size=size)
        for a, b in zip(few, many, strict=True):
            np.testing.assert_array_equal(a, b[:games])


@pytest.mark.parametrize("edition", ["bibliogamo", "bibliogamo-tiny", "bibliogamo-small"])
@pytest.mark.parametrize("network", NETWORKS, ids=KINDS)
def test_every_edition_can_be_played(network: dict[str, Any], edition: str, tmp_path: Path) -> None:
    agent = PolicyAgent(make_policy(tmp_path / "p", network, edition))
    played = play_games(agent, load_edition(edition), seed_list("dev", 20))
    assert (played.decisions > 0).all()


def test_hand_set_holds_the_hand() -> None:
    engine = positions(64)
    t = engine.tables
    inputs, ids = Features(t).hand_set(engine.observe())
    np.testing.assert_array_equal(ids, engine.state.hand)
    start = engine.layout.fields["hand"].start
    held = inputs[:, start : start + t.cards]
    np.testing.assert_array_equal(held, engine.state.place == 1)
    sums = inputs[:, start + t.cards :]
    artisans = t.artisans[engine.state.hand].sum(axis=1)
    np.testing.assert_array_equal(sums[:, : t.types], artisans)
    assert sums.shape == (64, 2 * t.types)
    assert (sums[:, t.types :].sum(axis=1) == (engine.state.hand < t.cards).sum(axis=1)).all()


def test_another_edition_is_refused_while_playing(tmp_path: Path) -> None:
    agent = PolicyAgent(make_policy(tmp_path / "p"))
    engine = BibliogamoEngine("bibliogamo-tiny")
    engine.deal(np.array([0]), [0])
    with pytest.raises(IncunabulaError, match="made for edition 'bibliogamo'"):
        agent.act(view(engine, np.array([0])))


# Saving and loading -------------------------------------------------------------------------------


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    folder = make_policy(tmp_path / "p")
    policy = load_policy(folder, load_edition("bibliogamo"))
    wanted = random_weights(NETWORKS[1])
    assert set(policy.weights) == set(wanted)
    for name, array in wanted.items():
        np.testing.assert_array_equal(policy.weights[name], array)
    assert policy.network == NETWORKS[1]
    assert sorted(path.name for path in folder.iterdir()) == [DESCRIPTION, WEIGHTS]
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


def test_the_files_are_safetensors(tmp_path: Path) -> None:
    reader = pytest.importorskip("safetensors.numpy")
    writer = reader
    arrays = {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "scalar": np.array(3.5),
        "none": np.zeros((0, 4), np.int16),
        "flags": np.array([True, False]),
    }
    (tmp_path / "mine").write_bytes(tensors_to_bytes(arrays, {"who": "me"}))
    (tmp_path / "theirs").write_bytes(writer.save(arrays))
    for found in (reader.load_file(tmp_path / "mine"), read_tensors(tmp_path / "theirs")):
        assert set(found) == set(arrays)
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype
            np.testing.assert_array_equal(found[name], array)


def change_json(folder: Path, **changes: Any) -> None:
    path = folder / DESCRIPTION
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def change_weights(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the arrays and make the description's hash fit, as an attacker would."""
    arrays: dict[str, Any] = dict(read_tensors(folder / WEIGHTS))
    change(arrays)
    write_weights(folder, tensors_to_bytes(arrays))


def write_weights(folder: Path, content: bytes) -> None:
    (folder / WEIGHTS).write_bytes(content)
    change_json(folder, weights_sha256=policy_folder.hashlib.sha256(content).hexdigest())


def header(entries: object, data: bytes = b"") -> bytes:
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text + data


def nan(arrays: dict[str, Any]) -> None:
    arrays["policy.0.bias"][0] = np.nan


def network(**changes: Any) -> dict[str, Any]:
    return NETWORKS[1] | changes


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "no description": (lambda f: (f / DESCRIPTION).unlink(), "is this a policy folder"),
    "no weights": (lambda f: (f / WEIGHTS).unlink(), f"{WEIGHTS}: there is no such file"),
    "not json": (lambda f: (f / DESCRIPTION).write_text("{"), "isn't JSON"),
    "deep json": (lambda f: (f / DESCRIPTION).write_text("[" * 100_000), "isn't JSON"),
    "binary": (lambda f: (f / DESCRIPTION).write_bytes(b"\x80\x04\x95\xff"), "isn't JSON"),
    "a list": (lambda f: (f / DESCRIPTION).write_text("[]"), "must hold an object"),
    "huge": (lambda f: (f / DESCRIPTION).write_bytes(b" " * 2**21), "is larger than"),
    "format": (lambda f: change_json(f, format=2), "format: is 2"),
    "no game": (lambda f: (f / DESCRIPTION).write_text('{"format": 1}'), "game: is missing"),
    "type": (lambda f: change_json(f, actions="52"), "actions: must be a whole number"),
    "game": (lambda f: change_json(f, game="scriptorium"), "plays 'scriptorium'"),
    "edition": (lambda f: change_json(f, edition_sha256="0" * 64), "edition_sha256: the policy"),
    "layout": (lambda f: change_json(f, layout_sha256="0" * 64), "layout_sha256: the policy"),
    "size": (lambda f: change_json(f, observation_size=7), "observation_size: is 7"),
    "actions": (lambda f: change_json(f, actions=10**9), "actions: is 1000000000"),
    "kind": (lambda f: change_json(f, network=network(kind="os")), "network.kind: is 'os'"),
    "kinds": (lambda f: change_json(f, network=network(kind=[])), "network.kind: is '[]'"),
    "activation": (lambda f: change_json(f, network=network(activation="exp")), "activation"),
    "wide": (lambda f: change_json(f, network=network(layers=[10**9])), "network.layers: must"),
    "deep": (lambda f: change_json(f, network=network(layers=[1] * 99)), "network.layers: must"),
    "keys": (lambda f: change_json(f, network=network(card_dim=10**9)), "network.card_dim"),
    "extra": (lambda f: change_json(f, network=network(path="/etc")), "unknown field 'path'"),
    "shapes": (lambda f: change_json(f, network=network(layers=[25, 16])), "has shape [24"),
    "hash": (lambda f: change_json(f, weights_sha256="0" * 64), "isn't the file policy.json"),
    "nan": (lambda f: change_weights(f, nan), "policy.0.bias: holds values that aren't finite"),
    "missing": (lambda f: change_weights(f, lambda a: a.pop("value.0.bias")), "value.0.bias [8]"),
    "more": (
        lambda f: change_weights(f, lambda a: a.update({"x": np.zeros(1)})),
        "array 'x' is none of the network's",
    ),
    "double": (
        lambda f: change_weights(f, lambda a: a.update({"value.0.bias": np.zeros(8)})),
        "value.0.bias: is float64",
    ),
    "cut": (
        lambda f: write_weights(f, (f / WEIGHTS).read_bytes()[:-1]),
        "doesn't have the size of its shape",
    ),
    "tail": (
        lambda f: write_weights(f, (f / WEIGHTS).read_bytes() + b"x"),
        "bytes of data where its arrays take",
    ),
    "empty": (lambda f: write_weights(f, b""), "isn't a safetensors file"),
    "pickle": (lambda f: write_weights(f, b"\x80\x04cos\nsystem\n."), "isn't a safetensors file"),
    "length": (lambda f: write_weights(f, b"\xff" * 16), "isn't a safetensors file"),
    "header": (lambda f: write_weights(f, header([])), "isn't a table"),
    "entry": (lambda f: write_weights(f, header({"x": 3})), "array 'x' is described wrongly"),
    "dtype": (
        lambda f: write_weights(
            f, header({"x": {"dtype": "O", "shape": [1], "data_offsets": [0, 8]}}, b"8" * 8)
        ),
        "array 'x' is described wrongly",
    ),
    "product": (
        lambda f: write_weights(
            f, header({"x": {"dtype": "F32", "shape": [2**40, 2**40], "data_offsets": [0, 0]}})
        ),
        "doesn't have the size of its shape",
    ),
    "overlap": (
        lambda f: write_weights(
            f,
            header(
                {n: {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]} for n in "ab"}, b"1234"
            ),
        ),
        "overlap or leave gaps",
    ),
    "negative": (
        lambda f: write_weights(
            f, header({"x": {"dtype": "U8", "shape": [-1], "data_offsets": [1, 0]}}, b"1")
        ),
        "array 'x' is described wrongly",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_folders_are_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    folder = make_policy(tmp_path / "p")
    change, words = HOSTILE[name]
    change(folder)
    with pytest.raises(IncunabulaError) as caught:
        PolicyAgent(folder, "bibliogamo")
    message = str(caught.value)
    assert words in message
    assert message.startswith(str(folder))
    assert "\n" not in message


def test_links_are_not_followed(tmp_path: Path) -> None:
    folder = make_policy(tmp_path / "p")
    shutil.move(folder / WEIGHTS, tmp_path / "elsewhere")
    (folder / WEIGHTS).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(IncunabulaError, match="is a link"):
        load_policy(folder)


@pytest.mark.parametrize("path", ["nowhere", "a file", "nul\0l"])
def test_paths_that_are_no_folder(path: str, tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("")
    with pytest.raises(IncunabulaError):
        load_policy(tmp_path / path)


def test_a_policy_for_another_edition_says_which(tmp_path: Path) -> None:
    folder = make_policy(tmp_path / "p", edition="bibliogamo-tiny")
    with pytest.raises(IncunabulaError, match=r"edition 'bibliogamo-tiny'\), but the edition"):
        PolicyAgent(folder, "bibliogamo")


def test_weights_that_do_not_fit_are_not_saved(tmp_path: Path) -> None:
    weights = random_weights(NETWORKS[1])
    weights["policy.0.bias"][:] = np.inf
    with pytest.raises(IncunabulaError, match="aren't finite"):
        save_policy(
            tmp_path / "p",
            weights,
            edition=load_edition("bibliogamo"),
            network=NETWORKS[1],
            training={},
        )
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_policy(tmp_path / "p")
    before = (folder / WEIGHTS).read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tensors.os, "fsync", full)
    with pytest.raises(IncunabulaError, match="can't be written: No space left on device"):
        write_folder(folder, {"x": b"new"})
    assert (folder / WEIGHTS).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


@pytest.mark.parametrize("calls", range(12))
def test_a_kill_while_replacing_leaves_a_whole_folder(
    calls: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stop dead at each file operation in turn: the old or the new content is found."""
    folder = tmp_path / "p"
    write_folder(folder, {"x": b"old"})
    left = calls

    class Killed(BaseException):
        pass

    def dying(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal left
            if left <= 0:
                raise Killed
            left -= 1
            return function(*arguments, **options)

        return call

    with monkeypatch.context() as patch:
        for name in ("rename", "unlink", "rmdir", "mkdir"):
            patch.setattr(Path, name, dying(getattr(Path, name)))
        patch.setattr(tensors.os, "fsync", dying(os.fsync))
        with contextlib.suppress(Killed):
            write_folder(folder, {"x": b"new"})
    found = tensors.existing_folder(folder)
    assert (found / "x").read_bytes() in (b"old", b"new")
    write_folder(folder, {"x": b"newer"})
    assert (tensors.existing_folder(folder) / "x").read_bytes() == b"newer"
