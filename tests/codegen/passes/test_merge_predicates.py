"""Truth values that several paths merge stay predicates."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codegen.random_code import LOGIC, SUMS, TESTS, memory_of
from tests.codegen.random_code import text as random_text
from tests.codegen.texts import after, kernel, listing, text

from warpreg import ptx
from warpreg.codegen import CompileOptions, build_kernel, target, translate
from warpreg.codegen.passes.merge_predicates import MergePredicates
from warpreg.codegen.verify import verify

MERGED = """
    setp.gt.s32 %p1, %r8, 5;
    @%p1 bra POSITIVE;
    setp.lt.s32 %p2, %r9, 3;
    selp.u32 %r1, 1, 0, %p2;
    bra MEET;
POSITIVE:
    mov.u32 %r1, 0;
MEET:
    setp.ne.s32 %p3, %r1, 0;
    @%p3 bra END;
    st.shared.u32 [%r9], %r8;
END:
    ret;
"""


def test_a_test_behind_two_paths_reads_a_predicate() -> None:
    assert after(MergePredicates(), MERGED) == text("""
        setp.gt.s32 %p1, %r8, 5
        @%p1 bra POSITIVE
        $B1:
        setp.lt.s32 %p2, %r9, 3
        mov.pred %r1.truth, %p2
        bra MEET
        POSITIVE:
        mov.pred %r1.truth, 0
        MEET:
        mov.pred %p3, %r1.truth
        @%p3 bra END
        $B4:
        st.shared.u32 [%r9], %r8
        END:
        ret
    """)


@pytest.mark.parametrize(("test", "opcode"), [("eq.s32 %p3, %r1, 0", "not"), ("eq.u32 %p3, %r1, 1", "mov")])
def test_tests_of_both_bits(test: str, opcode: str) -> None:
    lines = after(MergePredicates(), MERGED.replace("ne.s32 %p3, %r1, 0", test)).splitlines()
    assert f"{opcode}.pred %p3, %r1.truth" in lines


@pytest.mark.parametrize(
    "change",
    [("mov.u32 %r1, 0", "mov.u32 %r1, 2"), ("st.shared.u32 [%r9], %r8", "st.shared.u32 [%r9], %r1")],
    ids=["a path has another value", "something else reads it"],
)
def test_registers_with_other_values_or_readers_stay(change: tuple[str, str]) -> None:
    program = kernel(MERGED.replace(*change))
    assert MergePredicates().run(program) is program


TRUTHS = ("selp.b32 {d}, 1, 0, {p};", "mov.u32 {d}, 1;", "setp.ne.s32 {p}, {a}, 0;", "setp.eq.u32 {p}, {a}, 1;")


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10_000))
def test_memory_is_the_same_on_a_target_with_few_predicates(seed: int) -> None:
    """Registers that hold only truth values, and some that do not: the words that a thread stores are the same."""
    body = random_text(seed, SUMS + LOGIC + TESTS)
    truths = "\n".join(
        f"{'@%p' + str(n % 2)} bra T{n}; selp.u32 %r{30 + n}, 1, 0, %p{n}; bra M{n}; T{n}: mov.u32 %r{30 + n}, {n % 2};"
        f"M{n}: setp.{'ne' if n % 3 else 'eq'}.s32 %p{n}, %r{30 + n}, 0;"
        for n in range(4)
    )
    module = ptx.parse(body.replace("LOOP:\n", "LOOP:\n" + truths, 1))
    virtual = build_kernel(module, "k")
    changed = MergePredicates().run(virtual)
    verify(changed, virtual)
    assert ".truth" in listing(changed)
    expected = memory_of(module, virtual, seed)
    assert memory_of(module, changed, seed) == expected
    code = translate(module, "k", CompileOptions(target=target("sm_80")))
    assert memory_of(module, code, seed) == expected
