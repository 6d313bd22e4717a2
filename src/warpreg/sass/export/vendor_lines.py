"""Lines of the vendor's machine code in an exported trace: its own opcodes, and registers as a tracer names them.

A tracer lists the operands of a listing in order.  The first one is the destination if it is an ordinary register; the
other registers, and the bases of addresses, are sources.  Predicates, uniform registers, and words of constant banks
are omitted.  The zero register is named as a destination and as the base of an address; as another source, lifted code
cannot tell it from the number 0, and it is omitted.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.opcodes.sass.pattern import OperandPattern, OperandSlot, operand_pattern
from warpreg.ir.operands import Address, ConstantBank, Immediate, Operand, Sink, Vector
from warpreg.ir.types import Type
from warpreg.sass.isa.opcodes import find
from warpreg.sass.isa.widths import Shape, widths
from warpreg.sass.parse.line import ZERO_REGISTER, TraceLine, written

Run = tuple[int, int]
"""First register and number of consecutive registers."""


def vendor_line(instruction: Instruction, binary_version: int) -> TraceLine | None:
    """The line of an instruction, without pc, mask and addresses; None if a reader would find other registers in it.

    ``width`` is 0.
    """
    pattern = operand_pattern(instruction.opcode, instruction.modifiers)
    if pattern is None:
        return None
    results, sources = _results(instruction, pattern), _sources(instruction)
    has_destination = bool(results) and not _begins_with_predicate(instruction, pattern)
    named = tuple(first for first, _ in [*results, *sources])
    line = TraceLine(
        0, 0, named[:has_destination], instruction.opcode, instruction.modifiers, named[has_destination:], 0, (),
        _immediate(instruction, pattern),
    )  # fmt: skip
    actual = [run for run in (*results, *sources, *_of_banks(instruction)) if run[0] != ZERO_REGISTER]
    return line if _read_again(line, binary_version) == actual else None


def _read_again(line: TraceLine, binary_version: int) -> list[Run]:
    """The registers that a reader finds in a line, results first, zero registers aside."""
    results, sources = written(line, binary_version)
    wide = widths(Shape(line.opcode, line.modifiers, len(results), len(sources), line.immediate))
    found = [*zip(results, (wide.result, wide.second), strict=False), *zip(sources, wide.sources, strict=True)]
    return [run for run in found if run[0] != ZERO_REGISTER]


def _destinations(instruction: Instruction) -> tuple[Operand, ...]:
    operand = instruction.operands[0]
    return operand.elements if isinstance(operand, Vector) else (operand,)


def _begins_with_predicate(instruction: Instruction, pattern: OperandPattern) -> bool:
    """Whether the first operand in a listing is a predicate; one that may be omitted is, where it is none."""
    first = pattern.results[0]
    return _is_predicate(first) and (first.default is None or not isinstance(_destinations(instruction)[0], Sink))


def _is_predicate(slot: OperandSlot) -> bool:
    return slot.is_predicate or slot.kind == "predicates"


def _results(instruction: Instruction, pattern: OperandPattern) -> list[Run]:
    """Ordinary registers that are written, and the zero register in the place of one."""
    if all(map(_is_predicate, pattern.results)) or find(instruction.opcode).pipe == "uniform":
        return []
    pairs = zip(_destinations(instruction), pattern.results, strict=True)
    found = [operand for operand, slot in pairs if not _is_predicate(slot)]
    return [_run(operand) for operand in found if isinstance(operand, Sink) or _has_words(operand)]


def _has_words(operand: Operand) -> bool:
    return any(register.words for register in registers_of(operand))


def _sources(instruction: Instruction) -> list[Run]:
    listed = instruction.operands[1:]
    return [
        _run(operand)
        for operand in listed
        if isinstance(operand, Address) or (not isinstance(operand, ConstantBank) and _has_words(operand))
    ]


def _of_banks(instruction: Instruction) -> Iterator[Run]:
    """Registers that index constant banks, which no line names."""
    for operand in instruction.operands[1:]:
        if isinstance(operand, ConstantBank) and _has_words(operand):
            yield _run(operand)


def _run(operand: Operand) -> Run:
    words = [word for register in registers_of(operand) for word in register.words]
    return (words[0], len(words)) if words else (ZERO_REGISTER, 1)


def _immediate(instruction: Instruction, pattern: OperandPattern) -> int:
    """The last integer among the operands, 0 without one."""
    value = 0
    for operand, slot in zip(instruction.operands[1:], pattern.sources, strict=True):
        is_integer = isinstance(slot.kind, Type) and not slot.kind.is_float and not slot.kind.is_predicate
        if is_integer and isinstance(operand, Immediate) and operand.value:
            value = operand.value
    return value
