"""Conservation laws of every run, for any kernel and machine."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from tests.timing.random_runs import Case, cases
from tests.timing.reference.instruction import Instruction
from tests.timing.reference.program import steps
from tests.timing.reference.stalls import CAUSES
from tests.timing.vocabulary import Timed, timed


def run_of(case: Case) -> Timed:
    return timed(case.launched, case.sm, case.memory(), case.sms, case.resident)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(cases)
def test_every_instruction_issues_once_in_the_order_of_its_warp(case: Case) -> None:
    run = run_of(case)
    for block, warps in enumerate(steps(case.launched, case.sm.worker)):
        for warp, path in enumerate(warps):
            own = [i for i in run.outcome.issues if (i.block, i.warp) == (block, warp)]
            assert [issue.pc for issue in own] == [step.instruction.pc for step in path]
            assert len({issue.sm for issue in own}) <= 1


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(cases)
def test_every_slot_cycle_has_one_cause(case: Case) -> None:
    run = run_of(case)
    run.stalls.sum_to(run.cycles * case.sm.slots * case.sms)
    assert set(run.stalls.counts) <= set(CAUSES) - {"other"}
    width_one = Counter((issue.cycle, issue.sm, issue.slot) for issue in run.outcome.issues)
    assert run.stalls.counts["issued"] == len(width_one)


@settings(max_examples=25, deadline=None)
@given(cases)
def test_banks_serve_each_operand_and_each_result_once(case: Case) -> None:
    """A word that an instruction names twice is read once; control instructions read none."""
    run = run_of(case)
    for log in run.outcome.logs:
        code: dict[int, Instruction] = {
            issue.sequence: steps(case.launched, case.sm.worker)[issue.block][issue.warp][issue.position].instruction
            for issue in log.issues
        }
        read = Counter((a.sequence, a.word) for a in log.accesses if a.action == "read")
        written = Counter((a.sequence, a.word) for a in log.accesses if a.action == "write")
        banked = [(s, one) for s, one in code.items() if case.sm.banks is not None and one.pipe != "ctrl"]
        assert read == Counter({(s, word): 1 for s, one in banked for word in one.sources})
        assert written == Counter((s, word) for s, one in banked for word in one.results)


@settings(max_examples=25, deadline=None)
@given(cases)
def test_a_bank_does_one_access_a_step(case: Case) -> None:
    """With one port a write takes the first step; with two it takes none.

    Where an access serves an instruction, its words in a bank are one.
    """
    run = run_of(case)
    if case.sm.banks is None:
        return
    whole = case.sm.banks.whole_instructions
    for log in run.outcome.logs:
        one_each = {
            (a.action, a.cycle, a.bank, a.sequence if whole else number) for number, a in enumerate(log.accesses)
        }
        reads = Counter((cycle, bank) for action, cycle, bank, _ in one_each if action == "read")
        writes = Counter((cycle, bank) for action, cycle, bank, _ in one_each if action == "write")
        assert max(writes.values(), default=0) <= 1
        for place, count in reads.items():
            taken = writes[place] if case.sm.banks.single_ported else 0
            assert count + taken <= case.sm.banks.steps


@settings(max_examples=15, deadline=None)
@given(cases)
def test_a_run_is_the_same_every_time(case: Case) -> None:
    first, second = run_of(case), run_of(case)
    assert (first.cycles, first.outcome.issues) == (second.cycles, second.outcome.issues)
    assert first.stalls == second.stalls


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(cases)
def test_memory_that_answers_later_never_ends_a_lone_warp_earlier(case: Case) -> None:
    alone = replace(case.launched, blocks=((case.launched.blocks[0][0],),))
    near, far = (replace(case, launched=alone, latency=case.latency + more) for more in (0, 50))
    assert run_of(near).cycles <= run_of(far).cycles
