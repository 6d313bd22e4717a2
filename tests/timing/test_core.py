"""The fast core against the reference, cycle for cycle and cause for cause, and what it does with room and blocks."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from tests.timing.machine_files import machine_of
from tests.timing.random_runs import Case, cases
from tests.timing.reference.package_memory import PackageMemory
from tests.timing.vocabulary import timed

from warpreg.gpu import Machine, load
from warpreg.timing import memory
from warpreg.timing.engine import Engine
from warpreg.timing.result import TimingResult, result_of


def memory_machine(case: Case) -> Machine:
    """A machine whose memory has the case's latency."""
    machine = load("gebhart")
    return replace(machine, latency=replace(machine.latency, dram=case.latency, texture=case.latency))


def fast(case: Case, *, every_cycle: bool = False) -> TimingResult:
    machine = machine_of(case.sm, case.sms, case.resident)
    system = memory.for_machine(memory_machine(case), case.sms)
    warps = len(case.launched.blocks[0])
    engine = Engine(
        case.launched.kernel,
        machine,
        case.launched.batches(),
        system,
        resident=case.resident,
        block_warps=warps,
        mode="interpreted",
        every_cycle=every_cycle,
    )
    engine.run()
    return result_of(machine, engine.core, engine.cycles, {})


def told(result: TimingResult) -> dict[str, int]:
    return {cause: cycles for cause, cycles in result.stall_account.items() if cycles}


@settings(max_examples=40, deadline=None)
@given(cases)
def test_the_fast_core_agrees_with_the_reference(case: Case) -> None:
    slow = timed(case.launched, case.sm, PackageMemory(memory_machine(case), case.sms), case.sms, case.resident)
    result = fast(case)
    assert (result.cycles, told(result)) == (slow.cycles, {k: v for k, v in slow.stalls.counts.items() if v})
    assert result.warp_instructions == len(slow.outcome.issues)


@settings(max_examples=15, deadline=None)
@given(cases)
def test_skipping_idle_cycles_changes_nothing(case: Case) -> None:
    assert fast(case).as_dict() == fast(case, every_cycle=True).as_dict()
