"""Structures by value: the layout of C, NumPy records, ctypes structures and pointers to buffers inside."""

from __future__ import annotations

import ctypes
import re
import struct
from typing import Any

import numpy as np
import pytest

from warpreg.codegen import CompileOptions
from warpreg.simt import Device, LaunchError, Structure

F32, F64, S8, S16, S32, U64 = np.float32, np.float64, np.int8, np.int16, np.int32, np.uint64

COPY = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .align {alignment} .b8 p[{size}])
{{
.reg .b32 %r<3>; .reg .b64 %rd<5>;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
cvt.u64.u32 %rd2, %r1;
mov.b64 %rd3, p;
add.s64 %rd3, %rd3, %rd2;
ld.param.u8 %r2, [%rd3];
add.s64 %rd4, %rd1, %rd2;
st.global.u8 [%rd4], %r2;
ret;
}}
"""
"""Thread i stores byte i of the structure."""


def content(argument: Any, size: int, alignment: int = 8) -> bytes:
    device = Device(COPY.format(size=size, alignment=alignment))
    out = device.zeros(size, np.uint8)
    device.launch("k", 1, size, out, argument)
    return out.download().tobytes()


class Inner(ctypes.Structure):
    _fields_ = (("c", ctypes.c_int8), ("d", ctypes.c_double))


ALIGNED = np.dtype([("c", "i1"), ("d", "f8")], align=True)


@pytest.mark.parametrize(
    ("structure", "expected", "alignment"),
    [
        (Structure(F32(2.5), S32(20), U64(7)), struct.pack("<fiQ", 2.5, 20, 7), 8),
        (Structure(S8(1), F64(2.5)), struct.pack("<b7xd", 1, 2.5), 8),
        (Structure(F64(2.5), S8(1)), struct.pack("<db7x", 2.5, 1), 8),
        (Structure(S8(1), S16(2), S8(3), S32(4)), struct.pack("<bxhb3xi", 1, 2, 3, 4), 4),
        (Structure(S8(1), (F32(2), F32(3)), S8(4)), struct.pack("<b3xffb3x", 1, 2, 3, 4), 4),
        (Structure((S8(1), F64(2)), S8(3)), struct.pack("<b7xdb7x", 1, 2, 3), 8),
        (Structure(F32(1), Structure(F32(2), F32(3), align=8)), struct.pack("<f4xff", 1, 2, 3), 8),
        (Structure(F32(1), align=16), struct.pack("<f12x", 1), 16),
        (Structure(F32(1), S32(2), F32(3)), struct.pack("<fif4x", 1, 2, 3), 16),
        (Structure(b"\1\2\3", S16(4)), struct.pack("<3Bxh", 1, 2, 3, 4), 2),
        (Structure(S8(1), np.array((2, 3.5), ALIGNED)[()]), struct.pack("<b7xb7xd", 1, 2, 3.5), 8),
        (Structure(S8(1), np.array((2, 3.5), ALIGNED)), struct.pack("<b7xb7xd", 1, 2, 3.5), 8),
        (Structure(S8(1), Inner(2, 3.5)), struct.pack("<b7xb7xd", 1, 2, 3.5), 8),
        (Structure(S8(1), (ctypes.c_float * 2)(2, 3)), struct.pack("<b3xff", 1, 2, 3), 4),
        (Structure(np.float16(1.5), np.bool_(True), tuple(np.arange(3, dtype=np.uint8))), b"\0\x3e\1\0\1\2", 2),
    ],
)
def test_fields_are_aligned_as_in_c(structure: Structure, expected: bytes, alignment: int) -> None:
    assert content(structure, len(expected), alignment) == expected


@pytest.mark.parametrize(
    "argument",
    [
        np.array((1, 2.5), ALIGNED),
        np.array((1, 2.5), ALIGNED)[()],
        np.array([(1, 2.5)], ALIGNED),
        struct.pack("<b7xd", 1, 2.5),
        bytearray(struct.pack("<b7xd", 1, 2.5)),
        Inner(1, 2.5),
    ],
    ids=["0-d array", "record", "array", "bytes", "bytearray", "ctypes"],
)
def test_records_bytes_and_ctypes_structures_are_passed_as_they_are(argument: Any) -> None:
    assert content(argument, 16)[:1] == b"\1"
    assert content(argument, 16)[8:] == struct.pack("<d", 2.5)


def test_pointers_in_a_structure_are_addresses_of_buffers() -> None:
    device = Device(COPY.format(size=24, alignment=8))
    out, inner = device.zeros(24, np.uint8), device.zeros(1, np.uint8)
    device.launch("k", 1, 24, out, Structure(F32(1), inner, (inner,)))
    assert struct.unpack("<f4xQQ", out.download().tobytes()) == (1, inner.address, inner.address)


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        (Structure(F32(1), F32(2)), "expected 16 bytes, aligned to 8, found 8: f32[2] at 0"),
        (Structure(S8(1), F64(2), S8(3)), "expected 16 bytes, aligned to 8, found 24: s8 at 0, f64 at 8, s8 at 16"),
        (Structure(), "expected 16 bytes, aligned to 8, found 0: no fields"),
        (
            np.zeros((), [("c", "i1"), ("d", "f8")]),
            "expected 16 bytes, found 9: c at 0, d at 1; numpy.dtype(..., align=True) places fields as C does",
        ),
        (bytes(15), "expected 16 bytes, found 15"),
        (F32(1), "expected 16 bytes, found 4; a structure takes its fields"),
        (1.5, "expected 16 bytes, found float; a structure takes its fields"),
        (
            Structure(1.5),
            "expected a NumPy number, such as numpy.float32(1.5), a record, bytes, or a buffer, found float",
        ),
        (Structure(3), "expected a NumPy number, such as numpy.int32(3), a record, bytes, or a buffer, found int"),
        (Structure("a"), "expected a NumPy number, a record, bytes, or a buffer, found str"),
        (Structure(np.zeros(4)), "expected a buffer as a pointer or tuple(array) as an array by value, found an array"),
        (np.zeros((), [("o", object), ("n", "i8")]), "expected 16 bytes, found ndarray"),
    ],
)
def test_a_structure_that_does_not_fit_says_what_it_is(argument: Any, said: str) -> None:
    with pytest.raises(LaunchError, match=r"kernel 'k', parameter 'p': .*" + re.escape(said)):
        content(argument, 16)


def test_an_array_is_no_structure_of_eight_bytes() -> None:
    device = Device(COPY.format(size=8, alignment=8))
    out = device.zeros(8, np.uint8)
    with pytest.raises(LaunchError, match="expected 8 bytes, found a buffer; a structure takes its fields"):
        device.launch("k", 1, 8, out, out)
    device.launch("k", 1, 8, out, Structure(out))
    assert out.download().view(np.uint64)[0] == out.address


def test_a_buffer_of_another_device_in_a_structure_is_refused() -> None:
    other = Device(COPY.format(size=8, alignment=8)).zeros(1, np.uint8, "elsewhere")
    with pytest.raises(LaunchError, match="parameter 'p': buffer 'elsewhere' belongs to another device"):
        content(Structure(other), 8)


@pytest.mark.parametrize("align", [0, 3, 512, -1])
def test_an_alignment_is_a_power_of_two(align: int) -> None:
    with pytest.raises(LaunchError, match=f"expected align 1, 2, 4, ... or 256, found {align}"):
        Structure(F32(1), align=align)


TYPED = """.version 8.3
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .f16 h, .param .b64 b, .param .u8 c, .param .s16 s, .param .b128 q)
{
.reg .b16 %h<3>; .reg .b32 %r<4>; .reg .b64 %rd<5>;
ld.param.u64 %rd1, [out];
ld.param.b16 %h1, [h];
st.global.b16 [%rd1], %h1;
ld.param.b64 %rd2, [b];
st.global.b64 [%rd1+8], %rd2;
ld.param.u8 %r1, [c];
st.global.u8 [%rd1+2], %r1;
ld.param.b16 %h2, [s];
st.global.b16 [%rd1+4], %h2;
ld.param.v2.b64 {%rd3, %rd4}, [q];
st.global.v2.b64 [%rd1+16], {%rd3, %rd4};
ret;
}
"""


@pytest.mark.parametrize("options", [None, CompileOptions()], ids=["virtual", "compiled"])
@pytest.mark.parametrize("wide", [(5 << 64) + 6, struct.pack("<QQ", 6, 5), Structure(U64(6), U64(5))])
@pytest.mark.parametrize("bits", [F64(2.5), struct.pack("<d", 2.5), Structure(F32(0), F32(2.0625))])
def test_parameters_of_narrow_and_wide_types(wide: Any, bits: Any, options: CompileOptions | None) -> None:
    device = Device(TYPED, options)
    out = device.zeros(32, np.uint8)
    device.launch("k", 1, 1, out, 1.5, bits, 200, -5, wide)
    # 2.0625 as float32 is 0x40040000, which is the upper word of 2.5 as float64.
    assert struct.unpack("<eBxhxxdQQ", out.download().tobytes()) == (1.5, 200, -5, 2.5, 6, 5)


@pytest.mark.parametrize(
    ("place", "argument", "said"),
    [
        (1, Structure(F32(1), F32(2)), "parameter 'h': expected f16, found a structure"),
        (2, b"1234", "parameter 'b': expected 8 bytes, found 4"),
        (3, 256, "parameter 'c': 256 does not fit 8 bits"),
        (4, 1 << 16, "parameter 's': 65536 does not fit 16 bits"),
        (5, 1 << 128, f"parameter 'q': {1 << 128} does not fit 128 bits"),
        (5, 0.5, "parameter 'q': expected an integer (b128), found 0.5"),
    ],
)
def test_values_that_do_not_fit_narrow_and_wide_types(place: int, argument: Any, said: str) -> None:
    device = Device(TYPED)
    arguments: list[Any] = [device.zeros(32, np.uint8), 1.5, 2.5, 200, -5, 6]
    arguments[place] = argument
    with pytest.raises(LaunchError, match=re.escape(said)):
        device.launch("k", 1, 1, *arguments)
