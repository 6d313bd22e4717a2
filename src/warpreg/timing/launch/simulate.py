"""Cycles of recorded launches on a machine."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from piecewise_numba.options import Mode
from warpreg.counting.capacity import RecordedLaunch, capacity_of, frequencies_of, threads_of
from warpreg.counting.fitting import misfit
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.program import Program, placed
from warpreg.designs.interface.residency import Room
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.designs.loading.design import Design
from warpreg.designs.loading.fetch import banks_of, collectors_of, with_collectors
from warpreg.gpu import Machine, load
from warpreg.ir.edges import with_blocks_of
from warpreg.ir.kernel import Kernel
from warpreg.ir.work_observer import part_of
from warpreg.sass.listing import Copy
from warpreg.timing import memory
from warpreg.timing.errors import TimingError
from warpreg.timing.feed.ahead import ahead
from warpreg.timing.feed.feed import ALL_BLOCKS, ThreadBlocks
from warpreg.timing.feed.kept import SplitOptions, thread_blocks
from warpreg.timing.launch.access_counts import Visits, counts_of, plain_counts, resources_of
from warpreg.timing.launch.binding import Behaviour, EntryArguments
from warpreg.timing.launch.engine import Engine
from warpreg.timing.launch.equal_launches import first_equals
from warpreg.timing.launch.kept_launches import KeptLaunches, key_of
from warpreg.timing.launch.load_widths import with_widths
from warpreg.timing.launch.sampling import Window
from warpreg.timing.launch.threads import INSTRUCTIONS_OF_THREAD, available_threads
from warpreg.timing.memory.between_launches import SecondLevelState
from warpreg.timing.results.result import TimingResult, joined, result_of
from warpreg.timing.tracing.recorder import Records
from warpreg.trace.expanded_path import expanded_path
from warpreg.trace.widths import WidthReader, places


def simulate(
    launches: Sequence[RecordedLaunch],
    machine: Machine | str,
    *,
    designs: Sequence[Design | str] | ConfiguredDesign = (),
    registers: int | None = None,
    sms: int | None = None,
    window: Window | None = None,
    mode: Mode = "compiled",
    reach: bool = False,
    cold: bool = False,
    copies: Sequence[Copy] = (),
    threads: int | None = None,
    resume: bool = False,
    **parameters: Any,
) -> TimingResult:
    """Time launches in sequence; their paths and addresses must have been recorded.

    The second-level cache keeps its contents between launches, unless ``cold`` says that each starts with empty caches.
    Where memory keeps nothing, launches that are equal (`first_equals`) are timed once.
    ``copies`` from the host fill it before their launch.

    ``designs``: at most one per slot, by name, path or loaded; ``parameters`` are theirs, unless ``designs`` already
    has parameters.  ``registers``: occupancy for this number of registers per thread.  ``sms``: number of SMs used.
    ``window``: time only these thread blocks of each launch.  ``reach``: also say which level of memory warps waited
    for.  ``threads``: threads that step the SMs of a launch together, with the same result, where the memory model and
    the design allow it; by default, those of `available_threads`, 1 for a small launch.  ``resume``: keep
    finished launches of a long run on disk, and go on behind those that an earlier run has kept (`kept_launches`).

    Raises TimingError for a launch that does not fit an SM or was not recorded, and for a window that contains no
    thread block of any launch.
    """
    described = load(machine) if isinstance(machine, str) else machine
    if not launches:
        raise TimingError("nothing to time: no launch")
    chosen = ConfiguredDesign.of(designs, parameters)
    between = None if cold else SecondLevelState(copies)
    options = registers, sms, window, mode, reach, between, threads
    firsts: Sequence[int] = range(len(launches))
    if mode == "compiled" and (cold or described.memory.memory.model == "fixed"):
        firsts = first_equals(launches, described, chosen.design, window)
    wanted = [launches[number] for number in dict.fromkeys(firsts)]
    determining = {"registers": registers, "sms": sms, "window": window, "reach": reach, "cold": cold, "copies": copies}
    key = key_of(wanted, described, chosen, determining) if resume and mode == "compiled" else None
    kept = KeptLaunches.find(key, between, len(wanted))
    *before, total = itertools.accumulate((int(launch.warp_instructions) for launch in wanted), initial=0)
    with kept.kept_if_stopped(len(wanted)):
        for number in range(len(kept.results), len(wanted)):
            with part_of(before[number], total, "warp-instructions", f"launch {number + 1:,} of {len(wanted):,}"):
                kept.add(number, timed(wanted[number], described, chosen, *options).result)
    places = {number: place for place, number in enumerate(dict.fromkeys(firsts))}
    found = joined([kept.results[places[number]] for number in firsts])
    if window is not None and not found.warp_instructions:
        raise TimingError(f"nothing to time: no launch has {window.first + 1} thread blocks")
    return found


@dataclass(frozen=True)
class TimedLaunch:
    """One timed launch: the final state of its core and its design."""

    launch: RecordedLaunch
    machine: Machine
    chosen: ConfiguredDesign
    engine: Engine
    outside: EntryArguments
    visits: Visits
    place: Room

    @property
    def result(self) -> TimingResult:
        design, cycles = self.chosen.design, self.engine.cycles
        return result_of(
            self.machine,
            self.engine.core,
            cycles,
            memory.counters(self.outside.system),
            counts_of(design, self.chosen.values, self.outside, self.visits),
            plain_counts(self.launch.kernel, self.visits),
            resources_of(design, self.outside, cycles),
            self.outside.reach,
        )


def timed(
    launch: RecordedLaunch,
    machine: Machine,
    chosen: ConfiguredDesign,
    registers: int | None = None,
    sms: int | None = None,
    window: Window | None = None,
    mode: Mode = "compiled",
    reach: bool = False,
    between: SecondLevelState | None = None,
    threads: int | None = None,
    clocked: bool = False,
    recorder: Records | None = None,
) -> TimedLaunch:
    """Time one launch; parameters as in `simulate`.

    ``between`` is the state of the second-level cache before it, then after it; None: caches are empty.  ``clocked`` as
    in `EntryArguments`.  ``recorder`` records the launch, which then has one thread.
    """
    if launch.trace is None:
        raise TimingError(f"kernel {launch.kernel.name}: the run has no trace; record it with addresses")
    place, kernel, behaviour = _prepared(launch, machine, chosen, registers)
    machine = with_collectors(machine, behaviour.collectors)
    _check_cooperative(launch, machine, place.blocks)
    blocks_timed = math.prod(launch.grid) if window is None else min(window.count, math.prod(launch.grid))
    wanted = threads if recorder is None else 1
    count = min(sms or machine.chip.sms, _threads(wanted, launch, machine, blocks_timed, behaviour, mode))
    system = memory.for_machine(machine, sms, place.blocks * launch.shared_bytes, count)
    outside = EntryArguments(behaviour, machine, system, reach, clocked, recorder)
    end = ALL_BLOCKS if window is None else window.end
    trace: Any = expanded_path(launch.trace, launch.kernel, kernel, mode)
    recorded = with_blocks_of(launch.kernel, kernel)
    split = SplitOptions.of(machine.shared_memory, end, behaviour.lanes)
    blocks: Iterable[ThreadBlocks] = thread_blocks(trace, recorded, split)
    if behaviour.widths:
        reader = WidthReader(trace, places(launch.kernel, kernel), f"design {behaviour.name}", mode, behaviour.patterns)
        blocks = with_widths(blocks, trace, reader, mode)
    visits = Visits(kernel, launch.kernel)
    timed_blocks = visits.of(blocks if window is None else window.of(blocks))
    engine = Engine(
        kernel,
        machine,
        timed_blocks if count == 1 else ahead(timed_blocks, blocks_timed),
        outside,
        resident=place.blocks,
        block_warps=-(-threads_of(launch) // machine.sm.threads_per_warp),
        mode=mode,
        busy=blocks_timed,
        expected=launch.warp_instructions * blocks_timed / max(1, math.prod(launch.grid)),
    )
    if between is not None:
        between.begin(outside.system, mode)
    engine.run()
    if between is not None:
        between.end(outside.system)
    return TimedLaunch(launch, machine, chosen, engine, outside, visits, place)


def _threads(
    wanted: int | None, launch: RecordedLaunch, machine: Machine, blocks: int, behaviour: Behaviour, mode: Mode
) -> int:
    """Threads that step the SMs for so many thread blocks of a launch: as many as ``wanted``, or as are worth it; 1 if
    SMs meet in every cycle, and if hooks are checked.
    """
    if behaviour.in_step or behaviour.is_checked:
        return 1
    if wanted is None:
        instructions = launch.warp_instructions * blocks // max(1, math.prod(launch.grid))
        wanted = min(available_threads(), instructions // INSTRUCTIONS_OF_THREAD) if mode == "compiled" else 1
    return max(1, min(wanted, blocks))


def _check_cooperative(launch: RecordedLaunch, machine: Machine, resident: int) -> None:
    """Raise TimingError unless all thread blocks of a cooperative launch are resident at the same time."""
    blocks, most = math.prod(launch.grid), resident * machine.chip.sms
    if blocks > most and launch.kernel.is_cooperative:
        raise TimingError(
            f"kernel {launch.kernel.name}: its thread blocks wait for each other, and machine '{machine.name}' holds "
            f"{most} at once, not {blocks}"
        )


def _prepared(
    launch: RecordedLaunch, machine: Machine, chosen: ConfiguredDesign, registers: int | None
) -> tuple[Room, Kernel, Behaviour]:
    """Resources of an SM for a launch, the kernel that the design compiled, and the behaviour of the design."""
    design, values = chosen.design, chosen.values
    place = room_of(launch, machine, chosen, registers)
    recorded = frequencies_of(launch)
    kernel = design.rewrite(launch.kernel, values, place, recorded)
    program = placed(design.program(kernel, values, recorded, place), place.slots, place.schedulers)
    demanded = launch.kernel.register_demand if registers is None else registers
    _check_registers(design, kernel, program, place.residency.held, demanded)
    behaviour = Behaviour(
        program,
        design.hooks,
        design.initial_state(values, program, place, kernel, recorded),
        design.name,
        len(design.levels),
        design.declaration.main_mask,
        len(design.events),
        len(design.declaration.resources),
        design.declaration.reads_values,
        design.declaration.lanes,
        banks_of(design, values, machine),
        design.tables(values, machine),
        design.paths(values, machine),
        design.levels,
        collectors_of(design, values, machine, program),
        place.residency.held,
        design.stages(values),
        design.declaration.patterns,
    )
    return place, kernel, behaviour


def _check_registers(design: Design, kernel: Kernel, program: Program, held: int, demanded: int) -> None:
    """Operands that no hook places are where the residency has their registers: each must be there.  Raises DesignError
    for the first one that is not.

    Nothing is wrong if the user wants the residency of another number of registers, ``demanded``.
    """
    if held >= min(program.register_count, demanded):
        return
    unplaced = []
    if "plan_reads" not in design.hooks:
        unplaced.append(("plan_reads", program.source_start, program.source))
    if design.hooks.keys().isdisjoint(("plan_write", "produced")):
        unplaced.append(("plan_write", program.result_start, program.result))
    for hook, starts, registers in unplaced:
        beyond = np.flatnonzero(registers >= held)
        if beyond.size:
            pc = int(np.searchsorted(starts, beyond[0], side="right")) - 1
            instruction = next(itertools.islice(kernel.instructions(), pc, None))
            raise DesignError(
                f"{design.path}: kernel {kernel.name}, pc {pc}, '{instruction}': names register "
                f"{registers[beyond[0]]}, and residency gives a warp registers 0 to {held - 1}; {hook} must say where "
                "it is"
            )


def room_of(launch: RecordedLaunch, machine: Machine, chosen: ConfiguredDesign, registers: int | None = None) -> Room:
    """Resources of an SM for a launch under a design.  Raises TimingError if not even one thread block fits."""
    found = capacity_of(launch, machine, chosen, registers)
    if found.blocks == 0:
        raise TimingError(misfit(launch, machine, chosen, registers, found.limiter))
    return found
