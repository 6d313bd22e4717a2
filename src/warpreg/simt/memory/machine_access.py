"""Loads, stores and atomics of machine code inside a basic block.

Registers of several words are read and written word by word, unless all of the kernel accesses a pair as a whole.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from warpreg.ir.address_space import HIGH_SHARED_WINDOW, SHARED_WINDOW
from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Instruction
from warpreg.ir.memory_access import MemoryForm
from warpreg.ir.operands import Address, ConstantBank, Immediate, Operand, Register
from warpreg.ir.types import B64, U32, U64, Type
from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.block.native_records import Slot, slot
from warpreg.simt.block.register_storage import Cell
from warpreg.simt.llvm.emitter import Value, lanes_of
from warpreg.simt.memory import coalesced_path
from warpreg.simt.memory.load_store import Operation
from warpreg.simt.memory.memory_instructions import MemoryAccess
from warpreg.simt.memory.vector_path import WORD, VectorLoad

if TYPE_CHECKING:
    from warpreg.simt.block.sites import Sites

Rows = list[tuple[Cell, ...]]
"""The cells of each register inside an operand."""


class MachineAccess(MemoryAccess):
    """One memory instruction; ``target`` are the cells of the register that a load writes, ``high_window`` states where
    generic addresses of shared memory are."""

    def __init__(
        self,
        values: BlockValues,
        sites: Sites,
        instruction: Instruction,
        pc: int,
        target: tuple[Cell, ...],
        high_window: bool,
    ) -> None:
        super().__init__(values, sites, instruction, pc)
        self.high_window = high_window
        assert self.form is not None
        self.machine_form: MemoryForm = self.form
        self.target = target

    def perform(self, operands: list[tuple[Operand, Rows]], mask: Value) -> list[Value]:
        """The access in the lanes of ``mask`` (i32); returns one value for each cell of the loaded register."""
        (where, rows), *rest = operands
        if not isinstance(where, Address):
            raise UnsupportedError(f"'{self.instruction}'", self.instruction.location, "has no address")
        site, form = self.new_site(), self.machine_form
        base = base_addresses(self.values, where, rows, self.space, self.instruction)
        if form.is_atomic:
            return self._update(self._moved(base, where.offset), site, mask, rest)
        given = self._given(rest[0]) if form.action == "store" else []
        if self.is_inline and self._elements(given)[1] == 1:
            return self._inline(base, where.offset, site, mask, given)
        if self.is_inline and form.type.bytes == WORD and not given:
            return self._inline_vector(base, where.offset, site, mask)
        self.values.hand_over()
        return self._called(self._moved(base, where.offset), site, mask, given)

    def _inline_vector(self, base: Value, offset: int, site: Value, mask: Value) -> list[Value]:
        """The fast path of a vector load inline, other cases by memory operations."""
        form = self.machine_form
        shape = coalesced_path.shape(self.values, base, form.bytes, mask)
        self.values.field(Slot.HELPERS)
        load = VectorLoad(self.values, self.space, form.count, shape, self.place(offset, site), self.sites.record)
        return load.emit(lambda: self._called(self._moved(base, offset), site, mask, []))

    def _called(self, address: Value, site: Value, mask: Value, given: list[Value]) -> list[Value]:
        """The access by one memory operation for each element."""
        form, results = self.machine_form, []
        type_, count = self._elements(given)
        for element in range(count):
            aligned = form.bytes if count > 1 and element == 0 else 0
            recorded = self.sites.record and element == 0
            operation = self._operation(form.action, type_.bytes, recorded, aligned)
            at = self._moved(address, element * type_.bytes)
            call = functools.partial(self.call, operation, site, mask, [at, *given[element : element + 1]])
            results.append(self._unless_idle(operation, site, mask, call) if count == 1 else call())
            if given and element == 0 and count > 1:  # the whole vector has been checked: a fault leaves it unwritten
                mask = (slot(self.code, self.values.launch, Slot.FAULT) != 0).select(0, mask)
        return [] if given else results

    def _operation(self, action: str, size: int, record: bool, alignment: int = 0, returns: bool = True) -> Operation:
        """The native operation; sm_90 has its own generic addresses of shared memory."""
        is_high = self.space == "generic" and self.high_window
        window = HIGH_SHARED_WINDOW if is_high else SHARED_WINDOW
        unit = self.machine_form.bytes if size != self.machine_form.bytes else 0
        return Operation(action, self.space, size, record, alignment, returns=returns, shared_window=window, unit=unit)

    def _elements(self, given: list[Value]) -> tuple[Type, int]:
        """The type and number of elements: a pair that is one cell is one element."""
        form = self.machine_form
        whole = given[0].type.element.width == 64 if given else bool(self.target) and self.target[0].bits == 64
        return (B64, 1) if form.count == 2 and whole else (form.type, form.count)

    def _given(self, source: tuple[Operand, Rows]) -> list[Value]:
        """The values that a store writes, one for each element."""
        operand, rows = source
        form = self.machine_form
        if isinstance(operand, Register) and rows and form.count > 1:
            cells = tuple(dict.fromkeys(rows[0]))
            if form.count == 2 and len(cells) == 1:
                return [self.values.get(cells[0])]
            return [self.values.read((cell,), form.type.bits) for cell in cells]
        value = self._operand(operand, rows, form.type)
        return [value] * form.count if operand == Immediate(0) else [value]

    def _operand(self, operand: Operand, rows: Rows, type_: Type) -> Value:
        return self.values.operand(operand, type_, tuple(cell for row in rows for cell in row), self.instruction)

    def _update(self, address: Value, site: Value, mask: Value, rest: list[tuple[Operand, Rows]]) -> list[Value]:
        """An atomic operation."""
        form = self.machine_form
        returns = form.action == "atomic" and bool(self.target)
        element = lanes_of(Operation("load", "global", form.type.bytes).element)
        given = [self._operand(operand, rows, form.type) for operand, rows in rest]
        if form.counts_lanes:
            given = [self.code.const(element, 1)]
        action = f"{form.operation}.{form.type}"
        operation = self._operation(action, form.type.bytes, self.sites.record, returns=returns)
        before = self.call(operation, site, mask, [address, given[0], given[-1]])
        if not returns:
            return []
        return [(before == given[0]).zext(element)] if form.tests else [before]

    def _moved(self, base: Value, offset: int) -> Value:
        return base + offset % (1 << base.type.element.width) if offset else base

    def _inline(self, base: Value, offset: int, site: Value, mask: Value, given: list[Value]) -> list[Value]:
        """The fast path inline, other cases by the memory operation."""
        type_, _ = self._elements(given)
        operation = self._operation(self.machine_form.action, type_.bytes, self.sites.record)
        shape = coalesced_path.shape(self.values, base, operation.size, mask)
        self.values.field(Slot.HELPERS)

        def otherwise() -> Value:
            return self.call(operation, site, mask, [self._moved(base, offset), *given])

        if given:
            coalesced_path.store(self.values, operation, shape, self.place(offset, site), given[0], otherwise)
            return []
        return [coalesced_path.load(self.values, operation, shape, self.place(offset, site), otherwise)]


def addresses(values: BlockValues, source: tuple[Operand, Rows], space: str, instruction: Instruction) -> Value:
    """The 32 addresses of a memory operand in a space: i32 in shared and local memory, else i64."""
    where, rows = source
    if not isinstance(where, Address):
        raise UnsupportedError(f"'{instruction}'", instruction.location, "has no address")
    base = base_addresses(values, where, rows, space, instruction)
    return base + where.offset % (1 << base.type.element.width) if where.offset else base


def base_addresses(values: BlockValues, where: Address, rows: Rows, space: str, instruction: Instruction) -> Value:
    """The 32 addresses without the offset; equal ones of a block are one value."""
    wide = U32 if space in ("shared", "local") else U64
    if not isinstance(where.base, (Register, Immediate, ConstantBank)):
        raise UnsupportedError(f"address '{where}'", instruction.location)
    own = rows[:1] if isinstance(where.base, Register) else []
    further = rows[len(own) : len(own) + 1] if where.uniform else []
    base = values.operand(where.base, wide, _cells(own), instruction)
    if where.scale == 1 and where.uniform is None and len({*_cells(own)}) < 2:
        return base
    parts = [values.get(cell) for cell in _cells([*own, *further])]
    key = ("base", where.scale, where.base, where.uniform, *(id(part.llvm) for part in parts))
    if key not in values.shapes:
        scaled = base << (where.scale.bit_length() - 1) if where.scale > 1 else base
        uniform = values.operand(where.uniform, wide, _cells(further), instruction) if where.uniform else None
        values.shapes[key] = scaled + uniform if uniform else scaled
    found: Value = values.shapes[key]
    return found


def _cells(rows: Rows) -> tuple[Cell, ...]:
    return tuple(cell for row in rows for cell in row)
