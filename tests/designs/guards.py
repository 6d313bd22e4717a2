"""Strategies of guarded instructions, and of comparisons that write the predicates of guards before and after them."""

from __future__ import annotations

from hypothesis import strategies as st
from tests.designs.kernels import op, p, when

from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import Operand, Pair

predicate = st.integers(0, 1).map(p)
compared: st.SearchStrategy[Operand] = st.one_of(predicate, st.sampled_from((Pair(p(0), p(1)), Pair(p(1), p(0)))))


def guarded(instructions: st.SearchStrategy[Instruction]) -> st.SearchStrategy[Instruction]:
    """Instructions under a guard or its opposite."""
    return st.builds(when, predicate, instructions, st.booleans())


def comparisons(source: st.SearchStrategy[Operand | int]) -> st.SearchStrategy[Instruction]:
    """Comparisons of one result or two, some of them guarded."""
    plain = st.builds(op, st.just("setp.lt.s32"), compared, source, source)
    return plain | guarded(plain)
