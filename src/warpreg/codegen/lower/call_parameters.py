"""Parameters of inlined calls: ``st.param`` and ``ld.param`` pairs become register moves.

A parameter that is accessed at constant, disjoint offsets gets one virtual register per offset.  A parameter whose
address is taken, or whose accesses overlap, is in local memory instead, as on the machine.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from warpreg.codegen.lower.address_layout import symbols_of
from warpreg.ir.instruction import Instruction
from warpreg.ir.operands import Address, Operand, Register, Symbol, Vector
from warpreg.ir.types import TYPES, Type


@dataclass(frozen=True)
class _Access:
    """One ``ld.param`` or ``st.param``: the variable, the byte offset, the element type and the values."""

    name: str
    offset: int
    type: Type
    values: tuple[Operand, ...]

    @staticmethod
    def read(instruction: Instruction) -> _Access | None:
        traits = instruction.traits
        if not traits.accesses_elements or "param" not in instruction.modifiers or not instruction.types:
            return None
        value, address = instruction.operands[:2] if traits.loads else instruction.operands[1::-1]
        if not isinstance(address, Address) or not isinstance(address.base, Symbol):
            return None
        values = value.elements if isinstance(value, Vector) else (value,)
        return _Access(address.base.name, address.base.offset + address.offset, instruction.types[-1], values)

    def places(self) -> Iterator[tuple[int, int]]:
        """Offset and bytes of each element."""
        for i in range(len(self.values)):
            yield self.offset + i * self.type.bytes, self.type.bytes


@dataclass(frozen=True)
class CallParameters:
    """Parameters of inlined calls in registers (``slots``, of ``sizes`` bytes) and ``in_memory``."""

    slots: dict[tuple[str, int], Register]
    in_memory: frozenset[str]
    sizes: dict[tuple[str, int], int]

    @staticmethod
    def of(instructions: Iterable[Instruction], names: frozenset[str]) -> CallParameters:
        """Decide for each of ``names`` from all its uses."""
        places: dict[str, set[tuple[int, int]]] = defaultdict(set)
        exposed: set[str] = set()
        for instruction in instructions:
            access = _Access.read(instruction)
            if access and access.name in names:
                places[access.name].update(access.places())
            else:
                exposed.update(s.name for s in symbols_of(instruction) if s.name in names)
        exposed.update(name for name, touched in places.items() if _overlap(touched))
        sizes = {
            (name, offset): size
            for name, touched in places.items()
            if name not in exposed
            for offset, size in sorted(touched)
        }
        slots = {
            (name, offset): Register(f"{name}+{offset}", TYPES[f"b{max(16, 8 * size)}"])
            for (name, offset), size in sizes.items()
        }
        return CallParameters(slots, frozenset(exposed), sizes)

    def rewrite(self, instruction: Instruction) -> tuple[Instruction, ...]:
        """The replacement of the instruction: moves, a local access, or itself."""
        access = _Access.read(instruction)
        if access and (access.name, access.offset) in self.slots:
            return tuple(self._moves(instruction, access))
        spaced = (
            instruction.traits.accesses_elements or instruction.opcode == "cvta"
        ) and "param" in instruction.modifiers
        if spaced and any(s.name in self.in_memory for s in symbols_of(instruction)):
            modifiers = tuple("local" if m == "param" else m for m in instruction.modifiers)
            return (replace(instruction, modifiers=modifiers),)
        return (instruction,)

    def _moves(self, instruction: Instruction, access: _Access) -> Iterator[Instruction]:
        for value, (offset, _) in zip(access.values, access.places(), strict=True):
            slot = self.slots[access.name, offset]
            if instruction.traits.stores:
                yield _convert(instruction, slot, value, access.type, narrow=True)
            elif isinstance(value, Register):
                yield _convert(instruction, value, slot, access.type, narrow=False)


def _overlap(places: set[tuple[int, int]]) -> bool:
    ordered = sorted(places)
    return any(a + size > b for (a, size), (b, _) in itertools.pairwise(ordered))


def _convert(template: Instruction, target: Register, value: Operand, kind: Type, *, narrow: bool) -> Instruction:
    """A move of ``kind`` bits; a conversion where the register is wider, as ``ld`` and ``st`` convert."""
    register = value if narrow else target
    wider = isinstance(register, Register) and register.type.bits > kind.bits
    if not wider:
        bits = f"b{max(16, kind.bits)}"
        return replace(template, opcode="mov", modifiers=(bits,), operands=(target, value))
    sign = "s" if kind.is_signed else "u"
    source = f"{sign}{kind.bits}"
    result = f"{sign}{target.type.bits}"
    if result == source:
        source = f"{sign}{register.type.bits}" if isinstance(register, Register) else source
    return replace(template, opcode="cvt", modifiers=(result, source), operands=(target, value))
