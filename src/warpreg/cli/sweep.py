"""``warpreg sweep``: measure the cells of a study file."""

from __future__ import annotations

from pathlib import Path

import click

from warpreg.cli import output
from warpreg.cli.options import json_option, parquet_option, processes_option, unchecked_option
from warpreg.evaluation.sweep.processes import CLUSTERS, PROCESSES, begin


@click.command()
@click.argument("study", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="STUDY.toml")
@click.option("--list", "listing", is_flag=True, help="Print the numbered cells, and which are finished.")
@click.option("--status", is_flag=True, help="Print how many cells are finished.")
@click.option("--only", metavar="N,N-M", help="Measure these cells only, by number.")
@click.option("--batch", metavar="HASH", help="Stop if code or inputs are not those of this batch (see --status).")
@click.option(
    "--executor",
    default=PROCESSES,
    show_default=True,
    metavar="WHERE",
    help=f"'{PROCESSES}' of this machine, tcp://HOST:PORT of a Dask scheduler, or jobs of {', '.join(CLUSTERS)}.",
)
@processes_option()
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: a line for each cell.")
@parquet_option
@unchecked_option
@json_option
def command(
    study: Path,
    listing: bool,
    status: bool,
    only: str | None,
    batch: str | None,
    executor: str,
    processes: int | None,
    as_csv: bool,
    parquet: Path | None,
    unchecked: bool,
    as_json: bool,
) -> int:
    """Measure every cell of a study: each workload under each design, machine, technology and compile option.

    Finished cells are kept: a sweep that was interrupted goes on where it stopped, and a changed study measures only
    what is new. A cell that fails has a row that says why, and the exit status is then 1.

    \b
    warpreg sweep study.toml --list
    warpreg sweep study.toml -j 4 --csv > study.csv
    warpreg sweep study.toml --only 17 --batch 3f2a9c81d0e4
    warpreg sweep study.toml --executor tcp://head:8786
    """
    if sum((as_json, as_csv)) > 1 or sum((listing, status)) > 1:
        raise click.UsageError("--json and --csv exclude each other, and so do --list and --status")
    begin()
    from warpreg.cli import sweep_rows  # takes a third of a second
    from warpreg.evaluation.sweep.errors import SweepError
    from warpreg.evaluation.sweep.study_file import read_study
    from warpreg.evaluation.sweep.sweep import batch_of, swept

    form = sweep_rows.OutputFormat(as_json, as_csv, parquet)
    read = read_study(study)
    if read.search is not None:
        if listing or status or only is not None or batch:
            raise click.UsageError(f"{study}: a search has no cells before it runs; leave out [search] to number them")
        return sweep_rows.search(read, study.parent, executor, processes, unchecked, form)
    cells = batch_of(read, study.parent, unchecked=unchecked)
    if batch is not None and batch != cells.digest:
        raise SweepError(f"{study}: expected batch {batch}, found {cells.digest}: the code or an input has changed")
    if listing or status:
        sweep_rows.print_state(cells, as_json, listing=listing)
        return 0
    numbers = [] if only is None else _numbers(only)
    with output.steps(len(numbers) or len(cells.cells), "cells") as progress:
        progress.begin("measuring")
        rows = swept(
            cells, numbers, executor, processes, progress.done, progress.found, sweep_rows.logging(cells, progress)
        )
    return sweep_rows.print_rows(cells, rows, form)


def _numbers(text: str) -> list[int]:
    """The numbers of ``1,4-6``.  Raises click.UsageError."""
    numbers: list[int] = []
    for part in text.split(","):
        low, dash, high = part.partition("-")
        if not low.isdecimal() or (dash and not (high.isdecimal() and int(low) <= int(high))):
            raise click.UsageError(f"--only: expected numbers such as 17 or 3,5-8, found '{text}'")
        numbers += range(int(low), int(high if dash else low) + 1)
    return list(dict.fromkeys(numbers))
