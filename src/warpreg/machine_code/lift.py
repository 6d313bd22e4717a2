"""Kernels of the IR from functions of a listing and the records of their cubin."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import replace

from warpreg.ir import opcodes
from warpreg.ir.errors import Location, UnsupportedError
from warpreg.ir.instruction import Guard, Instruction, registers_of
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.opcodes.sass.pattern import OperandPattern, operand_pattern
from warpreg.ir.operands import (
    ConstantBank,
    Immediate,
    Label,
    ModifiedOperand,
    Operand,
    Register,
    Sink,
    Special,
    Vector,
)
from warpreg.ir.types import PRED, Type
from warpreg.machine_code import matrices, textures
from warpreg.machine_code.banks import Banks
from warpreg.machine_code.branches import targets, without_padding
from warpreg.machine_code.canonical import canonical, wide_addresses, with_signs
from warpreg.machine_code.code import Code
from warpreg.machine_code.errors import MachineCodeError
from warpreg.machine_code.flow import CodeBlock, base, blocks
from warpreg.machine_code.listing import INSTRUCTION_BYTES, ListedInstruction
from warpreg.machine_code.operands import Parsed, operand_texts, parse
from warpreg.machine_code.refused import reason
from warpreg.machine_code.services import is_call, with_services
from warpreg.machine_code.special_registers import special

PREDICATES = 7
PLAIN = Register, Sink
"""Operands that stand for themselves."""

NEVER = ("!PT", "!UPT")
"""Guards of instructions without effect."""


def lift(code: Code, source: Kernel) -> Kernel:
    """The kernel of a function; ``source`` is the kernel that the PTX declares (`codegen.build_kernel`), from
    which it takes names and types of parameters, variables, and the module.

    Raises MachineCodeError for code that cannot be read, UnsupportedError for an opcode that is not known.
    """
    listed = without_padding(code.function.instructions)
    found = targets(code, listed)
    spans = blocks(listed, found, code.function.name)
    numbers = {span.first: number for number, span in enumerate(spans)}
    lifter = _Lifter(code, numbers, max((p.offset + p.bytes for p in source.parameters), default=0))
    lifted = tuple(lifter.block(number, span, listed) for number, span in enumerate(spans))
    used = _registers(lifted)
    words = [register.words[-1] for register in used if register.words]
    uniform = [r.index + max(1, r.type.words) for r in used if r.is_uniform and not r.is_predicate]
    predicates = [r.index + 1 for r in used if r.is_predicate and not r.is_uniform]
    kernel = replace(
        source,
        blocks=lifted,
        parameters=tuple(replace(p, offset=code.first_parameter + p.offset) for p in source.parameters),
        shared_bytes=code.record.shared_bytes,
        dynamic_shared_offset=code.record.shared_bytes,
        local_bytes=code.record.frame_bytes,
        register_count=max(words, default=0) + 1,
        register_demand=code.record.registers,
        uniform_count=max(uniform, default=0),
        predicate_count=max(predicates, default=0),
        rolled=frozenset(),
        machine_code=code.architecture,
        block_addresses=tuple(INSTRUCTION_BYTES * span.first for span in spans),
        literals=lifter.banks.literals,
        placements=lifter.banks.placements(source, lifted),
        analyses={},
    )
    needs_services = bool(found.outside) or lifter.banks.reads_addresses
    return with_services(kernel, lifter.banks.addresses) if needs_services else kernel


def _registers(lifted: Iterable[Block]) -> Iterable[Register]:
    """The registers of some blocks, each one at least once."""
    named = {id(o): o for block in lifted for i in block.instructions for o in i.operands if type(o) is not Immediate}
    return {(r.name, r.type.bits): r for o in named.values() for r in registers_of(o)}.values()


class _Lifter:
    def __init__(self, code: Code, numbers: Mapping[int, int], parameter_bytes: int) -> None:
        self.code = code
        self.numbers = numbers
        self.banks = Banks(code, parameter_bytes)

    def block(self, number: int, span: CodeBlock, listed: list[ListedInstruction]) -> Block:
        """A block with its instructions; blocks are named by their number."""
        members = tuple(self.instruction(listed[at]) for at in range(span.first, span.last))
        return Block(number, f"L{number}", members, tuple(self.numbers[one] for one in span.successors))

    def instruction(self, one: ListedInstruction) -> Instruction:
        """A lifted instruction.  Raises UnsupportedError, MachineCodeError."""
        if one.guard in NEVER:
            nothing = replace(one, guard="", opcode="NOP", operands="")
            return self.instruction(nothing)
        opcode, modifiers, pattern, kinds = _form(one.opcode)
        location = Location(self.code.file, one.line)
        if not _is_known(one):
            others = sum(not _is_known(other) for other in self.code.function.instructions) - 1
            more = f"; {others} others of the function are not known" if others else ""
            place = self.code.place(one)
            raise UnsupportedError(one.opcode, location, f"{reason(opcode, modifiers)} ({place}){more}")
        positions: tuple[int, ...] = ()
        try:
            listed, reused = self._listed(opcode, modifiers, one)
            if opcode in matrices.OPCODES:
                opcode, modifiers, operands = matrices.as_ptx(opcode, modifiers, listed)
                kinds = (None,) * len(operands)
            elif pattern is None:
                operands = textures.texture_operands(opcode, modifiers, listed)
                kinds = (None,) * len(operands)
            else:
                operands, positions = canonical(pattern, listed, reused)
                operands = with_signs(modifiers, wide_addresses(modifiers, operands))
        except ValueError as error:
            raise MachineCodeError(f"{self.code.place(one)}: '{one.opcode} {one.operands}': {error}") from error
        resolved = tuple(
            operand if isinstance(operand, PLAIN) else self._resolved(operand, one, kind)
            for operand, kind in zip(operands, kinds, strict=True)
        )
        source = Location(*one.source) if one.source else None
        guard = _guard(one.guard)
        lifted = Instruction(opcode, modifiers, resolved, guard, location, source, one.control, positions)
        if pattern is not None and not is_call(lifted):
            opcodes.lookup(lifted)  # refuses modifiers that no row has
        return lifted

    def _listed(
        self, opcode: str, modifiers: tuple[str, ...], one: ListedInstruction
    ) -> tuple[list[Parsed], tuple[int, ...]]:
        """The operands as listed, with those that a listing never shows, and the positions of those with
        ``.reuse``."""
        texts = operand_texts(opcode, one.operands)
        parsed = [parse(word, one.immediate if "NAN" in word else None) for word in texts]
        listed = [operand for operand, _ in parsed]
        if opcode == "LEPC":
            listed = [listed[0], self._address_of(listed[1:], one)]
        elif opcode == "R2UR" and "OR" in modifiers:
            listed.append(listed[0])  # the predicate is read, too
        return listed, tuple(at for at, (_, reuse) in enumerate(parsed) if reuse)

    def _resolved(self, operand: Operand, one: ListedInstruction, kind: Type | str | None) -> Operand:
        """Labels, special registers and words of constant banks by what they stand for in a slot of that kind."""
        if isinstance(operand, Label):
            return self._label(operand)
        if kind == "label" and isinstance(operand, Immediate):
            return Label(f"L{self.numbers[operand.value // INSTRUCTION_BYTES]}")
        if isinstance(operand, Special):
            return _predicates(operand.name, one) if operand.name in ("PR", "UPR") else special(operand.name)
        if isinstance(operand, ConstantBank):
            return self.banks.word(operand, one, kind)
        if isinstance(operand, ModifiedOperand) and isinstance(operand.operand, ConstantBank):
            return self._modified(operand, self.banks.word(operand.operand, one, kind), one)
        return operand

    def _modified(self, operand: ModifiedOperand, inner: Operand, one: ListedInstruction) -> ModifiedOperand:
        if not isinstance(inner, (ConstantBank, Immediate)):
            raise MachineCodeError(f"{self.code.place(one)}: nothing is known to be at {operand}")
        return replace(operand, operand=inner)

    def _address_of(self, labels: list[Parsed], one: ListedInstruction) -> Immediate:
        """The address of a label in the function, or of an instruction."""
        names = [label.name for label in labels if isinstance(label, Label)]
        return Immediate(self.code.label(names[0], one) if names else one.address)

    def _label(self, label: Label) -> Operand:
        address = self.code.function.labels.get(label.name)
        number = None if address is None else self.numbers.get(address // INSTRUCTION_BYTES)
        return Label(f"L{number}") if number is not None else label


def _is_known(one: ListedInstruction) -> bool:
    opcode, modifiers, pattern, _ = _form(one.opcode)
    is_matrix = opcode in matrices.OPCODES and "SP" not in modifiers
    return pattern is not None or opcodes.traits_of(opcode).is_texture or is_matrix


def _predicates(name: str, one: ListedInstruction) -> Vector:
    """The predicates that ``PR`` or ``UPR`` stands for; those whose bit the mask in the last operand lacks are neither
    read nor written."""
    mask = -1 if base(one) == "UR2UP" else int(one.operands.rpartition(",")[2], 16)
    absent: Operand = Sink() if base(one) == "R2P" else Immediate(0)
    kind = name.removesuffix("R")
    return Vector(tuple(Register(f"{kind}{n}", PRED, n) if mask >> n & 1 else absent for n in range(PREDICATES)))


@functools.lru_cache(maxsize=4096)
def _form(text: str) -> tuple[str, tuple[str, ...], OperandPattern | None, tuple[Type | str | None, ...]]:
    """Opcode, modifiers, pattern, and the kind of each operand's slot, the destination's not."""
    opcode, *modifiers = text.split(".")
    pattern = operand_pattern(opcode, tuple(modifiers))
    kinds = (None, *(slot.kind for slot in pattern.sources)) if pattern else ()
    return opcode, tuple(modifiers), pattern, kinds


@functools.lru_cache(maxsize=64)
def _guard(text: str) -> Guard | None:
    """``P0``, ``!UP1``; none for one that always holds."""
    if not text or text in ("PT", "UPT"):
        return None
    name = text.removeprefix("!")
    return Guard(Register(name, PRED, int(name[-1])), text.startswith("!"))
