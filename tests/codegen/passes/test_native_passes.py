"""Passes for the targets of `ptxas` alone: predicates that stay predicates, and steps that become offsets."""

from __future__ import annotations

import pytest
from tests.codegen.texts import after, text

from warpreg.codegen.passes.combine_steps import CombineSteps
from warpreg.codegen.passes.fold_selections import FoldSelections


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("setp.ne.s32 %p2, %r1, 0;", "mov.pred %p2, %p1"),
        ("setp.eq.b32 %p2, %r1, 0;", "not.pred %p2, %p1"),
        ("setp.lt.u32 %p2, %r1, 1;", "not.pred %p2, %p1"),
        ("setp.ge.s32 %p2, %r1, 7;", "setp.ge.s32 %p2, %r1, 7"),
        ("setp.ne.s32 %p2, %r1, %r2;", "setp.ne.s32 %p2, %r1, %r2"),
    ],
)
def test_a_test_of_selected_constants_is_the_predicate(test: str, expected: str) -> None:
    begin = "setp.lt.s32 %p1, %r3, 5; selp.b32 %r1, 1, 0, %p1;"
    assert after(FoldSelections(), f"{begin} {test} ret;").splitlines()[2] == expected


def test_the_predicate_must_still_hold() -> None:
    body = "setp.lt.s32 %p1, %r3, 5; selp.b32 %r1, 1, 0, %p1; setp.lt.s32 %p1, %r3, 6; setp.ne.s32 %p2, %r1, 0; ret;"
    assert after(FoldSelections(), body).splitlines()[3] == "setp.ne.s32 %p2, %r1, 0"


def test_steps_add_up() -> None:
    body = "add.s64 %rd2, %rd1, 4; add.s64 %rd3, %rd2, 4; add.s64 %rd4, %rd3, -2; ret;"
    expected = text("add.s64 %rd2, %rd1, 4\nadd.s64 %rd3, %rd1, 8\nadd.s64 %rd4, %rd1, 6\nret")
    assert after(CombineSteps(), body) == expected


def test_a_step_from_a_changed_register_stays() -> None:
    body = "add.s32 %r2, %r1, 4; add.s32 %r1, %r1, 1; add.s32 %r3, %r2, 4; ret;"
    assert after(CombineSteps(), f"mov.u32 %r1, %tid.x; {body}").splitlines()[3] == "add.s32 %r3, %r2, 4"
