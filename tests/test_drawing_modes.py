"""Render modes: text, pictures and windows, in every environment, and what they leave alone."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.passive_env_checker import env_render_passive_checker

from incunabula.agents.seat.gymnasium import ScriptoriumEnv, ScriptoriumVectorEnv
from incunabula.envs import scriptorium_v0
from incunabula.envs.adapters.gymnasium import BibliogamoEnv, BibliogamoVectorEnv
from incunabula.envs.drawing import extra
from incunabula.envs.drawing.window import Window
from incunabula.envs.errors import IncunabulaError, MissingExtraError

BIBLIOGAMO, SCRIPTORIUM = (760, 1120, 3), (820, 1200, 3)
SINGLE: dict[str, tuple[Callable[..., Any], tuple[int, int, int]]] = {
    "bibliogamo": (lambda **how: BibliogamoEnv("bibliogamo-tiny", **how), BIBLIOGAMO),
    "scriptorium": (
        lambda **how: ScriptoriumEnv("scriptorium-tiny", opponents="random", **how),
        SCRIPTORIUM,
    ),
}
BATCH: dict[str, Callable[..., Any]] = {
    "bibliogamo": lambda n, **how: BibliogamoVectorEnv(n, "bibliogamo-tiny", **how),
    "scriptorium": lambda n, **how: ScriptoriumVectorEnv(
        n, "scriptorium-tiny", opponents="random", **how
    ),
}
GAMES = list(SINGLE)


def first_legal(env: Any) -> int:
    return int(env.action_masks().argmax())


@pytest.mark.parametrize("game", GAMES)
def test_a_recording_shows_each_step_and_changes_none(game: str) -> None:
    make, shape = SINGLE[game]
    env, plain = make(render_mode="rgb_array"), make()
    env.reset(seed=3)
    plain.reset(seed=3)
    frames: list[Any] = []
    over = False
    while not over and len(frames) < 12:
        state = env.engine.state.copy()
        frame = env.render()
        assert (frame.shape, frame.dtype) == (shape, np.uint8)
        assert env.engine.state.equal(state)
        frames.append(frame)
        observation, reward, over, _, info = env.step(first_legal(env))
        expected = plain.step(first_legal(plain))
        assert observation.tobytes() == expected[0].tobytes()
        assert (reward, over) == expected[1:3]
        assert info["action_mask"].tobytes() == expected[4]["action_mask"].tobytes()
    assert len({frame.tobytes() for frame in frames}) == len(frames)
    assert env.render().tobytes() == env.render().tobytes()  # one position, one picture
    assert plain.render() is None


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
@pytest.mark.parametrize("game", GAMES)
def test_gymnasiums_checker_has_nothing_to_say(game: str, mode: str) -> None:
    name = f"incunabula:incunabula/{game.capitalize()}-tiny-v0"
    options: dict[str, Any] = {"opponents": "random"} if game == "scriptorium" else {}
    env = gymnasium.make(name, render_mode=mode, **options)
    env.reset(seed=0)
    assert env.render() is not None
    env_render_passive_checker(env.unwrapped)
    env.close()


def test_gymnasium_collects_frames_of_its_own_list_mode() -> None:
    env: Any = gymnasium.make(
        "incunabula:incunabula/Bibliogamo-tiny-v0", render_mode="rgb_array_list"
    )
    _, info = env.reset(seed=0)
    env.step(int(info["action_mask"].argmax()))
    frames = env.render()
    assert [frame.shape for frame in frames] == [BIBLIOGAMO] * 2


@pytest.mark.parametrize("game", GAMES)
def test_a_batch_renders_each_of_its_games(game: str) -> None:
    make, shape = SINGLE[game]
    envs = BATCH[game](3, render_mode="rgb_array")
    envs.reset(seed=7)
    frames = envs.render()
    assert isinstance(frames, tuple)
    assert [frame.shape for frame in frames] == [shape] * 3
    for row, frame in enumerate(frames):
        env = make(render_mode="rgb_array")
        env.reset(seed=7 + row)
        assert frame.tobytes() == env.render().tobytes()
    texts = BATCH[game](2, render_mode="ansi")
    texts.reset(seed=7)
    assert [type(text) for text in texts.render()] == [str, str]
    assert BATCH[game](1).render() is None


@pytest.mark.parametrize("game", GAMES)
def test_a_batch_has_no_window(game: str) -> None:
    message = (
        r"^render_mode: expected None or one of ansi, rgb_array, got 'human'; a window shows a "
        r"single game$"
    )
    with pytest.raises(IncunabulaError, match=message):
        BATCH[game](2, render_mode="human")


def test_pettingzoo_renders_pictures() -> None:
    env: Any = scriptorium_v0.env(3, edition="scriptorium-tiny", render_mode="rgb_array")
    env.reset(seed=1)
    frame = env.render()
    assert (frame.shape, frame.dtype) == (SCRIPTORIUM, np.uint8)
    env.close()


def test_the_native_sb3_environment_puts_its_games_side_by_side() -> None:
    from incunabula.envs.adapters.sb3 import BibliogamoSB3VecEnv

    env = BibliogamoSB3VecEnv(2, "bibliogamo-tiny", seed=0, render_mode="rgb_array")
    env.reset()
    whole: Any = env.render()
    first, second = map(np.asarray, env.get_images())
    height = BIBLIOGAMO[0]
    assert whole.shape == (2 * height, *BIBLIOGAMO[1:])
    assert np.array_equal(whole[:height], first)
    assert np.array_equal(whole[height:], second)


# Windows -----------------------------------------------------------------------------------------


@pytest.fixture
def no_screen(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A window that nobody sees, and that doesn't wait."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    pygame = pytest.importorskip("pygame")
    monkeypatch.setattr("incunabula.envs.drawing.window.Window._wait", lambda self: None)
    yield pygame
    pygame.display.quit()


def shown(pygame: Any) -> Any:
    return pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)


@pytest.mark.parametrize("game", GAMES)
def test_a_window_shows_each_position_until_it_is_closed(game: str, no_screen: Any) -> None:
    make, shape = SINGLE[game]
    env, other = make(render_mode="human"), make(render_mode="rgb_array")
    env.reset(seed=3)
    other.reset(seed=3)
    assert np.array_equal(shown(no_screen), other.render())
    env.step(first_legal(env))
    other.step(first_legal(other))
    assert np.array_equal(shown(no_screen), other.render())
    assert env.render() is None
    for copied in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        copied.close()  # it has a window of its own, which isn't open
        assert no_screen.display.get_surface() is not None
    env.close()
    assert no_screen.display.get_surface() is None
    env.reset()
    assert shown(no_screen).shape == shape
    env.close()


def test_a_window_that_the_player_closes_stays_closed(no_screen: Any) -> None:
    env = BibliogamoEnv("bibliogamo-tiny", render_mode="human")
    env.reset(seed=0)
    no_screen.event.post(no_screen.event.Event(no_screen.QUIT))
    env.step(first_legal(env))
    assert no_screen.display.get_surface() is None
    env.step(first_legal(env))
    assert no_screen.display.get_surface() is None


def test_pettingzoo_has_a_window(no_screen: Any) -> None:
    env: Any = scriptorium_v0.env(2, edition="scriptorium-tiny", render_mode="human")
    env.reset(seed=1)
    before = shown(no_screen)
    env.step(int(env.last()[0]["action_mask"].argmax()))
    assert not np.array_equal(shown(no_screen), before)
    env.close()
    assert no_screen.display.get_surface() is None


def test_a_window_waits_as_long_as_its_pictures_a_second_say() -> None:
    ticks: list[float] = []
    view = Window("a game", 7.0)
    view._clock = SimpleNamespace(tick=ticks.append)
    view._wait()
    assert ticks == [7.0]


def test_without_a_display_a_window_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame").display.quit()
    monkeypatch.setenv("SDL_VIDEODRIVER", "nosuchdriver")
    env = BibliogamoEnv("bibliogamo-tiny", render_mode="human")
    with pytest.raises(IncunabulaError, match=r'^render_mode: "human" needs a display .*"ansi"'):
        env.reset(seed=0)


# What isn't installed ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "module", "package"),
    [
        ("rgb_array", "PIL", "Pillow"),
        ("human", "PIL", "Pillow"),
        ("human", "pygame", "pygame-ce"),
    ],
)
def test_a_missing_package_gives_one_clear_sentence(
    mode: str, module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        extra, "find_spec", lambda name: None if name == module else find_spec(name)
    )
    for make in (BibliogamoEnv, ScriptoriumEnv, lambda **how: scriptorium_v0.env(**how)):
        with pytest.raises(MissingExtraError) as e:
            make(render_mode=mode)
        assert str(e.value) == (
            f'render_mode: "{mode}": drawing pictures needs {package}: install the extra, '
            "pip install 'incunabula[draw]'"
        )
        assert isinstance(e.value, TypeError)  # stable-baselines3 then goes on without pictures
    assert BibliogamoEnv(render_mode="ansi").render_mode == "ansi"


def test_closing_one_window_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(Window, "_wait", lambda self: None)
    name = "incunabula:incunabula/Bibliogamo-tiny-v0"
    first, other = (gymnasium.make(name, render_mode="human") for _ in range(2))
    first.reset(seed=0)
    other.reset(seed=1)
    copied = copy.deepcopy(other)
    first.close()
    other.reset(seed=2)
    copied.reset(seed=3)
    other.close()
    copied.reset(seed=4)
    copied.close()
    first.reset(seed=5)  # opens it again
    first.close()


def test_an_sb3_batch_is_rendered_as_text() -> None:
    sb3 = pytest.importorskip("incunabula.envs.adapters.sb3")
    batch = sb3.BibliogamoSB3VecEnv(2, seed=0, edition="bibliogamo-tiny", render_mode="ansi")
    batch.reset()
    assert batch.render() == "\n\n".join(batch.env_method("render"))
