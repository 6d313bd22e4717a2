"""Kernels of the IR from functions of a listing and the records of their cubin."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from warpreg.ir import opcodes
from warpreg.ir.errors import Location, UnsupportedError
from warpreg.ir.instruction import Guard, Instruction, registers_of
from warpreg.ir.kernel import Block, Kernel, Placement
from warpreg.ir.opcodes import Flow
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
from warpreg.ir.types import B32, PRED, Type
from warpreg.machine_code import matrices, textures
from warpreg.machine_code.canonical import canonical, wide_addresses, with_signs
from warpreg.machine_code.cubin import Cubin, KernelRecord
from warpreg.machine_code.errors import MachineCodeError
from warpreg.machine_code.flow import CodeBlock, Targets, base, blocks, flow_of, position
from warpreg.machine_code.listing import INSTRUCTION_BYTES, Function, ListedInstruction
from warpreg.machine_code.operands import JUMP_TABLE, Parsed, operand_texts, parse
from warpreg.machine_code.refused import reason
from warpreg.machine_code.services import ADDRESSES, is_call, is_indexed_address, with_services
from warpreg.machine_code.special_registers import special

PARAMETER_BASES = {"sm_80": 0x160, "sm_90": 0x210}
"""Where parameters begin in constant bank 0; the word that a kernel without parameters has too."""

LITERALS, VARIABLES = 2, 3
"""Constant banks: constants of the code and jump tables; ``__constant__`` variables."""

LAUNCH_WORDS = frozenset([*range(0, 0x2C, 4), 0x118, 0x11C, 0x128, 0x18C, 0x208, 0x20C])
"""Words of constant bank 0 below the parameters that are known: extents of block and grid, generic addresses of shared
and local memory, stack pointer; of each architecture, the descriptor of global memory, and a flag that selects the
scope of a fence, both 0."""

WORKSPACE = {
    "sm_80": {0x8C: "%envreg1", 0x90: "%envreg2"},
    "sm_90": {0x44: "%envreg1", 0x48: "%envreg2"},
}
"""Words of constant bank 0 with the address of the workspace of a cooperative grid, by what PTX reads instead."""

PREDICATES = 7
PLAIN = Register, Sink
"""Operands that stand for themselves."""

NEVER = ("!PT", "!UPT")
"""Guards of instructions without effect."""

REGISTER = re.compile(r"U?R\d")
LABEL = re.compile(r"`\(([^)]*)\)")


@dataclass(frozen=True, slots=True)
class Code:
    """A function of a listing, the architecture, and what its cubin says."""

    function: Function
    architecture: str
    cubin: Cubin
    file: str = "listing"

    @property
    def record(self) -> KernelRecord:
        """The record of the kernel.  Raises MachineCodeError if the cubin lacks it."""
        if self.function.name not in self.cubin.kernels:
            raise MachineCodeError(f"{self.file}: the cubin has no kernel '{self.function.name}'")
        return self.cubin.kernels[self.function.name]

    def place(self, listed: ListedInstruction) -> str:
        """Where an instruction stands, for messages."""
        return f"{self.file}:{listed.line}: {self.function.name}+{listed.address:#x}"


def lift(code: Code, source: Kernel) -> Kernel:
    """The kernel of a function; ``source`` is the kernel that the PTX declares (`codegen.build_kernel`), from
    which it takes names and types of parameters, variables, and the module.

    Raises MachineCodeError for code that cannot be read, UnsupportedError for an opcode that is not known.
    """
    listed = _without_padding(code.function.instructions)
    targets = _targets(code, listed)
    spans = blocks(listed, targets, code.function.name)
    numbers = {span.first: number for number, span in enumerate(spans)}
    lifter = _Lifter(code, numbers)
    lifted = tuple(lifter.block(number, span, listed) for number, span in enumerate(spans))
    first = code.record.parameter_base or PARAMETER_BASES.get(code.architecture, 0)
    used = _registers(lifted)
    words = [register.words[-1] for register in used if register.words]
    uniform = [r.index + max(1, r.type.words) for r in used if r.is_uniform and not r.is_predicate]
    predicates = [r.index + 1 for r in used if r.is_predicate and not r.is_uniform]
    kernel = replace(
        source,
        blocks=lifted,
        parameters=tuple(replace(p, offset=first + p.offset) for p in source.parameters),
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
        literals=lifter.literals,
        placements=lifter.placements(source, lifted),
        analyses={},
    )
    return with_services(kernel, lifter.addresses) if lifter.needs_services(targets) else kernel


def _registers(lifted: Iterable[Block]) -> Iterable[Register]:
    """The registers of some blocks, each one at least once."""
    named = {id(o): o for block in lifted for i in block.instructions for o in i.operands if type(o) is not Immediate}
    return {(r.name, r.type.bits): r for o in named.values() for r in registers_of(o)}.values()


def _without_padding(listed: list[ListedInstruction]) -> list[ListedInstruction]:
    """The code up to the branch to itself and the NOPs that fill the section."""
    end = len(listed)
    while end and base(listed[end - 1]) == "NOP":
        end -= 1
    return listed[:end]


def _targets(code: Code, listed: list[ListedInstruction]) -> Targets:
    labels = code.function.labels | {code.function.name: 0}
    direct, tables = {}, {}
    outside = set()
    for at, one in enumerate(listed):
        opcode = base(one)
        if opcode == "BRX":
            match = JUMP_TABLE.search(one.operands)
            if not match:
                raise MachineCodeError(f"{code.place(one)}: BRX without its targets")
            tables[at] = tuple(
                dict.fromkeys(
                    position(_address(code, one, name), listed, code.place(one)) for name in match[1].split(",")
                )
            )
        elif flow_of(one) is Flow.BRANCH or opcode == "BSSY":
            name = LABEL.search(one.operands)
            if "ABS" in one.opcode and not name:
                outside.add(at)
                continue
            if opcode == "CALL" and REGISTER.match(one.operands):
                place = Location(code.file, one.line)
                raise UnsupportedError(one.opcode, place, "calls an address in a register, which is not supported")
            address = labels.get(name[1]) if name else _number(one)
            if address is None:
                raise MachineCodeError(f"{code.place(one)}: no target '{one.operands}' in the function")
            direct[at] = position(address, listed, code.place(one))
    return Targets(direct, tables, frozenset(outside))


def _address(code: Code, one: ListedInstruction, label: str) -> int:
    if label.strip() not in code.function.labels:
        raise MachineCodeError(f"{code.place(one)}: no label '{label}' in the function")
    return code.function.labels[label.strip()]


def _number(one: ListedInstruction) -> int | None:
    """The target of a branch in text without labels: the last operand is an address."""
    found = re.search(r"0x([0-9a-f]+)$", one.operands)
    return int(found[1], 16) if found else None


class _Lifter:
    def __init__(self, code: Code, numbers: Mapping[int, int]) -> None:
        self.code = code
        self.numbers = numbers
        symbols = code.cubin.symbols.get(f".nv.constant{VARIABLES}", ())
        self.variables = sorted((one.offset, one.bytes, one.name) for one in symbols if one.bytes)
        self.addresses = code.cubin.relocated.get(f".nv.constant{ADDRESSES}", {})
        self.literals = code.cubin.contents.get(f".nv.constant{LITERALS}.{code.function.name}", b"")
        self.reads_addresses = False

    def needs_services(self, targets: Targets) -> bool:
        """Whether the code calls functions outside of it."""
        return bool(targets.outside) or self.reads_addresses

    def placements(self, source: Kernel, lifted: Iterable[Block]) -> tuple[Placement, ...]:
        """Those of the PTX, variables whose addresses the code takes, and those of bank 3 with their offsets in it; all
        of them where an index or a pair of words may reach one that the code does not name.

        Raises MachineCodeError for a name that is no variable of the module.
        """
        words = [o for block in lifted for i in block.instructions for o in i.operands if isinstance(o, ConstantBank)]
        reaches = any(word.bank == VARIABLES and (word.index or word.type.bits > 32) for word in words)
        placed = {p.variable.unique_name for p in source.placements}
        declared = {v.unique_name: v for v in source.module.static_variables}
        taken = {word.name for word in words if word.name and word.name not in placed}
        if unknown := sorted(taken - declared.keys()):
            raise MachineCodeError(f"{self.code.file}: {self.code.function.name}: no variable is named {unknown[0]}")
        own = placed | taken
        known = [row for row in self.variables if row[2] in declared and (reaches or row[2] in own)]
        banked = [Placement(declared[name], "const", offset, size) for offset, size, name in known]
        names = {p.variable.unique_name for p in banked}
        addressed = [Placement(declared[name], declared[name].space, 0, declared[name].bytes) for name in sorted(taken)]
        others = (p for p in (*source.placements, *addressed) if p.variable.unique_name not in names)
        return (*others, *banked)

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
            listed, reused = self._listed(opcode, one)
            if opcode == "LEPC":
                listed = [listed[0], self._address_of(listed[1:], one)]
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

    def _listed(self, opcode: str, one: ListedInstruction) -> tuple[list[Parsed], tuple[int, ...]]:
        """The operands as listed, and the positions of those with ``.reuse``."""
        texts = operand_texts(opcode, one.operands)
        parsed = [parse(word, one.immediate if "NAN" in word else None) for word in texts]
        return [operand for operand, _ in parsed], tuple(at for at, (_, reuse) in enumerate(parsed) if reuse)

    def _resolved(self, operand: Operand, one: ListedInstruction, kind: Type | str | None) -> Operand:
        """Labels, special registers and words of constant banks by what they stand for in a slot of that kind."""
        if isinstance(operand, Label):
            return self._label(operand)
        if kind == "label" and isinstance(operand, Immediate):
            return Label(f"L{self.numbers[operand.value // INSTRUCTION_BYTES]}")
        if isinstance(operand, Special):
            return _predicates(one) if operand.name == "PR" else special(operand.name)
        if isinstance(operand, ConstantBank):
            return self._bank(operand, one, kind)
        if isinstance(operand, ModifiedOperand) and isinstance(operand.operand, ConstantBank):
            return self._modified(operand, self._bank(operand.operand, one, kind), one)
        return operand

    def _modified(self, operand: ModifiedOperand, inner: Operand, one: ListedInstruction) -> ModifiedOperand:
        if not isinstance(inner, (ConstantBank, Immediate)):
            raise MachineCodeError(f"{self.code.place(one)}: nothing is known to be at {operand}")
        return replace(operand, operand=inner)

    def _address_of(self, labels: list[Parsed], one: ListedInstruction) -> Immediate:
        """The address of a label in the function, or of an instruction."""
        names = [label.name for label in labels if isinstance(label, Label)]
        return Immediate(_address(self.code, one, names[0]) if names else one.address)

    def _label(self, label: Label) -> Operand:
        address = self.code.function.labels.get(label.name)
        number = None if address is None else self.numbers.get(address // INSTRUCTION_BYTES)
        return Label(f"L{number}") if number is not None else label

    def _is_known_word(self, word: ConstantBank) -> bool:
        """Whether the value of a word of bank 0 is known, unlike that of the generic address of bank 3."""
        first = self.code.record.parameter_base or PARAMETER_BASES.get(self.code.architecture, 0)
        return bool(word.index) or word.offset in LAUNCH_WORDS or word.offset >= first

    def _bank(self, word: ConstantBank, one: ListedInstruction, kind: Type | str | None) -> Operand:
        if is_indexed_address(word):
            self.reads_addresses = True
        if word.index and word.bank in (VARIABLES, ADDRESSES):
            return word
        if word.bank == VARIABLES:
            for offset, size, name in reversed(self.variables):
                if offset <= max(word.offset, 0) and word.offset < offset + size:
                    return replace(word, offset=word.offset - offset, name=name)
        if word.bank == ADDRESSES and word.offset & ~4 in self.addresses:
            held = self.addresses[word.offset & ~4]
            return replace(word, offset=held.addend, name=held.symbol, word=word.offset >> 2 & 1)
        if word.bank == LITERALS and word.index is None and word.offset + word.type.bytes <= len(self.literals):
            form = kind.name if isinstance(kind, Type) and kind.name in ("f32", "f64") else "int"
            return Immediate(int.from_bytes(self.literals[word.offset :][: word.type.bytes], "little"), form)
        workspace = WORKSPACE.get(self.code.architecture, {})
        if word.bank == 0 and word.offset in workspace and word.type.bits == B32.bits:
            return Special(workspace[word.offset])
        if word.bank == LITERALS or (word.bank == 0 and self._is_known_word(word)):
            return word
        remedy = "" if self.code.cubin.contents else "; variables need the cubin, beside the listing"
        raise MachineCodeError(f"{self.code.place(one)}: nothing is known to be at {word}{remedy}")


def _is_known(one: ListedInstruction) -> bool:
    opcode, modifiers, pattern, _ = _form(one.opcode)
    is_matrix = opcode in matrices.OPCODES and "SP" not in modifiers
    return pattern is not None or opcodes.traits_of(opcode).is_texture or is_matrix


def _predicates(one: ListedInstruction) -> Vector:
    """The predicates that ``PR`` stands for; those whose bit the mask in the last operand lacks are neither read nor
    written."""
    mask = int(one.operands.rpartition(",")[2], 16)
    absent: Operand = Sink() if base(one) == "R2P" else Immediate(0)
    return Vector(tuple(Register(f"P{n}", PRED, n) if mask >> n & 1 else absent for n in range(PREDICATES)))


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
