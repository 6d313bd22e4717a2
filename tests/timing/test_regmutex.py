"""RegMutex in time (thesis of 2021, §4.3.2, §4.3.3): who gets a section when, and which banks it uses.

Unless stated otherwise: one scheduler, lrr, ideal operand path, latency 4; two warps of a thread block are placed in
cycle 0.  The base set has four registers, a section four more, and the pool one section.
"""

from __future__ import annotations

import copy
from collections import defaultdict, deque
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import at, kernel, op, r
from tests.timing.assembly import warps
from tests.timing.both_cores import agreed, fast, machine_with_memory
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.random_runs import Case, cases
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import Banks, Sm
from tests.timing.test_miniatures import A_SCHEDULER, events, load_of
from tests.timing.vocabulary import Timed, timed

from warpreg.designs import Design, load
from warpreg.designs.interface.residency import Residency, Room
from warpreg.designs.interface.state import named_leaves
from warpreg.designs.parts.sharing.division import divided
from warpreg.designs.parts.sharing.instructions import acquire, release
from warpreg.designs.parts.sharing.pool import NO_SECTION
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.timing.launch.deadlock import NoProgressError

ACQUIRE, RELEASE = "setmaxnreg.inc.sync.aligned.u32 8", "setmaxnreg.dec.sync.aligned.u32 4"
BASE = EXTENDED = 4


def room(residency: Residency, warps: int = 2, sections: int = 1, banks: int = 4) -> Room:
    """An SM for so many warps of one thread block."""
    registers = warps * residency.registers + sections * EXTENDED
    return Room(residency, 1, warps, "registers", 8, 1, registers, banks)


def inside(design: Design, place: Room) -> Design:
    """The design with a machine's room, which a run of a hand-made kernel does not have."""

    class Placed(type(design)):  # type: ignore[misc]
        def compile(self, *given: Any, **named: Any) -> Any:
            return super().compile(*given, **{**named, "room": place})

        def initial_state(self, *given: Any, **named: Any) -> Any:
            return super().initial_state(*given, **{**named, "room": place})

    found = copy.copy(design)
    object.__setattr__(found, "__class__", Placed)
    return found


def regmutex(sections: int = 1, name: str = "regmutex", **shape: Any) -> Design:
    return inside(load(name), room(Residency(BASE, pool=EXTENDED), sections=sections, **shape))


