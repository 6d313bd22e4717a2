"""Memory, barriers and warp-wide operations in machine code give the bits that they give in PTX, natively and
interpreted."""

from __future__ import annotations

import numpy as np
import pytest
from tests.machine_code.reference.paired import Paired

from warpreg.codegen import CompileOptions
from warpreg.ir.operands import ConstantBank
from warpreg.machine_code.assembler import ARCHITECTURES, MachineCode
from warpreg.simt import Device

THREADS = 64

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
{{
.reg .u64 %d<20>; .reg .u32 %r<40>; .reg .f32 %f<20>; .reg .pred %p<9>; .reg .b16 %h<9>;
.shared .align 16 .b8 sh[4096];
.local .align 16 .b8 lo[64];
ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in];
mov.u32 %r1, %tid.x;
mul.wide.u32 %d3, %r1, 16;
add.u64 %d1, %d1, %d3;  // 16 bytes of this thread
add.u64 %d4, %d2, %d3;
mov.u32 %r2, sh; mad.lo.u32 %r2, %r1, 16, %r2;
{body}
st.global.v4.u32 [%d1], {{%r10, %r11, %r12, %r13}};
ret;
}}
"""

BODIES = {
    "asynchronous copies": """
        setp.lt.u32 %p1, %r1, 7; selp.u32 %r3, 16, 0, %p1;
        cp.async.cg.shared.global [%r2], [%d4], 16;
        cp.async.ca.shared.global [%r2+1024], [%d4+8], 8;
        cp.async.ca.shared.global [%r2+1032], [%d4], 4;
        cp.async.cg.shared.global [%r2+2048], [%d4], 16, %r3;
        cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
        xor.b32 %r4, %r2, 48;
        ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r4];
        ld.shared.v2.u32 {%r5, %r6}, [%r4+1024]; ld.shared.u32 %r7, [%r4+1032]; ld.shared.u32 %r8, [%r4+2052];
        add.u32 %r10, %r10, %r5; add.u32 %r11, %r11, %r6; add.u32 %r12, %r12, %r7; add.u32 %r13, %r13, %r8;""",
    "matrices in shared memory": """
        ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%d4];
        st.shared.v4.u32 [%r2], {%r3, %r4, %r5, %r6}; bar.sync 0;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r2];
        ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r7, %r8}, [%r2];
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r2];
        add.u32 %r10, %r10, %r7; add.u32 %r11, %r11, %r8; add.u32 %r12, %r12, %r9;""",
    "generic addresses": """
        mov.u64 %d5, sh; cvta.shared.u64 %d5, %d5; mul.wide.u32 %d6, %r1, 4; add.u64 %d5, %d5, %d6;
        mov.u64 %d7, lo; cvta.local.u64 %d7, %d7; and.b64 %d8, %d6, 28; add.u64 %d7, %d7, %d8;
        ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d4];
        st.u32 [%d5], %r10; st.u32 [%d7], %r11; st.local.u32 [lo+32], %r12;
        and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; selp.b64 %d9, %d5, %d7, %p1;
        ld.u32 %r12, [%d9]; ld.local.u32 %r13, [lo+32];""",
    "atomics": """
        ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d4];
        setp.ne.u32 %p1, %r1, 0; @%p1 bra WAIT; st.shared.v4.u32 [sh], {%r10, %r11, %r12, %r13}; WAIT: bar.sync 0;
        atom.shared.add.u32 %r3, [sh], %r11; atom.shared.max.s32 %r4, [sh+4], %r12; atom.shared.inc.u32 %r5, [sh+8], 40;
        atom.shared.cas.b32 %r6, [sh+12], %r13, %r1; atom.shared.exch.b32 %r7, [sh+16], %r1;
        atom.global.add.u32 %r8, [%d2+2048], %r10; atom.global.min.u32 %r9, [%d2+2052], %r10;
        atom.global.and.b32 %r14, [%d2+2056], %r11; red.global.xor.b32 [%d2+2060], %r12;
        atom.add.u64 %d5, [%d2+2064], %d3; atom.global.cas.b64 %d6, [%d2+2072], %d5, %d3;
        cvt.rn.f32.u32 %f1, %r1; atom.global.add.f32 %f2, [%d2+2080], %f1; atom.shared.add.f32 %f3, [sh+32], %f1;
        bar.sync 0; ld.shared.u32 %r15, [sh]; ld.global.u32 %r16, [%d2+2060]; mov.b32 %r17, %f3;
        cvt.u32.u64 %r18, %d6;
        add.u32 %r10, %r3, %r4; add.u32 %r10, %r10, %r5; add.u32 %r11, %r6, %r7; add.u32 %r11, %r11, %r15;
        add.u32 %r12, %r9, %r14; add.u32 %r12, %r12, %r16; add.u32 %r13, %r18, %r17;""",
    "barriers": """
        ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d4]; and.b32 %r3, %r10, 1; setp.eq.u32 %p1, %r3, 1;
        st.shared.u32 [%r2], %r10; barrier.sync 1, 64; xor.b32 %r4, %r2, 512; ld.shared.u32 %r11, [%r4];
        barrier.red.popc.u32 %r12, 2, %p1; barrier.red.or.pred %p2, 3, %p1; barrier.red.and.pred %p3, 3, %p1;
        selp.u32 %r5, 1, 2, %p2; selp.u32 %r6, 4, 8, %p3; add.u32 %r13, %r5, %r6;
        vote.sync.ballot.b32 %r7, %p1, -1; add.u32 %r13, %r13, %r7; bar.warp.sync -1;""",
    "barriers by register": """
        ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d4]; setp.lt.s32 %p1, %r10, 0; ld.global.u32 %r3, [%d2];
        and.b32 %r3, %r3, 3; add.u32 %r4, %r3, 4; add.u32 %r5, %r3, 8; and.b32 %r6, %r10, 0; add.u32 %r6, %r6, 64;
        st.shared.u32 [%r2], %r10; barrier.sync %r4, %r6; xor.b32 %r7, %r2, 512; ld.shared.u32 %r11, [%r7];
        barrier.sync %r5; barrier.red.popc.u32 %r12, %r4, %r6, %p1; barrier.red.popc.u32 %r13, %r5, !%p1;
        barrier.red.or.pred %p2, 2, %r6, %p1; selp.u32 %r8, 100, 200, %p2; add.u32 %r13, %r13, %r8;""",
    "narrow values": """
        ld.global.u8 %r10, [%d4+3]; ld.global.s8 %r11, [%d4+5]; ld.global.u16 %r12, [%d4+6];
        ld.global.s16 %r13, [%d4+10];
        st.shared.u8 [%r2+1], %r10; st.shared.u16 [%r2+2], %r13; ld.shared.s16 %r3, [%r2+2]; ld.shared.u8 %r4, [%r2+1];
        add.u32 %r10, %r3, %r4; st.local.u16 [lo+2], %r11; ld.local.u8 %r5, [lo+3]; add.u32 %r11, %r11, %r5;""",
}


def outcome(text: str, architecture: str) -> list[int]:
    device = Paired.assembled(text, architecture) if architecture else Device(text)
    values = np.random.default_rng(1).integers(0, 1 << 32, 1024, np.uint32)
    out, given = device.zeros((THREADS, 4), np.uint32), device.upload(values)
    device.launch("k", 1, THREADS, out, given)
    if isinstance(device, Paired):
        assert (device.compared, device.differences) == (1, [])
    return [*out.download().ravel().tolist(), *given.download().tolist()]


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", BODIES)
def test_bits_of_ptx(name: str, architecture: str) -> None:
    pytest.importorskip("nvidia")
    text = KERNEL.format(body=BODIES[name])
    assert outcome(text, architecture) == outcome(text, "")


INDEXED = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .align 16 .b8 s[256])
{
.reg .u64 %d<9>; .reg .u32 %r<9>; .reg .b16 %h<9>;
ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 32; add.u64 %d1, %d1, %d2;
and.b32 %r2, %r1, 15; mul.wide.u32 %d3, %r2, 8; mov.u64 %d4, s; add.u64 %d4, %d4, %d3;
ld.param.u32 %r3, [%d4]; ld.param.u64 %d5, [%d4+8]; ld.param.u8 %h1, [%d4+3]; ld.param.s16 %h2, [%d4+6];
cvt.u32.u16 %r4, %h1; cvt.s32.s16 %r5, %h2;
st.global.u32 [%d1], %r3; st.global.u64 [%d1+8], %d5; st.global.u32 [%d1+16], %r4; st.global.u32 [%d1+20], %r5;
ret;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_an_index_into_the_parameters(architecture: str) -> None:
    """Thread t reads bytes 8 * (t & 15) and on of the structure: ``LDC R7, c[0x0][R0+0x160]``."""
    pytest.importorskip("nvidia")
    given = np.random.default_rng(1).integers(0, 256, 256, np.uint8)
    device = Device(INDEXED, options=CompileOptions(assembler=MachineCode.of(architecture)))
    out = device.zeros((32, 8), np.uint32)
    device.launch("k", 1, 32, out, given.tobytes())
    kernel = device.kernel("k")
    assert any(isinstance(o, ConstantBank) and o.index for i in kernel.instructions() for o in i.operands)
    for thread, row in enumerate(out.download()):
        own = given[8 * (thread & 15) :]
        assert row[0] == own[:4].copy().view(np.uint32)[0]
        assert row[2:4].view(np.uint64)[0] == own[8:16].copy().view(np.uint64)[0]
        assert row[4] == own[3]
        assert row[5].astype(np.int32) == own[6:8].copy().view(np.int16)[0]
