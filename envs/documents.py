"""Reading a user's YAML file, and saying in plain words what is wrong with what stands in it.

`read_yaml` turns a file into plain values, safely. The `Expected` annotations below describe the
values that a pydantic model's fields take; `problems` turns pydantic's errors into sentences that
name the field as the file writes it (`cards[17].artisans.binder`) and what would be right.
"""

import difflib
import hashlib
import re
import stat
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from incunabula.envs.errors import IncunabulaError

MAX_BYTES = 4 * 2**20
"""Larger files are refused unread: they are not what this is for."""

_MAX_DEPTH = 20


class Problem(NamedTuple):
    """One thing that is wrong: the field as the file writes it ("" for the whole file), and why."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


class DocumentError(IncunabulaError):
    """A file or mapping that can't be used; knows every problem found in it.

    Attributes:
        source: the file, or what else was read.
        problems: every problem, in the order of the file.
    """

    def __init__(self, source: str, problems: Iterable[Problem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{source}: {problem}" for problem in self.problems))

    def __reduce__(self) -> tuple[Any, ...]:
        # An exception is rebuilt from its message alone, which doesn't fit this constructor.
        return type(self), (self.source, self.problems)


class Document(NamedTuple):
    """A file's content: plain values, the SHA-256 of its bytes, and keys that stand twice."""

    data: Any
    sha256: str
    problems: list[Problem]


# ---------------------------------------------------------------------------------------------
# Reading


