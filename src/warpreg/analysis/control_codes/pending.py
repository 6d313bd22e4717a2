"""What is under way at a point of the code: results that are not written yet, and sources that are not read yet.

Of all paths to a point, the state has the worst case: the fewest cycles since an access was issued, and only those
counters that every path incremented.  So what it calls done is done on every path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from warpreg.analysis.control_codes.timing import TimedInstruction
from warpreg.ir.control_code import COUNTERS, ControlCode
from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.operands import Immediate, Register, Special

SEEN_AFTER = 2
"""Cycles from an instruction that increments a counter to one that sees it: it is incremented the cycle after issue
(Huerta et al., MICRO 2025, section 4)."""

LONGEST_STALL = 11
"""Longer stalls hold the warp only with yield; without it, for one or two cycles (Huerta et al., section 4)."""

MOST = 63
"""The largest value of a counter."""


class Key(NamedTuple):
    """An access of an instruction that is under way: by pc, and whether it is a write."""

    pc: int
    is_write: bool


class Release(NamedTuple):
    """A counter that says when an access is done: cycles ``since`` it was incremented, and how many instructions of the
    same queue incremented it ``later``."""

    counter: int
    since: int
    later: int = 0


class PendingAccess(NamedTuple):
    """An access under way: ``cycles`` since it was issued; its guard, as long as the predicate is the same."""

    cycles: int
    guard: Guard | None
    releases: tuple[Release, ...]

    def after(self, cycles: int, limit: int) -> PendingAccess:
        """The same some cycles later; counts stop at ``limit``."""
        releases = tuple(r._replace(since=min(r.since + cycles, SEEN_AFTER)) for r in self.releases)
        return PendingAccess(min(self.cycles + cycles, limit), self.guard, releases)

    def joined(self, other: PendingAccess) -> PendingAccess:
        """The worst case of two paths."""
        others = {r.counter: r for r in other.releases}
        releases = tuple(
            Release(r.counter, min(r.since, others[r.counter].since), min(r.later, others[r.counter].later))
            for r in self.releases
            if r.counter in others
        )
        guard = self.guard if self.guard == other.guard else None
        return PendingAccess(min(self.cycles, other.cycles), guard, releases)

    def excludes(self, guard: Guard | None) -> bool:
        """Whether no lane does both."""
        return opposite(self.guard, guard)


def opposite(one: Guard | None, other: Guard | None) -> bool:
    """Whether guards of the same value of a predicate exclude each other."""
    return one is not None and other is not None and one.register == other.register and one != other


State = dict[str, dict[Key, PendingAccess]]
"""By cell, the accesses under way."""


def joined(one: State, other: State) -> State:
    """The worst case of two paths."""
    result = {cell: dict(pending) for cell, pending in one.items()}
    for cell, pending in other.items():
        mine = result.setdefault(cell, {})
        for key, value in pending.items():
            mine[key] = mine[key].joined(value) if key in mine else value
    return result


def issue_distance(control: ControlCode) -> int:
    """Cycles from an instruction to the next one of the warp, at least."""
    if control.stall > LONGEST_STALL and not control.yields:
        return 1
    return max(1, control.stall)


def waits_of(instruction: Instruction, control: ControlCode) -> dict[int, int]:
    """The counters that an instruction waits for, and the value that each must have at most: 0 by the wait mask; as
    ``DEPBAR.LE SB5, 0x2, {4,3}`` names them."""
    waits = {number: 0 for number in range(COUNTERS) if control.waits >> number & 1}
    if instruction.traits.awaits_counter:
        counter, count, more = instruction.sources
        waits[_counter(counter)] = count.value if isinstance(count, Immediate) else 0
        if isinstance(more, Special):
            waits |= {int(number): 0 for number in more.name.strip("{}").split(",")}
    return waits


def _counter(operand: object) -> int:
    assert isinstance(operand, Special)
    return int(operand.name.removeprefix("SB"))


def own_releases(control: ControlCode, *, is_write: bool) -> tuple[Release, ...]:
    """The counters that an instruction itself increments: its result is written when ``write`` is decremented; its
    sources are read when ``read`` is, and before ``write`` is."""
    counters = {control.write} if is_write else {control.write, control.read}
    return tuple(Release(counter, 0) for counter in sorted(c for c in counters if c is not None))


def younger(
    pending: PendingAccess, key: Key, older: TimedInstruction, timed: TimedInstruction, control: ControlCode
) -> PendingAccess:
    """An access after another instruction of the same queue has been issued: what that one's counters say holds for the
    access too, since a queue is in order.  An instruction whose guard holds in no lane takes its turn as well: ptxas
    relies on it."""
    if not in_order(older, timed, "results" if key.is_write else "reads"):
        return pending
    known = {release.counter: release for release in pending.releases}
    for new in own_releases(control, is_write=key.is_write):
        old = known.get(new.counter)
        known[new.counter] = new if old is None else old._replace(later=min(old.later + 1, MOST))
    return pending._replace(releases=tuple(known[counter] for counter in sorted(known)))


def in_order(one: TimedInstruction, other: TimedInstruction, queue: str) -> bool:
    """Whether two instructions go through one queue, ``reads`` or ``results``, in the order of issue."""
    if one.timing.order is None or other.timing.order is None:
        return False
    name = getattr(one.timing.order, queue)
    return bool(name) and name == getattr(other.timing.order, queue)


def without_predicate(state: State, predicate: Register) -> State:
    """Guards that name a predicate no longer hold once it is written."""
    return {
        cell: {
            key: value._replace(guard=None) if value.guard and value.guard.register == predicate else value
            for key, value in pending.items()
        }
        for cell, pending in state.items()
    }


def accesses_of(state: Mapping[str, Mapping[Key, PendingAccess]]) -> Iterator[tuple[str, Key, PendingAccess]]:
    """Cell, key and access of all that is under way."""
    for cell, pending in state.items():
        for key, value in pending.items():
            yield cell, key, value
