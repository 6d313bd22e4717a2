"""Time a launch on the fast core and on the reference, which must agree in cycles, causes and counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.timing.launches import Launched
from tests.timing.machine_files import machine_of
from tests.timing.reference.machine import Sm
from tests.timing.reference.machine_file import sm_of
from tests.timing.reference.package_memory import PackageMemory
from tests.timing.vocabulary import Timed, behaviour_of, timed

from piecewise_numba.options import Mode
from warpreg.designs import Design, load
from warpreg.designs.interface.parameters import Value
from warpreg.designs.interface.state import named_leaves
from warpreg.designs.loading.fetch import with_collectors
from warpreg.gpu import Machine
from warpreg.gpu.memory import MemorySystem, Model
from warpreg.timing import memory
from warpreg.timing.core.columns import clock
from warpreg.timing.launch.access_counts import Visits, counts_of, plain_counts, resources_of
from warpreg.timing.launch.binding import Behaviour, EntryArguments
from warpreg.timing.launch.engine import Engine
from warpreg.timing.memory.between_launches import SecondLevel, put
from warpreg.timing.results.result import TimingResult, result_of
from warpreg.timing.tracing.recorder import Recorder

LINE_BYTES = 128
ROOM = 1024


@dataclass(frozen=True)
class Fast:
    """What the fast core made of a launch, in how many steps of an SM; a design counts in ``outside``."""

    result: TimingResult
    outside: EntryArguments
    steps: int
    events: NDArray[Any] | None = None


def machine_with_memory(sm: Sm, latency: int, interval: int, sms: int = 1, resident: int = 8) -> Machine:
    """A machine of which an SM has a line's worth of memory bandwidth every ``interval`` cycles."""
    machine = machine_of(sm, sms, resident)
    fixed = MemorySystem(Model("fixed", LINE_BYTES, ROOM, bytes_per_cycle=LINE_BYTES / interval))
    return replace(machine, memory=fixed, latency=replace(machine.latency, dram=latency, texture=latency))


def agreed(
    launched: Launched,
    sm: Sm,
    latency: int = 20,
    interval: int = 1,
    sms: int = 1,
    resident: int = 8,
    design: Design | None = None,
    **parameters: Value,
) -> Timed:
    """What both cores make of a launch."""
    machine = machine_with_memory(sm, latency, interval, sms, resident)
    own = replace(sm, texture_latency=latency)
    slow = timed(launched, own, PackageMemory(machine, sms), sms, resident, design, **parameters)
    compare(slow, fast(launched, machine, sms, resident, "interpreted", False, design, None, 1, None, **parameters))
    return slow


def fast(
    launched: Launched,
    machine: Machine,
    sms: int,
    resident: int,
    mode: Mode = "interpreted",
    every_cycle: bool = False,
    design: Design | None = None,
    contents: SecondLevel | None = None,
    threads: int = 1,
    recorder: Recorder | None = None,
    **parameters: Value,
) -> Fast:
    """What the fast core makes of it, with ``contents`` in the second-level cache; its events go to a ``recorder``."""
    widths = design is not None and design.declaration.reads_values
    lanes = design is not None and design.declaration.lanes
    behaviour = Behaviour(
        **vars(behaviour_of(launched.kernel, sm_of(machine), design, **parameters)),
        widths=widths,
        lanes=lanes,
    )
    machine = with_collectors(machine, behaviour.collectors)
    outside = EntryArguments(behaviour, machine, memory.for_machine(machine, sms, threads=threads), recorder=recorder)
    if contents is not None:
        put(outside.system, contents)
    visits = Visits(launched.kernel)
    engine = Engine(
        launched.kernel,
        machine,
        visits.of(launched.batches(lanes=lanes)),
        outside,
        resident=resident,
        block_warps=len(launched.blocks[0]),
        mode=mode,
        every_cycle=every_cycle,
    )
    engine.run()
    chosen = design or load("mrf")
    counts = counts_of(chosen, chosen.configure(**parameters), outside, visits)
    resources = resources_of(chosen, outside, engine.cycles)
    counters = memory.counters(outside.system)
    plain = plain_counts(launched.kernel, visits)
    result = result_of(machine, engine.core, engine.cycles, counters, counts, plain, resources)
    events = None if recorder is None else recorder.events(engine.core, engine.cycles)
    return Fast(result, outside, int(engine.core.clock[clock.STEPS_TAKEN]), events)


def compare(slow: Timed, quick: Fast) -> None:
    """Both are one model, and leave a design's state alike."""
    result, outside, counts = quick.result, quick.outside, slow.outcome.counts
    causes = {cause: cycles for cause, cycles in result.stall_account.items() if cycles}
    assert (result.cycles, causes) == (slow.cycles, {c: n for c, n in slow.stalls.counts.items() if n})
    assert result.warp_instructions == len(slow.outcome.issues)
    loads = [cycles for log in slow.outcome.logs for cycles in log.load_cycles]
    assert (result.memory_loads, result.memory_load_cycles) == (len(loads), sum(loads))
    assert (outside.moves.tolist(), outside.events.tolist()) == (counts.moves.tolist(), counts.events.tolist())
    assert outside.integrals(result.cycles) == counts.integrals(result.cycles)
    assert result.counts.accesses.reshape(-1).tolist() == counts.accesses.tolist()
    assert outside.plan.tables.tolist() == counts.tables.tolist()
    assert outside.plan.spared.tolist() == counts.spared.tolist()
    assert outside.plan.traffic.tolist() == counts.traffic.tolist()
    fetches = [cycles for log in slow.outcome.logs for cycles in log.fetches]
    reads = result.design_reads_sm + result.design_reads_l2 + result.design_reads_dram
    writes = result.design_writes_sm + result.design_writes_l2 + result.design_writes_dram
    assert (reads, result.design_read_cycles) == (len(fetches), sum(fetches))
    assert writes == sum(log.spills for log in slow.outcome.logs)
    shared = sum((log.shared for log in slow.outcome.logs), Counter())
    assert (result.shared_reads, result.shared_across) == (shared["the same"], shared["another"])
    states = (dict(named_leaves(state or ())) for state in (outside.state, slow.outcome.state))
    for (_, column), (_, expected) in zip(*(state.items() for state in states), strict=True):
        assert np.array_equal(column, expected)
