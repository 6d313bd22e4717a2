"""Hooks when a warp begins to wait and goes on, and refusals for a number of cycles, worked by hand.

Unless stated otherwise: one scheduler, lrr, ideal operand path, latency 4; a load issued at ``t`` sends at ``t + 1``
and is back 20 cycles later.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.assembly import one_warp, warps
from tests.timing.both_cores import agreed, fast, machine_with_memory
from tests.timing.random_runs import Case, cases
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import Banks, Pipe, Sm, TwoLevel
from tests.timing.test_miniatures import FOLDER, events, load_of, miniature
from tests.timing.vocabulary import Timed

from warpreg.designs import Design, DesignError, load
from warpreg.timing.errors import TimingError

DROWSY, PREFETCHING = miniature("drowsy"), miniature("prefetching")
PLAIN = Sm(slots=4)
USE = "ld.global.u32 R1, [R4.64]\nmov.b32 R2, R1"
LOGGING = """
DESIGN = Declaration(slot="policy", order="sm", events=("begins", "at", "resumes", "until", "pcs"), source="a test")
@hook
def stalled(state, program, warp, pc, plan):
    count(plan, 0)
    count(plan, 1, now(plan))
    count(plan, 4, pc)
@hook
def resumed(state, program, warp, pc, plan):
    count(plan, 2)
    count(plan, 3, now(plan))
"""


def hand(folder: Path, text: str, checked: bool = True) -> Design:
    file = folder / "hand.py"
    file.write_text(f"from warpreg.designs.interface import *\n{dedent(text)}", encoding="utf-8")
    return load(file, checked=checked)


def waits(run: Timed, design: Design) -> tuple[int, int, int, int]:
    """How often warps begin to wait and in which cycles, and how often they go on; cycles are summed."""
    found = events(run, design)
    return found["begins"], found["at"], found["resumes"], found["until"]


STORE = "st.global.u32 [R4.64], R1"


@pytest.mark.parametrize(
    ("text", "accesses", "expected"),
    [
        (USE, (load_of(0),), (1, 2, 1, 22)),
        ("mov.b32 R1, 1\nmov.b32 R2, R1", (), (0, 0, 0, 0)),
        (f"{STORE}\nmembar.gl\nmov.b32 R2, 1", (load_of(0),), (1, 3, 1, 22)),
    ],
    ids=["memory", "alu", "fence"],
)
def test_when_a_warp_waits(
    tmp_path: Path, text: str, accesses: tuple[Access, ...], expected: tuple[int, int, int, int]
) -> None:
    """The move waits from 2 to 22 for the load, but not for an ALU; the fence, issued at 2, from 3 until 22."""
    design = hand(tmp_path, LOGGING)
    assert waits(agreed(one_warp(text, *accesses), PLAIN, design=design), design) == expected


def test_a_warp_waits_at_a_barrier(tmp_path: Path) -> None:
    """Warp 0 issues the barrier at 1 and waits from 2 on; warp 1 issues it at 2, and both may issue at 3."""
    design = hand(tmp_path, LOGGING)
    run = agreed(warps("bar.sync 0\nmov.b32 R1, 1", [()], [()]), PLAIN, design=design)
    assert waits(run, design) == (1, 2, 1, 3)


def test_a_head_that_is_not_fetched_does_not_wait(tmp_path: Path) -> None:
    """A branch of 5 cycles stands in front of the move: it waits from 2 + 5 on, when it is fetched."""
    sm = replace(PLAIN, pipes={**PLAIN.pipes, "ctrl": Pipe(latency=5)})
    design = hand(tmp_path, LOGGING)
    run = agreed(one_warp("ld.global.u32 R1, [R4.64]\nbra 0\nmov.b32 R2, R1", load_of(0)), sm, design=design)
    assert waits(run, design) == (1, 7, 1, 22)
    assert events(run, design)["pcs"] == 2


def test_registers_sleep_while_their_warp_waits() -> None:
    """Four registers sleep from 2 to 22; the warp goes on at 22, asks, is refused for two cycles and issues at 24."""
    run = agreed(one_warp(USE, load_of(0)), PLAIN, design=DROWSY)
    run.warp(0).issues().at(1, 24)
    assert events(run, DROWSY) == {"stalls": 1}
    assert run.outcome.counts.integrals(run.cycles) == [[4 * (22 - 2)]]
    assert run.stalls.counts["token"] == 2


REFUSING = """
DESIGN = Declaration(slot="policy", order="sm", events=("asked",), source="assumed: a test")
@hook
def admit(state, program, warp, pc, plan):
    count(plan, 0)
    return GO if now(plan) >= 10 or pc == 0 else {answer}
