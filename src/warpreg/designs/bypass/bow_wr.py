"""Bypassing operand collectors that write back, with the compiler's hints (BOW-WR, thesis sections 3.4.2 and 3.4.3).

As in ``bow``, but a result does not go to the MRF at once.  The compiler sets two bits for each result: one enables the
write of the collector, the other that of the MRF.  A result that no instruction reads within its window goes to the MRF
only.  A result that is only read within its window goes to the collector only, and is dropped when it leaves.  Any
other is written to the collector, and to the MRF when it leaves, unless it has been overwritten in the window.  Without
``hints`` all results are of this last kind.

The compiler follows every order in which the warp may execute the instructions after a result: all paths, around loops,
and through the other side of a branch if lanes may wait there.  So a value that is read on both sides of a branch, or
after one, goes to the MRF, unless the read is near in any case.  A guarded result that leaves the old value in some
lanes does not end it.  ``warpreg verify --design bow-wr`` checks the bits by execution: a read of a value that has left
its window and was not written to the MRF is an error.

A collector that is full evicts the entry made first.  A value that the MRF lacks is then written there, whatever its
bits say, because it may still be read (``rescued``).  A value needs no register only if the compiler proves that this
cannot happen before its last read, for any order in which results arrive.  ``explain`` shows these values and the
register demand without them.  With ``frees_registers`` that demand determines the occupancy, and such a value is
dropped when it is evicted after its last read, because it has no register to be written to.

Where the thesis is silent, besides what ``bow`` lists:
- a result that nothing reads has no class; it is written nowhere;
- a result that arrives after its window has passed goes to the MRF if its bit says so; if not, nothing reads it;
- a result in some lanes that does not enter the collector makes the older entry of its register leave;
- an entry in which results of several instructions have met is saved if one of them is to be;
- 64-bit pairs and vectors have bits for each register.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.interface import (
    MRF,
    Declaration,
    Program,
    Residency,
    parameter,
)
from warpreg.designs.interface.checked import Checked
from warpreg.designs.interface.residency import unshared
from warpreg.designs.parts.hints.partial_results import partial_flags
from warpreg.designs.parts.storage.bypass_hooks import (
    State,
    collectors,
    empty_state,
    hardware,
    plan_reads,
    produced,
    structures,
    warp_end,
)
from warpreg.designs.parts.storage.bypass_parameters import (
    entries_parameter,
    eviction_parameter,
    extended_parameter,
    ports_parameter,
    reading_parameter,
    window_parameter,
)
from warpreg.designs.parts.storage.bypass_window import BOC, EVENTS, HOMELESS, RESOURCES, collector_entries
from warpreg.designs.parts.window.check import findings
from warpreg.designs.parts.window.demand import register_demand
from warpreg.designs.parts.window.destinations import Destination, destinations
from warpreg.designs.parts.window.explanation import explanation
from warpreg.designs.parts.window.transient import without_register
from warpreg.designs.parts.window.window import Window, WindowView
from warpreg.designs.parts.window.window_events import window_taints
from warpreg.gpu.machine import Machine
from warpreg.ir.kernel import Kernel

__all__ = ["State", "collectors", "hardware", "plan_reads", "produced", "structures", "warp_end"]

DESIGN = Declaration(
    slot="levels", levels=("MRF", "BOC"), events=EVENTS, resources=RESOURCES, source="bow §3.4.2, §3.4.3"
)


@dataclass(frozen=True)
class Parameters:
    """Parameters of the collectors and of the compiler."""

    window: int = window_parameter()
    entries: int = entries_parameter()
    hints: bool = parameter(True, source="bow §3.4.2: the compiler's bits; without them all results are written back")
    frees_registers: bool = parameter(
        False, source="bow §3.4.2: values that need no register have none; open whether the printed results use it"
    )
    extended: bool = extended_parameter()
    eviction: str = eviction_parameter()
    reading: int = reading_parameter()
    ports: int = ports_parameter()


class Hints(NamedTuple):
    """``bits`` [result]: the two bits of its destination, and HOMELESS if its value has no register."""

    bits: NDArray[np.uint8]


def window_of(parameters: Parameters) -> Window:
    """The rules of the window."""
    return Window(parameters.window, parameters.extended, parameters.eviction == "after")


def compile(program: Program, parameters: Parameters, kernel: Kernel) -> Program:
    """Fill the hint columns: partial results, and the two bits of each result."""
    bits = np.full(program.result.size, Destination.BOTH, np.uint8)
    if parameters.hints:
        bits = destinations(kernel, program, window_of(parameters))
    return program._replace(
        result_partial=partial_flags(kernel),
        result_level=np.where(bits & Destination.COLLECTOR, np.uint8(BOC), np.uint8(MRF)),
        mrf_elided=np.where(bits & Destination.FILE, np.uint8(0), np.uint8(1)),
    )


def bits_of(program: Program) -> NDArray[np.uint8]:
    """The destination of each result, from the hint columns."""
    file = np.where(program.mrf_elided, np.uint8(Destination.NEITHER), np.uint8(Destination.FILE))
    return np.where(program.result_level == BOC, file | np.uint8(Destination.COLLECTOR), file)


def checked(program: Program, parameters: Parameters, kernel: Kernel) -> Checked:
    """Verifies the bits of results by execution."""
    window, bits = window_of(parameters), bits_of(program)
    taints = window_taints(kernel, program, window, bits)
    return Checked(kernel, taints, lambda: findings(kernel, program, window, bits))


def hints(program: Program, parameters: Parameters, analysis: Analysis) -> Hints:
    """The destinations, with the values that have no register."""
    bits = bits_of(program)
    if parameters.frees_registers:
        without = freed_values(analysis.kernel, program, parameters, bits)
        bits[WindowView(analysis.kernel, program).results_of(without)] |= np.uint8(HOMELESS)
    return Hints(bits)


def freed_values(kernel: Kernel, program: Program, parameters: Parameters, bits: NDArray[np.uint8]) -> set[int]:
    """The values that need no register."""
    entries = collector_entries("bow-wr", program, parameters.window, parameters.entries)
    return without_register(kernel, program, window_of(parameters), bits, entries)


def residency(parameters: Parameters, program: Program, machine: Machine, analysis: Analysis) -> Residency:
    """With ``frees_registers``, the registers of the other values determine the occupancy."""
    if not parameters.frees_registers:
        return unshared(machine, program.register_count)
    kernel = analysis.kernel
    bits = bits_of(compile(program, parameters, kernel))
    return unshared(machine, register_demand(kernel, freed_values(kernel, program, parameters, bits)))


def init(parameters: Parameters, program: Program) -> State:
    """An empty collector for each warp.  Raises DesignError if it cannot hold the sources of an instruction."""
    return empty_state(
        "bow-wr",
        program,
        program.hints.bits,
        parameters,
        writes_back=True,
    )


def explain(program: Program, parameters: Parameters, kernel: Kernel) -> Mapping[int, str]:
    """Per pc, where its results go, and which need no register."""
    entries = collector_entries("bow-wr", program, parameters.window, parameters.entries)
    bits = bits_of(compile(program, parameters, kernel))
    return explanation(kernel, program, window_of(parameters), bits, entries)
