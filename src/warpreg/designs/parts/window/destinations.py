"""Where a result is needed: in the collector, in the register file, in both or in neither (thesis, section 3.4.2).

The compiler follows a result along every order in which the warp may execute the instructions after it (`warp_flow`),
not only along the paths of one thread, as long as some lane may read the value.  The result is *reused* if some
instruction reads its register while it is in the window, and *persistent* if some instruction may read the value after
it has left.  The classes of the thesis (Figure 3.7) are:

=============  ======  ==========
class          reused  persistent
=============  ======  ==========
register file  no      yes
both           yes     yes
collector      yes     no
neither        no      no
=============  ======  ==========

The thesis does not name the last one: a result that nothing reads is written nowhere.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface.program import Program
from warpreg.designs.parts.window.window import Window, WindowView
from warpreg.ir.kernel import Kernel


class Destination(IntEnum):
    """The two bits of the thesis: 1 enables the write of the collector, 2 that of the register file."""

    NEITHER = 0
    COLLECTOR = 1
    FILE = 2
    BOTH = 3


class Needs(NamedTuple):
    """Bit sets at a point, by the distance d of the next instruction from a register's last touch.

    ``reused`` [d - 1]: registers that some instruction reads while they are in the window.  ``persistent`` [d - 1]:
    values that some instruction reads later.  The last element is for what has left the window.
    """

    reused: tuple[int, ...]
    persistent: tuple[int, ...]


def destinations(kernel: Kernel, program: Program, window: Window) -> NDArray[np.uint8]:
    """The `Destination` of every result; for a window of 1 instruction all results go to the register file."""
    if window.length == 1:
        return np.full(program.result.size, Destination.FILE, np.uint8)
    view = WindowView(kernel, program)
    classes = np.zeros(program.result.size, np.uint8)
    for pc, after in enumerate(needs_after(view, window)):
        for (row, register, _), value in zip(view.results(pc), view.written_values(pc), strict=True):
            reused, persistent = after.reused[0] >> register & 1, after.persistent[0] >> value & 1
            classes[row] = Destination.COLLECTOR * reused | Destination.FILE * persistent
    return classes


def needs_after(view: WindowView, window: Window) -> list[Needs]:
    """What is needed of a register that each instruction has just touched: a backward analysis."""
    nothing = Needs((0,) * (window.reach + 1), (0,) * (window.reach + 1))
    blocks = len(view.kernel.blocks)
    at_start = [nothing] * blocks
    after = [nothing] * len(view.pcs)
    waiting = set(range(blocks))
    while waiting:
        block = max(waiting)
        waiting.discard(block)
        needs = nothing
        for successor in view.successors[block]:
            needs = _union(needs, at_start[successor])
        for pc in reversed(view.block_pcs(block)):
            needs = Needs(needs.reused, tuple(bits & view.needed_values[pc] for bits in needs.persistent))
            after[pc] = needs
            needs = _before(view, window, pc, needs)
        if needs != at_start[block]:
            at_start[block] = needs
            waiting.update(view.predecessors[block])
    return after


def _union(one: Needs, other: Needs) -> Needs:
    return Needs(
        tuple(a | b for a, b in zip(one.reused, other.reused, strict=True)),
        tuple(a | b for a, b in zip(one.persistent, other.persistent, strict=True)),
    )


def _before(view: WindowView, window: Window, pc: int, after: Needs) -> Needs:
    """The needs before an instruction."""
    reads, kept = view.reads[pc], ~view.kills[pc]
    kept_values = ~view.values_of(view.kills[pc])
    reused, persistent = [], []
    for distance in range(1, window.reach + 1):
        touched = reads if window.extended else 0
        if distance < window.length:
            touched |= view.merges[pc]
        reused.append(reads | kept & (touched & after.reused[0] | ~touched & after.reused[distance]))
        touched = view.values_of(touched)
        persistent.append(kept_values & (touched & after.persistent[0] | ~touched & after.persistent[distance]))
    return Needs((*reused, 0), (*persistent, view.read_values[pc] | kept_values & after.persistent[-1]))
