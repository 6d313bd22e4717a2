"""Nine small designs, one for each kind of demand on the timing core, each derived by hand.

Unless stated otherwise: one scheduler, lrr, ideal operand path, latency 4, one warp placed in cycle 0, which issues
from cycle 1 on; a load issued at ``t`` sends at ``t + 1`` and is back 20 cycles later.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.timing.assembly import code, one_warp, warps
from tests.timing.both_cores import agreed
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import PIPES, Banks, CollectorSet, Pipe, Sm
from tests.timing.vocabulary import Timed, timed

from warpreg import gpu
from warpreg.designs import Design, load, program_table
from warpreg.designs.interface.residency import Launch
from warpreg.timing.launch import engine
from warpreg.timing.launch.deadlock import NoProgressError

FOLDER = Path(__file__).parent / "designs"
A_SCHEDULER = Sm(slots=4)
BANKED = Sm(banks=Banks(count=4, mapping="register"))


def miniature(*names: str) -> Design:
    return load("+".join(str(FOLDER / f"{name}.py") for name in names))


def events(run: Timed, design: Design) -> dict[str, int]:
    return dict(zip(design.events, run.outcome.counts.events.tolist(), strict=True))


def accesses(run: Timed) -> list[list[int]]:
    """Reads and writes of each level, MRF first."""
    found: list[list[int]] = run.outcome.counts.accesses.reshape(-1, 2, 2).sum(axis=2).tolist()
    return found


def test_a_cache_that_the_warps_of_a_scheduler_share() -> None:
    """Warps 0 and 2 have two entries together, warp 1, of the other scheduler, two for itself.

    Warps 0 and 2 write R1, then R2, which displace their R1, so each finds R2 alone, and their R3 displace R2: four
    moves.  Warp 1 finds both, and its R3 displaces its R1.
    """
    design = miniature("scheduler_cache")
    launched = warps("mov.b32 R1, 1\nmov.b32 R2, 1\nadd.s32 R3, R1, R2", [()], [()], [()])
    run = agreed(launched, Sm(slots=4, schedulers=2), design=design)
    run.warp(0).issues().at(1, 3, 7)
    run.warp(2).issues().at(2, 4, 8)
    run.warp(1).issues().at(1, 2, 6)
    assert accesses(run) == [[2, 0], [4, 9]]
    assert run.outcome.counts.moves[1, 0] == 4 + 1


SECTION = "mov.b32 R8, 1\nadd.s32 R8, R8, 1\nmov.b32 R0, R8\nmov.b32 R1, 1"


def check_pool(run: Timed, design: Design) -> None:
    """Warp 0 has the section from 1 to 9, warp 1, refused at 2, asks again at 10 and has it until 18."""
    run.warp(0).issues().at(1, 5, 9, 11)
    run.warp(1).issues().at(10, 14, 18, 19)
    assert run.stalls.counts["token"] == 10 - 2
    assert events(run, design) == {"acquired": 2, "refused": 1}
    assert run.outcome.counts.integrals(run.cycles) == [[(9 - 1) + (18 - 10)]]


def test_a_pool_whose_warps_wait() -> None:
    design = miniature("blocking_pool")
    run = agreed(warps(SECTION, [()], [()]), A_SCHEDULER, design=design)
    check_pool(run, design)


def test_two_sections_are_enough_for_two_warps() -> None:
    """Warp 1 comes at 2, and both go on without waiting for each other."""
    design = miniature("blocking_pool")
    run = agreed(warps(SECTION, [()], [()]), A_SCHEDULER, design=design, sections=2)
    run.warp(1).issues().at(2, 6, 10, 12)
    assert events(run, design) == {"acquired": 2, "refused": 0}
    assert run.stalls.counts["token"] == 0


def test_a_section_that_never_comes_back_is_named_with_who_waits_and_who_holds_it() -> None:
    """Warp 0 issues its last at 10 and has its result at 14, and then nothing can happen any more."""
    with pytest.raises(NoProgressError) as error:
        timed(warps(SECTION, [()], [()]), A_SCHEDULER, design=miniature("blocking_pool"), leaks=True)
    assert str(error.value) == (
        "kernel hand, design blocking-pool: no warp can go on after cycle 14\n"
        "  token 0, held by warp 0: warp 1 (warp 1 of thread block 0) at 'mov.b32 R8, 1'"
    )


CHAIN = "ld.global.u32 R1, [R4.64]\nmov.b32 R2, R1\nmov.b32 R3, R2\nmov.b32 R5, R3\nmov.b32 R6, R5"


def load_of(line: int, stride: int = 4) -> Access:
    return Access(FULL, "global", 0, ((line, 15),), base=line, stride=stride)


@pytest.mark.parametrize(
    ("latency", "expected", "slow"),
    [(20, (1, 22, 27, 33, 38), 2), (5, (1, 7, 11, 15, 19), 0)],
)
def test_slow_registers_after_a_slow_access(latency: int, expected: tuple[int, ...], slow: int) -> None:
    """The load is back at 22 and makes R2 and R3 slow: R2 at 22 + 4 + 1, R3 at 27 + 1 + 4 + 1, R5 at 33 + 1 + 4.

    A load of 5 cycles makes none slow.
    """
    design = miniature("slow_registers")
    run = agreed(one_warp(CHAIN, load_of(0)), A_SCHEDULER, latency, design=design)
    run.warp(0).issues().at(*expected)
    assert events(run, design) == {"slow results": slow}


def test_slow_results_outlast_the_coming_of_more_thread_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether thread blocks come two at a time or all at once, nothing under way is lost or mixed up."""
    design = miniature("slow_registers")
    launched = warps(CHAIN, *([(load_of(128 * block),)] * (1 + block % 3) for block in range(30)))
    launched = replace(launched, blocks=tuple((warp,) for block in launched.blocks for warp in block))
    once = agreed(launched, A_SCHEDULER, interval=4, resident=4, design=design)
    monkeypatch.setattr(engine, "FEED_WORDS", 1)
    assert agreed(launched, A_SCHEDULER, interval=4, resident=4, design=design).cycles == once.cycles


