"""One learning iteration with libraries that users bring, on both games, as docs/clients.md has it.

Left out unless asked for: `pytest -m clients`. What isn't installed is skipped.
"""

from __future__ import annotations

import importlib.util
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

DOCS = Path(__file__).parents[1] / "docs"
# These libraries warn of much that isn't ours to change.
pytestmark = [pytest.mark.clients, pytest.mark.filterwarnings("ignore")]
GAMES = ("BIBLIOGAMO", "SCRIPTORIUM")


def section(title: str) -> dict[str, Any]:
    """What the Python of a section of the page defines."""
    text = (DOCS / "clients.md").read_text()
    parts = dict(re.findall(r"^#+ (.*?)\n(.*?)(?=^#+ |\Z)", text, re.DOTALL | re.MULTILINE))
    names: dict[str, Any] = {"__name__": "clients"}
    first = next(iter(parts))
    for part in (parts[first], parts[title]):
        for block in re.findall(r"```python\n(.*?)```", part, re.DOTALL):
            exec(block, names)
    return names


def options(game: str) -> dict[str, Any]:
    return {"opponents": "random"} if game == "SCRIPTORIUM" else {}


# CleanRL ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cleanrl() -> ModuleType:
    spec = importlib.util.spec_from_file_location("cleanrl_ppo", DOCS / "examples/cleanrl_ppo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("game", ["Bibliogamo-tiny", "Scriptorium-tiny"])
def test_cleanrl_learns(game: str, cleanrl: ModuleType) -> None:
    args = cleanrl.Args(
        env_id=f"incunabula:incunabula/{game}-v0", num_envs=8, num_steps=64, total_timesteps=1024
    )
    first, second = cleanrl.train(args)
    assert (first["steps"], second["steps"]) == (512, 1024)
    assert first["games"] + second["games"] > 0
    for figures in (first, second):
        wanted = {k: v for k, v in figures.items() if k != "mean_return"}
        assert all(map(math.isfinite, wanted.values())), figures
    # So many actions are legal on average, by the entropy at the start: the mask is in force.
    assert 0 < first["entropy"] < math.log(20)


# TorchRL ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def torchrl() -> dict[str, Any]:
    pytest.importorskip("torchrl")
    return section("TorchRL")


@pytest.mark.parametrize("game", GAMES)
def test_torchrl_learns(game: str, torchrl: dict[str, Any]) -> None:
    torch.manual_seed(0)
    env = torchrl["torchrl_env"](torchrl[game], illegal_action="raise", **options(game))
    data, losses = torchrl["torchrl_iteration"](env)
    assert data["action_mask"].dtype == torch.bool
    assert not data["action_mask"].all()
    assert data["action_mask"].gather(1, data["action"][:, None]).all()
    assert data["next", "done"].any()
    for name in ("loss_objective", "loss_critic", "loss_entropy"):
        assert torch.isfinite(losses[name]).all(), name


@pytest.mark.parametrize("game", GAMES)
def test_torchrl_plays_legally_at_random(game: str, torchrl: dict[str, Any]) -> None:
    env = torchrl["torchrl_env"](torchrl[game], illegal_action="raise", **options(game))
    env.set_seed(0)
    data = env.rollout(200, break_when_any_done=False)
    assert data.shape == (200,)


@pytest.mark.parametrize("players", [2, 3])
def test_torchrl_plays_every_seat(players: int, torchrl: dict[str, Any]) -> None:
    pytest.importorskip("pettingzoo")
    env = torchrl["torchrl_table"](players, "scriptorium-tiny")
    env.set_seed(0)
    data = env.rollout(300)
    assert data["player", "observation", "observation"].shape[1:] == (players, 280)
    # One of them is to move, and nobody did anything illegal: that would have cost him 1.
    assert (data["player", "mask"].sum(dim=1) == 1).all()
    returns = data["next", "player", "reward"].sum(dim=0).flatten()
    assert data["next", "done"][-1].all()
    assert returns.sum() == pytest.approx(0, abs=1e-6)


# RLlib --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rllib() -> Iterator[dict[str, Any]]:
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.rllib", exc_type=ImportError)
    ray.init(num_cpus=1, include_dashboard=False, configure_logging=False, log_to_driver=False)
    yield section("RLlib")
    ray.shutdown()


@pytest.mark.parametrize("game", GAMES)
def test_rllib_learns(game: str, rllib: dict[str, Any]) -> None:
    config = rllib["rllib_config"](rllib[game], illegal_action="raise", **options(game))
    algorithm = config.build_algo()
    try:
        module = algorithm.get_module()
        before = [p.detach().clone() for p in module.parameters()]
        result = algorithm.train()
        assert result["env_runners"]["num_env_steps_sampled"] >= 256
        losses = result["learners"]["default_policy"]
        assert np.isfinite(losses["total_loss"])
        after = algorithm.get_module().parameters()
        assert any(not torch.equal(a, b) for a, b in zip(before, after, strict=True))
    finally:
        algorithm.stop()
