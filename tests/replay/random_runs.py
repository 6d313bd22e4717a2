"""Random kernels and random paths through them; replay ignores branches, so a path need not follow them."""

from __future__ import annotations

from hypothesis import strategies as st
from tests.designs.guards import comparisons, guarded
from tests.designs.kernels import at, kernel, op, pair, r
from tests.replay.paths import Recorded

from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Vector

REGISTERS = 10
narrow = st.integers(0, REGISTERS - 1).map(r)
wide = st.integers(0, REGISTERS // 2 - 1).map(lambda i: pair(2 * i))
source = narrow | st.integers(0, 9)

instructions: st.SearchStrategy[Instruction] = st.one_of(
    st.builds(op, st.just("add.s32"), narrow, source, source),
    st.builds(op, st.just("mad.lo.s32"), narrow, source, source, source),
    st.builds(op, st.just("add.s64"), wide, wide, wide),
    st.builds(op, st.just("sin.approx.f32"), narrow, narrow),
    st.builds(lambda d, a: op("ld.global.u32", d, at(a)), narrow, wide),
    st.builds(lambda d, e, a: op("ld.shared.v2.u32", Vector((d, e)), at(a)), narrow, narrow, narrow),
    st.builds(lambda a, s: op("st.global.u32", at(a), s), wide, narrow),
    guarded(st.builds(op, st.just("add.s32"), narrow, narrow, st.just(1))),
    comparisons(source),
)
kernels: st.SearchStrategy[Kernel] = st.lists(st.lists(instructions, max_size=6), min_size=1, max_size=4).map(
    lambda blocks: kernel(*blocks)
)


@st.composite
def runs(draw: st.DrawFn) -> tuple[Kernel, Recorded]:
    """A kernel and a path: thread blocks, interleaved warps, masks, chunk ends anywhere between records."""
    code = draw(kernels)
    blocks = st.integers(0, len(code.blocks) - 1)
    path = Recorded()
    for thread_block in range(draw(st.integers(1, 3))):
        path.thread_block(thread_block)
        for warp, visited, mask in draw(
            st.lists(st.tuples(st.integers(0, 3), st.lists(blocks, min_size=1, max_size=8), st.integers(1, 2**32 - 1)))
        ):
            path.warp(warp).visits(*visited, mask=mask)
            if draw(st.booleans()):
                path.cut()
    return code, path
