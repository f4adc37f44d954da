"""What an edition amounts to, in figures; printed by `incunabula editions`."""

import json
from typing import Any

from incunabula.envs.bibliogamo.edition import (
    Edition,
    EditionError,
    load_edition,
    shipped_editions,
)


def summarise(edition: Edition) -> dict[str, Any]:
    """Figures that show whether an edition is the one meant, and whether it is balanced.

    Returns JSON values. Prices are in florins, moves in spaces. `expected_sale` is the mean first
    offer of a sale: the coin of one card, the price of a different one, every pair equally likely
    (null with a single card). `librarian_move` is the mean move of a turn, the fixed step included.
    """
    cards, rules = edition.cards, edition.rules
    count = len(cards)
    prices = {coin: [card.florins[coin] for card in cards] for coin in edition.coins}
    # Over all ordered pairs of different cards: every card's column, less its own price in it.
    pairs = sum(sum(prices[card.coin]) - card.florins[card.coin] for card in cards)
    offered = {t: sum(card.artisans.get(t, 0) for card in cards) for t in edition.artisan_types}
    required = {t: sum(tower.requires.get(t, 0) for tower in edition.towers) for t in offered}
    return {
        "name": edition.name,
        "game": edition.game,
        "edition": edition.edition,
        "provenance": edition.provenance,
        "sha256": edition.sha256,
        "days": rules.days,
        "hand_size": rules.hand_size,
        "cubes": rules.cubes,
        "cubes_to_complete_all_towers": sum(required.values()),
        "cards": count,
        "towers": len(edition.towers),
        "spaces": len(edition.board.spaces),
        "mean_price": {coin: sum(column) / count for coin, column in prices.items()},
        "expected_sale": pairs / (count * (count - 1)) if count > 1 else None,
        "librarian_move": rules.librarian_step + sum(card.librarian for card in cards) / count,
        "artisans_offered": offered,
        "artisans_required": required,
        "prestige": [
            {
                "name": collection.name,
                "slots": len(collection.slots),
                "slot_vp": sum(slot.vp for slot in collection.slots),
                "bonus": collection.bonus,
                "total_vp": sum(slot.vp for slot in collection.slots) + collection.bonus,
            }
            for collection in edition.prestige
        ],
    }


def summary_text(edition: Edition) -> str:
    """The figures of `summarise` as a few aligned lines of text."""
    facts = summarise(edition)
    sale = facts["expected_sale"]
    offered, required = facts["artisans_offered"], facts["artisans_required"]
    rows = [
        ("name", facts["name"]),
        ("edition", f"{facts['edition']} ({facts['provenance']})"),
        ("sha256", facts["sha256"]),
        ("days", facts["days"]),
        ("hand", f"{facts['hand_size']} of {facts['cards']} cards"),
        ("board", f"{facts['towers']} towers on {facts['spaces']} spaces"),
        (
            "cubes",
            f"{facts['cubes']}; {facts['cubes_to_complete_all_towers']} would complete every tower",
        ),
        ("mean price", ", ".join(f"{coin} {v:.2f}" for coin, v in facts["mean_price"].items())),
        ("mean first offer", "no pair of cards" if sale is None else f"{sale:.2f} florins"),
        ("mean librarian move", f"{facts['librarian_move']:.2f} spaces a turn"),
    ]
    rows += [
        ("artisans" if i == 0 else "", f"{kind}: {count} offered, {required[kind]} required")
        for i, (kind, count) in enumerate(offered.items())
    ]
    rows += [
        (
            "prestige" if i == 0 else "",
            f"{entry['name']}: {entry['slots']} slots, {entry['slot_vp']} + {entry['bonus']} VP",
        )
        for i, entry in enumerate(facts["prestige"])
    ]
    return "\n".join(f"{label:<20} {value}" for label, value in rows)


def check_edition(source: str, *, as_json: bool = False) -> tuple[bool, str]:
    """Check an edition file or shipped name: whether it can be used, and what to print about it."""
    try:
        edition = load_edition(source)
    except EditionError as error:
        if not as_json:
            return False, str(error)
        faults = [{"field": p.field, "message": p.message} for p in error.problems]
        return False, json.dumps({"ok": False, "file": source, "errors": faults}, indent=2)
    if as_json:
        return True, json.dumps({"ok": True, "file": source, **summarise(edition)}, indent=2)
    return True, f"ok\n{summary_text(edition)}"


def list_editions(*, as_json: bool = False) -> str:
    """What to print about the editions that come with the package."""
    editions = [load_edition(name) for name in shipped_editions()]
    if as_json:
        fields = ("name", "game", "edition", "provenance", "sha256", "cards", "towers", "days")
        summaries = [summarise(edition) for edition in editions]
        return json.dumps(
            [{field: facts[field] for field in fields} for facts in summaries], indent=2
        )
    rows = [("name", "edition", "provenance", "cards", "towers", "days", "sha256")]
    rows += [
        (
            edition.name,
            edition.edition,
            edition.provenance,
            str(len(edition.cards)),
            str(len(edition.towers)),
            str(edition.rules.days),
            edition.sha256[:12],
        )
        for edition in editions
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
