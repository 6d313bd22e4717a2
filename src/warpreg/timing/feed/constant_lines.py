"""Lines of the constant banks that instructions of a kernel name."""

from __future__ import annotations

from collections.abc import Iterator

from warpreg.gpu import Machine
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import ConstantBank, ModifiedOperand

Line = tuple[int, str, int]
"""Bank, variable, and number in it."""


def constant_lines(kernel: Kernel, machine: Machine) -> dict[int, int]:
    """By pc: the line of the first word of a constant bank that an instruction names without a register, numbered in
    the order of banks and addresses.  Empty without constant caches.
    """
    if machine.constant_cache is None:
        return {}
    size = machine.constant_cache.line_bytes
    named = {pc: line for pc, one in enumerate(kernel.instructions()) if (line := _line(one, size)) is not None}
    number = {line: position for position, line in enumerate(sorted(set(named.values())))}
    return {pc: number[line] for pc, line in named.items()}


def _line(instruction: Instruction, size: int) -> Line | None:
    return next(((word.bank, word.name, word.offset // size) for word in _words(instruction)), None)


def _words(instruction: Instruction) -> Iterator[ConstantBank]:
    for operand in instruction.sources:
        word = operand.operand if isinstance(operand, ModifiedOperand) else operand
        if isinstance(word, ConstantBank) and word.index is None:
            yield word
