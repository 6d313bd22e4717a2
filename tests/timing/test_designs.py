"""Designs in the timing core: counts and delays; disabled, they equal the baseline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.replay.paths import Recorded
from tests.timing.assembly import code, one_warp, warps
from tests.timing.both_cores import agreed
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.random_runs import Case, cases
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import Banks, Sm, TwoLevel
from tests.timing.vocabulary import Timed, timed

from warpreg.designs import Design, DesignError, load
from warpreg.replay import replay

RESTLESS = load(Path(__file__).parent / "designs" / "restless.py", checked=False)


def path_of(launched: Launched) -> Recorded:
    """What replay reads of a launch."""
    path = Recorded()
    for index, block in enumerate(launched.blocks):
        path.thread_block(index)
        for number, warp in enumerate(block):
            path.warp(number)
            for visited, mask in warp.visits:
                path.visits(visited, mask=mask)
    return path


def run_of(case: Case, design: Design | None = None, **parameters: int) -> Timed:
    return timed(case.launched, case.sm, case.memory(), case.sms, case.resident, design, **parameters)


@settings(max_examples=20, deadline=None)
@given(cases, st.integers(0, 6))
def test_a_timing_run_counts_what_replay_counts(case: Case, entries: int) -> None:
    """The register file cache looks at one warp at a time, so only suspensions, which flush it, matter to it."""
    always_active = replace(case, sm=replace(case.sm, two_level=None))
    counts = run_of(always_active, load("rfc"), entries=entries).outcome.counts
    expected = replay(path_of(case.launched), case.launched.kernel, "rfc", entries=entries, mode="interpreted")
    assert counts.accesses.tolist() == expected.accesses.reshape(-1).tolist()
    assert counts.moves.tolist() == expected.moves.tolist()


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(cases)
def test_a_design_switched_off_is_the_baseline(case: Case) -> None:
    off, without = run_of(case, load("rfc"), entries=0), run_of(case)
    assert off.outcome.issues == without.outcome.issues
    assert (off.cycles, off.stalls) == (without.cycles, without.stalls)
    assert off.outcome.counts.accesses[:4].tolist() == without.outcome.counts.accesses.tolist()


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(cases, st.integers(0, 1000), st.integers(1, 4))
def test_whatever_a_design_does_each_slot_cycle_has_a_cause(case: Case, seed: int, passes: int) -> None:
    run = run_of(case, RESTLESS, seed=seed, passes=passes)
    run.stalls.sum_to(run.cycles * case.sm.slots * case.sms)
    assert len(run.outcome.issues) == sum(
        len(case.launched.kernel.blocks[block].instructions)
        for warps in case.launched.blocks
        for warp in warps
        for block, _ in warp.visits
    )


HEADER = """
from typing import NamedTuple
import numpy as np
from warpreg.designs.interface import *
DESIGN = Declaration(slot="levels", levels=("MRF", "TOP"), events=("n",), resources=("r",), source="assumed: a test")
TOP = 1
"""


def design(folder: Path, text: str) -> Design:
    """A design of these hooks."""
    file = folder / "hand.py"
    file.write_text(HEADER + dedent(text), encoding="utf-8")
    return load(file)


BANKED = Sm(banks=Banks(count=4, mapping="register"))


@pytest.mark.parametrize("cycles", [0, 1, 4])
def test_a_source_of_another_level_is_there_after_its_cycles(tmp_path: Path, cycles: int) -> None:
    """Issue at 1, enter at 2, there at 2 + cycles, dispatch then (at 3 at the earliest), result 4 cycles later."""
    one = design(tmp_path, f"""
        @hook
        def plan_reads(state, program, warp, pc, plan):
            for operand in range(program.source_start[pc], program.source_start[pc + 1]):
                read(plan, operand, TOP, cycles={cycles})
        """)  # fmt: skip
    run = agreed(one_warp("add.s32 R1, R0, R4\nmov.b32 R2, R1"), BANKED, design=one)
    run.warp(0).issues("mov").at(max(3, 2 + cycles) + 4)
    run.bank(0).reads("R0").at()


def test_merged_sources_take_one_access(tmp_path: Path) -> None:
    """Three sources of bank 0 arrive with the first one: dispatch at 4, not at 6."""
    one = design(tmp_path, """
        @hook
        def plan_reads(state, program, warp, pc, plan):
            first = program.source_start[pc]
            read(plan, first, MRF)
            for operand in range(first + 1, program.source_start[pc + 1]):
                read(plan, operand, MRF, merged=first)
        """)  # fmt: skip
    run = agreed(one_warp("mad.lo.s32 R1, R0, R4, R8\nmov.b32 R2, R1"), BANKED, design=one)
    run.warp(0).issues("mov").at(4 + 4)
    run.bank(0).reads("R4").at()
    assert run.outcome.counts.accesses[0] == 2


def test_an_extra_access_competes_for_its_bank(tmp_path: Path) -> None:
    """Asked for at issue in cycle 1, bank 0 serves one in cycle 2 and one in 3, so the read of R0 waits until 4."""
    one = design(tmp_path, """
        @hook
        def plan_write(state, program, warp, pc, plan):
            if pc == 0:
                nowhere(plan, program.result_start[pc])
                extra(plan, MRF, READ, 4)
                extra(plan, MRF, WRITE, 8)
        """)  # fmt: skip
    run = agreed(one_warp("mov.b32 R1, R0"), BANKED, design=one)
    run.bank(0).extras("R4").at(2)
    run.bank(0).extras("R8").at(3)
    run.bank(0).reads("R0").at(4)


@pytest.mark.parametrize("count", [4, 8])
def test_results_and_extra_accesses_are_served_in_the_order_in_which_they_come(tmp_path: Path, count: int) -> None:
    """Each of the instructions asks for two accesses of the only bank when it issues, and for one when its result is
    there.  The bank serves one in each cycle from 2 on, and the last result last: in cycle 1 + 3 * count.  Its reader
    issues then.
    """
    one = design(tmp_path, """
        @hook
        def plan_write(state, program, warp, pc, plan):
            write(plan, program.result_start[pc], MRF)
            extra(plan, MRF, READ, 4)
            extra(plan, MRF, WRITE, 8)
        """)  # fmt: skip
    lines = [f"mov.b32 R{register}, 1" for register in range(count)] + [f"mov.b32 R{count}, R{count - 1}"]
    run = agreed(one_warp("\n".join(lines)), replace(BANKED, banks=Banks(count=1)), design=one)
    assert run.warp(0).issues("mov").last == 1 + 3 * count


def test_a_result_of_another_level_does_not_wait_for_its_bank(tmp_path: Path) -> None:
    """Both results are due at 8 in bank 0; the second's reader waits for it until 9 unless another level has it too."""
    both = design(tmp_path, """
        @hook
        def plan_write(state, program, warp, pc, plan):
            for operand in range(program.result_start[pc], program.result_start[pc + 1]):
                write(plan, operand, MRF)
                write(plan, operand, TOP)
        """)  # fmt: skip
    access = Access(FULL, "shared", 1)
    launched = one_warp("ld.shared.v2.u32 {R4, R8}, [R0]\nmov.b32 R5, R8", access)
    first = agreed(launched, BANKED).warp(0).issues("mov").first
    agreed(launched, BANKED, design=both).warp(0).issues("mov").at(first - 1)


