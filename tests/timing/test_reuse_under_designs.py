"""The operand reuse cache under other designs: what each serves adds up, and switched off it changes no cycle."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from tests.designs.kernels import kernel
from tests.timing.both_cores import agreed, fast, machine_with_memory
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.random_runs import Case
from tests.timing.test_read_window import cases, coded, sub_cores

from warpreg.checks.contract import random_kernels
from warpreg.designs import load
from warpreg.designs.interface.parameters import Value
from warpreg.ir.control_code import ControlCode
from warpreg.timing import TimingResult

LEVELS = ("rfc", "rfc-lrf", "orf-lrf", "rc", "rsp", "rc-rsp")
COALESCING = ("corf", "corf-pp")
MAPPINGS = (
    "all-tfet", "cmos-ra", "drowsy", "ideal-mem-ra", "mem-ra", "packing", "power-gated", "regmutex", "regmutex-paired",
    "virtualization", "owf",
)  # fmt: skip
ADD_READS = ("cmos-ra", "ideal-mem-ra", "mem-ra", "packing")
"""Those that carry values between parts of the register file, or read one in two pieces."""
DESIGNS = (*LEVELS, *COALESCING, *MAPPINGS)
CANNOT_BE_OFF = ("rfc-lrf", "power-gated")


def ran(case: Case, design: str, **parameters: Value) -> TimingResult:
    """A launch on any machine with read windows, whose banks a design's parameters name."""
    machine = machine_with_memory(case.sm, case.latency, case.interval, case.sms, case.resident)
    launched, chosen = case.launched.with_widths(1), load(design)
    named = [spec.name for spec in chosen.parameters if spec.machine == "register_file.banks"]
    values: dict[str, Any] = {**dict.fromkeys(named, machine.register_file.banks), **parameters}
    return fast(launched, machine, case.sms, case.resident, design=chosen, **values).result


def accesses(run: TimingResult, *levels: str) -> dict[str, tuple[int, int]]:
    """Reads and writes of levels."""
    return {level: (run.counts.reads(level), run.counts.writes(level)) for level in levels}


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
@settings(max_examples=4, deadline=None)
@given(case=cases)
def test_an_empty_reuse_cache_changes_nothing(name: str, case: Case) -> None:
    alone, both = ran(case, name), ran(case, f"{name}+reuse", reuse_positions=0)
    assert (both.cycles, both.stall_account) == (alone.cycles, alone.stall_account)
    assert accesses(both, *alone.counts.levels) == accesses(alone, *alone.counts.levels)
    assert accesses(both, "REUSE") == {"REUSE": (0, 0)}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in DESIGNS if name not in CANNOT_BE_OFF])
@settings(max_examples=4, deadline=None)
@given(case=cases)
def test_a_design_that_is_off_leaves_the_reuse_cache(name: str, case: Case) -> None:
    """Cycle for cycle, with the values that its parameters declare as off."""
    off = {f"{name.replace('-', '_')}_{spec.name}": spec.off for spec in load(name).parameters if spec.off is not None}
    alone, both = ran(case, "reuse"), ran(case, f"{name}+reuse", **off)
    assert (both.cycles, both.stall_account) == (alone.cycles, alone.stall_account)
    assert accesses(both, "MRF", "REUSE") == accesses(alone, "MRF", "REUSE")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in (*LEVELS, *MAPPINGS) if name not in ADD_READS])
@settings(max_examples=8, deadline=None)
@given(case=cases)
def test_reads_of_all_levels_are_those_of_the_program(name: str, case: Case) -> None:
    """Each source is read once, at one level, besides reads that add lanes which a level lacks."""
    run = ran(case, f"{name}+reuse", reuse_bits="greedy")
    merged = run.counts.events.get("merged_reads", 0)
    assert run.counts.reads() - merged == run.plain.reads()


@pytest.mark.parametrize("name", ["rfc", "rfc-lrf", "orf-lrf", "rsp"])
@settings(max_examples=8, deadline=None)
@given(case=cases)
def test_levels_above_serve_what_they_serve_alone(name: str, case: Case) -> None:
    """These do not depend on the order of warps.  What the reuse cache serves, the banks served before."""
    alone, both = ran(case, name), ran(case, f"{name}+reuse", reuse_bits="greedy")
    above = alone.counts.levels[1:]
    assert accesses(both, *above) == accesses(alone, *above)
    assert both.counts.writes("MRF") == alone.counts.writes("MRF")
    assert both.counts.reads("MRF") + both.counts.reads("REUSE") == alone.counts.reads("MRF")


def test_what_a_level_above_serves_takes_the_place() -> None:
    """R2 is kept by the first product.  Its next read is that of the third, if the RFC does not read R4, which the
    second one wrote, through the same place in between: position 0 of the even bank.
    """
    lines = ("mul.lo.s32 R1, R2, 3", "mul.lo.s32 R4, R3, 3", "mul.lo.s32 R5, R4, 3", "mul.lo.s32 R6, R2, 3")
    for order, hits in (((0, 1, 3), 1), ((0, 1, 2, 3), 0)):
        code = kernel([coded(lines[n], ControlCode(stall=8), reuse=(0,) if n == 0 else ()) for n in order])
        launched = Launched(code, ((WarpPath(((0, FULL),)),),))
        run = agreed(launched, sub_cores(), design=load("rfc+reuse"))
        mrf, rfc, reuse = run.outcome.counts.accesses.reshape(-1, 2, 2)[:, 0].sum(axis=1).tolist()
        assert (mrf, rfc, reuse) == (2 - hits + 1, len(order) - 3, hits)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rfc", "rc", "orf-lrf", "regmutex", "virtualization"])
def test_no_read_of_the_reuse_cache_is_of_an_old_value(name: str) -> None:
    """Values are followed on random kernels, also where a design inserts instructions or renames."""
    found = random_kernels(load(f"{name}+reuse", checked=True), {}, 20, 0, "gtx980-two-level")
    assert found.verdict == "passed", found.detail
