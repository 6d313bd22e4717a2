"""Cycles: one streaming multiprocessor, many of them, the memory system (docs/timing.md).

``simulate(run.launches, "v100")`` gives a :class:`TimingResult`.  `run` is the core's loop, a phase of a cycle a file;
`at` says where things stand in its arrays; `engine` drives it, `feed` splits recorded runs, `memory` answers.
"""

from warpreg.timing.errors import TimingError
from warpreg.timing.estimate import Estimate, Sample, estimate
from warpreg.timing.recording import recorded_schedule, recorded_schedules
from warpreg.timing.result import CAUSES, TimingResult, joined
from warpreg.timing.sampling import Window
from warpreg.timing.simulate import simulate

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
