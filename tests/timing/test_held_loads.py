"""Loads that wait without memory for data that are under way, worked by hand (LARF, thesis of 2021, section 5.5.2).

Unless stated otherwise: one scheduler, lrr, ideal operand path, latency 4; a load issued at ``t`` sends at ``t + 1``
and is back 20 cycles later.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from tests.replay.paths import Recorded
from tests.replay.schedules import Scheduling
from tests.timing.assembly import one_warp, warps
from tests.timing.both_cores import agreed, fast, machine_with_memory
from tests.timing.documented import documented
from tests.timing.launches import Launched
from tests.timing.random_runs import Case, cases
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import Banks, Sm
from tests.timing.test_miniatures import accesses, events, load_of, miniature
from tests.timing.vocabulary import timed

from piecewise_numba.options import Mode
from warpreg.designs import Design, DesignError, load
from warpreg.replay import replay
from warpreg.timing.core.access_record import IRREGULAR
from warpreg.timing.errors import TimingError
from warpreg.timing.launch import engine

DESIGN = miniature("waiting_loads")
PLAIN = Sm(slots=4)
BANKED = Sm(slots=4, banks=Banks(count=4, mapping="register"))
USE = "ld.global.u32 R1, [R4.64]\nmov.b32 R2, R1"


def gather(*lanes: int) -> Access:
    """A load of lanes 0, 1, ... at these addresses."""
    return Access((1 << len(lanes)) - 1, "global", 0, ((0, 15),), lanes[0], IRREGULAR, lanes)


def test_a_load_waits_for_one_that_is_under_way() -> None:
    """Warp 0 loads at 1 and is back at 22.  Warp 1 asks at 2, is held, and has its result a cycle later, at 23.  Only
    one load uses memory, and only its result and those of the moves are written.
    """
    run = agreed(warps(USE, [(load_of(0),)], [(load_of(0),)]), PLAIN, design=DESIGN)
    run.warp(0).issues().at(1, 22)
    run.warp(1).issues().at(2, 23)
    assert events(run, DESIGN) == {"found": 0, "held": 1, "removed": 0}
    assert accesses(run) == [[2 + 4, 4 - 1]]
    assert len(run.outcome.logs[0].load_cycles) == 1


def test_a_load_that_finds_its_data_takes_the_cycles_of_the_answer() -> None:
    """The second load of the warp issues at 23, after the first move, and is complete at 33 without memory."""
    run = agreed(one_warp(USE, load_of(0), times=2), PLAIN, design=DESIGN, cycles=10)
    run.warp(0).issues().at(1, 22, 23, 33)
    assert events(run, DESIGN)["found"] == 1


def test_a_result_that_is_taken_back_needs_no_bank() -> None:
    """Bank 1 writes R1 once, for warp 0; the held load of warp 1 has its result a cycle later and writes it nowhere."""
    run = agreed(warps(USE, [(load_of(0),)], [(load_of(0),)]), BANKED, design=DESIGN)
    assert len(run.bank(1).writes("R1").cycles) == 1
    assert run.warp(1).issues("mov").first == run.warp(0).issues("mov").first + 1


def test_lanes_that_are_not_affine_are_known() -> None:
    """The same gather is found; another one, with the same first lane, is not."""
    launched = warps(USE, [(gather(0, 40, 12),)], [(gather(0, 40, 12),)], [(gather(0, 12, 40),)])
    run = agreed(launched, PLAIN, design=DESIGN)
    assert events(run, DESIGN)["held"] == 1
    assert len(run.outcome.logs[0].load_cycles) == 2


@pytest.mark.parametrize("site", ["st.global.u32 [R4.64], R1", "atom.global.add.u32 R3, [R4.64], R1"])
def test_a_store_is_known_before_a_later_load_is_looked_up(site: str) -> None:
    """A store to one of the lanes, behind the move that waits for the load, removes the lane: the second load misses.
    Store and load enter the queue one cycle apart.
    """
    text = f"{USE}\n{site}\nld.global.u32 R5, [R4.64]"
    loaded, stored = load_of(0), gather(64)
    run = agreed(one_warp(text, loaded, stored, loaded), PLAIN, design=DESIGN)
    assert events(run, DESIGN) == {"found": 0, "held": 0, "removed": 1}
    missed = agreed(one_warp(text, loaded, gather(4096), loaded), PLAIN, design=DESIGN)
    assert events(missed, DESIGN) == {"found": 1, "held": 0, "removed": 0}


def test_a_held_load_that_nobody_completes_is_named() -> None:
    with pytest.raises(TimingError) as error:
        agreed(warps(USE, [(load_of(0),)], [(load_of(0),)]), PLAIN, design=DESIGN, forgets=True)
    assert str(error.value) == (
        "kernel hand, design waiting-loads: no warp can go on after cycle 26: load_lookup holds loads that no hook "
        "completes: warp 1 (warp 1 of thread block 0) at pc 0 'ld.global.u32 R1, [R4.64]', load 1"
    )
    with pytest.raises(TimingError, match=r"load_lookup holds loads that no hook completes: warp 1 .* pc 0 .*load 1"):
        quick(warps(USE, [(load_of(0),)], [(load_of(0),)]), DESIGN, forgets=True)


def quick(launched: Launched, design: Design, **parameters: int) -> None:
    """Only the fast core."""
    fast(launched, machine_with_memory(PLAIN, 20, 1), 1, 8, "interpreted", False, design, None, 1, None, **parameters)


def hand(folder: Path, text: str, checked: bool = False, lanes: bool = True, order: str = "sm") -> Design:
    file = folder / "hand.py"
    declaration = f'DESIGN = Declaration(slot="mapping", order="{order}", lanes={lanes}, source="assumed: a test")\n'
    file.write_text(f"from warpreg.designs.interface import *\n{declaration}{dedent(text)}", encoding="utf-8")
    return load(file, checked=checked)


RETURNED = """
@hook
def memory_returned(state, program, warp, pc, cycles, plan):
    complete(plan, {load}, {cycles})
