"""Cycles: one streaming multiprocessor, many of them, the memory system (docs/timing.md).

``simulate(run.launches, "v100")`` gives a :class:`TimingResult`.  `run` is the core's loop, a phase of a cycle a file;
`at` says where things stand in its arrays; `engine` drives it, `feed` splits recorded runs, `memory` answers.
"""

from warpreg.timing.errors import TimingError
from warpreg.timing.recording import recorded_schedule
from warpreg.timing.result import CAUSES, TimingResult, joined
from warpreg.timing.sampling import Window
from warpreg.timing.simulate import simulate

__all__ = ["CAUSES", "TimingError", "TimingResult", "Window", "joined", "recorded_schedule", "simulate"]
