"""The register caches in the timing core: every operand is served, for any order of issue and suspension."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.timing.assembly import one_warp
from tests.timing.both_cores import agreed
from tests.timing.random_runs import Case, cases
from tests.timing.reference.machine import Banks, Sm
from tests.timing.vocabulary import timed

from warpreg import simt, timing
from warpreg.designs import DesignError, load
from warpreg.designs.interface.plan import READ, WRITE
from warpreg.evaluation.runs.run import find_workload, run_workload

CACHES: dict[str, tuple[str, dict[str, Any]]] = {
    "rfc": ("rfc", {"static_liveness": True, "around_long_latency": True, "idle_first": True}),
    "rfc-lrf": ("rfc-lrf", {}),
    "rc": ("rc", {"lines": 6}),
    "rc with private parts": ("rc", {"lines": 8, "private": True, "active_warps": 2}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CACHES)
@settings(max_examples=8, deadline=None)
@given(cases)
def test_every_operand_is_served_at_some_level(name: str, case: Case) -> None:
    design, options = CACHES[name]
    run = (case.launched, case.sm, case.memory(), case.sms, case.resident)
    found, plain = (timed(*run, one, **more).outcome.counts for one, more in ((load(design), options), (None, {})))
    accesses, baseline = (counts.accesses.reshape(-1, 2, 2).sum(axis=(0, 2)) for counts in (found, plain))
    merged = found.events[0]
    assert accesses[READ] == baseline[READ] + merged
    assert accesses[WRITE] == baseline[WRITE]
    assert np.trace(found.moves) == 0


@pytest.mark.parametrize(("design", "steps", "miss"), [("rc", 1, 1), ("rc", 2, 1), ("rc", 1, 3), ("rc-rsp", 2, 2)])
def test_a_source_that_misses_the_cache_waits(design: str, steps: int, miss: int) -> None:
    """R0 and R5 miss, so that the result is there later by so much; R1 and R2 hit and are not waited for any longer."""
    sm = Sm(banks=Banks(count=4, mapping="register", steps=steps))
    code = one_warp("add.s32 R1, R0, R5\nmov.b32 R2, R1\nmov.b32 R3, R2")
    first, second = agreed(code, sm, design=load(design), lines=8, miss_cycles=0).warp(0).issues("mov").cycles
    run = agreed(code, sm, design=load(design), lines=8, miss_cycles=miss)
    run.warp(0).issues("mov").at(first + miss, second + miss)


@pytest.mark.parametrize("design", ["rc", "rc-rsp"])
def test_without_lines_there_is_nothing_to_miss(design: str) -> None:
    sm, code = Sm(banks=Banks(count=4, mapping="register")), one_warp("add.s32 R1, R0, R5\nmov.b32 R2, R1")
    without, plain = (agreed(code, sm, design=load(design), lines=0, miss_cycles=miss) for miss in (3, 0))
    assert without.outcome.issues == plain.outcome.issues


@pytest.mark.parametrize("design", ["rsp", "rc-rsp"])
def test_strands_that_go_on_at_barriers_are_refused_in_time(design: str) -> None:
    """A warp that waits at a barrier gives its part of the scratchpad to another one."""
    run = run_workload(find_workload("vector-add"), record=simt.Record(path=True, addresses=True))
    with pytest.raises(DesignError, match=rf"^{design}: flush_at_barriers expects true in a timed run, .* for replays"):
        timing.simulate(run.launches, "gtx980-two-level", designs=[design], flush_at_barriers=False)
