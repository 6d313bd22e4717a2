"""Stalls by instruction: their sums are those of the stall account, and each is before its instruction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warpreg
from warpreg import gpu, simt
from warpreg.experiments.runs.choices import Choice
from warpreg.experiments.runs.run import Run
from warpreg.experiments.runs.stalls_by_instruction import NO_WAITS, by_pc, stalls_by_instruction
from warpreg.timing import CAUSES, simulate
from warpreg.timing.tracing.rows import EVENT, Kind

EXAMPLES = Path(__file__).parents[3] / "examples"
MACHINE = gpu.load("gtx480")
KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry load(.param .u64 out)
{
    .reg .b32 %a, %b;
    .reg .b64 %out;
    ld.param.u64 %out, [out];
    ld.global.u32 %a, [%out];
    mul.lo.u32 %b, %a, %a;
    bar.sync 0;
    st.global.u32 [%out], %b;
    ret;
}
"""


@pytest.fixture(scope="module")
def run() -> Run:
    record = simt.Record(path=True, addresses=True)
    return warpreg.compile(KERNEL, record=record)["load"][1, 64](np.zeros(1, np.uint32))


@pytest.mark.parametrize("name", ["mrf", "rfc", str(EXAMPLES / "loop_exits.py")])
def test_they_sum_up_to_the_stall_account(run: Run, name: str) -> None:
    (kernel,) = run.kernels
    choice = Choice.load(name)
    found = stalls_by_instruction(run, kernel, choice, MACHINE, "interpreted").sum(axis=0)
    account = simulate(run.launches, MACHINE, designs=choice.chosen, mode="interpreted").stall_account
    waits = [cause for cause in CAUSES if cause not in NO_WAITS]
    assert {cause: found[CAUSES.index(cause)] for cause in waits} == {cause: account[cause] for cause in waits}


def test_the_reader_of_a_load_waits_for_memory(run: Run) -> None:
    (kernel,) = run.kernels
    found = stalls_by_instruction(run, kernel, Choice.load("mrf"), MACHINE, "interpreted")
    by_opcode = {one.opcode: found[pc] for pc, one in enumerate(kernel.instructions())}
    assert CAUSES[by_opcode["mul"].argmax()] == "memory"
    assert by_opcode["mul"][CAUSES.index("memory")] > 100
    assert by_opcode["st"][CAUSES.index("memory")] == 0


def test_a_wait_belongs_to_the_next_instruction_of_its_slot() -> None:
    """Slot 1 waits in cycles 2 to 4 and issues pc 7 in cycle 5; what slot 0 issues in between does not count, and its
    wait in cycle 6 has no instruction after it.
    """
    cause = CAUSES.index("memory")
    rows = [
        (Kind.STATE, 1, 2, 3, cause, -1),
        (Kind.ISSUE, 0, 4, 1, 0, 3),
        (Kind.ISSUE, 1, 5, 1, 0, 7),
        (Kind.STATE, 0, 6, 1, cause, -1),
    ]
    events = np.zeros(len(rows), EVENT)
    for event, row in zip(events, rows, strict=True):
        event["kind"], event["slot"], event["cycle"], event["cycles"], event["unit"], event["pc"] = row
    found = by_pc(events, 8)
    assert found[7, cause] == 3
    assert found.sum() == 3
