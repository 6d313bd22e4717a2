"""Register file capacity that a design uses, and the resulting warps per SM."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.timing.assembly import code

from warpreg import gpu
from warpreg.designs import DesignError, load, names, program_table
from warpreg.designs.interface.residency import Launch, Residency, Room, room, unshared

FERMI = gpu.load("regmutex-gtx480")


def resident(residency: Residency, threads: int = 256, shared_bytes: int = 0, registers: int = 20) -> Room:
    return room(FERMI, residency, Launch(threads, shared_bytes), registers)


def test_a_kernel_of_24_registers_leaves_a_sixth_of_the_places_empty() -> None:
    """1024 warp-registers / 24 = 42 warps, in blocks of 8: 40."""
    assert (resident(Residency(24)).warps, resident(Residency(24)).pool) == (40, 1024 - 40 * 24)


def test_a_base_set_of_18_registers_fills_the_sm_and_leaves_26_sections_of_six() -> None:
    """The worked example of RegMutex: 48 warps own 18 each, and 160 warp-registers are left to share."""
    found = resident(Residency(18, pool=6), threads=192)
    assert (found.warps, found.pool // 6) == (48, 26)


def test_pairs_share_a_section() -> None:
    """A pair takes 2 x 18 + 6 = 42, so 24 pairs take 1008."""
    found = resident(Residency(18, shared=6, group=2), threads=192)
    assert (found.warps, found.pool) == (48, 16)


def test_a_pool_is_kept_free() -> None:
    """524 warp-registers remain beside the pool: 26 warps of 20, three blocks of 8; without it, all 48 fit."""
    found = resident(Residency(20, pool=500))
    assert (found.warps, found.limiter, found.occupancy) == (24, "register pool", 0.5)


def test_other_limits_stay() -> None:
    assert resident(Residency(1), shared_bytes=24 * 1024).limiter == "shared memory"
    assert resident(Residency(20), registers=64).limiter == "registers per thread"


@given(st.integers(1, 63), st.integers(1, 1024), st.integers(0, 48 * 1024))
def test_without_anything_shared_it_is_the_machines_own_rule(registers: int, threads: int, shared_bytes: int) -> None:
    plain = gpu.occupancy(FERMI, registers, shared_bytes, threads)
    found = resident(unshared(FERMI, registers), threads, shared_bytes, registers)
    assert (found.blocks, found.warps, found.limiter) == (plain.blocks, plain.warps, plain.limiter)


def test_a_pool_that_is_larger_than_the_file() -> None:
    with pytest.raises(DesignError, match="residency: pool expects at most 1024, found 1025"):
        resident(Residency(20, pool=1025))


def test_a_negative_size() -> None:
    with pytest.raises(DesignError, match="residency: shared expects at least 0, found -1"):
        Residency(20, shared=-1)


@pytest.mark.parametrize("name", names())
def test_half_of_the_register_file_for_every_design(name: str) -> None:
    """A thread block of 8 warps of 24 registers fits, and not more of them than on the whole register file."""
    design, kernel = load(name), code("mov.b32 R23, 1\nmov.b32 R0, R23")
    blocks = []
    for machine in (FERMI, gpu.load("regmutex-gtx480-half")):
        registers = machine.warp_registers
        refill = machine.control_cycles
        banks = machine.register_file.banks
        sizes = {"physical": registers, "vectors": registers, "registers": registers, "banks": banks, "clusters": banks}
        sizes["refill"] = refill
        chosen = {spec.name: sizes[spec.name] for spec in design.parameters if spec.name in sizes}
        place = design.room(design.configure(**chosen), program_table(kernel), machine, Launch(256), kernel)
        blocks.append(place.blocks)
    assert 1 <= blocks[1] <= blocks[0]
