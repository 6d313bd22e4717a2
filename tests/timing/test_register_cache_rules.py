"""What a register file cache changes in time: the stage that checks its tags, and what a suspended warp waits for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.assembly import one_warp
from tests.timing.both_cores import agreed, compare, fast, machine_with_memory
from tests.timing.launches import FULL
from tests.timing.random_runs import Case, cases
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import PIPES, Pipe, Sm, TwoLevel
from tests.timing.reference.package_memory import PackageMemory
from tests.timing.vocabulary import Timed, timed

from warpreg.designs import DesignError, load
from warpreg.designs.loading.composition import compose

PLAIN = Sm(pipes={name: Pipe(latency=1) for name in PIPES})
RFC, ORF = load("rfc"), load("orf-lrf")
TWO_LEVEL = Sm(two_level=TwoLevel(active_warps=1))


@pytest.mark.parametrize("latency", [1, 5])
@pytest.mark.parametrize(("design", "stages"), [("rfc", 1), ("rfc-lrf", 1), ("orf-lrf", 0), ("mrf", 0)])
def test_a_branch_resolves_a_cycle_later_behind_the_check_of_tags(design: str, stages: int, latency: int) -> None:
    """ISCA 2011, section 3.1.  The ORF has no tags (MICRO 2011, section 3.1)."""
    sm = replace(PLAIN, pipes={**PLAIN.pipes, "ctrl": Pipe(latency=latency)})
    agreed(one_warp("bra 0", times=5), sm, design=load(design)).warp(0).issues().every(latency + stages, first=1)


def test_the_check_of_tags_delays_no_dependent_instruction() -> None:
    """Results of four cycles are used after four cycles, with the stage as without it."""
    code = one_warp("add.s32 R1, R0, 1\nadd.s32 R2, R1, 1\nadd.s32 R3, R2, R1")
    for checks in (False, True):
        agreed(code, Sm(), design=RFC, tag_check=checks).warp(0).issues().every(4, first=1)


@pytest.mark.parametrize("options", [{"tag_check": False}, {"entries": 0}])
def test_without_tags_nothing_is_checked(options: dict[str, int]) -> None:
    code = one_warp("add.s32 R1, R0, 1\nbra 0", times=4)
    off, plain = agreed(code, PLAIN, design=RFC, **options), agreed(code, PLAIN)
    assert off.outcome.issues == plain.outcome.issues
    assert (off.cycles, off.stalls) == (plain.cycles, plain.stalls)


def test_the_stages_of_designs_that_work_together_add_up(tmp_path: Path) -> None:
    file = tmp_path / "renamed.py"
    text = "from warpreg.designs.interface import Declaration\nDESIGN = Declaration(slot='mapping', source='a test')\n"
    file.write_text(text + "def stages(parameters):\n    return 2\n")
    both = compose([load(file), RFC])
    assert (both.stages(both.configure()), both.stages(both.configure(rfc_entries=0))) == (3, 2)
    file.write_text(text + "def stages(parameters):\n    return -1\n")
    wrong = load(file)
    with pytest.raises(DesignError, match="stages returned -1, expected a number from 0 to 8"):
        wrong.stages(wrong.configure())


LOADS = Access(FULL, "global", 0, ((0, 15),))
CODE = """
    ld.global.u32 R1, [R0]
    ld.global.u32 R2, [R0]
    add.s32 R3, R1, 1
    add.s32 R4, R2, R3
"""
"""Memory takes a transaction every 30 cycles, each is back after 40.  The loads issue in cycles 1 and 2; they are sent
in 2 and 32, and back in 42 and 72.
"""


def waiting(design: str, **options: Any) -> Timed:
    return agreed(one_warp(CODE, LOADS, LOADS), TWO_LEVEL, 40, 30, design=load(design), **options)


@pytest.mark.parametrize("design", ["rfc", "rfc-lrf"])
def test_a_warp_that_waits_for_what_it_needs_is_suspended_for_each_load(design: str) -> None:
    """Suspended in 3, active in 42, and in 43 issues the first sum; suspended again in 44 until 72."""
    run = waiting(design, waits="needed")
    run.warp(0).issues("add").at(43, 73)
    assert [cycle for cycle, _ in run.outcome.logs[0].suspensions] == [3, 44]


@pytest.mark.parametrize(
    ("design", "options"), [("rfc", {"waits": "all"}), ("rfc-lrf", {"waits": "all"}), ("orf-lrf", {})]
)
def test_a_warp_that_waits_for_all_loads_is_suspended_once(design: str, options: dict[str, str]) -> None:
    """MICRO 2011, section 4.1.  Active in 72, when both loads are back; the sums are four cycles apart."""
    run = waiting(design, **options)
    run.warp(0).issues("add").at(73, 77)
    assert [cycle for cycle, _ in run.outcome.logs[0].suspensions] == [3]


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(cases, st.sampled_from(("rfc", "rfc-lrf", "orf-lrf")), st.booleans())
def test_both_cores_agree_on_suspensions_and_stages(case: Case, name: str, waits_for_all: bool) -> None:
    sm = replace(case.sm, two_level=case.sm.two_level or TwoLevel(active_warps=1))
    options: dict[str, Any] = {} if name == "orf-lrf" else {"waits": "all" if waits_for_all else "needed"}
    machine = machine_with_memory(sm, case.latency, case.interval, case.sms, case.resident)
    memory = PackageMemory(machine, case.sms)
    slow = timed(case.launched, sm, memory, case.sms, case.resident, load(name), **options)
    quick = fast(case.launched, machine, case.sms, case.resident, design=load(name), **options)
    compare(slow, quick)
