"""The operand path with banks: latches, collectors, reads, write queues."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from tests.timing.reference.instruction import Source, UnderWay
from tests.timing.reference.log import Log
from tests.timing.reference.machine import Banks, CollectorSet, Sm

from warpreg.designs.interface.banks import Banks as Access

Dispatch = Callable[[UnderWay, int], bool]
Collected = Callable[[UnderWay, list[Source], int], None]
Event = Callable[[int], None]
At = Callable[[int, Event], None]


@dataclass(eq=False)
class Collectors:
    """The collectors of a set, or a scheduler's share of them; ``held`` are the instructions in them."""

    kind: CollectorSet
    scheduler: int
    held: list[UnderWay] = field(default_factory=list)

    @property
    def has_room(self) -> bool:
        return len(self.held) < self.kind.collectors


class OperandPath:
    """``latches[scheduler, pipe]`` holds at most one instruction.

    ``writes[bank]`` is the bank's queue of (who, word, what then); accesses that belong to no operand stand in it for
    nobody.
    ``collected`` is told of sources that are read, ``at`` lets something happen in phase 1 of a cycle to come.
    """

    def __init__(self, sm: Sm, banks: Banks, access: Access, log: Log, collected: Collected, at: At) -> None:
        self._sm, self._banks, self._access, self._log = sm, banks, access, log
        self._collected, self._at = collected, at
        self._ports = banks.operand_ports
        self.latches: dict[tuple[int, str], UnderWay] = {}
        self._count = banks.count + access.added
        self.writes: list[list[tuple[UnderWay | None, int, Event | None]]] = [[] for _ in range(self._count)]
        self._writes_from = [0] * self._count
        self.groups = [
            Collectors(kind, scheduler)
            for kind in banks.sets
            for scheduler in range(sm.schedulers if kind.per_scheduler else 1)
        ]

    def group_of(self, slot: int, pipe: str) -> Collectors:
        """The collectors that serve an instruction of the warp in ``slot``."""
        kind = self._banks.set_of(pipe)
        scheduler = slot % self._sm.schedulers if kind.per_scheduler else 0
        return next(group for group in self.groups if group.kind is kind and group.scheduler == scheduler)

    def latch_is_free(self, slot: int, pipe: str) -> bool:
        return (slot % self._sm.schedulers, pipe) not in self.latches

    def latch(self, issued: UnderWay) -> None:
        """An instruction has issued."""
        self.latches[issued.warp.slot % self._sm.schedulers, issued.instruction.pipe] = issued

    def queue_write(self, issued: UnderWay | None, word: int, bank: int, then: Event | None = None) -> None:
        """A result word waits for its bank, or an access that belongs to nobody does."""
        self.writes[bank].append((issued, word, then))

    def serve_writes(self, now: int, written: Callable[[UnderWay, int, int], None], taken: set[int]) -> set[int]:
        """One write, or those of one instruction, in each bank that has any, whose last one is over and which is not
        ``taken``; returns the banks that write.
        """
        still = taken | {bank for bank in range(self._count) if self._writes_from[bank] > now}
        starting = [bank for bank, queue in enumerate(self.writes) if queue and bank not in still]
        for bank in starting:
            queue = self.writes[bank]
            first = queue[0][0]
            served = [queue.pop(0)]
            while self._banks.whole_instructions and first is not None and queue and queue[0][0] is first:
                served.append(queue.pop(0))
            for issued, word, then in served:
                self._log.bank(now, bank, "write" if issued else "extra", issued.sequence if issued else -1, word)
                if issued is not None:
                    self._writes_from[bank] = max(self._writes_from[bank], now + issued.cycles_of_write(word))
                    written(issued, word, now)
                elif then is not None:
                    then(now)
        return still | set(starting)

    def collect(self, now: int, written_banks: set[int], dispatch: Dispatch) -> None:
        """Phase 2: dispatch, read and enter, as many times as the machine says."""
        taken: dict[int, int] = {}
        for step in range(self._banks.steps):
            self._dispatch(now, dispatch)
            after = now if step + 1 < self._banks.steps else now + 1
            self._read(now, after, written_banks if step == 0 and self._banks.single_ported else set(), taken)
            self._enter(now)

    def _held(self) -> list[UnderWay]:
        return sorted((issued for group in self.groups for issued in group.held), key=lambda issued: issued.sequence)

    def _dispatch(self, now: int, dispatch: Dispatch) -> None:
        for issued in self._held():
            if issued.has_operands(now) and dispatch(issued, now):
                group = self.group_of(issued.warp.slot, issued.instruction.pipe)
                group.held.remove(issued)

    def _read(self, now: int, after: int, blocked: set[int], taken: dict[int, int]) -> None:
        waiting = [(one, s) for one in self._held() for s in one.sources if one.requests(s) and s.there_from is None]
        for bank in range(self._count):
            requests = [(issued, source) for issued, source in waiting if source.bank == bank]
            if not requests or bank in blocked:
                continue
            self._grant(bank, requests, now, after, taken)

    def _grant(
        self, bank: int, requests: list[tuple[UnderWay, Source]], now: int, after: int, taken: dict[int, int]
    ) -> None:
        """The oldest request, and those that can share its access."""
        ports, first = self._ports, requests[0][0]
        granted: list[tuple[UnderWay, Source]] = []
        whole = self._banks.whole_instructions
        for issued, asked in requests:
            if issued is not first and (whole or not (self._access.across_instructions and granted)):
                break
            if asked.there_from is not None or not (whole or self._joins(asked, granted)):
                continue
            own = sum(other is issued for other, _ in granted)
            if not own or not (whole or self._access.shares_port):
                port = self._port_of(issued)
                if ports and taken.get(port, 0) >= ports:
                    continue
                taken[port] = taken.get(port, 0) + 1
            if granted and not whole:
                self._log.shared["the same" if issued is first else "another"] += 1
            granted.append((issued, asked))
            same = [source for source in issued.sources if (source.word, source.bank) == (asked.word, bank)]
            for source in same:
                source.there_from = now if source.cycles <= 1 else after + source.cycles - 1
            self._collected(issued, same, now)
            self._log.bank(now, bank, "read", issued.sequence, asked.word)

    def _port_of(self, issued: UnderWay) -> int:
        """Instructions with the same one share the ports of a collector."""
        return issued.sequence

    def _joins(self, asked: Source, granted: list[tuple[UnderWay, Source]]) -> bool:
        rows = {asked.row, *(other.row for _, other in granted)}
        return len(rows) <= self._access.row_addresses and all(asked.shares_with(other) for _, other in granted)

    def _enter(self, now: int) -> None:
        for group in self.groups:
            candidates = sorted(
                (i for i in self.latches.values() if self._belongs(i, group) and i.enters_from <= now),
                key=lambda issued: issued.sequence,
            )
            for issued in candidates[: group.kind.in_ports]:
                if group.has_room:
                    self._take(issued, group, now)
                    del self.latches[issued.warp.slot % self._sm.schedulers, issued.instruction.pipe]

    def _take(self, issued: UnderWay, group: Collectors, now: int) -> None:
        group.held.append(issued)
        for source in issued.sources:
            if source.bank is None:
                source.there_from = now + source.cycles
                self._served_elsewhere(issued, source, now)

    def _served_elsewhere(self, issued: UnderWay, source: Source, now: int) -> None:
        if source.merged is not None:
            return
        if source.cycles <= 0:
            self._collected(issued, [source], now)
        else:
            self._at(now + source.cycles, partial(self._collected, issued, [source]))

    def _belongs(self, issued: UnderWay, group: Collectors) -> bool:
        return self.group_of(issued.warp.slot, issued.instruction.pipe) is group
