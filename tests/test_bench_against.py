"""A bench measures other implementations as it says, and says what is like for like."""

from __future__ import annotations

import io
import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from incunabula.envs.chance import episode_seeds
from incunabula.envs.compiled.functions import interpreted
from incunabula.envs.editions import load_any_edition
from incunabula.envs.engine import Engine
from incunabula.envs.errors import IncunabulaError
from incunabula.training.evaluation import against
from incunabula.training.evaluation import bench as bench_module
from incunabula.training.evaluation.against import load_suites, oracle
from incunabula.training.evaluation.against.measure import measure_against
from incunabula.training.evaluation.against.own import numpy_engine
from incunabula.training.evaluation.against.suite import Contender, Suite, Traits
from incunabula.training.evaluation.against.tables import print_against
from incunabula.training.evaluation.bench import REPEATS, bench
from incunabula.training.evaluation.bench_play import Stepped, Timing
from tests.commands import Cli, cli

__all__ = ["cli"]

PACKAGE = against.__name__
GAMES = {"bibliogamo": 1, "scriptorium": 3}  # and the players of their tiny editions here


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Puts modules in the place of installed ones; None = not installed."""
    ours = [f"{PACKAGE}.{name}" for name in ("pgx", "openspiel")]

    def put(**given: Any) -> None:
        for name, content in given.items():
            made = content
            if content is not None:
                made = ModuleType(name)
                vars(made).update(content)
            monkeypatch.setitem(sys.modules, name.replace("__", "."), made)

    for name in ours:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield put
    for name in ours:
        sys.modules.pop(name, None)


# Our own games ----------------------------------------------------------------------------------


OWN_ROWS = [
    {"view": "stepper", "num_envs": 1, "backend": "numba"},
    {"view": "stepper", "num_envs": 3, "backend": "numba"},
    {"view": "stepper", "num_envs": 3, "backend": "numba", "threads": 2},
    {"view": "rollout", "num_envs": 3, "backend": "numba", "policy": "greedy"},
    {"view": "rollout", "num_envs": 3, "backend": "numba", "policy": "random"},
    {"view": "vector_env", "num_envs": 3, "backend": "numpy"},
]


@pytest.fixture(scope="module", params=GAMES)
def measured(request: pytest.FixtureRequest) -> tuple[Engine, dict[str, Any]]:
    """An engine of a game, and what was measured beside rows of it."""
    edition, players = load_any_edition(f"{request.param}-tiny"), GAMES[request.param]
    suites = load_suites(["numpy", "sync", "oracle"])
    given = players if request.param == "scriptorium" else None
    with pytest.MonkeyPatch.context() as patch, interpreted():
        for suite in suites[1:]:
            assert suite.sizes((1, 65, 64), ()) == suite.sizes(None, (1, 65)) == [1, 64]
            patch.setattr(type(suite), "most", 2)  # quicker
        options: dict[str, Any] = {"seconds": 0.01, "repeats": 3, "seed": 0}
        found = measure_against(suites, edition, given, None, OWN_ROWS, **options)
    return numpy_engine(edition, 1, players), found


def test_every_implementation_is_measured_at_our_numbers_of_games(measured: Any) -> None:
    engine, found = measured
    rows = found["rows"]
    called = [(row["implementation"], row["num_envs"]) for row in rows]
    assert called == [
        *(("numpy", n) for n in (1, 3)),
        *((name, n) for name in ("sync", "oracle") for n in (1, 2)),
    ]
    for row in rows:
        assert row["steps_per_second"] == max(row["runs"]) > 0
        assert len(row["runs"]) == 3
        assert 0 <= row["spread"] < 1
        assert row["cores_busy"] >= 0
        assert row["plays"] == engine.game
        if row["view"] == "learner":
            assert row["decisions_per_second"] >= row["steps_per_second"]
        else:
            assert "decisions_per_second" not in row
    assert json.loads(json.dumps(found)) == found


def test_what_is_built_at_every_step_is_said(measured: Any) -> None:
    engine, found = measured
    sized, masks = f"{engine.layout.size} float32", {"vector_env": "int8", "learner": "int8"}
    for line in [*found["own"], *found["rows"]]:
        if line.get("implementation") == "oracle":
            continue
        view = line["view"]
        assert line["observation"] == ("none" if view == "rollout" else sized)
        assert line["action_mask"] == f"{engine.actions.n} {masks.get(view, 'bool')}"
        assert line["autoreset"] == ("next step" if view in masks else "same step")
        assert line["sampling_timed"] == (view == "rollout" or line["threads"] > 1)
    assert [(line["view"], line["technique"], line["threads"]) for line in found["own"]] == [
        ("stepper", "numba, all games in one call", 1),
        ("stepper", "numba, all games in one call", 2),
        ("rollout", "numba, many steps in one call", 1),
        ("vector_env", "NumPy, all games in one call", 1),
    ]


def test_our_rows_of_random_play_stand_beside_the_others(measured: Any) -> None:
    engine, found = measured
    fields = {"game": engine.game, "steps_per_second_with_sampling": 9, "spread": 0.25}
    own = [{**row, **fields, "steps_per_second": 1000 + k} for k, row in enumerate(OWN_ROWS)]
    names = ("incunabula", "python", "numpy", "gymnasium", "pgx")
    result = {"rows": own, "against": found, "versions": dict.fromkeys(names, "7.6")}
    console = Console(width=80, file=io.StringIO())
    print_against(result, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    shown = [k for k in (0, 1, 3, 4) if re.search(rf"(?<![\d,])1,00{k}(?![\d,])", text)]
    assert shown == [0, 1, 4]  # greedy's isn't
    assert re.search(r"2 × 3 +1,002 +−25% +9 +1,002 *\n", text)
    words = " ".join(text.split())
    assert words.endswith("The same game: numpy, oracle, sync. pgx 7.6.")
    for heading in ("observation", "mask", "threads", "busy"):
        assert heading in words
    assert max(map(len, text.splitlines())) <= 80


# The oracle as an environment -------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
def test_the_oracle_plays_the_games_of_our_environments(game: str) -> None:
    edition = load_any_edition(f"{game}-tiny")
    engine = numpy_engine(edition, 1, GAMES[game])
    deal = oracle.Implementation().maker(edition, GAMES[game])
    env = oracle.OracleEnv(deal, engine.actions.n)
    choose = random.Random(0)
    state, info = env.reset(seed=5)
    for episode in (0, 1):
        engine.deal(
            np.arange(1), episode_seeds(np.array([5], np.uint64), np.array([episode], np.uint64))
        )
        over = False
        while not over:
            assert state == engine.snapshot(0)
            mask = info["action_mask"]
            assert mask.shape == engine.mask[0].shape
            assert mask.sum() == mask[: engine.mask.sum()].sum() == engine.mask.sum() > 0
            action = choose.randrange(mask.sum())
            form = env.game.legal()[action]
            change, terminated = engine.apply(np.array([engine.action_from_json(0, form)]))
            state, reward, over, truncated, info = env.step(action)
            assert (reward, over, truncated) == (change.sum(), terminated[0], False)
        assert info["action_mask"].sum() == 0
        state, info = env.reset()


def test_without_a_checkout_there_is_no_oracle(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(oracle, "ROOT", tmp_path)
    outcome = cli("bench", "bibliogamo", "--against", "oracle")
    assert (outcome.status, outcome.out) == (2, "")
    assert "oracle is only there in a source checkout" in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_another_package_called_tests_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    other = ModuleType("tests")
    monkeypatch.setitem(sys.modules, "tests", other)
    before = {name for name in sys.modules if name.startswith("tests")}
    assert oracle.Implementation().maker(load_any_edition("bibliogamo-tiny"), 1)(3).legal()
    assert sys.modules["tests"] is other
    assert {name for name in sys.modules if name.startswith("tests")} == before


# Arguments --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("pgx,openspeil", "there is no implementation 'openspeil' (did you mean 'openspiel'?)"),
        ("numpy,sync,numpy", "against: 'numpy' stands twice; name each once"),
        ("numpy,", "against: expected entries separated by commas, with none empty"),
        ("pgx", "(import of pgx halted; None in sys.modules); install it: pip install pgx"),
        ("openspiel", "(import of pyspiel halted; None in sys.modules); install it: pip install"),
    ],
)
def test_what_cannot_be_measured_is_said_in_a_line_at_once(
    cli: Cli, modules: Any, names: str, message: str
) -> None:
    modules(jax={}, pgx=None, pyspiel=None)
    outcome = cli("bench", "bibliogamo", "--against", names, "--seconds", 3600)
    assert (outcome.status, outcome.out) == (2, "")
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_an_installation_that_does_not_work_is_said_to_be_one(modules: Any) -> None:
    def missing(name: str) -> Any:
        raise RuntimeError("made for another jax\nand more")

    modules(jax={}, pgx={}, pgx__experimental={"__getattr__": missing})
    message = "against: pgx can't be imported (made for another jax); install it: pip install pgx"
    with pytest.raises(IncunabulaError, match=f"^{re.escape(message)}$"):
        load_suites(["pgx"])


# In turn ----------------------------------------------------------------------------------------


class Written(Stepped):
    """Runs whose outcome is written down beforehand."""

    def __init__(self, name: str, log: list[str], speeds: list[float]) -> None:
        self.name, self.log, self.speeds = name, log, iter(speeds)

    def step(self, actions: Any) -> int:
        raise AssertionError("run is all that is called")

    def run(self, seconds: float) -> Timing:
        assert seconds == pytest.approx(0.05 / REPEATS)
        self.log.append(self.name)
        speed = next(self.speeds)
        return Timing(speed, speed / 2, speed * 3)


def test_implementations_take_turns_and_the_best_run_counts(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    log: list[str] = []
    traits = Traits("chess", "wood", "64 squares", "32 men", "never", True, threads=None)

    class Fake(Suite):
        name = "fake"
        packages = ("rich",)
        usual = (1, 3)
        most = 2

        def contenders(self, edition: Any, players: int, sizes: Any, seed: int) -> Any:
            assert (edition.name, players, seed) == ("bibliogamo-tiny", 1, 7)
            for n in sizes:
                play = Written(f"fake {n}", log, [100.0 * n + k for k in range(REPEATS)])
                yield Contender({"view": "learner", "num_envs": n}, traits, play)

    monkeypatch.setitem(sys.modules, f"{PACKAGE}.fake", SimpleNamespace(Implementation=Fake))
    monkeypatch.setitem(against.SUITES, "fake", against.SUITES["numpy"]._replace(module="fake"))
    options: dict[str, Any] = {"edition": "bibliogamo-tiny", "against": ["fake"], "seed": 7}
    monkeypatch.setattr(bench_module, "_engine_cases", lambda *_: [])  # quicker
    found = bench((1, 4), seconds=0.05, backend="numpy", **options)
    assert log == ["fake 1", "fake 2"] * REPEATS
    one, two = found["against"]["rows"]
    assert one["runs"] == [100 + k for k in range(REPEATS)]
    assert (one["steps_per_second"], one["steps_per_second_with_sampling"]) == (109, 54)
    assert (one["decisions_per_second"], one["spread"]) == (327, round(9 / 109, 3))
    assert (two["num_envs"], two["steps_per_second"], two["plays"]) == (2, 209, "chess")
    assert found["versions"]["rich"] is not None
    assert "against" not in bench((1,), seconds=0.01, backend="numpy", edition="bibliogamo-tiny")

    command = ("bench", "bibliogamo", "--edition", "bibliogamo-tiny", "--num-envs", "1,4")
    outcome = cli(*command, "--against", "fake,oracle", "--seconds", 0.05, "--seed", 7)
    assert outcome.status == 0, outcome.err
    words = " ".join(outcome.out.split())
    for said in ("incunabula vector", "fake learner", "wood", "327", "plain Python"):
        assert said in words
    assert "The same game: oracle. Other games, so that only magnitudes compare: fake." in words
    assert max(map(len, outcome.out.splitlines())) <= 80


# OpenSpiel --------------------------------------------------------------------------------------


class Dice:
    """A state of OpenSpiel's: a die is thrown, its number is the only legal action, four times."""

    def __init__(self, log: list[str]) -> None:
        self.log, self.thrown, self.turns = log, 0, 0

    def is_chance_node(self) -> bool:
        return not self.thrown and not self.is_terminal()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(1, 0.0), (2, 0.5), (3, 0.5)]

    def legal_actions(self) -> list[int]:
        return [self.thrown]

    def is_terminal(self) -> bool:
        return self.turns == 4

    def current_player(self) -> int:
        return self.turns % 2

    def apply_action(self, action: int) -> None:
        if self.is_chance_node():
            assert action in (2, 3)
            self.thrown = action
            self.log.append("chance")
        else:
            assert action == self.thrown
            self.thrown, self.turns = 0, self.turns + 1
            self.log.append("move")


