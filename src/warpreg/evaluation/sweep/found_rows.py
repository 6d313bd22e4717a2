"""A comparison that finds what earlier comparisons and sweeps have kept, and keeps what it measures.

A row is kept under the key of the same cell of a sweep.  Rows of design and workload files of the user are measured
each time: such a file may import others, which the key does not cover.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpreg.designs.loading.loader import is_packaged
from warpreg.evaluation.runs import stored_row
from warpreg.evaluation.runs.comparing import Comparison, Progress, Share, compared
from warpreg.evaluation.runs.counting import Replayed, Timed
from warpreg.evaluation.runs.row import Failure, Row
from warpreg.evaluation.runs.traces import is_trace
from warpreg.evaluation.sweep.batch import Keys
from warpreg.evaluation.sweep.cells import Cell, RunSpec

FILES = (".py", ".toml")
KEPT = Replayed, Timed
"""Methods of counting that a study has, too; a schedule is a file of the user."""


def compared_once(
    comparison: Comparison,
    names: Sequence[str],
    processes: int,
    done: Progress = lambda name: None,
    found: Progress = lambda name: None,
    *,
    recompute: bool = False,
) -> Iterator[Row | Failure]:
    """The rows of all names, in their order, as `compared` has them; with ``recompute``, all are measured.

    ``done`` is called with each name that is measured, ``found`` before with those of which all rows are kept.
    """
    shares = [_found(comparison, name, recompute) for name in names]
    for _, share in shares:
        if not share.designs:
            found(share.name)
    measured = compared([share for _, share in shares if share.designs], processes, done)
    for known, share in shares:
        if share.designs:
            yield from _together(known, share.designs, next(measured))
        else:
            yield from (row for row in known if row is not None)


def _found(comparison: Comparison, name: str, recompute: bool) -> tuple[list[Row | None], Share]:
    """The kept row of each design on a workload, None without one, and what is left to measure."""
    keys = _keys(comparison, name)
    known = [None if key is None or recompute else stored_row.kept(key) for key in keys]
    missing = tuple(place for place, row in enumerate(known) if row is None)
    return known, Share(comparison, name, missing, tuple(keys[place] for place in missing))


def _together(
    known: Sequence[Row | None], places: Sequence[int], measured: Sequence[Row | Failure]
) -> Iterator[Row | Failure]:
    """Known and measured rows in the order of the designs; the failure of a whole run comes last."""
    whole = len(measured) < len(places)
    by_place = {} if whole else dict(zip(places, measured, strict=True))
    for place, row in enumerate(known):
        found = row or by_place.get(place)
        if found is not None:
            yield found
    if whole:
        yield from measured


def _keys(comparison: Comparison, name: str) -> list[str | None]:
    """The key of each design on a workload; None for what is not kept."""
    making = comparison.making
    made = RunSpec(name, making.size, making.seed, making.choice, making.reading)
    cells = [
        Cell(made, comparison.machine, comparison.technology, comparison.how, design, tuple(values.items()))
        for design, values in comparison.designs
    ]
    keys = Keys(comparison.unchecked)
    is_user_file = name.endswith(FILES) and not is_trace(name)
    if is_user_file or not isinstance(comparison.how, KEPT) or not _is_said(comparison, cells, keys):
        return [None] * len(cells)
    return [keys.of(cell) if is_packaged(cell.design) else None for cell in cells]


def _is_said(comparison: Comparison, cells: Sequence[Cell], keys: Keys) -> bool:
    """Whether cells say all of a comparison, so that their keys do; a sweep has no limit of instructions, for example.

    What a run records has no effect on a row.
    """
    return all(
        comparison
        == Comparison(
            designs=comparison.designs,
            unchecked=keys.unchecked,
            machine=cell.machine,
            technology=cell.technology,
            how=cell.how,
            making=cell.made.making(comparison.making.record),
        )
        for cell in cells
    )