def read_yaml(path: Path) -> Document:
    """Read one YAML document of plain values from `path`.

    Aliases are refused (a few lines of them can stand for gigabytes), and so are deep nesting,
    custom tags and files over `MAX_BYTES`. Keys that stand twice in one mapping, which YAML readers
    usually let pass, come back as problems.

    Raises:
        DocumentError: it isn't a file, can't be read, isn't UTF-8, isn't YAML or is empty.
    """
    source = str(path)

    def refuse(message: str) -> DocumentError:
        return DocumentError(source, [Problem("", message)])

    try:
        # Opening a pipe waits for whoever writes to it, perhaps for ever; so may a device.
        mode = path.stat().st_mode
        raw = _start_of(path) if stat.S_ISREG(mode) else b""
    except FileNotFoundError:
        raise refuse("there is no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        raise refuse(f"can't be read: {getattr(error, 'strerror', None) or error}") from None
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a pipe, a socket or a device"
        raise refuse(f"can't be read: it is {kind}, but must be a file")
    if len(raw) > MAX_BYTES:
        raise refuse(f"is larger than {MAX_BYTES:,} bytes")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refuse(f"isn't UTF-8 text (byte {error.start}); save it as UTF-8") from None
    if not text.strip():
        raise refuse("is empty")
    try:
        data, problems = _parse(text)
    except yaml.MarkedYAMLError as error:
        what = error.problem or error.context or "can't be understood"
        mark = error.problem_mark or error.context_mark
        raise refuse(f"isn't valid YAML{_where(mark)}: {what}") from None
    except yaml.YAMLError as error:
        raise refuse(f"isn't YAML that can be used: {' '.join(str(error).split())}") from None
    except (ValueError, OverflowError) as error:
        # A date such as 2024-13-45, or a number of thousands of digits.
        raise refuse(f"holds a value that can't be read: {error}") from None
    if data is None:
        raise refuse("is empty")
    return Document(data, hashlib.sha256(raw).hexdigest(), problems)


def _start_of(path: Path) -> bytes:
    """As much of a file as shows whether it is too large."""
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _where(mark: Any) -> str:
    return f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""


def _parse(text: str) -> tuple[Any, list[Problem]]:
    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    # Looking at the events first costs little, and nothing recursive has run yet.
    for event in yaml.parse(text, Loader=base):
        if isinstance(event, yaml.AliasEvent):
            place = _where(event.start_mark)
            raise yaml.YAMLError(f"aliases (*name) aren't supported; write the value out{place}")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MAX_DEPTH:
                raise yaml.YAMLError(f"nested over {_MAX_DEPTH} deep{_where(event.start_mark)}")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    loader = base(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None, []
        return loader.construct_document(node), list(_repeated_keys(node, ()))
    finally:
        loader.dispose()


def _repeated_keys(node: yaml.Node, path: tuple[str | int, ...]) -> Iterable[Problem]:
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _repeated_keys(item, (*path, index))
    elif isinstance(node, yaml.MappingNode):
        lines: dict[tuple[str, str], int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue  # can't be a key of plain values; the constructor refuses it
            whole = key.tag.endswith(":int") and key.value.isdecimal()
            field = (*path, int(key.value) if whole else key.value)
            line, name = key.start_mark.line + 1, (key.tag, key.value)
            if name in lines:
                message = f"stands twice (lines {lines[name]} and {line}); remove one of the two"
                yield Problem(field_path(field), message)
            lines[name] = line
            yield from _repeated_keys(value, field)


# ---------------------------------------------------------------------------------------------
# Saying what is wrong


def field_path(location: Iterable[str | int]) -> str:
    """A location as the file's reader would write it: ("towers", 2, "name") is towers[2].name."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif re.fullmatch(r"[\w-]+", part):
            path += f".{part}" if path else part
        else:
            path += f"[{part[:40]!r}]"
    return path


def show(value: object) -> str:
    """A value as YAML would write it, in a few words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    try:
        text = repr(value)
    except ValueError:  # a whole number with thousands of digits
        return "a huge number"
    return text if len(text) <= 60 else f"{text[:57]}..."


def did_you_mean(name: object, options: Iterable[str], cutoff: float = 0.6) -> str:
    """ " (did you mean 'x'?)" for the option closest to `name`, or "" when none is close.

    Args:
        cutoff: how alike they must be, 0..1 (1 = the same but for upper and lower case).
    """
    if not isinstance(name, str):
        return ""
    by_lower_case = {option.lower(): option for option in options}
    close = difflib.get_close_matches(name.lower(), by_lower_case, 1, cutoff)
    return f" (did you mean {by_lower_case[close[0]]!r}?)" if close else ""


def no_such(kind: str, name: object, options: Iterable[str]) -> str:
    """ "there is no KIND 'name'", with the nearest right name and the list of right ones."""
    names = list(dict.fromkeys(options))
    listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"there is no {kind} {show(name)}{did_you_mean(name, names)}; there are: {listed}"


@dataclass(frozen=True)
class Expected:
    """What a field's value must be, as an annotation: a test, and words for the error.

    The test sees the value as it stands in the file, before pydantic converts anything.
    """

    what: str
    test: Callable[[Any], bool]
    options: tuple[str, ...] = ()

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._check, handler(source))

    def _check(self, value: Any) -> Any:
        if not self.test(value):
            hint = did_you_mean(value, self.options)
            message = f"is {show(value)}, but must be {self.what}{hint}"
            raise PydanticCustomError("expected", "{message}", {"message": message})
        return value


def whole(low: int, high: int, *, or_null: bool = False) -> Expected:
    """A whole number between two bounds, both allowed; true, 3.0 and "3" are none."""
    what = f"{low}" if low == high else f"a whole number from {low:,} to {high:,}"
    return Expected(
        f"{what}, or null" if or_null else what,
        lambda value: (type(value) is int and low <= value <= high) or (or_null and value is None),
    )


def one_of(*options: str) -> Expected:
    """One of a few words."""
    what = f"one of {', '.join(options)}" if len(options) > 1 else options[0]
    return Expected(what, lambda value: isinstance(value, str) and value in options, options)


TEXT = Expected(
    "printable text of 1 to 100 characters (in quotes where YAML would read something else)",
    lambda value: (
        isinstance(value, str)
        and 0 < len(value.strip()) <= len(value) <= 100
        and value.isprintable()
    ),
)
FLAG = Expected("true or false", lambda value: isinstance(value, bool))
LIST = Expected("a list", lambda value: isinstance(value, list | tuple))
MAPPING = Expected("a mapping", lambda value: isinstance(value, Mapping))


def explain(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """Turn pydantic's errors about data meant for `model` into problems, in pydantic's order."""
    found = []
    for detail in error.errors(include_url=False):
        location, kind = detail["loc"], detail["type"]
        if location and location[-1] == "[key]":  # pydantic's mark for a key of a mapping
            location = location[:-1]
        if kind == "missing":
            message = f"is missing; it must be {_expected_at(model, location)}"
        elif kind == "extra_forbidden":
            owner, _ = _annotation_at(model, location[:-1])
            message = no_such("field", location[-1], owner.model_fields)
        elif kind in ("model_type", "model_attributes_type"):
            message = f"is {show(detail['input'])}, but must be {_expected_at(model, location)}"
        else:
            message = detail["msg"]
        found.append(Problem(field_path(location), message))
    return found


def _annotation_at(model: type[BaseModel], location: tuple[str | int, ...]) -> tuple[Any, Any]:
    """The type at a location inside a model, and the annotations beside it."""
    kind: Any = model
    beside: Any = ()
    for part in location:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            info = kind.model_fields[str(part)]
            kind, beside = info.annotation, info.metadata
        else:
            arguments = typing.get_args(kind)
            kind, beside = arguments[0] if isinstance(part, int) else arguments[-1], ()
            if typing.get_origin(kind) is typing.Annotated:
                kind, *beside = typing.get_args(kind)
    return kind, beside


def _expected_at(model: type[BaseModel], location: tuple[str | int, ...]) -> str:
    kind, beside = _annotation_at(model, location)
    for annotation in beside:
        if isinstance(annotation, Expected):
            return annotation.what
    return f"a mapping with the fields {', '.join(kind.model_fields)}"
