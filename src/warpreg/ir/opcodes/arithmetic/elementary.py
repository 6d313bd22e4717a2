"""Approximations of elementary functions (PTX ISA, section 9.7.3): polynomials within the error that PTX allows.

Coefficients are our own minimax fits, constant term first, rounded to single precision, each with the error of the fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic.floating import (
    EXPONENT,
    NAN,
    finished,
    flushed,
    is_nan,
    magnitude,
    number,
    sign_of,
)
from warpreg.ir.opcodes.form import Form, Opcode, Unit

V = TypeVar("V")

EXP2 = (
    1.0,
    0.6931471824645996,
    0.24022646248340607,
    0.05550328642129898,
    0.009618489071726799,
    0.0013399932067841291,
    0.0001534580223960802,
)
"""2**x for |x| <= 1/2; error 1.9e-09."""
LOG2 = (
    1.4426950216293335,
    -0.7213473320007324,
    0.4808979034423828,
    -0.3606964349746704,
    0.28858524560928345,
    -0.23963654041290283,
    0.2042963206768036,
    -0.190613254904747,
    0.18782515823841095,
    -0.11297160387039185,
)
"""log2(1 + x) / x from sqrt(1/2) - 1 to sqrt(2) - 1; error 5.9e-09."""
SINE = (-0.166666641831398, 0.008332748897373676, -0.0001958800567081198)
"""(sin x - x) / x**3 in x**2, for |x| <= pi/4; error 2.0e-08."""
COSINE = (0.0416666641831398, -0.001388830365613103, 2.454804052831605e-05)
"""(cos x - 1 + x**2 / 2) / x**4 in x**2, for |x| <= pi/4; error 2.0e-09."""
HALF_PI = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15)
"""Half of pi as a sum of three single-precision numbers."""


def polynomial(m: Algebra[V], x: V, coefficients: Sequence[float]) -> V:
    """A polynomial by Horner's rule; ``coefficients`` begin with the constant term."""
    total = number(m, 32, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = m.fma(total, x, number(m, 32, coefficient))
    return total


def power_of_two(m: Algebra[V], exponent: V) -> V:
    """2**exponent for an integer from -126 to 127."""
    return m.shl(m.add(exponent, m.constant(32, 127)), m.constant(32, 23))


def exp2(m: Algebra[V], x: V) -> V:
    """2**x as a polynomial in the fraction, scaled twice so that overflow and subnormal results are correct."""
    x = m.fmax(m.fmin(x, number(m, 32, 160.0)), number(m, 32, -160.0))
    whole = m.fround(x, "rn")
    exponent = m.float_to_int(whole, True, 32)
    half = m.ashr(exponent, m.constant(32, 1))
    scaled = m.fmul(polynomial(m, m.fsub(x, whole), EXP2), power_of_two(m, half))
    return m.fmul(scaled, power_of_two(m, m.sub(exponent, half)))


def ex2(m: Algebra[V], f: Form, a: V) -> V:
    a = flushed(m, f, a)
    return finished(m, f, m.select(is_nan(m, a), a, exp2(m, a)))


def lg2(m: Algebra[V], f: Form, a: V) -> V:
    """The exponent plus the logarithm of a mantissa from sqrt(1/2) to sqrt(2); subnormals are scaled up first."""
    a = flushed(m, f, a)
    small = m.ult(a, m.constant(32, 0x00800000))
    scaled = m.select(small, m.fmul(a, number(m, 32, 2.0**24)), a)
    biased = m.sub(scaled, m.constant(32, 0x3F3504F3))
    exponent = m.sub(m.ashr(biased, m.constant(32, 23)), m.select(small, m.constant(32, 24), m.constant(32, 0)))
    mantissa = m.add(m.and_(biased, m.constant(32, 0x007FFFFF)), m.constant(32, 0x3F3504F3))
    fraction = m.fsub(mantissa, number(m, 32, 1.0))
    result = m.fma(fraction, polynomial(m, fraction, LOG2), m.int_to_float(exponent, True, 32))
    result = m.select(m.ult(a, m.constant(32, EXPONENT[32])), result, a)
    result = m.select(m.fcmp("olt", a, number(m, 32, 0.0)), m.constant(32, NAN[32]), result)
    zero = m.eq(magnitude(m, a), m.constant(32, 0))
    return finished(m, f, m.select(zero, number(m, 32, -math.inf), result))


def circular(m: Algebra[V], f: Form, a: V) -> V:
    """``sin`` or ``cos`` after subtraction of a multiple of pi/2, which is represented to 72 bits.

    Beyond about 2**20 the argument's precision is lost, but results remain from -1 to 1.
    """
    a = flushed(m, f, a)
    turns = m.fround(m.fmul(a, number(m, 32, 2 / math.pi)), "rn")
    rest = a
    for part in HALF_PI:
        rest = m.fma(turns, number(m, 32, -part), rest)
    rest = m.fmin(m.fmax(rest, number(m, 32, -0.8)), number(m, 32, 0.8))
    square = m.fmul(rest, rest)
    sine = m.fma(m.fmul(rest, square), polynomial(m, square, SINE), rest)
    cosine = polynomial(m, square, (1.0, -0.5, *COSINE))
    quadrant = m.float_to_int(turns, True, 32)
    if f.opcode == "cos":
        quadrant = m.add(quadrant, m.constant(32, 1))
    is_odd = m.trunc(quadrant, 1)
    value = m.select(is_odd, cosine, sine)
    value = m.xor(value, m.shl(m.and_(quadrant, m.constant(32, 2)), m.constant(32, 30)))
    if f.opcode == "sin":
        value = m.select(m.fcmp("olt", magnitude(m, a), number(m, 32, 2.0**-12)), a, value)
    finite = m.ult(magnitude(m, a), m.constant(32, EXPONENT[32]))
    return finished(m, f, m.select(finite, value, m.constant(32, NAN[32])))


def tanh(m: Algebra[V], f: Form, a: V) -> V:
    """Below 1/2 the odd series, else 1 - 2 / (e**2x + 1) with the sign restored."""
    size = magnitude(m, a)
    square = m.fmul(a, a)
    series = m.fma(m.fmul(a, square), polynomial(m, square, (-1 / 3, 2 / 15, -17 / 315)), a)
    power = exp2(m, m.fmul(size, number(m, 32, 2 / math.log(2))))
    quotient = m.fdiv(number(m, 32, 2.0), m.fadd(power, number(m, 32, 1.0)))
    large = m.or_(m.fsub(number(m, 32, 1.0), quotient), sign_of(m, a))
    value = m.select(m.fcmp("olt", size, number(m, 32, 0.5)), series, large)
    itself = m.or_(is_nan(m, a), m.fcmp("olt", size, number(m, 32, 2.0**-12)))
    return finished(m, f, m.select(itself, a, value))


def high_word(m: Algebra[V], a: V) -> V:
    return m.and_(a, m.constant(64, 0xFFFFFFFF00000000))


def flushed_double(m: Algebra[V], a: V) -> V:
    """A subnormal f64 becomes the zero of its sign."""
    return m.select(m.ult(magnitude(m, a), m.constant(64, 1 << 52)), sign_of(m, a), a)


def rough(m: Algebra[V], result: V) -> V:
    """The high word of a result, or the NaN of these instructions."""
    kept = high_word(m, flushed_double(m, result))
    return m.select(is_nan(m, result), m.constant(64, 0x7FFFFFFF << 32), kept)


def rough_reciprocal(m: Algebra[V], f: Form, a: V) -> V:
    """Only the high word of the operand counts, and only that of the result is kept."""
    a = flushed_double(m, high_word(m, a))
    return rough(m, m.fdiv(number(m, 64, 1.0), a))


def rough_reciprocal_root(m: Algebra[V], f: Form, a: V) -> V:
    """Like `rough_reciprocal`, of the square root."""
    a = flushed_double(m, high_word(m, a))
    return rough(m, m.fdiv(number(m, 64, 1.0), m.fsqrt(a)))


OPCODES = (
    Opcode("ex2.approx[.ftz].f32", "T <- T", ex2, Unit.SFU, outlined=True),
    Opcode("lg2.approx[.ftz].f32", "T <- T", lg2, Unit.SFU, outlined=True),
    Opcode("sin.approx[.ftz].f32", "T <- T", circular, Unit.SFU, outlined=True),
    Opcode("cos.approx[.ftz].f32", "T <- T", circular, Unit.SFU, outlined=True),
    Opcode("tanh.approx.f32", "T <- T", tanh, Unit.SFU, outlined=True),
    Opcode("rcp.approx.ftz.f64", "T <- T", rough_reciprocal, Unit.SFU),
    Opcode("rsqrt.approx.ftz.f64", "T <- T", rough_reciprocal_root, Unit.SFU),
)
