"""A study: measures of many workloads; each workload runs once and records everything that the measures need.

A measure is a small frozen dataclass that is called with a run; its return value is stored by workload.  Worker
processes take workloads one at a time, so memory and open files do not grow with their number.  A workload that cannot
be measured is left out, with the reason, and the study continues.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import Field, dataclass, field
from functools import reduce
from multiprocessing import get_context
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, TypeVar, cast

from warpreg import simt
from warpreg.designs import load as load_design
from warpreg.designs.interface.declaration import Declaration
from warpreg.designs.interface.thread_blocks import knows_thread_blocks
from warpreg.evaluation.runs.profile import register_profile
from warpreg.evaluation.runs.recording import needed_record
from warpreg.evaluation.runs.row import Value
from warpreg.evaluation.runs.run import AS_COMPILED, CompileChoice, Run, find_workload, run_workload
from warpreg.evaluation.runs.worker_process import WorkerPool
from warpreg.evaluation.studies import findings
from warpreg.ir.errors import InterruptedCodeError, WarpregError
from warpreg.replay import Counts, Profile, replay, together
from warpreg.replay.replay import Suspend

Measured = float | bool
"""A measured value: a number, or whether a finding in words holds."""
Found_co = TypeVar("Found_co", covariant=True)
Found = TypeVar("Found")
TASKS_OF_A_PROCESS = 16
NOT_SAVED = "no measurement of it is saved"
EVERYTHING = simt.Record(path=True, addresses=True)
BREAKS = (WarpregError, ArithmeticError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError)
"""Errors that concern one workload; for errors of other families, the reason includes their type."""


Only = Mapping[Any, Sequence[str]]
"""Workloads by measure."""
EVERYWHERE: Only = MappingProxyType({})


class StudyError(WarpregError):
    """A study that could not continue."""


class Measure(Protocol[Found_co]):
    """A measure of a run: a frozen dataclass, hashable and picklable."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __call__(self, run: Run) -> Found_co:
        """The finding for one workload."""


@dataclass(frozen=True, slots=True)
class Replay:
    """The access counts of a design, summed over all kernels of the run; ``values`` are its parameters, ``suspend``
    selects where a warp leaves the active set (see :func:`warpreg.replay.replay`).
    """

    design: str
    values: tuple[tuple[str, Value], ...] = ()
    suspend: Suspend = "never"

    @staticmethod
    def of(design: str, suspend: Suspend = "never", /, **values: Value) -> Replay:
        """A design with some of its parameters."""
        return Replay(design, tuple(sorted(values.items())), suspend)

    def with_values(self, **values: Value) -> Replay:
        """The same with other values of some parameters."""
        return Replay.of(self.design, self.suspend, **{**dict(self.values), **values})

    @property
    def declarations(self) -> tuple[Declaration, ...]:
        """Those of its designs, which say what the run must record of values."""
        return (load_design(self.design).declaration,)

    def __call__(self, run: Run) -> Counts:
        values: dict[str, Any] = dict(self.values)
        design = load_design(self.design)
        is_of_warps = knows_thread_blocks(design.hooks)
        counts = []
        for kernel in run.kernels:
            path = run.path(kernel) if is_of_warps else run.distinct_path(kernel, design.declaration)
            counts.append(replay(path, kernel, design, suspend=self.suspend, **values))
        return reduce(together, counts)


@dataclass(frozen=True, slots=True)
class Usage:
    """The register profile, summed over all kernels of the run."""

    def __call__(self, run: Run) -> Profile:
        return register_profile(run)


@dataclass(frozen=True, slots=True)
class MissingFinding:
    """Replacement of a finding: why a workload was not measured."""

    reason: str


@dataclass(frozen=True)
class Study:
    """Findings by measure, then by workload in the requested order.

    ``left_out``: for measures without some workloads, the reasons by workload.  ``weights`` of workloads in means;
    equal if empty.
    """

    size: str
    choice: CompileChoice
    found: Mapping[Any, Mapping[str, Any]]
    left_out: Mapping[Any, Mapping[str, str]] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)

    def __getitem__(self, measure: Measure[Found]) -> Mapping[str, Found]:
        """The findings of one measure by workload; raises KeyError for a measure that is not in the study."""
        return cast(Mapping[str, Found], self.found[measure])

    def in_all(self, measures: Iterable[Measure[Any]]) -> list[str]:
        """The workloads that all of these measures, as far as they are in the study, have measured."""
        asked = [self.found[measure] for measure in measures if measure in self.found]
        return [name for name in asked[0] if all(name in one for one in asked)] if asked else []

    def weights_of(self, names: Iterable[str]) -> list[float] | None:
        """Weights of workloads in a mean over them; None if all are equal."""
        return [self.weights[name] for name in names] if self.weights else None

    @property
    def reasons(self) -> dict[str, str]:
        """By workload that some measure lacks: the number of these measures, and the reason of the first."""
        by_workload: dict[str, list[str]] = {}
        for reasons in self.left_out.values():
            for name, reason in reasons.items():
                by_workload.setdefault(name, []).append(reason)
        return {
            name: f"left out of {len(reasons)} of {len(self.found)} measures: {reasons[0]}"
            for name, reasons in by_workload.items()
        }


