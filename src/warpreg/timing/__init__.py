"""Cycles of one or more streaming multiprocessors and the memory system (docs/reference/timing.md).

``simulate(run.launches, "v100")`` returns a :class:`TimingResult`.  Read `launch` (a run), `core` (its state), `sm`
(the phases of a cycle), `memory`, then `feed`, `hooks` and `results`.
"""

from warpreg.timing.errors import TimingError
from warpreg.timing.launch.estimate import Estimate, Sample, estimate
from warpreg.timing.launch.sampling import Window
from warpreg.timing.launch.schedule_recording import recorded_schedule, recorded_schedules
from warpreg.timing.launch.simulate import simulate
from warpreg.timing.results.result import CAUSES, TimingResult, joined

__all__ = [
    "CAUSES",
    "Estimate",
    "Sample",
    "TimingError",
    "TimingResult",
    "Window",
    "estimate",
    "joined",
    "recorded_schedule",
    "recorded_schedules",
    "simulate",
]
