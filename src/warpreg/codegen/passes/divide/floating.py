"""Correctly rounded quotients, reciprocals and square roots from approximations, by fused multiply-adds.

A reciprocal y of b improves to y + y*(1 - b*y), which is the correctly rounded one unless all fraction bits of b are
ones; a quotient q within one unit in the last place improves to q + y*(a - b*q), which then is the correctly rounded
one (Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990, theorems 7 and 8).
Square roots use the coupled iteration of g = a*y toward sqrt(a) and h = y/2 (Goldschmidt).  PTX allows ``rcp.approx``
one unit in the last place; the f32 reciprocal and root have been checked for every fraction with every such start.

This requires that intermediate results neither overflow nor lose bits to subnormals.  A predicate selects all other
operands; for them the original instruction remains under a guard and models the subroutine call of the real compiler.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.codegen.passes.divide.sequence import Sequence, constant, f32, f64
from warpreg.ir.instruction import Guard
from warpreg.ir.operands import Immediate, Operand, Register


@dataclass(frozen=True)
class Format:
    """A floating-point format.  Division takes operands from 2**-``span`` to 2**``span``; ``fraction`` are its fraction
    bits in the word that holds sign and exponent, of ``exponent`` bits."""

    name: str
    span: int
    fraction: int
    exponent: int
    one: Immediate
    half: Immediate

    @property
    def bias(self) -> int:
        return (1 << self.exponent - 1) - 1

    @property
    def lowest(self) -> int:
        """The word of 2**-span, without its sign and doubled."""
        return self.bias - self.span << self.fraction + 1

    @property
    def width(self) -> int:
        """The distance of the highest accepted word from `lowest`."""
        return (2 * self.span << self.fraction + 1) - 1


SINGLE = Format("f32", 62, 23, 8, f32(0x3F800000), f32(0x3F000000))
DOUBLE = Format("f64", 510, 20, 11, f64(0x3FF0000000000000), f64(0x3FE0000000000000))

SQRT_LOWEST = {"f32": 0x0D000000, "f64": 0x03500000}
"""The words of 2**-101 and 2**-970, below which a residual may be subnormal."""
SQRT_WIDTH = {"f32": 0x727FFFFF, "f64": 0x7C9FFFFF}
"""Distance from there to the highest finite number."""


def divide(seq: Sequence, form: Format, a: Register, b: Register, known: bool = False) -> tuple[Register, Register]:
    """The quotient, and the predicate of operands for which it is not valid; ``known``: ``a`` is in range."""
    slow = _out_of_range(seq, form, (b,) if known else (a, b), b)
    make = seq.single if form is SINGLE else seq.double
    minus_b = make(f"neg.{form.name}", b)
    y = _reciprocal(seq, form, b, minus_b)
    quotient = make(f"mul.rn.{form.name}", a, y)
    for _ in range(2):
        rest = make(f"fma.rn.{form.name}", minus_b, quotient, a)
        quotient = make(f"fma.rn.{form.name}", rest, y, quotient)
    return quotient, slow


def reciprocal(seq: Sequence, form: Format, b: Register) -> tuple[Register, Register]:
    """Like `divide`, with dividend 1."""
    slow = _out_of_range(seq, form, (b,), b)
    minus_b = (seq.single if form is SINGLE else seq.double)(f"neg.{form.name}", b)
    return _reciprocal(seq, form, b, minus_b), slow


def square_root(seq: Sequence, form: Format, a: Register) -> tuple[Register, Register]:
    """Like `divide`, for the square root of one operand."""
    word = a if form is SINGLE else seq.halves(a)[1]
    above = seq.word("add.s32", word, constant(-SQRT_LOWEST[form.name]))
    slow = seq.predicate("setp.gt.u32", above, constant(SQRT_WIDTH[form.name]))
    if form is SINGLE:
        return _single_root(seq, a), slow
    return _double_root(seq, a), slow


def is_in_range(form: Format, operand: Operand) -> bool:
    """Whether a constant is in range, so that division needs no check."""
    if not isinstance(operand, Immediate) or operand.form != form.name:
        return False
    word = operand.value if form is SINGLE else operand.value >> 32
    return 0 <= (2 * word & 0xFFFFFFFF) - form.lowest <= form.width


def _out_of_range(seq: Sequence, form: Format, operands: tuple[Register, ...], b: Register) -> Register:
    """Whether an operand's magnitude is out of range, or all fraction bits of ``b`` are ones."""
    words = {o.name: (None, o) if form is SINGLE else seq.halves(o) for o in operands}
    above = [seq.word("mad.lo.u32", high, constant(2), constant(-form.lowest)) for _, high in words.values()]
    farthest = above[0] if len(above) == 1 else seq.word("max.u32", *above)
    slow = seq.predicate("setp.gt.u32", farthest, constant(form.width))
    low = words[b.name][0]
    if low is None:
        fraction = seq.word("or.b32", b, constant(-1 << form.fraction))
        return seq.predicate("setp.eq.or.u32", fraction, constant(-1), slow)
    return seq.predicate("setp.eq.or.u32", low, constant(-1), slow)


