"""What a worker does: some cells of one run, each kept as soon as it is finished.

The code and the files of a worker must be those of the batch, or its results would be others.
"""

from __future__ import annotations

import dataclasses
import functools
import platform
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, zip_longest
from typing import Any

import warpreg
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.comparison import DesignCounter, Setting, attempts
from warpreg.evaluation.runs.counting import CountingMethod, DesignCounts, Timed
from warpreg.evaluation.runs.recording import needed_record
from warpreg.evaluation.runs.row import Failure
from warpreg.evaluation.runs.run import Run
from warpreg.evaluation.studies.study import BREAKS
from warpreg.evaluation.sweep import batch
from warpreg.evaluation.sweep.batch import Batch, Keys
from warpreg.evaluation.sweep.cells import Cell, RunSpec
from warpreg.gpu import Machine
from warpreg.ir.errors import InterruptedCodeError, WarpregError
from warpreg.simt import Record

Found = Mapping[str, Any] | str
"""The result of a cell, or why there is none."""
LARGEST, LARGEST_TIMED = 128, 16
"""Cells of a task: more of them share the run and the plain register file, fewer are told sooner."""
SMALLEST = 16
"""Cells of a task, where a worker has as many."""
_one_at_a_time = threading.Lock()
"""Workers of Dask may have several threads."""


@dataclass(frozen=True, slots=True)
class Task:
    """Cells of one run, by number, and their keys; ``package`` is the digest of the batch's code."""

    cells: Mapping[int, Cell]
    keys: Mapping[int, str]
    unchecked: bool
    package: str
    version: str = warpreg.__version__

    def only(self, number: int) -> Task:
        """The same with one of its cells."""
        return dataclasses.replace(self, cells={number: self.cells[number]}, keys={number: self.keys[number]})


