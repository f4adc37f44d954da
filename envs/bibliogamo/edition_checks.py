"""What the fields of an edition must be *together*: names that exist, ids, sizes, the start.

These checks read plain values as they stand in the file and pass over whatever has the wrong form
(the edition's models report that), so that one look finds everything.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from incunabula.envs.documents import Problem, field_path, no_such

# The engine keeps counts in 16-bit and florins in 32-bit integers. A move of the librarian adds
# space + step + card before the modulo, so each of the three stays below a third of that.
MAX_COUNT = 30_000
MAX_MOVE = 10_000
MAX_FLORINS = 1_000_000
MAX_TOTAL = 2**31 - 1
MAX_HELD = 4_000_000  # florins that a float32 observation tells apart, whatever they are divided by

_SIZES: dict[str, tuple[int, int]] = {
    "artisan_types": (1, 64),
    "coins": (1, 64),
    "towers": (1, 8),
    "prestige": (1, MAX_MOVE),
    "cards": (1, MAX_COUNT),
}
_SPACES = (1, MAX_MOVE)
_SLOTS = (1, MAX_COUNT)


def check_whole(data: Mapping[str, Any]) -> list[Problem]:
    """Everything that is wrong between fields, for data in the form of an edition file."""
    return [
        *_sizes(data),
        *_repeats(data),
        *_names(data),
        *_ids(data),
        *_start(data),
        *_totals(data),
    ]


def _get(value: Any, *path: str) -> Any:
    """A value by field names; None where there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _list(value: Any, *path: str) -> Sequence[Any]:
    found = _get(value, *path)
    return found if isinstance(found, list | tuple) else ()


def _int(value: Any, *path: str) -> int | None:
    found = _get(value, *path)
    # Numbers out of all proportion are reported by their fields, and would only confuse here.
    return found if type(found) is int and -MAX_TOTAL <= found <= MAX_TOTAL else None


def _pairs(value: Any, *path: str) -> Iterable[tuple[Any, Any]]:
    found = _get(value, *path)
    return found.items() if isinstance(found, Mapping) else ()


def _sizes(data: Mapping[str, Any]) -> Iterator[Problem]:
    def wrong(path: tuple[str | int, ...], value: Any, low: int, high: int) -> Iterator[Problem]:
        if isinstance(value, list | tuple) and not low <= len(value) <= high:
            message = f"has {len(value):,} entries, but must have {low} to {high:,}"
            yield Problem(field_path(path), message)

    for field, (low, high) in _SIZES.items():
        yield from wrong((field,), data.get(field), low, high)
    yield from wrong(("board", "spaces"), _get(data, "board", "spaces"), *_SPACES)
    for i, collection in enumerate(_list(data, "prestige")):
        yield from wrong(("prestige", i, "slots"), _get(collection, "slots"), *_SLOTS)


def _repeats(data: Mapping[str, Any]) -> Iterator[Problem]:
    named: dict[str, list[tuple[tuple[str, ...], Any]]] = {
        "artisan_types": [((), name) for name in _list(data, "artisan_types")],
        "coins": [((), name) for name in _list(data, "coins")],
        "towers": [(("name",), _get(tower, "name")) for tower in _list(data, "towers")],
        "prestige": [(("name",), _get(entry, "name")) for entry in _list(data, "prestige")],
    }
    for field, entries in named.items():
        first: dict[str, int] = {}
        for i, (below, name) in enumerate(entries):
            if isinstance(name, str) and first.setdefault(name, i) != i:
                message = f"is {name!r}, as {field}[{first[name]}] is; each needs its own name"
                yield Problem(field_path((field, i, *below)), message)


