"""Removes conversions that a narrow load makes redundant: 8- and 16-bit loads extend to a 32-bit register.

``ld.u8`` leaves zeros above the byte, so ``cvt.u16.u8`` of it is a copy.  If a widening conversion is the only reader
of the loaded value, the load writes the wide register directly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from warpreg.analysis.definitions import SingleDefinitions, single_definitions
from warpreg.codegen.passes.base import with_blocks
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Operand, Register
from warpreg.ir.types import Type

NARROW_BITS = 16


@dataclass(frozen=True)
class WidenLoads:
    """Replace conversions of narrow loads by copies, or merge them into the load."""

    def run(self, kernel: Kernel) -> Kernel:
        single = single_definitions(kernel)
        widened = {
            load.operands[0]: convert
            for convert in kernel.instructions()
            if (load := _narrow_load(convert, single)) is not None and _is_sole_reader(convert, single)
        }
        gone = {id(convert) for convert in widened.values()}
        bodies: dict[int, Iterable[Instruction]] = {}
        for block in kernel.blocks:
            kept = [i for i in block.instructions if id(i) not in gone]
            bodies[block.index] = [_as_copy(_loading(i, widened), single) for i in kept]
        return with_blocks(kernel, bodies)


def _narrow_load(convert: Instruction, single: SingleDefinitions) -> Instruction | None:
    """The load whose value an integer conversion only extends."""
    if convert.opcode != "cvt" or convert.guard or len(convert.modifiers) != 2 or len(convert.types) != 2:
        return None
    source = convert.operands[1]
    load = single.defining.get(source.name) if isinstance(source, Register) else None
    if load is None or load.opcode != "ld" or not isinstance(load.operands[0], Register) or load.guard:
        return None
    to, taken = convert.types
    loaded = load.types[-1]
    narrow = loaded.bits <= NARROW_BITS and to.bits >= taken.bits >= loaded.bits
    if not (narrow and to.is_integer and taken.is_integer and loaded.is_integer):
        return None
    return load if taken.bits == loaded.bits or not loaded.is_signed else None


def _is_sole_reader(convert: Instruction, single: SingleDefinitions) -> bool:
    target, source = convert.operands
    if not (isinstance(target, Register) and isinstance(source, Register)):
        return False
    wider = target.type.bits > source.type.bits and convert.types[0].bits == target.type.bits
    return wider and target.name in single and single.reads[source.name] == 1


def _loading(instruction: Instruction, widened: dict[Operand, Instruction]) -> Instruction:
    convert = widened.get(instruction.operands[0]) if instruction.opcode == "ld" else None
    if convert is None:
        return instruction
    modifiers = (*instruction.modifiers[:-1], _extended(instruction.types[-1], convert.types[1]))
    return replace(instruction, modifiers=modifiers, operands=(convert.operands[0], *instruction.operands[1:]))


def _extended(loaded: Type, taken: Type) -> str:
    """The load's type: the conversion determines the signedness if it reads exactly the loaded bits."""
    signed = taken.is_signed if taken.bits == loaded.bits else False
    return f"{'s' if signed else 'u'}{loaded.bits}"


def _as_copy(convert: Instruction, single: SingleDefinitions) -> Instruction:
    load = _narrow_load(convert, single)
    if load is None:
        return convert
    target, source = convert.operands
    if not (isinstance(target, Register) and isinstance(source, Register) and target.type.bits == source.type.bits):
        return convert
    to, taken = convert.types
    loaded = load.types[-1]
    same_sign = taken.is_signed == loaded.is_signed or taken.bits > loaded.bits
    if to.bits != target.type.bits or not same_sign:
        return convert
    return replace(convert, opcode="mov", modifiers=(f"b{target.type.bits}",))
