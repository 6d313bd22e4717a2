"""A scheduling policy of a design: who issues by hand, what is refused, and other designs beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.timing.assembly import code, one_warp, warps
from tests.timing.both_cores import agreed, fast, machine_with_memory
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import PIPES, Pipe, Sm
from tests.timing.test_schedulers_as_designs import FOLDER, GREEDY

from warpreg.designs import Design, DesignError, load

FAST = Sm(pipes={name: Pipe(latency=3 if name == "sfu" else 1) for name in PIPES})
HEAD = """from warpreg.designs.interface import *
DESIGN = Declaration(slot="{slot}", order="scheduler", source="assumed: a test")
@hook
"""
CHOOSE = "def choose(state, program, scheduler, plan):\n"
YOUNGEST = """
    best = NOBODY
    for warp in warps_of(program, scheduler):
        if can_issue(program, warp) and (best == NOBODY or age(program, warp) > age(program, best)):
            best = warp
    return best
"""


def design(folder: Path, text: str, slot: str = "policy", checked: bool = True) -> Design:
    """A design with one hook."""
    path = folder / "mine.py"
    path.write_text(HEAD.format(slot=slot) + text, encoding="utf-8")
    return load(path, checked=checked)


def test_the_design_replaces_the_order_of_the_machine(tmp_path: Path) -> None:
    """Warp 1 is the youngest and could always issue: it issues four times, whatever the machine prefers.

    Warp 0 follows at 5, and again when its result is there, 3 cycles later.
    """
    waits, busy = "sin.approx.f32 R1, R1\nmov.b32 R2, R1", "mov.b32 R1, 1\nmov.b32 R2, 1\nmov.b32 R3, 1\nmov.b32 R4, 1"
    two = Launched(code(waits, busy), ((WarpPath(((0, FULL),)), WarpPath(((1, FULL),))),))
    for policy in ("lrr", "gto", "oldest"):
        run = agreed(two, replace(FAST, policy=policy), design=design(tmp_path, CHOOSE + YOUNGEST))
        run.warp(1).issues().at(1, 2, 3, 4)
        run.warp(0).issues().at(5, 8)


@pytest.mark.parametrize("period", [1, 3, 7])
def test_nobody_issues_in_a_cycle_in_which_nobody_is_chosen(tmp_path: Path, period: int) -> None:
    """A scheduler that issues in every n-th cycle only: instruction i issues at i n."""
    text = f"{CHOOSE}    return scheduler if now(plan) % {period} == 0 and can_issue(program, scheduler) else NOBODY\n"
    run = agreed(one_warp("mov.b32 R1, 1", times=5), FAST, design=design(tmp_path, text))
    run.warp(0).issues().every(period, first=period)
    assert run.stalls.counts["not selected"] == 5 * (period - 1)


def test_turns_are_seen_in_every_cycle_with_a_warp(tmp_path: Path) -> None:
    """A load issues at 1 and is sent at 2; its data are back at 22, and its user issues then.

    The warp waits for memory at the ends of cycles 1 to 21.  It has its slot from the end of cycle 0 to that of the
    last cycle, so each of two schedulers sees one turn less than the run has cycles.
    """
    text = """def turns_start(state, program, scheduler, plan):
    count(plan, 0)
@hook
def turns_end(state, program, scheduler, plan):
    for warp in warps_of(program, scheduler):
        if waits_for(program, warp) == LONG_RESULT:
            count(plan, 1)
