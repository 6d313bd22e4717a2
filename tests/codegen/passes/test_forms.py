"""Fused machine instructions: logic with a test, logic of three words, sums of three."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codegen import random_code
from tests.codegen.texts import after, kernel, listing

from warpreg.codegen.passes.fold_constants import FoldConstants
from warpreg.codegen.passes.form_iadd3 import FormSums
from warpreg.codegen.passes.form_lop3 import FormLogic
from warpreg.codegen.passes.fuse_tests import FuseTests
from warpreg.codegen.passes.split_webs import SplitValues

SEEDS = st.integers(0, 1 << 20)


@pytest.mark.parametrize(
    ("code", "formed"),
    [
        # the table is the function of columns 0xf0, 0xcc, 0xaa: 0xf0 | (0xcc & 0xaa) = 0xf0 | 0x88 = 0xf8 = 248
        ("and.b32 %r1, %r7, %r8; or.b32 %r2, %r1, %r9;", "lop3.b32 %r2, %r9, %r7, %r8, 248"),
        # leaves (%r9, %r8, %r7): the first is xored with %r8 & ~%r7: 0xf0 ^ (0xcc & 0x55) = 0xf0 ^ 0x44 = 0xb4 = 180
        (
            "not.b32 %r1, %r7; and.b32 %r2, %r1, %r8; xor.b32 %r3, %r9, %r2;",
            "lop3.b32 %r3, %r9, %r8, %r7, 180",
        ),
        # %r7 & ~%r8: 0xf0 & 0x33 = 0x30 = 48
        ("not.b32 %r1, %r8; and.b32 %r2, %r7, %r1;", "lop3.b32 %r2, %r7, %r8, 0, 48"),
        # one constant is allowed: (%r7 & 255) ^ %r8, leaves (%r8, %r7, 255): 0xf0 ^ (0xcc & 0xaa) = 0xf0 ^ 0x88 = 0x78
        ("and.b32 %r1, %r7, 255; xor.b32 %r2, %r1, %r8;", "lop3.b32 %r2, %r8, %r7, 255, 120"),
    ],
)
def test_logic_of_up_to_three_words_is_one_instruction(code: str, formed: str) -> None:
    assert after(FormLogic(), code).splitlines()[-2] == formed


@pytest.mark.parametrize(
    "code",
    [
        "and.b32 %r1, %r7, %r8; or.b32 %r2, %r1, %r9; st.shared.u32 [%r2], %r1;",
        "and.b32 %r1, %r7, %r8; @%p1 or.b32 %r2, %r1, %r9;",
        "and.b32 %r1, %r7, 15; or.b32 %r2, %r1, 16;",
        "and.b32 %r1, %r7, %r8; mov.u32 %r7, 0; mov.u32 %r7, 1; or.b32 %r2, %r1, %r9;",
        "and.b64 %rd1, %rd7, %rd8; or.b64 %rd2, %rd1, %rd9;",
        "activemask.b32 %r1; or.b32 %r2, %r1, %r9;",
    ],
)
def test_logic_stays_where_a_part_is_needed_or_gone(code: str) -> None:
    assert after(FormLogic(), code) == listing(kernel(code))


def test_four_words_take_two_instructions() -> None:
    code = "and.b32 %r1, %r5, %r6; and.b32 %r2, %r1, %r7; and.b32 %r3, %r2, %r8;"
    found = after(FormLogic(), code).splitlines()
    assert found[1] == "lop3.b32 %r2, %r7, %r5, %r6, 128"
    assert found[2] == "and.b32 %r3, %r2, %r8"


@pytest.mark.parametrize(
    ("code", "formed"),
    [
        ("add.s32 %r1, %r7, %r8; add.s32 %r2, %r1, %r9;", "add3.s32 %r2, %r7, %r8, %r9"),
        ("add.s32 %r1, %r7, 5; add.s32 %r2, %r9, %r1;", "add3.s32 %r2, %r7, %r9, 5"),
    ],
)
def test_sums_of_three(code: str, formed: str) -> None:
    assert after(FormSums(), code).splitlines()[-2] == formed


@pytest.mark.parametrize(
    "code",
    [
        "add.s32 %r1, %r7, 4; add.s32 %r2, %r1, 5;",
        "add.s32 %r1, %r7, %r8; add.s32 %r2, %r1, %r1;",
        "add.s64 %rd1, %rd7, %rd8; add.s64 %rd2, %rd1, %rd9;",
        "add.s32 %r1, %r7, %r8; @%p1 add.s32 %r2, %r1, %r9;",
    ],
)
def test_sums_that_stay_apart(code: str) -> None:
    assert after(FormSums(), code) == listing(kernel(code))


@pytest.mark.parametrize("logic", ["and", "or", "xor"])
def test_a_comparison_takes_the_logic_that_follows(logic: str) -> None:
    code = f"setp.ge.s32 %p1, %r1, %r2; {logic}.pred %p2, %p3, %p1; selp.b32 %r3, 1, 0, %p2;"
    assert after(FuseTests(), code).splitlines()[1] == f"setp.ge.{logic}.s32 %p2, %r1, %r2, %p3"


def test_of_two_comparisons_the_later_takes_the_logic() -> None:
    code = "setp.lt.ftz.f32 %p1, %f1, %f2; setp.eq.s32 %p2, %r1, 0; or.pred %p3, %p1, %p2; selp.b32 %r3, 1, 0, %p3;"
    assert after(FuseTests(), code).splitlines()[2] == "setp.eq.or.s32 %p3, %r1, 0, %p1"


@pytest.mark.parametrize(
    "code",
    [
        "setp.ge.s32 %p1, %r1, %r2; or.pred %p2, %p3, %p1; selp.b32 %r3, 1, 0, %p1;",
        "setp.ge.s32 %p1|%p4, %r1, %r2; or.pred %p2, %p3, %p1;",
        "setp.ge.and.s32 %p1, %r1, %r2, %p5; or.pred %p2, %p3, %p1;",
        "setp.ge.s32 %p1, %r1, %r2; @%p6 or.pred %p2, %p3, %p1;",
        "setp.ge.s32 %p1, %r1, %r2; bra L; L: or.pred %p2, %p3, %p1; bra M; N: bra L; M: @%p2 bra N;",
    ],
)
def test_comparisons_that_keep_their_result(code: str) -> None:
    assert after(FuseTests(), code) == listing(kernel(code))


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(SEEDS)
def test_random_logic_computes_the_same(seed: int) -> None:
    random_code.compare(FormLogic(), seed, random_code.LOGIC, [SplitValues()])


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(SEEDS)
def test_random_sums_and_tests_compute_the_same(seed: int) -> None:
    forms = (*random_code.SUMS, *random_code.TESTS, *random_code.BANK)
    random_code.compare(FormSums(), seed, forms, [SplitValues(), FoldConstants(), FuseTests()])
    random_code.compare(FuseTests(), seed, forms, [SplitValues()])
