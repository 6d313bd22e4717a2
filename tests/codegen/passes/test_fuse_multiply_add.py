"""Which products and sums become multiply-adds."""

from __future__ import annotations

import pytest
from tests.codegen.texts import after, kernel, listing

from warpreg.codegen.passes.fuse_multiply_add import FuseMultiplyAdd


@pytest.mark.parametrize(
    ("product", "total", "fused"),
    [
        ("mul.lo.s32 %r1, %r8, %r9;", "add.s32 %r2, %r7, %r1;", "mad.lo.s32 %r2, %r8, %r9, %r7"),
        ("mul.wide.s32 %rd1, %r8, 4;", "add.s64 %rd2, %rd1, %rd9;", "mad.wide.s32 %rd2, %r8, 4, %rd9"),
        ("shl.b32 %r1, %r8, 3;", "add.s32 %r2, %r1, %r7;", "mad.lo.s32 %r2, %r8, 8, %r7"),
        ("mul.f32 %f1, %f8, %f9;", "add.f32 %f2, %f1, %f7;", "fma.rn.f32 %f2, %f8, %f9, %f7"),
        ("mul.ftz.f32 %f1, %f8, %f9;", "add.ftz.f32 %f2, %f1, %f7;", "fma.rn.ftz.f32 %f2, %f8, %f9, %f7"),
        ("mul.f64 %d1, %d8, %d9;", "add.f64 %d2, %d1, %d7;", "fma.rn.f64 %d2, %d8, %d9, %d7"),
    ],
)
def test_products_and_sums_are_fused(product: str, total: str, fused: str) -> None:
    store = "st.global.b64 [%rd3], %rd2; st.shared.b32 [%r3], %r2;"
    assert after(FuseMultiplyAdd(), f"{product} {total} {store}").splitlines()[1] == fused


@pytest.mark.parametrize(
    ("product", "total"),
    [
        ("mul.rn.f32 %f1, %f8, %f9;", "add.f32 %f2, %f1, %f7;"),
        ("mul.f32 %f1, %f8, %f9;", "add.rn.f32 %f2, %f1, %f7;"),
        ("mul.f32 %f1, %f8, %f9;", "add.ftz.f32 %f2, %f1, %f7;"),
        ("mul.sat.f32 %f1, %f8, %f9;", "add.f32 %f2, %f1, %f7;"),
        ("mul.hi.s32 %r1, %r8, %r9;", "add.s32 %r2, %r1, %r7;"),
        ("mul.lo.s32 %r1, %r8, %r9;", "add.cc.s32 %r2, %r1, %r7;"),
        ("mul.lo.s32 %r1, %r8, %r9;", "@%p1 add.s32 %r2, %r1, %r7;"),
        ("mul.lo.s32 %r1, %r8, %r9;", "add.s32 %r2, %r1, %r7; neg.s32 %r3, %r1;"),
        ("mul.lo.s32 %r1, %r8, %r9; mov.u32 %r8, 0;", "add.s32 %r2, %r1, %r7;"),
    ],
)
def test_what_ptx_or_other_readers_forbid_is_not_fused(product: str, total: str) -> None:
    body = f"{product} {total}"
    assert after(FuseMultiplyAdd(), body) == listing(kernel(body))


def test_contraction_can_be_switched_off() -> None:
    body = "mul.f32 %f1, %f8, %f9; add.f32 %f2, %f1, %f7;"
    assert after(FuseMultiplyAdd(contract=False), body) == listing(kernel(body))


def test_a_product_is_not_moved_into_a_loop() -> None:
    body = "mul.lo.s32 %r1, %r8, %r9; L: add.s32 %r2, %r1, %r2; setp.lt.s32 %p1, %r2, 9; @%p1 bra L;"
    assert "add.s32 %r2, %r1, %r2" in after(FuseMultiplyAdd(), body)


def test_an_index_into_two_arrays_is_multiplied_in_both_addresses() -> None:
    body = "mul.wide.s32 %rd1, %r1, 4; add.s64 %rd2, %rd8, %rd1; add.s64 %rd3, %rd9, %rd1;"
    assert after(FuseMultiplyAdd(), body).splitlines()[1:3] == [
        "mad.wide.s32 %rd2, %r1, 4, %rd8",
        "mad.wide.s32 %rd3, %r1, 4, %rd9",
    ]


def test_a_widened_and_shifted_index_is_a_wide_product() -> None:
    body = "cvt.s64.s32 %rd1, %r1; shl.b64 %rd2, %rd1, 3;"
    assert after(FuseMultiplyAdd(), body).splitlines()[1] == "mul.wide.s32 %rd2, %r1, 8"
