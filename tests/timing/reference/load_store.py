"""The load-store unit of one SM: a queue whose head sends a transaction per cycle, and those that join it."""

from __future__ import annotations

from collections.abc import Callable

from tests.timing.reference.instruction import Access, UnderWay
from tests.timing.reference.machine import Sm
from tests.timing.reference.memory import Memory

Due = Callable[[UnderWay, int], None]
Complete = Callable[[UnderWay, int], None]


class LoadStore:
    """``waiting[ticket]`` is the instruction that sent a transaction; the ticket is its sequence number."""

    def __init__(self, sm: Sm, index: int, memory: Memory) -> None:
        self._sm, self._index, self._memory = sm, index, memory
        self.queue: list[UnderWay] = []
        self.waiting: dict[int, UnderWay] = {}

    @property
    def is_full(self) -> bool:
        return len(self.queue) >= self._sm.queue

    def enter(self, issued: UnderWay) -> None:
        self.queue.append(issued)

    def send(self, now: int, due: Due, complete: Complete) -> None:
        """Let the head of the queue occupy this cycle; ``due`` and ``complete`` are called with its results."""
        if not self.queue:
            return
        head = self.queue[0]
        if now < head.sends_from:
            return
        access = head.step.access
        assert access is not None
        if access.space in ("shared", "constant"):
            self._occupy(head, access, now, due, complete)
        elif self._memory.accepts(self._index, now):
            self.waiting[head.sequence] = head
            self._send_next(head, access, now)
            while not head.has_sent_all and self._memory.joins(self._index, access.transactions[head.sent][1], now):
                self._send_next(head, access, now)

    def returned(self, now: int) -> list[UnderWay]:
        """The instructions whose last ticket is back, in order of return."""
        finished = []
        while (ticket := self._memory.returned(self._index, now)) is not None:
            issued = self.waiting[ticket]
            issued.returned += 1
            if issued.has_sent_all and issued.returned == issued.sent:
                del self.waiting[ticket]
                finished.append(issued)
        return finished

    def _occupy(self, head: UnderWay, access: Access, now: int, due: Due, complete: Complete) -> None:
        self._advance(head, access.degree if access.space == "shared" else 1)
        if not head.has_sent_all:
            return
        if head.instruction.has_results:
            latency = self._sm.shared_latency if access.space == "shared" else self._sm.constant_latency
            due(head, now + (head.instruction.latency or latency))
        else:
            complete(head, now)

    def _send_next(self, head: UnderWay, access: Access, now: int) -> None:
        line, sectors = access.transactions[head.sent]
        self._memory.send(self._index, head.instruction.kind, line, sectors, head.sequence, now)
        self._advance(head, len(access.transactions))

    def _advance(self, head: UnderWay, total: int) -> None:
        head.sent += 1
        if head.sent == total:
            head.has_sent_all = True
            self.queue.pop(0)
