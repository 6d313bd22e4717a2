"""Dynamic energy of recorded events: what hooks count and operands that no hook plans, in the cycle of the hook or of
the issue.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg import energy
from warpreg.counting.counts import ACTIONS, DATAPATHS, READS_PLANNED_BY, WRITES_PLANNED_BY
from warpreg.designs import Design
from warpreg.designs.interface.plan import READ, WRITE
from warpreg.energy import Access, Move, Technology
from warpreg.evaluation.runs.hardware import Use, parts
from warpreg.gpu import Machine
from warpreg.timing.launch.tracing import TracedLaunch, TraceOfRun
from warpreg.timing.tracing.event_rows import Kind


@dataclass(frozen=True, eq=False)
class EventEnergy:
    """pJ of each event, float64[events], and of logic that is always on, by SM and cycle."""

    of_event: NDArray[np.float64]
    by_cycle: float

    def total(self, trace: TraceOfRun) -> float:
        """Dynamic energy of the window in pJ."""
        cycles = (trace.end - trace.begin) * trace.result.sms
        return math.fsum(self.of_event.tolist()) + self.by_cycle * cycles


def event_energy(trace: TraceOfRun, technology: Technology) -> EventEnergy:
    """The energy of each event of a trace."""
    prices = _Prices(trace.chosen.design, trace.chosen.values, trace.machine, technology, trace.result.counts.slices)
    events = trace.events
    counted = events["kind"] == Kind.COUNTED
    used, place = np.unique(events["unit"][counted], return_inverse=True)
    energies = np.zeros(len(events))
    energies[counted] = prices.of_counters(used.tolist())[place] * events["value"][counted]
    for index, launch in enumerate(trace.launches):
        issued = (events["kind"] == Kind.ISSUE) & (events["launch"] == index)
        energies[issued] += prices.unplanned(launch)[events["pc"][issued]]
    return EventEnergy(energies, prices.by_cycle)


class _Prices:
    """The pJ of one unit of each counter of a design."""

    def __init__(self, design: Design, values: Any, machine: Machine, technology: Technology, slices: int) -> None:
        self._design, self._values, self._machine, self._technology = design, values, machine, technology
        self._slices = slices
        self._structures = design.structures(values)
        nothing = dict.fromkeys(design.declaration.resources, 0)
        self.by_cycle = self._added(Use({}, cycles=1, sms=1, resources=nothing))

    def of_counters(self, used: Sequence[int]) -> NDArray[np.float64]:
        """Those of some counters, of which a technology need not price the others."""
        counters = list(self._counters())
        return np.array([counters[one]() for one in used], np.float64)

    def unplanned(self, launch: TracedLaunch) -> NDArray[np.float64]:
        """By pc, the operands that no hook plans."""
        program = launch.program
        energies = np.zeros(len(program.datapath))
        for action, planning, starts in (
            (READ, READS_PLANNED_BY, program.source_start),
            (WRITE, WRITES_PLANNED_BY, program.result_start),
        ):
            if planning.isdisjoint(self._design.hooks):
                of_datapath = np.array(
                    [self._price(Access(self._structures[0], ACTIONS[action][1], path, 1)) for _, path in DATAPATHS]
                )
                energies += np.diff(starts) * of_datapath[program.datapath]
        return energies

    def _counters(self) -> Iterator[Callable[[], float]]:
        """The prices in the order of `warpreg.timing.tracing.buffers.counters`."""
        accesses = [
            partial(self._price, Access(structure, action, datapath, int(not structure.is_empty)))
            for structure in self._structures
            for _, action in ACTIONS
            for _, datapath in DATAPATHS
        ]
        yield from accesses
        yield from (partial(_left_out, price, self._slices) for price in accesses)
        for source in self._structures:
            for target in self._structures:
                is_empty = source.is_empty or target.is_empty
                yield partial(self._price, Move(source, target, int(not is_empty)))
        for event in self._design.events:
            yield partial(self._of_event, event)
        for table in self._design.tables(self._values, self._machine).values():
            for what in ("lookups", "updates", "conflicts"):
                yield partial(self._of_event, f"{table.name} {what}")

    def _price(self, item: Access | Move) -> float:
        return energy.account([item], self._technology).total_pj

    def _of_event(self, event: str) -> float:
        return self._added(Use({event: 1})) - self._added(Use({}))

    def _added(self, use: Use) -> float:
        built = parts(self._design, self._values, use, self._machine, self._technology)
        return math.fsum(part.dynamic_pj or 0.0 for part in built if not part.is_level)


def _left_out(price: Callable[[], float], slices: int) -> float:
    """The price of a slice that an access leaves out."""
    return -price() / slices
