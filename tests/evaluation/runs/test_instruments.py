"""What measures a run beside a design, or without one, changes nothing of it: cycles, causes, accesses, conflicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from tests.timing.assembly import one_warp
from tests.timing.both_cores import Fast, fast, machine_with_memory
from tests.timing.launches import Launched
from tests.timing.random_runs import Case, cases
from tests.timing.reference.machine import Banks, Sm

from warpreg.designs import Design, load
from warpreg.designs.loading.composition import compose
from warpreg.evaluation.runs import reuse_ages
from warpreg.evaluation.runs.by_instruction import instrumented
from warpreg.timing.launch.schedule_recording import RECORDER
from warpreg.timing.tracing.recorder import Recorder
from warpreg_papers.bow import instruction_times

TIMES, AGES, SCHEDULE = (load(Path(file)) for file in (instruction_times.__file__, reuse_ages.__file__, RECORDER))
INSTRUMENTS = {"times": TIMES, "ages": AGES, "schedule": SCHEDULE}
BANKED = Sm(slots=4, banks=Banks(count=4, mapping="register"))


def run(launched: Launched, case: Case | None, design: Design | None, recorder: Recorder | None = None) -> Fast:
    if case is None:
        machine, sms, resident = machine_with_memory(BANKED, 20, 1), 1, 8
    else:
        machine = machine_with_memory(case.sm, case.latency, case.interval, case.sms, case.resident)
        sms, resident = case.sms, case.resident
    return fast(launched, machine, sms, resident, "interpreted", False, design, None, 1, recorder)


def measured(found: Fast) -> dict[str, Any]:
    """All but what the instrument counts, and in whose name."""
    result = found.result
    counts = result.counts
    return {
        "account": result.stall_account,
        "numbers": [getattr(result, name) for name in (
            "cycles", "warp_instructions", "bank_conflicts", "write_conflicts", "collected", "collect_cycles",
            "collected_memory", "collect_cycles_memory", "transactions", "memory_loads", "memory_load_cycles",
        )],
        "accesses": counts.accesses.tolist(),
        "moves": counts.moves.tolist(),
        "plain": result.plain.accesses.tolist(),
        "memory": dict(result.memory),
    }  # fmt: skip


TEXT = "mov.b32 R0, 1\nmov.b32 R4, 1\nadd.s32 R8, R0, R4"


@pytest.mark.parametrize("name", INSTRUMENTS)
def test_a_baseline_with_an_instrument_is_the_plain_one(name: str) -> None:
    """Two sources are read, three results written."""
    plain, watched = (run(one_warp(TEXT), None, design) for design in (None, INSTRUMENTS[name]))
    assert measured(plain)["accesses"] == [[[2, 0], [3, 0]]]
    assert measured(watched) == measured(plain)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(case=cases)
@pytest.mark.parametrize("beside", ["mrf", "bow", "rfc"])
@pytest.mark.parametrize("name", INSTRUMENTS)
def test_an_instrument_changes_nothing(name: str, beside: str, case: Case) -> None:
    alone = None if beside == "mrf" else load(beside)
    watched = INSTRUMENTS[name] if alone is None else compose([alone, INSTRUMENTS[name]])
    assert measured(run(case.launched, case, watched)) == measured(run(case.launched, case, alone))


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(case=cases)
@pytest.mark.parametrize("name", ["mrf", "bow", "rfc"])
def test_neither_do_counts_by_instruction(name: str, case: Case) -> None:
    design = load(name)
    made, _ = instrumented(design, case.launched.kernel)
    plain, watched = (measured(run(case.launched, case, one)) for one in (design, made))
    assert watched == plain


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(case=cases)
@pytest.mark.parametrize("name", ["mrf", "bow", "rfc"])
def test_neither_does_a_trace(name: str, case: Case) -> None:
    design = None if name == "mrf" else load(name)
    traced = run(case.launched, case, design, Recorder(0, 1 << 40, 1 << 16))
    assert measured(traced) == measured(run(case.launched, case, design))
