"""Every command in the pages runs, at reduced size."""

from __future__ import annotations

import re
import shlex
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from incunabula.agents.policy_folder import engine_of, save_policy
from incunabula.envs.editions import load_any_edition
from incunabula.envs.replay import write_replays
from tests.commands import Cli, cli
from tests.pages import PAGES, ROOT, blocks, name_of, text_of, without_code
from tests.replays import random_replay
from tests.small_editions import SMALL

__all__ = ["cli"]

# Options that stand in for a command's own, or are added to them, for a quick run.
REDUCED = {
    "evaluate": ["--games", "2"],
    "bench": ["--seconds", "0.02", "--num-envs", "2"],
    "league": ["--deals", "1"],
    "ladder": ["--agents", "random,greedy", "--games", "2", "--search-games", "1"],
    "hindsight": ["--width", "2"],
    "doctor": ["--no-speed"],
}
# Beginnings of commands that aren't run here.
EXEMPT = {
    "make ": "they are what runs the tests, or train for minutes",
    "pip install ": "it would change the environment that the tests run in",
    "python docs/examples/cleanrl_ppo.py": "tests/test_clients.py runs it",
    "python -m incunabula.agents.precompile": "minutes of compiling; `make test` runs it",
    "incunabula ladder bibliogamo --runs": "needs five training runs; tests/test_ladder_runs.py",
    "incunabula ladder bibliogamo --agents random,greedy,ppo,rollouts,search": "the same",
    "incunabula ladder scriptorium --agents random,greedy,ppo,rollouts,search": "the same",
    "incunabula bench bibliogamo --against numpy,sync,oracle,pgx,openspiel": "needs other suites; "
    "tests/test_bench_against.py",
    "incunabula bound": "ten seconds on the smallest edition; tests/test_bounds.py runs it",
    "incunabula play": "serves until it is stopped",
}


def lines_of(page: Path) -> list[list[str]]:
    """The commands of a page, block by block, each without its comment."""
    found = []
    for language in ("text", "sh"):
        for block in blocks(page, language):
            lines = [line.partition(" #")[0].strip() for line in block.splitlines()]
            lines = [line for line in lines if re.match(r"(incunabula|python|pip|make) ", line)]
            if lines:
                found.append(lines)
    return found


def exempt(line: str) -> bool:
    return line.startswith(tuple(EXEMPT))


def commands() -> list[Any]:
    """Blocks of commands, those left out that differ from an earlier one in nothing that runs."""
    found: list[Any] = []
    seen: set[str] = set()
    for page in PAGES:
        for lines in lines_of(page):
            new = [line for line in lines if not exempt(line) and reduced(line) not in seen]
            if new:
                # Lines of a block may build on each other: all are run if one is new.
                lines = [line for line in lines if not exempt(line)]
                seen |= {reduced(line) for line in lines}
                found.append(pytest.param(lines, id=f"{name_of(page)}: {new[0][:50]}"))
    return found


def reduced(line: str) -> str:
    """A command as it is run here: on the smallest editions, for a moment."""
    arguments = shlex.split(line)[1:]
    name, game = arguments[0], arguments[1] if len(arguments) > 1 else ""
    more = REDUCED.get(name, [])
    text = shlex.join(arguments)
    if name == "train":
        text = re.sub(r" --config \S+", "", text)
        more = ["--config", f"small-{game}.yaml"]
    elif name in ("evaluate", "league", "ladder", "bench") and "--luck" not in text:
        text = re.sub(r"\bppo\b", f"others/{game}", text)
        if "--edition" not in text:
            more = [*more, "--edition", f"{game}-tiny"]
    elif name == "replay":
        text = re.sub(r"\bppo\b", "others/bibliogamo", text)
    elif name == "hindsight":
        text = re.sub(r"--(games|workers) \d+", r"--\1 1", text)
        more = [*([] if "--check" in text else more), "--edition", "small.yaml"]
    if name == "solve":
        text = text.replace(game, "small.yaml", 1)
    if "optimal" in text:
        text = re.sub("bibliogamo-(tiny|small)", "small.yaml", text)
    if "--luck" in text:  # measured of the full game alone
        text = re.sub(r"--agents \S+", "--agents random", text)
    if "--par" in text:
        more = [*more, "--par-width", "2"]
    if name == "evaluate" and "rollouts" in text:
        text = re.sub(r"--seconds-per-move \S+", "", text)
        more = [*more, "--simulations", "4"]
    if name == "ladder" and game == "scriptorium":
        more = [*more, "--league-deals", "1", "--players", "2"]
    if name == "bench" and game == "scriptorium":
        more = [*more, "--opponents", "random"]
    for option in more:
        text = re.sub(rf" {option} \S+", "", text) if option.startswith("--") else text
    return f"{text} {shlex.join(more)}".strip()


