"""Counters of a trace over time, by SM: resident warps, registers, quantities of the design, and power."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.evaluation.runs.event_energy import EventEnergy
from warpreg.timing import CAUSES
from warpreg.timing.launch.tracing import TraceOfRun
from warpreg.timing.tracing.event_rows import Kind

MAX_BINS = 4096
"""Values of the power of an SM: in a longer window, each is the mean of several cycles."""


@dataclass(frozen=True)
class Counter:
    """``values``: cycles from which on it has a value, and the value; it changes with each."""

    sm: int
    name: str
    unit: str
    values: Sequence[tuple[int, float]]


def counters(trace: TraceOfRun, spent: EventEnergy) -> Iterator[Counter]:
    """The counters of each SM."""
    resources = trace.chosen.design.declaration.resources
    for sm in range(trace.result.sms):
        own = trace.events["sm"] == sm
        events = trace.events[own]
        resident = _resident(events)
        yield Counter(sm, "resident warps", "warps", _summed(trace, resident, 1))
        registers = np.array([launch.registers for launch in trace.launches])[resident["launch"]]
        yield Counter(sm, "allocated registers", "warp-registers", _summed(trace, resident, registers))
        for index, name in enumerate(resources):
            chosen = events[(events["kind"] == Kind.RESOURCE) & (events["unit"] == index)]
            yield Counter(sm, name, "", _summed(trace, chosen, chosen["value"]))
        yield Counter(sm, "power", "pJ/cycle", _power(trace, events["cycle"], spent.of_event[own], spent.by_cycle))


def _resident(events: NDArray[Any]) -> NDArray[Any]:
    """The spans in which slots hold a warp."""
    found: NDArray[Any] = events[(events["kind"] == Kind.STATE) & (events["unit"] != CAUSES.index("empty"))]
    return found


def _summed(trace: TraceOfRun, spans: NDArray[Any], amounts: NDArray[Any] | int) -> list[tuple[int, float]]:
    """The sum of the amounts of the spans that hold in a cycle, where it changes."""
    change = np.zeros(trace.end - trace.begin + 1)
    np.add.at(change, spans["cycle"] - trace.begin, amounts)
    np.subtract.at(change, spans["cycle"] + spans["cycles"] - trace.begin, amounts)
    return _changes(np.cumsum(change[:-1]), trace.begin, 1)


def _power(
    trace: TraceOfRun, cycles: NDArray[Any], spent: NDArray[np.float64], always: float
) -> list[tuple[int, float]]:
    """Mean pJ of a cycle, by bins of equal width; the last one may be narrower."""
    length = trace.end - trace.begin
    width = -(-length // MAX_BINS)
    count = -(-length // width)
    of_bin = np.bincount((cycles - trace.begin) // width, spent, count)
    widths = np.full(count, width)
    widths[-1] = length - width * (count - 1)
    return [*_changes(of_bin / widths + always, trace.begin, width), (trace.end, 0.0)]


def _changes(values: NDArray[np.float64], first: int, width: int) -> list[tuple[int, float]]:
    """The first value and those that differ from the one before."""
    places = np.flatnonzero(np.diff(values, prepend=np.nan) != 0)
    return [(first + width * place, float(values[place])) for place in places.tolist()]
