"""What a timing run tells: cycles, instructions a cycle, where the cycles of every warp slot went, what was busy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.gpu.units import PIPES
from warpreg.timing import at
from warpreg.timing.at import Core

CAUSES = (
    "issued", "not selected", "fetch", "alu", "sfu", "dp", "shared", "memory", "operands", "unit", "memory queue",
    "barrier", "fence", "token", "inactive", "swap", "drain", "empty", "other",
)  # fmt: skip
"""Of the stall account, in the order of docs/timing.md; every cycle of every warp slot has exactly one."""


@dataclass(frozen=True, eq=False)
class TimingResult:
    """One kernel's launches on one machine, or several kernels' end to end.

    ``stalls`` int64[SMs x schedulers, causes] are slot-cycles; ``memory_cycles`` int64[warp slots of all SMs] those
    spent waiting for memory; ``dispatched`` by pipe. Cycles are those of the SM's clock.
    """

    machine: str
    sms: int
    slots: int
    cycles: int
    warp_instructions: int
    stalls: NDArray[np.int64]
    memory_cycles: NDArray[np.int64]
    bank_conflicts: int
    write_conflicts: int
    collected: int
    collect_cycles: int
    collected_memory: int
    collect_cycles_memory: int
    transactions: int
    dispatched: Mapping[str, int]
    units: Mapping[str, int]
    memory: Mapping[str, int]

    @property
    def ipc(self) -> float:
        """Warp-instructions a cycle of all SMs together."""
        return self.warp_instructions / self.cycles if self.cycles else 0.0

    @property
    def ipc_per_sm(self) -> float:
        """Warp-instructions a cycle of an SM."""
        return self.ipc / self.sms

    @property
    def stall_account(self) -> dict[str, int]:
        """Slot-cycles by cause, over all SMs; they add up to cycles x slots x SMs."""
        return dict(zip(CAUSES, self.stalls.sum(axis=0).tolist(), strict=True))

    @property
    def occupancy(self) -> float:
        """Mean share of warp slots that hold a warp, over all SMs and cycles."""
        total = self.stalls.sum()
        return float(1 - self.stalls[:, at.EMPTY].sum() / total) if total else 0.0

    @property
    def memory_stall_share(self) -> NDArray[np.float64]:
        """By warp slot of all SMs: the share of cycles that its warps waited for memory."""
        return self.memory_cycles / max(1, self.cycles)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {
            "machine": self.machine,
            "sms": self.sms,
            "cycles": self.cycles,
            "warp_instructions": self.warp_instructions,
            "ipc": self.ipc,
            "ipc_per_sm": self.ipc_per_sm,
            "occupancy": self.occupancy,
            "stalls": self.stall_account,
            "memory_stall_share": float(self.memory_stall_share.mean()) if self.memory_cycles.size else 0.0,
            "bank_conflicts": self.bank_conflicts,
            "write_conflicts": self.write_conflicts,
            "collector": {
                "memory": {"instructions": self.collected_memory, "cycles": self.collect_cycles_memory},
                "others": {"instructions": self.collected, "cycles": self.collect_cycles},
            },
            "transactions": self.transactions,
            "dispatched": dict(self.dispatched),
            "unit_use": self.unit_use,
            "memory": dict(self.memory),
        }

    @property
    def unit_use(self) -> dict[str, float]:
        """By pipe: instructions dispatched for each unit and cycle."""
        cycles = max(1, self.cycles)
        return {name: self.dispatched[name] / (count * self.sms * cycles) for name, count in self.units.items()}


def result_of(machine: Any, core: Core, cycles: int, counters: Mapping[str, int]) -> TimingResult:
    """What the core's arrays say at the end of a run of ``cycles``."""
    m, clock = core.machine, core.clock
    sms, schedulers = int(m[at.SMS]), int(m[at.SCHEDULERS])
    warps = core.rows[m[at.FIRST_WARP] : m[at.FIRST_SCHEDULER]]
    first = int(m[at.FIRST_SCHEDULER] + m[at.TO_ACCOUNT])
    stalls = core.rows[first : first + sms * schedulers, : at.CAUSES].copy()
    rest = cycles - warps[:, at.SINCE]
    index = np.arange(len(warps))
    owner = index // int(m[at.SLOTS]) * schedulers + index % int(m[at.SLOTS]) % schedulers
    np.add.at(stalls, (owner, warps[:, at.CAUSE]), rest)
    return TimingResult(
        machine=machine.name,
        sms=sms,
        slots=int(m[at.SLOTS]),
        cycles=cycles,
        warp_instructions=int(clock[at.INSTRUCTIONS]),
        stalls=stalls,
        memory_cycles=warps[:, at.MEMORY_CYCLES].copy(),
        bank_conflicts=int(clock[at.BANK_WAITS]),
        write_conflicts=int(clock[at.WRITE_WAITS]),
        collected=int(clock[at.COLLECTED]),
        collect_cycles=int(clock[at.COLLECT_CYCLES]),
        collected_memory=int(clock[at.COLLECTED_MEMORY]),
        collect_cycles_memory=int(clock[at.COLLECT_CYCLES_MEMORY]),
        transactions=int(clock[at.TRANSACTIONS]),
        dispatched={name: int(clock[at.DISPATCHED + i]) for i, name in enumerate(PIPES)},
        units={
            name: pipe.units * (schedulers if pipe.private else 1)
            for name, pipe in machine.pipes.items()
            if name != "ctrl"
        },
        memory=dict(counters),
    )


def joined(results: Sequence[TimingResult]) -> TimingResult:
    """Launches one after the other as one result; all on the same machine."""
    first = results[0]

    def total(name: str) -> Any:
        return sum((getattr(one, name) for one in results[1:]), getattr(first, name))

    def totals(name: str) -> dict[str, int]:
        return {key: sum(getattr(one, name)[key] for one in results) for key in getattr(first, name)}

    summed = (
        "cycles", "warp_instructions", "stalls", "memory_cycles", "bank_conflicts", "write_conflicts", "collected",
        "collect_cycles", "collected_memory", "collect_cycles_memory", "transactions",
    )  # fmt: skip
    return TimingResult(
        machine=first.machine,
        sms=first.sms,
        slots=first.slots,
        units=first.units,
        dispatched=totals("dispatched"),
        memory=totals("memory"),
        **{name: total(name) for name in summed},
    )
