"""Where results go and which values need no register, in words."""

from __future__ import annotations

from collections.abc import Mapping

from warpreg.designs.interface.program import Program
from warpreg.designs.parts.window.demand import register_demand
from warpreg.designs.parts.window.destinations import Destination
from warpreg.designs.parts.window.transient import Classes, without_register
from warpreg.designs.parts.window.window import Window, WindowView
from warpreg.ir.kernel import Kernel

WORDS = {
    Destination.NEITHER: "nowhere: nothing reads it",
    Destination.COLLECTOR: "to the BOC: read in its window only",
    Destination.FILE: "to the MRF: first read after its window",
    Destination.BOTH: "to the BOC, then to the MRF: read in its window and later",
}


def explanation(kernel: Kernel, program: Program, window: Window, classes: Classes, entries: int) -> Mapping[int, str]:
    """Per pc, the destination of each result; the first instruction also has the register demand."""
    view = WindowView(kernel, program)
    without = without_register(kernel, program, window, classes, entries)
    told: dict[int, list[str]] = {}
    for pc in view.pcs:
        for (row, register, _), number in zip(view.results(pc), view.written_values(pc), strict=True):
            free = ", needs no register" if number in without else ""
            told.setdefault(pc, []).append(f"R{register} {WORDS[Destination(classes[row])]}{free}")
    demand = f"{register_demand(kernel, without)} of {kernel.register_count} registers needed"
    return {pc: "; ".join(lines) for pc, lines in told.items()} | {0: "; ".join([*told.get(0, []), demand])}
