"""What the designs make of kernel, machine and launch: residency, code, storage, and bad input."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.designs.kernels import at, kernel, op, r

from warpreg import gpu
from warpreg.designs import Design, DesignError, load, program_table
from warpreg.designs.interface.residency import Launch, Residency, Room, unshared
from warpreg.designs.parts.sharing.instructions import ACQUIRE, action_of
from warpreg.gpu.machine import Machine
from warpreg.ir.kernel import Kernel

FERMI = gpu.load("gtx480")
REGMUTEX, PAIRED = load("regmutex"), load("regmutex-paired")
BLOCK = Launch(block_threads=192)


def growing(count: int, barrier: bool = False) -> Kernel:
    """R0 to R<count - 1> become live; then they are added to R0."""
    up = [op("mov.b32", r(i), i) for i in range(count)]
    down = [op("add.s32", r(0), r(0), r(i)) for i in reversed(range(1, count))]
    end = [op("st.global.u32", at(r(0)), r(0)), op("exit")]
    code = kernel([*up, op("bar.sync", 0)], [*down, *end]) if barrier else kernel([*up, *down, *end])
    return replace(code, register_demand=count)


def room(design: Design, code: Kernel, launch: Launch = BLOCK, machine: Machine = FERMI, **parameters: Any) -> Room:
    return design.room(design.configure(**parameters), program_table(code), machine, launch, code)


def test_a_kernel_gets_the_base_set_of_the_example() -> None:
    """24 registers: 18 in the base set, sections of 6; all 48 warps are resident instead of 42."""
    code = growing(24)
    assert room(load("mrf"), code).warps == 42
    found = room(REGMUTEX, code)
    assert (found.residency, found.warps) == (Residency(18, pool=6), 48)
    rewritten = REGMUTEX.rewrite(code, REGMUTEX.configure(), found)
    assert [action_of(one) for one in rewritten.instructions()].count(ACQUIRE) == 1


def test_a_pair_has_two_base_sets_and_a_section() -> None:
    """2 * 18 + 6 registers for each pair: 24 pairs take 1,008 of 1,024."""
    found = room(PAIRED, growing(24))
    assert found.residency == Residency(18, shared=3 * 6, group=6)
    assert found.warps == 48
    assert found.pool == 1024 - 24 * (2 * 18 + 6)


def test_the_last_of_an_odd_number_of_warps_counts_as_a_pair() -> None:
    """Three warps have two sections: 3 * 18 + 2 * 6 = 66 registers, so 15 blocks fit, of which 8 may be resident."""
    found = room(PAIRED, growing(24), Launch(96), extended=6)
    assert found.residency == Residency(18, shared=2 * 6, group=3)
    assert found.blocks == 8


@pytest.mark.parametrize("design", [REGMUTEX, PAIRED])
def test_a_kernel_without_gain_is_left_alone(design: Design) -> None:
    """20 registers fill the machine anyway."""
    code = growing(20)
    found = room(design, code)
    assert found.residency == unshared(FERMI, 20)
    assert design.rewrite(code, design.configure(), found) is code


@pytest.mark.parametrize("design", [REGMUTEX, PAIRED])
@pytest.mark.parametrize("chosen", [{"enabled": False}, {"extended": 0}])
def test_switched_off_nothing_changes(design: Design, chosen: dict[str, Any]) -> None:
    code = growing(24)
    found = room(design, code, **chosen)
    assert found.residency == unshared(FERMI, 24)
    assert design.rewrite(code, design.configure(**chosen), found) is code
    assert design.hardware(design.configure(**chosen), FERMI) == ()


def test_a_size_that_is_given_is_taken() -> None:
    assert room(REGMUTEX, growing(24), extended=10).residency == Residency(14, pool=10)


def test_a_size_that_leaves_too_few_registers_at_a_barrier_is_not_chosen() -> None:
    """24 registers are live at the barrier, so no candidate is left."""
    assert room(REGMUTEX, growing(24, barrier=True)).residency == unshared(FERMI, 24)


def test_storage() -> None:
    """48 + 48 + 48 * 6 bits, and a bit for each of 24 pairs."""
    bits = [
        sum(one.entries * one.bits for one in design.tables(design.configure(), FERMI).values())
        for design in (REGMUTEX, PAIRED)
    ]
    assert bits == [384, 24]


ODD = replace(FERMI, name="odd", sm=replace(FERMI.sm, warps=47))


@pytest.mark.parametrize(
    ("design", "code", "launch", "machine", "extended", "message"),
    [
        (
            REGMUTEX, growing(24, barrier=True), BLOCK, FERMI, 4,
            "kernel hand: 24 registers are live at 'bar.sync 0' (pc 24), where a warp may hold no section, and the "
            "base set has 20",
        ),
        (
            REGMUTEX, growing(36), Launch(1024), FERMI, 4,
            "kernel hand: a section has 4 registers, and beside one thread block the pool of gtx480 has room for 0",
        ),
        (
            REGMUTEX, growing(40), Launch(1024), FERMI, 4,
            "kernel hand: no thread block of base sets of 36 registers fits an SM of gtx480 (registers)",
        ),
        (
            REGMUTEX, growing(24), BLOCK, FERMI, 24,
            "kernel hand: extended expects fewer than the 24 registers of a thread, found 24",
        ),
        (
            PAIRED, growing(24), BLOCK, ODD, 6,
            "kernel hand: pairs of warps need an even number of warp slots, and odd has 47",
        ),
    ],
)  # fmt: skip
def test_bad_input(design: Design, code: Kernel, launch: Launch, machine: Machine, extended: int, message: str) -> None:
    with pytest.raises(DesignError) as error:
        room(design, code, launch, machine, extended=extended)
    assert str(error.value).startswith(f"{message} (")


def test_fewer_registers_than_the_code_names() -> None:
    code = growing(24)
    program = program_table(code)._replace(register_count=16)
    with pytest.raises(DesignError) as error:
        REGMUTEX.room(REGMUTEX.configure(), program, FERMI, BLOCK, code)
    assert str(error.value).startswith("kernel hand: the code names 24 registers, and a thread has 16 (")
