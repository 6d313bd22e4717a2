"""The schedulers of one SM: order of warps, and which of them may issue."""

from __future__ import annotations

from collections.abc import Sequence

from tests.timing.reference.hooks import Hooks
from tests.timing.reference.log import Log
from tests.timing.reference.machine import Sm, TwoLevel
from tests.timing.reference.warp import Warp

Slots = Sequence[Warp | None]


class Scheduler:
    """A scheduler of one level.  ``last`` is the slot that issued last, ``last_warp`` its warp."""

    def __init__(self, sm: Sm, index: int) -> None:
        self.sm, self.index = sm, index
        self.slots = list(sm.slots_of(index))
        self.last: int | None = None
        self.last_warp: Warp | None = None

    def order(self, slots: Slots) -> list[Warp]:
        """The scheduler's warps in the order of its policy."""
        warps = [warp for slot in self.slots if (warp := slots[slot]) is not None]
        if self.sm.policy == "lrr":
            return self.round_from(warps, self.last, after=True)
        if self.sm.policy == "gto":
            return self.greedy_then_oldest(warps)
        if self.sm.policy == "gty":
            return sorted(warps, key=lambda warp: (warp is not self.last_warp, -warp.age))
        return sorted(warps, key=lambda warp: warp.age)

    def greedy_then_oldest(self, warps: list[Warp]) -> list[Warp]:
        """The warp that issued last, then by age."""
        return sorted(warps, key=lambda warp: (warp is not self.last_warp, warp.age))

    def issued(self, warp: Warp) -> None:
        self.last, self.last_warp = warp.slot, warp

    def is_active(self, warp: Warp) -> bool:
        return True

    def is_swapping(self, warp: Warp, now: int) -> bool:
        return False

    def placed(self, warp: Warp, now: int) -> None:
        """A warp is placed."""

    def left(self, warp: Warp) -> None:
        """A warp's thread block has left."""

    def suspend(self, warp: Warp, now: int) -> None:
        """Start of phase 3, for each warp by slot."""

    def fill(self, slots: Slots, now: int) -> None:
        """End of phase 3."""

    def round_from(self, warps: list[Warp], slot: int | None, after: bool) -> list[Warp]:
        """Warps by slot, from a slot or from the one after it, wrapping around."""
        if slot is None:
            return warps
        first = slot + 1 if after else slot
        return [w for w in warps if w.slot >= first] + [w for w in warps if w.slot < first]


class TwoLevelScheduler(Scheduler):
    """``active`` is the set of slots in the active set."""

    def __init__(self, sm: Sm, index: int, rules: TwoLevel, log: Log, hooks: Hooks) -> None:
        super().__init__(sm, index)
        self.rules, self.log, self.hooks = rules, log, hooks
        self.active: set[int] = set()
        self.last_activated: int | None = None

    def order(self, slots: Slots) -> list[Warp]:
        warps = [warp for slot in sorted(self.active) if (warp := slots[slot]) is not None]
        if self.rules.inner == "gto":
            return self.greedy_then_oldest(warps)
        return self.round_from(warps, self.last, after=self.rules.inner == "lrr")

    def is_active(self, warp: Warp) -> bool:
        return warp.slot in self.active

    def is_swapping(self, warp: Warp, now: int) -> bool:
        return now < warp.activated + 1 + self.rules.swap_cycles

    def placed(self, warp: Warp, now: int) -> None:
        if len(self.active) < self.rules.active_warps:
            self._activate(warp, now)

    def left(self, warp: Warp) -> None:
        self.active.discard(warp.slot)

    def suspend(self, warp: Warp, now: int) -> None:
        if warp.slot in self.active and self._must_leave(warp, now):
            self.active.remove(warp.slot)
            if warp.head is not None:
                self.log.suspensions.append((now, warp.slot))
                self.hooks.suspended(warp, now)

    def fill(self, slots: Slots, now: int) -> None:
        pending = [warp for slot in self.slots if (warp := slots[slot]) is not None and slot not in self.active]
        for warp in self.round_from(pending, self.last_activated, after=True):
            if len(self.active) < self.rules.active_warps and self._could_issue(warp):
                self._activate(warp, now)

    def _activate(self, warp: Warp, now: int) -> None:
        self.active.add(warp.slot)
        self.last_activated = warp.slot
        warp.activated = now
        self.log.activations.append((now, warp.slot))
        self.hooks.activated(warp, now)

    def _could_issue(self, warp: Warp) -> bool:
        if warp.head is None or warp.waits_for_others:
            return False
        return not warp.needs_long_latency_result()

    def _must_leave(self, warp: Warp, now: int) -> bool:
        if warp.head is None or (warp.waits_for_others and not (warp.is_refused or warp.stays)):
            return True
        if now < warp.fetched or warp.suspended_by == warp.position or not self._head_suspends(warp, now):
            return False
        warp.suspended_by = warp.position
        return True

    def _head_suspends(self, warp: Warp, now: int) -> bool:
        assert warp.head is not None
        if self.rules.suspend == "stall":
            return now - max(warp.last_issue, warp.activated) >= self.rules.stall_threshold
        if not warp.head.instruction.suspends:
            return False
        return self.rules.suspend == "static" or warp.needs_long_latency_result()
