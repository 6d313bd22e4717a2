"""The best placement of a strand: a case by hand, exhaustive search on small strands, and never below greedy."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import at, kernel, op, pair, r

from warpreg.analysis.strand_rules import LongLatencyRules
from warpreg.designs import program_table
from warpreg.designs.placement.candidates import Candidate
from warpreg.designs.placement.costs import LevelCost
from warpreg.designs.placement.hierarchy import ORF, Options, allocate, candidates, strands_of
from warpreg.designs.placement.instances import KernelView
from warpreg.designs.placement.optimum import optimum
from warpreg.ir.kernel import Kernel

COSTS = (LevelCost((10, 10), (10, 10)), LevelCost((1, 1), (2, 2)), LevelCost((0.5, 0.5), (1, 1)))


def options(entries: int, lrf: str = "none") -> Options:
    return Options(costs=COSTS, rules=LongLatencyRules(), entries=entries, lrf=lrf)


def only_strand(code: Kernel, chosen: Options):
    view = KernelView(code, program_table(code))
    (strand,) = strands_of(code, view.program, chosen).strands
    return view, strand


def test_a_dense_value_keeps_greedy_from_the_better_choice() -> None:
    """One entry.  R1 is written at 0 and read at 2, 4, 6 and 8: 4 x 9 + 10 - 2 = 44 pJ over 8 slots.  R2 is written at
    3 and read at 4: 9 + 10 - 2 = 17 pJ in one slot, so greedy takes it first, and R1 may stay until 2 only, in the MRF
    as well: 9 - 2 = 7.  R1 alone is best.
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
    chosen = Options(costs=COSTS, rules=LongLatencyRules(), entries=1, lrf="none", operands=False)
    view, strand = only_strand(code, chosen)
    outcome, _ = allocate(candidates(view, strand, chosen), chosen)
    assert sum(placed.savings for placed in outcome.placed) == 24
    best = optimum(view, strand, chosen)
    assert (best.savings, best.bound, best.proven) == (44, 44, True)
    assert [placed.candidate.words for placed in best.placed] == [(1,)]


def exhaustive(found: list[Candidate], entries: int) -> float:
    """The most that one-register candidates without fills save in some entries, by trying every choice of ranges."""
    ranges = []
    for candidate in found:
        row: list[Candidate | None] = [None]
        shorter: Candidate | None = candidate
        while shorter is not None:
            row.append(shorter)
            shorter = shorter.shortened()
        ranges.append(row)
    best = 0.0
    for choice in itertools.product(*ranges):
        spans = [one.span for one in choice if one is not None]
        crowd = max((sum(b <= begin <= e for b, e in spans) for begin, _ in spans), default=0)
        if crowd <= entries:
            best = max(best, sum(one.savings(COSTS[ORF], COSTS[0]) for one in choice if one is not None))
    return best


def straight_code(choose: random.Random, length: int) -> Kernel:
    return kernel(
        [op("add.s32", r(choose.randrange(5)), r(choose.randrange(5)), r(choose.randrange(5))) for _ in range(length)]
    )


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 9), st.integers(1, 3))
def test_it_is_what_exhaustive_search_finds(choose: random.Random, length: int, entries: int) -> None:
    chosen = Options(costs=COSTS, rules=LongLatencyRules(), entries=entries, lrf="none", operands=False)
    view, strand = only_strand(straight_code(choose, length), chosen)
    assert optimum(view, strand, chosen).savings == exhaustive(candidates(view, strand, chosen), entries)


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 40), st.integers(0, 4), st.sampled_from(["none", "split"]))
def test_greedy_never_saves_more(choose: random.Random, length: int, entries: int, lrf: str) -> None:
    chosen = options(entries, lrf)
    view, strand = only_strand(straight_code(choose, length), chosen)
    outcome, _ = allocate(candidates(view, strand, chosen), chosen)
    best = optimum(view, strand, chosen)
    assert best.proven
    assert sum(placed.savings for placed in outcome.placed) <= best.savings + 1e-9
    assert best.savings == pytest.approx(sum(placed.savings for placed in best.placed))


def test_neighbouring_entries_for_wide_values() -> None:
    """Two values of two registers that live at the same time need four entries; three hold one of them."""
    wide = [op("mov.u64", pair(2), 1), op("mov.u64", pair(4), 2)]
    use = [op("st.shared.u64", at(r(9)), pair(2)), op("st.shared.u64", at(r(9)), pair(4))]
    for entries, kept in ((3, 1), (4, 2)):
        chosen = Options(costs=COSTS, rules=LongLatencyRules(), entries=entries, lrf="none", operands=False)
        view, strand = only_strand(kernel([*wide, *use]), chosen)
        best = optimum(view, strand, chosen)
        assert len(best.placed) == kept
        assert best.savings == kept * 2 * (9 + 10 - 2)
