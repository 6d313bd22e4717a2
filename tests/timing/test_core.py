"""The fast core against the reference, cycle for cycle and cause for cause, and what it does with room and blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.machine_files import machine_of
from tests.timing.random_runs import Case, cases
from tests.timing.reference.package_memory import PackageMemory
from tests.timing.vocabulary import behaviour_of, timed

from warpreg.designs import Design
from warpreg.designs import load as load_design
from warpreg.gpu import Machine, load
from warpreg.timing import memory
from warpreg.timing.engine import Engine
from warpreg.timing.outside import Behaviour, Outside
from warpreg.timing.result import TimingResult, result_of

RESTLESS = load_design(Path(__file__).parent / "designs" / "restless.py")


def memory_machine(case: Case) -> Machine:
    """A machine whose memory has the case's latency."""
    machine = load("gebhart")
    return replace(machine, latency=replace(machine.latency, dram=case.latency, texture=case.latency))


@dataclass(frozen=True)
class Fast:
    """What the fast core made of a case."""

    result: TimingResult
    outside: Outside

    def told(self) -> tuple[Any, ...]:
        counted = (self.outside.accesses, self.outside.moves, self.outside.events)
        stalls = {cause: cycles for cause, cycles in self.result.stall_account.items() if cycles}
        integrals = self.outside.integrals(self.result.cycles)
        return self.result.cycles, stalls, *(one.tolist() for one in counted), integrals


def fast(case: Case, design: Design | None = None, *, every_cycle: bool = False, **parameters: int) -> Fast:
    machine = machine_of(case.sm, case.sms, case.resident)
    system = memory.for_machine(memory_machine(case), case.sms)
    plain = behaviour_of(case.launched.kernel, design, **parameters)
    outside = Outside(Behaviour(**vars(plain)), machine, system)
    engine = Engine(
        case.launched.kernel,
        machine,
        case.launched.batches(),
        outside,
        resident=case.resident,
        block_warps=len(case.launched.blocks[0]),
        mode="interpreted",
        every_cycle=every_cycle,
    )
    engine.run()
    return Fast(result_of(machine, engine.core, engine.cycles, {}), outside)


def slow(case: Case, design: Design | None = None, **parameters: int) -> tuple[Any, ...]:
    """The same of the reference."""
    system = PackageMemory(memory_machine(case), case.sms)
    run = timed(case.launched, case.sm, system, case.sms, case.resident, design, **parameters)
    counts, stalls = run.outcome.counts, {cause: cycles for cause, cycles in run.stalls.counts.items() if cycles}
    counted = (one.tolist() for one in (counts.accesses, counts.moves, counts.events))
    return run.cycles, stalls, *counted, counts.integrals(run.cycles)


@settings(max_examples=30, deadline=None)
@given(cases)
def test_the_fast_core_agrees_with_the_reference(case: Case) -> None:
    found, expected = fast(case), slow(case)
    assert found.told()[:2] == expected[:2]
    assert found.result.warp_instructions == sum(
        len(case.launched.kernel.blocks[block].instructions)
        for warps in case.launched.blocks
        for warp in warps
        for block, _ in warp.visits
    )


@settings(max_examples=10, deadline=None)
@given(cases)
def test_skipping_idle_cycles_changes_nothing(case: Case) -> None:
    assert fast(case).result.as_dict() == fast(case, every_cycle=True).result.as_dict()


@settings(max_examples=30, deadline=None)
@given(cases, st.integers(0, 1000), st.integers(1, 4))
def test_every_hook_is_called_as_in_the_reference(case: Case, seed: int, passes: int) -> None:
    assert fast(case, RESTLESS, seed=seed, passes=passes).told() == slow(case, RESTLESS, seed=seed, passes=passes)
