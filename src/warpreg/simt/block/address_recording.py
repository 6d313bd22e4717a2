"""Native recording of memory addresses, in the word stream that `warpreg.trace.addresses` describes and decodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from warpreg.simt.block.native_records import FRESH_STRIDE, SiteField, Slot, set_slot, slot
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I1, I16, I32, I64, LANES, Code, Value, lanes_of
from warpreg.trace.addresses import MASK_FOLLOWS, PAYLOAD_BITS, PAYLOAD_SHIFT, Kind


def append(code: Code, launch: Value, site: Value, mask: Value, address: Value, size: int) -> None:
    """Append one record: the addresses of the active lanes of one executed memory instruction."""
    function = code.module.globals.get(f"record_{address.type.element}") or _record_function(
        code.module, address.type, size
    )
    code.call(function, [launch, site, mask, address])


def _record_function(module: Any, address_type: Any, size: int) -> Any:
    code = Code(module, f"record_{address_type.element}", ir.VoidType(), [I64, I64, I32, address_type])
    code.function.linkage = "internal"
    code.function.attributes.add("noinline")
    launch, site, mask, narrow = code.arguments
    start = slot(code, launch, Slot.ADDRESSES)
    head, cursor = code.var(code.const(I32, 0)), code.var(start + 4)
    changed = (mask.zext(I64) != (site + SiteField.MASK).load(I64)) & ((site + SiteField.GUARDED).load(I64) != 0)
    with code.if_(changed, likely=False):
        (site + SiteField.MASK).store(mask.zext(I64))
        head.set(code.const(I32, MASK_FOLLOWS))
        _put(cursor, mask)
    nobody = mask == 0
    last_base, last_stride = ((site + field).load(I64) for field in (SiteField.BASE, SiteField.STRIDE))
    first = narrow.lane(0).zext(I64)
    fresh, zero = last_stride == FRESH_STRIDE, code.const(I64, 0)
    base = nobody.select(fresh.select(zero, last_base), first)
    stride = nobody.select(fresh.select(zero, last_stride), narrow.lane(1).zext(I64) - first)
    with code.if_else(_affine_lanes(code, narrow, stride, mask)) as (regular, irregular):
        with regular:
            _affine(code, site, head, cursor, base, stride)
        with irregular:
            _irregular(code, site, mask, head, cursor, narrow.zext(lanes_of(I64)), size)
    start.store(head.get())
    set_slot(launch, Slot.ADDRESSES, cursor.get())
    code.ret()
    return code.function


def _affine_lanes(code: Code, address: Value, stride: Value, mask: Value) -> Value:
    """Whether the active lanes' addresses are lane 0's plus lane * ``stride``, without wrapping; it fits 31 bits."""
    base, ramp = address.lane(0), list(range(LANES))
    step = stride.trunc(I32).splat()
    if address.type.element == I32:
        expected = base.splat() + step * code.const(address.type, ramp)
        last = base.zext(I64) + stride * (LANES - 1)
        fits = _fits(stride, 31) & (last < 1 << 32)
    else:
        expected = base.splat() + step.sext(lanes_of(I64)) * code.const(address.type, ramp)
        fits = _fits(stride, 31)
    return (((address == expected).bitcast(I32) | ~mask) == 0xFFFFFFFF) & fits


def step(code: Code, launch: Value, site: Value, base: Value, stride: Value) -> tuple[Value, Callable[[], None]]:
    """Whether a single AFFINE_STEP is enough, and the function that appends it; for an unguarded, fully active access.

    ``base`` and ``stride`` are i64, lane 0's address and the distance from lane to lane.
    """
    delta = base - (site + SiteField.BASE).load(I64)
    same = stride == (site + SiteField.STRIDE).load(I64)

    def append_step() -> None:
        cursor = slot(code, launch, Slot.ADDRESSES)
        cursor.store(_payload(delta) | Kind.AFFINE_STEP)
        set_slot(launch, Slot.ADDRESSES, cursor + 4)
        (site + SiteField.BASE).store(base)

    return same & _fits(delta, PAYLOAD_BITS), append_step


def _put(cursor: Any, word: Value) -> None:
    cursor.get().store(word)
    cursor.set(cursor.get() + word.type.width // 8)


def _fits(number: Value, bits: int) -> Value:
    """Whether a signed number fits ``bits`` bits."""
    return number + (1 << (bits - 1)) < (1 << bits)


def _payload(delta: Value) -> Value:
    return delta.trunc(I32) << PAYLOAD_SHIFT


def _affine(code: Code, site: Value, head: Any, cursor: Any, base: Value, stride: Value) -> None:
    delta = base - (site + SiteField.BASE).load(I64)
    same = stride == (site + SiteField.STRIDE).load(I64)
    with code.if_else(same & _fits(delta, PAYLOAD_BITS)) as (small, full):
        with small:
            head.set(head.get() | _payload(delta) | Kind.AFFINE_STEP)
        with full:
            head.set(head.get() | Kind.AFFINE)
            _put(cursor, base)
            _put(cursor, stride.trunc(I32))
            (site + SiteField.STRIDE).store(stride)
    (site + SiteField.BASE).store(base)


def _irregular(code: Code, site: Value, mask: Value, head: Any, cursor: Any, address: Value, size: int) -> None:
    """16-bit steps between active lanes in units of the access size if all fit, else whole addresses."""
    array = code.array(I64, LANES)
    array.store(address, align=64)
    first_lane = code.intrinsic("llvm.cttz.i32", I32, [mask, code.const(I1, 1)])
    first = (array + first_lane.zext(I64) * 8).load(I64)
    delta = first - (site + SiteField.BASE).load(I64)
    narrow = code.var(_fits(delta, PAYLOAD_BITS))
    at = code.var(cursor.get())
    with code.if_else(mask == 0xFFFFFFFF) as (all_lanes, some_lanes):
        with all_lanes:
            _steps_of_all_lanes(code, address, size, narrow, at)
        with some_lanes:
            _steps_lane_by_lane(code, array, mask, first, size, narrow, at)
    with code.if_else(narrow.get()) as (steps, wide):
        with steps:
            head.set(head.get() | _payload(delta) | Kind.STEPS)
            at.get().store(code.const(I16, 0))
            cursor.set((at.get() + 3) & ~3)
        with wide:
            _whole_addresses(code, array, mask, address, head, cursor)
    (site + SiteField.BASE).store(first)


def _steps_of_all_lanes(code: Code, address: Value, size: int, narrow: Any, at: Any) -> None:
    before = code.const(lanes_of(I32), [0, *range(LANES - 1)])
    distance = address - Value(code, code.builder.shuffle_vector(address.llvm, address.llvm, before.llvm))
    shift = code.const(address.type, size.bit_length() - 1)
    steps = Value(code, code.builder.ashr(distance.llvm, shift.llvm))
    fits = _fits(steps, 16) & ((distance & (size - 1)) == 0)
    narrow.set(narrow.get() & (fits.bitcast(I32) == 0xFFFFFFFF))
    at.get().store(steps.trunc(lanes_of(I16)), align=4)
    at.set(at.get() + 2 * LANES)


def _steps_lane_by_lane(code: Code, array: Value, mask: Value, first: Value, size: int, narrow: Any, at: Any) -> None:
    previous = code.var(first)
    with code.each_set_bit(mask) as lane:
        now = (array + lane.zext(I64) * 8).load(I64)
        distance = now - previous.get()
        step = Value(code, code.builder.ashr(distance.llvm, ir.Constant(I64, size.bit_length() - 1)))
        narrow.set(narrow.get() & _fits(step, 16) & ((distance & (size - 1)) == 0))
        _put(at, step.trunc(I16))
        previous.set(now)


def _whole_addresses(code: Code, array: Value, mask: Value, address: Value, head: Any, cursor: Any) -> None:
    """One word per lane if all active lanes' addresses fit, else two."""
    short = ((address < 1 << 32).bitcast(I32) | ~mask) == 0xFFFFFFFF
    head.set(head.get() | Kind.EACH | (short.zext(I32) << PAYLOAD_SHIFT))
    with code.each_set_bit(mask) as lane:
        now = (array + lane.zext(I64) * 8).load(I64)
        cursor.get().store(now, align=4)
        cursor.set(cursor.get() + short.select(4, code.const(I64, 8)))
