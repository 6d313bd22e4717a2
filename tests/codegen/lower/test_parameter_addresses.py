"""Parameters accessed through addresses: generic ones, and registers in the parameter space."""

from __future__ import annotations

import numpy as np
import pytest

from warpreg.codegen import CompileOptions
from warpreg.simt import Device

TEXT = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .align 8 .b8 table[16], .param .align 1 .b8 odd[3])
{
    .reg .b64 %rd<9>;
    .reg .b32 %r<9>;
    .reg .b16 %h<3>;
    .reg .pred %p<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    and.b32 %r1, %r1, 3;
    mul.wide.u32 %rd2, %r1, 4;
    mov.b64 %rd3, table;
    add.s64 %rd4, %rd3, %rd2;
    ld.param.u32 %r2, [%rd4];
    cvta.param.u64 %rd5, %rd3;
    add.s64 %rd6, %rd5, %rd2;
    ld.u32 %r3, [%rd6];
    isspacep.param %p1, %rd6;
    isspacep.param %p2, %rd1;
    selp.u32 %r4, 1, 0, %p1;
    selp.u32 %r5, 1, 0, %p2;
    mov.b64 %rd7, odd;
    ld.param.u8 %r6, [%rd7+2];
    ld.param.u32 %r7, [table+4];
    mov.u32 %r8, %tid.x;
    mul.wide.u32 %rd2, %r8, 24;
    add.s64 %rd1, %rd1, %rd2;
    st.global.v2.u32 [%rd1], {%r2, %r3};
    st.global.v2.u32 [%rd1+8], {%r4, %r5};
    st.global.v2.u32 [%rd1+16], {%r6, %r7};
    ret;
}
"""


@pytest.mark.parametrize("options", [None, CompileOptions()])
def test_a_parameter_indexed_by_the_thread(options: CompileOptions | None) -> None:
    device = Device(TEXT, options=options)
    out = device.zeros((8, 6), np.uint32)
    table, odd = np.array([10, 11, 12, 13], np.uint32), np.array([1, 2, 250], np.uint8)
    device.launch("k", 1, 8, out, table, odd)
    assert out.download().tolist() == [[10 + i % 4, 10 + i % 4, 1, 0, 250, 11] for i in range(8)]


def test_special_registers_have_a_fourth_component_of_zero() -> None:
    text = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b64 %o;
    .reg .b32 %a, %b;
    ld.param.u64 %o, [out];
    mov.u32 %a, %tid.w;
    mov.u32 %b, %nctaid.w;
    st.global.v2.u32 [%o], {%a, %b};
    ret;
}
"""
    device = Device(text)
    out = device.upload(np.array([5, 5], np.uint32))
    device.launch("k", 1, 1, out)
    assert out.download().tolist() == [0, 0]
