"""The size of the extended set (thesis of 2021, §4.3.1, Table 4.1)."""

from __future__ import annotations

import pytest

from warpreg import gpu
from warpreg.designs.interface.residency import Launch, Residency, room
from warpreg.designs.parts.sharing.sizes import (
    DOWN,
    EXAMPLE,
    WORDING,
    Size,
    candidates,
    chosen,
    preferred,
    rounded,
    sections_of,
    sized,
)

FERMI = gpu.load("gtx480")
TABLE_4_1 = {
    "BFS": (21, 18), "CUTCP": (25, 20), "DWT2D": (44, 38), "HotSpot3D": (32, 24), "MRI-Q": (21, 18),
    "ParticleFilter": (32, 20), "RadixSort": (33, 30), "SAD": (30, 20), "Gaussian": (12, 8), "HeartWall": (28, 20),
    "LavaMD": (37, 28), "MergeSort": (15, 12), "MonteCarlo": (13, 12), "SPMV": (16, 12), "SRAD": (18, 12),
    "TPACF": (28, 20),
}  # fmt: skip
"""Registers of a thread, and the base set."""
BLOCK = Launch(block_threads=192)
"""Eight blocks of six warps fill the 48 slots of Fermi."""


def always(size: Size) -> bool:
    return True


@pytest.mark.parametrize("name", TABLE_4_1)
def test_every_row_of_table_4_1_is_a_candidate(name: str) -> None:
    registers, base = TABLE_4_1[name]
    assert rounded(registers) - base in candidates(registers)


ROUNDED_DOWN = {
    "BFS": (2, 4, 6, 8), "CUTCP": (2, 4, 8), "DWT2D": (4, 6, 8), "HotSpot3D": (4, 6, 8), "MRI-Q": (2, 4, 6, 8),
    "ParticleFilter": (4, 6, 8), "RadixSort": (10, 12), "SAD": (4, 6, 8), "Gaussian": (2, 4), "HeartWall": (2, 4, 8),
    "LavaMD": (4, 6, 8, 10, 12, 14), "MergeSort": (2, 4), "MonteCarlo": (2, 4), "SPMV": (2, 4), "SRAD": (2, 4, 6),
    "TPACF": (2, 4, 8),
}  # fmt: skip
"""By hand: CUTCP has 28 registers, of which 10 to 35% are 2.8, 4.2, 5.6, 7, 8.4 and 9.8: down to 2, 4, 5, 7, 8, 9."""


def test_rounded_down_the_largest_candidate_is_printed_for_half_of_the_rows() -> None:
    """ParticleFilter and SAD print 12 of 32 registers, RadixSort 6 of 36 and SRAD 8 of 20, which it lacks."""
    printed = {name: rounded(registers) - base for name, (registers, base) in TABLE_4_1.items()}
    assert {name: candidates(registers, DOWN) for name, (registers, _) in TABLE_4_1.items()} == ROUNDED_DOWN
    lacking = {name for name, size in printed.items() if size not in ROUNDED_DOWN[name]}
    assert lacking == {"ParticleFilter", "SAD", "RadixSort", "SRAD"}
    assert sum(size == ROUNDED_DOWN[name][-1] for name, size in printed.items()) == 8
    assert candidates(24, DOWN) == candidates(24) == (2, 4, 6, 8)
    assert sum(size == candidates(TABLE_4_1[name][0])[-1] for name, size in printed.items()) == 4


def test_the_worked_example() -> None:
    """24 registers: candidates 2, 4, 6, 8.  2 leaves 22, of which 1024 packs hold 46 warps, so seven blocks; 4, 6 and 8
    leave 20, 18 and 16 and all 48 warps, with 64 / 4, 160 / 6 and 256 / 8 sections; 6 is the least with more than 24.
    """
    assert candidates(24) == (2, 4, 6, 8)
    sizes = [size for extended in candidates(24) if (size := sized(FERMI, BLOCK, 24, extended))]
    assert [(one.base, one.room.warps) for one in sizes] == [(22, 42), (20, 48), (18, 48), (16, 48)]
    assert [one.sections for one in sizes[1:]] == [16, 26, 32]
    assert preferred(sizes[1:], EXAMPLE).extended == 6
    assert preferred(sizes[1:], WORDING).extended == 8
    best = chosen(FERMI, BLOCK, 24, always)
    assert best is not None
    assert (best.base, best.extended, best.sections) == (18, 6, 26)


def test_without_half_of_the_warps_most_sections_win() -> None:
    """Eight sections of 14 registers or four of 12, for 48 warps."""
    place = room(FERMI, Residency(16), BLOCK, 36)
    sizes = [Size(22, 14, place, 8), Size(24, 12, place, 4)]
    assert preferred(sizes).extended == 14


def test_a_size_that_cannot_be_compiled_is_passed_over() -> None:
    best = chosen(FERMI, BLOCK, 24, lambda size: size.extended != 6)
    assert best is not None
    assert best.extended == 8


def test_a_kernel_without_gain_has_none() -> None:
    """20 registers already fill the 48 slots; blocks of 49152 bytes of shared memory are alone on an SM."""
    assert chosen(FERMI, BLOCK, 20, always) is None
    assert chosen(FERMI, Launch(192, 49152), 24, always) is None


def test_the_pool_has_a_section_at_least() -> None:
    """First deadlock rule: 24 warps of 42 registers leave 16 of 1024, fewer than a section of 18.  So one block of four
    warps fewer is resident, and 1024 - 20 * 42 = 184 are ten sections.
    """
    block = Launch(block_threads=128)
    assert room(FERMI, Residency(42), block, 60).warps == 24
    found = sized(FERMI, block, 60, 18)
    assert found is not None
    assert (found.room.warps, found.sections) == (20, 10)


def test_sections_are_no_more_than_warp_slots() -> None:
    place = room(FERMI, Residency(8), Launch(32), 12)
    assert sections_of(place, 2) == 48


def test_base_sets_are_not_rounded() -> None:
    """The example of section 4.3.1, allocated in units of four: 1024 - 48 * 18 = 160 are 26 sections of 6."""
    machine = gpu.load("regmutex-gtx480")
    assert machine.register_file.allocation_unit == 4 * machine.sm.threads_per_warp
    found = sized(machine, BLOCK, 24, 6)
    assert found is not None
    assert (found.base, found.extended, found.room.warps, found.sections) == (18, 6, 48, 26)