GATE = """
class State(NamedTuple):
    free: object
def init(parameters, program):
    return State(per_sm(np.int64(1)))
@hook
def admit(state, program, warp, pc, plan):
    if pc != 0:
        return GO
    if state.free[sm_of(program, warp)] == 0:
        return 5
    state.free[sm_of(program, warp)] = 0
    level(plan, 0, 1)
    return GO
@hook
def written_back(state, program, warp, pc, next_pc, base, stride, mask, plan):
    if pc == 0:
        state.free[sm_of(program, warp)] = 1
        level(plan, 0, 0)
        wake(plan, 5)
"""


@pytest.mark.parametrize("two_level", [None, TwoLevel(active_warps=1)])
def test_a_woken_warp_asks_again_in_the_next_cycle(tmp_path: Path, two_level: TwoLevel | None) -> None:
    """Warp 0 issues at 1 and is written back at 5, so warp 1 asks again at 6 and is written back at 10.

    With one active place warp 0, with nothing left, leaves it at 2 to warp 1, which is refused at 3, leaves at 4, is
    woken at 5 and back in its place at the end of 5.
    """
    launched = warps("sin.approx.f32 R1, R0", [()], [()])
    run = agreed(launched, Sm(two_level=two_level), design=design(tmp_path, GATE))
    run.warp(0).issues().at(1)
    run.warp(1).issues().at(6)
    assert run.stalls.counts["token"] == (4 if two_level is None else 3)
    assert run.outcome.counts.integrals(run.cycles) == [[4 + 4]]


