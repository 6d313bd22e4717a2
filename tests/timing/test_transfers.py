"""Transfers along paths: bandwidth, latency, banks and the hook that tells of them, worked by hand with ``fetched``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path as File

import pytest
from tests.timing.assembly import code, one_warp
from tests.timing.both_cores import agreed, fast, machine_with_memory
from tests.timing.documented import documented
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.reference.machine import Banks, Sm, TwoLevel
from tests.timing.test_designs import path_of
from tests.timing.test_read_window import sub_cores

from piecewise_numba.options import Mode
from warpreg.designs import DesignError, load
from warpreg.replay import replay
from warpreg.timing.errors import TimingError

FETCHED = load(File(__file__).parent / "designs" / "fetched.py")
MAD = "mad.lo.s32 R7, R0, R1, R2\nmov.b32 R5, R7"
BANKED = Sm(banks=Banks(count=4, mapping="register"))


@pytest.mark.parametrize("waits", ["token", "stay", "after"])
@pytest.mark.parametrize(("per_cycle", "last"), [(1.0, 2), (2.0, 1), (4.0, 0), (0.5, 4), (0.25, 8)])
@pytest.mark.parametrize("delay", [1, 6])
def test_registers_set_out_as_fast_as_the_path_takes_them(waits: str, per_cycle: float, last: int, delay: int) -> None:
    """The first instruction is admitted at 1, and its sources, in three banks, are read at 2.

    They set out from 2 on, the last one ``last`` cycles later, and it is there after the latency.  A warp that asks
    every cycle issues then, one that is woken in the next cycle.
    """
    run = agreed(one_warp(MAD), BANKED, design=FETCHED, per_cycle=per_cycle, delay=delay, waits=waits)
    for register in range(3):
        run.bank(register).extras(f"R{register}").at(2)
    run.warp(0).issues("mad").at(2 + last + delay + (waits != "after"))


def test_a_bank_that_holds_all_registers_serves_one_in_a_cycle() -> None:
    """R0, R4 and R8 are in bank 0, read at 2, 3 and 4: the path of four a cycle does not help."""
    run = agreed(one_warp("mad.lo.s32 R7, R0, R4, R8"), BANKED, design=FETCHED, per_cycle=4.0, delay=5)
    run.bank(0).extras("R0").at(2)
    run.bank(0).extras("R8").at(4)
    run.warp(0).issues("mad").at(4 + 5 + 1)


def test_a_register_that_goes_to_the_main_register_file_is_complete_when_its_bank_has_served_it() -> None:
    """mad issues at I = 2 + 2 + 3 + 1 and its sources are there with the cycle after it enters: it is dispatched at
    I + 2, and its result is written at I + 6.  It sets out at once, comes at I + 9, and bank 3 serves it at I + 10.

    mov asks for R7 at I + 6: read at I + 7, it is there at I + 10 too, so mov issues at I + 11.
    """
    run = agreed(one_warp(MAD), BANKED, design=FETCHED, delay=3)
    issued = 8
    run.warp(0).issues("mad").at(issued)
    run.bank(3).extras("R7").at(issued + 7, issued + 10)
    run.warp(0).issues("mov").at(issued + 11)


def test_with_the_ideal_operand_path_only_the_path_takes_time() -> None:
    """The three sources set out at 1, 2 and 3."""
    run = agreed(one_warp(MAD), Sm(), design=FETCHED, delay=3)
    run.warp(0).issues("mad").at(3 + 3 + 1)


def two_warps() -> Launched:
    kernel = code("mad.lo.s32 R7, R0, R1, R2", "mad.lo.s32 R7, R4, R5, R6")
    return Launched(kernel, ((WarpPath(((0, FULL),)), WarpPath(((1, FULL),))),))


@pytest.mark.parametrize(("per", "last"), [("SM", 5), ("scheduler", 2)])
def test_a_path_is_shared_by_an_sm_or_a_scheduler(per: str, last: int) -> None:
    """Two warps of two schedulers ask at 1; all six are in banks of their own, read at 2."""
    sm = Sm(schedulers=2, banks=Banks(count=8, mapping="register"))
    run = agreed(two_warps(), sm, design=FETCHED, per=per, delay=4)
    cycles = [run.warp(0).issues("mad").first, run.warp(1).issues("mad").first]
    assert max(cycles) == 2 + last + 4 + 1


LONG = "mad.lo.s32 R13, R0, R1, R2" + "\nmov.b32 R13, 1" * 8
LENDING = """
from warpreg.designs.interface import Declaration, Path, count, fetch, hook, now, sm_of, spill, transfer
DESIGN = Declaration(slot="levels", levels=("MRF", "TOP"), events=("there",), order="sm", source="assumed: a test")
def paths(parameters):
    return (Path("MRF", "TOP", latency=4, per="scheduler"),)
