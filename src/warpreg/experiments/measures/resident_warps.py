"""Warps that an SM holds during a run: what the blocks of each launch fill, weighted by its instructions."""

from __future__ import annotations

import math
from dataclasses import dataclass

from warpreg import gpu
from warpreg.experiments.runs.residency import residency
from warpreg.experiments.runs.run import Run
from warpreg.gpu import Machine
from warpreg.simt import Launch


@dataclass(frozen=True, slots=True)
class ResidentWarps:
    """The measure with the plain register file: mean warps of an SM; 0 if nothing ran."""

    machine: str

    def __call__(self, run: Run) -> float:
        machine = gpu.load(self.machine)
        ran = [(resident(launch, machine), int(launch.warp_instructions)) for launch in run.launches]
        whole = sum(instructions for _, instructions in ran)
        return sum(warps * instructions for warps, instructions in ran) / whole if whole else 0.0


def resident(launch: Launch, machine: Machine) -> float:
    """Warps of an SM, mean over the SMs: as many blocks as fit, or the SM's share of a grid that is smaller."""
    fits = residency(launch, machine)
    share = math.prod(launch.grid) / machine.chip.sms
    return fits.warps if share >= fits.blocks else fits.warps / fits.blocks * share
