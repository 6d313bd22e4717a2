"""The fast core is the reference, whatever kernel, machine and memory; compiled it is what it is in Python."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.both_cores import compare, fast
from tests.timing.machine_files import machine_of
from tests.timing.random_runs import Case, cases
from tests.timing.reference.package_memory import PackageMemory
from tests.timing.vocabulary import timed

from warpreg.gpu import Machine, load

MODELS = st.sampled_from(("cached", "contention"))


def machine_with(case: Case, name: str, model: str) -> Machine:
    """The case's SMs with the memory system of a machine that comes with the package."""
    machine = machine_of(case.sm, case.sms, case.resident)
    system = load(name).memory
    return replace(machine, memory=replace(system, memory=replace(system.memory, model=model)))


@settings(max_examples=12, deadline=None)
@given(cases, st.sampled_from(("gtx480", "v100")), MODELS)
def test_both_cores_agree_on_memory_with_caches(case: Case, name: str, model: str) -> None:
    machine = machine_with(case, name, model)
    slow = timed(case.launched, case.sm, PackageMemory(machine, case.sms), case.sms, case.resident)
    compare(slow, fast(case.launched, machine, case.sms, case.resident))


@settings(max_examples=12, deadline=None)
@given(cases)
def test_the_compiled_core_is_the_interpreted_one(case: Case) -> None:
    machine = machine_with(case, "gtx480", "cached")
    runs = [fast(case.launched, machine, case.sms, case.resident, mode) for mode in ("interpreted", "compiled")]
    assert runs[0].as_dict() == runs[1].as_dict()
