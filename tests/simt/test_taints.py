"""Taints: bits per lane of storage locations, set, cleared and checked at instructions."""

from __future__ import annotations

import numpy as np
import pytest
from tests.designs.kernels import kernel, op, p, r, when

from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Label, Special
from warpreg.simt import Device, TaintFault
from warpreg.simt.block.taints import FILE, TaintEvent, Taints, TaintWrite

EMPTY = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry hand() { ret; }\n"
PLACES = ("ORF 0", "ORF 1")
START = TaintEvent(loses=True, trusts=True, everyone=True)
LANE = op("mov.u32", r(0), Special("%laneid"))
ODD = [LANE, op("and.b32", r(1), r(0), 1), op("setp.ne.u32", p(0), r(1), 0)]
END = op("ret")


def launch(code: Kernel, events: dict[int, TaintEvent], threads: int = 32) -> None:
    device = Device(EMPTY)
    device.install(code, Taints(PLACES, 8, events))
    device.launch("hand", 1, threads)


def fault(code: Kernel, events: dict[int, TaintEvent]) -> str:
    with pytest.raises(TaintFault) as error:
        launch(code, events)
    return str(error.value)


def read(place: int, register: int) -> TaintEvent:
    return TaintEvent(reads=((place, register),))


def write(register: int, *places: int) -> TaintEvent:
    return TaintEvent(writes=(TaintWrite(register, places),))


STRAIGHT = kernel([LANE, op("mov.u32", r(1), 1), op("mov.u32", r(2), 1), op("add.s32", r(3), r(1), 1), END])


def test_a_place_holds_nothing_at_first() -> None:
    assert fault(STRAIGHT, {0: START, 3: read(0, 1)}) == (
        "kernel 'hand', block (0,0,0), thread (0,0,0), instruction 'add.s32 R3, R1, 1': "
        "reads R1 from ORF 0, which need not hold it"
    )


def test_what_is_written_to_a_place_may_be_read_there() -> None:
    launch(STRAIGHT, {0: START, 1: write(1, 0), 3: read(0, 1)})
    assert "R1 from ORF 1" in fault(STRAIGHT, {0: START, 1: write(1, 0), 3: read(1, 1)})


def test_a_place_holds_one_register() -> None:
    assert "R1 from ORF 0" in fault(STRAIGHT, {0: START, 1: write(1, 0), 2: write(2, 0), 3: read(0, 1)})


def test_a_new_value_makes_old_copies_stale() -> None:
    both = write(1, 0, FILE)
    launch(STRAIGHT, {0: START, 1: both, 3: read(FILE, 1)})
    assert "R1 from ORF 0" in fault(STRAIGHT, {0: START, 1: both, 2: write(1, FILE), 3: read(0, 1)})
    assert "R1 from the register file" in fault(STRAIGHT, {0: START, 1: both, 2: write(1, 1), 3: read(FILE, 1)})


def test_a_fill_leaves_the_register_file_as_it_is() -> None:
    fill = TaintEvent(reads=((FILE, 1),), fills=((1, 1),))
    launch(STRAIGHT, {0: START, 2: fill, 3: TaintEvent(reads=((1, 1), (FILE, 1)))})


def test_a_guarded_instruction_acts_on_its_lanes_alone() -> None:
    """The odd lanes put R2 elsewhere; a read there is right under the same guard, one in the file is wrong."""
    put, take = when(p(0), op("mov.u32", r(2), 1)), op("add.s32", r(3), r(2), 1)
    events = {0: START, 3: write(2, 0), 4: read(FILE, 2)}
    assert "thread (1,0,0)" in fault(kernel([*ODD, put, take, END]), events)
    launch(kernel([*ODD, put, when(p(0), take), END]), events | {4: read(0, 2)})


def test_lanes_that_wait_lose_what_everyone_loses() -> None:
    """The even lanes fall through to where the warp is descheduled; the odd ones read R1 from the ORF afterwards."""
    branch = when(p(0), op("bra", Label("side")))
    code = kernel(
        [*ODD, branch],
        [op("mov.u32", r(2), 1), op("bra", Label("end"))],
        [op("add.s32", r(3), r(1), 1)],
        [END],
        successors=((2, 1), (3,), (3,), ()),
    )
    events = {0: START, 1: write(1, 0), 6: read(0, 1)}
    launch(code, events)
    launch(code, events | {4: TaintEvent(loses=True)})
    assert "thread (1,0,0)" in fault(code, events | {4: TaintEvent(loses=True, everyone=True)})


def test_taints_cost_nothing_where_there_are_none() -> None:
    """Else a byte a lane for each of two places and four bytes for each of eight registers, in units of 64."""
    code = kernel([LANE, END])
    with_none, with_some = Device(EMPTY), Device(EMPTY)
    with_none.install(code)
    with_some.install(code, Taints(PLACES, 8, {}))
    sizes = [device.native("hand").image.register_bytes for device in (with_none, with_some)]
    assert np.diff(sizes).tolist() == [128]
