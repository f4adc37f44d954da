"""Random games of the Scriptorium oracle: nothing is lost, and the rewards add up."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from tests.by_hand_scriptorium import Json, as_set, edition, varied_editions
from tests.oracle.scriptorium import Scriptorium


def choose(game: Scriptorium, rng: Random) -> Json:
    """A random legal action; it seldom ends a turn while there is something else to do."""
    legal = game.legal()
    active = [action for action in legal if action["type"] != "end"]
    return rng.choice(active if active and rng.random() < 0.85 else legal)


class Ledger:
    """Follows every tile, ink, token and point from the actions and states alone."""

    def __init__(self, game: Scriptorium, data: Json) -> None:
        self.data, self.number = data, game.number
        self.tiles = Counter({tile["id"]: tile["copies"][game.number] for tile in data["tiles"]})
        self.inks = dict.fromkeys(data["inks"], 0)
        self.tokens = data["rules"]["help_tokens"] * game.number
        self.points = [0] * game.number
        self.placed = [0] * game.number
        self.round = 0
        self.check(game)

    def note(self, action: Json, before: Json, after: Json) -> None:
        """Take what an action takes out of the game out of the account."""
        player, rules = before["player"], self.data["rules"]
        if action["type"] == "place":
            self.tiles[action["tile"]] -= 1
            self.placed[player] += 1
            if action["ink"]:
                tile = self.data["tiles"][action["tile"]]
                self.points[player] += tile["points"]
                self._note_payment(tile["cost"], before, after)
        elif action["type"] == "points":
            self.points[player] += rules["quill_points"]
        elif action["type"] == "buy" and action["from"] == "scriptorium":
            self.tokens -= 1
        elif action["type"] == "discard_tile":
            self.tiles[action["tile"]] -= 1
        elif action["type"] == "discard_ink":
            self.inks[action["ink"]] -= 1

    def _note_payment(self, cost: dict[str, int], before: Json, after: Json) -> None:
        """[S7] A payment is as much ink as isn't waived; gold stands in for colours used up."""
        seat = before["player"]
        [own] = [each["lectern"] for each in before["lecterns"] if each["owner"] == seat]
        free = self.data["lecterns"][own]
        had, left = before["players"][seat]["inks"], after["players"][seat]["inks"]
        paid = {name: had[name] - left[name] for name in had}
        asked = {name: 0 if name == free else cost.get(name, 0) for name in had}
        assert sum(paid.values()) == sum(asked.values())
        assert paid["black"] == asked["black"]
        for name in ("red", "blue", "green"):
            assert paid[name] == asked[name] or left[name] == 0
            assert 0 <= paid[name] <= asked[name]
        for name, count in paid.items():
            self.inks[name] -= count

    def check(self, game: Scriptorium) -> None:
        state = game.state()
        if state["round"] != self.round:
            self.round += 1
            per_round = self.data["inks_per_round"][self.number]
            for name in self.inks:
                self.inks[name] += per_round.get(name, 0)
        assert state["round"] == self.round
        players = state["players"]
        lying = Counter(dict(enumerate(state["bag"]))) + Counter(state["scriptorium"])
        for holder in (*state["lecterns"], *players):
            for pile in ("tiles", "lectern_tiles", "storage"):
                lying += Counter(holder.get(pile, []))
        assert lying == +self.tiles
        for name, count in self.inks.items():
            assert state["pot"][name] + sum(each["inks"][name] for each in players) == count
        assert sum(each["tokens"] for each in players) == self.tokens
        assert [each["points"] for each in players] == self.points
        assert [sum(each["filled"].values()) for each in players] == self.placed
        for number, each in enumerate(players):
            assert min(each["tokens"], *each["inks"].values()) >= 0
            assert all(n <= self.data["spaces"][name] for name, n in each["filled"].items())
            owned = [name for name, owner in state["achievements"].items() if owner == number]
            assert each["achievements"] == owned


def play_checked(data: Json, players: int, seed: int) -> Scriptorium:
    game, rng = Scriptorium(data, players, seed=seed), Random(seed)
    other = Scriptorium(data, players, seed=seed ^ 1)
    ledger = Ledger(game, data)
    start = game.scores()
    assert start == [data["rules"]["help_tokens"] * data["rules"]["token_points"]] * players
    returns, margins = [0] * players, [0] * players
    while not game.over:
        before, legal = game.state(), game.legal()
        assert legal
        assert len(as_set(legal)) == len(legal)
        # The public state and the bag's order are all there is to a position.
        other.stand_at(before, list(game.bag))
        assert as_set(other.legal()) == as_set(legal)
        action = choose(game, rng)
        changes = game.step(action)
        returns = [sum(pair) for pair in zip(returns, changes, strict=True)]
        margins = [sum(pair) for pair in zip(margins, game.margins_of(changes), strict=True)]
        ledger.note(action, before, game.state())
        ledger.check(game)
    assert game.legal() == []
    assert [now - then for now, then in zip(game.scores(), start, strict=True)] == returns
    assert game.margins() == margins
    assert abs(sum(game.outcome())) < 1e-12
    return game


@pytest.mark.parametrize("players", [2, 3, 4])
def test_random_games_lose_nothing(players: int) -> None:
    games = [play_checked(edition(), players, seed) for seed in range(4)]
    # Eight rounds, unless a manuscript is full before.
    assert all(game.round == 8 or game.bag for game in games)
    assert any(game.achievements["left_page"] is not None for game in games)


@pytest.mark.parametrize(
    ("name", "players"), [("five", 5), ("small", 2), ("small", 3), ("lavish", 2), ("lavish", 4)]
)
def test_random_games_of_other_editions(name: str, players: int) -> None:
    for seed in range(2):
        play_checked(varied_editions()[name], players, seed)
