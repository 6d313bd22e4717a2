"""Transfers along the paths of a design: docs/reference/timing.md, "Transfers"."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial

from tests.timing.reference.hooks import Extra, Hooks, Transfer
from tests.timing.reference.machine import Sm

Event = Callable[[int], None]


class Transfers:
    """Those of one SM.  ``at`` lets something happen in phase 1 of a cycle to come; ``under_way`` are not complete.

    ``set_out[path, owner]`` counts the registers that set out in each cycle.
    """

    def __init__(self, sm: Sm, at: Callable[[int, Event], None]) -> None:
        self._sm, self._at = sm, at
        self.set_out: defaultdict[tuple[int, int], Counter[int]] = defaultdict(Counter)
        self.under_way = 0

    def begin(self, hooks: Hooks, one: Transfer, now: int) -> None:
        """A hook has started a transfer."""
        self.under_way += 1
        self._through_bank(hooks, one, hooks.paths[one.path].source, self._has_been_read, now)

    def _through_bank(
        self, hooks: Hooks, one: Transfer, level: str, then: Callable[[Hooks, Transfer, int], None], now: int
    ) -> None:
        """Go on when a bank has served an end in the main register file, at once with any other."""
        if self._sm.banks and level in hooks.main:
            hooks.extras.append(Extra(one.register, one.slot, one.bank, partial(then, hooks, one)))
        else:
            then(hooks, one, now)

    def _has_been_read(self, hooks: Hooks, one: Transfer, now: int) -> None:
        path = hooks.paths[one.path]
        used = self.set_out[one.path, one.slot % self._sm.schedulers if path.per == "scheduler" else 0]
        cycle = max([now, *used])
        while sum(used[before] for before in range(cycle - path.interval + 1, cycle + 1)) >= path.lanes:
            cycle += 1
        used[cycle] += 1
        self._at(cycle + path.latency, partial(self._has_come, hooks, one))

    def _has_come(self, hooks: Hooks, one: Transfer, now: int) -> None:
        self._through_bank(hooks, one, hooks.paths[one.path].target, self._is_there, now)

    def _is_there(self, hooks: Hooks, one: Transfer, now: int) -> None:
        self.under_way -= 1
        hooks.transferred(one, now)
