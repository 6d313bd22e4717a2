"""The guards of `piecewise_numba.guards` in compiled code; imported only where something is compiled.

The comparison stands where the guard is called.  What is wrong is written down by one function of the module, which is
never inlined.
"""

from __future__ import annotations

from typing import Any, cast

from llvmlite import ir
from numba.core import cgutils, imputils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from piecewise_numba.fault_record import HIGH, KIND, LOW, SITE, SYMBOL, VALUE, HookFaultError, provide_record

NOTE = "piecewise_note_fault"
llvm, utils, kinds, define = cast(Any, ir), cast(Any, cgutils), cast(Any, types), cast(Any, intrinsic)
word = llvm.IntType(64)
zero, one = word(0), word(1)

provide_record()


def _note(module: Any) -> Any:
    """The function that writes down what is wrong, once in a module."""
    if NOTE in module.globals:
        return module.globals[NOTE]
    made = llvm.Function(module, llvm.FunctionType(llvm.VoidType(), [word] * 5), NOTE)
    made.linkage = "linkonce_odr"
    made.attributes.add("noinline")
    made.attributes.add("cold")
    builder = llvm.IRBuilder(made.append_basic_block())
    record = module.globals.get(SYMBOL) or utils.add_global_variable(module, word, SYMBOL)
    for place, value in zip((SITE, KIND, VALUE, LOW, HIGH), made.args, strict=True):
        builder.store(value, builder.gep(record, [word(place)]))
    builder.ret_void()
    return made


def _leave(context: Any, builder: Any, wrong: Any, found: list[Any]) -> None:
    """Leave the function if ``wrong``; ``found``: site, kind, value and its range."""
    with utils.if_unlikely(builder, wrong):
        builder.call(_note(builder.module), found)
        context.call_conv.return_user_exc(builder, HookFaultError, ())


def _check(context: Any, builder: Any, given: list[Any], low: Any, high: Any) -> None:
    """Leave unless the value lies between the bounds; ``given``: site, kind, value."""
    wrong = builder.icmp_unsigned(">", builder.sub(given[2], low), builder.sub(high, low))
    _leave(context, builder, wrong, [*given, low, high])


def _wide(context: Any, builder: Any, signature: Any, arguments: Any, *places: int) -> list[Any]:
    """Arguments as 64-bit words."""
    return [context.cast(builder, arguments[at], signature.args[at], kinds.int64) for at in places]


def _extent(context: Any, builder: Any, kind: Any, value: Any, axis: int = 0) -> Any:
    """How many elements an array has along an axis, or a tuple."""
    if isinstance(kind, kinds.BaseTuple):
        return word(len(kind))
    return builder.extract_value(utils.create_struct_proxy(kind)(context, builder, value).shape, axis)


def _refuse(reason: str) -> Exception:
    return cast(Exception, cast(Any, TypingError)(reason))


def _expect_integer(kind: Any, what: str) -> None:
    if not isinstance(kind, (kinds.Integer, kinds.Boolean)):
        raise _refuse(f"{what} of type {kind} cannot be checked, because it is not an integer")


def _expect_sequence(kind: Any) -> None:
    if not isinstance(kind, (kinds.Array, kinds.BaseTuple)):
        raise _refuse(f"an index into {kind} cannot be checked")


@define(prefer_literal=True)
def fail(typing: Any, site: Any, kind: Any, value: Any, low: Any, high: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _leave(context, builder, utils.true_bit, _wide(context, builder, signature, arguments, 0, 1, 2, 3, 4))
        return context.get_dummy_value()

    return kinds.none(site, kind, value, low, high), generate


@define(prefer_literal=True)
def require(typing: Any, site: Any, kind: Any, value: Any, low: Any, high: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        *given, least, most = _wide(context, builder, signature, arguments, 0, 1, 2, 3, 4)
        _check(context, builder, given, least, most)
        return arguments[2]

    _expect_integer(value, "a value")
    return value(site, kind, value, low, high), generate


@define(prefer_literal=True)
def is_outside(typing: Any, number: Any, count: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.icmp_unsigned(">=", *_wide(context, builder, signature, arguments, 0, 1))

    _expect_integer(number, "a value")
    return kinds.boolean(number, count), generate


@define(prefer_literal=True)
def at(typing: Any, site: Any, kind: Any, array: Any, axis: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        last = builder.sub(_extent(context, builder, array, arguments[2], axis.literal_value), one)
        _check(context, builder, _wide(context, builder, signature, arguments, 0, 1, 4), zero, last)
        return arguments[4]

    if not isinstance(array, kinds.Array) or axis.literal_value >= cast(Any, array).ndim:
        raise _refuse(f"an index into {array} cannot be checked")
    _expect_integer(index, "an index")
    return index(site, kind, array, axis, index), generate


@define(prefer_literal=True)
def only(typing: Any, site: Any, kind: Any, sequence: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        last = builder.sub(_extent(context, builder, sequence, arguments[2]), one)
        _check(context, builder, _wide(context, builder, signature, arguments, 0, 1, 3), zero, last)
        return arguments[3]

    _expect_sequence(sequence)
    _expect_integer(index, "an index")
    return index(site, kind, sequence, index), generate


@define(prefer_literal=True)
def sized(typing: Any, site: Any, kind: Any, sequence: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count = _extent(context, builder, sequence, arguments[2])
        least = index.literal_value + 1 if index.literal_value >= 0 else -index.literal_value
        given = _wide(context, builder, signature, arguments, 0, 1, 3)
        _leave(context, builder, builder.icmp_signed("<", count, word(least)), [*given, zero, builder.sub(count, one)])
        return cast(Any, imputils).impl_ret_borrowed(context, builder, sequence, arguments[2])

    _expect_sequence(sequence)
    return sequence(site, kind, sequence, index), generate


@define(prefer_literal=True)
def nonzero(typing: Any, site: Any, kind: Any, divisor: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        given, value = _wide(context, builder, signature, arguments, 0, 1), arguments[2]
        is_real = isinstance(divisor, kinds.Float)
        wrong = (
            builder.fcmp_ordered("==", value, value.type(0.0))
            if is_real
            else builder.icmp_signed("==", value, value.type(0))
        )
        _leave(context, builder, wrong, [*given, zero, zero, zero])
        return value

    if not isinstance(divisor, (kinds.Integer, kinds.Boolean, kinds.Float)):
        raise _refuse(f"a divisor of type {divisor} cannot be checked")
    return divisor(site, kind, divisor), generate


@define(prefer_literal=True)
def plain(typing: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.cast(builder, arguments[0], signature.args[0], kinds.int64)

    return kinds.int64(number), generate


INTRINSICS = {
    "fail": fail, "require": require, "is_outside": is_outside, "at": at, "only": only, "sized": sized,
    "nonzero": nonzero, "plain": plain,
}  # fmt: skip
"""By the names of their functions."""
