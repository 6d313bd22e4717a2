"""Constants of all lanes, known while code is generated, and their folding.

Compositions over the algebra rely on this: for example, a byte permutation by an immediate folds to a few shifts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from warpreg.simt.llvm import text as ir

Lanes = tuple[int, ...]


class LaneConstant(ir.Constant):
    """A vector constant with its lanes as unsigned integers."""

    def __init__(self, bits: int, lanes: Lanes) -> None:
        element = ir.IntType(bits)
        super().__init__(ir.VectorType(element, len(lanes)), lanes if len(set(lanes)) > 1 else None)
        self.lanes = lanes
        if len(set(lanes)) == 1 and lanes[0]:
            self.reference = f"splat ({element} {lanes[0]})"


class FloatConstant(ir.Constant):
    """The bits of a constant read as a vector of another element type."""

    def __init__(self, bits: LaneConstant, type_: Any) -> None:
        super().__init__(type_, None)
        self.reference = f"bitcast ({bits.type} {bits.get_reference()} to {type_})"


def known(value: Any) -> Lanes | None:
    """The lanes of a constant, else None."""
    return value.lanes if isinstance(value, LaneConstant) else None


def uniform(value: Any) -> int | None:
    """The one value that all lanes of a constant hold, else None."""
    lanes = known(value)
    return lanes[0] if lanes and len(set(lanes)) == 1 else None


def signed(value: int, bits: int) -> int:
    """An unsigned lane read as two's complement."""
    return value - (1 << bits) if value >> bits - 1 else value


FOLDS: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda bits, a, b: a + b,
    "sub": lambda bits, a, b: a - b,
    "mul": lambda bits, a, b: a * b,
    "and_": lambda bits, a, b: a & b,
    "or_": lambda bits, a, b: a | b,
    "xor": lambda bits, a, b: a ^ b,
    "shl": lambda bits, a, b: a << b if b < bits else 0,
    "lshr": lambda bits, a, b: a >> b if b < bits else 0,
    "ashr": lambda bits, a, b: signed(a, bits) >> min(b, bits - 1),
    "eq": lambda bits, a, b: int(a == b),
    "ult": lambda bits, a, b: int(a < b),
    "slt": lambda bits, a, b: int(signed(a, bits) < signed(b, bits)),
}
"""Integer operations on one lane, before truncation to the width."""

COMPARISONS = frozenset({"eq", "ult", "slt"})


def folded(name: str, bits: int, a: Lanes, b: Lanes) -> LaneConstant:
    """The constant result of an operation of `FOLDS`."""
    operation, width = FOLDS[name], 1 if name in COMPARISONS else bits
    return LaneConstant(width, tuple(operation(bits, x, y) & (1 << width) - 1 for x, y in zip(a, b, strict=True)))


def simplified(name: str, bits: int, a: Any, b: Any) -> Any:
    """The result if one operand is an identity or absorbing constant, else None."""
    first, second = uniform(a), uniform(b)
    ones = (1 << bits) - 1
    if second == 0 and name in ("add", "sub", "or_", "xor", "shl", "lshr", "ashr"):
        return a
    if first == 0 and name in ("add", "or_", "xor"):
        return b
    if first == 0 and name in ("shl", "lshr", "ashr"):
        return a
    if name == "and_":
        return a if second == ones or first == 0 else b if first == ones or second == 0 else None
    if name == "or_":
        return b if second == ones else a if first == ones else None
    return None
