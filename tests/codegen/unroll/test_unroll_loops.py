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
