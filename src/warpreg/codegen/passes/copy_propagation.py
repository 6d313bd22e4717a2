"""Copy propagation: moves between registers, ``cvta`` of global and constant addresses, negated predicates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from warpreg.analysis.definitions import SingleDefinitions, single_definitions
from warpreg.codegen.machine.operand_rewriting import map_operand
from warpreg.codegen.passes.base import rewrite
from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Not, Operand, Register, Vector

IDENTITY_SPACES = frozenset({"global", "const"})


@dataclass(frozen=True)
class PropagateCopies:
    """Replace reads of a singly assigned copy by reads of its source; dead-code elimination removes the copy."""

    def run(self, kernel: Kernel) -> Kernel:
        return rewrite(kernel, _Copies(single_definitions(kernel)))


class _Copies:
    def __init__(self, single: SingleDefinitions) -> None:
        self.single = single
        self.same: dict[str, Register] = {}
        self.opposite: dict[str, Register] = {}
        self.halves: dict[str, tuple[Register, ...]] = {}

    def enter(self, block: int) -> None:
        del block

    def visit(self, instruction: Instruction) -> Iterable[Instruction]:
        instruction = as_move(self._substitute(instruction))
        unpacked = self._unpack(instruction)
        for move in unpacked:
            self._note(move)
        return unpacked

    def _substitute(self, instruction: Instruction) -> Instruction:
        if not self.same and not self.opposite:
            return instruction
        sources = tuple(map_operand(o, self._read) for o in instruction.sources)
        guard = self._guard(instruction.guard)
        changed = guard is not instruction.guard or any(
            a is not b for a, b in zip(sources, instruction.sources, strict=True)
        )
        if changed:
            instruction = replace(instruction, operands=(*instruction.results, *sources), guard=guard)
        return self._swapped_selection(instruction)

    def _read(self, operand: Operand) -> Operand:
        return self.same.get(operand.name, operand) if isinstance(operand, Register) else operand

    def _guard(self, guard: Guard | None) -> Guard | None:
        if guard is None:
            return None
        name = guard.register.name
        if name in self.opposite:
            return Guard(self.opposite[name], not guard.negated)
        return Guard(self.same[name], guard.negated) if name in self.same else guard

    def _swapped_selection(self, instruction: Instruction) -> Instruction:
        """``selp d, a, b, q`` where q is the negation of p reads p with a and b exchanged."""
        if instruction.opcode != "selp":
            return instruction
        target, one, other, chosen = instruction.operands
        if isinstance(chosen, Register) and chosen.name in self.opposite:
            return replace(instruction, operands=(target, other, one, self.opposite[chosen.name]))
        return instruction

    def _unpack(self, instruction: Instruction) -> tuple[Instruction, ...]:
        """``mov.b64 {lo, hi}, d`` where d was packed from registers moves those."""
        if instruction.opcode != "mov" or instruction.guard or not isinstance(instruction.operands[0], Vector):
            return (instruction,)
        source = instruction.operands[1]
        parts = self.halves.get(source.name) if isinstance(source, Register) else None
        targets = instruction.operands[0].elements
        if parts is None or len(parts) != len(targets):
            return (instruction,)
        return tuple(
            replace(instruction, modifiers=(f"b{part.type.bits}",), operands=(target, part))
            for target, part in zip(targets, parts, strict=True)
            if isinstance(target, Register)
        )

    def _note(self, instruction: Instruction) -> None:
        if instruction.guard or instruction.opcode not in ("mov", "not") or len(instruction.operands) != 2:
            return
        target, source = instruction.operands
        if not isinstance(target, Register) or target.name not in self.single:
            return
        if isinstance(source, Vector) and instruction.opcode == "mov":
            parts = tuple(e for e in source.elements if isinstance(e, Register) and e.name in self.single)
            if len(parts) == len(source.elements):
                self.halves[target.name] = parts
        inverts = instruction.opcode == "not"
        negated = inverts != isinstance(source, Not)
        source = source.operand if isinstance(source, Not) else source
        if not isinstance(source, Register) or source.name not in self.single:
            return
        if target.is_predicate or (not inverts and source.type.bits == target.type.bits):
            self._note_copy(target.name, source, negated=negated)

    def _note_negation(self, name: str, source: Register) -> None:
        if source.name in self.opposite:
            self.same[name] = self.opposite[source.name]
        else:
            self.opposite[name] = source

    def _note_copy(self, name: str, source: Register, *, negated: bool) -> None:
        if negated:
            self._note_negation(name, source)
            return
        self.same[name] = source
        if source.name in self.opposite:
            self.opposite[name] = self.opposite[source.name]
        if source.name in self.halves:
            self.halves[name] = self.halves[source.name]


def as_move(instruction: Instruction) -> Instruction:
    """``cvta`` between generic and global or constant addresses is the identity."""
    if instruction.opcode != "cvta" or not IDENTITY_SPACES.intersection(instruction.modifiers):
        return instruction
    return replace(instruction, opcode="mov", modifiers=(instruction.modifiers[-1],))
