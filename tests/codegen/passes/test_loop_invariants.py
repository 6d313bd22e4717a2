"""Loop invariants: what moves before the loop, how far, and what stays to limit register pressure."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codegen import random_code
from tests.codegen.texts import after, kernel, listing

from warpreg.analysis.pressure import pressure
from warpreg.codegen.passes.fold_parameters import FoldParameters
from warpreg.codegen.passes.loop_invariants import HoistInvariants
from warpreg.codegen.passes.split_webs import SplitValues

START = "mov.u32 %r8, %tid.x; mov.u32 %r9, %tid.y; mov.u32 %r20, %laneid; mov.u32 %r21, %r20;"
WIDE = "add.s32 %r30, %r8, %r9; add.s32 %r31, %r8, %r20; add.s32 %r32, %r9, %r20; add.s32 %r33, %r20, %r20;"
SPARE = f"{WIDE} st.shared.v4.u32 [%r7], {{%r30, %r31, %r32, %r33}};"
"""More words live than in the loops below, so that a few more in these cost no register."""
END = "add.s32 %r21, %r21, -1; setp.gt.s32 %p1, %r21, 0; @%p1 bra L;"
USE = "st.shared.u32 [%r8], %r20; ret;"


def loop(body: str) -> str:
    return f"{START} {SPARE} L: {body} {END} {USE}"


def test_an_address_that_no_round_changes_is_computed_before_the_loop() -> None:
    found = after(
        HoistInvariants(), loop("mad.lo.s32 %r2, %r8, 12, %r9; ld.shared.u32 %r3, [%r2]; st.shared.u32 [%r2+4], %r3;")
    )
    before, _, inside = found.partition("L:\n")
    assert before.splitlines()[-1] == "mad.lo.s32 %r2, %r8, 12, %r9"
    assert inside.splitlines()[0] == "ld.shared.u32 %r3, [%r2]"


def test_what_builds_on_it_follows() -> None:
    found = after(HoistInvariants(), loop("add.s32 %r2, %r8, %r9; shl.b32 %r3, %r2, 2; st.shared.u32 [%r3], %r21;"))
    before, _, inside = found.partition("L:\n")
    assert before.splitlines()[-2:] == ["add.s32 %r2, %r8, %r9", "shl.b32 %r3, %r2, 2"]
    assert inside.splitlines()[0] == "st.shared.u32 [%r3], %r21"


def test_it_leaves_every_loop_in_which_it_is_invariant() -> None:
    sums = "add.s32 %r2, %r8, %r9; add.s32 %r3, %r21, %r9; st.shared.u32 [%r2], %r3;"
    inner = f"st.shared.u32 [%r9], %r8; M: {sums} setp.gt.s32 %p2, %r20, 3; @%p2 bra M;"
    found = after(HoistInvariants(), loop(inner))
    assert found.partition("L:\n")[0].splitlines()[-1] == "add.s32 %r2, %r8, %r9"
    assert found.partition("M:\n")[2].splitlines()[0] == "st.shared.u32 [%r2], %r3"
    assert found.partition("M:\n")[0].splitlines()[-1] == "add.s32 %r3, %r21, %r9"


@pytest.mark.parametrize(
    "body",
    [
        "add.s32 %r2, %r21, %r9; st.shared.u32 [%r2], %r8;",
        "@%p2 add.s32 %r2, %r8, %r9; st.shared.u32 [%r2], %r8;",
        "ld.shared.u32 %r2, [%r8]; st.shared.u32 [%r2], %r8;",
        "mov.u32 %r2, 7; st.shared.u32 [%r8], %r2;",
        "setp.gt.s32 %p2, %r8, %r9; @%p2 st.shared.u32 [%r8], %r9;",
        "shfl.sync.down.b32 %r2, %r8, 1, 31, -1; st.shared.u32 [%r8], %r2;",
        "add.cc.s32 %r2, %r8, %r9; addc.s32 %r3, %r8, 0; st.shared.u32 [%r8], %r3;",
    ],
    ids=["changes", "guarded", "memory", "constant", "comparison", "other lanes", "carry"],
)
def test_what_changes_or_does_more_than_compute_stays(body: str) -> None:
    code = loop(body)
    assert after(HoistInvariants(), code) == listing(kernel(code))


def test_what_would_take_a_register_more_stays() -> None:
    body = "add.s32 %r2, %r8, %r9; st.shared.u32 [%r2], %r21;"
    code = f"{START} L: {body} {END} st.shared.u32 [%r9], %r8; {USE}"
    assert after(HoistInvariants(), code) == listing(kernel(code))
    assert after(HoistInvariants(4), loop(body)) == listing(kernel(loop(body)))


def test_what_takes_its_sources_place_moves_whatever_the_bound() -> None:
    code = f"{START} L: neg.s32 %r2, %r9; st.shared.u32 [%r2], %r21; {END} {USE}"
    assert after(HoistInvariants(0), code).partition("L:\n")[0].splitlines()[-1] == "neg.s32 %r2, %r9"


def test_a_register_written_twice_is_known_where_only_one_way_leads_in() -> None:
    twice = "@%p3 bra A; mov.u32 %r22, %r9; bra B; A: mov.u32 %r22, %r8; B:"
    body = "L: neg.s32 %r2, %r22; st.shared.u32 [%r2], %r21;"
    found = after(HoistInvariants(), f"{START} {SPARE} {twice} st.shared.u32 [%r8], %r9; {body} {END} {USE}")
    assert found.partition("L:\n")[0].splitlines()[-1] == "neg.s32 %r2, %r22"
    code = f"{START} {SPARE} {twice} {body} {END} {USE}".replace("B: L:", "B:").replace("bra L", "bra B")
    assert after(HoistInvariants(), code) == listing(kernel(code))


def test_a_result_of_the_block_s_end_is_not_known_before_it() -> None:
    body = "neg.s32 %r2, %r3; st.shared.u32 [%r2], %r21;"
    code = f"{START} setp.gt.s32 %p2, %r8, 3; bar.red.popc.u32 %r3, 0, %p2; L: {body} {END} {USE}"
    assert after(HoistInvariants(), code) == listing(kernel(code))


def test_a_kernel_without_loops_is_left_alone() -> None:
    program = kernel(f"{START} {USE}")
    assert HoistInvariants().run(program) is program


INVARIANT = (
    "mul.lo.s32 %r30, %r20, {k}; xor.b32 {d}, {a}, %r30;",
    "shl.b32 %r31, %r20, {c}; sub.s32 %r32, %r31, %r20; add.s32 {d}, {a}, %r32;",
    "mad.lo.s32 %r33, %r20, %r20, {k}; min.s32 %r34, %r33, %r20; mad.lo.s32 {d}, {a}, {b}, %r34;",
)
"""What they make of the thread's index is the same in every round."""
FORMS = (*INVARIANT, *INVARIANT, *random_code.PRODUCTS, *random_code.SUMS, *random_code.LOGIC, *random_code.BANK)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.integers(0, 1 << 20))
def test_random_kernels_compute_the_same_with_no_more_words_live(seed: int) -> None:
    before, changed = random_code.compare(HoistInvariants(), seed, FORMS, [SplitValues(), FoldParameters()])
    assert max(pressure(changed).highest) <= max(pressure(before).highest)
