"""The option ``backend`` of evaluations, leagues, conformance and training: results name who worked
out the rules and don't depend on it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pytest

from incunabula.agents.agent import Agent, RandomAgent, View
from incunabula.envs import backend as backend_module
from incunabula.envs import conform as conform_module
from incunabula.envs.backend import BACKENDS
from incunabula.envs.compiled.backend import CompiledBackend
from incunabula.envs.conform import conform
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.evaluate import evaluate
from incunabula.training.league.evaluate import evaluate_versus
from tests.backends import BOTH, as_python, needs_numba
from tests.commands import Cli, cli
from tests.play import scripted

__all__ = ["as_python", "cli"]

GOLDEN = Path(__file__).with_name("golden")
Json = dict[str, Any]


# Evaluations and leagues -------------------------------------------------------------------------


class Seer(Agent):
    """Chooses by every bit of the observation."""

    def act(self, view: View) -> npt.NDArray[np.intp]:
        seen = np.array([crc32(row.tobytes()) for row in view.observation], np.uint64)
        return scripted(view.action_mask, seen, view.decision.astype(np.uint64))


def without_timing(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_timing(v) for k, v in value.items() if k not in ("timing", "backend")}
    return [without_timing(v) for v in value] if isinstance(value, list) else value


def evaluated(backend: str) -> Json:
    agents = [RandomAgent(1), Seer()]
    options: Json = {"edition": "bibliogamo-tiny", "games": 12, "batch_size": 5}
    return evaluate(agents, backend=backend, **options).result


def versus(backend: str) -> Json:
    options: Json = {"num_players": 3, "edition": "scriptorium-tiny", "deals": 4}
    agents = [RandomAgent(1)]
    return evaluate_versus(agents, against=Seer(), backend=backend, **options).result


def a_league(backend: str) -> Json:
    pytest.importorskip("choix")
    from incunabula.training.league.league import league

    agents = [RandomAgent(1), Seer()]
    return league(agents, edition="scriptorium-tiny", deals=4, backend=backend).result


@needs_numba
@pytest.mark.parametrize("played", [evaluated, versus, a_league])
def test_results_name_their_backend_and_are_the_same(
    played: Callable[[str], Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, step = 0, CompiledBackend.step

    def counted(*arguments: Any) -> None:
        nonlocal steps
        steps += 1
        step(*arguments)

    monkeypatch.setattr(CompiledBackend, "step", counted)
    numpy, auto = played("numpy"), played("auto")
    assert not steps
    numba = played("numba")
    assert steps > 30
    assert (numpy["backend"], numba["backend"], auto["backend"]) == ("numpy", "numba", "numpy")
    assert {agent.get("backend", "numba") for agent in numba["agents"]} == {"numba"}
    assert without_timing(numpy) == without_timing(numba)
    with pytest.raises(IncunabulaError, match=r"^backend: expected one of numpy, numba, auto"):
        played("all")


@needs_numba
@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "bibliogamo", "--edition", "bibliogamo-tiny"),
        ("evaluate", "scriptorium", "--edition", "scriptorium-tiny", "--against", "random"),
        ("league", "scriptorium", "--edition", "scriptorium-tiny"),
    ],
    ids=lambda command: f"{command[0]} {command[1]}",
)
def test_commands_take_the_option(cli: Cli, command: tuple[object, ...]) -> None:
    if command[0] == "league":
        pytest.importorskip("choix")
        command = (*command, "--agents", "random,random", "--deals", 1)
    else:
        command = (*command, "--agents", "random", "--games", 1)
    for options, name in (((), "numpy"), (("--backend", "numba"), "numba")):
        outcome = cli(*command, "--json", *options)
        assert outcome.status == 0, outcome.err
        assert json.loads(outcome.out)["backend"] == name
    assert "engine numba" in " ".join(cli(*command, "--backend", "numba").out.split())
    outcome = cli(*command, "--backend", "nunba")
    assert (outcome.status, outcome.out) == (2, "")
    assert "did you mean 'numba'?" in outcome.err


class Planner(Agent):
    """Makes an engine to search in, and notes its backend."""

    def __init__(self, *backend: str) -> None:
        self.backend = backend
        self.made: list[str] = []

    def act(self, view: View) -> npt.NDArray[np.intp]:
        engine = view.determinise(np.arange(len(view), dtype=np.uint64), *self.backend)
        self.made.append(engine.backend.name)
        return engine.mask.argmax(axis=1)


@needs_numba
def test_planners_search_with_auto_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    usual, told = Planner(), Planner("numpy")
    monkeypatch.setattr(backend_module, "can_compile", lambda: True)
    for agent in (usual, told):
        evaluate([agent], edition="bibliogamo-tiny", games=1, backend="numpy")
    assert (set(usual.made), set(told.made)) == ({"numba"}, {"numpy"})


# Conformance -------------------------------------------------------------------------------------


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """The beginnings of a game of Bibliogamo and of one of Scriptorium."""
    path = tmp_path / "games.jsonl"
    with path.open("w") as file:
        for name in ("bibliogamo.jsonl.gz", "scriptorium.jsonl.gz"):
            with gzip.open(GOLDEN / name, "rt", encoding="utf-8") as lines:
                game = json.loads(next(lines))
            game = {k: v for k, v in game.items() if k not in ("winners", "outcome")}
            file.write(json.dumps(game | {"steps": game["steps"][:12]}) + "\n")
    return path


@needs_numba
def test_conformance_is_of_every_backend_that_is_meant(
    cli: Cli, games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agreed = [conform(games, backend=name) for name in ("numpy", "numba", "auto", "all")]
    assert [a.backends for a in agreed] == [("numpy",), ("numba",), ("numpy",), ("numpy",)]
    assert {(a.games, a.steps, a.difference) for a in agreed} == {(2, 24, None)}
    assert cli("conform", games, "--backend", "numba").out == "2 games, 24 steps agree (numba)\n"

    monkeypatch.setattr(conform_module, "installed_backends", lambda: BOTH)
    assert cli("conform", games).out == "2 games, 24 steps agree (numpy, numba)\n"
    step = CompiledBackend.step

    def wrong(self: CompiledBackend, rows: Any, actions: Any, dealt: Any, mask: Any) -> None:
        step(self, rows, actions, dealt, mask)
        self._state.seed[0] += np.uint64(1)
        if self.game == "scriptorium":
            self._state.tokens[0, 1] += 1

    monkeypatch.setattr(CompiledBackend, "step", wrong)
    assert conform(games, backend="numpy").difference is None
    difference = conform(games).difference
    assert difference is not None
    assert (difference.game, difference.step, difference.backend) == (1, 1, "numba")
    assert str(difference).endswith(" (numba)")
    outcome = cli("conform", games, "--json")
    assert outcome.status == 1
    result = json.loads(outcome.out)
    assert (result["backends"], result["difference"]["backend"]) == (list(BOTH), "numba")


@pytest.mark.parametrize("name", ["nunba", "alll"])
def test_conform_says_which_backends_there_are(cli: Cli, games: Path, name: str) -> None:
    outcome = cli("conform", games, "--backend", name)
    assert outcome.status == 2
    known = ", ".join((*BACKENDS, "all"))
    said = f"incunabula: backend: expected one of {known}, got '{name}' (did you mean "
    assert outcome.err.startswith(said)


# Training ----------------------------------------------------------------------------------------

RUNS: dict[str, Json] = {
    "bibliogamo": {
        "edition": "bibliogamo-tiny",
        "network": {"kind": "mlp", "layers": [8]},
        "shaping": {},
        "skip_forced": True,
    },
    "scriptorium": {
        "edition": "scriptorium-tiny",
        "players": [2, 3],
        "network": {"kind": "mlp", "layers": [8]},
        "opponents": {"self": 1, "past": 1, "greedy": 0, "random": 1},
        "past": {"every": 64, "size": 2},
    },
}
SIZES: Json = {"total_steps": 192, "num_envs": 8, "n_steps": 8, "batch_size": 32, "n_epochs": 1}
SIZES |= {"eval": {"every": 192, "games": 2}, "checkpoint_every": 64}


@needs_numba
@pytest.mark.parametrize("game", RUNS)
def test_a_run_resumed_with_the_other_backend_goes_on_exactly(game: str, tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib")
    from incunabula.training.ppo.command import train
    from incunabula.training.ppo.config import load_config
    from incunabula.training.ppo.trainer import Trainer

    config = {"game": game, **RUNS[game], **SIZES}
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    Trainer.start(load_config(config | {"backend": "numpy"}), whole).run(quiet=True)
    Trainer.start(load_config(config | {"backend": "numba"}), parts).run(stop_after=64, quiet=True)
    assert json.loads((parts / "versions.json").read_text())["backend"] == "numba"
    assert receipt(parts / "policy-last")["backend"] == "numba"
    summary = train(resume=str(parts), backend="numpy", quiet=True)
    assert (summary["backend"], receipt(parts / "policy")["backend"]) == ("numpy", "numpy")
    assert load_config(parts / "config.yaml").backend == "numpy"
    for name in ("model.safetensors", "environment.safetensors"):
        one, other = ((f / "checkpoints" / "192" / name).read_bytes() for f in (whole, parts))
        assert one == other
    weights = [(f / "policy" / "policy.safetensors").read_bytes() for f in (whole, parts)]
    assert weights[0] == weights[1]


def receipt(folder: Path) -> Json:
    """What a policy folder says of its training."""
    training: Json = json.loads((folder / "policy.json").read_text())["training"]
    return training


def test_a_configuration_names_a_backend_that_there_is() -> None:
    pytest.importorskip("sb3_contrib")
    from incunabula.training.ppo.config import ConfigError, load_config

    config: Json = {"game": "bibliogamo", "total_steps": 10_000_000}
    assert load_config(config).backend == "auto"
    with pytest.raises(ConfigError, match=r"backend: .*did you mean 'numba'"):
        load_config(config | {"backend": "nunba"})
