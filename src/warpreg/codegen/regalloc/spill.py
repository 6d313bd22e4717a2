"""Spills chosen values to memory, rematerializes them, or (predicates) keeps them in a register as 0 or 1.

Each access uses its own short-lived register; a predicate that guards several instructions of a block is reloaded once.
A guarded definition changes only some threads, so the old value, if still needed, is reloaded first and the merged
value stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Protocol

from warpreg.analysis.accesses import accesses
from warpreg.analysis.definitions import single_definitions
from warpreg.analysis.liveness import liveness
from warpreg.codegen.lower.address_layout import align
from warpreg.codegen.machine.operand_rewriting import rename_registers
from warpreg.codegen.machine.side_effects import FIXED_SPECIALS
from warpreg.codegen.passes.base import with_blocks
from warpreg.codegen.regalloc.allocation_units import Unit
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Address, ConstantBank, Immediate, Operand, Register, Special
from warpreg.ir.types import B32

MAX_PRESENT = 2
"""Spilled guards that may be kept in predicates at a time."""


class Home(Protocol):
    """The location of a spilled value: how to load it into a register and store it."""

    def fetch(self, target: Register, template: Instruction) -> Instruction:
        """The instruction that loads the value."""
        ...

    def store(self, source: Register, template: Instruction) -> tuple[Instruction, ...]:
        """The instructions that store it."""
        ...


@dataclass(frozen=True)
class LocalSlot:
    """A slot in the thread's local memory, ``offset`` bytes into its frame."""

    offset: int

    def fetch(self, target: Register, template: Instruction) -> Instruction:
        operands = (target, Address(Immediate(self.offset)))
        return _made(template, "ld", ("local", f"b{target.type.bits}"), operands)

    def store(self, source: Register, template: Instruction) -> tuple[Instruction, ...]:
        operands = (Address(Immediate(self.offset)), source)
        return (_made(template, "st", ("local", f"b{source.type.bits}"), operands),)


@dataclass(frozen=True)
class RematerializedConstant:
    """A constant, which is rematerialized by a move at each use."""

    value: Operand
    modifiers: tuple[str, ...]

    def fetch(self, target: Register, template: Instruction) -> Instruction:
        return _made(template, "mov", self.modifiers, (target, self.value))

    def store(self, source: Register, template: Instruction) -> tuple[Instruction, ...]:
        del source, template
        return ()


@dataclass(frozen=True)
class PredicateBits:
    """A predicate kept as 0 or 1 in a 32-bit register."""

    register: Register

    def fetch(self, target: Register, template: Instruction) -> Instruction:
        return _made(template, "setp", ("ne", "u32"), (target, self.register, Immediate(0)))

    def store(self, source: Register, template: Instruction) -> tuple[Instruction, ...]:
        return (_made(template, "selp", ("b32",), (self.register, Immediate(1), Immediate(0), source)),)


def _made(template: Instruction, opcode: str, modifiers: tuple[str, ...], operands: tuple[Operand, ...]) -> Instruction:
    return replace(template, opcode=opcode, modifiers=modifiers, operands=operands, guard=None)


def spill_registers(kernel: Kernel, units: list[Unit], temporaries: set[str]) -> Kernel:
    """The kernel with the units' values in local memory; adds the new registers' names to ``temporaries``."""
    names = accesses(kernel).cells.names
    homes: dict[str, Home] = {}
    frame = kernel.local_bytes
    for unit in units:
        constant = _recomputed(kernel, [names[cell] for cell, _ in unit.members])
        if constant:
            homes |= dict.fromkeys(constant[0], constant[1])
            continue
        base = align(frame, 4 * max(1, unit.alignment))
        frame = base + 4 * unit.size
        homes |= {names[cell]: LocalSlot(base + 4 * offset) for cell, offset in unit.members}
    return replace(_Rewriter(homes, temporaries).run(kernel), local_bytes=frame)


def spill_predicates(kernel: Kernel, units: list[Unit], temporaries: set[str], keep_guards: bool) -> Kernel:
    """The kernel with the units' predicates in 32-bit registers.

    ``keep_guards``: a reloaded guard stays in a predicate for the following instructions.  Such predicates cannot be
    spilled again, so this is used for one iteration only.
    """
    names = accesses(kernel).cells.names
    homes: dict[str, Home] = {}
    for unit in units:
        bits = Register(f"{names[unit.members[0][0]]}.bits", B32)
        homes |= {names[cell]: PredicateBits(bits) for cell, _ in unit.members}
    return _Rewriter(homes, temporaries, keep_guards).run(kernel)


