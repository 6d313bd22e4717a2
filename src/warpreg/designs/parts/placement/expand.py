"""Expands a placed kernel into an executable one: entries above the MRF become registers, and taints mark stale places.

If a placement elides the MRF write, the expanded kernel does not write the MRF register.  Execution detects a read of a
place that may not hold the register's current value, also after the warp may have been descheduled, and also in lanes
that were inactive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from warpreg.analysis.cfg import control_flow
from warpreg.analysis.strands import Start
from warpreg.codegen.machine.operand_rewriting import map_operand
from warpreg.codegen.passes.base import with_blocks
from warpreg.designs.interface.program import Program
from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Operand, Register
from warpreg.ir.types import B32, PRED
from warpreg.simt.block.taints import FILE, TaintEvent, Taints, TaintWrite

MRF = 0
Place = tuple[int, int]
"""Level and entry; (0, r) is register r of the MRF, (-1, i) a temporary register of the expansion."""
TEMPORARY = -1


@dataclass(frozen=True)
class ExpandedKernel:
    """A kernel with the same blocks, and the taint events to track while it runs."""

    kernel: Kernel
    taints: Taints


def expanded(kernel: Kernel, program: Program, levels: Sequence[str]) -> ExpandedKernel:
    """The kernel with its placement in effect; ``levels`` are the names of the levels."""
    expansion = _Expansion(kernel, program, levels)
    bodies = {block.index: expansion.block(block.index) for block in kernel.blocks}
    changed = with_blocks(kernel, bodies)
    changed = replace(changed, predicate_count=kernel.predicate_count + 1)
    return ExpandedKernel(changed, expansion.taints())


@dataclass
class _Expansion:
    kernel: Kernel
    program: Program
    levels: Sequence[str]
    events: list[TaintEvent | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.first = self.kernel.first_pcs()
        self.instructions = tuple(self.kernel.instructions())
        self.sizes = self._sizes()
        self.bases = self._bases()

    def _sizes(self) -> dict[int, int]:
        """Entries that each level above the MRF needs."""
        table = self.program
        columns = (
            (table.source_level, table.source_entry),
            (table.fill_level, table.fill_entry),
            (table.result_level, table.result_entry),
            (table.copy_level, table.copy_entry),
        )
        return {
            level: max(int((entry[levels == level].astype(int) + 1).max(initial=0)) for levels, entry in columns)
            for level in range(1, len(self.levels))
        }

    def _bases(self) -> dict[int, int]:
        """The first register that represents each level's entries; temporary registers come last."""
        base, bases = self.program.register_count, {}
        for level, size in self.sizes.items():
            bases[level] = base
            base += size
        return bases | {TEMPORARY: base}

    def _source(self, row: int) -> Place:
        level = int(self.program.source_level[row])
        return (level, int(self.program.source_entry[row])) if level else (MRF, int(self.program.source[row]))

    def _fill(self, row: int) -> Place:
        return int(self.program.fill_level[row]), int(self.program.fill_entry[row])

    def _targets(self, row: int) -> list[Place]:
        """The places that a result is written to, upper levels first."""
        table = self.program
        places = [
            (int(level), int(entry))
            for level, entry in (
                (table.result_level[row], table.result_entry[row]),
                (table.copy_level[row], table.copy_entry[row]),
            )
            if level
        ]
        return places if table.mrf_elided[row] else [*places, (MRF, int(table.result[row]))]

    def _index(self, place: Place) -> int:
        level, entry = place
        return entry if level == MRF else self.bases[level] + entry

    def _word(self, place: Place) -> Register:
        level, entry = place
        name = f"R{entry}" if level == MRF else f"T{entry}" if level == TEMPORARY else f"{self.levels[level]}{entry}"
        return Register(name, B32, self._index(place))

    def block(self, block: int) -> list[Instruction]:
        """The block's instructions with the moves that places need; records the taint events of each."""
        body: list[Instruction] = []
        for pc in range(self.first[block], self.first[block + 1]):
            before, itself, after = self._instruction(pc)
            body += [*before, itself, *after]
            self.events += [None] * len(before) + [self._event(pc)] + [None] * len(after)
        return body

    def _instruction(self, pc: int) -> tuple[list[Instruction], Instruction, list[Instruction]]:
        instruction = self.instructions[pc]
        guard, before = self._lasting_guard(instruction)
        sources = [self._source(row) for row in self._source_rows(pc)]
        fills = [(self._fill(row), self._source(row)) for row in self._source_rows(pc) if self.program.fill_level[row]]
        targets = [self._targets(row) for row in self._result_rows(pc)]
        if {target for target, _ in fills} & set(sources):
            before += [_move(self._word((TEMPORARY, i)), self._word(p), guard) for i, p in enumerate(sources)]
            sources = [(TEMPORARY, i) for i in range(len(sources))]
        before += [_move(self._word(target), self._word(origin), guard) for target, origin in fills]
        spare = len(sources)
        reads = self._named(instruction.sources, sources, spare)
        before += [_move(self._word(t), self._word(p), guard) for t, p in reads.moves]
        firsts = [places[0] if places else (TEMPORARY, spare + 8 + i) for i, places in enumerate(targets)]
        writes = self._named(instruction.results, firsts, spare + 16)
        after = [_move(self._word(p), self._word(t), guard) for t, p in writes.moves]
        after += [_move(self._word(p), self._word(places[0]), guard) for places in targets for p in places[1:]]
        operands = (*writes.operands, *reads.operands)
        return before, replace(instruction, operands=operands), after

    def _lasting_guard(self, instruction: Instruction) -> tuple[Guard | None, list[Instruction]]:
        """The guard for moves; a copy of it where the instruction writes its own guard's predicate."""
        guard = instruction.guard
        if guard is None or guard.register not in instruction.defined:
            return guard, []
        index = self.kernel.predicate_count
        copy = Register(f"P{index}", PRED, index)
        return replace(guard, register=copy), [Instruction("mov", ("pred",), (copy, guard.register))]

    def _named(self, operands: Sequence[Operand], places: Sequence[Place], spare: int) -> _Named:
        """Operands renamed to places, in order; a wide operand whose places are not adjacent uses temporary registers
        from ``spare`` on, which are moved from or to its places."""
        left = iter(places)
        moves: list[tuple[Place, Place]] = []

        def leaf(operand: Operand) -> Operand:
            if not isinstance(operand, Register) or not operand.words:
                return operand
            own = [next(left) for _ in operand.words]
            first = self._index(own[0])
            if [self._index(place) for place in own] != list(range(first, first + len(own))):
                temporary = [(TEMPORARY, spare + len(moves) + i) for i in range(len(own))]
                moves.extend(zip(temporary, own, strict=True))
                own = temporary
            return replace(operand, name=self._word(own[0]).name, index=self._index(own[0]))

        return _Named(tuple(map_operand(operand, leaf) for operand in operands), moves)

    def _source_rows(self, pc: int) -> range:
        return range(int(self.program.source_start[pc]), int(self.program.source_start[pc + 1]))

    def _result_rows(self, pc: int) -> range:
        return range(int(self.program.result_start[pc]), int(self.program.result_start[pc + 1]))

    def _event(self, pc: int) -> TaintEvent:
        start = Start(int(self.program.strand_start[pc]))
        begins = pc == 0 and not control_flow(self.kernel).predecessors[0]
        sources, table = self._source_rows(pc), self.program
        return TaintEvent(
            loses=start != Start.INSIDE or begins,
            trusts=begins,
            everyone=begins or start.deschedules,
            reads=tuple(dict.fromkeys((self._number(self._source(row)), int(table.source[row])) for row in sources)),
            fills=tuple(
                (self._number(self._fill(row)), int(table.source[row])) for row in sources if table.fill_level[row]
            ),
            writes=tuple(
                TaintWrite(int(table.result[row]), tuple(map(self._number, self._targets(row))))
                for row in self._result_rows(pc)
            ),
        )

    def _number(self, place: Place) -> int:
        """A place's index in the taints."""
        return FILE if place[0] == MRF else self._index(place) - self.program.register_count

    def taints(self) -> Taints:
        """The events at the pcs of the changed kernel."""
        events = {pc: event for pc, event in enumerate(self.events) if event is not None and event != TaintEvent()}
        places = [f"{self.levels[level]} {entry}" for level, size in self.sizes.items() for entry in range(size)]
        return Taints(tuple(places), self.program.register_count, events)


@dataclass(frozen=True, slots=True)
class _Named:
    """Operands after renaming, and (temporary, place) pairs to be moved."""

    operands: tuple[Operand, ...]
    moves: list[tuple[Place, Place]]


def _move(target: Register, source: Register, guard: Guard | None) -> Instruction:
    return Instruction("mov", ("b32",), (target, source), guard)
