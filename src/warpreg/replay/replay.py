"""Access counts of a design over a recorded path, without cycles."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.options import Mode
from warpreg.counting.added_code import NO_FIT, Fit, added_by_block, fit_of
from warpreg.counting.block_visits import block_visits
from warpreg.counting.counts import Counts, add_unplanned, added_code, table_events
from warpreg.counting.distinct_warps import expanded
from warpreg.counting.errors import ReplayError
from warpreg.designs.interface.own_memory import traffic_events
from warpreg.designs.interface.paths import path_rows
from warpreg.designs.interface.plan import MAX_REQUESTS
from warpreg.designs.interface.program import Program, lengths, placed
from warpreg.designs.loading.design import Design
from warpreg.designs.loading.fetch import banks_of
from warpreg.designs.loading.loader import load
from warpreg.designs.parts.hints.long_latency import after_stops
from warpreg.gpu.machine import Machine
from warpreg.ir.kernel import Kernel
from warpreg.ir.work_observer import Work, reached
from warpreg.replay.static_counts import walk_static
from warpreg.replay.walker import Behaviour, Counters, PathWalker, ScheduleWalker, Widths
from warpreg.trace.path import RecordedPath
from warpreg.trace.schedule import Schedule, digest_of

Suspend = Literal["never", "static", "barriers"]
"""Suspensions of a replay without a schedule: none; one at every instruction that may have to wait for a long-latency
result; or there and after every barrier and fence, at which warps leave the active set too.
"""

OF_WARPS = ("warp_start", "warp_end")
"""Hooks that belong to no block of the program."""


def replay(
    trace: RecordedPath,
    kernel: Kernel,
    design: Design | str,
    *,
    schedule: Schedule | None = None,
    suspend: Suspend = "never",
    mode: Mode = "compiled",
    machine: Machine | None = None,
    **parameters: Any,
) -> Counts:
    """Count the accesses of ``design`` on the path that ``trace`` recorded of ``kernel`` (architected registers).

    Every instruction of a visited block counts as issued, also under a guard or a partial mask.  With the ``schedule``
    of a timing run, warps follow its order and leave the active set as recorded.  Without one they are replayed one by
    one, and ``suspend`` selects where they leave the active set.  A design whose banks or added
    hardware depend on the ``machine`` needs one, and so do slices of the machine's own banks.

    Raises DesignError, UnknownNameError or ParameterError for a wrong design or parameter, TraceError for a schedule of
    another run, and ReplayError for a path of another kernel or a design that needs a schedule.
    """
    runs = [(trace, schedule)]
    return replay_launches(runs, kernel, design, suspend=suspend, mode=mode, machine=machine, **parameters)


def replay_launches(
    launches: Iterable[tuple[RecordedPath, Schedule | None]],
    kernel: Kernel,
    design: Design | str,
    *,
    suspend: Suspend = "never",
    mode: Mode = "compiled",
    machine: Machine | None = None,
    **parameters: Any,
) -> Counts:
    """Sum of the counts of several launches of one kernel.  Either all have a schedule, of one machine, or none has."""
    chosen = load(design) if isinstance(design, str) else design
    values = chosen.configure(**parameters)
    runs = list(launches)

    def recorded(code: Kernel) -> NDArray[np.int64]:
        return block_visits([expanded(path, kernel, code, mode) for path, _ in runs], len(code.blocks), mode)

    code = chosen.rewrite(kernel, values, recorded=recorded)
    paths = [expanded(path, kernel, code, mode) for path, _ in runs]
    program = chosen.program(code, values, recorded)
    if suspend == "barriers":
        program = program._replace(suspends=np.maximum(program.suspends, after_stops(code)))
    scheduled = [(path, schedule) for path, schedule in runs if schedule is not None]
    if scheduled:
        slots = scheduled[0][1].slots
        program = placed(program, slots.warps, slots.schedulers)
    slices = banks_of(chosen, values, machine).slices
    tables = chosen.tables(values, machine)
    rows = path_rows(chosen.paths(values, machine), chosen.levels, chosen.declaration.main)
    queue = MAX_REQUESTS if "transferred" in chosen.hooks else 0
    sizes = len(chosen.levels), len(chosen.events), max(tables, default=-1) + 1
    counters = Counters(program, *sizes, rows, queue)
    state = chosen.initial_state(values, program, kernel=code, recorded=recorded)
    declared = chosen.declaration
    widths = Widths(kernel, code, declared.patterns) if declared.reads_values else None
    main = chosen.declaration.main_mask
    behaviour = Behaviour(program, chosen.hooks, state, chosen.name, mode, widths, slices, main)
    if chosen.declaration.order == "static" and chosen.hooks.keys().isdisjoint(OF_WARPS):
        walk_static(paths, behaviour, counters, code)
    elif not scheduled:
        _walk_paths(paths, chosen, behaviour, counters, suspend)
    elif len(scheduled) < len(runs):
        raise ReplayError(f"{kernel.name}: {len(runs) - len(scheduled)} of {len(runs)} launches have no schedule")
    else:
        _walk_schedules(scheduled, paths, (kernel, code), chosen, behaviour, counters)
    behaviour.check(counters, code)
    add_unplanned(counters.accesses, counters.visits, program, chosen.hooks.keys())
    added, added_warp_instructions = added_code(kernel, code, counters.visits)
    return Counts(
        design=chosen.name,
        parameters=dataclasses.asdict(values),
        structures=chosen.structures(values),
        accesses=counters.accesses,
        moves=counters.moves,
        events=dict(zip(chosen.events, counters.events.tolist(), strict=True))
        | table_events(tables, counters.tables, ("lookups", "updates"))
        | traffic_events(chosen.hooks, counters.traffic),
        warp_instructions=warp_instructions(counters, program),
        spared=counters.spared,
        slices=slices,
        added_instructions=added,
        added_warp_instructions=added_warp_instructions,
        main=chosen.declaration.main,
    )


def warp_instructions(counters: Counters, program: Program) -> int:
    """Warp-instructions issued in the walk."""
    return int(counters.visits @ lengths(program.first_pc))


def _walk_paths(
    paths: Sequence[RecordedPath], design: Design, behaviour: Behaviour, counters: Counters, suspend: Suspend
) -> None:
    order = design.declaration.order
    if order not in ("static", "warp"):
        raise ReplayError(f"{design.name}: depends on the order of warps ({order}), so it needs a recorded schedule")
    walker = PathWalker(behaviour, counters, suspends=suspend != "never")
    for number, path in enumerate(paths):
        reached(Work(number, len(paths), "launches"))
        walker.walk(path)


def _walk_schedules(
    launches: Sequence[tuple[RecordedPath, Schedule]],
    expanded_paths: Sequence[RecordedPath],
    kernels: tuple[Kernel, Kernel],
    design: Design,
    behaviour: Behaviour,
    counters: Counters,
) -> None:
    """``kernels``: as recorded, and as the design has made it."""
    kernel, slots = kernels[0], launches[0][1].slots
    walker = ScheduleWalker(behaviour, counters, slots, _fit([schedule for _, schedule in launches], *kernels))
    for number, ((path, schedule), expanded_path) in enumerate(zip(launches, expanded_paths, strict=True)):
        reached(Work(number, len(launches), "launches"))
        schedule.check(kernel, path)
        if design.declaration.order == "sm" and schedule.order != "sm":
            raise ReplayError(
                f"{schedule.name}: {design.name} needs the order of an SM, the schedule keeps a scheduler's"
            )
        if schedule.slots != slots:
            raise ReplayError(f"{schedule.name}: the schedule is of another machine: {schedule.slots}, not {slots}")
        walker.walk(expanded_path, schedule)


def _fit(schedules: Sequence[Schedule], kernel: Kernel, code: Kernel) -> Fit:
    """Which instructions of the ``code`` the schedules do not know.  Raises ReplayError for schedules of other code."""
    ran = {schedule.code for schedule in schedules}
    if ran == {None}:
        return fit_of(kernel, code) if added_by_block(kernel, code).any() else NO_FIT
    if ran != {digest_of(code)}:
        raise ReplayError(
            f"{schedules[0].name}: the schedule is of code to which another design has added instructions; record one "
            "without it"
        )
    return NO_FIT
