"""Strands by the rules of the compiler-managed hierarchy (MICRO 2011, section 4.1, Figure 5)."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codegen import random_code
from tests.designs.kernels import at, kernel, op, p, pair, r, when

from warpreg import codegen, ptx
from warpreg.analysis.cfg import control_flow
from warpreg.analysis.strand_rules import LongLatencyRules
from warpreg.analysis.strands import Start, Strands, strand_ends, strands
from warpreg.designs import program_table
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Label

LOAD = op("ld.global.u32", r(1), at(pair(2)))
USE = op("add.s32", r(4), r(1), 1)
OTHER = op("add.s32", r(5), r(0), 1)
STORE = op("st.shared.u32", at(r(0)), r(4))
RULES = LongLatencyRules()
BRANCH = when(p(0), op("bra", Label("there")))


def found(code: Kernel, rules: LongLatencyRules = RULES) -> Strands:
    return strands(code, rules, [bool(x) for x in program_table(code).long_latency])


def starts(code: Kernel, rules: LongLatencyRules = RULES) -> dict[int, Start]:
    return {pc: start for pc, start in enumerate(found(code, rules).start) if start != Start.INSIDE}


def test_a_strand_ends_before_the_first_use_of_a_load_of_its_own() -> None:
    code = kernel([OTHER, LOAD, OTHER, USE, op("add.s32", r(6), r(1), 2)])
    assert starts(code) == {0: Start.BEGINS, 3: Start.WAITS}
    assert found(code).number == (0, 0, 0, 1, 1)
    assert found(code).reasons[3] == "waits for R1"
    assert strand_ends(code, found(code)) == (False, False, True, False, True)


def test_one_wait_is_for_all_that_is_under_way() -> None:
    code = kernel([LOAD, op("ld.global.u32", r(6), at(pair(2))), USE, op("add.s32", r(7), r(6), 1)])
    assert starts(code) == {0: Start.BEGINS, 2: Start.WAITS}


def test_figure_5a() -> None:
    """A load and its use before a loop: strand 1 ends at the dependence, the others at the backward branch."""
    code = kernel(
        [LOAD, OTHER, USE],
        [OTHER, BRANCH],
        [STORE],
        successors=((1,), (1, 2), ()),
    )
    assert starts(code) == {0: Start.BEGINS, 2: Start.WAITS, 3: Start.BEGINS, 5: Start.BEGINS}
    assert found(code).reasons[3] == "target of a backward branch"
    assert found(code).number == (0, 0, 1, 2, 2, 3)
    assert strand_ends(code, found(code)) == (False, True, True, False, True, True)


def test_figure_5b() -> None:
    """The load is waited for on one side of a branch only: where the sides meet an extra strand begins, and waits."""
    code = kernel(
        [LOAD, BRANCH],
        [USE, STORE],
        [OTHER],
        [op("add.s32", r(6), r(1), 1), STORE],
        successors=((2, 1), (3,), (3,), ()),
    )
    assert starts(code) == {
        0: Start.BEGINS,
        2: Start.WAITS,
        4: Start.BEGINS,  # its lanes wait while those of the other side are descheduled
        5: Start.WAITS,
    }
    assert found(code).reasons[5] == "a long-latency result is outstanding on some paths only"


def test_a_result_that_nobody_reads_any_more_is_not_waited_for_where_paths_meet() -> None:
    code = kernel(
        [LOAD, BRANCH],
        [USE, STORE],
        [OTHER],
        [STORE],
        successors=((2, 1), (3,), (3,), ()),
    )
    assert starts(code)[5] == Start.BEGINS
    assert found(code).reasons[5] == "paths of different strands meet"


def test_a_hammock_without_loads_lies_within_one_strand() -> None:
    code = kernel([BRANCH], [OTHER], [OTHER], [STORE], successors=((2, 1), (3,), (3,), ()))
    assert starts(code) == {0: Start.BEGINS}
    assert [segment.predecessors for segment in found(code).strands[0].segments] == [(), (0,), (0,), (1, 2)]


def test_a_load_before_a_loop_that_uses_it_is_waited_for_at_the_header() -> None:
    code = kernel([LOAD], [USE, BRANCH], [STORE], successors=((1,), (1, 2), ()))
    assert starts(code) == {0: Start.BEGINS, 1: Start.WAITS, 3: Start.BEGINS}


def test_a_load_that_a_loop_always_has_under_way_is_waited_for_at_its_use() -> None:
    """The next iteration's value is requested at the end of each: the header knows what is under way."""
    code = kernel([LOAD], [OTHER, USE, LOAD, BRANCH], [USE], successors=((1,), (1, 2), ()))
    assert starts(code) == {0: Start.BEGINS, 1: Start.BEGINS, 2: Start.WAITS, 5: Start.WAITS}


