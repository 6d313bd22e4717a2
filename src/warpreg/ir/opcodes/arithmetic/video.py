"""Video instructions (PTX ISA, sections 9.7.18 and 9.7.19): parts of words, clamping, and a secondary operation.

A source may name a byte or half of its register, or be negated; a destination may name the part to replace.
`Form.part` returns these parts; operands are whole registers.  Results have 34 bits before ``.sat`` and 33 after, here
in 64.
"""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.form import Form, Meaning, Opcode
from warpreg.ir.types import Type

V = TypeVar("V")

WORDS = "(u32|s32)"
RELATIONS = "(eq|ne|lt|le|gt|ge)"
PART_BITS = {"b": 8, "h": 16}


def place(selector: str) -> tuple[int, int]:
    """First bit and number of bits of a part; the whole register without a selector."""
    bits = PART_BITS[selector[0]] if selector else 32
    return (int(selector[1:]) * bits if selector else 0), bits


def source(m: Algebra[V], f: Form, index: int, a: V, type_: Type) -> V:
    """The part of source ``index`` extended by its type to 64 bits."""
    at, bits = place(f.part(index).selector)
    part = m.trunc(m.lshr(a, m.constant(32, at)), bits)
    return m.sext(part, 64) if type_.is_signed else m.zext(part, 64)


def least(m: Algebra[V], a: V, b: V) -> V:
    return m.select(m.slt(a, b), a, b)


def greatest(m: Algebra[V], a: V, b: V) -> V:
    return m.select(m.slt(a, b), b, a)


