"""Arithmetic of machine code on halves: pairs of f16 or bf16 in a register, or one in its lower half."""

from __future__ import annotations

from typing import Any, TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.arithmetic import elementary, floating, half
from warpreg.ir.opcodes.arithmetic.sixteen_bit import BF16, F16, format_of, joined, widened
from warpreg.ir.opcodes.form import Form, Meaning, Signature, Unit
from warpreg.ir.opcodes.sass.integer import OPERATORS, combined
from warpreg.ir.opcodes.sass.rows import RELATIONS, as_ptx, row
from warpreg.ir.types import TYPES

V = TypeVar("V")


def pair(meaning: Any, opcode: str) -> Meaning:
    """The meaning of an opcode of PTX on both halves."""
    return lambda m, f, *sources: half.each(meaning)(m, as_ptx(f, opcode, pair_type(f)), *sources)


def pair_type(f: Form) -> str:
    return "bf16x2" if f.has("BF16_V2") else "f16x2"


def smallest_or_largest(m: Algebra[V], f: Form, a: V, b: V, smallest: V) -> V:
    """The smaller number where the predicate holds, else the larger one, in both halves.

    With ``.XORSIGN`` the magnitudes are compared, and the result has the product of the signs.
    """
    more = (*(("NaN",) if f.has("NAN") else ()), *(("abs",) if f.has("XORSIGN") else ()))
    low, high = (half.each(half.extremum)(m, as_ptx(f, name, pair_type(f), more=more), a, b) for name in ("min", "max"))
    return m.select(smallest, low, high)


def relations(m: Algebra[V], f: Form, a: V, b: V, p: V) -> tuple[V, ...]:
    """The relation of the lower halves and that of the upper halves, each combined with p."""
    slot = TYPES[pair_type(f)]
    relation = next(one.lower() for one in f.modifiers if one not in ("BF", "BF16_V2"))
    flush = ("ftz",) if f.has("FTZ") else ()
    form = Form("setp", (relation, *flush, pair_type(f)), Signature((slot,), (slot,) * 3))
    return tuple(combined(m, f, one, p) for one in half.relations(m, form, a, b))


def truths(m: Algebra[V], f: Form, a: V, b: V, p: V) -> V:
    """All ones in each half where the relation holds; with ``.BF`` the number 1."""
    one = format_of(TYPES[pair_type(f)]).one if f.has("BF") else -1
    low, high = (m.select(holds, m.constant(16, one), m.constant(16, 0)) for holds in relations(m, f, a, b, p))
    return joined(m, low, high)


def single_sum(m: Algebra[V], f: Form, a: V, b: V) -> V:
    """``HADD2.F32``: the sum of the lower halves in single precision."""
    first, second = (widened(m, F16, m.trunc(one, 16)) for one in (a, b))
    return floating.canonical(m, m.fadd(first, second))


def elementary_half(function: Any, opcode: str) -> Meaning:
    """An elementary function of the half at the bottom of the register."""

    def meaning(m: Algebra[V], f: Form, a: V) -> V:
        form = BF16 if f.has("BF16") else F16
        more = ("ftz",) if form is BF16 else ()
        plain = as_ptx(Form(opcode, (), f.signature), opcode, form.name, more=more)
        return m.zext(half.through_single(function)(m, plain, form, m.trunc(a, 16)), 32)

    return meaning


OPCODES = (
    row("HFMA2[.MMA][.BF16_V2][.FTZ][.SAT][.RELU]", pair(half.fma, "fma")),
    row("HFMA2[.BF16_V2].OOB[.SAT][.RELU]", pair(half.fma_guarded, "fma")),
    row("HADD2[.BF16_V2][.FTZ][.SAT]", pair(half.add, "add")),
    row("HADD2.F32", single_sum),
    row("HMUL2[.BF16_V2][.FTZ][.SAT]", pair(half.mul, "mul")),
    row("HMNMX2[.BF16_V2][.FTZ][.NAN][.XORSIGN]", smallest_or_largest),
    row(f"HSETP2[.BF16_V2].{RELATIONS}[.FTZ].{OPERATORS}", relations),
    row(f"HSET2[.BF16_V2][.BF].{RELATIONS}[.FTZ].{OPERATORS}", truths),
    row("MUFU.EX2.(F16|BF16)", elementary_half(elementary.ex2, "ex2"), Unit.SFU),
    row("MUFU.TANH.(F16|BF16)", elementary_half(elementary.tanh, "tanh"), Unit.SFU),
)
