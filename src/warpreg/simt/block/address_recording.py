"""Native recording of memory addresses, in the word stream that `warpreg.trace.addresses` describes and decodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warpreg.simt.block.native_records import FRESH_STRIDE, SiteField, Slot, set_slot, slot
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import FULL, I1, I8, I16, I32, I64, LANES, MASK, Code, Value, Variable, lanes_of
from warpreg.simt.llvm.object_code import can_compress
from warpreg.simt.llvm.spilling import spilled
from warpreg.trace.addresses import MASK_FOLLOWS, OFFSETS_BITS, PAYLOAD_BITS, PAYLOAD_SHIFT, Kind, Offsets

NEAR_BITS = PAYLOAD_BITS - OFFSETS_BITS


def append(code: Code, launch: Value, site: Value, mask: Value, address: Value, size: int) -> None:
    """Append one record: the addresses of the active lanes of one executed memory instruction."""
    function = code.module.globals.get(f"record_{address.type.element}") or _record_function(
        code.module, address.type, size
    )
    code.call(function, [launch, site, mask, address])


def append_affine(code: Code, launch: Value, site: Value, mask: Value, base: Value, stride: int) -> None:
    """Append the record of active lanes ``stride`` bytes apart; ``base`` is the address of lane 0."""
    step = Step(code, launch, site, base.zext(I64))
    with code.if_else(step.suffices(mask, stride)) as (small, full):
        with small:
            step.append()
        with full:
            function = code.module.globals.get("record_affine") or _affine_function(code.module)
            code.call(function, [launch, site, mask, step.base, code.const(I64, stride)])


def append_idle(code: Code, launch: Value) -> None:
    """Append the record of an instruction without active lanes whose last record had none: the same base again."""
    _append_word(code, launch, step_word(code.const(I64, 0)))


def _append_word(code: Code, launch: Value, word: Value) -> None:
    position = slot(code, launch, Slot.ADDRESSES)
    position.store(word)
    set_slot(launch, Slot.ADDRESSES, position + 4)


class Step:
    """The record of active lanes that continue the last ones of their instruction, in one word; ``base`` (i64) is the
    address of lane 0."""

    def __init__(self, code: Code, launch: Value, site: Value, base: Value) -> None:
        self.code, self.launch, self.site, self.base = code, launch, site, base
        self._delta = base - (site + SiteField.BASE).load(I64)

    def suffices(self, mask: Value, stride: int) -> Value:
        """Whether lanes ``stride`` bytes apart have the distance and the mask of the last ones, and are near them."""
        same = (self.site + SiteField.STRIDE).load(I64) == stride
        return same & fits_step(self._delta) & ~mask_changed(self.site, mask)

    def append(self) -> None:
        """Append it."""
        _append_word(self.code, self.launch, step_word(self._delta))
        (self.site + SiteField.BASE).store(self.base)


def fits_step(delta: Value) -> Value:
    """Whether the distance of a base from the last one (i64) fits an AFFINE_STEP."""
    return _fits(delta, PAYLOAD_BITS)


def step_word(delta: Value) -> Value:
    """AFFINE_STEP without a mask, which is one word."""
    return (delta.trunc(I32) << PAYLOAD_SHIFT) | Kind.AFFINE_STEP


@dataclass(frozen=True)
class _Record:
    """A record in the making: the instruction's site, its active lanes, the first word, and the place of the next."""

    code: Code
    launch: Value
    site: Value
    mask: Value
    start: Value
    head: Variable
    cursor: Variable

    @staticmethod
    def begun(code: Code) -> _Record:
        """A record with the mask of active lanes, if it has changed; for a function of launch, site and mask."""
        launch, site, mask = code.arguments[:3]
        start = slot(code, launch, Slot.ADDRESSES)
        record = _Record(code, launch, site, mask, start, code.var(code.const(I32, 0)), code.var(start + 4))
        with code.if_(mask_changed(site, mask), likely=False):
            (site + SiteField.MASK).store(mask.zext(I64))
            record.head.set(code.const(I32, MASK_FOLLOWS))
            record.put(mask)
        return record

    def put(self, word: Value) -> None:
        """Append a word, or two."""
        self.cursor.get().store(word, align=4)
        self.cursor.set(self.cursor.get() + word.type.width // 8)

    def set_head(self, kind: Kind, payload: Value) -> None:
        """Complete the first word; ``payload`` is an i32."""
        self.head.set(self.head.get() | (payload << PAYLOAD_SHIFT) | kind)

    def from_last(self, base: Value) -> Value:
        """The distance (i64) from the base of the instruction's last record."""
        return base - (self.site + SiteField.BASE).load(I64)

    def set_base(self, base: Value) -> None:
        (self.site + SiteField.BASE).store(base)

    def end(self) -> None:
        """Write the first word and return."""
        self.start.store(self.head.get())
        set_slot(self.launch, Slot.ADDRESSES, self.cursor.get())
        self.code.ret()

    def affine(self, base: Value, stride: Value) -> None:
        delta = self.from_last(base)
        same = stride == (self.site + SiteField.STRIDE).load(I64)
        with self.code.if_else(same & _fits(delta, PAYLOAD_BITS)) as (small, full):
            with small:
                self.set_head(Kind.AFFINE_STEP, delta.trunc(I32))
            with full:
                self.set_head(Kind.AFFINE, self.code.const(I32, 0))
                self.put(base)
                self.put(stride.trunc(I32))
                (self.site + SiteField.STRIDE).store(stride)
        self.set_base(base)

    def ramp(self, base: Value, stride: Value) -> None:
        self.set_head(Kind.OFFSETS, _near(self.from_last(base), Offsets.RAMP))
        self.put(stride.trunc(I32))
        self.set_base(base)

    def irregular(self, address: Value, size: int) -> None:
        """Offsets if they are small, else whole addresses."""
        code, mask = self.code, self.mask
        last = (self.site + SiteField.BASE).load(I64)
        offset, delta, near = _from_lowest(code, address, last, mask)
        shift = code.const(offset.type, size.bit_length() - 1)
        units = code.intrinsic("llvm.fshr.v32i32", offset.type, [offset, offset, shift])  # misaligned ones are large
        small = _all(units < 1 << 8, mask)
        with code.if_else(near & _fits(delta, NEAR_BITS) & _all(units < 1 << 16, mask)) as (offsets, whole):
            with offsets:
                self.set_head(Kind.OFFSETS, _near(delta, Offsets.HALVES) - small.zext(I32))
                self._put_offsets(units, small)
                self.set_base(last + delta)
            with whole:
                self._put_addresses(address.zext(lanes_of(I64)))

    def _put_offsets(self, units: Value, small: Value) -> None:
        """Append the offsets of active lanes, in bytes if they are ``small``, else in halves; none of a single lane."""
        code = self.code
        count = code.intrinsic("llvm.ctpop.i32", I32, [self.mask]).zext(I64)
        put = _compressed if can_compress() else _one_by_one
        with code.if_else(small) as (bytes_, halves):
            with bytes_:
                put(code, units.trunc(lanes_of(I8)), self.mask, self.cursor.get())
            with halves:
                put(code, units.trunc(lanes_of(I16)), self.mask, self.cursor.get())
        size = small.select(count, count + count)
        self.cursor.set(self.cursor.get() + (count == 1).select(0, (size + 3) & ~3))

    def _put_addresses(self, address: Value) -> None:
        """Append whole addresses: one word per lane if all fit, else two."""
        code, mask = self.code, self.mask
        short = _all(address < 1 << 32, mask)
        self.set_head(Kind.EACH, short.zext(I32))
        array = spilled(code, address)
        first_lane = code.intrinsic("llvm.cttz.i32", I32, [mask, code.const(I1, 1)])
        self.set_base((array + first_lane.zext(I64) * 8).load(I64))
        with code.each_set_bit(mask) as lane:
            now = (array + lane.zext(I64) * 8).load(I64)
            self.cursor.get().store(now, align=4)
            self.cursor.set(self.cursor.get() + short.select(4, code.const(I64, 8)))


def _record_function(module: Any, address_type: Any, size: int) -> Any:
    code = _function(module, f"record_{address_type.element}", [address_type])
    record, address = _Record.begun(code), code.arguments[3]
    nobody = record.mask == 0
    last_base, last_stride = ((record.site + field).load(I64) for field in (SiteField.BASE, SiteField.STRIDE))
    first = address.lane(0).zext(I64)
    fresh, zero = last_stride == FRESH_STRIDE, code.const(I64, 0)
    base = nobody.select(fresh.select(zero, last_base), first)
    stride = nobody.select(fresh.select(zero, last_stride), address.lane(1).zext(I64) - first)
    is_affine = _are_affine(code, address, stride, record.mask)
    with code.if_else(is_affine & (nobody | _stays_inside(address, base, stride))) as (affine, others):
        with affine:
            record.affine(base, stride)
        with others:
            if address.type.element == I32:
                _record_offsets(record, address, is_affine, base, stride, size)
            else:
                record.irregular(address, size)
    record.end()
    return code.function


def _record_offsets(record: _Record, address: Value, is_affine: Value, base: Value, stride: Value, size: int) -> None:
    """Irregular addresses of 32 bits: a ramp, if the active lanes are one without wrapping."""
    code, mask = record.code, record.mask
    last_lane = code.const(I64, LANES - 1) - code.intrinsic("llvm.ctlz.i32", I32, [mask, code.const(I1, 0)]).zext(I64)
    fits = _fits(record.from_last(base), NEAR_BITS) & (base + stride * last_lane < 1 << 32)
    with code.if_else(is_affine & fits) as (ramp, others):
        with ramp:
            record.ramp(base, stride)
        with others:
            record.irregular(address, size)


def _affine_function(module: Any) -> Any:
    code = _function(module, "record_affine", [I64, I64])
    record = _Record.begun(code)
    record.affine(*code.arguments[3:])
    record.end()
    return code.function


def _function(module: Any, name: str, rest: list[Any]) -> Code:
    """A function that appends a record; ``rest`` are the types of its arguments behind launch, site and mask."""
    code = Code(module, name, ir.VoidType(), [I64, I64, I32, *rest])
    code.function.linkage = "internal"
    code.function.attributes.add("noinline")
    return code


def mask_changed(site: Value, mask: Value) -> Value:
    """Whether the mask must be recorded."""
    last, guarded = (site + SiteField.MASK).load(I64), (site + SiteField.GUARDED).load(I64)
    return ((mask.zext(I64) ^ last) & guarded) != 0


def _are_affine(code: Code, address: Value, stride: Value, mask: Value) -> Value:
    """Whether active lanes have, modulo their size, lane 0's address plus lane * ``stride``, which fits 31 bits."""
    ramp, step_ = code.const(address.type, list(range(LANES))), stride.trunc(I32).splat()
    if address.type.element == I64:
        step_ = step_.sext(address.type)
    return _all(address == address.lane(0).splat() + step_ * ramp, mask) & _fits(stride, 31)


def _stays_inside(address: Value, base: Value, stride: Value) -> Value:
    """Whether the address of lane 31, active or not, is one."""
    if address.type.element == I64:
        return address.code.const(I1, 1)
    return base + stride * (LANES - 1) < 1 << 32


def _from_lowest(code: Code, address: Value, last: Value, mask: Value) -> tuple[Value, Value, Value]:
    """The distances (i32) from the lowest address of active lanes, the distance of this one from ``last`` (i64), and
    whether both are right."""
    lanes = mask.bitcast(MASK)
    if address.type.element == I32:
        everywhere = lanes.select(address, code.const(address.type, FULL))
        lowest = code.intrinsic("llvm.vector.reduce.umin.v32i32", I32, [everywhere])
        return address - lowest.splat(), lowest.zext(I64) - last, code.const(I1, 1)
    distance = address - last.splat()
    short = distance.trunc(lanes_of(I32))
    everywhere = lanes.select(short, code.const(short.type, FULL >> 1))
    lowest = code.intrinsic("llvm.vector.reduce.smin.v32i32", I32, [everywhere])
    return short - lowest.splat(), lowest.sext(I64), _all(short.sext(distance.type) == distance, mask)


def _compressed(code: Code, values: Value, mask: Value, at: Value) -> None:
    """Store the values of active lanes side by side, then zeros."""
    name = f"llvm.experimental.vector.compress.v32i{values.type.element.width}"
    arguments = [values, mask.bitcast(MASK), code.const(values.type, 0)]
    at.store(code.intrinsic(name, values.type, arguments), align=1)


def _one_by_one(code: Code, values: Value, mask: Value, at: Value) -> None:
    """The same on a host without an instruction for it; after the values, a word of zero."""
    array, size = spilled(code, values), values.type.element.width // 8
    place = code.var(at)
    with code.each_set_bit(mask) as lane:
        place.get().store((array + lane.zext(I64) * size).load(values.type.element), align=1)
        place.set(place.get() + size)
    place.get().store(code.const(I32, 0), align=1)


def _all(condition: Value, mask: Value) -> Value:
    """Whether a condition is true in all active lanes."""
    return (condition.bitcast(I32) | ~mask) == FULL


def _fits(number: Value, bits: int) -> Value:
    """Whether a signed number fits ``bits`` bits."""
    return number + (1 << (bits - 1)) < (1 << bits)


def _near(delta: Value, offsets: Offsets) -> Value:
    """The payload (i32) of OFFSETS."""
    return (delta.trunc(I32) << OFFSETS_BITS) | offsets
