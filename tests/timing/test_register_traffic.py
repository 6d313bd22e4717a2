"""Registers that a design sends to memory and fetches back, worked by hand with the miniature ``spilling``.

Unless stated otherwise: one scheduler, lrr, ideal operand path, latency 4, memory that answers after 20 cycles.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.assembly import code, one_warp, warps
from tests.timing.both_cores import agreed, compare, fast, machine_with_memory
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.random_runs import Case, cases
from tests.timing.reference.machine import Sm
from tests.timing.reference.machine_file import sm_of
from tests.timing.reference.package_memory import PackageMemory
from tests.timing.test_both_cores import machine_with
from tests.timing.test_designs import path_of
from tests.timing.test_miniatures import events, load_of, miniature
from tests.timing.vocabulary import timed

from piecewise_numba.options import Mode
from warpreg.designs import Design, DesignError, load
from warpreg.replay import replay
from warpreg.timing.results.result import TimingResult, joined

DESIGN = miniature("spilling")
PLAIN = Sm(slots=4)
CHAIN = "mov.b32 R1, 1\nmov.b32 R2, R1"


def run_on(model: str, launched: Launched, sms: int = 1, **parameters: int) -> TimingResult:
    machine = machine_with(Case(launched, PLAIN, 1, 8, sms, 1), "gtx480", model)
    return fast(launched, machine, sms, 8, "interpreted", False, DESIGN, None, 1, None, **parameters).result


def test_a_register_is_away_until_memory_answers() -> None:
    """The first move issues at 1 and is written at 5, where R1 is spilled: sent at 6, acknowledged at 26.  The second
    move is ready at 5: R1 is fetched, sent at 7, there at 27.  The move issues at 28, and spills R2.
    """
    run = agreed(one_warp(CHAIN), PLAIN, design=DESIGN)
    run.warp(0).issues().at(1, 28)
    assert run.outcome.logs[0].fetches == [22]
    assert run.outcome.counts.traffic.tolist() == [[2, 256], [1, 128]]
    assert events(run, DESIGN) == {"waits": 1, "reports": 1}


def test_the_first_level_answers_a_fetch() -> None:
    """Cached: the spill allocates the line.  The fetch is sent at 7 and answered ``latency`` cycles later, and the move
    issues a cycle after that.
    """
    machine = machine_with(Case(one_warp(CHAIN), PLAIN, 1, 8, 1, 1), "gtx480", "cached")
    assert machine.memory.l1 is not None
    result = run_on("cached", one_warp(CHAIN))
    assert result.design_reads_sm == 1
    assert result.design_memory is not None
    assert result.design_memory["read_latency"] == 2 + machine.memory.l1.latency
    again = run_on("cached", one_warp(CHAIN + "\nmov.b32 R3, R2"))
    assert again.cycles - result.cycles == 4 + 2 + machine.memory.l1.latency + 1


def test_the_program_and_the_design_share_the_port() -> None:
    """A line takes 4 cycles of the port.  Warp 1 issues a load at 2, which is sent at 3.  Warp 0 spills and fetches R1
    at 5: the port is free for the spill at 7 and for the fetch at 11.  R1 is there at 31, and the move issues at 32.
    """
    kernel = code(CHAIN, "ld.global.u32 R5, [R6.64]")
    paths = WarpPath(((0, FULL),)), WarpPath(((1, FULL),), (load_of(0),))
    run = agreed(Launched(kernel, (paths,)), PLAIN, interval=4, design=DESIGN)
    run.warp(1).issues().at(2)
    run.warp(0).issues().at(1, 11 + 20 + 1)


def test_a_packed_register_moves_fewer_sectors() -> None:
    """Four registers share a line of the design's own: a fetch of 32 bytes finds its sector."""
    whole, packed = (run_on("cached", one_warp(CHAIN), packed=packed) for packed in (0, 1))
    assert packed.counts.events["memory bytes written"] == 2 * 32
    assert whole.counts.events["memory bytes written"] == 2 * 128
    assert packed.design_reads_sm == 1
    assert packed.cycles <= whole.cycles


def test_a_hook_of_an_sm_names_the_warp(tmp_path: Path) -> None:
    text = "@hook\ndef block_start(state, program, sm, plan): spill(plan, 0)"
    with pytest.raises(DesignError, match=r"hand\.py:\d+: .*warp"):
        fast(one_warp(CHAIN), machine_with_memory(PLAIN, 20, 1), 1, 8, design=hand(tmp_path, text, checked=True))


