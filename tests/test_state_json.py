"""The JSON form of a state: there and back, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from incunabula.envs.bibliogamo.engine import BibliogamoEngine
from incunabula.envs.json_state import StateError
from tests.by_hand import PSALTER, stand, tiny
from tests.play import EDITIONS, Json, positions


@pytest.mark.parametrize("name", EDITIONS)
def test_restore_gives_back_the_snapshot(name: str) -> None:
    engine = positions(name, 64)
    other = BibliogamoEngine(name, 64)
    for row in range(64):
        form = engine.snapshot(row)
        other.restore(row, form, row)
        assert other.snapshot(row) == form
    assert np.array_equal(other.mask, engine.mask)
    assert other.observe().tobytes() == engine.observe().tobytes()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"phase": "flying"}, "state.phase"),
        ({"phase": None}, "state.phase"),
        ({"time": 5}, "state.time"),
        ({"time": 1.0}, "state.time"),
        ({"turn": 0}, "state.turn"),
        ({"librarian": 2}, "state.librarian"),
        ({"florins": -1}, "state.florins"),
        ({"books": "1"}, "state.books"),
        ({"hires_left": 2}, "state.hires_left"),
        ({"banned": 2}, "state.banned"),
        ({"prestige": 2}, "state.prestige"),
        ({"prestige": True}, "state.prestige"),
        ({"score": 1}, "state.score"),
        ({"supply": 2}, "state.supply"),
        ({"towers": [[0, 0]]}, "state.towers"),
        ({"towers": [[2, 0], [0, 0]], "supply": 1}, "state.towers[0][0]"),
        ({"slots_filled": [False]}, "state.slots_filled"),
        ({"slots_filled": [False, 0]}, "state.slots_filled[1]"),
        ({"hand": [0, 1, 2, 3], "discard": [4, 5, 6, 7]}, "state.hand"),
        ({"hand": [0, 1, 8]}, "state.hand[2]"),
        ({"hand": [0, 1, 1]}, "state: card 1"),
        ({"hand": [0, 1]}, "state: card 2"),
        ({"hand": None}, "state.hand"),
        ({"hand": [0, 1, None]}, "state.hand[2]"),
        ({"display": [3, 4], "discard": [5, 6, 7]}, "state.display"),
        ({"phase": "price"}, "state.display"),
        ({"phase": "pay"}, "state.pending_hire"),
        ({"pending_hire": {"card": 3, "tower": 0}}, "state.pending_hire"),
        ({"extra": 1}, "state: fields"),
    ],
)
def test_a_wrong_state_is_refused_by_the_name_of_its_field(changes: Json, named: str) -> None:
    data = tiny()
    engine = BibliogamoEngine(data, 1)
    engine.deal(np.arange(1), [0])
    before = engine.state.copy()
    with pytest.raises(StateError) as e:
        engine.restore(0, stand(data, hand=[0, 1, 2]) | changes, 0)
    assert str(e.value).startswith(named)
    assert engine.state.equal(before)


def test_a_display_longer_than_the_days_spent_is_refused() -> None:
    # Two cards and one more for each day waited: on day 2 of the game three cards at most. Else
    # waiting on writes past the end of the display.
    engine = BibliogamoEngine(tiny(), 1)
    form = stand(tiny(), phase="price", time=2, towers=PSALTER, display=[0, 1, 2, 3, 4])
    with pytest.raises(StateError, match=r"^state\.display"):
        engine.restore(0, form, 0)


def test_a_sale_for_which_no_two_cards_can_be_flipped_is_refused() -> None:
    # R10: of four cards three are in the hand.
    engine = BibliogamoEngine(tiny(cards=4), 1)
    form = stand(tiny(cards=4), phase="sell", towers=PSALTER, hand=[0, 1, 2])
    with pytest.raises(StateError, match=r"^state\.phase: sell needs two cards"):
        engine.restore(0, form, 0)
    engine.restore(0, form | {"hand": [0, 1], "discard": [2, 3]}, 0)
