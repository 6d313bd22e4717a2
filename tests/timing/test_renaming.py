"""The designs that rename in time: what every design has to keep, and closed forms (thesis of 2021, chapter 2)."""

from __future__ import annotations

import dataclasses
from collections import defaultdict, deque
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.test_packing import DESIGNS
from tests.timing.assembly import one_warp, warps
from tests.timing.both_cores import agreed, fast, machine_with_memory
from tests.timing.launches import FULL as FULL_MASK
from tests.timing.launches import Launched
from tests.timing.machine_files import machine_of
from tests.timing.random_runs import Case, cases
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import PIPES, Banks, CollectorSet, Sm
from tests.timing.test_miniatures import events
from tests.timing.vocabulary import Timed, timed

from warpreg import gpu
from warpreg.designs import Design, DesignError, load, program_table
from warpreg.designs.interface import Launch
from warpreg.designs.interface.state import named_leaves
from warpreg.designs.parts.renaming.slices import FULL
from warpreg.designs.parts.renaming.table import UNMAPPED

NAMES = ("packing", "virtualization", "corf", "corf-pp")


def sized(case: Case, **chosen: Any) -> dict[str, Any]:
    """Parameters for the banks of a machine."""
    return {"banks": machine_of(case.sm, case.sms, case.resident).register_file.banks, **chosen}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "chosen"), DESIGNS)
@settings(max_examples=8, deadline=None)
@given(case=cases, seed=st.integers(0, 99))
def test_both_cores_agree(name: str, chosen: dict[str, Any], case: Case, seed: int) -> None:
    """And the register file is empty at the end: no slice in use, no source pending, no place superseded."""
    launched, values = case.launched.with_widths(seed), sized(case, **chosen)
    run = agreed(launched, case.sm, case.latency, case.interval, case.sms, case.resident, load(name), **values)
    drained(run)


def drained(run: Timed) -> None:
    state = dict(named_leaves(run.outcome.state))
    assert (state["free"] == FULL).all()
    for name in ("in_use", "places", "pending", "resident"):
        assert not state[name].any()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8, deadline=None)
@given(case=cases, seed=st.integers(0, 99))
def test_switched_off_it_is_the_plain_register_file(name: str, case: Case, seed: int) -> None:
    launched, values = case.launched.with_widths(seed), sized(case, enabled=False)
    plain = agreed(case.launched, case.sm, case.latency, case.interval, case.sms, case.resident)
    off = agreed(launched, case.sm, case.latency, case.interval, case.sms, case.resident, load(name), **values)
    assert (off.cycles, off.stalls.counts, off.outcome.issues) == (
        plain.cycles,
        plain.stalls.counts,
        plain.outcome.issues,
    )
    assert off.outcome.counts.accesses.tolist() == plain.outcome.counts.accesses.tolist()


class Watched:
    """Follows the values of a run through the slices that hold them.

    ``held`` by (SM, physical register, slice) and ``current`` by (warp, register) are numbers of writes; ``pending``
    by (warp, source operand) what issued instructions have to read: entries of the table, and the number expected.
    """

    def __init__(self, design: Design) -> None:
        self.hooks = design.hooks
        self.held: dict[tuple[int, int, int], int] = {}
        self.current: dict[tuple[int, int], int] = {}
        self.pending: defaultdict[tuple[int, int], deque[tuple[int, int]]] = defaultdict(deque)
        self.writes = self.checked = 0
        watching = {name: getattr(self, name) for name in ("plan_reads", "collected", "produced")}
        self.design = dataclasses.replace(design, hooks={**design.hooks, **watching})

    def plan_reads(self, state: Any, program: Any, warp: int, pc: int, plan: Any) -> None:
        self.hooks["plan_reads"](state, program, warp, pc, plan)
        for operand in range(program.source_start[pc], program.source_start[pc + 1]):
            register = int(program.source[operand])
            expected = self.current.get((warp, register), 0)
            self.pending[warp, operand].append((int(state.table[warp, register]), expected))

    def collected(self, state: Any, program: Any, warp: int, pc: int, operand: int, plan: Any) -> None:
        entry, expected = self.pending[warp, operand].popleft()
        for one in slices(entry):
            assert self.held[plan.sm, entry >> 4, one] == expected
            self.checked += 1
        self.hooks["collected"](state, program, warp, pc, operand, plan)

    def produced(self, state: Any, program: Any, warp: int, pc: int, plan: Any) -> None:
        self.hooks["produced"](state, program, warp, pc, plan)
        for row in range(program.result_start[pc], program.result_start[pc + 1]):
            self.writes += 1
            register = int(program.result[row])
            self.current[warp, register] = self.writes
            entry = int(state.table[warp, register])
            for one in slices(entry):
                self.held[plan.sm, entry >> 4, one] = self.writes


