"""Random kernels with random paths and memory records, and random machines; no executor is needed.

The core ignores branches, so a path need not follow them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st
from tests.designs.guards import comparisons, guarded
from tests.designs.kernels import at, kernel, op, p, pair, r, when
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import PIPES, Banks, Barrier, CollectorSet, Pipe, Sm, TwoLevel
from tests.timing.reference.memory import FixedLatency

from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Vector
from warpreg.timing.core.access_record import IRREGULAR

REGISTERS = 10
narrow = st.integers(0, REGISTERS - 1).map(r)
wide = st.integers(0, REGISTERS // 2 - 1).map(lambda i: pair(2 * i))
source = narrow | st.integers(0, 9)
loaded = st.sampled_from(("global", "local", "shared", "const"))


arithmetic: st.SearchStrategy[Instruction] = st.one_of(
    st.builds(op, st.just("add.s32"), narrow, source, source),
    st.builds(op, st.just("mad.lo.s32"), narrow, source, source, source),
    st.builds(op, st.just("add.f32"), narrow, narrow, narrow),
    st.builds(op, st.just("add.f64"), wide, wide, wide),
    st.builds(op, st.just("sin.approx.f32"), narrow, narrow),
    guarded(st.builds(op, st.just("add.s32"), narrow, narrow, st.just(1))),
    comparisons(source),
)
memory: st.SearchStrategy[Instruction] = st.one_of(
    st.builds(lambda space, d, a: op(f"ld.{space}.u32", d, at(a)), loaded, narrow, narrow),
    guarded(st.builds(lambda d, a: op("ld.global.u32", d, at(a)), narrow, wide)),
    st.builds(lambda d, a: op("ld.shared.v2.u32", Vector((d, r(REGISTERS))), at(a)), narrow, narrow),
    st.builds(lambda a, s: op("st.global.u32", at(a), s), wide, narrow),
    st.builds(lambda a, s: op("st.shared.u32", at(a), s), narrow, narrow),
    st.builds(lambda d, a, s: op("atom.global.add.u32", d, at(a), s), narrow, wide, narrow),
    st.builds(lambda a, s: op("red.global.add.u32", at(a), s), wide, narrow),
)
copies: st.SearchStrategy[Instruction] = st.one_of(
    st.builds(lambda d, a: op("cp.async.ca.shared.global", at(d), at(a), 4), narrow, wide),
    st.sampled_from((op("cp.async.commit_group"), op("cp.async.wait_all"))),
    st.builds(op, st.just("cp.async.wait_group"), st.integers(0, 2)),
)
control: st.SearchStrategy[Instruction] = st.sampled_from(
    (
        op("bra", 0),
        when(p(0), op("bra", 0)),
        op("bar.sync", 0),
        op("membar.gl"),
        op("bar.sync", 1, 64),
        op("bar.arrive", 1, 64),
        op("barrier.cta.sync", 2, 32),
        op("bar.warp.sync", -1),
    )
)
instructions = st.one_of(arithmetic, arithmetic, memory, memory, control, copies)
kernels: st.SearchStrategy[Kernel] = st.lists(
    st.lists(instructions, min_size=1, max_size=6), min_size=1, max_size=3
).map(lambda blocks: kernel(*blocks))


@st.composite
def launches(draw: st.DrawFn) -> Launched:
    """One to five thread blocks of one to four warps, whose paths have lengths of their own."""
    code = draw(kernels)
    warps = draw(st.integers(1, 4))
    blocks = draw(st.integers(1, 5))
    return Launched(code, tuple(tuple(draw(paths(code, int(w == 0))) for w in range(warps)) for _ in range(blocks)))


@st.composite
def paths(draw: st.DrawFn, code: Kernel, least: int) -> WarpPath:
    """At least so many visits of any blocks with any masks, and a record for each memory instruction on them."""
    masks = st.sampled_from((FULL, FULL, 1, 0xFFFF0000))
    visit = st.tuples(st.integers(0, len(code.blocks) - 1), masks)
    visits = tuple(draw(st.lists(visit, min_size=least, max_size=3)))
    sites = (site for block, _ in visits for site in _sites(code, block))
    chance = Random(draw(st.integers(0, 999)))
    return WarpPath(visits, tuple(access_of(site, chance) for site in sites))


def _sites(code: Kernel, block: int) -> Iterator[Instruction]:
    return (
        i for i in code.blocks[block].instructions if i.opcode in ("ld", "st", "atom", "red") or "ca" in i.modifiers
    )


def access_of(site: Instruction, chance: Random) -> Access:
    """A record of an instruction; under a guard perhaps without a lane."""
    space = {"const": "constant", "async": "global"}.get(site.modifiers[0], site.modifiers[0])
    if site.guard is not None and chance.randrange(2):
        return Access(0, space)
    if space in ("shared", "constant"):
        return Access(FULL, space, chance.randrange(1, 5))
    first = chance.randrange(10) * 128
    lines = tuple((first + 128 * i, chance.randrange(1, 16)) for i in range(chance.randrange(1, 4)))
    stride = chance.choice((0, 4, IRREGULAR))
    lanes = tuple(first + 4 * chance.randrange(96) for _ in range(32)) if stride == IRREGULAR else ()
    return Access(FULL, space, 0, lines, first, stride, lanes)


pipes = st.builds(Pipe, st.integers(1, 2), st.integers(1, 6), st.integers(1, 3), st.booleans())
two_levels = st.builds(
    TwoLevel,
    active_warps=st.integers(1, 3),
    inner=st.sampled_from(("greedy", "lrr", "gto")),
    suspend=st.sampled_from(("static", "pending", "stall")),
    stall_threshold=st.integers(1, 6),
    swap_cycles=st.integers(0, 3),
)
collector_sets = st.builds(
    lambda split, few, some, ports, per_scheduler: (
        (
            CollectorSet(tuple(name for name in PIPES if name not in ("mem", "tex")), few, ports, per_scheduler),
            CollectorSet(("mem", "tex"), some, ports, per_scheduler),
        )
        if split
        else (CollectorSet(PIPES, some, ports, per_scheduler),)
    ),
    st.booleans(),
    st.integers(1, 2),
    st.integers(1, 4),
    st.integers(1, 2),
    st.booleans(),
)
banks = st.builds(
    Banks,
    count=st.sampled_from((4, 8)),
    whole_instructions=st.booleans(),
    single_ported=st.booleans(),
    steps=st.integers(1, 2),
    operand_ports=st.integers(0, 2),
    mapping=st.sampled_from(("register", "register+warp", "warp")),
    per_scheduler=st.booleans(),
    sets=collector_sets,
)


@st.composite
def machines(draw: st.DrawFn) -> Sm:
    """One to four schedulers with slots for two thread blocks at most."""
    return Sm(
        slots=draw(st.integers(4, 8)),
        schedulers=draw(st.sampled_from((1, 2, 4))),
        issue_width=draw(st.integers(1, 2)),
        policy=draw(st.sampled_from(("lrr", "gto", "oldest"))),
        two_level=draw(st.none() | two_levels),
        banks=draw(st.none() | banks),
        pipes={name: draw(pipes) for name in PIPES},
        worker=draw(st.sampled_from(({"uniform": "int"}, {"uniform": "int", "fp": "int"}))),
        dispatch_cycles=draw(st.integers(0, 2)),
        queue=draw(st.integers(1, 3)),
        shared_latency=draw(st.integers(1, 8)),
        constant_latency=draw(st.integers(1, 8)),
        waits_for_all=draw(st.sampled_from((False, False, True))),
        barrier=draw(st.sampled_from((Barrier(), Barrier(2, 5), Barrier(1, 0)))),
    )


@dataclass(frozen=True)
class Case:
    """A launch and the machine that it is timed on."""

    launched: Launched
    sm: Sm
    sms: int
    resident: int
    latency: int
    interval: int

    def memory(self) -> FixedLatency:
        """A fresh memory."""
        return FixedLatency(self.latency, self.interval)


cases = st.builds(
    Case, launches(), machines(), st.integers(1, 3), st.integers(1, 2), st.integers(1, 25), st.integers(1, 3)
)
