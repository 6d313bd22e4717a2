"""A comparison of designs on many workloads or traces, in several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context

from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.comparison import DesignCounter, Setting, attempts
from warpreg.evaluation.runs.counting import CountingMethod
from warpreg.evaluation.runs.row import Failure, Parameters, Row
from warpreg.evaluation.runs.run import CompileChoice, Run, RunError, find_workload, run_workload
from warpreg.evaluation.runs.stored_row import keep
from warpreg.evaluation.runs.traces import AS_RECORDED, TraceChoice, is_trace, recorded_run
from warpreg.evaluation.runs.worker_process import WorkerPool
from warpreg.ir.errors import InterruptedCodeError, WarpregError
from warpreg.simt import Record

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How runs are made: workloads are run, traces are read."""

    size: str
    seed: int
    choice: CompileChoice
    record: Record
    max_instructions: int | None = None
    reading: TraceChoice = AS_RECORDED

    def run(self, name: str) -> Run:
        """The run of a workload, or of a trace file."""
        if is_trace(name):
            return recorded_run(name, self.reading, self.choice)
        workload = find_workload(name)
        return run_workload(workload, self.size, self.seed, self.choice, self.record, self.max_instructions)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared, in values that another process can receive: designs are names or paths with parameters."""

    designs: tuple[tuple[str, Parameters], ...]
    unchecked: bool
    machine: str
    technology: str
    how: CountingMethod
    making: RunOptions


@dataclass(frozen=True, slots=True)
class Share:
    """Some ``designs`` of a comparison, by place, on one workload or trace; a row is stored under its key, if any."""

    comparison: Comparison
    name: str
    designs: tuple[int, ...]
    keys: tuple[str | None, ...]

    def rows(self) -> list[Row | Failure]:
        """A row for each design; what fails has a row that says why, a run that fails one for all designs."""
        whole = self.comparison
        setting = Setting.load(whole.machine, whole.technology)
        named = [whole.designs[place] for place in self.designs]
        choices = [ConfiguredDesign.load(design, values, unchecked=whole.unchecked) for design, values in named]
        try:
            found = attempts(DesignCounter(whole.making.run(self.name), setting.machine, whole.how), choices, setting)
            return [_kept(row, key) for row, key in zip(found, self.keys, strict=True)]
        except InterruptedCodeError:
            raise
        except WarpregError as error:
            return [Failure(self.name, str(error))]


def compared(
    shares: Sequence[Share], processes: int, done: Progress = lambda name: None
) -> Iterator[list[Row | Failure]]:
    """The rows of each share, in their order; ``done`` is called with each name that is finished.

    Raises RunError if a process dies.
    """
    if processes == 1 or len(shares) <= 1:
        for share in shares:
            rows = share.rows()
            done(share.name)
            yield rows
        return
    with WorkerPool(min(processes, len(shares)), get_context("spawn")) as pool:
        try:
            for share, found in zip(shares, pool.map(Share.rows, shares), strict=True):
                done(share.name)
                yield found
        except BrokenProcessPool as error:
            raise RunError(
                f"a process died under one of {len(shares)} runs, for want of memory as a rule; expected {processes} at"
                " a time to fit, try fewer"
            ) from error


def _kept(row: Row | Failure, key: str | None) -> Row | Failure:
    return row if key is None or isinstance(row, Failure) else keep(key, row)
