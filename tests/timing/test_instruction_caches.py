"""Instruction caches with a stream buffer (docs/reference/timing.md, "Instruction caches")."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import kernel
from tests.timing.assembly import assemble
from tests.timing.both_cores import agreed, fast
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.random_runs import Case
from tests.timing.reference.machine import Fetch, Sm
from tests.timing.test_both_cores import machine_with
from tests.timing.test_read_window import cases as window_cases
from tests.timing.test_read_window import sub_cores
from tests.timing.vocabulary import Timed

from warpreg.gpu import load
from warpreg.gpu.machine import FOLDER, MachineError

RULES = Fetch(line=4, l0=(1, 8), l1=(1, 16), l1_latency=10, l2_latency=30, ahead=0, buffer=1)
NOP = "mov.u32 R30, 1"


def straight(lines: int, rules: Fetch, turns: int = 1, warps: int = 1, **changes: object) -> Timed:
    """Code of so many lines without dependences, run through several times."""
    code = kernel([assemble(f"mov.u32 R{n % 8}, 1") for n in range(lines * rules.line)])
    path = WarpPath(((0, FULL),) * turns)
    return agreed(Launched(code, ((path,) * warps,)), sub_cores(1, fetch=rules, **changes))


def line_starts(run: Timed, rules: Fetch, warp: int = 0) -> list[int]:
    """When a warp issued the first instruction of each line."""
    return run.warp(warp).issues().cycles[:: rules.line]


def test_a_line_comes_from_memory_and_then_from_the_l1() -> None:
    """Without a stream each line is asked for with its first instruction: 30 cycles into the L1, 10 to the sub-core.

    The warp comes in cycle 0.  Line 0 is there in cycle 40, its last instruction issues in cycle 43, and then the next
    line is asked for.
    """
    assert line_starts(straight(3, RULES), RULES) == [40, 43 + 40, 86 + 40]


def test_code_that_fits_costs_nothing_after_its_first_turn() -> None:
    """Eight lines of four instructions in an L0 of eight lines: the second and third turn issue every cycle."""
    issues = straight(8, RULES, turns=3).warp(0).issues().cycles
    assert issues[32:] == list(range(issues[31] + 1, issues[31] + 65))


def test_code_that_does_not_fit_comes_from_the_l1_in_each_turn() -> None:
    """Nine lines in turn in an L0 of eight, which drops the one used least recently: every line misses, for 10 cycles
    after the issue of the instruction before it."""
    starts = line_starts(straight(9, RULES, turns=2), RULES)
    assert [b - a for a, b in pairwise(starts[9:])] == [3 + 10] * 8


@pytest.mark.parametrize("ahead", [1, 2, 4, 8])
def test_a_stream_buffer_overlaps_misses(ahead: int) -> None:
    """A line is asked for when the line ``ahead`` + 1 before it issues its last instruction, 3 cycles after its first,
    and comes 40 cycles later: that many lines take 43 cycles together."""
    starts = line_starts(straight(60, replace(RULES, ahead=ahead, l1=(1, 64), l0=(1, 64))), RULES)
    assert [starts[n + ahead + 1] - starts[n] for n in range(20, 50)] == [43] * 30


def test_the_instruction_buffer_asks_early() -> None:
    """A buffer of three instructions asks for the next line two instructions earlier; the L1 has it, 10 cycles away."""
    rules = replace(RULES, buffer=3)
    starts = line_starts(straight(9, rules, turns=2), rules)
    assert [b - a for a, b in pairwise(starts[9:])] == [1 + 10] * 8


def test_sub_cores_share_the_l1() -> None:
    """Two sub-cores ask for line 0 in the same cycle: both have it in cycle 40, and it came from memory once."""
    code = kernel([assemble(NOP)] * 4)
    run = agreed(Launched(code, ((WarpPath(((0, FULL),)),) * 2,)), sub_cores(2, fetch=RULES))
    assert [run.warp(warp).issues().first for warp in (0, 1)] == [40, 40]
    assert run.stalls.counts["fetch"] == 2 * 39


def test_a_branch_asks_when_it_is_resolved() -> None:
    """The first block ends with a branch in cycle 40, which is resolved 4 cycles later; line 1 is asked for in the
    cycle before."""
    code = kernel([assemble("bra 0")], [assemble(NOP)] * 8)
    run = agreed(Launched(code, ((WarpPath(((0, FULL), (1, FULL))),),)), sub_cores(fetch=replace(RULES, line=1)))
    run.warp(0).issues("bra").at(40)
    assert run.warp(0).issues("mov").first == 43 + 40


@pytest.mark.parametrize(("taken", "cycles"), [(True, 11), (False, 4)])
def test_a_taken_branch_costs_more_than_its_resolution(taken: bool, cycles: int) -> None:
    """Line 0 has both blocks; the branch of the second turn goes back to its own block, or on to the next one."""
    code = kernel([assemble("bra 0")], [assemble(NOP)])
    path = WarpPath(((0, FULL), (0, FULL) if taken else (1, FULL)))
    run = agreed(Launched(code, ((path,),)), sub_cores(fetch=replace(RULES, jump=11)))
    first, second = run.warp(0).issues().cycles[:2]
    assert second - first == cycles


@st.composite
def fetches(draw: st.DrawFn) -> Fetch:
    return Fetch(
        line=draw(st.sampled_from((1, 2, 4))),
        l0=draw(st.sampled_from(((1, 1), (1, 3), (2, 2)))),
        l1=draw(st.sampled_from(((1, 2), (3, 1), (4, 4)))),
        l1_latency=draw(st.integers(1, 9)),
        l2_latency=draw(st.integers(1, 200)),
        ahead=draw(st.integers(0, 3)),
        buffer=draw(st.integers(1, 3)),
        jump=draw(st.sampled_from((0, 3, 11))),
    )


@st.composite
def fetching(draw: st.DrawFn) -> Case:
    case = draw(window_cases)
    return replace(case, sm=replace(case.sm, fetch=draw(fetches())))


@settings(max_examples=80, deadline=None)
@given(fetching())
def test_both_cores_agree(case: Case) -> None:
    agreed(case.launched, case.sm, case.latency, case.interval, case.sms, case.resident)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(fetching())
def test_the_compiled_core_is_the_interpreted_one(case: Case) -> None:
    own: Sm = sub_cores(2, fetch=case.sm.fetch)
    machine = machine_with(Case(case.launched, own, 2, 2, 1, 1), "gtx480", "cached")
    runs = [fast(case.launched, machine, 2, 2, mode) for mode in ("interpreted", "compiled")]
    assert runs[0].result.as_dict() == runs[1].result.as_dict()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("line_bytes = { value = 128", "line_bytes = { value = 96", "line_bytes: expected a power of two, found 96"),
        ("l0_bytes   = { value = 32768", "l0_bytes   = { value = 32000", "l0_bytes: expected whole sets of 4096 bytes"),
        ("prefetch   = { value = 8", "prefetch   = { value = 100", "prefetch: expected 0 to 64 lines, found 100"),
    ],
)
def test_a_file_with_wrong_caches_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (FOLDER / "h100.toml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(MachineError, match=re.escape(message)):
        load(path)
