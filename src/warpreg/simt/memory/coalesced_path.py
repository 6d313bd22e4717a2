"""Fast path of common accesses inside the basic block: all lanes active, and contiguous or all at one address.

The shape of an address register is computed once per block for all accesses with different offsets, and so is whether
all of them are in bounds.  The memory operation handles all other cases (inactive lanes, other strides, bounds,
alignment).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Container
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

MOST_EXPECTED = 256
"""The most accesses that have one because of what is expected of them: each costs about 2 ms of compile time, in all
kernels of the suite together."""

MAX_GUARDS = 16

FEW = 8
"""An access that does not share its address register in its block has a fast path only if a kernel has at most this
many of them."""


def scattered(kernel: Kernel) -> frozenset[int]:
    """The loads and stores of PTX whose lanes are likely to be in equal steps of another size than an element."""
    strides, found = lane_strides(kernel), set[int]()
    for pc, instruction in enumerate(() if kernel.machine_code else kernel.instructions()):
        form = memory_form(instruction)
        if form and _address(instruction) is not None:
            stride = strides.first_source(pc, instruction)
            if stride is not None and stride not in (0, form.bytes):
                found.add(pc)
    return frozenset(found)


def worthwhile(kernel: Kernel, scattered: Container[int]) -> dict[int, Span]:
    """The loads and stores with a fast path, by pc, with the span of all in the block that use the same value of the
    address register: those whose lanes are expected to be contiguous or at one address, and, within the budget, others
    without a guard, those that share an address register first.

    Where lanes may have parted, one that shares none is called at once: a failed attempt costs more than it saves.  So
    are those in ``scattered``, and all accesses of a kernel whose thread blocks have fewer threads than a warp.
    """
    if _most_threads(kernel) < LANES:
        return {}
    expected: dict[int, Span] = {}
    shared: dict[int, Span] = {}
    alone: dict[int, Span] = {}
    parted = parted_blocks(kernel)
    for block, first in zip(kernel.blocks, kernel.first_pcs(), strict=False):
        spans = _spans(block, first)
        accesses = {pc: block.instructions[pc - first] for pc in spans}
        registers = Counter(_register(one) for one in accesses.values() if one.guard is None)
        for pc, span in spans.items():
            instruction = accesses[pc]
            stride = _expected_stride(kernel, block, pc, instruction)
            if stride is not None:
                expected[pc] = replace(span, stride=stride)
            elif pc in scattered:
                continue
            elif instruction.guard is None and registers[_register(instruction)] > 1:
                shared[pc] = span
            elif instruction.guard is None and block.index not in parted:
                alone[pc] = span
    found = dict(itertools.islice(expected.items(), MOST_EXPECTED)) | dict(itertools.islice(shared.items(), MOST))
    return found | (alone if len(alone) <= FEW else {})


def _expected_stride(kernel: Kernel, block: Block, pc: int, instruction: Instruction) -> int | None:
    """The distance of the lanes of an access of PTX, if it is likely to be the size of an element for all of them, or 0
    in a load: few kernels let all lanes store to one address."""
    if kernel.machine_code:
        return None
    strides, form = lane_strides(kernel), memory_form(instruction)
    if block.index in strides.parted_blocks or (instruction.guard is not None and not strides.foresees_guard(pc)):
        return None
    stride = strides.first_source(pc, instruction)
    return stride if form and stride in ((form.bytes, 0) if instruction.has_result else (form.bytes,)) else None


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
    """Where an access is: its byte offset from the addresses, its site, and the span of all that share them."""

    offset: int
    site: Site
    span: Span


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

    access = Access(values, addresses, place, _group(values, operation, addresses, place.site))
    (value,) = access.choose(sound, usual, lambda: [otherwise()])
    return value


def store(
    values: BlockValues,
    operation: Operation,
    addresses: Shape,
    place: Place,
    value: Value,
    otherwise: Callable[[], Value],
) -> None:
    """Store at a place of ``addresses``; ``otherwise`` emits the call for all other cases."""
    host, sound = _prefetched(values, operation, addresses, place)

    def usual() -> list[Value]:
        host.store(value, align=operation.size)
        return []

    def rest() -> list[Value]:
        otherwise()
        return []

    access = Access(values, addresses, place, _group(values, operation, addresses, place.site))
    access.choose(both(values, addresses.row, sound), usual, rest)


@dataclass(frozen=True)
class Access:
    """An access with a fast path; ``group`` records its address, None without recording."""

    values: BlockValues
    addresses: Shape
    place: Place
    group: Group | None

    def choose(
        self, sound: Value, usual: Callable[[], list[Value]], otherwise: Callable[[], list[Value]]
    ) -> list[Value]:
        """What the access gives: ``usual`` for usual addresses that are ``sound``, else ``otherwise``, which records in
        code outside the block.

        The position of recording stays in a machine register: in memory, each access would wait for the one before.
        """
        code, launch, group = self.values.code, self.values.launch, self.group
        if group is None:
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
            values.shapes[key] = within_shared(values, addresses.base, addresses.reach, place.span, size)
        else:
            values.shapes[key] = within_buffer(addresses.base, addresses.reach, place, size - (element or size))
    return host, values.shapes[key]


def within_shared(values: BlockValues, base: Value, reach: Value, span: Span, size: int) -> Value:
    """Whether accesses of ``size`` bytes a lane are in shared memory; ``base`` is the address of lane 0, ``reach`` the
    distance of the last lane (i64)."""
    bytes_ = values.field(Slot.SHARED_BYTES)
    first = base.zext(I64) + span.low % (1 << 64)
    sound = first + reach + (span.high - span.low + size) <= bytes_
    return (first < bytes_) & sound if span.low < 0 else sound


def within_buffer(base: Value, reach: Value, place: Place, beyond: int) -> Value:
    """Whether accesses are in the buffer last used; ``beyond``: bytes of a lane behind its first element."""
    site, span = place.site.address, place.span
    begins = (site + SiteField.SPAN).load(I64)
    first = base - (site + SiteField.FIRST).load(I64) + span.low % (1 << 64)
    return (first < begins) & (first + reach + (span.high - span.low + beyond) < begins)
