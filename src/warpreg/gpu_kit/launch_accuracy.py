"""Cycles of the workloads' launches on a machine of the timing core, beside what a GPU measured.

The GPU's cycles are those of the clocks in its kernels, where the file has them.  Without, they are the time between
events times the clock of the SMs, less that of an empty launch before which the GPU was idle as before a cold one; in a
sequence it was not, so nothing is subtracted.  By events, only launches count that take `MAX_COST` times as long as an
empty one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any, Literal

from warpreg.evaluation.runs.run import CompileChoice, find_workload, run_workload
from warpreg.gpu import Machine
from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.simt import Record
from warpreg.timing import simulate

MAX_COST = 10
Caches = Literal["cold", "in sequence"]
"""What a launch finds in the second-level cache: nothing, or what the launch before it has left."""
RECORD = Record(path=True, addresses=True)


@dataclass(frozen=True, slots=True)
class ComparedLaunches:
    """Cycles of so many launches of a workload, on the GPU, ``by`` clocks or events, and on the machine."""

    workload: str
    launches: int
    by: str
    measured: float
    simulated: float

    @property
    def error(self) -> float:
        """Relative."""
        return abs(self.simulated - self.measured) / self.measured


def compare_launches(
    measurements: Mapping[str, Any],
    machine: Machine,
    size: str,
    names: Sequence[str] = (),
    caches: Caches = "cold",
    begun: Callable[[str], None] = lambda name: None,
) -> Iterator[ComparedLaunches]:
    """A row for each workload of a file of measurements that has launches to compare, or for those with these
    ``names``.

    The workloads run here in the same machine code, on a machine with the reuse cache.  Raises UnknownNameError for a
    size or workload that the file lacks, `VendorToolMissingError` without the ``cuda`` extra.
    """
    measured = measurements["workloads"].get(size)
    if measured is None:
        raise UnknownNameError("size among the measurements", size, measurements["workloads"])
    for name in names:
        if name not in measured:
            raise UnknownNameError("workload among the measurements", name, measured)
    for name in names or measured:
        by, cycles = cycles_of(measured[name], caches, empty_ms(measurements))
        if any(one is not None for one in cycles):
            begun(name)
            yield _compared(name, size, by, cycles, machine, measurements["code"]["architecture"], caches)


def cycles_of(one: Mapping[str, Any], caches: Caches, least_ms: float) -> tuple[str, list[float | None]]:
    """How a workload's launches were measured, and the cycles of each; None for one that says too little.

    A sequence says too little if one of its launches does.
    """
    launches = one.get("sequence" if caches == "in sequence" else "launches") or []
    clocks, events = ("cycles", "ms") if caches == "in sequence" else ("cold_cycles", "cold_ms")
    if launches and all(launch.get(clocks) is not None for launch in launches):
        return "clocks", [launch[clocks] for launch in launches]
    thousands = 1000 * mean(one["clock_mhz"]) if launches else 0.0
    less = 0.0 if caches == "in sequence" else least_ms
    found = [
        thousands * (launch[events] - less) if launch[events] >= MAX_COST * least_ms else None for launch in launches
    ]
    is_short = caches == "in sequence" and None in found
    return "events", [None] * len(found) if is_short else found


def empty_ms(found: Mapping[str, Any]) -> float:
    """Milliseconds between events around an empty launch."""
    return float(found["micro"].get("memory", {}).get("launch_ms", 0.0))


def _compared(
    name: str, size: str, by: str, cycles: Sequence[float | None], machine: Machine, architecture: str, caches: Caches
) -> ComparedLaunches:
    run = run_workload(find_workload(name), size, choice=CompileChoice(machine_code=architecture), record=RECORD)
    if len(run.launches) != len(cycles):
        raise WarpregError(f"{name}: {len(cycles)} launches were measured, and {len(run.launches)} run here")
    chosen = {number: one for number, one in enumerate(cycles) if one is not None}
    launches = [run.launches[number] for number in chosen]
    simulated = simulate(launches, machine, designs=("reuse",), cold=caches == "cold").cycles
    return ComparedLaunches(name, len(chosen), by, sum(chosen.values()), simulated)
