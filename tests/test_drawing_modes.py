"""Render modes: text, pictures and windows, in every environment, and what they leave alone."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.passive_env_checker import env_render_passive_checker

from incunabula.agents.seat.gymnasium import ScriptoriumEnv, ScriptoriumVectorEnv
from incunabula.envs import scriptorium_v0
from incunabula.envs.adapters.gymnasium import BibliogamoEnv, BibliogamoVectorEnv
from incunabula.envs.drawing import extra
from incunabula.envs.drawing.palette import DESK
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
    for mode in (None, "ansi", "rgb_array"):
        env = BibliogamoSB3VecEnv(2, "bibliogamo-tiny", seed=0, render_mode=mode)
        env.reset()
        with pytest.raises(IncunabulaError, match=r"got 'human'; a window shows a single game$"):
            env.render("human")


# How gymnasium makes what its recorders take.
RECORDERS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "single": (gymnasium.make, {}),
    "batch": (gymnasium.make_vec, {"num_envs": 2, "vectorization_mode": "vector_entry_point"}),
}


@pytest.mark.parametrize("kind", RECORDERS)
@pytest.mark.parametrize("game", GAMES)
def test_recorders_get_every_position_of_an_episode(
    game: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, how = RECORDERS[kind]
    options: dict[str, Any] = {"opponents": "random"} if game == "scriptorium" else {}
    envs = make(
        f"incunabula:incunabula/{game.capitalize()}-tiny-v0",
        **{"render_mode": "rgb_array", "render_size": (640, 480), **how, **options},
    )
    recorder = (gymnasium.wrappers if kind == "single" else gymnasium.wrappers.vector).RecordVideo
    monkeypatch.setitem(sys.modules, "moviepy", ModuleType("moviepy"))  # nothing is written
    written: list[list[Any]] = []

    def stop_recording(self: Any) -> None:
        written.append(self.recorded_frames)
        self.recorded_frames, self.recording = [], False

    monkeypatch.setattr(recorder, "stop_recording", stop_recording)
    env = recorder(envs, str(tmp_path / "videos"), episode_trigger=lambda episode: episode == 0)
    assert env.frames_per_sec == envs.metadata["render_fps"] == 4
    _, info = env.reset(seed=5)
    expected, over = [env.render()], False
    while not over:
        _, _, ended, _, info = env.step(info["action_mask"].argmax(-1))
        over = bool(np.ravel(ended)[0])
        expected.append(env.render())
    env.close()
    assert len(written) == 1
    assert len(written[0]) == len(expected)
    for frame, boards in zip(written[0], expected, strict=True):
        assert np.array_equal(frame, boards if kind == "single" else np.hstack(boards))


# Sizes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
def test_pictures_have_the_size_that_was_asked_for(game: str) -> None:
    make, _ = SINGLE[game]
    boards = {}
    for size in ((640, 480), (1000, 480), (641, 1481), [700, 500]):
        env = make(render_mode="rgb_array", render_size=size)
        env.reset(seed=3)
        frame = env.render()
        assert frame.shape == (size[1], size[0], 3)
        # The board in its own proportions, in the middle of the desk.
        desk = (frame == tuple(bytes.fromhex(DESK[1:]))).all(2)
        beside = int(desk.all(0).argmin()), int(desk.all(1).argmin())
        wide, high = size[0] - 2 * beside[0], size[1] - 2 * beside[1]
        width, height = SINGLE[game][1][1::-1]
        assert wide / high == pytest.approx(width / height, rel=0.12)  # its heading is desk, too
        boards[tuple(size)] = frame
    for copied in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert np.array_equal(copied.render(), frame)
    (batched,) = rendered(BATCH[game](1, render_mode="rgb_array", render_size=(640, 480)))
    assert np.array_equal(batched, boards[640, 480])


def rendered(envs: Any) -> Any:
    envs.reset(seed=3)
    return envs.render()


def test_other_adapters_have_sizes_too(no_screen: Any) -> None:
    table: Any = scriptorium_v0.env(
        2, edition="scriptorium-tiny", render_mode="rgb_array", render_size=(640, 640)
    )
    assert rendered(table).shape == (640, 640, 3)
    window = BibliogamoEnv("bibliogamo-tiny", render_mode="human", render_size=(800, 600))
    rendered(window)
    assert shown(no_screen).shape == (600, 800, 3)
    window.close()


@pytest.mark.parametrize("kind", ["bibliogamo", "scriptorium"])
def test_the_native_sb3_environments_have_sizes(kind: str) -> None:
    module = {"bibliogamo": "envs.adapters.sb3", "scriptorium": "agents.seat.sb3"}[kind]
    sb3 = pytest.importorskip(f"incunabula.{module}")
    how = {"opponents": "random"} if kind == "scriptorium" else {}
    batch = getattr(sb3, f"{kind.capitalize()}SB3VecEnv")(
        1, f"{kind}-tiny", seed=0, render_mode="rgb_array", render_size=(720, 480), **how
    )
    batch.reset()
    assert batch.get_images()[0].shape == (480, 720, 3)


@pytest.mark.parametrize(
    "size", [(639, 480), (640, 479), (5000, 480), (640,), 640, "big", (640.0, 480), (True, 480)]
)
def test_a_size_must_make_sense(size: Any) -> None:
    message = (
        r"^render_size: expected None or \(width, height\) in pixels, from \(640, 480\) to "
        r"\(4096, 4096\), got "
    )
    makers: list[Callable[..., Any]] = [
        *(make for make, _ in SINGLE.values()),
        *(partial(make, 2) for make in BATCH.values()),
        scriptorium_v0.env,
    ]
    for make in makers:
        with pytest.raises(IncunabulaError, match=message):
            make(render_mode="rgb_array", render_size=size)


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
