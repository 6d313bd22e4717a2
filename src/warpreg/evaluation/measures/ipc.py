"""Instructions per cycle of the Gebhart papers' SM under their schedulers (ISCA 2011, sections 4 and 5.2).

One SM runs a sample of the run (`warpreg.evaluation.runs.sampling`).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from warpreg import gpu
from warpreg.designs import load
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.run import Run
from warpreg.evaluation.runs.sampling import sampled
from warpreg.gpu import Machine

ALL_WARPS = 32
UNLIMITED_BYTES = 4096
"""Bytes per cycle; more than an SM can request."""


@dataclass(frozen=True, slots=True)
class Ipc:
    """The measure.  ``active`` warps (all 32: a single-level scheduler) issue by the ``inner`` policy; ``alu_cycles``
    is the ALU latency.  With ``perfect_cache`` every access has the latency of shared memory, and bandwidth is
    unlimited."""

    active: int = ALL_WARPS
    inner: str = "greedy"
    alu_cycles: int = 8
    perfect_cache: bool = False

    def __call__(self, run: Run) -> float:
        return sampled(run, self.machine()).ipc

    def machine(self) -> Machine:
        """The machine ``gebhart`` with these values."""
        machine = gpu.load("gebhart")
        pipes = {
            name: dataclasses.replace(pipe, latency=self.alu_cycles) if name == "int" else pipe
            for name, pipe in machine.pipes.items()
        }
        changed = dataclasses.replace(
            machine,
            schedulers=dataclasses.replace(machine.schedulers, active_warps=self.active, inner=self.inner),
            pipes=pipes,
        )
        return _with_perfect_cache(changed) if self.perfect_cache else changed


@dataclass(frozen=True, slots=True)
class CacheIpc:
    """IPC with the register file cache of ISCA 2011 and the stage that checks its tags (section 3.1).

    ``active`` and ``inner`` as in `Ipc`.  On this machine operands are fetched without conflicts, so the stage is all
    that the cache changes in time.
    """

    active: int = 8
    inner: str = "greedy"
    entries: int = 6

    def __call__(self, run: Run) -> float:
        design = load("rfc")
        values = design.configure(entries=self.entries, static_liveness=True, around_long_latency=True)
        return sampled(run, Ipc(self.active, self.inner).machine(), designs=ConfiguredDesign(design, values)).ipc


def _with_perfect_cache(machine: Machine) -> Machine:
    near = machine.latency.shared
    model = dataclasses.replace(machine.memory.memory, bytes_per_cycle=UNLIMITED_BYTES)
    return dataclasses.replace(
        machine,
        latency=dataclasses.replace(machine.latency, dram=near, texture=near),
        memory=dataclasses.replace(machine.memory, memory=model),
    )
