"""Training configurations: what is accepted, and that every error names file, field and cure."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from incunabula.training.ppo.config import (
    BibliogamoConfig,
    ConfigError,
    Schedule,
    ScriptoriumConfig,
    load_config,
    shipped_configs,
    with_overrides,
)

LEAST: dict[str, Any] = {"game": "bibliogamo", "total_steps": 100_000}
SELF_PLAY: dict[str, Any] = {"game": "scriptorium", "total_steps": 100_000}


def test_shipped_configurations_load_and_survive_their_own_yaml(tmp_path: Path) -> None:
    names = {"demo", "default", "long", "ppo-unmasked", "scriptorium-default", "scriptorium-demo"}
    assert names <= set(shipped_configs())
    for name in shipped_configs():
        config = load_config(name)
        path = tmp_path / f"{name}.yaml"
        path.write_text(config.to_yaml(), encoding="utf-8")
        assert load_config(path) == config


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"totl_steps": 3}, "totl_steps", "did you mean 'total_steps'"),
        ({"network": {"layer": [3]}}, "network.layer", "did you mean 'layers'"),
        ({"game": "bibliogame"}, "game", "did you mean 'bibliogamo'"),
        ({"algorithm": "maskable"}, "algorithm", "must be one of maskable_ppo, ppo"),
        ({"total_steps": 0}, "total_steps", "a whole number from 1"),
        ({"total_steps": 1.5}, "total_steps", "is 1.5"),
        ({"num_envs": -1}, "num_envs", "is -1"),
        ({"gamma": 1.01}, "gamma", "a number from 0 to 1"),
        ({"gamma": float("nan")}, "gamma", "is nan"),
        ({"clip": 0}, "clip", "a number above 0"),
        ({"learning_rate": 0.1}, "learning_rate", "a mapping with the fields start, end"),
        ({"learning_rate": {"start": 0.1}}, "learning_rate.end", "is missing"),
        ({"learning_rate": {"start": "fast", "end": 0}}, "learning_rate.start", "is 'fast'"),
        ({"network": {"layers": []}}, "network", "at least one layer"),
        ({"network": {"layers": [64, "64"]}}, "network.layers[1]", "is '64'"),
        ({"network": {"layers": [1] * 9}}, "network", "more than 8 layers"),
        ({"skip_forced": "yes"}, "skip_forced", "true or false"),
        ({"shaping": {"scale": -1}}, "shaping.scale", "a number from 0 to 100"),
        ({"clone": {"decisions": 1}}, "clone.decisions", "a whole number from 1,000"),
        ({"batch_size": 10**6}, "", "at most num_envs x n_steps"),
        ({"algorithm": "ppo", "clone": {}}, "", "clone must be null"),
        ({"algorithm": "ppo", "network": {"kind": "cards"}}, "", "network.kind must be mlp"),
    ],
)
def test_faults_are_named(change: dict[str, Any], field: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(LEAST | change), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: {field}")
    assert words in message


def test_all_faults_are_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("game: bibliogamo\ngama: 1\nclip: 0\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert {p.field for p in caught.value.problems} == {"gama", "clip", "total_steps"}


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("defualt", "there is no configuration 'defualt' (did you mean 'default'?)"),
        ("none.yaml", "there is no such file"),
        (".", "is a folder"),
    ],
)
def test_sources_that_are_none(source: str, words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)):
        load_config(source)


@pytest.mark.parametrize("text", ["", "[1, 2]", "a: [", "a: 1\na: 2\n", "x: !!python/name:os.sep"])
def test_files_that_are_none(text: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=re.escape(str(path))):
        load_config(path)


def test_exponents_without_a_point_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "game: bibliogamo\ntotal_steps: 100000\nlearning_rate: {start: 3e-4, end: 1.e-5}\n",
        encoding="utf-8",
    )
    assert load_config(path).learning_rate == Schedule(start=3e-4, end=1e-5)


def test_overrides_are_checked_again() -> None:
    config = load_config(LEAST)
    assert with_overrides(config, seed=None) is config
    assert with_overrides(config, seed=3, total_steps=5).seed == 3
    with pytest.raises(ConfigError, match="options: num_envs: is 0"):
        with_overrides(config, num_envs=0)


def test_schedules_are_linear() -> None:
    schedule = Schedule(start=1.0, end=0.5)
    assert [schedule.at(x) for x in (1.0, 0.5, 0.0)] == [1.0, 0.75, 0.5]


def test_equal_values_give_equal_configurations() -> None:
    assert BibliogamoConfig.model_validate(LEAST) == load_config(LEAST)


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"players": 5}, "players[0]", "a whole number from 2 to 4"),
        ({"players": [2, 2]}, "players", "each once"),
        ({"players": []}, "players", "each once"),
        ({"players": "two"}, "players", "is 'two'"),
        ({"reward": "outcom"}, "reward", "is 'outcom'"),
        ({"reward": {}}, "reward", "can't all be 0"),
        ({"reward": {"margn": 1}}, "reward.margn", "did you mean 'margin'"),
        ({"opponents": {"greedy": -1}}, "opponents.greedy", "is -1"),
        ({"opponents": {"greddy": 1}}, "opponents.greddy", "did you mean 'greedy'"),
        ({"opponents": {"self": 0, "past": 0, "greedy": 0}}, "opponents", "can't all be 0"),
        ({"past": {"size": 0}}, "past.size", "is 0"),
        ({"past": {"every": 1.5}}, "past.every", "is 1.5"),
        ({"network": {"kind": "towers"}}, "", "one of mlp, tiles for scriptorium"),
        ({"num_envs": 2, "batch_size": 2}, "", "at least the numbers of players"),
        ({"shaping": {}}, "shaping", "there is no field 'shaping'"),
        ({"algorithm": "ppo"}, "algorithm", "there is no field 'algorithm'"),
    ],
)
def test_faults_of_self_play_are_named(change: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(SELF_PLAY | change)
    message = str(caught.value)
    assert message.startswith(f"configuration: {field}")
    assert words in message


def test_short_forms_of_self_play_mean_what_they_say() -> None:
    config = load_config(SELF_PLAY | {"players": 3, "reward": "margin"})
    assert isinstance(config, ScriptoriumConfig)
    assert config.players == (3,)
    assert config.reward.model_dump() == {"outcome": 0.0, "margin": 1.0, "score": 0.0}
