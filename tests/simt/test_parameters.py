"""Parameters indexed at run time or through generic addresses, large ones, and constants out of bounds."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.simt.programs import COMPILED, VIRTUAL, Runner, words

from warpreg.codegen import CompileOptions
from warpreg.simt import Device, MemoryFault

HEADER = ".version 8.1\n.target sm_80\n.address_size 64\n"
INDEXED = (
    HEADER
    + """
.visible .entry k(.param .u64 out, .param .align 8 .b8 big[{bytes}], .param .u32 n)
{{
.reg .b32 %r<9>; .reg .b64 %rd<9>;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
mad.wide.u32 %rd1, %r1, 4, %rd1;
ld.param.u32 %r2, [n];
mul.lo.u32 %r3, %r1, %r2;
mul.wide.u32 %rd2, %r3, 4;
mov.b64 %rd3, big;
add.s64 %rd4, %rd3, %rd2;
{load}
ld.param.u32 %r5, [big+{last}];
add.u32 %r4, %r4, %r5;
st.global.u32 [%rd1], %r4;
ret;
}}
"""
)
WAYS = {
    "param": "ld.param.u32 %r4, [%rd4];",
    "generic": "cvta.param.u64 %rd5, %rd4; ld.u32 %r4, [%rd5];",
    "entry": "ld.param::entry.b32 %r4, [%rd4+0];",
}


@pytest.mark.parametrize("options", [VIRTUAL, COMPILED], ids=["virtual", "compiled"])
@pytest.mark.parametrize("load", WAYS.values(), ids=WAYS)
def test_a_structure_is_indexed_at_run_time(load: str, options: CompileOptions | None) -> None:
    content = np.arange(100, 150, dtype=np.uint32)
    device = Device(INDEXED.format(bytes=200, last=196, load=load), options=options)
    for step in (1, 3):  # the second launch sees its own parameters
        out = device.zeros(16, np.uint32)
        device.launch("k", 1, 16, out, content * step, step)
        assert out.download().tolist() == [step * (100 + step * t) + step * 149 for t in range(16)]


def test_the_largest_parameters() -> None:
    # 32,764 bytes in all (PTX ISA 8.1): 8 for the pointer, 4 for the number, 32,752 for the structure.
    content = np.arange(8188, dtype=np.uint32)
    device = Device(INDEXED.format(bytes=32752, last=32748, load=WAYS["param"]))
    out = device.zeros(32, np.uint32)
    device.launch("k", 1, 32, out, content, 260)
    assert out.download().tolist() == [260 * t + 8187 for t in range(32)]


def test_an_index_beyond_the_parameters_is_an_error() -> None:
    device = Device(INDEXED.format(bytes=200, last=196, load=WAYS["param"]))
    # Thread 2 reads at 8 + 2 * 26 * 4 = 216 of 212 bytes.
    with pytest.raises(MemoryFault, match=r"thread \(2,0,0\), .*: out-of-bounds constant index: .* past the end of "):
        device.launch("k", 1, 32, device.zeros(32, np.uint32), np.zeros(50, np.uint32), 26)


CONSTANTS = ".const .u32 first[4] = {1, 2, 3, 4}; .global .u32 other[4] = {9, 9, 9, 9}; .const .u32 second[2] = {5, 6};"
LOOK_UP = """
mov.u64 %rd1, second; mad.wide.s32 %rd1, %t, 4, %rd1; @%p1 add.s64 %rd1, %rd1, {distance};
ld.const.u32 %r1, [%rd1]; st.global.u32 [%my_out], %r1;
"""


@pytest.mark.parametrize("distance", [8, -4, -512, 1 << 20])
def test_a_constant_index_out_of_bounds_is_one_error_wherever_it_points(run: Runner, distance: int) -> None:
    body = "setp.eq.u32 %p1, %t, 1;" + LOOK_UP.format(distance=distance - 4)
    # 512 bytes before lies a variable in global memory, which is no constant.
    with pytest.raises(MemoryFault) as caught:
        run(body, before=CONSTANTS, out=words(0, 0), block=2)
    assert re.search(r"thread \(1,0,0\), .*ld\.const.*: out-of-bounds constant index: address 0x", str(caught.value))


def test_a_constant_index_may_reach_another_constant_as_in_one_bank(run: Runner) -> None:
    body = "setp.eq.u32 %p1, %t, 1;" + LOOK_UP.format(distance=0)
    assert run(body, before=CONSTANTS, out=words(0, 0), block=2)["out"].tolist() == [5, 6]
