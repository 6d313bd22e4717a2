"""Copies of loops, from instructions by line of the PTX."""

from __future__ import annotations

from collections import Counter

from tests.codegen.texts import kernel

from warpreg_workbench.compiler.loop_copies import LoopCopies, loop_copies

LINES = """
    mov.u32 %r1, 0;
OUTER: mov.u32 %r2, 0;
    mul.f32 %f2, %f2, %f2;
INNER: fma.rn.f32 %f1, %f1, %f1, %f2;
    ex2.approx.f32 %f1, %f1;
    add.s32 %r2, %r2, 1;
    setp.lt.s32 %p1, %r2, %r9;
    @%p1 bra INNER;
    add.s32 %r1, %r1, 1;
    setp.lt.s32 %p2, %r1, %r9;
    @%p2 bra OUTER;
    st.shared.f32 [%r9], %f1;
    ret;
"""
PROGRAM = kernel(LINES)
AT = {i.opcode: i.location.line for i in PROGRAM.instructions() if i.location}
PRODUCT, CHAIN, POWER = AT["mul"], AT["fma"], AT["ex2"]


def test_the_most_frequent_ratio_of_a_body_counts() -> None:
    """The inner loop has three instructions in two lines.  Theirs has four copies in the loop and three behind it; the
    scaling of the second line is shared.  Ours is as it was; its outer loop has two copies."""
    rolled = Counter({(PRODUCT, "mul"): 1, (CHAIN, "fma"): 1, (POWER, "ex2"): 1})
    unrolled = Counter({(PRODUCT, "mul"): 2, (CHAIN, "fma"): 1, (POWER, "ex2"): 1})
    plain = Counter({(PRODUCT, "FMUL"): 1, (CHAIN, "FFMA"): 1, (POWER, "MUFU"): 1, (POWER, "FSETP"): 1})
    copied = Counter({(PRODUCT, "FMUL"): 1, (CHAIN, "FFMA"): 7, (POWER, "MUFU"): 7, (POWER, "FSETP"): 1})
    outer, inner = sorted(
        loop_copies(PROGRAM, (unrolled, rolled), (copied, plain)), key=lambda found: found.ours, reverse=True
    )
    assert outer == LoopCopies("OUTER", 2, 1)
    assert inner == LoopCopies("INNER", 1, 7)
    assert inner.is_unrolled


def test_a_loop_without_instructions_of_one_side_is_left_out() -> None:
    rolled = Counter({(PRODUCT, "mul"): 1, (CHAIN, "fma"): 1})
    theirs = Counter({(PRODUCT, "FMUL"): 1})
    found = list(loop_copies(PROGRAM, (rolled, rolled), (theirs, theirs)))
    assert found == [LoopCopies("OUTER", 1, 1)]
    assert not found[0].is_unrolled
