"""Integer arithmetic (PTX ISA, sections 9.7.1 and 9.7.2): sums, products, quotients, carries."""

from __future__ import annotations

from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.form import Form, Opcode, Unit
from warpreg.ir.opcodes.trait import Trait

V = TypeVar("V")

INTEGERS = "(u16|u32|u64|s16|s32|s64)"
WORDS = "(u32|u64|s32|s64)"


def extend(m: Algebra[V], f: Form, a: V, bits: int) -> V:
    """Extend to ``bits`` by the signedness of the instruction's type."""
    return m.sext(a, bits) if f.signed else m.zext(a, bits)


def less(m: Algebra[V], f: Form, a: V, b: V) -> V:
    """a < b by the signedness of the instruction's type."""
    return m.slt(a, b) if f.signed else m.ult(a, b)


def clamp_signed(m: Algebra[V], a: V, bits: int) -> V:
    """A signed value clamped to the range of ``bits`` and cut to that width."""
    low, high = m.constant(m.width(a), -(1 << bits - 1)), m.constant(m.width(a), (1 << bits - 1) - 1)
    a = m.select(m.slt(a, low), low, a)
    return m.trunc(m.select(m.slt(high, a), high, a), bits)


def add_saturating(m: Algebra[V], f: Form, a: V, b: V) -> V:
    return clamp_signed(m, m.add(m.sext(a, 64), m.sext(b, 64)), 32)


def sub_saturating(m: Algebra[V], f: Form, a: V, b: V) -> V:
    return clamp_signed(m, m.sub(m.sext(a, 64), m.sext(b, 64)), 32)


def add_carry_out(m: Algebra[V], f: Form, a: V, b: V) -> tuple[V, V]:
    total = m.add(a, b)
    return total, m.ult(total, a)


def add_with_carry(m: Algebra[V], f: Form, a: V, b: V, carry: V) -> V:
    return m.add(m.add(a, b), m.zext(carry, f.bits))


def add_with_carry_out(m: Algebra[V], f: Form, a: V, b: V, carry: V) -> tuple[V, V]:
    partial, first = add_carry_out(m, f, a, b)
    total = m.add(partial, m.zext(carry, f.bits))
    return total, m.or_(first, m.ult(total, partial))


def inverted(m: Algebra[V], carry: V) -> V:
    """The borrow for a carry, or the carry for a borrow."""
    return m.xor(carry, m.constant(1, 1))


def sub_carry_out(m: Algebra[V], f: Form, a: V, b: V) -> tuple[V, V]:
    """a plus the complement of b plus 1, as on the machine: the carry is 1 if nothing is borrowed."""
    return m.sub(a, b), inverted(m, m.ult(a, b))


def sub_with_carry(m: Algebra[V], f: Form, a: V, b: V, carry: V) -> V:
    return m.sub(m.sub(a, b), m.zext(inverted(m, carry), f.bits))


def sub_with_carry_out(m: Algebra[V], f: Form, a: V, b: V, carry: V) -> tuple[V, V]:
    partial, taken = m.sub(a, b), m.zext(inverted(m, carry), f.bits)
    return m.sub(partial, taken), inverted(m, m.or_(m.ult(a, b), m.ult(partial, taken)))


def mul_wide(m: Algebra[V], f: Form, a: V, b: V) -> V:
    return m.mul(extend(m, f, a, 2 * f.bits), extend(m, f, b, 2 * f.bits))


def mul_high(m: Algebra[V], f: Form, a: V, b: V) -> V:
    if f.bits == 64:
        return m.smulh(a, b) if f.signed else m.umulh(a, b)
    return m.trunc(m.lshr(mul_wide(m, f, a, b), m.constant(2 * f.bits, f.bits)), f.bits)


def product(m: Algebra[V], f: Form, a: V, b: V) -> V:
    """The half of a * b that ``.hi`` or ``.lo`` names."""
    return mul_high(m, f, a, b) if f.has("hi") else m.mul(a, b)


