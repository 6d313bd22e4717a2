"""Replay of code to which a design has added instructions, along the schedule of a run without them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import at, kernel, op, r
from tests.replay.paths import FULL, Recorded
from tests.replay.random_runs import runs
from tests.replay.schedules import ONE_SM, Scheduling, schedules

from warpreg.codegen.passes.base import with_blocks
from warpreg.counting.added_code import fit_of
from warpreg.designs import load
from warpreg.ir.kernel import Kernel
from warpreg.replay import ReplayError, replay
from warpreg.trace import Schedule, ScheduleWriter

MARKED = """
from dataclasses import replace
from warpreg.designs.interface import *
from warpreg.codegen.passes.base import with_blocks
from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import Immediate
DESIGN = Declaration(slot="mapping", order="{order}", events=("marks", "before", "arrivals"), source="assumed: a test")
MARK = Instruction("pmevent", (), (Immediate(0),))
def rewrite(kernel, parameters):
    marked = {{block.index: [x for i in block.instructions for x in (MARK, i)] for block in kernel.blocks}}
    kernel = with_blocks(kernel, marked)
    edges = [(block.index, to) for block in kernel.blocks for to in block.successors]
    return on_edges(kernel, {{edge: [MARK] for edge in edges if {on_edges}}})
@hook
def issued(state, program, warp, pc, plan):
    is_mark = program.source_start[pc] == program.source_start[pc + 1]
    count(plan, 0, is_mark and program.result_start[pc] == program.result_start[pc + 1])
    count(plan, 1, (warp + 1) * (pc + 1))
@hook
def arrived(state, program, warp, pc, plan):
    count(plan, 2, pc + 1)
"""
LOADS = kernel([op("ld.global.u32", r(1), at(r(0)))], [op("add.s32", r(2), r(1), r(1))])
PATH = Recorded().thread_block(0).warp(0).visits(0, mask=FULL).visits(1)


def marked(folder: Path, order: str = "sm", on_edges: bool = True) -> str:
    file = folder / f"marked_{order}.py"
    file.write_text(MARKED.format(order=order, on_edges=on_edges), encoding="utf-8")
    return str(file)


def test_added_instructions_issue_before_the_next_one_that_was_there(tmp_path: Path) -> None:
    """The code is mark, load | mark, add | mark: pcs 0 to 4, the last one on the edge between the blocks.

    Two records issue pcs 0 and 1, then 4, 2 and 3, all in slot 2; the load arrives in between, now at pc 1.
    """
    order = Scheduling(ONE_SM).start(2).issue(2).arrive(2, 0).issue(2).end(2)
    counts = replay(PATH, LOADS, load(marked(tmp_path)), schedule=order.of(LOADS, PATH), mode="interpreted")
    assert counts.events == {"marks": 3, "before": 3 * (1 + 2 + 5 + 3 + 4), "arrivals": 2}
    assert (counts.warp_instructions, counts.added_warp_instructions) == (5, 3)


@settings(max_examples=20, deadline=None)
@given(runs(), st.data())
def test_along_a_schedule_as_without(
    tmp_path_factory: pytest.TempPathFactory, run: tuple[Kernel, Recorded], data: st.DataObject
) -> None:
    """Every warp issues what it issues without a schedule; these paths follow no edges."""
    folder = tmp_path_factory.mktemp("marked")
    code, path = run
    schedule = data.draw(schedules(code, path))
    along = replay(path, code, load(marked(folder, "sm", False)), schedule=schedule, mode="interpreted")
    alone = replay(path, code, load(marked(folder, "warp", False)), mode="interpreted")
    assert along.events["marks"] == alone.events["marks"]
    assert along.warp_instructions == alone.warp_instructions


def test_a_schedule_of_other_code_is_refused(tmp_path: Path) -> None:
    file = io.BytesIO()
    other = with_blocks(LOADS, {0: [op("mov.b32", r(3), 0), *LOADS.blocks[0].instructions]})
    ScheduleWriter(file, ONE_SM, LOADS, PATH, code=other).finish({})
    with pytest.raises(ReplayError, match="of code to which another design has added instructions"):
        replay(PATH, LOADS, "mrf", schedule=Schedule(file), mode="interpreted")


def test_a_design_that_removes_instructions_needs_a_schedule_of_its_own() -> None:
    without = with_blocks(LOADS, {1: [op("mov.b32", r(3), 0), op("mov.b32", r(4), 0)]})
    with pytest.raises(ReplayError, match="has removed instructions of block 1"):
        fit_of(LOADS, without)