def study(
    workloads: Sequence[str],
    measures: Iterable[Measure[Any]],
    size: str = "tiny",
    choice: CompileChoice = AS_COMPILED,
    processes: int | None = None,
    progress: Callable[[str], None] = lambda name: None,
    *,
    keep: bool = False,
    only: Only = EVERYWHERE,
) -> Study:
    """Run each workload once, check it, and apply every measure; ``progress`` is called after each workload.

    ``processes``: worker processes, by default one per processor; 1 runs in this process.  With ``keep``, findings are
    cached on disk and reused (`warpreg.evaluation.studies.findings`).  ``only``: the workloads of measures that not
    all need.
    """
    wanted = tuple(dict.fromkeys(measures))
    tasks = [Task(name, tuple(measures_of(name, wanted, only)), size, choice, keep) for name in workloads]
    by_measure: dict[Any, dict[str, Any]] = {measure: {} for measure in wanted}
    left_out: dict[Any, dict[str, str]] = {}
    for name, each in _each([task for task in tasks if task.measures], processes or os.cpu_count() or 1):
        progress(name)
        for measure, finding in zip(measures_of(name, wanted, only), each, strict=True):
            if isinstance(finding, MissingFinding):
                left_out.setdefault(measure, {})[name] = finding.reason
            else:
                by_measure[measure][name] = finding
    return Study(size, choice, by_measure, left_out)


def measures_of(workload: str, measures: Iterable[Measure[Any]], only: Only) -> Iterator[Measure[Any]]:
    """The measures that a workload needs."""
    return (measure for measure in measures if workload in only.get(measure, (workload,)))


def saved(
    workloads: Sequence[str],
    measures: Iterable[Measure[Any]],
    size: str,
    choice: CompileChoice = AS_COMPILED,
    only: Only = EVERYWHERE,
) -> Study:
    """The study as far as its findings are cached; nothing is run, and what is not cached is left out."""
    by_measure: dict[Any, dict[str, Any]] = {measure: {} for measure in measures}
    left_out: dict[Any, dict[str, str]] = {}
    for name, measure in ((one, measure) for one in workloads for measure in measures_of(one, by_measure, only)):
        key = findings.key_of(measure, name, size, choice)
        known = findings.kept(key) if key else None
        if known is None:
            left_out.setdefault(measure, {})[name] = NOT_SAVED
        else:
            (by_measure[measure][name],) = known
    return Study(size, choice, by_measure, left_out)


@dataclass(frozen=True, slots=True)
class Task:
    """One workload of a study."""

    name: str
    measures: tuple[Measure[Any], ...]
    size: str
    choice: CompileChoice
    keep: bool


def _each(tasks: Sequence[Task], processes: int) -> Iterable[tuple[str, list[Any]]]:
    if processes == 1 or len(tasks) < 2:
        yield from map(_measured, tasks)
        return
    for begin in range(0, len(tasks), batch := processes * TASKS_OF_A_PROCESS):
        yield from _side_by_side(tasks[begin : begin + batch], processes)


def _side_by_side(tasks: Sequence[Task], processes: int) -> Iterable[tuple[str, list[Any]]]:
    """Run tasks in new processes.  An executor that replaces its own processes (``max_tasks_per_child``) can hang in
    some versions of Python 3.11 and 3.12 (CPython issue 115634).
    """
    with WorkerPool(processes, get_context("spawn")) as pool:
        try:
            yield from pool.map(_measured, tasks)
        except BrokenProcessPool as error:
            raise StudyError(
                f"a worker process died under one of the {len(tasks)} workloads, for want of memory as a rule; "
                f"expected {processes} at a time to fit, try fewer"
            ) from error


def _measured(task: Task) -> tuple[str, list[Any]]:
    run: Run | MissingFinding | None = None
    each = []
    for measure in task.measures:
        key = findings.key_of(measure, task.name, task.size, task.choice) if task.keep else None
        known = findings.kept(key) if key else None
        if known is None:
            run = _run(task) if run is None else run
            finding = run if isinstance(run, MissingFinding) else _finding(measure, run)
            if key and not isinstance(finding, MissingFinding):
                findings.keep(key, finding)
        else:
            (finding,) = known
        each.append(finding)
    return task.name, each


def _run(task: Task) -> Run | MissingFinding:
    try:
        return run_workload(find_workload(task.name), task.size, choice=task.choice, record=_record(task))
    except InterruptedCodeError:
        raise
    except BREAKS as error:
        return MissingFinding(f"it does not run: {_told(error)}")


def _record(task: Task) -> simt.Record:
    """Path and addresses, and what of values the designs of the measures read, if these have ``declarations``."""
    return needed_record(
        (one for measure in task.measures for one in getattr(measure, "declarations", ())), addresses=True
    )


def _finding(measure: Measure[Any], run: Run) -> Any:
    try:
        return measure(run)
    except InterruptedCodeError:
        raise
    except BREAKS as error:
        return MissingFinding(_told(error))


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, WarpregError) else f"{type(error).__name__}: {error}"
