"""Sinking: what moves down to its reads, how far, and what stays."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codegen import random_code, random_loops
from tests.codegen.texts import after, kernel, listing

from warpreg import ptx
from warpreg.analysis.pressure import pressure
from warpreg.codegen import build_kernel
from warpreg.codegen.passes.base import Pass
from warpreg.codegen.passes.common_subexpressions import ShareValues
from warpreg.codegen.passes.fold_parameters import FoldParameters
from warpreg.codegen.passes.shorten import SinkValues
from warpreg.codegen.passes.split_webs import SplitValues
from warpreg.codegen.verify import verify
from warpreg.ir.kernel import Kernel

START = "mov.u32 %r8, %tid.x; ld.shared.u32 %r9, [0]; ld.shared.u32 %r10, [4];"
LOOP = "mov.u32 %r21, 0; L: st.shared.u32 [%r8], %r21; add.s32 %r21, %r21, 1; setp.lt.s32 %p1, %r21, 9; @%p1 bra L;"
END = "st.shared.u32 [%r8], %r2; st.shared.u32 [4], %r9; st.shared.u32 [8], %r10; ret;"


def blocks(found: str) -> list[list[str]]:
    """The instructions of each block of a listing."""
    parts: list[list[str]] = [[]]
    for line in found.splitlines():
        if line.endswith(":"):
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def test_what_only_the_code_behind_a_loop_reads_is_computed_there() -> None:
    """%r9 and %r10 are live through the loop anyway, %r2 no longer is."""
    found = blocks(after(SinkValues(), f"{START} add.s32 %r2, %r9, %r10; {LOOP} {END}"))
    assert "add.s32 %r2, %r9, %r10" not in found[0]
    assert found[2][:2] == ["add.s32 %r2, %r9, %r10", "st.shared.u32 [%r8], %r2"]


def test_it_moves_only_where_too_many_words_are_live() -> None:
    """%r2, %r8, %r9, %r10 and %r21 are live in the loop."""
    code = f"{START} add.s32 %r2, %r9, %r10; {LOOP} {END}"
    assert max(pressure(kernel(code)).highest) == 5
    assert after(SinkValues(5), code) == listing(kernel(code))
    assert "add.s32 %r2, %r9, %r10" in blocks(after(SinkValues(4), code))[2]


def test_only_the_way_to_its_reads_counts() -> None:
    """Five words are live behind the branch, where %r2 is read, and not in front of it."""
    loads = "ld.shared.v4.u32 {%r11, %r12, %r13, %r14}, [0]; st.shared.v4.u32 [16], {%r11, %r12, %r13, %r14};"
    branch = f"setp.lt.s32 %p1, %r9, 3; @%p1 bra N; st.shared.u32 [0], %r2; {loads} N:"
    code = f"{START} add.s32 %r2, %r9, %r10; {branch} st.shared.u32 [%r9], %r10; ret;"
    assert pressure(kernel(code)).highest[:2] == (3, 6)
    assert after(SinkValues(3), code) == listing(kernel(code))
    assert "add.s32 %r2, %r9, %r10" in blocks(after(SinkValues(2), code))[1]


def test_operands_that_nothing_else_reads_follow() -> None:
    """%r2 needs %r3 and %r4, two words for one; both follow, as %r8 is live in any case."""
    chain = "shr.u32 %r3, %r8, 5; and.b32 %r4, %r8, 15; mad.lo.s32 %r2, %r3, 16, %r4;"
    found = blocks(after(SinkValues(), f"{START} {chain} {LOOP} {END}"))
    assert found[2][:3] == ["shr.u32 %r3, %r8, 5", "and.b32 %r4, %r8, 15", "mad.lo.s32 %r2, %r3, 16, %r4"]


def test_it_moves_to_the_nearest_block_that_dominates_all_reads() -> None:
    """The reads are on the two sides of a branch: the sum moves in front of it, the product to the side that reads it.

    The entry ends before A, whose other way skips the branch.
    """
    body = f"""{START} setp.lt.s32 %p2, %r9, %r10; setp.lt.s32 %p3, %r10, 4; add.s32 %r2, %r9, %r10;
        mul.lo.s32 %r3, %r9, %r10; @%p3 bra B; A: @%p2 bra C; st.shared.u32 [0], %r2; st.shared.u32 [4], %r3; bra B;
        C: st.shared.u32 [4], %r2; B: st.shared.u32 [%r8], %r9; st.shared.u32 [%r8], %r10; ret;"""
    found = blocks(after(SinkValues(), body))
    assert found[1] == ["setp.lt.s32 %p2, %r9, %r10", "add.s32 %r2, %r9, %r10", "@%p2 bra C"]
    assert found[2][0] == "mul.lo.s32 %r3, %r9, %r10"


def test_it_never_moves_into_a_loop() -> None:
    """The read is in an inner loop; the block in front of the loops follows a branch."""
    body = f"""{START} add.s32 %r2, %r9, %r10; setp.lt.s32 %p3, %r10, 4; @%p3 bra B; A: st.shared.u32 [0], 1;
        L: M: st.shared.u32 [%r8], %r2; setp.lt.s32 %p2, %r10, 7; @%p2 bra M; setp.lt.s32 %p1, %r10, 9; @%p1 bra L;
        B: st.shared.u32 [%r8], %r9; st.shared.u32 [%r8], %r10; ret;"""
    found = blocks(after(SinkValues(), body))
    assert found[1] == ["st.shared.u32 [0], 1", "add.s32 %r2, %r9, %r10"]


def test_it_leaves_a_loop_and_moves_to_a_side_in_the_same_loop() -> None:
    """Only the last round's %r2 is read behind the loop; one thread runs it once instead of nine times."""
    inside = "add.s32 %r2, %r9, %r10; add.s32 %r3, %r9, 7; @%p3 bra N; st.shared.u32 [%r8], %r3; N: "
    body = f"""{START} setp.lt.s32 %p3, %r10, 4; mov.u32 %r21, 0; L: {inside} add.s32 %r21, %r21, 1;
        setp.lt.s32 %p1, %r21, 9; @%p1 bra L; {END}"""
    found = blocks(after(SinkValues(), body))
    assert found[2][0] == "add.s32 %r3, %r9, 7"
    assert found[-1][0] == "add.s32 %r2, %r9, %r10"


