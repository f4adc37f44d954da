"""The single Gymnasium environment: checks, options, episodes, copies."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import RecordEpisodeStatistics

from incunabula import register_envs
from incunabula.envs.adapters.gymnasium import BibliogamoEnv, BibliogamoVectorEnv
from incunabula.envs.bibliogamo.edition import load_edition
from incunabula.envs.bibliogamo.wording import asked
from incunabula.envs.chance import episode_seeds
from incunabula.envs.errors import IllegalActionError, IncunabulaError
from tests.drawings import plain
from tests.oracle.bibliogamo import Game
from tests.play import EDITIONS, FILES, Eager, deck_order, edition

IDS = [
    "incunabula/Bibliogamo-v0",
    "incunabula/Bibliogamo-tiny-v0",
    "incunabula/Bibliogamo-small-v0",
]
EVERY = list(range(8))


def first_legal(env: Any) -> int:
    return int(env.unwrapped.action_masks().argmax())


def play(env: Any, luck: int, steps: int) -> Iterator[Any]:
    """What the next steps of random legal play return, and each state; deals again at ends."""
    rng = np.random.default_rng(luck)
    inner = env.unwrapped
    over = not inner.engine.mask.any()
    for _ in range(steps):
        if over:
            observation, info = env.reset()
            yield observation.tobytes(), info["action_mask"].tobytes()
            over = False
            continue
        legal = np.flatnonzero(inner.action_masks())
        observation, reward, over, truncated, info = env.step(int(rng.choice(legal)))
        yield observation.tobytes(), reward, over, truncated, info["action_mask"].tobytes()
        yield inner.snapshot(), inner.deal


def to_end(env: Any, luck: int = 0) -> None:
    """Play the present game to its end, with books in mind."""
    play = Eager(env.engine.actions, 1, np.random.default_rng(luck))
    while env.engine.mask.any():
        env.step(int(play(env.engine.mask)[0]))


# Checks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.parametrize("illegal", ["penalize", "raise"])
def test_gymnasiums_own_checker_has_nothing_to_say(env_id: str, illegal: str) -> None:
    env = gymnasium.make(f"incunabula:{env_id}", illegal_action=illegal)
    if illegal == "raise":
        # The checker steps with unmasked samples: it sees our error and nothing else.
        with pytest.raises(IllegalActionError):
            check_env(env.unwrapped, skip_render_check=True)
    else:
        check_env(env.unwrapped)


def test_steps_return_builtin_types() -> None:
    env = BibliogamoEnv("bibliogamo-tiny")
    observation, info = env.reset(seed=0)
    assert observation.dtype == np.float32
    for action in (first_legal(env), int(np.flatnonzero(env.action_masks() == 0)[0])):
        _, reward, terminated, truncated, info = env.step(action)
        assert [type(x) for x in (reward, terminated, truncated)] == [float, bool, bool]
        assert type(info["score"]) is int


def test_registering_twice_is_silent_and_keeps_what_is_there() -> None:
    # Fault 28.
    spec = gymnasium.spec("incunabula/Bibliogamo-v0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register_envs()
        register_envs()
    assert gymnasium.spec("incunabula/Bibliogamo-v0") is spec


def test_an_environment_must_be_reset_first() -> None:
    env = BibliogamoEnv("bibliogamo-tiny", render_mode="ansi")
    for use in (
        lambda: env.step(0),
        lambda: env.deal,
        env.snapshot,
        env.render,
        lambda: env.determinise(0),
    ):
        with pytest.raises(IncunabulaError, match=r"call reset\(\) first"):
            use()


@pytest.mark.parametrize("action", [-1, 20, 1.0, "end", None, True, np.array([1, 2]), 2**70])
def test_what_is_no_action_is_refused_and_changes_nothing(action: Any) -> None:
    # Fault 19.
    env = BibliogamoEnv("bibliogamo-tiny")
    env.reset(seed=0)
    before = env.snapshot()
    with pytest.raises(IncunabulaError, match=r"is not an action; expected an integer in 0\.\.19"):
        env.step(action)
    assert env.snapshot() == before


@pytest.mark.parametrize("kind", [int, np.int64, np.int32, np.uint8, np.array])
def test_actions_may_be_of_any_integer_type(kind: Any) -> None:
    env = BibliogamoEnv("bibliogamo-tiny")
    env.reset(seed=0)
    env.step(kind(first_legal(env)))


# Episodes and seeds ------------------------------------------------------------------------------


def test_a_reset_without_a_seed_goes_on_to_the_next_episode_of_the_rules() -> None:
    env = BibliogamoEnv("bibliogamo-tiny")
    env.reset(seed=0)
    seeds = [env.deal["seed"]]
    env.step(first_legal(env))
    env.reset()  # in mid-episode
    seeds.append(env.deal["seed"])
    to_end(env)
    env.reset()
    seeds.append(env.deal["seed"])
    assert seeds == [0, 0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
    env.reset(seed=0)
    assert env.deal["seed"] == 0


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**63, 2**64 - 1, 2**64 + 5, -1])
def test_any_integer_is_a_seed_and_0_is_one(seed: int) -> None:
    # Fault 23.
    env = BibliogamoEnv()
    first, _ = env.reset(seed=seed)
    again, _ = env.reset(seed=seed)
    assert first.tobytes() == again.tobytes()
    assert env.deal["seed"] == seed % 2**64
    env.reset()
    base = np.array([seed % 2**64], np.uint64)
    assert env.deal["seed"] == int(episode_seeds(base, np.array([1], np.uint64))[0])
    assert env.snapshot() == Game(edition("bibliogamo"), seed=env.deal["seed"]).state()


def test_different_seeds_and_episodes_are_different_games() -> None:
    # Fault 17.
    env = BibliogamoEnv()
    decks = set()
    for seed in (0, 1, 2**32 - 1, 2**63, 2**64 - 1):
        env.reset(seed=seed)
        decks.add(tuple(deck_order(env.engine, 0)))
        for _ in range(3):
            env.reset()
            decks.add(tuple(deck_order(env.engine, 0)))
    assert len(decks) == 20


def test_environments_that_were_never_seeded_differ() -> None:
    seeds = set()
    for _ in range(5):
        env = BibliogamoEnv("bibliogamo-tiny")
        env.reset()
        seeds.add(env.deal["seed"])
    assert len(seeds) == 5


@pytest.mark.parametrize("name", EDITIONS)
def test_five_episodes_in_a_row_report_their_own_return_and_length(name: str) -> None:
    # Faults 14 and 16: the return of legal play is the score, in every episode.
    env: Any = RecordEpisodeStatistics(BibliogamoEnv(name))
    play = Eager(env.unwrapped.engine.actions, 1, np.random.default_rng(1))
    _, info = env.reset(seed=1)
    for _ in range(5):
        total, length, over = 0.0, 0, False
        while not over:
            action = int(play(info["action_mask"][None])[0])
            observation, reward, over, truncated, info = env.step(action)
            assert not truncated
            total += float(reward)
            length += 1
        assert (float(info["episode"]["r"]), int(info["episode"]["l"])) == (total, length)
        final = env.unwrapped.layout.decode(observation)
        assert (final["phase"], final["score"], info["score"]) == ("over", total, total)
        _, info = env.reset()


def test_the_return_is_the_score_less_the_score_at_the_start() -> None:
    data = edition("bibliogamo-tiny", florins_per_vp=1)
    data["start"]["florins"] = 7
    env = BibliogamoEnv(data)
    _, info = env.reset(seed=0)
    start, total, over = info["score"], 0.0, False
    assert start == 7
    while not over:
        walks = np.flatnonzero(info["action_mask"][: env.engine.actions.keep])
        action = int(walks[-1]) if walks.size else first_legal(env)
        _, reward, over, _, info = env.step(action)
        total += reward
    assert total == info["score"] - start < 0


def test_a_time_limit_truncates_and_does_not_terminate() -> None:
    # Fault 22.
    env = gymnasium.make("incunabula:incunabula/Bibliogamo-v0", max_episode_steps=5)
    _, info = env.reset(seed=0)
    inner: Any = env.unwrapped
    for step in range(1, 6):
        observation, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        assert (terminated, truncated) == (False, step == 5)
    state = inner.layout.decode(observation)
    assert state["phase"] != "over"
    assert state["score"] == info["score"]
    assert info["action_mask"].sum() == inner.engine.mask.sum()  # the true mask, not that of an end
    env.reset()
    assert inner.deal["seed"] == 0xE220A8397B1DCDAF


# Illegal actions ---------------------------------------------------------------------------------


def test_an_illegal_action_is_penalised_and_leaves_the_state_as_it_is() -> None:
    env = BibliogamoEnv("bibliogamo-tiny", illegal_reward=-0.25)
    before, info = env.reset(seed=0)
    assert "illegal" not in info
    state = env.engine.state.copy()
    for action in np.flatnonzero(info["action_mask"] == 0):
        observation, reward, terminated, truncated, info = env.step(int(action))
        assert (reward, terminated, truncated) == (-0.25, False, False)
        why = env.why_illegal(int(action))
        assert why is not None
        assert info["illegal"] == why[0]
        assert observation.tobytes() == before.tobytes()
    assert env.engine.state.equal(state)
    _, _, _, _, info = env.step(first_legal(env))
    assert "illegal" not in info


def test_an_illegal_action_can_be_made_to_raise_and_leaves_the_state_as_it_is() -> None:
    env = BibliogamoEnv("bibliogamo-tiny", illegal_action="raise")
    env.reset(seed=0)
    state = env.engine.state.copy()
    with pytest.raises(IllegalActionError, match=r"^row 0: action 6 is illegal \(Order of deci"):
        env.step(6)
    assert env.engine.state.equal(state)


# Options -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        "bibliogamo-tiny",
        str(FILES / "bibliogamo-tiny.yaml"),
        FILES / "bibliogamo-tiny.yaml",
        load_edition("bibliogamo-tiny"),
        edition("bibliogamo-tiny"),
    ],
    ids=["name", "path as text", "path", "object", "mapping"],
)
def test_an_edition_may_be_a_name_a_path_an_object_or_a_mapping(given: Any) -> None:
    env = gymnasium.make("incunabula:incunabula/Bibliogamo-v0", edition=given)
    env.reset(seed=0)
    assert env.unwrapped.snapshot() == Game(edition("bibliogamo-tiny"), seed=0).state()  # type: ignore[attr-defined]


def test_prestige_of_the_constructor_holds_for_all_and_that_of_a_reset_for_one() -> None:
    env = BibliogamoEnv(prestige=2)
    found = []
    for options in (None, {}, {"prestige": 5}, {"prestige": None}, None, {"unknown": 1}):
        env.reset(options=options)
        found.append(env.snapshot()["prestige"])
        assert env.deal["prestige"] == found[-1]
    assert found == [2, 2, 5, 2, 2, 2]


def test_a_tape_of_the_constructor_holds_for_all_and_that_of_a_reset_for_one() -> None:
    down = EVERY[::-1]
    env = BibliogamoEnv("bibliogamo-tiny", tape={"shuffles": [EVERY] * 4, "prestige": 1})
    found = []
    for options in (
        None,
        {"tape": {"shuffles": [down] * 2}, "prestige": 0},
        None,
        {"prestige": 0},
        {"tape": {"shuffles": [down], "prestige": 0}},
    ):
        env.reset(options=options)
        tape = env.deal["tape"]
        found.append((tape["shuffles"][0][0], len(tape["shuffles"]), env.deal["prestige"]))
        assert tape["prestige"] == env.deal["prestige"]
    assert found == [(0, 4, 1), (7, 2, 0), (0, 4, 1), (0, 4, 0), (7, 1, 0)]


def test_the_deal_plays_the_same_game_again() -> None:
    env = BibliogamoEnv("bibliogamo-small")
    env.reset(seed=3)
    env.reset()
    deal = env.deal
    played = list(play(env, 0, 12))
    again = BibliogamoEnv("bibliogamo-small")
    again.reset(seed=deal["seed"], options={"prestige": deal["prestige"]})
    assert list(play(again, 0, 12)) == played


def test_a_refused_reset_uses_up_no_episode() -> None:
    env = BibliogamoEnv("bibliogamo-tiny")
    env.reset(seed=0)
    before, state = env.deal, env.snapshot()
    wrong: list[Any] = [{"prestige": 9}, *({"tape": {"shuffles": s}} for s in ([EVERY], []))]
    for options in wrong:
        with pytest.raises(IncunabulaError):
            env.reset(options=options)
        with pytest.raises(IncunabulaError):
            env.reset(seed=7, options=options)
        assert (env.deal, env.snapshot()) == (before, state)
    env.reset()
    assert env.deal["seed"] == 0xE220A8397B1DCDAF


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edition": "bibliogamo-tinny"}, "bibliogamo-tiny"),
        ({"edition": "no/such/file.yaml"}, "no/such/file.yaml"),
        ({"edition": 5}, "an edition is a name, a path, a mapping or an Edition, not int"),
        ({"prestige": 7}, "prestige: expected an integer in 0..6, got 7"),
        ({"prestige": -1}, "prestige: expected an integer in 0..6, got -1"),
        ({"prestige": "0"}, "prestige: expected an integer in 0..6, got '0'"),
        ({"prestige": True}, "prestige: expected an integer in 0..6, got True"),
        ({"tape": {"shuffles": [EVERY]}}, "tape.shuffles[0]"),
        ({"illegal_action": "punish"}, "illegal_action: expected one of penalize, raise"),
        ({"illegal_reward": "much"}, "illegal_reward: expected a finite number, got 'much'"),
        ({"illegal_reward": float("nan")}, "illegal_reward: expected a finite number, got nan"),
        ({"render_mode": "svg"}, "expected None or one of ansi, rgb_array, human, got 'svg'"),
    ],
)
def test_a_bad_option_gives_one_clear_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(IncunabulaError) as e:
        BibliogamoEnv(**options)
    assert message in str(e.value)
    assert isinstance(e.value, ValueError)


@pytest.mark.parametrize("seed", ["0", 0.5, [1]])
def test_a_seed_must_be_an_integer(seed: Any) -> None:
    with pytest.raises(IncunabulaError, match=r"^seed: expected an integer"):
        BibliogamoEnv("bibliogamo-tiny").reset(seed=seed)


def test_a_seeded_reset_keeps_every_argument() -> None:
    # Fault 25.
    shuffles = [EVERY[::-1]] * 3
    env = BibliogamoEnv(
        edition("bibliogamo-tiny", days=3),
        prestige=1,
        tape={"shuffles": shuffles},
        illegal_action="penalize",
        illegal_reward=-9.0,
        render_mode="ansi",
    )
    for seed in (None, 5, None, 0):
        env.reset(seed=seed)
        assert env.deal == {"tape": {"shuffles": shuffles, "prestige": 1}, "prestige": 1}
        assert env.step(6)[1] == -9.0
        board = env.render()
        assert board is not None
        assert "day 1 of 3 " in plain(board)
    strict = BibliogamoEnv("bibliogamo-tiny", illegal_action="raise")
    strict.reset(seed=1)
    with pytest.raises(IllegalActionError):
        strict.step(6)


# Drawing -----------------------------------------------------------------------------------------


def test_the_board_is_drawn_as_text_and_drawing_changes_nothing() -> None:
    env = BibliogamoEnv("bibliogamo-small", render_mode="ansi")
    env.reset(seed=2)
    play = Eager(env.engine.actions, 1, np.random.default_rng(0))
    while env.engine.mask.any():
        state = env.engine.state.copy()
        board = env.render()
        assert board == env.render()
        assert env.engine.state.equal(state)
        assert board is not None
        shown, said = env.snapshot(), plain(board)
        assert f"score {shown['score']} " in said
        assert asked(env.engine.edition, shown) in said
        assert ("no sale is under way" in said) == (shown["phase"] != "price")
        for card in shown["hand"]:
            assert f": card {card} " in said
        env.step(int(play(env.engine.mask)[0]))
    assert "the last day is over" in plain(env.render())
    assert BibliogamoEnv("bibliogamo-small").render() is None


def test_an_edition_file_of_ones_own_is_played(tmp_path: Path) -> None:
    text = (FILES / "bibliogamo-tiny.yaml").read_text("utf-8").replace("days: 4", "days: 9")
    (tmp_path / "mine.yaml").write_text(text, "utf-8")
    env = BibliogamoEnv(tmp_path / "mine.yaml")
    env.reset(seed=0)
    to_end(env)
    assert env.snapshot()["time"] == 9
    moved = pickle.loads(pickle.dumps(env))
    (tmp_path / "mine.yaml").unlink()
    moved.reset(seed=0)
    copy.deepcopy(moved).reset(seed=0)


def test_before_the_first_reset_every_question_says_so() -> None:
    env = BibliogamoEnv("bibliogamo-tiny")
    for ask in (
        env.action_masks,
        lambda: env.describe(0),
        lambda: env.why_illegal(0),
        env.snapshot,
    ):
        with pytest.raises(IncunabulaError, match="call reset"):
            ask()


@pytest.mark.parametrize("options", [[1], "abc"])
def test_reset_options_that_are_no_mapping_are_refused(options: Any) -> None:
    with pytest.raises(IncunabulaError, match="options: expected a mapping"):
        BibliogamoEnv("bibliogamo-tiny").reset(options=options)


def test_autoreset_modes_go_by_either_name() -> None:
    for name in ("NEXT_STEP", "NextStep", AutoresetMode.NEXT_STEP):
        env = BibliogamoVectorEnv(1, "bibliogamo-tiny", autoreset_mode=name)
        assert env.autoreset_mode == AutoresetMode.NEXT_STEP
