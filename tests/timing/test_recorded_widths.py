"""Widths of a recorded run on their way into the timing core and a replay along its schedule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.simt.programs import COMPILED, Runner
from tests.timing.test_miniatures import miniature

from warpreg import timing
from warpreg.designs import Design, load
from warpreg.replay import distinct_warps, replay
from warpreg.simt import Launch, Record
from warpreg.timing import Window
from warpreg.trace import TraceError

BODY = """
mov.u32 %r1, 0; mov.u32 %r3, 0;
L: mad.lo.u32 %r2, %r1, 64, %t;
and.b32 %r2, %r2, 63;
mad.wide.u32 %rd1, %r2, 4, %x;
ld.global.u32 %r4, [%rd1];
add.u32 %r3, %r3, %r4;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p1, %r1, 3;
@%p1 bra L;
st.global.u32 [%my_out], %r3;
"""
RECORD = Record(path=True, addresses=True, widths=True)


def recorded(record: Record) -> Launch:
    x = np.arange(64, dtype=np.uint32) * 1001
    return Runner(COMPILED)(BODY, grid=5, block=64, x=x, out=np.zeros(320, np.uint32), record=record).launch


@pytest.fixture(scope="module")
def launch() -> Launch:
    return recorded(RECORD)


def bytes_of(launch: Launch) -> int:
    assert launch.trace is not None
    return sum(int(chunk.sum()) for chunk in launch.trace.width_chunks())


def timed(launch: Launch, design: Design, window: Window | None = None) -> dict[str, int]:
    result = timing.simulate([launch], "gtx480", designs=[design], sms=1, window=window, mode="interpreted")
    return dict(result.counts.events)


def test_every_way_of_counting_sees_the_recorded_widths(launch: Launch) -> None:
    design, trace = miniature("narrow"), launch.trace
    assert trace is not None
    found = timed(launch, design)
    assert found["bytes"] == bytes_of(launch)
    assert found["loaded bytes"] > 0
    assert replay(trace, launch.kernel, design, mode="interpreted").events == found
    distinct = distinct_warps([trace], len(launch.kernel.blocks), "interpreted", widths_of=launch.kernel)
    assert replay(distinct, launch.kernel, design, mode="interpreted").events == found
    _, schedule = timing.recorded_schedule(launch, "gtx480", sms=1, mode="interpreted")
    assert replay(trace, launch.kernel, design, schedule=schedule, mode="interpreted").events == found


def test_windows_side_by_side_have_the_widths_of_the_whole(launch: Launch) -> None:
    design = miniature("narrow")
    parts = [timed(launch, design, window) for window in (Window(2), Window(2, first=2), Window(9, first=4))]
    whole = timed(launch, design)
    assert {name: sum(part[name] for part in parts) for name in whole} == whole


INSERTING = """
import dataclasses
from warpreg.ir.instruction import Instruction
from warpreg.designs.interface import *
DESIGN = Declaration(slot="mapping", events=("copies", "bytes"), widths=True, source="assumed: a test")
def rewrite(kernel, parameters):
    return dataclasses.replace(kernel, blocks=tuple(_with_copy(block) for block in kernel.blocks))
def _with_copy(block):
    words = [register for one in block.instructions for register in one.defined if len(register.words) == 1]
    copies = [Instruction("brev", ("b32",), (word, word)) for word in words[:1]]
    return dataclasses.replace(block, instructions=(*copies, *block.instructions))
@hook
def plan_write(state, program, warp, pc, plan):
    for operand in result_operands(program, pc):
        count(plan, 0)
        count(plan, 1, width(plan, operand))
        write(plan, operand, MRF)
"""


def test_what_a_design_inserts_is_wide_and_shifts_nothing(launch: Launch, tmp_path: Path) -> None:
    """One instruction in front of the loop body, which each of 10 warps visits 3 times, and one in front of what comes
    before it: a result word of 4 bytes for each.
    """
    path = tmp_path / "inserting.py"
    path.write_text(INSERTING, encoding="utf-8")
    assert launch.trace is not None
    found = replay(launch.trace, launch.kernel, load(path), mode="interpreted").events
    assert found["bytes"] == bytes_of(launch) + (1 + 3) * 10 * 4


def test_timing_refuses_a_run_without_widths_in_one_line() -> None:
    with pytest.raises(TraceError) as error:
        timed(recorded(Record(path=True, addresses=True)), miniature("narrow"))
    assert str(error.value) == (
        "design narrow: needs the widths of values, and trace has none: run the kernel with "
        "Record(path=True, widths=True); hardware traces contain no values"
    )
