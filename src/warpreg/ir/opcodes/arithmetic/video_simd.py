"""Video instructions on two halves or four bytes of a word (PTX ISA, section 9.7.19).

A source selector such as ``h10`` or ``b7610`` selects elements of the pair {b, a}, highest first; by default, the first
operand has the elements of a, the second those of b.  A destination selector names the elements that are written; the
others come from c.  With ``.add``, the written elements are summed and added to c.
"""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic.video import (
    RELATIONS,
    WORDS,
    absolute_difference,
    bounded,
    greatest,
    least,
    related,
)
from warpreg.ir.opcodes.form import Form, Meaning, Opcode

V = TypeVar("V")


def average(m: Algebra[V], a: V, b: V) -> V:
    """The average; halves are rounded away from zero."""
    total, one = m.add(a, b), m.constant(32, 1)
    raised = m.add(total, m.xor(m.lshr(total, m.constant(32, 31)), one))
    return m.ashr(raised, one)


ELEMENTWISE: dict[str, Meaning] = {
    "vadd": lambda m, a, b: m.add(a, b),
    "vsub": lambda m, a, b: m.sub(a, b),
    "vavrg": average,
    "vabsdiff": absolute_difference,
    "vmin": least,
    "vmax": greatest,
}


def elements(m: Algebra[V], f: Form, index: int, a: V, b: V, signed: bool) -> list[V]:
    """The elements of an operand, lowest first, extended to 32 bits."""
    count = int(f.opcode[-1])
    bits = 32 // count
    selector = f.part(index).selector
    chosen = [int(digit) for digit in reversed(selector[1:])] or [index * count + i for i in range(count)]
    values = []
    for number in chosen:
        word, at = (a, b)[number // count], number % count * bits
        part = m.trunc(m.lshr(word, m.constant(32, at)), bits)
        values.append(m.sext(part, 32) if signed else m.zext(part, 32))
    return values


def simd(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    """One result per element, clamped under ``.sat``."""
    compares = f.opcode.startswith("vset")
    result_signed, a_signed, b_signed = (False, *_signs(f)) if compares else _signs(f)
    count = int(f.opcode[-1])
    results: list[V] = []
    for x, y in zip(elements(m, f, 0, a, b, a_signed), elements(m, f, 1, a, b, b_signed), strict=True):
        value: V = m.zext(related(m, f, x, y), 32) if compares else ELEMENTWISE[f.opcode[:-1]](m, x, y)
        results.append(bounded(m, value, result_signed, 32 // count) if f.sat else value)
    return accumulated(m, f, results, c) if f.has("add") else merged(m, f, results, c)


def _signs(f: Form) -> tuple[bool, ...]:
    return tuple(t.is_signed for t in f.types)


def written(f: Form, count: int) -> tuple[int, ...]:
    """The elements that the destination selector names."""
    return tuple(int(digit) for digit in f.destination[1:]) or tuple(range(count))


def accumulated(m: Algebra[V], f: Form, results: list[V], c: V) -> V:
    for index in written(f, len(results)):
        c = m.add(c, results[index])
    return c


def merged(m: Algebra[V], f: Form, results: list[V], c: V) -> V:
    bits = 32 // len(results)
    for index in written(f, len(results)):
        mask = ((1 << bits) - 1) << index * bits
        kept = m.and_(c, m.constant(32, ~mask))
        placed = m.shl(results[index], m.constant(32, index * bits))
        c = m.or_(kept, m.and_(placed, m.constant(32, mask)))
    return c


OPCODES = (
    *(
        Opcode(f"{name}{count}.{WORDS}.{WORDS}.{WORDS}[.(sat|add)]", "T0 <- u32 u32 u32", simd, constants=False)
        for name in ELEMENTWISE
        for count in (2, 4)
    ),
    *(
        Opcode(f"vset{count}.{WORDS}.{WORDS}.{RELATIONS}[.add]", "u32 <- u32 u32 u32", simd, constants=False)
        for count in (2, 4)
    ),
)