LOOK_AHEAD = (
    "ld.global.u32 R1, [R6.64]\nmov.b32 R8, R1\nbar.sync 0\nmov.b32 R4, 1\nld.global.u32 R1, [R4.64]\nmov.b32 R2, R1"
)
MEMORY_UNIT = Sm(slots=4, pipes={name: Pipe(initiation=4 if name == "mem" else 1) for name in PIPES})


def test_a_load_that_another_warp_has_loaded_goes_first_and_needs_no_memory() -> None:
    """Loads issue at 1, 5 and 9, as the unit takes one in 4 cycles, and the barrier opens at 31.

    Addresses are made at 32, 33 and 34.  Warp 0 loads at 36, and the unit is free again at 40, when both others are
    ready: warp 2 has known since 38 that its line is in the table, goes before warp 1, and has its value at 42.
    """
    first, second = (0x1000, 0x2000, 0x3000), (0x4000, 0x5000, 0x1000)
    launched = warps(LOOK_AHEAD, *([(load_of(one), load_of(other))] for one, other in zip(first, second, strict=True)))
    design = miniature("shared_loads")
    run = agreed(launched, MEMORY_UNIT, design=design)
    assert [run.warp(warp).issues("ld").cycles for warp in range(3)] == [[1, 36], [5, 44], [9, 40]]
    run.warp(2).issues("mov.b32 R2").at(42)
    assert events(run, design) == {"found": 1, "asked": 6}
    plain = agreed(launched, MEMORY_UNIT)
    assert [plain.warp(warp).issues("ld").last for warp in range(3)] == [36, 40, 44]


@pytest.mark.parametrize(("between", "found"), [("mov.b32 R9, R1", 1), ("st.global.u32 [R6.64], R1", 0)])
def test_a_store_ends_the_sharing(between: str, found: int) -> None:
    """The second load of the line, at 23, has its value two cycles later unless a store went to memory at 22."""
    stored = [load_of(0)] if between.startswith("st") else []
    text = f"ld.global.u32 R1, [R4.64]\n{between}\nld.global.u32 R2, [R4.64]\nmov.b32 R3, R2"
    design = miniature("shared_loads")
    run = agreed(one_warp(text, load_of(0), *stored, load_of(0)), A_SCHEDULER, design=design)
    run.warp(0).issues().at(1, 22, 23, 25 if found else 23 + 21)
    assert events(run, design) == {"found": found, "asked": 2}


