"""Instructions under a guard, and the uniform datapath, which is computed once for a warp."""

from __future__ import annotations

import numpy as np
from tests.simt.machine_programs import TID, UR, P, R, at, i, kernel, parameter, run, store_result, stored

from warpreg.ir.operands import Address, Immediate, Operand, Register, Sink, Vector
from warpreg.ir.types import PRED

NONE = Sink()


def UP(index: int) -> Register:  # noqa: N802
    return Register(f"UP{index}", PRED, index)


def both(*registers: Operand) -> Vector:
    """Several destinations."""
    return Vector(registers)


def test_values_of_a_guard_are_used_under_the_same_guard_only() -> None:
    """Lanes from 8 on: R1 = 3 t + 100, then R2 = 2 R1.  The others keep R1 = 1; R2 is 5."""
    built = kernel(
        i("mov.u32", R(0), TID),
        i("mov.u32", R(1), 1),
        i("mov.u32", R(2), 5),
        i("setp.ge.u32", P(0), R(0), 8),
        i("mul.lo.u32", R(1), R(0), 3, when=P(0)),
        i("add.u32", R(1), R(1), 100, when=P(0)),
        i("add.u32", R(2), R(1), R(1), when=P(0)),
        i("add.u32", R(3), R(1), R(2)),
        *store_result(R(3)),
        i("EXIT"),
    )
    assert stored(built) == [6 if lane < 8 else 3 * (3 * lane + 100) for lane in range(32)]


def test_a_guard_that_changes_is_another_one() -> None:
    """R1 = 10 in lanes below 4, then read in lanes from 4 on, which have the 1 from before."""
    built = kernel(
        i("mov.u32", R(0), TID),
        i("mov.u32", R(1), 1),
        i("setp.lt.u32", P(0), R(0), 4),
        i("mov.u32", R(1), 10, when=P(0)),
        i("setp.ge.u32", P(0), R(0), 4),
        i("mov.u32", R(2), 0),
        i("add.u32", R(2), R(1), 1, when=P(0)),
        *store_result(R(2)),
        i("EXIT"),
    )
    assert stored(built) == [0] * 4 + [2] * 28


def test_the_inverse_of_a_guard_is_another_one() -> None:
    built = kernel(
        i("mov.u32", R(0), TID),
        i("mov.u32", R(1), 1),
        i("setp.lt.u32", P(0), R(0), 4),
        i("mov.u32", R(1), 10, when=P(0)),
        i("add.u32", R(1), R(1), 1, unless=P(0)),
        *store_result(R(1)),
        i("EXIT"),
    )
    assert stored(built) == [10] * 4 + [2] * 28


def test_a_row_of_addresses_made_under_a_guard() -> None:
    """Lanes from 3 on add the word of their own thread, 1000 + t; lane 0 has no address."""
    built = kernel(
        i("mov.u32", R(0), TID),
        i("mov.u32", R(6), 7),
        i("setp.ge.u32", P(0), R(0), 3),
        i("mul.wide.u32", R(2, 64), R(0), 4, when=P(0)),
        i("add.u64", R(2, 64), R(2, 64), parameter(1), when=P(0)),
        i("LDG.E", R(6), at(R(2, 64)), when=P(0)),
        *store_result(R(6)),
        i("EXIT"),
        parameters=2,
    )
    _, (found, _) = run(built, np.zeros(32, np.uint32), np.arange(1000, 1032, dtype=np.uint32))
    assert found.tolist() == [7] * 3 + list(range(1003, 1032))


def test_uniform_sums_with_carries() -> None:
    """0xFFFFFFF0 + 0x20 carries: the upper word is 1 + 2 + 1."""
    built = kernel(
        i("mov.u32", UR(4), 0xFFFFFFF0),
        i("mov.u32", UR(5), 1),
        i("UIADD3", both(UR(6), UP(0), NONE), UR(4), 0x20, 0, 0, 0),
        i("UIADD3.X", both(UR(7), NONE, NONE), UR(5), 2, 0, UP(0), 0),
        i("shl.b32", R(0), UR(7), 8),
        i("or.b32", R(0), R(0), UR(6)),
        *store_result(R(0)),
        i("EXIT"),
    )
    assert stored(built) == [0x410] * 32


