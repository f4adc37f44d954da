"""What the editions of all games share: a model to build on, and loading from names and files.

An edition holds every number of a game that isn't a rule. Each game has its own model, built on
`BaseEdition`, and its own `load_edition`; `load_any_edition` picks the game by the file's `game`.
The errors name the field as the file writes it and what would be right, all of them at once.
"""

import hashlib
import importlib
import importlib.resources
import json
from collections.abc import Mapping
from functools import partial
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from incunabula.envs.documents import (
    TEXT,
    DocumentError,
    Problem,
    did_you_mean,
    explain,
    no_such,
    one_of,
    read_yaml,
    show,
)

GAMES: tuple[str, ...] = ("bibliogamo", "scriptorium")
"""Every game, by the name that its editions' `game` field bears."""

Text = Annotated[str, TEXT]


class EditionError(DocumentError):
    """An edition can't be used: no such file or name, or something in it is wrong."""


class EditionPart(BaseModel):
    """A part of an edition: no fields but its own, and none that changes."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)


class BaseEdition(EditionPart):
    """What the editions of all games have. Two are equal when content, name and file are.

    A game's own model overrides `game` with the one word allowed there, and `problems_between`.
    """

    GAME: ClassVar[str]

    game: str
    edition: Text
    provenance: Annotated[
        Literal["reconstructed", "transcribed", "variant"],
        one_of("reconstructed", "transcribed", "variant"),
    ]

    _name: str | None = PrivateAttr(default=None)
    # The hash of the file, and the hash of the content that was read from it: a changed copy of an
    # edition (`model_copy`) keeps both, and is then known by the second not to be the file's.
    _file_sha256: str | None = PrivateAttr(default=None)
    _file_content: str | None = PrivateAttr(default=None)

    @classmethod
    def problems_between(cls, data: Mapping[str, Any]) -> list[Problem]:
        """Everything that is wrong between fields, for data in the form of an edition file.

        Passes over whatever has the wrong form: the models report that.
        """
        raise NotImplementedError

    @model_validator(mode="after")
    def _check_whole(self) -> Self:
        problems = self.problems_between(self.model_dump())
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

    @property
    def identity(self) -> dict[str, str]:
        """What tells editions apart: name, game, edition, provenance and SHA-256."""
        return {
            "name": self.name,
            "game": self.game,
            "edition": self.edition,
            "provenance": self.provenance,
            "sha256": self.sha256,
        }

    def _content_sha256(self) -> str:
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def __hash__(self) -> int:
        return hash(self._content_sha256())


EditionType = TypeVar("EditionType", bound=BaseEdition)


def load_as(
    model: type[EditionType],
    source: str | Path | BaseEdition | Mapping[str, Any],
    *,
    name: str | None = None,
) -> EditionType:
    """Load and check an edition of one game.

    Args:
        model: the game's edition model.
        source: the name of a shipped edition (see `shipped_editions`), a path, an edition, or a
            mapping as a YAML file would give. A name wins over a file of that name in the current
            folder; write `./bibliogamo` for the file.
        name: what the edition is to be called; by default the file's stem.

    Raises:
        EditionError: there is no such name or file, or the edition can't be used. Lists every
            fault that was found.
    """
    if isinstance(source, BaseEdition):
        return _again(model, source, name)
    return _build(model, _read(source, name, model.GAME))


def load_any_edition(
    source: str | Path | BaseEdition | Mapping[str, Any], *, name: str | None = None
) -> BaseEdition:
    """Load and check an edition of whichever game its `game` field names.

    Arguments and errors are those of `load_as`.
    """
    if isinstance(source, BaseEdition):
        return _again(type(source), source, name)
    found = _read(source, name, None)
    game = found.data.get("game") if isinstance(found.data, Mapping) else None
    if not isinstance(game, str) or game not in GAMES:
        raise EditionError(found.source, [*found.problems, _no_game(found.data)])
    return _build(edition_model(game), found)


def edition_model(game: str) -> type[BaseEdition]:
    """The edition model of a game.

    Raises:
        EditionError: there is no such game.
    """
    _check_game(game)
    # Imported only now: the games' modules build on this one.
    module = importlib.import_module(f"incunabula.envs.{game}.edition")
    model: type[BaseEdition] = module.Edition
    return model


def shipped_editions(game: str | None = None) -> dict[str, str]:
    """The editions that come with the package, of all games or one: name -> SHA-256 of the file.

    Ordered by name.

    Raises:
        EditionError: there is no such game.
    """
    return {
        name: hashlib.sha256(file.read_bytes()).hexdigest()
        for name, file in _shipped_files(game).items()
    }


def edition_by_hash(sha256: str, game: str | None = None) -> BaseEdition:
    """The shipped edition with this `sha256`, of any game or one.

    Raises:
        EditionError: no shipped edition has it, or there is no such game.
    """
    shipped = shipped_editions(game)
    for name, found in shipped.items():
        if found == sha256.lower():
            return load_any_edition(name)
    listed = ", ".join(f"{name} {found[:12]}" for name, found in shipped.items())
    message = f"no shipped edition has this SHA-256; shipped are: {listed}"
    raise EditionError(sha256, [Problem("", message)])


def _check_game(game: str) -> None:
    if game not in GAMES:
        raise EditionError("edition", [Problem("", no_such("game", game, GAMES))])


def _shipped_files(game: str | None) -> dict[str, Traversable]:
    """A shipped file is called as its game, or as its game, a hyphen and more."""
    if game is not None:
        _check_game(game)
    folder = importlib.resources.files("incunabula.configs") / "editions"
    files = {file.name.removesuffix(".yaml"): file for file in folder.iterdir()}
    wanted = GAMES if game is None else (game,)
    return {name: files[name] for name in sorted(files) if name.partition("-")[0] in wanted}


class _Source(NamedTuple):
    """An edition's data before they are checked, and what is known about where they come from."""

    data: Any
    source: str  # as errors call it
    name: str | None
    sha256: str | None = None  # of the file
    problems: tuple[Problem, ...] = ()  # found while reading, such as keys that stand twice


