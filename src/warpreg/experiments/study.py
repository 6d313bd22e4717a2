"""A study: measures of many workloads, each workload run once with all that the measures need recorded.

A measure is a small frozen dataclass that is called with a run; what it returns is kept by workload.  Workloads are
taken one at a time in worker processes, so neither memory nor open files grow with their number.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import reduce
from multiprocessing import get_context
from typing import Any, Protocol, TypeVar, cast

from warpreg import simt
from warpreg.experiments.profile import register_profile
from warpreg.experiments.result import Value
from warpreg.experiments.runs import AS_COMPILED, CompileChoice, Run, find_workload, run_workload
from warpreg.replay import Counts, Profile, replay, together
from warpreg.replay.replay import Suspend

Found_co = TypeVar("Found_co", covariant=True)
Found = TypeVar("Found")
EVERYTHING = simt.Record(path=True, addresses=True)


class Measure(Protocol[Found_co]):
    """What is measured of a run; hashable and picklable."""

    def __call__(self, run: Run) -> Found_co:
        """The finding for one workload."""


@dataclass(frozen=True, slots=True)
class Replay:
    """The access counts of a design, all kernels of the run together; ``values`` are its parameters, ``suspend`` says
    where a warp leaves the active set (see :func:`warpreg.replay.replay`)."""

    design: str
    values: tuple[tuple[str, Value], ...] = ()
    suspend: Suspend = "never"

    @staticmethod
    def of(design: str, suspend: Suspend = "never", /, **values: Value) -> Replay:
        """A design with some of its parameters."""
        return Replay(design, tuple(sorted(values.items())), suspend)

    def __call__(self, run: Run) -> Counts:
        values: dict[str, Any] = dict(self.values)
        counts = [
            replay(run.path(kernel), kernel, self.design, suspend=self.suspend, **values) for kernel in run.kernels
        ]
        return reduce(together, counts)


@dataclass(frozen=True, slots=True)
class Usage:
    """How values are used, all kernels of the run together."""

    def __call__(self, run: Run) -> Profile:
        return register_profile(run)


@dataclass(frozen=True)
class Study:
    """What the measures found; by measure, then by workload in the order asked for."""

    size: str
    choice: CompileChoice
    found: Mapping[Any, Mapping[str, Any]]

    def __getitem__(self, measure: Measure[Found]) -> Mapping[str, Found]:
        """The findings of one measure by workload; raises KeyError for one that the study was not made with."""
        return cast(Mapping[str, Found], self.found[measure])


def study(
    workloads: Sequence[str],
    measures: Iterable[Measure[Any]],
    size: str = "tiny",
    choice: CompileChoice = AS_COMPILED,
    processes: int | None = None,
    progress: Callable[[str], None] = lambda name: None,
) -> Study:
    """Run each workload once, checked, and apply every measure; ``progress`` hears of each workload that is finished.

    ``processes``: worker processes, by default one for each processor; 1 stays in this process.
    """
    wanted = tuple(dict.fromkeys(measures))
    tasks = [(name, wanted, size, choice) for name in workloads]
    found: dict[Any, dict[str, Any]] = {measure: {} for measure in wanted}
    for name, findings in _each(tasks, processes or os.cpu_count() or 1):
        progress(name)
        for measure, finding in zip(wanted, findings, strict=True):
            found[measure][name] = finding
    return Study(size, choice, found)


Task = tuple[str, tuple[Measure[Any], ...], str, CompileChoice]


def _each(tasks: Sequence[Task], processes: int) -> Iterable[tuple[str, list[Any]]]:
    if processes == 1 or len(tasks) < 2:
        yield from map(_measured, tasks)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), max_tasks_per_child=16) as pool:
        yield from pool.map(_measured, tasks)


def _measured(task: Task) -> tuple[str, list[Any]]:
    name, measures, size, choice = task
    run = run_workload(find_workload(name), size, choice=choice, record=EVERYTHING)
    return name, [measure(run) for measure in measures]
