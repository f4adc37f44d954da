"""Stepping through a game in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Json = dict[str, Any]
HELP = "Enter next · b back · number jump · q quit"
CHOICES = 5  # that an agent finds best, shown


def step_through(
    title: str,
    game: Json,
    boards: Sequence[str],
    ask: Callable[[str], str] = input,
    show: Callable[[str], object] = print,
) -> None:
    """Show position after position, as the person at the keyboard wishes.

    Args:
        title: of the game.
        game: what ``game_frames`` gave.
        boards: every position as text.
        ask: reads a line; EOFError ends it.
        show: prints.
    """
    last, at = len(boards) - 1, 0
    show(title)
    show(position_text(game, boards, at))
    while True:
        try:
            answer = ask(f"[{at}/{last}] {HELP}: ").strip().lower()
        except EOFError:
            show("")
            return
        if answer in ("q", "quit"):
            return
        wanted = _wanted(answer, at)
        if wanted is None or not 0 <= wanted <= last:
            show(_no(answer, at, last))
            continue
        at = wanted
        show(position_text(game, boards, at))


def _wanted(answer: str, at: int) -> int | None:
    """The position that an answer means; None if it means none."""
    if answer in ("", "n", "next"):
        return at + 1
    if answer in ("b", "back"):
        return at - 1
    if answer.isascii() and answer.isdigit():
        return int(answer.lstrip("0")[:9] or 0)
    return None


def _no(answer: str, at: int, last: int) -> str:
    if answer in ("", "n", "next"):
        return "The game ends here."
    if answer in ("b", "back"):
        return "The game begins here."
    return f"{answer[:40]!r}: expected Enter, b, a number in 0..{last}, or q"


def position_text(game: Json, boards: Sequence[str], at: int) -> str:
    """A position: how it came about, the board, and what is done next."""
    frames, players = game["frames"], game["players"]
    frame = frames[at]
    lines = ["", f"Position {at} · {frame['heading']}"]
    if frame["done"] is not None:
        lines.append(f"done: {move_text(frame, players)}")
    if "value" in frame["note"]:
        lines.append(f"expected: {frame['note']['value']:.2f}")
    lines += ["", boards[at], ""]
    lines += _choices(frame)
    if at + 1 < len(frames):
        done = frames[at + 1]["done"]
        lines.append(f"next: {_who(done, players)}{done['label']}")
    else:
        lines.append(
            "scores: "
            + ", ".join(f"{n} {s}" for n, s in zip(players, frame["scores"], strict=True))
        )
    return "\n".join(lines)


def move_text(frame: Json, players: Sequence[str]) -> str:
    """The move that led to a position, and what is known of it."""
    done, note = frame["done"], frame["note"]
    known = [f"{name} {note[name]:+.2f}" for name in ("luck",) if name in note]
    if note.get("regret"):
        known.insert(0, f"regret {note['regret']:.2f}")
    after = f"  ({', '.join(known)})" if known else ""
    return f"{_who(done, players)}{done['label']}{after}"


def _choices(frame: Json) -> list[str]:
    """The choices that an agent finds best."""
    judged = [each for each in frame["legal"] if "probability" in each]
    judged.sort(key=lambda each: (-each["probability"], -each.get("value", float("-inf"))))
    lines = []
    for each in judged[:CHOICES]:
        value = f"  {each['value']:8.2f}" if "value" in each else " " * 10
        lines.append(f"  {each['probability']:4.0%}{value}  {each['label']}")
    return lines


def _who(done: Json, players: Sequence[str]) -> str:
    """Who did it, where there are several: "seat 1 (greedy): "."""
    return "" if len(players) == 1 else f"seat {done['seat']} ({players[done['seat']]}): "
