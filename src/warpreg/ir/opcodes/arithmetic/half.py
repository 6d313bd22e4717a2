"""Arithmetic on f16, bf16 and pairs of them (PTX ISA, section 9.7.4), with its comparisons (9.7.7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic import elementary, floating
from warpreg.ir.opcodes.arithmetic.compare import (
    COMBINED,
    COMPARISONS,
    FLOAT,
    combined,
    compared,
    compared_numbers,
    inverse,
)
from warpreg.ir.opcodes.arithmetic.floating import ROUNDING, magnitude, negative, sign_of
from warpreg.ir.opcodes.arithmetic.sixteen_bit import (
    F16,
    NAN16,
    Format,
    flushed16,
    format_of,
    halves,
    is_nan16,
    joined,
    narrowed,
    narrowed_double,
    odd_sum,
    widened,
)
from warpreg.ir.opcodes.form import Form, Meaning, Opcode, Unit
from warpreg.ir.opcodes.trait import Trait
from warpreg.ir.types import Type

V = TypeVar("V")
OUTSIDE = 0x7FF7
"""The NaN of either format with which a tensor copy fills out-of-bounds elements."""
Elementwise = Callable[..., V]
"""``operation(m, f, format, *values)`` on 16-bit values."""


def each(operation: Elementwise[V]) -> Meaning:
    """A meaning that applies the operation to the value, or to both halves of a pair."""

    def meaning(m: Algebra[V], f: Form, *operands: V) -> V:
        form = format_of(f.type)
        flush = f.ftz and form is F16
        if f.type.lanes == 1:
            return operation(m, f, form, *(flushed16(m, form, a) if flush else a for a in operands))
        pairs = zip(*(halves(m, a) for a in operands), strict=True)
        low, high = (operation(m, f, form, *(flushed16(m, form, a) if flush else a for a in p)) for p in pairs)
        return joined(m, low, high)

    return meaning


def clamped(m: Algebra[V], f: Form, form: Format, a: V) -> V:
    """``.ftz``, ``.sat`` (to [0, 1], NaN to 0) and ``.relu`` (negative numbers to 0) applied to a result."""
    zero, one = m.constant(16, 0), m.constant(16, form.one)
    if f.ftz:
        a = flushed16(m, form, a)
    is_negative = m.slt(a, zero)
    if f.sat:
        nothing = m.or_(is_negative, is_nan16(m, form, a))
        return m.select(nothing, zero, m.select(m.ult(one, a), one, a))
    return m.select(is_negative, zero, a) if f.has("relu") else a


def add(m: Algebra[V], f: Form, form: Format, a: V, b: V) -> V:
    """Single precision has more than twice the digits, so double rounding is harmless."""
    return clamped(m, f, form, narrowed(m, form, m.fadd(widened(m, form, a), widened(m, form, b))))


def sub(m: Algebra[V], f: Form, form: Format, a: V, b: V) -> V:
    return clamped(m, f, form, narrowed(m, form, m.fsub(widened(m, form, a), widened(m, form, b))))


def mul(m: Algebra[V], f: Form, form: Format, a: V, b: V) -> V:
    """The product is exact in single precision for f16, in double precision for bf16."""
    if form is F16:
        product = m.fmul(widened(m, form, a), widened(m, form, b))
        return clamped(m, f, form, narrowed(m, form, product))
    return clamped(m, f, form, narrowed_double(m, form, m.fmul(_double(m, form, a), _double(m, form, b))))


def fma(m: Algebra[V], f: Form, form: Format, a: V, b: V, c: V) -> V:
    """An exact product, a sum rounded to odd, and one rounding."""
    if form is F16:
        x, y, z = (widened(m, form, v) for v in (a, b, c))
        return clamped(m, f, form, narrowed(m, form, odd_sum(m, m.fmul(x, y), z)))
    x, y, z = (_double(m, form, v) for v in (a, b, c))
    return clamped(m, f, form, narrowed_double(m, form, odd_sum(m, m.fmul(x, y), z), f.rounding))


def fma_guarded(m: Algebra[V], f: Form, form: Format, a: V, b: V, c: V) -> V:
    """Like `fma`, but +0 if a factor is the NaN of out-of-bounds tensor elements."""
    outside = m.constant(16, OUTSIDE)
    result = fma(m, f, form, a, b, c)
    return m.select(m.or_(m.eq(a, outside), m.eq(b, outside)), m.constant(16, 0), result)


def _double(m: Algebra[V], form: Format, a: V) -> V:
    return m.float_resize(widened(m, form, a), 64)


def absolute(m: Algebra[V], f: Form, form: Format, a: V) -> V:
    return magnitude(m, a)


def neg(m: Algebra[V], f: Form, form: Format, a: V) -> V:
    return negative(m, a)


def extremum(m: Algebra[V], f: Form, form: Format, a: V, b: V) -> V:
    """As in single precision; -0 is less than +0."""
    return chosen_of(m, f, form, f.opcode == "min", a, b)


def extremum_of(name: str) -> Elementwise[V]:
    """`extremum` of an atomic operation."""
    return lambda m, f, form, a, b: chosen_of(m, f, form, name == "min", a, b)


def chosen_of(m: Algebra[V], f: Form, form: Format, least: bool, a: V, b: V) -> V:
    sign = sign_of(m, m.xor(a, b))
    if f.has("abs"):
        a, b = magnitude(m, a), magnitude(m, b)
    chosen = least_or_greatest(m, form, least, a, b)
    a_is_nan, b_is_nan = is_nan16(m, form, a), is_nan16(m, form, b)
    chosen = m.select(a_is_nan, b, m.select(b_is_nan, a, chosen))
    if f.has("abs"):
        chosen = m.or_(chosen, sign)
    nan = m.or_(a_is_nan, b_is_nan) if f.has("NaN") else m.and_(a_is_nan, b_is_nan)
    return m.select(nan, m.constant(16, NAN16), chosen)


def least_or_greatest(m: Algebra[V], form: Format, least: bool, a: V, b: V) -> V:
    """Minimum or maximum by sign and magnitude; no operand may be NaN."""
    last = m.constant(16, 15)
    first, second = (m.xor(x, m.lshr(m.ashr(x, last), m.constant(16, 1))) for x in (a, b))
    smaller = m.slt(first, second)
    return m.select(smaller, a, b) if least else m.select(smaller, b, a)


def through_single(function: Callable[..., V]) -> Elementwise[V]:
    """An approximation in single precision, rounded."""
    return lambda m, f, form, a: narrowed(m, form, function(m, f, widened(m, form, a)))


def relations(m: Algebra[V], f: Form, a: V, b: V) -> tuple[V, ...]:
    """The predicate of each element."""
    form = format_of(f.type)
    flush = f.ftz and form is F16
    columns = (halves(m, x) if f.type.lanes == 2 else (x,) for x in (a, b))
    wide = ([widened(m, form, flushed16(m, form, x) if flush else x) for x in column] for column in columns)
    return tuple(compared_numbers(m, f.modifiers[0], x, y) for x, y in zip(*wide, strict=True))


def setp(m: Algebra[V], f: Form, a: V, b: V, c: V | None = None) -> tuple[V, ...]:
    """For a pair, one predicate per half; for a single value, the second predicate is the inverse."""
    found = relations(m, f, a, b)
    if len(found) == 1 and len(f.signature.results) == 2:
        found = (found[0], inverse(m, found[0]))
    return found if c is None else tuple(combined(m, f, p, c) for p in found)


def set_value(m: Algebra[V], f: Form, a: V, b: V, c: V | None = None) -> V:
    """True is 1.0 for a floating-point result, else all ones; of a pair, one element a half."""
    result, source = f.types
    is_half = source.is_float and (source.bits == 16 or source.lanes == 2)
    found = relations(m, f, a, b) if is_half else (compared(m, f, a, b),)
    if c is not None:
        found = tuple(combined(m, f, p, c) for p in found)
    bits = result.bits // len(found)
    values = [m.select(p, m.constant(bits, _true(result)), m.constant(bits, 0)) for p in found]
    return values[0] if len(values) == 1 else joined(m, values[0], values[1])


def _true(result: Type) -> int:
    if not result.is_float:
        return -1
    return 0x3F800000 if result.name == "f32" else format_of(result).one


def mixed(function: Meaning) -> Meaning:
    """Single-precision arithmetic whose first operands are 16-bit numbers, the last an f32."""

    def meaning(m: Algebra[V], f: Form, *operands: V) -> V:
        *narrow, last = operands
        result: V = function(m, f, *(widened(m, format_of(f.type), a) for a in narrow), last)
        return result

    return meaning


HALVES, BFLOATS, ALL = "(f16|f16x2)", "(bf16|bf16x2)", "(f16|f16x2|bf16|bf16x2)"


COMMUTES, BLIND = Trait.COMMUTES, Trait.IGNORES_NAN_BITS
"""The sum of a half and an f32 does not commute: its operands have two types."""


def _arithmetic() -> tuple[Opcode, ...]:
    rows: list[Opcode] = []
    for name, meaning, traits in (
        ("add", each(add), COMMUTES),
        ("sub", each(sub), Trait.NONE),
        ("mul", each(mul), COMMUTES),
    ):
        rows.append(Opcode(f"{name}[.rn][.ftz][.sat].{HALVES}", "T <- T T", meaning, traits=traits))
        rows.append(Opcode(f"{name}[.rn].{BFLOATS}", "T <- T T", meaning, traits=traits))
    for name in ("min", "max"):
        rows.append(Opcode(f"{name}[.ftz][.NaN][.xorsign.abs].{HALVES}", "T <- T T", each(extremum), traits=COMMUTES))
        rows.append(Opcode(f"{name}[.NaN][.xorsign.abs].{BFLOATS}", "T <- T T", each(extremum), traits=COMMUTES))
    for name, meaning in (("abs", each(absolute)), ("neg", each(neg))):
        rows.append(Opcode(f"{name}[.ftz].{HALVES}", "T <- T", meaning))
        rows.append(Opcode(f"{name}.{BFLOATS}", "T <- T", meaning))
    for name, meaning in (("add", floating.add), ("sub", floating.sub)):
        rows.append(Opcode(f"{name}[.{ROUNDING}][.sat].f32.(f16|bf16)", "T0 <- T T0", mixed(meaning), traits=BLIND))
    return tuple(rows)


def _comparisons() -> tuple[Opcode, ...]:
    rows: list[Opcode] = []
    for combine, last in (("", ""), (COMBINED, " pred")):
        for flush, one, two in (("[.ftz]", "f16", "f16x2"), ("", "bf16", "bf16x2")):
            head = f"{FLOAT}{combine}{flush}"
            rows.append(Opcode(f"setp.{head}.{one}", f"pred pred? <- T T{last}", setp))
            rows.append(Opcode(f"setp.{head}.{two}", f"pred pred <- T T{last}", setp))
            rows.append(Opcode(f"set.{head}.({one}|u16|s16|u32|s32).{one}", f"T0 <- T T{last}", set_value))
            rows.append(Opcode(f"set.{head}.({two}|u32|s32).{two}", f"T0 <- T T{last}", set_value))
        rows.append(Opcode(f"set.{FLOAT}{combine}.bf16.f16", f"T0 <- T T{last}", set_value))
        for comparison, unit in COMPARISONS:
            head, source = comparison.format(combine).rsplit(".", 1)
            rows.append(Opcode(f"set.{head}.f16.{source}", f"T0 <- T T{last}", set_value, unit, traits=BLIND))
            head = head.removesuffix("[.ftz]")
            rows.append(Opcode(f"set.{head}.bf16.{source}", f"T0 <- T T{last}", set_value, unit, traits=BLIND))
    return tuple(rows)


OPCODES = (
    *_arithmetic(),
    Opcode(f"fma.rn[.ftz][.(sat|relu)].{HALVES}", "T <- T T T", each(fma), traits=COMMUTES),
    Opcode(f"fma.(rn|rz)[.relu].{BFLOATS}", "T <- T T T", each(fma), traits=COMMUTES),
    Opcode(f"fma.rn.oob[.(relu|sat)].{HALVES}", "T <- T T T", each(fma_guarded), traits=COMMUTES),
    Opcode(f"fma.rn.oob[.relu].{BFLOATS}", "T <- T T T", each(fma_guarded), traits=COMMUTES),
    Opcode(
        f"fma.{ROUNDING}[.sat].f32.(f16|bf16)",
        "T0 <- T T T0",
        mixed(floating.fma),
        traits=COMMUTES | BLIND,
    ),
    Opcode(f"ex2.approx.{HALVES}", "T <- T", each(through_single(elementary.ex2)), Unit.SFU, outlined=True),
    Opcode(f"ex2.approx.ftz.{BFLOATS}", "T <- T", each(through_single(elementary.ex2)), Unit.SFU, outlined=True),
    Opcode(f"tanh.approx.{ALL}", "T <- T", each(through_single(elementary.tanh)), Unit.SFU, outlined=True),
    *_comparisons(),
)
