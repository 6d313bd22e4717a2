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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from warpreg import gpu, simt, timing
from warpreg.designs import load
from warpreg.designs.loading.chosen import Chosen
from warpreg.evaluation.runs.demand import fitting_demand
from warpreg.evaluation.runs.hardware import Use
from warpreg.evaluation.runs.run import CompileChoice, Run, find_workload, run_workload
from warpreg.evaluation.runs.sampling import INSTRUCTIONS_ON_ALL, window_on_all
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.gpu import Machine
from warpreg.replay import Counts
from warpreg.simt import Launch

ENOUGH = simt.Record(path=True, addresses=True)
OFF_CHIP = ("memory", "memory queue")
"""Causes of the stall account: a warp waits for data from memory, or for a memory system that accepts nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The sample on all SMs: ``cycles`` of each; ``counts`` and ``resources`` of all, the latter summed over cycles;
    ``stalled`` and ``resident``: cycles of warps that waited for memory, and of all warps.
    """

    cycles: int
    sms: int
    warp_instructions: int
    counts: Counts
    resources: Mapping[str, int]
    stalled: int
    resident: int

    @property
    def use(self) -> Use:
        """What the sample used, for prices."""
        return Use(self.counts.events, self.cycles, self.sms, self.resources)


@dataclass(frozen=True, slots=True)
class Timed:
    """The measure of a design."""

    machine: str
    variant: Variant

    def __call__(self, run: Run) -> Sample:
        machine = gpu.load(self.machine)
        design = load(self.variant.design)
        chosen = Chosen(design, design.configure(**dict(self.variant.values)))
        found = timing.joined(
            [
                timing.simulate([launch], machine, designs=chosen, window=window)
                for launch, window in sample(fitting(run, machine), machine)
            ]
        )
        stalls = found.stall_account
        return Sample(
            cycles=found.cycles,
            sms=machine.chip.sms,
            warp_instructions=found.warp_instructions,
            counts=found.counts,
            resources=found.resources,
            stalled=sum(stalls.get(cause, 0) for cause in OFF_CHIP),
            resident=sum(count for cause, count in stalls.items() if cause != "empty"),
        )


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
