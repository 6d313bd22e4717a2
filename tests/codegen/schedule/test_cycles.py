"""Latencies and units of a machine in the scheduler."""

from __future__ import annotations

from tests.codegen.texts import kernel, listing

from warpreg import gpu
from warpreg.codegen.machine.latency_model import DEFAULT_LATENCY, Cycles
from warpreg.codegen.schedule.list_scheduler import ScheduleInstructions
from warpreg.ir.opcodes import Latency

LOADS_AND_SUMS = """
    ld.shared.u32 %r1, [0];
    ld.shared.u32 %r2, [4];
    ld.shared.u32 %r3, [8];
    add.s32 %r11, %r10, 1;
    add.s32 %r12, %r11, 1;
    st.shared.v2.u32 [16], {%r1, %r2};
    st.shared.v2.u32 [24], {%r3, %r12};
"""


def opcodes(cycles: Cycles) -> list[str]:
    lines = listing(ScheduleInstructions(cycles=cycles).run(kernel(LOADS_AND_SUMS))).splitlines()
    return [line.split(".")[0] for line in lines[:5]]


def test_without_intervals_the_loads_go_one_after_the_other() -> None:
    assert opcodes(Cycles()) == ["ld", "ld", "ld", "add", "add"]


def test_while_the_memory_unit_is_busy_something_else_issues() -> None:
    """A load at 0, 4 and 8; the sums, whose chain is shorter, at 1 and, when the first has arrived, at 5."""
    assert opcodes(Cycles(interval={"memory": 4})) == ["ld", "add", "ld", "add", "ld"]


def test_a_machines_latencies_are_those_of_its_file() -> None:
    machine = gpu.load("gebhart")
    latency = Cycles.of(machine).latency
    assert latency[Latency.ALU] == 8
    assert latency[Latency.DP] == latency[Latency.SFU] == 20
    assert latency[Latency.GLOBAL] == machine.latency.dram
    assert latency[Latency.SHARED] == machine.latency.shared


def test_every_class_of_latency_has_cycles() -> None:
    assert set(DEFAULT_LATENCY) == set(Latency)