@hook
def load_lookup(state, program, warp, pc, base, stride, mask, plan):
    return {answer}
"""


def test_only_held_loads_can_be_completed(tmp_path: Path) -> None:
    design = hand(tmp_path, RETURNED.format(load=7, cycles=1, answer=0))
    with pytest.raises(TimingError, match="complete names load 7, which load_lookup does not hold"):
        quick(one_warp(USE, load_of(0)), design)
    with pytest.raises(TimingError, match="complete names load 7, which load_lookup does not hold"):
        timed(one_warp(USE, load_of(0)), PLAIN, design=design)


def test_the_example_of_the_documentation(tmp_path: Path) -> None:
    """Warp 1 is held from 2 to 23; warp 2, which loads something else, is not."""
    design = load(documented(tmp_path, "finds its addresses under way"))
    run = agreed(warps(USE, [(load_of(0),)], [(load_of(0),)], [(load_of(128),)]), PLAIN, design=design)
    run.warp(1).issues().at(2, 23)
    assert len(run.outcome.logs[0].load_cycles) == 2
    assert accesses(run)[0][1] == 2 + 3


WRONG = [
    (RETURNED.format(load=-1, cycles=1, answer=0), "load -1 is outside 0 to"),
    (RETURNED.format(load=0, cycles=0, answer=0), "cycles 0 is outside 1 to 1048576"),
    (RETURNED.format(load=0, cycles=1, answer=-2), "answer -2 is outside -1 to 1048576"),
    (RETURNED.format(load=0, cycles=1, answer="lane_address(plan, 32)"), "lane 32 is outside 0 to 31"),
    (
        "@hook\ndef memory_returned(state, program, warp, pc, cycles, plan):\n"
        "    for n in range(257):\n        complete(plan, n, 1)",
        "one call queues more than 256 extra accesses, transfers, tokens, table accesses, completed loads or "
        "memory accesses",
    ),
]


@pytest.mark.parametrize(("text", "what"), WRONG)
def test_what_a_checked_hook_may_not_say(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(DesignError, match=what):
        quick(one_warp(USE, load_of(0)), hand(tmp_path, text, checked=True))


def test_a_design_asks_for_lanes_in_its_declaration(tmp_path: Path) -> None:
    with pytest.raises(DesignError, match=r"hand.py:\d+: lane_address requires .*lanes=True"):
        hand(tmp_path, RETURNED.format(load=0, cycles=1, answer="lane_address(plan, 0)"), lanes=False)


TWICE = """
@hook
def plan_write(state, program, warp, pc, plan):
    for operand in result_operands(program, pc):
        write(plan, operand, MRF)
