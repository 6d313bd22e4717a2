"""Sets the control codes of a kernel in architected registers, as a compiler for sm_70 and later has to.

Within a block: stalls are the latencies less the cycles in between; an instruction of variable latency gets a counter
for its result, or for its sources where it has none or one of them is overwritten later in the block; of six, one that
is free, else the one that has been in use for the longest, which is then shared.  At block boundaries it is
conservative: results of fixed latency are there for every kind of consumer, and the first instruction waits for all
counters that preceding blocks leave in use.  Sources: Huerta et al., MICRO 2025, section 4, and the rules of
`warpreg.analysis.control_codes.check`, which finds nothing unsafe in the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from warpreg.analysis.control_codes.check import DEPBAR_STALL
from warpreg.analysis.control_codes.latencies import Latencies
from warpreg.analysis.control_codes.pending import LONGEST_STALL, SEEN_AFTER, in_order, opposite
from warpreg.analysis.control_codes.timing import TimedInstruction, file_of, timed
from warpreg.codegen.passes.base import with_blocks
from warpreg.codegen.passes.reuse import reused_sources
from warpreg.ir.control_code import COUNTERS, ControlCode
from warpreg.ir.errors import WarpregError
from warpreg.ir.instruction import Guard
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Register

BRANCH_STALL = 5
"""The least stall of a branch or exit in ptxas's code."""


class UnallocatedError(WarpregError):
    """A kernel with virtual registers, which have no control codes."""


def with_control_codes(kernel: Kernel, latencies: Latencies) -> Kernel:
    """The kernel with a control code and reuse bits on each instruction, and nothing else changed.

    Raises UnallocatedError for virtual registers, UnsupportedError for an opcode without a timing class.
    """
    if not kernel.is_allocated:
        raise UnallocatedError(f"kernel '{kernel.name}' has virtual registers; allocate them first")
    uniform_words = bool(kernel.machine_code)
    code = [timed(block.instructions, latencies, uniform_words=uniform_words) for block in kernel.blocks]
    planned = [
        _Block(latencies, one, bool(block.successors)).planned() for block, one in zip(kernel.blocks, code, strict=True)
    ]
    waits = _entry_waits(kernel, [counters for _, counters in planned])
    bodies = {}
    for block, body, (controls, _) in zip(kernel.blocks, code, planned, strict=True):
        kept = reused_sources(block.instructions, [one.timing.is_fixed for one in body])
        if controls:
            controls[0] = replace(controls[0], waits=controls[0].waits | waits[block.index])
        bodies[block.index] = [
            replace(one, control=control, reuse=reuse)
            for one, control, reuse in zip(block.instructions, controls, kept, strict=True)
        ]
    return with_blocks(kernel, bodies)


def _entry_waits(kernel: Kernel, left: Sequence[int]) -> list[int]:
    """By block, the counters that may be in use at its start, as a mask; an empty block passes them on."""
    waits = [0] * len(kernel.blocks)
    pending = list(range(len(kernel.blocks)))
    while pending:
        block = kernel.blocks[pending.pop()]
        after = left[block.index] if block.instructions else waits[block.index]
        for successor in block.successors:
            if after & ~waits[successor]:
                waits[successor] |= after
                pending.append(successor)
    return waits


class _Fixed(NamedTuple):
    """A result of fixed latency: the cycle of its issue, its class; its guard, as long as the predicate is the same."""

    issued: int
    producer: str
    guard: Guard | None


class _Late(NamedTuple):
    """An access of an instruction that a counter protects; ``is_write``: a result, else a source; guard as above."""

    one: TimedInstruction
    cell: str
    is_write: bool
    counter: int
    issued: int
    guard: Guard | None
    says: int
    """The counters that say that it is done, as a mask: a written result says that sources are read, too."""


