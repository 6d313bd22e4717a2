"""Stalls by instruction: their sums are those of the stall account, and each is before its instruction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import warpreg
from piecewise_numba.options import Mode
from warpreg import gpu, simt
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.run import Run, find_workload, run_workload
from warpreg.evaluation.runs.stalls_by_instruction import NO_WAITS, stalls_by_instruction
from warpreg.timing import CAUSES, simulate
from warpreg.timing.launch.tracing import trace
from warpreg.timing.launch.waits_by_instruction import waits_by_pc
from warpreg.timing.tracing.event_rows import Kind

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
    choice = ConfiguredDesign.load(name)
    found = stalls_by_instruction(run, kernel, choice, MACHINE, "interpreted").sum(axis=0)
    account = simulate(run.launches, MACHINE, designs=choice, mode="interpreted").stall_account
    waits = [cause for cause in CAUSES if cause not in NO_WAITS]
    assert {cause: found[CAUSES.index(cause)] for cause in waits} == {cause: account[cause] for cause in waits}


def test_the_reader_of_a_load_waits_for_memory(run: Run) -> None:
    (kernel,) = run.kernels
    found = stalls_by_instruction(run, kernel, ConfiguredDesign.load("mrf"), MACHINE, "interpreted")
    by_opcode = {one.opcode: found[pc] for pc, one in enumerate(kernel.instructions())}
    assert CAUSES[by_opcode["mul"].argmax()] == "memory"
    assert by_opcode["mul"][CAUSES.index("memory")] > 100
    assert by_opcode["st"][CAUSES.index("memory")] == 0


@pytest.mark.parametrize(
    ("name", "mode", "machine"),
    [
        ("mrf", "interpreted", "gtx480"),
        ("rfc", "interpreted", "gebhart-rfc"),
        pytest.param("rfc", "compiled", "gtx480", marks=pytest.mark.slow),
    ],
)
def test_the_sums_are_those_of_recorded_events(name: str, mode: Mode, machine: str) -> None:
    run = run_workload(find_workload("bfs"), "tiny", record=simt.Record(path=True, addresses=True))
    kernel, chosen = run.kernels[0], ConfiguredDesign.load(name)
    launches = run.launches_of(kernel)[:3]
    code, found = waits_by_pc(launches, gpu.load(machine), designs=chosen, mode=mode)
    events = trace(launches, machine, designs=chosen, mode=mode).events
    assert found.sum() > 1000
    for cause, sums in zip(CAUSES, found.T.tolist(), strict=True):
        if cause not in NO_WAITS:
            assert sums == by_pc(events, CAUSES.index(cause), code.instruction_count), cause


def by_pc(events: NDArray[Any], cause: int, instructions: int) -> list[int]:
    """The cycles of a cause by the next instruction that issues from the slot, found one by one."""
    result = [0] * instructions
    issued: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for one in events[events["kind"] == Kind.ISSUE]:
        issued.setdefault((one["launch"], one["sm"], one["slot"]), []).append((int(one["cycle"]), int(one["pc"])))
    for span in events[(events["kind"] == Kind.STATE) & (events["unit"] == cause)]:
        own = sorted(issued.get((span["launch"], span["sm"], span["slot"]), []))
        after = [pc for cycle, pc in own if cycle >= span["cycle"]]
        if after:
            result[after[0]] += int(span["cycles"])
    return result
