"""Access counts of a design over a recorded path, without cycles."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.design import Design
from warpreg.designs.loader import load
from warpreg.designs.plan import READ, WRITE
from warpreg.designs.program import Program, program_table
from warpreg.ir.kernel import Kernel
from warpreg.replay.compiled import Mode
from warpreg.replay.counts import Counts
from warpreg.replay.errors import ReplayError
from warpreg.replay.walker import Walker


class RecordedPath(Protocol):
    """Anything that a path can be read from: a recorded trace, or a stand-in."""

    def path_chunks(self) -> Iterable[NDArray[np.uint32]]:
        """Chunks of path words; a record never spans two."""


def replay(
    trace: RecordedPath, kernel: Kernel, design: Design | str, *, mode: Mode = "compiled", **parameters: Any
) -> Counts:
    """What ``design`` makes of the path that ``trace`` recorded of ``kernel`` (architected registers).

    Every instruction of a visited block counts as issued, under a guard or a partial mask too.  Raises DesignError,
    UnknownNameError or ParameterError for a wrong design or parameter and ReplayError for a path that is not of this
    kernel.
    """
    chosen = load(design) if isinstance(design, str) else design
    if chosen.declaration.order != "warp":
        order = chosen.declaration.order
        raise ReplayError(f"{chosen.name}: depends on the order of warps ({order}), so it needs a recorded schedule")
    values = chosen.configure(**parameters)
    program = chosen.compile(program_table(kernel), values)
    walker = Walker(
        program,
        chosen.hooks,
        chosen.initial_state(values, program),
        levels=len(chosen.levels),
        events=len(chosen.events),
        name=chosen.name,
        mode=mode,
    )
    walker.walk(trace.path_chunks())
    _count_unplanned(walker, program, chosen)
    return Counts(
        design=chosen.name,
        parameters=dataclasses.asdict(values),
        structures=chosen.structures(values),
        accesses=walker.accesses,
        moves=walker.moves,
        events=dict(zip(chosen.events, walker.events.tolist(), strict=True)),
        warp_instructions=warp_instructions(walker, program),
    )


def warp_instructions(walker: Walker, program: Program) -> int:
    """Instructions issued on the path walked."""
    return int(walker.visits @ np.diff(program.first_pc))


def _count_unplanned(walker: Walker, program: Program, design: Design) -> None:
    """Operands that no hook plans go to the MRF; how often follows from the block visits."""
    per_pc = np.repeat(walker.visits, np.diff(program.first_pc))
    for action, hook, starts in (
        (READ, "plan_reads", program.source_start),
        (WRITE, "plan_write", program.result_start),
    ):
        if hook not in design.hooks:
            np.add.at(walker.accesses[0, action], program.datapath, per_pc * np.diff(starts))