@hook
def issued(state, program, warp, pc, plan):
    if pc == 0:
        transfer(plan, 0, 1, warp=OTHER)
@hook
def transferred(state, program, warp, path, register, plan):
    count(plan, 0, (warp + 1) * now(plan))
"""


@pytest.mark.parametrize(
    ("other", "there"),
    [("warp", (1 + 2 + 6 + 7) * 5), ("sm_of(program, warp) * program.slots", 1 * (5 + 6) + 6 * (5 + 6))],
)
def test_a_transfer_takes_the_path_of_the_warp_that_it_names(tmp_path: File, other: str, there: int) -> None:
    """On each of two SMs of five slots, two warps of two schedulers issue at 1: warps 0 and 1, 5 and 6.  Each has a
    path for itself, or both take that of the first one, where the second sets out a cycle later.
    """
    (tmp_path / "lending.py").write_text(LENDING.replace("OTHER", other), encoding="utf-8")
    block = (WarpPath(((0, FULL),)), WarpPath(((0, FULL),)))
    sm, design = Sm(slots=5, schedulers=2), load(tmp_path / "lending.py")
    run = agreed(Launched(code(LONG), (block, block)), sm, sms=2, design=design)
    assert run.outcome.counts.events.tolist() == [there]


@pytest.mark.parametrize(
    "call", ["transfer(plan, 0, 1, warp=4)", "spill(plan, 1, warp=4)", "fetch(plan, 1, warp=4)",
             "move(plan, 0, 1, 1, warp=4)", "extra(plan, 0, READ, 1, warp=4)"],
)  # fmt: skip
def test_a_hook_names_no_warp_of_another_sm(tmp_path: File, call: str) -> None:
    """Warp 4 is the last one of the first SM, warp 5 the first one of the second; checks say so, and the reference."""
    text = LENDING.replace("transfer(plan, 0, 1, warp=OTHER)", call).replace("count,", "count, extra, move, READ,")
    (tmp_path / "lending.py").write_text(text, encoding="utf-8")
    block = (WarpPath(((0, FULL),)),)
    launched, sm = Launched(code(LONG), (block, block)), replace(BANKED, slots=5)
    with pytest.raises(
        DesignError, match=r"warp 4 is not one of 5 to 9, the warps of this SM \(issued, warp 5, pc 0\)"
    ):
        fast(launched, machine_with_memory(sm, 20, 1, 2), 2, 8, design=load(tmp_path / "lending.py"))
    with pytest.raises(TimingError, match="SM 1 names warp 4"):
        agreed(launched, sm, sms=2, design=load(tmp_path / "lending.py", checked=False))


def test_the_example_of_the_documentation(tmp_path: File) -> None:
    """R0 and R4 are in bank 0: read at 2 and 3, the last one is there at 3 + 4."""
    run = agreed(one_warp("add.s32 R1, R0, R4"), BANKED, design=load(documented(tmp_path, "path of one register")))
    run.warp(0).issues("add").at(3 + 4 + 1)


def test_with_a_read_window_registers_wait_for_the_write_ports_of_their_banks() -> None:
    """Both sources are in bank 0, read at 2 and 3, and there at 3 + 5."""
    sm = replace(sub_cores(), slots=4)
    run = agreed(one_warp("add.s32 R1, R0, R4"), sm, design=FETCHED, delay=5)
    run.warp(0).issues("add").at(3 + 5 + 1)


CHAIN = """
from warpreg.designs.interface import Declaration, Path, count, hook, read, source_operands, transfer
DESIGN = Declaration(slot="levels", levels=("MRF", "TOP"), events=("up", "down"), source="assumed: a test")
def paths(parameters):
    return Path("MRF", "TOP"), Path("TOP", "MRF", latency=4)