def mad(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    return m.add(product(m, f, a, b), c)


def mad_wide(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    return m.add(mul_wide(m, f, a, b), c)


def mad_saturating(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    return add_saturating(m, f, mul_high(m, f, a, b), c)


def mad_carry_out(m: Algebra[V], f: Form, a: V, b: V, c: V) -> tuple[V, V]:
    return add_carry_out(m, f, product(m, f, a, b), c)


def madc(m: Algebra[V], f: Form, a: V, b: V, c: V, carry: V) -> V:
    return add_with_carry(m, f, product(m, f, a, b), c, carry)


def madc_carry_out(m: Algebra[V], f: Form, a: V, b: V, c: V, carry: V) -> tuple[V, V]:
    return add_with_carry_out(m, f, product(m, f, a, b), c, carry)


def mul24(m: Algebra[V], f: Form, a: V, b: V) -> V:
    """The low 24 bits of each operand; ``.lo`` takes bits 31 to 0 of the 48-bit product, ``.hi`` bits 47 to 16."""
    wide = m.mul(*(extend(m, f, m.trunc(x, 24), 64) for x in (a, b)))
    return m.trunc(m.lshr(wide, m.constant(64, 16)) if f.has("hi") else wide, 32)


def mad24(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    return m.add(mul24(m, f, a, b), c)


def mad24_saturating(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    return add_saturating(m, f, mul24(m, f, a, b), c)


def absolute(m: Algebra[V], f: Form, a: V) -> V:
    zero = m.constant(f.bits, 0)
    return m.select(m.slt(a, zero), m.sub(zero, a), a)


def sum_of_differences(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    return m.add(c, m.select(less(m, f, a, b), m.sub(b, a), m.sub(a, b)))


def dot_product_4(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    """c plus the products of the four byte pairs; each operand's bytes are signed or not by its own type."""
    total = c
    for byte in range(4):
        at = m.constant(32, 8 * byte)
        x, y = m.trunc(m.lshr(a, at), 8), m.trunc(m.lshr(b, at), 8)
        wide = (m.sext if t.is_signed else m.zext for t in f.types)
        total = m.add(total, m.mul(next(wide)(x, 32), next(wide)(y, 32)))
    return total


def dot_product_2(m: Algebra[V], f: Form, a: V, b: V, c: V) -> V:
    """c plus the products of a's halves with two bytes of b, the lower ones or with ``.hi`` the upper ones."""
    total, first = c, 16 if f.has("hi") else 0
    for index in range(2):
        half = m.trunc(m.lshr(a, m.constant(32, 16 * index)), 16)
        byte = m.trunc(m.lshr(b, m.constant(32, first + 8 * index)), 8)
        wide = (m.sext if t.is_signed else m.zext for t in f.types)
        total = m.add(total, m.mul(next(wide)(half, 32), next(wide)(byte, 32)))
    return total


COMMUTES, UNIFORM = Trait.COMMUTES, Trait.UNIFORM
SUM = COMMUTES | UNIFORM

OPCODES = (
    Opcode(f"add.{INTEGERS}", "T <- T T", lambda m, f, a, b: m.add(a, b), traits=SUM),
    Opcode("add.sat.s32", "T <- T T", add_saturating, traits=COMMUTES),
    Opcode(f"add.cc.{WORDS}", "T CC <- T T", add_carry_out, traits=COMMUTES),
    Opcode(f"addc.{INTEGERS}", "T <- T T CC", add_with_carry),
    Opcode(f"addc.cc.{WORDS}", "T CC <- T T CC", add_with_carry_out),
    Opcode(f"sub.{INTEGERS}", "T <- T T", lambda m, f, a, b: m.sub(a, b), traits=UNIFORM),
    Opcode("sub.sat.s32", "T <- T T", sub_saturating),
    Opcode(f"sub.cc.{WORDS}", "T CC <- T T", sub_carry_out),
    Opcode(f"subc.{INTEGERS}", "T <- T T CC", sub_with_carry),
    Opcode(f"subc.cc.{WORDS}", "T CC <- T T CC", sub_with_carry_out),
    Opcode(f"mul.(lo|hi).{INTEGERS}", "T <- T T", product, traits=SUM),
    Opcode("mul.wide.(u16|s16|u32|s32)", "W <- T T", mul_wide, traits=COMMUTES),
    Opcode(f"mad.(lo|hi).{INTEGERS}", "T <- T T T", mad, traits=SUM),
    Opcode("mad.wide.(u16|s16|u32|s32)", "W <- T T W", mad_wide, traits=COMMUTES),
    Opcode("mad.hi.sat.s32", "T <- T T T", mad_saturating, traits=COMMUTES),
    Opcode(f"mad.(lo|hi).cc.{WORDS}", "T CC <- T T T", mad_carry_out, traits=COMMUTES),
    Opcode(f"madc.(lo|hi).{INTEGERS}", "T <- T T T CC", madc),
    Opcode(f"madc.(lo|hi).cc.{WORDS}", "T CC <- T T T CC", madc_carry_out),
    Opcode("mul24.(lo|hi).(u32|s32)", "T <- T T", mul24),
    Opcode("mad24.(lo|hi).(u32|s32)", "T <- T T T", mad24),
    Opcode("mad24.hi.sat.s32", "T <- T T T", mad24_saturating),
    Opcode("div.(u16|u32|u64)", "T <- T T", lambda m, f, a, b: m.udiv(a, b), Unit.SFU, traits=Trait.SUBROUTINE),
    Opcode("div.(s16|s32|s64)", "T <- T T", lambda m, f, a, b: m.sdiv(a, b), Unit.SFU, traits=Trait.SUBROUTINE),
    Opcode("rem.(u16|u32|u64)", "T <- T T", lambda m, f, a, b: m.urem(a, b), Unit.SFU, traits=Trait.SUBROUTINE),
    Opcode("rem.(s16|s32|s64)", "T <- T T", lambda m, f, a, b: m.srem(a, b), Unit.SFU, traits=Trait.SUBROUTINE),
    Opcode("abs.(s16|s32|s64)", "T <- T", absolute),
    Opcode("neg.(s16|s32|s64)", "T <- T", lambda m, f, a: m.sub(m.constant(f.bits, 0), a), traits=UNIFORM),
    Opcode(f"min.{INTEGERS}", "T <- T T", lambda m, f, a, b: m.select(less(m, f, a, b), a, b), traits=COMMUTES),
    Opcode(f"max.{INTEGERS}", "T <- T T", lambda m, f, a, b: m.select(less(m, f, a, b), b, a), traits=COMMUTES),
    Opcode(f"sad.{INTEGERS}", "T <- T T T", sum_of_differences),
    Opcode("dp4a.(u32|s32).(u32|s32)", "T <- T0 T T", dot_product_4, constants=False),
    Opcode("dp2a.(lo|hi).(u32|s32).(u32|s32)", "u32 <- T0 T u32", dot_product_2, constants=False),
)
