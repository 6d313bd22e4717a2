"""Load-only kernels on the timing core: latency against the number of SMs, and the effect of warp throttling.

The kernels are in ``loads.ptx``.  Every load is of one sector of a line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from tests.workbench.contention.machines import FOLDER

from warpreg import simt, timing
from warpreg.gpu import Machine
from warpreg.timing import TimingResult

SMS = 28
"""The number of SMs of a Titan X."""
WORDS_OF_LINE = 32
THREADS_OF_WARP = 32

LATENCY_WARPS, ROUNDS, FOOTPRINT = 32, 10, 1 << 18
"""Warps of an SM, and iterations of each; an iteration requests four random lines in 32 MB and waits for all four."""

LINES_OF_SM = 1024
"""Lines that all warps of an SM read together, independent of the number of warps."""
APART = 255
"""Minimum distance in lines between the first lines of warps, so that they start in different channels and banks."""
WARPS_OF_BLOCK = 32


@dataclass(frozen=True)
class Timed:
    """The timing of a kernel with a number of SMs, or of warps per SM; ``loads`` of all SMs."""

    load: int
    loads: int
    result: TimingResult

    @property
    def latency(self) -> float:
        """Mean cycles from a load's entry into the load-store unit to its data."""
        return self.result.load_latency

    @property
    def throughput(self) -> float:
        """Loads per cycle."""
        return self.loads / self.result.cycles


def latency_against_load(machine: Machine, sms: Iterable[int]) -> tuple[Timed, ...]:
    """Random loads by the warps of each number of SMs."""
    return tuple(_anywhere(machine, count) for count in sms)


def throttling(machine: Machine, warps: Iterable[int]) -> tuple[Timed, ...]:
    """Sequential reads by each number of warps per SM, two lines at a time; the total number of lines is constant."""
    return tuple(_rows(machine, count) for count in warps)


def _anywhere(machine: Machine, sms: int) -> Timed:
    device = _device()
    buffer = device.zeros(FOOTPRINT * WORDS_OF_LINE, np.uint32)
    blocks = sms * LATENCY_WARPS // WARPS_OF_BLOCK
    launch = device.launch("anywhere", blocks, THREADS_OF_WARP * WARPS_OF_BLOCK, buffer, FOOTPRINT - 1, ROUNDS)
    return Timed(sms, 4 * ROUNDS * LATENCY_WARPS * sms, timing.simulate([launch], machine, sms=sms))


def _rows(machine: Machine, warps: int) -> Timed:
    device = _device()
    pairs = LINES_OF_SM // warps // 2
    apart = max(APART, 2 * pairs)
    buffer = device.zeros(apart * warps * SMS * WORDS_OF_LINE, np.uint32)
    block = min(warps, WARPS_OF_BLOCK)
    launch = device.launch("rows", SMS * warps // block, THREADS_OF_WARP * block, buffer, apart, pairs)
    return Timed(warps, LINES_OF_SM * SMS, timing.simulate([launch], machine, sms=SMS))


def _device() -> simt.Device:
    text = (FOLDER / "loads.ptx").read_text(encoding="utf-8")
    return simt.Device(text, record=simt.Record(path=True, addresses=True))