@hook
def plan_reads(state, program, warp, pc, plan):
    for operand in source_operands(program, pc):
        read(plan, operand, 1)
        transfer(plan, 0, program.source[operand])
@hook
def transferred(state, program, warp, path, register, plan):
    count(plan, path, 1 + register)
    if path == 0 and register != 1:
        transfer(plan, 1, register + 10)
"""


@pytest.mark.parametrize("mode", ["interpreted", "compiled"])
def test_a_replay_completes_a_transfer_at_once(tmp_path: File, mode: Mode) -> None:
    """R0, R1 and R2 come, for which 1 + 2 + 3 is counted; R0 and R2 start R10 and R12, for which it is 11 + 13."""
    (tmp_path / "chain.py").write_text(CHAIN, encoding="utf-8")
    launched = one_warp(LONG)
    design = load(tmp_path / "chain.py")
    counts = replay(path_of(launched), launched.kernel, design, mode=mode)
    assert counts.events == {"up": 6, "down": 24}
    assert (counts.moved("MRF", "TOP"), counts.moved("TOP", "MRF")) == (3, 2)
    assert agreed(launched, BANKED, design=design).outcome.counts.events.tolist() == [6, 24]


def test_a_replay_refuses_transfers_without_end(tmp_path: File) -> None:
    endless = CHAIN.replace("if path == 0 and register != 1:", "if True:").replace("register + 10", "register")
    (tmp_path / "chain.py").write_text(endless, encoding="utf-8")
    launched = one_warp("mov.b32 R1, R0")
    with pytest.raises(DesignError, match="chain: one call of a hook starts more than 256 transfers"):
        replay(path_of(launched), launched.kernel, load(tmp_path / "chain.py", checked=False), mode="interpreted")


def test_each_design_of_a_composition_is_told_of_its_own_transfers(tmp_path: File) -> None:
    (tmp_path / "chain.py").write_text(CHAIN, encoding="utf-8")
    other = CHAIN.replace('"levels", levels=("MRF", "TOP")', '"operands", levels=("MRF", "LOW")').replace(
        '"TOP"', '"LOW"'
    )
    other = other.replace('("up", "down")', '("in", "out")').replace("register != 1", "register == 1")
    (tmp_path / "other.py").write_text(other.replace("1 + register", "100 + register"), encoding="utf-8")
    both = load(f"{tmp_path / 'chain.py'}+{tmp_path / 'other.py'}")
    launched = one_warp(LONG)
    expected = {"up": 6, "down": 24, "in": 303, "out": 111}
    assert replay(path_of(launched), launched.kernel, both, mode="interpreted").events == expected
    run = agreed(launched, BANKED, design=both)
    assert run.outcome.counts.events.tolist() == list(expected.values())


@pytest.mark.parametrize(
    ("was", "now", "message"),
    [
        ("transfer(plan, 0, program", "transfer(plan, 2, program", "path 2 is outside 0 to 1"),
        ("program.source[operand])", "-1)", "register -1 is outside 0 to "),
        ("program.source[operand])", "3, warp=99)", "warp 99 is outside"),
        ("program.source[operand])", "3, bank=9)", "bank 9 is outside"),
        ("@hook\ndef plan_reads", "@hook\ndef block_start(state, program, sm, plan):\n    transfer(plan, 0, 1)\n@hook\n"
         "def plan_reads", "this hook is for no warp, so a transfer names one"),
        ('Path("MRF", "TOP")', 'Path("MRF", "TOPP")', "no level named 'TOPP'; did you mean 'TOP'"),
        ('Path("MRF", "TOP")', 'Path("TOP", "TOP")', "path from TOP to TOP: expects two levels"),
        ('Path("MRF", "TOP")', 'Path("MRF", "TOP", 0.3)', "per_cycle expects 1 to 1024 or one over .*, found 0.3"),
        ('Path("MRF", "TOP")', 'Path("MRF", "TOP", 0)', "per_cycle expects 1 to 1024 or one over .*, found 0"),
        ('Path("MRF", "TOP")', 'Path("MRF", "TOP", latency=0)', "latency expects 1 to 1048576 cycles, found 0"),
        ('Path("MRF", "TOP")', 'Path("MRF", "TOP", per="warp")', "per expects one of SM, scheduler, found 'warp'"),
        ('Path("MRF", "TOP")', '3', "paths returned a int, expected Paths"),
        ('Path("MRF", "TOP"),', '*([Path("MRF", "TOP")] * 8),', "paths returned 9 paths, expected at most 8"),
    ],
)  # fmt: skip
def test_misuse_is_one_message(tmp_path: File, was: str, now: str, message: str) -> None:
    (tmp_path / "chain.py").write_text(CHAIN.replace(was, now), encoding="utf-8")
    with pytest.raises(DesignError, match=message):
        launched, machine = one_warp("mad.lo.s32 R13, R0, R1, R2"), machine_with_memory(BANKED, 20, 1)
        fast(launched, machine, 1, 8, design=load(tmp_path / "chain.py"))


def test_nobody_is_told_of_the_transfer_of_a_warp_that_has_left(tmp_path: File) -> None:
    """Of two warps one after the other in a slot, the first starts a transfer of 100 cycles and ends before that."""
    text = CHAIN.replace('Path("MRF", "TOP")', 'Path("MRF", "TOP", latency=100)')
    (tmp_path / "chain.py").write_text(text, encoding="utf-8")
    kernel = code("mov.b32 R1, R1\nbar.sync 0\n" + "mov.b32 R2, 1\nmov.b32 R3, R2\n" * 30)
    launched = Launched(kernel, tuple((WarpPath(((0, FULL),)),) for _ in range(2)))
    run = agreed(launched, replace(BANKED, slots=1), resident=1, design=load(tmp_path / "chain.py"))
    assert run.cycles > 200
    assert run.outcome.counts.moves[0, 1] > run.outcome.counts.events[0] // 4


@pytest.mark.parametrize("waits", ["token", "stay"])
def test_a_wait_that_never_ends_names_the_design_and_the_token(waits: str) -> None:
    message = "design fetched: no warp can go on after cycle [0-9]+\n  token 0, held by nobody: warp 0 "
    with pytest.raises(Exception, match=message):
        agreed(one_warp(MAD), BANKED, design=FETCHED, waits=waits, wakes=False)


@pytest.mark.parametrize(("waits", "other_at"), [("token", 0), ("stay", 1)])
def test_a_warp_may_wait_for_a_token_in_the_active_set(waits: str, other_at: int) -> None:
    """Of two warps, one can be active.  The first waits for its sources: with a token alone the other takes its place,
    and both fetch at the same time; if it stays, the other begins when it has ended.
    """
    sm = Sm(banks=Banks(count=4, mapping="register"), two_level=TwoLevel(active_warps=1))
    run = agreed(two_warps(), sm, design=FETCHED, waits=waits, delay=30)
    first, second = run.warp(0).issues("mad").first, run.warp(1).issues("mad").first
    assert first == 2 + 2 + 30 + 1
    assert (second - first > 30) == bool(other_at)
