"""Accesses whose lanes are as expected (`block_versions`): side by side or at one address, in bounds and aligned.

Lanes are compared whether they are active or not: what an inactive lane would load is read, but not used.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.block.native_records import Slot
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import FULL, I1, I64, LANES, MASK, Value, apart, lanes_of
from warpreg.simt.memory.coalesced_path import Place, within_buffer, within_shared
from warpreg.simt.memory.load_store import Operation
from warpreg.simt.memory.prefetch import prefetch_row
from warpreg.simt.memory.scaled_index import scaled_index


@dataclass(frozen=True)
class ExpectedLanes:
    """32 addresses: ``base`` is that of lane 0; ``differs`` is not 0 in the lanes that are not where they should be
    (32 lanes), ``wraps`` whether their indices pass the end of their range."""

    base: Value
    differs: Value
    wraps: Value | None

    @staticmethod
    def of(values: BlockValues, address: Value, size: int, stride: int) -> ExpectedLanes:
        """Addresses of elements of ``size`` bytes that should be ``stride`` bytes apart: 0, or as many."""
        key = ("expected", id(address.llvm), size, stride)
        if key not in values.shapes:
            scaled = scaled_index(values.code, address, size)
            numbers = scaled.index if scaled else address
            step = (1 if scaled else size) if stride else 0
            first = numbers.lane(0)
            values.shapes[key] = ExpectedLanes(
                base=scaled.address(first, size) if scaled else first,
                differs=_differs(values, numbers, first, step),
                wraps=scaled.wraps(first, LANES - 1) if scaled and step else None,
            )
        found: ExpectedLanes = values.shapes[key]
        return found


def _differs(values: BlockValues, numbers: Value, first: Value, step: int) -> Value:
    """By lane, the difference of numbers from those that begin with ``first`` and go on in steps; computed once."""
    key = ("differs", id(numbers.llvm), step)
    if key not in values.shapes:
        ramp = values.code.const(numbers.type, [step * lane for lane in range(LANES)])
        values.shapes[key] = numbers ^ (first.splat() + ramp if step else first.splat())
    found: Value = values.shapes[key]
    return found


def is_expected(values: BlockValues, space: str, lanes: ExpectedLanes, place: Place, size: int) -> Value:
    """Whether an access, and all in its span, are in bounds and aligned if its lanes are as expected."""
    reach = values.code.const(I64, size * (LANES - 1) if place.span.stride else 0)
    if space == "shared":
        sound = within_shared(values, lanes.base, reach, place.span, size)
    else:
        sound = within_buffer(lanes.base, reach, place, 0)
    sound = sound & ((lanes.base & (size - 1)) == 0)
    return sound if lanes.wraps is None else sound & (lanes.wraps ^ values.code.const(I1, 1))


def load(values: BlockValues, operation: Operation, lanes: ExpectedLanes, place: Place) -> Value:
    """Load what all lanes expect."""
    host, element = _host(values, operation, lanes, place), ir.IntType(8 * operation.size)
    if not place.span.stride:
        return host.load(element, align=operation.size).splat()
    return host.load(lanes_of(element), align=operation.size)


def store(
    values: BlockValues, operation: Operation, lanes: ExpectedLanes, place: Place, value: Value, mask: Value
) -> None:
    """Store the values of the lanes of ``mask`` to a row."""
    code, host, align = values.code, _host(values, operation, lanes, place), operation.size
    with code.if_else(mask == FULL) as (all_lanes, some_lanes):
        with all_lanes:
            host.store(value, align=align)
        with some_lanes:
            kept = apart(host.load(value.type, align=align))
            host.store(mask.bitcast(MASK).select(value, kept), align=align)


def _host(values: BlockValues, operation: Operation, lanes: ExpectedLanes, place: Place) -> Value:
    """The host address of lane 0; later rows of global memory are fetched."""
    in_shared = operation.space == "shared"
    origin = values.field(Slot.SHARED if in_shared else Slot.GLOBAL_BIAS)
    host = lanes.base.zext(I64) + origin + place.offset % (1 << 64)
    if not in_shared:
        prefetch_row(values.code, host, operation.size, operation.action == "store")
    return host
