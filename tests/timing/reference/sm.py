"""One streaming multiprocessor: the phases of docs/timing.md, one method each."""

from __future__ import annotations

from tests.timing.reference.collection import OperandPath
from tests.timing.reference.instruction import Step, UnderWay
from tests.timing.reference.load_store import LoadStore
from tests.timing.reference.log import Issue, Log
from tests.timing.reference.machine import Sm
from tests.timing.reference.memory import Memory
from tests.timing.reference.schedulers import Scheduler, TwoLevelScheduler
from tests.timing.reference.stalls import Stalls
from tests.timing.reference.units import Units
from tests.timing.reference.warp import ThreadBlock, Warp


class StreamingMultiprocessor:
    """``slots[s]`` is the warp in slot ``s`` or None; ``due[c]`` are those whose results are due at ``c``."""

    def __init__(self, sm: Sm, index: int, memory: Memory) -> None:
        self.sm, self.index, self.log = sm, index, Log()
        self.slots: list[Warp | None] = [None] * sm.slots
        self.blocks: list[ThreadBlock] = []
        self.due: dict[int, list[UnderWay]] = {}
        self.units = Units(sm)
        self.load_store = LoadStore(sm, index, memory)
        self.path = OperandPath(sm, sm.banks, self.log) if sm.banks else None
        self.stalls = Stalls(self.units, self.load_store, self.path)
        self.schedulers = [self._scheduler(number) for number in range(sm.schedulers)]
        self._issued = 0
        self._warps_placed = 0

    def _scheduler(self, number: int) -> Scheduler:
        if self.sm.two_level is None:
            return Scheduler(self.sm, number)
        return TwoLevelScheduler(self.sm, number, self.sm.two_level, self.log)

    def complete(self, now: int) -> set[int]:
        """Phase 1.  Returns the banks that were written."""
        for issued in self.load_store.returned(now) + self.due.pop(now, []):
            self._results_are_there(issued)
        return self.path.serve_writes(now, self._written) if self.path else set()

    def collect(self, now: int, written_banks: set[int]) -> None:
        """Phase 2."""
        self.load_store.send(now, self._set_due, self._completed)
        if self.path:
            self.path.collect(now, written_banks, self._dispatch)

    def issue(self, now: int) -> None:
        """Phase 3."""
        for scheduler in self.schedulers:
            scheduler.suspend(self.slots, now)
        for scheduler in self.schedulers:
            self._turn(scheduler, now)
        for block in self.blocks:
            block.release()
        for scheduler in self.schedulers:
            scheduler.fill(self.slots, now)

    def leave(self, now: int) -> None:
        """Phase 4, first half: thread blocks that have ended make room."""
        for block in [block for block in self.blocks if block.has_ended]:
            self.blocks.remove(block)
            self.log.left.append((now, block.index))
            for warp in block.warps:
                self.schedulers[warp.slot % self.sm.schedulers].left(warp)
                self.slots[warp.slot] = None

    def has_room_for(self, warps: int) -> bool:
        return self.slots.count(None) >= warps

    def place(self, index: int, paths: list[tuple[Step, ...]], now: int) -> None:
        """Phase 4, second half: a thread block comes, one path for each of its warps."""
        block = ThreadBlock(index)
        self.blocks.append(block)
        self.log.placed.append((now, index))
        for number, steps in enumerate(paths):
            slot = self.slots.index(None)
            warp = Warp(slot, self._warps_placed, number, steps, now + 1, block)
            self._warps_placed += 1
            self.slots[slot] = warp
            block.warps.append(warp)
            self.schedulers[slot % self.sm.schedulers].placed(warp, now)

    def _turn(self, scheduler: Scheduler, now: int) -> None:
        causes = {slot: self.stalls.cause(self.slots[slot], scheduler, now) for slot in scheduler.slots}
        for warp in scheduler.order(self.slots):
            if causes[warp.slot] is None:
                causes[warp.slot] = "issued"
                self._issue_of(warp, scheduler, now)
                scheduler.issued(warp)
                break
        self.log.stalls.update(cause or "not selected" for cause in causes.values())

    def _issue_of(self, warp: Warp, scheduler: Scheduler, now: int) -> None:
        """Issue the head, and what may follow it in the same cycle."""
        pipes = [self._issue_head(warp, now)]
        while len(pipes) < self.sm.issue_width and "ctrl" not in pipes and warp.head is not None:
            if warp.head.instruction.pipe in pipes or self.stalls.of_head(warp, scheduler, now, fetched=now):
                break
            pipes.append(self._issue_head(warp, now))

    def _issue_head(self, warp: Warp, now: int) -> str:
        step = warp.head
        assert step is not None
        instruction = step.instruction
        issued = UnderWay(step, warp, self._issued)
        self._issued += 1
        self.log.issues.append(
            Issue(
                now, self.index, issued.sequence, warp.slot, warp.block.index, warp.index, warp.position, instruction.pc
            )
        )
        warp.position += 1
        warp.last_issue = now
        warp.at_barrier, warp.at_fence = instruction.barrier, instruction.fence
        if instruction.pipe == "ctrl":
            warp.fetched = now + self.sm.pipes["ctrl"].latency
            return "ctrl"
        warp.fetched = now + 1
        warp.under_way.append(issued)
        warp.scoreboard.update(dict.fromkeys(instruction.result_cells, issued))
        if self.path:
            issued.operands = self.path.request(issued)
            self.path.latch(issued)
        else:
            self._dispatch(issued, now)
        return instruction.pipe

    def _dispatch(self, issued: UnderWay, now: int) -> bool:
        """Give an instruction with all its operands to its pipe; False if that does not take it now."""
        pipe, access = issued.instruction.pipe, issued.step.access
        if not self.stalls.takes(pipe, issued.warp.slot, now):
            return False
        self.units.take(pipe, issued.warp.slot, now)
        self.log.dispatched[issued.sequence] = now
        if pipe not in ("mem", "tex"):
            self._set_due(issued, now + self.sm.pipes[pipe].latency + self.sm.dispatch_cycles)
        elif access is None or access.sends_nothing:
            self._set_due(issued, now + max(1, self.sm.dispatch_cycles))
        else:
            self.load_store.enter(issued)
        return True

    def _set_due(self, issued: UnderWay, cycle: int) -> None:
        self.due.setdefault(cycle, []).append(issued)

    def _results_are_there(self, issued: UnderWay) -> None:
        instruction, warp = issued.instruction, issued.warp
        for cell in instruction.results_apart:
            del warp.scoreboard[cell]
        if self.path is None:
            for word in instruction.results:
                del warp.scoreboard[word]
        elif instruction.results:
            issued.unwritten = len(instruction.results)
            for word in instruction.results:
                self.path.queue_write(issued, word)
            return
        self._completed(issued)

    def _written(self, issued: UnderWay, word: int) -> None:
        del issued.warp.scoreboard[word]
        issued.unwritten -= 1
        if issued.unwritten == 0:
            self._completed(issued)

    def _completed(self, issued: UnderWay) -> None:
        issued.warp.under_way.remove(issued)
