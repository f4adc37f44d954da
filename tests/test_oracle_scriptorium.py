"""The oracle of Scriptorium against recorded games, and the first half of a day by hand.

The second half and the end of the game are in test_oracle_scriptorium_day.py, random games in
test_oracle_scriptorium_random.py.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.by_hand_scriptorium import (
    BLACK,
    BLUE,
    FILE,
    GOLD,
    GREEN,
    GRIMOIRE,
    IN_ORDER,
    QUILL,
    RED,
    TAKE_POINTS,
    TAKE_QUILL,
    Json,
    assert_legal,
    edition,
    ink,
    lectern,
    play,
    position,
    seat,
    stand,
)
from tests.oracle.scriptorium import Scriptorium

GOLDEN = Path(__file__).parent / "golden"

# --------------------------------------------------------------------------- recorded games


def golden_games(name: str) -> Iterator[Json]:
    with gzip.open(GOLDEN / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def without_bag(form: Json) -> Json:
    """The recorded states name the number of tiles in the bag, not their designs."""
    assert sum(form["bag"]) == form["bag_left"]
    return {name: value for name, value in form.items() if name != "bag"}


@pytest.mark.parametrize(("name", "games"), [("scriptorium", 6), ("scriptorium-more", 5)])
def test_golden_games(name: str, games: int) -> None:
    played = 0
    for record in golden_games(name):
        assert record["edition"] == "scriptorium"
        assert hashlib.sha256(FILE.read_bytes()).hexdigest() == record["edition_sha256"]
        game = Scriptorium(
            edition(), record["players"], seed=record["seed"], tape=record.get("tape")
        )
        assert without_bag(game.state()) == record["initial"]
        before = game.margins()
        for step in record["steps"]:
            if "legal" in step:
                assert_legal(game, *step["legal"])
            rewards = game.step(step["action"])
            assert rewards == step["rewards"]
            assert without_bag(game.state()) == step["state"]
            assert game.margins() == step["margins"]
            moved = [now - then for now, then in zip(step["margins"], before, strict=True)]
            assert game.margins_of(rewards) == moved
            before = step["margins"]
        assert game.over
        assert game.winners() == record["winners"]
        assert game.outcome() == record["outcome"]
        played += 1
    assert played == games


# ------------------------------------------------------------------------ chance and setup


def test_deal_of_seed_0() -> None:
    # Of the 96 tiles for two, numbers 0-14 are designs 0-2 (5 each), 15-42 designs 3-9 (4 each),
    # 43-57 designs 10-14 (3 each), 58-59 design 15, 60-77 designs 16-24 (2 each), 78 and 79
    # designs 25 and 26, 80-95 designs 27-30 (4 each). Stream 0 draws
    #   51 47 67 38 | 39 19 12 55 | 26 88 11 59, which are designs
    #   12 11 19  8 |  9  4  2 14 |  5 29  2 15.
    # Stream 2^32 + 1 draws the lecterns 1 0 2 3 5 4, of which the first three are in play.
    state = Scriptorium(edition(), 2, seed=0).state()
    assert state["lecterns"] == [
        {"lectern": BLACK, "tiles": [2, 4, 9, 14], "owner": None},
        {"lectern": RED, "tiles": [8, 11, 12, 19], "owner": None},
        {"lectern": BLUE, "tiles": [2, 5, 15, 29], "owner": None},
    ]
    assert (state["bag_left"], sum(state["bag"]), state["bag"][2]) == (84, 84, 3)


@pytest.mark.parametrize(("players", "tiles"), [(2, 96), (3, 128), (4, 160)])
def test_s3_setup(players: int, tiles: int) -> None:
    state = Scriptorium(edition(), players, seed=2**64 - 1).state()
    assert (state["phase"], state["round"], state["player"], state["quill"]) == ("ink", 1, 0, 0)
    assert (state["grimoire"], state["quill_next"], state["scriptorium"]) == (None, None, [])
    colours = dict.fromkeys(("red", "blue", "green", "gold"), players)
    assert state["pot"] == {"black": 2 * players} | colours
    assert state["players"] == [seat(tokens=3)] * players
    assert state["players"][0]["score"] == 6
    assert len(state["lecterns"]) == players + 1
    assert state["bag_left"] == tiles - 4 * (players + 1)
    assert set(state["achievements"].values()) == {None}


def test_exactly_one_of_seed_and_tape() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        Scriptorium(edition(), 2)
    with pytest.raises(ValueError, match="exactly one"):
        Scriptorium(edition(), 2, seed=0, tape={"bag": [], "lecterns": [IN_ORDER]})
    with pytest.raises(ValueError, match="5 players"):
        Scriptorium(edition(), 5, seed=0)


def test_tape_lays_the_last_drawn_lecterns_short() -> None:
    order = [GOLD, QUILL, BLUE, BLACK, RED, GREEN]
    state = Scriptorium(edition(), 2, tape={"bag": [6, 5, 4, 3, 2, 1], "lecterns": [order]}).state()
    assert state["lecterns"] == [
        {"lectern": BLUE, "tiles": [], "owner": None},
        {"lectern": GOLD, "tiles": [3, 4, 5, 6], "owner": None},
        {"lectern": QUILL, "tiles": [1, 2], "owner": None},
    ]
    assert state["bag_left"] == 0


def test_a_tape_without_this_rounds_lecterns_is_an_error() -> None:
    with pytest.raises(LookupError, match="round 1"):
        Scriptorium(edition(), 2, tape={"bag": [0], "lecterns": []})
    with pytest.raises(ValueError, match="round 1"):
        Scriptorium(edition(), 2, tape={"bag": [0], "lecterns": [[0, 1, 2, 3, 4, 4]]})


# ----------------------------------------------------------------------------- phase 1, inks


def fresh(players: int, **fields: Any) -> Scriptorium:
    """A day nobody has a lectern yet, 0, 1, 2, ... in play by default, lectern l with tile l."""
    lecterns = fields.pop("lecterns", IN_ORDER[: players + 1])
    form = stand(
        *(seat() for _ in range(players)),
        lecterns=[(index, None, [index]) for index in lecterns],
        **fields,
    )
    return position(form)


def inks_phase(players: int, pot: dict[str, int], **fields: Any) -> Scriptorium:
    """Phase 1 with the lecterns 0, 1, 2, ... in play, lectern l holding tile l."""
    return fresh(players, phase="ink", pot=pot, **fields)


def test_s1_one_ink_or_two_but_not_gold_with_black() -> None:
    game = Scriptorium(edition(), 2, seed=0)
    pairs = [
        *("black black", "black red", "black blue", "black green"),
        *("red red", "red blue", "red green", "red gold", "blue blue", "blue green", "blue gold"),
        *("green green", "green gold", "gold gold"),
    ]
    singles = ["black", "red", "blue", "green", "gold"]
    assert_legal(game, GRIMOIRE, *(ink(*names.split()) for names in singles + pairs))
    assert len(game.legal()) == 20
    for wrong in (ink("black", "gold"), ink("red", "black"), ink(), {"type": "end"}):
        with pytest.raises(ValueError, match="illegal"):
            game.step(wrong)


def test_only_inks_of_the_pot() -> None:
    game = inks_phase(2, {"black": 1, "red": 2, "gold": 1})
    assert_legal(
        game,
        *(ink("black"), ink("red"), ink("gold")),
        *(ink("black", "red"), ink("red", "red"), ink("red", "gold")),
        GRIMOIRE,
    )


def test_inks_go_round_from_the_quill_without_the_grimoires_holder() -> None:
    game = inks_phase(3, {"black": 5, "red": 2}, quill=1, player=1)
    seats = []
    for action in (ink("black"), GRIMOIRE, ink("black", "red"), ink("black"), ink("black")):
        seats.append(game.player)
        assert game.step(action) == [0, 0, 0]
    assert seats == [1, 2, 0, 1, 0]
    # Seat 2 took the grimoire: nobody else can, and he is left out.
    assert (game.player, game.grimoire) == (1, 2)
    assert_legal(game, ink("black"), ink("red"), ink("black", "red"))
    game.step(ink("red"))
    assert_legal(game, ink("black"))
    game.step(ink("black"))
    assert (game.phase, game.player) == ("lectern", 2)
    state = game.state()
    assert [sum(each["inks"].values()) for each in state["players"]] == [4, 3, 0]
    assert sum(state["pot"].values()) == 0


def test_phase_1_ends_with_the_pot_and_nobody_may_pass() -> None:
    game = inks_phase(2, {"gold": 2})
    assert_legal(game, ink("gold"), ink("gold", "gold"), GRIMOIRE)
    game.step(ink("gold", "gold"))
    assert (game.phase, game.player, game.grimoire) == ("lectern", 0, None)


def test_a_pot_without_ink_leaves_phase_1_out() -> None:
    dry = edition(inks_per_round={2: {"black": 0}})
    game = Scriptorium(dry, 2, seed=0)
    assert (game.phase, game.player, game.state()["pot"]["gold"]) == ("lectern", 0, 0)


# ------------------------------------------------------------------------- phase 2, lecterns


def lecterns_phase(players: int, **fields: Any) -> Scriptorium:
    first = fields.get("grimoire", fields.get("quill", 0))
    return fresh(players, phase="lectern", player=first, **fields)


def to(receivers: list[int], indices: list[int]) -> list[Json]:
    return [lectern(index, receiver) for index in indices for receiver in receivers]


def test_without_grimoire_who_receives_gives_next() -> None:
    game = lecterns_phase(3)
    assert_legal(game, *to([1, 2], [0, 1, 2, 3]))
    game.step(lectern(RED, 2))
    assert (game.player, game.players[2].lectern_tiles) == (2, [1])
    assert game.state()["lecterns"][1] == {"lectern": RED, "tiles": [], "owner": 2}
    assert_legal(game, *to([0, 1], [0, 2, 3]))
    game.step(lectern(BLACK, 0))
    assert game.player == 0
    assert_legal(game, *to([1], [2, 3]))
    game.step(lectern(BLUE, 1))
    state = game.state()
    assert (state["phase"], state["player"], state["scriptorium"]) == ("illuminate", 0, [3])
    assert [each["owner"] for each in state["lecterns"]] == [0, 2, 1, None]
    assert [each["tiles"] for each in state["lecterns"]] == [[], [], [], []]


def test_without_grimoire_two_players_give_to_each_other() -> None:
    game = lecterns_phase(2)
    assert_legal(game, *to([1], [0, 1, 2]))
    game.step(lectern(BLUE, 1))
    assert game.player == 1
    assert_legal(game, *to([0], [0, 1]))


def test_the_grimoires_holder_chooses_first_and_never_gives() -> None:
    game = lecterns_phase(4, grimoire=2, quill=1)
    assert_legal(game, *to([2], [0, 1, 2, 3, 4]))
    seats = []
    for action in (lectern(4, 2), lectern(0, 3), lectern(1, 1), lectern(2, 0)):
        seats.append(game.player)
        game.step(action)
    assert seats == [2, 1, 3, 1]  # 1 has the quill, 3 and then 1 received
    assert (game.phase, game.player, game.scriptorium) == ("illuminate", 1, [3])


def test_the_quills_holder_with_the_grimoire_chooses_and_then_gives() -> None:
    game = lecterns_phase(3, grimoire=0)
    assert_legal(game, *to([0], [0, 1, 2, 3]))
    game.step(lectern(BLACK, 0))
    assert game.player == 0
    assert_legal(game, *to([1, 2], [1, 2, 3]))
    game.step(lectern(RED, 2))
    assert game.player == 2
    assert_legal(game, *to([1], [2, 3]))


def test_s4_two_players_the_grimoires_holder_chooses_for_the_quills() -> None:
    game = lecterns_phase(2, grimoire=1)
    game.step(lectern(RED, 1))
    assert game.player == 1
    assert_legal(game, *to([0], [0, 2]))
    game.step(lectern(BLUE, 0))
    assert (game.phase, game.player, game.scriptorium) == ("illuminate", 0, [0])
    assert [each.owner for each in game.lecterns] == [None, 1, 0]


def test_s4_not_when_the_quills_holder_has_the_grimoire_too() -> None:
    game = lecterns_phase(2, grimoire=0)
    game.step(lectern(RED, 0))
    assert game.player == 0
    assert_legal(game, *to([1], [0, 2]))


def test_s4_the_quills_holder_answers_for_the_lectern_chosen_for_him() -> None:
    game = lecterns_phase(2, grimoire=1, lecterns=[RED, BLUE, QUILL])
    game.step(lectern(RED, 1))
    game.step(lectern(QUILL, 0))
    assert (game.phase, game.player) == ("quill", 0)
    assert game.step(TAKE_POINTS) == [2, 0]
    assert (game.phase, game.player, game.scriptorium) == ("illuminate", 0, [BLUE])


def test_s2_the_quill_lectern_is_answered_before_the_next_gift() -> None:
    game = lecterns_phase(3, lecterns=[RED, BLUE, GREEN, QUILL])
    game.step(lectern(QUILL, 2))
    assert (game.phase, game.player) == ("quill", 2)
    assert_legal(game, TAKE_QUILL, TAKE_POINTS)
    assert game.step(TAKE_POINTS) == [0, 0, 2]
    assert game.margins_of([0, 0, 2]) == [-2, -2, 2]
    assert (game.phase, game.player, game.quill_next) == ("lectern", 2, None)
    assert_legal(game, *to([0, 1], [RED, BLUE, GREEN]))


def test_s6_leftover_tiles_go_to_the_scriptorium_after_the_last_answer() -> None:
    game = lecterns_phase(2, lecterns=[RED, BLUE, QUILL])
    game.step(lectern(BLUE, 1))
    game.step(lectern(QUILL, 0))
    state = game.state()
    assert (state["phase"], state["player"], state["scriptorium"]) == ("quill", 0, [])
    assert state["lecterns"][0] == {"lectern": RED, "tiles": [RED], "owner": None}
    game.step(TAKE_QUILL)
    state = game.state()
    assert (state["phase"], state["player"], state["scriptorium"]) == ("illuminate", 0, [RED])
    assert state["lecterns"][0] == {"lectern": RED, "tiles": [], "owner": None}
    assert (state["quill"], state["quill_next"]) == (0, 0)


def test_s6_scriptorium_tiles_stay_until_bought() -> None:
    game = lecterns_phase(2, scriptorium=[9, 30])
    play(game, lectern(RED, 1), lectern(BLACK, 0))
    assert game.state()["scriptorium"] == [BLUE, 9, 30]


def test_the_grimoires_holder_answers_before_the_quills_holder_gives() -> None:
    game = lecterns_phase(3, grimoire=2, lecterns=[RED, BLUE, GREEN, QUILL])
    game.step(lectern(QUILL, 2))
    assert (game.phase, game.player) == ("quill", 2)
    assert game.step(TAKE_QUILL) == [0, 0, 0]
    assert (game.phase, game.player, game.quill, game.quill_next) == ("lectern", 0, 0, 2)
    assert_legal(game, *to([1], [RED, BLUE, GREEN]))
