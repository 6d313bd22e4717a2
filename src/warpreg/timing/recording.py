"""Timing a launch and keeping its schedule, for designs whose replay depends on the order of warps."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from warpreg.designs import Design
from warpreg.designs import load as load_design
from warpreg.designs.composition import compose, joined, parts_of
from warpreg.designs.interface import SLOTS
from warpreg.gpu import Machine
from warpreg.gpu import load as load_machine
from warpreg.replay.compiled import Mode
from warpreg.timing.errors import TimingError
from warpreg.timing.result import TimingResult
from warpreg.timing.schedule_recorder import COUNT
from warpreg.timing.simulate import PLAIN, Chosen, RecordedLaunch, timed
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
    designs: Sequence[Design | str] = (),
    registers: int | None = None,
    sms: int | None = None,
    mode: Mode = "compiled",
    **parameters: Any,
) -> tuple[TimingResult, Schedule]:
    """The result of timing a launch, and its schedule in a temporary file (``save`` keeps it).

    ``designs``, their ``parameters``, ``registers`` and ``sms`` as in `simulate`.  Raises TimingError as that does.
    """
    described = load_machine(machine) if isinstance(machine, str) else machine
    words = WORDS_OF_INSTRUCTION * launch.warp_instructions + SPARE_WORDS
    chosen = Chosen.of(designs, parameters)
    found = timed(launch, described, recording(chosen, words), registers, sms, None, mode)
    state = found.outside.state
    place, recorded_words = (next(v for n, v in state._asdict().items() if n.endswith(w)) for w in ("place", "words"))
    recorded = int(place[COUNT])
    if recorded > words:
        raise TimingError(f"kernel {launch.kernel.name}: its schedule takes {recorded} words, more than {words}")
    slots = Slots(len(found.outside.system.sms), described.sm.warps, described.schedulers.count)
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the schedule closes it
    writer = ScheduleWriter(file, slots, launch.kernel, launch.trace)
    writer.append_records(0, recorded_words[:recorded])
    writer.finish({"cycles": found.engine.cycles})
    return replace(found, chosen=chosen).result, Schedule(file)


def recording(chosen: Chosen, words: int) -> Chosen:
    """A design together with the recorder of ``words``, which takes a slot that the design leaves free."""
    recorder = load_design(RECORDER)
    if chosen.design.name == PLAIN:
        return Chosen(recorder, recorder.configure(words=words))
    parts = parts_of(chosen.design)
    taken = {part.declaration.slot for part in parts}
    free = [slot for slot in reversed(SLOTS) if slot not in taken]
    if not free:
        raise TimingError(f"{chosen.design.name}: no schedule can be recorded under designs of all slots")
    recorder = replace(recorder, declaration=replace(recorder.declaration, slot=free[0]))
    both = compose([*parts, recorder])
    values = dataclasses.asdict(chosen.values)
    if len(parts) == 1:
        values = {joined(parts[0], name): value for name, value in values.items()}
    return Chosen(both, both.configure(**values, **{joined(recorder, "words"): words}))