@pytest.mark.parametrize(
    "maker",
    [
        "ld.shared.u32 %r2, [%r8];",
        "@%p3 add.s32 %r2, %r9, %r10;",
        "shfl.sync.down.b32 %r2, %r9, 1, 31, -1;",
        "activemask.b32 %r2;",
        "mov.u32 %r2, %clock;",
        "add.cc.s32 %r2, %r9, %r10; addc.s32 %r3, %r9, 0; st.shared.u32 [%r8], %r3;",
        "bar.red.popc.u32 %r2, 0, %p3;",
        "vote.sync.ballot.b32 %r2, %p3, -1;",
        "ld.shared.u32 %r11, [8]; ld.shared.u32 %r12, [12]; add.s32 %r2, %r11, %r12;",
        "ld.shared.u32 %r11, [8]; add.s32 %r2, %r11, %r21; add.s32 %r21, %r21, 1;",
        "vote.sync.any.pred %p4, %p3, -1; selp.b32 %r2, %r9, %r10, %p4;",
    ],
    ids=[
        "memory", "guarded", "lanes", "active lanes", "clock", "carry", "barrier", "vote", "two words for one",
        "operand that changes", "a predicate for a word",
    ],
)  # fmt: skip
def test_what_changes_or_would_keep_more_live_stays(maker: str) -> None:
    code = f"{START} setp.lt.s32 %p3, %r9, 2; mov.u32 %r21, 5; {maker} {LOOP.replace('21', '22')} {END}"
    found = after(SinkValues(), code).partition("L:\n")
    assert found[2] == listing(kernel(code)).partition("L:\n")[2]


def test_a_comparison_moves_only_if_its_operands_are_live_anyway() -> None:
    """A predicate is no word: %r9 is read later, %r11 is not."""
    tests = "ld.shared.u32 %r11, [8]; setp.lt.s32 %p4, %r9, 3; setp.lt.s32 %p5, %r11, 3;"
    code = f"{START} {tests} mov.u32 %r2, 1; {LOOP} @%p4 st.shared.u32 [0], 1; @%p5 st.shared.u32 [0], 2; {END}"
    found = blocks(after(SinkValues(), code))
    assert "setp.lt.s32 %p4, %r9, 3" in found[2]
    assert "setp.lt.s32 %p5, %r11, 3" in found[0]


def test_values_of_uniform_registers_stay() -> None:
    code = f"{START} mov.u32 %r11, %ctaid.x; shl.b32 %r2, %r11, 2; {LOOP} add.s32 %r3, %r9, %r2; " + END.replace(
        "%r2", "%r3"
    )
    assert "shl.b32 %r2, %r11, 2" in blocks(after(SinkValues(), code))[2]
    assert "shl.b32 %r2, %r11, 2" in blocks(after(SinkValues(uniform=True), code))[0]


def test_a_kernel_of_one_block_and_one_with_nothing_to_move_are_left_alone() -> None:
    for code in (f"{START} add.s32 %r2, %r9, %r10; {END}", f"{START} mov.u32 %r2, %r9; {LOOP} ret;"):
        program = kernel(code)
        assert SinkValues().run(program) is program


FORMS = (*random_code.PRODUCTS, *random_code.SUMS, *random_code.LOGIC, *random_code.BANK, *random_code.TESTS)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.integers(0, 1 << 20))
def test_random_kernels_compute_the_same(seed: int) -> None:
    for text in (random_code.text(seed, FORMS, branches=3), random_loops.text(seed)):
        compare(text, SinkValues(), seed)


def compare(text: str, step: Pass, seed: int) -> Kernel:
    """The kernel after the pass, with the same memory as before."""
    module = ptx.parse(text)
    program = build_kernel(module, "k")
    for earlier in (SplitValues(), FoldParameters(), ShareValues()):
        program = earlier.run(program)
    changed = step.run(program)
    verify(changed, program)
    assert random_code.memory_of(module, changed, seed) == random_code.memory_of(module, program, seed)
    return changed
