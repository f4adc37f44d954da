"""numba's side of ``Arrays``; imported only once something is compiled."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype
from numba.core import types
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, models, register_model, unbox
from numba.np.arrayobj import make_array, populate_array

from incunabula.envs.compiled.arrays import Kind

WORD = ir.IntType(64)
LAYOUT = 1  # another number whenever words are laid out in another way


class ArraysType(types.Type):
    """The type of ``Arrays`` with these members.

    Attributes:
        members: {name: numba's type of it}.
        words: {name: where its words begin in the block}: the value of an integer; address,
            shape and strides of an array.
    """

    def __init__(self, kinds: tuple[tuple[str, Kind], ...]) -> None:
        self.members: dict[str, Any] = {}
        self.words: dict[str, int] = {}
        at = 0
        for name, kind in kinds:
            member = self.members[name] = _member_type(kind)
            self.words[name] = at
            at += 1 + 2 * member.ndim if isinstance(member, types.Array) else 1
        # Types of equal names are one type to numba; LAYOUT also names what is kept on disk.
        digest = hashlib.sha256(repr(kinds).encode()).hexdigest()[:16]
        super().__init__(name=f"Arrays({LAYOUT}, {digest})")


def _member_type(kind: Kind) -> Any:
    if kind is None:
        return types.int64
    if not kind or not isinstance(kind[0], str):
        return ArraysType(kind)
    dtype, ndim, order = kind
    return types.Array(from_dtype(np.dtype(dtype)), ndim, order)


register_model(ArraysType)(models.OpaqueModel)  # a pointer to the block


@infer_getattr
class _Members(AttributeTemplate):  # type: ignore[misc]
    key = ArraysType

    def generic_resolve(self, arrays: ArraysType, name: str) -> Any:
        return arrays.members.get(name)


@lower_getattr_generic(ArraysType)  # type: ignore[untyped-decorator]
def _member(context: Any, builder: Any, arrays: ArraysType, block: Any, name: str) -> Any:
    """Read a member from the block."""
    words = builder.bitcast(block, WORD.as_pointer())
    first = arrays.words[name]

    def word(k: int) -> Any:
        value = builder.load(builder.gep(words, [ir.Constant(WORD, first + k)]))
        # The block never changes: what is read once need not be read again.
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    kind = arrays.members[name]
    if isinstance(kind, ArraysType):
        return builder.inttoptr(word(0), context.get_value_type(kind))
    if not isinstance(kind, types.Array):
        return word(0)
    array, cell = make_array(kind)(context, builder), context.get_data_type(kind.dtype)
    populate_array(
        array,
        data=builder.inttoptr(word(0), cell.as_pointer()),
        shape=[word(1 + d) for d in range(kind.ndim)],
        strides=[word(1 + kind.ndim + d) for d in range(kind.ndim)],
        itemsize=context.get_constant(types.intp, context.get_abi_sizeof(cell)),
        meminfo=None,  # the Python object keeps the memory
    )
    return array._getvalue()


@unbox(ArraysType)  # type: ignore[untyped-decorator]
def _unbox(arrays: ArraysType, value: Any, c: Any) -> Any:
    """The pointer of an ``Arrays``."""
    address = c.pyapi.object_getattr_string(value, "_address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return NativeValue(c.builder.bitcast(pointer, c.context.get_value_type(arrays)))
