"""Guesses of how far apart the lanes of addresses are, and of the blocks that lanes enter apart."""

from __future__ import annotations

import pytest
from tests.codegen.texts import kernel

from warpreg.analysis.lane_strides import Stride, lane_strides
from warpreg.ir.kernel import Kernel

BEGIN = "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; ld.param.u64 %rd0, [in];"


def program(body: str) -> Kernel:
    return kernel(f"{BEGIN} {body} ret;", parameters=".param .u64 in")


def stride_of_load(body: str) -> Stride:
    """That of the address of the last load of a body."""
    found = program(body)
    pc, load = [(pc, one) for pc, one in enumerate(found.instructions()) if one.opcode == "ld"][-1]
    return lane_strides(found).first_source(pc, load)


@pytest.mark.parametrize(
    ("body", "stride"),
    [
        ("mad.lo.u32 %r3, %r1, %r2, %r0; mul.wide.u32 %rd1, %r3, 4; add.u64 %rd2, %rd0, %rd1;", 4),
        ("mul.wide.u32 %rd1, %r1, 4; add.u64 %rd2, %rd0, %rd1;", 0),
        ("mov.u32 %r4, 8; mad.wide.u32 %rd2, %r0, %r4, %rd0;", 8),
        ("sub.u32 %r3, %r1, %r0; mad.wide.u32 %rd2, %r3, 4, %rd0;", -4),
        ("neg.s32 %r3, %r0; mad.wide.s32 %rd2, %r3, 68, %rd0;", -68),
        ("shl.b32 %r3, %r0, 4; cvt.u64.u32 %rd1, %r3; add.u64 %rd2, %rd0, %rd1;", 16),
        ("min.u32 %r3, %r0, %r1; mad.wide.u32 %rd2, %r3, 4, %rd0;", 4),
        ("mul.lo.u32 %r3, %r0, %r1; mad.wide.u32 %rd2, %r3, 4, %rd0;", None),
        ("xor.b32 %r3, %r0, 1; mad.wide.u32 %rd2, %r3, 4, %rd0;", None),
        ("mad.wide.u32 %rd3, %r0, 4, %rd0; ld.global.u32 %r3, [%rd3]; mad.wide.u32 %rd2, %r3, 4, %rd0;", None),
        ("ld.global.u32 %r3, [%rd0]; mad.wide.u32 %rd2, %r3, 4, %rd0;", 0),
    ],
    ids=[
        "row",
        "block",
        "constant",
        "backwards",
        "negative",
        "shift",
        "bound",
        "product",
        "xor",
        "loaded",
        "loaded by all",
    ],
)
def test_the_stride_of_an_address_follows_from_its_arithmetic(body: str, stride: Stride) -> None:
    assert stride_of_load(f"{body} ld.global.u32 %r9, [%rd2];") == stride


def test_a_pointer_keeps_its_stride_from_round_to_round() -> None:
    body = """
    mad.wide.u32 %rd2, %r0, 4, %rd0; mov.u32 %r4, 0;
    L: ld.global.u32 %r9, [%rd2]; add.u64 %rd2, %rd2, 512; add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, %r1; @%p1 bra L;
    """
    assert stride_of_load(body) == 4


def test_a_value_of_two_strides_has_none() -> None:
    body = "mov.u32 %r3, %r0; setp.eq.u32 %p1, %r1, 0; @%p1 mov.u32 %r3, %r1; mad.wide.u32 %rd2, %r3, 4, %rd0;"
    assert stride_of_load(f"{body} ld.global.u32 %r9, [%rd2];") is None


@pytest.mark.parametrize(("condition", "parted"), [("%r0, 9", set()), ("%r8, 9", {1})], ids=["thread", "data"])
def test_lanes_are_likely_to_part_where_a_branch_depends_on_data(condition: str, parted: set[int]) -> None:
    """A bound of the thread's index holds for most warps as a whole."""
    found = program(f"""
    mad.wide.u32 %rd2, %r0, 4, %rd0; ld.global.u32 %r8, [%rd2];
    setp.lt.u32 %p1, {condition}; @%p1 bra B; st.global.u32 [%rd2], 1; B: st.global.u32 [%rd2+4], 2;
    """)
    assert lane_strides(found).parted_blocks == parted
