"""Timing a launch and keeping its schedule, for designs whose replay depends on the order of warps."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Protocol

from warpreg.designs import load as load_design
from warpreg.gpu import Machine
from warpreg.gpu import load as load_machine
from warpreg.replay.compiled import Mode
from warpreg.timing import memory
from warpreg.timing.errors import TimingError
from warpreg.timing.result import TimingResult, result_of
from warpreg.timing.schedule_recorder import COUNT
from warpreg.timing.simulate import Chosen, RecordedLaunch, timed
from warpreg.trace.schedule import Schedule, ScheduleWriter, Slots

RECORDER = Path(__file__).with_name("schedule_recorder.py")
WORDS_OF_INSTRUCTION, SPARE_WORDS = 12, 1024
"""More words than an instruction takes: an issue, a suspension and an activation, a start and an end if it is the only
one of its warp, each behind a change of SM.
"""


class CountedLaunch(RecordedLaunch, Protocol):
    """A launch that knows how many warp-instructions it had."""

    @property
    def warp_instructions(self) -> int: ...


def recorded_schedule(
    launch: CountedLaunch,
    machine: Machine | str,
    *,
    registers: int | None = None,
    sms: int | None = None,
    mode: Mode = "compiled",
) -> tuple[TimingResult, Schedule]:
    """The result of timing a launch, and its schedule in a temporary file (``save`` keeps it).

    ``registers`` and ``sms`` as in `simulate`.  Raises TimingError as that does.
    """
    described = load_machine(machine) if isinstance(machine, str) else machine
    design = load_design(RECORDER)
    words = WORDS_OF_INSTRUCTION * launch.warp_instructions + SPARE_WORDS
    chosen = Chosen(design, design.configure(words=words))
    engine, outside = timed(launch, described, chosen, registers, sms, None, mode)
    recorded = int(outside.state.place[COUNT])
    if recorded > words:
        raise TimingError(f"kernel {launch.kernel.name}: its schedule takes {recorded} words, more than {words}")
    slots = Slots(len(outside.system.sms), described.sm.warps, described.schedulers.count)
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the schedule closes it
    writer = ScheduleWriter(file, slots, launch.kernel, launch.trace)
    writer.append_records(0, outside.state.words[:recorded])
    writer.finish({"cycles": engine.cycles})
    return result_of(described, engine.core, engine.cycles, memory.counters(outside.system)), Schedule(file)
