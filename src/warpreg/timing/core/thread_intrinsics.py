"""Compiled replacements of the plain functions of `team_words`."""

from __future__ import annotations

import functools
from typing import Any, cast

from llvmlite import ir

from piecewise_numba.bare_arrays import words_type

BYTES = 8
SLEEP_US = 20
PAUSE = "llvm.x86.sse2.pause"


@functools.cache
def seen() -> Any:
    """An atomic load with acquire order."""
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def seen(typing_context: Any, team: Any, row: Any, column: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.load_atomic(_place(context, builder, signature, arguments), "acquire", BYTES)

        return types.int64(team, row, column), generate

    return seen


@functools.cache
def publish() -> Any:
    """An atomic store with release order."""
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def publish(typing_context: Any, team: Any, row: Any, column: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            word = context.cast(builder, arguments[3], signature.args[3], types.int64)
            builder.store_atomic(word, _place(context, builder, signature, arguments), "release", BYTES)
            return context.get_dummy_value()

        return types.none(team, row, column, value), generate

    return publish


def _place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """The address of an element of a bare array, or of an array of numba."""
    from numba.core import cgutils, types
    from numba.np import arrayobj

    kind = signature.args[0]
    pairs = zip(arguments[1:3], signature.args[1:3], strict=True)
    row, column = (context.cast(builder, number, of, types.intp) for number, of in pairs)
    if isinstance(kind, words_type()):
        offset = builder.add(builder.mul(row, context.get_constant(types.intp, kind.width)), column)
        return builder.gep(arguments[0], [offset], inbounds=True)
    array = cast(Any, arrayobj).make_array(kind)(context, builder, arguments[0])
    return cast(Any, cgutils).get_item_pointer(context, builder, kind, array, [row, column])


@functools.cache
def pause() -> Any:
    """The instruction of an x86 processor for loops that wait; nothing on others."""
    import platform

    has_one = platform.machine() == "x86_64"

    def generate(builder: Any) -> None:
        if has_one:
            builder.call(builder.module.declare_intrinsic(PAUSE, (), ir.FunctionType(ir.VoidType(), [])), [])

    return _effect(generate)


@functools.cache
def let_others_run() -> Any:
    """``sched_yield`` of the C library."""
    return _effect(lambda builder: _call(builder, "sched_yield", []))


@functools.cache
def sleep() -> Any:
    """``usleep`` of the C library."""
    return _effect(lambda builder: _call(builder, "usleep", [ir.IntType(32)(SLEEP_US)]))


@functools.cache
def processor_cycles() -> Any:
    """The cycle counter of the processor."""
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def cycles(typing_context: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kind = ir.FunctionType(ir.IntType(64), [])
            return builder.call(builder.module.declare_intrinsic("llvm.readcyclecounter", (), kind), [])

        return types.int64(), generate

    return cycles


def _call(builder: Any, name: str, arguments: list[Any]) -> None:
    from numba.core import cgutils

    kind = ir.FunctionType(ir.IntType(32), [one.type for one in arguments])
    builder.call(cast(Any, cgutils).get_or_insert_function(builder.module, kind, name), arguments)


def _effect(emit: Any) -> Any:
    """The intrinsic of a function without parameters and without a result."""
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def effect(typing_context: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            emit(builder)
            return context.get_dummy_value()

        return types.none(), generate

    return effect
