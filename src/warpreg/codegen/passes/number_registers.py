"""Numbers virtual registers as architected ones without allocation: every register has its own number.

Designs that work on PTX (`CompileOptions.level`) see an unlimited register file, as papers that use virtual registers
do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from warpreg.analysis.accesses import accesses
from warpreg.analysis.pressure import pressure
from warpreg.codegen.machine.operand_rewriting import rename_registers
from warpreg.codegen.passes.base import with_blocks
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Register
from warpreg.ir.types import PRED, TYPES


@dataclass(frozen=True)
class NumberRegisters:
    """Number registers in order of first appearance, wide ones aligned; the demand is the maximum live at once."""

    def run(self, kernel: Kernel) -> Kernel:
        registers = words = predicates = 0
        names: dict[str, Register] = {}
        for register in accesses(kernel).cells.registers:
            if register.is_predicate:
                names[register.name] = Register(f"P{predicates}", PRED, predicates)
                predicates += 1
                continue
            words = register.type.words
            first = -(-registers // words) * words
            names[register.name] = Register(f"R{first}", TYPES[f"b{register.type.bits}"], first)
            registers = first + words
        bodies = {
            block.index: [rename_registers(i, lambda r: names.get(r.name, r)) for i in block.instructions]
            for block in kernel.blocks
        }
        return replace(
            with_blocks(kernel, bodies),
            register_count=registers,
            register_demand=max(pressure(kernel).highest, default=0),
            predicate_count=predicates,
        )
