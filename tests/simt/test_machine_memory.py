"""Memory opcodes of machine code: spaces, widths, address forms, atomics; uniform registers; constant bank 0."""

from __future__ import annotations

import numpy as np
import pytest
from tests.simt.machine_programs import LANE, TID, UR, P, R, at, i, kernel, parameter, run, store_result, stored

from warpreg.analysis.accesses import accesses
from warpreg.ir.instruction import Instruction
from warpreg.ir.memory_access import memory_form
from warpreg.ir.operands import ConstantBank, Immediate
from warpreg.ir.types import B32
from warpreg.simt import MemoryFault


@pytest.mark.parametrize(
    ("opcode", "action", "space", "type_", "count"),
    [
        ("LDG.E", "load", "global", "b32", 1),
        ("LDG.E.U8.CONSTANT", "load", "global", "u8", 1),
        ("LDS.S16", "load", "shared", "s16", 1),
        ("LDL.64", "load", "local", "b32", 2),
        ("LD.E.128", "load", "generic", "b32", 4),
        ("STG.E.U16", "store", "global", "u16", 1),
        ("ATOMS.POPC.INC.32", "atomic", "shared", "u32", 1),
        ("ATOMG.E.ADD.F32.FTZ.RN.STRONG.GPU", "atomic", "global", "f32", 1),
        ("ATOMG.E.CAS.64.STRONG.GPU", "atomic", "global", "b64", 1),
        ("RED.E.MAX.S32.STRONG.GPU", "reduction", "global", "s32", 1),
        ("REDG.E.ADD.STRONG.GPU", "reduction", "global", "u32", 1),
        ("ld.global.nc.v2.f32", "load", "global", "f32", 2),
        ("red.shared.add.u32", "reduction", "shared", "u32", 1),
    ],
)
def test_form(opcode: str, action: str, space: str, type_: str, count: int) -> None:
    name, *modifiers = opcode.split(".")
    form = memory_form(Instruction(name, tuple(modifiers), ()))
    assert form is not None
    assert (form.action, form.space, form.type.name, form.count) == (action, space, type_, count)


@pytest.mark.parametrize(("part", "expected"), [("U8", 0xFE), ("S8", 0xFFFFFFFE), ("U16", 0xFFFE), ("S16", 0xFFFFFFFE)])
def test_narrow_loads_extend(part: str, expected: int) -> None:
    built = kernel(
        i("mov.u64", R(0, 64), parameter(0)), i(f"LDG.E.{part}", R(2), at(R(0, 64))), *store_result(R(2)), i("EXIT")
    )
    _, (found,) = run(built, np.full(32, 0xFFFFFFFE, np.uint32))
    assert set(found.tolist()) == {expected}


def test_vectors_are_moved_word_by_word() -> None:
    """Thread t copies words 4t to 4t + 3 in another order, then adds the address as a pair."""
    built = kernel(
        i("mov.u32", R(0), TID),
        i("mul.wide.u32", R(2, 64), R(0), 16),
        i("mov.u64", R(4, 64), parameter(0)),
        i("add.u64", R(4, 64), R(4, 64), R(2, 64)),
        i("LDG.E.128", R(8, 128), at(R(4, 64))),
        i("mov.u32", R(13), R(8)),
        i("mov.u32", R(12), R(11)),
        i("STG.E.64", at(R(4, 64)), R(12, 64)),
        i("STG.E.64", at(R(4, 64), 8), R(8, 64)),
        i("EXIT"),
    )
    _, (found,) = run(built, np.arange(128, dtype=np.uint32))
    rows = found.reshape(32, 4)
    assert rows[5].tolist() == [23, 20, 20, 21]


def test_shared_addresses_are_scaled_and_have_a_uniform_part() -> None:
    built = kernel(
        i("mov.u32", R(0), TID),
        i("mov.u32", UR(4), 64),
        i("STS", at(R(0), 64, scale=4), R(0)),
        i("LDS", R(1), at(R(0), 0, UR(4), 4)),
        i("LDS.U8", R(2), at(Immediate(0), 4, UR(4))),
        i("add.u32", R(1), R(1), R(2)),
        *store_result(R(1)),
        i("EXIT"),
        shared_bytes=256,
    )
    assert stored(built) == [t + 1 for t in range(32)]


def test_local_memory_grows_down_from_the_stack_pointer() -> None:
    built = kernel(
        i("mov.u32", R(1), ConstantBank(0, 0x28, B32)),
        i("add.u32", R(1), R(1), -16),
        i("mov.u32", R(0), TID),
        i("STL", at(R(1), 12), R(0)),
        i("LDL", R(2), at(R(1), 12)),
        *store_result(R(2)),
        i("EXIT"),
        local_bytes=16,
    )
    assert stored(built) == list(range(32))


