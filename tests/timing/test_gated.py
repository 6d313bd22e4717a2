"""The register files without renaming of the CMOS-TFET study: gated, drowsy and of TFETs alone (sections 3.3, 4.2)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from tests.timing.assembly import one_warp, warps
from tests.timing.both_cores import agreed
from tests.timing.launches import FULL, Launched
from tests.timing.random_runs import Case, cases
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import PIPES, Banks, CollectorSet
from tests.timing.test_hybrid import CHAIN, ONE_STAGE

from warpreg.designs import load

LINE = Access(FULL, "global", 0, ((0, 15),))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["power-gated", "drowsy", "all-tfet"])
@settings(max_examples=6, deadline=None)
@given(case=cases)
def test_both_cores_agree(name: str, case: Case) -> None:
    agreed(case.launched, case.sm, case.latency, case.interval, case.sms, case.resident, load(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["drowsy", "all-tfet"])
@settings(max_examples=6, deadline=None)
@given(case=cases)
def test_switched_off_it_is_the_plain_register_file(name: str, case: Case) -> None:
    machine = (case.sm, case.latency, case.interval, case.sms, case.resident)
    plain = agreed(case.launched, *machine)
    off = agreed(case.launched, *machine, load(name), enabled=False)
    assert (off.cycles, off.stalls.counts, off.outcome.issues) == (
        plain.cycles,
        plain.stalls.counts,
        plain.outcome.issues,
    )
    assert off.outcome.counts.accesses.tolist()[:4] == plain.outcome.counts.accesses.tolist()


def two_blocks() -> Launched:
    """A warp of two registers, and then another one in the same slot."""
    alone = one_warp("mov.b32 R1, 1\nmov.b32 R0, R1")
    return Launched(alone.kernel, alone.blocks * 2)


def test_registers_that_no_warp_has_claimed_are_off() -> None:
    """One warp at a time: two registers are on from its first cycle on, also between the warps."""
    run = agreed(two_blocks(), ONE_STAGE, resident=1, design=load("power-gated"))
    assert run.outcome.counts.integrals(run.cycles) == [[2 * run.cycles]]


def test_an_access_to_tfet_registers_takes_two_cycles() -> None:
    """As in `test_hybrid`, without a renaming stage."""
    run = agreed(one_warp(CHAIN), ONE_STAGE, design=load("all-tfet"))
    run.warp(0).issues().at(1, 7, 15, 23)
    assert run.outcome.counts.accesses.reshape(-1, 2, 2).sum(axis=(1, 2)).tolist() == [0, 8]


STAGES = Banks(1, False, 2, sets=(CollectorSet(PIPES, collectors=1),), whole_instructions=True)
ONE_BANK = replace(ONE_STAGE, banks=STAGES)
"""As the machine of the study: one stage to read, one to write."""


@pytest.mark.parametrize("cycles", [1, 2, 3])
def test_a_write_keeps_the_write_stage(cycles: int) -> None:
    """Eight warps with a move each, which reads nothing.  They issue one a cycle, dispatch a cycle later and are there
    4 cycles after that; so results are there from 6 on, one a cycle.  They are written one in ``cycles`` cycles: the
    last one begins in 6 + 7 x cycles, and the run ends when it is over.
    """
    launched = warps("mov.b32 R1, 1", *[[()]] * 8)
    run = agreed(launched, replace(ONE_BANK, slots=8), design=load("all-tfet"), cycles=cycles)
    assert [run.warp(i).issues().first for i in range(8)] == list(range(1, 9))
    assert run.bank(0).writes("R1").cycles == [6 + i * cycles for i in range(8)]
    assert run.cycles == 6 + 7 * cycles + (cycles - 1) + 1


def test_a_write_keeps_its_bank_only() -> None:
    """The same with four banks, of which each serves every fourth warp: nobody waits."""
    launched = warps("mov.b32 R1, 1", *[[()]] * 8)
    run = agreed(launched, replace(ONE_STAGE, slots=8), design=load("all-tfet"), cycles=3)
    assert run.cycles == 6 + 7 + (3 - 1) + 1


@pytest.mark.parametrize("wake", [0, 2, 5])
def test_registers_of_a_warp_sleep_while_it_waits_and_wake_before_it_goes_on(wake: int) -> None:
    """A load, and an addition that waits for it.  With registers that are always awake the addition issues in cycle
    ``plain``.  The warp waits from 2 on, the first cycle in which its next instruction is fetched, and its registers
    sleep until the data are there.
    """
    launched = one_warp("ld.global.u32 R1, [R0]\nadd.s32 R2, R1, 1", LINE)
    plain = agreed(launched, ONE_STAGE, 20).warp(0).issues("add").first
    run = agreed(launched, ONE_STAGE, 20, design=load("drowsy"), wake=wake)
    run.warp(0).issues("add").at(plain + wake)
    asleep = 3 * (plain - 2)
    assert run.outcome.counts.integrals(run.cycles) == [[3 * run.cycles - asleep, asleep]]
