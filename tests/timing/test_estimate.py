"""Estimates from samples: derived by hand, and compared with whole runs."""

from __future__ import annotations

import numpy as np
import pytest

import warpreg
from warpreg import gpu, simt, timing
from warpreg.simt import Launch
from warpreg.timing import Sample, TimingError, estimate
from warpreg.timing.launch.estimate import places, ratio_of, student
from warpreg.timing.launch.partition import share_of

ONE = share_of(gpu.load("gebhart"), 1)
BLOCKS = 120
UNEVEN = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry uneven()
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    mov.u32 %r1, %ctaid.x;
    mul.lo.u32 %r1, %r1, 2654435761;
    shr.u32 %r1, %r1, 28;
again:
    mad.lo.u32 %r2, %r2, %r2, 7;
    mad.lo.u32 %r2, %r2, %r2, 9;
    setp.ne.u32 %p, %r1, 0;
    sub.u32 %r1, %r1, 1;
    @%p bra again;
    ret;
}
"""
"""A thread block goes round 1 to 16 times, as its index, multiplied, says."""


HEAVY_FIRST = UNEVEN.replace(
    "    shr.u32 %r1, %r1, 28;",
    "    setp.eq.u32 %p, %r1, 0;\n    mov.u32 %r1, 3;\n    @%p mov.u32 %r1, 600;",
)
"""The first thread block goes round 601 times, all others 4 times."""


@pytest.fixture(scope="module")
def launch() -> Launch:
    """Thread blocks of a warp each; the Gebhart SM holds 8 at a time."""
    program = warpreg.compile(UNEVEN, record=simt.Record(path=True, addresses=True))
    return program["uneven"][BLOCKS, 32]().launches[0]


def test_windows_lie_in_the_middle_of_equal_parts() -> None:
    assert list(places(100, 10, 4)) == [11, 33, 56, 78]
    assert list(places(9, 4, 4)) == [1, 3]


def test_a_ratio_and_its_variance() -> None:
    """24 cycles for 10 instructions; residuals -2 and 2, whose squares over n - 1 are 8; (1 - 2/10) * 8 / (2 * 25)."""
    assert ratio_of([10, 14], [5, 5], 10) == (2.4, pytest.approx(0.128))
    assert ratio_of([10, 14], [5, 5], 2) == (2.4, 0)
    assert ratio_of([10, 14], [5, 5], None) == (2.4, pytest.approx(0.16))


def test_students_quantiles() -> None:
    assert student(1) == pytest.approx(12.706, abs=1e-3)
    assert student(7) == pytest.approx(2.365, abs=1e-3)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """Samples of 8 out of 200 windows that differ at random, and in size."""
    rng = np.random.default_rng(1)
    instructions = rng.uniform(800, 1200, 200)
    cycles = 2 * instructions + rng.normal(0, 150, 200)
    true, held = cycles.sum() / instructions.sum(), 0
    for _ in range(1000):
        chosen = rng.choice(200, 8, replace=False)
        found, variance = ratio_of(cycles[chosen].tolist(), instructions[chosen].tolist(), 200)
        held += abs(found - true) <= student(7) * variance**0.5
    assert 0.93 < held / 1000 < 0.97


def test_an_sm_has_its_share_of_the_memory_system() -> None:
    """5 of 80 SMs: 2 of 32 channels with 2 of their slices each.  2 SMs: 0.8 channels, as one of 0.8 the bandwidth."""
    whole = gpu.load("v100")
    five, two = share_of(whole, 5), share_of(whole, 2)
    assert five.memory.dram
    assert five.memory.l2
    assert two.memory.dram
    assert two.memory.l2
    assert (five.chip.sms, five.memory.dram.channels, five.memory.l2.slices) == (5, 2, 4)
    assert (five.memory.dram.bytes_per_clock, five.memory.l2.bytes) == (32, 98304)
    assert (two.memory.dram.channels, two.memory.l2.slices) == (1, 2)
    assert two.memory.dram.bytes_per_clock == pytest.approx(25.6)
    assert two.memory.l2.bytes == 26 * 24 * 128  # 0.8 of 32 sets
    assert share_of(whole, 80) == whole
    with pytest.raises(TimingError, match="machine v100 has 80 SMs"):
        share_of(whole, 81)


def test_samples_that_are_none() -> None:
    with pytest.raises(TimingError, match="2 windows or more"):
        Sample(windows=1)
    with pytest.raises(TimingError, match="1 thread block and 1 SM or more"):
        Sample(blocks=0)


def test_a_launch_that_is_small_is_timed_whole(launch: Launch) -> None:
    found = estimate([launch], ONE, Sample(windows=8, blocks=8), mode="interpreted")
    whole = timing.simulate([launch], ONE, mode="interpreted")
    assert (found.cycles, found.margin, found.windows, found.whole_launches) == (whole.cycles, 0, 0, 1)
    assert not found.is_sampled


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [None, 2, 8])
def test_the_whole_run_is_in_the_interval(launch: Launch, blocks: int | None) -> None:
    """Three windows of eight thread blocks, each behind a wave of eight; fewer are made eight."""
    found = estimate([launch], ONE, Sample(windows=3, blocks=blocks), mode="interpreted")
    whole = timing.simulate([launch], ONE, mode="interpreted")
    assert (found.windows, found.warp_instructions) == (3, whole.warp_instructions)
    assert 0 < abs(found.cycles - whole.cycles) <= found.margin


@pytest.mark.slow
def test_launches_are_strata(launch: Launch) -> None:
    """Of two that are alike cycles add up, and so do variances; what a longer front changes counts twice."""
    one, two = (estimate([launch] * n, ONE, Sample(windows=3), mode="interpreted") for n in (1, 2))
    assert two.cycles == pytest.approx(2 * one.cycles)
    assert one.margin < two.margin < 2 * one.margin


def test_a_sample_of_sms_has_its_share_of_the_thread_blocks(launch: Launch) -> None:
    """One of 16 SMs has 8 of the 120 thread blocks to run; five such windows are timed."""
    found = estimate([launch], "gebhart", Sample(windows=5, sms=1), mode="interpreted")
    assert (found.timed.sms, found.windows, found.whole_launches) == (1, 5, 0)
    assert found.timed.warp_instructions < found.warp_instructions == launch.warp_instructions
    assert found.margin > 0


@pytest.mark.slow
def test_a_thread_block_that_takes_long_has_others_beside_it() -> None:
    """It takes most of the time of a launch, whose other thread blocks meanwhile go through the other seven places."""
    program = warpreg.compile(HEAVY_FIRST, record=simt.Record(path=True, addresses=True))
    heavy = program["uneven"][6 * BLOCKS, 32]().launches[0]
    alone = timing.simulate([heavy], ONE, window=timing.Window(1)).cycles
    whole = timing.simulate([heavy], ONE).cycles
    found = estimate([heavy], ONE, Sample(windows=4))
    assert alone > 0.5 * whole
    assert found.is_sampled
    assert found.cycles == pytest.approx(whole, rel=0.1)
