"""What the fields of an edition must be *together*: names that exist, ids, sizes, the start.

These checks read plain values as they stand in the file and pass over whatever has the wrong form
(the edition's models report that), so that one look finds everything.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from incunabula.envs.documents import Problem, field_path
from incunabula.envs.edition_checks import (
    Place,
    int_at,
    list_at,
    pairs_at,
    repeated,
    texts_at,
    unknown_name,
    value_at,
    wrong_ids,
    wrong_size,
)

# The engine keeps counts in 16-bit and florins in 32-bit integers. A move of the librarian adds
# space + step + card before the modulo, so each of the three stays below a third of that.
MAX_COUNT = 30_000
MAX_MOVE = 10_000
MAX_FLORINS = 1_000_000
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
        *wrong_ids(data, "cards"),
        *_start(data),
        *_totals(data),
    ]


def _sizes(data: Mapping[str, Any]) -> Iterator[Problem]:
    for field, (low, high) in _SIZES.items():
        yield from wrong_size((field,), data.get(field), low, high)
    yield from wrong_size(("board", "spaces"), value_at(data, "board", "spaces"), *_SPACES)
    for i, collection in enumerate(list_at(data, "prestige")):
        yield from wrong_size(("prestige", i, "slots"), value_at(collection, "slots"), *_SLOTS)


def _repeats(data: Mapping[str, Any]) -> Iterator[Problem]:
    for field in ("artisan_types", "coins"):
        yield from repeated(field, (((), name) for name in list_at(data, field)))
    for field in ("towers", "prestige"):
        entries = list_at(data, field)
        yield from repeated(field, ((("name",), value_at(entry, "name")) for entry in entries))


def _names(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Every name that stands for an artisan type, a coin or a tower is one of those listed."""
    types, coins = texts_at(data, "artisan_types"), texts_at(data, "coins")
    towers = [value_at(tower, "name") for tower in list_at(data, "towers")]
    towers = [name for name in towers if isinstance(name, str)]

    for i, tower in enumerate(list_at(data, "towers")):
        path: Place = ("towers", i, "requires")
        counts = list(pairs_at(tower, "requires"))
        for name, _ in counts:
            yield from unknown_name((*path, name), "artisan type", name, types)
        if isinstance(value_at(tower, "requires"), Mapping) and all(n == 0 for _, n in counts):
            message = "asks for no artisan, but a book must need at least one"
            yield Problem(field_path(path), message)
    for i, name in enumerate(list_at(data, "board", "spaces")):
        yield from unknown_name(("board", "spaces", i), "tower", name, towers)
    for i, collection in enumerate(list_at(data, "prestige")):
        for j, slot in enumerate(list_at(collection, "slots")):
            path = ("prestige", i, "slots", j, "tower")
            yield from unknown_name(path, "tower", value_at(slot, "tower"), towers)
    for i, card in enumerate(list_at(data, "cards")):
        yield from unknown_name(("cards", i, "icon"), "artisan type", value_at(card, "icon"), types)
        yield from unknown_name(("cards", i, "coin"), "coin", value_at(card, "coin"), coins)
        for name, _ in pairs_at(card, "artisans"):
            yield from unknown_name(("cards", i, "artisans", name), "artisan type", name, types)
        for name, _ in pairs_at(card, "florins"):
            yield from unknown_name(("cards", i, "florins", name), "coin", name, coins)
        if isinstance(prices := value_at(card, "florins"), Mapping):
            for coin in dict.fromkeys(coins):
                if coin not in prices:
                    message = "is missing; a card has a price in every coin"
                    yield Problem(field_path(("cards", i, "florins", coin)), message)


def _start(data: Mapping[str, Any]) -> Iterator[Problem]:
    time, days = int_at(data, "start", "time"), int_at(data, "rules", "days")
    if time is not None and days is not None and time >= days:
        yield Problem("start.time", f"is {time}, but must be less than rules.days, which is {days}")
    space, spaces = int_at(data, "start", "librarian"), list_at(data, "board", "spaces")
    if space is not None and spaces and space >= len(spaces):
        message = f"is {space}, but the {len(spaces)} board.spaces are 0 to {len(spaces) - 1}"
        yield Problem("start.librarian", message)
    florins, cap = int_at(data, "start", "florins"), int_at(data, "rules", "florin_cap")
    if florins is not None and cap is not None and florins > cap:
        message = f"is {florins}, but must be at most rules.florin_cap, which is {cap}"
        yield Problem("start.florins", message)


def _totals(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Florins can't outgrow what is counted: there is at most one sale a day.

    Nor can the score then: with no number above MAX_COUNT it stays within 32 bits.
    """
    days = min(max(int_at(data, "rules", "days") or 0, 0), MAX_COUNT)
    prices = [
        price
        for card in list_at(data, "cards")
        for _, price in pairs_at(card, "florins")
        if type(price) is int and price <= MAX_FLORINS
    ]
    florins = (int_at(data, "start", "florins") or 0) + days * max(prices, default=0)
    cap = int_at(data, "rules", "florin_cap")
    held = florins if cap is None else min(cap, florins)
    if held > MAX_HELD:
        message = (
            f"is {days:,}: that many sales at the highest price make {held:,} florins, over the "
            f"{MAX_HELD:,} that can be counted; lower days or prices, or set rules.florin_cap"
        )
        yield Problem("rules.days", message)
