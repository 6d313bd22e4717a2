"""Read window, control codes and queues of a modern sub-core, by the figures of Huerta et al. (MICRO 2025)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import kernel
from tests.timing.assembly import assemble
from tests.timing.both_cores import agreed, fast
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.random_runs import Case, instructions, launches, machines, paths, pipes
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import PIPES, Banks, Pipe, Sm, Window
from tests.timing.test_both_cores import machine_with
from tests.timing.test_shared_access import HALVES
from tests.timing.vocabulary import Timed

from warpreg.designs import Design, DesignError, load
from warpreg.designs.interface import READ
from warpreg.ir.control_code import ControlCode
from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import Immediate, Sink, Special
from warpreg.timing.launch import engine

QUEUED = ("mem", "tex", "sfu")
NOP = "mov.u32 R30, 1"


def sub_cores(count: int = 1, **changes: object) -> Sm:
    """Sub-cores of two banks with a read port each, as of the RTX A6000 in the paper."""
    queued = Pipe(queue=5, lead=11, initiation=4)
    own = Sm(
        slots=4 * count,
        schedulers=count,
        policy="gty",
        banks=Banks(count=2 * count, single_ported=False, mapping="register", per_scheduler=True),
        pipes={name: queued if name in QUEUED else Pipe() for name in PIPES},
        window=Window(3, 1),
        send_interval=2,
        follows_control=True,
        queue=64,
    )
    return replace(own, **changes)  # type: ignore[arg-type]


def coded(text: str, control: ControlCode, reuse: tuple[int, ...] = ()) -> Instruction:
    return replace(assemble(text), control=control, reuse=reuse)


def ran(
    lines: list[tuple[str, ControlCode]], sm: Sm, warps: int = 1, *accesses: Access, design: Design | None = None
) -> Timed:
    """What both cores make of straight code in each of some warps."""
    code = kernel([coded(text, control) for text, control in lines])
    path = WarpPath(((0, FULL),), accesses)
    return agreed(Launched(code, ((path,) * warps,)), sm, design=design)


@pytest.mark.parametrize(("x", "y", "cycles"), [(19, 21, 5), (18, 21, 6), (18, 20, 7)])
def test_reads_of_one_bank_delay_the_clock(x: int, y: int, cycles: int) -> None:
    """Section 3: two FFMA between readings of the clock, the first with three sources in the even bank.

    The window of the second one has room for as many even sources as the first one leaves cycles behind it.
    """
    first, second = "mad.lo.s32 R11, R10, R12, R14", f"mad.lo.s32 R13, R16, R{x}, R{y}"
    lines = ["mov.u32 R2, 7", NOP, first, second, NOP, "mov.u32 R4, 7"]
    run = ran([(line, ControlCode()) for line in lines], sub_cores())
    run.warp(0).issues("mov.u32 R4").at(1 + cycles)


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("mul.lo.s32 R1, R2, R3", 1),
        ("mul.lo.s32 R1, R2, R4", 2),
        ("mad.lo.s32 R1, R2, R4, R3", 2),
        ("mad.lo.s32 R1, R2, R4, R6", 3),
    ],
)
def test_bubbles_of_operands_in_one_bank(text: str, period: int) -> None:
    """Section 5.3: FMUL with both sources in one bank has a bubble, FFMA with all three has two."""
    run = ran([(text, ControlCode())] * 40, sub_cores())
    issues = run.warp(0).issues().cycles
    assert issues[-1] - issues[-11] == 10 * period


@pytest.mark.parametrize(("ports", "cycles"), [(1, 30), (2, 15), (3, 10)])
def test_more_ports_take_away_bubbles(ports: int, cycles: int) -> None:
    """Six reads of a bank in two instructions: a window of three cycles serves 3, 6 or 9."""
    run = ran([("mad.lo.s32 R1, R2, R4, R6", ControlCode())] * 40, sub_cores(window=Window(3, ports)))
    issues = run.warp(0).issues().cycles
    assert issues[-1] - issues[-11] == cycles


def test_the_scheduler_is_greedy_then_takes_the_youngest() -> None:
    """Figure 4: four warps of independent instructions, the second of which stalls its warp for four cycles.

    W3 issues two, W2 two, W1 two, then W3 all others, W2, W1; W0 comes last and waits after its second one.
    """
    lines = [(f"mov.u32 R{n % 8}, 1", ControlCode(stall=4 if n == 1 else 1)) for n in range(32)]
    run = ran(lines, sub_cores(), 4)
    order = [issue.warp for issue in run.issues()]
    assert order == [3, 3, 2, 2, 1, 1] + 30 * [3] + 30 * [2] + 30 * [1] + 32 * [0]
    w0 = run.warp(0).issues().cycles
    assert [b - a for a, b in pairwise(w0)] == [1, 4] + 29 * [1]
    assert w0[0] == 1 + 6 + 90


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_issue_of_independent_loads(count: int) -> None:
    """Table 1: five loads of a sub-core issue one after the other; the sixth 11 cycles after the first, two more for
    each further sub-core; then one every four cycles, as the shared part takes one every two.
    """
    lines = [(f"ld.shared.u32 R{2 * n + 1}, [R0]", ControlCode(write=0, read=1)) for n in range(10)]
    run = ran(lines, sub_cores(count), count, *[Access(FULL, "shared", 1)] * 10)
    for warp in range(count):
        issues = run.warp(warp).issues().cycles
        assert issues[:5] == [1, 2, 3, 4, 5]
        assert issues[5] == 1 + 11 + 2 * warp
        assert {b - a for a, b in pairwise(issues[5:])} == {max(4, 2 * count)}


def test_sources_of_a_load_may_be_overwritten_when_it_leaves_its_queue() -> None:
    """Table 2: 11 cycles from a load to the instruction that overwrites its address (WAR), by its read counter."""
    load = ("ld.global.u32 R1, [R4.64]", ControlCode(stall=2, write=0, read=1))
    after = ("mov.u32 R4, 1", ControlCode(waits=0b10))
    run = ran([load, after], sub_cores(), 1, Access(FULL, "global", 0, ((0, 15),)))
    run.warp(0).issues("mov").at(1 + 11)


def test_a_result_is_there_when_its_counter_is_zero() -> None:
    """A load leaves its queue 11 cycles after issue, sends in the next cycle, and returns after the memory's 20."""
    load = ("ld.global.u32 R1, [R4.64]", ControlCode(stall=2, write=0))
    run = ran([load, ("mov.u32 R2, R1", ControlCode(waits=1))], sub_cores(), 1, Access(FULL, "global", 0, ((0, 15),)))
    run.warp(0).issues("mov").at(1 + 11 + 1 + 20)


