"""The table that says what lies where in an observation; each game's layout fills it in."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incunabula.envs.errors import IncunabulaError

Float32Array = npt.NDArray[np.float32]


class Field(NamedTuple):
    """One entry of the observation table."""

    name: str
    start: int
    shape: tuple[int, ...]
    high: float  # largest value that can occur; the smallest is 0
    meaning: str

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def slice(self) -> slice:
        return slice(self.start, self.start + self.size)


class FieldTable(ABC):
    """The observation's table for one edition.

    Attributes:
        fields: {name: Field}, in the order of the vector, without gaps.
        size: F, the vector's length.
    """

    def __init__(self) -> None:
        self.fields: dict[str, Field] = {}
        self.size = 0

    def _add(self, name: str, shape: tuple[int, ...], high: float, meaning: str) -> None:
        field = Field(name, self.size, shape, float(high), meaning)
        self.fields[name] = field
        self.size += field.size

    @property
    def high(self) -> Float32Array:
        """Upper bounds, float32 (F,); the lower ones are 0."""
        fields = self.fields.values()
        return np.concatenate([np.full(f.size, f.high, np.float32) for f in fields])

    @property
    def sha256(self) -> str:
        """Hash of what learned policies depend on (names, places, shapes, scales): equal hashes,
        equal meaning of every number."""
        table = [[f.name, f.start, list(f.shape), f.high] for f in self.fields.values()]
        text = json.dumps([table, self._scales()], separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @abstractmethod
    def _scales(self) -> list[list[Any]]:
        """[name, number, …] of every scaled field: what else the numbers' meaning depends on."""

    def _checked(self, observation: Float32Array) -> npt.NDArray[np.float64]:
        """One observation as a float64 vector; IncunabulaError unless its shape is (F,)."""
        vector = np.asarray(observation, np.float64)
        if vector.shape != (self.size,):
            raise IncunabulaError(f"observation: expected shape ({self.size},), got {vector.shape}")
        return vector
