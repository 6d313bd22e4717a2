"""List scheduling within blocks: the longest dependence chain first, while registers suffice.

Among instructions whose operands have arrived and whose unit is free, the one that starts the longest chain goes first
(Gibbons and Muchnick, PLDI 1986). If more than a few words are live, an instruction that increases register pressure is
delayed until its deadline, so that stalls are not filled with instructions that only occupy registers. If the live
words reach the limit, the instruction that frees the most registers goes first. A block whose new order needs more
registers than before, and more than the limit, keeps its order.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from warpreg.analysis.accesses import Accesses, accesses, members
from warpreg.analysis.liveness import liveness
from warpreg.analysis.pressure import pressure
from warpreg.codegen.machine.latency_model import DEFAULT, ISSUE, Cycles
from warpreg.codegen.passes.base import with_blocks
from warpreg.codegen.schedule.deadlines import deadlines
from warpreg.codegen.schedule.dependence_graph import Dependences, dependences
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel

Queue = list[tuple[int, int]]
"""A heap of instructions, those with the longest chains first."""
Queues = dict[str, Queue]
"""Queues by port."""

CANDIDATES = 16
ATTEMPTS = 3


@dataclass(frozen=True)
class ScheduleInstructions:
    """``max_registers`` bounds the live words; default the kernel's highest pressure, or ``free_registers`` if higher;
    ``cycles``: latency model; ``spare``: live words above which instructions are delayed until their deadline, default
    those of a thread if 2048 threads share 65536 registers; ``predicates``: live predicates above which instructions
    that add one are delayed, 0 for no bound."""

    max_registers: int | None = None
    free_registers: int = 32
    cycles: Cycles = DEFAULT
    spare: int = 32
    predicates: int = 0

    def run(self, kernel: Kernel) -> Kernel:
        demand = pressure(kernel)
        limit = max(self.free_registers, *demand.highest, 0)
        if self.max_registers is not None:
            limit = min(limit, self.max_registers - 2)
        registers = accesses(kernel).cells.registers
        flags = frozenset(c for c, r in enumerate(registers) if r.is_predicate) if self.predicates else frozenset[int]()
        bodies = {}
        for block in kernel.blocks:
            if len(block.instructions) > 2:
                allowed = max(limit, demand.highest[block.index])
                schedule = _Schedule(kernel, block.index, self.cycles, self.spare, self.predicates, flags)
                bodies[block.index] = schedule.best(limit, allowed)
        return with_blocks(kernel, bodies)


class _Schedule:
    """The state of one block's scheduling; positions are those before it.

    ``flags`` are the cells of predicates, if their number is bounded; ``live_flags`` those that are live.
    """

    def __init__(
        self, kernel: Kernel, block: int, cycles: Cycles, spare: int, predicates: int, flags: frozenset[int]
    ) -> None:
        self.spare, self.predicates, self.flags = spare, predicates, flags
        self.instructions: Sequence[Instruction] = kernel.blocks[block].instructions
        self.table: Accesses = accesses(kernel)
        self.first = self.table.first_pcs[block]
        pcs = self.table.block_pcs(block)
        self.read = [tuple(dict.fromkeys(self.table.read[pc])) for pc in pcs]
        self.written = [tuple(dict.fromkeys(self.table.written[pc])) for pc in pcs]
        self.graph: Dependences = dependences(self.instructions, self.table, self.first, cycles)
        self.interval = cycles.interval
        self.port = [cycles.port(i) if self.interval else ISSUE for i in self.instructions]
        self.chain = self._chains()
        self.due = deadlines(self.graph, self.port, self.interval)
        self.live_in = frozenset(members(liveness(kernel).live_in[block]))
        self.live_out = frozenset(members(liveness(kernel).live_out[block]))
        self.words = pressure(kernel).words
        self.at_start = pressure(kernel).at_start[block]

    def _reset(self) -> None:
        self.uses = Counter(c for read in self.read for c in read)
        self.live = set(self.live_in)
        self.live_flags = self.live & self.flags
        self.demand = self.highest = self.at_start
        self.free_at = dict.fromkeys(self.port, 0)

    def _chains(self) -> list[int]:
        """Cycles from each instruction to the end of the block along the longest dependence."""
        chain = [0] * len(self.instructions)
        for i in reversed(range(len(chain))):
            chain[i] = max((cycles + chain[j] for j, cycles in self.graph.successors[i].items()), default=0)
        return chain

    def best(self, limit: int, allowed: int) -> Sequence[Instruction]:
        """The new order, or the old one if the new one needs more than ``allowed`` words.

        Decisions near the limit may exceed it by a few words before any are freed, so a lower limit is tried too.
        """
        for _ in range(ATTEMPTS):
            order = self._order(limit)
            if self.highest <= allowed:
                return [self.instructions[i] for i in order]
            limit -= self.highest - allowed
        return self.instructions

    def _order(self, limit: int) -> list[int]:
        self._reset()
        instructions = self.instructions
        end = len(instructions)
        if instructions[-1].traits.ends_block:
            end -= 1
        waiting = list(self.graph.waiting)
        arrival = [0] * len(instructions)
        ready = {i for i in range(end) if waiting[i] == 0}
        by_chain: Queues = {port: [] for port in self.free_at}
        for i in ready:
            heapq.heappush(by_chain[self.port[i]], (-self.chain[i], i))
        by_position = sorted(ready)
        order: list[int] = []
        clock = 0
        while len(order) < end:
            if self.demand >= limit:
                chosen = self._cheapest(by_position, ready)
            else:
                chosen = self._longest(by_chain, ready, arrival, clock)
            ready.discard(chosen)
            order.append(chosen)
            port = self.port[chosen]
            clock = max(clock, self._start(chosen, arrival), self.free_at[port]) + 1
            self.free_at[port] = clock - 1 + self.interval.get(port, 1)
            self._issue(chosen)
            for follower, cycles in self.graph.successors[chosen].items():
                arrival[follower] = max(arrival[follower], clock - 1 + cycles)
                waiting[follower] -= 1
                if waiting[follower] == 0 and follower < end:
                    ready.add(follower)
                    heapq.heappush(by_chain[self.port[follower]], (-self.chain[follower], follower))
                    heapq.heappush(by_position, follower)
        return [*order, *range(end, len(instructions))]

    def _longest(self, queues: Queues, ready: set[int], arrival: list[int], clock: int) -> int:
        """The instruction with the longest chain of those that can issue now, or else the first that can."""
        candidates: list[tuple[bool, int, int, int]] = []
        for port, heap in queues.items():
            first = self._first(heap, ready, arrival, clock)
            if first is not None:
                start = max(clock, self.free_at[port], self._start(first, arrival))
                candidates.append((self._crowds(first), start, -self.chain[first], first))
        return min(candidates)[3]

    def _first(self, heap: Queue, ready: set[int], arrival: list[int], clock: int) -> int | None:
        """The longest chain of one port whose operands have arrived, or else the first to arrive; not dequeued."""
        looked: Queue = []
        chosen = None
        while heap and len(looked) < CANDIDATES:
            item = heapq.heappop(heap)
            if item[1] not in ready:
                continue
            looked.append(item)
            if self._start(item[1], arrival) <= clock and not self._crowds(item[1]):
                chosen = item[1]
                break
        for item in looked:
            heapq.heappush(heap, item)
        if chosen is None and looked:
            chosen = min(looked, key=lambda item: (self._crowds(item[1]), self._start(item[1], arrival), item))[1]
        return chosen

    def _crowds(self, i: int) -> bool:
        """Whether an instruction makes more predicates live than there should be."""
        if not self.predicates or self.flags.isdisjoint(self.written[i]):
            return False
        dying = {c for c in self.read[i] if self.uses[c] == 1 and c not in self.live_out}
        after = (self.live_flags | self.flags.intersection(self.written[i])) - dying
        return len(after) > max(self.predicates, len(self.live_flags))

    def _start(self, i: int, arrival: list[int]) -> int:
        """The cycle at which its operands have arrived, or its deadline if it is delayed."""
        waits = self.demand >= self.spare and self.due[i] > arrival[i] and self._change(i) > 0
        return self.due[i] if waits else arrival[i]

    def _cheapest(self, heap: list[int], ready: set[int]) -> int:
        """Among the earliest ready instructions, the one that leaves the fewest words live."""
        looked: list[int] = []
        while heap and len(looked) < CANDIDATES:
            i = heapq.heappop(heap)
            if i in ready:
                looked.append(i)
        chosen = min(looked, key=lambda i: (self._crowds(i), self._change(i), i))
        for i in looked:
            if i != chosen:
                heapq.heappush(heap, i)
        return chosen

    def _change(self, i: int) -> int:
        """Words that an instruction makes live, minus those that it frees."""
        uses, words, live, live_out = self.uses, self.words, self.live, self.live_out
        change = 0
        for cell in self.read[i]:
            if uses[cell] == 1 and cell not in live_out:
                change -= words[cell]
        for cell in self.written[i]:
            if cell not in live:
                change += words[cell]
        return change

    def _issue(self, i: int) -> None:
        for cell in self.read[i]:
            self.uses[cell] -= 1
            if self.uses[cell] == 0 and cell not in self.live_out and cell in self.live:
                self._end(cell)
        for cell in self.written[i]:
            if cell not in self.live:
                self.live.add(cell)
                self.demand += self.words[cell]
        self.live_flags |= self.flags.intersection(self.written[i])
        self.highest = max(self.highest, self.demand)
        for cell in self.written[i]:
            if self.uses[cell] == 0 and cell not in self.live_out:
                self._end(cell)

    def _end(self, cell: int) -> None:
        """A value is dead."""
        self.live.discard(cell)
        self.live_flags.discard(cell)
        self.demand -= self.words[cell]
