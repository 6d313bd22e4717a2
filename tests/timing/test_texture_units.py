"""Texture units that the sub-cores of an SM share: four lanes a cycle (docs/reference/timing.md)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import kernel, op, pair, r
from tests.timing.both_cores import agreed
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.random_runs import Case, access_of, arithmetic, control, copies, memory
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import Pipe, Sm
from tests.timing.test_read_window import coded, sub_cores, windows

from warpreg.gpu import load
from warpreg.ir.control_code import ControlCode
from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import AddressTuple, Vector

UNITS, LANES = 4, 32
FETCH_CYCLES = LANES // UNITS
LEAD, LATENCY = 11, 20
CODE = ControlCode(write=0, read=1)
TEXEL = Access(FULL, "texture", 0, ((0, 15),))


def fetch(result: int, coordinate: int = 14) -> Instruction:
    texel = Vector(tuple(r(result + n) for n in range(4)))
    return op("tex.1d.v4.u32.s32", texel, AddressTuple((pair(12), Vector((r(coordinate),)))))


def with_texture_units(count: int = 1) -> Sm:
    """Sub-cores behind one pipe of texture units."""
    own = sub_cores(count)
    shared = Pipe(queue=5, lead=LEAD, initiation=FETCH_CYCLES, per_scheduler=False)
    return replace(own, pipes={**own.pipes, "tex": shared})


def fetches(number: int) -> list[Instruction]:
    return [replace(fetch(4 * (n % 3)), control=CODE) for n in range(number)]


@pytest.mark.parametrize("name", ["a100", "h100", "rtx-a6000", "rtx2080ti"])
def test_a_modern_sm_has_four_texture_units(name: str) -> None:
    pipe, lanes = load(name).pipes["tex"], load(name).sm.threads_per_warp
    assert (pipe.units, pipe.private, lanes / pipe.initiation) == (1, False, UNITS)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_independent_fetches(count: int) -> None:
    """Five fill the queue of a sub-core; the sixth issues when the first goes to the units, 11 cycles after issue in
    the first sub-core and 8 more in each further one; then each sub-core has a turn in 8 cycles.
    """
    path = WarpPath(((0, FULL),), (TEXEL,) * 8)
    run = agreed(Launched(kernel(fetches(8)), ((path,) * count,)), with_texture_units(count))
    for warp in range(count):
        start = 1 + LEAD + FETCH_CYCLES * warp
        period = FETCH_CYCLES * count
        run.warp(warp).issues("tex").at(1, 2, 3, 4, 5, start, start + period, start + 2 * period)


def test_dependent_fetches_take_the_latency() -> None:
    """The units have been free for long when the second fetch reaches them: 11 + 1 + 20 cycles each, as loads take."""
    code = [fetch(0), fetch(4, coordinate=0), op("mov.u32", r(9), r(4))]
    run = agreed(Launched(kernel(code), ((WarpPath(((0, FULL),), (TEXEL,) * 2),),)), with_texture_units())
    run.warp(0).issues().at(*(1 + n * (LEAD + 1 + LATENCY) for n in range(3)))


def test_loads_pass_fetches_that_wait_for_the_units() -> None:
    """Fetches reach the units in cycles 12, 20 and 28; the load, which issues behind them in cycle 4, is dispatched in
    cycle 15 and sends in 16.
    """
    loaded = coded("ld.global.u32 R16, [R18.64]", replace(CODE, write=2))
    code = [*fetches(3), loaded, coded("mov.u32 R17, R16", ControlCode(waits=0b100))]
    path = WarpPath(((0, FULL),), (*(TEXEL,) * 3, Access(FULL, "global", 0, ((256, 15),))))
    run = agreed(Launched(kernel(code), ((path,),)), with_texture_units())
    run.warp(0).issues("mov").at(4 + LEAD + 1 + LATENCY)


@pytest.mark.parametrize(("lines", "period"), [(1, 8), (8, 8), (16, 16)])
def test_a_fetch_of_many_lines_takes_a_cycle_for_each(lines: int, period: int) -> None:
    """Four fetches of a warp: the units give the period up to 8 lines, the load-store unit beyond.  The counter is back
    when the last of four results is written, in the second cycle of its bank.
    """
    code = [*fetches(4), coded("mov.u32 R17, R0", ControlCode(waits=1))]
    wide = Access(FULL, "texture", 0, tuple((128 * n, 15) for n in range(lines)))
    run = agreed(Launched(kernel(code), ((WarpPath(((0, FULL),), (wide,) * 4),),)), with_texture_units())
    run.warp(0).issues("mov").at(1 + LEAD + 3 * period + lines + LATENCY + 1)


@st.composite
def launches(draw: st.DrawFn) -> Launched:
    """Random code with many fetches."""
    texture = st.builds(fetch, st.integers(0, 5), st.integers(0, 9))
    any_code = st.builds(
        lambda one, control: replace(one, control=control),
        st.one_of(texture, texture, arithmetic, memory, control, copies),
        st.none() | st.builds(ControlCode, stall=st.integers(0, 3), write=st.integers(0, 2), waits=st.integers(0, 3)),
    )
    code = draw(st.lists(any_code, min_size=2, max_size=10))
    chance = draw(st.randoms(use_true_random=False))
    sites = [one for one in code if one.opcode in ("ld", "st", "atom", "red", "tex") or one.traits.is_copy]

    def access(site: Instruction) -> Access:
        drawn = access_of(op("ld.global.u32") if site.opcode == "tex" else site, chance)
        return replace(drawn, space="texture") if site.opcode == "tex" else drawn

    def path() -> WarpPath:
        return WarpPath(((0, FULL),), tuple(access(site) for site in sites))

    warps = draw(st.integers(1, 4))
    return Launched(kernel(code), tuple(tuple(path() for _ in range(warps)) for _ in range(draw(st.integers(1, 4)))))


@st.composite
def machines(draw: st.DrawFn) -> Sm:
    own = draw(windows())
    tex = replace(own.pipes["tex"], per_scheduler=False, units=1, initiation=draw(st.integers(1, 12)))
    return replace(own, pipes={**own.pipes, "tex": tex})


@settings(max_examples=40, deadline=None)
@given(st.builds(Case, launches(), machines(), *(st.integers(1, most) for most in (2, 2, 25, 2))))
def test_both_cores_agree(case: Case) -> None:
    agreed(case.launched, case.sm, case.latency, case.interval, case.sms, case.resident)
