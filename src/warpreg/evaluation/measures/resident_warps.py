"""Warps that an SM holds during a run, weighted by instructions: what the blocks of each launch fill."""

from __future__ import annotations

import math
from dataclasses import dataclass

from warpreg import gpu
from warpreg.evaluation.runs.residency import residency
from warpreg.evaluation.runs.run import Run
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
    """Warps of the SM that an instruction runs on, mean over the instructions of all blocks.

    An SM holds as many blocks as fit; a smaller grid is spread evenly, and SMs without a block run nothing.
    """
    fits, blocks, sms = residency(launch, machine), math.prod(launch.grid), machine.chip.sms
    least, more = divmod(blocks, sms)
    if least >= fits.blocks:
        return fits.warps
    held = (more * (least + 1) ** 2 + (sms - more) * least**2) / blocks
    return fits.warps / fits.blocks * held