def _recomputed(kernel: Kernel, names: list[str]) -> tuple[list[str], RematerializedConstant] | None:
    single = single_definitions(kernel).defining.get(names[0]) if len(names) == 1 else None
    if single is None or single.opcode != "mov" or not isinstance(single.operands[0], Register):
        return None
    value = single.operands[1]
    fixed = isinstance(value, Special) and value.name in FIXED_SPECIALS
    return (
        (names, RematerializedConstant(value, single.modifiers))
        if fixed or isinstance(value, (Immediate, ConstantBank))
        else None
    )


@dataclass
class _Rewriter:
    homes: Mapping[str, Home]
    temporaries: set[str]
    keep_guards: bool = False
    serial: int = field(init=False)
    present: dict[str, Register] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.serial = len(self.temporaries)

    def run(self, kernel: Kernel) -> Kernel:
        live = liveness(kernel)
        names = live.accesses.cells.names
        bodies: dict[int, list[Instruction]] = {}
        for block in kernel.blocks:
            self.present.clear()
            merged = [{names[cell] for cell in cells} for cells in live.merged(block.index)]
            pairs = zip(block.instructions, merged, strict=True)
            bodies[block.index] = [new for old, kept in pairs for new in self._visit(old, kept)]
        return with_blocks(kernel, bodies)

    def _visit(self, instruction: Instruction, merged: Set[str]) -> tuple[Instruction, ...]:
        """Its replacement; ``merged``: the registers that it writes and whose old value some thread still needs."""
        read = {r.name: r for r in instruction.used if r.name in self.homes}
        written = {r.name: r for r in instruction.defined if r.name in self.homes}
        if not read and not written:
            return (instruction,)
        if instruction.opcode == "mov" and not instruction.guard and len(instruction.operands) == 2:
            short = self._move(instruction)
            if short is not None:
                self._forget(written)
                return short
        read = {**{name: register for name, register in written.items() if name in merged}, **read}
        known = {n: self.present[n] for n in read if n in self.present and n not in written}
        fresh = {name: self._temporary(register) for name, register in {**read, **written}.items() if name not in known}
        before = [self.homes[name].fetch(fresh[name], instruction) for name in read if name not in known]
        self._remember(instruction, fresh, written)
        fresh |= known
        after = [i for name in written for i in self.homes[name].store(fresh[name], instruction)]
        renamed = rename_registers(instruction, lambda r: fresh.get(r.name, r))
        return (*before, renamed, *after)

    def _move(self, move: Instruction) -> tuple[Instruction, ...] | None:
        """A move from or to a spilled value as one access, or nothing if both sides share a location."""
        target, source = move.operands
        here = self.homes.get(target.name) if isinstance(target, Register) else None
        there = self.homes.get(source.name) if isinstance(source, Register) else None
        if isinstance(here, RematerializedConstant) or (here is not None and here == there):
            return ()
        if isinstance(target, Register) and here is None and there is not None:
            return (there.fetch(target, move),)
        if isinstance(source, Register) and here is not None and there is None:
            return here.store(source, move)
        return None

    def _remember(
        self, instruction: Instruction, fresh: Mapping[str, Register], written: Mapping[str, Register]
    ) -> None:
        """Keep a reloaded guard for the following instructions."""
        self._forget(written)
        guard = instruction.guard
        if self.keep_guards and guard and guard.register.name in fresh and guard.register.name not in written:
            while len(self.present) >= MAX_PRESENT:
                del self.present[next(iter(self.present))]
            self.present[guard.register.name] = fresh[guard.register.name]

    def _forget(self, written: Mapping[str, Register]) -> None:
        """A write invalidates a reloaded guard; others of the same location are dead."""
        self.present = {name: register for name, register in self.present.items() if name not in written}

    def _temporary(self, register: Register) -> Register:
        name = f"{register.name}.t{self.serial}"
        self.serial += 1
        self.temporaries.add(name)
        return replace(register, name=name)
