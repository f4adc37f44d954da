"""Editions: every number of the game that isn't a rule, read from a YAML file and checked.

An edition says how many days, cards, towers, coins, ... there are and what each card bears. The
rules take every size and number from it. `load_edition` is the way in; the errors it raises name
the field as the file writes it and what would be right, all of them at once.
"""

import hashlib
import importlib.resources
import json
from collections.abc import Mapping
from functools import partial
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    PrivateAttr,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from incunabula.envs.bibliogamo.edition_checks import (
    MAX_COUNT,
    MAX_FLORINS,
    MAX_MOVE,
    check_whole,
)
from incunabula.envs.documents import (
    FLAG,
    LIST,
    MAPPING,
    TEXT,
    DocumentError,
    Problem,
    did_you_mean,
    explain,
    one_of,
    read_yaml,
    whole,
)

GAME = "bibliogamo"

Count = Annotated[int, whole(0, MAX_COUNT)]
Florins = Annotated[int, whole(0, MAX_FLORINS)]
Text = Annotated[str, TEXT]
Counts = Annotated[Mapping[Text, Count], MAPPING]
"""Artisan type -> how many; types left out count 0."""


class EditionError(DocumentError):
    """An edition can't be used: no such file or name, or something in it is wrong."""


class _Part(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)


class Rules(_Part):
    """The numbers of the rules that an edition can vary."""

    days: Annotated[int, whole(1, MAX_COUNT)]
    hand_size: Annotated[int, whole(1, MAX_COUNT)]
    librarian_step: Annotated[int, whole(0, MAX_MOVE)]
    hires_per_turn: Count  # R7
    lifts_per_turn: Annotated[int, whole(0, 1)]  # R11: one lift frees the whole turn
    sales_per_turn: Annotated[int, whole(1, 1)]  # R6
    allow_empty_hire: Annotated[bool, FLAG]  # R8
    florins_per_vp: Annotated[int, whole(1, MAX_FLORINS)]
    vp_per_book: Count
    florin_cap: Annotated[int | None, whole(0, MAX_FLORINS, or_null=True)]  # R2
    cubes: Count


class Start(_Part):
    """R3: the time, florins and librarian's space a game starts with."""

    time: Count
    florins: Florins
    librarian: Count


class Tower(_Part):
    """A kind of book: how many artisans of each type one book needs."""

    name: Text
    requires: Counts


class Board(_Part):
    """R1: the ring of spaces, clockwise, each holding the tower of this name."""

    spaces: Annotated[tuple[Text, ...], LIST]


class Slot(_Part):
    """A place of a prestige collection: which tower's book fills it, and its VP."""

    tower: Text
    vp: Count


class Prestige(_Part):
    """A prestige collection: its slots, and the bonus for filling them all."""

    name: Text
    bonus: Count
    slots: Annotated[tuple[Slot, ...], LIST]


class Card(_Part):
    """An artisan card. `florins` is its price in each coin; `librarian` may be negative."""

    id: Count
    librarian: Annotated[int, whole(-MAX_MOVE, MAX_MOVE)]
    icon: Text
    coin: Text
    florins: Annotated[Mapping[Text, Florins], MAPPING]
    artisans: Counts


def _by_id(cards: tuple[Card, ...]) -> tuple[Card, ...]:
    return tuple(sorted(cards, key=lambda card: card.id))


class Edition(_Part):
    """A whole edition, checked. `cards[i].id == i`, in whatever order the file lists them.

    An edition doesn't change; two are equal when content, name and file are.
    """

    game: Annotated[Literal["bibliogamo"], one_of(GAME)]
    edition: Text
    provenance: Annotated[
        Literal["reconstructed", "transcribed", "variant"],
        one_of("reconstructed", "transcribed", "variant"),
    ]
    rules: Rules
    start: Start
    artisan_types: Annotated[tuple[Text, ...], LIST]
    coins: Annotated[tuple[Text, ...], LIST]
    towers: Annotated[tuple[Tower, ...], LIST]
    board: Board
    prestige: Annotated[tuple[Prestige, ...], LIST]
    cards: Annotated[tuple[Card, ...], LIST, AfterValidator(_by_id)]

    _name: str | None = PrivateAttr(default=None)
    # The hash of the file, and the hash of the content that was read from it: a changed copy of an
    # edition (`model_copy`) keeps both, and is then known by the second not to be the file's.
    _file_sha256: str | None = PrivateAttr(default=None)
    _file_content: str | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _check_whole(self) -> Self:
        problems = check_whole(self.model_dump())
        if problems:
            message = "; ".join(map(str, problems))
            raise PydanticCustomError("whole_edition", "{message}", {"message": message})
        return self

    @property
    def name(self) -> str:
        """The name it was loaded by: a file's stem, or else what its `edition` field says."""
        return self._name or self.edition

    @property
    def sha256(self) -> str:
        """64 hexadecimal digits: of the file's bytes, or of the canonical JSON when not a file's.

        The canonical JSON has sorted keys, no spaces, and only ASCII characters.
        """
        content = self._content_sha256()
        if self._file_sha256 is not None and content == self._file_content:
            return self._file_sha256
        return content

    def _content_sha256(self) -> str:
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def __hash__(self) -> int:
        return hash(self._content_sha256())


