"""Error message of a run that ends with loads that ``load_lookup`` holds and no hook completes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from warpreg.ir.kernel import Kernel
from warpreg.timing.core.columns import blocks, machine, ops, sms, warps
from warpreg.timing.core.rows import number_of, sm_rows
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, SmRow
from warpreg.timing.core.whole_columns import warps_of
from warpreg.timing.launch.deadlock import TOLD, NoProgressError, at, one_warp


@dataclass(frozen=True, slots=True)
class HeldLoad:
    """A held load: its warp as hooks see it, the warp's thread block and index in it, its pc and its number."""

    warp: int
    block: int
    index: int
    pc: int
    load: int


def held_loads(core: Core) -> list[HeldLoad]:
    """The held loads of a run, by SM in the order of issue."""
    return [held for sm in sm_rows(int(core.machine[machine.SMS])) for held in sorted(_of_sm(core, sm), key=_load)]


def _of_sm(core: Core, sm: SmRow) -> Iterator[HeldLoad]:
    slots = warps_of(core)
    for held in range(sms.HELD_LISTS):
        op = core.table[sm, sms.HELD + held]
        while op != NONE:
            warp = number_of(core, core.rows[op, ops.WARP])
            own = slots[warps.BLOCK][warp]
            oldest = int(np.min(slots[warps.AGE][slots[warps.BLOCK] == own]))
            index = int(slots[warps.AGE][warp]) - oldest
            pc, load = int(core.rows[op, ops.PC]), int(core.rows[op, ops.SEQUENCE])
            yield HeldLoad(int(warp), int(core.rows[own, blocks.INDEX]), index, pc, load)
            op = core.rows[op, ops.NEXT]


def _load(held: HeldLoad) -> int:
    return held.load


def never_completed(kernel: Kernel, design: str, cycle: int, held: Sequence[HeldLoad]) -> NoProgressError:
    """The error of a run that cannot continue in ``cycle`` because nobody completes these loads."""
    told = [f"{one_warp(one)} at pc {one.pc} {at(kernel, one.pc)}, load {one.load}" for one in held[:TOLD]]
    more = f"; and {len(held) - TOLD} more" if len(held) > TOLD else ""
    return NoProgressError(
        f"kernel {kernel.name}, design {design}: no warp can go on after cycle {cycle}: load_lookup holds loads that "
        f"no hook completes: {'; '.join(told)}{more}"
    )
