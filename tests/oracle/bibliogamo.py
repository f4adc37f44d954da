"""Bibliogamo, one game at a time, as plainly as its rules can be put into Python.

Clause ids ([R1], [R2], ...) are those of the rules text. Nothing here is fast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Action = dict[str, Any]

MASK = 2**64 - 1
G = 0x9E3779B97F4A7C15
PRESTIGE_STREAM = 2**32


def mix(x: int) -> int:
    """Scramble a 64-bit number (*Chance*)."""
    x &= MASK
    x ^= x >> 30
    x = (x * 0xBF58476D1CE4E5B9) & MASK
    x ^= x >> 27
    x = (x * 0x94D049BB133111EB) & MASK
    x ^= x >> 31
    return x


def key(seed: int, stream: int, item: int) -> int:
    """Return the sort key of ``item`` in the random order number ``stream`` of ``seed``."""
    return mix(mix(seed + G * (stream + 1)) + G * (item + 1))


def episode_seed(s: int, k: int) -> int:
    """Return the game seed of episode ``k`` of an environment seeded ``s``."""
    return s & MASK if k == 0 else mix(s + G * k)


def random_order(seed: int, stream: int, count: int) -> list[int]:
    """Return the ids 0..count-1 sorted by (key, id)."""
    return sorted(range(count), key=lambda item: (key(seed, stream, item), item))


class Game:
    """One game. All its state lies in public attributes, which a test may set by hand."""

    def __init__(
        self,
        edition: dict[str, Any],
        *,
        seed: int | None = None,
        tape: dict[str, Any] | None = None,
        prestige: int | None = None,
    ) -> None:
        """Set the game up and run it to its first decision."""
        if (seed is None) == (tape is None):
            raise ValueError("give exactly one of seed and tape")
        self.seed = seed
        self.tape = tape
        self._read_edition(edition)

        self.shuffles_made = 0  # also the number of the next shuffle
        self.prestige: int = self._choose_prestige(prestige)
        self.slots: list[dict[str, Any]] = self.collections[self.prestige]["slots"]
        self.slots_filled = [False for _ in self.slots]
        # [R3] The start block; books 0, all cubes in the supply.
        self.time: int = edition["start"]["time"]
        self.florins: int = edition["start"]["florins"]
        self.librarian: int = edition["start"]["librarian"]
        self.books = 0
        self.towers = [[0 for _ in self.types] for _ in self.requires]
        self.supply: int = self.rules["cubes"]
        self.turn = 0
        self.pending_hire: dict[str, int] | None = None
        # Setup 1: every card is shuffled (number 0), then a hand is drawn. deck[0] is the top card.
        self.hand: list[int] = []
        self.discard: list[int] = []
        self.display: list[int] = []
        self.deck: list[int] = self._shuffle(list(range(len(self.cards))))
        self._draw_up_to_hand_size()
        self._begin_turn()

    def _read_edition(self, edition: dict[str, Any]) -> None:
        """Read the numbers and tables of the edition."""
        self.rules: dict[str, Any] = edition["rules"]
        self.types: list[str] = edition["artisan_types"]
        self.tower_names: list[str] = [tower["name"] for tower in edition["towers"]]
        self.requires = [self._counts(tower["requires"]) for tower in edition["towers"]]
        # [R1] ring[space]: the tower there; clockwise is increasing space index.
        self.ring = [self.tower_names.index(name) for name in edition["board"]["spaces"]]
        self.collections: list[dict[str, Any]] = edition["prestige"]
        self.cards: list[dict[str, Any]] = sorted(edition["cards"], key=lambda card: card["id"])

    def _counts(self, by_name: dict[str, int]) -> list[int]:
        """Turn {type: count} into one count a type, in the edition's order; not named = 0."""
        return [by_name.get(kind, 0) for kind in self.types]

    def _choose_prestige(self, asked: int | None) -> int:
        """[R15] ``prestige=`` beats a tape, which beats the seed."""
        chosen: int | None = asked
        if chosen is None and self.tape is not None:
            chosen = self.tape.get("prestige")
        if chosen is None and self.seed is not None:
            chosen = random_order(self.seed, PRESTIGE_STREAM, len(self.collections))[0]
        if chosen is None:
            raise ValueError("a tape without a prestige collection needs prestige=")
        if not 0 <= chosen < len(self.collections):
            raise ValueError(f"there is no prestige collection {chosen}")
        return chosen

    def _shuffle(self, cards: list[int]) -> list[int]:
        """Lay a set of cards in the priority order of the next shuffle number."""
        number = self.shuffles_made
        if self.seed is not None:
            priority = random_order(self.seed, number, len(self.cards))
        elif self.tape is not None and number < len(self.tape["shuffles"]):
            priority = self.tape["shuffles"][number]
        else:
            raise LookupError(f"the tape ran out: it holds no shuffle number {number}")
        if sorted(priority) != list(range(len(self.cards))):
            raise ValueError(f"shuffle {number} of the tape does not list every card once")
        self.shuffles_made += 1
        return [card for card in priority if card in cards]

    def _cards_to_flip(self) -> int:
        """[R10] How many cards deck and discard pile hold together."""
        return len(self.deck) + len(self.discard)

    def _take_top_card(self) -> int:
        """[R10] Take the top card; shuffle the discard pile first if, and only if, it must be."""
        if not self.deck:
            self.deck = self._shuffle(self.discard)
            self.discard = []
        return self.deck.pop(0)

    def _draw_up_to_hand_size(self) -> None:
        """Draw until the hand is full; [R10] with no card anywhere a draw stops."""
        while len(self.hand) < self.rules["hand_size"] and self._cards_to_flip() >= 1:
            self.hand.append(self._take_top_card())

    def _begin_turn(self) -> None:
        """Run steps 1 to 3, then ask the turn's first decision."""
        self.turn += 1
        self.hires_left: int = self.rules["hires_per_turn"]
        self.lifts_left: int = self.rules["lifts_per_turn"]
        self.banned: int | None = None
        # Step 1, time.
        self.time += 1
        # Step 2, librarian. [R10] With no card to flip: no extra move, no ban.
        self._move_librarian(self.rules["librarian_step"])
        if self._cards_to_flip() >= 1:
            card = self._take_top_card()
            self.discard.append(card)
            self._move_librarian(self.cards[card]["librarian"])
            # Step 3, ban.
            self.banned = self._icon(card)
        # Phase 1 is skipped exactly when florins = 0.
        if self.florins == 0:
            self._begin_sale()
        else:
            self.phase: str = "travel"

    def _move_librarian(self, spaces: int) -> None:
        """[R1] Move clockwise; a negative number moves counter-clockwise."""
        self.librarian = (self.librarian + spaces) % len(self.ring)

    def _begin_sale(self) -> None:
        """Phase 2 is skipped when the tower is not complete or two cards can't be flipped."""
        tower = self.ring[self.librarian]
        if self.towers[tower] == self.requires[tower] and self._cards_to_flip() >= 2:
            self.phase = "sell"
        else:
            self.phase = "hire"

    def _end_turn(self) -> None:
        """Step 5. [R9] The game ends before the refill."""
        if self.time >= self.rules["days"]:
            self.phase = "over"
        else:
            self._draw_up_to_hand_size()
            self._begin_turn()

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.phase == "over"

    def _walking_cost(self, space: int) -> int:
        """1 florin a space, along the shorter way."""
        ring = len(self.ring)
        return min((space - self.librarian) % ring, (self.librarian - space) % ring)

    def _offer(self) -> int:
        """[R5] The first card says which coin, the last card what is offered in it."""
        coin = self.cards[self.display[0]]["coin"]
        offer: int = self.cards[self.display[-1]]["florins"][coin]
        return offer

    def _placed(self, card: int, tower: int) -> list[int]:
        """[R13] How many cubes of each type the card would place, types in the edition's order."""
        artisans = self._counts(self.cards[card]["artisans"])
        placed = []
        supply = self.supply
        for kind in range(len(self.types)):
            lacking = self.requires[tower][kind] - self.towers[tower][kind]
            count = min(artisans[kind], lacking, supply)
            placed.append(count)
            supply -= count
        return placed

    def _icon(self, card: int) -> int:
        """Return the type index of a card's small icon."""
        return self.types.index(self.cards[card]["icon"])

    def _hires_banned(self, card: int) -> bool:
        """[R12] Only a card's artisans count for the ban, not its small icon."""
        artisans = self._counts(self.cards[card]["artisans"])
        return self.banned is not None and artisans[self.banned] > 0

    def score(self) -> int:
        """*End and score*, counted for the position as it stands."""
        score: int = self.books * self.rules["vp_per_book"]
        score += self.florins // self.rules["florins_per_vp"]
        for slot, filled in zip(self.slots, self.slots_filled, strict=True):
            if filled:
                score += slot["vp"]
        if all(self.slots_filled):
            score += self.collections[self.prestige]["bonus"]
        return score

    def legal(self) -> list[Action]:
        """Return the legal actions of the present decision; none once the game is over."""
        if self.phase == "travel":
            return [{"type": "stay"}, *self._legal_walks()]
        if self.phase == "sell":
            return [{"type": "keep"}, {"type": "sell"}]
        if self.phase == "price":
            # To wait takes a day that is left, and [R10] a card to flip.
            may_wait = self.time < self.rules["days"] and self._cards_to_flip() >= 1
            return [{"type": "accept"}, {"type": "wait"}] if may_wait else [{"type": "accept"}]
        if self.phase == "hire":
            return [{"type": "end"}, *self._legal_hires(), *self._legal_lifts()]
        if self.phase == "pay":
            return [{"type": "pay", "card": card} for card in sorted(self.hand)]
        return []

    def _legal_walks(self) -> list[Action]:
        """Another space, if the florins held pay for the way."""
        return [
            {"type": "walk", "space": space}
            for space in range(len(self.ring))
            if space != self.librarian and self._walking_cost(space) <= self.florins
        ]

    def _legal_hires(self) -> list[Action]:
        """[R7] A hire must be left, two cards in hand, the card not banned, [R8] a cube placed."""
        if self.hires_left == 0 or len(self.hand) < 2:
            return []
        return [
            {"type": "hire", "card": card, "tower": tower}
            for card in sorted(self.hand)
            for tower in range(len(self.towers))
            if not self._hires_banned(card)
            if self.rules["allow_empty_hire"] or sum(self._placed(card, tower)) >= 1
        ]

    def _legal_lifts(self) -> list[Action]:
        """[R4] Any hand card whose icon is the banned type, even when the lift is useless."""
        if self.banned is None or self.lifts_left == 0:
            return []
        return [
            {"type": "lift", "card": card}
            for card in sorted(self.hand)
            if self._icon(card) == self.banned
        ]

    def step(self, action: Action) -> int:
        """Play an action, run to the next decision and return the score gained."""
        if action not in self.legal():
            raise ValueError(f"illegal in phase {self.phase!r}: {action}")
        before = self.score()
        play: dict[str, Callable[..., None]] = {
            "stay": self._begin_sale,
            "walk": self._walk,
            "keep": self._keep,
            "sell": self._sell,
            "accept": self._accept,
            "wait": self._wait,
            "hire": self._hire,
            "pay": self._pay,
            "lift": self._lift,
            "end": self._end_turn,
        }
        play[action["type"]](**{name: value for name, value in action.items() if name != "type"})
        return self.score() - before

    def _walk(self, space: int) -> None:
        """Step 4a."""
        self.florins -= self._walking_cost(space)
        self.librarian = space
        self._begin_sale()

    def _keep(self) -> None:
        """Step 4b: no sale this turn."""
        self.phase = "hire"

    def _sell(self) -> None:
        """Step 4b: flip two cards; [R10] a shuffle may fall between them; [R16] no way back."""
        self._flip_to_display()
        self._flip_to_display()
        self.phase = "price"

    def _wait(self) -> None:
        """Step 4b: pay a day to flip another card."""
        self.time += 1
        self._flip_to_display()

    def _flip_to_display(self) -> None:
        """Flip the top card onto the price display, which is no part of a shuffle."""
        self.display.append(self._take_top_card())

    def _accept(self) -> None:
        """Step 4b: the offer, the cubes, the book, the slot, the display. [R6] One sale a turn."""
        tower = self.ring[self.librarian]
        self.florins += self._offer()
        if self.rules["florin_cap"] is not None:  # [R2]
            self.florins = min(self.florins, self.rules["florin_cap"])
        self.supply += sum(self.towers[tower])
        self.towers[tower] = [0 for _ in self.types]
        self.books += 1
        self._fill_slot(tower)
        self.discard += self.display
        self.display = []
        self.phase = "hire"

    def _fill_slot(self, tower: int) -> None:
        """[R14] The tower's highest-VP unfilled slot, the first listed among equals."""
        best: int | None = None
        for index, slot in enumerate(self.slots):
            fits = slot["tower"] == self.tower_names[tower] and not self.slots_filled[index]
            if fits and (best is None or slot["vp"] > self.slots[best]["vp"]):
                best = index
        if best is not None:
            self.slots_filled[best] = True

    def _hire(self, card: int, tower: int) -> None:
        """Step 4c: play a card into one tower; what finds no room or no cube is lost."""
        for kind, count in enumerate(self._placed(card, tower)):
            self.towers[tower][kind] += count
            self.supply -= count
        self._discard_from_hand(card)
        self.hires_left -= 1
        self.pending_hire = {"card": card, "tower": tower}
        self.phase = "pay"

    def _pay(self, card: int) -> None:
        """Step 4c: [R4] any other hand card pays. The turn ends after the last allowed hire."""
        self._discard_from_hand(card)
        self.pending_hire = None
        self.phase = "hire"
        if self.hires_left == 0:
            self._end_turn()

    def _lift(self, card: int) -> None:
        """Step 3: [R11] a lift frees the rest of the turn; it uses no hire."""
        self._discard_from_hand(card)
        self.lifts_left -= 1
        self.banned = None

    def _discard_from_hand(self, card: int) -> None:
        """Lay a hand card on the discard pile."""
        self.hand.remove(card)
        self.discard.append(card)

    def state(self) -> dict[str, Any]:
        """Return the JSON form of the state."""
        return {
            "phase": self.phase,
            "time": self.time,
            "librarian": self.librarian,
            "florins": self.florins,
            "books": self.books,
            "score": self.score(),
            "supply": self.supply,
            "towers": [list(tower) for tower in self.towers],
            "hand": sorted(self.hand),
            "deck": sorted(self.deck),
            "discard": sorted(self.discard),
            "display": list(self.display),
            "banned": self.banned,
            "hires_left": self.hires_left,
            "pending_hire": None if self.pending_hire is None else dict(self.pending_hire),
            "prestige": self.prestige,
            "slots_filled": list(self.slots_filled),
            "turn": self.turn,
        }
