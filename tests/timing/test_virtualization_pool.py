"""Register virtualization with a shared pool and its throttle (thesis of 2021, §4.2, §4.3.2, §4.4.3).

Unless stated otherwise: one scheduler, lrr, ideal operand path, latency 4.  A thread block is placed in each cycle, and
a warp placed in cycle ``t`` issues from ``t + 1`` on.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.assembly import code
from tests.timing.both_cores import agreed
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.placed import placed
from tests.timing.random_runs import Case, cases
from tests.timing.reference.machine import Sm
from tests.timing.test_miniatures import events
from tests.timing.vocabulary import Timed

from warpreg import gpu
from warpreg.designs import Design, DesignError, load, program_table
from warpreg.designs.interface import Table
from warpreg.designs.interface.residency import Launch, Residency, Room
from warpreg.designs.interface.state import named_leaves
from warpreg.designs.parts.renaming.slices import FULL as FREE
from warpreg.designs.parts.thread_blocks.places import NOBODY
from warpreg.designs.renaming.virtualization_pool import is_granted, one_is_granted

FERMI = gpu.load("regmutex-gtx480")
A_SCHEDULER = Sm(slots=4)


def pooled(blocks: int, warps: int, registers: int, sm: Sm | None = None) -> Design:
    return placed("virtualization-pool", Residency(0, pool=registers), blocks, warps, registers, sm)


def drained(run: Timed, registers: int) -> None:
    """Nothing is claimed or in use at the end, and no result was without a place."""
    state = dict(named_leaves(run.outcome.state))
    assert (state["renaming.free"] == FREE).all()
    assert (state["pool"] == registers).all()
    assert (state["block"] == NOBODY).all()
    for name in ("renaming.in_use", "renaming.pending", "renaming.resident", "claims", "claim"):
        assert not state[name].any()
    assert events(run, load("virtualization-pool"))["unplaced"] == 0


CHAIN = "mov.b32 R0, 1\nmov.b32 R1, R0\nmov.b32 R5, R1"


def chains(registers: int) -> Timed:
    """Two thread blocks of a warp; the code names six registers, so each may claim six."""
    launched = Launched(code(CHAIN), ((WarpPath(((0, FULL),)),),) * 2)
    return agreed(launched, A_SCHEDULER, resident=2, design=pooled(2, 1, registers))


def test_a_claim_that_leaves_what_a_thread_block_lacks() -> None:
    """Warp 0 claims R0 at 1, of seven.  A claim of warp 1 at 2 leaves five, which is what each lacks.  At 5, warp 0
    claims R1, and four are left, which is what it lacks; then R0 is read and free.  So nobody waits.
    """
    run = chains(7)
    run.warp(0, block=0).issues().at(1, 5, 9)
    run.warp(0, block=1).issues().at(2, 6, 10)
    assert events(run, load("virtualization-pool"))["throttled"] == 0
    drained(run, 7)


def test_a_claim_after_which_no_thread_block_could_end_waits() -> None:
    """Of six, a claim at 2 would leave four, and each would lack five.  It is the same at 6 and 10, when warp 0 has
    read R0 and R1: as R1 and then R5 are claimed, warp 1 is not woken.  Nobody reads R5: it is free when it is written
    at 13.
    """
    run = chains(6)
    run.warp(0, block=0).issues().at(1, 5, 9)
    run.warp(0, block=1).issues().at(14, 18, 22)
    assert events(run, load("virtualization-pool"))["throttled"] == 1
    assert run.stalls.counts["token"] == 14 - 2
    drained(run, 6)


def three_chains(guaranteed: int) -> Timed:
    """Three thread blocks of a warp that may claim six registers each, of twelve."""
    launched = Launched(code(CHAIN), ((WarpPath(((0, FULL),)),),) * 3)
    return agreed(launched, A_SCHEDULER, resident=3, design=pooled(3, 1, 12), guaranteed=guaranteed)


def test_as_many_thread_blocks_as_fit_never_wait() -> None:
    """Twelve registers hold two thread blocks.  At 3, they lack five each, and ten are free: a claim of the third would
    leave nine.  What the two claim or give back changes both sums alike, so it waits until one has ended at 13.
    """
    run = three_chains(guaranteed=0)
    run.warp(0, block=0).issues().at(1, 5, 9)
    run.warp(0, block=1).issues().at(2, 6, 10)
    run.warp(0, block=2).issues().at(14, 18, 22)
    drained(run, 12)


def test_one_guaranteed_thread_block_lets_more_begin() -> None:
    """At 3, nine would be left, and the first one lacks five."""
    run = three_chains(guaranteed=1)
    run.warp(0, block=2).issues().at(3, 7, 11)
    drained(run, 12)


class Pool:
    """An SM by hand: thread blocks with claims, of a pool that holds ``fitting`` of them in full and ``more``."""

    def __init__(self, blocks: int, need: int, fitting: int, more: int) -> None:
        self.need = need
        self.claims = np.zeros((1, blocks), np.int64)
        self.block = np.zeros((1, blocks), np.int64)
        self.waits = np.zeros((1, blocks), np.uint8)
        self.least = np.zeros((1, fitting), np.int64)
        self.pool = np.full((1, 1), fitting * need + more, np.int64)
        self.fewest = np.full((1, 1), 1 << 20, np.int64)

    def claim(self, place: int, registers: int) -> None:
        self.claims[0, place] += registers
        self.pool[0, 0] -= registers

    def lacks(self) -> list[int]:
        return sorted(self.need - int(one) for one in self.claims[0])

    def holds(self) -> bool:
        """Whether as many thread blocks as fit could claim all that they lack."""
        return sum(self.lacks()[: self.least.shape[1]]) <= self.pool[0, 0]


@given(data=st.data(), blocks=st.integers(1, 6), need=st.integers(1, 12), fitting=st.integers(1, 6))
def test_no_fewer_thread_blocks_go_on_than_without_the_design(
    data: st.DataObject, blocks: int, need: int, fitting: int
) -> None:
    """After any claims that are granted and any that end, as many thread blocks as the plain register file holds may
    claim all that they lack; a claim is granted if and only if that stays so, and a warp is woken for no other one.
    """
    pool = Pool(blocks, need, min(fitting, blocks), data.draw(st.integers(0, need - 1)))
    for _ in range(data.draw(st.integers(0, 25))):
        place = data.draw(st.integers(0, blocks - 1))
        lack = need - int(pool.claims[0, place])
        if lack == 0 or data.draw(st.booleans()):
            pool.claim(place, -data.draw(st.integers(0, int(pool.claims[0, place]))))
            continue
        wanted = data.draw(st.integers(1, lack))
        granted = is_granted(pool, 0, place, wanted)
        pool.waits[0, place], pool.fewest[0, 0] = 1, wanted
        woken = one_is_granted(pool, 0)
        pool.waits[0, place] = 0
        pool.claim(place, wanted)
        assert granted == woken == pool.holds()
        if not granted:
            pool.claim(place, -wanted)
    never_wait = [place for place in range(blocks) if is_granted(pool, 0, place, max(1, need - pool.claims[0, place]))]
    full = int((pool.claims[0] == need).sum())
    assert pool.holds()
    assert len(never_wait) + full >= min(fitting, blocks)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(case=cases, more=st.integers(0, 12))
def test_no_run_stands_still(case: Case, more: int) -> None:
    """Whatever the thread blocks do, with a pool for hardly more than one of them both cores agree, and all end."""
    warps_of_each = len(case.launched.blocks[0])
    resident = min(case.resident, case.sm.slots // warps_of_each)
    registers = warps_of_each * program_table(case.launched.kernel).register_count + more
    design = pooled(resident, warps_of_each, registers, case.sm)
    run = agreed(case.launched, case.sm, case.latency, case.interval, case.sms, resident, design)
    drained(run, registers)


def room(registers: int, threads: int = 256, shared_bytes: int = 0) -> Room:
    design, kernel = load("virtualization-pool"), code("mov.b32 R0, 1")
    program = program_table(kernel)._replace(register_count=registers)
    return design.room(design.configure(), program, FERMI, Launch(threads, shared_bytes), kernel)


def test_the_register_file_does_not_limit_occupancy() -> None:
    """44 registers a warp let 23 warps in; with the pool, warp slots or shared memory limit them."""
    assert (room(44).warps, room(44).limiter, room(44).pool) == (48, "warps", 1024)
    assert (room(44, shared_bytes=12080).blocks, room(44, shared_bytes=12080).limiter) == (4, "shared memory")


def test_a_pool_without_room_for_a_thread_block() -> None:
    with pytest.raises(
        DesignError,
        match="virtualization-pool: kernel hand: the pool expects at least 1056 warp-registers, all of a thread block"
        " of 24 warps, found 1024",
    ):
        room(44, threads=768)


def test_the_table_and_the_availability_bits_take_31264_bits() -> None:
    """48 warps x 63 registers x 10 bits, and 1,024 (§4.3.2)."""
    design = load("virtualization-pool")
    tables = [one for one in design.hardware(design.configure(), FERMI) if isinstance(one, Table)]
    assert [one.entries * one.bits for one in tables] == [30_240, 1_024]
