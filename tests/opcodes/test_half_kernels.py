"""Half precision, pairs, video and warp-wide instructions in whole kernels: compiled, and with virtual registers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from warpreg.codegen import CompileOptions
from warpreg.simt import Device

HEAD = """
.version 8.6
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1)
{
.reg .b64 %rd<16>; .reg .b128 %q<4>; .reg .b32 %r<16>; .reg .b16 %h<8>; .reg .f32 %f<8>; .reg .pred %p<4>;
ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];
mov.u32 %r1, %tid.x;
mad.wide.u32 %rd3, %r1, 4, %rd1;
mad.wide.u32 %rd4, %r1, 4, %rd2;
mad.wide.u32 %rd5, %r1, 2, %rd1;
mad.wide.u32 %rd6, %r1, 2, %rd2;
"""
EITHER = pytest.mark.parametrize("options", [CompileOptions(), None], ids=["compiled", "virtual"])


def run(body: str, given: NDArray[Any], out: NDArray[Any], options: CompileOptions | None) -> NDArray[Any]:
    """The second buffer after one warp ran the body."""
    device = Device(HEAD + body + "\nret;\n}", options=options)
    result = device.upload(out)
    device.launch("k", 1, 32, device.upload(given), result)
    return result.download()


@EITHER
def test_pairs_of_halves(options: CompileOptions | None) -> None:
    body = """
    ld.global.b32 %r2, [%rd3]; ld.global.b16 %h1, [%rd5];
    mov.b32 %r3, {%h1, %h1};
    fma.rn.f16x2 %r4, %r2, %r3, %r3;
    st.global.b32 [%rd4], %r4;"""
    given = np.arange(64).astype(np.float16)
    expected = given * np.repeat(given[:32], 2) + np.repeat(given[:32], 2)
    assert run(body, given, np.zeros_like(given), options).tolist() == expected.tolist()


@EITHER
def test_halves_convert_compare_and_add_a_constant(options: CompileOptions | None) -> None:
    body = """
    ld.global.b16 %h1, [%rd5]; mov.b16 %h4, 0x3C00;
    add.f16 %h2, %h1, %h4; cvt.f32.f16 %f1, %h2; mul.f32 %f1, %f1, 0f3F000000; cvt.rn.f16.f32 %h3, %f1;
    setp.gt.f16 %p1, %h3, %h4; @%p1 neg.f16 %h3, %h3;
    st.global.b16 [%rd6], %h3;"""
    given = np.arange(32).astype(np.float16)
    half = (given + 1) / 2
    assert run(body, given, np.zeros_like(given), options).tolist() == np.where(half > 1, -half, half).tolist()


@EITHER
def test_single_precision_packs_to_bf16(options: CompileOptions | None) -> None:
    body = "ld.global.f32 %f1, [%rd3]; cvt.rn.bf16x2.f32 %r2, %f1, 0f3F800000; st.global.b32 [%rd4], %r2;"
    given = np.arange(32).astype(np.float32)
    found = run(body, given, np.zeros(32, np.uint32), options)
    assert found.tolist() == ((given.view(np.uint32) & 0xFFFF0000) | 0x3F80).tolist()


@pytest.mark.slow
@EITHER
def test_atomics_on_halves_and_on_128_bits(options: CompileOptions | None) -> None:
    """Lane 0 exchanged zeros, which it puts back where it finds what all put there; the others then find zeros."""
    body = """
    ld.global.b32 %r2, [%rd3]; ld.global.b16 %h1, [%rd5];
    atom.global.add.noftz.f16x2 %r3, [%rd2], %r2;
    red.global.add.noftz.f16x2 [%rd2], %r2;
    atom.global.add.noftz.f16 %h2, [%rd2+4], %h1;
    mov.b64 %rd7, 7; mov.b64 %rd8, 9; mov.b128 %q1, {%rd7, %rd8};
    atom.global.exch.b128 %q2, [%rd2+16], %q1;
    atom.global.cas.b128 %q3, [%rd2+16], %q1, %q2;"""
    found = run(body, np.ones(64, np.float16), np.zeros(64, np.float16), options)
    assert found[:3].tolist() == [64, 64, 32]
    assert found.view(np.uint64)[2:4].tolist() == [0, 0]


@EITHER
def test_lanes_elect_reduce_and_match(options: CompileOptions | None) -> None:
    body = """
    and.b32 %r2, %r1, 3;
    elect.sync _|%p1, -1; selp.u32 %r3, 1000, 0, %p1;
    redux.sync.max.u32 %r4, %r2, -1; match.any.sync.b32 %r5, %r2, -1; popc.b32 %r5, %r5;
    add.u32 %r3, %r3, %r4; mad.lo.u32 %r3, %r5, 10, %r3;
    st.global.u32 [%rd4], %r3;"""
    found = run(body, np.zeros(1, np.uint32), np.zeros(32, np.uint32), options)
    assert found.tolist() == [1083] + [83] * 31


@EITHER
def test_video_instructions_on_whole_registers(options: CompileOptions | None) -> None:
    body = "ld.global.u32 %r2, [%rd3]; vadd4.u32.u32.u32.sat %r3, %r2, %r2, 0; st.global.u32 [%rd4], %r3;"
    given = np.full(32, 0x01FF8040, np.uint32)
    assert run(body, given, np.zeros_like(given), options).tolist() == [0x02FFFF80] * 32


def test_video_instructions_on_parts_of_registers() -> None:
    body = """
    ld.global.u32 %r2, [%rd3];
    vadd.u32.u32.s32 %r3, %r2.b0, %r2.h1; vmad.s32.s32.s32 %r4, -%r2.b0, %r2.b0, %r3;
    vadd.u32.u32.u32 %r5.b1, %r4, %r2.b0, %r4;
    st.global.u32 [%rd4], %r5;"""
    given = np.full(32, 0xFFFE0005, np.uint32)
    assert run(body, given, np.zeros_like(given), None).tolist() == [0xFFFFEFEA] * 32


@EITHER
def test_special_registers_of_a_cluster_of_one_block(options: CompileOptions | None) -> None:
    zeros = ["%cluster_ctarank", "%clusterid.x", "%cluster_ctaid.y", "%envreg31", "%clock_hi", "%globaltimer_hi",
             "%reserved_smem_offset_begin", "%reserved_smem_offset_1", "%aggr_smem_size", "%pm7"]  # fmt: skip
    ones = ["%nclusterid.x", "%cluster_nctaid.z", "%cluster_nctarank"]
    names = [*zeros, *ones]
    body = "\n".join(f"mov.u32 %r2, {name}; st.global.u32 [%rd2+{4 * i}], %r2;" for i, name in enumerate(names))
    body += "mov.u64 %rd7, %pm0_64; mov.u64 %rd8, %current_graph_exec; mov.pred %p1, %is_explicit_cluster;"
    found = run(body, np.zeros(1, np.uint32), np.full(len(names), 9, np.uint32), options)
    assert found.tolist() == [0] * len(zeros) + [1] * len(ones)


@EITHER
def test_hints_and_orders_have_no_effect(options: CompileOptions | None) -> None:
    body = """
    griddepcontrol.wait; griddepcontrol.launch_dependents; setmaxnreg.dec.sync.aligned.u32 24;
    fence.proxy.async; fence.proxy.tensormap::generic.release.gpu; fence.mbarrier_init.release.cluster;
    prefetch.global.L2 [%rd1]; nanosleep.u32 3; pmevent 1;
    ld.global.L1::no_allocate.L2::evict_first.L2::256B.u32 %r2, [%rd3];
    st.global.L2::cache_hint.u32 [%rd4], %r2, %rd3;
    st.mmio.relaxed.sys.global.u32 [%rd4], %r2;"""
    given = np.arange(32, dtype=np.uint32)
    assert run(body, given, np.zeros_like(given), options).tolist() == given.tolist()
