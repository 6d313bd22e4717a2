"""A sweep: all cells of a study, measured wherever the executor says, or found where they were measured before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from warpreg.evaluation.sweep.batch import Batch
from warpreg.evaluation.sweep.cells import cells_of
from warpreg.evaluation.sweep.distribution import distributed
from warpreg.evaluation.sweep.errors import SweepError
from warpreg.evaluation.sweep.processes import PROCESSES, at_once
from warpreg.evaluation.sweep.study_file import StudyFile
from warpreg.evaluation.sweep.work import Found, tasks_of

Rows = list[dict[str, Any]]
Progress = Callable[[int], None]
Told = Callable[[int, Found], None]
MANY = 64
"""Workers that a scheduler may have."""


def batch_of(study: StudyFile, folder: Path, *, unchecked: bool = False) -> Batch:
    """The cells of a study whose files are relative to ``folder``, frozen by their keys."""
    return Batch.of(cells_of(study, folder), unchecked=unchecked)


def swept(
    batch: Batch,
    numbers: Sequence[int] = (),
    where: str = PROCESSES,
    workers: int | None = None,
    done: Progress = lambda cells: None,
    found: Progress = lambda cells: None,
    told: Told = lambda number, result: None,
) -> Rows:
    """A row for each cell, or for those with these numbers, in their order; one that fails has an ``error``.

    ``done`` is called with the number of cells that have been measured since, ``found`` with that of those that need
    not be, ``told`` with the number and the result of each.  The same cells give the same rows on any executor.  Of
    cells with the same key, one is measured.  Raises SweepError for a number that no cell has, and as `distributed`.
    """
    wanted = list(numbers) or list(range(1, len(batch.cells) + 1))
    for number in wanted:
        if not 1 <= number <= len(batch.cells):
            raise SweepError(f"cell {number}: expected 1 to {len(batch.cells)}")
    by_number: dict[int, Any] = {number: text for number, text in batch.problems.items() if number in wanted}
    for number in wanted:
        known = batch.result(number)
        if known is not None:
            by_number[number] = known
    found(len(by_number))
    for number, result in by_number.items():
        told(number, result)
    missing = _alike(batch, [number for number in wanted if number not in by_number])
    if where == PROCESSES:
        workers = at_once(workers)
    for results in distributed(tasks_of(batch, list(missing), workers or MANY), where, workers):
        measured = {number: result for first, result in results.items() for number in missing[first]}
        measured = {number: result for number, result in measured.items() if number not in by_number}
        by_number |= measured
        done(len(measured))
        for number, result in measured.items():
            told(number, result)
    return [batch.row(number, by_number[number]) for number in wanted]


def _alike(batch: Batch, numbers: Sequence[int]) -> dict[int, list[int]]:
    """The numbers of cells with the same key, by the first of them."""
    of_key: dict[str | None, list[int]] = {}
    for number in numbers:
        of_key.setdefault(batch.keys[number - 1], []).append(number)
    return {same[0]: same for same in of_key.values()}
