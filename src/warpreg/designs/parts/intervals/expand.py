"""Expands a kernel into one whose execution verifies its intervals: the cache has registers of its own.

Register r of an interval is register ``base + r`` of the expanded kernel.  On each edge between two intervals, and
between pieces of a block, moves write back what leaves and fetch what comes, as the hooks do.  They move the
lanes that run; what other lanes wait with stays where it is.  Taints follow which copy is current.  The static analysis
reads the expanded code only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from warpreg.analysis.cfg import control_flow
from warpreg.analysis.kernel_analysis import Analysis
from warpreg.codegen.machine.operand_rewriting import map_operand
from warpreg.codegen.passes.base import with_blocks
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.checked import Checked
from warpreg.designs.parts.intervals.formation import Intervals
from warpreg.designs.parts.intervals.pieces import Registers
from warpreg.ir.edges import on_edges
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Immediate, Operand, Register
from warpreg.ir.types import B32
from warpreg.simt.block.taints import FILE, TaintEvent, Taints, TaintWrite

OTHER, FETCHES, WRITES_BACK = range(3)


@dataclass(frozen=True, slots=True)
class StaleRead:
    """A read of ``register`` where it may not have its value; if ``certain``, it has not whenever its block runs."""

    pc: int
    register: int
    certain: bool

    def __str__(self) -> str:
        return f"instruction {self.pc} reads R{self.register}, which may be stale there"


def checked_intervals(kernel: Kernel, intervals: Intervals, liveness: bool) -> Checked:
    """What verifies the intervals of a kernel."""
    return checked_code(expanded(kernel, intervals, liveness), kernel.register_count)


def checked_code(code: Kernel, base: int) -> Checked:
    """What verifies expanded code whose cache begins at register ``base``."""
    return Checked(code, taints(code, base), lambda: findings(code, base))


def expanded(kernel: Kernel, intervals: Intervals, liveness: bool) -> Kernel:
    """The kernel with the registers of the cache and the moves of prefetches.

    Raises DesignError where its first block is in a loop or empty, as the first prefetch would stand in it.
    """
    if control_flow(kernel).predecessors[0] or not kernel.blocks[0].instructions:
        raise DesignError(f"{kernel.name}: the first block is empty or in a loop, so it cannot be checked")
    expansion = _Expansion(kernel, intervals, liveness)
    renamed = with_blocks(kernel, {block.index: expansion.body(block.index) for block in kernel.blocks})
    renamed = replace(renamed, register_count=2 * kernel.register_count)
    return on_edges(renamed, expansion.on_edges())


class _Expansion:
    def __init__(self, kernel: Kernel, intervals: Intervals, liveness: bool) -> None:
        self.kernel, self.intervals, self.base = kernel, intervals, kernel.register_count
        self.instructions = tuple(kernel.instructions())
        self.live = Analysis(kernel).live_before if liveness else None
        self.pieces: dict[int, list[int]] = {}
        for number, piece in enumerate(intervals.graph.pieces):
            self.pieces.setdefault(piece.block, []).append(number)

    def body(self, block: int) -> list[Instruction]:
        """The instructions of a block, with the moves between its pieces."""
        found: list[Instruction] = []
        own = self.pieces[block]
        if block == 0:
            found += self._fetches(Registers(), own[0])
        for place, number in enumerate(own):
            if place:
                found += self._moves(own[place - 1], number)
            piece = self.intervals.graph.pieces[number]
            for pc in range(piece.first, piece.end):
                found += [] if piece.bypasses else self._emptied(pc)
                found.append(self._renamed(self.instructions[pc], piece.bypasses))
        return found

    def on_edges(self) -> dict[tuple[int, int], list[Instruction]]:
        """The moves on the edges between blocks."""
        return {
            (block, successor): moves
            for block, following in enumerate(control_flow(self.kernel).successors)
            for successor in following
            if (moves := self._moves(self.pieces[block][-1], self.pieces[successor][0]))
        }

    def _set(self, piece: int) -> Registers:
        return self.intervals.working_sets[self.intervals.of_piece[piece]]

    def _moves(self, before: int, after: int) -> list[Instruction]:
        """What one piece leaves to the next: write back, then fetch."""
        if self.intervals.of_piece[before] == self.intervals.of_piece[after]:
            return []
        leaving = self._kept(self._set(before) - self._set(after), after)
        back = [_move(self._main(register), self._cached(register)) for register in leaving]
        return back + self._fetches(self._set(before), after)

    def _fetches(self, before: Registers, after: int) -> list[Instruction]:
        coming = self._kept(self._set(after) - before, after)
        return [_move(self._cached(register), self._main(register)) for register in coming]

    def _kept(self, registers: Registers, after: int) -> list[int]:
        """Those that are moved, in order: all, or those that the lanes that run may still read."""
        piece = self.intervals.graph.pieces[after]
        if self.live is None or piece.first >= len(self.instructions):
            return sorted(registers)
        return sorted(register for register in registers if self.live[piece.first, register])

    def _emptied(self, pc: int) -> list[Instruction]:
        """What lanes that a guard leaves out have of a dead value that was not fetched: nothing that they read."""
        instruction = self.instructions[pc]
        if self.live is None or instruction.guard is None:
            return []
        dead = [word for word in words(instruction.defined) if not self.live[pc, word]]
        return [Instruction("mov", ("b32",), (self._cached(word), Immediate(0))) for word in dead]

    def _renamed(self, instruction: Instruction, bypasses: bool) -> Instruction:
        def leaf(operand: Operand) -> Operand:
            if bypasses or not isinstance(operand, Register) or not operand.words:
                return operand
            return replace(operand, name=f"C{operand.index}", index=self.base + operand.index)

        return replace(instruction, operands=tuple(map_operand(operand, leaf) for operand in instruction.operands))

    def _main(self, register: int) -> Register:
        return Register(f"R{register}", B32, register)

    def _cached(self, register: int) -> Register:
        return Register(f"C{register}", B32, self.base + register)


def _move(target: Register, source: Register) -> Instruction:
    return Instruction("mov", ("b32",), (target, source))


def kind_of(instruction: Instruction, base: int) -> int:
    """Whether an instruction fetches a register, writes it back, or does something else.

    Nothing but the moves of prefetches reads on one side of ``base`` and writes on the other.
    """
    sources, targets = words(instruction.used), words(instruction.defined)
    if len(sources) != 1 or len(targets) != 1:
        return OTHER
    if sources[0] < base <= targets[0]:
        return FETCHES
    return WRITES_BACK if targets[0] < base <= sources[0] else OTHER


def words(registers: tuple[Register, ...]) -> list[int]:
    """Their warp-registers."""
    return [word for register in registers for word in register.words]


def taints(code: Kernel, base: int) -> Taints:
    """The events of expanded code, by pc: place r is register r in the cache."""
    events = {pc: _event(instruction, pc, base) for pc, instruction in enumerate(code.instructions())}
    places = tuple(f"RC R{register}" for register in range(base))
    return Taints(places, base, {pc: event for pc, event in events.items() if event != TaintEvent()})


def _event(instruction: Instruction, pc: int, base: int) -> TaintEvent:
    kind = kind_of(instruction, base)
    reads = tuple(dict.fromkeys(_place(word, base) for word in words(instruction.used)))
    targets = [_place(word, base) for word in words(instruction.defined)]
    if kind == FETCHES:
        event = TaintEvent(reads=reads, fills=tuple(targets))
    elif kind == WRITES_BACK:
        event = TaintEvent(reads=reads, writes=tuple(TaintWrite(one, (one, FILE)) for _, one in targets))
    else:
        event = TaintEvent(reads=reads, writes=tuple(TaintWrite(one, (place,)) for place, one in targets))
    return replace(event, loses=True, trusts=True, everyone=True) if pc == 0 else event


def _place(word: int, base: int) -> tuple[int, int]:
    """The place of a word of expanded code, and the register that it stands for."""
    return (word - base, word - base) if word >= base else (FILE, word)


def findings(code: Kernel, base: int) -> list[StaleRead]:
    """Reads of a copy that need not be current: forward over all paths, a set of current copies."""
    first, instructions = code.first_pcs(), tuple(code.instructions())
    entering: dict[int, frozenset[int]] = {0: frozenset(range(base))}
    work = [0]
    while work:
        block = work.pop()
        current = set(entering[block])
        for _ in _stale(range(first[block], first[block + 1]), instructions, base, current):
            pass
        for successor in control_flow(code).successors[block]:
            known = entering.get(successor)
            joined = frozenset(current) if known is None else known & current
            if joined != known:
                entering[successor] = joined
                work.append(successor)
    found = []
    for block in sorted(entering):
        pcs = range(first[block], first[block + 1])
        anything = set(range(2 * base))
        certain = set(_stale(pcs, instructions, base, anything))
        found += [
            StaleRead(pc, word % base, (pc, word) in certain)
            for pc, word in _stale(pcs, instructions, base, set(entering[block]))
        ]
    return found


def _stale(
    pcs: range, instructions: tuple[Instruction, ...], base: int, current: set[int]
) -> Iterator[tuple[int, int]]:
    """Apply instructions to the set of current copies; yields pc and word of the reads of others."""
    for pc in pcs:
        instruction = instructions[pc]
        kind = kind_of(instruction, base)
        for word in dict.fromkeys(words(instruction.used)):
            if word not in current:
                yield pc, word
        for word in words(instruction.defined):
            if kind == OTHER:
                current.discard(word + base if word < base else word - base)
                current.add(word)
            elif words(instruction.used)[0] in current:
                current.add(word)
            else:
                current.discard(word)