def load_edition(
    source: str | Path | Edition | Mapping[str, Any], *, name: str | None = None
) -> Edition:
    """Load and check an edition.

    Args:
        source: the name of a shipped edition ("bibliogamo"; see `shipped_editions`), a path, an
            edition, or a mapping as a YAML file would give. A name wins over a file of that name
            in the current folder; write `./bibliogamo` for the file.
        name: what the edition is to be called; by default the file's stem.

    Raises:
        EditionError: there is no such name or file, or the edition can't be used. Lists every
            fault that was found.
    """
    if isinstance(source, Edition):
        # Checked again: `model_copy` and `model_construct` make editions without any check.
        label = name or source.name
        _validate(source.model_dump(warnings=False), label)
        if name is None or name == source.name:
            return source
        named = source.model_copy()
        named._name = name
        return named
    if isinstance(source, Mapping):
        edition = _validate(source, name or "edition")
        edition._name = name
        return edition
    if not isinstance(source, str | Path):
        kind = type(source).__name__
        message = f"an edition is a name, a path, a mapping or an Edition, not {kind}"
        raise EditionError("edition", [Problem("", message)])
    if not str(source).strip():
        raise EditionError("edition", [Problem("", "the name or path is empty")])
    if isinstance(source, str) and source in (shipped := _shipped_files()):
        with importlib.resources.as_file(shipped[source]) as path:
            return _load_file(path, name or source)
    path = Path(source)
    if isinstance(source, str) and path.name == source and not path.suffix and not path.exists():
        known = _shipped_files()
        message = (
            f"is neither a file nor a shipped edition{did_you_mean(source, known)}; "
            f"shipped are: {', '.join(known)}"
        )
        raise EditionError(source, [Problem("", message)])
    return _load_file(path, name or path.stem)


def shipped_editions() -> dict[str, str]:
    """The editions that come with the package: name -> SHA-256 of the file, by name."""
    return {
        name: hashlib.sha256(file.read_bytes()).hexdigest()
        for name, file in _shipped_files().items()
    }


def edition_by_hash(sha256: str) -> Edition:
    """The shipped edition with this `sha256`.

    Raises:
        EditionError: no shipped edition has it.
    """
    shipped = shipped_editions()
    for name, found in shipped.items():
        if found == sha256.lower():
            return load_edition(name)
    listed = ", ".join(f"{name} {found[:12]}" for name, found in shipped.items())
    message = f"no shipped edition has this SHA-256; shipped are: {listed}"
    raise EditionError(sha256, [Problem("", message)])


def _shipped_files() -> dict[str, Traversable]:
    folder = importlib.resources.files("incunabula.configs") / "editions"
    files = {file.name.removesuffix(".yaml"): file for file in folder.iterdir()}
    return {name: files[name] for name in sorted(files) if name.startswith(GAME)}


def _load_file(path: Path, name: str) -> Edition:
    try:
        document = read_yaml(path)
    except DocumentError as error:
        raise EditionError(error.source, error.problems) from None
    edition = _validate(document.data, str(path), document.problems)
    edition._name = name
    edition._file_sha256 = document.sha256
    edition._file_content = edition._content_sha256()
    return edition


def _validate(data: Any, source: str, known: list[Problem] | None = None) -> Edition:
    """Check plain values; `known` are problems found before, such as keys that stand twice."""
    problems = list(known or ())
    if not isinstance(data, Mapping):
        fields = ", ".join(Edition.model_fields)
        message = f"must be a mapping with the fields {fields}"
        raise EditionError(source, [*problems, Problem("", message)])
    if (
        isinstance(game := data.get("game"), str)
        and game != GAME
        and not did_you_mean(game, [GAME])
    ):
        # Another game's file: everything else would be wrong too.
        message = f"is {game!r}, but only {GAME!r} editions can be loaded here"
        raise EditionError(source, [Problem("game", message)])
    edition = None
    try:
        edition = Edition.model_validate(data)
    except ValidationError as error:
        problems += [p for p in explain(error, Edition) if p.field]
    # Again on the values as they stand, so that a misspelt number hides no misspelt name.
    problems += check_whole(data)
    if problems or edition is None:
        raise EditionError(source, sorted(problems, key=partial(_position, list(data))))
    return edition


def _position(keys: list[Any], problem: Problem) -> tuple[int, int]:
    """Sorts problems as the file goes: by top-level field, then by entry."""
    top, _, rest = problem.field.partition("[")
    top = top.partition(".")[0]
    entry = rest.partition("]")[0]
    return keys.index(top) if top in keys else -1, int(entry) if entry.isdecimal() else -1
