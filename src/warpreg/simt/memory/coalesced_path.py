"""Fast path of common accesses inside the basic block: all lanes active, and contiguous or all at one address.

The shape of an address register is computed once per block for all accesses with different offsets.  The memory
operation handles all other cases (inactive lanes, other strides, bounds, alignment).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from warpreg.analysis.convergence import parted_blocks
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.memory_access import memory_form
from warpreg.ir.operands import Address, Register
from warpreg.simt.block.address_groups import Group, Site
from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.block.native_records import SiteField, Slot, set_slot, slot
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


def worthwhile(kernel: Kernel) -> frozenset[int]:
    """The pcs of loads and stores with a fast path: those that share an address register first, within the budget.

    Where lanes may have parted, one that shares none is called at once: a failed attempt costs more than it saves.
    """
    shared: list[int] = []
    alone: list[int] = []
    parted = parted_blocks(kernel)
    for block, first in zip(kernel.blocks, kernel.first_pcs(), strict=False):
        by_register: dict[str, list[int]] = {}
        for pc, instruction in enumerate(block.instructions, first):
            register = _address_register(instruction)
            if register:
                by_register.setdefault(register, []).append(pc)
        for pcs in by_register.values():
            (shared if len(pcs) > 1 else alone).extend(pcs)
    few = alone if len(alone) <= FEW else []
    away = {pc for block in parted for pc in range(kernel.first_pcs()[block], kernel.first_pcs()[block + 1])}
    return frozenset(shared[:MOST] + [pc for pc in few if pc not in away])


def few_guards(kernel: Kernel) -> bool:
    """Whether so few loads and stores have a guard that each may be skipped by a branch.

    In a kernel with dozens of them, the branches cost more than the calls.
    """
    guarded = (memory_form(i) for i in kernel.instructions() if i.guard is not None and i.opcode != "ldu")
    return sum(form is not None and not form.is_atomic for form in guarded) <= MAX_GUARDS


def _address_register(instruction: Instruction) -> str:
    """The address register of a scalar load or store of global or shared memory; empty for anything else."""
    form = memory_form(instruction)
    if not form or instruction.guard or instruction.opcode == "ldu" or form.is_atomic:
        return ""
    if form.space not in ("global", "shared") or (form.count > 1 and instruction.opcode.islower()):
        return ""
    address = next(operand for operand in instruction.operands if isinstance(operand, Address))
    return address.base.name if isinstance(address.base, Register) else ""


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


@dataclass(frozen=True)
class _Place:
    """The access of lane 0: its host address, and whether it is in bounds and aligned."""

    host: Value
    sound: Value


def load(
    values: BlockValues,
    operation: Operation,
    addresses: Shape,
    offset: int,
    site: Site,
    otherwise: Callable[[], Value],
) -> Value:
    """Load at ``addresses`` plus a byte offset; ``otherwise`` emits the call for all other cases.

    A single address is loaded as the first lane of a row too: the host memory after every space is long enough.
    """
    vector = lanes_of(ir.IntType(8 * operation.size))
    place, group = _place(values, operation, addresses, offset, site), _group(values, operation, addresses, site)

    def usual() -> list[Value]:
        row = place.host.load(vector, align=operation.size)
        return [addresses.row.select(row, row.lane(0).splat())]

    access = Access(values, addresses, site, offset, group)
    (value,) = access.choose(place.sound, usual, lambda: [otherwise()])
    return value


def store(
    values: BlockValues,
    operation: Operation,
    addresses: Shape,
    offset: int,
    site: Site,
    value: Value,
    otherwise: Callable[[], Value],
) -> None:
    """Store at ``addresses`` plus a byte offset; ``otherwise`` emits the call for all other cases."""
    place, group = _place(values, operation, addresses, offset, site), _group(values, operation, addresses, site)

    def usual() -> list[Value]:
        place.host.store(value, align=operation.size)
        return []

    def rest() -> list[Value]:
        otherwise()
        return []

    Access(values, addresses, site, offset, group).choose(addresses.row & place.sound, usual, rest)


@dataclass(frozen=True)
class Access:
    """An access with a fast path; ``group`` records its address, None without recording."""

    values: BlockValues
    addresses: Shape
    site: Site
    offset: int
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
            return code.choose_several(self.addresses.usual & sound, usual, otherwise)
        group.members.append((self.site, self.offset))
        position = self.values.position()

        def outside() -> list[Value]:
            with code.if_(group.steps):
                group.restore(self.site.address, self.offset)
            set_slot(launch, Slot.ADDRESSES, position)
            found = otherwise()
            return [slot(code, launch, Slot.ADDRESSES), *found]

        following, *results = code.choose_several(group.steps & sound, lambda: [group.put(position), *usual()], outside)
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


def _place(values: BlockValues, operation: Operation, addresses: Shape, offset: int, site: Site) -> _Place:
    size, code = operation.size, values.code
    at = addresses.base + offset % (1 << addresses.base.type.width) if offset else addresses.base
    address = at.zext(I64)
    if operation.space == "shared":
        sound = address + addresses.reach + size <= values.field(Slot.SHARED_BYTES)
        host = values.field(Slot.SHARED) + address
    else:
        span = (site.address + SiteField.SPAN).load(I64)
        distance = at - (site.address + SiteField.FIRST).load(I64)
        sound = (distance < span) & (distance + addresses.reach < span)
        host = at + values.field(Slot.GLOBAL_BIAS)
        prefetch_row(code, host, size, operation.action == "store")
    if offset % size:
        sound = code.const(sound.type, 0)
    return _Place(host, sound)
