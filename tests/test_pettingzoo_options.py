"""The PettingZoo environment: options, drawing, and what it loads."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from incunabula.envs.errors import IncunabulaError

pytest.importorskip("pettingzoo")

from incunabula.envs import scriptorium_v0
from tests.drawings import plain

TINY = "scriptorium-tiny"


def make(players: int = 2, **options: Any) -> Any:
    return scriptorium_v0.raw_env(players, edition=TINY, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 5}, "num_players: this edition is for 2, 3, 4 players, got 5"),
        ({"num_players": "2"}, "num_players: this edition is for 2, 3, 4 players, got '2'"),
        ({"reward": "scores"}, "reward: expected one of outcome, score, margin, got 'scores'"),
        ({"edition": "scriptorium-tinny"}, "scriptorium-tiny"),
        ({"edition": "bibliogamo"}, "only 'scriptorium' editions can be loaded here"),
        ({"illegal_action": "no"}, "illegal_action: expected one of terminate, penalize, raise"),
        ({"illegal_reward": None}, "illegal_reward: expected a finite number, got None"),
        ({"render_mode": "rgb"}, "expected None or one of ansi, rgb_array, human, got 'rgb'"),
        ({"tape": {}}, "tape: expected a mapping with bag and lecterns"),
    ],
)
def test_a_bad_option_gives_one_clear_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(IncunabulaError) as e:
        scriptorium_v0.env(**options)
    assert message in str(e.value)


def test_an_environment_must_be_reset_first() -> None:
    env = make(render_mode="ansi")
    for use in (
        lambda: env.step(0),
        lambda: env.observe("player_0"),
        lambda: env.deal,
        env.snapshot,
        env.render,
        lambda: env.determinise(0),
    ):
        with pytest.raises(IncunabulaError, match=r"call reset\(\) first"):
            use()
    env.reset(seed=0)
    with pytest.raises(IncunabulaError, match="agent: expected one of player_0, player_1"):
        env.observe("player_2")
    with pytest.raises(IncunabulaError, match=r"^seed: expected an integer"):
        env.reset(seed="0")


def test_drawing_changes_nothing_and_says_who_is_to_act() -> None:
    env = make(3, render_mode="ansi")
    env.reset(seed=0)
    state = env.engine.state.copy()
    assert "round 1 · seat 0 takes ink" in plain(env.render())
    assert env.engine.state.equal(state)
    assert make(3).render() is None


def test_without_pettingzoo_the_error_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['pettingzoo'] = None\n"
        "import incunabula.agents.seat.gymnasium\n"
        "try:\n    from incunabula.envs import scriptorium_v0\n"
        "except ImportError as error:\n    print(type(error).__name__, error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == (
        "MissingExtraError scriptorium_v0 needs pettingzoo: install the extra, "
        "pip install 'incunabula[pettingzoo]'\n"
    )


def test_nothing_but_this_environment_loads_pettingzoo() -> None:
    code = (
        "import sys, gymnasium, incunabula\n"
        "gymnasium.make('incunabula/Scriptorium-tiny-v0', opponents='random').reset(seed=0)\n"
        "print([m for m in ('pettingzoo', 'torch', 'stable_baselines3') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
