"""What stands in for the plain functions of `bits` in compiled code."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any, cast

from warpreg.timing import bits


def natives() -> Mapping[FunctionType, Any]:
    """Intrinsics by the plain function that they replace."""
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def lowest(typing_context: Any, bits: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            word = context.cast(builder, arguments[0], signature.args[0], types.int64)
            return builder.cttz(word, context.get_constant(types.boolean, True))

        return types.int64(bits), generate

    @intrinsic
    def count(typing_context: Any, bits: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctpop(context.cast(builder, arguments[0], signature.args[0], types.int64))

        return types.int64(bits), generate

    return {cast(FunctionType, bits.lowest): lowest, cast(FunctionType, bits.count): count}
