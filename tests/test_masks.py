"""Action masks: right at every point of a game, fresh, and of one form in each API."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode

from incunabula.envs.adapters.gymnasium import BibliogamoEnv, BibliogamoVectorEnv
from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.bibliogamo.state import Phase
from incunabula.envs.errors import IllegalActionError
from tests.play import (
    EDITIONS,
    Eager,
    Json,
    QuickGame,
    edition,
    index_of,
    legal_json,
    positions,
    stand_at,
)

MODES = list(AutoresetMode)
# What the rules call their parts.
CLAUSES = re.compile(r"R([1-9]|1[0-6])|step (1|2|3|4[abc]|5)|End|Order of decisions")
VARIED: list[str | Json] = [
    *EDITIONS,
    edition("bibliogamo-tiny", lifts_per_turn=0, hand_size=5, days=6),
    edition("bibliogamo-small", hires_per_turn=0, hand_size=8),
    edition("bibliogamo-small", allow_empty_hire=True, cubes=2, hires_per_turn=3, florin_cap=3),
]


@lru_cache
def stand_points(name: str) -> BibliogamoEngine:
    return positions(name, 3400)


def names(data: str | Json) -> str:
    return data if isinstance(data, str) else "{edition} varied".format(**data)


# Right -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EDITIONS)
def test_every_mask_is_the_oracles_legal_set(name: str) -> None:
    # Fault 2, with 10,200 states in all; one in sixteen has just been dealt.
    engine, game = stand_points(name), QuickGame(edition(name), seed=0)
    for row in range(engine.num_envs):
        stand_at(game, engine.snapshot(row))
        expected = sorted(index_of(game, action) for action in game.legal())
        assert np.flatnonzero(engine.mask[row]).tolist() == expected


@pytest.mark.parametrize("name", EDITIONS)
def test_an_action_raises_exactly_when_the_mask_says_it_is_illegal(name: str) -> None:
    # Fault 2 by brute force: each action is tried on a copy of each state.
    engine = stand_points(name)
    every = np.arange(engine.num_envs)
    copy = BibliogamoEngine(name, engine.num_envs)
    for action in range(engine.actions.n):
        copy.put(every, engine.state)
        legal = engine.mask[:, action]
        wanted = np.full(len(every), action)
        copy.apply(wanted[legal], every[legal])
        moved = copy.state.copy()
        # A quarter of the states for each action; all of them over the actions.
        for row in every[~legal][action % 4 :: 4]:
            with pytest.raises(IllegalActionError):
                copy.apply(wanted[:1], every[row : row + 1])
        assert copy.state.equal(moved)


@pytest.mark.parametrize("data", VARIED, ids=names)
def test_every_state_before_the_end_has_a_legal_action(data: str | Json) -> None:
    # Fault 1: 100,000 random steps over the editions.
    rows = 512
    engine = BibliogamoEngine(data, rows)
    rng = np.random.default_rng(7)
    engine.deal(np.arange(rows), rng.integers(2**63, size=rows))
    play = Eager(engine.actions, rows, rng)
    for _ in range(1 + 100_000 // len(VARIED) // rows):
        assert engine.mask.any(axis=1).all()
        _, over = engine.apply(play(engine.mask))
        assert np.array_equal(engine.mask.any(axis=1), ~over)
        again = np.flatnonzero(over)
        if again.size:
            engine.deal(again, rng.integers(2**63, size=again.size))


@pytest.mark.parametrize("mode", MODES)
def test_the_mask_a_step_returns_is_that_of_the_state_it_leads_to(mode: AutoresetMode) -> None:
    # Fault 3.
    env = BibliogamoVectorEnv(32, "bibliogamo-small", autoreset_mode=mode)
    _, infos = env.reset(seed=3)
    rng = np.random.default_rng(0)
    play = Eager(env.engine.actions, 32, rng)
    ends = 0
    for _ in range(60):
        expected = env.engine.legal()
        over = env.engine.state.phase == Phase.OVER
        expected[over, 0] = True
        assert np.array_equal(infos["action_mask"], expected)
        assert np.array_equal(env.action_masks(), expected)
        if mode == AutoresetMode.DISABLED and over.any():
            ends += int(over.sum())
            env.reset(options={"reset_mask": over})
            infos = {"action_mask": env.action_masks()}
            continue
        _, _, terminated, _, infos = env.step(play(infos["action_mask"]))
        ends += int(terminated.sum())
    assert ends > 32


def test_the_single_environments_mask_follows_every_step() -> None:
    env = BibliogamoEnv("bibliogamo-small")
    _, info = env.reset(seed=0)
    play = Eager(env.engine.actions, 1, np.random.default_rng(0))
    for _ in range(40):
        assert np.array_equal(info["action_mask"], env.engine.legal()[0])
        assert np.array_equal(info["action_mask"], env.action_masks())
        _, _, over, _, info = env.step(int(play(info["action_mask"][None])[0]))
        if over:
            _, info = env.reset()


# Reasons -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", VARIED, ids=names)
def test_every_illegal_action_has_a_clause_and_a_reason_and_no_legal_one_has(
    data: str | Json,
) -> None:
    engine = positions(data, 100, seed=5)
    seen = set()
    for row in range(engine.num_envs):
        for action in range(engine.actions.n):
            why = engine.why_illegal(row, action)
            assert (why is None) == engine.mask[row, action]
            if why is not None:
                clause, reason = why
                assert CLAUSES.fullmatch(clause)
                assert 10 < len(reason) < 120
                seen.add(clause)
    assert {"End", "Order of decisions"} < seen


def test_the_reason_is_the_one_a_player_would_give() -> None:
    data = edition("bibliogamo-tiny")
    engine = BibliogamoEngine(data, 1)
    form = positions(data, 1).snapshot(0) | {
        **{"phase": "hire", "time": 1, "turn": 1, "florins": 0, "books": 0, "score": 0},
        **{"supply": 2, "towers": [[1, 0], [0, 0]], "hand": [0, 4], "display": []},
        **{"deck": [1, 2, 3], "discard": [5, 6, 7], "banned": 1, "hires_left": 1},
        **{"pending_hire": None, "prestige": 0, "slots_filled": [False, False]},
    }
    engine.restore(0, form, 0)

    def why(action: Json) -> tuple[str, str]:
        found = engine.why_illegal(0, engine.action_from_json(0, action))
        assert found is not None
        return found

    assert why({"type": "sell"})[0] == "Order of decisions"
    assert why({"type": "pay", "card": 0}) == (
        "Order of decisions",
        "it isn't time to pay for a hire now, but to hire, lift the ban or end the turn",
    )
    # Kinds have the names that pictures show.
    hire = {"type": "hire", "tower": 0}
    assert why(hire | {"card": 0}) == ("R8", "psalter lacks no artisan that card 0 hires")
    assert why(hire | {"card": 4}) == (
        "R4",
        "card 4 hires the banned type binder; lift the ban first",
    )
    assert engine.why_illegal(0, engine.actions.hire + 2 * engine.actions.towers) == (
        "step 4c",
        "hand slot 2 is empty (the hand holds 2 cards)",
    )
    engine.restore(0, form | {"hires_left": 0}, 0)
    assert why(hire | {"card": 0})[0] == "R7"
    engine.restore(0, form | {"banned": 0}, 0)
    assert why({"type": "lift", "card": 0}) == ("R11", "card 0's icon is binder, banned is scribe")


def test_why_not_to_walk_names_the_tower_there() -> None:
    engine = positions("bibliogamo", 200)
    state = engine.state
    asked, one = state.phase == Phase.TRAVEL, state.florins == 1
    row = int(np.flatnonzero(asked & one)[0])
    here = int(state.librarian[row])
    there, spaces = (here + 2) % 6, engine.edition.board.spaces
    assert engine.why_illegal(row, engine.actions.walk + here) == (
        "step 4a",
        f"the librarian is at {spaces[here]} (space {here}) already; stay instead",
    )
    assert engine.why_illegal(row, engine.actions.walk + there) == (
        "step 4a",
        f"walking to {spaces[there]} (space {there}) costs 2 florins, 1 held",
    )


def test_the_error_names_row_action_clause_and_reason() -> None:
    engine = BibliogamoEngine("bibliogamo-tiny", 3)
    engine.deal(np.arange(3), [0, 1, 2])
    actions = engine.mask.argmax(axis=1)
    actions[2] = engine.actions.wait
    before = engine.state.copy()
    with pytest.raises(IllegalActionError) as e:
        engine.apply(actions)
    assert (e.value.row, e.value.action, e.value.clause) == (2, 6, "Order of decisions")
    assert str(e.value) == (
        "row 2: action 6 is illegal (Order of decisions): "
        "it isn't time to wait for another offer now, but to hire, lift the ban or end the turn"
    )
    assert engine.state.equal(before)


# After the end -----------------------------------------------------------------------------------


def finish(env: Any) -> Json:
    """Play a single environment to its end; the last info."""
    _, info = env.reset(seed=0)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    return dict(info)


@pytest.mark.parametrize("illegal", ["penalize", "raise"])
def test_after_the_end_the_mask_is_action_0_alone_and_stepping_raises(illegal: str) -> None:
    # Fault 11.
    env = BibliogamoEnv("bibliogamo-tiny", illegal_action=illegal)
    info = finish(env)
    assert np.flatnonzero(info["action_mask"]).tolist() == [0]
    assert not env.engine.mask.any()
    assert legal_json(env.engine, 0) == []
    for action in (0, env.engine.actions.end):
        with pytest.raises(IllegalActionError, match="the game is over"):
            env.step(action)
        assert env.why_illegal(action) is not None
    with pytest.raises(IllegalActionError, match="the game is over"):
        env.engine.apply(np.array([0]))


def test_after_the_end_a_vector_environment_without_autoreset_raises() -> None:
    env = BibliogamoVectorEnv(2, "bibliogamo-tiny", autoreset_mode=AutoresetMode.DISABLED)
    _, infos = env.reset(seed=0)
    terminated = np.zeros(2, np.bool_)
    while not terminated.any():
        _, _, terminated, _, infos = env.step(infos["action_mask"].argmax(axis=1))
    done = int(np.flatnonzero(terminated)[0])
    assert np.flatnonzero(infos["action_mask"][done]).tolist() == [0]
    with pytest.raises(ValueError, match=f"row {done}: its game is over; reset it"):
        env.step(infos["action_mask"].argmax(axis=1))


# Form --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EDITIONS)
def test_each_api_gives_masks_of_its_own_fixed_form(name: str) -> None:
    # Fault 9.
    env = BibliogamoEnv(name)
    _, info = env.reset(seed=0)
    n = env.engine.actions.n
    vector = BibliogamoVectorEnv(3, name)
    _, infos = vector.reset(seed=0)
    for mask, shape in (
        (info["action_mask"], (n,)),
        (env.action_masks(), (n,)),
        (env.step(int(info["action_mask"].argmax()))[4]["action_mask"], (n,)),
        (infos["action_mask"], (3, n)),
        (vector.action_masks(), (3, n)),
        (vector.step(infos["action_mask"].argmax(axis=1))[4]["action_mask"], (3, n)),
    ):
        assert (mask.dtype, mask.shape) == (np.int8, shape)
        assert np.isin(mask, (0, 1)).all()
        assert mask.flags.writeable
        assert not np.shares_memory(mask, env.engine.mask)
        assert not np.shares_memory(mask, vector.engine.mask)
    assert env.action_space == Discrete(n)
    assert infos["_action_mask"].tolist() == [True] * 3


def test_a_mask_can_be_given_to_the_action_space() -> None:
    env = BibliogamoEnv()
    _, info = env.reset(seed=0)
    env.action_space.seed(0)
    legal = set(np.flatnonzero(info["action_mask"]).tolist())
    assert {int(env.action_space.sample(info["action_mask"])) for _ in range(200)} <= legal


@pytest.mark.parametrize("name", EDITIONS)
def test_masked_distributions_accept_our_masks_twice_with_validation(name: str) -> None:
    # Fault 6: "Simplex" errors; with one legal action too.
    torch = pytest.importorskip("torch")
    distributions = pytest.importorskip("sb3_contrib.common.maskable.distributions")
    engine = stand_points(name)
    masks = engine.mask[engine.mask.any(axis=1)][:512]
    assert (masks.sum(axis=1) == 1).any()
    generator = torch.Generator().manual_seed(0)
    for scale in (0.01, 1.0, 60.0):
        logits = scale * torch.randn(masks.shape, generator=generator)
        found = distributions.MaskableCategorical(logits=logits, validate_args=True)
        for _ in range(2):
            found.apply_masking(masks)
            chosen = found.sample().numpy()
            assert masks[np.arange(len(masks)), chosen].all()
            assert torch.isfinite(found.entropy()).all()
            assert (found.probs.numpy()[~masks] < 1e-6).all()


# Fresh -------------------------------------------------------------------------------------------


def arrays(value: Any) -> list[npt.NDArray[Any]]:
    """Every array in what an environment returned."""
    if isinstance(value, np.ndarray):
        inner = [a for item in value for a in arrays(item)] if value.dtype == object else []
        return [value, *inner]
    if isinstance(value, dict):
        value = list(value.values())
    return [a for item in value for a in arrays(item)] if isinstance(value, (list, tuple)) else []


def assert_apart(mine: list[npt.NDArray[Any]], engine: BibliogamoEngine) -> None:
    own = [a for a in vars(engine.state).values() if isinstance(a, np.ndarray)]
    for i, array in enumerate(mine):
        for other in (*mine[:i], *own, engine.mask):
            assert not np.shares_memory(array, other)


def spoil(mine: list[npt.NDArray[Any]]) -> None:
    for array in mine:
        array[:] = None if array.dtype == object else 1


@pytest.mark.parametrize("mode", MODES)
def test_a_vector_environment_returns_fresh_arrays_that_may_be_spoilt(mode: AutoresetMode) -> None:
    # Fault 7: nothing is shared between steps, with the engine, or with what decides the future.
    env = BibliogamoVectorEnv(4, "bibliogamo-tiny", autoreset_mode=mode)
    twin = BibliogamoVectorEnv(4, "bibliogamo-tiny", autoreset_mode=mode)
    kept = arrays(env.reset(seed=0))
    twin.reset(seed=0)
    for _ in range(30):
        masks = twin.action_masks()
        actions = masks.argmax(axis=1)
        over = twin.engine.state.phase == Phase.OVER
        if mode == AutoresetMode.DISABLED and over.any():
            got = env.reset(options={"reset_mask": over.copy()})
            want: Any = twin.reset(options={"reset_mask": over})
        else:
            got, want = env.step(actions.copy()), twin.step(actions)  # type: ignore[assignment]
        mine, theirs = arrays(got), arrays(want)
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs, strict=True):
            assert a.dtype == object or a.tobytes() == b.tobytes()
            assert not any(np.shares_memory(a, old) for old in kept)
        assert_apart(mine, env.engine)
        spoil(mine)
        kept = mine


def test_the_single_environment_returns_fresh_arrays_that_may_be_spoilt() -> None:
    env, twin = BibliogamoEnv("bibliogamo-tiny"), BibliogamoEnv("bibliogamo-tiny")
    kept = arrays(env.reset(seed=0))
    _, info = twin.reset(seed=0)
    for _ in range(30):
        action = int(info["action_mask"].argmax())
        got, want = env.step(action), twin.step(action)
        info, over = want[4], want[2]
        assert got[0].tobytes() == want[0].tobytes()
        assert got[4]["action_mask"].tobytes() == want[4]["action_mask"].tobytes()
        mine = [*arrays(got), env.action_masks()]
        assert_apart(mine, env.engine)
        assert not any(np.shares_memory(a, old) for a in mine for old in kept)
        spoil(mine)
        kept = mine
        if over:
            kept = arrays(env.reset())
            _, info = twin.reset()
