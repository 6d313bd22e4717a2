"""Native recording of memory addresses, in the word stream that `warpreg.trace.addresses` describes and decodes."""

from __future__ import annotations

from typing import Any

from warpreg.simt import llvm as ir
from warpreg.simt.driver import set_slot, slot
from warpreg.simt.emitter import I1, I16, I32, I64, LANES, Code, Value, lanes_of
from warpreg.simt.state import SiteField, Slot
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
    address = narrow.zext(lanes_of(I64))
    start = slot(code, launch, Slot.ADDRESSES)
    head, cursor = code.var(code.const(I32, 0)), code.var(start + 4)
    changed = (mask != (site + SiteField.MASK).load(I64).trunc(I32)) & ((site + SiteField.GUARDED).load(I64) != 0)
    with code.if_(changed, likely=False):
        (site + SiteField.MASK).store(mask.zext(I64))
        head.set(code.const(I32, MASK_FOLLOWS))
        _put(cursor, mask)
    nobody = mask == 0
    last_base, last_stride = ((site + field).load(I64) for field in (SiteField.BASE, SiteField.STRIDE))
    base = nobody.select(last_base, address.lane(0))
    stride = nobody.select(last_stride, address.lane(1) - base)
    ramp = code.const(lanes_of(I64), list(range(LANES)))
    affine = ((address - base.splat() == ramp * stride.splat()).bitcast(I32) | ~mask) == 0xFFFFFFFF
    with code.if_else(affine & _fits(stride, 31)) as (regular, irregular):
        with regular:
            _affine(code, site, head, cursor, base, stride)
        with irregular:
            _irregular(code, site, mask, head, cursor, address, size)
    start.store(head.get())
    set_slot(launch, Slot.ADDRESSES, cursor.get())
    code.ret()
    return code.function


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
    """Lane after lane: 16-bit steps in units of the access size where all fit, else the 64-bit addresses."""
    array = code.array(I64, LANES)
    array.store(address, align=64)
    first_lane = code.intrinsic("llvm.cttz.i32", I32, [mask, code.const(I1, 1)])
    first = (array + first_lane.zext(I64) * 8).load(I64)
    delta = first - (site + SiteField.BASE).load(I64)
    narrow = code.var(_fits(delta, PAYLOAD_BITS))
    previous, at = code.var(first), code.var(cursor.get())
    with code.each_set_bit(mask) as lane:
        now = (array + lane.zext(I64) * 8).load(I64)
        distance = now - previous.get()
        step = Value(code, code.builder.ashr(distance.llvm, ir.Constant(I64, size.bit_length() - 1)))
        narrow.set(narrow.get() & _fits(step, 16) & ((distance & (size - 1)) == 0))
        _put(at, step.trunc(I16))
        previous.set(now)
    with code.if_else(narrow.get()) as (steps, wide):
        with steps:
            head.set(head.get() | _payload(delta) | Kind.STEPS)
            at.get().store(code.const(I16, 0))
            cursor.set((at.get() + 3) & ~3)
        with wide:
            head.set(head.get() | Kind.EACH)
            with code.each_set_bit(mask) as lane:
                _put(cursor, (array + lane.zext(I64) * 8).load(I64))
    (site + SiteField.BASE).store(first)
