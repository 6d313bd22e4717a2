"""Arrays as the compiled core sees them: a pointer and the width of a row, without shape, strides or negative indices.

The core reads and writes its arrays some hundred times a cycle.  What numba makes of an indexed array checks each
index for being negative and carries seven words of description; here an access is one address and one load.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, cast


@functools.cache
def bare() -> Any:
    """The intrinsic ``bare(t)``: the named tuple ``t``, its C-contiguous arrays of one or two dimensions made bare.

    The arrays must outlive the result, and indices must be inside: nothing is checked.
    """
    from numba.core import cgutils, types
    from numba.extending import intrinsic
    from numba.np import arrayobj

    words, numba = words_type(), cast(Any, cgutils)
    array_of: Any = arrayobj.make_array
    named: Any = types.NamedTuple

    def stripped(kind: Any) -> Any:
        is_bare = isinstance(kind, types.Array) and kind.layout == "C" and kind.ndim in (1, 2)
        return words(kind.dtype, kind.ndim) if is_bare else kind

    def strip(context: Any, builder: Any, kind: Any, wanted: Any, value: Any) -> Any:
        if kind is wanted:
            return value
        array = array_of(kind)(context, builder, value)
        struct = numba.create_struct_proxy(wanted)(context, builder)
        struct.data = array.data
        struct.width = numba.unpack_tuple(builder, array.shape)[-1]
        return struct._getvalue()

    @intrinsic
    def native(typing_context: Any, t: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            given, wanted = signature.args[0], signature.return_type
            values = numba.unpack_tuple(builder, arguments[0])
            parts = [strip(context, builder, *one) for one in zip(given, wanted, values, strict=True)]
            return context.make_tuple(builder, wanted, parts)

        return named([stripped(kind) for kind in t], t.instance_class)(t), generate

    return native


@functools.cache
def words_type() -> Any:
    """The numba type of a bare array, with its elements' reading and writing."""
    from numba.core import cgutils, types
    from numba.core.datamodel import models, registry
    from numba.core.typing import templates
    from numba.extending import lower_builtin

    made, lower = cast(Any, templates).signature, cast(Any, lower_builtin)
    pointer = cast(Any, types.CPointer)
    numba = cast(Any, cgutils)

    class Words(types.Type):
        """Of ``dtype``, with ``ndim`` dimensions."""

        def __init__(self, dtype: Any, ndim: int) -> None:
            self.dtype, self.ndim = dtype, ndim
            super().__init__(f"Words({dtype}, {ndim})")

        def takes(self, index: Any) -> bool:
            """Whether an index has a number for each dimension."""
            if self.ndim == 1:
                return isinstance(index, types.Integer)
            return isinstance(index, types.BaseTuple) and len(cast(Any, index)) == self.ndim

    class Model(models.StructModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            cast(Any, super()).__init__(manager, kind, [("data", pointer(kind.dtype)), ("width", types.intp)])

    class Get(templates.AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            return made(args[0].dtype, *args) if isinstance(args[0], Words) and args[0].takes(args[1]) else None

    class Put(templates.AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            return made(types.none, *args) if isinstance(args[0], Words) and args[0].takes(args[1]) else None

    def place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, index = signature.args[:2]
        struct = numba.create_struct_proxy(kind)(context, builder, arguments[0])
        offset = arguments[1]
        if kind.ndim == 1:
            offset = context.cast(builder, offset, index, types.intp)
        else:
            numbers = zip(numba.unpack_tuple(builder, offset), index, strict=True)
            row, column = (context.cast(builder, number, of, types.intp) for number, of in numbers)
            offset = builder.add(builder.mul(row, struct.width), column)
        return builder.gep(struct.data, [offset], inbounds=True)

    def get(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
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
