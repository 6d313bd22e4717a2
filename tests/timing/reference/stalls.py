"""The cause for which a warp slot does not issue: the first matching row in docs/reference/timing.md."""

from __future__ import annotations

from tests.timing.reference.collection import OperandPath
from tests.timing.reference.instruction import Instruction, UnderWay
from tests.timing.reference.load_store import LoadStore
from tests.timing.reference.schedulers import Scheduler
from tests.timing.reference.units import Units
from tests.timing.reference.warp import Warp
from tests.timing.reference.window import WindowPath

CAUSES = (
    "issued", "not selected", "fetch", "alu", "sfu", "dp", "shared", "memory", "operands", "unit", "memory queue",
    "barrier", "fence", "token", "inactive", "swap", "drain", "empty", "other",
)  # fmt: skip
SLOWEST_FIRST = ("memory", "shared", "dp", "sfu", "alu")


class Stalls:
    """Inspects the structures of one SM; ``path`` is None with the ideal operand path."""

    def __init__(self, units: Units, load_store: LoadStore, path: OperandPath | None, tracks: bool) -> None:
        self._units, self._load_store, self._path, self._tracks = units, load_store, path, tracks

    def cause(self, warp: Warp | None, scheduler: Scheduler, now: int) -> str | None:
        """The cause for which a slot cannot issue now, None if it can."""
        if warp is None:
            return "empty"
        return self._waits(warp, now) or self.of_head(warp, scheduler, now, warp.fetched)

    def of_head(self, warp: Warp, scheduler: Scheduler, now: int, fetched: int) -> str | None:
        """The cause for which the head of a warp that is not waiting cannot issue."""
        assert warp.head is not None
        if now < fetched:
            return warp.held_for
        if warp.exceeds_limit:
            return "memory"
        if awaited := warp.awaited():
            classes = {writer.instruction.waits for writer in awaited}
            return next(cause for cause in SLOWEST_FIRST if cause in classes)
        if not scheduler.is_active(warp):
            return "inactive"
        if scheduler.is_swapping(warp, now):
            return "swap"
        if self._tracks and warp.overwrites_sources():
            return "operands"
        return self._structure(warp.head.instruction, warp.slot, now)

    def _waits(self, warp: Warp, now: int) -> str | None:
        if warp.head is None:
            return "drain"
        if warp.at_barrier:
            return "barrier"
        if warp.is_fenced:
            return "fence"
        return "token" if warp.token is not None or now < warp.asks_from else None

    def _structure(self, instruction: Instruction, slot: int, now: int) -> str | None:
        if isinstance(self._path, WindowPath):
            return self._behind_issue(self._path, instruction.pipe, slot, now)
        if instruction.pipe == "ctrl":
            return None
        if self._path is None:
            return None if self.takes(instruction.pipe, slot, now) else self._refusal(instruction.pipe)
        if self._path.latch_is_free(slot, instruction.pipe):
            return None
        held = self._path.group_of(slot, instruction.pipe).held
        oldest = min(held, key=_sequence, default=None)
        if oldest is not None and oldest.has_operands(now):
            return self._refusal(oldest.instruction.pipe)
        return "operands"

    def _behind_issue(self, path: WindowPath, pipe: str, slot: int, now: int) -> str | None:
        """With a read window."""
        if not path.stage_is_free(slot) or now < path.issues_from[slot % self._units.schedulers]:
            return "operands"
        if pipe == "ctrl":
            return None
        if not path.latch_is_free(slot, pipe):
            return self._refusal(pipe)
        is_queued = self._units.is_queued(pipe)
        return None if is_queued or self._units.has_room(pipe, slot, now) else "unit"

    def takes(self, pipe: str, slot: int, now: int) -> bool:
        """Whether an instruction can be dispatched to this pipe."""
        return self._units.has_room(pipe, slot, now) and not self._queue_is_full(pipe)

    def _refusal(self, pipe: str) -> str:
        return "memory queue" if self._queue_is_full(pipe) else "unit"

    def _queue_is_full(self, pipe: str) -> bool:
        return pipe in ("mem", "tex") and self._load_store.is_full


def _sequence(issued: UnderWay) -> int:
    return issued.sequence
