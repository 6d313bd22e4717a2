"""Words of a constant bank at a place that a register holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpreg.codegen.lower.address_layout import CONSTANT_BANK, VARIABLE_BANK, align
from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import ConstantBank
from warpreg.ir.types import B32, Type
from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.block.native_records import SITE_BYTES, Slot
from warpreg.simt.block.register_storage import Cell
from warpreg.simt.llvm.emitter import I8, I16, I32, I64, MASK, Value, lanes_of
from warpreg.simt.memory.gather_scatter import gather
from warpreg.simt.memory.load_store import Operation

if TYPE_CHECKING:
    from warpreg.simt.block.sites import Sites


PARAMETER_BANK, LITERAL_BANK = 0, 2
"""Words of the launch and parameters; constants of the code, and jump tables."""

NARROW = {8: I8, 16: I16}

MIN_BYTES = 0x240
"""Bytes of bank 0 of a kernel without parameters: all words that the launch owns on sm_80 and sm_90."""


def literal_offset(kernel: Kernel) -> int:
    """Where bank 2 begins in the bytes of a launch's constant banks."""
    return align(max(MIN_BYTES, kernel.parameter_bytes), 16)


def words_of_pair(kernel: Kernel, operand: ConstantBank) -> tuple[ConstantBank, ...]:
    """The two words of 64 bits: in bank 3, the second may be in the next variable; bank 4 holds addresses."""
    if operand.bank == VARIABLE_BANK:
        return replace(operand, type=B32), replace(operand, type=B32, word=1)
    second = replace(operand, offset=operand.offset + 4, type=B32)
    if operand.bank == CONSTANT_BANK:
        banked = [p for p in kernel.placements if p.space == "const"]
        first = next(p.offset for p in banked if p.variable.unique_name == operand.name)
        place = first + operand.offset + 4
        found = next((p for p in banked if p.offset <= place < p.offset + p.bytes), None)
        if found:
            second = replace(second, name=found.variable.unique_name, offset=place - found.offset)
    return replace(operand, type=B32), second


@dataclass(frozen=True)
class BankAccess:
    """A load from a constant bank by an instruction, in the lanes of ``mask``."""

    values: BlockValues
    sites: Sites
    kernel: Kernel
    instruction: Instruction
    pc: int
    mask: Value

    def word(self, operand: ConstantBank, index: tuple[Cell, ...], type_: Type) -> Value:
        """The word of each lane at ``operand`` plus the bytes in its index register."""
        offset = self.values.read(index, 32) + operand.offset % (1 << 32)
        if operand.bank == LITERAL_BANK and type_.bits == 32:
            return self._literal(offset)
        if operand.bank == PARAMETER_BANK:
            return self._parameter(offset, type_)
        if operand.bank != CONSTANT_BANK:
            what = f"bank {operand.bank} has no index"
            raise UnsupportedError(f"'{self.instruction}'", self.instruction.location, what)
        values, sites = self.values, self.sites
        operation = Operation("load", "const", type_.bytes)
        guarded = self.instruction.guard is not None
        site = values.field(Slot.SITES) + sites.site(self.pc, guarded) * SITE_BYTES
        address = (values.field(Slot.HELPERS) + 8 * sites.operation(operation)).load(I64)
        given = [values.launch, site, self.mask, self._place(offset)]
        return values.code.call_at(address, operation.result, given)

    def _place(self, offset: Value) -> Value:
        """The address of each lane's bytes of bank 3: in the last variable that begins at or before it."""
        address = self.values.code.const(lanes_of(I64), 0)
        banked = [p for p in self.kernel.placements if p.space == "const"]
        for placement in sorted(banked, key=lambda p: p.offset):
            number = self.values.symbols[placement.variable.unique_name]
            first = (self.values.field(Slot.SYMBOLS) + 8 * number).load(I64)
            here = first.splat() + (offset - placement.offset).zext(address.type)
            address = (offset >= placement.offset).select(here, address) if placement.offset else here
        return address

    def _parameter(self, offset: Value, type_: Type) -> Value:
        """Bytes of bank 0; an offset beyond the parameters gives the last word."""
        code, last = self.values.code, literal_offset(self.kernel) - 4
        first = self.values.field(Slot.PARAMETERS)

        def word(at: Value) -> Value:
            inside = (at > last).select(last, at & ~3)
            return gather(code, first, inside, self.mask, self.mask.bitcast(MASK), I32)

        if type_.bits == 64:
            wide = lanes_of(I64)
            return word(offset).zext(wide) | (word(offset + 4).zext(wide) << 32)
        found = word(offset)
        if type_.bits == 32:
            return found
        return (found >> ((offset & 3) << 3)).trunc(lanes_of(NARROW[type_.bits]))

    def _literal(self, offset: Value) -> Value:
        """A word of bank 2, which the launch puts behind bank 0; an offset beyond it gives the last word."""
        code, last = self.values.code, max(len(self.kernel.literals) - 4, 0)
        first = self.values.field(Slot.PARAMETERS) + literal_offset(self.kernel)
        inside = (offset > last).select(last, offset & ~3)
        return gather(code, first, inside, self.mask, self.mask.bitcast(MASK), I32)
