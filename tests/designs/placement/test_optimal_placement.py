"""Optimal placement of a strand: cases by hand, against exhaustive search, never worse than greedy, and always
valid.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.exhaustive import Search, Step
from tests.designs.kernels import at, kernel, op, pair, r
from tests.replay.random_runs import instructions

from warpreg.analysis.first_dependence import FirstDependenceRules
from warpreg.analysis.strand_rules import LongLatencyRules
from warpreg.analysis.strands import strands
from warpreg.designs import program_table
from warpreg.designs.parts.placement import upper_levels
from warpreg.designs.parts.placement.allocate import Allocation
from warpreg.designs.parts.placement.check import findings
from warpreg.designs.parts.placement.copies import LrfCopy
from warpreg.designs.parts.placement.costs import LevelCost
from warpreg.designs.parts.placement.encode import encode
from warpreg.designs.parts.placement.hierarchy import Options, Placement, allocate, candidates, strands_of
from warpreg.designs.parts.placement.instances import KernelView
from warpreg.designs.parts.placement.optimal_placement import Optimum, optimum, saved_pj
from warpreg.designs.parts.placement.scratchpad import ScratchpadOptions, select
from warpreg.designs.parts.placement.stays import ANY, OWN, Choices
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Vector

COSTS = (LevelCost((10, 10), (10, 10)), LevelCost((1, 1), (2, 2)), LevelCost((0.5, 0.5), (1, 1)))


def options(entries: int, lrf: str = "none", operands: bool = True) -> Options:
    return Options(costs=COSTS, rules=LongLatencyRules(), entries=entries, lrf=lrf, operands=operands)


def best(code: Kernel, chosen: Options, choices: Choices = ANY) -> Optimum:
    """Of a kernel of one strand."""
    view = KernelView(code, program_table(code))
    (strand,) = strands_of(code, view.program, chosen).strands
    return optimum(view, strand, upper_levels.hierarchy_levels(chosen), choices)


def greedy(code: Kernel, chosen: Options) -> float:
    view = KernelView(code, program_table(code))
    (strand,) = strands_of(code, view.program, chosen).strands
    return sum(placed.savings for placed in allocate(candidates(view, strand, chosen), chosen)[0].placed)


def test_a_dense_value_keeps_greedy_from_the_better_choice() -> None:
    """One entry.  R1 is written at 0 and read at 2, 4, 6 and 8: 4 x 9 + 10 - 2 = 44 pJ over 8 slots.  R2 is written at
    3 and read at 4: 9 + 10 - 2 = 17 pJ in one slot, so greedy takes it first, and R1 may stay until 2 only, in the MRF
    as well: 9 - 2 = 7.  Of ranges like these R1 alone is best.  If R1 may come back, it does so at 6, for 8: 9 - 2 = 7
    more make 31, so staying is still best.
    """
    store = op("st.shared.u32", at(r(9)), r(1))
    code = kernel(
        [
            op("mov.u32", r(1), 7),
            op("bar.warp.sync", -1),
            store,
            op("mov.u32", r(2), 8),
            op("st.shared.v2.u32", at(r(9)), r(1), r(2)),
            op("bar.warp.sync", -1),
            store,
            op("bar.warp.sync", -1),
            store,
        ]
    )
    chosen = options(1, operands=False)
    assert greedy(code, chosen) == 24
    for choices in (OWN, ANY):
        found = best(code, chosen, choices)
        assert (found.savings, found.bound, found.proven) == (44, 44, True)
        assert [placed.candidate.words for placed in found.placed] == [(1,)]


def test_an_operand_may_be_fetched_by_a_later_read() -> None:
    """One entry.  R2 (written at 1, read at 2: 17 pJ) and R5 from before, read at 0, 3 and 4.  Fetched at 0 it would
    save 18 - 2 in R2's time; fetched at 3 for 4, 9 - 2 = 7 more than R2 alone."""

    def add(register: int) -> Instruction:
        return op("add.s32", r(20), r(register), 1)

    code = kernel([add(5), op("mov.u32", r(2), 7), add(2), add(5), add(5)])
    assert best(code, options(1), OWN).savings == 17
    assert best(code, options(1), ANY).savings == 17 + 7


def test_an_operand_may_leave_before_its_last_read() -> None:
    """One entry.  R0 and R2 are from before; R0 is read at 0, 1 and 2, R2 at 2 and twice at 3.  R0 fetched at 0 for 1
    saves 9 - 2 = 7; if it stayed until 2, for 7 + 9, R2 could not be fetched there, which saves 2 x 9 - 2 = 16."""
    steps = [Step((0,), 1), Step((0,), 1), Step((0, 2), 0), Step((2, 2), 0)]
    assert best(code_of(steps), options(1)).savings == 7 + 16
    assert Search(COSTS, 1).savings(steps) == 7 + 16


def test_the_lrf_may_serve_some_reads_of_a_value() -> None:
    """R1 is read in slot A at 1 and in slot B at 2, so no bank serves all.  Without an ORF, bank A or B saves
    9.5 - 1 = 8.5 of one read, and the other comes from the MRF.  With an ORF of one entry R1 saves 2 x 9 + 10 - 2 = 26
    there; a copy in a bank serves one read for 0.5 instead of 1, which does not pay for a write of 1."""
    code = kernel([op("mov.u32", r(1), 7), op("add.s32", r(20), r(1), 1), op("add.s32", r(20), 1, r(1))])
    assert best(code, options(0, "split"), OWN).savings == 0
    assert best(code, options(0, "split")).savings == 8.5
    assert best(code, options(1, "split")).savings == 26


