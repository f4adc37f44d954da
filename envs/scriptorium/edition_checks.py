"""What the fields of a Scriptorium edition must be *together*: names, numbers of players, totals.

These checks read plain values as they stand in the file and pass over whatever has the wrong form
(the edition's models report that), so that one look finds everything.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from incunabula.envs.documents import Problem, field_path, show
from incunabula.envs.edition_checks import (
    Place,
    list_at,
    pairs_at,
    repeated,
    unknown_name,
    value_at,
    wrong_ids,
    wrong_size,
)

INKS = ("black", "red", "blue", "green", "gold")  # S1
QUILL = "quill"
KINDS = ("corner", "edge", "A", "B", "C", "D", "initial", "text")
SPACES = (
    *("corner_left", "corner_right", "edge_left", "edge_right"),
    *("A", "B", "C", "D", "initial", "text"),
)
ACHIEVEMENT_COUNT = 5

# The engine keeps everything in 16-bit integers: no count or score reaches MAX_TOTAL. The other
# bounds lie far above any edition that could be played with.
MAX_TOTAL = 30_000
MIN_PLAYERS, MAX_PLAYERS = 2, 4
MAX_TILES_PER_LECTERN = 100
MAX_TOKENS = 1_000  # of a player
MAX_LIMIT = MAX_TOTAL
MAX_POINTS = 1_000  # of a tile, a bonus, a token
MAX_INKS = 1_000  # of a colour, in a cost or a pot
MAX_SPACES = 100  # of a kind and side
MAX_DESIGNS = 500
MAX_BAG = 10_000
MAX_ROUNDS = 1_000


def check_whole(data: Mapping[str, Any]) -> list[Problem]:
    """Everything that is wrong between fields, for data in the form of an edition file."""
    return [
        *_players(data),
        *_names(data),
        *_costs(data),
        *wrong_size(("tiles",), data.get("tiles"), 1, MAX_DESIGNS),
        *wrong_ids(data, "tiles"),
        *_entries(data),
        *_spaces(data),
        *_bags(data),
        *_totals(data),
    ]


def player_count(key: Any) -> Any:
    """A number of players that is written as text ("2", as JSON has keys) as a number.

    Anything else stays as it is.
    """
    return {"2": 2, "3": 3, "4": 4}.get(key, key) if isinstance(key, str) else key


def is_player_count(value: Any) -> bool:
    """Whether a value is a number of players that the game has."""
    return type(value) is int and MIN_PLAYERS <= value <= MAX_PLAYERS


def rounds_of(bag: int, players: int, tiles_per_lectern: int) -> int:
    """How many rounds a bag lasts: each uses players + 1 lecterns, the last perhaps fewer tiles."""
    return -(-bag // ((players + 1) * tiles_per_lectern))


def _allowed(data: Mapping[str, Any]) -> list[int]:
    """The numbers of players that `rules.players` has and may have."""
    return sorted({n for n in list_at(data, "rules", "players") if is_player_count(n)})


def _by_players(value: Any) -> dict[int, Any]:
    """A mapping by numbers of players, with each as a number; without the keys that are none."""
    numbered = ((player_count(key), entry) for key, entry in pairs_at(value))
    return {key: entry for key, entry in numbered if is_player_count(key)}


def _count(value: Any, most: int) -> int | None:
    """A value that is a number its field allows, or None."""
    return value if type(value) is int and 0 <= value <= most else None


def _players(data: Mapping[str, Any]) -> Iterator[Problem]:
    players = value_at(data, "rules", "players")
    path: Place = ("rules", "players")
    yield from wrong_size(path, players, 1, MAX_PLAYERS - MIN_PLAYERS + 1)
    first: dict[int, int] = {}
    for i, number in enumerate(list_at(data, "rules", "players")):
        if type(number) is int and first.setdefault(number, i) != i:
            message = f"is {show(number)}, as rules.players[{first[number]}] is; remove one of them"
            yield Problem(field_path((*path, i)), message)


def _names(data: Mapping[str, Any]) -> Iterator[Problem]:
    inks = data.get("inks")
    if isinstance(inks, list | tuple) and tuple(inks) != INKS:
        yield Problem("inks", f"must be [{', '.join(INKS)}], in this order")
    lecterns = data.get("lecterns")
    if not isinstance(lecterns, list | tuple):
        return
    yield from repeated("lecterns", (((), name) for name in lecterns))
    for i, name in enumerate(lecterns):
        yield from unknown_name(("lecterns", i), "ink or bonus", name, (*INKS, QUILL))
    players = _allowed(data)
    if players and len(lecterns) < players[-1] + 1:
        message = (
            f"has {len(lecterns)} entries, but {players[-1]} players need at least "
            f"{players[-1] + 1} (rules.lecterns_in_play)"
        )
        yield Problem("lecterns", message)


def _costs(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Inks that exist, in pots that aren't empty and in costs that have black."""
    for players, pot in _by_players(data.get("inks_per_round")).items():
        path: Place = ("inks_per_round", players)
        counts = list(pairs_at(pot))
        for name, _ in counts:
            yield from unknown_name((*path, name), "ink", name, INKS)
        if isinstance(pot, Mapping) and all(_count(n, MAX_INKS) == 0 for _, n in counts):
            yield Problem(field_path(path), "brings no ink, but a round must bring at least one")
    for i, tile in enumerate(list_at(data, "tiles")):
        path = ("tiles", i, "cost")
        for name, _ in pairs_at(tile, "cost"):
            yield from unknown_name((*path, name), "ink", name, INKS)
        if isinstance(cost := value_at(tile, "cost"), Mapping) and cost.get("black", 0) == 0:
            message = "has no black, but every tile needs at least one (rules: Components)"
            yield Problem(field_path(path), message)


