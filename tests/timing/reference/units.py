"""Function units: when each accepts its next instruction."""

from __future__ import annotations

from tests.timing.reference.machine import Sm


class Units:
    """``free[pipe, scheduler]``: for each unit the first cycle in which it accepts an instruction."""

    def __init__(self, sm: Sm) -> None:
        self._sm = sm
        self._free = {
            (name, scheduler): [0] * pipe.units
            for name, pipe in sm.pipes.items()
            for scheduler in range(sm.schedulers if pipe.per_scheduler else 1)
        }

    @property
    def schedulers(self) -> int:
        return self._sm.schedulers

    def has_room(self, pipe: str, slot: int, now: int) -> bool:
        """Whether a unit accepts an instruction of the warp in ``slot`` now."""
        return min(self._of(pipe, slot)) <= now

    def is_queued(self, pipe: str) -> bool:
        """Whether instructions wait in a queue for it, with a read window."""
        return self._sm.pipes[pipe].queue > 0

    def take(self, pipe: str, slot: int, now: int, initiation: int | None) -> None:
        """Give an instruction to the unit that has been free the longest."""
        units = self._of(pipe, slot)
        units[units.index(min(units))] = now + (initiation or self._sm.pipes[pipe].initiation)

    def _of(self, pipe: str, slot: int) -> list[int]:
        scheduler = slot % self._sm.schedulers if self._sm.pipes[pipe].per_scheduler else 0
        return self._free[pipe, scheduler]
