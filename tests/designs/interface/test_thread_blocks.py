"""The thread block of a warp, and its index in it, as hooks see them (docs/reference/design-interface.md)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.designs.kernels import kernel, op, r
from tests.replay.paths import Recorded
from tests.replay.schedules import Scheduling
from tests.timing.assembly import warps
from tests.timing.both_cores import agreed
from tests.timing.launches import Launched
from tests.timing.reference.machine import Sm

from warpreg.designs import DesignError, load
from warpreg.designs.interface.thread_blocks import knows_thread_blocks
from warpreg.replay import ReplayError, distinct_warps, replay
from warpreg.trace import Slots

CODE = kernel([op("mov.b32", r(1), 1)])
PATH = Recorded()
for _block in range(3):
    PATH.thread_block(_block).warp(0).visits(0).warp(1).visits(0)

PARTNERS = """
from warpreg.designs import interface as w

DESIGN = w.Declaration(slot="policy", order="{order}", events=("blocks", "indices", "starts", "ends"), source="assumed")


def where(program, first, slots):
    found = 0
    for warp in range(first, first + slots):
        found = found * 10 + w.thread_block(program, warp) + 1
    return found


@w.hook
def block_start(state, program, sm, plan):
    w.count(plan, 2, where(program, sm * program.slots, program.slots))


@w.hook
def warp_start(state, program, warp, plan):
    w.count(plan, 0, 10 ** w.thread_block(program, warp))
    w.count(plan, 1, 1 + w.index_in_block(program, warp))


@w.hook
def block_end(state, program, sm, plan):
    w.count(plan, 3, where(program, sm * program.slots, program.slots))
"""


def partners(folder: Path, order: str) -> Path:
    file = folder / "partners.py"
    file.write_text(PARTNERS.format(order=order), encoding="utf-8")
    return file


def test_a_replay_knows_the_block_and_the_index_of_each_warp(tmp_path: Path) -> None:
    """Blocks 0, 1 and 2 have two warps each, 10**0, 10**1 and 10**2 twice; indices 0 and 1 count 1 and 2."""
    counts = replay(PATH, CODE, load(partners(tmp_path, "warp")), mode="interpreted")
    assert (counts.events["blocks"], counts.events["indices"]) == (222, 3 * (1 + 2))


def test_a_schedule_gives_all_warps_of_a_block_before_it_starts(tmp_path: Path) -> None:
    """One SM of 4 slots.  Digits are blocks + 1 by slot, 0 for an empty one.

    Block 0 starts in slots 0 and 1 (1100), block 1 in 2 and 3 (1122).  Block 1 ends first (1122), block 2 takes its
    slots (1133), then block 0 ends (1133) and block 2 (0033), although warp 0 of block 0 had ended long before.
    """
    order = Scheduling(Slots(sms=1, warps=4, schedulers=2))
    order.start(0).start(1, 0, 1).start(2, 1).start(3, 1, 1).issue(0).end(0).issue(2).issue(3).end(2, 3)
    order.start(2, 2).start(3, 2, 1).issue(1).end(1).issue(2).issue(3).end(2, 3)
    design, schedule = load(partners(tmp_path, "sm")), order.of(CODE, PATH)
    counts = replay(PATH, CODE, design, schedule=schedule, mode="interpreted")
    assert (counts.events["blocks"], counts.events["indices"]) == (222, 9)
    assert counts.events["starts"] == 1100 + 1122 + 1133
    assert counts.events["ends"] == 1122 + 1133 + 33


def test_both_timing_cores_know_them(tmp_path: Path) -> None:
    """Two SMs of 4 slots, one thread block each at a time: blocks 0 and 1 start at once, block 2 where one has left.

    At each start and end, slots 0 and 1 hold that block: 1100, 2200 and 3300.
    """
    one = warps("mov.b32 R1, 1", [()], [()])
    launched = Launched(one.kernel, one.blocks * 3)
    run = agreed(launched, Sm(slots=4), sms=2, resident=1, design=load(partners(tmp_path, "sm")))
    found = run.outcome.counts.events.tolist()
    assert found == [222, 9, 1100 + 2200 + 3300, 1100 + 2200 + 3300]


def test_only_hooks_that_ask_cost_anything(tmp_path: Path) -> None:
    assert knows_thread_blocks(load(partners(tmp_path, "sm")).hooks)
    assert not knows_thread_blocks(load("rfc").hooks)


def test_a_static_design_cannot_ask_for_them(tmp_path: Path) -> None:
    with pytest.raises(DesignError, match=r"partners.py:1: thread_block and index_in_block differ between warps"):
        load(partners(tmp_path, "static"))


def test_distinct_warps_have_no_thread_block(tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match="needs the path of each warp"):
        replay(distinct_warps([PATH], 1, "interpreted"), CODE, load(partners(tmp_path, "warp")), mode="interpreted")


def test_warp_start_without_a_plan_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "old.py"
    text = "@w.hook\ndef warp_start(state, program, warp):\n    pass\n"
    file.write_text("from warpreg.designs import interface as w\n" + text, encoding="utf-8")
    with pytest.raises(DesignError, match=r"old.py:3: hook warp_start takes \(state, program, warp, plan\), found"):
        load(file)


def test_accesses_of_warp_start_count_in_a_static_design(tmp_path: Path) -> None:
    """Three blocks of two warps, a fill of one register each."""
    file = tmp_path / "filling.py"
    file.write_text(
        "from warpreg.designs.interface import *\n"
        'DESIGN = Declaration(slot="levels", levels=("MRF", "TOP"), order="static", source="assumed: a test")\n'
        "@hook\ndef warp_start(state, program, warp, plan):\n    move(plan, MRF, 1, 0)\n",
        encoding="utf-8",
    )
    assert replay(PATH, CODE, load(file), mode="interpreted").moves[0, 1] == 6