TICKETS = """
class State(NamedTuple):
    next: object
def init(parameters, program):
    return State(per_kernel(np.zeros(1, np.int64)))
@hook
def plan_reads(state, program, warp, pc, plan):
    for operand in range(program.source_start[pc], program.source_start[pc + 1]):
        read(plan, operand, TOP, cycles=1 + state.next[0] % 3)
        state.next[0] += 1
"""


def test_sms_share_an_array_of_the_kernel_in_the_order_of_cycles(tmp_path: Path) -> None:
    """Both SMs issue at 1, SM 0 first: its source is there after 1 cycle, that of SM 1 after 2."""
    launched = Launched(code("mov.b32 R1, R0\nmov.b32 R2, R1"), ((WarpPath(((0, FULL),)),),) * 2)
    run = agreed(launched, BANKED, sms=2, resident=1, design=design(tmp_path, TICKETS))
    run.on(0).warp(0, block=0).issues().at(1, 7)
    run.on(1).warp(0, block=1).issues().at(1, 8)


def test_an_array_without_a_scope_cannot_be_written(tmp_path: Path) -> None:
    one, launched = design(tmp_path, TICKETS.replace("per_kernel", "")), one_warp("mov.b32 R1, R0")
    with pytest.raises(
        DesignError, match="hook plan_reads: it writes an array that is shared by the kernel; state that"
    ):
        replay(path_of(launched), launched.kernel, one)


LEAVING = """
from warpreg.designs.interface import Declaration, count, hook, thread_block
DESIGN = Declaration(slot="mapping", order="sm", events=("first",), source="assumed: a test")
@hook
def block_end(state, program, sm, plan):
    count(plan, 0, thread_block(program, 0) + 1)
"""


def test_thread_blocks_that_leave_in_the_same_cycle_do_so_by_slot(tmp_path: Path) -> None:
    """Thread block 0 ends first, and block 2 takes its slot.  It ends with block 1, the older one, which is in slot 1.

    A move issued at t is done at t + 4.  Block 0 issues at 1 and leaves at 5; block 2 issues at 6 and leaves at 10.
    Block 1 is fetched at 2 and issues its fifth and last move at 6.  At the ends, slot 0 has block 0, block 2 and none.
    """
    (tmp_path / "leaving.py").write_text(LEAVING, encoding="utf-8")
    kernel = code("mov.b32 R1, 1", "\n".join(f"mov.b32 R{register}, 1" for register in range(5)))
    launched = Launched(kernel, tuple((WarpPath(((path, FULL),)),) for path in (0, 1, 0)))
    run = agreed(launched, Sm(slots=2, schedulers=2), resident=2, design=load(tmp_path / "leaving.py"))
    assert run.outcome.logs[0].left == [(5, 0), (10, 2), (10, 1)]
    assert run.outcome.counts.events.tolist() == [1 + 3 + 0]