"""
    path = tmp_path / "mine.py"
    head = HEAD.format(slot="policy").replace("source", 'events=("turns", "waits"), source')
    path.write_text(head + text, encoding="utf-8")
    load_and_use = one_warp("ld.local.u32 R1, [R2]\nmov.b32 R3, R1", Access(FULL, "local", 0, ((128, 15),)))
    run = agreed(load_and_use, replace(FAST, schedulers=2), design=load(path))
    run.warp(0).issues().at(1, 22)
    assert run.outcome.counts.events.tolist() == [2 * (run.cycles - 1), 21]


REFUSED = {
    "    return scheduler + 1\n": "mine.py:4: choose: warp 1 is not a warp of the scheduler (scheduler 0)",
    "    return -2\n": "mine.py:4: choose: warp -2 is not a warp of the scheduler (scheduler 0)",
    "    return scheduler + 2\n": "mine.py:4: choose: warp 2 cannot issue; choose one of which can_issue says so, or "
    "NOBODY (scheduler 0)",
    "    return 0 if can_issue(program, 1) else 0\n": "mine.py:5: can_issue(program, 1): warp 1 is not a warp of the "
    "scheduler (choose, scheduler 0)",
    "    return 0.5\n": "mine.py:5: hook choose returns an integer, found return 0.5",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_wrong_choice_is_one_line(tmp_path: Path, text: str) -> None:
    """Two schedulers, a warp in slot 0 and 1 each."""
    launched = warps("mov.b32 R1, 1", [()], [()])
    with pytest.raises(DesignError) as error:
        two = replace(FAST, schedulers=2)
        fast(launched, machine_with_memory(two, 20, 1), 1, 8, design=design(tmp_path, CHOOSE + text))
    assert str(error.value).endswith(REFUSED[text])


def test_a_wrong_choice_ends_a_run_without_checks_too(tmp_path: Path) -> None:
    message = "mine: choose returned warp 3, which is none of those that can issue, nor NOBODY"
    wrong = design(tmp_path, f"{CHOOSE}    return 3\n", checked=False)
    with pytest.raises(DesignError, match=message):
        fast(one_warp("mov.b32 R1, 1"), machine_with_memory(FAST, 20, 1), 1, 8, design=wrong)


def test_other_hooks_do_not_see_warps(tmp_path: Path) -> None:
    text = "def issued(state, program, warp, pc, plan):\n    if next_pc(program, warp) == 0:\n        wake(plan, 1)\n"
    with pytest.raises(DesignError, match="only choose, turns_start and turns_end see warps of a scheduler"):
        fast(one_warp("mov.b32 R1, 1"), machine_with_memory(FAST, 20, 1), 1, 8, design=design(tmp_path, text))


def test_only_a_policy_chooses(tmp_path: Path) -> None:
    with pytest.raises(DesignError, match=r"mine\.py:4: choose requires slot 'policy'"):
        design(tmp_path, CHOOSE + YOUNGEST, slot="mapping")


def test_two_policies_do_not_go_together(tmp_path: Path) -> None:
    design(tmp_path, CHOOSE + YOUNGEST)
    with pytest.raises(DesignError, match="both have slot policy, and neither of them uses the other"):
        load(f"{tmp_path / 'mine.py'}+{GREEDY.path}")


def test_a_policy_beside_a_register_file_cache() -> None:
    """As the cache alone on a machine with that policy."""
    launched = warps("mov.b32 R1, 1\nadd.s32 R2, R1, R1\nsin.approx.f32 R1, R2", *[[()]] * 6)
    own = replace(FAST, slots=8, schedulers=2)
    alone = agreed(launched, replace(own, policy="gto"), design=load("rfc"))
    both = agreed(launched, replace(own, policy="lrr"), design=load(f"{GREEDY.path}+rfc"))
    assert both.issues() == alone.issues()


def test_most_waiting_first() -> None:
    """Thread block A comes in cycle 0, B in cycle 1.  Both warps of A need a result of 3 cycles for their second
    instruction; B0 begins with a barrier, before which B1 has two instructions.

    A0 issues at 1 and A1 at 2, which is older than those of B; B0 at 3, and waits.  From 4 on, A0 could issue; B1 goes
    first, for the sake of B0, and comes to the barrier at 6.  Then nobody waits: B1, which issued last, ends at 7, and
    the older A0 and A1 come before B0.
    """
    kernel = code(
        "sin.approx.f32 R1, R1\nmov.b32 R2, R1\nmov.b32 R3, 1\nmov.b32 R4, 1",
        "bar.sync 0\nmov.b32 R1, 1",
        "mov.b32 R1, 1\nmov.b32 R2, 1\nbar.sync 0\nmov.b32 R1, 1",
    )
    blocks = tuple(tuple(WarpPath(((block, FULL),)) for block in own) for own in ((0, 0), (1, 2)))
    design = load(FOLDER.parent / "most_waiting_first.py")
    run = agreed(Launched(kernel, blocks), FAST, resident=2, design=design)
    run.warp(0, 0).issues().at(1, 8, 9, 10)
    run.warp(1, 0).issues().at(2, 11, 12, 13)
    run.warp(0, 1).issues().at(3, 14)
    run.warp(1, 1).issues().at(4, 5, 6, 7)
