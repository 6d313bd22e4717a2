"""Widths by instruction: each value counts once, with the bytes that all of its lanes need."""

from __future__ import annotations

import numpy as np
import pytest

import warpreg
from warpreg import simt
from warpreg.evaluation.runs.value_widths import value_deltas, value_widths
from warpreg.trace.chunked import TraceError

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry widths(.param .u64 out)
{
    .reg .b32 %a, %b, %c, %i;
    .reg .b64 %out;
    .reg .pred %p;
    ld.param.u64 %out, [out];
    mov.u32 %a, %tid.x;
    shl.b32 %b, %a, 8;
    mov.u32 %i, 0;
L:
    mad.lo.u32 %c, %b, 65537, %i;
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, 3;
    @%p bra L;
    add.u32 %c, %c, %b;
    st.global.u32 [%out], %c;
    ret;
}
"""


def test_an_instruction_counts_each_of_its_visits() -> None:
    """Two warps: thread numbers are at most 63, so they need one byte, and two when shifted by 8; times 65537, they
    need four.  The loop runs three times.
    """
    record = simt.Record(path=True, widths=True)
    run = warpreg.compile(KERNEL, record=record)["widths"][1, 64](np.zeros(1, np.uint32))
    (kernel,) = run.kernels
    found = value_widths(run, kernel, "interpreted")
    assert found.tolist() == value_widths(run, kernel).tolist()
    by_opcode = {one.opcode: found[pc].tolist() for pc, one in enumerate(kernel.instructions())}
    assert by_opcode["shl"] == [0, 2, 0, 0]
    assert by_opcode["mad"] == [0, 0, 0, 6]
    assert by_opcode["setp"] == by_opcode["st"] == [0, 0, 0, 0]


def test_deltas_are_counted_likewise() -> None:
    """Thread numbers differ from the first one of their warp by less than 32, and by two bytes when shifted by 8; the
    counter is the same in all lanes.
    """
    run = warpreg.compile(KERNEL, record=simt.Record(path=True, patterns=True))["widths"][1, 64](np.zeros(1, np.uint32))
    (kernel,) = run.kernels
    found = value_deltas(run, kernel, "interpreted")
    opcodes = [one.opcode for one in kernel.instructions()]
    assert found[opcodes.index("shl")].tolist() == [0, 0, 2, 0, 0]
    assert found[opcodes.index("mad")].tolist() == [0, 0, 0, 0, 6]
    assert sum(map(int, found[:, 0])) >= 6
    assert value_widths(run, kernel, "interpreted").sum(axis=1).tolist() == found.sum(axis=1).tolist()


def test_a_run_without_widths_is_refused() -> None:
    run = warpreg.compile(KERNEL, record=simt.Record(path=True))["widths"][1, 32](np.zeros(1, np.uint32))
    (kernel,) = run.kernels
    with pytest.raises(TraceError, match="needs the widths of values"):
        value_widths(run, kernel, "interpreted")
