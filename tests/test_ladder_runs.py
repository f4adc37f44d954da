"""Training runs in a ladder: their spread, apart from the games' noise, and what is refused."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from incunabula.envs.compiled.functions import interpreted
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation.evaluate import evaluate
from incunabula.training.evaluation.statistics import chi2_quantile
from incunabula.training.ladder.command import print_ladder
from incunabula.training.ladder.page import page
from incunabula.training.ladder.runs import common_name, read_runs, training_spread
from tests.ladders import TINY, made, played


@pytest.mark.parametrize(
    ("df", "probability", "value"),  # of printed tables
    [
        (1, 0.95, 3.841),
        (4, 0.025, 0.484),
        (4, 0.975, 11.143),
        (9, 0.025, 2.700),
        (10, 0.95, 18.307),
    ],
)
def test_quantiles_of_chi_squared(df: int, probability: float, value: float) -> None:
    assert chi2_quantile(df, probability) == pytest.approx(value, abs=6e-4)


def test_spread_where_games_add_nothing() -> None:
    # Runs differ by the same amount in every deal: all of it is training.
    deals = np.array([10.0, 20, 40, 10])
    found = training_spread(deals + np.array([[0.0], [1], [2], [3], [4]]))
    assert (found["runs"], found["mean"], found["min"], found["max"]) == (5, 22, 20, 24)
    assert found["game_noise"] == 0
    assert found["training_sd"] == found["sd_of_means"] == pytest.approx(2.5**0.5, abs=1e-6)
    # sqrt(4 · 2.5 / 11.1433), sqrt(4 · 2.5 / 0.4844)
    assert found["training_sd_ci95"] == pytest.approx([0.94731, 4.54349], abs=1e-4)
    # 2.776 = Student's t of 4 degrees of freedom.
    half = 2.776445 * (2.5 / 5) ** 0.5
    assert found["ci95_runs"] == pytest.approx([22 - half, 22 + half], abs=1e-5)


def test_spread_where_games_explain_all() -> None:
    # Both runs have mean 1; what they differ by in single deals is chance.
    found = training_spread(np.array([[0.0, 2, 0, 2], [2, 0, 2, 0]]))
    assert found["sd_of_means"] == found["training_sd"] == 0
    # Residuals ±1: 8 / (1 · 3) a game, over 4 deals.
    assert found["game_noise"] == pytest.approx((8 / 3 / 4) ** 0.5, abs=1e-6)
    assert found["training_sd_ci95"] == [0, 0]


def test_spread_tells_training_from_games() -> None:
    rng = np.random.default_rng(3)
    runs, deals = 400, 200
    values = (
        rng.normal(0, 0.5, (runs, 1)) + rng.normal(0, 5, deals) + rng.normal(0, 4, (runs, deals))
    )
    found = training_spread(values)
    assert found["training_sd"] == pytest.approx(0.5, abs=0.05)
    assert found["game_noise"] == pytest.approx(4 / 200**0.5, abs=0.01)
    low, high = found["training_sd_ci95"]
    assert low < 0.5 < high


@pytest.mark.parametrize("shape", [(1, 5), (5, 1)])
def test_spread_of_too_little_is_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(IncunabulaError, match="at least 2 runs and 2 deals"):
        training_spread(np.zeros(shape))


CONFIG = {
    "game": "bibliogamo",
    "edition": "bibliogamo-tiny",
    "total_steps": 64,
    "num_envs": 8,
    "n_steps": 8,
    "batch_size": 32,
    "n_epochs": 1,
    "network": {"layers": [8]},
    "eval": {"every": 64, "games": 4},
    "precision": "float32",
    "backend": "numpy",
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Three runs of one configuration, two of one seed; one of another; one not finished."""
    for package in ("torch", "stable_baselines3", "sb3_contrib"):
        pytest.importorskip(package)
    from incunabula.training.ppo.config import load_config
    from incunabula.training.ppo.trainer import Trainer

    folder = tmp_path_factory.mktemp("runs")
    with interpreted():
        for seed, backend in ((1, "numpy"), (2, "auto")):
            config = load_config(CONFIG | {"seed": seed, "backend": backend})
            Trainer.start(config, folder / f"mine-{seed}").run(quiet=True)
    for name, before, after in (
        ("again-1", "", ""),
        ("wider-3", "layers:\n  - 8\n", "layers:\n  - 9\n"),
        ("short-4", "total_steps: 64", "total_steps: 128"),
    ):
        shutil.copytree(folder / "mine-1", folder / name)
        text = (folder / name / "config.yaml").read_text()
        assert before in text
        (folder / name / "config.yaml").write_text(text.replace(before, after, 1))
    return [str(folder / name) for name in ("mine-1", "mine-2", "again-1", "wider-3", "short-4")]


def test_runs_of_one_configuration_are_shown_apart(runs: list[str]) -> None:
    result = played(agents="random", runs=runs[:2])
    (table,) = result["tables"]
    assert [row["name"] for row in table["rows"]] == ["random"]
    found = table["training_runs"]
    assert (found["name"], found["runs"], found["deals"]) == ("mine × 2", 2, 8)
    with interpreted():
        agents = evaluate(runs[:2], edition=TINY["bibliogamo"], games=8).result["agents"]
    assert [run["mean"] for run in found["each"]] == [agent["mean"] for agent in agents]
    assert [run["seed"] for run in found["each"]] == [1, 2]
    assert found["mean"] == pytest.approx(np.mean([agent["mean"] for agent in agents]), abs=1e-6)
    training = found["each"][0]["training"]
    assert training["steps"] == 64
    assert training["machine"]["cores"] >= 1
    assert "| mine × 2 |" in page({"bibliogamo": result})
    console = Console(width=80, file=io.StringIO(), markup=False)
    print_ladder(result, console)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "noise" in shown
    assert "…" not in shown


def test_other_runs_are_refused(runs: list[str]) -> None:
    edition = made().terms.edition
    one, two, again, wider, short = runs
    for folders, said in (
        ([one], "at least 2 run folders, got 1"),
        ([one, again], "the same training seed, 1"),
        ([one, wider], r"network\.layers is \[9\] in .*wider-3, but \[8\] in .*mine-1"),
        ([one, short], r"short-4 isn't finished: it is at step 64 of 128"),
        ([one, two, str(Path(one).parent)], "holds no training run"),
    ):
        with pytest.raises(IncunabulaError, match=said):
            read_runs(folders, edition)


def test_names_of_runs() -> None:
    assert common_name(["runs/demo-1", "runs/demo-2"]) == "demo"
    assert common_name(["noise/seed-0", "noise/seed-1"]) == "noise"
    assert common_name(["runs/a", "other/b"]) == "runs"
