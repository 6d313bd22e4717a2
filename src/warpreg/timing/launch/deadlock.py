"""Error message of a run in which all remaining warps wait for tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from warpreg.ir.kernel import Kernel
from warpreg.timing.errors import TimingError

TOLD = 8
"""Lines of a message, and parts of a list of warps; there may be hundreds, and most wait for the same token."""


class NoProgressError(TimingError):
    """A design makes all warps wait; the message has a line for each token and instruction that warps wait at: the
    warps, the instruction, the token and its owner.
    """


@dataclass(frozen=True, slots=True)
class WaitingWarp:
    """A waiting warp: its index as hooks see it, its thread block and index in it, next pc, token, and the owner of the
    token (-1: none, or not stated by the design).
    """

    warp: int
    block: int
    index: int
    pc: int
    token: int
    owner: int


def no_progress(
    kernel: Kernel, design: str, cycle: int, waiting: Sequence[WaitingWarp], at_barriers: int = 0
) -> NoProgressError:
    """The error of a run that cannot continue in ``cycle``; ``at_barriers``: warps that wait for others there."""
    groups: dict[tuple[int, int, int], list[WaitingWarp]] = {}
    for one in waiting:
        groups.setdefault((one.token, one.owner, one.pc), []).append(one)
    lines = [
        f"kernel {kernel.name}, design {design}: no warp can go on after cycle {cycle}",
        *(_line(kernel, group) for group in list(groups.values())[:TOLD]),
    ]
    if len(groups) > TOLD:
        rest = sum(map(len, list(groups.values())[TOLD:]))
        lines.append(f"  and {rest} more {_plural('warp', rest)} for other tokens or at other instructions")
    if at_barriers:
        lines.append(f"  {at_barriers} {_plural('warp', at_barriers)} at barriers")
    return NoProgressError("\n".join(lines))


def endless(
    kernel: Kernel, design: str, cycle: int, heads: Sequence[tuple[int, int]], admit: str = "", refusals: int = 0
) -> TimingError:
    """The error of a run in which no instruction has issued for long: the warps with their next pcs.

    ``refusals``: how often ``admit`` has refused since the last issue.
    """
    waiting = ", ".join(f"warp {warp} at pc {pc}" for warp, pc in heads[:TOLD])
    if not refusals:
        return TimingError(f"kernel {kernel.name}: no warp can go on in cycle {cycle}: {waiting}")
    times = "once" if refusals == 1 else f"{refusals} times"
    return TimingError(
        f"kernel {kernel.name}, design {design}: no warp can go on in cycle {cycle}: {admit} has refused {times} since "
        f"the last issue: {waiting}"
    )


def _line(kernel: Kernel, group: Sequence[WaitingWarp]) -> str:
    first = group[0]
    holder = f"warp {first.owner}" if first.owner >= 0 else "nobody"
    if len(group) == 1:
        who = one_warp(first)
    else:
        blocks = sorted({one.block for one in group})
        who = f"warps {_ranges([one.warp for one in group])} (thread {_plural('block', len(blocks))} {_ranges(blocks)})"
    return f"  token {first.token}, held by {holder}: {who} at {at(kernel, first.pc)}"


class WarpPlace(Protocol):
    """A warp as hooks see it, and its place: the thread block, and the index in it."""

    @property
    def warp(self) -> int: ...

    @property
    def block(self) -> int: ...

    @property
    def index(self) -> int: ...


def one_warp(one: WarpPlace) -> str:
    """A warp as messages name it."""
    return f"warp {one.warp} (warp {one.index} of thread block {one.block})"


def at(kernel: Kernel, pc: int) -> str:
    """An instruction as messages name it."""
    instruction = list(kernel.instructions())[pc]
    return f"'{instruction}'" + (f" ({instruction.location})" if instruction.location is not None else "")


def _ranges(numbers: Sequence[int]) -> str:
    """``0 to 3, 7``"""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    told = [str(first) if first == last else f"{first} to {last}" for first, last in ranges[:TOLD]]
    return ", ".join((*told, "...") if len(ranges) > TOLD else told)


def _plural(what: str, count: int) -> str:
    return what if count == 1 else f"{what}s"
