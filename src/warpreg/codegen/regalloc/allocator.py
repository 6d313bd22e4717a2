"""Register allocation: virtual registers -> R0, R1, ... of 32 bits and predicates P0, P1, ...

64-bit values occupy aligned pairs, vectors aligned groups.  If values do not fit, some are spilled and allocation
restarts; predicates beyond the machine's seven are kept in 32-bit registers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from warpreg.analysis.accesses import accesses
from warpreg.codegen.machine.operand_rewriting import rename_registers
from warpreg.codegen.machine.targets import PLAIN, Target
from warpreg.codegen.machine.uniform import uniform_values
from warpreg.codegen.passes.base import with_blocks
from warpreg.codegen.regalloc.allocation_units import Units, predicate_units, register_units, uniform_units
from warpreg.codegen.regalloc.bank_assignment import company
from warpreg.codegen.regalloc.first_fit import Assignment
from warpreg.codegen.regalloc.late_reads import pending
from warpreg.codegen.regalloc.spill import spill_predicates, spill_registers
from warpreg.codegen.regalloc.vector_groups import IsolateVectors
from warpreg.ir.errors import WarpregError
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Not, Operand, Register, Vector
from warpreg.ir.types import PRED, TYPES

MAX_REGISTERS = 255
MAX_ROUNDS = 64


class AllocationError(WarpregError):
    """A kernel that cannot be compiled with so few registers."""


@dataclass(frozen=True)
class AllocatedKernel:
    """A kernel with virtual registers, spill code included, and the architected register of each name."""

    kernel: Kernel
    registers: dict[str, Register]
    register_count: int
    predicate_count: int
    uniform_count: int


@dataclass(frozen=True)
class AllocateRegisters:
    """``max_registers``: limit of 32-bit registers per thread, default 255; ``predicates``: those of the machine;
    ``target``: defines reserved registers; ``banks``: spread the operands of an instruction over this many banks, 0 to
    ignore banks; ``rotate``: allocate the register that has been free longest, among those in use and the first
    ``rotate`` ones, 0 to allocate the lowest."""

    max_registers: int | None = None
    predicates: int = 7
    target: Target = PLAIN
    banks: int = 0
    rotate: int = 0

    def run(self, kernel: Kernel) -> Kernel:
        """Raises AllocationError if some instruction needs more registers than there are."""
        allocated = self.allocate(kernel)
        registers = allocated.registers
        bodies = {}
        for block in allocated.kernel.blocks:
            renamed = (rename_registers(i, lambda r: registers.get(r.name, r)) for i in block.instructions)
            bodies[block.index] = [i for i in renamed if not _is_void(i)]
        return replace(
            with_blocks(allocated.kernel, bodies),
            register_count=allocated.register_count,
            register_demand=max(allocated.register_count + self.target.beyond, self._least_demand(kernel)),
            predicate_count=allocated.predicate_count,
            uniform_count=allocated.uniform_count,
        )

    def _least_demand(self, kernel: Kernel) -> int:
        """The target's minimum for a kernel that calls a service of the host."""
        return self.target.calling if any(i.traits.is_service for i in kernel.instructions()) else 0

    def allocate(self, kernel: Kernel) -> AllocatedKernel:
        """Spill until everything fits; the assignment is by name, so that it can be checked separately."""
        temporaries: set[str] = set()
        for attempt in range(MAX_ROUNDS):
            units = predicate_units(kernel)
            predicates = self._assign(kernel, units, Assignment(self.predicates), temporaries, "predicates")
            if not predicates.spilled:
                break
            kernel = spill_predicates(kernel, predicates.spilled, temporaries, keep_guards=attempt == 0)
        uniform = self._uniform(kernel)
        limit = MAX_REGISTERS if self.max_registers is None else min(self.max_registers, MAX_REGISTERS)
        limit -= self.target.beyond
        what = f"registers ({self.target.name} takes {self.target.beyond} more)" if self.target.beyond else "registers"
        for _ in range(MAX_ROUNDS):
            kernel = IsolateVectors().run(kernel)
            units = register_units(kernel, uniform)
            assignment = self._nothing_placed(limit, kernel, units)
            registers = self._assign(kernel, units, assignment, temporaries, what)
            if not registers.spilled:
                break
            kernel = spill_registers(kernel, registers.spilled, temporaries)
        else:
            raise AllocationError(f"kernel '{kernel.name}' did not fit in {limit} registers")
        final = predicate_units(kernel)
        predicates = self._assign(kernel, final, Assignment(self.predicates), temporaries, "predicates")
        names = _names(kernel, final, predicates) | _names(kernel, units, registers)
        common = uniform_units(kernel, uniform)
        shared = Assignment(self.target.uniform_registers)
        shared.place_all(common.all())
        names |= _names(kernel, common, shared, "UR")
        return AllocatedKernel(kernel, names, registers.used, predicates.used, shared.used)

    def _nothing_placed(self, limit: int, kernel: Kernel, units: Units) -> Assignment:
        """An empty assignment that chooses among free registers by ``banks``, or else as the target does."""
        reserved = self.target.reserved
        if self.rotate:
            return Assignment(limit, reserved, rotate=self.rotate)
        if self.banks:
            return Assignment(limit, reserved, self.banks, company=company(kernel, units))
        if self.target.banks:
            spread = self.target.unhurried + len(reserved)
            together = company(kernel, units, leading=True)
            return Assignment(limit, reserved, self.target.banks, spread, together, pending(kernel, units))
        return Assignment(limit, reserved)

    def _uniform(self, kernel: Kernel) -> frozenset[str]:
        """The values to keep in uniform registers, limited by their number."""
        if not self.target.uniform_registers:
            return frozenset()
        names = uniform_values(kernel)
        tried = Assignment(self.target.uniform_registers)
        tried.place_all(uniform_units(kernel, names).all())
        cells = accesses(kernel).cells
        return names - {cells.names[cell] for unit in tried.spilled for cell, _ in unit.members}

    def _assign(
        self, kernel: Kernel, units: Units, assignment: Assignment, temporaries: set[str], what: str
    ) -> Assignment:
        names = accesses(kernel).cells.names
        fixed = temporaries | _results_of_stops(kernel)
        everything = units.all()
        for unit in everything:
            if any(names[cell] in fixed for cell, _ in unit.members):
                unit.weight = math.inf
        assignment.place_all(everything)
        stuck = [u for u in assignment.spilled if math.isinf(u.weight)]
        if stuck:
            raise AllocationError(f"kernel '{kernel.name}' needs more than {assignment.limit} {what}")
        return assignment


