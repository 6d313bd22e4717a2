"""What an instruction reads and writes, word by word, with the kinds of producer and consumer that it is.

A cell is the storage of one word, by name: ``R4``, ``UR4``, ``P0``, ``UP0``, and
``%CC``, the carry of this compiler's code.  Convergence barriers are left out: no
source gives their latency, and the instructions that wait for them do so by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from warpreg.analysis.control_codes.latencies import PIPES, Latencies, TimingClass
from warpreg.analysis.control_codes.own_code import machine_opcode
from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.opcodes import carry_defs, carry_uses
from warpreg.ir.operands import ConstantBank, Register

UNIFORM_CLASSES = frozenset({"uniform", "uniform-load", "vote"})
"""Instructions of the uniform datapath."""

PREDICATE_READERS = {"wide": "fma", "half-mma": "half", "to-uniform": "to-uniform"}
"""Classes that read predicates as another one does, or otherwise than registers."""

READ_IN_PIPE = PIPES | {"to-uniform"}
"""Kinds of consumers that read a predicate among their sources in their pipe."""


class Access(NamedTuple):
    """A word that an instruction reads or writes: its ``cell``, and the kind of consumer or class of producer."""

    cell: str
    kind: str


@dataclass(frozen=True, slots=True)
class TimedInstruction:
    """An instruction's accesses and timing class. ``late`` are the cells that it reads some time after issue, at a
    time that is not known: general registers of instructions with variable latency, but for those that it writes.
    Predicates and uniform registers are read at issue (ptxas overwrites them in the next cycle).
    """

    instruction: Instruction
    timing: TimingClass
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]

    @property
    def late(self) -> tuple[str, ...]:
        if self.timing.is_fixed:
            return ()
        written = {access.cell for access in self.writes}
        cells = (access.cell for access in self.reads if access.cell not in written)
        return tuple(cell for cell in cells if file_of(cell) == "register")


def file_of(cell: str) -> str:
    """The register file of a cell: ``register``, ``uniform`` or ``predicate``."""
    if cell[0] == "R":
        return "register"
    return "uniform" if cell.startswith("UR") else "predicate"


def timed(instructions: Sequence[Instruction], latencies: Latencies, *, uniform_words: bool) -> list[TimedInstruction]:
    """The accesses of each instruction.  ``uniform_words``: a uniform register of 64 bits is two cells, as in machine
    code; else it is one.  Raises UnsupportedError for an opcode without a timing class."""
    return [_Reader(one, timing_class(one, latencies), uniform_words).timed() for one in instructions]


def timing_class(instruction: Instruction, latencies: Latencies) -> TimingClass:
    """The class of an instruction's opcode, with a modifier if the table has it with one; of an instruction of this
    compiler, that of a machine instruction of the same pipe.  Raises UnsupportedError."""
    if not instruction.opcode[:1].isupper():
        return latencies.classes[machine_opcode(instruction)]
    for modifier in instruction.modifiers:
        if found := latencies.classes.get(f"{instruction.opcode}.{modifier}"):
            return found
    if found := latencies.classes.get(instruction.opcode):
        return found
    reason = f"has no timing class for {latencies.architecture}"
    raise UnsupportedError(instruction.full_opcode, instruction.location, reason)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the operands of one instruction."""

    instruction: Instruction
    timing: TimingClass
    uniform_words: bool

    def timed(self) -> TimedInstruction:
        return TimedInstruction(self.instruction, self.timing, tuple(self._reads()), tuple(self._writes()))

    def _writes(self) -> Iterator[Access]:
        for register in (*self.instruction.defined, *carry_defs(self.instruction)):
            cells = self._cells(register)
            for word, cell in enumerate(cells):
                yield Access(cell, self.timing.result_class(word, len(cells)))

    def _reads(self) -> Iterator[Access]:
        for position, operand in enumerate(self.instruction.sources):
            indexed = isinstance(operand, ConstantBank)
            for register in registers_of(operand):
                for word, cell in enumerate(self._cells(register)):
                    yield Access(cell, _kind(register, self.timing, position, word, indexed))
        for carry in carry_uses(self.instruction):
            yield Access(carry.name, _kind(carry, self.timing, 0, 0, False))
        if self.instruction.guard:
            yield Access(self.instruction.guard.register.name, "dispatch")

    def _cells(self, register: Register) -> tuple[str, ...]:
        """The cells of an architected register, lowest word first; none of a convergence barrier."""
        if register.is_convergence_barrier:
            return ()
        if register.is_predicate or (register.is_uniform and not self.uniform_words):
            return (register.name,)
        prefix = "UR" if register.is_uniform else "R"
        return tuple(f"{prefix}{register.index + word}" for word in range(max(1, register.type.words)))


def _kind(register: Register, timing: TimingClass, position: int, word: int, indexed: bool) -> str:
    """The kind of consumer that reads a word of a source."""
    if register.is_predicate:
        kind = PREDICATE_READERS.get(timing.name, timing.reads_as)
        return kind if kind in READ_IN_PIPE else "dispatch"
    if register.is_uniform:
        return _uniform_kind(timing, indexed)
    if timing.name == "wide" and position == 2:
        return "wide-c-high" if word else "wide-c-low"
    return timing.reads_as


def _uniform_kind(timing: TimingClass, indexed: bool) -> str:
    if indexed and timing.name in ("uniform-load", "constant"):
        return "index"
    if timing.name in UNIFORM_CLASSES:
        return "uniform"
    kind = PREDICATE_READERS.get(timing.name, timing.reads_as)
    return kind if kind in PIPES else "memory"