def slices(entry: int) -> list[int]:
    return [one for one in range(4) if entry >> one & 1] if entry != UNMAPPED else []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "chosen"), DESIGNS)
@settings(max_examples=15, deadline=None)
@given(case=cases, seed=st.integers(0, 99))
def test_every_read_sees_the_last_write(name: str, chosen: dict[str, Any], case: Case, seed: int) -> None:
    """The last before it issued, in time: a later result must not take the slices before they are read.

    Paths are random, so a register may be read that the compiler took for dead; then it has no place.
    """
    watched = Watched(load(name))
    memory = case.memory()
    timed(
        case.launched.with_widths(seed),
        case.sm,
        memory,
        case.sms,
        case.resident,
        watched.design,
        **sized(case, **chosen),
    )
    assert not any(watched.pending.values())


STORES = "mov.b32 R6, 7" + 3 * "\nst.global.u32 [R4.64], R6" + "\nmov.b32 R6, 8\nmov.b32 R7, 9\nadd.s32 R7, R6, R7"
LINE = Access(FULL_MASK, "global", 0, ((0, 15),))


def test_a_result_that_comes_before_an_earlier_read_gets_another_place() -> None:
    """Memory takes a line every 30 cycles, so the third store waits in its latch and has not read R6 when the second
    value of R6 is there.  That value goes elsewhere, and the first stays until it is read; R7 does not take its place.
    """
    others = tuple(name for name in PIPES if name != "mem")
    sm = Sm(queue=1, banks=Banks(count=4, sets=(CollectorSet(("mem",), collectors=1), CollectorSet(others))))
    alone = one_warp(STORES, LINE, LINE, LINE)
    launched = dataclasses.replace(alone, blocks=(alone.blocks[0] * 4,))
    watched = Watched(load("virtualization"))
    run = timed(launched, sm, Case(launched, sm, 1, 1, 20, 30).memory(), 1, 1, watched.design)
    assert events(run, watched.design)["superseded"] >= 1
    drained(run)


ADD = "mov.b32 R1, 1\nmov.b32 R2, 2\nadd.s32 R3, R1, R2\nmov.b32 R4, R3"
ONE_PORT = Sm(banks=Banks(count=4, mapping="register", operand_ports=1, sets=(CollectorSet(PIPES, collectors=4),)))
FREE = {"encoding": "free"}


def of_widths(launched: Launched, *bytes_: int) -> Launched:
    blocks = tuple(tuple(dataclasses.replace(warp, widths=bytes_) for warp in block) for block in launched.blocks)
    return dataclasses.replace(launched, blocks=blocks)


@pytest.mark.parametrize(
    ("name", "chosen", "bytes_", "coalesced", "used"),
    [
        ("packing", {}, 1, False, 16),
        ("packing", {"coalesce": True}, 1, True, 15),
        ("virtualization", {}, 1, False, 16),
        ("corf", FREE, 2, True, 15),
        ("corf", FREE, 3, False, 16),
        ("corf-pp", FREE, 2, True, 15 + 1),
        ("corf-pp", FREE, 3, False, 16 + 1),
    ],
)
def test_a_coalesced_read_takes_one_access_and_one_port(
    name: str, chosen: dict[str, Any], bytes_: int, coalesced: bool, used: int
) -> None:
    """R1 and R2 are there in 7 and 8.  The addition issues in 8; the table is looked up on its way to a collector,
    which it enters in 9.  It reads R1 in 10 and R2 in 11, because the collector has one port, and R3 is there in
    12 + 4.  Coalesced, both are read in 10, and R3 is there a cycle earlier.  Of three bytes each they do not fit
    together.

    In CORF++ all registers of a warp are in one bank of the table.  In 8 its two ports serve the place of R2, which has
    just been found, and the lookup of R1; that of R2 waits until 9.
    """
    launched = of_widths(one_warp(ADD), bytes_, bytes_, bytes_, bytes_)
    design = load(name)
    run = agreed(launched, ONE_PORT, design=design, **sized(Case(launched, ONE_PORT, 1, 8, 20, 1), **chosen))
    run.warp(0).issues().at(1, 2, 8, used)
    found = events(run, design)
    assert (found["multiple_sources"], found["coalesced"]) == (1, coalesced)
    assert run.outcome.counts.accesses.reshape(2, 2).sum(axis=1).tolist() == [3 - coalesced, 4]


PAIR = "mov.b32 R1, R3\nmov.b32 R2, 2\nadd.s32 R3, R1, R2\n"
TWICE = f"{PAIR}{PAIR}mov.b32 R4, R3"


