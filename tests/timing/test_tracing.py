"""Recorded events against the log of the reference, and against the counts of the run itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.assembly import one_warp
from tests.timing.both_cores import Fast, fast, machine_with_memory
from tests.timing.random_runs import Case, cases
from tests.timing.reference.machine import Banks, Sm
from tests.timing.reference.package_memory import PackageMemory
from tests.timing.vocabulary import timed

from piecewise_numba.options import Mode
from warpreg.designs import Design, load
from warpreg.gpu import Machine
from warpreg.timing.feed.kernel_table import pipe_of
from warpreg.timing.results.result import CAUSES
from warpreg.timing.tracing.event_rows import Kind
from warpreg.timing.tracing.recorder import Recorder

ROOM, END = 1 << 16, 1 << 30
MODES: tuple[Mode, ...] = ("interpreted", "compiled")
OWNED, COALESCED = (load(Path(__file__).parent / "designs" / name) for name in ("owned.py", "coalesced.py"))
RESTLESS = load(Path(__file__).parent / "designs" / "restless.py", checked=False)


def recorded(case: Case, design: Design | None = None, begin: int = 0, end: int = END, **parameters: int) -> Fast:
    """A case on the fast core, with its events."""
    recorder = Recorder(begin, end, ROOM)
    machine = machine_of_case(case)
    return fast(
        case.launched, machine, case.sms, case.resident, "interpreted", False, design, None, 1, recorder, **parameters
    )


def machine_of_case(case: Case) -> Machine:
    return machine_with_memory(case.sm, case.latency, case.interval, case.sms, case.resident)


def of_kind(found: Fast, kind: Kind, *fields: str) -> list[Any]:
    """The fields of the events of a kind, in order."""
    assert found.events is not None
    return [one[list(fields)].item() for one in found.events[found.events["kind"] == kind]]


@dataclass
class Logged:
    """The same events in the log of the reference."""

    issues: list[Any]
    accesses: Counter[Any]
    dispatched: Counter[Any]


def logged(case: Case, design: Design | None = None, **parameters: int) -> Logged:
    memory = PackageMemory(machine_of_case(case), case.sms)
    sm = replace(case.sm, texture_latency=case.latency)
    slow = timed(case.launched, sm, memory, case.sms, case.resident, design, **parameters)
    found = Logged([], Counter(), Counter())
    for index, log in enumerate(slow.outcome.logs):
        found.issues += [(index, one.cycle, one.slot, one.sequence, one.pc, one.block) for one in log.issues]
        found.accesses.update((index, one.cycle, one.bank, one.action, one.sequence) for one in log.accesses)
        found.dispatched.update((index, *item) for item in log.dispatched.items())
    return found


def compare(case: Case, design: Design | None = None, **parameters: int) -> None:
    found, expected = recorded(case, design, **parameters), logged(case, design, **parameters)
    issues = of_kind(found, Kind.ISSUE, "sm", "cycle", "slot", "sequence", "pc", "value")
    assert sorted(issues) == sorted(expected.issues)
    accesses: Counter[Any] = Counter()
    for kind, action in ((Kind.READ, "read"), (Kind.WRITE, "write"), (Kind.EXTRA, "extra")):
        rows = of_kind(found, kind, "sm", "cycle", "unit", "sequence")
        accesses.update((sm, cycle, bank, action, sequence) for sm, cycle, bank, sequence in rows)
    assert accesses == expected.accesses
    pipes = [pipe_of(one) for one in case.launched.kernel.instructions()]
    pipes = [pipe_of(one) for one in case.launched.kernel.instructions()]
    others = sorted((sm, one) for sm, _, _, one, pc, _ in issues if pipes[pc] != "ctrl")
    dispatched = of_kind(found, Kind.DISPATCH, "sm", "sequence", "cycle")
    assert Counter(dispatched) == expected.dispatched
    assert sorted((sm, one) for sm, one, _ in dispatched) == others
    assert sorted(of_kind(found, Kind.DONE, "sm", "sequence")) == others
    check_causes(found)


def check_causes(found: Fast) -> None:
    """The spans of a slot cover each cycle once, and their causes are those of the stall account."""
    account: Counter[str] = Counter()
    ends: dict[tuple[int, int], int] = {}
    for sm, slot, cycle, cycles, cause in of_kind(found, Kind.STATE, "sm", "slot", "cycle", "cycles", "unit"):
        assert ends.get((sm, slot), 0) == cycle
        ends[sm, slot] = cycle + cycles
        account[CAUSES[cause]] += cycles
    assert set(ends.values()) <= {found.result.cycles}
    assert account == Counter({cause: cycles for cause, cycles in found.result.stall_account.items() if cycles})


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(cases)
def test_events_are_those_of_the_reference(case: Case) -> None:
    compare(case)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(cases, st.integers(0, 1000), st.integers(1, 4))
def test_events_of_a_design_are_those_of_the_reference(case: Case, seed: int, passes: int) -> None:
    compare(case, RESTLESS, seed=seed, passes=passes)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(cases, st.sampled_from((OWNED, COALESCED)))
def test_events_of_collectors_and_banks_of_a_design(case: Case, design: Design) -> None:
    """Warps that own collectors, and words that share an access."""
    compare(case, design)


@settings(max_examples=5, deadline=None)
@given(cases, st.integers(0, 40), st.integers(1, 40))
def test_a_window_has_the_events_of_its_cycles(case: Case, begin: int, length: int) -> None:
    end = begin + length
    whole, part = recorded(case).events, recorded(case, begin=begin, end=end).events
    assert whole is not None
    assert part is not None
    first, last = np.maximum(whole["cycle"], begin), np.minimum(whole["cycle"] + whole["cycles"], end)
    expected = whole.copy()
    expected["cycle"], expected["cycles"] = first, last - first
    assert sorted(part.tolist()) == sorted(expected[first < last].tolist())


def test_rows_beyond_the_room_are_counted() -> None:
    """Two adds: 2 issues, 2 dispatches, 2 results, 2 completions, and the spans empty, issued, alu, issued, drain: 13
    rows.
    """
    launched = one_warp("add.s32 R1, R0, 3\nadd.s32 R2, R1, 1")
    machine = machine_with_memory(Sm(slots=1), 20, 1)
    recorder = Recorder(0, END, 6)
    found = fast(launched, machine, 1, 8, "interpreted", False, None, None, 1, recorder)
    assert found.events is not None
    assert recorder.missed == 13 - 6


@pytest.mark.slow
def test_compiled_code_records_the_same() -> None:
    """With a design, so that what hooks count is recorded, too."""
    launched = one_warp("mad.lo.s32 R1, R0, R0, R2\nadd.s32 R2, R1, R0\nadd.s32 R3, R2, R1", times=3)
    machine = machine_with_memory(Sm(slots=2, banks=Banks(count=4)), 20, 1)
    found = [
        fast(launched, machine, 1, 8, mode, False, load("rfc"), None, 1, Recorder(0, END, ROOM), entries=1)
        for mode in MODES
    ]
    events = [one.events for one in found]
    assert events[0] is not None
    assert events[1] is not None
    assert Kind.COUNTED in events[0]["kind"]
    assert Kind.EXTRA in events[0]["kind"]
    assert events[0].tolist() == events[1].tolist()