@hook
def produced(state, program, warp, pc, plan):
    for operand in result_operands(program, pc):
        {statement}
"""


def test_a_result_goes_elsewhere_when_it_is_produced(tmp_path: Path) -> None:
    """R1, planned for bank 1 at issue, is written to bank 3 instead, and counted once; the move's R2 too."""
    text = TWICE.format(statement="nowhere(plan, operand)\n        write(plan, operand, MRF, bank=3)")
    for checked in (False, True):
        design = hand(tmp_path, text, checked=checked, lanes=False)
        run = agreed(one_warp(USE, load_of(0)), BANKED, design=design)
        assert (run.bank(1).writes("R1").cycles, len(run.bank(3).writes("R1").cycles)) == ([], 1)
        assert accesses(run)[0][1] == 2


def test_what_a_level_above_has_taken_is_not_taken_back() -> None:
    """Behind a cache of the last result, which takes the loads and the moves, the mapping takes back nothing."""
    design = miniature("last_result", "waiting_loads")
    assert design.declaration.lanes
    run = agreed(warps(USE, [(load_of(0),)], [(load_of(0),)]), BANKED, design=design)
    assert events(run, design)["held"] == 1
    assert dict(zip(design.levels, accesses(run), strict=True))["LAST"][1] == 4


@pytest.mark.parametrize("mode", ["interpreted", pytest.param("compiled", marks=pytest.mark.slow)])
@pytest.mark.parametrize("is_scheduled", [False, True])
def test_a_replay_takes_back_too(tmp_path: Path, mode: Mode, is_scheduled: bool) -> None:
    """Of the two results, that of the load stays."""
    text = TWICE.format(statement="if program.result[operand] != 1: nowhere(plan, operand)")
    design, kernel = hand(tmp_path, text, lanes=False, order="warp"), one_warp(USE, load_of(0)).kernel
    path = Recorded().thread_block().warp(0).visits(0)
    schedule = Scheduling().start(0).active(0).issue(0, 1).arrive(0, 0).issue(0, 1).end(0).of(kernel, path)
    found = replay(path, kernel, design, mode=mode, schedule=schedule if is_scheduled else None)
    assert found.writes("MRF") == 1


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("nowhere(plan, operand); nowhere(plan, operand)", "operand 0 is planned twice"),
        ("write(plan, operand, MRF)", "result operand 0 is planned twice for this level"),
    ],
)
def test_a_result_is_taken_back_once(tmp_path: Path, statement: str, what: str) -> None:
    with pytest.raises(DesignError, match=what):
        quick(one_warp(USE, load_of(0)), hand(tmp_path, TWICE.format(statement=statement), True, lanes=False))


@settings(max_examples=15, deadline=None)
@given(cases)
def test_both_cores_agree(case: Case) -> None:
    agreed(case.launched, case.sm, case.latency, case.interval, case.sms, case.resident, DESIGN)


def test_held_loads_and_lanes_outlast_the_coming_of_more_thread_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    launched = warps(USE, *([(gather(128 * (block // 3), 64, 4),)] * (1 + block % 3) for block in range(30)))
    launched = replace(launched, blocks=tuple((warp,) for block in launched.blocks for warp in block))
    once = agreed(launched, PLAIN, interval=4, resident=4, design=DESIGN)
    assert events(once, DESIGN)["held"] > 0
    monkeypatch.setattr(engine, "FEED_WORDS", 1)
    assert agreed(launched, PLAIN, interval=4, resident=4, design=DESIGN).cycles == once.cycles


@pytest.mark.slow
def test_the_compiled_core_does_the_same() -> None:
    launched = warps(USE, [(gather(0, 40, 12),)], [(gather(0, 40, 12),)], [(load_of(0),)])
    machine = machine_with_memory(PLAIN, 20, 1)
    runs = [fast(launched, machine, 1, 8, mode, design=DESIGN) for mode in ("interpreted", "compiled")]
    assert runs[0].result.as_dict() == runs[1].result.as_dict()
