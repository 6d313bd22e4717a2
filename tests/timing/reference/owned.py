"""Collectors that warp slots own, in place of sets of collectors and their latches."""

from __future__ import annotations

from typing import Any

from tests.timing.reference.collection import Collectors, Dispatch, OperandPath
from tests.timing.reference.instruction import UnderWay
from tests.timing.reference.machine import PIPES, Banks, CollectorSet, Sm

from warpreg.designs.interface.banks import Collectors as OwnCollectors


class OwnedPath(OperandPath):
    """``groups[slot]`` are the collectors of a slot; ``waiting[slot]`` has issued and not entered one yet."""

    def __init__(self, own: OwnCollectors, sm: Sm, banks: Banks, *rest: Any) -> None:
        super().__init__(sm, banks, *rest)
        self._own = own
        self._ports = banks.operand_ports if own.operand_ports is None else own.operand_ports
        self.groups = [Collectors(CollectorSet(PIPES, own.reading), 0) for _ in range(sm.slots)]
        self.waiting: list[list[UnderWay]] = [[] for _ in range(sm.slots)]
        self._last = sm.slots - 1

    def group_of(self, slot: int, pipe: str) -> Collectors:
        return self.groups[slot]

    def latch_is_free(self, slot: int, pipe: str) -> bool:
        return len(self.waiting[slot]) + len(self.groups[slot].held) < self._own.instructions

    def latch(self, issued: UnderWay) -> None:
        self.waiting[issued.warp.slot].append(issued)

    def _port_of(self, issued: UnderWay) -> int:
        return issued.warp.slot

    def _enter(self, now: int) -> None:
        entering = []
        for slot, group in enumerate(self.groups):
            room = self._own.reading - len(group.held)
            while room and self.waiting[slot] and self.waiting[slot][0].enters_from <= now:
                entering.append(self.waiting[slot].pop(0))
                room -= 1
        for issued in sorted(entering, key=lambda issued: issued.sequence):
            self._take(issued, self.groups[issued.warp.slot], now)

    def _dispatch(self, now: int, dispatch: Dispatch) -> None:
        waiting = [issued for issued in self._held() if issued.has_operands(now)]
        while waiting:
            issued = min(waiting, key=self._turn)
            waiting.remove(issued)
            if dispatch(issued, now):
                self._last = issued.warp.slot
                self.groups[issued.warp.slot].held.remove(issued)

    def _turn(self, issued: UnderWay) -> tuple[int, int]:
        """What dispatches first."""
        slots = len(self.groups)
        in_turn = self._own.dispatch == "round-robin"
        return ((issued.warp.slot - self._last - 1) % slots if in_turn else 0, issued.sequence)
