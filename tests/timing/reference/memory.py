"""The memory system as an SM sees it, and the simplest one."""

from __future__ import annotations

from typing import Protocol

NEVER = 1 << 60


class Memory(Protocol):
    """The memory interface of docs/reference/timing.md."""

    def accepts(self, sm: int, now: int) -> bool: ...

    def joins(self, sm: int, sectors: int, now: int) -> bool: ...

    def send(self, sm: int, kind: str, line: int, sectors: int, ticket: int, now: int) -> None: ...

    def advance(self, now: int) -> None: ...

    def next_event(self, now: int) -> int: ...

    def returned(self, sm: int, now: int) -> int | None: ...


class FixedLatency:
    """Every transaction takes ``latency`` cycles; an SM sends at most one in ``interval`` cycles."""

    def __init__(self, latency: int, interval: int = 1) -> None:
        self.latency, self.interval = latency, interval
        self._back: dict[int, list[tuple[int, int]]] = {}
        self._next: dict[int, int] = {}

    def accepts(self, sm: int, now: int) -> bool:
        return self._next.get(sm, 0) <= now

    def joins(self, sm: int, sectors: int, now: int) -> bool:
        return False

    def send(self, sm: int, kind: str, line: int, sectors: int, ticket: int, now: int) -> None:
        self._back.setdefault(sm, []).append((now + self.latency, ticket))
        self._next[sm] = now + self.interval

    def advance(self, now: int) -> None:
        """No effect: there are no events."""

    def next_event(self, now: int) -> int:
        return min((queue[0][0] for queue in self._back.values() if queue), default=NEVER)

    def returned(self, sm: int, now: int) -> int | None:
        queue = self._back.get(sm, [])
        return queue.pop(0)[1] if queue and queue[0][0] <= now else None