def test_openspiel_draws_chance_and_begins_anew_inside_the_step(modules: Any) -> None:
    log: list[str] = []

    class Observer:
        tensor = np.zeros(5, np.float32)

        def set_from(self, state: Dice, player: int) -> None:
            self.tensor[:] = 10 * player + state.thrown

    def load_game(name: str) -> Any:
        def begin() -> Dice:
            log.append("begin")
            return Dice(log)

        return SimpleNamespace(new_initial_state=begin, num_distinct_actions=lambda: 7)

    observation = {"make_observation": lambda game: Observer()}
    modules(pyspiel={"load_game": load_game}, open_spiel={}, open_spiel__python={})
    modules(open_spiel__python__observation=observation)
    (suite,) = load_suites(["openspiel"])
    assert suite.sizes(None, (1, 64)) == suite.sizes((1024,), (1,)) == [1]
    found = list(suite.contenders(load_any_edition("bibliogamo-tiny"), 1, [1], 0))
    assert [contender.traits.plays for contender in found] == ["2048", "backgammon"]
    traits, play = found[0].traits, found[0].play
    assert (traits.observation, traits.action_mask) == ("5 float32", "7 bool")
    log.clear()
    for turn in range(1, 9):
        (thrown,) = play.mask
        assert play.step(play.draw(play.mask)) == 1
        assert play.mask[0] in (2, 3)
        assert play.action_mask.sum() == play.action_mask[play.mask[0]] == 1  # type: ignore[attr-defined]
        assert play.observation[0] == 10 * (turn % 2) + play.mask[0]  # type: ignore[attr-defined]
        assert thrown in (2, 3)
    assert play.decisions == 8
    game = ["move", "chance"] * 3 + ["move", "begin", "chance"]
    assert log == game * 2


