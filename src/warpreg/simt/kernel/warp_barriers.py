"""Barriers of a thread block in the driver: arrival and release.

Warps that wait are counted, by barrier.  Where a kernel has one barrier at which all warps wait (`ALL_WAIT`), nothing
is counted: the warps that have not ended and are not ready wait there.
"""

from __future__ import annotations

from typing import Any

from warpreg.simt.block.native_records import (
    ALL_WAIT,
    RESULT_BYTES,
    RESULT_ENTRIES,
    BlockField,
    Slot,
    Warp,
    set_slot,
    slot,
)
from warpreg.simt.kernel.warp_state import WarpState, warp_record
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I1, I32, I64, Code, Value


def define_release(module: Any, notes: bool = False) -> Any:
    """``release(launch, barrier)``: release every warp at a barrier whose count is complete; ``notes``: what they have
    reduced is noted in their records."""
    code = Code(module, "release", ir.VoidType(), [I64, I64])
    launch, barrier = code.arguments
    code.function.linkage = "internal"
    arrived = launch + barrier * 8 + Slot.ARRIVED * 8
    with code.if_(arrived.load(I64) < _awaited(code, launch, barrier)):
        code.ret()
    arrived.store(code.const(I64, 0))
    pending = slot(code, launch, Slot.PENDING)
    set_slot(launch, Slot.PENDING, pending & ~(code.const(I64, 1) << barrier))
    waits = launch + barrier * 8 + Slot.WAITS * 8
    waiting = waits.load(I64)
    waits.store(code.const(I64, 0))
    set_slot(launch, Slot.READY, slot(code, launch, Slot.READY) | waiting)
    reduced = (launch + barrier * 8 + Slot.REDUCED_THREADS * 8).load(I64) != 0
    with code.if_(reduced, likely=False), code.each_set_bit(waiting.trunc(I32)) as warp:
        index = warp.zext(I64)
        record = warp_record(code, launch, index)
        if notes:
            _note(code, launch, record, barrier)
        else:
            _resume(code, launch, record, index)
    for first in (Slot.REDUCED_COUNT, Slot.REDUCED_THREADS):
        (launch + barrier * 8 + first * 8).store(code.const(I64, 0))
    code.ret()
    return code.function


def _note(code: Code, launch: Value, record: Value, barrier: Value) -> None:
    """Add what a barrier has reduced to the results of a warp."""
    number = (record + Warp.REDUCED).load(I32)
    (record + Warp.REDUCED).store(number + 1)
    entry = record + Warp.RESULTS + (number & RESULT_ENTRIES - 1).zext(I64) * RESULT_BYTES
    for place, first in enumerate((Slot.REDUCED_COUNT, Slot.REDUCED_THREADS)):
        (entry + 4 * place).store((launch + barrier * 8 + first * 8).load(I64).trunc(I32))
    (entry + 8).store((record + Warp.REDUCTION).load(I32))


def _resume(code: Code, launch: Value, record: Value, warp: Value) -> None:
    """Store the result of ``bar.red`` in a released warp, through the function of the block at which it stopped."""
    function = ((record + Warp.BARRIER_BLOCK).load(I64) + BlockField.RESUME).load(I64)
    with code.if_(function != 0):
        registers = slot(code, launch, Slot.REGISTERS) + warp * slot(code, launch, Slot.REGISTER_BYTES)
        code.call_at(function, I32, [launch, registers, (record + Warp.BARRIER_MASK).load(I32)])


def arrive(state: WarpState, block: Value | None = None) -> Value:
    """Arrive at a barrier that ends ``block``, by default the one that ran; bit 32 of the barrier's number states that
    the warp does not wait (``bar.arrive``).  Returns whether no other warp has to come."""
    number, complete = slot(state.code, state.launch, Slot.BARRIER), state.code.var(state.code.const(I1, 0))
    with state.code.if_else((number >> ALL_WAIT) != 0) as (only, one_of_many):
        with only:
            state.ready.set(state.ready.get() & ~state.bit)
            complete.set(state.ready.get() == 0)
        with one_of_many:
            complete.set(_counted(state, number, block or state.running.block))
    return complete.get()


def release_all(state: WarpState, release: Any) -> None:
    """Release the warps at the barrier at which the running one has arrived last."""
    code, launch = state.code, state.launch
    number = slot(code, launch, Slot.BARRIER)
    with code.if_else((number >> ALL_WAIT) != 0) as (only, one_of_many):
        with only:
            state.ready.set(slot(code, launch, Slot.ALIVE))
        with one_of_many:
            set_slot(launch, Slot.READY, state.ready.get())
            code.call(release, [launch, number & 15])
            state.ready.set(slot(code, launch, Slot.READY))


def _counted(state: WarpState, number: Value, block: Value) -> Value:
    """Count an arrival; returns whether the count is complete."""
    code, launch, barrier = state.code, state.launch, number & 15
    arrived = launch + barrier * 8 + Slot.ARRIVED * 8
    count = arrived.load(I64) + 1
    arrived.store(count)
    (launch + barrier * 8 + Slot.EXPECTED * 8).store(slot(code, launch, Slot.BARRIER_THREADS))
    bit = code.const(I64, 1)
    set_slot(launch, Slot.PENDING, slot(code, launch, Slot.PENDING) | (bit << barrier))
    with code.if_((number >> 32) == 0):
        state.ready.set(state.ready.get() & ~state.bit)
        waits = launch + barrier * 8 + Slot.WAITS * 8
        waits.store(waits.load(I64) | state.bit)
        (state.record + Warp.BARRIER_MASK).store(state.mask.get())
        (state.record + Warp.BARRIER_BLOCK).store(state.row(block))
    return count >= _awaited(code, launch, barrier)


def _awaited(code: Code, launch: Value, barrier: Value) -> Value:
    """The number of warps for which a barrier waits."""
    threads = (launch + barrier * 8 + Slot.EXPECTED * 8).load(I64)
    alive = code.intrinsic("llvm.ctpop.i64", I64, [slot(code, launch, Slot.ALIVE)])
    return (threads == 0).select(alive, (threads + 31) // 32)
