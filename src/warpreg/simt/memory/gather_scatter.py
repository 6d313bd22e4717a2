"""Loads and stores of one value per lane from and to scattered host addresses.

The host's gather and scatter instructions cost nearly the same for one lane as for all, so few lanes are accessed in a
loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from warpreg.simt.llvm import object_code
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I32, I64, LANES, MASK, Code, Value, lanes_of
from warpreg.simt.llvm.object_code import vector_bits
from warpreg.simt.llvm.spilling import spilled

FEW_LANES = {"znver": 20, "": 8}
"""Up to this many lanes, a loop is faster than the instruction, by the beginning of the processor's name: measured on
Zen 4, and on an Intel Xeon (whose `bfs` is 1.1 to 1.2 times as fast with 3 or 8 as with 20)."""

FEW_SHARED_LANES = 16
"""The same for stores to shared memory, which is often read soon: a load does not get its value from a scatter that has
not reached the cache."""


def gather(code: Code, base: Value, offsets: Value, mask: Value, lanes: Value, element: Any) -> Value:
    """The values at host address ``base`` (i64) plus 32 offsets, 0 in inactive lanes; ``lanes`` is ``mask`` as a
    vector.

    Offsets are i64, or i32 below 2**31, for which the host's instruction takes half the time.
    """
    vector, size = lanes_of(element), element.width // 8
    if vector_bits() == 512 and offsets.type.element == I32:
        return _gather_halves(code, base, offsets, mask, element)
    host = offsets.zext(lanes_of(I64)) + base.splat()
    if vector_bits() == 512:
        return _gather_few_or_many(code, host, mask, lanes, element)
    addresses, result = spilled(code, host), spilled(code, code.const(vector, 0))
    with code.each_set_bit(mask) as lane:
        index = lane.zext(I64)
        (result + index * size).store((addresses + index * 8).load(I64).load(element))
    return result.load(vector, align=64)


def _gather_few_or_many(code: Code, host: Value, mask: Value, lanes: Value, element: Any) -> Value:
    """Insert few lanes into a vector register one by one: through memory, the vector would wait for all of them."""
    result = code.var(code.const(lanes_of(element), 0))

    def one_by_one() -> None:
        addresses = spilled(code, host)
        with code.each_set_bit(mask) as lane:
            loaded = (addresses + lane.zext(I64) * 8).load(I64).load(element)
            result.set((code.const(I32, 1) << lane).bitcast(MASK).select(loaded.splat(), result.get()))

    _by_lanes(code, mask, True, one_by_one, lambda: result.set(_gather_instruction(code, host, lanes, element)))
    return result.get()


def _gather_halves(code: Code, base: Value, offsets: Value, mask: Value, element: Any) -> Value:
    """Gather 16 lanes at a time, the upper ones only if one of them is active."""
    narrow = element.width < 32
    whole = I32 if narrow else element
    aligned = offsets & ~3 % (1 << 32) if narrow else offsets
    low = _gather_half(code, base, aligned, mask, whole, 0)
    absent = code.const(low.type, 0)
    upper = code.choose((mask >> 16) == 0, lambda: absent, lambda: _gather_half(code, base, aligned, mask, whole, 16))
    joined = low.joined(upper)
    return (joined >> ((offsets & 3) << 3)).trunc(lanes_of(element)) if narrow else joined


def _gather_half(code: Code, base: Value, offsets: Value, mask: Value, element: Any, first: int) -> Value:
    pointers = _moved(code, base, offsets.part(first, 16), element)
    lanes = (mask >> first).trunc(ir.IntType(16)).bitcast(ir.VectorType(ir.IntType(1), 16))
    vector = ir.VectorType(element, 16)
    arguments = [pointers, code.const(I32, element.width // 8), lanes, code.const(vector, 0)]
    return code.intrinsic(f"llvm.masked.gather.v16i{element.width}.v16p0", vector, arguments)


def scatter(
    code: Code, base: Value, offsets: Value, value: Value, mask: Value, lanes: Value, shared: bool = False
) -> None:
    """Store one value per lane at ``base`` plus 32 offsets, the lowest lane first; ``shared``: in shared memory.

    Offsets are as in `gather`.
    """
    element, number = value.type.element, offsets.type.element

    def one_by_one() -> None:
        places, values = spilled(code, offsets), spilled(code, value)
        with code.each_set_bit(mask) as lane:
            index = lane.zext(I64)
            offset = (places + index * (number.width // 8)).load(number).zext(I64)
            (base + offset).store((values + index * (element.width // 8)).load(element))

    def at_once() -> None:
        name = f"llvm.masked.scatter.v32i{element.width}.v32p0"
        align = code.const(I32, element.width // 8)
        code.intrinsic(name, ir.VoidType(), [value, _moved(code, base, offsets, element), align, lanes])

    has_instruction = vector_bits() == 512 and element.width >= 32
    _by_lanes(code, mask, has_instruction, one_by_one, at_once, FEW_SHARED_LANES if shared else 0)


def _by_lanes(
    code: Code,
    mask: Value,
    has_instruction: bool,
    one_by_one: Callable[[], None],
    at_once: Callable[[], None],
    least: int = 0,
) -> None:
    """Few lanes (at least up to ``least``) in a loop, many by the host's instruction if it has one."""
    if not has_instruction:
        one_by_one()
        return
    limit = max(least, next(lanes for name, lanes in FEW_LANES.items() if object_code.host()[0].startswith(name)))
    with code.if_else(code.intrinsic("llvm.ctpop.i32", I32, [mask]) <= limit) as (few, many):
        with few:
            one_by_one()
        with many:
            at_once()


def _gather_instruction(code: Code, host: Value, lanes: Value, element: Any) -> Value:
    """A gather of whole words; a narrow value is extracted from the aligned word that contains it."""
    vector = lanes_of(element)
    if element.width < 32:
        words = _gather_instruction(code, host & ~3 % (1 << 64), lanes, I32)
        return (words >> ((host.trunc(lanes_of(I32)) & 3) << 3)).trunc(vector)
    name = f"llvm.masked.gather.v32i{element.width}.v32p0"
    align = code.const(I32, element.width // 8)
    return code.intrinsic(name, vector, [_pointers(code, host, element), align, lanes, code.const(vector, 0)])


def _moved(code: Code, base: Value, offsets: Value, element: Any) -> Value:
    """Pointers to ``base`` plus offsets."""
    wide = offsets.sext(ir.VectorType(I64, offsets.type.count))
    return Value(code, code.builder.offset_pointers(base.llvm, wide.llvm, element))


def _pointers(code: Code, host: Value, element: Any) -> Value:
    return Value(code, code.builder.inttoptr(host.llvm, ir.VectorType(element.as_pointer(), LANES)))
