"""The load-store unit of one SM: a queue whose head sends a transaction per cycle, and those that join it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.timing.reference.instruction import Access, UnderWay
from tests.timing.reference.machine import Sm
from tests.timing.reference.memory import Memory

Due = Callable[[UnderWay, int], None]
Complete = Callable[[UnderWay, int], None]


TICKETS_OF_REGISTERS = 1 << 40


@dataclass
class Traffic:
    """A register that the design sends to memory or fetches: of the warp in a ``slot``, since cycle ``asked``; the warp
    waits for it with its end if it ``is_awaited``.
    """

    is_fetch: bool
    slot: int
    register: int
    line: int
    sectors: int
    asked: int
    is_awaited: bool = True


class LoadStore:
    """``waiting[ticket]`` is the instruction that sent a transaction; the ticket is its sequence number.

    ``traffic`` are registers of the design that wait, ``away`` those in memory, by tickets of their own.
    """

    def __init__(self, sm: Sm, index: int, memory: Memory) -> None:
        self._sm, self._index, self._memory = sm, index, memory
        self.queue: list[UnderWay] = []
        self.waiting: dict[int, UnderWay] = {}
        self.traffic: list[Traffic] = []
        self.away: dict[int, Traffic] = {}
        self._registers_sent = 0

    @property
    def is_full(self) -> bool:
        return len(self.queue) >= self._sm.queue

    def enter(self, issued: UnderWay) -> None:
        self.queue.append(issued)

    def send(self, now: int, due: Due, complete: Complete) -> None:
        """Let the head of the queue occupy this cycle; ``due`` and ``complete`` are called with its results."""
        head = self.queue[0] if self.queue else None
        waits = head is not None and now >= head.sends_from
        if self.traffic and not (head is not None and waits and head.entered <= self.traffic[0].asked):
            self._send_register(now)
        if head is not None and waits:
            self._act(head, now, due, complete)
        self._send_register(now)

    def _send_register(self, now: int) -> None:
        if self.traffic and self.traffic[0].asked < now and self._memory.accepts(self._index, now):
            one = self.traffic.pop(0)
            ticket = TICKETS_OF_REGISTERS + self._registers_sent
            self._registers_sent += 1
            self.away[ticket] = one
            self._memory.send(self._index, "load" if one.is_fetch else "spill", one.line, one.sectors, ticket, now)

    def _act(self, head: UnderWay, now: int, due: Due, complete: Complete) -> None:
        access = head.step.access
        assert access is not None
        if access.space in ("shared", "constant"):
            self._occupy(head, access, now, due, complete)
        elif self._memory.accepts(self._index, now):
            self.waiting[head.sequence] = head
            self._send_next(head, access, now)
            while not head.has_sent_all and self._memory.joins(self._index, access.transactions[head.sent][1], now):
                self._send_next(head, access, now)

    def returned(self, now: int) -> list[UnderWay | Traffic]:
        """The instructions whose last ticket is back, and registers of the design, in order of return."""
        finished: list[UnderWay | Traffic] = []
        while (ticket := self._memory.returned(self._index, now)) is not None:
            if ticket in self.away:
                finished.append(self.away.pop(ticket))
                continue
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
