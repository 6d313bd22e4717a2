"""If-conversion: which branches become guards, which instructions are guarded, and that memory is unchanged."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codegen import random_code
from tests.codegen.texts import kernel, listing, text

from warpreg import ptx
from warpreg.codegen import build_kernel
from warpreg.codegen.lower.if_conversion import predicated
from warpreg.codegen.verify import verify


def after(body: str, **options: int) -> str:
    """The listing after if-conversion."""
    changed = predicated(kernel(body), **options)
    verify(changed)
    return listing(changed)


def test_a_short_alternative_runs_under_a_guard_but_for_what_only_it_reads() -> None:
    found = after("@%p1 bra J; mul.lo.s32 %r1, %r8, %r9; st.shared.u32 [%r7], %r1; J: mov.u32 %r2, %r3; ret;")
    assert found == text(
        """
        mul.lo.s32 %r1, %r8, %r9
        @!%p1 st.shared.u32 [%r7], %r1
        mov.u32 %r2, %r3
        ret
        """
    )


def test_a_result_that_lives_on_is_set_under_the_guard() -> None:
    found = after("@!%p1 bra J; add.s32 %r1, %r8, %r9; J: st.shared.u32 [%r7], %r1; ret;")
    assert found.splitlines()[0] == "@%p1 add.s32 %r1, %r8, %r9"


def test_what_is_computed_from_a_guarded_load_is_guarded_too() -> None:
    found = after("@%p1 bra J; ld.shared.u32 %r1, [%r7]; add.s32 %r2, %r1, 1; st.shared.u32 [%r7], %r2; J: ret;")
    assert [line.split()[0] for line in found.splitlines()] == ["@!%p1", "@!%p1", "@!%p1", "ret"]


def test_two_alternatives_that_move_become_a_selection() -> None:
    found = after("@%p1 bra A; mov.u32 %r1, %r8; bra J; A: mov.u32 %r1, %r9; J: st.shared.u32 [%r7], %r1; ret;")
    assert found.splitlines()[0] == "selp.u32 %r1, %r9, %r8, %p1"


def test_of_two_alternatives_the_first_sets_its_results_for_all() -> None:
    found = after("@%p1 bra A; add.s32 %r1, %r8, 1; bra J; A: sub.s32 %r1, %r9, 2; J: st.shared.u32 [%r7], %r1; ret;")
    assert found.splitlines()[:2] == ["sub.s32 %r1, %r9, 2", "@!%p1 add.s32 %r1, %r8, 1"]


def test_a_copy_at_the_end_of_an_alternative_goes() -> None:
    found = after("@%p1 bra J; ld.shared.u32 %r1, [%r7]; mov.u32 %r2, %r1; J: st.shared.u32 [%r7], %r2; ret;")
    assert found.splitlines()[0] == "@!%p1 ld.shared.u32 %r2, [%r7]"


def test_a_move_whose_source_is_written_before_the_other_one_is_not_selected() -> None:
    """``%r1`` is the old ``%r8`` where %p1 holds; a select behind the sum would read the new one."""
    arms = "@%p1 bra A; mov.u32 %r1, %r9; bra J; A: mov.u32 %r1, %r8; add.s32 %r8, %r8, 1;"
    found = after(f"{arms} J: st.shared.u32 [%r7], %r1; st.shared.u32 [%r7+4], %r8; ret;")
    assert found.splitlines()[:3] == ["mov.u32 %r1, %r8", "@%p1 add.s32 %r8, %r8, 1", "@!%p1 mov.u32 %r1, %r9"]


def test_the_first_alternative_leaves_what_the_second_one_reads() -> None:
    """``%r1`` is dead behind both, and the second alternative reads what it was before the first."""
    arms = "@%p1 bra A; add.s32 %r2, %r1, 5; bra J; A: add.s32 %r1, %r8, 1; add.s32 %r2, %r1, %r9;"
    found = after(f"{arms} J: st.shared.u32 [%r7], %r2; ret;").splitlines()[:3]
    assert found in (
        ["@%p1 add.s32 %r1, %r8, 1", "@%p1 add.s32 %r2, %r1, %r9", "@!%p1 add.s32 %r2, %r1, 5"],
        ["add.s32 %r2, %r1, 5", "add.s32 %r1, %r8, 1", "@%p1 add.s32 %r2, %r1, %r9"],
    )


LONG = "".join(f"add.s32 %r{i}, %r{i}, 1;" for i in range(10, 18))


@pytest.mark.parametrize(
    "alternative",
    [
        "bar.sync 0;",
        "@%p2 st.shared.u32 [%r7], %r1;",
        "setp.lt.s32 %p1, %r1, 0; st.shared.u32 [%r7], %r1;",
        "add.cc.s32 %r1, %r2, %r3; addc.s32 %r4, %r5, %r6;",
        "shfl.sync.down.b32 %r1, %r2, 1, 31, -1;",
        "ret;",
        LONG,
    ],
    ids=["barrier", "guarded", "own guard", "carry", "warp-wide", "exit", "long"],
)
def test_other_alternatives_stay_branches(alternative: str) -> None:
    body = f"@%p1 bra J; {alternative} J: st.shared.u32 [%r7], %r10; ret;"
    assert after(body) == listing(kernel(body))


SCALED = """mul.wide.s32 %rd1, %r8, 4; add.s64 %rd2, %rd9, %rd1; cvt.s64.s32 %rd3, %r9; shl.b64 %rd4, %rd3, 2;
    add.s64 %rd5, %rd8, %rd4; ld.global.f32 %f1, [%rd2]; mul.f32 %f2, %f1, %f9; add.f32 %f3, %f2, %f1;
    shl.b32 %r1, %r8, 2; add.s32 %r2, %r7, %r1; st.shared.f32 [%r2], %f3; st.global.f32 [%rd5], %f3;"""


def test_what_a_sum_takes_in_does_not_count() -> None:
    """Twelve instructions: two products, two shifts and a widening are parts of four sums; seven remain."""
    assert "bra" not in after(f"@%p1 bra J; {SCALED} J: ret;")
    assert "bra" in after(f"@%p1 bra J; {SCALED} J: ret;", limit=6)


def test_what_two_instructions_read_counts() -> None:
    code = SCALED.replace("[%rd5], %f3", "[%rd5], %f2")
    assert "bra" in after(f"@%p1 bra J; {code} J: ret;")


def test_the_limit_can_be_chosen() -> None:
    body = f"@%p1 bra J; {LONG} J: st.shared.u32 [%r7], %r10; ret;"
    assert "bra" not in after(body, limit=8)


def test_loads_that_two_alternatives_share_stay_branches() -> None:
    body = "@%p1 bra A; ld.shared.u32 %r1, [%r8]; bra J; A: ld.shared.u32 %r1, [%r9]; J: st.shared.u32 [%r7], %r1; ret;"
    assert "bra" in after(body)


def test_an_alternative_that_closes_a_loop_branches_back() -> None:
    found = after("L: add.s32 %r1, %r1, 1; @%p1 bra L; st.shared.u32 [%r7], %r1; bra L;")
    assert found == text(
        """
        add.s32 %r1, %r1, 1
        @!%p1 st.shared.u32 [%r7], %r1
        bra L
        """
    )


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.integers(0, 1 << 20))
def test_random_kernels_compute_the_same(seed: int) -> None:
    forms = (*random_code.PRODUCTS, *random_code.LOGIC, *random_code.BANK)
    module = ptx.parse(random_code.text(seed, forms, branches=4))
    before, changed = (build_kernel(module, "k", predicate=predicate) for predicate in (False, True))
    verify(changed)
    assert len(changed.blocks) < len(before.blocks)
    assert random_code.memory_of(module, changed, seed) == random_code.memory_of(module, before, seed)
