"""Live-range splitting: a virtual register that holds several unrelated values becomes several registers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from warpreg.analysis.values import values
from warpreg.codegen.machine.operand_rewriting import map_operand
from warpreg.codegen.passes.base import with_blocks
from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Operand, Register


@dataclass(frozen=True)
class SplitValues:
    """Rename webs of the same virtual register apart; the first keeps the name, the n-th gets ``.n``."""

    def run(self, kernel: Kernel) -> Kernel:
        webs = values(kernel)
        of_cell: dict[int, list[int]] = defaultdict(list)
        for number, value in enumerate(webs.values):
            of_cell[value.cell].append(number)
        suffix = {v: f".{i}" if i else "" for numbers in of_cell.values() for i, v in enumerate(numbers)}
        if not any(suffix.values()):
            return kernel
        bodies: dict[int, list[Instruction]] = {}
        pc = 0
        for block in kernel.blocks:
            body = bodies[block.index] = []
            for instruction in block.instructions:
                new = [suffix[v] for v in webs.written[pc]], [suffix[v] for v in webs.read[pc]]
                body.append(_renamed(instruction, *new) if any(map(any, new)) else instruction)
                pc += 1
        return with_blocks(kernel, bodies)


def _renamed(instruction: Instruction, written: list[str], read: list[str]) -> Instruction:
    """The instruction with a suffix for each register operand, in the order of `Instruction.defined` and `.used`."""
    targets, sources = iter(written), iter(read)

    def rename(suffixes: Iterator[str]) -> Iterator[Operand]:
        operands = instruction.results if suffixes is targets else instruction.sources
        for operand in operands:
            yield map_operand(operand, lambda o: _with(o, suffixes) if isinstance(o, Register) else o)

    operands = (*rename(targets), *rename(sources))
    guard = instruction.guard
    if guard:
        guard = Guard(_with(guard.register, sources), guard.negated)
    return replace(instruction, operands=operands, guard=guard)


def _with(register: Register, suffixes: Iterator[str]) -> Register:
    suffix = next(suffixes)
    return Register(register.name + suffix, register.type, register.index) if suffix else register