def test_a_depbar_allows_a_number() -> None:
    """Three loads of one counter, the last of which returns two cycles after the one before it: one may be left."""
    load = ("ld.shared.u32 R1, [R0]", ControlCode(write=3))
    depbar = Instruction("DEPBAR", ("LE",), (Sink(), Special("SB3"), Immediate(1), Immediate(0)))
    code = kernel([coded(*load)] * 3 + [replace(depbar, control=ControlCode(stall=4))] + [coded(NOP, ControlCode())])
    access = Access(FULL, "shared", 1)
    run = agreed(Launched(code, ((WarpPath(((0, FULL),), (access,) * 3),),)), sub_cores())
    second = 2 + 11 + 3 + 1 + 10
    run.warp(0).issues("DEPBAR").at(second)
    run.warp(0).issues("mov").at(second + 4)


def test_a_stall_count_keeps_a_warp() -> None:
    """Stall 4; yield alone makes it 2; a stall of 0 with yield makes it 45 (section 4)."""
    codes = [ControlCode(stall=4), ControlCode(yields=True), ControlCode(stall=0, yields=True), ControlCode()]
    run = ran([(NOP, one) for one in codes], sub_cores())
    run.warp(0).issues().at(1, 5, 7, 52)


def test_inserted_instructions_keep_the_codes_of_the_others() -> None:
    """A design's move has no code: its warp goes on after its latency of 4; the other stall is still of the code."""
    code = kernel([coded(NOP, ControlCode(stall=7)), assemble("mov.b32 R2, R3"), coded(NOP, ControlCode())])
    run = agreed(Launched(code, ((WarpPath(((0, FULL),)),),)), sub_cores())
    run.warp(0).issues().at(1, 8, 12)


def test_code_without_control_codes_waits_for_registers() -> None:
    """A chain of latency 4 on a machine that follows control codes."""
    code = kernel([assemble("add.s32 R1, R1, 1") for _ in range(5)])
    agreed(Launched(code, ((WarpPath(((0, FULL),)),),)), sub_cores()).warp(0).issues().every(4, first=1)


