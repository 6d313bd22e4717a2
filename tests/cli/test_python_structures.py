"""Structures by value and variables of a module in calls from Python."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from tests.cli.test_symbols import FILTER, PAIR

import warpreg
from warpreg.api import ArgumentError
from warpreg.evaluation.runs.call import digest
from warpreg.ir.errors import WarpregError

F32, S32 = np.float32, np.int32


def pair(argument: Any, **options: Any) -> warpreg.Run:
    return warpreg.compile(PAIR, **options)["k"][1, 32](argument)


@pytest.mark.parametrize("bits", [32, 64])
def test_arrays_in_a_structure_are_pointers_and_are_copied_back(bits: int) -> None:
    out = np.zeros(32, np.float32)
    run = pair(warpreg.struct(F32(2.5), S32(20), out), address_bits=bits)
    assert out.tolist() == [2.5] * 20 + [0] * 12
    assert list(run.outputs) == ["argument 0.2"]
    assert run.outputs["argument 0.2"].tolist() == out.tolist()


def test_a_record_and_a_ctypes_structure_are_parts_of_a_structure() -> None:
    class Head(ctypes.Structure):
        _fields_ = (("a", ctypes.c_float), ("n", ctypes.c_int))

    record = np.array((2.5, 20), [("a", "f4"), ("n", "i4")])
    for head in (record, record[()], Head(2.5, 20), record.tobytes(), (F32(2.5), S32(20))):
        out = np.zeros(32, np.float32)
        pair(warpreg.struct(head, out))
        assert out.tolist() == [2.5] * 20 + [0] * 12


def test_records_are_passed_by_value_and_packed_ones_refused() -> None:
    dtype = np.dtype([("a", "f4"), ("n", "i4"), ("out", "u8")], align=True)
    for record in (np.array((2.5, 0, 0), dtype), np.array([(2.5, 0, 0)], dtype), np.array([(2.5, 0, 0)], dtype)[0]):
        assert pair(record).outputs == {}
    with pytest.raises(WarpregError, match="expected 16 bytes, found 32: a at 0, n at 4, out at 8"):
        pair(np.zeros(2, dtype))
    packed = np.dtype([("c", "i1"), ("n", "i4"), ("out", "u8")])
    with pytest.raises(WarpregError, match="expected 16 bytes, found 13: c at 0, n at 1, out at 5; numpy"):
        pair(np.zeros((), packed))
    with pytest.raises(WarpregError, match="expected 16 bytes, found a buffer; a structure takes its fields"):
        pair(np.zeros(4, F32))


def test_an_array_in_two_places_is_one_buffer() -> None:
    both = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .align 8 .b8 p[16], .param .u64 q)
{
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [p];
ld.param.u64 %rd2, [p+8];
ld.param.u64 %rd3, [q];
st.global.u64 [%rd1], %rd2;
st.global.u64 [%rd1+8], %rd3;
ret;
}
"""
    x = np.zeros(2, np.uint64)
    run = warpreg.compile(both)["k"][1, 1](warpreg.struct(x, (x,)), x)
    assert x[0] == x[1] != 0
    assert list(run.outputs) == ["argument 0.0", "argument 0.1.0", "argument 1"]


def test_variables_are_filled_copied_back_and_read() -> None:
    kernel = warpreg.compile(FILTER)["k"][1, 8]
    w, out, samples = np.array([1, 2, 3, 4], F32), np.zeros(8, F32), np.zeros(8, F32)
    counter = np.array(100, np.uint32)
    run = kernel(out, symbols={"w": w, "counter": counter, "samples": warpreg.struct(samples)})
    assert out.tolist() == samples.tolist() == [1, 2, 3, 4] * 2
    assert counter == 108
    assert set(run.outputs) == {"argument 0", "counter", "samples.0"}
    run = kernel(out, symbols={"w": warpreg.struct(*w)}, read=["counter"])
    assert run.outputs["counter"] == 3 + 8  # the initialiser is 3


def test_a_constant_array_may_be_read_only_and_a_variable_that_is_written_may_not() -> None:
    kernel = warpreg.compile(FILTER)["k"][1, 8]
    w, counter = np.array([1, 2, 3, 4], F32), np.zeros(1, np.uint32)
    w.flags.writeable = counter.flags.writeable = False
    kernel(np.zeros(8, F32), symbols={"w": w})
    with pytest.raises(ArgumentError, match="k: the kernel wrote to variable counter, a read-only array"):
        kernel(np.zeros(8, F32), symbols={"w": w, "counter": counter})


@pytest.mark.parametrize(
    ("symbols", "said"),
    [
        ({"v": 1}, "no module variable named 'v'"),
        ({"w": np.zeros(3, F32)}, r"variable 'w': expected 16 bytes, found 12 \(f32\[3\]\)"),
        ({"counter": np.zeros(1, F32)}, "variable 'counter': expected u32, found f32"),
        ({"w": [1, 2, 3, 4]}, "k: w is a list, expected a NumPy array, a number, or a structure"),
        ({"samples": warpreg.struct(np.zeros(0))}, r"k: samples\.0 is an empty array, which has no device memory"),
        ({"samples": warpreg.struct(1, 2)}, "variable 'samples': expected u64, found a structure"),
    ],
)
def test_a_variable_that_cannot_be_filled(symbols: Any, said: str) -> None:
    with pytest.raises(WarpregError, match=said):
        warpreg.compile(FILTER)["k"][1, 8](np.zeros(8, F32), symbols=symbols)


def test_the_identity_of_a_call_depends_on_every_value_and_on_no_padding() -> None:
    dtype = np.dtype([("c", "i1"), ("inner", np.dtype([("s", "i1"), ("d", "f8")], align=True))], align=True)
    records = []
    for garbage in (b"\0", b"\xff"):
        record = np.frombuffer(bytearray(garbage * dtype.itemsize), dtype).reshape(())
        record["c"], record["inner"]["s"], record["inner"]["d"] = 1, 2, 2.5
        records.append(record)
    assert records[0].tobytes() != records[1].tobytes()
    assert digest([records[0]]) == digest([records[1]])
    struct = warpreg.struct
    different = [
        struct(F32(1), F32(2)), struct(F32(1), F32(3)), struct((F32(1), F32(2))), struct(F32(1), F32(2), align=16),
        struct(F32(1), np.zeros(2, F32)), struct(F32(1), np.ones(2, F32)), b"ab", b"ba", records[0],
    ]  # fmt: skip
    assert len({digest([one]) for one in different}) == len(different)


def test_cuda_source_with_a_constant_and_a_structure() -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    source = """
namespace filter { static __constant__ float taps[2]; }
struct Part { char c; double d; };
struct P { Part part[2]; short s; float w[3]; float4 v; float *out; };
extern "C" __global__ void k(P p, int n) {
  float found[] = {float(p.part[1].c), float(p.part[1].d), float(p.s), p.w[n], p.v.w, filter::taps[n]};
  for (int i = 0; i < 6; i++) p.out[i] = found[i];
}
"""
    out = np.zeros(6, F32)
    struct = warpreg.struct
    parts = (struct(np.int8(1), np.float64(2.5)), struct(np.int8(3), np.float64(4.5)))
    vector = struct(F32(9), F32(10), F32(11), F32(12), align=16)
    argument = struct(parts, np.int16(5), tuple(np.array([6, 7, 8], F32)), vector, out)
    warpreg.compile(source)["k"][1, 1](argument, 1, symbols={"filter::taps": np.array([13, 14], F32)})
    assert out.tolist() == [3, 4.5, 5, 7, 12, 14]