def test_lanes_that_have_left_a_loop_wait_while_others_are_descheduled_in_it() -> None:
    code = kernel([OTHER], [LOAD, USE, BRANCH], [STORE], successors=((1,), (1, 2), ()))
    assert starts(code) == {0: Start.BEGINS, 1: Start.BEGINS, 2: Start.WAITS, 4: Start.BEGINS}
    through = LongLatencyRules(backward_branches=False)
    assert found(code).reasons[4] == "follows a backward branch"
    assert found(code, through).reasons[4] == "lanes wait here while others may be descheduled"


def test_a_barrier_and_a_fence_end_strands_and_a_barrier_of_the_warp_does_not() -> None:
    code = kernel([OTHER, op("bar.sync", 0)], [OTHER, op("membar.cta"), OTHER, op("bar.warp.sync", -1)], [STORE])
    assert starts(code) == {0: Start.BEGINS, 2: Start.RESUMES, 4: Start.RESUMES}


def test_a_barrier_of_machine_code_ends_strands_and_an_arrival_does_not() -> None:
    code = kernel([OTHER, op("BAR.SYNC", 0)], [OTHER, op("BAR.ARV", 0, 64)], [OTHER, op("BAR.RED.POPC", 0)], [STORE])
    assert starts(code) == {0: Start.BEGINS, 2: Start.RESUMES, 6: Start.RESUMES}


def test_strands_may_go_on_at_barriers() -> None:
    code = kernel([OTHER, op("bar.sync", 0)], [LOAD, op("membar.cta"), USE])
    assert starts(code, LongLatencyRules(barriers=False)) == {0: Start.BEGINS, 4: Start.WAITS}


def test_without_descheduling_only_backward_branches_end_strands() -> None:
    code = kernel([LOAD, USE, op("bar.sync", 0)], [USE, BRANCH], [STORE], successors=((1,), (1, 2), ()))
    assert starts(code, LongLatencyRules(descheduling=False)) == {0: Start.BEGINS, 3: Start.BEGINS, 5: Start.BEGINS}


def test_strands_may_hold_loops_where_backward_branches_end_none() -> None:
    code = kernel([OTHER], [OTHER, BRANCH], [STORE], successors=((1,), (1, 2), ()))
    within = found(code, LongLatencyRules(backward_branches=False))
    assert within.number == (0, 0, 0, 0)
    assert [segment.predecessors for segment in within.strands[0].segments] == [(), (0, 1), (1,)]


FORMS = (*random_code.SUMS, *random_code.LOGIC, "ld.global.u32 {d}, [%rd4+4];", "membar.cta;")


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 4))
def test_strands_have_one_entry_and_cover_all_reachable_code(seed: int, branches: int) -> None:
    code = codegen.translate(ptx.parse(random_code.text(seed, FORMS, branches=branches)), "k")
    whole = found(code)
    assert sorted(pc for strand in whole.strands for pc in strand.pcs) == [
        pc for pc, number in enumerate(whole.number) if number >= 0
    ]
    flow, first = control_flow(code), code.first_pcs()
    for strand in whole.strands:
        for position, segment in enumerate(strand.segments):
            assert bool(segment.predecessors) == (position > 0)
            if position:
                assert whole.start[segment.first] == Start.INSIDE
                before = {strand.segments[q].block for q in segment.predecessors}
                assert before == set(flow.predecessors[segment.block]) & set(flow.reverse_postorder)
            assert all(pc == first[block] or pc == segment.end for block, pc in segment.leaves)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 4))
def test_no_instruction_reads_a_long_latency_result_of_its_own_strand(seed: int, branches: int) -> None:
    """The definition of a strand, followed along random paths."""
    code = codegen.translate(ptx.parse(random_code.text(seed, FORMS, branches=branches)), "k")
    whole, program = found(code), program_table(code)
    instructions: list[Instruction] = list(code.instructions())
    first, rng = code.first_pcs(), random.Random(seed)
    for _ in range(5):
        block, pending = 0, set[int]()
        for _ in range(60):
            for pc in range(first[block], first[block + 1]):
                if whole.start[pc] is Start.WAITS:
                    pending.clear()
                written = {w for x in instructions[pc].defined for w in x.words}
                assert not pending & {w for x in instructions[pc].used for w in x.words}
                pending = pending | written if program.long_latency[pc] else pending - written
            if not code.blocks[block].successors:
                break
            block = rng.choice(code.blocks[block].successors)