def test_a_pair_of_a_warp_counts_once_and_each_placement_beside_a_buddy() -> None:
    """R1 and R2 are a pair.  With four bytes each they get places of their own; R2 finds R1 placed, and does not fit.
    The addition reads both for the last time.  Then they have one byte, and R2 goes beside R1: one of two placements,
    and the one pair of the warp.
    """
    launched, design = of_widths(one_warp(TWICE), 4, 4, 4, 1, 1, 4, 4), load("corf")
    run = agreed(launched, ONE_PORT, design=design, **sized(Case(launched, ONE_PORT, 1, 8, 20, 1), **FREE))
    found = events(run, design)
    assert (found["buddies_placed"], found["buddies_packed"]) == (2, 1)
    assert (found["pairs_placed"], found["pairs_packed"]) == (1, 1)


@pytest.mark.parametrize(
    ("name", "chosen", "used"),
    [
        ("packing", {"renaming_stages": 0}, 16),
        ("packing", {"renaming_stages": 1}, 16),
        ("packing", {"renaming_stages": 2}, 16 + 1),
        ("virtualization", {"renaming_stages": 2}, 16 + 1),
        ("corf", {**FREE, "renaming_stages": 2}, 15 + 1),
        ("corf-pp", {**FREE, "renaming_stages": 0}, 15),
        ("corf-pp", {**FREE, "renaming_stages": 1}, 15 + 1),
    ],
)
def test_the_lookup_takes_the_cycle_that_moves_an_instruction_to_a_collector(
    name: str, chosen: dict[str, Any], used: int
) -> None:
    """Section 2.6.  The plain register file has R3 in 16 too: the addition issues in 8 and enters a collector in 9,
    whether or not the table is looked up in between.  With two stages it enters in 10.

    In CORF++ the lookup of R2 waits for a port until 9, a conflict that delays the read (one stage) or, without a stage
    of its own, does not.
    """
    plain = agreed(of_widths(one_warp(ADD), 2, 2, 2, 2), ONE_PORT)
    plain.warp(0).issues().at(1, 2, 8, 16)
    launched = of_widths(one_warp(ADD), 2, 2, 2, 2)
    run = agreed(launched, ONE_PORT, design=load(name), **sized(Case(launched, ONE_PORT, 1, 8, 20, 1), **chosen))
    run.warp(0).issues().at(1, 2, 8, used)


@pytest.mark.parametrize(
    ("slots", "chosen", "conflicts"),
    [
        ((0, 4), {}, 3 + 1),
        ((0, 1), {}, 1 + 1),
        ((36, 40), {}, 3 + 1),
        ((36, 37), {}, 1 + 1),
        ((0, 1), {"bank_stride": 2}, 3 + 1),
        ((0, 4), {"bank_stride": 2}, 1 + 1),
        ((0, 4), {"warp_banks": False}, 0),
    ],
)
def test_two_warps_in_one_bank_conflict_with_each_other(
    slots: tuple[int, int], chosen: dict[str, Any], conflicts: int
) -> None:
    """The pathological pair (§2.5.2): both warps add at the same time, and their values have four bytes.

    In slots 0 and 4 all four sources are in bank 0, which serves them in four cycles.  In the first three of them a
    read is not granted.  The move of the first warp waits once more, for the write of R3 of the other.  In slots 0 and
    1 each bank has two sources, and one of them waits; so it is in slots from 32 on.  If two neighbours share a bank,
    it is the other way about.  Round the banks, all four are in different ones.
    """
    sm = Sm(slots=42, schedulers=3, banks=Banks(count=4, mapping="register", sets=(CollectorSet(PIPES, collectors=6),)))
    paths = [[()] if slot in slots else [] for slot in range(41)]
    launched = of_widths(warps(ADD, *paths), 4, 4, 4, 4)
    launched = dataclasses.replace(
        launched, blocks=(tuple(w if w.visits else dataclasses.replace(w, widths=()) for w in launched.blocks[0]),)
    )
    values = sized(Case(launched, sm, 1, 8, 20, 1), **FREE, **chosen)
    design = load("corf-pp")
    agreed(launched, sm, design=design, **values)
    found = fast(launched, machine_with_memory(sm, 20, 1), 1, 8, design=design, **values)
    assert found.result.bank_conflicts == conflicts


@pytest.mark.parametrize(
    ("name", "chosen", "message"),
    [
        (
            "corf",
            {"physical": 512},
            "corf: physical expects 1024, the warp-registers of an SM of corf-fermi, found 512",
        ),
        ("corf-pp", {"banks": 8}, "corf-pp: banks expects 4, the banks of corf-fermi, found 8"),
    ],
)
def test_the_size_is_that_of_the_machine(name: str, chosen: dict[str, Any], message: str) -> None:
    design = load(name)
    code = one_warp(ADD).kernel
    with pytest.raises(DesignError, match=rf"^{message} \(.*py:\d+\)$"):
        design.room(design.configure(**chosen), program_table(code), gpu.load("corf-fermi"), Launch(64))