def bounded(m: Algebra[V], a: V, signed: bool, bits: int) -> V:
    """A signed number of any width clamped to the integers of ``bits`` bits."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    width = m.width(a)
    return least(m, greatest(m, a, m.constant(width, low)), m.constant(width, high))


def absolute_difference(m: Algebra[V], a: V, b: V) -> V:
    return m.select(m.slt(a, b), m.sub(b, a), m.sub(a, b))


SCALAR: dict[str, Meaning] = {
    "vadd": lambda m, a, b: m.add(a, b),
    "vsub": lambda m, a, b: m.sub(a, b),
    "vabsdiff": absolute_difference,
    "vmin": least,
    "vmax": greatest,
}


def completed(m: Algebra[V], f: Form, result: V, signed: bool, c: V | None) -> V:
    """Clamp under ``.sat``, then combine with c, or insert into c."""
    selector = f.destination
    at, bits = place(selector)
    if f.sat:
        result = bounded(m, result, signed, bits)
    if c is None:
        return m.trunc(result, 32)
    if not selector:
        unused = m.constant(64, 31)
        result = m.ashr(m.shl(result, unused), unused)
        other = m.sext(c, 64) if signed else m.zext(c, 64)
        return m.trunc(_secondary(m, f, result, other), 32)
    mask = m.constant(32, ((1 << bits) - 1) << at)
    kept = m.and_(c, m.xor(mask, m.constant(32, -1)))
    return m.or_(kept, m.and_(m.shl(m.trunc(result, 32), m.constant(32, at)), mask))


def _secondary(m: Algebra[V], f: Form, a: V, c: V) -> V:
    if f.has("min"):
        return least(m, a, c)
    return greatest(m, a, c) if f.has("max") else m.add(a, c)


def scalar(m: Algebra[V], f: Form, a: V, b: V, c: V | None = None) -> V:
    result_type, a_type, b_type = f.types
    result: V = SCALAR[f.opcode](m, source(m, f, 0, a, a_type), source(m, f, 1, b, b_type))
    return completed(m, f, result, result_type.is_signed, c)


def shift(m: Algebra[V], f: Form, a: V, b: V, c: V | None = None) -> V:
    """Shift by at most 32 with ``.clamp``, by the low five bits with ``.wrap``."""
    result_type, a_type, _ = f.types
    value = source(m, f, 0, a, a_type)
    at, bits = place(f.part(1).selector)
    count = m.zext(m.trunc(m.lshr(b, m.constant(32, at)), bits), 64)
    limit = m.constant(64, 32)
    count = m.and_(count, m.constant(64, 31)) if f.has("wrap") else least(m, count, limit)
    shifted = m.ashr(value, count) if f.opcode == "vshr" else _shifted_left(m, f, value, count)
    return completed(m, f, shifted, result_type.is_signed, c)


def _shifted_left(m: Algebra[V], f: Form, value: V, count: V) -> V:
    """The intermediate result has 34 bits; what is shifted out of them does not saturate."""
    shifted = m.shl(value, count)
    unused = m.constant(64, 30)
    return m.ashr(m.shl(shifted, unused), unused) if f.sat else shifted


def compare(m: Algebra[V], f: Form, a: V, b: V, c: V | None = None) -> V:
    """1 if the relation holds, else 0."""
    a_type, b_type = f.types
    x, y = source(m, f, 0, a, a_type), source(m, f, 1, b, b_type)
    return completed(m, f, m.zext(related(m, f, x, y), 64), False, c)


def related(m: Algebra[V], f: Form, a: V, b: V) -> V:
    true = m.constant(1, 1)
    relation = next(x for x in f.modifiers if x in ("eq", "ne", "lt", "le", "gt", "ge"))
    return {
        "eq": lambda: m.eq(a, b),
        "ne": lambda: m.xor(m.eq(a, b), true),
        "lt": lambda: m.slt(a, b),
        "le": lambda: m.xor(m.slt(b, a), true),
        "gt": lambda: m.slt(b, a),
        "ge": lambda: m.xor(m.slt(a, b), true),
    }[relation]()


def multiply_add(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    """±(a * b) ± c in 128 bits, plus 1 with ``.po``, shifted right by the scale, then clamped under ``.sat``."""
    _, a_type, b_type = f.types
    product = m.mul(*(m.sext(source(m, f, i, v, t), 128) for i, v, t in ((0, a, a_type), (1, b, b_type))))
    negated_product = f.part(0).negated != f.part(1).negated
    signed = a_type.is_signed or b_type.is_signed or negated_product or f.part(2).negated
    zero, one = m.constant(128, 0), m.constant(128, 1)
    addend = c
    if f.has("po"):
        product = m.add(product, one)
    elif negated_product:
        product = m.sub(zero, product)
    elif f.part(2).negated:
        addend = m.xor(c, m.constant(32, -1))
        product = m.add(product, one)
    total = m.add(product, m.sext(addend, 128) if signed else m.zext(addend, 128))
    scale = 7 if f.has("shr7") else 15 if f.has("shr15") else 0
    result = m.ashr(total, m.constant(128, scale))
    return m.trunc(bounded(m, result, signed, 32) if f.sat else result, 32)


def _scalar_rows() -> tuple[Opcode, ...]:
    rows: list[Opcode] = []
    for names, meaning in ((tuple(SCALAR), scalar), (("vshl", "vshr"), shift)):
        for name in names:
            types = f"{WORDS}.{WORDS}.u32" if meaning is shift else f"{WORDS}.{WORDS}.{WORDS}"
            mode = ".(clamp|wrap)" if meaning is shift else ""
            rows.append(Opcode(f"{name}.{types}[.sat]{mode}", "T0 <- u32 u32 u32?", meaning, constants=False))
            rows.append(
                Opcode(f"{name}.{types}[.sat]{mode}.(add|min|max)", "T0 <- u32 u32 T0", meaning, constants=False)
            )
    return tuple(rows)


OPCODES = (
    *_scalar_rows(),
    Opcode(f"vset.{WORDS}.{WORDS}.{RELATIONS}", "u32 <- u32 u32 u32?", compare, constants=False),
    Opcode(f"vset.{WORDS}.{WORDS}.{RELATIONS}.(add|min|max)", "u32 <- u32 u32 u32", compare, constants=False),
    Opcode(
        f"vmad.{WORDS}.{WORDS}.{WORDS}[.po][.sat][.(shr7|shr15)]", "T0 <- u32 u32 u32", multiply_add, constants=False
    ),
)
