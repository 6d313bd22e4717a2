"""Bandwidth between SMs and DRAM: amount moved and maximum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpreg.gpu import Machine
from warpreg.timing.memory.build import SECTOR_BYTES
from warpreg.timing.memory.layout import TICKS


@dataclass(frozen=True, slots=True)
class BandwidthUse:
    """``amount`` moved by a part of the memory system, and the ``most`` that it can move per cycle."""

    amount: float
    most: float

    def __add__(self, other: BandwidthUse) -> BandwidthUse:
        return BandwidthUse(self.amount + other.amount, self.most)

    def use(self, cycles: int) -> float:
        """The amount moved divided by the maximum."""
        return self.amount / (self.most * max(1, cycles))


def moved(machine: Machine, sms: int, transactions: int, counters: Mapping[str, int]) -> dict[str, BandwidthUse]:
    """Use by part: ``load-store``, transactions of all SMs (at most one per cycle each); ``port`` (fixed model), busy
    cycles of the ports of the SMs; ``dram`` (other models), bytes on the buses of all channels.

    ``counters`` are those of the memory system.
    """
    by_part = {"load-store": BandwidthUse(transactions, sms)}
    dram = machine.memory.dram
    if machine.memory.memory.model == "fixed":
        by_part["port"] = BandwidthUse(counters["port_ticks"] / TICKS, sms)
    elif dram is not None:
        bytes_per_cycle = dram.channels * dram.bytes_per_clock * dram.clock_mhz / machine.chip.clock_mhz
        by_part["dram"] = BandwidthUse(
            SECTOR_BYTES * (counters["dram_reads"] + counters["dram_writes"]), bytes_per_cycle
        )
    return by_part