def test_half_the_registers_let_twice_as_many_warps_in() -> None:
    """512 warp-registers hold 16 warps of 32 registers, two thread blocks of 8 warps, or 32 of 16.

    Block ``b`` is placed at ``b`` and each warp loads once, so warp 8 b + i issues at 8 b + i + 1.  With four blocks
    the last load is back at 32 + 21.  With two, the third block is placed when the first leaves, at 8 + 21.  Its
    warps issue at 30 to 37, and the fourth's, placed at 16 + 21, after those at 38 to 45, back at 45 + 21.
    """
    machine = gpu.load("regmutex-gtx480-half")
    kernel = code("ld.global.u32 R31, [R4.64]")
    path = WarpPath(((0, FULL),), (load_of(0),))
    launched = Launched(kernel, ((path,) * 8,) * 4)
    sm = Sm(slots=48, policy="oldest")
    cycles = {}
    for name, blocks in (("coalesced", 2), ("half_registers", 4)):
        design = miniature(name)
        room = design.room(design.configure(), program_table(kernel), machine, Launch(8 * 32))
        assert (room.blocks, room.warps) == (blocks, 8 * blocks)
        cycles[name] = agreed(launched, sm, resident=room.blocks, design=design).cycles
    assert cycles == {"coalesced": 45 + 21 + 1, "half_registers": 32 + 21 + 1}


@pytest.mark.parametrize(("names", "dispatched"), [((), 6), (("coalesced",), 5)])
def test_merged_operands_take_one_port(names: tuple[str, ...], dispatched: int) -> None:
    """A collector takes one operand a cycle from cycle 3 on: R4, R5 and R8, or R4 with R5, then R8."""
    banks = Banks(count=4, mapping="register", operand_ports=1)
    design = miniature(*names) if names else None
    run = agreed(one_warp("mad.lo.s32 R1, R4, R5, R8\nmov.b32 R2, R1"), Sm(banks=banks), design=design)
    run.warp(0).issues("mov").at(dispatched + 4)
    assert accesses(run)[0][0] == (3 + 1 if design is None else 2 + 1)


@pytest.mark.parametrize(("names", "read"), [((), 4), (("last_result",), 5)])
def test_an_eviction_takes_the_bank_from_a_reader(names: tuple[str, ...], read: int) -> None:
    """``mov R3, R7`` issues at 2 and would read R7 in bank 3 at 4.

    The next instruction issues at 3 and displaces R3, whose way to bank 3 takes that cycle.
    """
    design = miniature(*names) if names else None
    run = agreed(one_warp("mov.b32 R1, 1\nmov.b32 R3, R7\nmov.b32 R2, 1"), replace(BANKED, banks=EAGER), design=design)
    run.warp(0).issues().at(1, 2, 3)
    run.bank(3).reads("R7").at(read)
    if design is not None:
        run.bank(3).extras("R3").at(4)
        run.bank(1).extras("R1").at(3)


EAGER = Banks(count=4, mapping="register", sets=(CollectorSet(PIPES, collectors=4),))
"""Room for all that issues, so that latches hold nobody up."""

LOCKED = "mov.b32 R8, 1\nmov.b32 R0, R8"


def test_a_lock_of_two_warps() -> None:
    """Warp 0 locks at 1; its neighbour is refused at 2, and warp 2, of another pair, takes the cycle.

    Warp 0 issues its last at 5 and ends at 9, so that warp 1 asks again at 10.
    """
    design = miniature("pair_lock")
    run = agreed(warps(LOCKED, [()], [()], [()]), A_SCHEDULER, design=design)
    run.warp(0).issues().at(1, 5)
    run.warp(2).issues().at(2, 6)
    run.warp(1).issues().at(10, 14)
    assert events(run, design) == {"locked": 3}
    assert run.stalls.counts["token"] == 10 - 2


def test_the_owner_goes_first() -> None:
    """Warp 1 locks at 2.  From 3 on both could issue, and by turns they would; the owner does first."""
    design = miniature("pair_lock")
    kernel = code("mov.b32 R2, 1\nmov.b32 R3, 1\nmov.b32 R0, 1", "mov.b32 R8, 1\nmov.b32 R0, 1\nmov.b32 R1, 1")
    launched = Launched(kernel, ((WarpPath(((0, FULL),)), WarpPath(((1, FULL),))),))
    run = agreed(launched, A_SCHEDULER, design=design)
    run.warp(0).issues().at(1, 5, 6)
    run.warp(1).issues().at(2, 3, 4)


def test_a_pool_and_a_cache_together() -> None:
    """The cache changes nothing about who waits, and the pool nothing about what is cached.

    Each warp reads R8 twice from the cache.  Warp 1's R8 displaces warp 0's at 10, warp 0's R1 its R0 at 11, warp 1's
    R0 its R8 at 18; its R1 takes the place that warp 0 left when it ended.
    """
    design = miniature("blocking_pool", "scheduler_cache")
    assert design.name == "blocking-pool+scheduler-cache"
    run = agreed(warps(SECTION, [()], [()]), A_SCHEDULER, design=design)
    check_pool(run, design)
    assert accesses(run) == [[0, 0], [4, 8]]
    assert run.outcome.counts.moves[1, 0] == 3
