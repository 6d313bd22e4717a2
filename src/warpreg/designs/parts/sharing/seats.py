"""Which values hold which registers, and a search for a free one.

A group of values takes the lowest registers that nothing holds while it is live.  If there are none, it takes registers
whose groups find others, and so on up to a depth; a bound on the number of tries keeps the search short.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections import defaultdict
from collections.abc import Sequence

from warpreg.analysis.accesses import bit_set, members
from warpreg.analysis.values import Values, values
from warpreg.designs.parts.sharing.groups import NO_REGISTER, Groups
from warpreg.designs.parts.window.live_values import LiveValues, live_values
from warpreg.ir.kernel import Kernel

DEPTH = 3
"""The longest chain of groups that make room for each other."""
TRIES = 400
"""Places that the search for one group may look at."""
EFFORT = 4_000_000_000
"""Tries times the square of the points: in large kernels the search is shorter."""


def points_of(kernel: Kernel) -> list[int]:
    """By value, the points at which it is live as a bit set: before pc is bit ``2 * pc``, after it the next one."""
    live, found = live_values(kernel), values(kernel)
    points, begun = [0] * len(found.values), [0] * len(found.values)
    held = 0
    for point in range(2 * len(live.before) + 1):
        now = _at(live, found, point)
        for value in members(held ^ now):
            if now >> value & 1:
                begun[value] = point
            else:
                points[value] |= (1 << point) - (1 << begun[value])
        held = now
    return points


def _at(live: LiveValues, webs: Values, point: int) -> int:
    """The values that are live at a point; none behind the last one."""
    pc, is_after = divmod(point, 2)
    if pc == len(live.before):
        return 0
    return live.after[pc] | bit_set(webs.written[pc]) if is_after else live.before[pc]


class Seats:
    """``base`` of ``registers`` are in the base set; ``confined`` values must be there.

    ``shift`` [group]: the distance of its registers from those in the code, None if it has none.  ``taken`` [register]
    [own]: the points at which each value holds the register whose own one, in the code, is ``own``; ``busy`` [register]
    [own]: all of these.  ``changes``: what to undo.
    """

    def __init__(self, groups: Groups, points: list[int], base: int, registers: int, confined: int) -> None:
        self.groups, self.points = groups, points
        self.base, self.registers, self.confined = base, registers, confined
        self.shift: list[int | None] = [None] * len(groups.members)
        self.taken: list[dict[int, dict[int, int]]] = [defaultdict(dict) for _ in range(registers)]
        self.busy: list[dict[int, int]] = [{} for _ in range(registers)]
        self.changes: list[tuple[int, int | None]] = []
        longest = max((one.bit_length() for one in points), default=0)
        self.most_tries = min(TRIES, EFFORT // max(1, longest) ** 2)
        self.tries = 0

    def registers_of_values(self) -> tuple[int, ...]:
        """By value: its register; that of the code for a group that has none."""
        pairs = zip(self.groups.register, self.groups.group, strict=True)
        return tuple(own if own == NO_REGISTER else own + (self.shift[number] or 0) for own, number in pairs)

    def is_confined(self, number: int) -> bool:
        """Whether a group has a value that must be in the base set."""
        return any(self.confined >> value & 1 for value in self.groups.members[number])

    def seat(self, numbers: Sequence[int]) -> list[int]:
        """Give groups registers, those of the code where they can stay; returns the groups that find none."""
        moving = []
        for number in numbers:
            if 0 in self._shifts(number) and self._is_free(number, 0):
                self._change(number, 0)
            else:
                moving.append(number)
        return [number for number in sorted(moving, key=self.difficulty) if not self.settle(number)]

    def confined_beside(self, number: int) -> set[int]:
        """The groups that must be in the base set and are live where a group is."""
        points = 0
        for value in self.groups.members[number]:
            points |= self.points[value]
        held = itertools.chain.from_iterable(own.items() for taken in self.taken for own in taken.values())
        found = {self.groups.group[value] for value, others in held if others & points}
        return {other for other in found if self.is_confined(other)}

    def difficulty(self, number: int) -> tuple[int, int, int]:
        """Large groups first, then long ones."""
        own = self.groups.members[number]
        return -len({self.groups.register[v] for v in own}), -sum(self.points[v].bit_count() for v in own), number

    def settle(self, number: int) -> bool:
        """Find registers for a group that has none; False, and nothing changes, if there are none."""
        self.tries = self.most_tries
        return any(self._settle(number, frozenset(), depth) for depth in range(DEPTH + 1))

    def _settle(self, number: int, settled: frozenset[int], depth: int) -> bool:
        """The same, where at most ``depth`` groups after each other make room, and ``settled`` ones do not."""
        for shift in self._shifts(number):
            if depth > 0 and self.tries <= 0:
                return False
            if self._is_free(number, shift):
                self._change(number, shift)
                return True
            self.tries -= 1
            if self.tries > 0 and depth > 0 and self._displace(number, shift, settled, depth):
                return True
        return False

    def _displace(self, number: int, shift: int, settled: frozenset[int], depth: int) -> bool:
        """Give a group the registers of others, which get new ones; False, and nothing changes, if one finds none."""
        others, before = self._in_the_way(number, shift), len(self.changes)
        if not others.isdisjoint(settled):
            return False
        for other in others:
            self._change(other, None)
        self._change(number, shift)
        settled |= {number}
        for other in sorted(others, key=self.difficulty):
            if not self._settle(other, settled, depth - 1):
                self._undo(before)
                return False
            settled |= {other}
        return True

    def _change(self, number: int, shift: int | None) -> None:
        """Give a group registers, or take them away."""
        self.changes.append((number, self.shift[number]))
        self._put(number, shift)

    def _undo(self, until: int) -> None:
        while len(self.changes) > until:
            self._put(*self.changes.pop())

    def _put(self, number: int, shift: int | None) -> None:
        before, self.shift[number] = self.shift[number], shift
        for value in self.groups.members[number]:
            own, points = self.groups.register[value], self.points[value]
            if before is not None:
                held = self.taken[own + before][own]
                del held[value]
                self.busy[own + before][own] = functools.reduce(operator.or_, held.values(), 0)
            if shift is not None:
                self.taken[own + shift][own][value] = points
                self.busy[own + shift][own] = self.busy[own + shift].get(own, 0) | points

    def _shifts(self, number: int) -> range:
        """The shifts that a group may have, the lowest registers first."""
        own, step = self.groups.members[number], self.groups.alignment[number]
        registers = self.groups.register
        room = min((self.base if self.confined >> v & 1 else self.registers) - registers[v] for v in own)
        return range(-(min(registers[v] for v in own) // step) * step, room, step)

    def _is_free(self, number: int, shift: int) -> bool:
        """Whether no group is in the way."""
        for value in self.groups.members[number]:
            own, points = self.groups.register[value], self.points[value]
            for other, held in self.busy[own + shift].items():
                if held & points and other != own:
                    return False
        return True

    def _in_the_way(self, number: int, shift: int) -> set[int]:
        """The groups that hold these registers at some point at which the group is live.

        Values that share a register in the code may share any: under guards, points at which both are live can be lanes
        of one and lanes of the other.
        """
        groups: set[int] = set()
        for value in self.groups.members[number]:
            own, points = self.groups.register[value], self.points[value]
            for other, held in self.taken[own + shift].items():
                if other != own and self.busy[own + shift][other] & points:
                    groups.update(self.groups.group[v] for v, one in held.items() if one & points)
        return groups
