"""What an SM offers to a recorded launch under a design."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warpreg.counting.block_visits import block_visits
from warpreg.designs.interface.residency import Launch as Shape
from warpreg.designs.interface.residency import Room
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.designs.loading.design import Recorded
from warpreg.designs.parts.hints.program_table import program_table
from warpreg.gpu import Machine
from warpreg.ir.kernel import Kernel
from warpreg.trace.expanded_path import expanded_path


class RecordedLaunch(Protocol):
    """One launch of a kernel, executed or read from a trace."""

    @property
    def kernel(self) -> Kernel: ...

    @property
    def grid(self) -> tuple[int, int, int]: ...

    @property
    def block(self) -> tuple[int, int, int]: ...

    @property
    def shared_bytes(self) -> int: ...

    @property
    def warp_instructions(self) -> int: ...

    @property
    def trace(self) -> Any: ...


def capacity_of(
    launch: RecordedLaunch, machine: Machine, chosen: ConfiguredDesign, registers: int | None = None
) -> Room:
    """Resources of an SM for a launch under a design; it may have room for no thread block."""
    demanded = launch.kernel.register_demand if registers is None else registers
    return capacity_for(launch, machine, chosen, demanded, Shape(threads_of(launch), launch.shared_bytes))


def capacity_for(
    launch: RecordedLaunch, machine: Machine, chosen: ConfiguredDesign, registers: int, shape: Shape
) -> Room:
    """The same with other registers per thread, and thread blocks of another shape."""
    program = program_table(launch.kernel)._replace(register_count=registers)
    return chosen.design.room(chosen.values, program, machine, shape, launch.kernel, frequencies_of(launch))


def frequencies_of(launch: RecordedLaunch) -> Recorded:
    """Computes the block frequencies of a launch."""

    def recorded(code: Kernel) -> NDArray[np.int64]:
        return block_visits([expanded_path(launch.trace, launch.kernel, code)], len(code.blocks), "compiled")

    return recorded


def threads_of(launch: RecordedLaunch) -> int:
    """Threads of a thread block."""
    x, y, z = launch.block
    return x * y * z
