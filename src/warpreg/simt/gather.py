"""Loads and stores of a value a lane from and to scattered host addresses.

The host's gather and scatter instructions cost the same for one lane as for all, so few lanes go one by one.
"""

from __future__ import annotations

from typing import Any

from warpreg.simt import llvm as ir
from warpreg.simt.emitter import I32, I64, LANES, Code, Value, lanes_of
from warpreg.simt.native import vector_bits

FEW_LANES = 20
"""Up to so many lanes a loop is faster than the instruction (measured on Zen 4)."""


def spilled(code: Code, vector: Value) -> Value:
    """The stack address of a vector, so that lanes can be picked by a variable index."""
    array = code.array(vector.type.element, LANES)
    array.store(vector, align=64)
    return array


def gather(code: Code, host: Value, mask: Value, lanes: Value, element: Any) -> Value:
    """The values at 32 host addresses (i64), 0 in inactive lanes; ``lanes`` is ``mask`` as a vector."""
    vector, size = lanes_of(element), element.width // 8
    result = spilled(code, code.const(vector, 0))

    def one_by_one() -> None:
        addresses = spilled(code, host)
        with code.each_set_bit(mask) as lane:
            index = lane.zext(I64)
            (result + index * size).store((addresses + index * 8).load(I64).load(element))

    if vector_bits() < 512:
        one_by_one()
    else:
        with code.if_else(_few(code, mask)) as (few, many):
            with few:
                one_by_one()
            with many:
                result.store(_gather_instruction(code, host, lanes, element), align=64)
    return result.load(vector, align=64)


def scatter(code: Code, host: Value, value: Value, mask: Value, lanes: Value) -> None:
    """Store a value a lane at 32 host addresses (i64), the lowest lane first."""
    element = value.type.element

    def one_by_one() -> None:
        addresses, values = spilled(code, host), spilled(code, value)
        with code.each_set_bit(mask) as lane:
            index = lane.zext(I64)
            (addresses + index * 8).load(I64).store((values + index * (element.width // 8)).load(element))

    if vector_bits() < 512 or element.width < 32:
        one_by_one()
    else:
        with code.if_else(_few(code, mask)) as (few, many):
            with few:
                one_by_one()
            with many:
                name = f"llvm.masked.scatter.v32i{element.width}.v32p0"
                align = code.const(I32, element.width // 8)
                code.intrinsic(name, ir.VoidType(), [value, _pointers(code, host, element), align, lanes])


def _few(code: Code, mask: Value) -> Value:
    return code.intrinsic("llvm.ctpop.i32", I32, [mask]) <= FEW_LANES


def _gather_instruction(code: Code, host: Value, lanes: Value, element: Any) -> Value:
    """A gather of whole words; a narrow value is cut out of the aligned word that holds it."""
    vector = lanes_of(element)
    if element.width < 32:
        words = _gather_instruction(code, host & ~3 % (1 << 64), lanes, I32)
        return (words >> ((host.trunc(lanes_of(I32)) & 3) << 3)).trunc(vector)
    name = f"llvm.masked.gather.v32i{element.width}.v32p0"
    align = code.const(I32, element.width // 8)
    return code.intrinsic(name, vector, [_pointers(code, host, element), align, lanes, code.const(vector, 0)])


def _pointers(code: Code, host: Value, element: Any) -> Value:
    return Value(code, code.builder.inttoptr(host.llvm, ir.VectorType(element.as_pointer(), LANES)))
