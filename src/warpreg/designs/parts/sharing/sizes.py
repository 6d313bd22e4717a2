"""How many registers form the extended set (thesis §4.3.1).

The kernel's registers are rounded up to a multiple of 4 (§4.4).  Candidates are 10, 15, 20, 25, 30 and 35% of them,
each rounded to the nearest even number, ties up: the text has lost its rounding, and this one contains the extended
sets of all sixteen rows of Table 4.1.  ``"down"`` reads "the even numbers in" literally: each is rounded down, and odd
ones are dropped.  That contains twelve rows, and eight of these print its largest number; it lacks 12 of 32 registers,
6 of 36 and 8 of 20.  Both give the worked example (24 registers: 2, 4, 6, 8).  Candidates with which fewer warps are
resident than with another one are dropped.

Among those left the text prefers the largest that lets more than half of the resident warps hold a section; its example
takes 6 although 8 does so, too, so the smallest such candidate is taken here; ``"wording"`` takes the largest.  Where
none lets half of the warps hold a section the text has no rule: the candidate with most sections is taken, the smallest
of equals.  A kernel of which no candidate makes more warps resident than the plain register file has no extended set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from warpreg.designs.interface.residency import Launch, Residency, Room, room, unshared
from warpreg.gpu.machine import Machine

GRANULE = 4
PERCENTAGES = (10, 15, 20, 25, 30, 35)
EXAMPLE, WORDING = "example", "wording"
NEAREST, DOWN = "nearest", "down"


@dataclass(frozen=True, slots=True)
class Size:
    """A division of a kernel's registers, and what an SM then holds.

    ``base`` and ``extended`` registers of a thread; ``room``: of an SM; ``sections``: those of the pool.
    """

    base: int
    extended: int
    room: Room
    sections: int


def rounded(registers: int) -> int:
    """The registers of a thread as the paper counts them."""
    return -(-registers // GRANULE) * GRANULE


def candidates(registers: int, rounding: str = NEAREST) -> tuple[int, ...]:
    """The sizes of the extended set that come into question, ascending; none if all that are rounded down are odd."""
    total = rounded(registers)
    if rounding == DOWN:
        found = {size for one in PERCENTAGES if (size := total * one // 100) % 2 == 0}
    else:
        found = {2 * ((total * one + 100) // 200) for one in PERCENTAGES}
    return tuple(sorted(found - {0}))


def sections_of(found: Room, extended: int) -> int:
    """The sections of a pool: what no warp owns, at most one for each warp slot (§4.3.2)."""
    return min(found.slots, found.pool // extended)


def sized(machine: Machine, launch: Launch, registers: int, extended: int) -> Size | None:
    """The division with a candidate.

    Base sets are not rounded: those of Table 4.1 are 8 to 38, and a warp's begins at |Bs| times its index (§4.3.2).
    None if the base set has no register, or if nothing is resident.
    """
    base = rounded(registers) - extended
    if base < 1:
        return None
    found = room(machine, Residency(base, pool=extended), launch, registers)
    return Size(base, extended, found, sections_of(found, extended)) if found.blocks else None


def chosen(
    machine: Machine,
    launch: Launch,
    registers: int,
    compiles: Callable[[Size], bool],
    tie: str = EXAMPLE,
    rounding: str = NEAREST,
) -> Size | None:
    """The division of a kernel, None without gain; ``compiles``: whether the compiler can do it (deadlock rules)."""
    plain = room(machine, unshared(machine, registers), launch, registers).warps
    all_sizes = candidates(registers, rounding)
    sizes = [one for extended in all_sizes if (one := sized(machine, launch, registers, extended))]
    gaining = [one for one in sizes if one.room.warps > plain]
    while gaining:
        most = max(one.room.warps for one in gaining)
        best = preferred([one for one in gaining if one.room.warps == most], tie)
        if compiles(best):
            return best
        gaining.remove(best)
    return None


def preferred(sizes: Iterable[Size], tie: str = EXAMPLE) -> Size:
    """The one of some sizes with equal occupancy that is taken."""
    ordered = sorted(sizes, key=lambda one: one.extended)
    half = [one for one in ordered if 2 * one.sections > one.room.warps]
    if half:
        return half[-1] if tie == WORDING else half[0]
    return max(ordered, key=lambda one: (one.sections, -one.extended))
