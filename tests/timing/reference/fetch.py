"""Caches for instructions and constants (docs/reference/timing.md): sets of lines in the order of their use."""

from __future__ import annotations

from collections import OrderedDict

from tests.timing.reference.machine import Constants, Fetch


class Cache:
    """Lines with the cycle from which they are there; the one that was used least recently comes first in its set."""

    def __init__(self, sets: int, ways: int) -> None:
        self._ways = ways
        self._sets: list[OrderedDict[int, int]] = [OrderedDict() for _ in range(sets)]

    def __contains__(self, line: int) -> bool:
        return line in self._set(line)

    def use(self, line: int) -> int:
        own = self._set(line)
        own.move_to_end(line)
        return own[line]

    def bring(self, line: int, there_from: int) -> None:
        own = self._set(line)
        if len(own) == self._ways:
            own.popitem(last=False)
        own[line] = there_from

    def _set(self, line: int) -> OrderedDict[int, int]:
        return self._sets[line % len(self._sets)]


class ConstantCaches:
    """Those of one SM.  Lines are numbered in the order of banks and addresses."""

    def __init__(self, rules: Constants, schedulers: int) -> None:
        self._rules = rules
        self._l0 = {(kind, n): Cache(*rules.l0) for kind in ("fixed", "variable") for n in range(schedulers)}
        self._l1 = Cache(*rules.l1)

    def ask(self, kind: str, scheduler: int, line: int, now: int) -> int:
        """When a line is there that is asked for now."""
        cache = self._l0[kind, scheduler]
        if line not in cache:
            if line not in self._l1:
                self._l1.bring(line, now + self._rules.l2_latency)
            cache.bring(line, max(now, self._l1.use(line)) + self._rules.l1_latency)
        return cache.use(line)


class InstructionCaches:
    """Those of one SM, with the stream buffer of each scheduler: lines, and the cycle from which they are there."""

    def __init__(self, rules: Fetch, schedulers: int, instructions: int) -> None:
        self._rules, self._instructions = rules, instructions
        self._l0 = [Cache(*rules.l0) for _ in range(schedulers)]
        self._l1 = Cache(*rules.l1)
        self._streams: list[dict[int, int]] = [{} for _ in range(schedulers)]

    def fetch(self, scheduler: int, pc: int, before: int | None, now: int) -> int:
        """When the head at ``pc`` of a warp is there, whose last line was ``before``."""
        there = now
        if self.line(pc) != before:
            there = self._ask(scheduler, self.line(pc), now)
        last = pc + self._rules.buffer - 1
        if last > pc and last % self._rules.line == 0 and self.line(last) <= self.line(self._instructions - 1):
            self._ask(scheduler, self.line(last), now)
        return there

    def line(self, pc: int) -> int:
        return pc // self._rules.line

    def _ask(self, scheduler: int, line: int, now: int) -> int:
        cache, stream = self._l0[scheduler], self._streams[scheduler]
        if line not in cache:
            begins = now
            if line not in stream:
                stream.clear()
                stream[line] = self._from_l1(line, now)
                begins = now + 1
            there = stream[line]
            missing = range(max(stream) + 1, min(line + self._rules.ahead, self.line(self._instructions - 1)) + 1)
            for place, further in enumerate(missing):
                stream[further] = self._from_l1(further, begins + place)
            for passed in [one for one in stream if one <= line]:
                del stream[passed]
            cache.bring(line, there)
        return cache.use(line)

    def _from_l1(self, line: int, now: int) -> int:
        if line not in self._l1:
            self._l1.bring(line, now + self._rules.l2_latency)
        return max(now, self._l1.use(line)) + self._rules.l1_latency
