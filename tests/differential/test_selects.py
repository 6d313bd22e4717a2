"""A guarded bitwise instruction that writes one of its operands, in the masked blend of LLVM."""

from __future__ import annotations

import numpy as np
import pytest

from warpreg.simt import Device

TEXT = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
    .reg .b64 %i, %o; .reg .b32 %r<4>; .reg .f32 %f<2>; .reg .pred %p<2>;
    ld.param.u64 %i, [in]; ld.param.u64 %o, [out];
    mov.u32 %r0, %tid.x; mad.wide.u32 %i, %r0, 4, %i; mad.wide.u32 %o, %r0, 4, %o;
    ld.global.f32 %f0, [%i]; mov.f32 %f1, 0f3F7FFFFF; ld.global.u32 %r2, [%i]; mov.u32 %r3, 0x0F0F0F0F;
    and.b32 %r1, %r0, 1; setp.ne.u32 %p0, %r1, 0; setp.lt.u32 %p1, %r0, 64;
    @!%p1 bra $end;
    INSTRUCTION;
    setp.eq.u32 %p1, %r0, 99;
$end:
    st.global.b32 [%o], RESULT;
    ret;
}
"""


@pytest.mark.parametrize(
    ("instruction", "result", "odd", "even"),
    [
        ("@%p0 copysign.f32 %f1, %f0, %f1", "%f1", 0xBF7FFFFF, 0x3F7FFFFF),
        ("@!%p0 copysign.f32 %f1, %f0, %f1", "%f1", 0x3F7FFFFF, 0x3F7FFFFF),
        ("@%p0 bfi.b32 %r3, %r2, %r3, 8, 24", "%r3", 0x6000000F, 0x0F0F0F0F),
        ("@%p0 lop3.b32 %r3, %r2, 0xFF00FF00, %r3, 0xCA", "%r3", 0xCF0F0F0F, 0x0F0F0F0F),
    ],
)
def test_guarded_blend(instruction: str, result: str, odd: int, even: int) -> None:
    """Lane 2 i + 1 holds -3.5, which is 0xC0600000; lane 2 i holds 0.5."""
    device = Device(TEXT.replace("INSTRUCTION", instruction).replace("RESULT", result), options=None)
    out = device.zeros(32, np.uint32)
    device.launch("k", 1, 32, device.upload(np.array([0.5, -3.5] * 16, np.float32)), out)
    assert [hex(word) for word in out.download()] == [hex(even), hex(odd)] * 16
