"""The events whose tracking verifies the destinations of results while a kernel runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.cfg import control_flow
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.program import Program
from warpreg.designs.parts.window.destinations import Destination
from warpreg.designs.parts.window.window import Window, WindowView
from warpreg.ir.kernel import Kernel
from warpreg.simt.block.window_taints import WindowEvent, WindowTaints, WindowWrite


def window_taints(kernel: Kernel, program: Program, window: Window, bits: NDArray[np.uint8]) -> WindowTaints:
    """The events of a kernel whose results go where their bits say."""
    if control_flow(kernel).predecessors[0] or not kernel.blocks[0].instructions:
        raise DesignError(f"{kernel.name}: the first block is empty or in a loop, so it cannot be checked")
    view = WindowView(kernel, program)
    return WindowTaints(
        length=window.length,
        reach=window.reach,
        extended=window.extended,
        registers=program.register_count,
        events={pc: _event(view, pc, bits) for pc in view.pcs},
    )


def _event(view: WindowView, pc: int, bits: NDArray[np.uint8]) -> WindowEvent:
    return WindowEvent(
        begins=pc == 0,
        reads=tuple(dict.fromkeys(view.sources(pc))),
        writes=tuple(
            WindowWrite(
                register,
                enters=bool(bits[row] & Destination.COLLECTOR),
                saved=bool(bits[row] & Destination.FILE),
                partial=partial,
            )
            for row, register, partial in view.results(pc)
        ),
    )
