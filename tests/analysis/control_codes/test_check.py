"""Which control codes are unsafe: each rule on a few instructions, with cycles worked out by hand."""

from __future__ import annotations

import pytest
from tests.analysis.control_codes.code import add, at, changed, depbar, kernel, one, p, r, wide

from warpreg.analysis.control_codes.check import (
    EARLY_WAIT,
    READ_AFTER_WRITE,
    SHORT_DEPBAR,
    WRITE_AFTER_READ,
    WRITE_AFTER_WRITE,
    NoControlCodesError,
    UnsafeDependence,
    unsafe,
)
from warpreg.ir.errors import UnknownNameError, UnsupportedError
from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.operands import Immediate, Label

TRUE = Immediate(1)


def load(result: int, address: int, **control: object) -> Instruction:
    return one("LDS", r(result), at(address), **control)  # type: ignore[arg-type]


@pytest.mark.parametrize(("stall", "found"), [(4, ()), (3, (UnsafeDependence(1, 0, READ_AFTER_WRITE, "R1", 3, 4),))])
def test_a_sum_is_there_after_four_cycles(stall: int, found: tuple[UnsafeDependence, ...]) -> None:
    assert unsafe(kernel([add(1, 2, 3, stall=stall), add(4, 1, 1)])) == found


def test_cycles_are_those_of_all_instructions_in_between() -> None:
    """1 + 1 + 2 cycles from the first to the last."""
    code = [add(1, 2, 3), add(5, 2, 3), add(6, 2, 3, stall=2), add(4, 1, 1)]
    assert unsafe(kernel(code)) == ()
    assert unsafe(kernel(code[1:3] + code[:1] + code[3:])) == (UnsafeDependence(3, 2, READ_AFTER_WRITE, "R1", 1, 4),)


def test_the_shortest_path_counts() -> None:
    """Over the loop, the read comes 2 cycles after the write; from the entry, 9."""
    write = add(1, 2, 3, stall=2)
    code = kernel([add(1, 2, 3, stall=9)], [add(4, 1, 1, stall=4), write], edges=((1,), (1,)))
    assert unsafe(code) == (UnsafeDependence(1, 2, READ_AFTER_WRITE, "R1", 2, 4),)


@pytest.mark.parametrize(("stall", "needed"), [(12, 13), (13, None)])
def test_a_predicate_takes_thirteen_cycles_to_a_guard(stall: int, needed: int | None) -> None:
    compare = one("ISETP.GE.AND", p(0), r(2), r(3), TRUE, stall=stall)
    found = unsafe(kernel([compare, add(1, 2, 3, guard=Guard(p(0)))]))
    assert found == ((UnsafeDependence(1, 0, READ_AFTER_WRITE, "P0", stall, 13),) if needed else ())


def test_a_long_stall_without_yield_counts_as_one_cycle() -> None:
    code = kernel([add(1, 2, 3, stall=13), add(4, 1, 1)])
    assert unsafe(code) == ()
    assert unsafe(changed(code, 0, yields=False)) == (UnsafeDependence(1, 0, READ_AFTER_WRITE, "R1", 1, 4),)


def test_a_later_result_is_written_later() -> None:
    """A double is there after 8 cycles, a sum after 4: the sum may issue 8 - 4 + 1 cycles later."""
    double = one("DADD", wide(2), wide(4), wide(6), stall=4)
    assert unsafe(kernel([double, add(2, 8, 9)])) == (UnsafeDependence(1, 0, WRITE_AFTER_WRITE, "R2", 4, 5),)
    assert unsafe(changed(kernel([double, add(2, 8, 9)]), 0, stall=5)) == ()


def test_a_load_needs_a_wait_for_its_counter() -> None:
    code = kernel([load(1, 2, write=3, stall=2), add(4, 1, 1, waits=[3])])
    assert unsafe(code) == ()
    missing = (UnsafeDependence(1, 0, READ_AFTER_WRITE, "R1", 2),)
    assert unsafe(changed(code, 1, waits=0)) == missing
    assert unsafe(changed(code, 0, write=None)) == missing
    assert unsafe(changed(code, 1, waits=1)) == missing
    assert missing[0].reason == "no wait for a counter"


