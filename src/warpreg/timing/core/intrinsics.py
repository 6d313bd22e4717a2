"""Compiled replacements of the plain functions of `bitset` and `prefetch`."""

from __future__ import annotations

import functools
from typing import Any

from llvmlite import ir

from piecewise_numba.bare_arrays import words_type


@functools.cache
def lowest() -> Any:
    """Number of zeros below the lowest set bit."""
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def lowest(typing_context: Any, bits: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            word = context.cast(builder, arguments[0], signature.args[0], types.int64)
            return builder.cttz(word, context.get_constant(types.boolean, True))

        return types.int64(bits), generate

    return lowest


@functools.cache
def count() -> Any:
    """Number of set bits."""
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def count(typing_context: Any, bits: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctpop(context.cast(builder, arguments[0], signature.args[0], types.int64))

        return types.int64(bits), generate

    return count


@functools.cache
def prefetch() -> Any:
    """Prefetch the cache line of an element; no effect for arrays that are not bare."""
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def prefetch(typing_context: Any, words: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            if isinstance(words, words_type()):
                offset = context.cast(builder, arguments[1], signature.args[1], types.intp)
                _prefetch(builder, builder.gep(arguments[0], [offset]))
            return context.get_dummy_value()

        return types.none(words, index), generate

    return prefetch


def _prefetch(builder: Any, address: Any) -> None:
    """Emit a prefetch of the cache line at an address, for reading."""
    word = ir.IntType(32)
    bytes_at = builder.bitcast(address, ir.IntType(8).as_pointer())
    kind = ir.FunctionType(ir.VoidType(), [bytes_at.type, word, word, word])
    function = builder.module.declare_intrinsic("llvm.prefetch", [bytes_at.type], kind)
    builder.call(function, [bytes_at, word(0), word(3), word(1)])
