"""The storage cells that each instruction writes and reads; used by liveness, values, scheduling and allocation.

A cell is the storage of one value: a virtual register of any width, a 32-bit architected register (a 64-bit operand
covers two cells) or a predicate.  Cells are numbered by first appearance; sets of cells are Python integers used as
bit sets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from warpreg.analysis.cached import cached_analysis
from warpreg.ir.instruction import registers_of
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Immediate, Operand, Register


@dataclass(slots=True)
class Cells:
    """The cells of a kernel: ``names[c]`` such as ``%r3``, ``R4`` or ``P0``; ``registers[c]`` covers the cell.

    ``uniform_words``: a uniform register of 64 bits is two cells, UR4 and UR5, as in machine code; in code of this
    compiler, it is one register of any width."""

    uniform_words: bool = False
    names: list[str] = field(default_factory=list)
    registers: list[Register] = field(default_factory=list)
    _by_name: dict[str, int] = field(default_factory=dict)
    _known: dict[str | tuple[str, int], tuple[int, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    def of(self, register: Register) -> tuple[int, ...]:
        """The cells that a register covers, lowest word first."""
        key = register.name if register.index < 0 else (register.name, register.type.bits)
        cells = self._known.get(key)
        if cells is None:
            names = self._words(register)
            cells = self._known[key] = tuple(self._number(name, register) for name in names)
        return cells

    def _words(self, register: Register) -> list[str]:
        """The names of the cells that a register covers."""
        if register.index >= 0 and register.words:
            return [f"R{word}" for word in register.words]
        if self.uniform_words and register.is_uniform and register.type.words > 1:
            return [f"UR{word}" for word in range(register.index, register.index + register.type.words)]
        return [register.name]

    def named(self, name: str) -> int:
        """The cell of that name.  Raises KeyError if there is none."""
        return self._by_name[name]

    def _number(self, name: str, register: Register) -> int:
        if name not in self._by_name:
            self._by_name[name] = len(self.names)
            self.names.append(name)
            self.registers.append(register)
        return self._by_name[name]


@dataclass(frozen=True, slots=True)
class Accesses:
    """By pc: cells ``written`` and cells ``read`` (including the guard), in operand order; ``guards``: the predicate's
    cell and whether it is negated, or None."""

    cells: Cells
    written: tuple[tuple[int, ...], ...]
    read: tuple[tuple[int, ...], ...]
    guards: tuple[tuple[int, bool] | None, ...]
    first_pcs: tuple[int, ...]

    def block_pcs(self, block: int) -> range:
        """The pcs of a block's instructions."""
        return range(self.first_pcs[block], self.first_pcs[block + 1])


@cached_analysis
def accesses(kernel: Kernel) -> Accesses:
    """The accesses of every instruction; linear in operands."""
    cells = Cells(uniform_words=bool(kernel.machine_code))
    written, read = [], []
    guards: list[tuple[int, bool] | None] = []
    for instruction in kernel.instructions():
        operands = instruction.operands
        results = 1 if instruction.has_result else 0
        written.append(_cells_of(operands[:results], cells))
        reads = _cells_of(operands[results:], cells)
        guard = instruction.guard
        predicate = cells.of(guard.register) if guard else ()
        read.append((*reads, *predicate))
        guards.append((predicate[0], guard.negated) if guard else None)
    return Accesses(cells, tuple(written), tuple(read), tuple(guards), kernel.first_pcs())


def _cells_of(operands: tuple[Operand, ...], cells: Cells) -> tuple[int, ...]:
    numbers: tuple[int, ...] = ()
    for operand in operands:
        if isinstance(operand, Register):
            numbers += cells.of(operand)
        elif not isinstance(operand, Immediate):
            for register in registers_of(operand):
                numbers += cells.of(register)
    return numbers


def bit_set(cells: Iterable[int]) -> int:
    """Cells as a bit set; linear in their number and the highest one."""
    several = cells if isinstance(cells, Collection) else tuple(cells)
    if len(several) > FEW:
        members = bytearray(max(several) + 1)
        for cell in several:
            members[cell] = 1
        return int(members[::-1].translate(DIGITS), 2)
    bits = 0
    for cell in several:
        bits |= 1 << cell
    return bits


FEW = 16
DIGITS = bytes.maketrans(b"\0\1", b"01")


def members(bits: int) -> Iterator[int]:
    """The cells of a bit set, ascending; linear in the highest one."""
    digits = bin(bits)[:1:-1]
    cell = digits.find("1")
    while cell >= 0:
        yield cell
        cell = digits.find("1", cell + 1)