def paired(block_warps: int) -> Design:
    pairs = -(-block_warps // 2)
    residency = Residency(BASE, shared=pairs * EXTENDED, group=block_warps)
    return inside(load("regmutex-paired"), room(residency, block_warps, pairs))


CODE = f"{ACQUIRE}\nmov.b32 R4, 1\nmov.b32 R0, R4\n{RELEASE}\nmov.b32 R1, R0"


def test_a_warp_waits_for_the_only_section() -> None:
    """Warp 0 acquires at 1, and fetches the next instruction at 1 + 4.  It releases at 10, so warp 1, refused at 2,
    asks again at 11.
    """
    design = regmutex()
    run = agreed(warps(CODE, [()], [()]), A_SCHEDULER, design=design)
    run.warp(0).issues().at(1, 5, 9, 10, 14)
    run.warp(1).issues().at(11, 15, 19, 20, 24)
    assert run.stalls.counts["token"] == 11 - 2
    assert events(run, design) == {"acquires": 2, "acquires at once": 1, "releases": 2, "refusals": 1}
    assert run.outcome.counts.integrals(run.cycles) == [[(10 - 1) + (20 - 11)]]


def test_two_sections_are_enough_for_two_warps() -> None:
    design = regmutex(sections=2)
    run = agreed(warps(CODE, [()], [()]), A_SCHEDULER, design=design)
    run.warp(1).issues(ACQUIRE).at(2)
    assert events(run, design) == {"acquires": 2, "acquires at once": 2, "releases": 2, "refusals": 0}


def test_a_repeated_acquire_or_release_has_no_effect() -> None:
    """Warp 0 gives its section back with its first release, at 9, and warp 1 takes it at 10."""
    design = regmutex()
    run = agreed(warps(f"{ACQUIRE}\n{ACQUIRE}\n{RELEASE}\n{RELEASE}", [()], [()]), A_SCHEDULER, design=design)
    run.warp(0).issues().at(1, 5, 9, 13)
    run.warp(1).issues().at(10, 14, 18, 22)
    assert run.outcome.counts.integrals(run.cycles) == [[(9 - 1) + (18 - 10)]]


def test_a_section_with_a_result_under_way_is_not_given_to_another_warp() -> None:
    """The load of 5 is back at 26, although it was released at 6; until then its result may still be written."""
    text = f"{ACQUIRE}\nld.global.u32 R4, [R0.64]\n{RELEASE}\nmov.b32 R2, 1"
    run = agreed(warps(text, [(load_of(0),)], [(load_of(1),)]), A_SCHEDULER, design=regmutex())
    run.warp(0).issues(RELEASE).at(6)
    run.warp(1).issues(ACQUIRE).at(27)


def test_a_warp_that_acquires_again_keeps_a_section_that_it_has_not_left() -> None:
    text = f"{ACQUIRE}\nld.global.u32 R4, [R0.64]\n{RELEASE}\n{ACQUIRE}\n{RELEASE}"
    design = regmutex()
    run = agreed(warps(text, [(load_of(0),)]), A_SCHEDULER, design=design)
    run.warp(0).issues(ACQUIRE).at(1, 10)
    assert events(run, design)["acquires at once"] == 2


def test_a_warp_that_ends_gives_its_section_back() -> None:
    run = agreed(warps(f"{ACQUIRE}\nmov.b32 R4, 1", [()], [()]), A_SCHEDULER, design=regmutex())
    run.warp(0).issues().at(1, 5)
    run.warp(1).issues(ACQUIRE).at(10)


def test_banks_of_physical_registers() -> None:
    """Figure 4.6 with four banks: warp 1's R1 is physical 4 * 1 + 1; the pool begins at 2 * 4, so R5 of warp 0, with
    section 0, is 8 + 1, and R5 of warp 1, with section 1, 8 + 4 + 1: all in bank 1.  Warp 0's R6 is 10, in bank 2.
    """
    text = f"{ACQUIRE}\nmov.b32 R5, R1\nmov.b32 R6, R5\n{RELEASE}"
    sm = Sm(slots=4, banks=Banks(count=4, mapping="register+warp"))
    run = agreed(warps(text, [()], [()]), sm, design=regmutex(sections=2))
    assert len(run.bank(1).reads("R1").cycles) == 2
    assert len(run.bank(1).reads("R5").cycles) == 2
    assert len(run.bank(2).writes("R6").cycles) == 2
    plain = agreed(warps(text, [()], [()]), sm, design=regmutex(sections=2), split_mapping=False)
    assert len(plain.bank(1).reads("R5").cycles) == 1
    assert len(plain.bank(2).reads("R5").cycles) == 1


PAIRED = f"{ACQUIRE}\nmov.b32 R4, 1\nmov.b32 R0, R4\n{RELEASE}"


def test_pairs_wait_for_each_other_only() -> None:
    """Warps 0 and 1 are a pair, and so are 2 and 3: 1 is refused at 2, so that 2 issues; 1 and 3 go on when their
    partners have released.
    """
    design = paired(4)
    run = agreed(warps(PAIRED, [()], [()], [()], [()]), A_SCHEDULER, design=design)
    run.warp(0).issues(ACQUIRE).at(1)
    run.warp(2).issues(ACQUIRE).at(2)
    releases = [run.warp(index).issues(RELEASE).first for index in (0, 2)]
    assert run.warp(1).issues(ACQUIRE).first > releases[0]
    assert run.warp(3).issues(ACQUIRE).first > releases[1]
    assert events(run, design) == {"acquires": 4, "acquires at once": 2, "releases": 4, "refusals": 2}


def test_the_last_of_an_odd_number_of_warps_has_a_section_of_its_own() -> None:
    design = paired(3)
    run = agreed(warps(PAIRED, [()], [()], [()]), A_SCHEDULER, design=design)
    run.warp(2).issues(ACQUIRE).at(2)
    assert events(run, design)["acquires at once"] == 2


def test_pairs_are_chosen_by_block_and_index_not_by_slot() -> None:
    """In blocks of three warps, warps 0 and 1 of each are a pair and warp 2 is alone; by slots, warp 2 of the first
    block and warp 0 of the second one would be a pair.
    """
    short = WarpPath(((0, FULL),))
    launched = Launched(warps(PAIRED, [()]).kernel, ((short,) * 3,) * 2)
    place = replace(room(Residency(BASE, shared=2 * EXTENDED, group=3), 6, 4), blocks=2)
    design = inside(load("regmutex-paired"), place)
    run = agreed(launched, Sm(slots=6), resident=2, design=design)
    for block in range(2):
        first, second, third = (run.warp(index, block) for index in range(3))
        assert third.issues(ACQUIRE).first < first.issues(RELEASE).first < second.issues(ACQUIRE).first
    assert events(run, design)["acquires at once"] == 4


# Deadlock.


def needing(count: int) -> list[Instruction]:
    """``count`` registers become live and are added to R0."""
    up = [op("mov.b32", r(i), i) for i in range(count)]
    return up + [op("add.s32", r(0), r(0), r(i)) for i in reversed(range(1, count))]


def with_barrier() -> Kernel:
    """More than four registers are needed in front of a barrier and after it, one at it."""
    return kernel([*needing(8), op("bar.sync", 0)], [*needing(8), op("st.global.u32", at(r(0)), r(0)), op("exit")])


def two_warps(code: Kernel) -> Launched:
    stored = Access(FULL, "global", 0, ((0, 15),), base=0, stride=4)
    path = WarpPath(((0, FULL), (1, FULL)), (stored,))
    return Launched(code, ((path, path),))


def without_second_rule(code: Kernel) -> Kernel:
    """The kernel with one acquire at its first need and one release after its last."""
    first, last = code.blocks
    blocks = (
        replace(first, instructions=(acquire(8), *first.instructions)),
        replace(last, instructions=(*last.instructions[:-1], release(4), *last.instructions[-1:])),
    )
    return replace(code, blocks=blocks, analyses={})


def test_a_section_held_at_a_barrier_is_a_deadlock_and_the_compiler_holds_none() -> None:
    code = with_barrier()
    with pytest.raises(NoProgressError) as error:
        fast(two_warps(without_second_rule(code)), machine_with_memory(A_SCHEDULER, 20, 1), 1, 8, design=regmutex())
    told = str(error.value).splitlines()
    assert told[0].startswith("kernel hand, design regmutex: no warp can go on after cycle ")
    assert told[1:] == [
        "  token 0, held by warp 0: warp 1 (warp 1 of thread block 0) at 'setmaxnreg.inc.sync.aligned.u32 8'",
        "  1 warp at barriers",
    ]
    design = regmutex()
    run = agreed(two_warps(divided(code, 4, 8).kernel), A_SCHEDULER, design=design)
    assert events(run, design)["releases"] == 4


def test_a_pool_without_a_section_is_a_deadlock() -> None:
    """The first rule: `residency` reserves room for one section."""
    with pytest.raises(NoProgressError, match=r"token 0, held by nobody: warps 0 to 1 \(thread block 0\)"):
        timed(two_warps(divided(with_barrier(), 4, 8).kernel), A_SCHEDULER, design=regmutex(sections=0))


# What holds for every run.


@st.composite
def shared_cases(draw: st.DrawFn) -> Case:
    """Random runs with acquires and releases around parts of blocks without barriers."""
    case: Case = draw(cases)
    code = case.launched.kernel
    blocks = []
    for block in code.blocks:
        stops = [-1, *(i for i, one in enumerate(block.instructions) if one.traits.is_barrier or one.traits.is_direct)]
        ends = [*stops[1:], len(block.instructions)]
        parts = [(one + 1, other) for one, other in zip(stops, ends, strict=True) if other > one + 1]
        instructions = list(block.instructions)
        chosen = draw(st.integers(0, 2 * len(parts)))
        if chosen < len(parts):
            first, end = parts[chosen]
            instructions[first:end] = [acquire(8), *instructions[first:end], release(4)]
        blocks.append(replace(block, instructions=tuple(instructions)))
    return replace(case, launched=replace(case.launched, kernel=replace(code, blocks=tuple(blocks), analyses={})))


def of_case(case: Case, design: Design, **parameters: Any) -> Timed:
    return agreed(case.launched, case.sm, case.latency, case.interval, case.sms, case.resident, design, **parameters)


class Watched:
    """A section is one warp's at a time, and still that warp's when an operand that it was planned for is accessed."""

    def __init__(self, design: Design) -> None:
        self.hooks = design.hooks
        self.pending: defaultdict[tuple[int, int], deque[int]] = defaultdict(deque)
        own = {name: getattr(self, name) for name in ("plan_reads", "collected")}
        self.design = copy.copy(design)
        object.__setattr__(self.design, "hooks", {**design.hooks, **own})

    def plan_reads(self, state: Any, program: Any, warp: int, pc: int, plan: Any) -> None:
        self.hooks["plan_reads"](state, program, warp, pc, plan)
        held = [int(one) for one in state.section[plan.sm * program.slots : (plan.sm + 1) * program.slots]]
        held = [one for one in held if one != NO_SECTION]
        assert len(set(held)) == len(held) == state.held[plan.sm, 0] == state.taken[plan.sm].sum()
        for operand in range(program.source_start[pc], program.source_start[pc + 1]):
            self.pending[warp, operand].append(int(state.section[warp]))

    def collected(self, state: Any, program: Any, warp: int, pc: int, operand: int, plan: Any) -> None:
        section = self.pending[warp, operand].popleft()
        if program.source[operand] >= BASE and section != NO_SECTION:
            assert state.section[warp] == section
        self.hooks["collected"](state, program, warp, pc, operand, plan)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(case=shared_cases(), sections=st.integers(1, 3))
def test_both_cores_agree_and_sections_are_not_shared(case: Case, sections: int) -> None:
    watched = Watched(regmutex(sections, warps=8))
    parameters: dict[str, Any] = {"split_mapping": False}
    timed(case.launched, case.sm, None, case.sms, case.resident, watched.design, **parameters)
    run = of_case(case, regmutex(sections, warps=8), **parameters)
    state = run.outcome.state
    assert not state.taken.any()
    assert not state.held.any()
    assert not state.flight.any()


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [{"enabled": False}, {"extended": 0}])
@pytest.mark.parametrize("name", ["regmutex", "regmutex-paired"])
@settings(max_examples=6, deadline=None)
@given(case=cases)
def test_switched_off_it_is_the_plain_register_file(name: str, chosen: dict[str, Any], case: Case) -> None:
    plain = agreed(case.launched, case.sm, case.latency, case.interval, case.sms, case.resident)
    off = of_case(case, load(name), **chosen)
    assert (off.cycles, off.stalls.counts, off.outcome.issues) == (
        plain.cycles,
        plain.stalls.counts,
        plain.outcome.issues,
    )
    assert off.outcome.counts.accesses.tolist() == plain.outcome.counts.accesses.tolist()