def _entries(data: Mapping[str, Any]) -> Iterator[Problem]:
    """What is given by number of players has an entry for each of `rules.players`, and no other."""
    players = _allowed(data)
    if not players:
        return
    listed = ", ".join(map(str, players))
    mappings: list[tuple[Place, Any]] = [(("inks_per_round",), data.get("inks_per_round"))]
    mappings += [
        (("tiles", i, "copies"), value_at(tile, "copies"))
        for i, tile in enumerate(list_at(data, "tiles"))
    ]
    for path, entries in mappings:
        if not isinstance(entries, Mapping):
            continue
        seen = set()
        for key in entries:
            number = player_count(key)
            if not is_player_count(number):
                continue
            if number in seen:
                message = (
                    f"stands twice, as {number} and as text {str(number)!r}; remove one of them"
                )
                yield Problem(field_path((*path, key)), message)
            elif number not in players:
                message = f"isn't needed: rules.players is {listed}; remove it or add it there"
                yield Problem(field_path((*path, key)), message)
            seen.add(number)
        for number in players:
            if number not in seen:
                message = f"is missing; each of rules.players ({listed}) needs an entry"
                yield Problem(field_path((*path, number)), message)


def _spaces(data: Mapping[str, Any]) -> Iterator[Problem]:
    spaces = data.get("spaces")
    if not isinstance(spaces, Mapping):
        return
    for name in spaces:
        yield from unknown_name(("spaces", name), "kind of space", name, SPACES)
    for name in SPACES:
        if name not in spaces:
            message = "is missing; it must be a whole number, 0 if the manuscript has none"
            yield Problem(field_path(("spaces", name)), message)
    if all(_count(n, MAX_SPACES) == 0 for n in spaces.values()):
        yield Problem("spaces", "has no space at all, but a manuscript must have at least one")


def _copies(data: Mapping[str, Any], players: int) -> list[int] | None:
    """How many tiles of each design are in the bag; None while something is wrong with one."""
    copies = [
        _count(_by_players(value_at(tile, "copies")).get(players), MAX_BAG)
        for tile in list_at(data, "tiles")
    ]
    known = [n for n in copies if n is not None]
    return known if copies and len(known) == len(copies) else None


def _rounds(data: Mapping[str, Any], players: int) -> int | None:
    copies = _copies(data, players)
    a_lectern = _count(value_at(data, "rules", "tiles_per_lectern"), MAX_TILES_PER_LECTERN)
    return rounds_of(sum(copies), players, a_lectern) if copies and a_lectern else None


def _bags(data: Mapping[str, Any]) -> Iterator[Problem]:
    """There is a tile for each number of players, and a game ends in reasonable time."""
    for players in _allowed(data):
        bag = sum(_copies(data, players) or ())
        rounds = _rounds(data, players)
        if _copies(data, players) is not None and not 1 <= bag <= MAX_BAG:
            message = (
                f"put {bag:,} tiles into the bag of {players} players (copies[{players}]), but it "
                f"must hold 1 to {MAX_BAG:,}"
            )
            yield Problem("tiles", message)
        elif rounds is not None and rounds > MAX_ROUNDS:
            message = (
                f"make a game of {players} players last {rounds:,} rounds, over the {MAX_ROUNDS:,} "
                "that are allowed; lower copies or raise rules.tiles_per_lectern"
            )
            yield Problem("tiles", message)


def _totals(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Neither the inks of a game nor a score can outgrow what is counted."""
    pots = _by_players(data.get("inks_per_round"))
    for players in _allowed(data):
        rounds = _rounds(data, players)
        if rounds is None or rounds > MAX_ROUNDS:
            continue
        pot = sum(_count(n, MAX_INKS) or 0 for _, n in pairs_at(pots.get(players)))
        if pot * rounds > MAX_TOTAL:
            message = (
                f"brings {pot:,} inks in each of {rounds:,} rounds, {pot * rounds:,} in all, over "
                f"the {MAX_TOTAL:,} that can be counted"
            )
            yield Problem(field_path(("inks_per_round", players)), message)
        score = _highest_score(data, players, rounds)
        if score > MAX_TOTAL:
            message = (
                f"allow a score of {score:,} with {players} players, bonuses of rules included, "
                f"over the {MAX_TOTAL:,} that can be counted; lower points, spaces or rounds"
            )
            yield Problem("tiles", message)


def _highest_score(data: Mapping[str, Any], players: int, rounds: int) -> int:
    """No score is higher: the best tile on every space, and every bonus and token."""

    def number(name: str, most: int) -> int:
        return _count(value_at(data, "rules", name), most) or 0

    best = dict.fromkeys(KINDS, 0)
    for tile in list_at(data, "tiles"):
        points, kind = _count(value_at(tile, "points"), MAX_POINTS), value_at(tile, "kind")
        if points is not None and isinstance(kind, str) and kind in best:
            best[kind] = max(best[kind], points)
    tiles = sum(
        (_count(value_at(data, "spaces", space), MAX_SPACES) or 0) * best[space.partition("_")[0]]
        for space in SPACES
    )
    tokens = number("help_tokens", MAX_TOKENS) * players
    return (
        tiles
        + rounds * number("quill_points", MAX_POINTS)
        + ACHIEVEMENT_COUNT * number("achievement_points", MAX_POINTS)
        + tokens * number("token_points", MAX_POINTS)
    )
