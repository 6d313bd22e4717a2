"""Tests of whether enough iterations remain for all copies of an unrolled loop, exact for every bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from warpreg.codegen.unroll.counters import Counter
from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import Immediate, Operand, Register
from warpreg.ir.types import TYPES, Kind, Type

LARGEST = 1 << 20
"""Upper bound of the distance between a test and that of the last copy, so that ``bound - distance`` wraps around only
where the bound is near the end of its range."""


@dataclass(frozen=True, slots=True)
class RemainingTests:
    """Instructions ``before`` the loop with the predicate that ``enters`` it, and at its end (``again``) with the one
    that ``continues`` it."""

    before: tuple[Instruction, ...]
    enters: Register
    again: tuple[Instruction, ...]
    continues: Register


def guarded_by(counter: Counter, copies: int, fresh: Callable[[str], str]) -> RemainingTests | None:
    """The tests for ``copies`` more iterations; None for a counter for which there are none.

    A loop always runs once, and again after each test that holds.  So ``copies`` iterations remain at the header if the
    tests of all of them but the last hold.  ``distance`` is what the last of these tests adds to x.  It holds, like
    those before it, if x is on the near side of ``bound - distance`` and that difference does not wrap around; then the
    tested values do not wrap, either.  A test for "not equal" may hold where this one fails.
    """
    rising = counter.step > 0
    toward = ("lt", "le", "ne") if rising else ("gt", "ge", "ne")
    distance = counter.offset + (copies - 2) * counter.step
    if counter.comparison not in toward or not 0 <= abs(distance) < LARGEST:
        return None
    if counter.offset and (counter.offset > 0) != rising:
        return None
    name = counter.type.name.replace("b", "s")
    near = counter.comparison if counter.comparison != "ne" else "lt" if rising else "gt"
    enters, continues = (Register(fresh(n), TYPES["pred"]) for n in ("%enters", "%more"))
    again = partial(_made, counter, "setp", (near, name))
    if isinstance(counter.bound, Immediate):
        fixed = _moved(counter.bound.value, -distance, counter.type)
        if fixed is None:
            return None
        return RemainingTests(
            (again(enters, counter.register, fixed),), enters, (again(continues, counter.register, fixed),), continues
        )
    limit, fits = Register(fresh("%bound"), TYPES[f"b{counter.type.bits}"]), Register(fresh("%fits"), TYPES["pred"])
    before = (
        _made(counter, "add", (f"s{counter.type.bits}",), limit, counter.bound, Immediate(-distance)),
        _made(counter, "setp", ("le" if rising else "ge", name), fits, limit, counter.bound),
        _made(counter, "setp", (near, "and", name), enters, counter.register, limit, fits),
    )
    return RemainingTests(before, enters, (again(continues, counter.register, limit),), continues)


def _moved(bound: int, constant: int, kind: Type) -> Immediate | None:
    """``bound + constant`` unless it wraps around."""
    size = 1 << kind.bits
    low = 0 if kind.kind is Kind.UNSIGNED else -size // 2
    total = (bound - low) % size + low + constant
    return Immediate(total) if low <= total < low + size else None


def _made(counter: Counter, opcode: str, modifiers: tuple[str, ...], *operands: Operand) -> Instruction:
    return Instruction(opcode, modifiers, operands, location=counter.test.location, source=counter.test.source)
