"""What an edition of Bibliogamo amounts to, in figures; printed by `incunabula editions`."""

from typing import Any

from incunabula.envs.bibliogamo.edition import Edition


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
        **edition.identity,
        **sizes(edition),
        "hand_size": rules.hand_size,
        "cubes": rules.cubes,
        "cubes_to_complete_all_towers": sum(required.values()),
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


def sizes(edition: Edition) -> dict[str, Any]:
    """How much it holds, as JSON values; part of `summarise`."""
    return {
        "cards": len(edition.cards),
        "towers": len(edition.towers),
        "days": edition.rules.days,
    }


def contents(edition: Edition) -> str:
    """How much it holds, in a few words."""
    return ", ".join(f"{count} {what}" for what, count in sizes(edition).items())


def summary_rows(edition: Edition) -> list[tuple[str, str]]:
    """The figures of `summarise` as labels and values; "" goes on with the label before."""
    facts = summarise(edition)
    sale = facts["expected_sale"]
    offered, required = facts["artisans_offered"], facts["artisans_required"]
    rows = [
        ("days", str(facts["days"])),
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
    return rows