@pytest.mark.parametrize("model", ["fixed", "cached", "contention"])
def test_what_answers_adds_up(model: str) -> None:
    """Each fetch that was asked for has been answered by one level."""
    text = "\n".join(f"add.s32 R{k % 8}, R{(k + 3) % 8}, R{(k + 5) % 8}" for k in range(40))
    result = run_on(model, warps(text, *([()],) * 4))
    events = result.counts.events
    assert result.design_memory is not None
    assert sum(result.design_memory["reads"].values()) == events["memory reads"] > 0
    assert sum(result.design_memory["writes"].values()) <= events["memory writes"]
    assert events["memory bytes read"] == 128 * events["memory reads"]
    assert joined([result, result]).design_reads_sm == 2 * result.design_reads_sm


def test_a_replay_counts_only(tmp_path: Path) -> None:
    design = hand(tmp_path, ISSUED.format(call="spill(plan, 3); fetch(plan, 3, bytes=40)"), order="static")
    launched = one_warp(CHAIN, times=3)
    counts = replay(path_of(launched), launched.kernel, design, mode="interpreted")
    expected = {"memory writes": 6, "memory reads": 6, "memory bytes written": 768, "memory bytes read": 240}
    assert counts.events == expected
    assert replay(path_of(launched), launched.kernel, load("mrf"), mode="interpreted").events == {}


def hand(folder: Path, text: str, checked: bool = False, order: str = "sm") -> Design:
    file = folder / "hand.py"
    declaration = f'DESIGN = Declaration(slot="mapping", order="{order}", source="assumed: a test")\n'
    file.write_text(f"from warpreg.designs.interface import *\n{declaration}{dedent(text)}", encoding="utf-8")
    return load(file, checked=checked)


ISSUED = """
@hook
def issued(state, program, warp, pc, plan):
    {call}
"""


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ("spill(plan, 256)", "register 256 is outside 0 to 255"),
        ("fetch(plan, -1)", "register -1 is outside 0 to 255"),
        ("spill(plan, 0, bytes=129)", "bytes 129 is outside 1 to 128"),
        ("spill(plan, 0, line=1 << 20)", "line 1048576 is outside -1 to 524287"),
        ("spill(plan, 0, offset=128)", "offset 128 is outside 0 to 127"),
        ("fetch(plan, 0, warp=9)", "warp 9 is outside -1 to 3"),
        ("fetch(plan, 0, warp=-2)", "warp -2 is outside -1 to 3"),
        ("for n in range(257): spill(plan, n & 255)", "one call queues more than 256 .* memory accesses"),
    ],
)
def test_what_a_checked_hook_may_not_say(tmp_path: Path, call: str, what: str) -> None:
    with pytest.raises(DesignError, match=rf"hand\.py:\d+: .*{what}"):
        design = hand(tmp_path, ISSUED.format(call=call), checked=True)
        fast(one_warp(CHAIN), machine_with_memory(PLAIN, 20, 1), 1, 8, design=design)


@settings(max_examples=25, deadline=None)
@given(cases, st.sampled_from(("fixed", "cached", "contention")), st.integers(0, 1))
def test_both_cores_agree(case: Case, model: str, packed: int) -> None:
    machine = machine_with(case, "gtx480", model)
    own = replace(sm_of(machine), texture_latency=case.sm.texture_latency)
    memory = PackageMemory(machine, case.sms)
    slow = timed(case.launched, own, memory, case.sms, case.resident, DESIGN, packed=packed)
    sizes = case.launched, machine, case.sms, case.resident
    compare(slow, fast(*sizes, "interpreted", False, DESIGN, None, 1, None, packed=packed))


@pytest.mark.slow
@pytest.mark.parametrize("model", ["fixed", "cached", "contention"])
def test_the_compiled_core_and_several_threads_do_the_same(model: str) -> None:
    text = "\n".join(f"add.s32 R{k % 8}, R{(k + 3) % 8}, R{(k + 5) % 8}" for k in range(40))
    launched = Launched(code(text), ((WarpPath(((0, FULL),)),) * 2,) * 6)
    machine = machine_with(Case(launched, PLAIN, 1, 8, 2, 1), "gtx480", model)
    ways: list[tuple[Mode, int]] = [("interpreted", 1), ("compiled", 1), ("compiled", 2)]
    runs = [
        fast(launched, machine, 2, 2, mode, False, DESIGN, None, threads)
        for mode, threads in ways
        if threads == 1 or model != "contention"
    ]
    assert all(one.result.as_dict() == runs[0].result.as_dict() for one in runs)
