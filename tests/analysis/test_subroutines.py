"""Subroutines of machine code, the values that pass them untouched, and where lanes may have parted."""

from __future__ import annotations

import pytest
from tests.simt.machine_programs import TID, B, P, R, i, kernel, store_result, stored

from warpreg.analysis.accesses import accesses, members
from warpreg.analysis.convergence import parted_blocks
from warpreg.analysis.subroutines import subroutines
from warpreg.analysis.values import values, values_by_call
from warpreg.ir.kernel import Kernel

FIRST, SECOND = 0x1000, 0x2000
"""Addresses of the blocks behind the calls."""


def called_twice(first: int = FIRST) -> Kernel:
    """Two calls of "double", which doubles R2.  R3 holds 5 over the first call and 7 over the second one."""
    return kernel(
        i("mov.u32", R(2), TID),
        i("mov.u32", R(3), 5),
        i("MOV", R(4), first),
        i("CALL.REL.NOINC", "double"),
        "one",
        i("add.u32", R(2), R(2), R(3)),
        i("mov.u32", R(3), 7),
        i("MOV", R(4), SECOND),
        i("CALL.REL.NOINC", "double"),
        "two",
        i("add.u32", R(2), R(2), R(3)),
        *store_result(R(2)),
        i("EXIT"),
        "double",
        i("add.u32", R(2), R(2), R(2)),
        i("mov.u32", R(5), 0),
        i("RET.REL.NODEC", R(4, 64), "one", "two"),
    )


def test_a_subroutine_has_its_calls_returns_and_cells() -> None:
    built = called_twice()
    (found,) = subroutines(built)
    assert (found.entry, found.calls, found.returns) == (3, {0, 1}, {3})
    names = accesses(built).cells.names
    assert {names[cell] for cell in members(found.accesses)} == {"R2", "R4", "R5"}


def test_a_value_that_passes_a_call_does_not_reach_the_other_call() -> None:
    """R3 is written at pcs 1 and 5 and read at pcs 4 and 8."""
    built = called_twice()
    cell = accesses(built).cells.named("R3")
    webs = [(v.definitions, v.reads) for v in values_by_call(built).values if v.cell == cell]
    assert webs == [((1,), (4,)), ((5,), (8,))]
    assert [(v.definitions, v.reads) for v in values(built).values if v.cell == cell] == [((1, 5), (4, 8))]


def test_it_runs() -> None:
    """2 (2 t + 5) + 7."""
    assert stored(called_twice()) == [4 * lane + 17 for lane in range(32)]


@pytest.mark.parametrize("address", [SECOND, 0x3000])
def test_a_call_that_is_returned_to_elsewhere_is_not_taken_for_one(address: int) -> None:
    assert subroutines(called_twice(address)) == ()


def test_a_subroutine_that_something_else_enters_is_not_taken_for_one() -> None:
    built = kernel(
        i("MOV", R(4), FIRST),
        i("CALL.REL.NOINC", "sub"),
        "one",
        i("BRA", "sub", when=P(0)),
        i("EXIT"),
        "sub",
        i("add.u32", R(2), R(2), 1),
        i("RET.REL.NODEC", R(4, 64), "one"),
    )
    assert subroutines(built) == ()


def test_lanes_may_have_parted_between_the_two_ends_of_a_barrier() -> None:
    built = kernel(
        i("BSSY", B(0), "meet"),
        i("BRA", "meet", when=P(0)),
        "inside",
        i("mov.u32", R(1), 1),
        "meet",
        i("BSYNC", B(0)),
        "after",
        i("EXIT"),
    )
    assert {built.blocks[one].label for one in parted_blocks(built)} == {"inside", "meet"}
