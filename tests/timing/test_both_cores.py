"""The fast core equals the reference for any kernel, machine and memory; compiled and interpreted results are equal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.both_cores import compare, fast
from tests.timing.launches import Launched, recorded
from tests.timing.machine_files import machine_of
from tests.timing.random_runs import Case, cases, launches
from tests.timing.reference.machine import PIPES, Banks, CollectorSet, Pipe, Sm, TwoLevel
from tests.timing.reference.machine_file import sm_of
from tests.timing.reference.package_memory import PackageMemory
from tests.timing.vocabulary import timed

from warpreg import simt, workloads
from warpreg.designs import load as load_design
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.cached_memory import with_cached_memory
from warpreg.evaluation.runs.run import run_workload
from warpreg.gpu import Machine, load
from warpreg.timing.feed.feed import feed
from warpreg.timing.launch.simulate import room_of

MODELS = st.sampled_from(("cached", "contention"))


def machine_with(case: Case, name: str, model: str) -> Machine:
    """The case's SMs with the memory system of a machine that comes with the package."""
    machine = machine_of(case.sm, case.sms, case.resident)
    system = load(name).memory
    return replace(machine, memory=replace(system, memory=replace(system.memory, model=model)))


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(cases, st.sampled_from(("gtx480", "v100")), MODELS)
def test_both_cores_agree_on_memory_with_caches(case: Case, name: str, model: str) -> None:
    machine = machine_with(case, name, model)
    memory = PackageMemory(machine, case.sms)
    slow = timed(case.launched, case.sm, memory, case.sms, case.resident)
    quick = fast(case.launched, machine, case.sms, case.resident)
    compare(slow, quick)
    assert quick.result.memory == memory.counters


RESTLESS = load_design(Path(__file__).parent / "designs" / "restless.py", checked=False)
MEMORY_PIPES = ("mem", "tex")
SETS = (CollectorSet(tuple(p for p in PIPES if p not in MEMORY_PIPES), 2, 2, True), CollectorSet(MEMORY_PIPES))
COMPILED = {
    "ideal": Sm(policy="oldest", issue_width=2, queue=2),
    "pending": Sm(
        slots=8,
        schedulers=4,
        two_level=TwoLevel(active_warps=1, inner="lrr", suspend="pending", swap_cycles=2),
        banks=Banks(count=8, mapping="warp", per_scheduler=True, operand_ports=2, sets=SETS),
        pipes={name: Pipe(units=2, latency=3, initiation=2) for name in PIPES},
    ),
    "stall": Sm(
        slots=6,
        schedulers=2,
        policy="gto",
        two_level=TwoLevel(inner="gto", suspend="stall", stall_threshold=2),
        banks=Banks(single_ported=False, steps=2, mapping="register"),
        pipes={name: Pipe(latency=2, per_scheduler=False) for name in PIPES},
        worker={"uniform": "int", "fp": "int"},
        dispatch_cycles=2,
    ),
}
"""A core is compiled for each machine; other values of the fields are those of the package's machines."""


@pytest.mark.slow
@pytest.mark.parametrize("sm", COMPILED.values(), ids=COMPILED)
@settings(max_examples=15, deadline=None)
@given(launched=launches())
def test_the_compiled_core_is_the_interpreted_one(sm: Sm, launched: Launched) -> None:
    machine = machine_with(Case(launched, sm, 2, 2, 1, 1), "gtx480", "cached")
    runs = [fast(launched, machine, 2, 2, mode) for mode in ("interpreted", "compiled")]
    assert runs[0].result.as_dict() == runs[1].result.as_dict()


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(launched=launches())
def test_compiled_with_a_design_it_is_the_interpreted_one(launched: Launched) -> None:
    """Sliced banks, tables, and collectors of warps that dispatch in turn and in which several instructions read."""
    own = Sm(slots=8, schedulers=2, banks=Banks(count=4, mapping="register", operand_ports=1))
    machine = machine_with(Case(launched, own, 2, 2, 1, 1), "gtx480", "cached")
    runs = [fast(launched, machine, 2, 2, mode, design=RESTLESS, seed=14) for mode in ("interpreted", "compiled")]
    assert runs[0].result.as_dict() == runs[1].result.as_dict()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "machine_name"), [("reduction", "gebhart"), ("bfs", "gtx480"), ("transpose", "v100")])
def test_both_cores_agree_on_a_recorded_kernel(name: str, machine_name: str) -> None:
    """The first two thread blocks of a workload's first launch, on two SMs."""
    run = run_workload(workloads.find(name), "tiny", record=simt.Record(path=True, addresses=True))
    launch, machine = run.launches[0], with_cached_memory(load(machine_name))
    assert launch.trace is not None
    whole = recorded(launch.kernel, feed(launch.trace, launch.kernel, banks=machine.shared_memory.banks))
    launched = replace(whole, blocks=whole.blocks[:2])
    resident = room_of(launch, machine, ConfiguredDesign.of((), {})).blocks
    slow = timed(launched, sm_of(machine), PackageMemory(machine, 2), 2, resident)
    compare(slow, fast(launched, machine, 2, resident))