# With a cache or collectors in front.


@pytest.mark.parametrize("other", ["rfc", "bow-wr"])
def test_a_cache_in_front_changes_nothing_about_who_waits(other: str) -> None:
    """Warp 1 is refused once and goes on when warp 0 has released, and the upper level serves R4 or R0."""
    design = regmutex(name=f"regmutex+{other}")
    run = agreed(warps(CODE, [()], [()]), A_SCHEDULER, design=design)
    assert run.warp(1).issues(ACQUIRE).first > run.warp(0).issues(RELEASE).first
    found = events(run, design)
    assert [found[name] for name in ("acquires", "acquires at once", "refusals")] == [2, 1, 1]
    assert run.outcome.counts.accesses.reshape(-1, 2, 2)[1].any()


@pytest.mark.slow
@pytest.mark.parametrize("other", ["rfc", "bow-wr"])
@settings(max_examples=6, deadline=None)
@given(case=shared_cases(), sections=st.integers(1, 3))
def test_both_cores_agree_on_a_composition(other: str, case: Case, sections: int) -> None:
    run = of_case(case, regmutex(sections, f"regmutex+{other}", warps=8), regmutex_split_mapping=False)
    taken = [column for name, column in named_leaves(run.outcome.state) if name.endswith("taken")]
    assert len(taken) == 1
    assert not taken[0].any()