def test_launch_words_of_constant_bank_0() -> None:
    """Words of ntid, nctaid and the two generic windows."""
    lines = [i("mov.u64", R(2, 64), parameter(0))]
    offsets = [0x0, 0x4, 0x8, 0xC, 0x10, 0x14, 0x18, 0x1C, 0x20, 0x24]
    for place, offset in enumerate(offsets):
        lines += [i("mov.u32", R(0), ConstantBank(0, offset, B32)), i("STG.E", at(R(2, 64), 4 * place), R(0))]
    _, (found,) = run(kernel(*lines, i("EXIT")), np.zeros(10, np.uint32), threads=64, grid=3)
    assert found.tolist() == [64, 1, 1, 3, 1, 1, 0x0100_0000, 0, 0x0200_0000, 0]


def test_generic_addresses_reach_shared_and_local_memory() -> None:
    built = kernel(
        i("mov.u32", R(0), TID),
        i("mov.u64", R(4, 64), 0x0100_0000),
        i("mov.u64", R(6, 64), 0x0200_0000),
        i("ST.E", at(R(4, 64), 8), R(0)),
        i("ST.E", at(R(6, 64), 4), R(0)),
        i("LDS", R(1), at(Immediate(0), 8)),
        i("LDL", R(2), at(Immediate(0), 4)),
        i("shl.b32", R(2), R(2), 8),
        i("add.u32", R(1), R(1), R(2)),
        *store_result(R(1)),
        i("EXIT"),
        shared_bytes=16,
        local_bytes=16,
    )
    assert stored(built) == [31 + 256 * t for t in range(32)]  # of several stores to one word, the highest lane's stays


@pytest.mark.parametrize(
    ("operation", "before", "given", "last", "result"),
    [
        ("ADD", 5, 2, 5 + 64, None),
        ("MIN.S32", 5, -3, 0xFFFFFFFD, None),
        ("MAX", 5, 9, 9, None),
        ("AND", 13, 7, 5, None),
        ("OR", 1, 2, 3, None),
        ("XOR", 1, 2, 1, None),
        ("EXCH", 5, 7, 7, None),
        ("INC", 0, 31, 0, None),
        ("DEC", 0, 31, 0, None),
        ("POPC.INC.32", 5, None, 37, None),
    ],
)
def test_atomics_on_shared_memory(operation: str, before: int, given: int | None, last: int, result: None) -> None:
    """32 lanes update one word."""
    built = kernel(
        i("mov.u32", R(0), before),
        i("STS", at(Immediate(0)), R(0)),
        i(f"ATOMS.{operation}", R(1), at(Immediate(0)), *(() if given is None else (given,))),
        i("LDS", R(2), at(Immediate(0))),
        *store_result(R(2)),
        i("EXIT"),
        shared_bytes=16,
    )
    assert stored(built) == [last] * 32


def test_compare_and_swap_that_tells_whether_it_swapped() -> None:
    """All lanes expect 0; the first one that comes swaps."""
    built = kernel(i("ATOMS.CAST.SPIN", R(1), at(Immediate(0)), 0, 7), *store_result(R(1)), i("EXIT"), shared_bytes=16)
    assert stored(built) == [1] + [0] * 31


def test_an_access_outside_of_all_buffers_names_its_instruction() -> None:
    built = kernel(
        i("mov.u64", R(0, 64), parameter(0)), i("LDG.E.64", R(2, 64), at(R(0, 64), 128)), *store_result(R(2)), i("EXIT")
    )
    with pytest.raises(MemoryFault, match=r"LDG.E.64.*0 bytes past the end"):
        run(built, np.zeros(32, np.uint32))


def test_uniform_pairs_overlap_their_halves() -> None:
    """UR4.64 is UR4 and UR5."""
    built = kernel(
        i("mov.u64", UR(4, 64), parameter(0)),
        i("mov.u32", R(0), UR(4)),
        i("mov.u32", R(1), UR(5)),
        i("STG.E.64", at(R(0, 64)), R(0, 64)),
        i("EXIT"),
    )
    cells = accesses(built).cells
    assert cells.of(UR(4, 64)) == (*cells.of(UR(4)), *cells.of(UR(5)))
    _, (found,) = run(built, np.zeros(2, np.uint32))
    assert found.tolist() == [0x1000_0000, 0]


def test_a_uniform_register_belongs_to_the_warp() -> None:
    """It is written while half of the lanes run, and then all lanes hold it."""
    built = kernel(
        i("mov.u32", R(0), LANE),
        i("setp.lt.u32", P(0), R(0), 16),
        i("mov.u32", UR(4), 1),
        i("BRA", "meet", when=P(0)),
        i("mov.u32", UR(4), 2),
        i("BRA", "meet"),
        "meet",
        i("WARPSYNC", 0xFFFFFFFF),
        i("mov.u32", R(1), UR(4)),
        *store_result(R(1)),
        i("EXIT"),
    )
    assert stored(built) == [2] * 32
