"""What a worker does: some cells of one run, each kept as soon as it is finished.

The code and the files of a worker must be those of the batch, or its results would be others.
"""

from __future__ import annotations

import dataclasses
import functools
import platform
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import warpreg
from warpreg.experiments.runs.choices import Choice
from warpreg.experiments.runs.comparison import Setting, attempts
from warpreg.experiments.runs.counting import How, Timed
from warpreg.experiments.runs.row import Failure
from warpreg.experiments.runs.run import Run
from warpreg.experiments.studies.study import BREAKS
from warpreg.experiments.sweep import batch
from warpreg.experiments.sweep.batch import Batch, Keys
from warpreg.experiments.sweep.cells import Cell, Made
from warpreg.ir.errors import WarpregError
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
    """Tasks for these cells, in their order but for the first cell of each design: workers compile different cores.

    Tasks become smaller towards the end, so that all workers finish together.
    """
    firsts = _first_of_each_design(whole, numbers) if workers > 1 else []
    tasks = [_task(whole, [number]) for number in firsts]
    taken = set(firsts)
    rest = [number for number in numbers if number not in taken]
    least = max(1, min(SMALLEST, len(rest) // workers))
    left = len(rest)
    for _, group in groupby(rest, lambda number: whole.cells[number - 1].made):
        same = list(group)
        most = LARGEST_TIMED if isinstance(whole.cells[same[0] - 1].how, Timed) else LARGEST
        while same:
            size = min(most, max(least, left // (2 * workers)))
            tasks.append(_task(whole, same[:size]))
            left -= len(same[:size])
            same = same[size:]
    return tasks


def _first_of_each_design(whole: Batch, numbers: Sequence[int]) -> list[int]:
    """The first cell of each design on each machine, if there are several, and more cells."""
    firsts: dict[tuple[str, str], int] = {}
    for number in numbers:
        cell = whole.cells[number - 1]
        firsts.setdefault((cell.design, cell.machine), number)
    return list(firsts.values()) if 1 < len(firsts) < len(numbers) else []


def _task(whole: Batch, numbers: Sequence[int]) -> Task:
    keys = {number: key for number in numbers if (key := whole.keys[number - 1]) is not None}
    return Task({number: whole.cells[number - 1] for number in keys}, keys, whole.unchecked, batch.package())


def finish(task: Task) -> dict[int, Found]:
    """The results of the cells by number; those that are kept already are not measured again."""
    with _one_at_a_time:
        return _finished(task)


def _finished(task: Task) -> dict[int, Found]:
    if batch.package() != task.package:
        message = (
            f"expected warpreg {task.version} with the code of this batch on every worker, found"
            f" {warpreg.__version__} with other code on {platform.node()}"
        )
        return dict.fromkeys(task.cells, message)
    found: dict[int, Found] = {}
    keys = Keys(task.unchecked)
    for number, key in task.keys.items():
        known = batch.kept(key)
        if known is not None:
            found[number] = known
        elif _key(task.cells[number], keys) != key:
            found[number] = "a file that this cell depends on has changed since the batch began"
    missing = {number: cell for number, cell in task.cells.items() if number not in found}
    found |= _measured(missing, task)
    return found


def _key(cell: Cell, keys: Keys) -> str | None:
    try:
        return keys.of(cell)
    except WarpregError:
        return None


def _measured(cells: Mapping[int, Cell], task: Task) -> dict[int, Found]:
    found: dict[int, Found] = {}
    record = _record(cells.values(), task.unchecked)
    for (made, machine, technology, how), group in groupby(cells.items(), lambda item: _shared(item[1])):
        numbers = [number for number, _ in group]
        try:
            run = _run(made, batch.workload_identity(made.workload), record)
            setting = Setting.load(machine, technology)
            for number, result in _results(run, [(number, cells[number]) for number in numbers], setting, how, task):
                found[number] = result
        except BREAKS as error:
            found |= {number: told(error) for number in numbers if number not in found}
    return found


def _results(
    run: Run, cells: Sequence[tuple[int, Cell]], setting: Setting, how: How, task: Task
) -> Iterator[tuple[int, Found]]:
    """The result of each cell of a run, kept before it is yielded."""
    possible = []
    for number, cell in cells:
        choice = batch.loaded(cell.design, cell.values, setting.machine, task.unchecked)
        try:
            setting.check([choice])
        except WarpregError as error:
            yield number, str(error)
        else:
            possible.append((number, choice))
    rows = attempts(run, [choice for _, choice in possible], setting, how)
    for (number, _), row in zip(possible, rows, strict=True):
        if isinstance(row, Failure):
            yield number, row.message
        else:
            yield number, batch.keep(task.keys[number], row)


def _shared(cell: Cell) -> tuple[Made, str, str, How]:
    """What cells must have in common to share a run and the counts of the plain register file."""
    return cell.made, cell.machine, cell.technology, cell.how


def _record(cells: Any, unchecked: bool) -> Record:
    """What the run must record."""
    every = list(cells)
    widths = any(
        Choice.load(one.design, dict(one.values), unchecked=unchecked).design.declaration.widths for one in every
    )
    return Record(path=True, addresses=any(isinstance(one.how, Timed) for one in every), widths=widths)


@functools.lru_cache(maxsize=1)
def _run(made: Made, identity: tuple[str, ...], record: Record) -> Run:
    """The latest run, which the next task may need too; ``identity`` is that of the workload's files."""
    return made.making(record).run(made.workload)


def told(error: BaseException) -> str:
    """The message of an error; of one that is not Warpreg's own, with its type."""
    return str(error) if isinstance(error, WarpregError) else f"{type(error).__name__}: {error}"
