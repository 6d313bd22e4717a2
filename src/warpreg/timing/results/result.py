"""Result of a timing run: cycles, IPC, stall account, use of resources."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.recipe import read_only
from warpreg.counting.counts import Counts, together
from warpreg.gpu import Machine
from warpreg.gpu.pipes import CTRL, PIPES
from warpreg.timing.core.columns import causes, clock, machine, sms, warps
from warpreg.timing.core.counters import NAMES, Counters
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import array_of
from warpreg.timing.core.whole_columns import accounts_of, sms_of, warps_of
from warpreg.timing.results.bandwidth import BandwidthUse, moved

CAUSES = tuple(causes.NAMES)
"""Causes of the stall account, in the order of docs/reference/timing.md; every cycle of a warp slot has exactly one."""
MACHINES = 16
"""Shapes of machines whose accounts are kept."""
LEVELS = ("SM", "L2", "DRAM")
"""What answers an access to memory, in the order of `warpreg.timing.memory.heap`."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TimingResult(Counters):
    """Result of the launches of one kernel on one machine, or of several kernels in sequence."""

    machine: str
    """Name of the machine."""
    sms: int
    """SMs that were simulated."""
    slots: int
    """Warp slots of an SM."""
    cycles: int
    """Cycles of the SM clock, from the start to the end of the last thread block."""
    issued: NDArray[np.int64]
    """int64[SMs]: warp-instructions."""
    stalls: NDArray[np.int64]
    """int64[SMs x schedulers, causes]: the stall account, in slot-cycles."""
    memory_cycles: NDArray[np.int64]
    """int64[warp slots of all SMs]: cycles in which the warps of a slot waited for memory."""
    collectors: int
    """Collectors of all SMs."""
    dispatched: Mapping[str, int]
    """By pipe: warp-instructions."""
    units: Mapping[str, int]
    """By pipe: units of an SM."""
    memory: Mapping[str, int]
    """Counters of the memory system."""
    moved: Mapping[str, BandwidthUse]
    """By part of the memory system: its use (`warpreg.timing.results.bandwidth.moved`)."""
    counts: Counts
    """Accesses of the design."""
    plain: Counts
    """Accesses of the plain MRF on the same path."""
    resources: Mapping[str, int]
    """Quantities of the design over time, summed over cycles and SMs."""
    waited: NDArray[np.int64] | None = None
    """int64[3]: cycles in which warps waited for memory inside the SM, for the second level and for DRAM, summed over
    all warps; None if the run was not asked.
    """

    @property
    def ipc(self) -> float:
        """Warp-instructions per cycle of all SMs together."""
        return self.warp_instructions / self.cycles if self.cycles else 0.0

    @property
    def kernel_instructions(self) -> int:
        """Warp-instructions without those that the design has added to the kernel."""
        return self.warp_instructions - self.counts.added_warp_instructions

    @property
    def ipc_of_kernel(self) -> float:
        """These per cycle of all SMs together."""
        return self.kernel_instructions / self.cycles if self.cycles else 0.0

    @property
    def ipc_per_sm(self) -> float:
        """Warp-instructions per cycle and SM, mean of all SMs."""
        return self.ipc / self.sms

    @property
    def ipc_by_sm(self) -> NDArray[np.float64]:
        """Warp-instructions per cycle of each SM."""
        return self.issued / max(1, self.cycles)

    @property
    def stall_account(self) -> dict[str, int]:
        """Slot-cycles by cause over all SMs; their sum is cycles x slots x SMs."""
        return dict(zip(CAUSES, self.stalls.sum(axis=0).tolist(), strict=True))

    @property
    def occupancy(self) -> float:
        """Mean share of warp slots that hold a warp, over all SMs and cycles."""
        total = self.stalls.sum()
        return float(1 - self.stalls[:, causes.EMPTY].sum() / total) if total else 0.0

    @property
    def collector_occupancy(self) -> float:
        """Mean share of collectors that hold an instruction; 0 without collectors."""
        held = self.collect_cycles + self.collect_cycles_memory
        return held / (self.collectors * max(1, self.cycles)) if self.collectors else 0.0

    @property
    def bandwidth_use(self) -> dict[str, float]:
        """Bandwidth use by part of the memory system (`warpreg.timing.results.bandwidth.moved`)."""
        return {part: one.use(self.cycles) for part, one in self.moved.items()}

    @property
    def load_latency(self) -> float:
        """Mean cycles of loads and atomics that access memory, from entering the load-store queue to their data."""
        return self.memory_load_cycles / self.memory_loads if self.memory_loads else 0.0

    @property
    def design_memory(self) -> dict[str, Any] | None:
        """Registers that the design fetched from memory and sent there, by the level that answered, and the mean
        cycles of a fetch; None if there were none.
        """
        reads = self.design_reads_sm, self.design_reads_l2, self.design_reads_dram
        writes = self.design_writes_sm, self.design_writes_l2, self.design_writes_dram
        if not any((*reads, *writes)):
            return None
        return {
            "reads": dict(zip(LEVELS, reads, strict=True)),
            "writes": dict(zip(LEVELS, writes, strict=True)),
            "read_latency": self.design_read_cycles / max(1, sum(reads)),
        }

    @property
    def memory_stall_share(self) -> NDArray[np.float64]:
        """By warp slot of all SMs: the share of cycles in which its warps waited for memory."""
        return self.memory_cycles / max(1, self.cycles)

    @property
    def memory_stall_shares(self) -> dict[str, float] | None:
        """`memory_stall_share`, mean of all slots, by the level of memory that ended the waits; None if not asked."""
        if self.waited is None:
            return None
        slot_cycles = max(1, self.cycles * self.sms * self.slots)
        return dict(zip(LEVELS, (self.waited / slot_cycles).tolist(), strict=True))

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {
            "machine": self.machine,
            "sms": self.sms,
            "cycles": self.cycles,
            "warp_instructions": self.warp_instructions,
            "ipc": self.ipc,
            **({"ipc_of_kernel": self.ipc_of_kernel} if self.counts.added_instructions else {}),
            "ipc_per_sm": self.ipc_per_sm,
            "ipc_by_sm": self.ipc_by_sm.tolist(),
            "occupancy": self.occupancy,
            "stalls": self.stall_account,
            "memory_stall_share": float(self.memory_stall_share.mean()),
            **({"memory_stall_shares": shares} if (shares := self.memory_stall_shares) else {}),
            "memory_stall_share_by_slot": self.memory_stall_share.reshape(self.sms, self.slots).mean(axis=0).tolist(),
            "bank_conflicts": self.bank_conflicts,
            "write_conflicts": self.write_conflicts,
            "shared_reads": {"same instruction": self.shared_reads, "other instructions": self.shared_across},
            "collector": {
                "occupancy": self.collector_occupancy,
                "memory": {"instructions": self.collected_memory, "cycles": self.collect_cycles_memory},
                "others": {"instructions": self.collected, "cycles": self.collect_cycles},
            },
            "transactions": self.transactions,
            "load_latency": self.load_latency,
            **({"design_memory": found} if (found := self.design_memory) else {}),
            "dispatched": dict(self.dispatched),
            "unit_use": self.unit_use,
            "bandwidth_use": self.bandwidth_use,
            "memory": dict(self.memory),
            "counts": self.counts.as_dict(),
            "resources": dict(self.resources),
        }

    @property
    def unit_use(self) -> dict[str, float]:
        """By pipe: instructions dispatched per unit and cycle."""
        cycles = max(1, self.cycles)
        return {name: self.dispatched[name] / (count * self.sms * cycles) for name, count in self.units.items()}