"""


@pytest.mark.parametrize(("cycles", "asked", "issues"), [(1, 9 + 1, 10), (4, 3 + 1, 10 + 4 - 2 - 2), (20, 2, 22)])
def test_a_refused_warp_asks_again_after_so_many_cycles(tmp_path: Path, cycles: int, asked: int, issues: int) -> None:
    """The second move is refused from 2 on, in each cycle, every fourth or once."""
    design = hand(tmp_path, REFUSING.format(answer=f"after(plan, {cycles})"))
    run = agreed(one_warp("mov.b32 R1, 1\nmov.b32 R2, 1"), PLAIN, design=design)
    run.warp(0).issues().at(1, issues)
    assert events(run, design) == {"asked": 1 + (issues - 2) // cycles + 1}
    assert run.stalls.counts["token"] == issues - 2


def test_a_refused_warp_keeps_its_place_in_the_active_set(tmp_path: Path) -> None:
    """Of one active place: warp 0, refused at 2 until 22, keeps it.  It has no head at 23; warp 1 gets the place at the
    end of that cycle and issues from 24 on.
    """
    design = hand(tmp_path, REFUSING.format(answer="after(plan, 20)"))
    sm = replace(PLAIN, two_level=TwoLevel(active_warps=1))
    run = agreed(warps("mov.b32 R1, 1\nmov.b32 R2, 1", [()], [()]), sm, design=design)
    run.warp(0).issues().at(1, 22)
    run.warp(1).issues().at(24, 25)


def test_a_warp_that_waits_for_a_token_leaves_the_active_set(tmp_path: Path) -> None:
    """Warp 0 is refused at 2 and leaves at 3.  Warp 1 issues at 4 and is refused at 5, so that none goes on after 8,
    when its first move is complete.
    """
    design = hand(tmp_path, REFUSING.format(answer="7"))
    sm = replace(PLAIN, two_level=TwoLevel(active_warps=1))
    launched = warps("mov.b32 R1, 1\nmov.b32 R2, 1", [()], [()])
    with pytest.raises(TimingError, match="no warp can go on after cycle 8\n  token 7, held by nobody: warps 0 to 1"):
        fast(launched, machine_with_memory(sm, 20, 1), 1, 8, design=design)


@pytest.mark.parametrize(("cycles", "first"), [(1, 1), (2, 2), (10, 10)])
def test_what_an_active_warp_prefetches_is_there_when_it_asks_again(cycles: int, first: int) -> None:
    """Warp 0 is active from 0 on, and its registers are there at `first`.  It issues twice, has no head in the next
    cycle, and warp 1, active from that one on, has its registers as many cycles later.
    """
    sm = replace(PLAIN, two_level=TwoLevel(active_warps=1))
    run = agreed(warps("mov.b32 R1, 1\nmov.b32 R2, 1", [()], [()]), sm, design=PREFETCHING, cycles=cycles)
    run.warp(0).issues().at(first, first + 1)
    run.warp(1).issues().at(first + 2 + cycles, first + 3 + cycles)
    assert events(run, PREFETCHING) == {"loads": 2, "drops": 0}


def test_other_rules_of_suspension_hold_for_a_refused_warp() -> None:
    """After 4 cycles without issue the warp leaves, at 4, and is pending until it may ask again, at 6; then it loads
    anew, from 5 on, for 6 cycles.  An instruction suspends its warp once, so it stays, and issues at 11.
    """
    rules = TwoLevel(active_warps=1, suspend="stall", stall_threshold=4)
    run = agreed(one_warp("mov.b32 R1, 1"), replace(PLAIN, two_level=rules), design=PREFETCHING, cycles=6)
    assert events(run, PREFETCHING) == {"loads": 2, "drops": 1}
    run.warp(0).issues().at(11)


def test_a_run_that_admit_refuses_for_ever_is_named(tmp_path: Path) -> None:
    """It issues at 1 and asks at 2 + 100,000 k.  With k of 40, more than 4 million cycles have passed since then."""
    design = hand(tmp_path, REFUSING.replace("now(plan) >= 10 or", "").format(answer="after(plan, 100000)"))
    with pytest.raises(TimingError) as error:
        fast(one_warp("mov.b32 R1, 1\nmov.b32 R2, 1"), machine_with_memory(PLAIN, 20, 1), 1, 8, design=design)
    assert re.sub(r"cycle \d+", "cycle N", str(error.value)) == (
        f"kernel hand, design hand: no warp can go on in cycle N: admit ({tmp_path}/hand.py:5) has refused 40 times "
        "since the last issue: warp 0 at pc 1"
    )


def test_all_designs_of_a_composition_are_told(tmp_path: Path) -> None:
    hand(tmp_path, LOGGING)
    design = load(f"{FOLDER / 'drowsy.py'}+{tmp_path / 'hand.py'}")
    run = agreed(one_warp(USE, load_of(0)), PLAIN, design=design)
    assert events(run, design) == {"stalls": 1, "begins": 1, "at": 2, "resumes": 1, "until": 22, "pcs": 1}


def test_cycles_of_a_refusal_cost_nothing() -> None:
    """As far as the timing wheel reaches; beyond, a step in each of its turns."""
    launched = one_warp(USE, load_of(0), times=5)
    runs = [
        fast(launched, machine_with_memory(PLAIN, 20, 1), 1, 1, "interpreted", False, DROWSY, cycles=cycles)
        for cycles in (10, 100)
    ]
    assert runs[1].result.cycles - runs[0].result.cycles == 5 * 90
    assert runs[0].steps == runs[1].steps


@pytest.mark.parametrize("answer", ["-2", "after(plan, 0)", "after(plan, 1048577)"])
def test_what_a_checked_admit_may_not_answer(tmp_path: Path, answer: str) -> None:
    design = hand(tmp_path, REFUSING.format(answer=answer))
    with pytest.raises(DesignError, match=r"answer -2 is outside -1 to|cycles \d+ is outside 1 to 1048576"):
        fast(one_warp("mov.b32 R1, 1\nmov.b32 R2, 1"), machine_with_memory(PLAIN, 20, 1), 1, 1, design=design)


@settings(max_examples=15, deadline=None)
@given(cases, st.integers(0, 9))
def test_both_cores_agree(case: Case, cycles: int) -> None:
    agreed(case.launched, case.sm, case.latency, case.interval, case.sms, case.resident, DROWSY, cycles=cycles)


@pytest.mark.slow
def test_the_compiled_core_does_the_same() -> None:
    machine = machine_with_memory(replace(PLAIN, banks=Banks()), 20, 1)
    launched = warps(USE, [(load_of(0),)] * 3, [(load_of(128),)])
    runs = [fast(launched, machine, 1, 8, mode, design=DROWSY) for mode in ("interpreted", "compiled")]
    assert runs[0].result.as_dict() == runs[1].result.as_dict()
