"""Common subexpressions: what is shared, and where sharing would cost more than it saves."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codegen import random_code
from tests.codegen.texts import after, kernel, listing

from warpreg.codegen.passes.common_subexpressions import ShareValues
from warpreg.codegen.passes.fold_constants import FoldConstants
from warpreg.codegen.passes.fold_parameters import FoldParameters
from warpreg.codegen.passes.split_webs import SplitValues

START = "mov.u32 %r8, %tid.x; mov.u32 %r9, %tid.y; mov.u16 %rs1, 3; mov.u32 %r10, %laneid;"
USE = "st.shared.u32 [%r7], %r2; st.shared.u32 [%r7+4], %r3; ret;"
OTHER = "add.s32 %r4, %r6, 1; bar.sync 0;"


@pytest.mark.parametrize(
    "pair",
    [
        "mul.lo.s32 %r2, %r8, %r9; mul.lo.s32 %r3, %r8, %r9;",
        "mul.lo.s32 %r2, %r8, %r9; mul.lo.s32 %r3, %r9, %r8;",
        "cvt.u32.u16 %r2, %rs1; cvt.u32.u16 %r3, %rs1;",
        "mov.u32 %r2, %tid.z; mov.u32 %r3, %tid.z;",
    ],
)
def test_the_second_computation_goes(pair: str) -> None:
    found = after(ShareValues(), START + pair + USE).splitlines()[4:]
    assert found == [str(pair.split(";")[0]), "st.shared.u32 [%r7], %r2", "st.shared.u32 [%r7+4], %r2", "ret"]


def test_a_computation_that_dominates_serves_other_blocks() -> None:
    found = after(ShareValues(), START + f"mul.lo.s32 %r2, %r8, %r9; {OTHER} mul.lo.s32 %r3, %r8, %r9; {USE}")
    assert "%r3" not in found


def test_what_builds_on_shared_values_is_shared() -> None:
    twice = "add.s32 %r2, %r8, %r9; add.s32 %r3, %r8, %r9; neg.s32 %r4, %r2; neg.s32 %r5, %r3;"
    found = after(ShareValues(), f"{START}{twice} st.shared.u32 [%r4], %r5; ret;")
    assert found.splitlines()[-2:] == ["st.shared.u32 [%r4], %r4", "ret"]


@pytest.mark.parametrize(
    "code",
    [
        "sub.s32 %r2, %r8, %r9; sub.s32 %r3, %r9, %r8;",
        "mul.lo.s32 %r2, %r8, %r9; mul.hi.s32 %r3, %r8, %r9;",
        "mul.lo.s32 %r2, %r8, %r9; @%p1 mul.lo.s32 %r3, %r8, %r9;",
        "add.s32 %r2, %r8, %r9; add.s32 %r8, %r8, 1; add.s32 %r3, %r8, %r9;",
        "mov.u32 %r2, %clock; mov.u32 %r3, %clock;",
        "ld.shared.u32 %r2, [%r9]; ld.shared.u32 %r3, [%r9];",
        f"mov.u32 %r2, 7; {OTHER} mov.u32 %r3, 7;",
        "@%p1 bra A; add.s32 %r2, %r8, %r9; bra B; A: add.s32 %r3, %r8, %r9; B:",
    ],
    ids=["order", "other half", "guarded", "other value", "clock", "memory", "cheap, far away", "no dominance"],
)
def test_what_is_not_the_same_or_not_worth_it_stays(code: str) -> None:
    code = START + code + USE
    assert after(ShareValues(), code) == listing(kernel(code))


def test_a_value_is_not_kept_live_through_a_loop_for_a_use_in_it() -> None:
    code = "mul.lo.s32 %r2, %r8, %r9; L: mul.lo.s32 %r3, %r8, %r9; setp.lt.s32 %p1, %r3, %r10; @%p1 bra L;"
    code = START + code + USE
    assert after(ShareValues(), code) == listing(kernel(code))


def test_a_shuffle_takes_its_lane_clamp_and_mask_as_immediates() -> None:
    code = "mov.u32 %r1, 16; mov.u32 %r2, 31; mov.u32 %r3, -1; shfl.sync.down.b32 %r4|%p1, %r5, %r1, %r2, %r3;"
    assert after(FoldConstants(), code).splitlines()[3] == "shfl.sync.down.b32 %r4|%p1, %r5, 16, 31, -1"


def test_a_shift_in_a_multiply_add_leaves_the_constant_port_free() -> None:
    code = "ld.param.u32 %r1, [n]; mad.lo.s32 %r2, %r8, 8, %r1; mad.lo.s32 %r3, %r8, 12, %r1;" + USE
    program = FoldConstants().run(FoldParameters().run(kernel(code)))
    found = listing(program).splitlines()
    assert found[1] == "mad.lo.s32 %r2, %r8, 8, c[0][0x8]"
    assert found[2] == "mad.lo.s32 %r3, %r8, 12, %r1"


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.integers(0, 1 << 20))
def test_random_kernels_compute_the_same(seed: int) -> None:
    forms = (*random_code.PRODUCTS, *random_code.BANK, *random_code.BANK, *random_code.SUMS)
    random_code.compare(ShareValues(), seed, forms, [SplitValues(), FoldConstants()])