def result_of(
    gpu: Machine,
    core: Core,
    cycles: int,
    counters: Mapping[str, int],
    counts: Counts,
    plain: Counts,
    resources: Mapping[str, int],
    reach: bool = False,
) -> TimingResult:
    """Result of a run of ``cycles`` from the arrays of the core; ``counters`` are those of the memory system.

    ``reach``: whether the core kept which level of memory warps waited for.
    """
    m = core.machine
    sm_count, schedulers, slots = int(m[machine.SMS]), int(m[machine.SCHEDULERS]), int(m[machine.SLOTS])
    own = warps_of(core)
    stalls = accounts_of(core).rows[:, : causes.COUNT].copy()
    accounts = _accounts(sm_count, schedulers, slots)
    np.add.at(stalls.reshape(-1), accounts + own[warps.CAUSE], cycles - own[warps.SINCE])
    counted = array_of(core.clock)[clock.FIRST_COUNTER : clock.AFTER_COUNTERS].tolist()
    sent = array_of(core.clock)[clock.DESIGN_READS_SM : clock.DESIGN_READ_CYCLES].tolist()
    return TimingResult(
        machine=gpu.name,
        sms=sm_count,
        slots=slots,
        cycles=cycles,
        issued=sms_of(core)[sms.SEQ].copy(),
        stalls=stalls,
        memory_cycles=own[warps.MEMORY_CYCLES].copy(),
        collectors=sm_count
        * sum(one.collectors * (schedulers if one.private else 1) for one in gpu.collectors.values()),
        dispatched={name: int(core.clock[clock.DISPATCHED + i]) for i, name in enumerate(PIPES)},
        units={
            name: pipe.units * (schedulers if pipe.private else 1)
            for name, pipe in gpu.pipes.items()
            if name != PIPES[CTRL]
        },
        memory=dict(counters),
        moved=moved(gpu, sm_count, int(core.clock[clock.TRANSACTIONS]) + sum(sent), counters),
        counts=counts,
        plain=plain,
        resources=dict(resources),
        waited=array_of(core.clock)[clock.WAITED :][: len(LEVELS)].copy() if reach else None,
        **dict(zip(NAMES, counted, strict=True)),
    )


@functools.lru_cache(MACHINES)
def _accounts(sm_count: int, schedulers: int, slots: int) -> NDArray[np.int64]:
    """Where the stall account of the scheduler of each warp slot begins, in the accounts of all SMs; read-only."""
    slot = np.arange(sm_count * slots)
    return read_only((slot // slots * schedulers + slot % slots % schedulers) * causes.COUNT)


def joined(results: Sequence[TimingResult]) -> TimingResult:
    """Join the results of launches in sequence on the same machine."""
    first = results[0]
    if len(results) == 1:
        return first

    def total(name: str) -> Any:
        return sum((getattr(one, name) for one in results[1:]), getattr(first, name))

    def totals(name: str) -> dict[str, Any]:
        rest = results[1:]
        return {key: sum((getattr(one, name)[key] for one in rest), own) for key, own in getattr(first, name).items()}

    summed = ("cycles", "issued", "stalls", "memory_cycles", *NAMES)
    return TimingResult(
        machine=first.machine,
        sms=first.sms,
        slots=first.slots,
        units=first.units,
        collectors=first.collectors,
        dispatched=totals("dispatched"),
        memory=totals("memory"),
        moved=totals("moved"),
        counts=functools.reduce(together, (one.counts for one in results)),
        plain=functools.reduce(together, (one.plain for one in results)),
        resources=totals("resources"),
        waited=None if first.waited is None else total("waited"),
        **{name: total(name) for name in summed},
    )
