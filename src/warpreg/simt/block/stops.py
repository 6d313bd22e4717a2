"""Native code that ends a launch with a fault, its instruction and its lane."""

from __future__ import annotations

from warpreg.simt.block.native_records import Fault, Slot, set_slot, slot
from warpreg.simt.llvm.emitter import I1, I32, I64, LANES, Code, Value


def stop(code: Code, launch: Value, fault: Fault, site: Value, lane: Value, address: Value | None = None) -> None:
    """Store a fault of a lane (i32) in the launch record, and that the next block is not entered without a look at it;
    ``address`` (i64) is what it reports."""
    set_slot(launch, Slot.FAULT, code.const(I64, fault))
    set_slot(launch, Slot.FAULT_SITE, site)
    set_slot(launch, Slot.FAULT_LANE, lane.zext(I64))
    if address is not None:
        set_slot(launch, Slot.FAULT_ADDRESS, address)
    set_slot(launch, Slot.LOOK_AT, code.const(I64, 0))


def stop_if(code: Code, launch: Value, fault: Fault, site: Value, lanes: Value, address: Value | None = None) -> None:
    """Store a fault in the launch record unless ``lanes`` (i32) is empty; the first fault of a block is kept.

    ``address`` holds the addresses of all lanes; that of the lowest faulting lane is reported.
    """
    with code.if_((lanes != 0) & (slot(code, launch, Slot.FAULT) == 0), likely=False):
        lane = code.intrinsic("llvm.cttz.i32", I32, [lanes, code.const(I1, 0)]) & (LANES - 1)
        stop(code, launch, fault, site, lane, None if address is None else address.lane(lane).zext(I64))


def stop_unless_whole(code: Code, launch: Value, site: Value, mask: Value) -> None:
    """Fault if some, but not all lanes of the warp execute a warp-wide instruction.

    The reported lane is the first that does not execute it.
    """
    divided = (mask != 0) & (mask != 0xFFFFFFFF)
    stop_if(code, launch, Fault.DIVIDED, site, divided.select(~mask, code.const(I32, 0)))
