"""Occupancy: each limit in turn, with the number derived by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpreg import gpu
from warpreg.gpu import Occupancy, occupancy

GTX480 = gpu.load("gtx480")
GEBHART = gpu.load("gebhart-rfc")


def test_warps_limit() -> None:
    # 256 threads are 8 warps; 48 / 8 = 6 blocks.  20 registers x 32 = 640 = 10 units; 32768 / 640 = 51 warps: enough.
    assert occupancy(GTX480, 20, 0, 256) == Occupancy(6, 48, "warps", 1.0)


def test_registers_limit_with_rounding_to_units_and_pairs_of_warps() -> None:
    # 33 x 32 = 1056 -> 17 units of 64 = 1088; 32768 / 1088 = 30.1 -> 30 warps, already even; 30 / 8 = 3 blocks.
    assert occupancy(GTX480, 33, 0, 256) == Occupancy(3, 24, "registers", 0.5)
    # 31 x 32 = 992 -> 1024; 32768 / 1024 = 32 warps; blocks of one warp are stopped by the 8 blocks of an SM.
    assert occupancy(GTX480, 31, 0, 32) == Occupancy(8, 8, "blocks", 8 / 48)
    # 21 x 32 = 672 -> 704; 32768 / 704 = 46.5 -> 46 warps; blocks of 23 warps: 2.
    assert occupancy(GTX480, 21, 0, 23 * 32).blocks == 2
    # 39 x 32 = 1248 -> 1280; 32768 / 1280 = 25.6 -> 25, rounded down to 24; blocks of 5 warps: 4, not 5.
    assert occupancy(GTX480, 39, 0, 5 * 32) == Occupancy(4, 20, "registers", 20 / 48)


def test_shared_memory_limit() -> None:
    # 12,289 bytes take 97 units of 128 = 12,416; 49,152 / 12,416 = 3.96 -> 3 blocks of 2 warps.
    assert occupancy(GTX480, 16, 12_289, 64) == Occupancy(3, 6, "shared memory", 6 / 48)
    assert occupancy(GTX480, 16, 12_288, 64).blocks == 4
    assert occupancy(GTX480, 16, 49_153, 64).blocks == 0


def test_a_partial_warp_counts_whole() -> None:
    # 33 threads are 2 warps.
    assert occupancy(GTX480, 16, 0, 33).warps == 16


def test_a_kernel_that_does_not_fit_has_no_block_and_says_why() -> None:
    assert occupancy(GTX480, 64, 0, 32) == Occupancy(0, 0, "registers per thread", 0.0)
    assert occupancy(GTX480, 16, 0, 1056) == Occupancy(0, 0, "block size", 0.0)


def test_the_modelled_sm_is_full_at_32_registers() -> None:
    # 1024 warp-registers / 32 = 32 warps; at 33 registers 1024 / 33 = 31 warps, so 3 blocks of 8 warps.
    assert occupancy(GEBHART, 32, 0, 256).warps == 32
    assert occupancy(GEBHART, 33, 0, 256) == Occupancy(3, 24, "registers", 0.75)


@pytest.mark.parametrize("sizes", [(-1, 0, 32), (1, -1, 32), (1, 0, 0)])
def test_nonsense_is_refused(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(gpu.OccupancyError):
        occupancy(GTX480, *sizes)


@given(st.sampled_from([GTX480, GEBHART]), st.integers(0, 62), st.integers(0, 50_000), st.integers(1, 1024))
def test_more_demand_never_holds_more_warps_and_what_is_held_fits(
    machine: gpu.Machine, registers: int, shared: int, threads: int
) -> None:
    held = occupancy(machine, registers, shared, threads)
    assert held.warps <= machine.sm.warps
    assert held.blocks <= machine.sm.blocks
    assert held.warps * registers <= machine.warp_registers
    assert held.blocks * shared <= machine.shared_memory.bytes
    assert occupancy(machine, registers + 1, shared, threads).blocks <= held.blocks
    assert occupancy(machine, registers, shared + 1, threads).blocks <= held.blocks
