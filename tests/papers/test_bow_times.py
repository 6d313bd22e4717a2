"""Times of instructions (thesis of 2021, section 3.3), worked by hand on both cores.

Four banks by register; a collector takes one operand per cycle, and an ALU takes 4.  An instruction issued at ``t``
enters its collector at ``t + 1``, requests banks from ``t + 2`` on, and dispatches in the cycle after its last read.
"""

from __future__ import annotations

from tests.timing.assembly import one_warp
from tests.timing.both_cores import agreed, fast, machine_with_memory
from tests.timing.launches import FULL
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import Banks, Sm

from warpreg.designs import load
from warpreg_papers.bow.instruction_times import RESOURCES
from warpreg_papers.bow.recorder import InstructionTimes

BANKED = Sm(slots=4, banks=Banks(count=4, mapping="register", operand_ports=1))


def times(text: str, *accesses: Access) -> dict[str, int]:
    run = agreed(one_warp(text, *accesses), BANKED, design=load(InstructionTimes.file))
    return dict(zip(RESOURCES, run.outcome.counts.integrals(run.cycles)[0], strict=True))


def test_an_instruction_collects_until_its_last_source_is_read() -> None:
    """R0 and R4 are in bank 0: issued at 1, read at 3 and 4, and R1 is there at 9.  The second issues at 9, reads R0 at
    11 and R1, for want of a port, at 12, and ends at 17."""
    found = times("add.s32 R1, R0, R4\nadd.s32 R2, R1, R0")
    assert found == {
        "collecting": 3 + 3, "collecting_memory": 0, "collecting_without_result": 0, "running": 8 + 8,
        "running_memory": 0,
    }  # fmt: skip


def test_an_instruction_is_in_the_stage_until_it_is_dispatched() -> None:
    """The adds of the test before dispatch at 5 and 13, 4 cycles after their issue at 1 and 9; both enter their
    collector a cycle after it.
    """
    text = "add.s32 R1, R0, R4\nadd.s32 R2, R1, R0"
    found = fast(one_warp(text), machine_with_memory(BANKED, 20, 1), 1, 8, design=load(InstructionTimes.file)).result
    assert (found.latch_cycles, found.collect_cycles, found.collect_cycles_memory) == (2, 3 + 3, 0)


def test_an_instruction_without_sources_runs_and_does_not_collect() -> None:
    found = times("mov.b32 R1, 1")
    assert found["collecting"] == 0
    assert found["running"] > 0


def test_loads_and_stores_are_apart() -> None:
    """Both issue with R0 as their address; the store reads R1 too."""
    one = Access(FULL, "global", 0, ((0, 15),))
    found = times("ld.global.u32 R4, [R0]\nst.global.u32 [R0], R1", one, one)
    assert found["collecting"] == found["running"] == 0
    assert found["collecting_memory"] == 2
    assert found["collecting_without_result"] >= 3
    assert found["running_memory"] > found["collecting_memory"]
