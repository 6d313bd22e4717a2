"""Variables of a module that the host fills and reads: names, types, sizes, and constants that nothing filled."""

from __future__ import annotations

import re
import struct
import warnings
from typing import Any

import numpy as np
import pytest

from warpreg.ir.errors import UnknownNameError
from warpreg.simt import Device, LaunchError, Structure, UnfilledWarning

MODULE = """.version 8.0
.target sm_80
.address_size 64
.const .align 4 .b8 w[16];
.const .align 4 .f32 scale;
.const .align 4 .u32 set = 5;
.const .align 16 .b8 _ZN2ns1vE[16];
.const .align 4 .u32 _ZN1a4sameE;
.const .align 4 .u32 _ZN1b4sameE;
.const .f32 typed[2];
.global .align 4 .u32 counter;
.global .align 8 .u64 pointer;
.global .align 8 .b8 record[16];
.global .texref image;
.extern .global .u32 elsewhere;
.extern .shared .align 4 .b8 dynamic[];
.visible .entry k(.param .u64 out)
{
.reg .b32 %r<3>; .reg .b64 %rd<2>;
.shared .align 4 .b8 tile[128];
ld.param.u64 %rd1, [out];
ld.const.b32 %r1, [w+4];
st.shared.b32 [tile], %r1;
st.global.b32 [%rd1], %r1;
ld.const.b32 %r1, [scale];
st.global.b32 [%rd1+4], %r1;
ld.const.b32 %r1, [set];
st.global.b32 [%rd1+8], %r1;
ld.const.b32 %r1, [_ZN2ns1vE+8];
st.global.b32 [%rd1+12], %r1;
ret;
}
.visible .entry other(.param .u64 out)
{
.reg .b32 %r<3>; .reg .b64 %rd<2>;
ld.param.u64 %rd1, [out];
ld.global.u32 %r1, [counter];
add.u32 %r1, %r1, 1;
st.global.u32 [counter], %r1;
ld.const.u32 %r2, [set];
st.global.u32 [%rd1], %r2;
ret;
}
"""
F32, S32, U32, F64 = np.float32, np.int32, np.uint32, np.float64


def test_a_kernel_reads_what_the_host_filled() -> None:
    device = Device(MODULE)
    out = device.zeros(4, np.float32)
    device.fill_all({"w": np.array([1, 2, 3, 4], F32), "scale": 2.5, "set": 0, "ns::v": np.arange(4, dtype=F32)})
    device.launch("k", 1, 1, out)
    assert out.download().tolist() == [2, 2.5, 0, 2]


@pytest.mark.parametrize("name", ["ns::v", "v", "_ZN2ns1vE"])
def test_a_variable_is_named_as_in_the_source_or_in_ptx(name: str) -> None:
    device = Device(MODULE)
    device.fill(name, b"0123456789abcdef")
    assert device.variable("_ZN2ns1vE").download().tobytes() == b"0123456789abcdef"
    device.assign(name, np.array([1], np.uint8))
    assert device.content(name).tobytes() == b"\x01123456789abcdef"


def test_a_pointer_variable_holds_the_address_of_a_buffer() -> None:
    device = Device(MODULE)
    buffer = device.zeros(4, np.float32)
    for given in (buffer, Structure(buffer), buffer.address):
        device.fill("pointer", given)
        assert device.content("pointer") == buffer.address
        device.fill("pointer", 0)
    device.fill("record", Structure(F32(1.5), S32(-2), buffer))
    assert struct.unpack("<fiQ", device.content("record").tobytes()) == (1.5, -2, buffer.address)


