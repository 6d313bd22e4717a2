"""Addresses of the form ``base + index * size``: a scalar, and 32 indices of 32 bits.

They are found in the LLVM code of a block.  Several arrays are often accessed by one index, so its shape is examined
once for all of them, in half the bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warpreg.simt.lanes.constants import uniform
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I32, I64, Code, Value, lanes_of


@dataclass(frozen=True, slots=True)
class ScaledIndex:
    """Addresses ``base`` (i64) plus ``index`` (32 lanes of i32, extended by sign if ``is_signed``) times a size."""

    base: Value
    index: Value
    is_signed: bool

    @property
    def key(self) -> tuple[int, bool]:
        """Equal for addresses with the same index."""
        return id(self.index.llvm), self.is_signed

    def address(self, index: Value, size: int) -> Value:
        """The address (i64) for one index (i32)."""
        wide = index.sext(I64) if self.is_signed else index.zext(I64)
        return self.base + wide * size

    def wraps(self, first: Value, last: int) -> Value:
        """Whether the indices from ``first`` (i32) to ``first + last`` pass the end of their range."""
        end = (1 << 31) - 1 if self.is_signed else (1 << 32) - 1
        beyond = Value(first.code, first.code.builder.icmp_signed(">", first.llvm, ir.Constant(I32, end - last)))
        return beyond if self.is_signed else first > end - last


def scaled_index(code: Code, address: Value, size: int) -> ScaledIndex | None:
    """The form of 64-bit addresses, if their code shows that they have it."""
    if address.type != lanes_of(I64):
        return None
    for base, product in _ways(address.llvm, "add"):
        scalar = _splatted(base)
        for factor, index in _ways(product, "mul"):
            if scalar is None or uniform(factor) != size:
                continue
            if _is(index, "zext") or _is(index, "sext"):
                narrow = index.operands[0]
                if narrow.type == lanes_of(I32):
                    return ScaledIndex(Value(code, scalar), Value(code, narrow), _is(index, "sext"))
    return None


def _is(value: Any, opname: str) -> bool:
    return isinstance(value, ir.Instruction) and value.opname == opname


def _ways(value: Any, opname: str) -> list[tuple[Any, Any]]:
    """Both orders of the operands of a commutative operation; none for another value."""
    if not _is(value, opname):
        return []
    first, second = value.operands
    return [(first, second), (second, first)]


def _splatted(value: Any) -> Any | None:
    """The scalar that all lanes hold, if the code shows one."""
    if not _is(value, "shufflevector"):
        return None
    one, lanes = value.operands
    if not _is(one, "insertelement") or lanes.get_reference() != "zeroinitializer":
        return None
    return one.operands[1]
