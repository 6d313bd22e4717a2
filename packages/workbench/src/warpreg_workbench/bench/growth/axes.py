"""``warpreg bench growth``: cost and peak memory by length of a run, by size of the kernel and by number of SMs.

Every point is measured once, in a process of its own (`point`).  A figure is the exponent e of cost ~ size^e: the slope
of a straight line through the logarithms of the largest three sizes; 1 is linear, 0 is constant.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from warpreg.evaluation.runs.provenance import code_version
from warpreg_workbench.bench.growth.point import MACHINE, Cost, Point, Step, cost_of, measured
from warpreg_workbench.bench.host import host
from warpreg_workbench.bench.probe_kernel import ITERATIONS

SEGMENTS = 4
"""Branches of the kernel where its size is not what grows: about 80 instructions."""

BLOCKS = 80
"""Thread blocks where their number is not what grows: one for each SM of the timed machine."""

FITTED = 3
"""Sizes, the largest, that an exponent is fitted to."""

LENGTHS = {
    "tiny": (10**5, 10**6),
    "small": (10**5, 10**6, 10**7, 10**8),
    "full": (10**5, 10**6, 10**7, 10**8, 10**9),
}
"""Warp-instructions of a run."""

KERNELS = {"tiny": (0, 4), "small": (0, 4, 50, 500), "full": (0, 4, 50, 500)}
"""Branches of a kernel: 10 to 10,000 static instructions."""

SMS = {"tiny": (1, 2), "small": (1, 4, 20, 80), "full": (1, 2, 5, 10, 20, 40, 80)}

MEDIUM = {"tiny": 10**5, "small": 10**6, "full": 10**7}
"""Warp-instructions of a run where its length is not what grows."""

TIMING: Step = "timing"
CONTENTION: Step = "timing, contention"
STEPS_OF_KERNEL: tuple[Step, ...] = "compile", "placement", "run", "replay", TIMING
STEPS_OF_LENGTH: tuple[Step, ...] = "run", "run, widths", "replay", TIMING
STEPS = (*STEPS_OF_KERNEL, "run, widths", CONTENTION)
SAMPLED = 8
"""Iterations that tell the length of an iteration: the branches are random."""

Begin = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class GrowthPoint:
    """One point on an axis; ``size`` is what grows."""

    axis: str
    step: Step
    size: int
    cost: Cost

    def as_dict(self) -> dict[str, Any]:
        """A row: seconds of processor time, peak MB (10^6 bytes) of the process, recorded MB."""
        cost = self.cost
        return {
            "axis": self.axis,
            "step": self.step,
            "size": self.size,
            "warp_instructions": cost.warp_instructions,
            "static_instructions": cost.static_instructions,
            "seconds": cost.seconds,
            "ns_per_instruction": cost.ns_per_instruction,
            "peak_mb": cost.peak_bytes / 1e6,
            "recorded_mb": cost.recorded_bytes / 1e6,
        }


def growth(size: str = "small", begin: Begin = lambda what: None) -> dict[str, Any]:
    """The exponents by axis and step, and a row per point; ``begin`` is called with the next one.  Size ``full``
    reaches 10^9 warp-instructions and takes half an hour.
    """
    measurements = []
    with tempfile.TemporaryDirectory(prefix="warpreg-bench-") as cache:
        begin("compiling")
        for step in STEPS:
            measured(Point(step, SEGMENTS, 1, 1), cache)
        for axis, point in points(size):
            begin(f"{point.step} by {axis}")
            cost = measured(point, cache)
            measurements.append(GrowthPoint(axis, point.step, _size(axis, point, cost), cost))
    return {
        "exponents": exponents(measurements),
        "machine": host() | {"code": code_version(), "size": size, "timed": MACHINE},
        "points": [one.as_dict() for one in measurements],
    }


def exponents(found: Sequence[GrowthPoint]) -> list[dict[str, Any]]:
    """A row per axis and step: the exponents of seconds and of peak memory, over its `FITTED` largest sizes."""
    rows = []
    for axis, step in dict.fromkeys((one.axis, one.step) for one in found):
        largest = [one for one in found if (one.axis, one.step) == (axis, step)][-FITTED:]
        sizes = [one.size for one in largest]
        rows.append(
            {
                "axis": axis,
                "step": step,
                "seconds_exponent": exponent(sizes, [one.cost.seconds for one in largest]),
                "peak_exponent": exponent(sizes, [one.cost.peak_bytes for one in largest]),
            }
        )
    return rows


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float | None:
    """The slope of log(cost) over log(size), by least squares; None if a cost is zero."""
    if min(costs) <= 0:
        return None
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def points(size: str) -> Iterator[tuple[str, Point]]:
    """Every point with its axis; those that compile come first, as no kernel is compiled twice."""
    for step in STEPS_OF_KERNEL:
        for segments in KERNELS[size]:
            yield "static instructions", _long(step, segments, MEDIUM[size])
    for step in STEPS_OF_LENGTH:
        for length in LENGTHS[size]:
            yield "loop iterations", _long(step, SEGMENTS, length)
    for step in (*STEPS_OF_LENGTH, CONTENTION):
        for length in LENGTHS[size]:
            yield "thread blocks", _wide(step, length)
    for step in (TIMING, CONTENTION):
        for sms in SMS[size]:
            yield "SMs", replace(_long(step, SEGMENTS, MEDIUM[size]), sms=sms)


def _long(step: Step, segments: int, length: int) -> Point:
    """A run of about ``length`` warp-instructions in `BLOCKS` thread blocks."""
    once, more = (_warp_instructions(segments, iterations) for iterations in (1, 1 + SAMPLED))
    wanted = length / BLOCKS - once
    return Point(step, segments, max(2, 1 + round(wanted * SAMPLED / (more - once))), BLOCKS)


def _wide(step: Step, length: int) -> Point:
    """A run of about ``length`` warp-instructions in thread blocks of `ITERATIONS` iterations."""
    return Point(step, SEGMENTS, ITERATIONS, max(1, round(length / _warp_instructions(SEGMENTS, ITERATIONS))))


@functools.cache
def _warp_instructions(segments: int, iterations: int) -> int:
    """Warp-instructions of one thread block."""
    return cost_of(Point("run", segments, iterations, 1)).warp_instructions


def _size(axis: str, point: Point, cost: Cost) -> int:
    """What grows along the axis."""
    sizes = {"static instructions": cost.static_instructions, "SMs": point.sms or 0}
    return sizes.get(axis, cost.warp_instructions)
