"""Register-file capacity under a design: registers of each resident warp, and registers shared by warps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from warpreg.designs.errors import DesignError
from warpreg.gpu.machine import Machine
from warpreg.gpu.occupancy import Occupancy, occupancy


@dataclass(frozen=True, slots=True)
class Launch:
    """The launch parameters that determine occupancy: threads and bytes of shared memory of a thread block."""

    block_threads: int
    shared_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Residency:
    """Registers that resident warps allocate, in warp-registers (registers of a thread).

    ``registers``: private to each warp.  ``shared``: allocated in addition by each group of ``group`` warps.
    ``pool``: registers of an SM reserved for all its warps; registers left over are added to the pool.
    """

    registers: int
    shared: int = 0
    group: int = 1
    pool: int = 0

    @property
    def held(self) -> int:
        """The most registers that a warp can hold at a time: its own, its group's and those of the pool."""
        return self.registers + self.shared + self.pool

    def __post_init__(self) -> None:
        for name, least in (("registers", 0), ("shared", 0), ("group", 1), ("pool", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
                raise DesignError(f"residency: {name} expects an integer, found {value!r}")
            if value < least:
                raise DesignError(f"residency: {name} expects at least {least}, found {value}")


@dataclass(frozen=True, slots=True)
class Room:
    """Capacity of one SM for a kernel under a design: the design's residency, and the occupancy that results."""

    residency: Residency
    blocks: int
    """Most thread blocks resident at a time."""
    warps: int
    """Most warps resident at a time."""
    limiter: str
    """What prevents a further block, as in :class:`warpreg.gpu.Occupancy`, or ``"register pool"`` if the registers
    outside the pool are too few and all of them would not be.
    """
    slots: int
    """Warp slots."""
    schedulers: int
    registers: int
    """All warp-registers of the register file."""
    banks: int
    """Of the file."""
    private_banks: bool = False
    """Each scheduler has its own."""

    @property
    def occupancy(self) -> float:
        """Theoretical occupancy: resident warps as a share of the warp slots."""
        return self.warps / self.slots

    @property
    def pool(self) -> int:
        """Warp-registers of an SM that no warp or group owns at full occupancy."""
        groups = -(-self.warps // self.residency.group)
        return self.registers - self.warps * self.residency.registers - groups * self.residency.shared


def unshared(machine: Machine, registers: int) -> Residency:
    """Each warp allocates ``registers`` per thread, rounded up to the machine's allocation unit; none are shared."""
    width, unit = machine.sm.threads_per_warp, machine.register_file.allocation_unit
    return Residency(-(-(-(-registers * width // unit) * unit) // width))


def room(machine: Machine, residency: Residency, launch: Launch, registers: int) -> Room:
    """Resident blocks by the machine's occupancy rule, with registers allocated according to the residency.

    ``registers`` is the number per thread that the kernel names.  With the residency of ``unshared`` the result equals
    that of :func:`warpreg.gpu.occupancy`.  Raises OccupancyError for impossible sizes and DesignError for a pool that
    the register file cannot hold.
    """
    resident = occupancy(machine, 0, launch.shared_bytes, launch.block_threads)
    block_warps = -(-launch.block_threads // machine.sm.threads_per_warp)
    limit = _warps_by_registers(machine, residency) // block_warps
    if resident.blocks and registers > machine.register_file.registers_per_thread:
        resident = Occupancy(0, 0, "registers per thread", 0.0)
    if limit < resident.blocks or (limit == resident.blocks and resident.limiter == "shared memory"):
        without_pool = _warps_by_registers(machine, replace(residency, pool=0)) // block_warps
        limiter = "register pool" if without_pool > limit else "registers"
        resident = Occupancy(limit, limit * block_warps, limiter, limit * block_warps / machine.sm.warps)
    return Room(
        residency=residency,
        blocks=resident.blocks,
        warps=resident.warps,
        limiter=resident.limiter,
        slots=machine.sm.warps,
        schedulers=machine.schedulers.count,
        registers=machine.warp_registers,
        banks=machine.register_file.banks,
        private_banks=machine.register_file.private_banks,
    )


def _warps_by_registers(machine: Machine, residency: Residency) -> int:
    """Warps that fit in the registers outside the pool, in whole groups."""
    left = machine.warp_registers - residency.pool
    if left < 0:
        raise DesignError(f"residency: pool expects at most {machine.warp_registers}, found {residency.pool}")
    group = residency.group * residency.registers + residency.shared
    if group == 0:
        return machine.sm.warps
    warps = left // group * residency.group
    return warps - warps % machine.register_file.warp_granularity
