"""Scriptorium, one game at a time, as plainly as its rules can be put into Python.

Clause ids ([S1], [S2], ...) are those of the rules text. Nothing here is fast.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.oracle.bibliogamo import Action
from tests.oracle.scriptorium_table import ACHIEVEMENTS, Table

BLACK, GOLD, QUILL = "black", "gold", "quill"
SIDES = ("left", "right")
SIDED = ("corner", "edge")  # the kinds whose placement names a side
BLANK_BACKED = ("edge",)  # the kinds that can be placed without ink
SCRIPTORIUM, LECTERN, STORAGE = "scriptorium", "lectern", "storage"
GONE = "gone"  # a discarded achievement


class Scriptorium(Table):
    """One game, at its first decision; `legal` and `step` play it."""

    def __init__(
        self,
        edition: dict[str, Any],
        players: int,
        *,
        seed: int | None = None,
        tape: dict[str, Any] | None = None,
    ) -> None:
        """Set the game up and run it to its first decision."""
        super().__init__(edition, players, seed=seed, tape=tape)
        self._begin_round()

    # --------------------------------------------------------------------- rounds and phases

    def _begin_round(self) -> None:
        """The start of a day, then phase 1 from the quill's holder."""
        self._lay_out_round()
        self.phase = "ink"
        self.player = self.quill
        if self._pot_is_empty():
            self._begin_lecterns()

    def _begin_lecterns(self) -> None:
        """Phase 2: the grimoire's holder chooses first; else the quill's holder gives."""
        self.phase = "lectern"
        self.player = self.quill if self.grimoire is None else self.grimoire

    def _begin_illumination(self) -> None:
        """[S6] Put the lecterns left over away; then phase 3, from the quill's holder."""
        for lectern in self.lecterns:
            if lectern.owner is None:
                self.scriptorium += lectern.tiles
                lectern.tiles = []
        self.phase = "illuminate"
        self.player = self.quill

    def _begin_discards(self) -> None:
        """Phase 4: every unplayed lectern tile goes to its owner's storage, then discards."""
        for player in self.players:
            player.storage += player.lectern_tiles
            player.lectern_tiles = []
        self.phase = "discard"
        self._ask_for_discards()

    def _ask_for_discards(self) -> None:
        """Phase 4: ask the first seat from the quill that is over a limit, or end the day."""
        for seat in self._seats_from_quill():
            if self._owes_storage(seat) or self._owes_inks(seat):
                self.player = seat
                return
        self._end_day()

    def _end_day(self) -> None:
        """[S5] The quill moves if its bonus was taken, on the last day too."""
        if self.quill_next is not None:
            self.quill = self.quill_next
            self.quill_next = None
        if not self.bag or any(player.filled == self.spaces for player in self.players):
            self.phase = "over"
            self.player = None
        else:
            self._begin_round()

    def _seats_from_quill(self) -> list[int]:
        """Return all seats in clockwise order from the quill's holder."""
        return [(self.quill + step) % self.number for step in range(self.number)]

    def _to_act(self) -> int:
        """Return the seat to act in a game that isn't over."""
        assert self.player is not None
        return self.player

    # ----------------------------------------------------------------------- what is so now

    def _pot_is_empty(self) -> bool:
        return sum(self.pot.values()) == 0

    def _without_lectern(self) -> list[int]:
        """Return the seats that have no lectern yet."""
        owners = [lectern.owner for lectern in self.lecterns]
        return [seat for seat in range(self.number) if seat not in owners]

    def _owes_storage(self, seat: int) -> bool:
        """Tiles and achievements count together."""
        player = self.players[seat]
        held = len(player.storage) + len(player.achievements)
        return held > int(self.rules["storage_limit"])

    def _owes_inks(self, seat: int) -> bool:
        return sum(self.players[seat].inks.values()) > int(self.rules["ink_limit"])

    def _free_ink(self, seat: int) -> str | None:
        """The ink of the seat's lectern, None for the quill lectern."""
        for lectern in self.lecterns:
            if lectern.owner == seat and self.lectern_names[lectern.index] != QUILL:
                return self.lectern_names[lectern.index]
        return None

    def _payment(self, seat: int, tile: int) -> dict[str, int] | None:
        """[S7] What the seat pays for a tile, ink by ink; None if the cost can't be met."""
        held = self.players[seat].inks
        pays = dict.fromkeys(self.inks, 0)
        for ink, count in self.designs[tile]["cost"].items():
            if ink == self._free_ink(seat):
                continue  # every unit of that colour is waived
            if ink in (BLACK, GOLD):  # black is only ever paid with black
                pays[ink] += count
            else:  # its own ink first, gold only for what is short
                own = min(count, held[ink])
                pays[ink] += own
                pays[GOLD] += count - own
        return pays if all(pays[ink] <= held[ink] for ink in self.inks) else None

    def _space(self, tile: int, side: str | None) -> str:
        """Return the name of the spaces a placement goes to."""
        kind: str = self.designs[tile]["kind"]
        return kind if side is None else f"{kind}_{side}"

    # -------------------------------------------------------------------------- legal actions

    def legal(self) -> list[Action]:
        """Return the legal actions of the present decision; none once the game is over."""
        choices: dict[str, Callable[[], list[Action]]] = {
            "ink": self._legal_inks,
            "lectern": self._legal_lecterns,
            "quill": lambda: [{"type": "quill"}, {"type": "points"}],
            "illuminate": lambda: [
                *self._legal_placements(),
                *self._legal_purchases(),
                {"type": "end"},
            ],
            "discard": self._legal_discards,
            "over": list,
        }
        return choices[self.phase]()

    def _legal_inks(self) -> list[Action]:
        """Phase 1: one ink, two inks (not gold with black), or the grimoire."""
        actions: list[Action] = []
        for place, first in enumerate(self.inks):
            if self.pot[first] >= 1:
                actions.append({"type": "ink", "inks": [first]})
            for second in self.inks[place:]:
                asked = Counter([first, second])
                in_pot = all(self.pot[ink] >= count for ink, count in asked.items())
                if in_pot and set(asked) != {BLACK, GOLD}:
                    actions.append({"type": "ink", "inks": [first, second]})
        if self.grimoire is None:
            actions.append({"type": "grimoire"})
        return actions

    def _legal_lecterns(self) -> list[Action]:
        """Phase 2: the grimoire's holder for himself, then a giver for another player."""
        player, waiting = self._to_act(), self._without_lectern()
        if player == self.grimoire and player in waiting:
            receivers = [player]
        else:
            receivers = [seat for seat in waiting if seat != player]
        return [
            {"type": "lectern", "lectern": lectern.index, "to": seat}
            for lectern in self.lecterns
            if lectern.owner is None
            for seat in receivers
        ]

    def _legal_placements(self) -> list[Action]:
        """Phase 3: tiles of lectern and storage on spaces that are free."""
        seat = self._to_act()
        player = self.players[seat]
        actions: list[Action] = []
        for source, tiles in ((LECTERN, player.lectern_tiles), (STORAGE, player.storage)):
            for tile in sorted(set(tiles)):
                kind = self.designs[tile]["kind"]
                ways = [True] if self._payment(seat, tile) is not None else []
                ways += [False] if kind in BLANK_BACKED else []
                for side in SIDES if kind in SIDED else (None,):
                    space = self._space(tile, side)
                    if player.filled[space] < self.spaces[space]:
                        actions += [
                            {
                                "type": "place",
                                "tile": tile,
                                "from": source,
                                "side": side,
                                "ink": ink,
                            }
                            for ink in ways
                        ]
        return actions

    def _legal_purchases(self) -> list[Action]:
        """Phase 3: with a help token, a tile of the scriptorium or of another's storage."""
        buyer = self._to_act()
        if self.players[buyer].tokens == 0:
            return []
        actions: list[Action] = [
            {"type": "buy", "tile": tile, "from": SCRIPTORIUM}
            for tile in sorted(set(self.scriptorium))
        ]
        for seat, seller in enumerate(self.players):
            if seat != buyer:
                actions += [
                    {"type": "buy", "tile": tile, "from": seat}
                    for tile in sorted(set(seller.storage))
                ]
        return actions

    def _legal_discards(self) -> list[Action]:
        """Phase 4: from the storage while that is over its limit, then inks."""
        seat = self._to_act()
        player = self.players[seat]
        if self._owes_storage(seat):
            return [
                *({"type": "discard_tile", "tile": tile} for tile in sorted(set(player.storage))),
                *(
                    {"type": "discard_achievement", "achievement": name}
                    for name in player.achievements
                ),
            ]
        return [{"type": "discard_ink", "ink": ink} for ink in self.inks if player.inks[ink] >= 1]

    # -------------------------------------------------------------------------------- actions

    def step(self, action: Action) -> list[int]:
        """Play an action, run to the next decision, return the score change of every seat."""
        if action not in self.legal():
            raise ValueError(f"illegal in phase {self.phase!r}: {action}")
        before = self.scores()
        play: dict[str, Callable[[Action], None]] = {
            "ink": self._take_inks,
            "grimoire": self._take_grimoire,
            "lectern": self._give_lectern,
            "quill": self._answer,
            "points": self._answer,
            "place": self._place,
            "buy": self._buy,
            "end": self._end_turn,
            "discard_tile": self._discard,
            "discard_achievement": self._discard,
            "discard_ink": self._discard,
        }
        play[action["type"]](action)
        return [now - then for now, then in zip(self.scores(), before, strict=True)]

    def _take_inks(self, action: Action) -> None:
        for ink in action["inks"]:
            self.pot[ink] -= 1
            self.players[self._to_act()].inks[ink] += 1
        self._next_ink_turn()

    def _take_grimoire(self, action: Action) -> None:
        self.grimoire = self.player
        self._next_ink_turn()

    def _next_ink_turn(self) -> None:
        """Phase 1 goes round until the pot is empty; the grimoire's holder takes no more turns."""
        if self._pot_is_empty():
            self._begin_lecterns()
            return
        self.player = (self._to_act() + 1) % self.number
        if self.player == self.grimoire:
            self.player = (self.player + 1) % self.number

    def _give_lectern(self, action: Action) -> None:
        """Hand a lectern with its tiles over; who gets the quill lectern decides at once."""
        [lectern] = [each for each in self.lecterns if each.index == action["lectern"]]
        receiver: int = action["to"]
        lectern.owner = receiver
        self.players[receiver].lectern_tiles = lectern.tiles
        lectern.tiles = []
        if self.lectern_names[lectern.index] == QUILL:
            self.phase = "quill"
            self.player = receiver
        else:
            self._next_giver(receiver)

    def _answer(self, action: Action) -> None:
        """[S5] The quill at the end of this day, or points now."""
        receiver = self._to_act()
        if action["type"] == "quill":
            self.quill_next = receiver
        else:
            self.players[receiver].points += self.rules["quill_points"]
        self.phase = "lectern"
        self._next_giver(receiver)

    def _next_giver(self, receiver: int) -> None:
        """Who received gives next; after the grimoire's own choice it is the quill's holder."""
        waiting = self._without_lectern()
        if not waiting:
            self._begin_illumination()
            return
        giver = self.quill if receiver == self.grimoire else receiver
        # [S4] Nobody chooses his own lectern without the grimoire.
        self.player = self.grimoire if waiting == [giver] else giver

    def _place(self, action: Action) -> None:
        """Phase 3: fill a space, with ink for its cost and points or without for neither."""
        seat, tile = self._to_act(), action["tile"]
        player = self.players[seat]
        if action["ink"]:
            for ink, count in (self._payment(seat, tile) or {}).items():
                player.inks[ink] -= count
            player.points += self.designs[tile]["points"]
        (player.lectern_tiles if action["from"] == LECTERN else player.storage).remove(tile)
        space = self._space(tile, action["side"])
        player.filled[space] += 1
        for name, needed in ACHIEVEMENTS.items():
            full = all(player.filled[each] == self.spaces[each] for each in needed)
            if space in needed and full and self.achievements[name] is None:
                self.achievements[name] = seat
                player.achievements.append(name)

    def _buy(self, action: Action) -> None:
        """Phase 3: the token is lost to the scriptorium, or goes to the seller."""
        buyer = self.players[self._to_act()]
        buyer.tokens -= 1
        if action["from"] == SCRIPTORIUM:
            self.scriptorium.remove(action["tile"])
        else:
            seller = self.players[action["from"]]
            seller.tokens += 1
            seller.storage.remove(action["tile"])
        buyer.storage.append(action["tile"])

    def _end_turn(self, action: Action) -> None:
        """[S10] One turn each; when it has come round to the quill's holder, phase 4."""
        self.player = (self._to_act() + 1) % self.number
        if self.player == self.quill:
            self._begin_discards()

    def _discard(self, action: Action) -> None:
        """[S8] Discards leave the game; an achievement can't be earned again."""
        player = self.players[self._to_act()]
        if action["type"] == "discard_tile":
            player.storage.remove(action["tile"])
        elif action["type"] == "discard_achievement":
            player.achievements.remove(action["achievement"])
            self.achievements[action["achievement"]] = GONE
        else:
            player.inks[action["ink"]] -= 1
        self._ask_for_discards()
