"""Bare arrays: a pointer without shape, strides and negative indices.  The width of a row is part of the type.

The core accesses its arrays some hundred times per cycle.  An indexed numba array checks each index for a negative
value and consists of seven words; an access to a bare array is one address computation and one load.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Iterable
from functools import partial
from typing import Any, cast

from piecewise_numba.natives import Function, native


def widths(arrays: Iterable[Any]) -> tuple[int, ...]:
    """Elements from one row of each array to the next, 1 for one dimension."""
    return tuple(array.strides[0] // array.itemsize for array in arrays)


Numbers = tuple[tuple[int, int], ...]
"""(index, number) of elements that are constants of the compiled core."""


@functools.cache
def bare(widths: tuple[int, ...], in_front: tuple[tuple[int, int, int], ...] = (), known: Numbers = ()) -> Function:
    """The function ``opened(t)`` that makes the arrays in the named tuple ``t`` bare: one or two dimensions, rows
    contiguous.

    The arrays must outlive the result and have these widths, and indices must be in bounds: nothing is checked.
    ``in_front``: (field, other field, distance) if the first array begins ``distance`` elements before the second; both
    then share one address.  ``known``: elements of the first array that are constants of the compiled code.
    Interpreted, it returns ``t`` itself.
    """

    @native(partial(_opening, widths, in_front, known))
    def opened(t: Any) -> Any:
        return t

    return opened


@functools.cache
def _opening(widths: tuple[int, ...], in_front: tuple[tuple[int, int, int], ...], known: Numbers) -> Any:
    from numba.core import cgutils, types
    from numba.extending import intrinsic
    from numba.np import arrayobj

    words, numba = words_type(), cast(Any, cgutils)
    array_of: Any = arrayobj.make_array
    named: Any = types.NamedTuple

    @intrinsic
    def opened(typing_context: Any, t: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            given = zip(signature.args[0], numba.unpack_tuple(builder, arguments[0]), strict=True)
            pointers = [array_of(kind)(context, builder, value).data for kind, value in given]
            for index, behind, distance in in_front:
                offset = context.get_constant(types.intp, -distance)
                pointers[index] = builder.gep(pointers[behind], [offset], inbounds=True)
            return context.make_tuple(builder, signature.return_type, pointers)

        constants = known, *(() for _ in widths[1:])
        shapes = zip(t, widths, constants, strict=True)
        kinds = [words(kind.dtype, kind.ndim, width, numbers) for kind, width, numbers in shapes]
        return named(kinds, t.instance_class)(t), generate

    return opened


_names = itertools.count()


@functools.cache
def _short_name(dtype: Any, ndim: int, width: int, known: Numbers) -> str:
    """A short name per type, unique in this process.  Names of compiled functions contain those of their types;
    otherwise, half of LLVM's input would be names.
    """
    return f"Words{next(_names)}"


@functools.cache
def words_type() -> Any:
    """The numba type of a bare array, with element reads and writes."""
    from numba.core import cgutils, types
    from numba.core.datamodel import models, registry
    from numba.core.typing import templates
    from numba.extending import lower_builtin

    made, lower = cast(Any, templates).signature, cast(Any, lower_builtin)
    pointer = cast(Any, types.CPointer)
    numba = cast(Any, cgutils)

    class Words(types.Type):
        """Bare array of ``dtype`` with ``ndim`` dimensions and ``width`` elements per row, some of them ``known``."""

        def __init__(self, dtype: Any, ndim: int, width: int, known: Numbers) -> None:
            self.dtype, self.ndim, self.width, self.known = dtype, ndim, width, dict(known)
            super().__init__(_short_name(dtype, ndim, width, known))

        def takes(self, index: Any) -> bool:
            """Whether an index has one integer per dimension."""
            if self.ndim == 1:
                return isinstance(index, types.Integer)
            return isinstance(index, types.BaseTuple) and len(cast(Any, index)) == self.ndim

    class Model(models.PointerModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            cast(Any, super()).__init__(manager, pointer(kind.dtype))

    class Get(templates.AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            return made(args[0].dtype, *args) if isinstance(args[0], Words) and args[0].takes(args[1]) else None

    class Put(templates.AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            return made(types.none, *args) if isinstance(args[0], Words) and args[0].takes(args[1]) else None

    def place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, index = signature.args[:2]
        offset = arguments[1]
        if kind.ndim == 1:
            offset = context.cast(builder, offset, index, types.intp)
        else:
            numbers = zip(numba.unpack_tuple(builder, offset), index, strict=True)
            row, column = (context.cast(builder, number, of, types.intp) for number, of in numbers)
            offset = builder.add(builder.mul(row, context.get_constant(types.intp, kind.width)), column)
        return builder.gep(arguments[0], [offset], inbounds=True)

    def get(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, index = signature.args[0], getattr(arguments[1], "constant", None)
        if index in kind.known:
            return context.get_constant(kind.dtype, kind.known[index])
        return builder.load(place(context, builder, signature, arguments))

    def put(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = context.cast(builder, arguments[2], signature.args[2], signature.args[0].dtype)
        builder.store(value, place(context, builder, signature, arguments))
        return context.get_dummy_value()

    cast(Any, registry).register_default(Words)(Model)
    cast(Any, templates).infer_global(operator.getitem)(Get)
    cast(Any, templates).infer_global(operator.setitem)(Put)
    lower(operator.getitem, Words, types.Any)(get)
    lower(operator.setitem, Words, types.Any, types.Any)(put)
    return Words
