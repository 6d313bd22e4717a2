"""Fast path of common accesses inside the basic block: all lanes active, and contiguous or all at one address.

The shape of an address register is computed once per block for all accesses with different offsets, and so is whether
all of them are in bounds.  The memory operation handles all other cases (inactive lanes, other strides, bounds,
alignment).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from warpreg.analysis.convergence import parted_blocks
from warpreg.analysis.lane_strides import lane_strides
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.memory_access import memory_form
from warpreg.ir.operands import Address, Register
from warpreg.simt.block.address_groups import Group, Site
from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.block.native_records import MAX_WARPS, SiteField, Slot, set_slot, slot
from warpreg.simt.block.sites import Span
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import FULL, I1, I32, I64, LANES, Code, Value, lanes_of
from warpreg.simt.memory.load_store import Operation
from warpreg.simt.memory.prefetch import prefetch_row
from warpreg.simt.memory.scaled_index import ScaledIndex, scaled_index

MOST = 64
"""The most accesses of a kernel with a fast path: each costs about a millisecond of compile time."""

MAX_GUARDS = 16

FEW = 8
"""An access that does not share its address register in its block has a fast path only if a kernel has at most this
many of them."""


def worthwhile(kernel: Kernel) -> dict[int, Span]:
    """The loads and stores with a fast path, by pc: those that share an address register first, within the budget;
    with the span of all in the block that use the same value of the register.  Those with a guard have one only as the
    lanes of others are expected (`block_versions`).

    Where lanes may have parted, one that shares none is called at once: a failed attempt costs more than it saves.  So
    are all accesses of a kernel whose thread blocks have fewer threads than a warp.
    """
    if _most_threads(kernel) < LANES:
        return {}
    shared: dict[int, Span] = {}
    alone: dict[int, Span] = {}
    guarded: dict[int, Span] = {}
    parted, strides = parted_blocks(kernel), lane_strides(kernel)
    for block, first in zip(kernel.blocks, kernel.first_pcs(), strict=False):
        spans = _spans(block, first)
        registers = Counter(_register(block.instructions[pc - first]) for pc in spans)
        for pc, own in spans.items():
            instruction, is_whole = block.instructions[pc - first], block.index not in strides.parted_blocks
            span = replace(own, stride=strides.first_source(pc, instruction) if is_whole else None)
            if instruction.guard is not None:
                guarded[pc] = span if strides.guard(pc) is not None else own
            elif registers[_register(block.instructions[pc - first])] > 1:
                shared[pc] = span
            elif block.index not in parted:
                alone[pc] = span
    found = dict(itertools.islice(shared.items(), MOST))
    found |= alone if len(alone) <= FEW else {}
    expected = {pc: span for pc, span in guarded.items() if span.stride is not None}
    return found | (expected if len(expected) <= MAX_GUARDS else {})


def _most_threads(kernel: Kernel) -> int:
    """The most threads of a thread block, as the kernel states."""
    function = next((one for one in kernel.module.functions if one.name == kernel.name), None)
    stated = [one.arguments for one in function.attributes if one.name in ("maxntid", "reqntid")] if function else []
    return min((math.prod(int(extent, 0) for extent in extents) for extents in stated), default=MAX_WARPS * LANES)


def _spans(block: Block, first_pc: int) -> dict[int, Span]:
    """The spans of the accesses of a block through a register, by pc."""
    spans: dict[int, Span] = {}
    together: dict[tuple[str, str], dict[int, int]] = {}
    for pc, instruction in enumerate(block.instructions, first_pc):
        address = _address(instruction)
        if address is not None:
            offsets = together.setdefault((_register(instruction), str(instruction.guard)), {})
            offsets[pc] = address.offset
            spans.update(dict.fromkeys(offsets, Span(min(offsets.values()), max(offsets.values()))))
        written = {register.name for register in instruction.defined}
        together = {key: offsets for key, offsets in together.items() if written.isdisjoint(key)}
    return spans


def few_guards(kernel: Kernel) -> bool:
    """Whether so few loads and stores have a guard that each may be skipped by a branch.

    In a kernel with dozens of them, the branches cost more than the calls.
    """
    guarded = (memory_form(i) for i in kernel.instructions() if i.guard is not None and i.opcode != "ldu")
    return sum(form is not None and not form.is_atomic for form in guarded) <= MAX_GUARDS


def _address(instruction: Instruction) -> Address | None:
    """The address, in a register, of a scalar load or store of global or shared memory; None for anything else."""
    form = memory_form(instruction)
    if not form or instruction.opcode == "ldu" or form.is_atomic:
        return None
    if form.space not in ("global", "shared") or (form.count > 1 and instruction.opcode.islower()):
        return None
    address = next(operand for operand in instruction.operands if isinstance(operand, Address))
    return address if isinstance(address.base, Register) else None


def _register(instruction: Instruction) -> str:
    """The address register of an access that has one."""
    address = _address(instruction)
    assert address is not None
    assert isinstance(address.base, Register)
    return address.base.name


@dataclass(frozen=True)
class Shape:
    """The shape of 32 base addresses: that of lane 0; ``usual``: all active, aligned, and contiguous (``row``) or
    equal; ``stride`` (i64) is the distance between lanes, ``reach`` from the first to the last."""

    vector: Value
    base: Value
    usual: Value
    row: Value
    stride: Value
    reach: Value


def shape(values: BlockValues, address: Value, size: int, mask: Value) -> Shape:
    """The shape of addresses of elements of ``size`` bytes under a mask (i32), computed once for equal arguments."""
    key = (id(address.llvm), size, id(mask.llvm))
    if key not in values.shapes:
        scaled = scaled_index(values.code, address, size)
        lanes = _Lanes.of(values, scaled, address, size, mask)
        base = scaled.address(lanes.first, size) if scaled else lanes.first
        zero = values.code.const(I64, 0)
        values.shapes[key] = Shape(
            vector=address,
            base=base,
            usual=lanes.usual & ((base & (size - 1)) == 0),
            row=lanes.row,
            stride=lanes.row.select(size, zero),
            reach=lanes.row.select(size * (LANES - 1), zero),
        )
    found: Shape = values.shapes[key]
    return found


@dataclass(frozen=True)
class Place:
    """Where an access is: its byte offset from the addresses, its site, and the span of all that share them;
    ``is_likely``: they are known to be as expected."""

    offset: int
    site: Site
    span: Span
    is_likely: bool = False


@dataclass(frozen=True)
class _Lanes:
    """The part of a shape that addresses with one index share: ``first`` is lane 0 of the index, or of addresses."""

    first: Value
    usual: Value
    row: Value

    @staticmethod
    def of(values: BlockValues, scaled: ScaledIndex | None, address: Value, size: int, mask: Value) -> _Lanes:
        """The lanes of an index, or of addresses without one."""
        if scaled is None:
            return _Lanes.examined(values.code, address, size, mask)
        key = (*scaled.key, size, id(mask.llvm))
        if key not in values.shapes:
            lanes = _Lanes.examined(values.code, scaled.index, 1, mask)
            whole = ~(lanes.row & scaled.wraps(lanes.first, LANES - 1))
            values.shapes[key] = replace(lanes, usual=lanes.usual & whole)
        found: _Lanes = values.shapes[key]
        return found

    @staticmethod
    def examined(code: Code, numbers: Value, step: int, mask: Value) -> _Lanes:
        """Whether all lanes are active, and equal or in steps of ``step``; some lanes are not examined."""
        absent, none = code.const(I1, 0), code.const(numbers.type.element, 0)

        def examine() -> list[Value]:
            first = numbers.lane(0)
            row = numbers.lane(1) != first
            ramp = code.const(numbers.type, [step * lane for lane in range(LANES)])
            expected = first.splat() + (ramp & row.sext(numbers.type.element).splat())
            return [first, (numbers == expected).bitcast(I32) == FULL, row]

        return _Lanes(*code.choose_several(mask == FULL, examine, lambda: [none, absent, absent]))


def load(
    values: BlockValues,
    operation: Operation,
    addresses: Shape,
    place: Place,
    otherwise: Callable[[], Value],
) -> Value:
    """Load at a place of ``addresses``; ``otherwise`` emits the call for all other cases.

    A single address is loaded as the first lane of a row too: the host memory after every space is long enough.
    """
    vector = lanes_of(ir.IntType(8 * operation.size))
    host, sound = _prefetched(values, operation, addresses, place)

    def usual() -> list[Value]:
        row = host.load(vector, align=operation.size)
        return [addresses.row.select(row, row.lane(0).splat())]

    def likely() -> list[Value]:
        if place.span.stride == 0:
            return [host.load(vector.element, align=operation.size).splat()]
        return [host.load(vector, align=operation.size)]

    access = Access(values, addresses, place, _group(values, operation, addresses, place.site))
    (value,) = access.choose(sound, usual, lambda: [otherwise()], likely)
    return value


def store(
    values: BlockValues,
    operation: Operation,
    addresses: Shape,
    place: Place,
    value: Value,
    otherwise: Callable[[], Value],
) -> None:
    """Store at a place of ``addresses``; ``otherwise`` emits the call for all other cases.  Of a single address, the
    value of the highest lane remains.
    """
    host, sound = _prefetched(values, operation, addresses, place)

    def usual() -> list[Value]:
        host.store(value, align=operation.size)
        return []

    def likely() -> list[Value]:
        if place.span.stride:
            return usual()
        host.store(value.lane(LANES - 1), align=operation.size)
        return []

    def rest() -> list[Value]:
        otherwise()
        return []

    access = Access(values, addresses, place, _group(values, operation, addresses, place.site))
    access.choose(both(values, addresses.row, sound), usual, rest, likely)


@dataclass(frozen=True)
class Access:
    """An access with a fast path; ``group`` records its address, None without recording."""

    values: BlockValues
    addresses: Shape
    place: Place
    group: Group | None

    def choose(
        self,
        sound: Value,
        usual: Callable[[], list[Value]],
        otherwise: Callable[[], list[Value]],
        likely: Callable[[], list[Value]],
    ) -> list[Value]:
        """What the access gives: ``usual`` for usual addresses that are ``sound``, else ``otherwise``, which records in
        code outside the block; ``likely`` where the lanes are as far apart as expected.

        The position of recording stays in a machine register: in memory, each access would wait for the one before.
        """
        code, launch, group = self.values.code, self.values.launch, self.group
        if group is None:
            if self.place.is_likely:
                return likely()
            return code.choose_several(both(self.values, self.addresses.usual, sound), usual, otherwise)
        group.members.append((self.place.site, self.place.offset))
        position = self.values.position()

        def outside() -> list[Value]:
            with code.if_(group.steps):
                group.restore(self.place.site.address, self.place.offset)
            set_slot(launch, Slot.ADDRESSES, position)
            found = otherwise()
            return [slot(code, launch, Slot.ADDRESSES), *found]

        goes_on = both(self.values, group.steps, sound)
        following, *results = code.choose_several(goes_on, lambda: [group.put(position), *usual()], outside)
        self.values.go_on_at(following)
        return results


def group_of(values: BlockValues, addresses: Shape, site: Site) -> Group:
    """The group of accesses with the address register of ``addresses``; ``site`` is that of the first one."""
    key = id(addresses)
    if key not in values.groups:
        base, is_narrow = addresses.base.zext(I64), addresses.base.type == I32
        values.groups[key] = Group(values, site, base, addresses.stride, addresses.usual, is_narrow)
    return values.groups[key]


def _group(values: BlockValues, operation: Operation, addresses: Shape, site: Site) -> Group | None:
    return group_of(values, addresses, site) if operation.record else None


def likely(values: BlockValues, space: str, addresses: Shape, place: Place, size: int) -> Value | None:
    """Whether addresses are as the span of an access expects them; None if it expects nothing."""
    if place.span.stride not in (0, size) or place.offset % size:
        return None
    _, sound = placed(values, space, addresses, place, size)
    is_expected = addresses.row if place.span.stride else values.inverse(addresses.row)
    return both(values, is_expected, both(values, addresses.usual, sound))


def both(values: BlockValues, one: Value, other: Value) -> Value:
    """Whether two conditions hold, computed once for the same ones."""
    key = (id(one.llvm), id(other.llvm))
    if key not in values.shapes:
        values.shapes[key] = one & other
    found: Value = values.shapes[key]
    return found


def _prefetched(values: BlockValues, operation: Operation, addresses: Shape, place: Place) -> tuple[Value, Value]:
    """`placed`, and later rows of global memory fetched."""
    host, sound = placed(values, operation.space, addresses, place, operation.size)
    if operation.space == "global":
        prefetch_row(values.code, host, operation.size, operation.action == "store")
    return host, sound


def placed(
    values: BlockValues, space: str, addresses: Shape, place: Place, size: int, element: int = 0
) -> tuple[Value, Value]:
    """The host address of lane 0 of an access of ``size`` bytes a lane, and whether all accesses with these addresses
    in its span are in bounds and aligned; ``element``: the bytes that a site's bounds are for, 0 for ``size``."""
    code = values.code
    origin = values.field(Slot.SHARED if space == "shared" else Slot.GLOBAL_BIAS)
    host = addresses.base.zext(I64) + origin + place.offset % (1 << 64)
    if place.offset % size:
        return host, code.const(I1, 0)
    key = (id(addresses), space, place.span, size)
    if key not in values.shapes:
        if space == "shared":
            values.shapes[key] = _within_shared(values, addresses, place.span, size)
        else:
            values.shapes[key] = _within_buffer(addresses, place, size - (element or size))
    return host, values.shapes[key]


def _within_shared(values: BlockValues, addresses: Shape, span: Span, size: int) -> Value:
    bytes_ = values.field(Slot.SHARED_BYTES)
    first = addresses.base.zext(I64) + span.low % (1 << 64)
    sound = first + addresses.reach + (span.high - span.low + size) <= bytes_
    return (first < bytes_) & sound if span.low < 0 else sound


def _within_buffer(addresses: Shape, place: Place, beyond: int) -> Value:
    """``beyond``: bytes of an access behind its first element."""
    site, span = place.site.address, place.span
    begins = (site + SiteField.SPAN).load(I64)
    first = addresses.base - (site + SiteField.FIRST).load(I64) + span.low % (1 << 64)
    return (first < begins) & (first + addresses.reach + (span.high - span.low + beyond) < begins)
