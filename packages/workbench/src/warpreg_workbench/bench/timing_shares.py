"""What a timing run costs in units that do not depend on the host, and how it is divided.

- A loop that follows pointers through a megabyte takes a time for each load that a host cannot hide.  The timing core
  is such a chain of loads, so its time for an instruction in units of this loop compares hosts.
- The share of the memory model: cycles of the processor in its functions divided by those of the whole core.
- The speed of two threads relative to one, in turns, so that a host that becomes slower meanwhile does not count.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.recipe import compiled
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.demand import demand_on
from warpreg.evaluation.runs.run import Run
from warpreg.gpu import Machine
from warpreg.simt.launch.launch import Launch
from warpreg.timing import Window, simulate
from warpreg.timing.core.team_words import processor_cycles
from warpreg.timing.launch.simulate import timed
from warpreg.timing.memory.clocked import cycles_of_no_calls
from warpreg.timing.memory.memory_columns import scalars

LINES, LINE_WORDS = 1 << 14, 8
LOADS = 4_000_000
REPEATS = 3
SECONDS_OF_TURNS = 0.5
CALLS = 1_000_000


def chase(following: NDArray[np.int64], loads: int) -> int:
    """Follow pointers so many times; in the numba subset of Python."""
    at = 0
    for _ in range(loads):
        at = following[at]
    return at


def circle() -> NDArray[np.int64]:
    """Pointers from line to line, in random order, through all of them."""
    order = np.random.default_rng(0).permutation(LINES) * LINE_WORDS
    following = np.zeros(LINES * LINE_WORDS, np.int64)
    following[order] = np.roll(order, -1)
    return following


def chase_ns() -> float:
    """Processor nanoseconds of a load in the loop, the best of `REPEATS`."""
    following = circle()
    run = compiled(chase, (following, LOADS))
    return min(_seconds_of(lambda: run(following, LOADS)) for _ in range(REPEATS)) / LOADS * 1e9


def memory_share(run: Run, machine: Machine, instructions: int) -> float:
    """Share of the time in the core that the functions of the memory model take, the clock around them subtracted."""
    launch, window = largest(run, instructions)
    chosen, registers = ConfiguredDesign.of((), {}), demand_on(launch, machine)
    shares: list[float] = []
    for _ in range(1 + REPEATS):
        result = timed(launch, machine, chosen, registers, window=window, threads=1, clocked=True)
        system = result.outside.system
        spent, calls = int(system.scalars[scalars.SPENT]), int(system.scalars[scalars.CALLS])
        clock = compiled(cycles_of_no_calls, (system, CALLS))
        own = calls * int(clock(system, CALLS)) / CALLS
        whole = result.engine.seconds * cycles_per_second() - own
        shares.append((spent - own) / whole)
    return statistics.median(shares[1:])


def cycles_per_second() -> float:
    """The frequency of the processor's cycle counter."""
    count = compiled(read_counter, (0,))
    first, begin = int(count(0)), time.perf_counter()
    time.sleep(0.02)
    cycles = int(count(0)) - first
    return cycles / (time.perf_counter() - begin)


def read_counter(unused: int) -> int:
    """The cycle counter; in the numba subset of Python."""
    return processor_cycles()


def threads_speedup(run: Run, machine: Machine, instructions: int) -> float:
    """Seconds of a launch with one thread divided by those with two, the best turn of each: at least `REPEATS`, more of
    a short launch, whose first turns are slower than later ones (docs/explanation/performance.md).
    """
    launch, window = largest(run, instructions)
    registers = demand_on(launch, machine)

    def seconds(threads: int) -> float:
        begin = time.perf_counter()
        simulate([launch], machine, window=window, registers=registers, threads=threads)
        return time.perf_counter() - begin

    first = seconds(1) + seconds(2)
    count = max(REPEATS, math.ceil(SECONDS_OF_TURNS / first))
    turns = [(seconds(1), seconds(2)) for _ in range(count)]
    return min(one for one, _ in turns) / min(two for _, two in turns)


def largest(run: Run, instructions: int) -> tuple[Launch, Window]:
    """The launch with the most warp-instructions, and its first thread blocks with about so many."""
    launch = max(run.launches, key=lambda one: one.warp_instructions)
    blocks = math.prod(launch.grid)
    return launch, Window(min(blocks, math.ceil(blocks * instructions / launch.warp_instructions)))


def _seconds_of(call: Callable[[], object]) -> float:
    begin = time.process_time()
    call()
    return time.process_time() - begin