def _reciprocal(seq: Sequence, form: Format, b: Register, minus_b: Register) -> Register:
    if form is SINGLE:
        y = seq.single("rcp.approx.ftz.f32", b)
        error = seq.single("fma.rn.f32", minus_b, y, form.one)
        return seq.single("fma.rn.f32", y, error, y)
    y = seq.double("rcp.approx.ftz.f64", b)
    error = seq.double("fma.rn.f64", minus_b, y, form.one)
    error = seq.double("fma.rn.f64", error, error, error)
    y = seq.double("fma.rn.f64", y, error, y)
    error = seq.double("fma.rn.f64", minus_b, y, form.one)
    return seq.double("fma.rn.f64", y, error, y)


def _single_root(seq: Sequence, a: Register) -> Register:
    """g and -h improve together once; g's residual times h is the last correction."""
    y = seq.single("rsqrt.approx.ftz.f32", a)
    g = seq.single("mul.rn.f32", a, y)
    minus_h = seq.single("mul.rn.f32", y, f32(0xBF000000))
    error = seq.single("fma.rn.f32", g, minus_h, SINGLE.half)
    g = seq.single("fma.rn.f32", g, error, g)
    minus_h = seq.single("fma.rn.f32", minus_h, error, minus_h)
    minus_a = seq.single("neg.f32", a)
    minus_rest = seq.single("fma.rn.f32", g, g, minus_a)
    return seq.single("fma.rn.f32", minus_rest, minus_h, g)


def _double_root(seq: Sequence, a: Register) -> Register:
    """Two coupled steps and a residual bring g within one unit; the residuals of its neighbours decide.

    The correctly rounded root r is the one with r*(r-ulp) < a <= r*(r+ulp) (Tuckerman's test).
    """
    y = seq.double("rsqrt.approx.ftz.f64", a)
    g = seq.double("mul.rn.f64", a, y)
    minus_h = seq.double("mul.rn.f64", y, f64(0xBFE0000000000000))
    for _ in range(2):
        error = seq.double("fma.rn.f64", g, minus_h, DOUBLE.half)
        g = seq.double("fma.rn.f64", g, error, g)
        minus_h = seq.double("fma.rn.f64", minus_h, error, minus_h)
    minus_a = seq.double("neg.f64", a)
    minus_rest = seq.double("fma.rn.f64", g, g, minus_a)
    g = seq.double("fma.rn.f64", minus_rest, minus_h, g)
    return _decided(seq, g, minus_a)


def _decided(seq: Sequence, g: Register, minus_a: Register) -> Register:
    below, above = (seq.long("add.s64", g, constant(step)) for step in (-1, 1))
    too_high = seq.predicate("setp.ge.f64", seq.double("fma.rn.f64", g, below, minus_a), f64(0))
    too_low = seq.predicate("setp.lt.f64", seq.double("fma.rn.f64", g, above, minus_a), f64(0))
    root = seq.fresh(g.type)
    seq.add("mov.b64", root, g)
    seq.add("mov.b64", root, below, guard=Guard(too_high))
    seq.add("mov.b64", root, above, guard=Guard(too_low))
    return root
