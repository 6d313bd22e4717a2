"""What is timed: launches on the whole machine, because waiting for memory depends on the other SMs.

Of each kernel the longest launches are timed, until they have `INSTRUCTIONS_ON_ALL` together; of a longer launch the
first thread blocks, as many as have so many instructions, but at least as many as the SMs hold at a time.  So a kernel
has 1 to 2 million warp-instructions; `cp` and `binomial-options` have 3.5 and 4.7 million, as long as the first thread
blocks of all SMs run, and kernels that have fewer at the size ``small`` have all of theirs.  The sample is the same for
all designs.

A kernel whose thread blocks have too many registers for an SM is compiled again with as many as fit, as its own
compiler would: a thread block of `matrix-mul` takes 1024 threads, which leaves them 16 registers each.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from dataclasses import dataclass

from warpreg import simt, timing
from warpreg.evaluation.runs.demand import fitting_demand
from warpreg.evaluation.runs.run import CompileChoice, Run, find_workload, run_workload
from warpreg.evaluation.runs.sampling import INSTRUCTIONS_ON_ALL, Piece, window_on_all
from warpreg.gpu import Machine
from warpreg.simt import Launch

ENOUGH = simt.Record(path=True, addresses=True)


@dataclass(frozen=True, slots=True)
class LongestLaunches:
    """The longest launches of each kernel on all SMs."""

    def pieces(self, run: Run, machine: Machine) -> Iterator[Piece]:
        for launch, window in sample(fitting(run, machine), machine):
            yield Piece(launch, window)


def sample(run: Run, machine: Machine) -> Iterator[tuple[Launch, timing.Window]]:
    """The timed launches of all kernels, each with its thread blocks."""
    for kernel in run.kernels:
        instructions = 0
        for launch in sorted(run.launches_of(kernel), key=lambda one: -int(one.warp_instructions)):
            if instructions < INSTRUCTIONS_ON_ALL:
                yield launch, window_on_all(launch, machine)
                instructions += int(launch.warp_instructions)


def fitting(run: Run, machine: Machine) -> Run:
    """The run, compiled again if a thread block has too many registers for an SM."""
    demands = [fitting_demand(launch, machine) for launch in run.launches]
    limits = [demand for demand in demands if demand is not None]
    return compiled_for(run, min(limits)) if limits else run


def compiled_for(run: Run, registers: int) -> Run:
    """The workload of a run, with the same options but for the registers of a thread."""
    choice = dataclasses.replace(CompileChoice.of_run(run.options), max_registers=registers)
    return _run(run.name, str(run.options["size"]), int(run.options["seed"]), choice)


@functools.lru_cache(maxsize=1)
def _run(name: str, size: str, seed: int, choice: CompileChoice) -> Run:
    return run_workload(find_workload(name), size, seed, choice, ENOUGH)
