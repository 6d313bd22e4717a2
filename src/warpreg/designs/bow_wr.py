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
register demand without them; with ``frees_registers`` it determines the occupancy.

Where the thesis is silent, besides what ``bow`` lists:
- a result that nothing reads has no class; it is written nowhere;
- a result that arrives after its window has passed goes to the MRF if its bit says so;
- a result in some lanes that does not enter the collector makes the older entry of its register leave;
- an entry in which results of several instructions have met is saved if one of them is to be;
- 64-bit pairs and vectors have bits for each register.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.hints.partial_results import partial_flags
from warpreg.designs.interface import MRF, Declaration, Program, Structure, parameter
from warpreg.designs.interface.checked import Checked
from warpreg.designs.storage.bypass_hooks import State, arrived, collector_storage, collectors, plan_reads, plan_write
from warpreg.designs.storage.bypass_window import BOC, EVENTS, collector_entries
from warpreg.designs.window.check import findings
from warpreg.designs.window.checked import window_taints
from warpreg.designs.window.destinations import Destination, destinations
from warpreg.designs.window.explanation import explanation
from warpreg.designs.window.window import Window
from warpreg.ir.kernel import Kernel

__all__ = ["State", "arrived", "plan_reads", "plan_write"]

DESIGN = Declaration(slot="levels", levels=("MRF", "BOC"), events=EVENTS, source="bow §3.4.2, §3.4.3")


@dataclass(frozen=True)
class Parameters:
    """Parameters of the collectors and of the compiler."""

    window: int = parameter(
        3, unit="instructions", low=1, high=7, source="bow §3.3, §3.5.1: 2 to 7 studied, 3 chosen; 1 is the MRF alone"
    )
    entries: int = parameter(
        0,
        unit="registers per warp",
        low=0,
        high=64,
        source="bow §3.4.1, §3.4.3: 4 for each instruction of the window (0), or half of them (6)",
    )
    hints: bool = parameter(True, source="bow §3.4.2: the compiler's bits; without them all results are written back")
    extended: bool = parameter(True, source="bow §3.4.1: a read keeps a register, in the extended instruction window")
    eviction: str = parameter(
        "before",
        choices=("before", "after"),
        source="bow Fig 3.6, Table 3.1: the oldest instruction leaves before the lookup; §3.4.1 says after it",
    )


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


def init(parameters: Parameters, program: Program) -> State:
    """An empty collector for each warp.  Raises DesignError if it cannot hold the sources of an instruction."""
    return collectors(
        "bow-wr",
        program,
        bits_of(program),
        window=parameters.window,
        entries=parameters.entries,
        extended=parameters.extended,
        eviction=parameters.eviction,
        writes_back=True,
    )


def structures(parameters: Parameters) -> tuple[Structure, ...]:
    """Storage of each level."""
    return Structure("MRF"), collector_storage(parameters.window, parameters.entries)


def explain(program: Program, parameters: Parameters, kernel: Kernel) -> Mapping[int, str]:
    """Per pc, where its results go, and which need no register."""
    entries = collector_entries("bow-wr", program, parameters.window, parameters.entries)
    bits = bits_of(compile(program, parameters, kernel))
    return explanation(kernel, program, window_of(parameters), bits, entries)
