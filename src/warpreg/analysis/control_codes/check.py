"""Whether the control codes of a kernel keep all dependences: what could be read, or overwritten, too early.

Rules, for each pair of instructions on some path without another write in between:

1. *Fixed latency.* A result of a fixed latency is read, or overwritten by a result of fixed latency, no sooner than
   the table says (`latencies`). Cycles are the sum of stalls on the path; a wait for a counter counts as nothing. A
   later result must be written later: its distance is the difference of both latencies plus one. (Huerta et al.,
   MICRO 2025, section 4: the compiler sets stalls to the latency less the instructions in between.)
2. *Variable latency.* A result of a variable latency is read or overwritten only after a wait for its write
   counter, on every path (section 4).
3. *Late readers.* A register that an instruction of variable latency reads is overwritten only after a wait for its
   read counter, or for its write counter (section 4). Predicates and uniform registers are read at issue: ptxas
   overwrites them in the next cycle.
4. *Queues.* Instructions of one queue read in order, or write in order: a wait for a later one's counter is one for
   the earlier too, and the later one may itself overwrite (`latencies`, from ptxas's code).
5. *Counts.* ``DEPBAR.LE SBn, k`` waits until n is k at most, so for all but the last k that the queue has; with k =
   0, for all.
6. *Visibility.* A counter is incremented in the cycle after issue: who waits for it comes two cycles later, at
   least (section 4).
7. *DEPBAR.LE* stalls 4 cycles itself (section 4).
8. *Long stalls.* A stall of more than 11 cycles without yield holds a warp for one or two cycles (section 4), and
   is counted as one.
9. *Guards.* Where guards are opposite, and the predicate is not written in between, no lane does both.

Paths are those of the control-flow graph, those of calls included: a subroutine may return to every place that calls
it. A taken branch counts only its stall. Convergence barriers are not checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

from warpreg.analysis.control_codes.latencies import Latencies
from warpreg.analysis.control_codes.pending import (
    SEEN_AFTER,
    Key,
    PendingAccess,
    State,
    accesses_of,
    in_order,
    issue_distance,
    joined,
    own_releases,
    waits_of,
    without_predicate,
    younger,
)
from warpreg.analysis.control_codes.timing import Access, TimedInstruction, file_of, timed
from warpreg.ir.control_code import ControlCode
from warpreg.ir.errors import WarpregError
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel

READ_AFTER_WRITE, WRITE_AFTER_WRITE, WRITE_AFTER_READ = "read after write", "write after write", "write after read"
EARLY_WAIT, SHORT_DEPBAR = "early wait", "short DEPBAR"
DEPBAR_STALL = 4


class NoControlCodesError(WarpregError):
    """A kernel without control codes."""


@dataclass(frozen=True, slots=True, order=True)
class UnsafeDependence:
    """A dependence that control codes do not keep.

    ``consumer`` and ``producer`` are pcs, ``hazard`` the kind, ``cell`` the register or counter.  ``given`` are the
    cycles between them on the shortest path, ``needed`` those that it takes; None where a counter must be waited for.
    """

    consumer: int
    producer: int
    hazard: str
    cell: str
    given: int
    needed: int | None = None

    @property
    def reason(self) -> str:
        """In words."""
        if self.needed is None:
            return "no wait for a counter"
        return f"{self.given} cycles given, {self.needed} needed"


def unsafe(kernel: Kernel, latencies: Latencies | None = None) -> tuple[UnsafeDependence, ...]:
    """All dependences that the kernel's control codes do not keep, in order of the consumer's pc.

    Without ``latencies``, those of the kernel's architecture.  Raises NoControlCodesError, UnsupportedError for an
    opcode without a timing class.
    """
    return _Check(kernel, latencies or Latencies.of(kernel.machine_code)).run()


class _Check:
    def __init__(self, kernel: Kernel, latencies: Latencies) -> None:
        self.kernel = kernel
        self.latencies = latencies
        instructions = list(kernel.instructions())
        self.timed = timed(instructions, latencies, uniform_words=bool(kernel.machine_code))
        self.controls = [_control(kernel, pc, one) for pc, one in enumerate(instructions)]
        self.first = kernel.first_pcs()
        self.found: set[UnsafeDependence] = set()

    def run(self) -> tuple[UnsafeDependence, ...]:
        """Solve the dataflow, then look at each block once more from what is under way at its start."""
        states = self._solved()
        self.found.clear()
        for block, state in states.items():
            self._walk(block, state)
        worst: dict[tuple[int, int, str, str], UnsafeDependence] = {}
        for one in sorted(self.found):
            worst.setdefault((one.consumer, one.producer, one.hazard, one.cell), one)
        return tuple(worst.values())

    def _solved(self) -> dict[int, State]:
        """What is under way at the start of each block that the entry reaches."""
        states: dict[int, State] = {0: {}}
        pending = [0]
        while pending:
            block = heappop(pending)
            after = self._walk(block, states[block])
            for successor in self.kernel.blocks[block].successors:
                before = states.get(successor)
                state = after if before is None else joined(before, after)
                if state != before:
                    states[successor] = state
                    if successor not in pending:
                        heappush(pending, successor)
        return states

    def _walk(self, block: int, state: State) -> State:
        """What is under way at the end of a block."""
        for pc in range(self.first[block], self.first[block + 1]):
            one, control = self.timed[pc], self.controls[pc]
            state = self._waited(pc, state, control)
            self._look(pc, one, state)
            state = self._issued(pc, one, control, state)
        return state

    def _waited(self, pc: int, state: State, control: ControlCode) -> State:
        """Without what the instruction has waited for."""
        instruction = self.timed[pc].instruction
        if instruction.traits.awaits_counter and control.stall < DEPBAR_STALL:
            self.found.add(UnsafeDependence(pc, pc, SHORT_DEPBAR, "", control.stall, DEPBAR_STALL))
        waits = waits_of(instruction, control)
        if not waits:
            return state
        left: State = {}
        for cell, key, pending in accesses_of(state):
            done = [r for r in pending.releases if r.counter in waits and r.later >= waits[r.counter]]
            if not done:
                left.setdefault(cell, {})[key] = pending
            elif all(release.since < SEEN_AFTER for release in done):
                counter = f"SB{done[0].counter}"
                self.found.add(UnsafeDependence(pc, key.pc, EARLY_WAIT, counter, done[0].since, SEEN_AFTER))
        return left

    def _look(self, pc: int, one: TimedInstruction, state: State) -> None:
        """Note what the instruction would read or overwrite too early."""
        guard = one.instruction.guard
        for access in one.reads:
            for key, pending in state.get(access.cell, {}).items():
                if key.is_write and not pending.excludes(guard):
                    self._read(pc, access, key, pending)
        for access in one.writes:
            for key, pending in state.get(access.cell, {}).items():
                if not pending.excludes(guard):
                    self._overwritten(pc, access, key, pending)

    def _read(self, pc: int, access: Access, key: Key, pending: PendingAccess) -> None:
        producer = self.timed[key.pc]
        if producer.timing.is_fixed:
            needed = self.latencies.needed(file_of(access.cell), self._producer(key.pc, access.cell), access.kind)
            self._least(pc, key.pc, READ_AFTER_WRITE, access.cell, pending.cycles, needed)
        else:
            self.found.add(UnsafeDependence(pc, key.pc, READ_AFTER_WRITE, access.cell, pending.cycles))

    def _overwritten(self, pc: int, access: Access, key: Key, pending: PendingAccess) -> None:
        older, newer = self.timed[key.pc], self.timed[pc]
        hazard = WRITE_AFTER_WRITE if key.is_write else WRITE_AFTER_READ
        if not older.timing.is_fixed:
            if not in_order(older, newer, "results" if key.is_write else "reads"):
                self.found.add(UnsafeDependence(pc, key.pc, hazard, access.cell, pending.cycles))
        elif newer.timing.is_fixed:
            file = file_of(access.cell)
            result = self.latencies.to_result
            needed = result(file, self._producer(key.pc, access.cell)) - result(file, access.kind) + 1
            self._least(pc, key.pc, hazard, access.cell, pending.cycles, needed)

    def _producer(self, pc: int, cell: str) -> str:
        """The producer class of a cell that an instruction writes."""
        return next(access.kind for access in self.timed[pc].writes if access.cell == cell)

    def _least(self, consumer: int, producer: int, hazard: str, cell: str, given: int, needed: int) -> None:
        if given < needed:
            self.found.add(UnsafeDependence(consumer, producer, hazard, cell, given, needed))

    def _issued(self, pc: int, one: TimedInstruction, control: ControlCode, state: State) -> State:
        """What is under way when the next instruction issues."""
        state = {cell: dict(pending) for cell, pending in state.items()}
        guard = one.instruction.guard
        if guard is None:
            for access in one.writes:
                state.pop(access.cell, None)
        for register in one.instruction.defined:
            if register.is_predicate:
                state = without_predicate(state, register)
                guard = None if guard and guard.register == register else guard
        if one.timing.order is not None and (control.write is not None or control.read is not None):
            for cell, key, pending in accesses_of(state):
                state[cell][key] = younger(pending, key, self.timed[key.pc], one, control)
        for access in one.writes:
            state.setdefault(access.cell, {})[Key(pc, True)] = PendingAccess(
                0, guard, own_releases(control, is_write=True)
            )
        for cell in one.late:
            state.setdefault(cell, {})[Key(pc, False)] = PendingAccess(0, guard, own_releases(control, is_write=False))
        return self._later(state, issue_distance(control))

    def _later(self, state: State, cycles: int) -> State:
        """The state some cycles later, without what is done by then."""
        limit = self.latencies.longest
        later: State = {}
        for cell, key, pending in accesses_of(state):
            after = pending.after(cycles, limit)
            if after.cycles < limit or not self.timed[key.pc].timing.is_fixed:
                later.setdefault(cell, {})[key] = after
        return later


def _control(kernel: Kernel, pc: int, instruction: Instruction) -> ControlCode:
    if instruction.control is None:
        raise NoControlCodesError(f"kernel '{kernel.name}': pc {pc}, '{instruction}' has no control code")
    return instruction.control