def _names(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Every name that stands for an artisan type, a coin or a tower is one of those listed."""
    types = [name for name in _list(data, "artisan_types") if isinstance(name, str)]
    coins = [name for name in _list(data, "coins") if isinstance(name, str)]
    towers = [_get(tower, "name") for tower in _list(data, "towers")]
    towers = [name for name in towers if isinstance(name, str)]

    def known(path: tuple[str | int, ...], kind: str, name: Any, names: list[str]) -> list[Problem]:
        # Without a single right name the list itself is what's wrong.
        if not isinstance(name, str) or name in names or not names:
            return []
        return [Problem(field_path(path), no_such(kind, name, names))]

    for i, tower in enumerate(_list(data, "towers")):
        path: tuple[str | int, ...] = ("towers", i, "requires")
        counts = list(_pairs(tower, "requires"))
        for name, _ in counts:
            yield from known((*path, name), "artisan type", name, types)
        if isinstance(_get(tower, "requires"), Mapping) and all(n == 0 for _, n in counts):
            message = "asks for no artisan, but a book must need at least one"
            yield Problem(field_path(path), message)
    for i, name in enumerate(_list(data, "board", "spaces")):
        yield from known(("board", "spaces", i), "tower", name, towers)
    for i, collection in enumerate(_list(data, "prestige")):
        for j, slot in enumerate(_list(collection, "slots")):
            path = ("prestige", i, "slots", j, "tower")
            yield from known(path, "tower", _get(slot, "tower"), towers)
    for i, card in enumerate(_list(data, "cards")):
        yield from known(("cards", i, "icon"), "artisan type", _get(card, "icon"), types)
        yield from known(("cards", i, "coin"), "coin", _get(card, "coin"), coins)
        for name, _ in _pairs(card, "artisans"):
            yield from known(("cards", i, "artisans", name), "artisan type", name, types)
        for name, _ in _pairs(card, "florins"):
            yield from known(("cards", i, "florins", name), "coin", name, coins)
        if isinstance(prices := _get(card, "florins"), Mapping):
            for coin in dict.fromkeys(coins):
                if coin not in prices:
                    message = "is missing; a card has a price in every coin"
                    yield Problem(field_path(("cards", i, "florins", coin)), message)


def _ids(data: Mapping[str, Any]) -> Iterator[Problem]:
    cards = _list(data, "cards")
    first: dict[int, int] = {}
    for i, card in enumerate(cards):
        number = _int(card, "id")
        if number is None:
            continue
        rule = f"the ids of {len(cards)} cards are 0 to {len(cards) - 1}, each once"
        if first.setdefault(number, i) != i:
            message = f"is {number}, as that of cards[{first[number]}] is; {rule}"
            yield Problem(field_path(("cards", i, "id")), message)
        elif number >= len(cards):
            yield Problem(field_path(("cards", i, "id")), f"is {number}; {rule}")


def _start(data: Mapping[str, Any]) -> Iterator[Problem]:
    time, days = _int(data, "start", "time"), _int(data, "rules", "days")
    if time is not None and days is not None and time >= days:
        yield Problem("start.time", f"is {time}, but must be less than rules.days, which is {days}")
    space, spaces = _int(data, "start", "librarian"), _list(data, "board", "spaces")
    if space is not None and spaces and space >= len(spaces):
        message = f"is {space}, but the {len(spaces)} board.spaces are 0 to {len(spaces) - 1}"
        yield Problem("start.librarian", message)
    florins, cap = _int(data, "start", "florins"), _int(data, "rules", "florin_cap")
    if florins is not None and cap is not None and florins > cap:
        message = f"is {florins}, but must be at most rules.florin_cap, which is {cap}"
        yield Problem("start.florins", message)


def _totals(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Florins can't outgrow what is counted: there is at most one sale a day.

    Nor can the score then: with no number above MAX_COUNT it stays within 32 bits.
    """
    days = min(max(_int(data, "rules", "days") or 0, 0), MAX_COUNT)
    prices = [
        price
        for card in _list(data, "cards")
        for _, price in _pairs(card, "florins")
        if type(price) is int and price <= MAX_FLORINS
    ]
    florins = (_int(data, "start", "florins") or 0) + days * max(prices, default=0)
    cap = _int(data, "rules", "florin_cap")
    held = florins if cap is None else min(cap, florins)
    if held > MAX_HELD:
        message = (
            f"is {days:,}: that many sales at the highest price make {held:,} florins, over the "
            f"{MAX_HELD:,} that can be counted; lower days or prices, or set rules.florin_cap"
        )
        yield Problem("rules.days", message)