def _read(source: object, name: str | None, game: str | None) -> _Source:
    """Read a name, a path or a mapping; names that lead nowhere are answered with `game`'s."""
    if isinstance(source, Mapping):
        return _Source(source, name or "edition", name)
    if not isinstance(source, str | Path):
        kind = type(source).__name__
        message = f"an edition is a name, a path, a mapping or an Edition, not {kind}"
        raise EditionError("edition", [Problem("", message)])
    if not str(source).strip():
        raise EditionError("edition", [Problem("", "the name or path is empty")])
    if isinstance(source, str) and source in (shipped := _shipped_files(None)):
        with importlib.resources.as_file(shipped[source]) as path:
            return _read_file(path, name or source)
    path = Path(source)
    if isinstance(source, str) and path.name == source and not path.suffix and not path.exists():
        known = _shipped_files(game)
        message = (
            f"is neither a file nor a shipped edition{did_you_mean(source, known)}; "
            f"shipped are: {', '.join(known)}"
        )
        raise EditionError(source, [Problem("", message)])
    return _read_file(path, name or path.stem)


def _read_file(path: Path, name: str) -> _Source:
    try:
        document = read_yaml(path)
    except DocumentError as error:
        raise EditionError(error.source, error.problems) from None
    return _Source(document.data, str(path), name, document.sha256, tuple(document.problems))


def _build(model: type[EditionType], found: _Source) -> EditionType:
    edition = _validate(model, found.data, found.source, found.problems)
    edition._name = found.name
    if found.sha256 is not None:
        edition._file_sha256 = found.sha256
        edition._file_content = edition._content_sha256()
    return edition


def _again(model: type[EditionType], edition: BaseEdition, name: str | None) -> EditionType:
    """An edition that is one already, under another name where one is given."""
    label = name or edition.name
    if not isinstance(edition, model):
        raise EditionError(label, [_other_game(edition.GAME, model)])
    # Checked again: `model_copy` and `model_construct` make editions without any check.
    _validate(model, edition.model_dump(warnings=False), label)
    if name is None or name == edition.name:
        return edition
    named = edition.model_copy()
    named._name = name
    return named


def _validate(
    model: type[EditionType], data: Any, source: str, known: tuple[Problem, ...] = ()
) -> EditionType:
    """Check plain values; `known` are problems found before."""
    problems = list(known)
    if not isinstance(data, Mapping):
        raise EditionError(source, [*problems, Problem("", _fields(model))])
    if (
        isinstance(game := data.get("game"), str)
        and game != model.GAME
        and not did_you_mean(game, [model.GAME])
    ):
        # Another game's file: everything else would be wrong too.
        raise EditionError(source, [_other_game(game, model)])
    edition = None
    try:
        edition = model.model_validate(data)
    except ValidationError as error:
        problems += [p for p in explain(error, model) if p.field]
    # Again on the values as they stand, so that a misspelt number hides no misspelt name.
    problems += model.problems_between(data)
    if problems or edition is None:
        raise EditionError(source, sorted(problems, key=partial(_position, list(data))))
    return edition


def _fields(model: type[BaseEdition]) -> str:
    return f"must be a mapping with the fields {', '.join(model.model_fields)}"


def _other_game(game: str, model: type[BaseEdition]) -> Problem:
    return Problem("game", f"is {game!r}, but only {model.GAME!r} editions can be loaded here")


def _no_game(data: Any) -> Problem:
    if not isinstance(data, Mapping):
        return Problem("", _fields(BaseEdition) + ", ...")
    right = f"must be one of {', '.join(GAMES)}"
    if "game" not in data:
        return Problem("game", f"is missing; it {right}")
    game = data["game"]
    return Problem("game", f"is {show(game)}, but {right}{did_you_mean(game, GAMES)}")


def _position(keys: list[Any], problem: Problem) -> tuple[int, int]:
    """Sorts problems as the file goes: by top-level field, then by entry."""
    top, _, rest = problem.field.partition("[")
    top = top.partition(".")[0]
    entry = rest.partition("]")[0]
    return keys.index(top) if top in keys else -1, int(entry) if entry.isdecimal() else -1
