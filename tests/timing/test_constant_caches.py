"""Constant caches of sub-cores and their SM (docs/reference/timing.md, "Constant caches")."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import kernel, op, r
from tests.timing.both_cores import agreed, fast
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.random_runs import Case, paths
from tests.timing.reference.machine import Constants
from tests.timing.test_both_cores import machine_with
from tests.timing.test_read_window import cases, codes, sub_cores, with_codes
from tests.timing.vocabulary import Timed

from warpreg.gpu import load
from warpreg.gpu.machine import FOLDER, MachineError
from warpreg.ir.control_code import ControlCode
from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import ConstantBank
from warpreg.ir.types import B32

RULES = Constants(line=64, l0=(4, 2), l1=(4, 8), l1_latency=79, l2_latency=200, patience=4)
FIRST = 1 + 200 + 79
"""When a constant is there that the first instruction asks for."""


def adds(offset: int, register: int = 1) -> Instruction:
    """An addition of a word of constant bank 0."""
    return op("add.s32", r(register), r(0), ConstantBank(0, offset, B32))


def run(lines: list[Instruction], warps: int = 1, rules: Constants = RULES, sub_core_count: int = 1) -> Timed:
    """Straight code, each instruction of which may issue in the cycle after the one before."""
    code = kernel([replace(line, control=line.control or ControlCode()) for line in lines])
    launched = Launched(code, ((WarpPath(((0, FULL),)),) * warps,))
    return agreed(launched, sub_cores(sub_core_count, constants=rules))


def test_a_constant_that_is_there_costs_nothing() -> None:
    """The first word of a line comes from the second level; others of the line are there."""
    run([adds(0), adds(4, 2), adds(60, 3)]).warp(0).issues().at(FIRST, FIRST + 1, FIRST + 2)


def test_a_line_that_another_sub_core_has_brought_comes_from_the_l1() -> None:
    """Both ask in cycle 1: the line comes from memory once, and to both in the same cycle.  A sub-core whose warp asks
    later waits for the latency of the L1."""
    run([adds(0)], 2, sub_core_count=2).warp(1).issues().at(FIRST)
    late = [op("mov.u32", r(1), 1)] * 1
    both = run([*late, adds(0)], 2, sub_core_count=2)
    assert [both.warp(warp).issues().cycles for warp in (0, 1)] == [[1, FIRST + 1]] * 2


def test_the_scheduler_waits_four_cycles_and_goes_to_another_warp() -> None:
    """Two warps of a scheduler, the youngest of which goes first: it asks in cycle 1, the other in cycle 5.

    Both have what they need in cycle 280, as the second asks for a line that is expected; then the one goes on that is
    the youngest.
    """
    timed = run([adds(0), op("mov.u32", r(2), 1)], 2)
    timed.warp(1).issues().at(FIRST, FIRST + 1)
    timed.warp(0).issues().at(FIRST + 2, FIRST + 3)


def test_another_warp_may_issue_after_the_patience() -> None:
    """Three moves and then a constant.  Warp 1 asks in cycle 4; warp 0 begins in cycle 8 and asks in cycle 11.

    When the line is there, warp 0 goes first, which issued last.
    """
    moves = [op("mov.u32", r(n), 1) for n in (1, 2, 3)]
    timed = run([*moves, adds(0)], 2)
    timed.warp(1).issues().at(1, 2, 3, 3 + FIRST + 1)
    timed.warp(0).issues().at(8, 9, 10, 3 + FIRST)
    assert timed.stalls.counts["operands"] > 2 * 250


def test_lines_of_a_full_set_take_turns() -> None:
    """Three lines of one set in a cache of two ways: in the order of their use each misses again, from the L1."""
    rules = replace(RULES, l0=(1, 2))
    issues = run([adds(64 * n) for n in (0, 1, 2, 0, 1, 2)], rules=rules).warp(0).issues().cycles
    assert [b - a for a, b in pairwise(issues)] == [1 + 279, 1 + 279, 1 + 79, 1 + 79, 1 + 79]


def test_a_variable_latency_grows_by_the_miss() -> None:
    """A sine is dispatched 11 cycles after issue, asks for its constant then, and takes 4 cycles more."""
    sine = replace(op("sin.approx.f32", r(1), ConstantBank(0, 0, B32)), control=ControlCode(stall=2, write=0))
    use = replace(op("mov.u32", r(2), r(1)), control=ControlCode(waits=1))
    run([sine, use]).warp(0).issues().at(1, 1 + 11 + 279 + 4)


def test_both_kinds_of_latency_have_a_cache_each() -> None:
    """The sine finds nothing in the cache for fixed latency, and the line in the L1."""
    sine = replace(op("sin.approx.f32", r(1), ConstantBank(0, 0, B32)), control=ControlCode(stall=2, write=0))
    use = replace(op("mov.u32", r(2), r(1)), control=ControlCode(waits=1))
    run([adds(0, 3), sine, use]).warp(0).issues().at(FIRST, FIRST + 1, FIRST + 1 + 11 + 79 + 4)


def test_a_warp_that_has_waited_for_a_line_goes_on() -> None:
    """Two warps read different lines, of which their cache holds one: each drops what the other expects."""
    code = kernel(*([replace(adds(64 * n), control=ControlCode())] for n in (0, 1)))
    paths_of_warps = tuple(WarpPath(((block, FULL),)) for block in (0, 1))
    rules = replace(RULES, l0=(1, 1), patience=1)
    timed = agreed(Launched(code, (paths_of_warps,)), sub_cores(1, constants=rules))
    timed.warp(1).issues().at(FIRST)
    timed.warp(0).issues().at(FIRST + 1)


@st.composite
def constants(draw: st.DrawFn) -> Constants:
    return Constants(
        line=8,
        l0=draw(st.sampled_from(((1, 1), (1, 2), (2, 1)))),
        l1=draw(st.sampled_from(((1, 2), (2, 2)))),
        l1_latency=draw(st.integers(1, 9)),
        l2_latency=draw(st.integers(1, 30)),
        patience=draw(st.integers(1, 5)),
    )


words = st.builds(ConstantBank, st.sampled_from((0, 3)), st.sampled_from((0, 4, 8, 16)), st.just(B32))
reading = st.one_of(
    st.builds(lambda word, n: op("add.s32", r(n), r(n + 1), word), words, st.integers(0, 7)),
    st.builds(lambda word, n: op("sin.approx.f32", r(n), word), words, st.integers(0, 7)),
    st.builds(lambda word, n: op("mov.u32", r(n), word), words, st.integers(0, 7)),
)
with_constants = st.builds(lambda one, control: replace(one, control=control), reading, codes)


@st.composite
def constant_cases(draw: st.DrawFn) -> Case:
    """Random code of which every third instruction reads a constant, with control codes or without."""
    case = draw(cases)
    blocks = draw(
        st.lists(st.lists(st.one_of(with_constants, with_codes), min_size=1, max_size=6), min_size=1, max_size=3)
    )
    if draw(st.booleans()):
        blocks = [[replace(one, control=None) for one in block if one.opcode != "DEPBAR"] for block in blocks]
        blocks = [block or [adds(0)] for block in blocks]
    code = kernel(*blocks)
    warps, count = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    own = Launched(code, tuple(tuple(draw(paths(code, int(w == 0))) for w in range(warps)) for _ in range(count)))
    return replace(case, launched=own, sm=replace(case.sm, constants=draw(constants())))


@settings(max_examples=60, deadline=None)
@given(constant_cases())
def test_both_cores_agree(case: Case) -> None:
    agreed(case.launched, case.sm, case.latency, case.interval, case.sms, case.resident)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(constant_cases())
def test_the_compiled_core_is_the_interpreted_one(case: Case) -> None:
    machine = machine_with(
        Case(case.launched, sub_cores(2, constants=case.sm.constants), 2, 2, 1, 1), "gtx480", "cached"
    )
    runs = [fast(case.launched, machine, 2, 2, mode) for mode in ("interpreted", "compiled")]
    assert runs[0].result.as_dict() == runs[1].result.as_dict()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("l0_bytes   = { value = 512", "l0_bytes   = { value = 500", "l0_bytes: expected whole sets of 128 bytes"),
        ("patience   = { value = 4", "patience   = { value = 0", "patience: expected 1 to 1000 cycles, found 0"),
    ],
)  # fmt: skip
def test_a_file_with_wrong_caches_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (FOLDER / "h100.toml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(MachineError, match=re.escape(message)):
        load(path)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("schedulers", "schedulers.tracks_sources: expected false without a read window, found true"),
        ("constant_cache", "operand_path.kind: expected window with constant caches, found banks"),
    ],
)
def test_machines_with_collectors_have_neither(tmp_path: Path, entry: str, message: str) -> None:
    """A GTX 480 with what belongs to a read window."""
    modern = (FOLDER / "h100.toml").read_text(encoding="utf-8")
    section = re.search(r"\[constant_cache\]\n(?:.+\n)+", modern)
    assert section
    tracks = '[schedulers]\ntracks_sources = { value = true, source = "here" }\n'
    text = f'title = "mine"\nbase = "gtx480"\n\n{tracks if entry == "schedulers" else section[0]}'
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MachineError, match=re.escape(message)):
        load(path)
