"""Strands by the rules of the register scratchpad (CASES 2018, section III-B)."""

from __future__ import annotations

from tests.designs.kernels import at, kernel, op, p, pair, r, when

from warpreg.analysis.first_dependence import FirstDependenceRules
from warpreg.analysis.strands import Start, strands
from warpreg.designs import program_table
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Label

LOAD = op("ld.global.u32", r(1), at(pair(2)))
SECOND = op("ld.global.u32", r(6), at(pair(2)))
USE = op("add.s32", r(4), r(1), 1)
OTHER = op("add.s32", r(5), r(0), 1)
STORE = op("st.shared.u32", at(r(0)), r(4))
RULES = FirstDependenceRules()
BRANCH = when(p(0), op("bra", Label("there")))


def starts(code: Kernel, rules: FirstDependenceRules = RULES) -> dict[int, Start]:
    long_latency = [bool(x) for x in program_table(code).long_latency]
    found = strands(code, rules, long_latency)
    return {pc: start for pc, start in enumerate(found.start) if start != Start.INSIDE}


def test_each_result_is_waited_for_by_itself() -> None:
    code = kernel([LOAD, SECOND, USE, op("add.s32", r(7), r(6), 1), op("add.s32", r(8), r(1), 1)])
    assert starts(code) == {0: Start.BEGINS, 2: Start.WAITS, 3: Start.WAITS}


def test_an_overwrite_waits_like_a_read_and_only_the_first_access_does() -> None:
    code = kernel([LOAD, OTHER, op("mov.b32", r(1), 3), USE])
    assert starts(code) == {0: Start.BEGINS, 2: Start.WAITS}


def test_where_paths_meet_the_next_dependence_may_be_the_first() -> None:
    code = kernel(
        [LOAD, BRANCH],
        [USE, STORE],
        [OTHER],
        [OTHER, op("add.s32", r(6), r(1), 1), STORE],
        successors=((2, 1), (3,), (3,), ()),
    )
    found = starts(code)
    assert found[2] is Start.WAITS
    assert found[6] is Start.WAITS
    assert found.get(5) is not Start.WAITS


def test_a_loop_and_what_follows_it() -> None:
    code = kernel([LOAD, OTHER, USE], [OTHER, BRANCH], [STORE], successors=((1,), (1, 2), ()))
    assert starts(code) == {0: Start.BEGINS, 2: Start.WAITS, 3: Start.BEGINS, 5: Start.BEGINS}


def test_a_barrier_may_deschedule_the_warp() -> None:
    code = kernel([OTHER, op("bar.sync", 0)], [USE], successors=((1,), ()))
    assert starts(code) == {0: Start.BEGINS, 2: Start.RESUMES}
    assert starts(code, FirstDependenceRules(barriers=False)) == {0: Start.BEGINS}
