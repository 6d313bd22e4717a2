"""Unrolling keeps memory bit for bit, and unrolls the loops that `ptxas` unrolls."""

from __future__ import annotations

import pytest
from tests.codegen import random_loops
from tests.codegen.random_code import memory_of
from tests.codegen.texts import kernel

from warpreg import codegen, ptx
from warpreg.analysis.loops import loops
from warpreg.codegen.options import CompileOptions
from warpreg.codegen.pipeline import build_for, unrolling
from warpreg.codegen.verify import verify
from warpreg.ir.kernel import Kernel

OPTIONS = CompileOptions(target=codegen.target("sm_80"))
UNROLL = unrolling(OPTIONS)


@pytest.mark.parametrize("seed", range(24))
def test_memory_is_the_same_before_and_after(seed: int) -> None:
    module = ptx.parse(random_loops.text(seed))
    before = codegen.build_kernel(module, "k", predicate=seed % 2 == 0)
    after = UNROLL.run(before)
    verify(after)
    assert memory_of(module, after, seed) == memory_of(module, before, seed)


def test_random_loops_are_unrolled() -> None:
    kernels = [codegen.build_kernel(ptx.parse(random_loops.text(seed)), "k") for seed in range(24)]
    assert sum(UNROLL.run(program) is not program for program in kernels) > 12


def loop(bound: str, body: str = "", head: str = "", step: int = 1, before: str = "") -> Kernel:
    """A loop from 0 up to ``bound``, with a body of one multiply-add and ``body``; ``n`` is in %r1."""
    return kernel(
        f"""
        ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n]; mov.u32 %r2, 0; mov.u32 %r3, 1;
        AGAIN: {head}
        mad.lo.s32 %r3, %r3, %r3, %r1;
        {body}
        add.s32 %r2, %r2, {step};
        setp.lt.s32 %p1, %r2, {bound};
        @%p1 bra AGAIN;
        DONE: st.global.u32 [%rd1], %r3;
        ret;
        """,
        before=before,
    )


def copies(program: Kernel) -> tuple[int, int]:
    """Multiply-adds in loops, and all of them."""
    around = loops(program).innermost
    places = [b.index for b in program.blocks for i in b.instructions if i.opcode == "mad"]
    return sum(around[place] >= 0 for place in places), len(places)


def test_a_known_count_leaves_no_loop() -> None:
    assert copies(UNROLL.run(loop("16"))) == (0, 16)


def test_the_count_follows_from_the_step() -> None:
    # 0, 3, 6, 9: the test fails at 12.
    assert copies(UNROLL.run(loop("10", step=3))) == (0, 4)


def test_a_large_known_count_is_unrolled_in_part() -> None:
    # 40 multiply-adds, at most 351 instructions: 8 copies are 320, and 8 divides 1000 without rest.
    program = UNROLL.run(loop("1000", body="mad.lo.s32 %r3, %r3, %r3, %r1;" * 39))
    assert copies(program) == (8 * 40, 8 * 40)


def test_an_unknown_count_takes_four_copies_and_three_for_the_rest() -> None:
    assert copies(UNROLL.run(loop("%r1"))) == (4, 7)


@pytest.mark.parametrize(
    "body",
    ["bar.warp.sync -1;", "shfl.sync.down.b32 %r4, %r3, 1, 31, -1;", "@%p2 bra DONE;", "mov.u32 %r2, %r3;"],
    ids=["synchronizes a warp", "exchanges values", "has another exit", "changes the counter"],
)
def test_other_loops_keep_their_form(body: str) -> None:
    program = loop("%r1", body=body)
    assert UNROLL.run(program) is program


def test_a_loop_with_another_exit_is_unrolled_completely() -> None:
    assert copies(UNROLL.run(loop("5", body="@%p2 bra DONE;"))) == (0, 5)


def test_the_pragma_applies_to_the_loop_whose_header_it_begins() -> None:
    assert copies(UNROLL.run(loop("16", head='.pragma "nounroll";'))) == (1, 1)
    assert copies(UNROLL.run(loop("16", body='.pragma "nounroll";'))) == (0, 16)


def test_the_pragma_applies_to_a_module() -> None:
    assert copies(UNROLL.run(loop("16", before='.pragma "nounroll";'))) == (1, 1)


def test_plain_code_keeps_its_loops() -> None:
    text = random_loops.text(0)
    module = ptx.parse(text)
    plain = build_for(module, "k", CompileOptions())
    assert plain.blocks == codegen.build_kernel(module, "k", predicate=True).blocks


def test_a_test_of_the_counter_before_its_step_keeps_the_loop() -> None:
    assert copies(UNROLL.run(loop("%r1"))) == (4, 7)
    early = kernel("""
        ld.param.u32 %r1, [n]; mov.u32 %r2, 0; mov.u32 %r3, 1;
        AGAIN: mad.lo.s32 %r3, %r3, %r3, %r1;
        setp.lt.s32 %p1, %r2, %r1;
        add.s32 %r2, %r2, 1;
        @%p1 bra AGAIN;
        st.shared.u32 [0], %r3;
        ret;
    """)
    assert copies(UNROLL.run(early)) == (1, 1)


COPYING = """
    ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n]; mov.u32 %r2, {start}; mov.u32 %r3, 1;
    mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;
    setp.ge.s32 %p2, %r2, %r1; @%p2 bra DONE;
    AGAIN: {address}
    ld.global.u32 %r4, [%rd3]; mad.lo.s32 %r3, %r4, %r4, %r3; st.global.u32 [%rd3+4096], %r3;
    {step}
    add.s32 %r2, %r2, 32;
    setp.lt.s32 %p1, %r2, %r1;
    @%p1 bra AGAIN;
    DONE: ret;
"""
BY_INDEX = {"address": "mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;", "step": ""}
BY_POINTER = {"address": "", "step": "add.s64 %rd3, %rd3, 128;"}


@pytest.mark.parametrize(
    ("start", "form", "expected"),
    [("%tid.x", BY_INDEX, 1), ("%tid.x", BY_POINTER, 4), ("0", BY_INDEX, 4), ("0", BY_POINTER, 4)],
    ids=["each thread by index", "each thread by pointer", "all threads by index", "all threads by pointer"],
)
def test_loops_that_store_by_index_are_unrolled_if_all_threads_run_them_alike(
    start: str, form: dict[str, str], expected: int
) -> None:
    """As in the code of `ptxas` for these four loops."""
    assert copies(UNROLL.run(kernel(COPYING.format(start=start, **form))))[0] == expected


def test_conversions_of_a_known_counter_allow_larger_bodies() -> None:
    """The body of 47 instructions (43 products, three more and a store) adds 705 in 16 iterations.  The conversion
    counts twice, the sum once, so 6 of 50 are saved, 12%: 134 + 58.5 * 12 + 0.6 * 144 = 922 may be added.  Without
    them, 44 products add 660 and 3 of 47 are saved, 6%: 507 may be added."""
    chain = "mad.lo.s32 %r3, %r3, %r3, %r1;" * 42
    used = "cvt.rn.f32.s32 %f1, %r2; add.f32 %f2, %f1, 0f3F000000; fma.rn.f32 %f3, %f3, %f2, %f3;"
    assert copies(UNROLL.run(loop("16", body=chain + used + "st.shared.f32 [8], %f3;")))[0] == 0
    assert copies(UNROLL.run(loop("16", body=chain + chain[:30])))[0] > 0
