"""The widths of a recorded run, brought to the kernel that a design has made of the recorded one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.designs.kernels import kernel, op, pair, r
from tests.replay.paths import Recorded
from tests.simt.programs import COMPILED, Runner

from warpreg.ir.errors import Location
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.simt import Record
from warpreg.trace import TraceError
from warpreg.trace.widths import UNKNOWN, WidthReader, places


def located(*instructions: Instruction) -> list[Instruction]:
    return [replace(one, location=Location("k.ptx", line)) for line, one in enumerate(instructions, 1)]


ADD, WIDE, LAST = located(
    op("add.s32", r(1), r(1), 1), op("add.s64", pair(2), pair(2), pair(4)), op("add.s32", r(0), r(1), r(2))
)
RECORDED = kernel([ADD, WIDE], [LAST])
INSERTED = op("add.s32", r(6), r(1), 1)


def widths_of(running: Kernel, *recorded: int) -> list[int]:
    """Of the results of ``running``, whose blocks were visited once each, the second one first."""
    path = Recorded().thread_block().warp(0).visits(1, 0).widths(*recorded)
    (words,) = path.path_chunks()
    reader = WidthReader(path, places(RECORDED, running), "a test", "interpreted")
    found = reader.of(words).tolist()
    reader.finish()
    return list(found)


def test_each_result_word_has_its_own_width() -> None:
    assert widths_of(RECORDED, 1, 2, 3, 4) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ((INSERTED, ADD, WIDE), (UNKNOWN, 2, 3, 4)),
        ((ADD, INSERTED, WIDE), (2, UNKNOWN, 3, 4)),
        ((WIDE, ADD), (3, 4, 2)),
        ((replace(ADD, operands=(r(7), r(1), *ADD.operands[2:])), WIDE), (2, 3, 4)),
        ((ADD, ADD, WIDE), (2, 2, 3, 4)),
        ((WIDE,), (3, 4)),
    ],
    ids=["inserted first", "inserted between", "moved", "renamed", "copied", "removed"],
)
def test_what_a_design_rewrites_does_not_shift_the_widths_of_others(
    first: tuple[Instruction, ...], expected: tuple[int, ...]
) -> None:
    """The second block was visited first: one byte.  Then R1 has 2 bytes, R2 and R3 of the pair 3 and 4."""
    assert widths_of(kernel(list(first), [LAST]), 1, 2, 3, 4) == [1, *expected]


def test_widths_of_all_rows_are_rewritten_like_recorded_ones() -> None:
    """What is recorded of a barrier's result is nothing; what a reader returns has a byte of it."""
    reduced = kernel([op("bar.red.popc.u32", r(1), 0, r(2)), ADD])
    assert places(reduced, reduced).place.tolist() == [-UNKNOWN, 0]
    assert places(reduced, reduced, all_rows=True).place.tolist() == [0, 1]


def test_a_path_of_another_kernel_is_refused() -> None:
    path = Recorded().thread_block().warp(0).visits(2).widths(1)
    (words,) = path.path_chunks()
    with pytest.raises(TraceError, match="the run: the path is not of this kernel"):
        WidthReader(path, places(RECORDED, RECORDED), "a test", "interpreted").of(words)


MIXED = """
setp.lt.u32 %p1, %t, 5;
bar.red.popc.u32 %r1, 0, %p1;
add.u32 %r2, %r1, 1000;
mul.wide.u32 %rd1, %t, 4;
mov.b64 {%r3, %r4}, %rd1;
vote.sync.ballot.b32 %r5, %p1, -1;
add.u32 %r2, %r2, %r5;
add.u32 %r2, %r2, %r3;
add.u32 %r2, %r2, %r4;
st.global.u32 [%my_out], %r2;
"""


def test_a_run_records_as_many_widths_as_its_path_has_places() -> None:
    """Pairs, votes and a reduced barrier, whose result is recorded nowhere; 1005 has 2 bytes."""
    launch = Runner(COMPILED)(
        MIXED, block=64, out=np.zeros(64, np.uint32), record=Record(path=True, widths=True)
    ).launch
    assert launch.trace is not None
    reader = WidthReader(launch.trace, places(launch.kernel, launch.kernel), "a test", "interpreted")
    found = [width for words in launch.trace.path_chunks() for width in reader.of(words).tolist()]
    reader.finish()
    assert set(found) <= {1, 2, 3, 4}
    reduced = [one for block in launch.kernel.blocks for one in block.instructions if one.opcode == "bar"]
    assert len(reduced) == 1
    assert UNKNOWN in found
    assert 2 in found