# Pgx --------------------------------------------------------------------------------------------


class Coins:
    """An environment of Pgx's over a whole batch: each game's one legal action is its last key's
    parity."""

    def __init__(self) -> None:
        self.steps = 0

    def init(self, keys: Any) -> Any:
        mask = np.stack([keys % 2 == 0, keys % 2 == 1], axis=1)
        return SimpleNamespace(
            observation=np.zeros((len(keys), 2, 3), np.int32), legal_action_mask=mask
        )

    def step(self, state: Any, actions: Any, keys: Any) -> Any:
        assert state.legal_action_mask[np.arange(len(actions)), actions].all()
        self.steps += 1
        return self.init(keys)


@pytest.fixture
def coins(modules: Any) -> dict[str, Coins]:
    """Pgx's games, and as much of JAX as they take, in NumPy."""
    made: dict[str, Coins] = {}

    def split(key: int, n: int = 2) -> Any:
        return np.random.default_rng(int(key)).integers(1 << 40, size=n)

    def scan(step: Any, carry: Any, xs: None = None, length: int = 0) -> Any:
        for _ in range(length):
            carry, _nothing = step(carry, None)
        return carry, None

    def same(value: Any, *_: Any) -> Any:
        return value

    modules(
        jax={
            **dict.fromkeys(("jit", "vmap", "block_until_ready", "device_put"), same),
            "devices": lambda kind: [kind],
            "random": SimpleNamespace(PRNGKey=same, split=split),
            "lax": SimpleNamespace(scan=scan),
        },
        pgx={"make": lambda name: made.setdefault(name, Coins())},
        pgx__experimental={
            "auto_reset": lambda step, init: step,
            "act_randomly": lambda key, mask: mask.argmax(axis=1),
        },
    )
    return made


