"""Expand shorthand of PTX: moves of vectors, and memory instructions without the space of a named variable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Instruction
from warpreg.ir.module import Variable
from warpreg.ir.opcodes import canonical, is_allowed
from warpreg.ir.opcodes.order import SPACES
from warpreg.ir.operands import Address, Operand, Register, Sink, Symbol, Vector
from warpreg.ir.types import TYPES

WIDTHS = {"v2": 2, "v4": 4}
NAMED_SPACES = frozenset({"shared", "local", "const", "global"})


def spelled_out(
    instruction: Instruction, variables: Mapping[str, Variable], unique: Callable[[str], str]
) -> Iterable[Instruction]:
    """The instruction without shorthand; ``unique`` makes names of new registers."""
    if instruction.opcode == "mov" and not WIDTHS.keys().isdisjoint(instruction.modifiers):
        return _moves(instruction, unique)
    return (with_space(instruction, variables),)


def with_space(instruction: Instruction, variables: Mapping[str, Variable]) -> Instruction:
    """Give a memory instruction without a space the space of the variable in its address."""
    if not SPACES.isdisjoint(instruction.modifiers):
        return instruction
    named = (o.base.name for o in instruction.operands if isinstance(o, Address) and isinstance(o.base, Symbol))
    spaces = {variables[name].space for name in named if name in variables} & NAMED_SPACES
    if len(spaces) != 1:
        return instruction
    modifiers = canonical(instruction.opcode, (*instruction.modifiers, *spaces))
    return replace(instruction, modifiers=modifiers) if is_allowed(instruction.opcode, modifiers) else instruction


def _moves(instruction: Instruction, unique: Callable[[str], str]) -> Iterator[Instruction]:
    """``mov.v2`` as one move per element, through new registers, because elements may be permuted.

    Raises UnsupportedError if the operands are not vectors of this length.
    """
    width = next(WIDTHS[m] for m in instruction.modifiers if m in WIDTHS)
    modifiers = tuple(m for m in instruction.modifiers if m not in WIDTHS)
    vectors = [o.elements for o in instruction.operands if isinstance(o, Vector) and len(o.elements) == width]
    if len(instruction.operands) != 2 or len(vectors) != 2 or len(instruction.types) != 1:
        reason = f"does not move a vector of {width} elements to another"
        raise UnsupportedError(f"'{instruction}'", instruction.location, reason)
    targets, sources = vectors
    kind = TYPES[f"b{instruction.types[0].bits}"]
    written: list[Operand] = []
    for target, source in zip(targets, sources, strict=True):
        crosses = isinstance(source, Register) and source in targets and source != target
        through = Register(unique("%element"), kind) if crosses else source
        written.append(through)
        if crosses:
            yield replace(instruction, modifiers=modifiers, operands=(through, source))
    for target, source in zip(targets, written, strict=True):
        if not isinstance(target, Sink):
            yield replace(instruction, modifiers=modifiers, operands=(target, source))