def test_a_register_cache_makes_no_chain_longer() -> None:
    """The three cycles of the window are spent whatever the sources are (section 5.3), so a chain of latency 4 through
    the register file cache, whose entries are read in a cycle, takes 4 cycles a link, as through the banks.
    """
    code = kernel([assemble("add.s32 R1, R1, 1") for _ in range(5)])
    launched = Launched(code, ((WarpPath(((0, FULL),)),),))
    run = agreed(launched, sub_cores(), design=load("rfc"), tag_check=False)
    run.warp(0).issues().every(4, first=1)


@pytest.mark.parametrize(("tracks", "cycle"), [(False, 2), (True, 12)])
def test_without_codes_a_source_may_be_overwritten_when_it_is_read(tracks: bool, cycle: int) -> None:
    """Table 2: a load has read its address 11 cycles after issue; a second one, in the queue behind it, later."""
    code = kernel([assemble("ld.global.u32 R1, [R4.64]"), assemble("mov.u32 R4, 1")])
    path = WarpPath(((0, FULL),), (Access(FULL, "global", 0, ((0, 15),)),))
    run = agreed(Launched(code, ((path,),)), sub_cores(tracks_sources=tracks))
    run.warp(0).issues("mov").at(cycle)


def test_the_last_reader_counts() -> None:
    """Two loads of one address: the second leaves its queue four cycles after the first."""
    code = kernel([assemble(f"ld.global.u32 R{n}, [R4.64]") for n in (1, 2)] + [assemble("mov.u32 R4, 1")])
    path = WarpPath(((0, FULL),), (Access(FULL, "global", 0, ((0, 15),)),) * 2)
    run = agreed(Launched(code, ((path,),)), sub_cores(tracks_sources=True))
    run.warp(0).issues("mov").at(1 + 11 + 4)
    assert run.stalls.counts["operands"] == 1 + 11 + 4 - 3


@st.composite
def windows(draw: st.DrawFn) -> Sm:
    """Any machine with a read window."""
    base = draw(machines())
    names = [name for name in PIPES if name in ("mem", "tex") or (name in ("sfu", "dp") and draw(st.booleans()))]

    def pipe(name: str) -> Pipe:
        own = replace(draw(pipes), latency=draw(st.integers(3, 7)))
        return replace(own, queue=draw(st.integers(1, 3)), lead=draw(st.integers(1, 6))) if name in names else own

    return replace(
        base,
        issue_width=1,
        policy=draw(st.sampled_from(("gto", "gty", "lrr"))),
        banks=Banks(
            count=2 * base.schedulers,
            single_ported=False,
            mapping=draw(st.sampled_from(("register", "register+warp"))),
            per_scheduler=True,
        ),
        window=Window(draw(st.integers(1, 4)), draw(st.integers(1, 3))),
        send_interval=draw(st.integers(0, 2)),
        pipes={name: pipe(name) for name in PIPES},
        follows_control=draw(st.booleans()),
        tracks_sources=not base.waits_for_all and draw(st.booleans()),
    )


codes = st.builds(
    ControlCode,
    stall=st.integers(0, 6),
    yields=st.booleans(),
    write=st.none() | st.integers(0, 5),
    read=st.none() | st.integers(0, 5),
    waits=st.sampled_from((0, 0, 0, 1, 2, 3, 32)),
)
depbars = st.builds(
    lambda counter, allowed, others: Instruction(
        "DEPBAR", ("LE",), (Sink(), Special(f"SB{counter}"), Immediate(allowed), Immediate(others))
    ),
    st.integers(0, 2),
    st.integers(0, 2),
    st.sampled_from((0, 0, 1, 8)),
)
with_codes = st.builds(
    lambda one, control: replace(one, control=control),
    st.one_of(instructions, instructions, instructions, depbars),
    st.one_of(codes, codes, codes, st.none()),
)


@st.composite
def coded_launches(draw: st.DrawFn) -> Launched:
    """Random code with random control codes, which need not be safe."""
    blocks = st.lists(st.lists(with_codes, min_size=1, max_size=6), min_size=1, max_size=3)
    code = draw(blocks.map(lambda blocks: kernel(*blocks)))
    warps, count = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    return Launched(code, tuple(tuple(draw(paths(code, int(w == 0))) for w in range(warps)) for _ in range(count)))


cases = st.builds(
    Case,
    st.one_of(launches(), coded_launches(), coded_launches()),
    windows(),
    st.integers(1, 3),
    st.integers(1, 2),
    st.integers(1, 25),
    st.integers(1, 3),
)