def test_pgx_is_measured_step_by_step_and_many_steps_at_once(coins: dict[str, Coins]) -> None:
    (suite,) = load_suites(["pgx"])
    assert suite.sizes(None, (1, 64, 8192)) == [1, 1024]
    assert suite.sizes((2, 4096), (1,)) == [2, 1024]
    found = list(suite.contenders(load_any_edition("bibliogamo-tiny"), 1, [1, 5], 0))
    assert [(c.traits.plays, c.fields["num_envs"], c.fields["view"]) for c in found] == [
        (game, n, view)
        for game in ("2048", "backgammon")
        for n in (1, 5)
        for view in ("step", "rollout")
    ]
    assert {(c.traits.observation, c.traits.action_mask) for c in found} == {("6 int32", "2 bool")}
    assert all(c.traits.sampling_timed == (c.fields["view"] == "rollout") for c in found)
    for contender in found:
        env, n = coins[contender.traits.plays], contender.fields["num_envs"]
        play, before = contender.play, env.steps
        decided = play.decisions
        moved = sum(play.step(play.draw(play.mask)) for _ in range(3))
        assert moved == play.decisions - decided == n * (env.steps - before)
        assert moved == n * (3 if contender.fields["view"] == "step" else 300)
        timing = play.run(0.001)
        assert 0 < timing.with_sampling <= timing.steps