@dataclass
class _Block:
    """Plans a block in order: ``cycle`` of the next issue, what is under way; ``goes_on``: another block follows."""

    latencies: Latencies
    code: Sequence[TimedInstruction]
    goes_on: bool
    cycle: int = 0
    fixed: dict[str, list[_Fixed]] = field(default_factory=dict)
    late: list[_Late] = field(default_factory=list)

    def planned(self) -> tuple[list[ControlCode], int]:
        """The control code of each instruction, and a mask of the counters in use at the end."""
        issued: list[int] = []
        controls: list[ControlCode] = []
        for position, one in enumerate(self.code):
            waits = self._waits(one)
            self.cycle = max(self.cycle, self._earliest(one, waits))
            issued.append(self.cycle)
            self.late = [late for late in self.late if not self._done(late, waits)]
            controls.append(replace(self._counters(position, one), waits=waits))
            self._add(one, controls[-1])
            self.cycle += _least_stall(one)
        ends = [*issued[1:], max(self.cycle, self._boundary() if self.goes_on else 0)]
        return [
            replace(control, stall=end - start, yields=end - start > LONGEST_STALL)
            for control, start, end in zip(controls, issued, ends, strict=False)
        ], _mask(self.late)

    def _waits(self, one: TimedInstruction) -> int:
        """The counters that an instruction has to wait for, without those that another one implies."""
        waits = 0
        for late in sorted(self.late, key=lambda late: (late.issued, late.is_write), reverse=True):
            if _conflict(late, one) and not self._done(late, waits):
                waits |= 1 << late.counter
        return waits

    def _done(self, late: _Late, waits: int) -> bool:
        """Whether an access is done after waits for these counters: for its own, or for that of a later instruction of
        the same queue."""
        if waits & late.says:
            return True
        waited = [other for other in self.late if waits >> other.counter & 1 and other.issued >= late.issued]
        if late.is_write:
            return any(other.is_write and in_order(late.one, other.one, "results") for other in waited)
        return any(other.one is late.one or in_order(late.one, other.one, "reads") for other in waited)

    def _earliest(self, one: TimedInstruction, waits: int) -> int:
        """The cycle in which an instruction may issue."""
        cycles = [late.issued + SEEN_AFTER for late in self.late if waits & late.says]
        for access in one.reads:
            file = file_of(access.cell)
            for fixed in self._results(access.cell, one):
                cycles.append(fixed.issued + self.latencies.needed(file, fixed.producer, access.kind))
        for access in one.writes if one.timing.is_fixed else ():
            result = self.latencies.to_result
            file = file_of(access.cell)
            for fixed in self._results(access.cell, one):
                cycles.append(fixed.issued + result(file, fixed.producer) - result(file, access.kind) + 1)
        return max(cycles, default=0)

    def _results(self, cell: str, one: TimedInstruction) -> list[_Fixed]:
        """The results of fixed latency that concern the lanes of an instruction."""
        guard = one.instruction.guard
        return [fixed for fixed in self.fixed.get(cell, ()) if not opposite(fixed.guard, guard)]

    def _counters(self, position: int, one: TimedInstruction) -> ControlCode:
        """The counters that an instruction increments."""
        if one.timing.is_fixed:
            return ControlCode()
        write = self._counter() if one.writes else None
        if not one.late or (one.writes and not self._overwritten(position, one)):
            return ControlCode(write=write)
        return ControlCode(write=write, read=self._counter(write))

    def _overwritten(self, position: int, one: TimedInstruction) -> bool:
        """Whether a later instruction of the block overwrites what the instruction reads late."""
        cells = {*one.late}
        return any(access.cell in cells for later in self.code[position + 1 :] for access in later.writes)

    def _counter(self, taken: int | None = None) -> int:
        """A counter that is free, else the one whose last use is oldest."""
        last = {late.counter: late.issued for late in self.late}
        return min((n for n in range(COUNTERS) if n != taken), key=lambda n: (last.get(n, -1), n))

    def _add(self, one: TimedInstruction, control: ControlCode) -> None:
        """Note what an instruction leaves under way."""
        guard = self._guard(one)
        for access in one.writes:
            if one.instruction.guard is None:
                self.fixed.pop(access.cell, None)
                self.late = [late for late in self.late if late.cell != access.cell]
            if one.timing.is_fixed:
                self.fixed.setdefault(access.cell, []).append(_Fixed(self.cycle, access.kind, guard))
            elif control.write is not None:
                self.late.append(_Late(one, access.cell, True, control.write, self.cycle, guard, 1 << control.write))
        counter = control.write if control.read is None else control.read
        if counter is not None:
            says = 1 << counter | (0 if control.write is None else 1 << control.write)
            self.late += [_Late(one, cell, False, counter, self.cycle, guard, says) for cell in one.late]

    def _guard(self, one: TimedInstruction) -> Guard | None:
        """The guard of an instruction, None if it writes the predicate.  Earlier guards of predicates that it writes
        say nothing from here on."""
        written = set(one.instruction.defined)
        self.late = [late._replace(guard=None) if _is_of(late.guard, written) else late for late in self.late]
        for results in self.fixed.values():
            results[:] = [fixed._replace(guard=None) if _is_of(fixed.guard, written) else fixed for fixed in results]
        guard = one.instruction.guard
        return None if _is_of(guard, written) else guard

    def _boundary(self) -> int:
        """The cycle from which every result of fixed latency is there for all, and every counter is seen."""
        cycles = [late.issued + SEEN_AFTER for late in self.late]
        for cell, results in self.fixed.items():
            cycles += [one.issued + self.latencies.most(file_of(cell), one.producer) for one in results]
        return max(cycles, default=0)


def _is_of(guard: Guard | None, predicates: set[Register]) -> bool:
    return guard is not None and guard.register in predicates


def _conflict(late: _Late, one: TimedInstruction) -> bool:
    """Whether an instruction may not issue before an access is done."""
    if opposite(late.guard, one.instruction.guard):
        return False
    if late.is_write and any(access.cell == late.cell for access in one.reads):
        return True
    overwrites = any(access.cell == late.cell for access in one.writes)
    return overwrites and not in_order(late.one, one, "results" if late.is_write else "reads")


def _least_stall(one: TimedInstruction) -> int:
    if one.instruction.traits.awaits_counter:
        return DEPBAR_STALL
    return BRANCH_STALL if (one.instruction.traits.is_branch or one.instruction.traits.is_exit) else 1


def _mask(late: Sequence[_Late]) -> int:
    mask = 0
    for one in late:
        mask |= 1 << one.counter
    return mask
