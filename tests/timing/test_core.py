"""The fast core against the reference, cycle for cycle and cause for cause; skipping idle cycles changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.both_cores import agreed, fast, machine_with_memory
from tests.timing.random_runs import Case, cases
from tests.timing.vocabulary import Timed

from warpreg.designs import Design, load
from warpreg.timing.hooks.schedule_recorder import COUNT
from warpreg.timing.launch.schedule_recording import RECORDER as RECORDER_FILE
from warpreg.timing.results.result import TimingResult
from warpreg.trace.schedule import ScheduleWord, records

RESTLESS = load(Path(__file__).parent / "designs" / "restless.py", checked=False)
RECORDER = load(RECORDER_FILE)


def both(case: Case, design: Design | None = None, **parameters: int) -> Timed:
    """What both cores make of a case."""
    own = (case.latency, case.interval, case.sms, case.resident)
    return agreed(case.launched, case.sm, *own, design=design, **parameters)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(cases)
def test_the_fast_core_agrees_with_the_reference(case: Case) -> None:
    both(case)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(cases, st.integers(0, 1000), st.integers(1, 4))
def test_every_hook_is_called_as_in_the_reference(case: Case, seed: int, passes: int) -> None:
    both(case, RESTLESS, seed=seed, passes=passes)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(cases)
def test_both_issue_in_the_same_order(case: Case) -> None:
    """What the recorder saw in either core, word for word, is the order of the reference's log."""
    run = both(case, RECORDER, words=20_000)
    order: list[list[int]] = [[] for _ in range(case.sms)]
    for record in records([run.outcome.state.words[: run.outcome.state.place[COUNT]]]):
        if record.kind == ScheduleWord.ISSUE:
            order[record.sm] += [record.slot] * record.amount
    assert order == [[issue.slot for issue in log.issues] for log in run.outcome.logs]


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(cases, st.integers(0, 6))
def test_a_register_file_cache_is_the_same_in_both(case: Case, entries: int) -> None:
    both(case, load("rfc"), entries=entries)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(cases)
def test_skipping_idle_cycles_changes_nothing(case: Case) -> None:
    machine = machine_with_memory(case.sm, case.latency, case.interval, case.sms, case.resident)

    def result(every_cycle: bool) -> TimingResult:
        return fast(case.launched, machine, case.sms, case.resident, every_cycle=every_cycle).result

    assert result(False).as_dict() == result(True).as_dict()
