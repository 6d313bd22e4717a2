"""Functions of numba that are replaced while a core compiles, and restored afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from llvmlite import ir
from llvmlite.ir.instructions import ExtractValue, InsertValue
from numba.core import event, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUContext
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.types.functions import BaseFunction
from numba.np import arrayobj

from piecewise_numba.entry_points import provide_symbols
from piecewise_numba.python_entry import create_python_entry


@contextmanager
def typed_once() -> Iterator[None]:
    """In this context, cache the types of builtin calls, compare compilation flags quickly, and report no events."""
    function, flags, events = cast(Any, BaseFunction), cast(Any, TargetConfig), cast(Any, event)
    with cast(Any, global_compiler_lock):
        before = function.get_call_type, flags.__hash__, flags.__eq__
        reported = events.start_event, events.end_event
        function.get_call_type = _kept(function.get_call_type)
        flags.__hash__, flags.__eq__ = _hash, _is_equal
        events.start_event = events.end_event = _nothing
        try:
            yield
        finally:
            function.get_call_type, flags.__hash__, flags.__eq__ = before
            events.start_event, events.end_event = reported


@contextmanager
def with_own_entries() -> Iterator[None]:
    """In this context, what Python calls is not numba's own function (`piecewise_numba.python_entry`)."""
    context = cast(Any, CPUContext)
    before = context.create_cpython_wrapper
    context.create_cpython_wrapper = create_python_entry
    provide_symbols()
    try:
        yield
    finally:
        context.create_cpython_wrapper = before


@contextmanager
def counted_from_the_start() -> Iterator[None]:
    """In this context, only an index that is a constant may be negative, as the interface of designs has it; any other
    one is used as it is, without a comparison and a sum for each dimension.
    """
    numba_arrays = cast(Any, arrayobj)
    before = numba_arrays.fix_integer_index

    def as_it_is(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
        if isinstance(_of_tuple(index), ir.Constant):
            return before(context, builder, kind, index, size)
        return context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)

    numba_arrays.fix_integer_index = as_it_is
    try:
        yield
    finally:
        numba_arrays.fix_integer_index = before


def _of_tuple(value: Any) -> Any:
    """The element of a tuple that a value was taken from, where the function shows it; else the value."""
    if not isinstance(value, ExtractValue):
        return value
    (tuple_, *_), wanted = value.operands, list(value.indices)
    while isinstance(tuple_, InsertValue):
        if list(tuple_.indices) == wanted:
            return tuple_.operands[1]
        tuple_ = tuple_.operands[0]
    return value


def _nothing(*arguments: Any, **named: Any) -> None:
    """No event: numba reports each call of LLVM to a clock of each function that is being compiled."""


def _hash(flags: Any) -> int:
    """Quick hash of compilation flags, which are part of numba's look-up keys.  Their own hash sorts the names of all
    options and took a tenth of a compilation.
    """
    return hash(type(flags))


def _is_equal(flags: Any, others: Any) -> bool:
    """Same result as numba's comparison, which first formats all options of both."""
    if not isinstance(others, cast(Any, TargetConfig)):
        return False
    return flags is others or flags._values == others._values or flags.values() == others.values()


def _kept(work_out: Any) -> Any:
    cache: dict[Any, Any] = {}

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        key = id(self), context, args, tuple(kws.items()), cast(Any, ConfigStack).top_or_none()
        if key not in cache:
            signature = work_out(self, context, args, kws)
            cache[key] = self, signature, self.get_impl_key(signature)
        _, signature, implementation = cache[key]
        self._impl_keys[signature.args] = implementation
        return signature

    return get_call_type
