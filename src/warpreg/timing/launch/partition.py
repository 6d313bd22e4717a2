"""A part of the SMs of a machine with their share of its memory system."""

from __future__ import annotations

from dataclasses import replace

from warpreg.gpu import Machine
from warpreg.gpu.memory import LINE_BYTES
from warpreg.timing.errors import TimingError


def share_of(machine: Machine, sms: int) -> Machine:
    """The machine with ``sms`` of its SMs and the same share of its second-level cache and DRAM bandwidth.

    The number of DRAM channels, with the slices of each, is rounded.  The bandwidth and slice capacity of each are
    scaled so that their sum is the share.  Raises TimingError for more SMs than the machine has.
    """
    if not 1 <= sms <= machine.chip.sms:
        raise TimingError(
            f"machine {machine.name} has {machine.chip.sms} SMs, a sample takes 1 to so many, found {sms}"
        )
    system, chip = machine.memory, replace(machine.chip, sms=sms)
    if system.dram is None or system.l2 is None or sms == machine.chip.sms:
        return replace(machine, chip=chip)
    exact = system.dram.channels * sms / machine.chip.sms
    channels = max(1, round(exact))
    way = LINE_BYTES * system.l2.ways
    sets = max(1, round(system.l2.bytes * exact / channels / way))
    slices = system.l2.slices // system.dram.channels * channels
    dram = replace(system.dram, channels=channels, bytes_per_clock=system.dram.bytes_per_clock * exact / channels)
    return replace(
        machine, chip=chip, memory=replace(system, dram=dram, l2=replace(system.l2, slices=slices, bytes=sets * way))
    )
