"""Register banks: operands of one instruction in the same bank are fetched one after the other.

Register r is in bank ``r mod banks``.  The allocator may choose, among free registers, one whose bank the other
operands of its readers do not use.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from warpreg.analysis.accesses import accesses
from warpreg.analysis.loops import loops
from warpreg.codegen.regalloc.allocation_units import Unit, Units
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel

Company = dict[Unit, list[tuple[int, Unit, int, float]]]
"""By unit: its word, the other unit, the other word, and the weight of reads of both (tenfold per loop level)."""


def conflicts(kernel: Kernel, banks: int) -> int:
    """Bank conflicts: fetches that wait for another operand of the same instruction, over a kernel.

    A register that an instruction reads twice is fetched once; k registers in one bank are k - 1 conflicts.
    """
    return sum(conflicts_of(instruction, banks) for instruction in kernel.instructions())


def conflicts_of(instruction: Instruction, banks: int) -> int:
    """The bank conflicts of one instruction."""
    words = {word for register in instruction.used for word in register.words}
    return sum(count - 1 for count in Counter(word % banks for word in words).values())


def company(kernel: Kernel, units: Units, *, leading: bool = False) -> Company:
    """Units that are read together; ``leading``: only the bank of the first word of a 64-bit operand counts."""
    table, forest = accesses(kernel), loops(kernel)
    met: dict[tuple[Unit, int, Unit, int], float] = defaultdict(float)
    for block in kernel.blocks:
        weight = 10.0 ** min(forest.depth(block.index), 6)
        for pc in table.block_pcs(block.index):
            words = [
                (unit, offset + word)
                for cell in dict.fromkeys(table.read[pc])
                if cell in units.at
                for unit, offset in (units.at[cell],)
                for word in range(1 if leading else table.cells.registers[cell].type.words)
            ]
            for one, here in words:
                for other, there in words:
                    if one is not other:
                        met[one, here, other, there] += weight
    found: Company = defaultdict(list)
    for (one, here, other, there), weight in met.items():
        found[one].append((here, other, there, weight))
    return found
