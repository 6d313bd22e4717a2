"""A comparison of designs on many workloads or traces, in several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context

from warpreg.experiments.runs.choices import Choice
from warpreg.experiments.runs.comparison import Setting, attempts
from warpreg.experiments.runs.counting import How
from warpreg.experiments.runs.row import Failure, Parameters, Row
from warpreg.experiments.runs.run import CompileChoice, Run, RunError, find_workload, run_workload
from warpreg.experiments.runs.traces import UnknownOpcodes, is_trace, recorded_run
from warpreg.ir.errors import WarpregError
from warpreg.simt import Record

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Making:
    """How runs are made: workloads are run, traces are read."""

    size: str
    seed: int
    choice: CompileChoice
    record: Record
    max_instructions: int | None = None
    unknown_opcodes: UnknownOpcodes = "error"

    def run(self, name: str) -> Run:
        """The run of a workload, or of a trace file."""
        if is_trace(name):
            return recorded_run(name, self.unknown_opcodes, self.choice)
        workload = find_workload(name)
        return run_workload(workload, self.size, self.seed, self.choice, self.record, self.max_instructions)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared, in values that another process can receive: designs are names or paths with parameters."""

    designs: tuple[tuple[str, Parameters], ...]
    unchecked: bool
    machine: str
    technology: str
    how: How
    making: Making

    def rows(self, name: str) -> list[Row | Failure]:
        """A row for each design on one workload or trace; what fails has a row that says why."""
        setting = Setting.load(self.machine, self.technology)
        choices = [Choice.load(design, values, unchecked=self.unchecked) for design, values in self.designs]
        try:
            return list(attempts(self.making.run(name), choices, setting, self.how))
        except WarpregError as error:
            return [Failure(name, str(error))]


def compared(
    comparison: Comparison, names: Sequence[str], processes: int, done: Progress = lambda name: None
) -> Iterator[Row | Failure]:
    """The rows of all names, in their order; ``done`` is called with each name that is finished.

    Raises RunError if a process dies.
    """
    if processes == 1 or len(names) == 1:
        for name in names:
            yield from comparison.rows(name)
            done(name)
        return
    with ProcessPoolExecutor(min(processes, len(names)), mp_context=get_context("spawn")) as pool:
        try:
            for name, found in zip(names, pool.map(comparison.rows, names), strict=True):
                yield from found
                done(name)
        except BrokenProcessPool as error:
            raise RunError(
                f"a process died under one of {len(names)} runs, for want of memory as a rule; expected {processes} at"
                " a time to fit, try fewer"
            ) from error
