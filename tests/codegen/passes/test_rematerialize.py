"""Rematerialization: what is computed again, where, and what stays."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codegen import random_code, random_loops
from tests.codegen.passes.test_sink import FORMS, blocks, compare
from tests.codegen.texts import after, kernel, listing

from warpreg import ptx
from warpreg.analysis.pressure import pressure
from warpreg.codegen import TARGETS, CompileOptions, build_kernel, translate
from warpreg.codegen.passes.fold_parameters import FoldParameters
from warpreg.codegen.passes.shorten import RematerializeValues, SinkValues
from warpreg.ir.kernel import Kernel

START = "mov.u32 %r8, %tid.x; ld.shared.u32 %r9, [0];"
LOOP = """mov.u32 %r21, 0; L: ld.shared.u32 %r22, [%r8]; ld.shared.u32 %r23, [%r8+4]; add.s32 %r22, %r22, %r23;
    st.shared.u32 [%r8], %r22; add.s32 %r21, %r21, 1; setp.lt.s32 %p1, %r21, 9; @%p1 bra L;"""
"""In it %r8, %r21, %r22 and %r23 are live, four words, besides what is live through it."""
END = "st.shared.u32 [12], %r9; ret;"


def through(maker: str) -> str:
    """%r2 is read before and after a loop, through which %r9 is live: six words in the loop."""
    return f"{START} {maker} st.shared.u32 [0], %r2; {LOOP} st.shared.u32 [4], %r2; {END}"


@pytest.mark.parametrize(
    ("maker", "again"),
    [
        ("mov.u32 %r2, 77;", ["mov.u32 %r2.again0, 77"]),
        ("mov.u32 %r2, %ctaid.x;", ["mov.u32 %r2.again0, %ctaid.x"]),
        ("shr.u32 %r2, %r9, 5;", ["shr.u32 %r2.again0, %r9, 5"]),
        (
            "mov.u32 %r3, %tid.y; shl.b32 %r4, %r3, 2; add.s32 %r2, %r4, %r9;",
            ["mov.u32 %r3.again0, %tid.y", "shl.b32 %r4.again1, %r3.again0, 2", "add.s32 %r2.again2, %r4.again1, %r9"],
        ),
    ],
    ids=["constant", "special register", "operand that is live", "three instructions"],
)
def test_a_cheap_value_is_computed_again_behind_the_loop(maker: str, again: list[str]) -> None:
    """Six words are live in the loop, five are allowed."""
    found = blocks(after(RematerializeValues(5), through(maker)))
    assert found[2] == [
        *again,
        f"st.shared.u32 [4], {again[-1].split()[1].strip(',')}",
        "st.shared.u32 [12], %r9",
        "ret",
    ]
    assert "st.shared.u32 [0], %r2" in found[0]


@pytest.mark.parametrize(
    "maker",
    [
        "ld.shared.u32 %r2, [8];",
        "mul.lo.s32 %r2, %r9, %r9;",
        "mov.u32 %r2, %clock;",
        "mov.u32 %r2, %warpid;",
        "shfl.sync.down.b32 %r2, %r9, 1, 31, -1;",
        "mov.u32 %r2, 3; setp.lt.s32 %p2, %r9, 2; @%p2 mov.u32 %r2, 4;",
        "ld.shared.u32 %r3, [8]; shr.u32 %r2, %r3, 5;",
        "mov.u32 %r3, %tid.y; shl.b32 %r4, %r3, 2; add.s32 %r5, %r4, %r9; not.b32 %r2, %r5;",
        "setp.lt.s32 %p2, %r9, 2; selp.b32 %r2, 1, 3, %p2;",
    ],
    ids=[
        "memory",
        "product",
        "clock",
        "warp",
        "lanes",
        "guarded",
        "operand not live",
        "four instructions",
        "predicate",
    ],
)
def test_what_is_not_cheap_or_changes_stays(maker: str) -> None:
    assert after(RematerializeValues(4), through(maker)) == listing(kernel(through(maker)))


def test_nothing_changes_where_no_more_words_are_live_than_allowed() -> None:
    program = kernel(through("mov.u32 %r2, 77;"))
    assert max(pressure(program).highest) == 6
    assert RematerializeValues(6).run(program) is program
    assert RematerializeValues(5).run(program) is not program


def test_no_more_is_computed_again_than_is_needed() -> None:
    """Of three constants, two are enough for six words of seven, and of equal ones the first by name goes first."""
    body = f"""{START} mov.u32 %r2, 1; mov.u32 %r3, 2; st.shared.u32 [%r2], %r3; {LOOP}
        st.shared.u32 [%r2], %r3; {END}"""
    assert max(pressure(kernel(body)).highest) == 7
    found = blocks(after(RematerializeValues(6), body))
    assert found[2][:2] == ["mov.u32 %r2.again0, 1", "st.shared.u32 [%r2.again0], %r3"]


def test_a_value_that_the_loop_reads_stays_in_its_register() -> None:
    """Recomputing it behind the loop would free nothing in the loop."""
    code = through("mov.u32 %r2, 77;").replace("[%r8+4]", "[%r2+4]")
    assert after(RematerializeValues(5), code) == listing(kernel(code))


def test_it_is_not_computed_in_a_later_loop_that_its_definition_is_not_in() -> None:
    code = through("mov.u32 %r2, 77;").replace(
        "st.shared.u32 [4], %r2;", "N: st.shared.u32 [4], %r2; setp.lt.s32 %p2, %r9, 3; @%p2 bra N;"
    )
    assert after(RematerializeValues(5), code) == listing(kernel(code))


def test_each_block_that_reads_it_has_its_own_copy_and_the_definition_goes_if_nothing_reads_it() -> None:
    body = f"""{START} mov.u32 %r2, 77; {LOOP} setp.lt.s32 %p2, %r9, 3; @%p2 bra B; st.shared.u32 [4], %r2;
        st.shared.u32 [8], %r2; B: st.shared.u32 [16], %r2; {END}"""
    found = blocks(after(RematerializeValues(5), body))
    assert "mov.u32 %r2, 77" not in found[0]
    assert found[3][0] == "mov.u32 %r2.again0, 77"
    assert found[3][1:] == ["st.shared.u32 [4], %r2.again0", "st.shared.u32 [8], %r2.again0"]
    assert found[4][:2] == ["mov.u32 %r2.again1, 77", "st.shared.u32 [16], %r2.again1"]


def test_a_word_of_a_constant_bank_is_read_again() -> None:
    body = through("ld.param.u32 %r2, [n];")
    program = FoldParameters().run(kernel(body))
    assert "mov.b32 %r2.again0, c[0][0x8]" in listing(RematerializeValues(5).run(program))


def test_a_pair_frees_two_words() -> None:
    """%rd1 is one instruction for two words, %r2 one for one: the pair goes first, and is enough."""
    wide = through("mov.u32 %r2, 77; cvt.u64.u32 %rd1, %r9; st.shared.u64 [16], %rd1;").replace(
        "st.shared.u32 [4], %r2;", "st.shared.u32 [4], %r2; st.shared.u64 [24], %rd1;"
    )
    assert max(pressure(kernel(wide)).highest) == 8
    found = after(RematerializeValues(6), wide)
    assert "cvt.u64.u32 %rd1.again0, %r9" in found
    assert "%r2.again" not in found


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.integers(0, 1 << 20), st.integers(1, 20))
def test_random_kernels_compute_the_same(seed: int, words: int) -> None:
    for text in (random_code.text(seed, FORMS, branches=3), random_loops.text(seed)):
        compare(text, RematerializeValues(words), seed)


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.integers(0, 1 << 20), st.integers(1, 20))
def test_random_kernels_compute_the_same_after_sinking(seed: int, words: int) -> None:
    compare(random_loops.text(seed), _Both(words), seed)


@dataclass(frozen=True)
class _Both:
    """Both passes, one after the other."""

    words: int

    def run(self, program: Kernel) -> Kernel:
        return RematerializeValues(self.words).run(SinkValues(self.words).run(program))


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.integers(0, 1 << 20), st.integers(0, 20), st.sampled_from([None, 16]), st.sampled_from(["plain", "sm_80"]))
def test_random_kernels_compute_the_same_in_machine_code(seed: int, words: int, most: int | None, target: str) -> None:
    """The scheduler and the register allocation follow, with spills at sixteen registers."""
    module = ptx.parse(random_code.text(seed, FORMS, branches=3))
    options = CompileOptions(max_registers=most, target=TARGETS[target], live_words=words)
    compiled, virtual = translate(module, "k", options), build_kernel(module, "k")
    assert random_code.memory_of(module, compiled, seed) == random_code.memory_of(module, virtual, seed)
