"""The register scratchpad: kept ranges and their shortening (CASES 2018, section III-B)."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import at, kernel, op, p, pair, r, when
from tests.replay.paths import one_warp

from warpreg.analysis.first_dependence import FirstDependenceRules
from warpreg.designs import load, program_table
from warpreg.designs.parts.placement.check import findings
from warpreg.designs.parts.placement.costs import LevelCost
from warpreg.designs.parts.placement.scratchpad import ALLOCATORS, RULES, ScratchpadOptions, place_in_scratchpad
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.replay import replay

OWN, BACKING = LevelCost((1, 1), (2, 2)), LevelCost((10, 10), (10, 10))
STORE_TO = r(30)


def placed(code: list[Instruction], entries: int, **options: Any) -> list[tuple[int, int, int]]:
    """(register, first pc, last pc) of each range that is kept, in order of pc."""
    chosen = ScratchpadOptions(OWN, BACKING, FirstDependenceRules(), entries, **options)
    whole = kernel(code)
    found = place_in_scratchpad(whole, program_table(whole), chosen).placed
    return sorted((p.candidate.words[0], p.candidate.pc, max(read.pc for read in p.candidate.reads)) for p in found)


def move(register: int) -> Instruction:
    return op("mov.u32", r(register), 7)


def use(*registers: int) -> Instruction:
    """An instruction that reads registers, all in different slots, and writes none."""
    return op(f"st.shared.{'v2.' if len(registers) == 2 else ''}u32", at(STORE_TO), *map(r, registers))


def test_what_shortening_cuts_off_is_kept_once_there_is_room() -> None:
    """One entry, and the address R30 is not read again.  R1 (0 to 7) saves 3 x 9 + 8 = 35 pJ in 7 slots, R2 (3 to 4)
    saves 9 + 8 = 17 in one and goes first.  R1 shortened to its read at 2 saves 9 - 2 = 7 in 2 slots and fits.  Its
    reads at 6 and 7 are left out: one fill, which costs 2, serves the other for 9.
    """
    code = [move(1), op("bar.warp.sync", -1), add(1), move(2), add(2), op("bar.warp.sync", -1), add(1), add(1)]
    assert placed(code, 1) == [(1, 0, 2), (1, 6, 7), (2, 3, 4)]
    assert placed(code, 1, tail_only=True) == [(1, 0, 2), (2, 3, 4)]
    assert placed(code, 2) == [(1, 0, 7), (2, 3, 4)]


def add(register: int) -> Instruction:
    """Reads a register; its result is never read."""
    return op("add.s32", r(20), r(register), 1)


def test_what_is_cut_off_is_not_kept_past_a_write_of_some_lanes() -> None:
    """One entry.  The writes of R1 at 0 and, under a guard, at 5 both reach the reads at 6 and 7, so they would stay
    together: 4 x 9 - 2 x 2 + 2 x 10 = 52 pJ in 7 slots.  R2 (2 to 3) is denser, so R1 stays until 1.  Of the reads that
    are left out, 6 may be a fill for 7; 4 may not, as lanes get another value at 5.
    """
    code = [move(1), add(1), move(2), add(2), add(1), when(p(0), move(1)), add(1), add(1)]
    assert placed(code, 1) == [(1, 0, 1), (1, 6, 7), (2, 2, 3)]


def test_an_operand_keeps_the_best_window_of_its_reads() -> None:
    """One entry.  R5 comes from before and is read at 0, 3 and 4; R2 (1 to 2) goes first.  Of the windows with two
    reads that from 3 to 4 is free; with the tail alone the range would begin at 0, and nothing is left of it.
    """
    code = [add(5), move(2), add(2), add(5), add(5)]
    assert placed(code, 1) == [(2, 1, 2), (5, 3, 4)]
    assert placed(code, 1, tail_only=True) == [(2, 1, 2)]


def test_without_live_out_values_only_those_that_die_in_the_strand_are_kept() -> None:
    """R1 is read after the barrier, in another strand; R2 is not."""
    code = [move(1), add(1), move(2), add(2), op("bar.sync", 0), add(1)]
    assert placed(code, 4) == [(1, 0, 1), (2, 2, 3)]
    assert placed(code, 4, live_out=False) == [(2, 2, 3)]


def test_counts_follow_from_the_placement() -> None:
    """R1 and R2 never touch the MRF; the result of the two additions, R20, is never read and goes there."""
    code = kernel([move(1), add(1), move(2), add(2)])
    counts = replay(one_warp([0]), code, "rsp")
    assert (counts.reads("RSP"), counts.writes("RSP"), counts.reads("MRF"), counts.writes("MRF")) == (2, 2, 0, 2)


def any_instruction(choose: random.Random) -> Instruction:
    if choose.random() < 0.1:
        return op("bar.sync", 0)
    if choose.random() < 0.2:
        wide = [pair(2 * choose.randrange(3)) for _ in range(3)]
        return op("add.s64", *wide)
    one = op("add.s32", *(r(choose.randrange(6)) for _ in range(3)))
    if choose.random() < 0.2:
        one = op("setp.lt.s32", p(choose.randrange(2)), *one.used)
    return when(p(choose.randrange(2)), one, choose.random() < 0.5) if choose.random() < 0.4 else one


@settings(max_examples=60, deadline=None)
@given(
    st.randoms(use_true_random=False),
    st.integers(0, 6),
    st.booleans(),
    st.booleans(),
    st.sampled_from(ALLOCATORS),
    st.sampled_from(tuple(RULES)),
)
def test_every_placement_is_right(
    choose: random.Random, entries: int, tail: bool, live_out: bool, allocator: str, rules: str
) -> None:
    code: Kernel = kernel([any_instruction(choose) for _ in range(30)])
    design = load("rsp")
    shortening = "tail" if tail else "full"
    chosen = design.configure(
        entries=entries, shortening=shortening, live_out=live_out, allocator=allocator, strands=rules
    )
    program = design.compile(program_table(code), chosen, code)
    assert findings(code, program) == []
    if entries == 0:
        assert not program.source_level.any()
        assert not program.result_level.any()


def test_the_allocator_of_orf_lrf_makes_no_new_range_of_what_it_cuts_off() -> None:
    """As in the first test: R1 shortened to its read at 2 fits, and its reads at 6 and 7 are left to the MRF."""
    code = [move(1), op("bar.warp.sync", -1), add(1), move(2), add(2), op("bar.warp.sync", -1), add(1), add(1)]
    assert placed(code, 1, allocator="orf-lrf") == [(1, 0, 2), (2, 3, 4)]
    assert placed(code, 2, allocator="orf-lrf") == [(1, 0, 7), (2, 3, 4)]
    assert placed([add(5), move(2), add(2), add(5), add(5)], 1, allocator="orf-lrf") == [(2, 1, 2)]


def test_the_allocator_of_orf_lrf_leaves_live_out_values_where_they_are_not_allowed() -> None:
    code = [move(1), add(1), move(2), add(2), op("bar.sync", 0), add(1)]
    assert placed(code, 4, allocator="orf-lrf") == [(1, 0, 1), (2, 2, 3)]
    assert placed(code, 4, allocator="orf-lrf", live_out=False) == [(2, 2, 3)]


def test_accesses_in_immediate_succession_may_come_last() -> None:
    """One entry (section III-A2).  R2 (1 to 2) saves 17 pJ in one slot, R1 (0 to 3) 17 in 3.  R2 is read by the next
    instruction, so that with a low priority R1 goes first; R2 takes what is left, and with two entries nothing changes.
    """
    code = [move(1), move(2), add(2), add(1)]
    assert placed(code, 1) == [(2, 1, 2)]
    assert placed(code, 1, brief_last=True) == [(1, 0, 3)]
    assert placed(code, 2) == placed(code, 2, brief_last=True) == [(1, 0, 3), (2, 1, 2)]