def test_a_uniform_guard_chooses_for_the_whole_warp() -> None:
    built = kernel(
        i("mov.u32", UR(4), 1),
        i("UISETP.GT.AND", both(UP(0), UP(1)), UR(4), 5, 1),
        i("mov.u32", UR(5), 10),
        i("UIADD3", both(UR(5), NONE, NONE), UR(5), 1, 0, 0, 0, when=UP(0)),
        i("UIADD3", both(UR(5), NONE, NONE), UR(5), 2, 0, 0, 0, when=UP(1)),
        i("mov.u32", R(0), UR(5)),
        *store_result(R(0)),
        i("EXIT"),
    )
    assert stored(built) == [12] * 32


def test_a_uniform_counter_in_a_loop() -> None:
    """5 + 4 + 3 + 2 + 1."""
    built = kernel(
        i("mov.u32", UR(4), 5),
        i("mov.u32", R(0), 0),
        "loop",
        i("add.u32", R(0), R(0), UR(4)),
        i("UIADD3", both(UR(4), NONE, NONE), UR(4), -1, 0, 0, 0),
        i("setp.ne.u32", P(0), UR(4), 0),
        i("BRA", "loop", when=P(0)),
        "after",
        *store_result(R(0)),
        i("EXIT"),
    )
    assert stored(built) == [15] * 32


def test_a_uniform_pair_of_a_constant_bank_is_an_address() -> None:
    built = kernel(
        i("ULDC.64", UR(4, 64), parameter(0)),
        i("mov.u32", R(0), TID),
        i("mul.wide.u32", R(2, 64), R(0), 4),
        i("STG.E", Address(R(2, 64), 0, UR(4, 64)), R(0)),
        i("EXIT"),
    )
    assert stored(built) == list(range(32))


def test_sums_of_three_say_how_often_they_carry() -> None:
    """Even lanes: 0xFFFFFFFE + 2 + 0xFFFFFFFF = 2 * 2**32 - 1.  Odd ones: one more, which is 2 * 2**32."""
    built = kernel(
        i("mov.u32", R(0), TID),
        i("and.b32", R(1), R(0), 1),
        i("add.u32", R(1), R(1), 0xFFFFFFFE),
        i("mov.u32", R(2), 0xFFFFFFFF),
        i("IADD3", both(R(3), P(0), P(1)), R(1), 2, R(2), 0, 0),
        i("selp.u32", R(4), 1, 0, P(0)),
        i("selp.u32", R(5), 2, 0, P(1)),
        i("add.u32", R(4), R(4), R(5)),
        *store_result(R(4)),
        i("EXIT"),
    )
    assert stored(built) == [1, 3] * 16


def test_sixteen_bytes_of_one_address_and_of_a_row() -> None:
    """Each lane adds the four words at offset 0, which all load, and its own four words: 16 t + 0 + 1 + 2 + 3."""
    built = kernel(
        i("mov.u32", R(0), TID),
        i("shl.b32", R(1), R(0), 4),
        i("mov.u32", R(2), 0),
        i("shl.b32", R(4), R(0), 2),
        i("add.u32", R(5), R(4), 1),
        i("add.u32", R(6), R(4), 2),
        i("add.u32", R(7), R(4), 3),
        i("STS.128", at(R(1)), R(4, 128)),
        i("BAR.SYNC", Immediate(0)),
        i("LDS.128", R(20, 128), at(R(2))),
        i("LDS.128", R(24, 128), at(R(1))),
        i("LDS.128", R(28, 128), at(R(1), -16), when=P(3)),
        *(i("add.u32", R(20), R(20), R(number)) for number in range(21, 28)),
        *store_result(R(20)),
        i("EXIT"),
        shared_bytes=512,
    )
    assert stored(built) == [6 + 16 * lane + 6 for lane in range(32)]