@settings(max_examples=60, deadline=None)
@given(cases)
def test_both_cores_agree(case: Case) -> None:
    agreed(case.launched, case.sm, case.latency, case.interval, case.sms, case.resident)


@pytest.mark.parametrize("name", ["reuse", "rfc"])
@settings(max_examples=10, deadline=None)
@given(cases)
def test_both_cores_agree_with_designs(name: str, case: Case) -> None:
    launched = case.launched.with_widths(1)
    agreed(launched, case.sm, case.latency, case.interval, case.sms, case.resident, load(name))


@settings(max_examples=30, deadline=None)
@given(cases)
def test_both_cores_agree_on_slices(case: Case) -> None:
    agreed(case.launched, case.sm, case.latency, case.interval, case.sms, case.resident, HALVES, rows=2, port=True)


def test_collectors_of_warps_are_refused() -> None:
    message = "warps own collectors: machine drawn has none, its operands are read in a window"
    with pytest.raises(DesignError, match=message):
        ran([("add.s32 R1, R0, 1", ControlCode())], sub_cores(), design=load("bow"))


@pytest.mark.parametrize(
    ("lines", "kept", "hits"),
    [
        (("mul.lo.s32 R1, R2, 3",) * 3, (True, False, False), 1),
        (("mul.lo.s32 R1, R2, 3",) * 3, (True, True, False), 2),
        (("mul.lo.s32 R1, R2, 3", "mul.lo.s32 R1, R7, R2", "mul.lo.s32 R1, R2, 3"), (True, False, False), 1),
        (("mul.lo.s32 R1, R2, 3", "mul.lo.s32 R1, R4, 3", "mul.lo.s32 R1, R2, 3"), (True, False, False), 0),
    ],
)
def test_what_the_reuse_cache_holds(lines: tuple[str, ...], kept: tuple[bool, ...], hits: int) -> None:
    """Listing 4: miss, hit, miss; miss, hit, hit; miss, miss (another position, and R7 is in the other bank), hit;
    miss, miss (R4 takes the place of R2), miss."""
    code = kernel(
        [coded(text, ControlCode(), reuse=(0,) if is_kept else ()) for text, is_kept in zip(lines, kept, strict=True)]
    )
    run = agreed(Launched(code, ((WarpPath(((0, FULL),)),),)), sub_cores(), design=load("reuse"))
    reads = run.outcome.counts.accesses.reshape(-1, 2, 2)[:, READ].sum(axis=1)
    assert reads.tolist() == [sum(text.count("R") - 1 for text in lines) - hits, hits]


def test_a_kept_source_takes_no_port() -> None:
    """Three even sources every third cycle; with one kept by its flag two, every second cycle (section 5.3)."""
    plain = coded("mad.lo.s32 R1, R2, R4, R6", ControlCode())
    code = kernel([replace(plain, reuse=(0,))] * 40)
    launched = Launched(code, ((WarpPath(((0, FULL),)),),))
    for design, period in (("mrf", 3), ("reuse", 2)):
        issues = agreed(launched, sub_cores(), design=load(design)).warp(0).issues().cycles
        assert issues[-1] - issues[-11] == 10 * period


@pytest.mark.slow
@pytest.mark.parametrize("follows", [True, False])
@settings(max_examples=15, deadline=None)
@given(launched=coded_launches())
def test_the_compiled_core_is_the_interpreted_one(follows: bool, launched: Launched) -> None:
    own = sub_cores(2, follows_control=follows)
    machine = machine_with(Case(launched, own, 2, 2, 1, 1), "gtx480", "cached")
    runs = [fast(launched, machine, 2, 2, mode) for mode in ("interpreted", "compiled")]
    assert runs[0].result.as_dict() == runs[1].result.as_dict()


def test_queues_outlive_the_records_of_ended_thread_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """When thread blocks have ended, their records leave and those of others move, while loads wait in queues."""
    monkeypatch.setattr(engine, "FEED_WORDS", 1)
    code = kernel([coded("ld.global.u32 R1, [R4.64]", ControlCode(write=0, read=1))] * 8)
    accesses = tuple(Access(FULL, "global", 0, ((128 * n, 15),)) for n in range(8))
    block = (WarpPath(((0, FULL),), accesses),) * 2
    agreed(Launched(code, (block,) * 60), sub_cores(2), latency=60, resident=3)
