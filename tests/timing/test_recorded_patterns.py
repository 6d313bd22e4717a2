"""Patterns of a recorded run on their way into the timing core and replays, and what designs are told without them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simt.programs import COMPILED, Runner
from tests.timing.both_cores import agreed
from tests.timing.random_runs import Case, cases
from tests.timing.test_miniatures import miniature
from tests.timing.test_recorded_widths import BODY, timed

from warpreg import timing
from warpreg.designs import Design, load
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.patterns import UNEVEN, delta_bytes, is_partial, shape_of
from warpreg.replay import distinct_warps, replay
from warpreg.simt import Launch, Record
from warpreg.timing import Window
from warpreg.trace import TraceError
from warpreg.trace.patterns import pattern_of

RECORD = Record(path=True, addresses=True, patterns=True)


def recorded(record: Record) -> Launch:
    x = np.arange(64, dtype=np.uint32) * 1001
    return Runner(COMPILED)(BODY, grid=5, block=48, x=x, out=np.zeros(240, np.uint32), record=record).launch


@pytest.fixture(scope="module")
def launch() -> Launch:
    return recorded(RECORD)


def sums_of(launch: Launch) -> dict[str, int]:
    """What the miniature counts, of all recorded results."""
    assert launch.trace is not None
    every = [pattern_of(byte) for chunk in launch.trace.width_chunks() for byte in chunk.tolist()]
    return {
        "deltas": sum(map(delta_bytes, every)),
        "partial": sum(map(is_partial, every)),
        "even": sum(shape_of(one) != UNEVEN for one in every),
    }


def test_every_way_of_counting_sees_the_recorded_patterns(launch: Launch) -> None:
    """Half of the warps have 16 threads, all of which write: no write is partial."""
    design, trace = miniature("patterned"), launch.trace
    assert trace is not None
    found = timed(launch, design)
    assert found == sums_of(launch)
    assert found["partial"] == 0 < found["even"]
    assert replay(trace, launch.kernel, design, mode="interpreted").events == found
    kernel = launch.kernel
    distinct = distinct_warps([trace], len(kernel.blocks), "interpreted", widths_of=kernel, patterns=True)
    assert replay(distinct, kernel, design, mode="interpreted").events == found
    _, schedule = timing.recorded_schedule(launch, "gtx480", sms=1, mode="interpreted")
    assert replay(trace, kernel, design, schedule=schedule, mode="interpreted").events == found


def test_a_design_that_reads_widths_does_not_see_patterns(launch: Launch) -> None:
    """The same bytes as of a run that recorded widths alone."""
    other = recorded(Record(path=True, addresses=True, widths=True))
    assert timed(launch, miniature("narrow")) == timed(other, miniature("narrow"))


def test_windows_side_by_side_have_the_patterns_of_the_whole(launch: Launch) -> None:
    design = miniature("patterned")
    parts = [timed(launch, design, window) for window in (Window(2), Window(9, first=2))]
    assert {name: sum(part[name] for part in parts) for name in parts[0]} == timed(launch, design)


@settings(max_examples=15, deadline=None)
@given(cases, st.integers(0, 100))
def test_both_cores_agree_on_patterns(case: Case, seed: int) -> None:
    launched = case.launched.with_patterns(seed)
    agreed(launched, case.sm, case.latency, case.interval, case.sms, case.resident, miniature("patterned"))


INSERTING = """
import dataclasses
from warpreg.ir.instruction import Instruction
from warpreg.designs.interface import *
DESIGN = Declaration(slot="mapping", events=("unknown",), patterns=True, source="assumed: a test")
def rewrite(kernel, parameters):
    return dataclasses.replace(kernel, blocks=tuple(_with_copy(block) for block in kernel.blocks))
def _with_copy(block):
    words = [register for one in block.instructions for register in one.defined if len(register.words) == 1]
    copies = [Instruction("brev", ("b32",), (word, word)) for word in words[:1]]
    return dataclasses.replace(block, instructions=(*copies, *block.instructions))
@hook
def plan_write(state, program, warp, pc, plan):
    for operand in result_operands(program, pc):
        found = pattern(plan, operand)
        if is_partial(found) and shape_of(found) == UNEVEN and delta_bytes(found) == 4:
            count(plan, 0)
        write(plan, operand, MRF)
"""


def test_what_a_design_inserts_is_uneven_and_partial(launch: Launch, tmp_path: Path) -> None:
    """One instruction in front of the loop body, which each of 10 warps visits 3 times, and one in front of what comes
    before it.
    """
    path = tmp_path / "inserting.py"
    path.write_text(INSERTING, encoding="utf-8")
    assert launch.trace is not None
    assert replay(launch.trace, launch.kernel, load(path), mode="interpreted").events == {"unknown": (1 + 3) * 10}


@pytest.mark.parametrize("widths", [False, True])
def test_a_run_without_patterns_is_refused_in_one_line(widths: bool) -> None:
    with pytest.raises(TraceError) as error:
        timed(recorded(Record(path=True, addresses=True, widths=widths)), miniature("patterned"))
    assert str(error.value) == (
        "design patterned: needs the patterns of values, and trace has none: run the kernel with "
        "Record(path=True, patterns=True); hardware traces contain no values"
    )


def refused(tmp_path: Path, declaration: str) -> Design:
    path = tmp_path / "mine.py"
    path.write_text(INSERTING.replace("patterns=True", declaration), encoding="utf-8")
    return load(path)


def test_a_design_that_asks_for_patterns_declares_them(tmp_path: Path) -> None:
    with pytest.raises(DesignError, match=r"mine.py:15: pattern requires DESIGN = Declaration\(..., patterns=True\)"):
        refused(tmp_path, "widths=True")
    with pytest.raises(DesignError, match="patterns expects order 'warp' or more"):
        refused(tmp_path, 'patterns=True, order="static"')