def test_a_wait_on_one_of_two_paths_is_none() -> None:
    first = [load(1, 2, write=0, stall=2)]
    paths = [add(5, 6, 6, waits=[0])], [add(5, 6, 6)]
    code = kernel(first, *paths, [add(4, 1, 1)], edges=((1, 2), (3,), (3,), ()))
    assert [found.consumer for found in unsafe(code)] == [3]
    assert unsafe(changed(code, 2, waits=1)) == ()


def test_a_waiter_comes_two_cycles_after_the_counter() -> None:
    code = kernel([load(1, 2, write=0, stall=1), add(4, 1, 1, waits=[0])])
    assert unsafe(code) == (UnsafeDependence(1, 0, EARLY_WAIT, "SB0", 1, 2),)


def test_what_a_load_reads_is_overwritten_after_a_wait() -> None:
    """For its read counter or its write counter."""
    code = kernel([load(1, 2, read=1, write=0, stall=2), add(2, 3, 3, waits=[1])])
    assert unsafe(code) == ()
    assert unsafe(changed(code, 1, waits=1)) == ()
    assert unsafe(changed(code, 1, waits=0)) == (UnsafeDependence(1, 0, WRITE_AFTER_READ, "R2", 2),)


def test_a_queue_is_in_order() -> None:
    """The counter of the second load says that the first is done too; not so for loads from global memory."""
    code = [load(1, 2), load(3, 2, write=0, stall=2), add(4, 1, 3, waits=[0])]
    assert unsafe(kernel(code)) == ()
    other = [one("LDG.E", r(1), at(2), TRUE), one("LDG.E", r(3), at(2), TRUE, write=0, stall=2), code[2]]
    assert unsafe(kernel(other)) == (UnsafeDependence(2, 0, READ_AFTER_WRITE, "R1", 3),)
    assert unsafe(kernel([load(2, 8), load(2, 8, write=0, stall=2), add(4, 2, 2, waits=[0])])) == ()


def test_depbar_leaves_the_last_of_a_queue() -> None:
    """With at most one to come, the first of two results is there."""
    results = [one("MUFU.RCP", r(n), r(9), write=5, stall=2) for n in (1, 2)]
    assert unsafe(kernel([*results, depbar(5, 1), add(4, 1, 1)])) == ()
    assert unsafe(kernel([*results, depbar(5, 1), add(4, 2, 2)])) == (
        UnsafeDependence(3, 1, READ_AFTER_WRITE, "R2", 6),
    )
    assert unsafe(kernel([*results, depbar(5, 0), add(4, 2, 2)])) == ()
    assert [f.hazard for f in unsafe(kernel([*results, depbar(5, 1, 3), add(4, 1, 1)]))] == [SHORT_DEPBAR]


def test_opposite_guards_exclude_each_other() -> None:
    """Until the predicate is written again."""
    guards = Guard(p(0)), Guard(p(0), negated=True)
    code = [add(1, 2, 3, guard=guards[0]), add(4, 1, 1, guard=guards[1])]
    assert unsafe(kernel(code)) == ()
    between = one("ISETP.GE.AND", p(0), r(2), r(3), TRUE, stall=2)
    found = unsafe(kernel([code[0], between, code[1]]))
    assert UnsafeDependence(2, 0, READ_AFTER_WRITE, "R1", 3, 4) in found


def test_doubles_need_counters_on_sm_80_only() -> None:
    code = [one("DADD", wide(2), wide(4), wide(6), stall=8), one("DADD", wide(8), wide(2), wide(2))]
    assert unsafe(kernel(code)) == ()
    assert {found.cell for found in unsafe(kernel(code, code="sm_80"))} == {"R2", "R3"}


def test_kernels_that_cannot_be_checked() -> None:
    bare = Instruction("FADD", (), (r(1), r(2), r(3)))
    with pytest.raises(NoControlCodesError, match="kernel 'k': pc 0, 'FADD R1, R2, R3' has no control code"):
        unsafe(kernel([bare]))
    with pytest.raises(UnsupportedError, match=r"FXYZ.*has no timing class for sm_90"):
        unsafe(kernel([one("FXYZ", r(1), Label("x"))]))
    with pytest.raises(UnknownNameError, match="sm_75"):
        unsafe(kernel([add(1, 2, 3)], code="sm_75"))
