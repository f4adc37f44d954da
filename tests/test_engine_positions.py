"""The engine in positions set up by hand, for rules that random play seldom meets.

Each case states what the rules ask; the oracle then plays on beside the engine to the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from tests.by_hand import (
    ACCEPT,
    BINDER,
    END,
    KEEP,
    PSALTER,
    SCRIBE,
    SELL,
    STAY,
    WAIT,
    hire,
    lift,
    pay,
    stand,
    tiny,
    walk,
)
from tests.oracle.bibliogamo import Game
from tests.play import Json, as_set, assert_same, choose, legal_json, position


@dataclass
class Case:
    """A position, the actions taken in it, and what the rules then ask."""

    name: str
    data: Json
    at: Json
    actions: list[Json] = field(default_factory=list)
    reward: int = 0
    then: Json = field(default_factory=dict)
    legal: list[Json] | None = None


CASES = [
    *(
        Case(
            f"R2: a cap of {cap} clips the florins and the surplus is lost",
            tiny(florin_cap=cap),
            {"phase": "price", "florins": held, "towers": PSALTER, "display": [0, 7]},
            [ACCEPT],
            reward,
            {"florins": florins, "books": 1, "slots_filled": [True, False], "phase": "hire"},
        )
        for cap, held, florins, reward in [
            (None, 1, 5, 4),
            (5, 1, 5, 4),
            (3, 1, 3, 3),
            (1, 1, 1, 2),
            (0, 0, 0, 2),
        ]
    ),
    Case(
        "R4: any card with the banned icon lifts, even one that hires the type",
        tiny(),
        {"hand": [0, 4, 6], "banned": BINDER},
        legal=[END, hire(0, 0), lift(0), lift(4)],
    ),
    Case(
        "R4: a lift is legal when useless, with a single card",
        tiny(),
        {"hand": [2], "banned": BINDER},
        [lift(2)],
        0,
        {"hand": [], "banned": None, "hires_left": 1, "phase": "hire"},
        [END],
    ),
    Case(
        "R4: a banned card may pay",
        tiny(),
        {"hand": [1, 4, 5], "banned": BINDER},
        [hire(1, 0)],
        0,
        {"pending_hire": {"card": 1, "tower": 0}, "hires_left": 0, "hand": [4, 5], "supply": 2},
        [pay(4), pay(5)],
    ),
    Case(
        "R11: a lift frees the rest of the turn and uses no hire",
        tiny(hires_per_turn=2),
        {"hand": [0, 4, 6], "banned": BINDER},
        [lift(0)],
        0,
        {"banned": None, "hires_left": 2, "hand": [4, 6]},
        [END, hire(4, 0), hire(4, 1), hire(6, 0), hire(6, 1)],
    ),
    Case(
        "R12: the small icon is no symbol for the ban",
        tiny(lifts_per_turn=0),
        {"hand": [0, 7], "banned": BINDER},
        legal=[END, hire(0, 0)],
    ),
    Case(
        "no lifts a turn: none is offered",
        tiny(lifts_per_turn=0),
        {"hand": [0, 1, 4], "banned": SCRIBE},
        legal=[END, hire(4, 0), hire(4, 1)],
    ),
    Case(
        "no hires a turn: a ban can still be lifted",
        tiny(hires_per_turn=0),
        {"hand": [0, 1, 2], "banned": SCRIBE},
        [lift(1)],
        0,
        {"banned": None, "phase": "hire", "hires_left": 0},
        [END],
    ),
    Case(
        "R5: the coin is the first card's, the offer the last one's; R16: no way back",
        tiny(),
        {"phase": "price", "towers": PSALTER, "display": [0, 1], "deck": [3], "hand": [4, 5, 6]},
        [WAIT],
        0,
        {"time": 2, "display": [0, 1, 3], "discard": [2, 7]},
        [ACCEPT, WAIT],
    ),
    Case(
        "R5, R6: what is accepted is the last card's price in the first card's coin",
        tiny(),
        {"phase": "price", "towers": PSALTER, "display": [0, 1], "deck": [3], "hand": [4, 5, 6]},
        [WAIT, ACCEPT],
        4,
        {"florins": 4, "discard": [0, 1, 2, 3, 7], "display": [], "phase": "hire", "supply": 3},
    ),
    Case(
        "step 4b: no day is left to wait; the turn goes on after the sale",
        tiny(),
        {"phase": "price", "time": 3, "towers": PSALTER, "display": [0, 1], "deck": [2]},
        [WAIT, ACCEPT],
        2,
        {"time": 4, "phase": "hire", "florins": 0},
        [END],
    ),
    Case(
        "R7: the turn ends by itself after the last paid hire",
        tiny(hires_per_turn=2),
        {"hand": [0, 1, 5], "deck": [2, 3, 4, 6, 7], "hires_left": 1},
        [hire(0, 0), pay(1)],
        0,
        {"turn": 2, "time": 2, "hires_left": 2, "phase": "hire"},
    ),
    Case(
        "R8: a hire must place a cube",
        tiny(),
        {"hand": [0, 3, 4], "towers": PSALTER},
        legal=[END, hire(4, 1)],
    ),
    Case(
        "R8: without a cube in the supply nothing can be hired",
        tiny(),
        {"hand": [0, 3, 4], "towers": [[1, 1], [0, 1]]},
        legal=[END],
    ),
    Case(
        "R8: allow_empty_hire lets any card not banned go anywhere",
        tiny(allow_empty_hire=True),
        {"hand": [0, 3, 4], "towers": [[1, 1], [0, 1]], "banned": SCRIBE},
        [hire(4, 0)],
        0,
        {"towers": [[1, 1], [0, 1]], "supply": 0, "hires_left": 0},
        [pay(0), pay(3)],
    ),
    Case(
        "R8: even an empty hire needs a second card",
        tiny(allow_empty_hire=True),
        {"hand": [0]},
        legal=[END],
    ),
    Case(
        "R13: types are served in the edition's order",
        tiny(),
        {"hand": [0, 7], "towers": [[0, 0], [0, 2]]},
        [hire(7, 0)],
        0,
        {"towers": [[1, 0], [0, 2]], "supply": 0},
    ),
    Case(
        "step 4c: artisans that find no room are lost",
        tiny(),
        {"hand": [0, 2]},
        [hire(2, 0)],
        0,
        {"towers": [[1, 0], [0, 0]], "supply": 2},
    ),
    Case(
        "R9: the game ends before the refill",
        tiny(),
        {"time": 4, "turn": 3, "hand": [5], "banned": SCRIBE},
        [END],
        0,
        {"phase": "over", "hand": [5], "banned": SCRIBE, "hires_left": 1, "turn": 3, "deck": []},
        [],
    ),
    Case(
        "R10: nothing to flip: no extra move, no ban, so no lift",
        tiny(cards=2),
        {"hand": [0, 1], "banned": SCRIBE},
        [END],
        0,
        {"time": 2, "turn": 2, "librarian": 1, "banned": None, "hand": [0, 1]},
        [END, hire(0, 0), hire(1, 0)],
    ),
    Case(
        "R10: a draw stops when no card is left",
        tiny(cards=2),
        {"hand": [0, 1]},
        [hire(0, 0), pay(1)],
        0,
        # Both lie on the discard pile, are shuffled and drawn; the flip of turn 2 is skipped.
        {"hand": [0, 1], "deck": [], "discard": [], "banned": None, "librarian": 1},
        [END],
    ),
    Case(
        "R10: the refill may leave nothing to flip, and yesterday's ban is gone",
        tiny(cards=3),
        {"hand": [0, 1], "deck": [2], "banned": BINDER},
        [END],
        0,
        {"hand": [0, 1, 2], "banned": None, "librarian": 1, "turn": 2},
    ),
    *(
        Case(
            f"R10: with {len(deck)} in the deck and {3 - len(hand) + 2 - len(deck)} discarded",
            tiny(cards=5),
            {"phase": "travel", "florins": 1, "towers": PSALTER, "hand": hand, "deck": deck},
            [STAY],
            0,
            {"phase": phase},
        )
        for hand, deck, phase in [
            ([0, 1, 2], [3, 4], "sell"),
            ([0, 1, 2], [3], "sell"),
            ([0, 1, 2], [], "sell"),
        ]
    ),
    *(
        Case(
            f"R10: a sale needs two cards, {len(deck)} in the deck and {1 - len(deck)} discarded",
            tiny(cards=4),
            {"phase": "travel", "florins": 1, "towers": PSALTER, "hand": [0, 1, 2], "deck": deck},
            [STAY],
            0,
            {"phase": "hire"},
        )
        for deck in ([], [3])
    ),
    Case(
        "R10: nothing is left to flip, so no waiting, though days are left",
        tiny(cards=5),
        {"phase": "sell", "towers": PSALTER, "hand": [0, 1, 2], "deck": [3]},
        [SELL],
        0,
        {"display": [3, 4], "deck": [], "discard": []},  # a shuffle between the two flips
        [ACCEPT],
    ),
    Case(
        "R10: waiting may shuffle the discard pile but not the display",
        tiny(),
        {"phase": "price", "towers": PSALTER, "display": [0, 1], "hand": [2, 3, 4]},
        [WAIT, WAIT, WAIT],
        0,
        {"time": 4, "discard": []},
        [ACCEPT],
    ),
    Case(
        "R14: the slot of the highest VP, the first listed among equals",
        tiny(slots=[("psalter", 1), ("herbal", 2), ("psalter", 2), ("psalter", 2)]),
        {"phase": "price", "towers": PSALTER, "display": [0, 6], "slots_filled": [False] * 4},
        [ACCEPT],
        3,
        {"slots_filled": [False, False, True, False]},
    ),
    Case(
        "R14: the next of them",
        tiny(slots=[("psalter", 1), ("herbal", 2), ("psalter", 2), ("psalter", 2)]),
        {
            **{"phase": "price", "towers": PSALTER, "display": [0, 6], "books": 1},
            "slots_filled": [False, False, True, False],
        },
        [ACCEPT],
        3,
        {"slots_filled": [False, False, True, True]},
    ),
    Case(
        "R14: a slot of 0 VP is filled as well, and then the bonus counts",
        tiny(slots=[("herbal", 1), ("psalter", 0)]),
        {
            **{"phase": "price", "towers": PSALTER, "display": [0, 6], "books": 1},
            "slots_filled": [True, False],
        },
        [ACCEPT],
        3,
        {"slots_filled": [True, True], "score": 5},
    ),
    Case(
        "R14: without an open slot for the tower only the book counts",
        tiny(slots=[("psalter", 1), ("herbal", 2)]),
        {
            **{"phase": "price", "towers": PSALTER, "display": [0, 6], "books": 2},
            "slots_filled": [True, True],
        },
        [ACCEPT],
        1,
        {"slots_filled": [True, True], "books": 3},
    ),
    Case(
        "R1: the shorter way round a ring of five",
        tiny(spaces=["psalter", "herbal", "psalter", "herbal", "psalter"]),
        {"phase": "travel", "librarian": 4, "florins": 2},
        [walk(1)],
        -1,
        {"florins": 0, "librarian": 1, "phase": "hire"},
    ),
    Case(
        "step 4a: a walk that costs more than is held is illegal",
        tiny(spaces=["psalter", "herbal", "psalter", "herbal", "psalter"]),
        {"phase": "travel", "librarian": 4, "florins": 1},
        legal=[STAY, walk(0), walk(3)],
    ),
    Case(
        "step 4a: opposite spaces of an even ring",
        tiny(spaces=["psalter", "herbal", "psalter", "herbal"]),
        {"phase": "travel", "librarian": 1, "florins": 2},
        legal=[STAY, walk(0), walk(2), walk(3)],
    ),
    Case(
        "a ring of one space still asks to stay",
        tiny(spaces=["herbal"]),
        {"phase": "travel", "florins": 9},
        legal=[STAY],
    ),
    Case(
        "step 4b: keeping a complete tower scores nothing",
        tiny(),
        {"phase": "sell", "towers": PSALTER, "hand": [0, 1, 2]},
        [KEEP],
        0,
        {"phase": "hire", "towers": PSALTER, "score": 0},
    ),
]


@pytest.mark.parametrize("seed", [0, 2**64 - 1])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_engine_plays_a_position_as_the_rules_ask(case: Case, seed: int) -> None:
    form = stand(case.data, **case.at)
    engine = BibliogamoEngine(case.data, 1)
    engine.restore(0, form, seed)
    game = position(case.data, form, seed)
    assert engine.snapshot(0) == form
    assert_same(engine, 0, game)

    def step(action: Json) -> int:
        reward, over = engine.apply(np.array([engine.action_from_json(0, action)]))
        assert int(reward[0]) == game.step(action)
        assert bool(over[0]) == game.over
        assert_same(engine, 0, game)
        return int(reward[0])

    assert sum(map(step, case.actions)) == case.reward
    state = engine.snapshot(0)
    if state["display"]:  # its order is chance here
        state["display"].sort()
    assert {name: state[name] for name in case.then} == case.then
    if case.legal is not None:
        assert as_set(legal_json(engine, 0)) == as_set(case.legal)
    rng = np.random.default_rng(seed)
    while not game.over:
        step(engine.action_to_json(0, int(choose(engine.mask, rng)[0])))


def test_r3_a_game_starts_from_the_start_block() -> None:
    data = tiny()
    data["start"] = {"time": 2, "florins": 2, "librarian": 1}
    tape = {"shuffles": [[1, 2, 3, 0, 4, 5, 6, 7]], "prestige": 0}
    engine = BibliogamoEngine(data, 1)
    engine.deal_tape(0, tape)
    # Hand 1, 2, 3. Time 3. Librarian 1 + 1 = 0; card 0 moves him no further and bans binders.
    state = engine.snapshot(0)
    assert (state["time"], state["librarian"], state["banned"], state["turn"]) == (3, 0, BINDER, 1)
    assert (state["florins"], state["score"], state["books"], state["supply"]) == (2, 1, 0, 3)
    game = Game(data, tape=tape)
    assert_same(engine, 0, game)
    assert as_set(legal_json(engine, 0)) == as_set([STAY, walk(1)])
    rewards = []
    for action in (STAY, END, walk(1), END):
        reward, over = engine.apply(np.array([engine.action_from_json(0, action)]))
        assert game.step(action) == reward[0]
        assert_same(engine, 0, game)
        rewards.append(int(reward[0]))
    # One florin less is one VP less: the return is the score less the score at the start.
    assert (rewards, bool(over[0])) == ([0, 0, -1, 0], True)
    assert engine.snapshot(0)["score"] == 0


def test_a_game_that_ends_uses_no_further_shuffle_of_its_tape() -> None:
    engine = BibliogamoEngine(tiny(days=1), 1)
    engine.deal_tape(0, {"shuffles": [list(range(8))], "prestige": 0})
    _, over = engine.apply(np.array([engine.actions.end]))
    assert over[0]
