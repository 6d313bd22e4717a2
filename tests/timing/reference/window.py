"""The operand path without collectors (docs/reference/timing.md, "Read window"), stage by stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from tests.timing.reference.collection import At, Collected, Dispatch, OperandPath
from tests.timing.reference.instruction import Source, UnderWay
from tests.timing.reference.log import Log
from tests.timing.reference.machine import Banks, Sm, Window

from warpreg.designs.interface.banks import Banks as Access

Allocated = Callable[[UnderWay, int], None]


class WindowPath(OperandPath):
    """``control[scheduler]`` and ``allocating[scheduler]`` are the stages behind issue; ``queues[pipe, scheduler]`` the
    instructions of variable latency.  ``reserved[bank, cycle]`` counts the reads that windows will do.
    ``issues_from[scheduler]``: when it waits no longer for a constant.
    """

    def __init__(
        self, window: Window, allocated: Allocated, sm: Sm, banks: Banks, access: Access, log: Log,
        collected: Collected, at: At,
    ) -> None:  # fmt: skip
        super().__init__(sm, banks, access, log, collected, at)
        self._window, self._allocated = window, allocated
        self.control: dict[int, UnderWay] = {}
        self.allocating: dict[int, UnderWay] = {}
        self.queues: dict[tuple[str, int], list[UnderWay]] = {
            (name, scheduler): [] for name, pipe in sm.pipes.items() if pipe.queue for scheduler in range(sm.schedulers)
        }
        self.issues_from: Counter[int] = Counter()
        self.reserved: Counter[tuple[int, int]] = Counter()

    def latch_is_free(self, slot: int, pipe: str) -> bool:
        scheduler = slot % self._sm.schedulers
        if scheduler in self.control:
            return False
        queue = self.queues.get((pipe, scheduler))
        return queue is None or len(queue) < self._sm.pipes[pipe].queue

    def stage_is_free(self, slot: int) -> bool:
        return slot % self._sm.schedulers not in self.control

    def latch(self, issued: UnderWay) -> None:
        scheduler = issued.warp.slot % self._sm.schedulers
        queue = self.queues.get((issued.instruction.pipe, scheduler))
        if queue is None:
            self.control[scheduler] = issued
        else:
            queue.append(issued)
        for source in issued.sources:
            if source.bank is None:
                source.there_from = issued.issued_at + source.cycles
                self._served_elsewhere(issued, source, issued.issued_at)
            elif queue is None:
                self._collected_first(issued, source)

    def _collected_first(self, issued: UnderWay, source: Source) -> None:
        """A source of fixed latency counts as read at issue."""
        same = [one for one in issued.sources if (one.word, one.bank) == (source.word, source.bank)]
        if same[0] is source:
            self._collected(issued, same, issued.issued_at)

    def collect(self, now: int, written_banks: set[int], dispatch: Dispatch) -> None:
        waiting = [(name, queue) for (name, _), queue in self.queues.items() if queue]
        for name, queue in sorted(waiting, key=lambda one: one[1][0].sequence):
            if self._may_go(queue[0], name, now) and dispatch(queue[0], now):
                queue.pop(0)
        self._read_for_queues(now)
        for scheduler in range(self._sm.schedulers):
            self._allocate(scheduler, now)
            if scheduler in self.control and scheduler not in self.allocating and self._passes(scheduler, now):
                self.allocating[scheduler] = self.control.pop(scheduler)

    def _passes(self, scheduler: int, now: int) -> bool:
        return self.control[scheduler].issued_at < now

    def _may_go(self, issued: UnderWay, pipe: str, now: int) -> bool:
        return issued.has_operands(now) and now >= max(issued.issued_at + self._sm.pipes[pipe].lead, issued.enters_from)

    def _read_for_queues(self, now: int) -> None:
        held = sorted((one for queue in self.queues.values() for one in queue), key=lambda one: one.sequence)
        waiting = [(one, s) for one in held for s in one.sources if one.requests(s) and s.there_from is None]
        for bank in range(self._count):
            requests = [(one, source) for one, source in waiting if source.bank == bank]
            if requests and self.reserved[bank, now] < self._window.ports:
                self._grant(bank, requests, now, now + 1, {})

    def _allocate(self, scheduler: int, now: int) -> None:
        issued = self.allocating.get(scheduler)
        if issued is None:
            return
        words = [source for source in issued.sources if issued.requests(source)]
        needs = {source.bank: self._accesses(issued, [w for w in words if w.bank == source.bank]) for source in words}
        for bank, count in needs.items():
            cycles = self._cycles(now, count)
            if sum(self._window.ports - self.reserved[self._known(bank), cycle] for cycle in cycles) < count:
                return
        for key, count in needs.items():
            bank = self._known(key)
            for _ in range(count):
                cycles = self._cycles(now, count)
                self.reserved[bank, next(c for c in cycles if self.reserved[bank, c] < self._window.ports)] += 1
        del self.allocating[scheduler]
        self._allocated(issued, now)

    def _accesses(self, issued: UnderWay, words: list[Source]) -> int:
        """Accesses of a bank that serve these words, each with those that fit."""
        left, count = list(words), 0
        while left:
            count += 1
            granted: list[tuple[UnderWay, Source]] = []
            for word in list(left):
                if self._joins(word, granted):
                    granted.append((issued, word))
                    left.remove(word)
        return count

    def _cycles(self, now: int, count: int) -> range:
        return range(now + 1, now + 1 + max(self._window.cycles, -(-count // self._window.ports)))

    @staticmethod
    def _known(bank: int | None) -> int:
        assert bank is not None
        return bank