def tasks_of(whole: Batch, numbers: Sequence[int], workers: int) -> list[Task]:
    """Tasks for these cells.  The first ones begin with different designs, so that workers compile different cores.

    Tasks become smaller towards the end, so that all workers finish together.  Those of one run alternate with those of
    other runs, so that each worker tends to get tasks of the run that it has.
    """
    tasks: list[list[list[int]]] = []
    least = max(1, min(SMALLEST, len(numbers) // workers))
    left = len(numbers)
    for _, group in groupby(numbers, lambda number: whole.cells[number - 1].made):
        same = list(group)
        tasks.append([])
        most = LARGEST_TIMED if isinstance(whole.cells[same[0] - 1].how, Timed) else LARGEST
        while same:
            size = min(most, max(least, left // (2 * workers)))
            turn = sum(map(len, tasks)) if workers > 1 else 0
            tasks[-1].append(_turned(whole, same[:size], turn))
            left -= len(same[:size])
            same = same[size:]
    return [_task(whole, numbers) for numbers in _different_first(whole, _alternating(tasks, workers))]


def _alternating(tasks: Sequence[Sequence[list[int]]], workers: int) -> list[list[int]]:
    """The tasks of each run, those of as many runs as there are workers in turns."""
    together = (tasks[first : first + workers] for first in range(0, len(tasks), workers))
    return [task for runs in together for turn in zip_longest(*runs) for task in turn if task is not None]


def _core(whole: Batch, number: int) -> tuple[str, str]:
    """What a cell needs compiled: its design on its machine."""
    cell = whole.cells[number - 1]
    return cell.design, cell.machine


def _turned(whole: Batch, numbers: list[int], turn: int) -> list[int]:
    """The cells of a task, beginning with another design at each ``turn``."""
    cores = [_core(whole, number) for number in numbers]
    starts = [place for place, core in enumerate(cores) if core != cores[place - 1]]
    start = starts[turn % len(starts)] if starts else 0
    return numbers[start:] + numbers[:start]


def _different_first(whole: Batch, tasks: list[list[int]]) -> list[list[int]]:
    """The tasks, those first that begin with a design that none before them begins with."""
    firsts = {_core(whole, numbers[0]): place for place, numbers in reversed(list(enumerate(tasks)))}
    first = sorted(firsts.values())
    return [tasks[place] for place in dict.fromkeys([*first, *range(len(tasks))])]


def _task(whole: Batch, numbers: Sequence[int]) -> Task:
    keys = {number: key for number in numbers if (key := whole.keys[number - 1]) is not None}
    return Task({number: whole.cells[number - 1] for number in keys}, keys, whole.unchecked, batch.package())


def finish(task: Task) -> dict[int, Found]:
    """The results of the cells by number; those that are kept already are not measured again."""
    with _one_at_a_time:
        return dict(finished_in_turn(task))


def finished_in_turn(task: Task) -> Iterator[tuple[int, Found]]:
    """As `finish`, each result as soon as it is there."""
    if batch.package() != task.package:
        message = (
            f"expected warpreg {task.version} with the code of this batch on every worker, found"
            f" {warpreg.__version__} with other code on {platform.node()}"
        )
        yield from dict.fromkeys(task.cells, message).items()
        return
    missing: dict[int, Cell] = {}
    keys = Keys(task.unchecked)
    for number, key in task.keys.items():
        known = batch.kept(key)
        if known is not None:
            yield number, known
        elif _key(task.cells[number], keys) != key:
            yield number, "a file that this cell depends on has changed since the batch began"
        else:
            missing[number] = task.cells[number]
    yield from _measured(missing, task, keys)


def _key(cell: Cell, keys: Keys) -> str | None:
    try:
        return keys.of(cell)
    except WarpregError:
        return None


def _measured(cells: Mapping[int, Cell], task: Task, keys: Keys) -> Iterator[tuple[int, Found]]:
    record = _record(cells.values(), task.unchecked)
    for shared, group in groupby(cells.items(), lambda item: _shared(item[1])):
        left = [number for number, _ in group]
        try:
            latest = _run(shared.made, keys.of_run(shared.made), record)
            setting = Setting.load(shared.machine, shared.technology)
            counting = latest.counting(setting.machine, shared.how)
            named = [(number, cells[number]) for number in left]
            for number, result in _results(counting, named, setting, task):
                left.remove(number)
                yield number, result
        except InterruptedCodeError:
            raise
        except BREAKS as error:
            yield from dict.fromkeys(left, told(error)).items()


def _results(
    counting: DesignCounter, cells: Sequence[tuple[int, Cell]], setting: Setting, task: Task
) -> Iterator[tuple[int, Found]]:
    """The result of each cell of a run, kept before it is yielded."""
    choices = [batch.loaded(cell.design, cell.values, setting.machine, task.unchecked) for _, cell in cells]
    for (number, _), row in zip(cells, attempts(counting, choices, setting), strict=True):
        if isinstance(row, Failure):
            yield number, row.message
        else:
            yield number, batch.keep(task.keys[number], row)


def _shared(cell: Cell) -> Cell:
    """What cells must have in common to share a run and the counts of the plain register file: all but the design."""
    return dataclasses.replace(cell, design="", values=())


def _record(cells: Any, unchecked: bool) -> Record:
    """What the run must record."""
    every = list(cells)
    chosen = (ConfiguredDesign.load(one.design, dict(one.values), unchecked=unchecked).design for one in every)
    with_cycles = any(isinstance(one.how, Timed) for one in every)
    return needed_record((one.declaration for one in chosen), addresses=with_cycles)


@dataclass(frozen=True, eq=False)
class _Latest:
    """A run, and the counts of its plain register file on each machine."""

    run: Run
    _countings: dict[tuple[str, CountingMethod], DesignCounter] = field(default_factory=dict)

    def counting(self, machine: Machine, how: CountingMethod) -> DesignCounter:
        """Counts on a machine, which have those of the plain register file from the task before."""
        return self._countings.setdefault((machine.digest, how), _CachingCounter(self.run, machine, how))


@dataclass(frozen=True, eq=False)
class _CachingCounter(DesignCounter):
    """Counts that remember those of the latest design, for cells that differ in the technology only."""

    _latest: dict[tuple[str, str], DesignCounts] = field(default_factory=dict)

    def of(self, choice: ConfiguredDesign) -> DesignCounts:
        """The counts of a design."""
        key = choice.digest, repr(choice.parameters)
        if key not in self._latest:
            found = super().of(choice)
            self._latest.clear()
            self._latest[key] = found
        return self._latest[key]


@functools.lru_cache(maxsize=1)
def _run(made: RunSpec, key: str, record: Record) -> _Latest:
    """The latest run, which the next task may need too; its ``key`` covers the files that it depends on."""
    return _Latest(made.making(record).run(made.workload))


def told(error: BaseException) -> str:
    """The message of an error; of one that is not Warpreg's own, with its type."""
    return str(error) if isinstance(error, WarpregError) else f"{type(error).__name__}: {error}"