def test_the_content_of_a_variable_has_its_type() -> None:
    device = Device(MODULE)
    device.fill_all({"counter": 7, "typed": np.array([1.5, 2.5], F32)})
    assert (device.content("counter").dtype, device.content("counter").shape) == (np.uint32, ())
    assert device.content("typed").tolist() == [1.5, 2.5]
    assert (device.content("w").dtype, device.content("w").shape) == (np.uint8, (16,))
    device.launch("other", 1, 1, device.zeros(1, np.uint32))
    assert device.content("counter") == 8


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("w", np.zeros(3, F32), "variable 'w': expected 16 bytes, found 12 (f32[3])"),
        ("w", np.zeros((5, 1), F32), "variable 'w': expected 16 bytes, found 20 (f32[5, 1])"),
        ("w", F32(1), "variable 'w': expected 16 bytes, found 4; a structure takes its fields"),
        ("w", 1, "variable 'w': expected 16 bytes, found int; a structure takes its fields"),
        ("w", bytes(15), "variable 'w': expected 16 bytes, found 15"),
        ("scale", bytes(5), "variable 'scale': expected 4 bytes, found 5"),
        ("record", Structure(F32(1), F32(2)), "expected 16 bytes, aligned to 8, found 8: f32[2] at 0"),
        ("scale", S32(1), "variable 'scale': expected f32, found s32"),
        ("scale", np.zeros(1, np.int32), "variable 'scale': expected f32, found s32"),
        ("scale", F64(1), "variable 'scale': expected 4 bytes (f32), found 8 (f64)"),
        ("counter", F32(1), "variable 'counter': expected u32, found f32"),
        ("counter", np.uint64(1), "variable 'counter': expected 4 bytes (u32), found 8 (u64)"),
        ("counter", 1 << 32, "variable 'counter': 4294967296 does not fit 32 bits"),
        ("counter", "1", "variable 'counter': expected a number or a buffer, found str"),
        ("typed", np.zeros(1, F64), "variable 'typed': expected f32, found f64"),
        ("typed", np.zeros(3, F32), "variable 'typed': expected 8 bytes, found 12 (f32[3])"),
        ("pointer", F64(1), "variable 'pointer': expected u64, found f64"),
        ("tile", 1, "variable 'tile': it is shared memory of a thread block: expected a __device__ or __constant__"),
        ("dynamic", 1, "variable 'dynamic': it is shared memory of a thread block"),
        ("image", 1, "variable 'image': it is a texture, sampler or surface reference"),
        ("elsewhere", 1, "variable 'elsewhere': it is declared extern, and another module defines it"),
        ("same", 1, "variable 'same': expected the name of one variable, found 2: a::same, b::same"),
    ],
)
def test_a_value_or_a_name_that_does_not_fit_says_what_was_expected(name: str, value: Any, said: str) -> None:
    with pytest.raises(LaunchError, match=re.escape(said)):
        Device(MODULE).fill(name, value)


def test_an_unknown_name_is_answered_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match="no module variable named 'counters'; did you mean 'counter'"):
        Device(MODULE).fill("counters", 1)
    one = Device(".version 8.0\n.target sm_80\n.address_size 64\n.const .f32 w;\n.global .b8 $str[1];")
    with pytest.raises(UnknownNameError, match=r"no module variable named 'xyz'; there are: w$"):
        one.variable("xyz")


def test_two_names_of_one_variable_are_one_too_many() -> None:
    with pytest.raises(LaunchError, match="variable '_ZN2ns1vE': it is given twice, also as 'ns::v'"):
        Device(MODULE).fill_all({"ns::v": bytes(16), "_ZN2ns1vE": bytes(16)})


def test_a_constant_that_nothing_filled_is_told_once() -> None:
    device = Device(MODULE)
    out = device.zeros(4, np.float32)
    device.fill("scale", 2.5)
    with pytest.warns(
        UnfilledWarning, match="kernel 'k' reads the __constant__ variables w, ns::v, which nothing filled"
    ):
        device.launch("k", 1, 1, out)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        device.launch("k", 1, 1, out)
        device.launch(
            "other", 1, 1, out
        )  # an initialiser fills the one constant, and the other variable is no constant


@pytest.mark.parametrize("way", ["fill", "assign", "variable"])
def test_a_constant_that_the_host_filled_is_not_told(way: str) -> None:
    device = Device(MODULE)
    for name, size in (("w", 16), ("scale", 4), ("ns::v", 16)):
        if way == "fill":
            device.fill(name, bytes(size))
        elif way == "assign":
            device.assign(name, np.zeros(1, np.uint8))
        else:
            device.variable(name).write(np.zeros(size, np.uint8))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        device.launch("k", 1, 1, device.zeros(4, np.float32))