def _results_of_stops(kernel: Kernel) -> set[str]:
    """Results of barriers and services, which end their block, so no spill code can follow them."""
    last = (b.terminator for b in kernel.blocks)
    return {r.name for i in last if i and i.traits.stops for r in i.defined}


def _names(kernel: Kernel, units: Units, assignment: Assignment, prefix: str = "R") -> dict[str, Register]:
    cells = accesses(kernel).cells
    named = {}
    for cell, (unit, offset) in units.at.items():
        index = assignment.base[unit] + offset
        register = cells.registers[cell]
        if register.is_predicate:
            named[register.name] = Register(f"P{index}", PRED, index)
        else:
            named[register.name] = Register(f"{prefix}{index}", TYPES[f"b{register.type.bits}"], index)
    return named


def _is_void(instruction: Instruction) -> bool:
    """Whether it moves a register, or its words, to itself."""
    if instruction.opcode != "mov" or len(instruction.operands) != 2:
        return False
    target, source = (_words(o) for o in instruction.operands)
    return target is not None and target == source


def _words(operand: Operand) -> tuple[tuple[str, int], ...] | None:
    if isinstance(operand, Register):
        return tuple(("R", w) for w in operand.words) or ((operand.name[:1], operand.index),)
    if isinstance(operand, Vector):
        words = [_words(e) for e in operand.elements if not isinstance(e, Not)]
        return None if None in words else tuple(w for part in words if part for w in part)
    return None
