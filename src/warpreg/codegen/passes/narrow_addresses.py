"""32-bit addresses, as on the papers' machines: values used only for addresses occupy one register.

PTX computes addresses in 64 bits, so an address occupies a register pair.  All device addresses are below 4 GB (see
`warpreg.ir.address_space`; a launch checks it), so low words are enough: the sum, product or shift of low words is
the low word of the sum, product or shift.  A 64-bit register is narrowed if all its uses are bases of memory operands,
definitions of other narrowed registers, or conversions to 32 bits, and if all its definitions have a narrow form.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from warpreg.codegen.machine.operand_rewriting import map_instruction
from warpreg.codegen.passes.base import with_blocks
from warpreg.codegen.passes.copy_propagation import as_move
from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Address, ConstantBank, Immediate, Operand, Register
from warpreg.ir.types import B32, U32

Form = tuple[str, tuple[str, ...]]

LOW_WORDS: dict[Form, Form] = {
    **{("add", (t,)): ("add", ("s32",)) for t in ("s64", "u64")},
    **{("sub", (t,)): ("sub", ("s32",)) for t in ("s64", "u64")},
    **{("mul", ("lo", t)): ("mul", ("lo", "s32")) for t in ("s64", "u64")},
    **{("mad", ("lo", t)): ("mad", ("lo", "s32")) for t in ("s64", "u64")},
    **{("mul", ("wide", t)): ("mul", ("lo", "s32")) for t in ("s32", "u32")},
    **{("mad", ("wide", t)): ("mad", ("lo", "s32")) for t in ("s32", "u32")},
    ("neg", ("s64",)): ("neg", ("s32",)),
    ("not", ("b64",)): ("not", ("b32",)),
    **{(o, ("b64",)): (o, ("b32",)) for o in ("and", "or", "xor", "shl", "selp")},
    **{("selp", (t,)): ("selp", ("b32",)) for t in ("s64", "u64")},
    **{("mov", (t,)): ("mov", ("b32",)) for t in ("b64", "u64", "s64")},
    **{("cvt", (a, b)): ("mov", ("b32",)) for a in ("s64", "u64") for b in ("s32", "u32")},
}
"""Opcode and modifiers of instructions whose low result word depends only on low words, with the narrow form."""
TRUNCATIONS = frozenset({(to, taken) for to in ("u32", "s32") for taken in ("u64", "s64")})
SHIFT_LIMIT = 31


@dataclass(frozen=True)
class NarrowAddresses:
    """Compute addresses in 32 bits; a 64-bit operand, such as a loaded pointer, is converted where it is used."""

    def run(self, kernel: Kernel) -> Kernel:
        names = _narrowed(kernel)
        if not names:
            return replace(kernel, address_bits=32, analyses={})
        rewriter = _Narrowing(names)
        bodies = {b.index: [new for old in b.instructions for new in rewriter.visit(old)] for b in kernel.blocks}
        return replace(with_blocks(kernel, bodies), address_bits=32)


def _narrowed(kernel: Kernel) -> frozenset[str]:
    """The registers to narrow: address bases and their operands, except registers with other uses."""
    makers: dict[str, list[Instruction]] = defaultdict(list)
    readers: dict[str, list[Instruction]] = defaultdict(list)
    worklist: list[str] = []
    for instruction in map(as_move, kernel.instructions()):
        for register in instruction.defined:
            makers[register.name].append(instruction)
        for register in instruction.used:
            readers[register.name].append(instruction)
        worklist += [r.name for r in _bases(instruction)]
    names: set[str] = set()
    while worklist:
        name = worklist.pop()
        if name not in names and makers[name] and all(map(_has_narrow_form, makers[name])):
            names.add(name)
            worklist += [r.name for i in makers[name] for r in i.used if r.type.bits == 64]
    pending = list(names)
    while pending:
        name = pending.pop()
        if name in names and not all(_needs_low_word(i, name, names) for i in readers[name]):
            names.discard(name)
            pending += [r.name for i in makers[name] for r in i.used if r.name in names]
    return frozenset(names)


def _bases(instruction: Instruction) -> Iterator[Register]:
    """The 64-bit base registers of an access."""
    for operand in instruction.operands if _takes_narrow(instruction) else ():
        if isinstance(operand, Address) and isinstance(operand.base, Register) and operand.base.type.bits == 64:
            yield operand.base


def _takes_narrow(instruction: Instruction) -> bool:
    """Whether it takes an address of 32 bits: an access of elements, or a hint to the caches."""
    traits = instruction.traits
    return traits.accesses_elements or (traits.is_idle and traits.takes_address)


def _has_narrow_form(instruction: Instruction) -> bool:
    form = (instruction.opcode, instruction.modifiers)
    if form not in LOW_WORDS or not isinstance(instruction.operands[0], Register):
        return False
    if instruction.opcode == "shl":
        count = instruction.operands[2]
        return isinstance(count, Immediate) and 0 <= count.value <= SHIFT_LIMIT
    return all(isinstance(o, (Register, Immediate)) or _is_parameter(o) for o in instruction.sources)


def _is_parameter(operand: Operand) -> bool:
    return isinstance(operand, ConstantBank) and operand.bank == 0 and not operand.name


def _needs_low_word(instruction: Instruction, name: str, names: set[str]) -> bool:
    """Whether an instruction reads ``name`` as an address, to define a narrowed register, or its low word only."""
    if any(r.name == name for o in instruction.sources if not isinstance(o, Address) for r in registers_of(o)):
        if instruction.opcode == "cvt" and instruction.modifiers in TRUNCATIONS:
            return True
        return _has_narrow_form(instruction) and all(r.name in names for r in instruction.defined)
    return _takes_narrow(instruction)


@dataclass
class _Narrowing:
    names: frozenset[str]
    converted: int = field(default=0)

    def visit(self, instruction: Instruction) -> Iterable[Instruction]:
        """The instruction in 32 bits if it uses narrowed registers."""
        move = as_move(instruction)
        if any(r.name in self.names for r in move.defined):
            return self._narrow(move)
        if not any(r.name in self.names for r in move.used):
            return (instruction,)
        if move.opcode == "cvt":
            target, source = move.operands
            return (replace(move, opcode="mov", modifiers=("b32",), operands=(target, self._low(source))),)
        return (map_instruction(move, self._low_register),)

    def _narrow(self, instruction: Instruction) -> list[Instruction]:
        opcode, modifiers = LOW_WORDS[instruction.opcode, instruction.modifiers]
        conversions: list[Instruction] = []
        sources: list[Operand] = []
        for source in instruction.sources:
            low = self._low(source)
            if isinstance(low, Register) and low.type.bits == 64:
                fresh = Register(f"{low.name}.low{self.converted}", B32)
                self.converted += 1
                operands = (fresh, low)
                conversions.append(
                    replace(instruction, opcode="cvt", modifiers=("u32", "u64"), operands=operands, guard=None)
                )
                low = fresh
            sources.append(low)
        target = self._low(instruction.operands[0])
        return [*conversions, replace(instruction, opcode=opcode, modifiers=modifiers, operands=(target, *sources))]

    def _low_register(self, operand: Operand) -> Operand:
        if isinstance(operand, Register) and operand.name in self.names:
            return replace(operand, type=B32)
        return operand

    def _low(self, operand: Operand) -> Operand:
        """The low word of an operand that is a narrowed register or a constant."""
        if isinstance(operand, Register):
            return self._low_register(operand)
        if isinstance(operand, ConstantBank) and operand.type.bits == 64:
            return replace(operand, type=U32)
        if isinstance(operand, Immediate) and operand.form == "int":
            low = operand.value & 0xFFFFFFFF
            return replace(operand, value=low - (1 << 32) if low >> 31 else low)
        return operand
