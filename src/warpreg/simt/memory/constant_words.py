"""Words of a constant bank at a place that a register holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpreg.codegen.build.address_layout import PARAMETER_BANK
from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import ConstantBank
from warpreg.ir.types import Type
from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.block.records import SITE_BYTES, Slot
from warpreg.simt.block.register_storage import Cell
from warpreg.simt.llvm.emitter import I64, Value, lanes_of
from warpreg.simt.memory.load_store import Operation

if TYPE_CHECKING:
    from warpreg.simt.block.sites import Sites


def indexed_word(
    values: BlockValues,
    sites: Sites,
    instruction: Instruction,
    pc: int,
    operand: ConstantBank,
    index: tuple[Cell, ...],
    type_: Type,
    mask: Value,
) -> Value:
    """The word of each lane in ``mask`` at ``operand`` plus the bytes in its index register."""
    code, wide = values.code, lanes_of(I64)
    offset = values.read(index, 32).sext(wide)
    if operand.bank == PARAMETER_BANK or operand.name not in values.symbols:
        what = "indexes parameters at run time" if operand.bank == PARAMETER_BANK else "is no constant of this kernel"
        raise UnsupportedError(f"'{operand}'", instruction.location, what)
    first = (values.field(Slot.SYMBOLS) + 8 * values.symbols[operand.name]).load(I64) + operand.offset
    operation = Operation("load", "const", type_.bytes, sites.record)
    site = values.field(Slot.SITES) + sites.site(pc, instruction.guard is not None) * SITE_BYTES
    table = values.field(Slot.HELPERS)
    address = (table + 8 * sites.operation(operation)).load(I64)
    return code.call_at(address, operation.result, [values.launch, site, mask, first.splat() + offset])