def test_a_value_may_leave_the_orf_and_stay_in_the_lrf() -> None:
    """One entry and three banks.  R0, written at 0, is read in all slots at 1 and in slot A at 2; R1, written at 1, in
    B and C at 2.  R0 in the ORF until 1 and in bank A until 2 costs 2 + 1 to write and 0.5 + 1 + 1 + 0.5 to read, which
    leaves the entry to R1 in time: 2 to write, 1 + 1 to read.  Both spare the main register file, which would take 20
    and 60 pJ for them: 80 - 6 - 4 = 70.
    """
    code = code_of([Step((), 0), Step((0, 0, 0), 1), Step((0, 1, 1), 1)])
    found = best(code, options(1, "split"))
    assert found.savings == 70
    assert [(copied.bank, copied.candidate.words) for copied in found.copied] == [(0, (0,))]


def straight(choose: random.Random, length: int, registers: int) -> list[Step]:
    def register() -> int:
        return choose.randrange(registers)

    return [Step(tuple(register() for _ in range(choose.randrange(4))), register()) for _ in range(length)]


def code_of(steps: list[Step]) -> Kernel:
    opcodes = ("mov.u32", "not.b32", "add.s32", "mad.lo.s32")
    return kernel([op(opcodes[len(s.sources)], r(s.result), *(map(r, s.sources) if s.sources else [7])) for s in steps])


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.randoms(use_true_random=False),
    st.integers(1, 8),
    st.integers(1, 4),
    st.sampled_from([(1, "none"), (2, "none"), (1, "unified"), (1, "split"), (0, "split")]),
)
def test_it_is_what_exhaustive_search_finds(
    choose: random.Random, length: int, registers: int, size: tuple[int, str]
) -> None:
    entries, lrf = size
    steps = straight(choose, length, registers)
    found = best(code_of(steps), options(entries, lrf))
    assert found.savings == pytest.approx(Search(COSTS, entries, lrf).savings(steps))


blocks = st.lists(instructions, max_size=8)
straight_or_hammock: st.SearchStrategy[Kernel] = st.builds(kernel, blocks) | st.builds(
    lambda one, two, three, four: kernel(
        [*one, op("bra", 1)], two, three, four, successors=((2, 1), (3,), (3,), ())
    ),
    blocks, blocks, blocks, blocks,
)  # fmt: skip
"""Guarded writes, wide registers and long latencies among the instructions."""


@settings(max_examples=60, deadline=None)
@given(straight_or_hammock, st.integers(0, 4), st.sampled_from(["none", "unified", "split"]))
def test_greedy_never_saves_more_and_all_placements_are_right(code: Kernel, entries: int, lrf: str) -> None:
    chosen = options(entries, lrf)
    view = KernelView(code, program_table(code))
    whole = strands_of(code, view.program, chosen)
    for choices in (OWN, Choices(returns=False, lrf=False), ANY):
        placed: list[Allocation] = []
        copied: list[LrfCopy] = []
        for strand in whole.strands:
            found = optimum(view, strand, upper_levels.hierarchy_levels(chosen), choices)
            assert found.proven
            greedy = sum(placed.savings for placed in allocate(candidates(view, strand, chosen), chosen)[0].placed)
            assert greedy <= found.savings + 1e-9
            assert found.savings == pytest.approx(
                saved_pj(found.placed, found.copied, upper_levels.hierarchy_levels(chosen))
            )
            placed += found.placed
            copied += found.copied
        hinted = encode(view.program, code, Placement(whole, tuple(placed), (), tuple(copied)))
        assert findings(code, hinted) == []


@settings(max_examples=60, deadline=None)
@given(straight_or_hammock, st.integers(0, 4), st.booleans(), st.booleans(), st.booleans())
def test_the_scratchpad_compiler_never_saves_more(
    code: Kernel, entries: int, live_out: bool, several: bool, operands: bool
) -> None:
    chosen = ScratchpadOptions(COSTS[1], COSTS[0], FirstDependenceRules(), entries, False, several, live_out, operands)
    view = KernelView(code, program_table(code))
    whole = strands(code, chosen.rules, [bool(x) for x in view.program.long_latency])
    placed: list[Allocation] = []
    for strand in whole.strands:
        found = optimum(view, strand, upper_levels.scratchpad_levels(chosen))
        greedy = select(view, strand, chosen).placed
        assert sum(one.savings for one in greedy) <= found.savings + 1e-9
        placed += found.placed
    assert findings(code, encode(view.program, code, Placement(whole, tuple(placed), ()))) == []


def test_neighbouring_entries_for_wide_values() -> None:
    """Two values of two registers that live at the same time need four entries; three hold one of them."""
    wide = [op("mov.u64", pair(2), 1), op("mov.u64", pair(4), 2)]
    use = [op("st.shared.u64", at(r(9)), pair(2)), op("st.shared.u64", at(r(9)), pair(4))]
    for entries, kept in ((3, 1), (4, 2)):
        found = best(kernel([*wide, *use]), options(entries, operands=False))
        assert len(found.placed) == kept
        assert found.savings == kept * 2 * (9 + 10 - 2)


def test_half_of_a_pair_may_stay_alone() -> None:
    """One entry.  The load writes R2 and R3; the store reads both as its address and R3 as its value.  R3 alone fits:
    its read saves 10 - 1, its write costs 2, and it is written to the main register file too, for the address: 7."""
    load = op("ld.shared.v2.u32", Vector((r(2), r(3))), at(r(9)))
    code = kernel([load, op("st.global.u32", at(pair(2)), r(3))])
    assert best(code, options(1, operands=False)).savings == 9 - 2
