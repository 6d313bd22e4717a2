"""One instruction: opcode, modifiers, operands, guard; and the registers that it reads and writes."""

from __future__ import annotations

from dataclasses import dataclass, field

from warpreg.ir.control_code import ControlCode
from warpreg.ir.errors import Location
from warpreg.ir.opcodes.table import traits_of
from warpreg.ir.opcodes.trait import Traits
from warpreg.ir.operands import Immediate, Operand, Register
from warpreg.ir.operands import registers_of as registers_of
from warpreg.ir.types import TYPES, Type


@dataclass(frozen=True, slots=True)
class Guard:
    """The predicate of ``@p`` or ``@!p``."""

    register: Register
    negated: bool = False

    def __str__(self) -> str:
        return f"@!{self.register}" if self.negated else f"@{self.register}"


@dataclass(frozen=True, slots=True)
class Instruction:
    """``opcode`` is the base name (``add``), ``modifiers`` the dot-separated names after it in order (``rn``, ``f32``).

    ``location`` is in the PTX text or listing, ``source`` in the original program according to ``.loc``.  Machine code
    also has a ``control`` code and ``reuse``: the positions among the source operands of those that the compiler keeps
    in the operand reuse cache; its opcodes are in upper case, and its first operand is the destination (a sink without
    one, a vector for several).
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Guard | None = None
    location: Location | None = field(default=None, compare=False)
    source: Location | None = field(default=None, compare=False)
    control: ControlCode | None = field(default=None, compare=False)
    reuse: tuple[int, ...] = field(default=(), compare=False)

    @property
    def full_opcode(self) -> str:
        return ".".join((self.opcode, *self.modifiers))

    @property
    def types(self) -> tuple[Type, ...]:
        """The type modifiers, in order."""
        return tuple(TYPES[m] for m in self.modifiers if m in TYPES)

    @property
    def traits(self) -> Traits:
        """What the table of opcodes answers about it."""
        return traits_of(self.opcode, self.modifiers)

    @property
    def has_result(self) -> bool:
        return traits_of(self.opcode, self.modifiers).has_result if self.operands else False

    @property
    def results(self) -> tuple[Operand, ...]:
        """The destination operand, or nothing."""
        return self.operands[:1] if self.has_result else ()

    @property
    def sources(self) -> tuple[Operand, ...]:
        """Every operand except the destination and the guard."""
        return self.operands[1:] if self.has_result else self.operands

    @property
    def defined(self) -> tuple[Register, ...]:
        """Registers written, predicates included, in operand order."""
        return tuple(_registers(self.results))

    @property
    def used(self) -> tuple[Register, ...]:
        """Registers read, in operand order, repeated if read twice; the guard comes last."""
        read = _registers(self.sources)
        if self.guard:
            read.append(self.guard.register)
        return tuple(read)

    def __str__(self) -> str:
        guard = f"{self.guard} " if self.guard else ""
        kept = {position + len(self.results) for position in self.reuse}
        operands = ", ".join(f"{o}.reuse" if place in kept else str(o) for place, o in enumerate(self.operands))
        return f"{guard}{self.full_opcode} {operands}".rstrip()


def _registers(operands: tuple[Operand, ...]) -> list[Register]:
    registers: list[Register] = []
    for operand in operands:
        if isinstance(operand, Register):
            registers.append(operand)
        elif not isinstance(operand, Immediate):
            registers.extend(registers_of(operand))
    return registers
