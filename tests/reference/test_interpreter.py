"""The reference interpreter on kernels whose result is derived by hand."""

from __future__ import annotations

import struct

import pytest
from tests.reference.interpreter import Reference
from tests.reference.memory import ReferenceFault

_HEAD = """
.version 8.0
.target sm_90
.address_size 64
.shared .align 4 .b8 tile[256];
.func (.param .b32 result) triple(.param .b32 a)
{
    .reg .b32 %r<2>;
    .reg .pred %p;
    ld.param.b32 %r0, [a];
    st.param.b32 [result], %r0;
    setp.eq.s32 %p, %r0, 5;
    @%p ret;
    mul.lo.s32 %r1, %r0, 3;
    st.param.b32 [result], %r1;
    ret;
}
.func (.reg .v2 .u16 turned, .reg .pred even) turn(.reg .v2 .u16 t, .reg .u32 n)
{
    .reg .pred %p; .reg .u32 %m;
    and.b32 %m, n, 1; setp.eq.u32 even, %m, 0;
    mov.u16 turned.x, t.y; mov.u16 turned.y, t.x;
    setp.eq.u32 %p, n, 0;
    @%p ret;
    sub.u32 %m, n, 1;
    call (turned, %p), turn, (turned, %m);
    ret;
}
.visible .entry k(.param .u64 out)
{
    .reg .b64 %o, %a; .reg .b32 %r<8>; .reg .pred %p<4>;
    ld.param.u64 %o, [out];
    mov.u32 %r0, %tid.x;
    mad.wide.u32 %a, %r0, 4, %o;
"""


def run(body: str, threads: int = 4) -> list[int]:
    """Run a kernel whose thread i leaves a word at ``[%a]``; the words."""
    reference = Reference(_HEAD + body + "}")
    out = reference.buffer(bytes(4 * threads))
    reference.launch("k", 1, threads, [out])
    return list(struct.unpack(f"<{threads}I", out.data))


def test_a_loop_runs_as_often_as_each_thread_wants() -> None:
    """Thread i adds up 0 + 1 + ... + (i - 1)."""
    body = """
        mov.u32 %r1, 0; mov.u32 %r2, 0;
    $top: setp.ge.u32 %p0, %r1, %r0;
        @%p0 bra $end;
        add.u32 %r2, %r2, %r1; add.u32 %r1, %r1, 1; bra $top;
    $end: st.global.u32 [%a], %r2; ret;"""
    assert run(body, 5) == [0, 0, 1, 3, 6]


def test_a_butterfly_of_shuffles_adds_a_warp() -> None:
    body = "mov.u32 %r1, %r0;"
    for step in (16, 8, 4, 2, 1):
        body += f"shfl.sync.bfly.b32 %r2, %r1, {step}, 31, -1; add.u32 %r1, %r1, %r2;"
    assert run(body + "st.global.u32 [%a], %r1; ret;", 32) == [496] * 32


def test_a_shuffle_past_the_end_keeps_the_own_value_and_says_so() -> None:
    body = """shfl.sync.down.b32 %r1|%p0, %r0, 1, 3, -1;
        selp.u32 %r2, 100, 0, %p0; add.u32 %r1, %r1, %r2; st.global.u32 [%a], %r1; ret;"""
    assert run(body) == [101, 102, 103, 3]


def test_a_barrier_lets_threads_see_each_other() -> None:
    """Thread i of 40 reads what thread 39 - i wrote, across warps."""
    body = """
        mul.lo.u32 %r1, %r0, 4; mov.u32 %r2, tile; add.u32 %r1, %r1, %r2;
        st.shared.u32 [%r1], %r0;
        bar.sync 0;
        sub.u32 %r3, 39, %r0; mul.lo.u32 %r3, %r3, 4; add.u32 %r3, %r3, %r2;
        ld.shared.u32 %r4, [%r3]; st.global.u32 [%a], %r4; ret;"""
    assert run(body, 40) == list(range(39, -1, -1))


def test_a_barrier_does_not_wait_for_threads_that_left() -> None:
    body = """
        setp.lt.u32 %p0, %r0, 2;
        @%p0 exit;
        bar.red.popc.u32 %r1, 0, %p0;
        bar.red.popc.u32 %r2, 0, !%p0;
        st.global.u32 [%a], %r2; ret;"""
    assert run(body, 5) == [0, 0, 3, 3, 3]


def test_votes_and_the_active_mask() -> None:
    body = """
        and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 1;
        vote.sync.ballot.b32 %r2, %p0, -1;
        vote.sync.any.pred %p1, %p0, -1; vote.sync.all.pred %p2, %p0, -1; vote.sync.uni.pred %p3, %p0, -1;
        activemask.b32 %r3; shl.b32 %r3, %r3, 8; or.b32 %r2, %r2, %r3;
        @%p1 or.b32 %r2, %r2, 0x10000; @%p2 or.b32 %r2, %r2, 0x20000; @%p3 or.b32 %r2, %r2, 0x40000;
        st.global.u32 [%a], %r2; ret;"""
    assert run(body) == [0x10F0A] * 4


def test_registers_as_parameters_and_results() -> None:
    # Thread i turns (i, 7) i + 1 times, and adds 1000 if i is even.
    body = """.reg .v2 .u16 t; cvt.u16.u32 t.x, %r0; mov.u16 t.y, 7;
        call (t, %p1), turn, (t, %r0); cvt.u32.u16 %r1, t.x; cvt.u32.u16 %r2, t.y;
        mad.lo.u32 %r1, %r1, 100, %r2; @%p1 add.u32 %r1, %r1, 1000; st.global.u32 [%a], %r1;"""
    assert run(body) == [1700, 107, 1702, 307]


def test_a_call_returns_early_for_some() -> None:
    body = """
        { .param .b32 p; .param .b32 q; add.u32 %r1, %r0, 4; st.param.b32 [p], %r1;
          call.uni (q), triple, (p); ld.param.b32 %r2, [q]; }
        st.global.u32 [%a], %r2; ret;"""
    assert run(body) == [12, 5, 18, 21]


def test_atomics_return_the_old_value_in_thread_order() -> None:
    body = "ld.param.u64 %o, [out]; atom.global.add.u32 %r1, [%o+4], 2; @%p0 ret; st.global.u32 [%a], %r1; ret;"
    body = "setp.eq.u32 %p0, %r0, 1;" + body
    assert run(body, 3) == [0, 6, 4]


def test_a_carry_chain_adds_64_bits() -> None:
    """0xffffffff + i, with the carry in the high half."""
    body = """mov.u32 %r1, 0; add.cc.u32 %r2, %r0, 0xFFFFFFFF; addc.u32 %r3, %r1, 0x10;
        st.global.u32 [%a], %r3; ret;"""
    assert run(body) == [16, 17, 17, 17]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("st.global.u32 [%a+4096], %r0; ret;", "outside all buffers"),
        ("st.global.u32 [%a+1], %r0; ret;", "misaligned"),
        ("setp.eq.u32 %p0, %r0, 0; @%p0 bar.sync 1; @!%p0 bar.sync 2; ret;", "deadlock"),
        ("$a: bra $a;", "too many steps"),
    ],
)
def test_what_has_no_meaning_is_an_error(body: str, message: str) -> None:
    reference = Reference(_HEAD + body + "}")
    out = reference.buffer(bytes(16))
    with pytest.raises(ReferenceFault, match=message):
        reference.launch("k", 1, 4, [out], max_steps=10_000)
