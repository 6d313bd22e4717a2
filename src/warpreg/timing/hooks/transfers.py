"""Transfers along the paths of a design: they wait for banks and bandwidth, and a hook is called when they are done.

What takes the place of functions of `warpreg.timing.core.ports` and `warpreg.timing.hooks.adapters` where a design has
paths.  A transfer is an entry that waits in the queue of a bank (AT_SOURCE), in the timing wheel (ON_PATH), then in the
queue of a bank (AT_TARGET).  Registers set out in the order in which their sources have been read.

``path_free`` [SM, counter]: the first place on a path that is free, counted over all cycles: the register that sets out
in place ``p`` of a path with ``n`` lanes does so in cycle ``p // n``.
"""

from __future__ import annotations

from typing import Any

from warpreg.designs.interface.paths import (
    FIRST,
    INTERVAL,
    LANES,
    LATENCY,
    OWNED_BY,
    READS_MAIN,
    TRANSFER,
    WRITES_MAIN,
)
from warpreg.designs.interface.plan import EXTRA_ACTION, EXTRA_BANK, EXTRA_REGISTER, EXTRA_WARP, UNSET
from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.columns import clock, ops, warps
from warpreg.timing.core.inflight import give_op, schedule, take_op
from warpreg.timing.core.port import placeholder, port, stands_for
from warpreg.timing.core.rows import number_of, numbered_warp, slot_of
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, OpRow, SmRow, WarpRow
from warpreg.timing.hooks import adapters


@placeholder
def transferred(state: Any, program: Any, warp: int, path: int, register: int, plan: Any) -> None:
    """Placeholder for the design's hook."""


@stands_for(adapters.take_extra, when.PATHS)
def take_extra_or_transfer(c: Core, d: Any, sm: SmRow, row: int, now: int) -> None:
    if d.extras[row, EXTRA_ACTION] < TRANSFER:
        adapters.keep_extra(c, d, sm, row)
    elif c.clock[clock.FREE_OPS] < 2:
        c.clock[clock.OVERFLOW] = 1
    else:
        _begin(c, d, sm, row, now)


def _begin(c: Core, d: Any, sm: SmRow, row: int, now: int) -> None:
    """A hook has started a transfer: its source is read, in banks from the end of this phase on."""
    warp = numbered_warp(c, d.extras[row, EXTRA_WARP])
    path, register = d.extras[row, EXTRA_ACTION] - TRANSFER, d.extras[row, EXTRA_REGISTER]
    op = take_op(c, sm, warp, ops.TRANSFER)
    c.rows[op, ops.PATH] = path
    c.rows[op, ops.REGISTER] = register
    c.rows[op, ops.WARP_AGE] = c.rows[warp, warps.AGE]
    c.rows[op, ops.STAGE] = ops.AT_SOURCE
    if not ports.is_ideal(c) and (d.plan.paths[path, READS_MAIN] | d.plan.paths[path, WRITES_MAIN]) != 0:
        bank = d.extras[row, EXTRA_BANK]
        c.rows[op, ops.CURSOR] = bank if bank != UNSET else ports.bank_of(c, warp, register)
    if not ports.is_ideal(c) and d.plan.paths[path, READS_MAIN] != 0:
        adapters.await_bank(c, sm, op)
    else:
        _set_out(c, d, sm, op, now)


def _set_out(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """A register that has been read sets out on its path, now or when there is room."""
    path = c.rows[op, ops.PATH]
    counter = d.plan.paths[path, FIRST] + slot_of(c, sm, c.rows[op, ops.WARP]) % d.plan.paths[path, OWNED_BY]
    lanes = d.plan.paths[path, LANES]
    place = max(d.path_free[sm, counter], now * lanes)
    d.path_free[sm, counter] = place + d.plan.paths[path, INTERVAL]
    c.rows[op, ops.STAGE] = ops.ON_PATH
    schedule(c, sm, op, place // lanes + d.plan.paths[path, LATENCY], now)


@stands_for(ports.is_transfer, when.PATHS)
def is_transfer(c: Core, entry: OpRow) -> bool:
    return c.rows[entry, ops.PC] == ops.TRANSFER


@stands_for(ports.advance_transfer, when.PATHS)
def advance_transfer(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    stage = c.rows[op, ops.STAGE]
    if stage == ops.AT_SOURCE:
        _set_out(c, d, sm, op, now)
    elif stage == ops.ON_PATH and not ports.is_ideal(c) and d.plan.paths[c.rows[op, ops.PATH], WRITES_MAIN] != 0:
        c.rows[op, ops.STAGE] = ops.AT_TARGET
        adapters.await_bank(c, sm, op)
    else:
        _is_there(c, d, sm, op, now)


def _is_there(c: Core, d: Any, sm: SmRow, op: OpRow, now: int) -> None:
    """A transfer is complete; nobody is told if its warp has left its slot."""
    warp, path, register = c.rows[op, ops.WARP], c.rows[op, ops.PATH], c.rows[op, ops.REGISTER]
    is_here = c.rows[warp, warps.PRESENT] != 0 and c.rows[warp, warps.AGE] == c.rows[op, ops.WARP_AGE]
    give_op(c, op)
    if is_here:
        tell_transferred(c, d, sm, warp, path, register, now)


@port("the hook transferred")
def tell_transferred(c: Core, d: Any, sm: SmRow, warp: WarpRow, path: int, register: int, now: int) -> None:
    """Call the hook, if the design defines it."""


@stands_for(tell_transferred, when.hook("transferred"))
def call_transferred(c: Core, d: Any, sm: SmRow, warp: WarpRow, path: int, register: int, now: int) -> None:
    number = number_of(c, warp)
    plan = adapters.plan_of(c, d, sm, number, NONE, 0, NONE, NONE, now)
    transferred(d.state, d.program, number, path, register, plan)
    adapters.settle(c, d, sm, now)
