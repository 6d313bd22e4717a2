"""Time a launch and record its schedule, for designs whose replay depends on the order of warps."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.options import Mode
from warpreg.counting.capacity import RecordedLaunch
from warpreg.designs import Design
from warpreg.designs import load as load_design
from warpreg.designs.interface.declaration import SLOTS, Slot, field_of
from warpreg.designs.loading.composition import compose, joined, parts_of
from warpreg.designs.loading.configured_design import PLAIN, ConfiguredDesign
from warpreg.gpu import Machine
from warpreg.gpu import load as load_machine
from warpreg.sass.listing import Copy
from warpreg.timing.errors import TimingError
from warpreg.timing.hooks.schedule_recorder import COUNT
from warpreg.timing.launch.simulate import TimedLaunch, timed
from warpreg.timing.memory.between_launches import SecondLevelState
from warpreg.timing.results.result import TimingResult
from warpreg.timing.results.result import joined as end_to_end
from warpreg.trace.schedule import RecordOrder, Schedule, ScheduleWriter, Slots
from warpreg.trace.schedule_order import sorted_records

RECORDER = Path(__file__).parents[1] / "hooks" / "schedule_recorder.py"
WORDS_OF_INSTRUCTION, SPARE_WORDS = 4, 1024
"""Words for each instruction, twice what demo workloads need (1.3 to 2.1); a run that needs more is timed again.  The
most would be 14: an issue, a suspension, an activation, the arrival of its results, and a start and an end if it is the
only one of its warp, each after a change of SM.
"""


class CountedLaunch(RecordedLaunch, Protocol):
    """A launch with a known number of warp-instructions."""

    @property
    def warp_instructions(self) -> int: ...


def recorded_schedule(
    launch: CountedLaunch,
    machine: Machine | str,
    *,
    designs: Sequence[Design | str] | ConfiguredDesign = (),
    registers: int | None = None,
    sms: int | None = None,
    order: RecordOrder = "scheduler",
    mode: Mode = "compiled",
    between: SecondLevelState | None = None,
    **parameters: Any,
) -> tuple[TimingResult, Schedule]:
    """The timing result of a launch, and its schedule in a temporary file (``save`` keeps it).

    ``designs``, their ``parameters``, ``registers`` and ``sms`` as in `simulate`.  ``order`` is the unit inside which
    the order of records is kept: ``sm`` for designs whose warps depend on those of other schedulers.  ``between`` as in
    `timed`.  Raises TimingError as `simulate` does.
    """
    described = load_machine(machine) if isinstance(machine, str) else machine
    words = WORDS_OF_INSTRUCTION * launch.warp_instructions + SPARE_WORDS
    chosen = ConfiguredDesign.of(designs, parameters)
    slot = free_slot(chosen)
    before = None if between is None else between.copy()
    run = timed(launch, described, recording(chosen, words, slot), registers, sms, None, mode, False, between)
    written, recorded = _recorded(run, slot)
    if recorded > words:
        run = timed(launch, described, recording(chosen, recorded, slot), registers, sms, None, mode, False, before)
        written, recorded = _recorded(run, slot)
    slots = Slots(len(run.outside.system.sms), described.sm.warps, described.schedulers.count)
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the schedule closes it
    code = run.engine.kernel if run.visits.added[0] else None
    writer = ScheduleWriter(file, slots, launch.kernel, launch.trace, order, code)
    for sm, words_of_sm in sorted_records(written[:recorded], slots.schedulers if order == "scheduler" else 1):
        writer.append_records(sm, words_of_sm)
    writer.finish({"cycles": run.engine.cycles})
    return replace(run, chosen=chosen).result, Schedule(file)


def _recorded(run: TimedLaunch, slot: Slot | None) -> tuple[NDArray[np.uint32], int]:
    """The words of a recording, and how many there are, also beyond its capacity."""
    state = getattr(run.outside.state, field_of(RECORDER.stem)) if slot else run.outside.state
    return state.words, int(state.place[COUNT])


def recorded_schedules(
    launches: Sequence[CountedLaunch],
    machine: Machine | str,
    *,
    designs: Sequence[Design | str] | ConfiguredDesign = (),
    registers: int | None = None,
    sms: int | None = None,
    mode: Mode = "compiled",
    cold: bool = False,
    copies: Sequence[Copy] = (),
    **parameters: Any,
) -> tuple[TimingResult, list[Schedule]]:
    """Time launches in sequence: the result of `simulate`, and the schedule of each launch."""
    chosen = ConfiguredDesign.of(designs, parameters)
    between = None if cold else SecondLevelState(copies)
    found = [
        recorded_schedule(one, machine, designs=chosen, registers=registers, sms=sms, mode=mode, between=between)
        for one in launches
    ]
    return end_to_end([result for result, _ in found]), [schedule for _, schedule in found]


def free_slot(chosen: ConfiguredDesign) -> Slot | None:
    """A free slot for the recorder beside a design; None if the recorder runs alone, with the plain MRF."""
    if chosen.design.name == PLAIN:
        return None
    taken = {slot for part in parts_of(chosen.design) for slot in part.declaration.slots}
    free = [slot for slot in reversed(SLOTS) if slot not in taken]
    if not free:
        raise TimingError(f"{chosen.design.name}: no schedule can be recorded under designs of all slots")
    return free[0]


def recording(chosen: ConfiguredDesign, words: int, slot: Slot | None) -> ConfiguredDesign:
    """The recorder with a capacity of ``words``, together with a design in ``slot``, or alone."""
    recorder = load_design(RECORDER)
    if slot is None:
        return ConfiguredDesign(recorder, recorder.configure(words=words))
    recorder = replace(recorder, declaration=replace(recorder.declaration, slot=slot))
    parts = parts_of(chosen.design)
    values = dataclasses.asdict(chosen.values)
    if len(parts) == 1:
        values = {joined(parts[0], name): value for name, value in values.items()}
    both = compose([*parts, recorder])
    return ConfiguredDesign(both, both.configure(**values, **{joined(recorder, "words"): words}))
