"""A comparison that finds what earlier comparisons and sweeps have kept, and keeps what it measures.

A row is kept under the key of the same cell of a sweep.  Rows of design and workload files of the user are measured
each time: such a file may import others, which the key does not cover.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpreg.designs.loading.loader import is_packaged
from warpreg.experiments.runs import stored_row
from warpreg.experiments.runs.comparing import Comparison, Progress, Share, compared
from warpreg.experiments.runs.counting import Replayed, Timed
from warpreg.experiments.runs.row import Failure, Row
from warpreg.experiments.runs.traces import is_trace
from warpreg.experiments.sweep.batch import Keys
from warpreg.experiments.sweep.cells import Cell, Made

FILES = (".py", ".toml")


def compared_once(
    comparison: Comparison,
    names: Sequence[str],
    processes: int,
    done: Progress = lambda name: None,
    *,
    recompute: bool = False,
) -> Iterator[Row | Failure]:
    """The rows of all names, in their order, as `compared` has them; with ``recompute``, all are measured."""
    shares = [_found(comparison, name, recompute) for name in names]
    measured = compared([share for _, share in shares if share.designs], processes, done)
    for known, share in shares:
        if share.designs:
            yield from _together(known, share.designs, next(measured))
        else:
            done(share.name)
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
    made = Made(name, making.size, making.seed, making.choice, making.reading)
    limited = making.max_instructions is not None
    if limited or not isinstance(comparison.how, Replayed | Timed) or (name.endswith(FILES) and not is_trace(name)):
        return [None] * len(comparison.designs)
    keys = Keys(comparison.unchecked)
    return [
        keys.of(Cell(made, comparison.machine, comparison.technology, comparison.how, design, tuple(values.items())))
        if is_packaged(design)
        else None
        for design, values in comparison.designs
    ]
