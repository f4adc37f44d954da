"""What lies on the table in a game of Scriptorium: setup, chance, scores, the JSON form.

Clause ids ([S1], [S2], ...) are those of the rules text. The course of the game is in
`scriptorium.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.oracle.bibliogamo import random_order

BAG_STREAM = 0
LECTERN_STREAM = 2**32  # round r (1-based) has stream 2^32 + r

# What has to be filled for each achievement, in the order the JSON form lists them.
ACHIEVEMENTS: dict[str, tuple[str, ...]] = {
    "left_frame": ("corner_left", "edge_left"),
    "left_page": ("A", "B", "C", "D"),
    "full_frame": ("corner_left", "corner_right", "edge_left", "edge_right"),
    "right_page": ("initial", "text"),
    "right_frame": ("corner_right", "edge_right"),
}


@dataclass
class Lectern:
    """A lectern in play this round. Once it is owned or put away its tiles lie elsewhere."""

    index: int
    tiles: list[int]
    owner: int | None = None


@dataclass
class Player:
    """What lies before one player."""

    inks: dict[str, int]
    lectern_tiles: list[int]
    storage: list[int]
    achievements: list[str]
    tokens: int
    points: int  # illumination points
    filled: dict[str, int]  # space -> how many of them are filled


class Table:
    """All the state of a game, in public attributes, which a test may set by hand.

    `player` is the seat to act, None once the game is over. `bag[0]` is drawn first.
    """

    phase: str
    player: int | None

    def __init__(
        self,
        edition: dict[str, Any],
        players: int,
        *,
        seed: int | None = None,
        tape: dict[str, Any] | None = None,
    ) -> None:
        """*Setup*, before the first round."""
        if (seed is None) == (tape is None):
            raise ValueError("give exactly one of seed and tape")
        if players not in edition["rules"]["players"]:
            raise ValueError(f"this edition is not for {players} players")
        self.seed = seed
        self.tape = tape
        self.number = players
        self.rules: dict[str, Any] = edition["rules"]
        self.inks: list[str] = edition["inks"]  # [S1]
        self.inks_per_round: dict[str, int] = edition["inks_per_round"][players]
        self.lectern_names: list[str] = edition["lecterns"]  # [S2]
        self.spaces: dict[str, int] = edition["spaces"]
        self.designs: list[dict[str, Any]] = sorted(edition["tiles"], key=lambda tile: tile["id"])

        self.bag: list[int] = self._fill_bag()
        self.quill = 0  # [S3]
        self.scriptorium: list[int] = []
        self.achievements: dict[str, int | str | None] = dict.fromkeys(ACHIEVEMENTS)
        self.players = [
            Player(
                inks=dict.fromkeys(self.inks, 0),
                lectern_tiles=[],
                storage=[],
                achievements=[],
                tokens=self.rules["help_tokens"],
                points=0,
                filled=dict.fromkeys(self.spaces, 0),
            )
            for _ in range(players)
        ]
        self.round = 0

    def _fill_bag(self) -> list[int]:
        """*Chance*: lay the bag's tiles in their draw order."""
        if self.tape is not None:
            return list(self.tape["bag"])
        assert self.seed is not None
        # Tile instances are numbered design by design, design 0's copies first.
        instances = [
            design["id"] for design in self.designs for _ in range(design["copies"][self.number])
        ]
        order = random_order(self.seed, BAG_STREAM, len(instances))
        return [instances[instance] for instance in order]

    def _shuffle_lecterns(self) -> list[int]:
        """*Chance* [S9]: return all the lectern indices in this round's drawn order."""
        every = list(range(len(self.lectern_names)))
        if self.tape is None:
            assert self.seed is not None
            return random_order(self.seed, LECTERN_STREAM + self.round, len(every))
        if self.round > len(self.tape["lecterns"]):
            raise LookupError(f"the tape ran out: it holds no lecterns for round {self.round}")
        order: list[int] = list(self.tape["lecterns"][self.round - 1])
        if sorted(order) != every:
            raise ValueError(f"round {self.round} of the tape does not list every lectern once")
        return order

    def _lay_out_round(self) -> None:
        """Start a day: fill the ink pot, put the grimoire back, lay out lecterns and tiles."""
        self.round += 1
        self.pot = {ink: self.inks_per_round.get(ink, 0) for ink in self.inks}
        self.grimoire: int | None = None
        self.quill_next: int | None = None
        self.lecterns: list[Lectern] = []
        for index in self._shuffle_lecterns()[: self.number + 1]:
            # In drawn order; if the bag runs short the last drawn get fewer.
            size = self.rules["tiles_per_lectern"]
            tiles, self.bag = self.bag[:size], self.bag[size:]
            self.lecterns.append(Lectern(index, sorted(tiles)))
        self.lecterns.sort(key=lambda lectern: lectern.index)

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.phase == "over"

    # ---------------------------------------------------------------------- *End and score*

    def scores(self) -> list[int]:
        """Illumination points + achievements kept + help tokens, for every seat."""
        return [
            player.points
            + self.rules["achievement_points"] * len(player.achievements)
            + self.rules["token_points"] * player.tokens
            for player in self.players
        ]

    def margins(self) -> list[int]:
        """Return every seat's score less the best other's, as it stands."""
        return _margins(self.scores())

    def margins_of(self, changes: list[int]) -> list[int]:
        """Return the margin mode's rewards of the step just made, which changed scores so."""
        before = [score - change for score, change in zip(self.scores(), changes, strict=True)]
        return [now - then for now, then in zip(self.margins(), _margins(before), strict=True)]

    def winners(self) -> list[int]:
        """Return the seats with the highest score."""
        scores = self.scores()
        return [seat for seat in range(self.number) if scores[seat] == max(scores)]

    def outcome(self) -> list[float]:
        """Return the payoffs of a finished game: zero-sum, a sole win is 1."""
        if not self.over:
            raise ValueError("the game isn't over")
        n, winners = self.number, self.winners()
        return [
            (n / len(winners) - 1) / (n - 1) if seat in winners else -1 / (n - 1)
            for seat in range(n)
        ]

    # ------------------------------------------------------------------------- *JSON forms*

    def state(self) -> dict[str, Any]:
        """Return the JSON form of the whole public state, with the extra key `bag`."""
        return {
            "phase": self.phase,
            "round": self.round,
            "player": self.player,
            "quill": self.quill,
            "quill_next": self.quill_next,
            "grimoire": self.grimoire,
            "pot": dict(self.pot),
            "lecterns": [
                {"lectern": each.index, "tiles": sorted(each.tiles), "owner": each.owner}
                for each in self.lecterns
            ],
            "scriptorium": sorted(self.scriptorium),
            "bag_left": len(self.bag),
            "bag": [self.bag.count(design["id"]) for design in self.designs],
            "achievements": dict(self.achievements),
            "players": [
                {
                    "inks": dict(player.inks),
                    "lectern_tiles": sorted(player.lectern_tiles),
                    "storage": sorted(player.storage),
                    "achievements": sorted(player.achievements, key=list(ACHIEVEMENTS).index),
                    "tokens": player.tokens,
                    "points": player.points,
                    "score": score,
                    "filled": dict(player.filled),
                }
                for player, score in zip(self.players, self.scores(), strict=True)
            ],
        }

    def stand_at(self, form: dict[str, Any], bag: list[int]) -> None:
        """Go to the position of a JSON form; ``bag`` is the draw order of what is left in it."""
        for name in ("phase", "round", "player", "quill", "quill_next", "grimoire"):
            setattr(self, name, form[name])
        self.pot = dict(form["pot"])
        self.lecterns = [
            Lectern(each["lectern"], list(each["tiles"]), each["owner"])
            for each in form["lecterns"]
        ]
        self.scriptorium = list(form["scriptorium"])
        self.bag = list(bag)
        self.achievements = dict(form["achievements"])
        self.players = [
            Player(
                inks=dict(each["inks"]),
                lectern_tiles=list(each["lectern_tiles"]),
                storage=list(each["storage"]),
                achievements=list(each["achievements"]),
                tokens=each["tokens"],
                points=each["points"],
                filled=dict(each["filled"]),
            )
            for each in form["players"]
        ]


def _margins(scores: list[int]) -> list[int]:
    """Return every score less the best of the others."""
    return [score - max(scores[:seat] + scores[seat + 1 :]) for seat, score in enumerate(scores)]
