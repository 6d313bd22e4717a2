"""Taints: bits beside the lanes of places, set, cleared and required at instructions."""

from __future__ import annotations

import numpy as np
import pytest
from tests.designs.kernels import kernel, op, p, r, when

from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Label, Special
from warpreg.simt import Device, TaintEvent, TaintFault, Taints

EMPTY = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry hand() { ret; }\n"
NAMES = ("R1 from above", "R2 from above")
LANE = op("mov.u32", r(0), Special("%laneid"))
ODD = [LANE, op("and.b32", r(1), r(0), 1), op("setp.ne.u32", p(0), r(1), 0)]
END = op("ret")


def launch(code: Kernel, events: dict[int, TaintEvent], threads: int = 32) -> None:
    device = Device(EMPTY)
    device.install(code, Taints(NAMES, events))
    device.launch("hand", 1, threads)


def fault(code: Kernel, events: dict[int, TaintEvent]) -> str:
    with pytest.raises(TaintFault) as error:
        launch(code, events)
    return str(error.value)


def test_what_is_lost_must_not_be_read() -> None:
    code = kernel([LANE, op("add.s32", r(2), r(0), 1), END])
    message = fault(code, {0: TaintEvent(lost=(0,), everyone=True), 1: TaintEvent(required=(0,))})
    assert message == (
        "kernel 'hand', block (0,0,0), thread (0,0,0), instruction 'add.s32 R2, R0, 1': "
        "reads R1 from above, which need not hold it"
    )


def test_what_an_instruction_holds_may_be_read_after_it() -> None:
    code = kernel([LANE, op("add.s32", r(2), r(0), 1), END])
    launch(code, {0: TaintEvent(lost=(0, 1), everyone=True, held=(0,)), 1: TaintEvent(required=(0,))})


def test_a_guarded_instruction_acts_on_its_lanes_alone() -> None:
    """The odd lanes lose it; reading is right under the opposite guard and wrong without one."""
    write = when(p(0), op("mov.u32", r(2), 1))
    read = op("add.s32", r(3), r(0), 1)
    lost = {0: TaintEvent(trusted=(0,), everyone=True), 3: TaintEvent(stale=(0,)), 4: TaintEvent(required=(0,))}
    assert "thread (1,0,0)" in fault(kernel([*ODD, write, read, END]), lost)
    launch(kernel([*ODD, write, when(p(1), read), END]), lost)


def test_lanes_that_wait_lose_what_everyone_loses() -> None:
    """The lanes that fall through come to where the warp loses it; the others read it afterwards."""
    branch = when(p(0), op("bra", Label("side")))
    code = kernel(
        [*ODD, branch], [op("mov.u32", r(2), 1)], [op("mov.u32", r(3), 1), END], successors=((2, 1), (2,), ())
    )
    events = {0: TaintEvent(trusted=(0,), everyone=True), 5: TaintEvent(required=(0,))}
    launch(code, events | {4: TaintEvent(lost=(1,), everyone=True)})
    assert "thread (0,0,0)" in fault(code, events | {4: TaintEvent(lost=(0,), everyone=True)})
    straight = {0: TaintEvent(trusted=(0,), everyone=True), 4: TaintEvent(lost=(0,))}
    assert "thread (0,0,0)" in fault(code, straight | {5: TaintEvent(required=(0,))})


def test_taints_cost_nothing_where_there_are_none() -> None:
    code = kernel([LANE, END])
    with_none, with_some = Device(EMPTY), Device(EMPTY)
    with_none.install(code)
    with_some.install(code, Taints(NAMES, {}))
    sizes = [device.native("hand").image.register_bytes for device in (with_none, with_some)]
    assert np.diff(sizes).tolist() == [64]
