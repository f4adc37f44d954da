"""Exact values of the policies of a run, on an edition that can be solved."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")
pytest.importorskip("numba")

from incunabula.agents.exact.solver import solve
from incunabula.agents.learned import PolicyAgent
from incunabula.envs.bibliogamo.edition import load_edition
from incunabula.envs.errors import IncunabulaError
from incunabula.training.exact.policies import exact_value
from incunabula.training.ppo.config import load_config
from incunabula.training.ppo.trainer import Trainer
from tests.small_editions import SMALL

RUN: dict[str, Any] = {
    "game": "bibliogamo",
    "total_steps": 2048,
    "num_envs": 32,
    "n_steps": 16,
    "batch_size": 128,
    "gamma": 1.0,
    "reward_scale": 1.0,
    "learning_rate": {"start": 0.003, "end": 0.001},
    "network": {"kind": "mlp", "layers": [16]},
    "eval": {"every": 1024, "games": 2, "exact": True},
}


def test_evaluations_hold_the_exact_value_and_regret_and_choose_by_them(tmp_path: Path) -> None:
    file = tmp_path / "reshuffles.yaml"
    file.write_text(yaml.safe_dump(SMALL["reshuffles"]))
    edition = load_edition(file)
    trainer = Trainer.start(load_config(RUN | {"edition": str(file)}), tmp_path / "run")
    trainer.run(quiet=True)
    lines = (tmp_path / "run" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    found = [entry for entry in map(json.loads, lines) if "eval_mean" in entry]
    optimum = solve(edition).value
    assert [entry["steps"] for entry in found] == [1024, 2048]
    for entry in found:
        assert entry["eval_exact"] + entry["eval_regret"] == pytest.approx(optimum, abs=1e-8)
        assert entry["eval_regret"] > -1e-8
    assert trainer.best is not None
    assert trainer.best["eval_exact"] == max(entry["eval_exact"] for entry in found)
    for folder, entry in (("policy", trainer.best), ("policy-last", found[-1])):
        policy = PolicyAgent(tmp_path / "run" / folder, edition)
        assert exact_value(policy, edition).value == pytest.approx(entry["eval_exact"], abs=1e-8)


def test_what_can_not_be_solved_is_refused_beforehand(tmp_path: Path) -> None:
    large = load_config(RUN | {"edition": "bibliogamo"})
    with pytest.raises(IncunabulaError, match="too large"):
        Trainer.start(large, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    with pytest.raises(IncunabulaError, match=r"eval\.exact must be false"):
        load_config({"game": "scriptorium", "total_steps": 64, "eval": {"exact": True}})
