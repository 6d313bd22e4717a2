"""Time launches and record the events of a window of their cycles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from piecewise_numba.options import Mode
from warpreg.counting.capacity import RecordedLaunch
from warpreg.designs import Design
from warpreg.designs.interface.program import Program
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.gpu import Machine
from warpreg.gpu import load as load_machine
from warpreg.ir.kernel import Kernel
from warpreg.sass.listing import Copy
from warpreg.timing.errors import TimingError
from warpreg.timing.launch.simulate import timed
from warpreg.timing.memory.between_launches import SecondLevelState
from warpreg.timing.results.result import TimingResult, joined
from warpreg.timing.tracing.event_rows import EVENT, Kind
from warpreg.timing.tracing.recorder import Recorder

ROOM = 1 << 22
MAX_EVENTS = 1 << 26
"""Events of a launch: room at first, and at most (2 GiB)."""
FOREVER = (1 << 31) - 1


@dataclass(frozen=True, eq=False)
class TracedLaunch:
    """A launch of a traced run: the code that ran, where the run had its first cycle, and how many it took.

    ``registers`` are those that a warp allocates, without what warps share.
    """

    kernel: Kernel
    program: Program
    first: int
    cycles: int
    registers: int


@dataclass(frozen=True, eq=False)
class TraceOfRun:
    """Events of the cycles ``begin`` to ``end``, exclusive, of a run: EVENT[events], by cycle, then by SM.

    ``launches`` are those from the first one to that of the last cycle of the window; ``result`` is theirs.
    """

    begin: int
    end: int
    events: NDArray[Any]
    launches: tuple[TracedLaunch, ...]
    result: TimingResult
    machine: Machine
    chosen: ConfiguredDesign

    @property
    def issued(self) -> int:
        """Instructions that issued in the window."""
        return int((self.events["kind"] == Kind.ISSUE).sum())


def trace(
    launches: Sequence[RecordedLaunch],
    machine: Machine | str,
    begin: int = 0,
    end: int | None = None,
    *,
    designs: Sequence[Design | str] | ConfiguredDesign = (),
    registers: int | None = None,
    sms: int | None = None,
    mode: Mode = "compiled",
    cold: bool = False,
    copies: Sequence[Copy] = (),
    **parameters: Any,
) -> TraceOfRun:
    """Time launches in sequence up to cycle ``end`` (default: all), and record what happens from cycle ``begin`` on.

    The other parameters are those of `warpreg.timing.simulate`.  Launches after the window are not timed.  Raises
    TimingError for a window that ends after the run, and for too many events.
    """
    described = load_machine(machine) if isinstance(machine, str) else machine
    if not launches:
        raise TimingError("nothing to trace: no launch")
    chosen, between = ConfiguredDesign.of(designs, parameters), None if cold else SecondLevelState(copies)
    parts: list[NDArray[Any]] = [np.zeros(0, EVENT)]
    results: list[TimingResult] = []
    traced: list[TracedLaunch] = []
    first = 0
    for index, launch in enumerate(launches):
        last = FOREVER if end is None else end - first
        recorder = Recorder(max(0, begin - first), last, ROOM)
        before = None if between is None else between.copy()
        run = timed(launch, described, chosen, registers, sms, None, mode, False, between, recorder=recorder)
        events = recorder.events(run.engine.core, run.engine.cycles, index, first)
        if recorder.missed:
            recorder = Recorder(recorder.begin, last, _more_room(launch, recorder))
            run = timed(launch, described, chosen, registers, sms, None, mode, False, before, recorder=recorder)
            events = recorder.events(run.engine.core, run.engine.cycles, index, first)
        cycles = run.engine.cycles
        parts.append(events)
        results.append(run.result)
        own = run.place.residency.registers
        traced.append(TracedLaunch(run.engine.kernel, run.outside.program, first, cycles, own))
        first += cycles
        if end is not None and end <= first:
            break
    if begin >= first or (end is not None and first < end):
        raise TimingError(f"cycles {begin}:{'' if end is None else end}: the run has {first} cycles")
    end = first if end is None else end
    return TraceOfRun(begin, end, np.concatenate(parts), tuple(traced), joined(results), described, chosen)


def _more_room(launch: RecordedLaunch, recorder: Recorder) -> int:
    """Room for all events of a launch, which is then timed once more.  Raises TimingError for too many."""
    room = recorder.room + recorder.missed
    if room > MAX_EVENTS:
        raise TimingError(
            f"kernel {launch.kernel.name}: {room} events, expected at most {MAX_EVENTS}; trace fewer cycles"
        )
    return room