HIDDEN = 4  # units of policies
CONFIG = {
    "total_steps": 64,
    "num_envs": 4,
    "n_steps": 16,
    "batch_size": 32,
    "network": {"kind": "mlp", "layers": [8]},
    "eval": {"every": 64, "games": 2},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the pages speak of, small ones."""
    for game, mine in (("bibliogamo", "my-cards"), ("scriptorium", "my-tiles")):
        edition = f"{game}-tiny"
        shutil.copy(ROOT / f"configs/editions/{edition}.yaml", tmp_path / f"{mine}.yaml")
        config = {"game": game, "edition": edition, **CONFIG}
        if game == "scriptorium":
            config |= {"players": [2], "opponents": {"self": 1}, "reward": {"margin": 1}}
        (tmp_path / f"small-{game}.yaml").write_text(yaml.safe_dump(config))
        write_policy(tmp_path / "others" / game, edition)
    for run in ("runs/demo", "runs/mine", "runs/first", "policy"):
        shutil.copytree(tmp_path / "others" / "bibliogamo", tmp_path / run)
    shutil.copytree(tmp_path / "others" / "scriptorium", tmp_path / "runs" / "scribe")
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(SMALL["reshuffles"]))
    shutil.copy(ROOT / "tests/golden/bibliogamo-more.jsonl.gz", tmp_path / "games.jsonl.gz")
    played = [random_replay("bibliogamo-tiny", deal={"seed": str(seed)}) for seed in (0, 1)]
    (tmp_path / "games").mkdir()
    write_replays(tmp_path / "games" / "greedy.jsonl", played)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_policy(folder: Path, name: str) -> None:
    """An untrained policy for an edition."""
    edition = load_any_edition(name)
    engine, draw = engine_of(edition), np.random.default_rng(0)
    weights = {}
    for part, outputs in (("policy", engine.actions.n), ("value", 1)):
        sizes = (engine.layout.size, HIDDEN, outputs)
        for number, shape in enumerate(pairwise(sizes)):
            layer = draw.normal(size=shape[::-1]).astype(np.float32)
            weights[f"{part}.{number}.weight"] = layer
            weights[f"{part}.{number}.bias"] = np.zeros(shape[1], np.float32)
    save_policy(
        folder,
        weights,
        edition=edition,
        network={"kind": "mlp", "layers": [HIDDEN], "value_layers": [HIDDEN], "activation": "tanh"},
        training={"algorithm": "none", "steps": 0},
        players=None if edition.game == "bibliogamo" else [2, 3, 4],
    )


@pytest.mark.parametrize("lines", commands())
def test_commands_run(lines: list[str], folder: Path, cli: Cli) -> None:
    for line in lines:
        text = reduced(line)
        needs(text)
        out = re.search(r"--out (\S+)", text)
        if out and text.startswith("train"):  # a new folder is what it wants
            shutil.rmtree(folder / out[1], ignore_errors=True)
        outcome = cli(*shlex.split(text))
        assert outcome.status == 0, f"{line}\n{outcome.err}"
        assert outcome.out or text.startswith("train"), line


def needs(text: str) -> None:
    """Skip what needs an extra that isn't installed."""
    if text.startswith("train"):
        pytest.importorskip("sb3_contrib")
    if text.startswith(("solve", "hindsight")) or "optimal" in text:
        pytest.importorskip("numba")
    if "--out" in text or text.startswith("league"):
        pytest.importorskip("matplotlib")
        pytest.importorskip("choix")
    if "--onnx" in text:
        pytest.importorskip("onnxscript")


def test_no_exemption_is_idle() -> None:
    lines = [line for page in PAGES for block in lines_of(page) for line in block]
    idle = {start for start in EXEMPT if not any(line.startswith(start) for line in lines)}
    assert not idle


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_stand_in_blocks_that_are_run(page: Path) -> None:
    text = re.sub(r"^ *```.*?^ *```$", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
    assert not re.findall(r"^    (?:incunabula|python|pip) .*", text, re.MULTILINE)
    for fence in re.findall(r"^ *```(.*)$", text_of(page), re.MULTILINE)[::2]:
        assert fence in ("python", "text", "sh", "yaml", "json"), fence
    assert "```" not in without_code(text_of(page))
